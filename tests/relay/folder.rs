//! The folder: whole files only, old times for old content, and a delay that a restart does not end.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use atalaya::{
    relay::{Feed, News, Profile, Reader, Sheet, Time as _, folder},
    words::BoardNo,
};
use fastrand::Rng;
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::played::{Plan, USUAL, Wall, game, world};

struct Running {
    feed: Feed,
    keeper: JoinHandle<()>,
    folder: JoinHandle<()>,
    stop: CancellationToken,
}

fn start(dir: &Path, delay_ms: u64) -> Running {
    let (feed, keeper, sight) = crate::played::feed(1, &dir.join("state"));
    let profile = Profile {
        delay_ms,
        ..Profile::default()
    };
    let stop = CancellationToken::new();
    let reader = Reader::new(sight.world, profile, Wall);
    Running {
        feed,
        keeper: tokio::spawn(keeper.run()),
        folder: tokio::spawn(folder::run(
            dir.join("out"),
            reader,
            watch::Sender::default(),
            stop.clone(),
        )),
        stop,
    }
}

impl Running {
    async fn stop(self) {
        drop(self.feed);
        self.keeper.await.expect("it ends");
        self.stop.cancel();
        self.folder.await.expect("it ends");
    }
}

pub fn first(whole: &Sheet, plies: usize) -> News {
    let mut sheet = whole.clone();
    sheet.plies.truncate(plies);
    sheet.plies.iter_mut().for_each(|ply| ply.at = Wall.now());
    News::Game(BoardNo(1), sheet)
}

fn pgn(dir: &Path) -> String {
    fs::read_to_string(dir.join("out/round-5/game-1.pgn")).unwrap_or_default()
}

fn moves(dir: &Path) -> usize {
    pgn(dir).matches("%clk").count()
}

pub async fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..500 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("not in five seconds: {what}");
}

pub fn whole() -> Sheet {
    let plan = Plan {
        score: None,
        ..Plan::default()
    };
    game(&mut Rng::with_seed(4), USUAL, &plan)
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_never_see_half_a_file() {
    let scratch = tempfile::tempdir().expect("a folder");
    let dir = scratch.path();
    let running = start(dir, 0);
    let whole = whole();
    until("the headers stand", || pgn(dir).ends_with("*\n\n")).await;
    let watching = Arc::new(AtomicBool::new(true));
    let watcher = std::thread::spawn({
        let (dir, watching) = (dir.to_owned(), Arc::clone(&watching));
        move || {
            let mut looks = 0;
            while watching.load(Ordering::Relaxed) {
                let text = pgn(&dir);
                assert!(text.ends_with("*\n\n"), "half a file: {text}");
                looks += 1;
            }
            looks
        }
    });
    for plies in 1..=60 {
        running.feed.tell(first(&whole, plies));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    until("all is out", || moves(dir) == 60).await;
    watching.store(false, Ordering::Relaxed);
    assert!(watcher.join().expect("it saw whole files") > 10);
    running.stop().await;
    let names: Vec<_> = fs::read_dir(dir.join("out/round-5"))
        .expect("it lists")
        .collect();
    let names = names
        .into_iter()
        .map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["game-1.json", "game-1.pgn", "games.pgn", "index.json"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delay_survives_a_restart_and_files_keep_their_time() {
    let scratch = tempfile::tempdir().expect("a folder");
    let dir = scratch.path();
    let whole = whole();
    let delay_ms = 1500;
    let running = start(dir, delay_ms);
    until("the headers stand", || pgn(dir).ends_with("*\n\n")).await;
    let time = |name: &str| {
        let about = fs::metadata(dir.join("out/round-5").join(name)).expect("it is there");
        about.modified().expect("a time")
    };
    let written = time("game-1.pgn");
    let told = Wall.now();
    running.feed.tell(first(&whole, 4));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(moves(dir), 0, "held back");
    assert_eq!(
        written,
        time("game-1.pgn"),
        "no file's time tells of a move held back"
    );
    running.stop().await;
    assert_eq!(moves(dir), 0, "stopping lets nothing out");

    // The monitors tell again what they know.
    let running = start(dir, delay_ms);
    running.feed.tell(first(&whole, 4));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(moves(dir), 0, "still held back");
    assert_eq!(written, time("game-1.pgn"), "a restart touches no file");
    until("the moves are due", || moves(dir) == 4).await;
    let took = Wall.now().0 - told.0;
    println!("out {took} ms after they were told, delay {delay_ms} ms");
    assert!(took >= delay_ms, "{took}");
    assert!(took < delay_ms + 1200, "the delay began anew: {took}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_round_gets_a_folder_of_its_own() {
    let scratch = tempfile::tempdir().expect("a folder");
    let dir = scratch.path();
    let running = start(dir, 0);
    let whole = whole();
    running.feed.tell(first(&whole, 20));
    until("it is played", || moves(dir) == 20).await;
    let round = world(vec![vec![], vec![]], false);
    let mut event = (*round.event).clone();
    event.round = "6".to_owned();
    running.feed.tell(News::Round(
        event.clone(),
        (*round.seats).clone(),
        Wall.now(),
    ));
    let next = dir.join("out/round-6/games.pgn");
    until("round 6 stands", || next.exists()).await;
    let text = fs::read_to_string(next).expect("it reads");
    assert_eq!(text.matches("[Result \"*\"]").count(), 2);
    assert_eq!(moves(dir), 20, "round 5 stays as it was");
    // Back again: what was kept of round 5 is known.
    event.round = "5".to_owned();
    running
        .feed
        .tell(News::Round(event, (*round.seats).clone(), Wall.now()));
    until("round 5 again", || pgn(dir).contains("Round \"5.1\"")).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(moves(dir), 20);
    running.stop().await;
}
