//! Not a test of time but a print of it: from a final ply to each output without delay, 100 boards
//! on.

use std::{fs, path::Path, time::Instant};

use atalaya::{
    monitor::{LinkReport, LinkState},
    relay::{News, Profile, Reader, Sheet, folder, http, livechess},
    words::{At, BoardNo},
};
use fastrand::Rng;
use serde_json::json;
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;

use crate::{
    livechess::Client,
    played::{Plan, USUAL, Wall, game},
};

const BOARDS: u16 = 100;
const LOOKS: u16 = 200;

fn told(whole: &Sheet, board: u16, plies: usize) -> News {
    let mut sheet = whole.clone();
    sheet.game.0 = format!("5.{board}");
    sheet.plies.truncate(plies);
    News::Game(BoardNo(board), sheet)
}

fn say(what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    println!(
        "final ply -> {what}: p50 {:.1} ms, p99 {:.1} ms",
        at(0.5),
        at(0.99)
    );
}

async fn in_folder(file: &Path, plies: usize, since: Instant) -> f64 {
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.matches("%clk").count() >= plies {
            return since.elapsed().as_secs_f64() * 1000.0;
        }
        tokio::time::sleep(std::time::Duration::from_micros(300)).await;
    }
}

async fn over_http(client: &reqwest::Client, url: &str, plies: usize, since: Instant) -> f64 {
    loop {
        let answer = client.get(url).send().await.expect("it answers");
        let text = answer.text().await.expect("text");
        if text.matches("%clk").count() >= plies {
            return since.elapsed().as_secs_f64() * 1000.0;
        }
    }
}

async fn by_livechess(client: &mut Client, board: u16, plies: usize, since: Instant) -> f64 {
    loop {
        let event = client.hear().await;
        let moves = event["param"]["san"].as_array().map_or(0, Vec::len);
        if event["id"] == board && moves >= plies {
            return since.elapsed().as_secs_f64() * 1000.0;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_final_ply_to_each_output() {
    let scratch = tempfile::tempdir().expect("a folder");
    let dir = scratch.path();
    let (feed, keeper, sight) = crate::played::feed(usize::from(BOARDS), &dir.join("state"));
    tokio::spawn(keeper.run());
    let plan = Plan {
        plies: 200,
        score: None,
        from: 0,
        pace_ms: 1,
        ..Plan::default()
    };
    let mut rng = Rng::with_seed(3);
    let whole = loop {
        let sheet = game(&mut rng, USUAL, &plan);
        if sheet.plies.len() == plan.plies {
            break sheet;
        }
    };
    for board in 1..=BOARDS {
        let report = LinkReport {
            state: LinkState::Up,
            serial: Some(board.to_string()),
            firmware: None,
            battery: None,
            noise: false,
            since: At(0),
        };
        feed.tell(News::Link(BoardNo(board), report));
        feed.tell(told(&whole, board, 80));
    }
    let stop = CancellationToken::new();
    let reader = || Reader::new(sight.world.clone(), Profile::default(), Wall);
    let standing = watch::Sender::default;
    tokio::spawn(folder::run(
        dir.join("out"),
        reader(),
        standing(),
        stop.clone(),
    ));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let polled = listener.local_addr().expect("it is bound");
    tokio::spawn(http::run(listener, reader(), standing(), stop.clone()));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let local = listener.local_addr().expect("it is bound");
    tokio::spawn(livechess::run(
        listener,
        reader(),
        sight.lives.clone(),
        standing(),
        stop.clone(),
    ));
    let file = |board: u16| dir.join(format!("out/round-5/game-{board}.pgn"));
    in_folder(&file(BOARDS), 80, Instant::now()).await;
    let mut client = Client::connect(local).await;
    for board in 1..=BOARDS {
        let param =
            json!({"feed": "eboardevent", "id": board, "param": {"serialnr": board.to_string()}});
        client
            .ask(json!({"call": "subscribe", "id": board, "param": param}))
            .await;
        let setup = json!({"id": board, "method": "setup", "param": {"fen": USUAL}});
        client
            .ask(json!({"call": "call", "id": board, "param": setup}))
            .await;
    }
    let poller = reqwest::Client::new();
    let (mut folders, mut polls, mut events) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..LOOKS {
        let (board, plies) = (n % BOARDS + 1, 81 + usize::from(n / BOARDS));
        let url = format!("http://{polled}/game-{board}.pgn");
        let file = file(board);
        let since = Instant::now();
        feed.tell(told(&whole, board, plies));
        let (one, two, three) = tokio::join!(
            in_folder(&file, plies, since),
            over_http(&poller, &url, plies, since),
            by_livechess(&mut client, board, plies, since),
        );
        folders.push(one);
        polls.push(two);
        events.push(three);
    }
    say("its file in the folder", folders);
    say("the polled address", polls);
    say("a LiveChess client", events);
    stop.cancel();
}
