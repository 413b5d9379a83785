//! The files for readers that poll an address (relay.md 1.4): strong ETags, a charset, no redirects.

use std::{
    collections::BTreeMap,
    sync::{Arc, RwLock},
};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use jiff::{Timestamp, fmt::rfc2822};
use sha2::{Digest, Sha256};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;

use super::{
    book::Moment,
    feed::{Reader, Time},
    files::{Files, Printer, folder},
    standing::{Door, Standing},
};

/// One file as it is served.
#[derive(Debug, Clone)]
struct Served {
    body: Bytes,
    /// In its quotes.
    etag: String,
    /// When it came to say what it says, in whole seconds.
    modified: Timestamp,
}

#[derive(Debug, Default)]
struct Shelf {
    /// Of the present round.
    folder: String,
    files: BTreeMap<String, Served>,
}

impl Shelf {
    /// Puts the files in; `folder` is that of the present round.
    fn fill(&mut self, folder: String, files: Files, now: Moment) {
        self.files.retain(|path, _| files.contains_key(path));
        self.folder = folder;
        for (path, text) in files {
            if self
                .files
                .get(&path)
                .is_some_and(|old| old.body == text.as_bytes())
            {
                continue;
            }
            let hash = Sha256::digest(text.as_bytes());
            let hex: String = hash
                .iter()
                .take(16)
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let seconds = i64::try_from(now.0 / 1000).unwrap_or(i64::MAX);
            let served = Served {
                body: Bytes::copy_from_slice(text.as_bytes()),
                etag: format!("\"{hex}\""),
                modified: Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX),
            };
            self.files.insert(path, served);
        }
    }

    /// The file a path means: `round-5/games.pgn`; `games.pgn` of the present round; either behind
    /// `get/ID/`, as LiveChess Cloud has it.
    fn find(&self, path: &str) -> Option<(&str, &Served)> {
        let cloud = path
            .strip_prefix("get/")
            .and_then(|rest| rest.split_once('/'));
        let path = cloud.map_or(path, |(_, rest)| rest);
        let here = format!("{}/{path}", self.folder);
        let found = self
            .files
            .get_key_value(path)
            .or_else(|| self.files.get_key_value(&here))?;
        Some((found.0, found.1))
    }
}

type Shelves = Arc<RwLock<Shelf>>;

/// Serves until `stop`. `standing` learns when readers do not get in and when they do again.
pub async fn run<T: Time>(
    listener: TcpListener,
    mut reader: Reader<T>,
    standing: watch::Sender<Standing>,
    stop: CancellationToken,
) {
    let shelf = Shelves::default();
    let router = Router::new()
        .route("/", get(list))
        .route("/{*path}", get(file))
        .with_state(Arc::clone(&shelf));
    let mut printer = Printer::default();
    let fill = async {
        while let Some((world, now)) = reader.next().await {
            let files = printer.print(&world, reader.profile(), now);
            // A reader that panicked has only read: what stands there is whole.
            let mut shelf = shelf
                .write()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            shelf.fill(folder(&world.event), files, now);
        }
        std::future::pending::<()>().await;
    };
    let serve = axum::serve(Door::new(listener, standing), router).into_future();
    tokio::select! {
        () = fill => {}
        // It never ends: what keeps readers out is told at the door.
        _ = serve => {}
        () = stop.cancelled() => {}
    }
}

async fn list(State(shelf): State<Shelves>) -> Response {
    let shelf = shelf
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let paths: String = shelf
        .files
        .keys()
        .map(|path| format!("/{path}\n"))
        .collect();
    let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    (kind, paths).into_response()
}

async fn file(
    State(shelf): State<Shelves>,
    Path(path): Path<String>,
    asked: HeaderMap,
) -> Response {
    let shelf = shelf
        .read()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let Some((path, served)) = shelf.find(&path) else {
        return (StatusCode::NOT_FOUND, "no such file: / lists them\n").into_response();
    };
    let kind = match path.ends_with(".json") {
        true => "application/json; charset=utf-8",
        false => "application/x-chess-pgn; charset=utf-8",
    };
    let modified = rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&served.modified);
    let headers = [
        (header::ETAG, served.etag.clone()),
        (header::LAST_MODIFIED, modified.unwrap_or_default()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*".to_owned()),
    ];
    if known(&asked, served) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, [(header::CONTENT_TYPE, kind)], served.body.clone()).into_response()
}

/// The reader has this already.
fn known(asked: &HeaderMap, served: &Served) -> bool {
    let text = |name| asked.get(name).and_then(|value| value.to_str().ok());
    if let Some(tags) = text(header::IF_NONE_MATCH) {
        // Readers may mark a tag weak, or send its inner text alone (Lichess).
        let bare = |tag: &str| {
            let tag = tag.trim();
            tag.strip_prefix("W/")
                .unwrap_or(tag)
                .trim_matches('"')
                .to_owned()
        };
        let ours = bare(&served.etag);
        return tags
            .split(',')
            .map(bare)
            .any(|tag| tag == "*" || tag == ours);
    }
    let since = text(header::IF_MODIFIED_SINCE);
    let since = since.and_then(|text| rfc2822::DateTimeParser::new().parse_timestamp(text).ok());
    since.is_some_and(|since| served.modified <= since)
}
