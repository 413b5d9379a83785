use std::io::Cursor;

use atalaya::{
    hall::pairings::{PairingFault, Pairings},
    simulate::{GamesError, parse_games},
};
use shakmaty::Position;

use super::bytes::{file, most_lines};

/// Games: the headers as pairings, the moves as the simulated boards play them.
pub fn pgn(data: &[u8]) {
    pairings(data, ".pgn");
    match parse_games(Cursor::new(data), "any.pgn") {
        Ok(games) => {
            assert!(!games.is_empty());
            for game in games {
                assert!(!game.plies.is_empty());
                let mut position = game.start.clone();
                for ply in &game.plies {
                    position = position.play(ply.mv).expect("only legal moves are read");
                }
            }
        }
        Err(why @ (GamesError::Game { .. } | GamesError::Empty { .. })) => {
            assert!(why.to_string().starts_with("any.pgn: "), "{why}");
        }
        Err(GamesError::Io { .. }) => {}
    }
}

/// A tournament report.
pub fn trf(data: &[u8]) {
    pairings(data, ".trf");
}

/// A table.
pub fn csv(data: &[u8]) {
    pairings(data, ".csv");
}

/// Pairings, or every fault with its place; never neither. The first byte is the round (a digit is its own).
fn pairings(data: &[u8], ending: &str) {
    let (round, text) = data.split_first().unwrap_or((&1, &[]));
    let file = file(text, ending);
    let most = most_lines(text);
    let placed = |faults: &[PairingFault]| {
        for fault in faults {
            let line = fault.line.unwrap_or(1);
            assert!((1..=most).contains(&line), "{fault:?} of {most} lines");
            assert!(!fault.what.is_empty());
        }
    };
    match Pairings::read(file.path(), &(round % 16).to_string()) {
        Ok(read) => {
            assert!(read.iter().next().is_some(), "no pairing and no fault");
            for (board, pairing) in read.iter() {
                assert_ne!(board.0, 0);
                assert_eq!(read.get(board), Some(pairing));
                for player in [&pairing.white, &pairing.black] {
                    assert_eq!(player.name, player.name.trim());
                    assert_ne!(player.elo, Some(0));
                }
                if let Some(result) = &pairing.result {
                    assert!(["1-0", "0-1", "0-0", "1/2-1/2"].contains(&result.as_str()));
                }
            }
            placed(read.notes());
        }
        Err(error) => {
            assert!(!error.faults.is_empty());
            placed(&error.faults);
        }
    }
}
