//! How the daemon looks from outside, over HTTP: `/metrics` for Prometheus, `/live` and `/ready` for
//! whoever restarts it or calls the technician. No name of a player, no move, no alert's text.

use std::{io, net::SocketAddr};

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Metrics, Pulse};
use crate::{journal::Journal, publish::Publisher};

/// What OpenMetrics asks for.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The address for the metrics cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot listen on {listen}: {source}; free the port, or set another [metrics] listen, or none"
)]
pub struct OutsideError {
    /// The address asked for.
    pub listen: SocketAddr,
    /// What the system said.
    pub source: io::Error,
}

/// What is shown.
#[derive(Clone)]
pub struct View {
    /// What is counted.
    pub metrics: Metrics,
    /// Which loops move.
    pub pulse: Pulse,
    /// The log of truth.
    pub journal: Journal,
    /// The way to the broker.
    pub publisher: Publisher,
}

impl View {
    /// What keeps the daemon from its work, in words; empty when nothing does.
    pub fn faults(&self) -> Vec<String> {
        let standing = self.pulse.standing().into_iter();
        let mut faults: Vec<String> = standing
            .map(|one| format!("a loop stands still: {}", one.name))
            .collect();
        if !*self.publisher.connected().borrow() {
            faults.push("no connection to the broker".to_owned());
        }
        let health = self.journal.health();
        faults.extend(health.borrow().fault.clone());
        faults
    }
}

/// Listens; serve with [`serve`].
///
/// # Errors
/// When the address is taken or not ours.
pub async fn listen(listen: SocketAddr) -> Result<TcpListener, OutsideError> {
    let bound = TcpListener::bind(listen).await;
    bound.map_err(|source| OutsideError { listen, source })
}

/// Answers until `stop`.
pub async fn serve(listener: TcpListener, view: View, stop: CancellationToken) {
    let router = Router::new()
        .route("/metrics", get(metrics))
        .route("/live", get(live))
        .route("/ready", get(ready))
        .with_state(view);
    let serve = axum::serve(listener, router).into_future();
    tokio::select! {
        ended = serve => if let Err(why) = ended {
            tracing::error!(%why, "the metrics are served no more");
        },
        () = stop.cancelled() => {}
    }
}

async fn metrics(State(view): State<View>) -> Response {
    ([(header::CONTENT_TYPE, TEXT)], view.metrics.text()).into_response()
}

/// Every vital loop moves. When this fails the daemon is to be started again.
async fn live(State(view): State<View>) -> Response {
    let standing = view.pulse.standing().into_iter();
    let vital = standing.filter(|one| one.vital).map(|one| one.name);
    let standing: Vec<String> = vital.collect();
    answer(standing.is_empty(), json!({ "standing": standing }))
}

/// It watches, remembers and tells. When this fails somebody is to look, but the daemon goes on.
async fn ready(State(view): State<View>) -> Response {
    let faults = view.faults();
    let (up, watched) = view.metrics.boards_up();
    answer(
        faults.is_empty(),
        json!({ "faults": faults, "boards_up": up, "boards": watched }),
    )
}

fn answer(good: bool, mut body: Value) -> Response {
    let (code, word) = match good {
        true => (StatusCode::OK, "ok"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "error"),
    };
    body["status"] = word.into();
    let fresh = [(header::CACHE_CONTROL, "no-store")];
    (code, fresh, Json(body)).into_response()
}
