//! Every game of the corpus, played through the virtual board and the real protocol.

mod common;

use std::sync::Arc;

use atalaya::simulate::{Noise, PlannedGame, TruthEvent as Event, read_games};
use common::{play, shared};

/// Plays each game and compares it, SAN and clock; returns plies played.
fn exact(games: &[Arc<PlannedGame>], noise: Noise, faults: &mut Vec<String>) -> usize {
    let mut plies = 0;
    for (index, game) in games.iter().enumerate() {
        let day = play(vec![game.clone()], index as u64, noise, 0.0, index % 4 == 3);
        let truth: Vec<(String, Option<u32>)> = day
            .truth
            .iter()
            .filter_map(|line| match &line.event {
                Event::Ply { san, clock_s, .. } => Some((san.clone(), *clock_s)),
                _ => None,
            })
            .collect();
        plies += truth.len();
        let seen = day.games.first().cloned().unwrap_or_default();
        let pressed_alike = truth.len() == seen.len()
            && truth.iter().zip(&seen).all(|(played, rebuilt)| {
                played.0 == rebuilt.0 && (played.1.is_none() || played.1 == rebuilt.1)
            });
        if !pressed_alike || day.games.len() > 1 {
            let at = truth
                .iter()
                .zip(&seen)
                .position(|(a, b)| a.0 != b.0 || (a.1.is_some() && a.1 != b.1));
            faults.push(format!(
                "game {index}: played {} rebuilt {} in {} games; first difference {at:?}: {:?} / {:?}",
                truth.len(), seen.len(), day.games.len(),
                at.and_then(|i| truth.get(i)), at.and_then(|i| seen.get(i)),
            ));
        }
        for (_, alert) in day.urgent() {
            faults.push(format!(
                "game {index} ply {}: {}",
                alert.ply,
                alert.finding.code.as_str()
            ));
        }
        assert_eq!(day.forbidden, 0);
    }
    plies
}

fn whole_corpus(noise: Noise) {
    let Some(path) = shared("corpus/games.pgn") else {
        return;
    };
    let games: Vec<_> = read_games(&path)
        .expect("the corpus reads")
        .into_iter()
        .map(Arc::new)
        .collect();
    let mut faults = Vec::new();
    let plies = exact(&games, noise, &mut faults);
    println!("{plies} plies of {} games", games.len());
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults[..faults.len().min(40)].join("\n")
    );
}

#[test]
fn every_corpus_game_comes_back_exactly_calm() {
    whole_corpus(Noise::Calm);
}

#[test]
fn every_corpus_game_comes_back_exactly_hall() {
    whole_corpus(Noise::Hall);
}
