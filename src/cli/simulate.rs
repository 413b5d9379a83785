//! `atalaya simulate`: only the virtual boards.

use std::path::PathBuf;

use super::{Failure, print, stop_on_signal};
use crate::simulate::{self, Noise};

/// Virtual boards that play real games, each behind a pty linked as DIR/board-1 ...
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Example: atalaya simulate --boards 2 --games round.pgn --links /tmp/boards --noise hall"
)]
pub struct Args {
    /// How many boards
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub boards: u16,
    /// All on one RS-232 line, DIR/bus, with the numbers 13001, 13002, ...
    #[arg(long)]
    pub bus: bool,
    /// Games to play
    #[arg(long, value_name = "FILE.pgn")]
    pub games: PathBuf,
    /// Folder for the links
    #[arg(long, value_name = "DIR")]
    pub links: PathBuf,
    /// Seconds of play per real second
    #[arg(long, default_value_t = 1.0, value_parser = super::above_zero)]
    pub speed: f64,
    /// Luck: the same seed gives the same games and noise
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Noise of board 1, 2, ..., begun anew when the list is shorter
    #[arg(long, value_delimiter = ',', default_value = "calm")]
    pub noise: Vec<Noise>,
    /// Chance of an illegal move per ply
    #[arg(long, value_name = "RATE", default_value_t = 0.0, value_parser = super::rate)]
    pub mishaps: f64,
    /// Writes what really happened, one JSON object a line
    #[arg(long, value_name = "FILE.jsonl")]
    pub truth: Option<PathBuf>,
}

/// Runs the boards until a signal.
///
/// # Errors
/// When the games cannot be read or a pty not opened.
pub async fn run(args: Args) -> Result<(), Failure> {
    let stop = stop_on_signal()?;
    tracing::info!(
        boards = args.boards,
        links = %args.links.display(),
        "virtual boards run until Ctrl-C"
    );
    let options = simulate::Options {
        boards: args.boards,
        bus: args.bus,
        games: args.games,
        links: args.links,
        speed: args.speed,
        seed: args.seed,
        noise: args.noise,
        mishaps: args.mishaps,
        truth: args.truth,
    };
    let summary = simulate::run(options, stop).await?;
    print(format!(
        "games {}, lost bytes {}, forbidden commands {}\n",
        summary.games, summary.dropped_bytes, summary.forbidden_commands
    ));
    Ok(())
}
