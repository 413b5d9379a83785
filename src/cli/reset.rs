//! `atalaya reset`: deletes the games of a Lichess round, so that the daemon's next push brings them
//! back clean. Lichess itself forgets no move it was ever shown.

use std::path::PathBuf;

use super::{Failure, print, sources};
use crate::hall::{Settings, settings::RelayKind, target};

/// Deletes all games of the Lichess rounds in the configuration; a running daemon pushes them again
/// within a minute, as they are then
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya reset --yes --config config/atalaya.toml")]
pub struct Args {
    /// Configuration file, above /etc/atalaya/atalaya.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Really
    #[arg(long)]
    pub yes: bool,
}

/// Resets.
///
/// # Errors
/// When the configuration is wrong, names no Lichess round, or Lichess refuses.
pub async fn run(args: Args) -> Result<(), Failure> {
    let settings = Settings::load(&sources(args.config))?;
    let rounds = settings
        .relays
        .iter()
        .filter(|relay| relay.kind == RelayKind::Lichess);
    let rounds: Vec<_> = rounds.collect();
    if rounds.is_empty() {
        return Err(Failure::Usage(
            "no [[relay]] has kind = \"lichess\"".to_owned(),
        ));
    }
    for relay in rounds {
        let url = relay.url.as_deref().unwrap_or_default();
        if !args.yes {
            let what = format!("{url}: all games of the round would be deleted; add --yes");
            return Err(Failure::Usage(what));
        }
        let target = target(relay).map_err(|why| Failure::Usage(why.to_string()))?;
        let done = target.reset().await;
        done.map_err(|why| Failure::Device(format!("{url}: {why}")))?;
        print(format!("{url}: all games deleted\n"));
    }
    Ok(())
}
