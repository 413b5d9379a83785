//! The arbiters' page in a real browser: two phones, one alert, from raise to confirmation.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

#[path = "support/chromium.rs"]
mod chromium;
mod support;
#[path = "support/table.rs"]
mod table;

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use atalaya::words::Side;
use chromium::{Chromium, Phone};
use serde_json::json;
use shakmaty::{Role, Square};
use support::{Guard, free_port, program};
use table::Table;

/// The daemon with one board, and where its page is.
fn daemon(dir: &Path, table: &Table) -> (Guard, String) {
    fs::write(
        dir.join("round.csv"),
        "board,white,black\n3,\"Menchik, Vera\",\"Graf, Sonja <b>\"\n",
    )
    .expect("it writes");
    let page = free_port();
    let text = format!(
        "[venue]\nid = \"test\"\n[event]\nregime = \"blitz-b2\"\nround = \"5\"\npairings = \"round.csv\"\n\
         [broker]\nlisten = \"127.0.0.1:0\"\nwebsocket = \"none\"\n[web]\nlisten = \"127.0.0.1:{page}\"\n\
         [journal]\ndir = \"{}\"\n[[board]]\nnumber = 3\nport = \"tcp://{}\"\nclock = \"white-left\"\n",
        dir.join("state").display(),
        table.address,
    );
    fs::write(dir.join("atalaya.toml"), text).expect("it writes");
    let daemon = Guard::spawn(
        Command::new(env!("CARGO_BIN_EXE_atalaya"))
            .args(["run", "--config", "atalaya.toml"])
            .current_dir(dir)
            .stderr(Stdio::null()),
    );
    let until = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(("127.0.0.1", page)).is_err() {
        assert!(Instant::now() < until, "no page within 10 s");
        thread::sleep(Duration::from_millis(30));
    }
    (daemon, format!("http://127.0.0.1:{page}/"))
}

fn enter(browser: &mut Chromium, phone: &Phone, name: &str) {
    browser.until(
        phone,
        "document.getElementById('live')?.textContent.includes('●')",
    );
    browser.tap(phone, "#who");
    browser.until(
        phone,
        "!!document.querySelector('dialog[open] input[name=user]')",
    );
    browser.ask(phone, "document.querySelector('input[name=user]').focus()");
    browser.write(phone, name);
    browser.key(phone, "Enter");
    let there = format!(
        "document.getElementById('who').textContent === {}",
        json!(name)
    );
    browser.until(phone, &there);
}

#[test]
fn two_phones_see_claim_and_confirm_one_alert() {
    if program("chromium").is_none() {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let table = Table::lay();
    let (daemon, url) = daemon(dir.path(), &table);
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let b = &mut browser;
    let ana = b.phone(&url, (360, 740), "en-GB", false);
    let luis = b.phone(&url, (360, 740), "es-ES", true);
    let wall = b.phone(&format!("{url}#boards"), (1920, 1080), "en-GB", false);
    enter(b, &ana, "ana");
    enter(b, &luis, "luis");
    b.picture(&ana, &pictures.join("calm.png"));

    // A legal move, then a knight that jumps wrongly; the press completes it.
    b.until(
        &wall,
        "document.querySelector('.tile .phase')?.textContent === 'ready'",
    );
    table.start_clock();
    thread::sleep(Duration::from_millis(700));
    table.slide(Square::E2, Square::E4);
    table.press();
    b.until(
        &wall,
        "document.querySelector('.tile .last')?.textContent === '1. e4'",
    );
    thread::sleep(Duration::from_millis(500));
    table.slide(Square::G8, Square::G6);
    table.press();
    let took = b.until(&ana, "!!document.querySelector('.card.urgent.open')");
    b.until(&luis, "!!document.querySelector('.card.urgent.open')");
    println!("from the press to the phone: {took:?}");
    let said = b.ask(&ana, "document.getElementById('say-now').textContent");
    assert!(
        said.as_str().is_some_and(|said| said.contains("Board 3")),
        "{said}"
    );
    let card = b.ask(&ana, "document.querySelector('.card').innerText");
    let card = card.as_str().expect("text");
    for words in [
        "Graf, Sonja <b>",
        "Black",
        "Bad knight jump",
        "Ng8-g6",
        "5:12",
        "4:47",
        "add 1:00 to White",
        "Certain",
    ] {
        assert!(card.contains(words), "no '{words}' in {card}");
    }
    let card = b.ask(&luis, "document.querySelector('.card').innerText");
    let card = card.as_str().expect("text");
    for words in ["Negras", "Cg8-g6", "Tablero", "Vaya ya"] {
        assert!(card.contains(words), "no '{words}' in {card}");
    }
    for phone in [&ana, &luis] {
        let wide = b.ask(phone, "document.documentElement.scrollWidth");
        assert!(
            wide.as_u64().is_some_and(|wide| wide <= 360),
            "{wide} pixels wide"
        );
    }
    b.picture(&ana, &pictures.join("raised.png"));
    b.picture(&luis, &pictures.join("raised-es-dark.png"));
    b.picture(&wall, &pictures.join("wall.png"));

    // Ana claims by keyboard; Luis sees it and has no claim button any more.
    b.ask(&ana, "document.querySelector('button.claim').focus()");
    b.key(&ana, "Enter");
    b.until(
        &luis,
        "document.querySelector('.standing.claimed')?.textContent.includes('La tiene ana')",
    );
    assert_eq!(
        b.ask(&luis, "document.querySelectorAll('button.claim').length"),
        0
    );
    let late = "fetch('session').then(r => r.json()).then(s => fetch('cmd/claim', {method: 'POST', headers: \
                {'content-type': 'application/json', 'x-atalaya': s.csrf}, body: JSON.stringify({transaction: 'x', \
                alert: document.querySelector('.card').id})})).then(r => r.json()).then(r => r.code)";
    assert_eq!(b.ask(&luis, late), "claimed");

    // Luis writes a note; Ana confirms: it counts, on both phones.
    b.tap(&luis, "button.note");
    b.until(&luis, "!!document.querySelector('dialog[open] textarea')");
    b.ask(&luis, "document.querySelector('textarea').focus()");
    b.write(&luis, "Visto desde la mesa 4");
    b.tap(&luis, "dialog button.confirm");
    b.until(
        &ana,
        "document.querySelector('.notes')?.textContent.includes('mesa 4')",
    );
    b.picture(&ana, &pictures.join("claimed.png"));
    b.tap(&ana, ".card button.confirm");
    b.until(&luis, "document.querySelector('.card.confirmed .standing')?.textContent.includes('Confirmada por ana')");
    b.until(&ana, "!!document.querySelector('.calm')");

    // The men are put back; the board's page tells the story, and takes the confirmation back.
    table.put(Square::G6, None);
    table.put(Square::G8, Some(Role::Knight.of(Side::Black)));
    b.ask(&ana, "location.hash = '#board/3'");
    b.until(
        &ana,
        "document.querySelector('.one')?.innerText.includes('Black 1')",
    );
    b.until(
        &ana,
        "document.querySelector('.one table')?.innerText.includes('e4')",
    );
    b.until(
        &ana,
        "document.querySelector('.events')?.innerText.includes('Confirmed by ana')",
    );
    b.picture(&ana, &pictures.join("board.png"));
    b.tap(&ana, ".events button");
    b.until(
        &ana,
        "document.querySelector('.one')?.innerText.includes('Black 0')",
    );

    // The reply was made while nobody read the board: she enters it, and the men follow.
    b.tap(&ana, "button[data-do='ply 0']");
    b.until(
        &ana,
        "document.querySelector('dialog[open] input[name=ply]')?.value === '1'",
    );
    b.ask(&ana, "document.querySelector('textarea').focus()");
    b.write(&ana, "1... e5");
    b.tap(&ana, "dialog button.confirm");
    b.until(
        &ana,
        "document.querySelector('.one table')?.innerText.includes('e5')",
    );
    b.until(
        &ana,
        "document.querySelector('.facts')?.innerText.includes('disturbed')",
    );
    b.picture(&ana, &pictures.join("reinstated.png"));
    table.slide(Square::E7, Square::E5);
    b.until(
        &ana,
        "document.querySelector('.facts')?.innerText.includes('playing')",
    );

    // The telephone may keep the page as an app.
    assert_eq!(b.not_installable(&ana), Vec::<String>::new());

    // Whoever has not come in, or comes from another site, rules nothing.
    let forged = "fetch('cmd/resync', {method: 'POST', headers: {'content-type': 'application/json', \
                  'x-atalaya': 'guess'}, body: '{\"transaction\":\"y\",\"board\":3}'}).then(r => r.status)";
    assert_eq!(b.ask(&ana, forged), 403);
    assert_eq!(b.ask(&wall, forged), 401);

    // The daemon stands still: the page says so, and recovers by itself.
    let pid = daemon.0.id().to_string();
    let signal = |name: &str| {
        Command::new("kill")
            .args([name, &pid])
            .status()
            .expect("kill runs")
    };
    signal("-STOP");
    b.until(&luis, "!document.getElementById('stale').hidden");
    b.picture(&luis, &pictures.join("stale.png"));
    signal("-CONT");
    b.until(&luis, "document.getElementById('stale').hidden");
    assert_eq!(b.faults, Vec::<String>::new());
}

/// The status of a bare request.
fn status(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut text = String::new();
    let _ = stream.take(64).read_to_string(&mut text);
    text.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn nonsense_gets_an_answer_and_does_no_harm() {
    let dir = tempfile::tempdir().expect("a folder");
    let table = Table::lay();
    let (_daemon, url) = daemon(dir.path(), &table);
    let address: SocketAddr = url[7..url.len() - 1].parse().expect("an address");
    let post = |path: &str, body: &str| {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        status(address, &request)
    };
    assert_eq!(post("/login", "{}"), "422");
    assert_eq!(post("/login", r#"{"user":"a/b"}"#), "403");
    assert_eq!(post("/login", &"x".repeat(100_000)), "413");
    assert_eq!(post("/cmd/claim", "{}"), "401");
    let get = |path: &str| {
        status(
            address,
            &format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"),
        )
    };
    assert_eq!(get("/board/9/pgn"), "404");
    assert_eq!(get("/../etc/passwd"), "404");
    assert_eq!(get("/"), "200");
}
