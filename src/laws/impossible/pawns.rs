//! P10 and P11: how many captures the pawns must have made.

use shakmaty::{Bitboard, Color, Square};

use super::{Proof, Reason, Scene, origins::Origins};
use crate::{laws::geometry::rank_of, words::Side};

/// The least number of captures that brings pawns from `homes` (at most eight squares) to where they
/// stand, or `None` when no captures can: a pawn changes one file with each, and only going forward.
pub(super) fn captures(side: Side, pawns: Bitboard, homes: Bitboard) -> Option<usize> {
    const NEVER: u8 = u8::MAX;
    let homes: Vec<Square> = homes.into_iter().take(8).collect();
    if pawns.count() > homes.len() {
        return None;
    }
    // The cost by the set of homes that the pawns seen so far came from.
    let mut costs = [NEVER; 256];
    costs[0] = 0;
    let mut used = 0;
    for (count, pawn) in pawns.into_iter().enumerate() {
        let steps = homes
            .iter()
            .map(|&home| {
                let files = pawn.file().distance(home.file()) as u8;
                let ahead = rank_of(side, pawn).checked_sub(rank_of(side, home))?;
                (u32::from(files) <= ahead).then_some(files)
            })
            .collect::<Vec<_>>();
        for set in 0..1_usize << homes.len() {
            if costs[set] == NEVER || set.count_ones() as usize != count {
                continue;
            }
            for (home, files) in steps.iter().enumerate() {
                if let Some(files) = files.filter(|_| set >> home & 1 == 0) {
                    let next = set | 1 << home;
                    costs[next] = costs[next].min(costs[set] + files);
                }
            }
        }
        used = count + 1;
    }
    let sets = (0..1_usize << homes.len()).filter(|set| set.count_ones() as usize == used);
    let least = sets.map(|set| costs[set]).min().unwrap_or(NEVER);
    (least != NEVER).then_some(usize::from(least))
}

/// P11: at the start a white and a black pawn face each other on each file. Only a capture parts a
/// pair: one that a pawn makes or a pawn suffers, or two pairs at once when a pawn takes a pawn.
pub(super) fn passage(scene: &Scene, origins: &Origins) -> Option<Proof> {
    let board = &scene.board;
    let mut facing = 0;
    for file in shakmaty::File::ALL {
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
