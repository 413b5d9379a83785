//! Every game of the corpus, played through the virtual board and the real protocol.

mod common;

use std::sync::Arc;

use atalaya::simulate::{Noise, PlannedGame, read_games};
use common::{came_back, play, shared};

/// Plays each game and compares it, SAN and clock; returns plies played.
fn exact(games: &[Arc<PlannedGame>], noise: Noise, faults: &mut Vec<String>) -> usize {
    let mut plies = 0;
    for (index, game) in games.iter().enumerate() {
        let day = play(vec![game.clone()], index as u64, noise, 0.0, index % 4 == 3);
        let truth = day.played();
        plies += truth.len();
        let seen = day.games.first().cloned().unwrap_or_default();
        let pressed_alike = truth.len() == seen.len()
            && truth
                .iter()
                .zip(&seen)
                .all(|(played, rebuilt)| came_back(played, rebuilt));
        if !pressed_alike || day.games.len() > 1 {
            let at = truth
                .iter()
                .zip(&seen)
                .position(|(played, rebuilt)| !came_back(played, rebuilt));
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
