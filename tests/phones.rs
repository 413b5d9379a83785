//! An alert on devices that know nothing of the page: ntfy's buttons answer it, Home Assistant finds the
//! hall, plain apps get a line of text.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;
#[path = "support/table.rs"]
mod table;

use std::{
    convert::Infallible,
    fs,
    net::SocketAddr,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use atalaya::words::Side;
use axum::{
    Router,
    body::Body,
    extract::{Path, State},
    routing::{get, post},
};
use serde_json::{Value, json};
use shakmaty::{Role, Square};
use support::{Guard, Seen, Subscriber, free_port};
use table::Table;
use tokio::{net::TcpListener, sync::broadcast, time::sleep};
use tokio_stream::wrappers::ReceiverStream;

const PATIENCE: Duration = Duration::from_secs(30);

/// As much of an ntfy server as phones need.
#[derive(Clone)]
struct Ntfy {
    notices: Arc<Mutex<Vec<Value>>>,
    /// Topic and line.
    pressed: broadcast::Sender<(String, String)>,
    address: SocketAddr,
}

impl Ntfy {
    async fn open() -> Ntfy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let ntfy = Ntfy {
            notices: Arc::default(),
            pressed: broadcast::channel(16).0,
            address: listener.local_addr().expect("it is bound"),
        };
        let app = Router::new()
            .route("/", post(publish))
            .route("/{topic}/json", get(stream))
            .with_state(ntfy.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        ntfy
    }

    /// The notices one topic got.
    fn of(&self, topic: &str) -> Vec<Value> {
        let notices = self.notices.lock().expect("whole");
        let of = notices.iter().filter(|notice| notice["topic"] == topic);
        of.cloned().collect()
    }

    async fn wait(&self, topic: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(notice) = self.of(topic).into_iter().find(&wanted) {
                return notice;
            }
            assert!(Instant::now() < end, "{topic} got {:#?}", self.of(topic));
            sleep(Duration::from_millis(30)).await;
        }
    }

    /// A finger on a button, as the app carries it out.
    fn press(&self, button: &Value, id: &str) {
        assert_eq!(button["action"], "http");
        assert_eq!(button["method"], "POST");
        let url = button["url"].as_str().expect("an address");
        let topic = url.strip_prefix(&format!("http://{}/", self.address));
        let said = json!({
            "id": id, "time": 1, "event": "message", "topic": topic, "message": button["body"],
        });
        let line = (topic.expect("this server").to_owned(), said.to_string());
        self.pressed.send(line).expect("somebody listens");
    }
}

async fn publish(State(ntfy): State<Ntfy>, notice: String) -> &'static str {
    let notice = serde_json::from_str(&notice).expect("JSON");
    ntfy.notices.lock().expect("whole").push(notice);
    "{}"
}

async fn stream(State(ntfy): State<Ntfy>, Path(topic): Path<String>) -> Body {
    let (out, lines) = tokio::sync::mpsc::channel::<Result<String, Infallible>>(16);
    let mut pressed = ntfy.pressed.subscribe();
    tokio::spawn(async move {
        let open = json!({"id": "o", "event": "open", "topic": topic});
        let mut line = Some(format!("{open}\n"));
        loop {
            if let Some(line) = line.take()
                && out.send(Ok(line)).await.is_err()
            {
                return;
            }
            let Ok((where_to, said)) = pressed.recv().await else {
                return;
            };
            line = (where_to == topic).then(|| format!("{said}\n"));
        }
    });
    Body::from_stream(ReceiverStream::new(lines))
}

fn seen(phone: &mut Subscriber, what: &str, wanted: impl Fn(&Seen) -> bool) -> Seen {
    assert!(
        phone.wait(PATIENCE, |seen| seen.iter().any(&wanted)),
        "no {what}"
    );
    let found = phone.seen.iter().find(|seen| wanted(seen));
    found.expect("it is there").clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn an_alert_goes_to_all_devices_and_a_button_answers_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let (ntfy, table, port) = (Ntfy::open().await, Table::lay(), free_port());
    let text = format!(
        "[venue]\nid = \"test\"\n[event]\nregime = \"blitz-b2\"\n\
         [broker]\nlisten = \"127.0.0.1:{port}\"\nwebsocket = \"none\"\n[web]\nlisten = \"none\"\n\
         [journal]\ndir = \"{}\"\n[[board]]\nnumber = 3\nport = \"tcp://{}\"\nclock = \"white-left\"\n\
         [phones]\nlines = true\nhome_assistant = \"homeassistant\"\n\
         [[ntfy]]\nurl = \"http://{at}/ana-7h3k\"\nuser = \"ana\"\nlanguage = \"es\"\n\
         [[ntfy]]\nurl = \"http://{at}/luis-x2\"\nuser = \"luis\"\n",
        dir.path().join("state").display(),
        table.address,
        at = ntfy.address,
    );
    let config = dir.path().join("atalaya.toml");
    fs::write(&config, text).expect("it writes");
    let _daemon = Guard::spawn(
        Command::new(env!("CARGO_BIN_EXE_atalaya"))
            .args(["run", "--config"])
            .arg(&config)
            .stderr(Stdio::null()),
    );
    let Some(mut phone) = Subscriber::start(SocketAddr::from(([127, 0, 0, 1], port))) else {
        return;
    };

    // Home Assistant reads where everything is, and it is there.
    let topic = "homeassistant/device/atalaya-test/config";
    let device = seen(&mut phone, "device", |seen| seen.topic == topic);
    let parts = device.json()["components"].clone();
    assert!(device.payload.len() < 16_000);
    for (part, class) in [
        ("board-3-alert", "problem"),
        ("board-3-link", "connectivity"),
    ] {
        assert_eq!(parts[part]["device_class"], class);
        let topic = parts[part]["state_topic"]
            .as_str()
            .expect("a topic")
            .to_owned();
        seen(&mut phone, &topic, |seen| seen.topic == topic);
    }
    seen(&mut phone, "ready board", |seen| {
        seen.topic.ends_with("board/3/state") && seen.json()["phase"] == "ready"
    });
    let end = Instant::now() + PATIENCE;
    while ntfy.pressed.receiver_count() < 2 {
        assert!(Instant::now() < end, "the buttons are not heard");
        sleep(Duration::from_millis(30)).await;
    }

    // A knight jumps wrongly, and the press completes it.
    tokio::task::block_in_place(|| {
        table.start_clock();
        std::thread::sleep(Duration::from_millis(700));
        table.slide(Square::E2, Square::E4);
        table.press();
        std::thread::sleep(Duration::from_millis(700));
        table.slide(Square::G8, Square::G6);
        table.press();
    });
    let notice = ntfy
        .wait("ana-7h3k", |notice| notice["priority"] == 5)
        .await;
    assert_eq!(notice["title"], "Tablero 3: Vaya ya");
    let message = notice["message"].as_str().expect("text");
    assert!(message.contains("Cg8-g6"), "{message}");
    assert!(notice.to_string().len() < 4_096);
    let buttons = notice["actions"].as_array().expect("buttons").clone();
    let labels: Vec<_> = buttons.iter().map(|button| &button["label"]).collect();
    assert_eq!(labels, ["Voy yo", "Confirmar", "Descartar"]);
    let line = seen(&mut phone, "line", |seen| {
        seen.topic.ends_with("alert-text/en")
    });
    assert!(
        line.payload.starts_with("Go now: Board 3. Black: "),
        "{}",
        line.payload
    );
    assert!(!line.retained);

    // Ana's button claims it, Luis is told, and his comes too late.
    ntfy.press(
        &json!({"action": "http", "method": "POST", "url": buttons[0]["url"], "body": "hello"}),
        "m0",
    );
    ntfy.press(&buttons[0], "m1");
    let claimed = seen(&mut phone, "claim", |seen| {
        seen.topic.ends_with("alert-event") && seen.json()["event"] == "claimed"
    });
    assert_eq!(claimed.json()["alert"]["claimed_by"], "ana");
    let told = ntfy.wait("luis-x2", |notice| notice["priority"] == 2).await;
    assert!(
        told["message"]
            .as_str()
            .is_some_and(|text| text.starts_with("ana has it.")),
        "{told}"
    );
    let his = ntfy.wait("luis-x2", |notice| notice["priority"] == 5).await;
    ntfy.press(&his["actions"][0], "m2");
    let late = ntfy
        .wait("luis-x2", |notice| notice["title"] == "Not done")
        .await;
    assert!(
        late["message"]
            .as_str()
            .is_some_and(|text| text.contains("ana has it")),
        "{late}"
    );

    // Ana is there, and it was so: it counts.
    table.put(Square::G6, None);
    table.put(Square::G8, Some(Role::Knight.of(Side::Black)));
    ntfy.press(&buttons[1], "m3");
    ntfy.press(&buttons[1], "m3");
    seen(&mut phone, "offence", |seen| {
        seen.topic.ends_with("board/3/state") && seen.json()["offences"]["black"] == 1
    });
    let own = ntfy.of("ana-7h3k");
    assert_eq!(own.len(), 1, "no news of what she did herself: {own:#?}");
}
