//! The client and a real Mosquitto, with a line between them that freezes and is cut, and a broker that
//! is killed and remembers nothing.

#![allow(clippy::disallowed_methods, reason = "a test measures")]

mod support;

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use atalaya::publish::{ClientSettings, Outgoing, Publisher, Qos, StatusWords, Topics, channel};
use support::{Guard, Seen, Subscriber, free_port, gate::Gate, mosquitto, program};
use tokio::{
    task::{JoinHandle, block_in_place},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(60);
const MESSAGES: u32 = 3_000;
const BOARDS: u32 = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_and_the_tree_stands_again() {
    let Some(mut hall) = Hall::open().await else {
        return;
    };
    for board in 1..=BOARDS {
        hall.retain(&format!("board/{board}/state"), r#"{"phase":"playing"}"#);
    }
    hall.publisher.settled();
    let mut heard = BTreeSet::new();

    hall.say(1..=500).await;
    hall.gate.freeze();
    hall.say(501..=1_000).await;
    hall.hears(1_000, &mut heard).await;

    hall.say(1_001..=1_500).await;
    for _ in 0..3 {
        hall.gate.point(Some(hall.at));
        hall.say_more(200).await;
    }
    hall.hears(2_100, &mut heard).await;

    // Whatever this broker acknowledged it must still hand on, so it dies when the line is frozen and
    // the witness has heard all.
    hall.say(2_101..=2_400).await;
    hall.gate.point(None);
    hall.say(2_401..=2_600).await;
    let (started, witness) = hall.kill_the_broker(&mut heard).await;
    hall.witness = witness;
    hall.gate.point(Some(hall.at));
    hall.say(2_601..=MESSAGES).await;
    let states = |seen: &[Seen]| seen.iter().filter(|s| s.topic.ends_with("/state")).count();
    let complete = block_in_place(|| {
        let whole = |seen: &[Seen]| states(seen) >= BOARDS as usize;
        hall.witness.wait(PATIENCE, whole)
    });
    assert!(
        complete,
        "{} states of {BOARDS}",
        states(&hall.witness.seen)
    );
    println!(
        "the tree stood {:?} after the broker did",
        started.elapsed()
    );
    hall.hears(MESSAGES, &mut heard).await;
    let lost: Vec<_> = (1..=MESSAGES).filter(|n| !heard.contains(n)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    hall.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_earlier_run_left_behind_is_emptied() {
    let Some(mut hall) = Hall::open().await else {
        return;
    };
    for left in [
        "board/7/state",
        "board/7/link",
        "alert/b7-old",
        "board/1/state",
    ] {
        hall.retain(left, r#"{"left":true}"#);
    }
    hall.hears_topic("alert/b7-old", |text| !text.is_empty())
        .await;
    hall.close().await;

    let mut hall = hall.again().await;
    hall.retain("board/1/state", r#"{"phase":"ready"}"#);
    hall.retain("alert/b1-new", r#"{"board":1}"#);
    hall.hears_topic("alert/b1-new", |text| !text.is_empty())
        .await;
    let emptied = |hall: &Hall, rest: &str| {
        let topic = hall.topic(rest);
        let seen = hall.witness.seen.iter();
        seen.filter(|s| s.topic == topic)
            .any(|s| s.payload.is_empty())
    };
    assert!(!emptied(&hall, "alert/b7-old"), "not all has been told yet");
    hall.publisher.settled();
    for gone in ["board/7/state", "board/7/link", "alert/b7-old"] {
        hall.hears_topic(gone, str::is_empty).await;
    }
    hall.retain("alert/b1-last", r#"{"board":1}"#);
    hall.hears_topic("alert/b1-last", |text| !text.is_empty())
        .await;
    for ours in ["board/1/state", "alert/b1-new", "status"] {
        assert!(!emptied(&hall, ours), "{ours}");
    }
    hall.close().await;
}

/// A daemon's client, the line, the broker, and who listens there.
struct Hall {
    mosquitto: PathBuf,
    at: SocketAddr,
    broker: Guard,
    gate: Gate,
    witness: Subscriber,
    publisher: Publisher,
    stop: CancellationToken,
    actor: Option<JoinHandle<()>>,
    said: u32,
}

impl Hall {
    async fn open() -> Option<Hall> {
        let mosquitto = program("mosquitto")?;
        let port = free_port();
        let at = SocketAddr::from(([127, 0, 0, 1], port));
        let broker = support::mosquitto(&mosquitto, port);
        let witness = block_in_place(|| Subscriber::start(at))?;
        let gate = Gate::open(at).await;
        let (publisher, stop, actor) = client(gate.addr);
        Some(Hall {
            mosquitto,
            at,
            broker,
            gate,
            witness,
            publisher,
            stop,
            actor: Some(actor),
            said: 0,
        })
    }

    /// The daemon is started anew at the same broker.
    async fn again(self) -> Hall {
        let (publisher, stop, actor) = client(self.gate.addr);
        Hall {
            publisher,
            stop,
            actor: Some(actor),
            ..self
        }
    }

    fn topic(&self, rest: &str) -> String {
        format!("atalaya/v1/hall-1/{rest}")
    }

    fn retain(&self, rest: &str, text: &str) {
        self.publisher.send(vec![Outgoing {
            topic: self.topic(rest),
            retained: true,
            qos: Qos::AtLeastOnce,
            payload: text.as_bytes().to_vec(),
            receipt: None,
        }]);
    }

    /// Says these numbers, some 500 in a second.
    async fn say(&mut self, numbers: std::ops::RangeInclusive<u32>) {
        for number in numbers {
            self.publisher.send(vec![Outgoing {
                topic: self.topic("board/1/move"),
                retained: false,
                qos: Qos::AtLeastOnce,
                payload: number.to_string().into_bytes(),
                receipt: None,
            }]);
            self.said = number;
            sleep(Duration::from_millis(2)).await;
        }
    }

    async fn say_more(&mut self, count: u32) {
        self.say(self.said + 1..=self.said + count).await;
    }

    /// Waits until the witness has heard this number; gathers all it heard.
    async fn hears(&mut self, last: u32, heard: &mut BTreeSet<u32>) {
        block_in_place(|| {
            let text = last.to_string();
            let last_heard = |seen: &[Seen]| seen.iter().any(|s| s.payload == text);
            assert!(self.witness.wait(PATIENCE, last_heard), "{last} not heard");
        });
        heard.extend(numbers(&self.witness));
    }

    async fn hears_topic(&mut self, rest: &str, right: impl Fn(&str) -> bool) {
        let topic = self.topic(rest);
        let found = block_in_place(|| {
            let right = |s: &Seen| s.topic == topic && right(&s.payload);
            self.witness.wait(PATIENCE, |seen| seen.iter().any(right))
        });
        assert!(found, "{rest}: {:?}", self.witness.seen);
    }

    /// kill -9, and a new one at the same place; gives when it stood, and who listens there.
    async fn kill_the_broker(&mut self, heard: &mut BTreeSet<u32>) -> (Instant, Subscriber) {
        block_in_place(|| {
            self.witness.drain(Duration::from_millis(500));
            heard.extend(numbers(&self.witness));
            self.broker.0.kill().expect("it is there");
            self.broker.0.wait().expect("it ends");
            self.broker = mosquitto(&self.mosquitto, self.at.port());
            let witness = Subscriber::start(self.at).expect("the programs are there");
            (Instant::now(), witness)
        })
    }

    async fn close(&mut self) {
        self.stop.cancel();
        let actor = self.actor.take().expect("closed once");
        timeout(PATIENCE, actor)
            .await
            .expect("in time")
            .expect("no panic");
    }
}

fn client(broker: SocketAddr) -> (Publisher, CancellationToken, JoinHandle<()>) {
    let (publisher, actor) = channel(ClientSettings {
        host: broker.ip().to_string(),
        port: broker.port(),
        tls: None,
        client_id: "atalaya-hall-1".to_owned(),
        login: None,
        keep_alive: Duration::from_secs(1),
        status: Some(StatusWords {
            topics: Topics::new("atalaya", "hall-1").expect("topics"),
            boot: "b00t".to_owned(),
        }),
        hear: None,
    });
    let stop = CancellationToken::new();
    let actor = tokio::spawn(actor.run(stop.clone()));
    (publisher, stop, actor)
}

fn numbers(witness: &Subscriber) -> impl Iterator<Item = u32> {
    let moves = witness.seen.iter().filter(|s| s.topic.ends_with("/move"));
    moves.filter_map(|s| s.payload.parse().ok())
}
