//! One probe of what Atalaya needs from a broker, run against the embedded one and a real Mosquitto.

mod support;

use std::{
    collections::HashSet,
    fs,
    net::{SocketAddr, TcpListener},
    process::{Child, Command},
    time::Duration,
};

use atalaya::publish::{Broker, BrokerSettings, Password, Speaks, Topics, User};
use rumqttc::{
    AsyncClient, ConnectReturnCode, ConnectionError, Event, EventLoop, LastWill, MqttOptions,
    Packet, QoS,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::{sleep, timeout},
};

const TOPICS: usize = 4_000;
const PATIENCE: Duration = Duration::from_secs(60);
const NAME: &str = "ana";
const PASSWORD: &str = "torre-7";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_embedded_broker_passes() {
    let broker = Broker::start(BrokerSettings {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        websocket: None,
        users: vec![User {
            name: NAME.to_owned(),
            password: Password::Clear(PASSWORD.to_owned()),
            speaks: Speaks::Everything,
        }],
        topics: topics(),
    })
    .await
    .expect("broker starts");
    let addr = broker.addr();
    probe(addr).await;
    broker.stop().await;
    port_is_free(addr).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_mosquitto_passes() {
    let Some(mut mosquitto) = Mosquitto::start().await else {
        return;
    };
    probe(mosquitto.addr).await;
    mosquitto.stop();
    port_is_free(mosquitto.addr).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_embedded_broker_serves_browsers_on_one_path() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let broker = Broker::start(BrokerSettings {
        listen: any,
        websocket: Some(any),
        users: Vec::new(),
        topics: topics(),
    })
    .await
    .expect("broker starts");
    let addr = broker.websocket_addr().expect("a websocket address");
    let upgrade = |path| timeout(Duration::from_secs(10), upgrade(addr, path));
    let answer = upgrade("/mqtt").await.expect("an answer in time");
    assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    let answer = upgrade("/other").await.expect("an answer in time");
    assert!(!answer.starts_with("HTTP/1.1 101"), "{answer}");
    broker.stop().await;
    port_is_free(addr).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_taken_port_is_an_error_that_names_it() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let addr = taken.local_addr().unwrap();
    let started = Broker::start(BrokerSettings {
        listen: addr,
        websocket: None,
        users: Vec::new(),
        topics: topics(),
    })
    .await;
    let error = started.err().expect("the port is taken").to_string();
    assert!(error.contains(&addr.to_string()), "{error}");
}

fn topics() -> Topics {
    Topics::new("atalaya", "hall-1").expect("topics")
}

/// The first line of the answer to a WebSocket upgrade.
async fn upgrade(addr: SocketAddr, path: &str) -> String {
    let stream = TcpStream::connect(addr).await.unwrap();
    let mut stream = BufReader::new(stream);
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {addr}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: mqtt\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).await.unwrap();
    line
}

async fn probe(addr: SocketAddr) {
    timeout(PATIENCE, wrong_password_is_answered(addr))
        .await
        .expect("an answer to a wrong password in time");
    timeout(PATIENCE, last_will_comes(addr))
        .await
        .expect("the last will in time");
    timeout(PATIENCE, publish_retained(addr))
        .await
        .expect("all retained messages acknowledged in time");
    timeout(PATIENCE, all_retained_arrive(addr))
        .await
        .expect("all retained messages delivered in time");
}

async fn wrong_password_is_answered(addr: SocketAddr) {
    let mut options = options(addr, "intruder");
    options.set_credentials(NAME, "wrong");
    let (_client, mut event_loop) = AsyncClient::new(options, 10);
    match event_loop.poll().await {
        Err(ConnectionError::ConnectionRefused(
            ConnectReturnCode::BadUserNamePassword | ConnectReturnCode::NotAuthorized,
        )) => {}
        other => panic!("a wrong password was answered with {other:?}"),
    }
}

async fn last_will_comes(addr: SocketAddr) {
    let (watcher, mut events) = AsyncClient::new(options(addr, "watcher"), 10);
    watcher.subscribe("will", QoS::AtLeastOnce).await.unwrap();
    until(&mut events, |packet| matches!(packet, Packet::SubAck(_))).await;
    let mut options = options(addr, "mortal");
    options.set_last_will(LastWill::new("will", "gone", QoS::AtLeastOnce, true));
    let (_client, mut mortal) = AsyncClient::new(options, 10);
    until(&mut mortal, |packet| matches!(packet, Packet::ConnAck(_))).await;
    // the socket closes without a DISCONNECT
    drop(mortal);
    until(
        &mut events,
        |packet| matches!(packet, Packet::Publish(p) if p.topic == "will" && p.payload == "gone"),
    )
    .await;
}

async fn publish_retained(addr: SocketAddr) {
    let (client, mut events) = AsyncClient::new(options(addr, "publisher"), 10);
    let sender = tokio::spawn(async move {
        for n in 0..TOPICS {
            let (topic, text) = (format!("tree/{n}"), n.to_string());
            client
                .publish(topic, QoS::AtLeastOnce, true, text)
                .await
                .unwrap();
        }
        client
    });
    let mut acknowledged = 0;
    until(&mut events, |packet| {
        acknowledged += usize::from(matches!(packet, Packet::PubAck(_)));
        acknowledged == TOPICS
    })
    .await;
    sender.await.unwrap();
}

async fn all_retained_arrive(addr: SocketAddr) {
    let (client, mut events) = AsyncClient::new(options(addr, "newcomer"), 10);
    client.subscribe("tree/#", QoS::AtLeastOnce).await.unwrap();
    let mut topics = HashSet::new();
    until(&mut events, |packet| {
        if let Packet::Publish(publish) = packet {
            assert_eq!(
                publish.topic,
                format!("tree/{}", String::from_utf8_lossy(&publish.payload))
            );
            assert!(publish.retain, "{} is marked retained", publish.topic);
            topics.insert(publish.topic.clone());
        }
        topics.len() == TOPICS
    })
    .await;
}

fn options(addr: SocketAddr, id: &str) -> MqttOptions {
    let mut options = MqttOptions::new(id, addr.ip().to_string(), addr.port());
    options.set_credentials(NAME, PASSWORD);
    options
}

/// Polls until a packet pleases `done`; any error fails the test.
async fn until(events: &mut EventLoop, mut done: impl FnMut(&Packet) -> bool) {
    loop {
        if let Event::Incoming(packet) = events.poll().await.expect("connection holds")
            && done(&packet)
        {
            return;
        }
    }
}

async fn port_is_free(addr: SocketAddr) {
    let free = async {
        while TcpListener::bind(addr).is_err() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(5), free)
        .await
        .expect("stopping frees the port");
}

/// A Mosquitto of our own on a loopback port.
struct Mosquitto {
    child: Child,
    addr: SocketAddr,
    _dir: TempDir,
}

impl Mosquitto {
    /// `None` when it is not installed.
    async fn start() -> Option<Mosquitto> {
        let broker = support::program("mosquitto")?;
        let passwd = support::program("mosquitto_passwd")?;
        // another process may take the port between our look and its bind: look again
        for _ in 0..5 {
            let dir = TempDir::new().unwrap();
            let addr = free_addr();
            let (users, config) = (dir.path().join("users"), dir.path().join("mosquitto.conf"));
            let made = Command::new(&passwd)
                .args(["-b", "-c"])
                .arg(&users)
                .args([NAME, PASSWORD])
                .status()
                .expect("mosquitto_passwd starts");
            assert!(made.success());
            // `user root`: otherwise it gives up root and cannot read our private folder; without
            // a queue limit of 0 it drops retained messages of a QoS 1 subscriber beyond 1,000
            let text = format!(
                "listener {} 127.0.0.1\nuser root\nallow_anonymous false\npassword_file {}\nmax_queued_messages 0\nlog_dest none\n",
                addr.port(),
                users.display()
            );
            fs::write(&config, text).unwrap();
            let mut child = Command::new(&broker)
                .arg("-c")
                .arg(&config)
                .spawn()
                .expect("mosquitto starts");
            for _ in 0..250 {
                if TcpStream::connect(addr).await.is_ok() {
                    return Some(Mosquitto {
                        child,
                        addr,
                        _dir: dir,
                    });
                }
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                sleep(Duration::from_millis(20)).await;
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        panic!("mosquitto does not start");
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        self.stop();
    }
}

fn free_addr() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap()
}
