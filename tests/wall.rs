//! `atalaya web` on another machine than the daemon: a wall of a hundred boards in a real browser, fed
//! from a real Mosquitto.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

#[path = "support/chromium.rs"]
mod chromium;
mod support;

use std::{
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use atalaya::publish::{ClientSettings, Outgoing, Publisher, Qos, channel};
use chromium::{Chromium, Phone};
use serde_json::{Value, json};
use support::{Guard, Subscriber, free_port, mosquitto, program};
use tokio_util::sync::CancellationToken;

const BOARDS: u16 = 100;
const PATIENCE: Duration = Duration::from_secs(20);

/// A daemon that watches a hall, as far as the broker can tell.
struct Hall(Publisher);

impl Hall {
    fn open(port: u16) -> Hall {
        let (publisher, actor) = channel(ClientSettings {
            host: "127.0.0.1".to_owned(),
            port,
            tls: None,
            client_id: "hall".to_owned(),
            login: None,
            keep_alive: Duration::from_secs(5),
            status: None,
            hear: None,
        });
        tokio::spawn(actor.run(CancellationToken::new()));
        let hall = Hall(publisher);
        hall.say("status", true, &json!({"state": "online"}));
        for board in 1..=BOARDS {
            hall.say(
                &format!("board/{board}/link"),
                true,
                &json!({"state": "up", "battery": null}),
            );
            hall.say(
                &format!("board/{board}/state"),
                true,
                &json!({
                    "board": board, "game": format!("5.{board}"), "phase": "playing",
                    "white": format!("White {board}"), "black": format!("Black {board}"),
                    "fen": "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3",
                    "placement": "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R",
                    "provisional": [], "last": {"san": "Nc6", "uci": "b8c6", "ply": 4}, "ply": 4,
                    "clock": clock(300), "result": null, "offences": {"white": 0, "black": 0},
                    "alerts": [], "flipped": false, "doubt": [], "candidates": [],
                }),
            );
        }
        hall
    }

    fn say(&self, what: &str, retained: bool, payload: &Value) {
        self.0.send(vec![Outgoing {
            topic: format!("atalaya/v1/far/{what}"),
            retained,
            qos: Qos::AtLeastOnce,
            payload: payload.to_string().into_bytes(),
            receipt: None,
        }]);
    }
}

fn clock(white_s: u32) -> Value {
    json!({"white_s": white_s, "black_s": 287, "running": "white", "connected": true})
}

fn count(browser: &mut Chromium, wall: &Phone, words: &str) -> u64 {
    let clocks = format!(
        "[...document.querySelectorAll('.tile .clocks')].filter((one) => one.textContent.includes('{words}')).length"
    );
    browser.ask(wall, &clocks).as_u64().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_boards_are_shown_far_from_the_daemon() {
    let (Some(broker), Some(_)) = (program("mosquitto"), program("chromium")) else {
        return;
    };
    let (port, page) = (free_port(), free_port());
    let _broker = mosquitto(&broker, port);
    let Some(mut witness) = Subscriber::start(SocketAddr::from(([127, 0, 0, 1], port))) else {
        return;
    };
    let hall = Hall::open(port);
    let mqtt = format!("mqtt://127.0.0.1:{port}");
    let listen = format!("127.0.0.1:{page}");
    let mut web = Command::new(env!("CARGO_BIN_EXE_atalaya"));
    web.args([
        "web", "--mqtt", &mqtt, "--venue", "far", "--listen", &listen,
    ]);
    let _web = Guard::spawn(web.stderr(Stdio::null()));
    let end = Instant::now() + PATIENCE;
    while TcpStream::connect(&listen).is_err() {
        assert!(Instant::now() < end, "no page");
        thread::sleep(Duration::from_millis(30));
    }
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let b = &mut browser;
    let url = format!("http://{listen}/#boards");
    let wall = b.phone(&url, (1920, 1080), "en-GB", false);
    let whole = format!("document.querySelectorAll('.tile svg').length === {BOARDS}");
    let took = b.until(&wall, &whole);
    println!("{BOARDS} boards stand on the wall after {took:?}");
    b.ask(
        &wall,
        "window.kept = [...document.querySelectorAll('.tile svg')];
         window.longest = 0; window.last = performance.now();
         (function beat(now) { window.longest = Math.max(window.longest, now - window.last); window.last = now;
           requestAnimationFrame(beat); })(window.last); 0",
    );

    // Each clock ticks; the diagrams are not drawn again for it.
    for second in 1..=5 {
        for board in 1..=BOARDS {
            hall.say(&format!("board/{board}/clock"), false, &clock(300 - second));
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let end = Instant::now() + PATIENCE;
    while count(b, &wall, "4:55") < u64::from(BOARDS) {
        assert!(
            Instant::now() < end,
            "{}",
            b.ask(&wall, "document.querySelector('.tile').innerText")
        );
        thread::sleep(Duration::from_millis(50));
    }
    let same =
        "[...document.querySelectorAll('.tile svg')].every((one, i) => one === window.kept[i])";
    assert_eq!(b.ask(&wall, same), true, "a clock drew a diagram again");
    println!(
        "longest time between two frames: {} ms",
        b.ask(&wall, "window.longest")
    );

    // One board moves: its diagram alone is new.
    hall.say(
        "board/7/state",
        true,
        &json!({
            "board": 7, "game": "5.7", "phase": "playing", "white": "White 7", "black": "Black 7",
            "fen": "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
            "placement": "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R",
            "provisional": [], "last": {"san": "Bb5", "uci": "f1b5", "ply": 5}, "ply": 5,
            "clock": clock(290), "result": null, "offences": {"white": 0, "black": 0},
            "alerts": [], "flipped": false, "doubt": [], "candidates": [],
        }),
    );
    b.until(
        &wall,
        "document.querySelectorAll('.tile .last')[6].textContent === '3. Bb5'",
    );
    let changed = "[...document.querySelectorAll('.tile svg')].filter((one, i) => one !== window.kept[i]).length";
    assert_eq!(b.ask(&wall, changed), 1);
    b.picture(
        &wall,
        &Path::new(env!("CARGO_TARGET_TMPDIR")).join("hundred.png"),
    );

    // What is said here goes to the broker, under the name of who came in.
    let say = "fetch('login', {method: 'POST', headers: {'content-type': 'application/json'}, body: '{\"user\":\"ana\"}'})
        .then(() => fetch('session')).then((r) => r.json())
        .then((s) => { fetch('cmd/resync', {method: 'POST', headers: {'content-type': 'application/json', \
        'x-atalaya': s.csrf}, body: '{\"transaction\":\"far\",\"board\":7}'}); return s.user; })";
    assert_eq!(b.ask(&wall, say), "ana");
    let arrived = witness.wait(PATIENCE, |seen| {
        seen.iter()
            .any(|seen| seen.topic == "atalaya/v1/far/cmd/ana/resync")
    });
    assert!(arrived, "the command did not come to the broker");
    assert_eq!(b.faults, Vec::<String>::new());
}
