//! FTP and SFTP, to real servers: a broken line is taken up again, and no reader ever sees half a
//! file.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use atalaya::relay::{
    Feed, Profile, Reader,
    far::{self, Depot, FarError, Login, Place},
    sftp::{HostKey, Proof},
};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    folder::{first, until, whole},
    played::Wall,
    servers::{Line, sshd, vsftpd},
};

struct Running {
    feed: Feed,
    keeper: JoinHandle<()>,
    far: JoinHandle<()>,
    stop: CancellationToken,
}

fn start(state: &Path, depot: Depot) -> Running {
    let (feed, keeper, sight) = crate::played::feed(1, state);
    let stop = CancellationToken::new();
    let reader = Reader::new(sight.world, Profile::default(), Wall);
    Running {
        feed,
        keeper: tokio::spawn(keeper.run()),
        far: tokio::spawn(far::run(
            depot,
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
        self.far.await.expect("it ends");
    }
}

fn pgn(round: &Path) -> Option<String> {
    fs::read_to_string(round.join("game-1.pgn")).ok()
}

/// Plays a game whose line breaks three times, each time later in what is sent.
async fn plays_over_a_line_that_breaks(state: &Path, depot: Depot, line: Line, round: &Path) {
    let watching = Arc::new(AtomicBool::new(true));
    let watcher = std::thread::spawn({
        let (round, watching) = (round.to_owned(), Arc::clone(&watching));
        move || {
            let mut looks = 0;
            while watching.load(Ordering::Relaxed) {
                let Some(text) = pgn(&round) else { continue };
                assert!(text.ends_with("*\n\n"), "half a file: {text}");
                looks += 1;
            }
            looks
        }
    });
    let running = start(state, depot);
    until("the headers stand", || pgn(round).is_some()).await;
    let whole = whole();
    for (at, bytes) in [300, 900, 1500].into_iter().enumerate() {
        let plies = 20 * (at + 1);
        line.break_after(bytes);
        running.feed.tell(first(&whole, plies));
        let all = || pgn(round).is_some_and(|text| text.matches("%clk").count() == plies);
        until("the line broke and the moves stand", || {
            line.broke() && all()
        })
        .await;
    }
    running.stop().await;
    watching.store(false, Ordering::Relaxed);
    assert!(watcher.join().expect("it saw whole files") > 10);
    let names = fs::read_dir(round).expect("it lists");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    let ours = ["game-1.json", "game-1.pgn", "games.pgn", "index.json"];
    assert_eq!(names, ours, "nothing half is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn sftp_goes_on_after_a_broken_line() {
    let scratch = tempfile::tempdir().expect("a folder");
    let dir = scratch.path();
    let Some(ssh) = sshd(dir).await else { return };
    let line = Line::whole(ssh.server.at).await;
    let root = dir.join("out").display().to_string();
    let url = format!("sftp://{}@{}/{root}/event", ssh.user, line.at);
    let place: Place = url.parse().expect("a place");
    let depot = |key: &str| Depot {
        place: place.clone(),
        login: Login::Sftp(
            key.parse().expect("a key"),
            Proof::key(&ssh.key).expect("a key"),
        ),
    };
    // A machine with another key gets nothing.
    let other = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let why = depot(other).probe().await.expect_err("another machine");
    assert!(matches!(why, FarError::HostKey { .. }), "{why}");
    assert!(why.to_string().contains("ssh-ed25519 SHA256:"), "{why}");
    // Nor does somebody with another key get in.
    let stranger = Depot {
        login: Login::Sftp(
            ssh.host_key.parse().expect("a key"),
            Proof::Password("guessed".to_owned()),
        ),
        ..depot(&ssh.host_key)
    };
    let why = stranger.probe().await.expect_err("a stranger");
    assert!(matches!(why, FarError::Refused), "{why}");
    assert!(!format!("{stranger:?}").contains("guessed"));

    let round = dir.join("out/event/round-5");
    plays_over_a_line_that_breaks(&dir.join("state"), depot(&ssh.host_key), line, &round).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ftp_goes_on_after_a_broken_line() {
    let scratch = tempfile::tempdir().expect("a folder");
    let dir = scratch.path();
    let Some((server, root)) = vsftpd(dir, "watchword").await else {
        return;
    };
    let line = Line::data(server.at).await;
    let place: Place = format!("ftp://ftp@{}/event", line.at)
        .parse()
        .expect("a place");
    let depot = |word: &str| Depot {
        place: place.clone(),
        login: Login::Ftp(word.to_owned()),
    };
    let why = depot("guessed").probe().await.expect_err("a stranger");
    assert!(matches!(why, FarError::Refused), "{why}");
    assert!(!format!("{:?}", depot("guessed")).contains("guessed"));
    let round = root.join("event/round-5");
    plays_over_a_line_that_breaks(&dir.join("state"), depot("watchword"), line, &round).await;
}

#[test]
fn addresses_of_far_folders() {
    let place = |text: &str| text.parse::<Place>();
    let read = place("sftp://ana@results.example:2222/torneo%20de%20a%C3%B1o/").expect("a place");
    assert_eq!(
        (
            read.host.as_str(),
            read.port,
            read.user.as_str(),
            read.dir.as_str()
        ),
        ("results.example", 2222, "ana", "torneo de año")
    );
    let read = place("ftp://ana@[::1]//srv/games").expect("a place");
    assert_eq!(
        (read.host.as_str(), read.port, read.dir.as_str()),
        ("::1", 21, "/srv/games")
    );
    for wrong in [
        "http://ana@host/",
        "ftp://host/",
        "sftp:host",
        "ftp://a%0D%0ADELE@host/",
        "",
    ] {
        assert!(place(wrong).is_err(), "{wrong}");
    }
    // A password in the address would stand in logs.
    let why = place("ftp://ana:secret@host/").expect_err("a password");
    assert!(!why.to_string().contains("secret"), "{why}");
    assert!("SHA256:short".parse::<HostKey>().is_err());
    assert!("ssh-ed25519 nonsense".parse::<HostKey>().is_err());
}
