//! The LiveChess local interface on port 1982 (relay.md 2.3), so that programs made for it work
//! unchanged: `ws://host:1982/api/v1.0`, and `GET /api/v1.0/eboards`.

use std::collections::{BTreeMap, HashMap};

use axum::{
    Router,
    extract::{
        State,
        ws::{Message, WebSocket, WebSocketUpgrade},
    },
    http::header,
    response::{IntoResponse, Response},
    routing::{any, get},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;

use super::{
    eboard::{Eboard, setup},
    feed::{Reader, Time},
    standing::{Door, Standing},
    world::{Live, Lives},
};
use crate::words::BoardNo;

/// A client that asks for more at once is none.
const FEEDS: usize = 1024;

#[derive(Debug, Clone)]
struct Hub<T> {
    reader: Reader<T>,
    lives: watch::Receiver<Lives>,
    stop: CancellationToken,
}

/// Serves until `stop`. `standing` learns when clients do not get in and when they do again.
pub async fn run<T: Time>(
    listener: TcpListener,
    reader: Reader<T>,
    lives: watch::Receiver<Lives>,
    standing: watch::Sender<Standing>,
    stop: CancellationToken,
) {
    let hub = Hub {
        reader,
        lives,
        stop: stop.clone(),
    };
    let router = Router::new()
        .route("/api/v1.0", any(upgrade::<T>))
        .route("/api/v1.0/", any(upgrade::<T>))
        .route("/api/v1.0/eboards", get(eboards::<T>))
        .with_state(hub);
    tokio::select! {
        // It never ends: what keeps clients out is told at the door.
        _ = axum::serve(Door::new(listener, standing), router).into_future() => {}
        () = stop.cancelled() => {}
    }
}

async fn eboards<T: Time>(State(mut hub): State<Hub<T>>) -> Response {
    let entries: Vec<Value> = hub.look().values().map(Eboard::entry).collect();
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::CONTENT_TYPE, "application/json; charset=utf-8"),
    ];
    (headers, json!(entries).to_string()).into_response()
}

async fn upgrade<T: Time>(State(hub): State<Hub<T>>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|socket| talk(hub, socket))
}

impl<T: Time> Hub<T> {
    /// What may be told now, by board.
    fn look(&mut self) -> BTreeMap<BoardNo, Eboard> {
        let (world, now) = self.reader.current();
        let profile = self.reader.profile();
        let lives = self.lives.borrow_and_update();
        let boards = lives.iter().filter(|(board, _)| profile.has(**board));
        let look = |(board, live): (&BoardNo, &Live)| {
            (*board, Eboard::new(&world, live, *board, profile, now))
        };
        boards.map(look).collect()
    }

    fn now(&mut self) -> u64 {
        self.reader.current().1.0
    }
}

/// What a client asks.
#[derive(Debug, Deserialize)]
struct Call {
    call: String,
    #[serde(default)]
    id: Value,
    #[serde(default)]
    param: Value,
}

/// One subscription.
#[derive(Debug)]
struct Feed {
    board: BoardNo,
    setup: Option<String>,
    told: Option<Eboard>,
}

/// By the id the client chose, as JSON text.
type Feeds = HashMap<String, Feed>;

async fn talk<T: Time>(mut hub: Hub<T>, mut socket: WebSocket) {
    let mut feeds = Feeds::new();
    let stop = hub.stop.clone();
    loop {
        let answers = tokio::select! {
            () = stop.cancelled() => break,
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => {
                    let mut answers = hub.answer(&mut feeds, &text);
                    // Having looked for the answer, it has seen what else is new.
                    answers.extend(hub.events(&mut feeds));
                    answers
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            next = hub.reader.next() => match next {
                Some(_) => hub.events(&mut feeds),
                None => break,
            },
            changed = hub.lives.changed() => match changed {
                Ok(()) => hub.events(&mut feeds),
                Err(_) => break,
            },
        };
        for answer in answers {
            if socket
                .send(Message::Text(answer.to_string().into()))
                .await
                .is_err()
            {
                return;
            }
        }
    }
    // The client may have gone; then there is nobody to say goodbye to.
    let _ = socket.send(Message::Close(None)).await;
}

impl<T: Time> Hub<T> {
    /// The events that are due.
    fn events(&mut self, feeds: &mut Feeds) -> Vec<Value> {
        let boards = self.look();
        let now = self.now();
        let mut events = Vec::new();
        for (id, feed) in feeds {
            let Some(board) = boards.get(&feed.board) else {
                continue;
            };
            if let Some(event) = board.event(feed.told.as_ref(), feed.setup.as_deref(), false) {
                feed.told = Some(board.clone());
                events.push(envelope("feed", &id_of(id), event, now));
            }
        }
        events
    }

    fn answer(&mut self, feeds: &mut Feeds, text: &str) -> Vec<Value> {
        let now = self.now();
        let call: Call = match serde_json::from_str(text) {
            Ok(call) => call,
            Err(why) => {
                let what = json!({"message": format!("not understood: {why}")});
                return vec![envelope("error", &Value::Null, what, now)];
            }
        };
        match self.act(feeds, &call) {
            Ok((param, event)) => {
                let mut answers = vec![envelope("call", &call.id, param, now)];
                answers.extend(event.map(|(id, event)| envelope("feed", &id, event, now)));
                answers
            }
            Err(what) => vec![envelope("error", &call.id, json!({"message": what}), now)],
        }
    }

    /// The answer to a call, and the event that follows at once.
    fn act(
        &mut self,
        feeds: &mut Feeds,
        call: &Call,
    ) -> Result<(Value, Option<(Value, Value)>), String> {
        let boards = self.look();
        let id = &call.param["id"];
        let more = &call.param["param"];
        match (call.call.as_str(), call.param["method"].as_str()) {
            ("eboards", _) => {
                let entries: Vec<Value> = boards.values().map(Eboard::entry).collect();
                Ok((json!(entries), None))
            }
            ("subscribe", _) => {
                match call.param["feed"].as_str() {
                    Some("eboardevent") => {}
                    other => return Err(format!("no such feed: {}", other.unwrap_or_default())),
                }
                if feeds.len() >= FEEDS {
                    return Err("too many feeds".to_owned());
                }
                let serial = more["serialnr"].as_str().ok_or("serialnr is missing")?;
                let found = boards.iter().find(|(_, board)| board.serial == serial);
                let (no, board) = found.ok_or_else(|| format!("no board has serialnr {serial}"))?;
                let feed = Feed {
                    board: *no,
                    setup: None,
                    told: Some(board.clone()),
                };
                feeds.insert(id.to_string(), feed);
                Ok((
                    Value::Null,
                    board
                        .event(None, None, true)
                        .map(|event| (id.clone(), event)),
                ))
            }
            ("unsubscribe", _) | ("call", Some("unsubscribe")) => {
                feeds.remove(&id.to_string()).ok_or("no such feed")?;
                Ok((Value::Null, None))
            }
            ("call", Some(method)) => {
                let feed = feeds.get_mut(&id.to_string()).ok_or("no such feed")?;
                let board = boards.get(&feed.board).ok_or("the board is gone")?;
                match method {
                    "setup" => {
                        let fen = more["fen"].as_str().ok_or("fen is missing")?;
                        feed.setup = Some(setup(fen).ok_or_else(|| format!("no position: {fen}"))?);
                    }
                    // How the board lies is found out by its men, and corrected by an arbiter.
                    "flip" => {}
                    _ => return Err(format!("no such method: {method}")),
                }
                let event = board.event(feed.told.as_ref(), feed.setup.as_deref(), true);
                feed.told = Some(board.clone());
                Ok((Value::Null, event.map(|event| (id.clone(), event))))
            }
            (other, _) => Err(format!("no such call: {other}")),
        }
    }
}

fn id_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

fn envelope(response: &str, id: &Value, param: Value, now: u64) -> Value {
    json!({"response": response, "id": id, "param": param, "time": now})
}
