//! `atalaya run`: the daemon.

use std::{path::PathBuf, time::Duration};

use sd_notify::NotifyState;
use tokio::time::MissedTickBehavior;

use super::{Failure, logging, signals::hangup, sources, stop_on_signal};
use crate::hall::{Clock, Hall, RelayError, ServeError, Settings, Sources};

/// How often the loops are looked at when nobody is in a hurry.
const USUAL_BEAT: Duration = Duration::from_secs(5);

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
            | ServeError::Outside(_)
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
    let mut systemd = Systemd::default();
    let mut beat = tokio::time::interval(beat());
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            Some(()) = hangup.recv() => systemd.refused = reload(&mut hall, &sources).await,
            _ = beat.tick() => {
                logging::tell_left_out();
                if hall.moves() && systemd.kick() {
                    hall.kicked();
                }
            }
        }
        systemd.say(hall.standing());
    }
    tell_systemd(NotifyState::Stopping);
    hall.stop().await;
    tracing::info!("stopped");
    Ok(())
}

/// Reads the configuration again, and goes by it when it has no fault; else says why not.
async fn reload(hall: &mut Hall, sources: &Sources) -> Option<String> {
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
            None
        }
        Err(why) => {
            tracing::error!("the configuration stays as it was: {why}");
            Some(format!("the configuration was not read again: {why}"))
        }
    }
}

/// How often the loops are looked at: a loop that stands is found, and the watchdog of systemd not
/// told any more, well before its patience ends.
fn beat() -> Duration {
    let patience = sd_notify::watchdog_enabled().map_or(USUAL_BEAT, |patience| patience / 4);
    patience.clamp(Duration::from_millis(10), USUAL_BEAT)
}

/// What systemd was told last.
#[derive(Debug, Default)]
struct Systemd {
    status: String,
    /// Why the configuration was not read again, until it is.
    refused: Option<String>,
}

impl Systemd {
    /// All loops move; whether there is a watchdog to be told.
    fn kick(&self) -> bool {
        let watched = sd_notify::watchdog_enabled().is_some();
        watched && tell_systemd(NotifyState::Watchdog)
    }

    /// For `systemctl status`, when it is news.
    fn say(&mut self, standing: String) {
        let status = match &self.refused {
            Some(refused) => format!("{standing}; {refused}"),
            None => standing,
        };
        if status != self.status {
            // one line: the message is made of lines
            tell_systemd(NotifyState::Status(&status.replace('\n', " ")));
            self.status = status;
        }
    }
}

/// Whether it was told: without systemd there is nobody to tell.
fn tell_systemd(state: NotifyState<'_>) -> bool {
    match sd_notify::notify(&[state]) {
        Ok(()) => true,
        Err(why) => {
            tracing::debug!(%why, "systemd was not told");
            false
        }
    }
}
