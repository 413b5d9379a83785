//! `atalaya run`: the daemon.

use std::{path::PathBuf, time::Duration};

use sd_notify::NotifyState;

use super::{Failure, signals::hangup, sources, stop_on_signal};
use crate::hall::{Clock, Hall, RelayError, ServeError, Settings, Sources};

/// The daemon. Without a configuration it takes the built-in defaults: an embedded broker, the
/// page on 127.0.0.1:8080, and every board it can find on the serial ports. On SIGHUP it reads
/// configuration and pairings again (the next round); one with a fault changes nothing
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya run --config /etc/atalaya/atalaya.toml")]
pub struct Args {
    /// Configuration file, above /etc/atalaya/atalaya.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Failure {
        match error {
            ServeError::Broker(_)
            | ServeError::Web(_)
            | ServeError::Relay(RelayError::Listen { .. }) => Failure::Device(error.to_string()),
            _ => Failure::Usage(error.to_string()),
        }
    }
}

/// Runs until it is told to stop.
///
/// # Errors
/// When the configuration is wrong or an address cannot be listened on.
pub async fn run(args: Args) -> Result<(), Failure> {
    let sources = sources(args.config);
    for name in sources.stray_variables() {
        tracing::warn!("{name} is read by nobody: write ATALAYA__SECTION__KEY");
    }
    let settings = Settings::load(&sources)?;
    let stop = stop_on_signal()?;
    let mut hangup = hangup()?;
    let mut hall = Hall::start(&settings, Clock::new(), None).await?;
    let (host, port) = hall.broker();
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        broker = %format_args!("{host}:{port}"),
        page = hall.page(),
        venue = settings.venue.id,
        boards = settings.boards.len(),
        "on watch"
    );
    tell_systemd(NotifyState::Ready);
    let pulse = watchdog_pulse();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            Some(()) = hangup.recv() => reload(&mut hall, &sources).await,
            () = tokio::time::sleep(pulse.unwrap_or(Duration::MAX)) => {
                tell_systemd(NotifyState::Watchdog);
            }
        }
    }
    tell_systemd(NotifyState::Stopping);
    hall.stop().await;
    tracing::info!("stopped");
    Ok(())
}

/// Reads the configuration again, and goes by it when it has no fault.
async fn reload(hall: &mut Hall, sources: &Sources) {
    let reloaded = match Settings::load(sources) {
        Ok(settings) => {
            let done = hall.reload(&settings).await.map_err(Failure::from);
            done.map(|()| settings.event.round)
        }
        Err(why) => Err(Failure::from(why)),
    };
    match reloaded {
        Ok(round) => {
            tracing::info!(round, "the configuration was read again");
            tell_systemd(NotifyState::Status(&format!("round {round}")));
        }
        Err(why) => {
            tracing::error!("the configuration stays as it was: {why}");
            tell_systemd(NotifyState::Status(&format!("not read again: {why}")));
        }
    }
}

/// Half the time systemd waits for a sign of life, if it waits for any.
fn watchdog_pulse() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|patience| patience / 2)
}

/// Without systemd there is nobody to tell.
fn tell_systemd(state: NotifyState<'_>) {
    if let Err(why) = sd_notify::notify(&[state]) {
        tracing::debug!(%why, "systemd was not told");
    }
}
