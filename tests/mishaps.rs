//! Players who break the rules: every breach is caught with the right code, and nothing else is.

mod common;

use std::{collections::BTreeMap, sync::Arc};

use atalaya::{
    incident::Level,
    laws::Finding,
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

fn caught(noise: Noise) {
    let text = include_str!("../src/cli/demo.pgn");
    let games = parse_games(text.as_bytes(), "demo.pgn").expect("the demo's games read");
    let games: Vec<_> = games.into_iter().map(Arc::new).collect();
    let (mut played, mut faults) = (BTreeMap::<String, u32>::new(), Vec::new());
    for seed in 0..12 {
        for game in &games {
            let day = play(vec![game.clone()], seed, noise, 0.08, seed % 4 == 3);
            let mut alerts: Vec<_> = day
                .raised
                .iter()
                .filter(|(_, alert)| alert.level > Level::Info)
                .map(|(at, alert)| (*at, usize::from(alert.ply), &alert.finding))
                .collect();
            for line in &day.truth {
                let TruthEvent::Mishap { code, ply, .. } = &line.event else {
                    continue;
                };
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
                faults.push(format!("seed {seed} ply {ply} at {at}: {code} for nothing"));
            }
            let record = day.games.first().map_or(0, Vec::len);
            if record != game.plies.len() {
                faults.push(format!("seed {seed}: {record} of {}", game.plies.len()));
            }
        }
    }
    println!("{noise}: {played:#?}");
    assert!(played.len() >= 12, "too few kinds were played: {played:?}");
    assert!(
        faults.is_empty(),
        "{} faults of {}\n{}",
        faults.len(),
        played.values().sum::<u32>(),
        faults.join("\n")
    );
}

#[test]
fn every_breach_is_caught_calm() {
    caught(Noise::Calm);
}

#[test]
fn every_breach_is_caught_hall() {
    caught(Noise::Hall);
}
