//! P12: where each man can have come from, past men that provably never moved.

use shakmaty::{Bitboard, Color, File, Piece, Rank, Role, Square, attacks};

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
#[derive(Debug, Clone, Copy)]
struct Original {
    man: Piece,
    home: Square,
    /// Every square it can ever have stood on.
    region: Bitboard,
}

/// All that the regions hang on: pawns at home, rights, and the first array's men that stand at home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Homes {
    pawns: Bitboard,
    rights: Bitboard,
    men: Bitboard,
}

impl Homes {
    fn of(scene: &Scene) -> Homes {
        let board = &scene.board;
        let mut homes = Homes {
            pawns: Bitboard::EMPTY,
            rights: scene.rights & Bitboard::BACKRANKS,
            men: Bitboard::EMPTY,
        };
        for side in Color::ALL {
            homes.pawns |= board.by_piece(Role::Pawn.of(side)) & scene.home_rank(side);
            let rank = Bitboard::from_rank(side.backrank()) & board.by_color(side);
            for role in [
                Role::Rook,
                Role::Knight,
                Role::Bishop,
                Role::Queen,
                Role::King,
            ] {
                homes.men |= rank & board.by_role(role) & files_of(role);
            }
        }
        homes
    }
}

/// Where the first array has these men.
fn files_of(role: Role) -> Bitboard {
    let files = File::ALL.into_iter().zip(BACK_RANK);
    files
        .filter(|&(_, one)| one == role)
        .fold(Bitboard::EMPTY, |all, (file, _)| {
            all | Bitboard::from_file(file)
        })
}

/// The first array's men with their regions, and the men that never moved.
#[derive(Debug, Clone, Copy)]
struct Regions {
    men: [Original; 16],
    steady: Bitboard,
}

/// Regions found in one proof: the positions before a position have nearly always the same.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<(Homes, Regions)>);

/// Homes remembered at most.
const MOST_KNOWN: usize = 24;

impl Known {
    fn regions(&mut self, scene: &Scene) -> Regions {
        let homes = Homes::of(scene);
        if let Some((_, regions)) = self.0.iter().find(|(known, _)| *known == homes) {
            return *regions;
        }
        let regions = originals(&homes);
        if self.0.len() < MOST_KNOWN {
            self.0.push((homes, regions));
        }
        regions
    }
}

/// Finds the origins, or a man that has none.
pub(super) fn trace(scene: &Scene, known: &mut Known) -> Result<Origins, Proof> {
    let board = &scene.board;
    let Regions {
        men: originals,
        steady,
    } = known.regions(scene);
    let mut origins = Origins::default();
    for side in Color::ALL {
        let mut strangers = Bitboard::EMPTY;
        for role in Role::ALL {
            let man = role.of(side);
            if role == Role::Pawn {
                continue;
            }
            let own = || originals.iter().filter(|one| one.man == man);
            let standing = board.by_piece(man);
            let rooted: Bitboard = own().fold(Bitboard::EMPTY, |all, one| all | one.region);
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
            origins.promoted[side as usize] += standing.count() - matched(own(), standing);
            origins.died_at_home[side as usize] += own()
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

fn originals(homes: &Homes) -> Regions {
    let mut originals = [Original {
        man: Role::Pawn.of(Color::White),
        home: Square::A1,
        region: Bitboard::FULL,
    }; 16];
    let mut steady = homes.pawns;
    for (at, side) in [(0, Color::White), (8, Color::Black)] {
        for (index, (file, role)) in File::ALL.into_iter().zip(BACK_RANK).enumerate() {
            originals[at + index].man = role.of(side);
            originals[at + index].home = Square::from_coords(file, side.backrank());
        }
        let rooks = homes.rights & Bitboard::from_rank(side.backrank());
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
            one.region = flood(one.man, one.home, steady, guarded(homes, one.man));
            // Nothing else can have come into a cage, so the man that stands in it never moved.
            if one.region == home && homes.men.contains(one.home) {
                steady |= home;
            }
        }
        if steady == before {
            return Regions {
                men: originals,
                steady,
            };
        }
    }
}

/// Squares a king can never have stood on: pawns at home have always guarded them.
fn guarded(homes: &Homes, man: Piece) -> Bitboard {
    if man.role != Role::King {
        return Bitboard::EMPTY;
    }
    let rank = match man.color {
        Color::White => Rank::Seventh,
        Color::Black => Rank::Second,
    };
    let pawns = homes.pawns & Bitboard::from_rank(rank);
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
fn matched<'a>(mut own: impl Iterator<Item = &'a Original>, standing: Bitboard) -> usize {
    let mut reach = || own.next().map(|one| standing & one.region);
    match (reach(), reach()) {
        (Some(one), None) => usize::from(one.any()),
        (Some(a), Some(b)) => {
            usize::from(a.any()) + usize::from(b.any())
                - usize::from(a == b && a.single_square().is_some())
        }
        (None, _) => 0,
    }
}
