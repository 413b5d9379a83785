//! The five steps of a LiveChess client, taken with a WebSocket of its own.

use std::{net::SocketAddr, time::Duration};

use atalaya::{
    incident::ClockAt,
    monitor::{ClockView, LinkReport, LinkState},
    relay::{self, Feed, Moment, News, Profile, Reader, Sheet, livechess},
    words::{At, BoardNo},
};
use fastrand::Rng;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Message, client::IntoClientRequest},
};
use tokio_util::sync::CancellationToken;

use crate::played::{Plan, USUAL, Wall, game};

pub struct Client(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    /// Connects as a browser does.
    pub async fn connect(address: SocketAddr) -> Client {
        let url = format!("ws://{address}/api/v1.0");
        let mut ask = url.into_client_request().expect("an address");
        let headers = ask.headers_mut();
        headers.insert("Origin", "https://lichess.org".parse().expect("a value"));
        let offer = "permessage-deflate; client_max_window_bits";
        headers.insert("Sec-WebSocket-Extensions", offer.parse().expect("a value"));
        Client(connect_async(ask).await.expect("it connects").0)
    }

    async fn say(&mut self, value: Value) {
        use futures_util::SinkExt as _;
        self.0
            .send(Message::text(value.to_string()))
            .await
            .expect("it takes it");
    }

    pub async fn hear(&mut self) -> Value {
        use futures_util::StreamExt as _;
        let next = tokio::time::timeout(Duration::from_secs(5), self.0.next()).await;
        let message = next
            .expect("it speaks in five seconds")
            .expect("it is open")
            .expect("a message");
        serde_json::from_str(message.to_text().expect("text")).expect("JSON")
    }

    /// The answer to a call.
    pub async fn ask(&mut self, value: Value) -> Value {
        self.say(value.clone()).await;
        loop {
            let heard = self.hear().await;
            if heard["response"] != "feed" {
                assert_eq!(heard["id"], value["id"]);
                assert!(heard["time"].as_u64() > Some(1_600_000_000_000));
                return heard;
            }
        }
    }
}

struct Served {
    feed: Feed,
    address: SocketAddr,
    stop: CancellationToken,
    _scratch: tempfile::TempDir,
}

async fn start(profile: Profile) -> Served {
    let scratch = tempfile::tempdir().expect("a folder");
    let (feed, keeper, sight) = crate::played::feed(2, scratch.path());
    tokio::spawn(keeper.run());
    for (board, serial) in [(BoardNo(1), "24958"), (BoardNo(2), "24959")] {
        let report = LinkReport {
            state: LinkState::Up,
            serial: Some(serial.to_owned()),
            firmware: None,
            battery: Some(84),
            noise: false,
            since: At(0),
        };
        feed.tell(News::Link(board, report));
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let stop = CancellationToken::new();
    let reader = Reader::new(sight.world, profile, Wall);
    tokio::spawn(livechess::run(
        listener,
        reader,
        sight.lives,
        watch::Sender::default(),
        stop.clone(),
    ));
    tokio::time::sleep(Duration::from_millis(50)).await;
    Served {
        feed,
        address,
        stop,
        _scratch: scratch,
    }
}

fn played(plies: usize) -> Sheet {
    let plan = Plan {
        plies,
        from: 0,
        pace_ms: 1,
        score: None,
        ..Plan::default()
    };
    let mut sheet = game(&mut Rng::with_seed(2), USUAL, &plan);
    let now = relay::Time::now(&Wall);
    sheet.plies.iter_mut().for_each(|ply| ply.at = now);
    sheet
}

fn sans(sheet: &Sheet) -> Value {
    json!(
        sheet
            .plies
            .iter()
            .map(|ply| ply.san.clone())
            .collect::<Vec<_>>()
    )
}

fn clock(white_s: u32, at: Moment) -> News {
    let view = ClockView {
        at: ClockAt {
            white_s: Some(white_s),
            black_s: Some(300),
            running: Some(shakmaty::Color::White),
        },
        connected: true,
    };
    News::Clock(BoardNo(1), view, at)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_five_steps() {
    let served = start(Profile::default()).await;
    let mut client = Client::connect(served.address).await;

    // 1. the boards
    let boards = client
        .ask(json!({"call": "eboards", "id": 1, "param": null}))
        .await;
    assert_eq!(boards["response"], "call");
    let first = &boards["param"][0];
    assert_eq!(first["serialnr"], "24958");
    assert_eq!(first["state"], "ACTIVE");
    assert_eq!(first["battery"], "84%");
    let over_http = reqwest::get(format!("http://{}/api/v1.0/eboards", served.address)).await;
    let over_http = over_http.expect("it answers").text().await.expect("text");
    assert_eq!(
        serde_json::from_str::<Value>(&over_http).expect("JSON"),
        boards["param"]
    );

    // 2. subscribe: the answer, then at once the whole state
    let subscribe = json!({"call": "subscribe", "id": 2, "param":
        {"feed": "eboardevent", "id": 1, "param": {"serialnr": "24958"}}});
    let answer = client.ask(subscribe).await;
    assert_eq!(
        (&answer["response"], &answer["param"]),
        (&json!("call"), &Value::Null)
    );
    let state = client.hear().await;
    assert_eq!(
        (&state["response"], &state["id"]),
        (&json!("feed"), &json!(1))
    );
    assert_eq!(state["param"]["serialnr"], "24958");
    assert!(state["param"].get("board").is_some() && state["param"].get("san").is_none());

    // 3. setup: from now on start, san and match
    let fen = USUAL;
    let setup = json!({"call": "call", "id": 3, "param":
        {"id": 1, "method": "setup", "param": {"fen": fen}}});
    assert_eq!(client.ask(setup).await["response"], "call");
    let begun = client.hear().await;
    assert_eq!(begun["param"]["start"], fen);
    assert_eq!(begun["param"]["san"], json!([]));

    // moves come, all of them each time
    for plies in [1, 2, 5] {
        let sheet = played(plies);
        served.feed.tell(News::Game(BoardNo(1), sheet.clone()));
        let event = client.hear().await;
        assert_eq!(event["id"], 1);
        assert_eq!(event["param"]["san"], sans(&sheet));
    }
    // the clock comes when it changes, with who runs
    served.feed.tell(clock(299, Moment(7)));
    let ticked = client.hear().await;
    assert_eq!(
        ticked["param"]["clock"],
        json!({"white": 299, "black": 300, "run": true, "time": 7})
    );
    assert!(ticked["param"].get("board").is_none(), "only what changed");
    // another board is none of this feed's business
    served.feed.tell(News::Game(BoardNo(2), played(3)));

    // 4. flip
    let flip = json!({"call": "call", "id": 4, "param":
        {"id": 1, "method": "flip", "param": {"flip": true}}});
    assert_eq!(client.ask(flip).await["response"], "call");
    // 5. stop
    let stop = json!({"call": "call", "id": 5, "param": {"id": 1, "method": "unsubscribe"}});
    assert_eq!(client.ask(stop).await["response"], "call");
    served.feed.tell(News::Game(BoardNo(1), played(9)));
    let boards = json!({"call": "eboards", "id": 6});
    client.say(boards).await;
    assert_eq!(
        client.hear().await["id"],
        6,
        "no event came before this answer"
    );
    served.stop.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_understood_is_an_error_and_ends_nothing() {
    let served = start(Profile::default()).await;
    let mut client = Client::connect(served.address).await;
    client.say(json!("hello")).await;
    assert_eq!(client.hear().await["response"], "error");
    for (n, call) in (10..).zip([
        json!({"call": "tournaments"}),
        json!({"call": "subscribe", "param": {"feed": "liveviewer", "id": 1}}),
        json!({"call": "subscribe", "param": {"feed": "eboardevent", "id": 1}}),
        json!({"call": "subscribe", "param": {"feed": "eboardevent", "id": 1, "param": {"serialnr": "1"}}}),
        json!({"call": "call", "param": {"id": 9, "method": "setup", "param": {"fen": USUAL}}}),
        json!({"call": "call", "param": [1, 2]}),
    ]) {
        let mut call = call;
        call["id"] = json!(n);
        let answer = client.ask(call.clone()).await;
        assert_eq!(answer["response"], "error", "{call}");
        assert!(answer["param"]["message"].as_str().is_some_and(|what| !what.is_empty()));
    }
    let boards = client.ask(json!({"call": "eboards", "id": 99})).await;
    assert_eq!(boards["param"].as_array().map(Vec::len), Some(2));
    served.stop.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delayed_board_tells_nothing_of_now() {
    let served = start(Profile {
        delay_ms: 1_000,
        ..Profile::default()
    })
    .await;
    let mut client = Client::connect(served.address).await;
    let subscribe = json!({"call": "subscribe", "id": 2, "param":
        {"feed": "eboardevent", "id": "f", "param": {"serialnr": "24958"}}});
    client.ask(subscribe).await;
    let state = client.hear().await;
    assert_eq!(
        state["param"]["board"],
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
    );
    let told = std::time::Instant::now();
    served.feed.tell(clock(299, Moment(7)));
    served.feed.tell(News::Game(BoardNo(1), played(5)));
    let event = client.hear().await;
    let took = told.elapsed();
    assert!(took >= Duration::from_millis(980), "{took:?}: {event}");
    assert_ne!(event["param"]["board"], state["param"]["board"]);
    assert_eq!(event["param"].get("clock"), None);
    served.stop.cancel();
}
