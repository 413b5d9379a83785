//! What a legal placement may still hide: touch-move and the order of the hands. Never counted, and
//! quiet on ordinary play: only dwells and returns speak, never a slide.

use shakmaty::{Bitboard, CastlingMode, Move, Piece, Role, Square};

use super::{Certainty, Code, Finding, Turn, castling, geometry, judge::played};
use crate::board::{Placement, Reading};

/// Hints for a turn that ended on the placement of the legal move `played_move`. A man that stands
/// `settle_ms` or longer counts as put down, one missing that long as lifted.
pub fn hints(turn: &Turn, played_move: Move, settle_ms: u64) -> Vec<Finding> {
    let Some(from) = played_move.from() else {
        return Vec::new();
    };
    let look = Look {
        turn,
        played: played_move,
        from,
        settle_ms,
    };
    [
        look.castling(),
        look.promotion(),
        look.retracted(),
        look.touched(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

struct Look<'a> {
    turn: &'a Turn<'a>,
    played: Move,
    from: Square,
    settle_ms: u64,
}

impl Look<'_> {
    /// C09 and C10. In Chess960 rook first is the advised order.
    fn castling(&self) -> Option<Finding> {
        if self.turn.before.mode != CastlingMode::Standard {
            return None;
        }
        let side = self.turn.mover;
        match self.played {
            Move::Castle { king, rook } => {
                let landed = self.turn.edges.iter().position(|edge| {
                    edge.to == Reading::Man(Role::Rook.of(side)) && edge.square != rook
                })?;
                let king_left = self
                    .turn
                    .edges
                    .iter()
                    .position(|edge| edge.square == king && edge.to != edge.from)?;
                let placed_first = landed < king_left
                    && self.turn.edges[king_left].at > self.turn.edges[landed].at;
                placed_first.then(|| {
                    self.finding(Code::CastlingRookFirst, Certainty::Probable, &[rook, king])
                })
            }
            Move::Normal {
                role: Role::Rook,
                from,
                to,
                capture: None,
                ..
            } => {
                let way = castling::ways(self.turn.before, side)
                    .into_iter()
                    .find(|way| way.rook == (from, to))?;
                let open = castling::ban(self.turn.before, side, &way, self.turn.past).is_none();
                open.then(|| self.finding(Code::CastlingInterrupted, Certainty::Hint, &[from, to]))
            }
            _ => None,
        }
    }

    /// D05 and D06.
    fn promotion(&self) -> Option<Finding> {
        let role = self.played.promotion()?;
        let to = self.played.to();
        let squares = [self.from, to];
        let changed = self.turn.edges.iter().any(|edge| {
            edge.square == to
                && matches!(edge.to, Reading::Man(man) if man.color == self.turn.mover
                    && man.role != role && man.role != Role::Pawn)
        });
        if changed {
            return Some(self.finding(Code::PromotionChoiceChanged, Certainty::Hint, &squares));
        }
        (role == Role::Rook)
            .then(|| self.finding(Code::InvertedRookPromotion, Certainty::Hint, &squares))
    }

    /// G07 and G11: a complete legal move stood, and then another was played.
    fn retracted(&self) -> Option<Finding> {
        let plies = geometry::legal_plies(self.turn.before, self.turn.mover);
        let mut board = self.turn.before.placement();
        for (i, edge) in self.turn.edges.iter().enumerate() {
            put(&mut board, edge.square, edge.to);
            let Some(next) = self.turn.edges.get(i + 1) else {
                break;
            };
            if next.at.ms_since(edge.at) < self.settle_ms || board == *self.turn.seen {
                continue;
            }
            let Some(ply) = plies
                .iter()
                .find(|ply| Placement::from(&ply.after) == board)
            else {
                continue;
            };
            // Castling's king or rook half is no move of its own when the castling was finished.
            if self.played.is_castle() {
                continue;
            }
            let code = if ply.from == self.from {
                Code::ReleasedPieceMovedAgain
            } else {
                Code::LegalMoveRetracted
            };
            return Some(self.finding(code, Certainty::Hint, &[ply.from, ply.to]));
        }
        None
    }

    /// G01-G04: men that were away for longer than a bump and came back.
    fn touched(&self) -> Option<Finding> {
        let side = self.turn.mover;
        let mut own = Bitboard::EMPTY;
        let mut theirs = Bitboard::EMPTY;
        for (square, man) in self.returned() {
            if square == self.from {
                continue;
            }
            if man.color == side {
                own.add(square);
            } else {
                theirs.add(square);
            }
        }
        let stand = self.turn.before;
        let plies = geometry::legal_plies(stand, side);
        let king = stand.board().king_of(side);
        if !self.played.is_castle()
            && let Some(way) = castling::ways(stand, side).into_iter().find(|way| {
                own.contains(way.king.0)
                    && own.contains(way.rook.0)
                    && castling::ban(stand, side, way, self.turn.past).is_none()
            })
        {
            let squares = [way.king.0, way.rook.0];
            return Some(self.finding(Code::KingRookTouchedNoCastle, Certainty::Hint, &squares));
        }
        let both = plies
            .iter()
            .find(|ply| own.contains(ply.from) && theirs.contains(ply.to));
        if let Some(ply) = both {
            return Some(self.finding(
                Code::TouchedBothOrder,
                Certainty::Hint,
                &[ply.from, ply.to],
            ));
        }
        let castled_king = if self.played.is_castle() { king } else { None };
        if let Some(ply) = plies
            .iter()
            .find(|ply| own.contains(ply.from) && Some(ply.from) != castled_king)
        {
            return Some(self.finding(Code::TouchedOtherPiece, Certainty::Hint, &[ply.from]));
        }
        let ply = plies
            .iter()
            .find(|ply| theirs.contains(ply.to) && ply.to != self.played.to())?;
        Some(self.finding(Code::TouchedEnemyNotCaptured, Certainty::Hint, &[ply.to]))
    }

    /// Men that were off their square for the settle time and stand there again.
    fn returned(&self) -> Vec<(Square, Piece)> {
        let before = self.turn.before.board();
        let mut back = Vec::new();
        for (i, up) in self.turn.edges.iter().enumerate() {
            let Some(man) = before.piece_at(up.square) else {
                continue;
            };
            if up.from != Reading::Man(man) || self.turn.seen.piece(up.square) != Some(man) {
                continue;
            }
            let down = self.turn.edges[i + 1..]
                .iter()
                .find(|edge| edge.square == up.square);
            if let Some(down) = down
                && down.to == Reading::Man(man)
                && down.at.ms_since(up.at) >= self.settle_ms
            {
                back.push((up.square, man));
            }
        }
        back
    }

    fn finding(&self, code: Code, certainty: Certainty, squares: &[Square]) -> Finding {
        Finding {
            code,
            side: self.turn.mover,
            certainty,
            squares: squares.to_vec(),
            played: played(self.turn.before.board(), self.from, self.played.to()),
            instead: None,
        }
    }
}

fn put(board: &mut Placement, square: Square, reading: Reading) {
    match reading {
        Reading::Empty => board.set(square, None),
        Reading::Man(man) => board.set(square, Some(man)),
        Reading::Magic(code) => board.set_code(square, code),
    }
}
