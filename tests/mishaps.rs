//! Players who break the rules: every breach is caught with the right code, and nothing else is.

mod common;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use atalaya::{
    incident::Level,
    laws::{Code, Finding},
    simulate::{Noise, TruthEvent, parse_games},
};
use common::play;

/// An alert stands within this time after the press, ms of play: confirmed by a full board, at
/// the latest after the grace.
const IN_TIME_MS: u64 = 2_500;

/// Men that look alike can leave the same board in two ways (a pawn takes its own fellow, or is
/// gone): the alert then names both.
fn says(finding: &Finding, code: &str) -> bool {
    let instead = finding.instead.as_ref().map(|other| other.code.as_str());
    finding.code.as_str() == code || instead == Some(code)
}

/// What may follow a breach that was put right: these players go on with the move of the game,
/// whatever man they touched.
fn follows_a_breach(code: Code) -> bool {
    matches!(
        code,
        Code::ReplacementNotTouchedPiece | Code::IllegalCastleNoKingMove
    )
}

/// Players of these games remember badly: a rook and a king that came home, a pawn that stepped
/// twice long ago, a pinned knight.
const FORGETFUL: &str = r#"[Result "*"]

1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. Rg1 Rg8 5. Rh1 Rh8 6. d3 d6 7. a3 a6 8. h3 h6 9. Nc3 Nc6
10. Be3 Be6 11. Qd2 Qd7 12. Na4 Na5 13. Nc3 Nc6 *

[Result "*"]

1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. Ke2 Ke7 5. Ke1 Ke8 6. d3 d6 7. h3 h6 8. Nc3 Nc6 9. a3 a6
10. Bd2 Bd7 11. Qe2 Qe7 12. Na4 Na7 13. Nc3 Nc6 *

[Result "*"]

1. e4 a6 2. e5 d5 3. a3 b6 4. h3 h6 5. Nc3 Nc6 6. d4 e6 7. Be3 Be7 8. Qd2 Bd7 9. Be2 a5
10. Nb1 Nb8 11. Nc3 Nc6 12. Nb1 Nb8 *

[Result "*"]

1. e4 e5 2. Nf3 Nc6 3. Bb5 d6 4. d4 exd4 5. Nxd4 a6 6. h3 h6 7. a3 g6 8. Nc3 b6 9. Be3 Bb7
10. Qd2 Be7 11. O-O Bf6 12. b3 Bg7 13. f3 *
"#;

/// Plays the games with so many mishaps a ply; gives how often each kind was played.
fn caught(text: &str, seeds: u64, noise: Noise, rate: f64) -> BTreeMap<String, u32> {
    let games = parse_games(text.as_bytes(), "games").expect("the games read");
    let games: Vec<_> = games.into_iter().map(Arc::new).collect();
    let (mut played, mut faults) = (BTreeMap::<String, u32>::new(), Vec::new());
    for seed in 0..seeds {
        for game in &games {
            let day = play(vec![game.clone()], seed, noise, rate, seed % 4 == 3);
            let mut alerts: Vec<_> = day
                .raised
                .iter()
                .filter(|(_, alert)| alert.level > Level::Info)
                .map(|(at, alert)| (*at, usize::from(alert.ply), &alert.finding))
                .collect();
            let mut broken = BTreeSet::new();
            for line in &day.truth {
                let TruthEvent::Mishap { code, ply, .. } = &line.event else {
                    continue;
                };
                broken.insert(*ply);
                *played.entry(code.clone()).or_default() += 1;
                let found = alerts.iter().position(|(at, due, raised)| {
                    says(raised, code) && due == ply && at.abs_diff(line.at_ms) < IN_TIME_MS
                });
                match found {
                    Some(index) => drop(alerts.remove(index)),
                    None => faults.push(format!("seed {seed} ply {ply}: {code} not caught")),
                }
            }
            for (at, ply, finding) in alerts {
                let code = finding.code;
                if follows_a_breach(code) && broken.contains(&ply) {
                    continue;
                }
                faults.push(format!("seed {seed} ply {ply} at {at}: {code} for nothing"));
            }
            let record = day.games.first().map_or(0, Vec::len);
            if record != game.plies.len() {
                faults.push(format!("seed {seed}: {record} of {}", game.plies.len()));
            }
        }
    }
    println!("{noise}: {played:#?}");
    assert!(
        faults.is_empty(),
        "{} faults of {}\n{}",
        faults.len(),
        played.values().sum::<u32>(),
        faults.join("\n")
    );
    played
}

fn every_breach_is_caught(noise: Noise) {
    let played = caught(include_str!("../src/cli/demo.pgn"), 12, noise, 0.08);
    assert!(played.len() >= 12, "too few kinds were played: {played:?}");
}

#[test]
fn every_breach_is_caught_calm() {
    every_breach_is_caught(Noise::Calm);
}

#[test]
fn every_breach_is_caught_hall() {
    every_breach_is_caught(Noise::Hall);
}

#[test]
fn what_the_past_forbids_is_caught() {
    let played = caught(FORGETFUL, 60, Noise::Hall, 0.5);
    for code in [
        "castling-king-moved",
        "castling-rook-moved",
        "en-passant-late",
        "king-captured",
    ] {
        assert!(played.contains_key(code), "{code} was never played");
    }
}

#[test]
fn alerts_of_a_game_that_is_over_age_too() {
    let games = parse_games(include_str!("../src/cli/demo.pgn").as_bytes(), "games");
    let games: Vec<_> = games
        .expect("the games read")
        .into_iter()
        .map(Arc::new)
        .collect();
    let day = play(games, 5, Noise::Calm, 0.08, false);
    let half = day.truth.last().expect("games were played").at_ms / 2;
    let early = day.raised.iter().filter(|(at, _)| *at < half);
    let early: Vec<&str> = early.map(|(_, alert)| alert.id.as_str()).collect();
    assert!(
        day.games.len() > 2 && early.len() > 5,
        "{} early",
        early.len()
    );
    for id in early {
        assert!(
            day.gone.iter().any(|(_, gone)| gone == id),
            "{id} stays for ever"
        );
    }
}
