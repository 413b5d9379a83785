//! The pipeline itself: bytes to messages to placements to plies to findings to alerts.

mod events;
mod orders;

use std::collections::VecDeque;

use events::Told;
use shakmaty::{Bitboard, CastlingMode, Setup};

use super::{
    cut::Cut,
    output::{BoardState, ClockView, FinalPly, LinkReport, LinkState, Output, Phase, Retraction},
    settings::Settings,
    talk::Talk,
};
use crate::{
    board::{ClockChange, ClockFacts, ClockSide, ClockWatch, Sensors, remembered},
    dgt::{ClockMessage, Frames, Message, entries},
    game::{
        Case, Event, Game, Ground, History, Limits, Recorded, Stage, pgn, quarter_turned,
        shown_result,
    },
    incident::{
        Alert, AlertChange, Answers, Book, Care, ClockAt, How, Level, Order, Rules, Said, Status,
        Window, alert_id,
    },
    laws::{self, Code, Finding, Past, Regime, Stand, Terms, Turn},
    words::{At, GameId},
};

/// What a monitor is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input<'a> {
    /// The port opened.
    Opened,
    /// The port closed under us.
    Closed,
    /// The port is not there.
    Absent,
    /// The board sent these.
    Bytes(&'a [u8]),
    /// An arbiter commands this.
    Order(&'a Order),
    /// Time passed.
    Tick,
}

/// The retained state is told at most this often, ms; plies and alerts do not wait for it.
const STATE_EVERY_MS: u64 = 250;
/// A square that still reads so after this long does not merely stick, ms (reconstruction.md 3).
const STUCK_MS: u64 = 3_500;
/// The clock is told at most this often, ms (design.md 4).
const CLOCK_EVERY_MS: u64 = 1000;

/// A choice that is not offered (any more).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such candidate is offered; read the board's state again")]
pub struct NoSuchCandidate;

/// One board's monitor.
#[derive(Debug)]
pub struct Monitor {
    settings: Settings,
    frames: Frames,
    sensors: Sensors,
    clock: ClockWatch,
    game: Game,
    book: Book,
    answers: Answers,
    /// The result an arbiter gave.
    ruling: Option<(&'static str, How)>,
    /// How often an arbiter put the game right.
    repairs: u32,
    talk: Talk,
    link: LinkReport,
    games: u32,
    /// The newest full board, as long as all messages since agree with it.
    agreed: Option<Box<[u8; 64]>>,
    /// The running game has been cut off from what was before.
    was_cut: bool,
    cut: Option<Box<Cut>>,
    turn_began: ClockAt,
    last: Option<FinalPly>,
    /// The ply whose findings a stuck sensor may have made up, and since when they are told.
    unproved: Option<(u16, At)>,
    told: Told,
    told_state: Option<(At, BoardState)>,
    told_clock: Option<At>,
    stale: bool,
    now: At,
    out: VecDeque<Output>,
}

impl Monitor {
    /// A board nothing is known of. A regime that is not known counts as standard.
    pub fn new(settings: Settings) -> Monitor {
        let mode = CastlingMode::from_chess960(settings.chess960);
        Monitor {
            frames: Frames::new(),
            sensors: Sensors::default(),
            clock: ClockWatch::new(clock_side(&settings)),
            game: Game::new(mode, limits(&settings)),
            book: Book::new(rules(&settings)),
            answers: Answers::default(),
            ruling: None,
            repairs: 0,
            talk: Talk::new(settings.dump_every_ms, settings.silent_ms),
            link: LinkReport {
                state: LinkState::Absent,
                serial: None,
                firmware: None,
                battery: None,
                noise: false,
                since: At::default(),
            },
            games: 0,
            agreed: None,
            was_cut: false,
            cut: None,
            turn_began: ClockAt::default(),
            last: None,
            unproved: None,
            told: Told::default(),
            told_state: None,
            told_clock: None,
            stale: true,
            now: At::default(),
            out: VecDeque::new(),
            settings,
        }
    }

    /// Takes one input in. Time never runs backwards; an earlier `now` counts as the last one.
    pub fn handle(&mut self, input: Input<'_>, now: At) {
        self.now = self.now.max(now);
        let now = self.now;
        match input {
            Input::Opened => {
                let mute = self.talk.opened(now);
                self.set_link(if mute {
                    LinkState::Silent
                } else {
                    LinkState::Up
                });
            }
            Input::Closed => self.lose(LinkState::Lost),
            Input::Absent => self.lose(LinkState::Absent),
            Input::Bytes(bytes) => {
                self.frames.push(bytes);
                let mut sense = false;
                while let Some(message) = self.frames.next_message() {
                    if !matches!(message, Message::Unknown { .. }) {
                        sense = true;
                        self.hear();
                    }
                    self.message(message);
                }
                // The event memory is seconds on the way.
                if self.frames.in_event_memory() {
                    self.hear();
                } else if !sense && self.talk.noise(bytes.len()) {
                    self.link.noise = true;
                    self.tell_link();
                }
            }
            Input::Order(order) => self.order(order),
            Input::Tick => {}
        }
        self.game.tick(now);
        self.drain_game();
        self.weigh_unproved();
        self.weigh_wrong_side();
        let said = self.book.tick(now);
        self.tell_alerts(said);
        let (requests, silent) = self.talk.due(now);
        for request in requests {
            self.out.push_back(Output::Write(vec![request.byte()]));
        }
        if let Some(state) = silent {
            self.set_link(state);
        }
        self.cut_off();
        self.tell_state(false);
    }

    /// The next thing to tell the world, in order.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When to come back with a tick, if nothing else happens.
    pub fn wake_at(&self) -> Option<At> {
        let state_due = self
            .told_state
            .as_ref()
            .filter(|_| self.stale)
            .map(|(at, _)| at.plus_ms(STATE_EVERY_MS).max(self.now.plus_ms(1)));
        let proof_due = self.unproved.map(|(_, at)| at.plus_ms(STUCK_MS));
        [
            self.game.wake_at(self.now),
            self.talk.wake_at(),
            self.book.wake_at(),
            state_due,
            proof_due,
            self.wrong_side_due(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// A board whose present game began like this.
    pub fn resume(cut: &Cut, now: At) -> Monitor {
        let mut monitor = Monitor::new(cut.settings.clone());
        monitor.now = now;
        monitor.games = cut.games;
        if let Some(times) = &cut.clock {
            monitor.message(Message::Clock(ClockMessage::Times(*times)));
        }
        if let Ok(codes) = <Box<[u8; 64]>>::try_from(cut.codes.clone()) {
            monitor.message(Message::Dump(codes));
        }
        monitor.was_cut = true;
        monitor.out.clear();
        monitor
    }

    /// Where the journal need not be read before, when that moved: see [`Cut`].
    pub fn take_cut(&mut self) -> Option<Box<Cut>> {
        self.cut.take()
    }

    /// Other settings. The running game goes on, unless they give it another name or other rules.
    pub fn configure(&mut self, settings: Settings, now: At) {
        self.now = self.now.max(now);
        if settings == self.settings {
            return;
        }
        if settings.same_game(&self.settings) {
            if settings.clock != self.settings.clock {
                self.clock = ClockWatch::new(clock_side(&settings));
            }
            self.game.set_limits(limits(&settings));
            self.book.go_by(rules(&settings));
            self.settings = settings;
            if self.games > 0 {
                self.tell_pgn();
            }
        } else {
            let closed = self.book.game_over(self.now);
            self.tell_alerts(closed);
            let fresh = Monitor::new(settings);
            let old = std::mem::replace(self, fresh);
            self.now = old.now;
            self.talk = old.talk;
            self.link = old.link;
            self.book = old.book;
            self.book.go_by(rules(&self.settings));
            self.out = old.out;
            if self.settings.round == old.settings.round {
                // Other rules, the same names: a game that has plies keeps its own.
                self.games = old.games + u32::from(old.last.is_some());
            }
            self.talk.ask_board(self.now);
            // Alerts that stay are known from the journal before: the same one is not raised again.
            if self.book.is_empty() {
                self.cut = Some(Box::new(Cut {
                    games: self.games,
                    ..Cut::fresh(self.settings.clone())
                }));
            }
        }
        self.stale = true;
        self.tell_state(true);
    }

    /// All that a broker must show of this board, as after a new start.
    pub fn standing(&self) -> Vec<Output> {
        let mut standing = vec![
            Output::Link(self.link.clone()),
            Output::State(Box::new(self.state())),
        ];
        if self.games > 0 {
            standing.push(self.pgn());
        }
        standing.extend(self.book.alerts().map(|alert| Output::Alert {
            change: AlertChange::Updated,
            alert: Box::new(alert.clone()),
        }));
        standing
    }

    /// When a game stands ready, nothing of what was before it matters any more: the state is built
    /// anew from the board and the clock alone, so that a journal can be read from here on.
    fn cut_off(&mut self) {
        let quiet = !self.was_cut
            && self.frames.is_empty()
            && self.phase() == Phase::Ready
            && self.clock.facts().running.is_none()
            && self.book.is_empty();
        let Some(codes) = self.agreed.as_ref().filter(|_| quiet) else {
            return;
        };
        let cut = Cut {
            settings: self.settings.clone(),
            games: self.games,
            codes: codes.to_vec(),
            clock: self.clock.last().copied(),
        };
        let fresh = Monitor::resume(&cut, self.now);
        if fresh.state() != self.state() {
            return;
        }
        self.sensors = fresh.sensors;
        self.clock = fresh.clock;
        self.game = fresh.game;
        self.turn_began = fresh.turn_began;
        self.told = fresh.told;
        self.last = None;
        self.was_cut = true;
        self.cut = Some(Box::new(cut));
    }

    /// Takes a position as reached by a legal, completed move.
    pub fn adopt(&mut self, setup: Setup, now: At) {
        self.now = self.now.max(now);
        self.game.adopt(setup, true, self.now);
        self.drain_game();
    }

    /// Messages read so far, those of unknown ids too.
    pub fn messages(&self) -> u64 {
        self.frames.given()
    }

    /// The same by [`Message::kind`]; since the port was opened, as all that is counted of the cable.
    pub const fn messages_by_kind(&self) -> [u64; Message::KINDS.len()] {
        self.frames.given_by_kind()
    }

    /// Bytes that made no sense, and messages of unknown ids.
    pub fn noise(&self) -> (u64, u64) {
        (self.frames.skipped(), self.frames.unknown())
    }

    /// The game on the board.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// How the game ended, if it did: the score, and what brought it about. An arbiter's word goes before
    /// what the board shows.
    pub fn result(&self) -> Option<(&'static str, &'static str)> {
        match (self.ruling, self.game.stage()) {
            (Some((score, how)), _) => Some((score, how.word())),
            (None, Stage::Ended { score, by }) => Some((score, by)),
            (None, Stage::Setup | Stage::Playing) => None,
        }
    }

    /// The result an arbiter gave the game on the board.
    pub fn ruled(&self) -> Option<&'static str> {
        self.ruling.map(|(score, _)| score)
    }

    /// The result the kings or a result piece tell, or told when they ended the game.
    pub fn sign(&self) -> Option<&'static str> {
        match self.game.stage() {
            Stage::Ended { score, by: "kings" } => Some(score),
            _ => shown_result(
                self.sensors.placement(),
                &self.game.last_final().placement(),
            ),
        }
    }

    /// How often an arbiter put the game on the board right.
    pub const fn repairs(&self) -> u32 {
        self.repairs
    }

    /// The plies of the running game that are final.
    pub fn record(&self) -> &[Recorded] {
        self.game.record()
    }

    fn message(&mut self, message: Message) {
        let now = self.now;
        match message {
            Message::Field { square, code } => {
                self.agreed = None;
                if let Some(edge) = self.sensors.field(square, code, now) {
                    self.talk.board_changed(now);
                    let placement = *self.sensors.placement();
                    self.game.saw(&[edge], &placement, now);
                    self.stale = true;
                    self.drain_game();
                }
            }
            Message::Dump(codes) => {
                self.dump(&codes);
                self.agreed = Some(codes);
            }
            Message::Clock(ClockMessage::Times(times)) => {
                self.talk.clock_spoke(times.connected && times.running, now);
                let change = self.clock.times(&times);
                self.clock_changed(change);
            }
            Message::Clock(ClockMessage::Ack(_) | ClockMessage::Meaningless) => {}
            Message::Serial(serial) => {
                if self.link.serial.is_none() {
                    self.link.serial = Some(printable(&serial));
                    self.tell_link();
                }
            }
            Message::LongSerial(serial) => {
                self.link.serial = Some(printable(&serial));
                self.tell_link();
            }
            Message::Version { major, minor } => {
                self.link.firmware = Some(format!("{major}.{minor}"));
                self.tell_link();
            }
            Message::Battery(battery) => {
                self.link.battery = Some(battery.percent);
                self.tell_link();
            }
            Message::EventMemory(memory) => {
                let past = remembered(entries(&memory), &self.sensors, &self.clock);
                self.stale |= self.game.remembered(&past, self.now);
                self.drain_game();
            }
            Message::HardwareVersion { .. }
            | Message::Trademark(_)
            | Message::BusAddress(_)
            | Message::Unknown { .. } => {}
        }
    }

    fn dump(&mut self, codes: &[u8; 64]) {
        let now = self.now;
        let first = !self.sensors.known();
        let edges = self.sensors.dump(codes, now);
        self.clock.board_lies(self.sensors.turned());
        let placement = *self.sensors.placement();
        if edges.is_empty() {
            self.game.confirmed(now);
        } else {
            self.game.patched(&edges, &placement, now);
            self.talk.board_changed(now);
            if !first {
                self.talk.ask_updates(now);
            }
        }
        self.stale = true;
        self.drain_game();
    }

    fn clock_changed(&mut self, change: ClockChange) {
        let now = self.now;
        if self.game.stage() == Stage::Playing
            && self.game.record().is_empty()
            && self.game.start().placement() == *self.sensors.placement()
            && matches!(change, ClockChange::Started(_))
        {
            self.clock.runs_for_white();
            self.weigh_setting();
        }
        let facts = *self.clock.facts();
        self.game.clock(&facts, now);
        match change {
            ClockChange::Ticked => {}
            ClockChange::Pressed(side) => {
                self.weigh_sides(side);
                self.count_press(side);
                self.game.pressed(side, now);
            }
            ClockChange::Stopped(_) => self.game.stopped(now),
            // The clock may just have told which side is White's: ask it, not the change.
            ClockChange::Started(side) => {
                self.told.started = Some(now);
                self.game.started(facts.running.unwrap_or(side), now);
            }
        }
        self.drain_game();
        self.weigh_clock();
        self.stale |= change != ClockChange::Ticked;
        if self
            .told_clock
            .is_none_or(|told| now.ms_since(told) >= CLOCK_EVERY_MS)
        {
            self.told_clock = Some(now);
            self.out.push_back(Output::Clock(self.clock_view()));
        }
    }

    fn drain_game(&mut self) {
        for event in self.game.take_events() {
            self.stale = true;
            match event {
                Event::Began => self.began(),
                Event::Ply {
                    recorded,
                    edges,
                    history,
                    late,
                } => {
                    self.ply(&recorded);
                    self.weigh_touch(&recorded, &edges, &history, late);
                    self.weigh_ply(&recorded);
                    self.turn_began = clock_at(self.clock.facts());
                }
                Event::Unexplained(case) => self.judge(&case),
                Event::Gap(case) => self.look_at(Code::UnexplainedGap, &case),
                Event::WrongArray(case) => {
                    let turned = quarter_turned(&case.seen).is_some();
                    let code = if turned {
                        Code::BoardTurned
                    } else {
                        Code::InitialPositionWrong
                    };
                    self.look_at(code, &case);
                }
                Event::Restored { ply } => {
                    let closed = self.book.corrected(ply, self.now);
                    self.tell_alerts(closed);
                    self.remember_restored(ply);
                }
                Event::Replied { ply } => {
                    let closed = self.book.replied(ply, self.now);
                    self.tell_alerts(closed);
                }
                Event::Retracted { back_to, reason } => {
                    self.last = self.game.record().last().map(|ply| self.final_ply(ply));
                    self.out.push_back(Output::Retract(Retraction {
                        game: self.game_id(),
                        back_to,
                        reason,
                        at: self.now,
                    }));
                    self.tell_pgn();
                }
                Event::Ended { .. } => self.tell_pgn(),
                Event::WantDump => self.talk.ask_board(self.now),
                Event::WantMemory => self.talk.ask_memory(self.now),
            }
        }
    }

    fn began(&mut self) {
        if self.games == 0 || self.last.is_some() {
            self.games += 1;
        }
        if self.last.take().is_some() {
            let closed = self.book.game_over(self.now);
            self.tell_alerts(closed);
        }
        self.was_cut = false;
        self.ruling = None;
        self.repairs = 0;
        self.clock.new_game();
        self.told = Told::new(self.clock.facts());
        self.turn_began = clock_at(self.clock.facts());
    }

    fn ply(&mut self, recorded: &Recorded) {
        let ply = self.final_ply(recorded);
        self.last = Some(ply.clone());
        self.out.push_back(Output::Ply(ply));
        self.tell_pgn();
    }

    fn final_ply(&self, recorded: &Recorded) -> FinalPly {
        FinalPly {
            game: self.game_id(),
            ply: recorded.ply,
            side: recorded.side,
            san: recorded.san.clone(),
            uci: recorded.uci.clone(),
            fen: recorded.after.fen(),
            clock_s: recorded.clock_s,
            clock_about: recorded.clock_about,
            irregular: recorded.mv.is_none(),
            at: recorded.at,
        }
    }

    /// Articles 4 and 6 in a turn whose placement is legal.
    fn weigh_touch(
        &mut self,
        recorded: &Recorded,
        edges: &[crate::board::Edge],
        history: &History,
        late: Option<(shakmaty::Square, shakmaty::Square)>,
    ) {
        let Some(mv) = recorded.mv else { return };
        let before = stand(&recorded.before);
        let past = past(history);
        let seen = recorded.after.placement();
        let turn = Turn {
            before: &before,
            seen: &seen,
            mover: recorded.side,
            past: &past,
            edges,
        };
        let mut findings = laws::hints(&turn, mv, self.settings.settle_ms.max(1000));
        if let Some((from, to)) = late {
            findings.push(laws::late_placement(&turn, from, to));
        }
        for finding in findings {
            self.raise(finding, recorded.ply, &before, &seen.to_string(), None);
        }
    }

    fn judge(&mut self, case: &Case) {
        let before = stand(&case.before);
        let past = past(&case.history);
        let turn = Turn {
            before: &before,
            seen: &case.seen,
            mover: case.mover,
            past: &past,
            edges: &case.edges,
        };
        let findings = match case.pressed {
            Some(at) => {
                laws::not_completed(&turn, at).map_or_else(|| laws::judge(&turn), |f| vec![f])
            }
            None => laws::out_of_turn(&turn).into_iter().collect(),
        };
        self.unproved = case.one_square_off.then_some((case.ply, self.now));
        for finding in findings {
            self.raise(
                finding,
                case.ply,
                &before,
                &case.seen.to_string(),
                case.pressed,
            );
        }
        self.weigh_kings(case, &before);
    }

    fn weigh_unproved(&mut self) {
        if let Some((ply, at)) = self.unproved
            && self.now.ms_since(at) >= STUCK_MS
        {
            self.unproved = None;
            let proved = self.book.proved(ply);
            self.tell_alerts(proved);
        }
    }

    /// Squares an arbiter has to look at; nobody is accused.
    fn look_at(&mut self, code: Code, case: &Case) {
        let changed = case.before.placement().differs(&case.seen);
        let finding = Finding::certain(code, case.mover, changed.into_iter().collect());
        let before = stand(&case.before);
        self.raise(finding, case.ply, &before, &case.seen.to_string(), None);
    }

    fn raise(
        &mut self,
        finding: Finding,
        ply: u16,
        before: &Stand,
        placement: &str,
        pressed: Option<At>,
    ) {
        let clock = clock_at(self.clock.facts());
        self.raise_with(finding, ply, before, placement, pressed, clock);
    }

    /// The same, with the times to be told as those of the press.
    fn raise_with(
        &mut self,
        finding: Finding,
        ply: u16,
        before: &Stand,
        placement: &str,
        pressed: Option<At>,
        clock_at_press: ClockAt,
    ) {
        let terms = self.book.rules().terms;
        let level = match self.unproved {
            Some((doubted, _)) if doubted == ply => terms.level(&finding).min(Level::Check),
            _ => terms.level(&finding),
        };
        let window = if terms.regime.window_closes_on_reply() {
            Window::UntilReply
        } else {
            Window::Open
        };
        let dots = before.turn().fold_wb(".", "...");
        let move_text = format!("{}{dots} {}", before.setup.fullmoves, finding.played);
        let alert = Alert {
            level,
            window,
            move_text,
            pressed,
            clock_at_press,
            ..self.alert(finding, ply, before, placement, placement)
        };
        let raised = self.book.raise(alert);
        self.tell_alerts(raised.into_iter().collect());
    }

    /// An alert that nobody has answered. Its id comes of `identity` beside venue, game, ply and code.
    fn alert(
        &self,
        finding: Finding,
        ply: u16,
        before: &Stand,
        placement: &str,
        identity: &str,
    ) -> Alert {
        let clock = clock_at(self.clock.facts());
        let terms = self.book.rules().terms;
        Alert {
            id: alert_id(
                &self.settings.venue,
                self.settings.board,
                &self.game_id().0,
                ply,
                finding.code.as_str(),
                identity,
            ),
            rev: 1,
            raised: self.now,
            level: Level::Info,
            status: Status::Open,
            window: Window::Open,
            ply,
            move_text: String::new(),
            fen: before.fen(),
            placement: placement.to_owned(),
            clock_at_turn_start: self.turn_began,
            clock_at_press: clock,
            clock,
            pressed: None,
            offences: (0, 0),
            remedy: laws::remedy(&finding, before, terms, 0),
            finding,
            care: Care::default(),
        }
    }

    fn tell_alerts(&mut self, said: Vec<Said>) {
        for one in said {
            self.stale = true;
            self.out.push_back(match one {
                Said::Changed(change, alert) => Output::Alert { change, alert },
                Said::Gone(id) => Output::AlertGone(id),
            });
        }
    }

    fn tell_pgn(&mut self) {
        let pgn = self.pgn();
        self.out.push_back(pgn);
    }

    fn pgn(&self) -> Output {
        let s = &self.settings;
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
        let mut tags: pgn::Tags = vec![
            ("Event", s.event.clone()),
            ("Site", s.site.clone()),
            ("Date", s.date.clone()),
            ("Round", format!("{}.{}", s.round, s.board)),
            ("White", name(&s.white)),
            ("Black", name(&s.black)),
        ];
        if let Some(control) = &s.time_control {
            tags.push(("TimeControl", control.clone()));
        }
        let result = self.result().map_or("*", |(score, _)| score);
        let text = pgn::write(&tags, self.game.start(), self.game.record(), result);
        Output::Pgn {
            game: self.game_id(),
            pgn: text,
        }
    }

    /// The game on the board; `None` before the first.
    pub fn current_game(&self) -> Option<GameId> {
        (self.games > 0).then(|| self.game_id())
    }

    fn game_id(&self) -> GameId {
        let letter = match self.games {
            0 | 1 => String::new(),
            n @ 2..=26 => char::from(b'a' + (n as u8 - 1)).to_string(),
            n => format!("-{n}"),
        };
        GameId(format!(
            "{}.{}{letter}",
            self.settings.round, self.settings.board
        ))
    }

    /// The board spoke.
    fn hear(&mut self) {
        if self.talk.heard(self.now) {
            self.set_link(LinkState::Up);
        }
    }

    fn lose(&mut self, state: LinkState) {
        self.agreed = None;
        self.talk.closed();
        self.sensors.forget();
        self.frames = Frames::new();
        self.set_link(state);
    }

    fn set_link(&mut self, state: LinkState) {
        self.link.state = state;
        self.link.since = self.now;
        self.link.noise = state == LinkState::Silent && self.talk.noisy();
        self.tell_link();
    }

    fn tell_link(&mut self) {
        self.out.push_back(Output::Link(self.link.clone()));
    }

    fn tell_state(&mut self, at_once: bool) {
        let due = self
            .told_state
            .as_ref()
            .is_none_or(|(at, _)| at_once || self.now.ms_since(*at) >= STATE_EVERY_MS);
        if !self.stale || !due {
            return;
        }
        self.stale = false;
        let state = self.state();
        if self.told_state.as_ref().map(|(_, told)| told) != Some(&state) {
            self.out.push_back(Output::State(Box::new(state.clone())));
        }
        self.told_state = Some((self.now, state));
    }

    fn clock_view(&self) -> ClockView {
        ClockView {
            at: clock_at(self.clock.facts()),
            connected: self.clock.facts().connected,
        }
    }

    /// Squares that flap, read a man that cannot stand there, or are to be set up again.
    fn doubted(&self) -> Bitboard {
        let mut doubted = self.sensors.doubt(self.now);
        doubted.extend(self.game.misread());
        if self.game.disturbed() || self.game.restoring() {
            let stood = self.game.last_final().placement();
            doubted |= stood.differs(self.sensors.placement());
        }
        doubted
    }

    /// An arbiter says which of the candidates was played, counted from 0.
    ///
    /// # Errors
    /// When there is no such candidate; nothing changes.
    pub fn choose(&mut self, way: usize, now: At) -> Result<(), NoSuchCandidate> {
        self.now = self.now.max(now);
        let chosen = self.game.choose(way, self.now);
        self.drain_game();
        self.tell_state(true);
        chosen.then_some(()).ok_or(NoSuchCandidate)
    }

    fn phase(&self) -> Phase {
        let game = &self.game;
        match game.stage() {
            _ if !self.sensors.known() => Phase::NoBoard,
            Stage::Setup => Phase::Setup,
            _ if self.ruling.is_some() => Phase::Ended,
            Stage::Ended { .. } => Phase::Ended,
            Stage::Playing if game.restoring() => Phase::Disturbed,
            Stage::Playing if game.record().is_empty() && game.provisional().is_empty() => {
                Phase::Ready
            }
            Stage::Playing if game.disturbed() => Phase::Disturbed,
            Stage::Playing if game.suspended() => Phase::Suspended,
            Stage::Playing => Phase::Playing,
        }
    }

    fn state(&self) -> BoardState {
        let ruled = self.ruling.map(|_| "arbiter");
        let result = self.result();
        BoardState {
            game: self.current_game(),
            round: Some(self.settings.round.clone()),
            white: self.settings.white.clone(),
            black: self.settings.black.clone(),
            phase: self.phase(),
            fen: self.game.last_final().fen(),
            placement: self.sensors.placement().to_string(),
            provisional: self.game.provisional(),
            last: self.last.clone(),
            ply: self.game.record().len() as u16,
            clock: self.clock_view(),
            result: result.map(|(score, _)| score.to_owned()),
            result_by: ruled.or(result.map(|(_, by)| by)),
            result_confirmed: self.ruling.is_some(),
            offences: self.book.offences(),
            alerts: self.book.open_ids(),
            flipped: self.sensors.turned(),
            doubt: self.doubted().into_iter().collect(),
            candidates: self.game.candidates(),
        }
    }
}

fn clock_side(settings: &Settings) -> ClockSide {
    settings.clock.parse().unwrap_or_default()
}

fn limits(settings: &Settings) -> Limits {
    Limits {
        grace_ms: settings.press_grace_ms,
        confirm_ms: settings.confirm_ms,
        settle_ms: settings.settle_ms,
        gesture_ms: settings.gesture_ms,
        ..Limits::default()
    }
}

fn rules(settings: &Settings) -> Rules {
    Rules {
        terms: Terms {
            regime: settings.regime.parse().unwrap_or(Regime::Standard),
            rulings: settings.rulings,
            increment_s: settings.increment_s,
        },
        mode: CastlingMode::from_chess960(settings.chess960),
        escalate_ms: settings.escalate_ms,
        claim_ms: settings.claim_ms,
    }
}

fn clock_at(facts: &ClockFacts) -> ClockAt {
    ClockAt {
        white_s: facts.white_s,
        black_s: facts.black_s,
        running: facts.running,
    }
}

fn stand(ground: &Ground) -> Stand {
    Stand {
        setup: ground.setup().clone(),
        mode: ground.mode(),
    }
}

fn past(history: &History) -> Past {
    Past {
        complete: history.complete,
        rights_known: history.rights_known,
        king_moved: history.king_moved,
        rooks_gone: history.rooks_gone,
        double_steps: history.double_steps.clone(),
    }
}

/// A board's text is bytes from a cable: what does not print is shown as its code.
fn printable(text: &str) -> String {
    text.trim().escape_default().to_string()
}
