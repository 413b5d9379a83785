//! Where the log goes: to the terminal for people, to the journal under systemd, or as JSON.

mod journal;
mod throttle;

use std::{io, os::linux::fs::MetadataExt, sync::LazyLock};

use tracing_subscriber::{
    EnvFilter, Layer, filter::FilterExt as _, layer::SubscriberExt, util::SubscriberInitExt,
};

use journal::Journal;
use throttle::Throttle;

/// The form of the log on the standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people
    Human,
    /// One JSON object a line
    Json,
}

/// Ours from `info`, the libraries from `warn`; `RUST_LOG` says otherwise.
const USUAL: &str = "warn,atalaya=info";

static THROTTLE: LazyLock<Throttle> = LazyLock::new(Throttle::default);

/// Says in the log how many lines were left out since the last call because one place had too much to
/// say. Whoever runs for long calls it now and then.
pub fn tell_left_out() {
    for (place, lines) in THROTTLE.take_left_out() {
        tracing::warn!(place, lines, "lines like those before were left out");
    }
}

/// Starts the log. A second call changes nothing.
pub fn start(format: Option<LogFormat>) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(USUAL));
    let to_terminal = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let layer = match format {
        Some(LogFormat::Json) => to_terminal.json().flatten_event(true).boxed(),
        None if under_systemd()
            && let Ok(journal) = Journal::connect() =>
        {
            journal.boxed()
        }
        _ => {
            let colours = io::IsTerminal::is_terminal(&io::stderr());
            to_terminal.with_ansi(colours).with_target(false).boxed()
        }
    };
    // Only a test that starts it twice can fail here.
    let _ = tracing_subscriber::registry()
        .with(layer.with_filter(filter.and(&*THROTTLE)))
        .try_init();
}

/// Whether our standard error is the journal: `JOURNAL_STREAM` is inherited by programs whose output
/// goes elsewhere.
fn under_systemd() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else {
        return false;
    };
    let Ok(error) = std::fs::metadata("/proc/self/fd/2") else {
        return false;
    };
    stream == format!("{}:{}", error.st_dev(), error.st_ino())
}
