//! L01 to L03: proofs from the last known position instead of the start of the game.

use shakmaty::{Bitboard, Color, Role, Square};

use super::{Proof, Reason, pawns};
use crate::{
    board::Placement,
    laws::{Stand, geometry},
};

/// Boards looked at before the question is left open.
const NODES: u32 = 20_000;

/// That the men `seen` cannot stand so after exactly `plies` legal plies from the `anchor`. `None`
/// when they can, or when it takes too long to tell.
pub fn from_anchor(anchor: &Stand, seen: &Placement, plies: u32) -> Option<Proof> {
    if let Some(squares) = irreversible(anchor, seen) {
        return Some(Proof::new(Reason::IrreversibleViolation, squares));
    }
    let mut nodes = NODES;
    if reaches(anchor, seen, plies, &mut nodes) {
        return None;
    }
    let reason = if plies == 1 {
        Reason::NotASuccessor
    } else {
        Reason::NotReachableInK
    };
    Some(Proof::new(reason, anchor.placement().differs(seen)))
}

/// What no number of moves brings: men that came back, more promoted men than pawns went, pawns
/// that went back or took more than is gone.
fn irreversible(anchor: &Stand, seen: &Placement) -> Option<Bitboard> {
    let (was, is) = (anchor.board(), seen.to_board());
    for side in Color::ALL {
        let men = is.by_color(side);
        if men.count() > was.by_color(side).count() {
            return Some(men & !was.by_color(side));
        }
        let pawns = |board: &shakmaty::Board| board.by_piece(Role::Pawn.of(side));
        let mut promoted = 0;
        let mut strangers = Bitboard::EMPTY;
        for role in [Role::Queen, Role::Rook, Role::Knight, Role::Bishop] {
            let shades: &[Bitboard] = if role == Role::Bishop {
                &[Bitboard::LIGHT_SQUARES, Bitboard::DARK_SQUARES]
            } else {
                &[Bitboard::FULL]
            };
            for &shade in shades {
                let then = was.by_piece(role.of(side)) & shade;
                let now = is.by_piece(role.of(side)) & shade;
                promoted += now.count().saturating_sub(then.count());
                strangers |= now & !then;
            }
        }
        if pawns(&is).count() + promoted > pawns(was).count() {
            return Some(strangers | (pawns(&is) & !pawns(was)));
        }
        let taken = was
            .by_color(!side)
            .count()
            .saturating_sub(is.by_color(!side).count());
        let standing = pawns(&is);
        if pawns::captures(side, standing, pawns(was)).is_none_or(|least| least > taken) {
            return Some(standing & !pawns(was));
        }
    }
    None
}

/// Depth first; one ply changes at most four squares.
fn reaches(stand: &Stand, seen: &Placement, plies: u32, nodes: &mut u32) -> bool {
    let differ = stand.placement().differs(seen).count();
    if plies == 0 || differ > 4 * plies as usize {
        return differ == 0;
    }
    let side = stand.setup.turn;
    for ply in geometry::legal_plies(stand, side) {
        if *nodes == 0 {
            return true;
        }
        *nodes -= 1;
        let mut next = stand.clone();
        next.setup.ep_square = passed(stand, ply.from, ply.to);
        next.setup.castling_rights.discard(ply.from);
        next.setup.castling_rights.discard(ply.to);
        if stand.board().role_at(ply.from) == Some(Role::King) {
            let own = Bitboard::from_rank(side.backrank());
            next.setup.castling_rights &= !own;
        }
        next.setup.board = ply.after;
        next.setup.turn = !side;
        if reaches(&next, seen, plies - 1, nodes) {
            return true;
        }
    }
    false
}

/// The square a double step passed over.
fn passed(stand: &Stand, from: Square, to: Square) -> Option<Square> {
    let side = stand.setup.turn;
    let stepped = stand.board().role_at(from) == Some(Role::Pawn)
        && geometry::rank_of(side, to) == geometry::rank_of(side, from) + 2;
    geometry::ahead(side, from, 1).filter(|_| stepped)
}
