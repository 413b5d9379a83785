//! P07, P08, P09 and P13: whether the side that just moved can have made a last move, and the moves
//! before it. Moves are taken back in every way the Laws allow; a way counts only when the position
//! it leads to is not itself proven impossible.

use shakmaty::{Bitboard, CastlingSide, Color, File, Role, Square, attacks};

use super::{Proof, Reason, Scene, basics, origins::Known, structure};
use crate::laws::geometry::{ahead, attacked, rank_of};

/// How many moves are taken back.
const DEPTH: u32 = 4;
/// Positions looked at before the question is left open; a bound on time.
const NODES: u32 = 600;

/// That there was no last move, named after what it fails to explain.
pub(super) fn proof(scene: &Scene, known: &mut Known) -> Option<Proof> {
    if possible(scene, known) {
        return None;
    }
    let board = &scene.board;
    if let Some(ep) = scene.ep {
        let ignored = Scene {
            ep: None,
            ..scene.clone()
        };
        if possible(&ignored, known) {
            return Some(Proof::new(Reason::EpRightInconsistent, ep.into()));
        }
    }
    if scene.rights.any() {
        let ignored = Scene {
            rights: Bitboard::EMPTY,
            ..scene.clone()
        };
        if possible(&ignored, known) {
            return Some(Proof::new(Reason::CastlingRightInconsistent, scene.rights));
        }
    }
    let checkers = basics::checkers(board, scene.turn);
    Some(match checkers.count() {
        0 => Proof::new(Reason::NoLastMove, board.by_color(!scene.turn)),
        1 => Proof::new(Reason::CheckHasNoLastMove, checkers),
        _ => Proof::new(Reason::DoubleCheckImpossible, checkers),
    })
}

/// In Chess960 neither the start nor the way of castling is known, and nothing is proven.
fn possible(scene: &Scene, known: &mut Known) -> bool {
    let mut nodes = NODES;
    !scene.standard || arises(scene, DEPTH, &mut nodes, known)
}

/// Whether a game can have come here, as far as so many moves back show.
fn arises(scene: &Scene, depth: u32, nodes: &mut u32, known: &mut Known) -> bool {
    if depth == 0 || *nodes == 0 || is_start(scene) {
        return true;
    }
    *nodes -= 1;
    // Most positions have a past without a capture, and far fewer of those have to be tried. Those with
    // no check come first, and as a rule the first of them will do.
    [false, true].into_iter().any(|captures| {
        let mut arose = false;
        let mut checked: [Vec<Scene>; 2] = [const { Vec::new() }; 2];
        take_back(scene, captures, &mut |earlier| {
            if arose {
                return;
            }
            match checks_if_sound(&earlier) {
                Some(0) => {
                    arose = structure(&earlier, known).is_none()
                        && arises(&earlier, depth - 1, nodes, known);
                }
                Some(checks) => checked[checks - 1].push(earlier),
                None => {}
            }
        });
        arose
            || checked.iter().flatten().any(|earlier| {
                structure(earlier, known).is_none() && arises(earlier, depth - 1, nodes, known)
            })
    })
}

fn is_start(scene: &Scene) -> bool {
    scene.turn == Color::White && scene.ep.is_none() && scene.board == shakmaty::Board::new()
}

/// How many men give check in an earlier position; `None` when the plain tests do not let it stand.
fn checks_if_sound(scene: &Scene) -> Option<usize> {
    let next = !scene.turn;
    let board = &scene.board;
    let taken = board
        .king_of(next)
        .is_some_and(|king| attacked(board, king, scene.turn, board.occupied()));
    if taken || !basics::budget_holds(board, next) {
        return None;
    }
    let checks = basics::checkers(board, scene.turn).count();
    (checks <= 2).then_some(checks)
}

/// Every position from which one move of the side not to move leads here: the captures, or the rest.
fn take_back(scene: &Scene, captures: bool, found: &mut impl FnMut(Scene)) {
    let mover = !scene.turn;
    if let Some(ep) = scene.ep {
        if !captures {
            double_step(scene, ep, found);
        }
        return;
    }
    let board = &scene.board;
    let empty = !board.occupied();
    for to in board.by_color(mover) & !unmoved(scene) {
        let Some(role) = board.role_at(to) else {
            continue;
        };
        let promoted = role != Role::King && rank_of(mover, to) == 7;
        if captures && (role == Role::Pawn || promoted) {
            taken_by_pawn(scene, to, found);
        } else if role == Role::Pawn {
            stepped(scene, to, found);
        } else if promoted && let Some(from) = ahead(mover, to, -1).filter(|&at| empty.contains(at))
        {
            undo(scene, from, to, Role::Pawn, None, found);
        }
        if role == Role::Pawn {
            continue;
        }
        for from in attacks::attacks(to, role.of(mover), board.occupied()) & empty {
            if captures {
                for victim in victims(scene, to) {
                    undo(scene, from, to, role, Some(victim), found);
                }
            } else {
                undo(scene, from, to, role, None, found);
            }
        }
    }
    if !captures {
        castled(scene, found);
    }
}

/// Steps straight ahead that brought a pawn to `to`.
fn stepped(scene: &Scene, to: Square, found: &mut impl FnMut(Scene)) {
    let mover = !scene.turn;
    let free = |ranks: i32| {
        ahead(mover, to, -ranks).filter(|&square| scene.board.piece_at(square).is_none())
    };
    let Some(one) = free(1).filter(|&square| rank_of(mover, square) > 0) else {
        return;
    };
    undo(scene, one, to, Role::Pawn, None, found);
    if rank_of(mover, to) == 3
        && let Some(two) = free(2)
    {
        undo(scene, two, to, Role::Pawn, None, found);
    }
}

/// Men that provably never moved: home pawns have no way back, kings and rooks with rights no past.
fn unmoved(scene: &Scene) -> Bitboard {
    let side = !scene.turn;
    let rooks = scene.rights & Bitboard::from_rank(side.backrank());
    let king = scene.board.by_piece(Role::King.of(side));
    if rooks.any() { rooks | king } else { rooks }
}

/// What the man on `to` can have taken there.
fn victims(scene: &Scene, to: Square) -> impl Iterator<Item = Role> {
    let side = scene.turn;
    let any = scene.board.by_color(side).count() < 16;
    let pawn = (1..=6).contains(&rank_of(side, to))
        && scene.board.by_piece(Role::Pawn.of(side)).count() < 8;
    Role::ALL
        .into_iter()
        .filter(move |&role| any && role != Role::King && (role != Role::Pawn || pawn))
}

/// Captures that brought a pawn to `to`, on the last rank as the man that stands there.
fn taken_by_pawn(scene: &Scene, to: Square, found: &mut impl FnMut(Scene)) {
    let mover = !scene.turn;
    for from in attacks::pawn_attacks(scene.turn, to) & !scene.board.occupied() {
        if rank_of(mover, from) == 0 {
            continue;
        }
        for victim in victims(scene, to) {
            undo(scene, from, to, Role::Pawn, Some(victim), found);
        }
        en_passant(scene, from, to, found);
    }
}

fn undo(
    scene: &Scene,
    from: Square,
    to: Square,
    role: Role,
    victim: Option<Role>,
    found: &mut impl FnMut(Scene),
) {
    let mut board = scene.board.clone();
    board.discard_piece_at(to);
    board.set_piece_at(from, role.of(!scene.turn));
    if let Some(victim) = victim {
        board.set_piece_at(to, victim.of(scene.turn));
    }
    found(earlier(scene, board));
}

fn earlier(scene: &Scene, board: shakmaty::Board) -> Scene {
    Scene {
        board,
        turn: !scene.turn,
        ep: None,
        ..*scene
    }
}

/// The double step that passed over `ep`.
fn double_step(scene: &Scene, ep: Square, found: &mut impl FnMut(Scene)) {
    let mover = !scene.turn;
    let pawn = Role::Pawn.of(mover);
    let (Some(from), Some(to)) = (ahead(mover, ep, -1), ahead(mover, ep, 1)) else {
        return;
    };
    let empty = |square| scene.board.piece_at(square).is_none();
    let stepped = rank_of(mover, ep) == 2 && scene.board.piece_at(to) == Some(pawn);
    if stepped && empty(ep) && empty(from) {
        undo(scene, from, to, Role::Pawn, None, found);
    }
}

/// The pawn on `to` came from `from` by taking in passing.
fn en_passant(scene: &Scene, from: Square, to: Square, found: &mut impl FnMut(Scene)) {
    let (mover, other) = (!scene.turn, scene.turn);
    let board = &scene.board;
    let pawn = Role::Pawn.of(other);
    let (Some(stood), Some(home)) = (ahead(mover, to, -1), ahead(mover, to, 1)) else {
        return;
    };
    let empty = |square| board.piece_at(square).is_none();
    let fits = rank_of(mover, to) == 5
        && empty(stood)
        && empty(home)
        && board.by_color(other).count() < 16
        && board.by_piece(pawn).count() < 8;
    if !fits {
        return;
    }
    let mut board = board.clone();
    board.discard_piece_at(to);
    board.set_piece_at(from, Role::Pawn.of(mover));
    board.set_piece_at(stood, pawn);
    let mut before = earlier(scene, board);
    before.ep = Some(to);
    found(before);
}

/// Castlings that can have been the last move.
fn castled(scene: &Scene, found: &mut impl FnMut(Scene)) {
    let side = !scene.turn;
    let rank = side.backrank();
    let on = |file| Square::from_coords(file, rank);
    let board = &scene.board;
    if (scene.rights & Bitboard::from_rank(rank)).any() {
        return;
    }
    for wing in [CastlingSide::KingSide, CastlingSide::QueenSide] {
        let (king, rook) = (on(wing.king_to_file()), on(wing.rook_to_file()));
        let (home, corner) = match wing {
            CastlingSide::KingSide => (on(File::E), on(File::H)),
            CastlingSide::QueenSide => (on(File::E), on(File::A)),
        };
        let stand = board.piece_at(king) == Some(Role::King.of(side))
            && board.piece_at(rook) == Some(Role::Rook.of(side));
        let way = attacks::between(home, corner) & !Bitboard::from(king) & !Bitboard::from(rook);
        let free = way | home | corner;
        if !stand || (board.occupied() & free).any() {
            continue;
        }
        let mut before = board.clone();
        before.discard_piece_at(king);
        before.discard_piece_at(rook);
        before.set_piece_at(home, Role::King.of(side));
        before.set_piece_at(corner, Role::Rook.of(side));
        let occupied = before.occupied();
        if [home, rook]
            .iter()
            .any(|&square| attacked(&before, square, scene.turn, occupied))
        {
            continue;
        }
        let mut before = earlier(scene, before);
        before.rights.add(corner);
        found(before);
    }
}
