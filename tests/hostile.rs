//! Every reader of bytes from outside, fed with what is nearly right: good input, bent. Nothing may
//! panic or take long; what is wrong is an error or is skipped.
//!
//! By default a few hundred inputs for each reader; `ATALAYA_FUZZ=100000 cargo test --release --test
//! hostile` for more. A failure names the reader and the number of the input, which is made the same way
//! again each time.
#![allow(clippy::disallowed_methods, reason = "a test measures")]

mod common;

use std::{
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use atalaya::{
    dgt::{self, Message, bus},
    hall::{Pairings, Ports, Settings, Sources},
    incident::{Order, VERBS},
    journal::{Found, Kind, MAGIC, Reader, Replay, read_inbytes},
    link::Address,
    monitor::{self, Input, Monitor},
    publish::Topics,
    scenario,
    simulate::{parse_games, read_games},
    web::Users,
    words::{At, TimeControl},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use common::journalled::{Plan, journalled};
use fastrand::Rng;
use jiff::Timestamp;

const CASES: u64 = 300;
/// Far more than any of them takes on a busy machine; an endless loop takes longer.
const LONG: Duration = Duration::from_secs(20);

const TRF: &str = "\
012 City Open\n022 Sevilla\n042 2026/11/30\n\
001    1 m GM Müller, Jürgen                    2650 GER     4600001 1990/01/01  1.0    1     2 w 1\n\
001    2 w    Núñez, Ana                        2200 ESP    22000001 2001/02/03  0.0    2     1 b 0\n";
const CSV: &str = "\
round,board,white,white_title,white_elo,white_fideid,white_fed,white_team,black,serial\n\
5,1,\"Müller, Jürgen\",GM,2650,4600001,GER,A,\"Núñez, Ana\",3000113001\n5,2,A,,,,,,B,\n";
const ORDERS: &str = r#"{"transaction":"t1","alert":"b3-9f2c","board":3,"text":"x","result":"1-0",
"square":"e4","fen":"8/8/8/8/8/8/8/8 w - - 0 1","turn":"white","ply":7,"way":0,"code":"two-hands","side":"black"}"#;

/// What stands in files and streams elsewhere, put where it does not belong.
const ODD: &[&[u8]] = &[
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x99\x82",
    b"\r\n",
    b"\"",
    b"'''",
    b"[[",
    b"]]",
    b"{",
    b"}",
    b"(",
    b")",
    b";",
    b"%",
    b"$",
    b"=",
    b",,",
    b"..",
    b"-",
    b"1e999",
    b"-1",
    b"0x",
    b"inf",
    b"nan",
    b"99999999999999999999",
    b"18446744073709551616",
    b"65536",
    b"\x80\x00\x00",
    b"\x86\x00\x43",
    b"\x8f\x7e\x03",
    b"\x8e\x00\x05\x7f\x7f",
    b"e8=K",
    b"O-O-O-O",
    b"@@",
    b"\\u0000",
    b"~~~~",
    b"{[%clk 9:99:99]}",
];

/// A good input with some places bent.
fn bent(good: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..rng.usize(1..8) {
        let at = rng.usize(..=bytes.len());
        let end = (at + rng.usize(..40)).min(bytes.len());
        match rng.u8(..8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(..8),
            1 if at < bytes.len() => bytes[at] = rng.u8(..),
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => {
                let piece = bytes[at..end].to_vec();
                let times = rng.usize(1..30);
                let many = piece.repeat(times);
                bytes.splice(at..at, many);
            }
            5 => {
                let odd = ODD[rng.usize(..ODD.len())];
                bytes.splice(at..at, odd.iter().copied());
            }
            6 => {
                let piece = bytes[at..end].to_vec();
                let elsewhere = rng.usize(..=bytes.len());
                bytes.splice(elsewhere..elsewhere, piece);
            }
            _ => {
                let digit = bytes.iter().skip(at).position(u8::is_ascii_digit);
                if let Some(digit) = digit {
                    bytes[at + digit] = b'0' + rng.u8(..10);
                }
            }
        }
    }
    bytes
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Bends the good input again and again and has it read.
fn feed(reader: &str, good: &[Vec<u8>], read: impl Fn(&[u8])) {
    let cases = env::var("ATALAYA_FUZZ").map_or(CASES, |n| n.parse().expect("a number"));
    for good in good {
        read(good);
    }
    let mut slowest = Duration::ZERO;
    for case in 0..cases {
        let mut rng = Rng::with_seed(case);
        let input = bent(&good[rng.usize(..good.len())], &mut rng);
        let began = Instant::now();
        let calm = catch_unwind(AssertUnwindSafe(|| read(&input))).is_ok();
        let took = began.elapsed();
        assert!(calm, "{reader}: input {case} panics: {:?}", text(&input));
        assert!(took < LONG, "{reader}: input {case} takes {took:?}");
        slowest = slowest.max(took);
    }
    println!("{reader}: {cases} inputs, the slowest took {slowest:?}");
}

fn source(path: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("it reads")
}

/// What a board sends in the first minutes of a game, and the same as a journal's entries.
fn played() -> (Vec<u8>, Vec<atalaya::journal::Entry>) {
    let games = read_games(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/demo.pgn"));
    let games = games.expect("they read").into_iter().map(Arc::new);
    let entries = journalled(Plan {
        board: 1,
        games: games.collect(),
        mishaps: 0.3,
        until_ms: 120_000,
        begun: Timestamp::UNIX_EPOCH,
    });
    let mut stream = Vec::new();
    for entry in &entries {
        if let Kind::Bytes(bytes) = &entry.kind {
            stream.extend(bytes);
        }
    }
    (stream, entries)
}

#[test]
fn a_boards_bytes() {
    let (stream, _) = played();
    feed("monitor", std::slice::from_ref(&stream), |bytes| {
        let mut monitor = Monitor::new(monitor::Settings::default());
        monitor.handle(Input::Opened, At(0));
        for (step, piece) in (1..).zip(bytes.chunks(23)) {
            monitor.handle(Input::Bytes(piece), At(step * 30));
            while monitor.poll_output().is_some() {}
        }
        // A good full board brings it back into step, whatever was before.
        let mut dump = Vec::new();
        let codes = Box::new([0; 64]);
        Message::Dump(codes).encode(&mut dump);
        monitor.handle(Input::Bytes(&dump.repeat(2)), At(10_000_000));
    });
    let memory: Vec<u8> = stream.iter().map(|byte| byte | 0x40).collect();
    feed(
        "event memory",
        &[memory, vec![0x6a, 0x41, 52, 0x61, 0x29, 0x58, 0x6b]],
        |bytes| {
            assert!(dgt::entries(bytes).count() <= bytes.len());
        },
    );
    feed(
        "inbytes",
        &[BASE64_STANDARD.encode(&stream[..60]).into_bytes()],
        |bytes| {
            let _ = read_inbytes(&text(bytes));
        },
    );
}

#[test]
fn a_buses_bytes() {
    let mut line = Vec::new();
    for (id, data) in [
        (0x87, 0),
        (0x84, 7),
        (0x83, 64),
        (0x85, 12),
        (0x86, 200),
        (0x89, 2),
    ] {
        let length = data + 6;
        let mut reply = vec![id, (length >> 7) as u8, (length & 0x7f) as u8, 8, 1];
        reply.extend((0..data).map(|n| 0x40 + (n % 0x20) as u8));
        let sum = reply.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        reply.push(sum & 0x7f);
        line.extend(reply);
    }
    feed("bus", &[line], |bytes| {
        let mut master = bus::Master::default();
        master.add(1025, At(0));
        master.opened(At(0));
        for (step, piece) in (1..).zip(bytes.chunks(11)) {
            let now = At(step * 40);
            master.bytes(piece, now);
            master.ask(1025, dgt::Request::UpdateNice);
            while master.poll_call(now).is_some() {}
            while master.poll_event().is_some() {}
        }
    });
}

#[test]
fn a_journal() {
    let (_, entries) = played();
    let mut good = MAGIC.to_vec();
    for entry in entries.iter().take(400) {
        entry.encode(&mut good).expect("it encodes");
    }
    feed("journal", &[good], |bytes| {
        let mut replay = Replay::new();
        for found in Reader::new(bytes) {
            if let Found::Entry(entry) = found {
                let _ = replay.entry(&entry);
            }
        }
    });
}

/// The checksum of a journal's record keeps bent ones out, so that they are bent before it is made.
#[test]
fn a_journal_that_was_written_wrong() {
    let (_, entries) = played();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for entry in &entries {
        if let Kind::Told(line) = &entry.kind {
            lines.push(line.clone().into_bytes());
        }
    }
    lines.push(ORDERS.as_bytes().to_vec());
    feed("journal's lines", &lines, |bytes| {
        let mut replay = Replay::new();
        for kind in [
            Kind::Command(text(bytes)),
            Kind::Told(text(bytes)),
            Kind::Bytes(bytes.to_vec()),
        ] {
            let mut entry = entries[0].clone();
            entry.kind = kind;
            let _ = replay.entry(&entry);
        }
    });
}

#[test]
fn the_configuration() {
    let example = text(&source("config/atalaya.toml")).replace("\n#", "\n");
    let good = [source("config/atalaya.toml"), example.into_bytes()];
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("atalaya.toml");
    feed("configuration", &good, |bytes| {
        fs::write(&path, bytes).expect("it writes");
        let sources = Sources {
            system: None,
            file: Some(path.clone()),
            environment: Vec::new(),
        };
        if let Err(why) = Settings::load(&sources) {
            assert!(!why.to_string().is_empty());
        }
    });
    let words = [
        "tcp://[::1]:4001, /dev/ttyUSB*",
        "40/5400+30:1800+30",
        "atalaya",
        "1-4,9",
    ];
    feed(
        "words",
        &words.map(|word| word.as_bytes().to_vec()),
        |bytes| {
            let word = text(bytes);
            let _ = word.parse::<Address>();
            let _ = word.parse::<Ports>().map(|ports| ports.to_string());
            let _ = word.parse::<TimeControl>();
            let _ = word.parse::<atalaya::relay::Boards>();
            let _ = Topics::new(&word, &word);
        },
    );
    let users = b"[[user]]\nname = \"ana\"\nrole = \"arbiter\"\npassword = \"$argon2id$v=19$m=19456,t=2,p=1$YWJj$YWJj\"\n";
    feed("users", &[users.to_vec()], |bytes| {
        fs::write(&path, bytes).expect("it writes");
        let _ = Users::read(&path);
    });
}

#[test]
fn pairings_games_and_scenarios() {
    let pgn = source("src/cli/demo.pgn");
    let pairings: [(&str, &[u8]); 3] = [
        ("a.pgn", &pgn),
        ("a.trf", TRF.as_bytes()),
        ("a.csv", CSV.as_bytes()),
    ];
    for (file, good) in pairings {
        feed(file, &[good.to_vec()], |bytes| {
            let _ = Pairings::parse(Path::new(file), &text(bytes), "5");
        });
    }
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.csv");
    feed("encoding", &[CSV.as_bytes().to_vec()], |bytes| {
        fs::write(&path, bytes).expect("it writes");
        let _ = Pairings::read(&path, "5");
    });
    feed("games", &[pgn], |bytes| {
        let _ = parse_games(bytes, "bent");
    });
    // Whole scenarios are long; each by itself is bent more.
    let all = text(&source("tests/scenarios/ordinary.toml"))
        + &text(&source("tests/scenarios/cases.toml"));
    let each = all.split("[[scenario]]").skip(1);
    let each: Vec<_> = each
        .map(|one| format!("[[scenario]]{one}").into_bytes())
        .collect();
    feed("scenario", &each, |bytes| {
        if let Ok(file) = scenario::parse(&text(bytes)) {
            for one in &file.scenario {
                let _ = scenario::run(one);
            }
        }
    });
}

#[test]
fn commands() {
    let (stream, _) = played();
    feed("commands", &[ORDERS.as_bytes().to_vec()], |bytes| {
        let mut monitor = Monitor::new(monitor::Settings::default());
        monitor.handle(Input::Opened, At(0));
        monitor.handle(Input::Bytes(&stream[..stream.len().min(4_000)]), At(1_000));
        for verb in VERBS.iter().chain(&["ack", "launch"]) {
            if let Ok(order) = Order::read("ana", verb, bytes, Some("b1-0")) {
                monitor.handle(Input::Order(&order), At(2_000));
                while monitor.poll_output().is_some() {}
            }
        }
    });
}
