//! How much of the corpus comes back through a board's noise: `cargo bench --bench reconstruction`;
//! one noise alone: `-- rough`.
//!
//! Three columns in one run, over the same bytes: ours; the greedy rule, which takes the first
//! placement that one legal move explains; the settle rule, which takes a placement that stood for
//! 400 ms if one or two legal moves explain it. The rivals see no clock and are asked for none.

#[path = "../tests/common/mod.rs"]
mod common;

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use atalaya::{
    board::{Placement, Sensors},
    dgt::{Frames, Message, physical_of},
    monitor::{Input, Monitor, Output, Settings},
    simulate::{Noise, PlannedGame, parse_games, read_games},
    words::At,
};
use common::{came_back, play, shared};
use shakmaty::{Chess, EnPassantMode, Position, Square, san::SanPlus};

fn main() {
    let games = match shared("corpus/games.pgn") {
        Some(path) => read_games(&path),
        None => parse_games(include_str!("../src/cli/demo.pgn").as_bytes(), "demo.pgn"),
    };
    let games: Vec<_> = games
        .expect("games read")
        .into_iter()
        .map(Arc::new)
        .collect();
    let wanted: Vec<String> = std::env::args().collect();
    for (noise, other) in [(Noise::Hall, "rough"), (Noise::Rough, "hall")] {
        if !wanted.iter().any(|word| word == other) {
            columns(&games, noise);
        }
    }
    for plies in [2, 4] {
        gaps(&games, plies);
    }
}

/// What one way of rebuilding made of the plies played.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    played: usize,
    exact: usize,
    /// Published, and not what was played.
    wrong: usize,
    /// Games without any difference.
    games: usize,
    urgent: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.played += other.played;
        self.exact += other.exact;
        self.wrong += other.wrong;
        self.games += other.games;
        self.urgent += other.urgent;
    }

    fn of(played: usize, rebuilt: usize, exact: usize) -> Tally {
        Tally {
            played,
            exact,
            wrong: rebuilt - exact,
            games: usize::from(played == rebuilt && exact == played),
            urgent: 0,
        }
    }

    fn print(&self, name: &str, games: usize) {
        let percent = |part: usize| 100.0 * part as f64 / self.played as f64;
        println!(
            "  {name:<8} exact {:>8.4} %   published wrong {:>8.4} %   in doubt or not published {:>8.4} %   \
             whole games {} of {games}",
            percent(self.exact),
            percent(self.wrong),
            percent(self.played.saturating_sub(self.exact + self.wrong)),
            self.games,
        );
    }
}

fn columns(games: &[Arc<PlannedGame>], noise: Noise) {
    let half = games.len() / 2;
    let ours_and_rivals = thread::scope(|scope| {
        let second = scope.spawn(|| tallies(&games[half..], half, noise));
        let mut all = tallies(&games[..half], 0, noise);
        for (sum, more) in all.iter_mut().zip(second.join().expect("no panic")) {
            sum.add(more);
        }
        all
    });
    let [ours, greedy, settle] = ours_and_rivals;
    println!(
        "noise {noise}: {} plies of {} games; urgent alerts on these clean games: {}",
        ours.played,
        games.len(),
        ours.urgent
    );
    ours.print("ours", games.len());
    greedy.print("greedy", games.len());
    settle.print("settle", games.len());
}

fn tallies(games: &[Arc<PlannedGame>], first: usize, noise: Noise) -> [Tally; 3] {
    let mut sums = [Tally::default(); 3];
    for (index, game) in games.iter().enumerate() {
        let seed = (first + index) as u64;
        let day = play(vec![game.clone()], seed, noise, 0.0, seed % 4 == 3);
        let truth = day.played();
        let rebuilt: Vec<_> = day.games.concat();
        let exact = truth.iter().zip(&rebuilt).filter(|(a, b)| came_back(a, b));
        let mut ours = Tally::of(truth.len(), rebuilt.len(), exact.count());
        ours.wrong -= in_doubt(&truth, &rebuilt, &day.about.concat());
        ours.urgent = day.urgent().count();
        if ours.games == 0 || ours.urgent > 0 {
            explain(seed, &truth, &rebuilt, ours);
        }
        sums[0].add(ours);
        for (sum, rule) in sums[1..].iter_mut().zip([Rule::Greedy, Rule::Settle]) {
            let rebuilt = rule.rebuild(&game.start, &day.heard);
            let exact = truth.iter().zip(&rebuilt).filter(|(a, b)| a.0 == **b);
            sum.add(Tally::of(truth.len(), rebuilt.len(), exact.count()));
        }
    }
    sums
}

/// Plies that are right but for a clock time that is told to be about right, or not known.
fn in_doubt(
    truth: &[(String, Option<u32>)],
    rebuilt: &[(String, Option<u32>)],
    about: &[bool],
) -> usize {
    let plies = truth.iter().zip(rebuilt).zip(about);
    plies
        .filter(|((played, told), about)| {
            !came_back(played, told) && played.0 == told.0 && (**about || told.1.is_none())
        })
        .count()
}

/// Each game of ours that differs, where `ATALAYA_EXPLAIN` is set.
fn explain(
    seed: u64,
    truth: &[(String, Option<u32>)],
    rebuilt: &[(String, Option<u32>)],
    tally: Tally,
) {
    if std::env::var_os("ATALAYA_EXPLAIN").is_none() {
        return;
    }
    let at = truth
        .iter()
        .zip(rebuilt)
        .position(|(a, b)| !came_back(a, b));
    println!(
        "game {seed}: played {}, rebuilt {}, wrong {}, urgent {}, first difference {at:?}: {:?} / {:?}",
        truth.len(),
        rebuilt.len(),
        tally.wrong,
        tally.urgent,
        at.and_then(|at| truth.get(at)),
        at.and_then(|at| rebuilt.get(at)),
    );
}

#[derive(Debug, Clone, Copy)]
enum Rule {
    Greedy,
    Settle,
}

const SETTLED_MS: u64 = 400;

impl Rule {
    fn rebuild(self, start: &Chess, heard: &[(u64, Vec<u8>)]) -> Vec<String> {
        let (mut frames, mut sensors) = (Frames::new(), Sensors::default());
        let mut pos = start.clone();
        let mut record = Vec::new();
        let mut since = 0;
        for (at, bytes) in heard {
            if let Rule::Settle = self
                && at - since >= SETTLED_MS
            {
                take(&mut pos, sensors.placement(), 2, &mut record);
            }
            frames.push(bytes);
            while let Some(message) = frames.next_message() {
                match message {
                    Message::Field { square, code } => {
                        if sensors.field(square, code, At(*at)).is_none() {
                            continue;
                        }
                    }
                    Message::Dump(codes) => {
                        if sensors.dump(&codes, At(*at)).is_empty() {
                            continue;
                        }
                    }
                    _ => continue,
                }
                since = *at;
                if let Rule::Greedy = self {
                    take(&mut pos, sensors.placement(), 1, &mut record);
                }
            }
        }
        take(&mut pos, sensors.placement(), 2, &mut record);
        record
    }
}

/// Takes the first legal line of at most so many plies that leads to these men.
fn take(pos: &mut Chess, seen: &Placement, most: usize, record: &mut Vec<String>) {
    let wrong = Placement::from(pos.board()).differs(seen).count();
    if wrong == 0 || wrong > 4 * most {
        return;
    }
    for mv in pos.legal_moves() {
        let mut next = pos.clone();
        next.play_unchecked(mv);
        let second = (most > 1 && Placement::from(next.board()) != *seen)
            .then(|| {
                next.legal_moves().into_iter().find(|&reply| {
                    let mut after = next.clone();
                    after.play_unchecked(reply);
                    Placement::from(after.board()) == *seen
                })
            })
            .flatten();
        if second.is_none() && Placement::from(next.board()) != *seen {
            continue;
        }
        for mv in [Some(mv), second].into_iter().flatten() {
            record.push(SanPlus::from_move_and_play_unchecked(pos, mv).to_string());
        }
        return;
    }
}

/// Time from the full board after a cut link to the plies in between, or to their candidates.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn gaps(games: &[Arc<PlannedGame>], plies: usize) {
    let (mut took, mut closed, mut held, mut wrong) = (Vec::new(), 0, 0, 0);
    for (index, game) in games.iter().enumerate() {
        let at = 10 + index % 40;
        if game.plies.len() < at + plies || game.mode.is_chess960() {
            continue;
        }
        let mut pos = game.start.clone();
        for planned in &game.plies[..at] {
            pos.play_unchecked(planned.mv);
        }
        let mut monitor = Monitor::new(Settings::default());
        monitor.handle(Input::Opened, At(0));
        monitor.handle(Input::Bytes(&dump(&pos)), At(100));
        monitor.adopt(pos.to_setup(EnPassantMode::Always), At(200));
        let mut played = Vec::new();
        for planned in &game.plies[at..at + plies] {
            played.push(SanPlus::from_move_and_play_unchecked(&mut pos, planned.mv).to_string());
        }
        let bytes = dump(&pos);
        monitor.handle(Input::Closed, At(5_000));
        while monitor.poll_output().is_some() {}
        monitor.handle(Input::Opened, At(60_000));
        let start = Instant::now();
        monitor.handle(Input::Bytes(&bytes), At(60_100));
        took.push(start.elapsed());
        monitor.handle(Input::Tick, At(61_000));
        let (mut state, mut rebuilt) = (None, Vec::new());
        while let Some(output) = monitor.poll_output() {
            match output {
                Output::State(told) => state = Some(told),
                Output::Ply(ply) => rebuilt.push(ply.san),
                _ => {}
            }
        }
        let Some(state) = state else { continue };
        if state.candidates.is_empty() {
            rebuilt.extend(state.provisional);
            closed += usize::from(rebuilt == played);
            wrong += usize::from(!rebuilt.is_empty() && rebuilt != played);
        } else {
            held += 1;
        }
    }
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    let aim = if plies <= 2 {
        Duration::from_millis(1)
    } else {
        Duration::from_millis(50)
    };
    println!(
        "gap of {plies} plies: p50 {:?}, p99 {:?}, worst {:?} (aim {aim:?}; worst is {:.3} of it); of {} \
         gaps {closed} closed, {held} held with candidates, {wrong} closed by another way of as many plies or fewer",
        at(0.5),
        at(0.99),
        at(1.0),
        at(1.0).as_secs_f64() / aim.as_secs_f64(),
        took.len(),
    );
}

fn dump(pos: &Chess) -> Vec<u8> {
    let men = Placement::from(pos.board());
    let mut codes = [0; 64];
    for square in Square::ALL {
        codes[usize::from(physical_of(square, false))] = men.code(square);
    }
    let mut bytes = Vec::new();
    Message::Dump(Box::new(codes)).encode(&mut bytes);
    bytes
}
