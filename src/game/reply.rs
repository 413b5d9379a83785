//! A reply under way: whether the men differ from a position only by what the side to move may do
//! on the way to one legal ply of its own (reconstruction.md 2, 3).

use shakmaty::{Move, Piece, Role, Square};

use super::ground::Ground;
use crate::{board::Placement, words::Side};

/// Whether `seen` lies between `stood` (the men of `ground`) and the end of one legal reply: men
/// lifted, put down, resting on a stop, the victim touching down beside its square; or one man
/// merely touched.
pub(super) fn under_way(ground: &Ground, stood: &Placement, seen: &Placement) -> bool {
    let changed = stood.differs(seen);
    let replier = ground.turn();
    match changed.count() {
        0 => return true,
        1 if changed.into_iter().all(|square| {
            seen.code(square) == 0 && owner(stood.piece(square)) == Some(replier)
        }) =>
        {
            return true;
        }
        1..=5 => {}
        _ => return false,
    }
    ground
        .successors()
        .into_iter()
        .any(|(mv, after)| between(stood, seen, &after, mv, replier))
}

fn between(
    stood: &Placement,
    seen: &Placement,
    after: &Placement,
    mv: Move,
    replier: Side,
) -> bool {
    let touched = stood.differs(after);
    let mover = mv.from().and_then(|from| stood.piece(from));
    let victim = mv.capture().map(|role| role.of(replier.other()));
    stood.differs(seen).into_iter().all(|square| {
        let is = seen.piece(square);
        if touched.contains(square) {
            return seen.code(square) == 0
                || is == after.piece(square)
                || (mv.is_promotion() && square == mv.to() && is == Some(Role::Pawn.of(replier)));
        }
        let was_empty = stood.code(square) == 0;
        let in_hand = |man: Option<Piece>, home: Option<Square>| {
            man.is_some() && is == man && home.is_some_and(|home| seen.piece(home) != man)
        };
        was_empty && (in_hand(mover, mv.from()) || in_hand(victim, Some(mv.to())))
    })
}

fn owner(man: Option<Piece>) -> Option<Side> {
    man.map(|man| man.color)
}
