//! The real client against the embedded broker, with `mosquitto_sub` as the witness.

mod support;

use std::{collections::BTreeSet, net::SocketAddr, time::Duration};

use atalaya::{
    incident::{Alert, AlertChange, Care, ClockAt, Level, Remedy, Status, Window},
    laws::{Certainty, Code, Edition, Finding},
    monitor::{BoardState, ClockView, FinalPly, LinkReport, LinkState, Output, Phase},
    publish::{
        Broker, BrokerSettings, ClientSettings, Context, Outgoing, Password, Publisher, Speaks,
        StatusWords, Topics, User, channel, messages,
    },
    words::{At, BoardNo, GameId, Side},
};
use support::{Subscriber, gate::Gate};
use tokio::{
    task::{JoinHandle, block_in_place},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_board_says_arrives() {
    let broker = start_broker(any_port()).await;
    let Some(mut witness) = Subscriber::start(broker.addr()) else {
        return;
    };
    let daemon = Daemon::start(broker.addr());
    daemon.connected().await;
    daemon.say(1, &Output::State(Box::new(state())));
    daemon.say(2, &Output::Ply(ply(1)));
    daemon.say(3, &Output::Clock(clock()));
    daemon.say(
        4,
        &Output::Alert {
            change: AlertChange::Raised,
            alert: Box::new(alert()),
        },
    );
    let clock_topic = "atalaya/v1/hall-1/board/3/clock";
    for topic in [clock_topic, "atalaya/v1/hall-1/alert-event"] {
        wait(&mut witness, |seen| seen.iter().any(|s| s.topic == topic));
    }

    let status = witness.latest("atalaya/v1/hall-1/status").unwrap().json();
    assert_eq!(status["state"], "online");
    let shown = witness
        .latest("atalaya/v1/hall-1/board/3/state")
        .unwrap()
        .json();
    assert_eq!(shown["phase"], "playing");
    assert_eq!(shown["clock"]["running"], "black");
    assert_eq!(shown["last"]["san"], "e4");
    assert_eq!(shown["doubt"][0], "e4");
    let played = witness
        .latest("atalaya/v1/hall-1/board/3/move")
        .unwrap()
        .json();
    assert_eq!(played["san"], "e4");
    assert_eq!(played["seq"], 2);
    assert_eq!(played["ts"], "2026-11-29T17:03:11.482Z");
    let times = witness.latest(clock_topic).unwrap().json();
    assert_eq!(times["white_s"], 312);

    let raised = witness
        .latest("atalaya/v1/hall-1/alert/b3-9f2c")
        .unwrap()
        .json();
    assert_eq!(raised["code"], "king-left-in-check");
    assert_eq!(raised["remedy"]["add_s"]["black"], 120);
    let event = witness
        .latest("atalaya/v1/hall-1/alert-event")
        .unwrap()
        .json();
    assert_eq!(event["event"], "raised");
    assert_eq!(event["alert"], raised);

    let late = block_in_place(|| Subscriber::start(broker.addr())).unwrap();
    let topics: BTreeSet<_> = late
        .seen
        .iter()
        .filter(|s| s.retained)
        .map(|s| &*s.topic)
        .collect();
    assert!(topics.contains("atalaya/v1/hall-1/status"), "{topics:?}");
    assert!(
        topics.contains("atalaya/v1/hall-1/board/3/state"),
        "{topics:?}"
    );
    assert!(
        !topics.contains("atalaya/v1/hall-1/board/3/move"),
        "{topics:?}"
    );

    daemon.stop().await;
    wait(&mut witness, |seen| {
        seen.iter()
            .any(|s| s.payload.contains(r#""state":"stopped""#))
    });
    witness.drain(Duration::from_millis(300));
    let status = witness.latest("atalaya/v1/hall-1/status").unwrap().json();
    assert_eq!(
        status["state"], "stopped",
        "a clean stop leaves no will behind"
    );
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forgetful_broker_gets_the_retained_tree_again() {
    let broker = start_broker(any_port()).await;
    let addr = broker.addr();
    let daemon = Daemon::start(addr);
    daemon.connected().await;
    daemon.say(1, &Output::State(Box::new(state())));
    daemon.say(2, &Output::Link(link()));
    let gone = "atalaya/v1/hall-1/alert/old".to_owned();
    daemon.publisher.send(vec![Outgoing::emptied(gone)]);
    broker.stop().await;
    daemon.disconnected().await;
    // said while nobody listens
    daemon.say(
        3,
        &Output::Pgn {
            game: game(),
            pgn: "1. e4 *".to_owned(),
        },
    );

    let broker = start_broker(addr).await;
    let Some(mut witness) = Subscriber::start(addr) else {
        return;
    };
    let tree = ["board/3/state", "board/3/link", "board/3/pgn", "status"];
    let complete = block_in_place(|| {
        witness.wait(Duration::from_secs(5), |seen| {
            tree.iter().all(|rest| {
                let topic = format!("atalaya/v1/hall-1/{rest}");
                seen.iter().any(|s| s.topic == topic)
            })
        })
    });
    assert!(complete, "{:?}", witness.seen);
    assert!(witness.latest("atalaya/v1/hall-1/board/3/move").is_none());
    daemon.stop().await;
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_move_is_lost_across_a_broker_that_dies() {
    let first = start_broker(any_port()).await;
    let gate = Gate::open(first.addr()).await;
    let Some(mut before) = Subscriber::start(first.addr()) else {
        return;
    };
    let daemon = Daemon::start(gate.addr);
    daemon.connected().await;
    for n in 1..=350 {
        daemon.say(n.into(), &Output::Ply(ply(n)));
    }
    // in the middle of that burst the line is cut; what the broker has acknowledged it must still
    // hand on, so it dies only when the witness has fallen silent
    wait(&mut before, |seen| moves(seen.iter()).len() >= 20);
    gate.point(None);
    for n in 351..=450 {
        daemon.say(n.into(), &Output::Ply(ply(n)));
    }
    block_in_place(|| before.drain(Duration::from_millis(500)));
    first.stop().await;

    let second = start_broker(any_port()).await;
    let mut after = block_in_place(|| Subscriber::start(second.addr())).unwrap();
    gate.point(Some(second.addr()));
    for n in 451..=500 {
        daemon.say(n.into(), &Output::Ply(ply(n)));
    }
    wait(&mut after, |seen| moves(seen.iter()).contains(&500));
    let all = moves(before.seen.iter().chain(&after.seen));
    let lost: Vec<_> = (1..=500).filter(|n| !all.contains(n)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    let first_seen = first_deliveries(before.seen.iter().chain(&after.seen));
    assert!(first_seen.is_sorted(), "first deliveries are in order");
    daemon.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_falls_silent_is_given_up_and_loses_nothing() {
    let broker = start_broker(any_port()).await;
    let gate = Gate::open(broker.addr()).await;
    let Some(mut witness) = Subscriber::start(broker.addr()) else {
        return;
    };
    let daemon = Daemon::start(gate.addr);
    daemon.connected().await;
    for n in 1..=100 {
        daemon.say(n.into(), &Output::Ply(ply(n)));
    }
    wait(&mut witness, |seen| moves(seen.iter()).len() >= 10);
    gate.freeze();
    for n in 101..=200 {
        daemon.say(n.into(), &Output::Ply(ply(n)));
    }
    wait(&mut witness, |seen| moves(seen.iter()).len() == 200);
    assert!(first_deliveries(witness.seen.iter()).is_sorted());
    daemon.stop().await;
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_daemon_logs_in_and_survives_a_refusal() {
    let mut settings = settings(any_port());
    settings.users.push(User {
        name: "atalaya".to_owned(),
        password: Password::Clear("torre-7".to_owned()),
        speaks: Speaks::Everything,
    });
    let broker = Broker::start(settings).await.expect("broker starts");
    let login = |password: &str| Some(("atalaya".to_owned(), password.to_owned()));
    let refused = Daemon::log_in(broker.addr(), login("wrong"));
    let daemon = Daemon::log_in(broker.addr(), login("torre-7"));
    daemon.connected().await;
    assert!(!*refused.publisher.connected().borrow());
    refused.say(1, &Output::Clock(clock()));
    assert_eq!(
        refused.publisher.dropped(),
        1,
        "nobody waits for an old clock"
    );
    refused.stop().await;
    daemon.stop().await;
    broker.stop().await;
}

/// The plies seen, in order of their first delivery.
fn first_deliveries<'a>(seen: impl Iterator<Item = &'a support::Seen>) -> Vec<u64> {
    let mut known = BTreeSet::new();
    seen.filter(|s| s.topic.ends_with("/move"))
        .filter_map(|s| s.json()["ply"].as_u64())
        .filter(|ply| known.insert(*ply))
        .collect()
}

fn moves<'a>(seen: impl Iterator<Item = &'a support::Seen>) -> BTreeSet<u64> {
    first_deliveries(seen).into_iter().collect()
}

fn wait(witness: &mut Subscriber, done: impl Fn(&[support::Seen]) -> bool) {
    let found = block_in_place(|| witness.wait(PATIENCE, done));
    assert!(found, "not within {PATIENCE:?}: {:?}", witness.seen);
}

/// The publishing half of a daemon.
struct Daemon {
    publisher: Publisher,
    topics: Topics,
    stop: CancellationToken,
    actor: JoinHandle<()>,
}

impl Daemon {
    fn start(broker: SocketAddr) -> Daemon {
        Daemon::log_in(broker, None)
    }

    fn log_in(broker: SocketAddr, login: Option<(String, String)>) -> Daemon {
        let topics = Topics::new("atalaya", "hall-1").unwrap();
        let (publisher, actor) = channel(ClientSettings {
            host: broker.ip().to_string(),
            port: broker.port(),
            tls: None,
            client_id: "atalaya-hall-1".to_owned(),
            login,
            keep_alive: Duration::from_secs(1),
            status: Some(StatusWords {
                topics: topics.clone(),
                boot: "b00t".to_owned(),
            }),
            hear: None,
        });
        let stop = CancellationToken::new();
        let actor = tokio::spawn(actor.run(stop.clone()));
        Daemon {
            publisher,
            topics,
            stop,
            actor,
        }
    }

    fn say(&self, seq: u64, output: &Output) {
        let game = game();
        let context = Context {
            topics: &self.topics,
            boot: "b00t",
            seq,
            ts: "2026-11-29T17:03:11.482Z".parse().unwrap(),
            now: At(10_000),
            board: BoardNo(3),
            round: Some("5"),
            white: Some("Menchik, Vera"),
            black: Some("Graf, Sonja"),
            game: Some(&game),
            edition: Edition::E2023,
        };
        self.publisher.send(messages(output, &context));
    }

    async fn connected(&self) {
        self.becomes(true).await;
    }

    async fn disconnected(&self) {
        self.becomes(false).await;
    }

    async fn becomes(&self, wanted: bool) {
        let mut connected = self.publisher.connected();
        let change = connected.wait_for(|now| *now == wanted);
        timeout(PATIENCE, change)
            .await
            .expect("in time")
            .expect("actor lives");
    }

    async fn stop(self) {
        self.stop.cancel();
        timeout(PATIENCE, self.actor)
            .await
            .expect("in time")
            .expect("no panic");
    }
}

async fn start_broker(listen: SocketAddr) -> Broker {
    let settings = settings(listen);
    for _ in 0..100 {
        match Broker::start(settings.clone()).await {
            Ok(broker) => return broker,
            // a port just left may be taken for a moment
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
    panic!("no broker on {listen}");
}

fn settings(listen: SocketAddr) -> BrokerSettings {
    BrokerSettings {
        listen,
        websocket: None,
        users: Vec::new(),
        topics: Topics::new("atalaya", "hall-1").expect("topics"),
    }
}

fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn game() -> GameId {
    GameId("5.3".to_owned())
}

fn ply(number: u16) -> FinalPly {
    FinalPly {
        game: game(),
        ply: number,
        side: Side::White,
        san: "e4".to_owned(),
        uci: "e2e4".to_owned(),
        fen: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1".to_owned(),
        clock_s: Some(312),
        clock_about: false,
        irregular: false,
        at: At(9_000),
    }
}

fn clock() -> ClockView {
    ClockView {
        at: ClockAt {
            white_s: Some(312),
            black_s: Some(287),
            running: Some(Side::Black),
        },
        connected: true,
    }
}

fn link() -> LinkReport {
    LinkReport {
        state: LinkState::Up,
        serial: Some("3000147740".to_owned()),
        firmware: Some("1.8".to_owned()),
        battery: None,
        noise: false,
        since: At(4_000),
    }
}

fn alert() -> Alert {
    Alert {
        id: "b3-9f2c".to_owned(),
        rev: 1,
        raised: At(9_500),
        finding: Finding {
            code: Code::KingLeftInCheck,
            side: Side::White,
            certainty: Certainty::Certain,
            squares: vec![shakmaty::Square::G1, shakmaty::Square::F3],
            played: "Ng1-f3".to_owned(),
            instead: None,
        },
        level: Level::Urgent,
        status: Status::Open,
        window: Window::UntilReply,
        ply: 2,
        move_text: "2. Nf3".to_owned(),
        fen: ply(1).fen,
        placement: "rnbqkbnr/pppppppp/8/8/4P3/5N2/PPPP1PPP/RNBQKB1R".to_owned(),
        clock_at_turn_start: clock().at,
        clock_at_press: clock().at,
        clock: clock().at,
        pressed: Some(At(9_400)),
        offences: (0, 0),
        remedy: Remedy {
            counts: true,
            restore: Some(ply(1).fen),
            add_s: Some((Side::Black, 120)),
            remove_increment_s: None,
            touch_move: vec![shakmaty::Square::G1],
            outcome: None,
            mate_line: Vec::new(),
        },
        care: Care::default(),
    }
}

fn state() -> BoardState {
    BoardState {
        game: Some(game()),
        round: Some("5".to_owned()),
        white: Some("Menchik, Vera".to_owned()),
        black: Some("Graf, Sonja".to_owned()),
        phase: Phase::Playing,
        fen: ply(1).fen,
        placement: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR".to_owned(),
        provisional: Vec::new(),
        last: Some(ply(1)),
        ply: 1,
        clock: clock(),
        result: None,
        result_by: None,
        result_confirmed: false,
        offences: (0, 0),
        alerts: Vec::new(),
        flipped: false,
        doubt: vec![shakmaty::Square::E4],
        candidates: Vec::new(),
    }
}
