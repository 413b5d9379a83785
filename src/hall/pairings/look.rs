//! Looks over pairings that read: what an operator would want to know before the round.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Pairing, PairingFault};
use crate::words::BoardNo;

/// The titles FIDE gives over the board.
pub(super) const TITLES: [&str; 8] = ["GM", "IM", "FM", "CM", "WGM", "WIM", "WFM", "WCM"];

/// A title as it is written out; reports have short forms too.
pub(super) fn title(text: &str) -> String {
    let upper = text.to_uppercase();
    match upper.as_str() {
        "G" => "GM",
        "M" => "IM",
        "F" => "FM",
        "C" => "CM",
        "WG" => "WGM",
        "WM" => "WIM",
        "WF" => "WFM",
        "WC" => "WCM",
        _ => return upper,
    }
    .to_owned()
}

type Lines = BTreeMap<BoardNo, (usize, Pairing)>;

/// What is odd: another round than the one configured, a player or a serial number at two boards,
/// boards left out, FIDE numbers that some have and others lack.
pub(super) fn notes(pairings: &Lines, round: &str) -> Vec<PairingFault> {
    let mut notes = Vec::new();
    let mut note = |line: Option<usize>, what: String| notes.push(PairingFault { line, what });
    let rounds: BTreeSet<&str> = pairings
        .values()
        .filter_map(|(_, pair)| pair.round.as_deref())
        .collect();
    if !rounds.is_empty() && !rounds.contains(round) {
        let theirs: Vec<&str> = rounds.into_iter().collect();
        let what = format!(
            "is of round {}, but event.round is {round}",
            theirs.join(", ")
        );
        note(None, what);
    }
    let mut seen: HashMap<String, (BoardNo, usize)> = HashMap::new();
    for (board, (line, pair)) in pairings {
        let players = [&pair.white, &pair.black]
            .into_iter()
            .filter(|player| !player.is_bye());
        let names = players.map(|player| player.name.to_lowercase());
        let serial = pair
            .serial
            .iter()
            .map(|serial| format!("serial number {serial}"));
        for one in names.chain(serial) {
            if let Some((other, first)) = seen.insert(one.clone(), (*board, *line)) {
                let what = format!("{one} is at board {board} and at board {other} (line {first})");
                note(Some(*line), what);
            }
        }
    }
    let last = pairings.keys().next_back().map_or(0, |board| board.0);
    let missing = (1..=last)
        .map(BoardNo)
        .filter(|board| !pairings.contains_key(board));
    let missing: Vec<String> = missing.map(|board| board.to_string()).collect();
    if !missing.is_empty() {
        let boards: Vec<String> = missing.iter().take(10).cloned().collect();
        note(
            None,
            format!(
                "has no players at {} of the boards up to {last}: {}",
                missing.len(),
                boards.join(", ")
            ),
        );
    }
    let players = pairings.iter().flat_map(|(board, (line, pair))| {
        [&pair.white, &pair.black].map(|player| (board, line, player))
    });
    let (with, without): (Vec<_>, Vec<_>) = players
        .filter(|(.., player)| !player.is_bye())
        .partition(|(.., player)| player.fide_id.is_some());
    if !with.is_empty() {
        for (board, line, player) in without {
            note(
                Some(*line),
                format!(
                    "{} at board {board} has no FIDE number (0: really none)",
                    player.name
                ),
            );
        }
    }
    notes
}
