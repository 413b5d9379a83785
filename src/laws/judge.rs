//! The verdict on a placement that is no legal successor: which rule broke, and how sure.

mod pawns;

use shakmaty::{Bitboard, Board, Piece, Role, Square, attacks};

use super::{
    Certainty, Code, Counts, Finding, Instead, Stand, Turn, castling,
    geometry::{self, Ply, ahead, distance, rank_of},
};
use crate::{
    board::Placement,
    words::{At, Side},
};

/// What differs between the position and the placement, sorted by side.
struct Diff {
    /// Squares a man of the mover left (or on which it was replaced).
    left: Bitboard,
    /// Squares on which a man of the mover is new.
    came: Bitboard,
    /// The same for the other side.
    their_left: Bitboard,
    their_came: Bitboard,
}

impl Diff {
    fn new(before: &Placement, seen: &Placement, mover: Side) -> Diff {
        let mut diff = Diff {
            left: Bitboard::EMPTY,
            came: Bitboard::EMPTY,
            their_left: Bitboard::EMPTY,
            their_came: Bitboard::EMPTY,
        };
        for square in before.differs(seen) {
            match before.piece(square) {
                Some(man) if man.color == mover => diff.left.add(square),
                Some(_) => diff.their_left.add(square),
                None => {}
            }
            match seen.piece(square) {
                Some(man) if man.color == mover => diff.came.add(square),
                Some(_) => diff.their_came.add(square),
                None => {}
            }
        }
        diff
    }
}

/// Everything the verdict looks at.
struct Case<'a> {
    turn: &'a Turn<'a>,
    board: &'a Board,
    before: Placement,
    diff: Diff,
}

/// Names the rule broken by a placement that no legal move of the mover gives. The best
/// explanation comes first; there is always at least one.
pub fn judge(turn: &Turn) -> Vec<Finding> {
    let before = turn.before.placement();
    let case = Case {
        turn,
        board: turn.before.board(),
        diff: Diff::new(&before, turn.seen, turn.mover),
        before,
    };
    vec![case.verdict()]
}

/// The finding for a side that made what would be a legal move of its own while it was not its
/// turn; `turn.mover` is that side.
pub fn out_of_turn(turn: &Turn) -> Option<Finding> {
    if turn.before.turn() == turn.mover {
        return None;
    }
    let ply = geometry::legal_plies(turn.before, turn.mover)
        .into_iter()
        .find(|ply| Placement::from(&ply.after) == *turn.seen)?;
    let case = Case {
        turn,
        board: turn.before.board(),
        before: turn.before.placement(),
        diff: Diff::new(&turn.before.placement(), turn.seen, turn.mover),
    };
    Some(case.certain(Code::MoveOutOfTurn, &[ply.from, ply.to]))
}

/// A lever is seen so late, ms: a reply that began no longer before the press may have come after it.
const LEVER_LAG_MS: u64 = 300;

/// The finding for a step that is illegal and was answered by a legal move of the other side before the
/// clock was pressed: to the letter it was never completed (7.5.1). `pressed`: when the press was seen.
pub fn not_completed(turn: &Turn, pressed: At) -> Option<Finding> {
    let before = turn.before.placement();
    let mover = turn.mover;
    let left = before.differs(turn.seen).into_iter();
    if turn.edges.len() < 4 || left.count() < 3 {
        return None;
    }
    let mut stood = before;
    let mut steps = turn.edges.iter().enumerate().peekable();
    while let Some((index, edge)) = steps.next() {
        stood.set_reading(edge.square, edge.to);
        let (_, next) = steps.peek()?;
        let in_time = pressed.ms_since(next.at) > LEVER_LAG_MS;
        if !in_time || stood == before || stood == *turn.seen {
            continue;
        }
        let mut setup = turn.before.setup.clone();
        setup.board = stood.to_board();
        setup.turn = !mover;
        setup.ep_square = None;
        let answered = Stand {
            setup,
            mode: turn.before.mode,
        };
        let reached = |stand: &Stand, side: Side, men: &Placement| {
            let mut plies = geometry::legal_plies(stand, side).into_iter();
            plies.any(|ply| Placement::from(&ply.after) == *men)
        };
        if !reached(&answered, !mover, turn.seen) || reached(turn.before, mover, &stood) {
            continue;
        }
        let step = Turn {
            seen: &stood,
            edges: &turn.edges[..=index],
            ..*turn
        };
        let illegal = judge(&step).into_iter().find(|finding| {
            finding.certainty == Certainty::Certain && finding.code.row().counts == Counts::Yes
        });
        if let Some(illegal) = illegal {
            return Some(Finding {
                code: Code::IllegalMoveNotCompleted,
                instead: Some(Instead {
                    code: illegal.code,
                    squares: illegal.squares.clone(),
                }),
                ..illegal
            });
        }
    }
    None
}

/// The finding for a press while a man was in the air that was then put down: the caller knows the
/// times. The placement afterwards is that of a legal move.
pub fn late_placement(turn: &Turn, from: Square, to: Square) -> Finding {
    Finding {
        code: Code::ClockPressedBeforeMove,
        side: turn.mover,
        certainty: Certainty::Probable,
        squares: vec![from, to],
        played: played(turn.before.board(), from, to),
        instead: None,
    }
}

impl Case<'_> {
    fn verdict(&self) -> Finding {
        let Diff {
            left,
            came,
            their_left,
            their_came,
        } = self.diff;
        if (left | came | their_left | their_came).is_empty() {
            return self.without_men();
        }
        if let Some(finding) = self.king_captured() {
            return finding;
        }
        if (left | came).is_empty()
            && let Some(finding) = self.only_theirs()
        {
            return finding;
        }
        if let Some(finding) = self.castled() {
            return finding;
        }
        if let Some(finding) = self.one_man() {
            return finding;
        }
        if let Some(finding) = self.one_man_gone() {
            return finding;
        }
        if let Some(finding) = self.legal_and_more() {
            return finding;
        }
        self.the_rest()
    }

    /// Nothing that is a man differs: a result piece may still stand about.
    fn without_men(&self) -> Finding {
        match self.before.differs(self.turn.seen).first() {
            None => self.certain(Code::ClockPressedWithoutMove, &[]),
            Some(square) => self.certain(Code::PieceIdentityChanged, &[square]),
        }
    }

    fn king_captured(&self) -> Option<Finding> {
        let king = self.board.king_of(!self.turn.mover)?;
        let taken = self.diff.came.contains(king)
            && !self.has(Role::King.of(!self.turn.mover), self.diff.their_came);
        let from = self.diff.left.first()?;
        taken.then(|| self.certain(Code::KingCaptured, &[from, king]))
    }

    /// Only the other side's men changed.
    fn only_theirs(&self) -> Option<Finding> {
        let (left, came) = (self.diff.their_left, self.diff.their_came);
        match (left.single_square(), came.single_square()) {
            (Some(from), Some(to)) if from == to => {
                Some(self.certain(Code::PieceIdentityChanged, &[from]))
            }
            (Some(from), Some(to)) if self.before.piece(from) == self.turn.seen.piece(to) => {
                Some(self.certain(Code::MovedOpponentPiece, &[from, to]))
            }
            (Some(from), None) if came.is_empty() => {
                Some(self.finding(Code::PieceMissingAtPress, Certainty::Probable, &[from]))
            }
            (None, Some(to)) if left.is_empty() => Some(self.certain(Code::PieceReappeared, &[to])),
            _ => None,
        }
    }

    /// Castling placements, whole or botched.
    fn castled(&self) -> Option<Finding> {
        let side = self.turn.mover;
        for way in castling::ways(self.turn.before, side) {
            if Placement::from(&way.after(self.board, side)) != *self.turn.seen {
                continue;
            }
            let code = castling::ban(self.turn.before, side, &way, self.turn.past)?;
            let lost = matches!(code, Code::CastlingKingMoved | Code::CastlingRookMoved);
            let past = self.turn.past;
            let certainty = if lost && !past.complete && !past.rights_known {
                Certainty::Probable
            } else {
                Certainty::Certain
            };
            let squares = [way.king.0, way.king.1, way.rook.0, way.rook.1];
            let mut finding = self.finding(code, certainty, &squares);
            finding.played = if way.long { "O-O-O" } else { "O-O" }.to_owned();
            return Some(finding);
        }
        let king = self.board.king_of(side)?;
        let rest = self.diff.left.without(king);
        let to = self
            .diff
            .came
            .into_iter()
            .find(|&square| self.turn.seen.piece(square) == Some(Role::King.of(side)))?;
        if !self.diff.left.contains(king) || self.board.piece_at(to).is_some() {
            return None;
        }
        let others = (self.diff.their_left | self.diff.their_came).any();
        let rook = match (
            rest.single_square(),
            self.diff.came.without(to).single_square(),
        ) {
            (Some(a), Some(b))
                if self.before.piece(a) == Some(Role::Rook.of(side))
                    && self.turn.seen.piece(b) == Some(Role::Rook.of(side)) =>
            {
                Some((a, b))
            }
            _ if rest.is_empty() && self.diff.came.count() == 1 => None,
            _ => return None,
        };
        if others {
            return None;
        }
        let code = castling::botched(self.turn.before, side, (king, to), rook)?;
        let mut squares = vec![king, to];
        squares.extend(rook.into_iter().flat_map(|(a, b)| [a, b]));
        let mut finding = self.certain(code, &squares);
        if code == Code::CastlingIncomplete {
            finding.instead = Some(Instead {
                code: Code::KingBadStep,
                squares: vec![king, to],
            });
        }
        Some(finding)
    }

    /// One man of the mover went from one square to another.
    fn one_man(&self) -> Option<Finding> {
        let to = self.diff.came.single_square()?;
        let new = self.turn.seen.piece(to)?;
        let mut from = self.diff.left.single_square();
        if from.is_none() && self.diff.left.count() == 2 && self.diff.left.contains(to) {
            // A man of the mover stands where another of its own side stood.
            from = self.diff.left.without(to).first();
            let square = from?;
            let same = self.before.piece(square) == Some(new);
            return (same && self.their_change_free())
                .then(|| self.certain(Code::OwnPieceCaptured, &[square, to]));
        }
        let from = from.take()?;
        let old = self.before.piece(from)?;
        if old.role == Role::Pawn
            && new.role == Role::Pawn
            && rank_of(new.color, to) != 7
            && let Some(finding) = self.in_passing(from, to)
        {
            return Some(finding);
        }
        if old.role != Role::Pawn
            && old == new
            && let Some(finding) = self.piece_in_passing(from, to)
        {
            return Some(finding);
        }
        if let Some(finding) = self.victim_elsewhere(from, to, old, new) {
            return Some(finding);
        }
        let extra = (self.diff.their_left.without(to)) | self.diff.their_came;
        if extra.any() {
            return None;
        }
        if old == new {
            return self.plain_step(from, to, new);
        }
        Some(if old.role == Role::Pawn {
            self.exchanged_pawn(from, to, new)
        } else {
            self.certain(Code::PieceIdentityChanged, &[from, to])
        })
    }

    fn their_change_free(&self) -> bool {
        (self.diff.their_left | self.diff.their_came).is_empty()
    }

    /// A step of a man that kept its type, nothing else changed but a victim on its square.
    fn plain_step(&self, from: Square, to: Square, man: Piece) -> Option<Finding> {
        let stand = self.turn.before;
        if let Some(code) = geometry::fault(stand, from, to) {
            return Some(self.certain(code, &[from, to]));
        }
        let seen = self.turn.seen.to_board();
        if let Some(code) = geometry::king_fault(self.board, &seen, self.turn.mover, man.role) {
            return Some(self.on_king(code, from, to, &seen));
        }
        if man.role != Role::Pawn {
            return None;
        }
        if rank_of(man.color, to) == 7 {
            return Some(self.certain(Code::PromotionPawnNotReplaced, &[from, to]));
        }
        let left = from.file() != to.file() && self.board.piece_at(to).is_none();
        let victim = ahead(man.color, to, -1)?;
        left.then(|| self.certain(Code::EnPassantVictimLeft, &[from, to, victim]))
    }

    fn on_king(&self, code: Code, from: Square, to: Square, after: &Board) -> Finding {
        let side = self.turn.mover;
        let mut squares = vec![from, to];
        if let Some(king) = after.king_of(side) {
            squares.push(king);
            squares.extend(after.attacks_to(king, !side, after.occupied()));
        }
        self.certain(code, &squares)
    }

    /// A legal capture whose victim stands on another square.
    fn victim_elsewhere(
        &self,
        from: Square,
        to: Square,
        old: Piece,
        new: Piece,
    ) -> Option<Finding> {
        let put = self.diff.their_came.single_square()?;
        let victim = self.before.piece(to)?;
        let capture = self.diff.their_left.single_square() == Some(to)
            && self.turn.seen.piece(put) == Some(victim)
            && geometry::reach(self.turn.before, from).contains(to);
        let code = if old == new {
            Code::CapturedPieceNotRemoved
        } else if old.role == Role::Pawn && rank_of(new.color, to) == 7 {
            Code::PromotionVictimNotRemoved
        } else {
            return None;
        };
        capture.then(|| self.certain(code, &[from, to, put]))
    }

    /// A man of the mover is gone and none came.
    fn one_man_gone(&self) -> Option<Finding> {
        let side = self.turn.mover;
        let from = self.diff.left.single_square()?;
        if self.diff.came.any() {
            return None;
        }
        let promotes =
            self.before.piece(from) == Some(Role::Pawn.of(side)) && rank_of(side, from) == 6;
        let arrivals = geometry::reach(self.turn.before, from);
        if promotes
            && let Some(to) = self.diff.their_came.single_square()
            && arrivals.contains(to)
            && self.diff.their_left.without(to).is_empty()
        {
            return Some(self.certain(Code::PromotionBadPiece, &[from, to]));
        }
        if self.diff.their_came.any() || self.diff.their_left.count() > 1 {
            return None;
        }
        let arrival = match self.diff.their_left.first() {
            Some(victim) if arrivals.contains(victim) => Some(victim),
            Some(_) => return None,
            None => (arrivals & !self.board.occupied()).first(),
        };
        if promotes && let Some(to) = arrival {
            let mut finding = self.finding(
                Code::PromotionPieceMissing,
                Certainty::Probable,
                &[from, to],
            );
            finding.instead = Some(Instead {
                code: Code::InvertedRookPromotion,
                squares: vec![to],
            });
            return Some(finding);
        }
        let mut squares = vec![from];
        squares.extend(self.diff.their_left);
        let mut finding = self.finding(Code::PieceMissingAtPress, Certainty::Probable, &squares);
        // A man that took its own twin leaves the same board.
        let twin = self.before.piece(from).and_then(|man| {
            let reach = attacks::attacks(from, man, self.board.occupied());
            (reach & self.board.by_piece(man)).first()
        });
        if let Some(twin) = twin.filter(|_| self.diff.their_left.is_empty()) {
            finding.instead = Some(Instead {
                code: Code::OwnPieceCaptured,
                squares: vec![from, twin],
            });
        }
        Some(finding)
    }

    /// A legal move, and one more square or one more man that does not fit it.
    fn legal_and_more(&self) -> Option<Finding> {
        let side = self.turn.mover;
        let mut fits: Vec<(Ply, Vec<Square>)> = Vec::new();
        for ply in geometry::legal_plies(self.turn.before, side) {
            let expected = Placement::from(&ply.after);
            let extra = expected.differs(self.turn.seen);
            match extra.count() {
                1 => return self.one_square_more(&ply, &expected, extra.first()?),
                2 => {
                    let (a, b) = (extra.first()?, extra.last()?);
                    for (from, to) in [(a, b), (b, a)] {
                        if expected.piece(from).is_some()
                            && expected.piece(from) == self.turn.seen.piece(to)
                            && self.turn.seen.piece(from).is_none()
                        {
                            fits.push((ply.clone(), vec![from, to]));
                        }
                    }
                }
                _ => {}
            }
        }
        // When both men made a step of their own, the one nudged by a single square is the bump.
        let nudged = |fit: &(Ply, Vec<Square>)| distance(fit.1[0], fit.1[1]) == 1;
        let bump = fits.iter().find(|fit| nudged(fit));
        let several = fits.len() > 1;
        let all_nudged = fits.iter().all(nudged);
        let chosen = match bump {
            _ if !several => fits.first()?,
            Some(fit) if !all_nudged => fit,
            _ => return None,
        };
        let mut squares = vec![chosen.0.from, chosen.0.to];
        squares.extend(&chosen.1);
        let mut finding = self.certain(Code::DisplacedPieceLeft, &squares);
        finding.instead = Some(Instead {
            code: Code::TwoPiecesMoved,
            squares,
        });
        Some(finding)
    }

    fn one_square_more(&self, ply: &Ply, expected: &Placement, square: Square) -> Option<Finding> {
        let squares = [ply.from, ply.to, square];
        Some(
            match (expected.piece(square), self.turn.seen.piece(square)) {
                (Some(_), None) => {
                    self.finding(Code::PieceMissingAtPress, Certainty::Probable, &squares)
                }
                (None, Some(_)) => self.certain(Code::PieceReappeared, &squares),
                _ => self.certain(Code::PieceIdentityChanged, &squares),
            },
        )
    }

    fn the_rest(&self) -> Finding {
        let Diff { left, came, .. } = self.diff;
        let squares: Vec<Square> = left.into_iter().chain(came).collect();
        if self.their_change_free() && left.count() == 2 && came.count() == 2 {
            return self.certain(Code::TwoPiecesMoved, &squares);
        }
        let all: Vec<Square> = self.before.differs(self.turn.seen).into_iter().collect();
        let seen = self.turn.seen.to_board();
        for side in Side::ALL {
            let kings = seen.by_piece(Role::King.of(side));
            let pawns = seen.by_piece(Role::Pawn.of(side));
            if kings.count() != 1 || pawns.count() > 8 || (pawns & Bitboard::BACKRANKS).any() {
                return self.certain(Code::ImpossiblePosition, &all);
            }
        }
        for side in Side::ALL {
            let (was, is) = (self.board.by_color(side), seen.by_color(side));
            if is.count() > was.count() {
                return self.certain(Code::PieceReappeared, &all);
            }
        }
        self.certain(Code::UnexplainedGap, &all)
    }

    fn has(&self, man: Piece, squares: Bitboard) -> bool {
        squares
            .into_iter()
            .any(|square| self.turn.seen.piece(square) == Some(man))
    }

    fn certain(&self, code: Code, squares: &[Square]) -> Finding {
        self.finding(code, Certainty::Certain, squares)
    }

    fn finding(&self, code: Code, certainty: Certainty, squares: &[Square]) -> Finding {
        let played = match squares {
            [from, to, ..] => played(self.board, *from, *to),
            _ => String::new(),
        };
        Finding {
            code,
            side: self.turn.mover,
            certainty,
            squares: squares.to_vec(),
            played,
            instead: None,
        }
    }
}

/// The step in long notation: `Ng1-f3`, `e4xd5`.
pub(super) fn played(board: &Board, from: Square, to: Square) -> String {
    let man = match board.role_at(from) {
        Some(Role::Pawn) | None => String::new(),
        Some(role) => role.upper_char().to_string(),
    };
    let dash = if board.piece_at(to).is_some() {
        'x'
    } else {
        '-'
    };
    format!("{man}{from}{dash}{to}")
}
