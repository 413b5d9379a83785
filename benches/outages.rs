//! Messages that an outage costs: the outbox against what rumqttc does alone, in one run, with a real
//! Mosquitto behind a line that falls silent, is cut, or whose broker is killed and keeps nothing.
//! `cargo bench --bench outages`; needs Mosquitto and its clients.
#![allow(clippy::disallowed_methods, reason = "a benchmark waits for real")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use atalaya::publish::{ClientSettings, Outgoing, Qos, channel};
use rumqttc::{AsyncClient, MqttOptions, QoS};
use support::{Guard, Subscriber, free_port, gate::Gate, program};
use tokio::{
    runtime::Runtime,
    task::block_in_place,
    time::{sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

const MESSAGES: u32 = 3_000;
/// Between two messages: 500 in a second.
const PAUSE: Duration = Duration::from_millis(2);
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// After the last message and the outage; nothing comes later than a keep-alive and a few pauses.
const QUIET: Duration = Duration::from_secs(15);

#[derive(Clone, Copy)]
enum Outage {
    None,
    Silent,
    Cuts,
    Killed,
}

impl Outage {
    fn name(self) -> &'static str {
        match self {
            Outage::None => "no outage",
            Outage::Silent => "link silent for 12 s",
            Outage::Cuts => "frozen for 1 s and cut, three times",
            Outage::Killed => "frozen for 1 s, broker killed, nothing persisted",
        }
    }
}

#[derive(Clone, Copy)]
enum Who {
    Outbox,
    /// rumqttc by itself, with so much room in its channel.
    Alone(usize),
}

impl Who {
    fn name(self) -> String {
        match self {
            Who::Outbox => "Atalaya".to_owned(),
            Who::Alone(room) => format!("rumqttc alone, channel {room}"),
        }
    }
}

fn main() {
    let Some(mosquitto) = program("mosquitto") else {
        return;
    };
    let runtime = Runtime::new().expect("a runtime");
    println!("| outage | who | lost of {MESSAGES} | repeated | last one heard after |");
    println!("| --- | --- | ---: | ---: | ---: |");
    for outage in [Outage::None, Outage::Silent, Outage::Cuts, Outage::Killed] {
        for who in [Who::Outbox, Who::Alone(10), Who::Alone(1_000)] {
            let heard = runtime.block_on(async {
                let trial = tokio::spawn(trial(mosquitto.clone(), outage, who));
                trial.await.expect("no panic")
            });
            let Some((heard, took)) = heard else {
                return;
            };
            let lost = (1..=MESSAGES).filter(|n| !heard.contains_key(n)).count();
            let repeated: u32 = heard.values().map(|times| times - 1).sum();
            println!(
                "| {} | {} | {lost} | {repeated} | {:.1} s |",
                outage.name(),
                who.name(),
                took.as_secs_f64()
            );
        }
    }
}

/// How often each number was heard, and when the last of them was.
async fn trial(
    mosquitto: std::path::PathBuf,
    outage: Outage,
    who: Who,
) -> Option<(BTreeMap<u32, u32>, Duration)> {
    let port = free_port();
    let at = SocketAddr::from(([127, 0, 0, 1], port));
    let mut broker = support::mosquitto(&mosquitto, port);
    let mut witness = block_in_place(|| Subscriber::start(at))?;
    let gate = Gate::open(at).await;
    let began = Instant::now();
    let stop = CancellationToken::new();
    let speaker = tokio::spawn(speak(who, gate.addr, stop.clone()));
    let mut heard = BTreeMap::new();
    let mut last = began;
    sleep(Duration::from_secs(2)).await;
    match outage {
        Outage::None => {}
        Outage::Silent => {
            gate.silence(true);
            sleep(Duration::from_secs(12)).await;
            gate.silence(false);
        }
        Outage::Cuts => {
            for _ in 0..3 {
                gate.silence(true);
                sleep(Duration::from_secs(1)).await;
                gate.silence(false);
                gate.point(Some(at));
                sleep(Duration::from_millis(300)).await;
            }
        }
        Outage::Killed => {
            gate.silence(true);
            sleep(Duration::from_secs(1)).await;
            witness = block_in_place(|| {
                witness.drain(Duration::from_millis(500));
                note(&witness, &mut heard, &mut last);
                kill(&mut broker, &mosquitto, port);
                Subscriber::start(at)
            })?;
            gate.point(Some(at));
            gate.silence(false);
        }
    }
    block_in_place(|| witness.drain(QUIET));
    note(&witness, &mut heard, &mut last);
    stop.cancel();
    speaker.await.expect("no panic");
    Some((heard, last - began))
}

fn kill(broker: &mut Guard, mosquitto: &Path, port: u16) {
    broker.0.kill().expect("it is there");
    broker.0.wait().expect("it ends");
    *broker = support::mosquitto(mosquitto, port);
}

fn note(witness: &Subscriber, heard: &mut BTreeMap<u32, u32>, last: &mut Instant) {
    for seen in &witness.seen {
        if let Ok(number) = seen.payload.parse()
            && seen.topic == "moves"
        {
            *heard.entry(number).or_default() += 1;
            *last = (*last).max(seen.at);
        }
    }
}

async fn speak(who: Who, broker: SocketAddr, stop: CancellationToken) {
    match who {
        Who::Outbox => speak_with_outbox(broker, stop).await,
        Who::Alone(room) => speak_alone(broker, room, stop).await,
    }
}

async fn speak_with_outbox(broker: SocketAddr, stop: CancellationToken) {
    let (publisher, actor) = channel(ClientSettings {
        host: broker.ip().to_string(),
        port: broker.port(),
        tls: None,
        client_id: "bench".to_owned(),
        login: None,
        keep_alive: KEEP_ALIVE,
        status: None,
        hear: None,
    });
    let actor = tokio::spawn(actor.run(stop.clone()));
    let mut due = tokio::time::Instant::now();
    for number in 1..=MESSAGES {
        publisher.send(vec![Outgoing {
            topic: "moves".to_owned(),
            retained: false,
            qos: Qos::AtLeastOnce,
            payload: number.to_string().into_bytes(),
            receipt: None,
        }]);
        due += PAUSE;
        sleep_until(due).await;
    }
    stop.cancelled().await;
    actor.await.expect("no panic");
}

/// As the crate's own examples do it.
async fn speak_alone(broker: SocketAddr, room: usize, stop: CancellationToken) {
    let mut options = MqttOptions::new("bench", broker.ip().to_string(), broker.port());
    options.set_keep_alive(KEEP_ALIVE);
    let (client, mut events) = AsyncClient::new(options, room);
    let poller = tokio::spawn(async move {
        loop {
            if events.poll().await.is_err() {
                sleep(Duration::from_millis(100)).await;
            }
        }
    });
    let mut due = tokio::time::Instant::now();
    for number in 1..=MESSAGES {
        let told = client.publish("moves", QoS::AtLeastOnce, false, number.to_string());
        tokio::select! {
            () = stop.cancelled() => break,
            told = told => told.expect("the loop lives"),
        }
        due += PAUSE;
        sleep_until(due).await;
    }
    stop.cancelled().await;
    poller.abort();
}
