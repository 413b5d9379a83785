//! The push, against a Lichess that keeps its rules (relay.md 1.3, 1.5).

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use atalaya::{
    relay::{
        Feed, Moment, News, Profile, Reader, Sheet, Standing,
        lichess::{self, Pace, Target},
        push::{MOST_BYTES, Outcome, Push, push},
    },
    words::BoardNo,
};
use axum::{
    Router,
    extract::{DefaultBodyLimit, Path, State},
    http::{HeaderMap, StatusCode},
    routing::post,
};
use fastrand::Rng;
use serde_json::{Value, json};
use shakmaty::{Chess, Position, san::SanPlus};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::played::{Plan, USUAL, Wall, game, world};

const TOKEN: &str = "lip_secret";
const ROUND: &str = "abcdEFGH";

/// A game as Lichess keeps it.
#[derive(Debug, Clone, PartialEq)]
struct Chapter {
    tags: BTreeMap<String, String>,
    moves: Vec<String>,
}

#[derive(Debug, Default)]
struct Fake {
    chapters: Vec<Chapter>,
    pushes: Vec<Instant>,
    too_fast: usize,
    resets: usize,
    /// Statuses of the next answers, before anything is looked at.
    script: Vec<u16>,
    /// The game of this board is refused.
    wrong_board: Option<String>,
    upstream_url: bool,
}

type Shared = Arc<Mutex<Fake>>;

/// Splits at blank lines before a bracket, as Lichess does.
fn split(body: &str) -> Vec<Chapter> {
    let body = body.replace('\r', "");
    let mut games: Vec<String> = Vec::new();
    for part in body.split("\n\n") {
        match games.last_mut() {
            Some(last) if !part.trim_start().starts_with('[') => *last += &format!("\n\n{part}"),
            _ => games.push(part.to_owned()),
        }
    }
    games.iter().map(|game| chapter(game)).collect()
}

fn chapter(game: &str) -> Chapter {
    let (head, text) = game.split_once("\n\n").unwrap_or((game, ""));
    let tag = |line: &str| {
        let (name, value) = line
            .strip_prefix('[')?
            .strip_suffix("\"]")?
            .split_once(" \"")?;
        assert!(
            name.chars().all(|c| c.is_ascii_alphabetic()),
            "the parse fails: {name}"
        );
        Some((name.to_owned(), value.to_owned()))
    };
    let tags: BTreeMap<String, String> = head.lines().filter_map(tag).collect();
    let mut moves = Vec::new();
    let mut comment = false;
    let mut position = Chess::default();
    for word in text.split_whitespace() {
        comment |= word.starts_with('{');
        let number = word.ends_with('.');
        let token = ["*", "1-0", "0-1", "1/2-1/2"].contains(&word);
        if !comment && !number && !token {
            let san: SanPlus = word.parse().unwrap_or_else(|_| panic!("no move: {word}"));
            let mv = san.san.to_move(&position).expect("a legal move");
            position.play_unchecked(mv);
            moves.push(word.to_owned());
        }
        comment &= !word.ends_with('}');
    }
    Chapter { tags, moves }
}

impl Fake {
    /// Whether the first game stands there with so many plies.
    fn first_has(&self, plies: usize) -> bool {
        let first = self.chapters.first();
        first.is_some_and(|one| one.moves.len() == plies)
    }

    /// The rules of "which game is which", in the order of the chapters.
    fn find(&self, game: &Chapter, taken: &[usize]) -> Option<usize> {
        let same = |a: &Chapter, b: &Chapter, names: &[&str]| {
            names
                .iter()
                .all(|name| a.tags.get(*name) == b.tags.get(*name))
        };
        let round = |one: &Chapter| one.tags["Round"].split('.').next().map(str::to_owned);
        self.chapters.iter().enumerate().position(|(n, old)| {
            let event = same(old, game, &["Event", "Site"]) && round(old) == round(game);
            let both = old.moves.len().min(game.moves.len());
            !taken.contains(&n)
                && (same(old, game, &["GameId"])
                    || event && same(old, game, &["Board", "White", "Black"])
                    || event && old.moves[..both] == game.moves[..both])
        })
    }

    fn take(&mut self, body: &str) -> Value {
        let games = split(body);
        assert!(games.len() <= 100, "only a hundred games");
        let mut taken = Vec::new();
        let mut answers = Vec::new();
        if self.upstream_url {
            return json!({"games": [{"tags": {}, "error": "The round has an upstream URL"}]});
        }
        for game in games {
            if self.wrong_board.as_ref() == game.tags.get("Board") {
                answers.push(json!({"tags": game.tags, "error": "Cannot parse move"}));
                // It is there all the same, as it was.
                taken.extend(self.find(&game, &taken));
                continue;
            }
            answers.push(json!({"tags": game.tags, "moves": game.moves.len()}));
            match self.find(&game, &taken) {
                Some(n) => {
                    let old = &self.chapters[n];
                    assert_eq!(
                        old.tags["Board"], game.tags["Board"],
                        "it landed on another board"
                    );
                    taken.push(n);
                    self.chapters[n] = game;
                }
                None => {
                    taken.push(self.chapters.len());
                    self.chapters.push(game);
                }
            }
        }
        json!({"games": answers})
    }
}

async fn pushed(
    State(fake): State<Shared>,
    Path(round): Path<String>,
    headers: HeaderMap,
    body: String,
) -> (StatusCode, String) {
    let mut fake = fake.lock().expect("no panic");
    let now = Instant::now();
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or("")
    };
    if text("authorization") != format!("Bearer {TOKEN}") {
        return (
            StatusCode::FORBIDDEN,
            json!({"error": "no such token"}).to_string(),
        );
    }
    if round != ROUND {
        return (
            StatusCode::NOT_FOUND,
            json!({"error": "Not found"}).to_string(),
        );
    }
    assert!(
        text("content-type").starts_with("text/plain"),
        "{headers:?}"
    );
    assert!(text("user-agent").starts_with("atalaya/"), "{headers:?}");
    // 20 ms for what the network may shift.
    let fast = fake
        .pushes
        .last()
        .is_some_and(|last| now - *last < Duration::from_millis(980));
    fake.too_fast += usize::from(fast);
    fake.pushes.push(now);
    if !fake.script.is_empty() {
        let status = fake.script.remove(0);
        return (
            StatusCode::from_u16(status).expect("a status"),
            String::new(),
        );
    }
    let answer = fake.take(&body);
    (StatusCode::OK, answer.to_string())
}

async fn reset(State(fake): State<Shared>) -> StatusCode {
    let mut fake = fake.lock().expect("no panic");
    fake.chapters.clear();
    fake.resets += 1;
    StatusCode::OK
}

struct Pushing {
    fake: Shared,
    feed: Feed,
    standing: watch::Receiver<Standing>,
    stop: CancellationToken,
    pusher: JoinHandle<()>,
    address: SocketAddr,
    _scratch: tempfile::TempDir,
}

/// The true pace, but for the waits of a minute.
fn quick() -> Pace {
    Pace {
        too_many: Duration::from_secs(2),
        repeat: Duration::from_secs(3),
        alarm: Duration::from_millis(2500),
        longest: Duration::from_secs(2),
        ..Pace::default()
    }
}

async fn start(boards: usize, change: impl FnOnce(&mut Fake)) -> Pushing {
    let mut fake = Fake::default();
    change(&mut fake);
    let fake = Arc::new(Mutex::new(fake));
    let router = Router::new()
        .route("/api/broadcast/round/{id}/push", post(pushed))
        .route("/api/broadcast/round/{id}/reset", post(reset))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .with_state(Arc::clone(&fake));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(axum::serve(listener, router).into_future());
    let scratch = tempfile::tempdir().expect("a folder");
    let (feed, keeper, sight) = crate::played::feed(boards, scratch.path());
    tokio::spawn(keeper.run());
    let stop = CancellationToken::new();
    let (told, standing) = watch::channel(Standing::default());
    let reader = Reader::new(sight.world, Profile::default(), Wall);
    let pusher = tokio::spawn(lichess::run(
        target(address, TOKEN),
        reader,
        told,
        stop.clone(),
    ));
    Pushing {
        fake,
        feed,
        standing,
        stop,
        pusher,
        address,
        _scratch: scratch,
    }
}

fn target(address: SocketAddr, token: &str) -> Target {
    let url = format!("http://{address}/api/broadcast/round/{ROUND}/push");
    Target::new(url, token.to_owned(), quick()).expect("a client")
}

/// All boards play the same opening: whoever goes by the moves alone mixes them up.
fn sheet(board: usize, plies: usize) -> Sheet {
    let plan = Plan {
        game: format!("5.{board}"),
        plies,
        from: 0,
        pace_ms: 1,
        score: (plies == 40).then_some("1-0"),
        ..Plan::default()
    };
    game(&mut Rng::with_seed(2), USUAL, &plan)
}

impl Pushing {
    fn play(&self, board: usize, plies: usize) {
        self.feed
            .tell(News::Game(BoardNo(board as u16), sheet(board, plies)));
    }

    async fn until(&self, what: &str, done: impl Fn(&Fake, &Standing) -> bool) {
        for _ in 0..1500 {
            if done(
                &self.fake.lock().expect("no panic"),
                &self.standing.borrow(),
            ) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("not in 15 s: {what}; {:?}", self.standing.borrow());
    }

    async fn stop(self) -> Fake {
        self.stop.cancel();
        self.pusher.await.expect("it ends");
        std::mem::take(&mut *self.fake.lock().expect("no panic"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_round_at_most_once_a_second() {
    let pushing = start(4, |_| {}).await;
    for plies in 1..=40 {
        for board in 1..=4 {
            pushing.play(board, plies.min(30 + 2 * board));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    pushing
        .until("all is there", |fake, _| {
            let moves: Vec<usize> = fake.chapters.iter().map(|one| one.moves.len()).collect();
            moves == [32, 34, 36, 38]
        })
        .await;
    pushing.play(4, 40);
    // What is due when the daemon stops goes out.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let fake = pushing.stop().await;
    assert_eq!(fake.too_fast, 0, "at most one a second");
    let boards: Vec<&str> = fake
        .chapters
        .iter()
        .map(|one| one.tags["Board"].as_str())
        .collect();
    assert_eq!(boards, ["1", "2", "3", "4"], "in board order");
    assert_eq!(fake.chapters[3].moves.len(), 40);
    assert_eq!(fake.chapters[3].tags["Result"], "1-0");
    println!("{} pushes for 164 news", fake.pushes.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_within_a_200_and_a_refusal() {
    let pushing = start(2, |fake| fake.wrong_board = Some("2".to_owned())).await;
    pushing.play(1, 3);
    pushing.play(2, 3);
    pushing
        .until("board 2 is named", |fake, standing| {
            fake.first_has(3) && standing.wrong == [(BoardNo(2), "Cannot parse move".to_owned())]
        })
        .await;
    assert_eq!(pushing.standing.borrow().alarm, None, "the others go out");
    pushing.fake.lock().expect("no panic").wrong_board = None;
    pushing.play(2, 4);
    pushing
        .until("board 2 is well", |_, standing| standing.wrong.is_empty())
        .await;
    // The round got another source: a 200 in which nothing was taken.
    pushing.fake.lock().expect("no panic").upstream_url = true;
    pushing.play(1, 4);
    pushing
        .until("an alarm", |_, standing| {
            standing
                .alarm
                .as_ref()
                .is_some_and(|what| what.contains("upstream"))
        })
        .await;
    pushing.fake.lock().expect("no panic").upstream_url = false;
    pushing
        .until("it ends", |_, standing| standing.alarm.is_none())
        .await;
    let fake = pushing.stop().await;
    assert_eq!(
        fake.chapters[0].moves.len(),
        4,
        "what was refused came again"
    );
    assert_eq!(fake.too_fast, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_requests_and_outages() {
    let pushing = start(1, |fake| fake.script = vec![429, 503, 502]).await;
    pushing.play(1, 5);
    pushing
        .until("it is taken", |fake, _| fake.first_has(5))
        .await;
    pushing.stop.cancel();
    let fake = pushing.stop().await;
    let waits: Vec<Duration> = fake.pushes.windows(2).map(|two| two[1] - two[0]).collect();
    println!("after 429, 503, 502 it waited {waits:?}");
    assert!(
        waits[0] >= quick().too_many,
        "a minute in earnest: {waits:?}"
    );
    assert_eq!(fake.too_fast, 0);
    assert_eq!(Pace::default().too_many, Duration::from_secs(60));
    assert_eq!(Pace::default().least, Duration::from_secs(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_round_is_pushed_again() {
    let pushing = start(2, |_| {}).await;
    pushing.play(1, 5);
    pushing
        .until("it is there", |fake, _| fake.chapters.len() == 2)
        .await;
    target(pushing.address, TOKEN)
        .reset()
        .await
        .expect("it resets");
    pushing
        .until("it comes back", |fake, _| {
            fake.resets == 1 && fake.chapters.len() == 2
        })
        .await;
    let shown = format!("{:?}", target(pushing.address, TOKEN));
    assert!(!shown.contains(TOKEN), "the token is shown: {shown}");
    pushing.stop().await;
}

#[test]
fn answers() {
    let push = Push {
        text: String::new(),
        games: vec![(BoardNo(1), 3), (BoardNo(2), 5)],
        left_out: Vec::new(),
    };
    let outcome = |status, body: &str| push.outcome(status, body);
    let good = r#"{"games":[{"tags":{},"moves":3},{"tags":{},"moves":5}]}"#;
    assert_eq!(outcome(200, good), Outcome::Taken(vec![]));
    let short = r#"{"games":[{"tags":{},"moves":3},{"tags":{},"moves":4}]}"#;
    let Outcome::Taken(wrong) = outcome(200, short) else {
        panic!("taken")
    };
    assert_eq!(wrong[0].0, BoardNo(2));
    assert!(matches!(
        outcome(200, r#"{"games":[{"moves":3}]}"#),
        Outcome::Refused(_)
    ));
    assert!(matches!(outcome(200, "<html>"), Outcome::Failed(_)));
    assert!(
        matches!(outcome(400, r#"{"error":"Empty PGN"}"#), Outcome::Refused(what) if what == "Empty PGN")
    );
    assert!(matches!(outcome(403, "x"), Outcome::Refused(what) if what.contains("study:write")));
    assert!(matches!(outcome(404, ""), Outcome::Refused(_)));
    assert_eq!(outcome(429, ""), Outcome::TooMany);
    assert!(matches!(outcome(302, ""), Outcome::Failed(_)));
}

#[test]
fn a_hundred_games_fit_in_one_push() {
    let round = |plies: usize, boards: usize| {
        let mut rng = Rng::with_seed(6);
        let mut one = |n: usize| {
            // The first games of a seed may be mated early: take one that goes on.
            loop {
                let plan = Plan {
                    game: format!("5.{n}"),
                    plies,
                    score: n.is_multiple_of(2).then_some("1/2-1/2"),
                    ..Plan::default()
                };
                let sheet = game(&mut rng, USUAL, &plan);
                if sheet.plies.len() == plies {
                    return vec![sheet];
                }
            }
        };
        let sheets = (1..=boards).map(&mut one).collect();
        push(
            &world(sheets, false),
            &Profile::default(),
            Moment(u64::MAX / 2),
        )
    };
    let plain = round(160, 100).expect("it fits");
    let clocks = plain.text.matches("%clk").count();
    println!(
        "push of 100 games of 80 moves: {} bytes, {clocks} clock times",
        plain.text.len()
    );
    assert!(plain.text.len() <= MOST_BYTES);
    let long = round(260, 100).expect("it fits without some clocks");
    let clocks = long.text.matches("%clk").count();
    println!(
        "push of 100 games of 130 moves: {} bytes, {clocks} clock times",
        long.text.len()
    );
    assert!(long.text.len() <= MOST_BYTES && (200..26_000).contains(&clocks));
    let many = round(20, 103).expect("it fits");
    assert_eq!((many.games.len(), many.left_out.len()), (100, 3));
}
