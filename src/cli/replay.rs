//! `atalaya replay`: journals and captures through the pure core.

use std::path::PathBuf;

use super::Failure;

/// Plays journal segments or raw captures (.inbytes: one base64 message a line) through the core
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya replay --pgn state/*.journal")]
pub struct Args {
    /// Journal segments or captures
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Writes the games as PGN
    #[arg(long)]
    pub pgn: bool,
    /// Writes one JSON object per output
    #[arg(long, conflicts_with = "pgn")]
    pub json: bool,
}

/// Plays them all.
///
/// # Errors
/// When a file cannot be read.
pub fn run(args: Args) -> Result<(), Failure> {
    let _ = args;
    Err(Failure::Usage("replay: not built yet".to_owned()))
}
