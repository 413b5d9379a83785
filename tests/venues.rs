//! Several halls at one broker (README, "Several halls"): a phone follows them all, and a hall whose line
//! is down for a while catches up with nothing lost.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    env, fs,
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use support::{
    Guard, Seen, Subscriber, free_port,
    gate::Gate,
    mosquitto,
    play::{ATALAYA, moves, same, simulate},
    program,
};

/// For what must come at all; a busy machine is not to fail the test.
const PATIENCE: Duration = Duration::from_secs(180);
const BOARDS: u16 = 2;

/// A hall with its boards and its daemon.
struct Hall {
    id: &'static str,
    folder: tempfile::TempDir,
    daemon: Guard,
    _boards: Guard,
}

impl Hall {
    fn open(id: &'static str, broker: SocketAddr) -> Hall {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path();
        let boards = simulate(dir, "boards", BOARDS, "0");
        let mut text = format!(
            "[venue]\nid = \"{id}\"\n[mqtt]\nbroker = \"mqtt://{broker}\"\n[web]\nlisten = \"none\"\n\
             [journal]\ndir = \"state\"\n[event]\nround = \"5\"\n"
        );
        for number in 1..=BOARDS {
            let link = dir.join(format!("boards/board-{number}"));
            text += &format!("[[board]]\nnumber = {number}\nport = {link:?}\n");
        }
        fs::write(dir.join("atalaya.toml"), text).expect("it writes");
        let mut daemon = Command::new(ATALAYA);
        daemon
            .args(["run", "--config", "atalaya.toml"])
            .current_dir(dir);
        let daemon = Guard::spawn(daemon.stdout(Stdio::null()).stderr(Stdio::null()));
        Hall {
            id,
            folder,
            daemon,
            _boards: boards,
        }
    }

    /// What was heard of this hall.
    fn heard(&self, seen: &[Seen]) -> Vec<Seen> {
        of(self.id, seen).cloned().collect()
    }

    fn close(&mut self) {
        let pid = self.daemon.0.id().to_string();
        let stopped = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(stopped.expect("kill runs").success());
        assert!(self.daemon.0.wait().expect("it ends").success());
    }

    fn truth(&self) -> &Path {
        self.folder.path()
    }
}

fn of<'a>(id: &str, seen: &'a [Seen]) -> impl Iterator<Item = &'a Seen> {
    let start = format!("atalaya/v1/{id}/");
    seen.iter()
        .filter(move |seen| seen.topic.starts_with(&start))
}

fn played(id: &str, seen: &[Seen]) -> usize {
    moves(&of(id, seen).cloned().collect::<Vec<_>>())
}

fn status(id: &str, seen: &[Seen]) -> Option<String> {
    let topic = format!("atalaya/v1/{id}/status");
    let last = seen.iter().rev().find(|seen| seen.topic == topic)?;
    last.json()["state"].as_str().map(str::to_owned)
}

/// Seconds for which the line is down; `ATALAYA_CUT=60` for a long one.
fn cut() -> Duration {
    let asked = env::var("ATALAYA_CUT")
        .ok()
        .and_then(|text| text.parse().ok());
    Duration::from_secs(asked.unwrap_or(5))
}

/// While the line is down; gives the plies told of the north.
fn only_the_south_plays(phone: &mut Subscriber) -> usize {
    let (north, south) = (played("north", &phone.seen), played("south", &phone.seen));
    thread::sleep(cut());
    assert!(phone.wait(PATIENCE, |seen| played("south", seen) > south + 3));
    assert_eq!(
        played("north", &phone.seen),
        north,
        "nothing comes from there"
    );
    north
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hall_that_was_cut_off_catches_up_and_the_other_goes_on() {
    let Some(broker) = program("mosquitto") else {
        return;
    };
    let port = free_port();
    let _broker = mosquitto(&broker, port);
    let central: SocketAddr = format!("127.0.0.1:{port}").parse().expect("an address");
    let Some(mut phone) = Subscriber::start(central) else {
        return;
    };
    let line = Gate::open(central).await;
    let mut halls = [Hall::open("north", line.addr), Hall::open("south", central)];
    for id in ["north", "south"] {
        assert!(
            phone.wait(PATIENCE, |seen| played(id, seen) >= 6),
            "{id} plays"
        );
    }

    line.point(None);
    let away = |seen: &[Seen]| status("north", seen).as_deref() == Some("offline");
    assert!(
        phone.wait(PATIENCE, away),
        "the broker says that it is gone"
    );
    let north = only_the_south_plays(&mut phone);
    line.point(Some(central));
    let back = |seen: &[Seen]| {
        let online = status("north", seen).as_deref() == Some("online");
        online && played("north", seen) > north + 3
    };
    assert!(
        phone.wait(PATIENCE, back),
        "it comes back with what was played"
    );

    for hall in &mut halls {
        hall.close();
    }
    phone.drain(Duration::from_millis(500));
    for hall in &halls {
        let heard = hall.heard(&phone.seen);
        println!("{}: {} moves heard", hall.id, moves(&heard));
        same(&heard, &hall.truth().join("boards.jsonl"));
        assert_eq!(status(hall.id, &phone.seen).as_deref(), Some("stopped"));
    }
}

/// A venue's own Mosquitto, bridged to the centre as config/mosquitto-bridge.conf says.
fn bridged(broker: &Path, id: &str, centre: SocketAddr, folder: &Path) -> (SocketAddr, Guard) {
    let port = free_port();
    let recipe = include_str!("../config/mosquitto-bridge.conf")
        .replace("centre.example:8883", &centre.to_string())
        .replace("north", id);
    let text = format!(
        "listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 20000\n{recipe}"
    );
    let file = folder.join(format!("{id}.conf"));
    fs::write(&file, text).expect("it writes");
    let mut command = Command::new(broker);
    command.arg("-c").arg(&file);
    let guard = Guard::spawn(command.stdout(Stdio::null()).stderr(Stdio::null()));
    (SocketAddr::from(([127, 0, 0, 1], port)), guard)
}

#[tokio::test(flavor = "multi_thread")]
async fn venues_with_brokers_of_their_own_are_bridged_to_a_third() {
    let (Some(broker), Some(publish)) = (program("mosquitto"), program("mosquitto_pub")) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let port = free_port();
    let _centre = mosquitto(&broker, port);
    let centre = SocketAddr::from(([127, 0, 0, 1], port));
    let Some(mut phone) = Subscriber::start(centre) else {
        return;
    };
    let line = Gate::open(centre).await;
    let (north, _north_broker) = bridged(&broker, "north", line.addr, folder.path());
    let (south, _south_broker) = bridged(&broker, "south", centre, folder.path());
    let mut halls = [Hall::open("north", north), Hall::open("south", south)];
    for id in ["north", "south"] {
        assert!(
            phone.wait(PATIENCE, |seen| played(id, seen) >= 6),
            "{id} plays"
        );
    }

    // Whoever looks from afar commands, too.
    let command = Command::new(publish)
        .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-q", "1"])
        .args(["-t", "atalaya/v1/north/cmd/ana/resync"])
        .args(["-m", r#"{"transaction":"t1","board":1}"#])
        .status();
    assert!(command.expect("it runs").success());
    let answered = |seen: &[Seen]| {
        let reply = seen
            .iter()
            .find(|seen| seen.topic == "atalaya/v1/north/reply/ana");
        reply.is_some_and(|reply| reply.json()["status"] == "ok")
    };
    assert!(phone.wait(PATIENCE, answered), "the answer comes up");

    let bridge = |seen: &[Seen]| {
        let mut told = seen.iter().rev();
        let last = told.find(|seen| seen.topic == "atalaya/v1/north/bridge");
        last.map(|last| last.payload.clone())
    };
    assert_eq!(bridge(&phone.seen).as_deref(), Some("1"));
    line.point(None);
    let away = |seen: &[Seen]| bridge(seen).as_deref() == Some("0");
    assert!(
        phone.wait(PATIENCE, away),
        "the centre says that it is cut off"
    );
    let north = only_the_south_plays(&mut phone);
    line.point(Some(centre));
    let back =
        |seen: &[Seen]| bridge(seen).as_deref() == Some("1") && played("north", seen) > north + 3;
    assert!(
        phone.wait(PATIENCE, back),
        "it comes back with what was played"
    );

    for hall in &mut halls {
        hall.close();
    }
    let stopped = |seen: &[Seen]| {
        let state = |id| status(id, seen);
        ["north", "south"].map(state) == ["stopped", "stopped"].map(|word| Some(word.to_owned()))
    };
    assert!(phone.wait(PATIENCE, stopped), "the last word comes up");
    for hall in &halls {
        let heard = hall.heard(&phone.seen);
        println!("{}: {} moves heard", hall.id, moves(&heard));
        same(&heard, &hall.truth().join("boards.jsonl"));
    }
}
