//! Illegal moves players make, each with its code in the catalogue (laws.md 2). Legality is worked
//! out here with shakmaty and plain geometry; only faults with one name in the position are chosen.

use shakmaty::{
    Board, CastlingMode, Chess, EnPassantMode, FromSetup, Move, Piece, Position, Rank, Role,
    Square, attacks,
};

use super::past::Past;
use crate::words::Side;

/// An illegal move: its code, and the men after it.
#[derive(Debug, Clone)]
pub(super) struct Mishap {
    pub code: &'static str,
    pub after: Board,
}

/// An illegal move of the side to move, each code that is possible being equally likely.
pub(super) fn pick(pos: &Chess, past: Option<&Past>, rng: &mut fastrand::Rng) -> Option<Mishap> {
    let mut found = single_man(pos);
    found.extend(unfinished(pos));
    found.extend(past.into_iter().flat_map(|past| past.forgotten(pos)));
    found.extend(others(pos, rng));
    let legal: Vec<Board> = pos.legal_moves().iter().map(|mv| after(pos, *mv)).collect();
    found.retain(|mishap| !legal.contains(&mishap.after));
    let mut codes: Vec<&str> = found.iter().map(|mishap| mishap.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let code = rng.choice(codes)?;
    found.retain(|mishap| mishap.code == code);
    let index = (!found.is_empty()).then(|| rng.usize(..found.len()))?;
    Some(found.swap_remove(index))
}

/// A quiet answer of the other side, legal on the men as the fault left them.
pub(super) fn reply(pos: &Chess, men: &Board, rng: &mut fastrand::Rng) -> Option<Move> {
    let mut setup = pos.to_setup(EnPassantMode::Legal);
    setup.board = men.clone();
    setup.turn = pos.turn().other();
    setup.ep_square = None;
    setup.castling_rights = shakmaty::Bitboard::EMPTY;
    let there = Chess::from_setup(setup, CastlingMode::Standard).ok()?;
    let moves = there.legal_moves();
    let quiet: Vec<Move> = moves
        .into_iter()
        .filter(|mv| !mv.is_capture() && !mv.is_promotion())
        .collect();
    rng.choice(quiet)
}

/// The men after the other side took the king that the fault had left to be taken.
pub(super) fn king_taken(pos: &Chess, men: &Board, rng: &mut fastrand::Rng) -> Option<Board> {
    let king = men.king_of(pos.turn())?;
    let takers = men.attacks_to(king, pos.turn().other(), men.occupied()) & !men.pawns();
    let from = rng.choice(takers)?;
    Some(moved(men, from, king, men.piece_at(from)?))
}

fn after(pos: &Chess, mv: Move) -> Board {
    let mut next = pos.clone();
    next.play_unchecked(mv);
    next.board().clone()
}

pub(super) fn attacked(board: &Board, side: Side) -> bool {
    board
        .king_of(side)
        .is_none_or(|king| board.attacks_to(king, side.other(), board.occupied()).any())
}

pub(super) fn moved(board: &Board, from: Square, to: Square, man: Piece) -> Board {
    let mut next = board.clone();
    next.discard_piece_at(from);
    next.set_piece_at(to, man);
    next
}

/// One man of the side to move on a square where it may not go.
fn single_man(pos: &Chess) -> Vec<Mishap> {
    let (board, side) = (pos.board(), pos.turn());
    let mut found = Vec::new();
    for from in board.by_color(side) {
        let Some(man) = board.piece_at(from) else {
            continue;
        };
        for to in !shakmaty::Bitboard::from(from) {
            if board.role_at(to) == Some(Role::King) {
                continue;
            }
            let next = moved(board, from, to, man);
            if let Some(code) = name(pos, &next, from, to, man) {
                found.push(Mishap { code, after: next });
            }
        }
    }
    found
}

fn name(pos: &Chess, next: &Board, from: Square, to: Square, man: Piece) -> Option<&'static str> {
    let (board, side) = (pos.board(), pos.turn());
    let target = board.piece_at(to);
    let reaches = attacks::attacks(from, man, board.occupied()).contains(to);
    let (before, exposed) = (pos.is_check(), attacked(next, side));
    let last = [Rank::First, Rank::Eighth].contains(&to.rank());
    if man.role == Role::Pawn && last {
        return None;
    }
    if let Some(target) = target {
        if !reaches {
            return None;
        }
        if target.color == side {
            return (!before && !exposed).then_some("own-piece-captured");
        }
        return unsafe_king(pos, to, man, before, exposed);
    }
    if man.role == Role::Pawn {
        return pawn(board, from, to, man, before || exposed);
    }
    if reaches {
        return unsafe_king(pos, to, man, before, exposed);
    }
    if before || exposed {
        return None;
    }
    let (files, ranks) = (
        from.file().distance(to.file()),
        from.rank().distance(to.rank()),
    );
    let on_line = match man.role {
        Role::Bishop => files == ranks,
        Role::Rook => files == 0 || ranks == 0,
        Role::Queen => files == ranks || files == 0 || ranks == 0,
        _ => false,
    };
    Some(match man.role {
        _ if on_line => "slider-jumped-piece",
        Role::Bishop if from.is_light() != to.is_light() => "bishop-changed-colour",
        Role::Bishop => "bishop-off-diagonal",
        Role::Rook => "rook-off-line",
        Role::Queen => "queen-off-line",
        Role::Knight => "knight-bad-jump",
        // Along its home rank it might be half a castling.
        Role::King if ranks > 0 && !near_king(board, to, side) => "king-bad-step",
        _ => return None,
    })
}

fn near_king(board: &Board, to: Square, side: Side) -> bool {
    let other = board.king_of(side.other());
    other.is_some_and(|king| attacks::king_attacks(king).contains(to))
}

/// The man may go there, but for its king.
fn unsafe_king(
    pos: &Chess,
    to: Square,
    man: Piece,
    before: bool,
    exposed: bool,
) -> Option<&'static str> {
    if !exposed {
        return None;
    }
    match (man.role, before) {
        (Role::King, _) if near_king(pos.board(), to, pos.turn()) => None,
        (Role::King, false) => Some("king-moved-into-check"),
        // Left in check or moved into it: both names would fit.
        (Role::King, true) => None,
        (_, true) => Some("king-left-in-check"),
        (_, false) => Some("own-king-exposed"),
    }
}

fn pawn(
    board: &Board,
    from: Square,
    to: Square,
    man: Piece,
    unsafe_king: bool,
) -> Option<&'static str> {
    if unsafe_king {
        return None;
    }
    let rank = |square: Square| i32::from(man.color.relative_rank(square.rank()));
    let (ahead, files) = (rank(to) - rank(from), from.file().distance(to.file()));
    let clear = (attacks::between(from, to) & board.occupied()).is_empty();
    match (ahead, files) {
        (3.., 0) if clear => Some("pawn-advance-too-far"),
        (2, 0) if clear && rank(from) != 1 => Some("pawn-double-step-not-home"),
        (1, 1) => {
            // With an enemy pawn beside it this could be a late capture in passing.
            let beside = board.piece_at(Square::from_coords(to.file(), from.rank()));
            (beside != Some(Role::Pawn.of(man.color.other()))).then_some("pawn-diagonal-no-capture")
        }
        (0, 1) | (-1, 0 | 1) => Some("pawn-backward-or-sideways"),
        _ => None,
    }
}

/// Legal moves left half done.
fn unfinished(pos: &Chess) -> Vec<Mishap> {
    let (board, side) = (pos.board(), pos.turn());
    let mut found = Vec::new();
    for mv in pos.legal_moves() {
        match mv {
            Move::Castle { king, rook } => {
                let to = shakmaty::CastlingSide::from_king_side(king < rook).king_to(side);
                if king.file().distance(to.file()) == 2 && to != rook {
                    let after = moved(board, king, to, Role::King.of(side));
                    let code = "castling-incomplete";
                    found.push(Mishap { code, after });
                }
            }
            Move::EnPassant { from, to } => {
                let after = moved(board, from, to, Role::Pawn.of(side));
                let code = "en-passant-victim-left";
                found.push(Mishap { code, after });
            }
            Move::Normal {
                from,
                to,
                promotion: Some(Role::Queen),
                ..
            } => {
                let after = moved(board, from, to, Role::Pawn.of(side));
                let code = "promotion-pawn-not-replaced";
                found.push(Mishap { code, after });
            }
            Move::Normal {
                to,
                capture: Some(role),
                promotion: None,
                ..
            } => {
                let done = after(pos, mv);
                let free = attacks::king_attacks(to) & !done.occupied() & !board.occupied();
                let allowed = role != Role::Pawn
                    || free
                        .into_iter()
                        .all(|sq| !matches!(sq.rank(), Rank::First | Rank::Eighth));
                for square in free.into_iter().filter(|_| allowed).take(1) {
                    let mut after = done.clone();
                    after.set_piece_at(square, role.of(side.other()));
                    if !attacked(&after, side) {
                        let code = "captured-piece-not-removed";
                        found.push(Mishap { code, after });
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// A press without a move, two men at once, a man of the opponent, castling over attacked squares.
fn others(pos: &Chess, rng: &mut fastrand::Rng) -> Vec<Mishap> {
    let (board, side) = (pos.board(), pos.turn());
    let mut found = vec![Mishap {
        code: "clock-pressed-without-move",
        after: board.clone(),
    }];
    if pos.is_check() {
        found.extend(castling(pos, "castling-out-of-check"));
        return found;
    }
    found.extend(castling(pos, "castling-through-check"));
    let bad: Vec<Mishap> = single_man(pos)
        .into_iter()
        .filter(|mishap| mishap.code == "knight-bad-jump" || mishap.code == "rook-off-line")
        .collect();
    if let (Some(a), Some(b)) = (rng.choice(&bad), rng.choice(&bad)) {
        let mut both = a.after.clone();
        for square in Square::ALL {
            match (board.piece_at(square), b.after.piece_at(square)) {
                (Some(_), None) => both.discard_piece_at(square),
                (None, Some(man)) => both.set_piece_at(square, man),
                _ => {}
            }
        }
        let gone = board.by_color(side) & !both.by_color(side);
        let come = both.by_color(side) & !board.by_color(side);
        if gone.count() == 2 && come.count() == 2 && !attacked(&both, side) {
            found.push(Mishap {
                code: "two-pieces-moved",
                after: both,
            });
        }
    }
    let theirs: Vec<Square> = (board.by_color(side.other()) & board.knights())
        .into_iter()
        .collect();
    if let Some(from) = rng.choice(theirs)
        && let Some(to) = rng.choice(attacks::knight_attacks(from) & !board.occupied())
    {
        let after = moved(board, from, to, Role::Knight.of(side.other()));
        if !attacked(&after, side) {
            found.push(Mishap {
                code: "moved-opponent-piece",
                after,
            });
        }
    }
    found
}

/// Castling with the right to it and a free way, but over or from an attacked square.
fn castling(pos: &Chess, code: &'static str) -> Vec<Mishap> {
    let (board, side) = (pos.board(), pos.turn());
    let mut found = Vec::new();
    for wing in shakmaty::CastlingSide::ALL {
        let (Some(rook), Some(king)) = (pos.castles().rook(side, wing), board.king_of(side)) else {
            continue;
        };
        let (king_to, rook_to) = (wing.king_to(side), wing.rook_to(side));
        let blocked = pos.castles().path(side, wing) & board.occupied();
        if blocked.any() || king.file().distance(king_to.file()) != 2 {
            continue;
        }
        let mut after = moved(board, king, king_to, Role::King.of(side));
        after.discard_piece_at(rook);
        after.set_piece_at(rook_to, Role::Rook.of(side));
        let crossed = board
            .attacks_to(rook_to, side.other(), board.occupied())
            .any();
        let safe_end = !attacked(&after, side);
        if safe_end && (pos.is_check() != crossed) {
            found.push(Mishap { code, after });
        } else if !safe_end && !crossed && !pos.is_check() {
            let code = "castling-into-check";
            found.push(Mishap { code, after });
        }
    }
    found
}
