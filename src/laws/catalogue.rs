//! The catalogue of irregularities: one code per row of laws.md 2.A-2.H, 3.1 and 6.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use thiserror::Error;

macro_rules! codes {
    ($($variant:ident = $name:literal,)*) => {
        /// The rows of the catalogue, by their name in kebab-case (`king-left-in-check`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Code {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Code {
            /// Every code, in the order of the catalogue.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The name that stands in payloads and on the command line.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$variant => $name,)*
                }
            }
        }
    };
}

codes! {
    OwnPieceCaptured = "own-piece-captured",
    CapturedPieceNotRemoved = "captured-piece-not-removed",
    BishopOffDiagonal = "bishop-off-diagonal",
    BishopChangedColour = "bishop-changed-colour",
    RookOffLine = "rook-off-line",
    QueenOffLine = "queen-off-line",
    SliderJumpedPiece = "slider-jumped-piece",
    KnightBadJump = "knight-bad-jump",
    PawnAdvanceTooFar = "pawn-advance-too-far",
    PawnDoubleStepNotHome = "pawn-double-step-not-home",
    PawnAdvanceBlocked = "pawn-advance-blocked",
    PawnCapturedForward = "pawn-captured-forward",
    PawnDiagonalNoCapture = "pawn-diagonal-no-capture",
    PawnBackwardOrSideways = "pawn-backward-or-sideways",
    KingBadStep = "king-bad-step",
    KingCaptured = "king-captured",
    TwoPiecesMoved = "two-pieces-moved",
    MoveOutOfTurn = "move-out-of-turn",
    MovedOpponentPiece = "moved-opponent-piece",
    KingLeftInCheck = "king-left-in-check",
    OwnKingExposed = "own-king-exposed",
    KingMovedIntoCheck = "king-moved-into-check",
    KingsAdjacent = "kings-adjacent",
    BothKingsInCheck = "both-kings-in-check",
    CastlingKingMoved = "castling-king-moved",
    CastlingRookMoved = "castling-rook-moved",
    CastlingOutOfCheck = "castling-out-of-check",
    CastlingThroughCheck = "castling-through-check",
    CastlingIntoCheck = "castling-into-check",
    CastlingPathBlocked = "castling-path-blocked",
    CastlingBadSquares = "castling-bad-squares",
    CastlingIncomplete = "castling-incomplete",
    CastlingRookFirst = "castling-rook-first",
    CastlingInterrupted = "castling-interrupted",
    PromotionPawnNotReplaced = "promotion-pawn-not-replaced",
    PromotionBadPiece = "promotion-bad-piece",
    PromotionSquareMismatch = "promotion-square-mismatch",
    PromotionEarly = "promotion-early",
    PromotionChoiceChanged = "promotion-choice-changed",
    InvertedRookPromotion = "inverted-rook-promotion",
    PromotionPieceMissing = "promotion-piece-missing",
    PromotionVictimNotRemoved = "promotion-victim-not-removed",
    EnPassantLate = "en-passant-late",
    EnPassantNoDoubleStep = "en-passant-no-double-step",
    EnPassantWrongVictim = "en-passant-wrong-victim",
    EnPassantByPiece = "en-passant-by-piece",
    EnPassantVictimLeft = "en-passant-victim-left",
    ClockPressedWithoutMove = "clock-pressed-without-move",
    ClockPressedBeforeMove = "clock-pressed-before-move",
    TwoHands = "two-hands",
    WrongHandPressed = "wrong-hand-pressed",
    ClockHovered = "clock-hovered",
    ClockHitHard = "clock-hit-hard",
    ClockKnocked = "clock-knocked",
    RepliedBeforePress = "replied-before-press",
    ClockNotPressed = "clock-not-pressed",
    ClockPaused = "clock-paused",
    ClockRunsForWrongSide = "clock-runs-for-wrong-side",
    TouchedOtherPiece = "touched-other-piece",
    TouchedEnemyNotCaptured = "touched-enemy-not-captured",
    TouchedBothOrder = "touched-both-order",
    KingRookTouchedNoCastle = "king-rook-touched-no-castle",
    RookThenKing = "rook-then-king",
    IllegalCastleNoKingMove = "illegal-castle-no-king-move",
    ReleasedPieceMovedAgain = "released-piece-moved-again",
    AdjustedOutOfTurn = "adjusted-out-of-turn",
    Adjusted = "adjusted",
    ReplacementNotTouchedPiece = "replacement-not-touched-piece",
    LegalMoveRetracted = "legal-move-retracted",
    DisplacedPieceLeft = "displaced-piece-left",
    PieceMissingAtPress = "piece-missing-at-press",
    PieceIdentityChanged = "piece-identity-changed",
    PieceReappeared = "piece-reappeared",
    ImpossiblePosition = "impossible-position",
    UnexplainedGap = "unexplained-gap",
    InitialPositionWrong = "initial-position-wrong",
    BoardTurned = "board-turned",
    ClockTurned = "clock-turned",
    ColoursReversed = "colours-reversed",
    ClockSettingWrong = "clock-setting-wrong",
    ClockReset = "clock-reset",
    MoveCounterOff = "move-counter-off",
    IllegalMoveNotCompleted = "illegal-move-not-completed",
    Checkmate = "checkmate",
    Stalemate = "stalemate",
    DeadPosition = "dead-position",
    Resignation = "resignation",
    AgreedDraw = "agreed-draw",
    ThreefoldAvailable = "threefold-available",
    FiftyMovesAvailable = "fifty-moves-available",
    Fivefold = "fivefold",
    SeventyFiveMoves = "seventy-five-moves",
    ClaimRightLost = "claim-right-lost",
    WrongClaim = "wrong-claim",
    Flag = "flag",
    BothClocksAtZero = "both-clocks-at-zero",
    TimeControlNotMet = "time-control-not-met",
    ClockRunsWithIllegalPosition = "clock-runs-with-illegal-position",
    LateArrival = "late-arrival",
    MovedAfterEnd = "moved-after-end",
}

impl Code {
    /// An illegal castling, whole or begun (3.8.2): 4.4.3 then asks for a king move.
    pub const fn is_castling(self) -> bool {
        matches!(
            self,
            Code::CastlingKingMoved
                | Code::CastlingRookMoved
                | Code::CastlingOutOfCheck
                | Code::CastlingThroughCheck
                | Code::CastlingIntoCheck
                | Code::CastlingPathBlocked
                | Code::CastlingBadSquares
                | Code::CastlingIncomplete
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        json_schema!({
            "description": "A row of the catalogue; `atalaya explain` tells each.",
            "type": "string",
            "enum": names,
        })
    }
}

/// A name that is in no row of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no code is named '{name}'; did you mean '{nearest}'?")]
pub struct UnknownCode {
    /// What was asked for.
    pub name: String,
    /// The code whose name is most like it.
    pub nearest: Code,
}

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(name: &str) -> Result<Code, UnknownCode> {
        if let Some(&code) = Code::ALL.iter().find(|code| code.as_str() == name) {
            return Ok(code);
        }
        let nearest = Code::ALL
            .iter()
            .copied()
            .max_by(|a, b| {
                let like = |code: &Code| strsim::jaro_winkler(code.as_str(), name);
                like(a).total_cmp(&like(b))
            })
            .unwrap_or(Code::UnexplainedGap);
        Err(UnknownCode {
            name: name.to_owned(),
            nearest,
        })
    }
}
