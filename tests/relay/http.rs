//! The polled address as Lichess and others poll it.

use std::{net::SocketAddr, time::Duration};

use atalaya::relay::{self, Feed, News, Profile, Reader, http};
use fastrand::Rng;
use reqwest::{Client, Response, StatusCode};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;

use crate::played::{Plan, USUAL, Wall, game};

async fn start(profile: Profile) -> (Feed, SocketAddr, CancellationToken, tempfile::TempDir) {
    let scratch = tempfile::tempdir().expect("a folder");
    let (feed, keeper, sight) = crate::played::feed(2, scratch.path());
    tokio::spawn(keeper.run());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it is bound");
    let stop = CancellationToken::new();
    tokio::spawn(http::run(
        listener,
        Reader::new(sight.world, profile, Wall),
        watch::Sender::default(),
        stop.clone(),
    ));
    (feed, address, stop, scratch)
}

fn play(feed: &Feed) {
    let plan = Plan {
        from: 0,
        pace_ms: 1,
        ..Plan::default()
    };
    let mut sheet = game(&mut Rng::with_seed(2), USUAL, &plan);
    let now = relay::Time::now(&Wall);
    sheet.plies.iter_mut().for_each(|ply| ply.at = now);
    sheet.ending.iter_mut().for_each(|end| end.at = now);
    feed.tell(News::Game(atalaya::words::BoardNo(1), sheet));
}

async fn get(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Response {
    let mut ask = Client::new().get(format!("http://{address}{path}"));
    for (name, value) in headers {
        ask = ask.header(*name, *value);
    }
    for _ in 0..100 {
        let answer = ask
            .try_clone()
            .expect("no body")
            .send()
            .await
            .expect("it answers");
        // The first files are made a moment after the port is open.
        if answer.status() != StatusCode::NOT_FOUND || path.contains("nothing") {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{path} is not found");
}

fn header(answer: &Response, name: &str) -> String {
    answer.headers()[name].to_str().expect("text").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_times_and_charset() {
    let (feed, address, stop, _scratch) = start(Profile::default()).await;
    let answer = get(address, "/games.pgn", &[]).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(
        header(&answer, "content-type"),
        "application/x-chess-pgn; charset=utf-8"
    );
    let (etag, modified) = (header(&answer, "etag"), header(&answer, "last-modified"));
    assert!(etag.starts_with('"') && etag.len() > 10, "strong: {etag}");
    assert!(modified.ends_with(" GMT"), "{modified}");
    let text = answer.text().await.expect("text");
    assert!(text.contains("Łukasz"), "{text}");
    let inner = etag.trim_matches('"');
    for tag in [
        etag.clone(),
        inner.to_owned(),
        format!("W/{etag}"),
        format!("\"x\", {etag}"),
    ] {
        let again = get(address, "/games.pgn", &[("if-none-match", &tag)]).await;
        assert_eq!(again.status(), 304, "{tag}");
        assert_eq!(header(&again, "etag"), etag);
        assert!(again.bytes().await.expect("a body").is_empty());
    }
    let since = get(address, "/games.pgn", &[("if-modified-since", &modified)]).await;
    assert_eq!(since.status(), 304);
    let longer = [("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT")];
    assert_eq!(get(address, "/games.pgn", &longer).await.status(), 200);

    play(&feed);
    let fresh = loop {
        let answer = get(address, "/games.pgn", &[("if-none-match", &etag)]).await;
        if answer.status() == 200 {
            break answer;
        }
    };
    assert_ne!(header(&fresh, "etag"), etag);
    let whole = fresh.text().await.expect("text");
    assert!(whole.contains("1-0"));
    for path in ["/round-5/games.pgn", "/get/any-id/round-5/games.pgn"] {
        assert_eq!(
            get(address, path, &[]).await.text().await.expect("text"),
            whole,
            "{path}"
        );
    }
    let json = get(address, "/get/8d4c/tournament.json?poll", &[]).await;
    assert_eq!(
        header(&json, "content-type"),
        "application/json; charset=utf-8"
    );
    assert!(json.text().await.expect("text").contains("\"eboards\""));
    assert_eq!(
        get(address, "/round-5/nothing.pgn", &[]).await.status(),
        404
    );
    assert_eq!(get(address, "/round-5/../nothing", &[]).await.status(), 404);
    let head = Client::new()
        .head(format!("http://{address}/games.pgn"))
        .send()
        .await;
    assert_eq!(head.expect("it answers").status(), 200);
    let list = get(address, "/", &[]).await.text().await.expect("text");
    assert!(list.contains("/round-5/game-2.pgn\n"), "{list}");
    stop.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_back_moves_no_tag() {
    let profile = Profile {
        delay_ms: 1_500,
        ..Profile::default()
    };
    let (feed, address, stop, _scratch) = start(profile).await;
    let answer = get(address, "/game-1.pgn", &[]).await;
    let before = (header(&answer, "etag"), header(&answer, "last-modified"));
    play(&feed);
    let told = std::time::Instant::now();
    loop {
        let answer = get(address, "/game-1.pgn", &[]).await;
        let now = (header(&answer, "etag"), header(&answer, "last-modified"));
        if now != before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(told.elapsed() < Duration::from_secs(20), "it never came");
    }
    let took = told.elapsed();
    println!("a delay of 1.5 s let the game out after {took:?}");
    assert!(took >= Duration::from_millis(1_480), "{took:?}");
    stop.cancel();
}
