//! Boards named by their serial number, plugged in here and there. `socat` is the cable: one that is
//! killed is pulled out, and the device is gone.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use support::{
    Guard, Seen, Subscriber, free_port,
    play::{ATALAYA, moves, same, simulate, spawn},
    program,
};

/// For what must come at all; a busy machine is not to fail the test.
const PATIENCE: Duration = Duration::from_secs(180);

/// A virtual board behind a port, until it is pulled.
struct Cable {
    socat: Guard,
    port: PathBuf,
}

impl Cable {
    fn put(socat: &Path, dir: &Path, board: u16, port: &str) -> Cable {
        let port = dir.join("ports").join(port);
        let from = format!("PTY,rawer,link={}", port.display());
        let to = dir.join(format!("boards/board-{board}"));
        let to = format!("OPEN:{},rawer", to.display());
        let socat = spawn(socat, &[&from, &to], dir);
        until("the port is there", || port.exists());
        Cable { socat, port }
    }

    fn pull(mut self) {
        self.socat.0.kill().expect("it is there");
        self.socat.0.wait().expect("it ends");
        // As udev does.
        let _ = fs::remove_file(&self.port);
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < deadline, "{what}: not in time");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn configuration(dir: &Path, port: u16, serials: &[(u16, String)], search: &str) {
    let mut text = format!(
        "[venue]\nid = \"test\"\n[broker]\nlisten = \"127.0.0.1:{port}\"\nwebsocket = \"none\"\n\
         [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n[event]\nround = \"5\"\n\
         [ports]\nsearch = \"{}\"\n",
        dir.join(search).display()
    );
    for (number, serial) in serials {
        text += &format!("[[board]]\nnumber = {number}\nserial = \"{serial}\"\n");
    }
    fs::write(dir.join("atalaya.toml"), text).expect("it writes");
}

fn daemon(dir: &Path) -> Guard {
    let args = ["run", "--config", "atalaya.toml"];
    spawn(Path::new(ATALAYA), &args, dir)
}

fn phone(port: u16) -> Option<Subscriber> {
    Subscriber::start(format!("127.0.0.1:{port}").parse().expect("an address"))
}

/// The newest word on a board's link.
fn link(seen: &[Seen], board: u16) -> Option<String> {
    let topic = format!("atalaya/v1/test/board/{board}/link");
    let mut links = seen.iter().rev().filter(|seen| seen.topic == topic);
    let link = links.next()?.json();
    link["state"].as_str().map(str::to_owned)
}

fn moves_of(seen: &[Seen], board: u16) -> usize {
    let topic = format!("atalaya/v1/test/board/{board}/move");
    let moves = seen.iter().filter(|seen| seen.topic == topic);
    moves.count()
}

/// One board is known by its long number and one by its short; a third is not ours.
#[test]
fn boards_that_change_places_keep_their_games() {
    let Some(socat) = program("socat") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    fs::create_dir(dir.join("ports")).expect("a folder");
    let port = free_port();
    let _boards = simulate(dir, "boards", 3, "0");
    until("the boards are there", || {
        dir.join("boards/board-3").exists()
    });
    let serials = [(1, "3000113001".to_owned()), (2, "13002".to_owned())];
    configuration(dir, port, &serials, "ports/tty*");
    let mut daemon = daemon(dir);
    let Some(mut phone) = phone(port) else { return };
    let absent = |seen: &[Seen]| (1..=2).all(|n| link(seen, n).as_deref() == Some("absent"));
    assert!(phone.wait(PATIENCE, absent), "not told to be missing");

    let _not_ours = Cable::put(&socat, dir, 3, "ttyUSB0");
    let first = Cable::put(&socat, dir, 1, "ttyUSB1");
    let second = Cable::put(&socat, dir, 2, "ttyUSB2");
    let play = |phone: &mut Subscriber, more: usize| {
        let wanted = [1, 2].map(|n| moves_of(&phone.seen, n) + more);
        let played = |seen: &[Seen]| (1..=2).all(|n| moves_of(seen, n) >= wanted[n as usize - 1]);
        assert!(phone.wait(PATIENCE, played), "{more} more moves on each");
    };
    play(&mut phone, 6);

    // Both are pulled and put where the other one was.
    first.pull();
    second.pull();
    let lost = |seen: &[Seen]| (1..=2).all(|n| link(seen, n).as_deref() != Some("up"));
    assert!(phone.wait(PATIENCE, lost), "not told to be lost");
    let second = Cable::put(&socat, dir, 2, "ttyUSB1");
    let _first = Cable::put(&socat, dir, 1, "ttyUSB2");
    play(&mut phone, 6);
    // And one once more, where no board ever was.
    second.pull();
    let _second = Cable::put(&socat, dir, 2, "ttyACM7");
    play(&mut phone, 6);

    let pid = daemon.0.id().to_string();
    let stopped = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(stopped.expect("kill runs").success());
    assert!(daemon.0.wait().expect("it ends").success());
    phone.drain(Duration::from_millis(500));
    // The board that is not ours was never told of.
    let truth = fs::read_to_string(dir.join("boards.jsonl")).expect("it reads");
    let ours = truth.lines().filter(|line| !line.contains("\"board\":3"));
    let ours: Vec<_> = ours.collect();
    fs::write(dir.join("ours.jsonl"), ours.join("\n")).expect("it writes");
    same(&phone.seen, &dir.join("ours.jsonl"));
    let topics: BTreeSet<_> = phone.seen.iter().map(|seen| &seen.topic).collect();
    assert!(!topics.iter().any(|topic| topic.contains("board/3")));
}

/// A whole hub is pulled and put back, again and again.
#[test]
fn a_storm_of_replugs_ends_with_every_board_found() {
    const BOARDS: u16 = 40;
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let port = free_port();
    let serials: Vec<_> = (1..=BOARDS)
        .map(|n| (n, format!("{}", 3_000_113_000 + u32::from(n))))
        .collect();
    configuration(dir, port, &serials, "boards/board-*");
    let mut daemon = daemon(dir);
    let Some(mut phone) = phone(port) else { return };
    let all = |state: &'static str| {
        move |seen: &[Seen]| (1..=BOARDS).all(|n| link(seen, n).as_deref() == Some(state))
    };
    let none_up = |seen: &[Seen]| (1..=BOARDS).all(|n| link(seen, n).as_deref() != Some("up"));
    for storm in 0..4 {
        let hub = simulate(dir, "boards", BOARDS, "0");
        if storm % 2 == 0 {
            assert!(phone.wait(PATIENCE, all("up")), "storm {storm}");
        } else {
            // Pulled again while they are still being found.
            std::thread::sleep(Duration::from_millis(fastrand::u64(0..1_500)));
        }
        drop(hub);
        // As udev does; and the system gives the numbers of ptys to others.
        let _ = fs::remove_dir_all(dir.join("boards"));
        assert!(phone.wait(PATIENCE, none_up), "storm {storm}");
    }
    let _hub = simulate(dir, "boards", BOARDS, "0");
    assert!(phone.wait(PATIENCE, all("up")), "after all storms");
    assert!(phone.wait(PATIENCE, |seen| moves(seen) >= 8), "no game");
    let pid = daemon.0.id().to_string();
    let stopped = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(stopped.expect("kill runs").success());
    assert!(daemon.0.wait().expect("it ends").success());
}
