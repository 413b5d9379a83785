//! A position to look ahead from: a legal one, or what an irregular ply left on the board.

use shakmaty::{
    Bitboard, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, Piece, Position,
    PositionError, Rank, Role, Setup, Square, attacks,
    fen::Fen,
    san::{San, SanPlus},
};

use crate::{board::Placement, words::Side};

/// A position with its rights.
#[derive(Debug, Clone)]
pub struct Ground {
    setup: Setup,
    mode: CastlingMode,
    /// `None` when shakmaty refuses the position (a king left in check, for one): then only the
    /// steps of the men are known.
    legal: Option<Chess>,
}

impl Ground {
    /// A legal position.
    pub fn of(position: Chess, mode: CastlingMode) -> Ground {
        Ground {
            setup: position.to_setup(EnPassantMode::Always),
            mode,
            legal: Some(position),
        }
    }

    /// Any position; rights the men contradict are dropped.
    pub fn from_setup(mut setup: Setup, mode: CastlingMode) -> Ground {
        let legal = Chess::from_setup(setup.clone(), mode)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
            .ok();
        if let Some(position) = &legal {
            setup = position.to_setup(EnPassantMode::Always);
        }
        Ground { setup, mode, legal }
    }

    /// Men, side to move, rights, counters.
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Standard chess or Chess960.
    pub const fn mode(&self) -> CastlingMode {
        self.mode
    }

    /// The legal position, if it is one.
    pub const fn position(&self) -> Option<&Chess> {
        self.legal.as_ref()
    }

    /// Whose move it is.
    pub const fn turn(&self) -> Side {
        self.setup.turn
    }

    /// What a faultless board reads here.
    pub fn placement(&self) -> Placement {
        Placement::from(&self.setup.board)
    }

    /// FEN of the position.
    pub fn fen(&self) -> String {
        Fen::try_from_setup(self.setup.clone())
            .unwrap_or_else(|lossy| lossy.ignore())
            .to_string()
    }

    /// Every move that may follow, with the placement it leaves.
    pub fn successors(&self) -> Vec<(Move, Placement)> {
        let here = self.placement();
        match &self.legal {
            Some(position) => position
                .legal_moves()
                .into_iter()
                .map(|mv| (mv, placement_after(&here, mv, self.turn())))
                .collect(),
            None => self
                .steps()
                .into_iter()
                .map(|mv| (mv, placement_after(&here, mv, self.turn())))
                .collect(),
        }
    }

    /// The position after a move out of [`Ground::successors`].
    #[must_use]
    pub fn after(&self, mv: Move) -> Ground {
        match &self.legal {
            Some(position) => {
                let mut next = position.clone();
                next.play_unchecked(mv);
                Ground::of(next, self.mode)
            }
            None => self.with_men(&placement_after(&self.placement(), mv, self.turn())),
        }
    }

    /// The position when these men stand and the other side is to move, whatever led there. A king
    /// or rook that left its square loses its right; nobody may take en passant.
    #[must_use]
    pub fn with_men(&self, seen: &Placement) -> Ground {
        let before = &self.setup;
        let board = seen.to_board();
        let mut rights = before.castling_rights;
        for square in before.castling_rights {
            let home = before.board.piece_at(square);
            if board.piece_at(square) != home {
                rights.discard(square);
            }
        }
        for color in Color::ALL {
            if board.king_of(color) != before.board.king_of(color) {
                rights &= !Bitboard::from(color.fold_wb(Rank::First, Rank::Eighth));
            }
        }
        let fullmoves = match before.turn {
            Color::White => before.fullmoves,
            Color::Black => before.fullmoves.saturating_add(1),
        };
        Ground::from_setup(
            Setup {
                board,
                promoted: Bitboard::EMPTY,
                turn: before.turn.other(),
                castling_rights: rights,
                ep_square: None,
                halfmoves: 0,
                fullmoves,
                ..before.clone()
            },
            self.mode,
        )
    }

    /// Standard notation with check and mate marks.
    pub fn san(&self, mv: Move) -> String {
        match &self.legal {
            Some(position) => SanPlus::from_move(position.clone(), mv).to_string(),
            None => self.san_of_step(mv).to_string(),
        }
    }

    fn san_of_step(&self, mv: Move) -> San {
        let rivals = self.steps().into_iter().filter(|other| {
            (other.role(), other.to()) == (mv.role(), mv.to()) && other.from() != mv.from()
        });
        let rivals: Vec<Square> = rivals.filter_map(|other| other.from()).collect();
        let from = mv.from().unwrap_or(mv.to());
        let pawn_takes = mv.role() == Role::Pawn && mv.is_capture();
        let same_file = rivals.iter().any(|rival| rival.file() == from.file());
        let same_rank = rivals.iter().any(|rival| rival.rank() == from.rank());
        let by_file = pawn_takes || (!rivals.is_empty() && (!same_file || same_rank));
        San::Normal {
            role: mv.role(),
            file: by_file.then(|| from.file()),
            rank: (same_file && !pawn_takes).then(|| from.rank()),
            capture: mv.is_capture(),
            to: mv.to(),
            promotion: mv.promotion(),
        }
    }

    /// UCI notation in this position's castling mode.
    pub fn uci(&self, mv: Move) -> String {
        mv.to_uci(self.mode).to_string()
    }

    /// Whether a step of the men leads to this placement, safe or not for their own king.
    pub(super) fn steps_to(&self, seen: &Placement) -> bool {
        let (here, us) = (self.placement(), self.turn());
        let mut steps = self.all_steps().into_iter();
        steps.any(|mv| placement_after(&here, mv, us) == *seen)
    }

    /// Steps of the men that leave their own king safe, in a position that is no legal one.
    fn steps(&self) -> Vec<Move> {
        let (here, us) = (self.placement(), self.turn());
        let mut found = self.all_steps();
        found.retain(|&mv| {
            let after = placement_after(&here, mv, us).to_board();
            after.king_of(us).is_none_or(|king| {
                after
                    .attacks_to(king, us.other(), after.occupied())
                    .is_empty()
            })
        });
        found
    }

    fn all_steps(&self) -> Vec<Move> {
        let board = &self.setup.board;
        let us = self.turn();
        let own = board.by_color(us);
        let mut found = Vec::new();
        for from in own {
            let Some(role) = board.role_at(from) else {
                continue;
            };
            let targets = match role {
                Role::Pawn => pawn_targets(board.occupied(), board.by_color(us.other()), from, us),
                _ => attacks::attacks(from, Piece { color: us, role }, board.occupied()) & !own,
            };
            for to in targets & !board.kings() {
                let promotions: &[Option<Role>] = if role == Role::Pawn
                    && us.fold_wb(to.rank() == Rank::Eighth, to.rank() == Rank::First)
                {
                    &[
                        Some(Role::Queen),
                        Some(Role::Rook),
                        Some(Role::Bishop),
                        Some(Role::Knight),
                    ]
                } else {
                    &[None]
                };
                for &promotion in promotions {
                    found.push(Move::Normal {
                        role,
                        from,
                        capture: board.role_at(to),
                        to,
                        promotion,
                    });
                }
            }
        }
        found
    }
}

fn pawn_targets(occupied: Bitboard, enemy: Bitboard, from: Square, us: Side) -> Bitboard {
    let forward = us.fold_wb(8, -8);
    let mut targets = attacks::pawn_attacks(us, from) & enemy;
    if let Some(one) = from.offset(forward).filter(|&s| !occupied.contains(s)) {
        targets.add(one);
        let home = us.fold_wb(Rank::Second, Rank::Seventh);
        if let Some(two) = one
            .offset(forward)
            .filter(|&s| from.rank() == home && !occupied.contains(s))
        {
            targets.add(two);
        }
    }
    targets
}

/// What the board reads after a move.
fn placement_after(here: &Placement, mv: Move, us: Side) -> Placement {
    let mut after = *here;
    match mv {
        Move::Normal {
            role,
            from,
            to,
            promotion,
            ..
        } => {
            after.set(from, None);
            after.set(to, Some(promotion.unwrap_or(role).of(us)));
        }
        Move::EnPassant { from, to } => {
            after.set(from, None);
            after.set(Square::from_coords(to.file(), from.rank()), None);
            after.set(to, Some(Role::Pawn.of(us)));
        }
        Move::Castle { king, rook } => {
            let side = shakmaty::CastlingSide::from_king_side(rook > king);
            after.set(king, None);
            after.set(rook, None);
            after.set(side.king_to(us), Some(Role::King.of(us)));
            after.set(side.rook_to(us), Some(Role::Rook.of(us)));
        }
        Move::Put { role, to } => after.set(to, Some(role.of(us))),
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_king_left_in_check_leaves_a_ground_with_replies() {
        let setup = "4k3/8/8/3Q4/8/2q5/8/4K3 w - - 0 1"
            .parse::<Fen>()
            .expect("a FEN")
            .into_setup();
        let ground = Ground::from_setup(setup, CastlingMode::Standard);
        let mut seen = ground.placement();
        seen.set(Square::D5, None);
        seen.set(Square::D8, Some(Role::Queen.of(Color::White)));
        let after = ground.with_men(&seen);
        assert!(after.position().is_none());
        let replies = after.successors();
        assert!(!replies.is_empty());
        assert!(
            replies
                .iter()
                .all(|(mv, _)| mv.role() == Role::King && mv.capture() != Some(Role::King))
        );
    }

    #[test]
    fn every_legal_move_leaves_the_placement_shakmaty_says() {
        let setup = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
            .parse::<Fen>()
            .expect("a FEN")
            .into_setup();
        let ground = Ground::from_setup(setup, CastlingMode::Standard);
        let successors = ground.successors();
        assert_eq!(successors.len(), 48);
        for (mv, placement) in successors {
            assert_eq!(ground.after(mv).placement(), placement, "{mv}");
        }
    }
}
