//! `atalaya run`: the daemon.

use std::path::PathBuf;

use super::Failure;

/// The daemon. Without a configuration it takes the built-in defaults: an embedded broker, the
/// page on 127.0.0.1:8080, and every board it can find on the serial ports
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya run --config /etc/atalaya/atalaya.toml")]
pub struct Args {
    /// Configuration file, above /etc/atalaya/atalaya.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Runs until it is told to stop.
///
/// # Errors
/// When the configuration is wrong or an address cannot be listened on.
pub async fn run(args: Args) -> Result<(), Failure> {
    let _ = args;
    Err(Failure::Usage("run: not built yet".to_owned()))
}
