//! The cable is out while the players play on: the board's own memory tells the missing plies.

use std::sync::Arc;

use atalaya::{
    incident::AlertChange,
    monitor::{Input, Monitor, Output, Settings},
    simulate::{Noise, Session, TruthEvent, parse_games},
    words::At,
};

const GAME: &str = r#"[Result "1-0"]

1. e4 {[%clk 0:10:00]} e5 {[%clk 0:09:58]} 2. Nf3 {[%clk 0:09:51]} Nc6 {[%clk 0:09:40]}
3. Bb5 {[%clk 0:09:42]} a6 {[%clk 0:09:33]} 4. Ba4 {[%clk 0:09:30]} Nf6 {[%clk 0:09:21]}
5. O-O {[%clk 0:09:22]} Be7 {[%clk 0:09:11]} 6. Re1 {[%clk 0:09:02]} b5 {[%clk 0:09:00]}
7. Bb3 {[%clk 0:08:53]} d6 {[%clk 0:08:40]} 8. c3 {[%clk 0:08:42]} O-O {[%clk 0:08:33]}
9. h3 {[%clk 0:08:13]} Nb8 {[%clk 0:07:56]} 10. d4 {[%clk 0:07:45]} Nbd7 {[%clk 0:07:21]} 1-0
"#;

/// By then the board has told of a press, ms.
const HEARD_MS: u64 = 1_000;

type Told = Vec<(String, Option<u32>)>;

/// The cable is out from one ply to another; what came before and after is told.
struct Table {
    session: Session,
    monitor: Monitor,
    /// Plies on the board when the cable is pulled, and when it is put back.
    out: std::ops::Range<usize>,
    /// A board that does not know the question leaves it unanswered.
    answers: bool,
    played: Told,
    told: Told,
    alerts: Vec<String>,
    asked: u32,
}

impl Table {
    fn new(seed: u64, out: std::ops::Range<usize>) -> Table {
        let games = parse_games(GAME.as_bytes(), "games").expect("the game reads");
        let games = games.into_iter().map(Arc::new).collect();
        Table {
            session: Session::new(1, games, seed, Noise::Hall, 0.0, seed % 2 == 1),
            monitor: Monitor::new(Settings::default()),
            out,
            answers: true,
            played: Vec::new(),
            told: Vec::new(),
            alerts: Vec::new(),
            asked: 0,
        }
    }

    fn play(&mut self) {
        let (mut now, mut plugged, mut bytes) = (0, true, Vec::new());
        let mut pressed = 0;
        self.monitor.handle(Input::Opened, At(0));
        loop {
            self.take(now, plugged);
            let board = self.session.next_wake();
            let wakes = [board, self.monitor.wake_at().map(|at| at.0)];
            let Some(next) = wakes.into_iter().flatten().min() else {
                break;
            };
            now = next.max(now + 1);
            self.session.advance_to(now, &mut bytes);
            for line in self.session.truth() {
                if let TruthEvent::Ply { san, clock_s, .. } = line.event {
                    self.played.push((san, clock_s));
                    pressed = now;
                }
            }
            let pull = self.out.contains(&self.played.len());
            if plugged == pull && now >= pressed + HEARD_MS {
                plugged = !plugged;
                let input = if plugged {
                    Input::Opened
                } else {
                    Input::Closed
                };
                self.monitor.handle(input, At(now));
            }
            match bytes.is_empty() || !plugged {
                true => self.monitor.handle(Input::Tick, At(now)),
                false => self.monitor.handle(Input::Bytes(&bytes), At(now)),
            }
            bytes.clear();
            if self.session.finished() && board.is_none_or(|at| at > now + 60_000) {
                break;
            }
        }
    }

    fn take(&mut self, now: u64, plugged: bool) {
        while let Some(output) = self.monitor.poll_output() {
            match output {
                Output::Write(said) if plugged => {
                    let asks = said.contains(&0x49);
                    self.asked += u32::from(asks);
                    if self.answers || !asks {
                        self.session.command(&said, now);
                    }
                }
                Output::Ply(ply) => self.told.push((ply.san, ply.clock_s)),
                Output::Retract(back) => self.told.truncate(usize::from(back.back_to)),
                Output::Alert {
                    change: AlertChange::Raised,
                    alert,
                } => self.alerts.push(alert.finding.code.to_string()),
                _ => {}
            }
        }
    }
}

#[test]
fn the_plies_of_a_gap_come_back_with_their_clocks() {
    let mut asked = 0;
    for seed in 0..40 {
        for missing in 1..=9 {
            let from = 3 + seed as usize % 5;
            let mut table = Table::new(seed, from..from + missing);
            table.play();
            let came_back = |played: &(String, _), told: &(String, _)| match table.asked {
                0 => played.0 == told.0,
                _ => played == told,
            };
            let exact = table.played.len() == table.told.len()
                && (table.played.iter().zip(&table.told)).all(|(p, t)| came_back(p, t));
            assert!(
                exact,
                "seed {seed}, {missing} missing from {from}:\n{:?}\n{:?}\n{:?}",
                table.played, table.told, table.alerts
            );
            assert_eq!(table.session.board().forbidden(), 0);
            asked += table.asked;
        }
    }
    assert!(asked > 100, "the memory was asked {asked} times");
}

#[test]
fn without_an_answer_the_gap_stays_a_doubt() {
    let mut table = Table::new(4, 5..14);
    table.answers = false;
    table.play();
    assert!(
        (1..=2).contains(&table.asked),
        "asked {} times",
        table.asked
    );
    assert_eq!(table.told[..5], table.played[..5]);
    // What stands in the place of the gap is no move; the game goes on from the men behind it.
    let behind = &table.told[6..];
    assert!(table.told[5].0.len() > 20, "{:?}", table.told);
    assert!(table.played.ends_with(behind), "{:?}", table.told);
    assert_eq!(table.alerts, ["unexplained-gap"]);
}
