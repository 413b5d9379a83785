//! What is said to the board and when: the start-up sequence, the regular full board, the probe of a
//! silent one (protocol sections 3.1 and 8).

use std::collections::VecDeque;

use super::output::LinkState;
use crate::{dgt::Request, words::At};

/// Safe on the air: nothing here touches the clock, the board's settings or its memory. Updates are
/// switched on before the first full board, so that no change falls between the two.
const GREETING: [Request; 7] = [
    Request::Reset,
    Request::Version,
    Request::Serial,
    Request::LongSerial,
    Request::UpdateNice,
    Request::Clock,
    Request::Board,
];
/// The board's command buffer is ten bytes; drivers that live long leave it this much time, ms.
const SPACING_MS: u64 = 100;
/// Running clocks that say nothing for so long, ms, tell of a board that sends no updates any more.
const CLOCK_MUTE_MS: u64 = 3_000;
/// So many bytes without a message are noise; any message that is not the event memory is shorter.
const NOISE_BYTES: usize = 300;

/// One board's side of the conversation.
#[derive(Debug, Clone)]
pub(super) struct Talk {
    dump_every_ms: u64,
    silent_ms: u64,
    queue: VecDeque<(At, Request)>,
    heard: At,
    asked: At,
    changed: At,
    /// When a clock that runs last spoke.
    clock_runs: Option<At>,
    open: bool,
    silent: bool,
    /// Bytes that made no sense since the board last spoke.
    noise: usize,
}

impl Talk {
    pub fn new(dump_every_ms: u64, silent_ms: u64) -> Talk {
        Talk {
            dump_every_ms,
            silent_ms,
            queue: VecDeque::new(),
            heard: At::default(),
            asked: At::default(),
            changed: At::default(),
            clock_runs: None,
            open: false,
            silent: false,
            noise: 0,
        }
    }

    /// The port is open. True when the board was silent before, which an open port does not end.
    pub fn opened(&mut self, now: At) -> bool {
        self.open = true;
        self.heard = now;
        self.noise = 0;
        self.greet(now);
        self.silent
    }

    pub fn closed(&mut self) {
        self.clock_runs = None;
        self.open = false;
        self.queue.clear();
    }

    /// The board spoke. True when it had been silent.
    pub fn heard(&mut self, now: At) -> bool {
        self.heard = now;
        self.noise = 0;
        std::mem::take(&mut self.silent)
    }

    /// So many bytes came that no board says. True when a silent board is found to be noise by them.
    pub fn noise(&mut self, bytes: usize) -> bool {
        let before = self.noisy();
        self.noise = self.noise.saturating_add(bytes);
        self.silent && !before && self.noisy()
    }

    /// Only bytes without sense have come for a while.
    pub const fn noisy(&self) -> bool {
        self.noise >= NOISE_BYTES
    }

    pub fn board_changed(&mut self, now: At) {
        self.changed = now;
    }

    /// A clock message came. A running clock speaks every second while updates are on.
    pub fn clock_spoke(&mut self, running: bool, now: At) {
        self.clock_runs = running.then_some(now);
    }

    /// A full board is wanted now.
    pub fn ask_board(&mut self, now: At) {
        if !self
            .queue
            .iter()
            .any(|&(_, request)| request == Request::Board)
        {
            self.say(Request::Board, now);
        }
    }

    /// What the board remembers by itself is wanted now.
    pub fn ask_memory(&mut self, now: At) {
        self.say(Request::EventMemory, now);
    }

    /// The board changed without telling: it was reset and sends no updates any more.
    pub fn ask_updates(&mut self, now: At) {
        self.say(Request::UpdateNice, now);
    }

    /// The requests due, and the new link state when silence began.
    pub fn due(&mut self, now: At) -> (Vec<Request>, Option<LinkState>) {
        if !self.open {
            return (Vec::new(), None);
        }
        let quiet_since = self.changed.max(self.asked);
        if self.queue.is_empty() && now.ms_since(quiet_since) >= self.dump_every_ms {
            self.ask_board(now);
        }
        if let Some(spoke) = self.clock_runs
            && now.ms_since(spoke) >= CLOCK_MUTE_MS
        {
            // The board was reset, and answers questions only.
            self.clock_runs = None;
            self.ask_updates(now);
            self.ask_board(now);
        }
        let mut state = None;
        let unheard = now.ms_since(self.heard);
        if unheard >= self.silent_ms && now.ms_since(self.asked) >= self.silent_ms {
            if unheard >= 2 * self.silent_ms {
                if !self.silent {
                    self.silent = true;
                    state = Some(LinkState::Silent);
                }
                // A reset board has forgotten that it should send updates.
                self.greet(now);
            } else {
                self.ask_board(now);
            }
        }
        let mut requests = Vec::new();
        while let Some(&(at, request)) = self.queue.front() {
            if at > now {
                break;
            }
            self.queue.pop_front();
            self.asked = now;
            requests.push(request);
        }
        (requests, state)
    }

    pub fn wake_at(&self) -> Option<At> {
        if !self.open {
            return None;
        }
        let regular = self.changed.max(self.asked).plus_ms(self.dump_every_ms);
        let probe = self.heard.max(self.asked).plus_ms(self.silent_ms);
        let next = self.queue.front().map_or(regular, |&(at, _)| at);
        let mute = self.clock_runs.map(|spoke| spoke.plus_ms(CLOCK_MUTE_MS));
        let next = next.min(regular).min(probe);
        Some(mute.map_or(next, |mute| next.min(mute)))
    }

    fn greet(&mut self, now: At) {
        self.queue.clear();
        for request in GREETING {
            self.say(request, now);
        }
        self.asked = now;
    }

    fn say(&mut self, request: Request, now: At) {
        let at = match self.queue.back() {
            Some(&(last, _)) => last.max(now).plus_ms(SPACING_MS),
            None => now,
        };
        self.queue.push_back((at, request));
    }
}
