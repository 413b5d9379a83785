//! With a delay in force nobody outside can tell what happened since.

use std::{
    collections::{BTreeMap, HashMap},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;
use shakmaty::Square;

use crate::{hall::Hall, public::Public};

const DELAY: Duration = Duration::from_secs(5);

const MOVES: [(&str, Square, Square); 6] = [
    ("d4", Square::D2, Square::D4),
    ("d5", Square::D7, Square::D5),
    ("c4", Square::C2, Square::C4),
    ("Nf6", Square::G8, Square::F6),
    ("Nc3", Square::B1, Square::C3),
    ("e6", Square::E7, Square::E6),
];

/// One look at one output: when it was asked, when the answer was there, which moves and result it told, and the text
/// without what only tells the hour.
struct Look {
    asked: Instant,
    at: Instant,
    moves: Vec<&'static str>,
    /// A game is on, says a file that tells no moves.
    live: bool,
    won: bool,
    text: String,
}

fn look(asked: Instant, at: Instant, text: &str) -> Look {
    let words = || text.split(|c: char| !c.is_ascii_alphanumeric());
    let moves = MOVES.iter().map(|(san, ..)| *san);
    let moves = moves
        .filter(|san| words().any(|word| word == *san))
        .collect();
    Look {
        asked,
        at,
        moves,
        live: text.contains("\"live\":true") || text.contains("\"live\":1"),
        won: text.contains("1-0") || text.contains("WHITEWIN"),
        text: without_hour(text),
    }
}

/// Date of the answer, and the moment a LiveChess message was sent.
fn without_hour(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("date: "));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let mut parts = text.split("\"time\":");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + "\"time\":" + part.trim_start_matches(|c: char| c.is_ascii_digit())
    })
}

fn watch(public: &Public, ended: &AtomicBool) -> BTreeMap<String, Vec<Look>> {
    let mut looks: BTreeMap<String, Vec<Look>> = BTreeMap::new();
    while !ended.load(Ordering::Relaxed) {
        let asked = Instant::now();
        let all = public.all();
        let at = Instant::now();
        for (path, text) in all.iter().filter(|(_, text)| !text.is_empty()) {
            looks
                .entry(path.clone())
                .or_default()
                .push(look(asked, at, text));
        }
        thread::sleep(Duration::from_millis(20));
    }
    looks
}

/// Also a test that fails ends the watch.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn no_output_tells_a_move_a_clock_or_a_result_before_its_time_also_behind_a_crash() {
    let mut hall = Hall::open(DELAY.as_secs());
    let ended = AtomicBool::new(false);
    let public = hall.public.clone();
    let (looks, made, killed_at, result_at) = thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(&public, &ended));
        let ends = Ends(&ended);
        let mut made = HashMap::new();
        hall.table.start_clock();
        let play = |hall: &Hall, made: &mut HashMap<&str, Instant>, n: usize| {
            let (san, from, to) = MOVES[n];
            hall.table.slide(from, to);
            hall.table.set_times(300 - 7 * n as u32, 280 - 3 * n as u32);
            made.insert(san, Instant::now());
            hall.table.press();
        };
        (0..3).for_each(|n| play(&hall, &mut made, n));
        // A knight goes wrong and is put right: it was never there.
        hall.table.slide(Square::B8, Square::B5);
        hall.table.press();
        hall.until("it is seen", |hall| {
            hall.state()["alerts"]
                .as_array()
                .is_some_and(|alerts| !alerts.is_empty())
        });
        hall.table.slide(Square::B5, Square::B8);
        hall.table.press();
        hall.until("it is put right", |hall| {
            hall.state()["alerts"].as_array().is_some_and(Vec::is_empty)
        });
        play(&hall, &mut made, 3);
        hall.until("the hall itself knows", |hall| {
            let known = hall.public.now();
            known
                .get("now/round-5/game-1.pgn")
                .is_some_and(|pgn| pgn.contains("Nf6"))
        });
        let text = public.all();
        let early = text.values().find(|text| text.contains("Nf6"));
        assert!(
            early.is_none() || made["Nf6"].elapsed() >= DELAY,
            "{early:?}"
        );
        let killed_at = Instant::now();
        hall = hall.killed();
        (4..6).for_each(|n| play(&hall, &mut made, n));
        let result_at = Instant::now();
        let won = json!({"board": 1, "result": "1-0", "how": "flag"});
        assert_eq!(hall.command("result", won)["status"], "ok");
        hall.shows(
            "5",
            &["d4", "d5", "c4", "Nf6", "Nc3", "e6", "[Result \"1-0\"]"],
        );
        drop(ends);
        (
            watcher.join().expect("it watches"),
            made,
            killed_at,
            result_at,
        )
    });
    let mut told = 0;
    for (path, looks) in &looks {
        let mut texts: HashMap<(&[&str], bool, bool), &str> = HashMap::new();
        for look in looks {
            for san in &look.moves {
                let since = look.at.duration_since(made[san]);
                assert!(
                    since >= DELAY,
                    "{path} tells {san} after {since:?}:\n{}",
                    look.text
                );
                told += 1;
            }
            let since = look.at.saturating_duration_since(made["d4"]);
            assert!(
                !look.live || since >= DELAY,
                "{path} tells of a game after {since:?}"
            );
            let since = look.at.saturating_duration_since(result_at);
            assert!(
                !look.won || since >= DELAY,
                "{path} tells the result after {since:?}"
            );
            let wrong = ["Nb5", "Nb8", "knight", "alert", "illegal"];
            for word in wrong {
                assert!(
                    !look.text.contains(word),
                    "{path} tells of {word}:\n{}",
                    look.text
                );
            }
            // Asked of the old daemon and perhaps answered by the new one.
            if look.asked <= killed_at && killed_at <= look.at {
                continue;
            }
            // Whoever sees the same moves sees the same: headers, clocks, positions. A new daemon has
            // read its files anew.
            let known = (look.moves.as_slice(), look.won, look.asked > killed_at);
            let first = texts.entry(known).or_insert(&look.text);
            let moves = !path.ends_with("index.json") && !path.ends_with("tournament.json");
            assert!(
                !moves || *first == look.text,
                "{path} at {known:?}:\n{first}\n{}",
                look.text
            );
        }
    }
    assert!(told > 0);
    let kinds = [
        "http/round-5/game-1.pgn",
        "http/round-5/game-1.json",
        "pgn/round-5/games.pgn",
        "lichess/5",
        "livechess",
    ];
    for path in kinds {
        let last = looks[path].last().expect("it was looked at");
        assert_eq!(last.moves.len(), MOVES.len(), "{path}");
    }
}
