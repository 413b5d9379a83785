//! Stopping: the first signal asks, the second does not wait.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::Failure;

/// Exit code of a program that a second Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// A token that SIGINT or SIGTERM cancels. A second signal ends the process at once.
///
/// # Errors
/// When the system lets nobody listen to signals.
pub fn stop_on_signal() -> Result<CancellationToken, Failure> {
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        tracing::info!("stopping; a second signal does not wait");
        token.cancel();
        either(&mut interrupt, &mut terminate).await;
        std::process::exit(INTERRUPTED);
    });
    Ok(stop)
}

/// SIGHUP, which asks for the configuration to be read again.
///
/// # Errors
/// When the system lets nobody listen to signals.
pub fn hangup() -> Result<Signal, Failure> {
    listen(SignalKind::hangup())
}

fn listen(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|why| Failure::Device(format!("signals: {why}")))
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}
