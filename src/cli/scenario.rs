//! `atalaya scenario`: scenario files through the pure core.

use std::path::PathBuf;

use super::Failure;

/// Plays scenario files through the core; exit code 1 when an expectation fails
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya scenario tests/scenarios/castling.toml")]
pub struct Args {
    /// Scenario files
    #[arg(required = true, value_name = "FILE.toml")]
    pub files: Vec<PathBuf>,
    /// One JSON object per scenario
    #[arg(long)]
    pub json: bool,
}

/// Plays them all.
///
/// # Errors
/// When a file cannot be read or an expectation fails.
pub fn run(args: Args) -> Result<(), Failure> {
    let _ = args;
    Err(Failure::Usage("scenario: not built yet".to_owned()))
}
