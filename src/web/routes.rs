//! What the page's server answers.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::{ConnectInfo, DefaultBodyLimit, Path, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{
        IntoResponse, Response,
        sse::{Event, Sse},
    },
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

use super::{
    mirror::Mirror,
    session::{Door, Refused, Session, Users},
    tls::Peer,
};
use crate::{
    incident::{MAX_ORDER, VERBS},
    publish::{Outgoing, Publisher, Qos, Topics},
};

/// A browser that hears nothing for twice this time says that what it shows is stale.
const BEAT: Duration = Duration::from_secs(4);
/// The daemon answers within milliseconds; a broker that is just coming back takes longer.
const REPLY: Duration = Duration::from_secs(6);
const COOKIE: &str = "atalaya";
const CSRF: &str = "x-atalaya";

/// The page's own files: path, type, bytes. No service worker keeps them: a page without its hall would
/// look calm.
const FILES: &[(&str, &str, &[u8])] = &[
    (
        "/",
        "text/html; charset=utf-8",
        include_bytes!("assets/index.html"),
    ),
    (
        "/app.js",
        "text/javascript; charset=utf-8",
        include_bytes!("assets/app.js"),
    ),
    (
        "/views.js",
        "text/javascript; charset=utf-8",
        include_bytes!("assets/views.js"),
    ),
    (
        "/diagram.js",
        "text/javascript; charset=utf-8",
        include_bytes!("assets/diagram.js"),
    ),
    (
        "/words.js",
        "text/javascript; charset=utf-8",
        include_bytes!("assets/words.js"),
    ),
    (
        "/style.css",
        "text/css; charset=utf-8",
        include_bytes!("assets/style.css"),
    ),
    (
        "/men.svg",
        "image/svg+xml",
        include_bytes!("assets/men.svg"),
    ),
    (
        "/icon.svg",
        "image/svg+xml",
        include_bytes!("assets/icon.svg"),
    ),
    (
        "/icon-192.png",
        "image/png",
        include_bytes!("assets/icon-192.png"),
    ),
    (
        "/icon-512.png",
        "image/png",
        include_bytes!("assets/icon-512.png"),
    ),
    (
        "/manifest.webmanifest",
        "application/manifest+json",
        include_bytes!("assets/manifest.webmanifest"),
    ),
];

/// What every request may need.
#[derive(Clone)]
pub(super) struct Desk(Arc<Inner>);

struct Inner {
    topics: Topics,
    publisher: Publisher,
    mirror: Mirror,
    door: Door,
    language: &'static str,
    /// Cookies go by TLS only.
    secure: bool,
    stop: CancellationToken,
}

impl Desk {
    pub fn new(
        topics: Topics,
        publisher: Publisher,
        mirror: Mirror,
        users: Option<Users>,
        language: &'static str,
        secure: bool,
        stop: CancellationToken,
    ) -> Desk {
        Desk(Arc::new(Inner {
            topics,
            publisher,
            mirror,
            door: Door::new(users),
            language,
            secure,
            stop,
        }))
    }
}

pub(super) fn router(desk: Desk) -> Router {
    let mut router = Router::new();
    for &(path, kind, text) in FILES {
        let answer = move || async move { ([(header::CONTENT_TYPE, kind)], text) };
        router = router.route(path, get(answer));
    }
    router
        .route("/session", get(session))
        .route("/login", post(login))
        .route("/logout", post(logout))
        .route("/events", get(events))
        .route("/board/{number}/pgn", get(pgn))
        .route("/cmd/{verb}", post(command))
        .layer(DefaultBodyLimit::max(MAX_ORDER))
        .layer(middleware::from_fn(guard))
        .with_state(desk)
}

/// No other site may frame the page, and it loads nothing from elsewhere.
async fn guard(request: axum::extract::Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let policy =
        "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ] {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// An answer that is no success, as a word the page knows.
fn refuse(status: StatusCode, word: &str) -> Response {
    (status, Json(json!({"status": "error", "code": word}))).into_response()
}

fn token(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?;
    let mut cookies = cookies
        .split(';')
        .filter_map(|one| one.trim().split_once('='));
    cookies
        .find(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value)
}

impl Inner {
    fn who(&self, headers: &HeaderMap) -> Option<Session> {
        self.door.session(token(headers)?)
    }
}

async fn session(State(Desk(desk)): State<Desk>, headers: HeaderMap) -> Json<Value> {
    let who = desk.who(&headers);
    Json(json!({
        "venue": desk.topics.venue(),
        "locked": desk.door.locked(),
        "language": desk.language,
        "user": who.as_ref().map(|who| &who.user),
        "role": who.as_ref().map(|who| who.role),
        "csrf": who.as_ref().map(|who| &who.csrf),
    }))
}

#[derive(Deserialize)]
struct Login {
    user: String,
    #[serde(default)]
    password: String,
}

async fn login(
    State(Desk(desk)): State<Desk>,
    ConnectInfo(Peer(from)): ConnectInfo<Peer>,
    Json(login): Json<Login>,
) -> Response {
    let secure = if desk.secure { "; Secure" } else { "" };
    let entered = tokio::task::spawn_blocking(move || {
        desk.door.enter(from.ip(), &login.user, &login.password)
    });
    match entered.await {
        Ok(Ok(token)) => {
            let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/{secure}");
            (
                [(header::SET_COOKIE, cookie)],
                Json(json!({"status": "ok"})),
            )
                .into_response()
        }
        Ok(Err(Refused::Wait)) => refuse(StatusCode::TOO_MANY_REQUESTS, "wait"),
        Ok(Err(Refused::Wrong)) | Err(_) => refuse(StatusCode::FORBIDDEN, "wrong-password"),
    }
}

async fn logout(State(Desk(desk)): State<Desk>, headers: HeaderMap) -> Response {
    if let Some(token) = token(&headers) {
        desk.door.leave(token);
    }
    Json(json!({"status": "ok"})).into_response()
}

async fn events(State(Desk(desk)): State<Desk>, headers: HeaderMap) -> Response {
    if desk.door.locked() && desk.who(&headers).is_none() {
        return refuse(StatusCode::UNAUTHORIZED, "login");
    }
    let (out, stream) = mpsc::channel::<Result<Event, Infallible>>(16);
    let (all, mut news) = desk.mirror.look();
    let stop = desk.stop.clone();
    tokio::spawn(async move {
        let mut beat = tokio::time::interval(BEAT);
        if out
            .send(Ok(Event::default().event("all").data(all)))
            .await
            .is_err()
        {
            return;
        }
        loop {
            let event = tokio::select! {
                () = stop.cancelled() => return,
                _ = beat.tick() => Event::default().event("beat").data(""),
                news = news.recv() => match news {
                    Ok(news) => Event::default().event("news").data(&*news),
                    // Too slow: the browser comes back by itself, and looks afresh.
                    Err(_) => return,
                },
            };
            if out.send(Ok(event)).await.is_err() {
                return;
            }
        }
    });
    let unbuffered = [(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    )];
    (unbuffered, Sse::new(ReceiverStream::new(stream))).into_response()
}

async fn pgn(
    State(Desk(desk)): State<Desk>,
    headers: HeaderMap,
    Path(number): Path<u16>,
) -> Response {
    if desk.door.locked() && desk.who(&headers).is_none() {
        return refuse(StatusCode::UNAUTHORIZED, "login");
    }
    match desk.mirror.kept(&format!("board/{number}/pgn")) {
        Some(kept) => Json(kept).into_response(),
        None => refuse(StatusCode::NOT_FOUND, "unknown-board"),
    }
}

async fn command(
    State(Desk(desk)): State<Desk>,
    headers: HeaderMap,
    Path(verb): Path<String>,
    Json(mut payload): Json<Value>,
) -> Response {
    let (Some(who), Some(token)) = (desk.who(&headers), token(&headers)) else {
        return refuse(StatusCode::UNAUTHORIZED, "login");
    };
    let csrf = headers.get(CSRF).and_then(|value| value.to_str().ok());
    if csrf != Some(who.csrf.as_str()) {
        return refuse(StatusCode::FORBIDDEN, "csrf");
    }
    if !VERBS.contains(&verb.as_str()) {
        return refuse(StatusCode::NOT_FOUND, "unknown-verb");
    }
    if !who.role.may(&verb) {
        return refuse(StatusCode::FORBIDDEN, "role");
    }
    if desk.door.command(token).is_err() {
        return refuse(StatusCode::TOO_MANY_REQUESTS, "wait");
    }
    let Some(transaction) = payload["transaction"].as_str().map(str::to_owned) else {
        return refuse(StatusCode::BAD_REQUEST, "malformed");
    };
    if !desk.mirror.connected() {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "no-broker");
    }
    if let Some(object) = payload.as_object_mut() {
        object.remove("user");
    }
    let reply = desk.mirror.expect_reply(&who.user, &transaction);
    desk.publisher.send(vec![Outgoing {
        topic: desk.topics.order(&who.user, &verb),
        retained: false,
        qos: Qos::AtLeastOnce,
        payload: payload.to_string().into_bytes(),
        receipt: None,
    }]);
    match tokio::time::timeout(REPLY, reply).await {
        Ok(Ok(reply)) => Json(reply).into_response(),
        _ => refuse(StatusCode::GATEWAY_TIMEOUT, "no-answer"),
    }
}
