//! `atalaya position`: what the Laws say of a position alone.

use std::fmt::Write;

use serde_json::json;
use shakmaty::{CastlingMode, Chess, FromSetup, Position, PositionError};

use super::{Failure, print};
use crate::{
    laws::{self, Answer, CanMate, Lang, Proof, Stand, Words, can_mate},
    words::{Side, side_name},
};

/// Whether a position is impossible, whether each side can still mate, what ends the game
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya position '8/8/8/8/8/5k2/8/5K2 w - - 0 1'")]
pub struct Args {
    /// The position, FEN
    pub fen: String,
    /// Chess960 castling rights
    #[arg(long)]
    pub chess960: bool,
    /// Language: en or es
    #[arg(long, default_value = "en")]
    pub lang: Lang,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// Half-moves without capture or pawn move after which the game is drawn (Article 9.6.2).
const SEVENTY_FIVE_MOVES: u32 = 150;

/// Looks at the position.
///
/// # Errors
/// When the text is no FEN.
pub fn run(args: Args) -> Result<(), Failure> {
    let mode = CastlingMode::from_chess960(args.chess960);
    let stand = Stand::from_fen(&args.fen, mode)
        .map_err(|why| Failure::Usage(format!("'{}' is no FEN: {why}", args.fen)))?;
    let proofs = laws::impossible(&stand);
    let position = Chess::from_setup(stand.setup.clone(), mode)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok();
    let of = |side| match &position {
        Some(position) => can_mate(position, side),
        None => CanMate {
            answer: Answer::Unknown,
            line: Vec::new(),
        },
    };
    let (white, black) = (of(Side::White), of(Side::Black));
    let ended = position
        .as_ref()
        .and_then(|position| ended(position, &white, &black));
    if args.json {
        let object = json!({
            "impossible": proofs,
            "can_mate": { "white": white, "black": black },
            "ended": ended,
        });
        print(format!("{object}\n"));
    } else {
        print(in_words(args.lang, &proofs, [&white, &black], ended));
    }
    Ok(())
}

fn ended(position: &Chess, white: &CanMate, black: &CanMate) -> Option<&'static str> {
    if position.is_checkmate() {
        Some("checkmate")
    } else if position.is_stalemate() {
        Some("stalemate")
    } else if white.answer == Answer::No && black.answer == Answer::No {
        Some("dead-position")
    } else if position.halfmoves() >= SEVENTY_FIVE_MOVES {
        Some("seventy-five-moves")
    } else {
        None
    }
}

fn in_words(lang: Lang, proofs: &[Proof], mates: [&CanMate; 2], ended: Option<&str>) -> String {
    let say = |en, es| lang.of(Words { en, es });
    let mut text = String::new();
    // Writing to a String cannot fail.
    if proofs.is_empty() {
        text += say(
            "The position is not proven impossible.\n",
            "No está demostrado que la posición sea imposible.\n",
        );
    }
    for proof in proofs {
        let squares: Vec<String> = proof.squares.iter().map(ToString::to_string).collect();
        let impossible = say("Impossible", "Imposible");
        let reason = proof.reason.text(lang);
        let name = proof.reason.as_str();
        let _ = writeln!(
            text,
            "{impossible}: {reason} ({name}; {})",
            squares.join(" ")
        );
    }
    for (side, mate) in [Side::White, Side::Black].into_iter().zip(mates) {
        let name = say(side_name(side), side.fold_wb("las blancas", "las negras"));
        let answer = match mate.answer {
            Answer::Yes => say("yes", "sí"),
            Answer::No => say("no", "no"),
            Answer::Unknown => say("unknown", "no se sabe"),
        };
        let question = say("Can still mate", "Pueden dar mate");
        let _ = writeln!(text, "{question}, {name}: {answer} {}", mate.line.join(" "));
    }
    let end = say("The game is over", "La partida ha terminado");
    if let Some(ended) = ended {
        let title = ended.parse::<laws::Code>();
        let title = title.map_or(ended, |code| lang.of(code.row().title));
        let _ = writeln!(text, "{end}: {title}");
    }
    text
}
