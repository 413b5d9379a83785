//! Runs a scenario: a board of its own sends the protocol's bytes to a monitor.

use std::fmt::Debug;

use shakmaty::{Chess, EnPassantMode, Square, fen::Fen};

use super::{Scenario, ScenarioError, Token, tokens};
use crate::{
    board::Placement,
    dgt::{ClockMessage, ClockTimes, Hand, HandTime, Message, physical_of},
    incident::AlertChange,
    laws::{Certainty, Regime},
    monitor::{BoardState, Input, Monitor, Output, Settings},
    words::{At, Side, side_name},
};

/// Events stand so far apart unless a token says otherwise, ms.
const APART_MS: u64 = 300;
/// Longer than any settle time, ms.
const PAUSE_MS: u64 = 5_000;
/// Each side's time at the start, s.
const TIME_S: u32 = 3_600;

/// What a scenario brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Alerts raised, `CODE SIDE CERTAINTY`, sorted.
    pub alerts: Vec<String>,
    /// Final plies, SAN.
    pub moves: Vec<String>,
    /// The result, if the board told one.
    pub result: Option<String>,
    /// What differs from the expectations; empty when the scenario holds.
    pub faults: Vec<String>,
}

/// Runs one scenario.
///
/// # Errors
/// When its start, regime or events do not read.
pub fn run(scenario: &Scenario) -> Result<Outcome, ScenarioError> {
    let id = || scenario.id.clone();
    let fen = match &scenario.start {
        Some(text) => text.parse::<Fen>().map_err(|why| ScenarioError::Start {
            id: id(),
            fen: text.clone(),
            why: why.to_string(),
        })?,
        None => Fen::from_position(&Chess::default(), EnPassantMode::Legal),
    };
    scenario
        .regime
        .parse::<Regime>()
        .map_err(|why| ScenarioError::Regime { id: id(), why })?;
    let line = tokens(&scenario.events).map_err(|why| ScenarioError::Events { id: id(), why })?;
    let mut table = Table::new(scenario, fen);
    for token in line {
        table.play(token);
    }
    table.wait(4 * PAUSE_MS);
    Ok(table.outcome(scenario))
}

/// The scenario's own board and clock, with the monitor that watches them.
struct Table {
    monitor: Monitor,
    now: u64,
    next_apart: u64,
    men: Placement,
    times: [u32; 2],
    turn: Side,
    running: bool,
    flag: Option<Side>,
    has_clock: bool,
    connected: bool,
    lost: bool,
    turned: bool,
    white_right: bool,
    outputs: Vec<Output>,
}

impl Table {
    fn new(scenario: &Scenario, fen: Fen) -> Table {
        let chess960 = scenario.variant == "chess960";
        let setup = fen.into_setup();
        let settings = Settings {
            regime: scenario.regime.clone(),
            chess960,
            time_control: scenario.time_control.clone(),
            clock: match (scenario.clock, scenario.white_right) {
                (false, _) => "none",
                (true, false) => "white-left",
                (true, true) => "auto",
            }
            .to_owned(),
            ..Settings::default()
        };
        let mut table = Table {
            monitor: Monitor::new(settings),
            now: 0,
            next_apart: APART_MS,
            men: Placement::from(&setup.board),
            times: [TIME_S; 2],
            turn: setup.turn,
            running: scenario.running,
            flag: None,
            has_clock: scenario.clock,
            connected: true,
            lost: false,
            turned: scenario.turned,
            white_right: scenario.white_right,
            outputs: Vec::new(),
        };
        table.monitor.handle(Input::Opened, At(0));
        table.dump();
        table.tell_clock();
        table.wait(2_000);
        if scenario.told {
            table.monitor.adopt(setup, At(table.now));
        }
        table.dump();
        table.wait(1_000);
        if scenario.told {
            table.outputs.clear();
        }
        table
    }

    fn play(&mut self, token: Token) {
        match token {
            Token::Pause => return self.wait(PAUSE_MS),
            Token::Distance(ms) => {
                self.next_apart = ms;
                return;
            }
            Token::Lost => {
                self.lost = true;
                return;
            }
            _ => {}
        }
        let apart = std::mem::replace(&mut self.next_apart, APART_MS);
        self.wait(apart);
        match token {
            Token::Reads(square, reading) => {
                self.men.set_reading(square, reading);
                let message = Message::Field {
                    square: physical_of(square, self.turned),
                    code: self.men.code(square),
                };
                self.send(&message);
            }
            Token::Press(side) => {
                self.turn = side.other();
                self.tell_clock();
            }
            Token::Stop => {
                self.running = false;
                self.tell_clock();
            }
            Token::Go => {
                self.running = true;
                self.tell_clock();
            }
            Token::Flag(side) => {
                self.flag = Some(side);
                self.times[side.fold_wb(0, 1)] = 0;
                self.running = false;
                self.tell_clock();
            }
            Token::Clock(side, seconds) => {
                self.times[side.fold_wb(0, 1)] = seconds;
                self.tell_clock();
            }
            Token::Dump => self.dump(),
            Token::Off => {
                self.connected = false;
                self.tell(Input::Closed);
            }
            Token::On => {
                self.connected = true;
                self.tell(Input::Opened);
                self.dump();
                self.tell_clock();
            }
            Token::Pause | Token::Distance(_) | Token::Lost => {}
        }
        self.lost = false;
    }

    /// Lets time pass, waking the monitor whenever it asks.
    fn wait(&mut self, ms: u64) {
        let until = self.now + ms;
        while let Some(At(wake)) = self.monitor.wake_at() {
            if wake >= until {
                break;
            }
            self.now = self.now.max(wake);
            self.tell(Input::Tick);
        }
        self.now = until;
        self.tell(Input::Tick);
    }

    fn tell(&mut self, input: Input<'_>) {
        self.monitor.handle(input, At(self.now));
        while let Some(output) = self.monitor.poll_output() {
            self.outputs.push(output);
        }
    }

    fn send(&mut self, message: &Message) {
        if self.lost || !self.connected {
            return;
        }
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.tell(Input::Bytes(&bytes));
    }

    fn dump(&mut self) {
        let mut codes = [0; 64];
        for square in Square::ALL {
            codes[usize::from(physical_of(square, self.turned))] = self.men.code(square);
        }
        self.send(&Message::Dump(Box::new(codes)));
    }

    fn tell_clock(&mut self) {
        if !self.has_clock {
            return;
        }
        let hand = |side: Side| HandTime {
            seconds: self.times[side.fold_wb(0, 1)],
            flag_fallen: self.flag == Some(side),
            ..HandTime::default()
        };
        let (left, right) = if self.white_right {
            (Side::Black, Side::White)
        } else {
            (Side::White, Side::Black)
        };
        let times = ClockTimes {
            left: hand(left),
            right: hand(right),
            running: self.running,
            lever: if self.turn == left {
                Hand::Left
            } else {
                Hand::Right
            },
            battery_low: false,
            connected: true,
        };
        self.send(&Message::Clock(ClockMessage::Times(times)));
    }

    fn outcome(self, scenario: &Scenario) -> Outcome {
        let mut alerts = Vec::new();
        let mut moves: Vec<String> = Vec::new();
        let mut last_state = None;
        for output in self.outputs {
            match output {
                Output::Alert {
                    change: AlertChange::Raised,
                    alert,
                } => alerts.push(format!(
                    "{} {} {}",
                    alert.finding.code.as_str(),
                    side_name(alert.finding.side),
                    certainty_name(alert.finding.certainty)
                )),
                Output::Ply(ply) => moves.push(ply.san),
                Output::Retract(retraction) => moves.truncate(usize::from(retraction.back_to)),
                Output::State(state) => last_state = Some(state),
                _ => {}
            }
        }
        alerts.sort();
        let state = last_state.as_deref();
        let result = state.and_then(|state| state.result.clone());
        let mut faults = state.map_or_else(Vec::new, |state| scenario.faults_of(state));
        if let Some(expected) = &scenario.alerts {
            let mut expected = expected.clone();
            expected.sort();
            if expected != alerts {
                faults.push(format!("alerts: expected {expected:?}, raised {alerts:?}"));
            }
        }
        if let Some(expected) = &scenario.moves
            && *expected != moves
        {
            faults.push(format!("moves: expected {expected:?}, final {moves:?}"));
        }
        Outcome {
            alerts,
            moves,
            result,
            faults,
        }
    }
}

impl Scenario {
    fn faults_of(&self, state: &BoardState) -> Vec<String> {
        let ways: Vec<String> = state.candidates.iter().map(|way| way.join(" ")).collect();
        let doubt: Vec<String> = state.doubt.iter().map(Square::to_string).collect();
        [
            fault(
                "result",
                &self.result,
                &state.result.clone().unwrap_or_default(),
            ),
            fault("candidates", &self.candidates, &ways),
            fault("doubt", &self.doubt, &doubt),
            fault("phase", &self.phase, &state.phase),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn fault<T: PartialEq + Debug>(what: &str, expected: &Option<T>, told: &T) -> Option<String> {
    let expected = expected.as_ref()?;
    (expected != told).then(|| format!("{what}: expected {expected:?}, told {told:?}"))
}

fn certainty_name(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Certain => "certain",
        Certainty::Probable => "probable",
        Certainty::Hint => "hint",
    }
}
