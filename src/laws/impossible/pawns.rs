//! P10 and P11: how many captures the pawns must have made.

use shakmaty::{Bitboard, Color, File, Square};

use super::{Proof, Reason, Scene, origins::Origins};
use crate::{laws::geometry::rank_of, words::Side};

/// The least number of captures that brings pawns from `homes` (at most eight squares) to where they
/// stand, or `None` when no captures can: a pawn changes one file with each, and only going forward.
pub(super) fn captures(side: Side, pawns: Bitboard, homes: Bitboard) -> Option<usize> {
    const NEVER: u8 = u8::MAX;
    if pawns.count() > homes.count().min(8) {
        return None;
    }
    if on_own_files(side, pawns, homes) {
        return Some(0);
    }
    let mut start = [Square::A1; 8];
    let mut known = 0;
    for home in homes.into_iter().take(8) {
        start[known] = home;
        known += 1;
    }
    // What a pawn pays from each home; a row for each pawn.
    let mut steps = [[NEVER; 8]; 8];
    for (row, pawn) in steps.iter_mut().zip(pawns) {
        for (step, &home) in row.iter_mut().zip(&start[..known]) {
            let files = pawn.file().distance(home.file());
            let ahead = rank_of(side, pawn).checked_sub(rank_of(side, home));
            if ahead.is_some_and(|ahead| files <= ahead) {
                *step = files as u8;
            }
        }
    }
    // The cost by the set of homes that the pawns seen so far came from: as many as it has homes.
    let count = pawns.count();
    let mut costs = [NEVER; 256];
    costs[0] = 0;
    let mut least = NEVER;
    for set in 0..1_usize << known {
        let placed = set.count_ones() as usize;
        if costs[set] == NEVER || placed > count {
            continue;
        }
        if placed == count {
            least = least.min(costs[set]);
            continue;
        }
        for (home, &files) in steps[placed][..known].iter().enumerate() {
            if files != NEVER && set >> home & 1 == 0 {
                let next = set | 1 << home;
                costs[next] = costs[next].min(costs[set] + files);
            }
        }
    }
    (least != NEVER).then_some(usize::from(least))
}

/// Whether no pawn shares its file with another and each has a home behind it there: none needs a capture.
fn on_own_files(side: Side, pawns: Bitboard, homes: Bitboard) -> bool {
    File::ALL.into_iter().map(Bitboard::from_file).all(|file| {
        let mut here = (pawns & file).into_iter();
        let Some(pawn) = here.next() else {
            return true;
        };
        let behind = |home: Square| rank_of(side, home) <= rank_of(side, pawn);
        here.next().is_none() && (homes & file).into_iter().any(behind)
    })
}

/// P11: at the start a white and a black pawn face each other on each file. Only a capture parts a
/// pair: one that a pawn makes or a pawn suffers, or two pairs at once when a pawn takes a pawn.
pub(super) fn passage(scene: &Scene, origins: &Origins) -> Option<Proof> {
    let board = &scene.board;
    let mut facing = 0;
    for file in File::ALL {
        let mut waiting = 0;
        for pawn in board.pawns() & Bitboard::from_file(file) {
            if board.color_at(pawn) == Some(Color::White) {
                waiting += 1;
            } else if waiting > 0 {
                waiting -= 1;
                facing += 1;
            }
        }
    }
    let (mut gone, mut fallen) = (0, 0);
    for side in Color::ALL {
        let taken = scene
            .missing(side)
            .saturating_sub(origins.died_at_home(side));
        let pawns = (board.by_color(side) & board.pawns()).count();
        gone += taken;
        // Pawns that may have been taken as pawns: neither here nor promoted.
        fallen += taken.min(8_usize.saturating_sub(pawns + origins.promoted(side)));
    }
    (facing + gone + fallen < 8).then(|| Proof::new(Reason::PromotionPassage, board.pawns()))
}
