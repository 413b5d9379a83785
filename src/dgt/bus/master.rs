//! Who asks what, and when.

use std::collections::VecDeque;

use super::{
    super::{
        clock::{ClockMessage, ClockTimes, Hand},
        command::Request,
        memory::{Entry, entries},
        message::Message,
    },
    wire::{ALL, Body, Call, Frames},
};
use crate::words::At;

/// A board that is heard is asked for its changes and its clock this often, ms, as far as the line
/// allows.
const POLL_MS: u64 = 150;
/// The line is quiet for so long, ms: no more of the reply will come. A board answers in milliseconds,
/// in up to 20 when it writes its memory; an adapter keeps the bytes for another 16.
const QUIET_MS: u64 = 120;
/// A board that does not answer is asked so often before it counts as lost.
const TRIES: u8 = 6;
/// A board that is not there is called again after this, then after twice as long, ..., ms.
const CALL_AGAIN_MS: u64 = 500;
/// ... up to this.
const CALL_AGAIN_AT_MOST_MS: u64 = 5_000;
/// Boards nobody named answer a ping for all within 1100 ms.
const SURVEY_MS: u64 = 1_300;

/// What the master found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A board answers.
    Found(u16),
    /// A board that answered answers no more.
    Lost(u16),
    /// A board says this.
    Said(u16, Message),
    /// A board answers that nobody named.
    Stranger(u16),
}

/// Asks the boards on one line, one at a time.
#[derive(Debug, Default)]
pub struct Master {
    boards: Vec<Board>,
    /// Whose turn it was.
    turn: usize,
    asked: Option<Asked>,
    frames: Frames,
    open: bool,
    survey: Survey,
    events: VecDeque<Event>,
}

#[derive(Debug)]
struct Board {
    number: u16,
    there: bool,
    /// The monitor wants updates.
    updates: bool,
    wanted: VecDeque<Call>,
    /// When it is asked next by itself.
    due: At,
    /// How long it is left alone while it is not there.
    wait_ms: u64,
    /// What it wrote before it was found belongs to the past; the full board says how it stands.
    fresh: bool,
    clock: Option<ClockTimes>,
    /// The clock is told even if it did not change.
    tell_clock: bool,
}

#[derive(Debug)]
struct Asked {
    number: u16,
    call: Call,
    tries: u8,
    /// The newest byte, or the call.
    at: At,
    /// Something came, damaged.
    damaged: bool,
}

/// Whether boards that nobody named have been looked for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Survey {
    /// Once every named board was called.
    #[default]
    Due,
    /// The named ones are told to be silent, from this place on.
    Hushing(usize),
    /// All others may answer until then.
    Listening(At),
    Done,
}

impl Master {
    /// A board of this number is on the line.
    pub fn add(&mut self, number: u16, now: At) {
        self.boards.push(Board {
            number,
            there: false,
            updates: false,
            wanted: VecDeque::new(),
            due: now,
            wait_ms: CALL_AGAIN_MS,
            fresh: true,
            clock: None,
            tell_clock: false,
        });
    }

    /// It is watched no more.
    pub fn remove(&mut self, number: u16) {
        self.boards.retain(|board| board.number != number);
        if self
            .asked
            .as_ref()
            .is_some_and(|asked| asked.number == number)
        {
            self.asked = None;
        }
    }

    /// The line is open.
    pub fn opened(&mut self, now: At) {
        self.open = true;
        for board in &mut self.boards {
            board.due = now;
            board.wait_ms = CALL_AGAIN_MS;
        }
    }

    /// The line is gone, and all boards with it.
    pub fn closed(&mut self) {
        self.open = false;
        self.asked = None;
        self.frames.clear();
        for board in &mut self.boards {
            board.lose();
        }
    }

    /// What the monitor of a board asks of it.
    pub fn ask(&mut self, number: u16, request: Request) {
        let Some(board) = self.boards.iter_mut().find(|board| board.number == number) else {
            return;
        };
        if !board.there {
            return;
        }
        match request {
            Request::Reset => board.updates = false,
            Request::Update | Request::UpdateNice | Request::UpdateBoard => board.updates = true,
            // The number by which it is called is its serial number (section 2.3).
            Request::Serial => {
                let serial = Message::Serial(format!("{number:05}"));
                self.events.push_back(Event::Said(number, serial));
            }
            Request::BusAddress => {
                let said = Event::Said(number, Message::BusAddress(number));
                self.events.push_back(said);
            }
            Request::Clock => {
                board.tell_clock = true;
                board.want(Call::Clock);
            }
            Request::Board => {
                // A full board is newer than all changes; those that are not told yet come first.
                board.want(Call::Changes);
                board.want(Call::Board);
            }
            Request::EventMemory => board.want(Call::FromStart),
            Request::Version => board.want(Call::Version),
            // How a bus answers these is not known.
            Request::Trademark
            | Request::HardwareVersion
            | Request::Battery
            | Request::LongSerial => {}
        }
    }

    /// Takes the bytes of the line.
    pub fn bytes(&mut self, bytes: &[u8], now: At) {
        let before = self.frames.damaged();
        self.frames.push(bytes);
        while let Some(reply) = self.frames.next_reply() {
            self.reply(reply.number, reply.body, now);
        }
        let damaged = self.frames.damaged() != before;
        if let Some(asked) = &mut self.asked {
            asked.at = asked.at.max(now);
            asked.damaged |= damaged;
        }
    }

    /// The next thing that was found out.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next call, when one is due. Call it after everything else, until it gives `None`.
    pub fn poll_call(&mut self, now: At) -> Option<[u8; 4]> {
        if !self.open {
            return None;
        }
        if let Some(asked) = &self.asked {
            if now.ms_since(asked.at) < QUIET_MS {
                return None;
            }
            return self.unanswered(now);
        }
        let (number, call) = self.survey(now)?.or_else(|| self.next_call(now))?;
        // Only a named board is waited for, and only where an answer comes.
        if call != Call::Ping || number != ALL {
            self.asked = Some(Asked {
                number,
                call,
                tries: 1,
                at: now,
                damaged: false,
            });
        }
        Some(call.bytes(number))
    }

    /// When to call [`Master::poll_call`] again, if nothing else happens.
    #[must_use]
    pub fn wake_at(&self) -> Option<At> {
        if !self.open {
            return None;
        }
        if let Some(asked) = &self.asked {
            return Some(asked.at.plus_ms(QUIET_MS));
        }
        if let Survey::Listening(until) = self.survey {
            return Some(until);
        }
        let due = self.boards.iter().filter_map(Board::next_at);
        due.min()
    }

    /// What the look for boards that nobody named asks next. The outer `None`: all others wait.
    #[expect(clippy::option_option, reason = "nobody may speak, or anybody")]
    fn survey(&mut self, now: At) -> Option<Option<(u16, Call)>> {
        match self.survey {
            Survey::Done => Some(None),
            Survey::Due => {
                let called = |board: &Board| board.there || board.wait_ms > CALL_AGAIN_MS;
                if self.boards.iter().all(called) {
                    self.survey = Survey::Hushing(0);
                    return self.survey(now);
                }
                Some(None)
            }
            Survey::Hushing(from) => {
                let mut rest = self.boards.iter().enumerate().skip(from);
                let next = rest.find(|(_, board)| board.there);
                match next.map(|(place, board)| (place, board.number)) {
                    Some((place, number)) => {
                        self.survey = Survey::Hushing(place + 1);
                        Some(Some((number, Call::IgnorePing)))
                    }
                    None => {
                        self.survey = Survey::Listening(now.plus_ms(SURVEY_MS));
                        Some(Some((ALL, Call::Ping)))
                    }
                }
            }
            Survey::Listening(until) if now < until => None,
            Survey::Listening(_) => {
                self.survey = Survey::Done;
                Some(None)
            }
        }
    }

    /// What a monitor wants comes first, then what is due; in turn.
    fn next_call(&mut self, now: At) -> Option<(u16, Call)> {
        let count = self.boards.len();
        let order = (1..=count).map(|step| (self.turn + step) % count);
        let order: Vec<usize> = order.collect();
        let wanting = |place: &&usize| !self.boards[**place].wanted.is_empty();
        let due = |place: &&usize| {
            let due = self.boards[**place].next_at();
            due.is_some_and(|due| due <= now)
        };
        let found = order.iter().find(wanting);
        let place = *found.or_else(|| order.iter().find(due))?;
        let board = &mut self.boards[place];
        let number = board.number;
        if let Some(call) = board.wanted.pop_front() {
            // Who wants more is served after the others.
            self.turn = place;
            return Some((number, call));
        }
        self.turn = place;
        if !board.there {
            board.due = now.plus_ms(board.wait_ms);
            return Some((number, Call::Ping));
        }
        board.due = now.plus_ms(POLL_MS);
        // A press is told after the men that were moved before it.
        board.want(Call::Clock);
        Some((number, Call::Changes))
    }

    /// The line has been quiet too long.
    fn unanswered(&mut self, now: At) -> Option<[u8; 4]> {
        // What is half read will not be finished, and was an answer.
        let before = self.frames.damaged();
        self.frames.clear();
        let half = self.frames.damaged() != before;
        let asked = self.asked.as_mut()?;
        let damaged = asked.damaged || half;
        let board = self
            .boards
            .iter_mut()
            .find(|board| board.number == asked.number);
        let patient = board.as_ref().is_some_and(|board| board.there);
        if patient && asked.tries < TRIES {
            asked.tries += 1;
            (asked.at, asked.damaged) = (now, false);
            // What was said and not understood is said again. After silence nobody knows whether the
            // board heard: to have an older answer repeated would put men back.
            asked.call = match asked.call {
                Call::Changes | Call::RepeatChanges if damaged => Call::RepeatChanges,
                Call::Changes | Call::RepeatChanges => {
                    if let Some(board) = board {
                        board.want(Call::Board);
                    }
                    Call::Changes
                }
                call => call,
            };
            return Some(asked.call.bytes(asked.number));
        }
        if let Some(board) = board {
            if board.there {
                self.events.push_back(Event::Lost(board.number));
            }
            board.lose();
            board.due = now.plus_ms(board.wait_ms);
            board.wait_ms = (board.wait_ms * 2).min(CALL_AGAIN_AT_MOST_MS);
        }
        self.asked = None;
        self.poll_call(now)
    }

    fn reply(&mut self, number: u16, body: Body, now: At) {
        let Some(board) = self.boards.iter_mut().find(|board| board.number == number) else {
            if matches!(self.survey, Survey::Listening(_)) && body == Body::Ping {
                self.events.push_back(Event::Stranger(number));
            }
            return;
        };
        if self
            .asked
            .as_ref()
            .is_some_and(|asked| asked.number == number)
        {
            self.asked = None;
        }
        if !board.there {
            board.there = true;
            board.wait_ms = CALL_AGAIN_MS;
            board.due = now;
            self.events.push_back(Event::Found(number));
            board.want(Call::Changes);
        }
        let events = &mut self.events;
        let mut say = |message| events.push_back(Event::Said(number, message));
        match body {
            Body::Board(codes) => say(Message::Dump(codes)),
            Body::Clock(ClockMessage::Times(times)) => {
                let told = std::mem::take(&mut board.tell_clock);
                if board.clock.replace(times) != Some(times) || told {
                    say(Message::Clock(ClockMessage::Times(times)));
                }
            }
            Body::Version(version) => {
                // Firmware up to 1.2 does not say which.
                let (major, minor) = version.unwrap_or((1, 2));
                say(Message::Version { major, minor });
            }
            Body::Changes(_) if board.fresh => board.fresh = false,
            Body::Changes(memory) => {
                for entry in entries(&memory) {
                    if let Some(message) = board.entry(entry) {
                        say(message);
                    }
                }
            }
            Body::FromStart(mut memory) => {
                Entry::End.encode(&mut memory);
                say(Message::EventMemory(memory));
            }
            Body::Clock(_) | Body::Ping | Body::StartGameWritten | Body::Unknown(_) => {}
        }
    }
}

impl Board {
    fn want(&mut self, call: Call) {
        if !self.wanted.contains(&call) {
            self.wanted.push_back(call);
        }
    }

    fn lose(&mut self) {
        self.there = false;
        self.updates = false;
        self.fresh = true;
        self.clock = None;
        self.wanted.clear();
    }

    /// When it is asked by itself; a board without updates only when something is wanted.
    fn next_at(&self) -> Option<At> {
        if !self.wanted.is_empty() {
            return Some(At::default());
        }
        (self.updates || !self.there).then_some(self.due)
    }

    /// What a board with the line for itself would have said.
    fn entry(&mut self, entry: Entry) -> Option<Message> {
        match entry {
            Entry::Field { square, code } => Some(Message::Field { square, code }),
            // The lever went over between two looks at the clock: at this place among the men.
            Entry::Pressed { hand, seconds } => {
                let times = self.clock.as_mut()?;
                match hand {
                    Hand::Left => times.left.seconds = seconds,
                    Hand::Right => times.right.seconds = seconds,
                }
                times.lever = hand.other();
                Some(Message::Clock(ClockMessage::Times(*times)))
            }
            // All men follow, in no order.
            Entry::PowerUp | Entry::Watchdog => {
                self.want(Call::Board);
                None
            }
            // From here on the memory is asked for when something is missing.
            Entry::StartArray { .. } => {
                self.want(Call::StartGame);
                None
            }
            Entry::End | Entry::FourRows | Entry::Empty | Entry::Downloaded | Entry::StartTag => {
                None
            }
        }
    }
}
