//! Positions that no series of legal moves can produce (Art. 3.10.3, laws.md 4).
//!
//! A proof is sound above all: what is not proven stays possible. The tests run from the cheap to
//! the dear and stop at the first that proves something, because one proof is enough.

mod basics;
mod last_move;
mod local;
mod origins;
mod pawns;

use serde::{Serialize, Serializer};
use shakmaty::{Bitboard, Board, Color, Square};

use super::{Lang, Stand, rows::Words};
use crate::words::Side;

pub use local::from_anchor;

macro_rules! reasons {
    ($($variant:ident = $name:literal, $en:literal, $es:literal;)*) => {
        /// Why a position is impossible, by the names of laws.md 4.1.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Reason {
            $(#[doc = $en] $variant,)*
        }

        impl Reason {
            /// The name that stands in payloads.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Reason::$variant => $name,)*
                }
            }

            const fn words(self) -> Words {
                match self {
                    $(Reason::$variant => Words { en: $en, es: $es },)*
                }
            }
        }
    };
}

reasons! {
    BoardEmpty = "board-empty", "no man stands on the board", "no hay ninguna pieza en el tablero";
    KingMissing = "king-missing", "a king is missing", "falta un rey";
    KingExtra = "king-extra", "a side has more than one king", "un bando tiene más de un rey";
    PawnOnOwnBackRank = "pawn-on-own-back-rank",
        "a pawn stands on its own back rank", "un peón está en su propia primera fila";
    PawnOnLastRank = "pawn-on-last-rank",
        "a pawn stands on its last rank and was not replaced",
        "un peón está en la última fila sin haber sido sustituido";
    TooManyMen = "too-many-men",
        "a side has more than sixteen men", "un bando tiene más de dieciséis piezas";
    TooManyPawns = "too-many-pawns",
        "a side has more than eight pawns", "un bando tiene más de ocho peones";
    PromotionBudget = "promotion-budget",
        "more promoted men than pawns are gone", "hay más piezas promovidas que peones faltan";
    MoverLeftInCheck = "mover-left-in-check",
        "the side that just moved stands in check", "el bando que acaba de jugar está en jaque";
    TooManyCheckers = "too-many-checkers",
        "three or more men give check", "dan jaque tres o más piezas";
    DoubleCheckImpossible = "double-check-impossible",
        "no single move can have given this double check",
        "ninguna jugada puede haber dado este jaque doble";
    CheckHasNoLastMove = "check-has-no-last-move",
        "no last move can have given this check", "ninguna última jugada puede haber dado este jaque";
    EpRightInconsistent = "ep-right-inconsistent",
        "no double step of a pawn fits the en passant square",
        "ningún avance doble de peón corresponde a la casilla de captura al paso";
    CastlingRightInconsistent = "castling-right-inconsistent",
        "king and rook cannot have stayed unmoved", "rey y torre no pueden haberse quedado sin mover";
    PawnNeedsTooManyCaptures = "pawn-needs-too-many-captures",
        "the pawns need more captures than men are gone",
        "los peones necesitan más capturas que piezas faltan";
    PromotionPassage = "promotion-passage",
        "too few men are gone for the pawns to have passed each other",
        "faltan demasiado pocas piezas para que los peones se hayan cruzado";
    CagedMan = "caged-man",
        "a man stands where it can never have come", "una pieza está donde nunca pudo llegar";
    NoLastMove = "no-last-move",
        "the side that just moved had no possible last move",
        "el bando que acaba de jugar no tuvo ninguna última jugada posible";
    NotASuccessor = "not-a-successor",
        "no legal move leads here from the last known position",
        "ninguna jugada legal lleva aquí desde la última posición conocida";
    NotReachableInK = "not-reachable-in-k",
        "so many legal moves cannot lead here from the last known position",
        "ese número de jugadas legales no lleva aquí desde la última posición conocida";
    IrreversibleViolation = "irreversible-violation",
        "men or pawns went back on what cannot be undone since the last known position",
        "desde la última posición conocida se deshizo algo irreversible";
}

impl Reason {
    /// The reason in words.
    pub const fn text(self, lang: Lang) -> &'static str {
        lang.of(self.words())
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

/// That a position is impossible, and where it shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// Which rule it breaks.
    pub reason: Reason,
    /// The men it speaks of.
    #[serde(serialize_with = "names")]
    pub squares: Vec<Square>,
}

impl Proof {
    /// The reason in words, with the squares: "a side has more than one king (e1, d5)".
    pub fn text(&self, lang: Lang) -> String {
        let reason = self.reason.text(lang);
        if self.squares.is_empty() {
            return reason.to_owned();
        }
        let squares: Vec<String> = self.squares.iter().map(ToString::to_string).collect();
        format!("{reason} ({})", squares.join(", "))
    }
}

fn names<S: Serializer>(squares: &[Square], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(squares.iter().map(ToString::to_string))
}

impl Proof {
    fn new(reason: Reason, squares: Bitboard) -> Proof {
        Proof {
            reason,
            squares: squares.into_iter().collect(),
        }
    }
}

/// What the proofs look at.
#[derive(Debug, Clone)]
struct Scene {
    board: Board,
    /// The side to move; the other one made the last move.
    turn: Side,
    /// Rooks that may still castle: neither they nor their kings have moved.
    rights: Bitboard,
    /// The square a pawn has just passed over.
    ep: Option<Square>,
    /// Whether the game began from the ordinary array; only then homes and castling are known.
    standard: bool,
}

impl Scene {
    fn of(stand: &Stand) -> Scene {
        Scene {
            board: stand.board().clone(),
            turn: stand.setup.turn,
            rights: stand.setup.castling_rights,
            ep: stand.setup.ep_square,
            standard: stand.mode == shakmaty::CastlingMode::Standard,
        }
    }

    /// Men taken from a side since the start.
    fn missing(&self, side: Side) -> usize {
        16_usize.saturating_sub(self.board.by_color(side).count())
    }
}

/// Why no game can go on from these men, whoever put them there: a king too few or too many, a pawn on
/// either end rank, more men than a side has, or a king that could be taken. A position that only
/// no game leads to may be played on, as after an illegal move that stands (A.4.2).
pub fn unplayable(stand: &Stand) -> Vec<Proof> {
    let mut found = basics::proofs(&Scene::of(stand));
    found.retain(|proof| {
        matches!(
            proof.reason,
            Reason::BoardEmpty
                | Reason::KingMissing
                | Reason::KingExtra
                | Reason::PawnOnOwnBackRank
                | Reason::PawnOnLastRank
                | Reason::TooManyMen
                | Reason::TooManyPawns
                | Reason::MoverLeftInCheck
        )
    });
    found
}

/// The proofs that the position cannot arise from the start of a game; empty when none is known.
/// P01 to P06 are all told; of the others, which need a board that passes these, the first.
pub fn impossible(stand: &Stand) -> Vec<Proof> {
    let scene = Scene::of(stand);
    let simple = basics::proofs(&scene);
    if !simple.is_empty() {
        return simple;
    }
    let (board, turn) = (&scene.board, scene.turn);
    let checked = board
        .king_of(turn)
        .is_some_and(|king| board.attacks_to(king, !turn, board.occupied()).any());
    // A check is named as what is wrong with it, wherever its men came from.
    let known = &mut origins::Known::default();
    let found = if checked {
        last_move::proof(&scene, known).or_else(|| structure(&scene, known))
    } else {
        structure(&scene, known).or_else(|| last_move::proof(&scene, known))
    };
    found.into_iter().collect()
}

/// P10 to P12: pawns, captures and cages.
fn structure(scene: &Scene, known: &mut origins::Known) -> Option<Proof> {
    let origins = if scene.standard {
        match origins::trace(scene, known) {
            Ok(origins) => origins,
            Err(proof) => return Some(proof),
        }
    } else {
        origins::Origins::default()
    };
    for side in Color::ALL {
        let pawns = scene.board.by_color(side) & scene.board.pawns();
        let victims = scene
            .missing(!side)
            .saturating_sub(origins.died_at_home(!side));
        let homes = scene.home_rank(side);
        if pawns::captures(side, pawns, homes).is_none_or(|least| least > victims) {
            return Some(Proof::new(Reason::PawnNeedsTooManyCaptures, pawns));
        }
    }
    pawns::passage(scene, &origins)
}

impl Scene {
    /// Where a side's pawns start.
    const fn home_rank(&self, side: Side) -> Bitboard {
        match side {
            Color::White => Bitboard::from_rank(shakmaty::Rank::Second),
            Color::Black => Bitboard::from_rank(shakmaty::Rank::Seventh),
        }
    }
}
