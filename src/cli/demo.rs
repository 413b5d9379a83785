//! `atalaya demo`: the daemon with virtual boards.

use std::path::PathBuf;

use super::Failure;
use crate::simulate::Noise;

/// The daemon with virtual boards on ptys, real games and some irregularities
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya demo --boards 4 --speed 20 --for 60")]
pub struct Args {
    /// How many boards
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    pub boards: u16,
    /// Seconds of play per real second
    #[arg(long, default_value_t = 20.0, value_parser = super::above_zero)]
    pub speed: f64,
    /// Luck: the same seed gives the same games and noise [default: another each time]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Ends by itself after so many seconds
    #[arg(long = "for", value_name = "SECONDS")]
    pub for_s: Option<u64>,
    /// Games to play [default: some that come with the program]
    #[arg(long, value_name = "FILE.pgn")]
    pub games: Option<PathBuf>,
    /// Noise of board 1, 2, ..., begun anew when the list is shorter
    #[arg(long, value_delimiter = ',', default_value = "hall")]
    pub noise: Vec<Noise>,
    /// Chance of an illegal move per ply
    #[arg(long, value_name = "RATE", default_value_t = 0.01, value_parser = super::rate)]
    pub mishaps: f64,
}

/// Runs until it is told to stop, or for the time asked.
///
/// # Errors
/// When the games cannot be read, a pty not opened or an address not listened on.
pub async fn run(args: Args) -> Result<(), Failure> {
    let _ = args;
    Err(Failure::Usage("demo: not built yet".to_owned()))
}
