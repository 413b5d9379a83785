//! P12: where each man can have come from, past men that provably never moved.

use shakmaty::{Bitboard, Board, Color, File, Piece, Rank, Role, Square, attacks};

use super::{Proof, Reason, Scene};
use crate::words::Side;

const BACK_RANK: [Role; 8] = [
    Role::Rook,
    Role::Knight,
    Role::Bishop,
    Role::Queen,
    Role::King,
    Role::Bishop,
    Role::Knight,
    Role::Rook,
];

/// What is known of where the men came from; nothing by default (Chess960).
#[derive(Debug, Clone, Default)]
pub(super) struct Origins {
    promoted: [usize; 2],
    died_at_home: [usize; 2],
}

impl Origins {
    /// Men of a side that must have been promoted.
    pub(super) fn promoted(&self, side: Side) -> usize {
        self.promoted[side as usize]
    }

    /// Men of a side that were taken on its back rank, never having left it: no victims of a pawn
    /// that is still one.
    pub(super) fn died_at_home(&self, side: Side) -> usize {
        self.died_at_home[side as usize]
    }
}

/// One man of the first array.
struct Original {
    man: Piece,
    home: Square,
    /// Every square it can ever have stood on.
    region: Bitboard,
}

/// Finds the origins, or a man that has none.
pub(super) fn trace(scene: &Scene) -> Result<Origins, Proof> {
    let board = &scene.board;
    let (originals, steady) = originals(scene);
    let mut origins = Origins::default();
    for side in Color::ALL {
        let mut strangers = Bitboard::EMPTY;
        for role in Role::ALL {
            let man = role.of(side);
            if role == Role::Pawn {
                continue;
            }
            let own: Vec<&Original> = originals.iter().filter(|one| one.man == man).collect();
            let standing = board.by_piece(man);
            let rooted: Bitboard = own
                .iter()
                .fold(Bitboard::EMPTY, |all, one| all | one.region);
            let rootless = standing & !rooted;
            strangers |= rootless;
            if role == Role::King && rootless.any() {
                return Err(Proof::new(Reason::CagedMan, rootless));
            }
            for square in rootless {
                if !can_have_promoted(man, square, steady) {
                    return Err(Proof::new(Reason::CagedMan, square.into()));
                }
            }
            origins.promoted[side as usize] += standing.count() - matched(&own, standing);
            origins.died_at_home[side as usize] += own
                .iter()
                .filter(|one| (one.region & standing).is_empty())
                .filter(|one| (one.region & !Bitboard::from_rank(side.backrank())).is_empty())
                .count();
        }
        let pawns = board.by_piece(Role::Pawn.of(side)).count();
        if pawns + origins.promoted(side) > 8 {
            return Err(Proof::new(Reason::CagedMan, strangers));
        }
    }
    Ok(origins)
}

/// The first array's men with their regions, and the men that never moved.
fn originals(scene: &Scene) -> (Vec<Original>, Bitboard) {
    let board = &scene.board;
    let mut originals = Vec::with_capacity(16);
    let mut steady = Bitboard::EMPTY;
    for side in Color::ALL {
        steady |= board.by_piece(Role::Pawn.of(side)) & scene.home_rank(side);
        for (file, role) in File::ALL.into_iter().zip(BACK_RANK) {
            originals.push(Original {
                man: role.of(side),
                home: Square::from_coords(file, side.backrank()),
                region: Bitboard::FULL,
            });
        }
        let rooks = scene.rights & Bitboard::from_rank(side.backrank());
        if rooks.any() {
            steady |= rooks;
            steady.add(Square::from_coords(File::E, side.backrank()));
        }
    }
    loop {
        let before = steady;
        for one in &mut originals {
            let home = Bitboard::from(one.home);
            if (steady & home).any() {
                one.region = home;
                continue;
            }
            one.region = flood(one.man, one.home, steady, guarded(board, one.man, steady));
            // Nothing else can have come into a cage, so the man that stands in it never moved.
            if one.region == home && board.piece_at(one.home) == Some(one.man) {
                steady |= home;
            }
        }
        if steady == before {
            return (originals, steady);
        }
    }
}

/// Squares a king can never have stood on: pawns at home have always guarded them.
fn guarded(board: &Board, man: Piece, steady: Bitboard) -> Bitboard {
    if man.role != Role::King {
        return Bitboard::EMPTY;
    }
    let pawns = steady & board.by_piece(Role::Pawn.of(!man.color));
    pawns.into_iter().fold(Bitboard::EMPTY, |all, pawn| {
        all | attacks::pawn_attacks(!man.color, pawn)
    })
}

/// The squares a man can walk to from one, past nothing but the steady men.
fn flood(man: Piece, from: Square, steady: Bitboard, banned: Bitboard) -> Bitboard {
    if steady.is_empty() && banned.is_empty() {
        return match man.role {
            Role::Bishop if from.is_light() => Bitboard::LIGHT_SQUARES,
            Role::Bishop => Bitboard::DARK_SQUARES,
            _ => Bitboard::FULL,
        };
    }
    let mut region = Bitboard::from(from);
    let mut edge = region;
    while let Some(square) = edge.pop_front() {
        let fresh = attacks::attacks(square, man, steady) & !steady & !banned & !region;
        region |= fresh;
        edge |= fresh;
    }
    region
}

/// Whether a pawn can have been promoted to this man and it walked here.
fn can_have_promoted(man: Piece, square: Square, steady: Bitboard) -> bool {
    let doors =
        flood(man, square, steady, Bitboard::EMPTY) & Bitboard::from_rank((!man.color).backrank());
    let seventh = match man.color {
        Color::White => Rank::Seventh,
        Color::Black => Rank::Second,
    };
    doors.into_iter().any(|door| {
        let ways = Bitboard::from_rank(seventh) & !steady;
        ways.into_iter()
            .any(|pawn| pawn.file().distance(door.file()) <= 1)
    })
}

/// How many of the men can be originals at most, each original being one man only.
fn matched(own: &[&Original], standing: Bitboard) -> usize {
    let reach = |one: &Original| standing & one.region;
    match own {
        [one] => usize::from(reach(one).any()),
        [one, two] => {
            let (a, b) = (reach(one), reach(two));
            usize::from(a.any()) + usize::from(b.any())
                - usize::from(a == b && a.single_square().is_some())
        }
        _ => 0,
    }
}
