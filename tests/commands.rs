//! Commands that must be refused, at a real Mosquitto: what the broker kept is of long ago.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use atalaya::publish::{ClientSettings, Hear, Heard, Outgoing, Publisher, Qos, channel};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

use support::{Guard, Seen, Subscriber, free_port, program};

/// An answer that is expected may be slow on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn daemon(config: &Path) -> Guard {
    let mut run = Command::new(env!("CARGO_BIN_EXE_atalaya"));
    let run = run.args(["run", "--config"]).arg(config);
    Guard::spawn(run.stderr(Stdio::null()))
}

#[test]
fn a_retained_command_is_refused_and_so_is_nonsense() {
    let (Some(mosquitto), Some(publish)) = (program("mosquitto"), program("mosquitto_pub")) else {
        return;
    };
    let dir = tempfile::tempdir().expect("a folder");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
    let conf = dir.path().join("mosquitto.conf");
    fs::write(
        &conf,
        format!(
            "listener {} 127.0.0.1\nallow_anonymous true\n",
            address.port()
        ),
    )
    .expect("it writes");
    let mut broker = Command::new(mosquitto);
    let _broker = Guard::spawn(broker.arg("-c").arg(&conf).stderr(Stdio::null()));
    let Some(mut phone) = Subscriber::start(address) else {
        return;
    };
    let say = |retain: bool, verb: &str, payload: &str| {
        let (port, topic) = (
            address.port().to_string(),
            format!("atalaya/v1/test/cmd/ana/{verb}"),
        );
        let mut command = Command::new(&publish);
        command.args(["-p", &port, "-q", "1", "-t", &topic, "-m", payload]);
        if retain {
            command.arg("-r");
        }
        assert!(command.status().expect("it runs").success());
    };
    say(true, "resync", r#"{"transaction":"old","board":1}"#);
    let config = dir.path().join("atalaya.toml");
    let text = format!(
        "[venue]\nid = \"test\"\n[mqtt]\nbroker = \"mqtt://127.0.0.1:{}\"\n[web]\nlisten = \"none\"\n\
         [journal]\ndir = \"{}\"\n[[board]]\nnumber = 1\nport = \"{}\"\n",
        address.port(),
        dir.path().join("state").display(),
        dir.path().join("no-such-port").display(),
    );
    fs::write(&config, text).expect("it writes");
    let _daemon = daemon(&config);
    let replies = |seen: &[Seen]| -> Vec<String> {
        let replies = seen
            .iter()
            .filter(|seen| seen.topic.ends_with("/reply/ana"));
        replies
            .map(|seen| {
                let reply = seen.json();
                format!(
                    "{} {} {}",
                    reply["transaction"], reply["status"], reply["code"]
                )
            })
            .collect()
    };
    assert!(phone.wait(PATIENCE, |seen| !replies(seen).is_empty()));
    say(false, "resync", r#"{"transaction":"a","board":1}"#);
    say(false, "resync", r#"{"transaction":"b","board":9}"#);
    say(false, "claim", r#"{"transaction":"c","alert":"b1-00"}"#);
    say(
        false,
        "claim",
        r#"{"transaction":"d","alert":"b1-00","user":"eve"}"#,
    );
    say(false, "explode", "{}");
    assert!(phone.wait(PATIENCE, |seen| replies(seen).len() >= 6));
    let mut all = replies(&phone.seen);
    all.sort();
    assert_eq!(
        all,
        [
            r#""a" "ok" null"#,
            r#""b" "error" "unknown-board""#,
            r#""c" "error" "unknown-alert""#,
            r#""d" "error" "wrong-user""#,
            r#"null "error" "retained""#,
            r#"null "error" "unknown-verb""#,
        ]
    );
}

const PASSWORD: &str = "torre de marfil";

/// A client of the embedded broker that asks for what this filter catches.
async fn client(
    port: u16,
    user: &str,
    password: &str,
    filter: &str,
) -> (Publisher, UnboundedReceiver<Heard>) {
    let (ear, heard) = unbounded_channel();
    let (publisher, actor) = channel(ClientSettings {
        host: "127.0.0.1".to_owned(),
        port,
        tls: None,
        client_id: format!("{user}-{}-{}", password.len(), filter.len()),
        login: Some((user.to_owned(), password.to_owned())),
        keep_alive: Duration::from_secs(5),
        status: None,
        hear: Some(Hear {
            filters: vec![format!("atalaya/v1/test/{filter}")],
            ear,
        }),
    });
    tokio::spawn(actor.run(CancellationToken::new()));
    (publisher, heard)
}

/// The next answer within a time.
async fn reply(heard: &mut UnboundedReceiver<Heard>, within: Duration) -> Option<String> {
    let message = async {
        loop {
            match heard.recv().await? {
                Heard::Message { topic, payload, .. } => {
                    let text = String::from_utf8_lossy(&payload).into_owned();
                    return Some(format!("{topic} {text}"));
                }
                Heard::Connected | Heard::Lost => {}
            }
        }
    };
    tokio::time::timeout(within, message).await.ok()?
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_of_the_embedded_broker_speak_for_themselves_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let port = free_port();
    let mut users = String::new();
    for (name, role) in [("ana", "arbiter"), ("luis", "viewer")] {
        let made = assert_cmd::Command::cargo_bin("atalaya")
            .expect("the program")
            .args(["user", name, "--role", role])
            .write_stdin(format!("{PASSWORD}\n"))
            .output()
            .expect("it runs");
        users += &String::from_utf8(made.stdout).expect("text");
    }
    assert!(!users.contains(PASSWORD));
    fs::write(dir.path().join("users.toml"), users).expect("it writes");
    let text = format!(
        "[venue]\nid = \"test\"\n[broker]\nlisten = \"0.0.0.0:{port}\"\nwebsocket = \"none\"\n\
         [web]\nlisten = \"none\"\nusers = \"users.toml\"\n[journal]\ndir = \"{}\"\n\
         [[board]]\nnumber = 1\nport = \"{}\"\n",
        dir.path().join("state").display(),
        dir.path().join("no-such-port").display(),
    );
    let config = dir.path().join("atalaya.toml");
    fs::write(&config, text.replace("users = \"users.toml\"\n", "")).expect("it writes");
    let open = Command::new(env!("CARGO_BIN_EXE_atalaya"))
        .args(["run", "--config"])
        .arg(&config)
        .output()
        .expect("it runs");
    let complaint = String::from_utf8_lossy(&open.stderr).into_owned();
    assert_eq!(
        open.status.code(),
        Some(2),
        "open to all without users: {complaint}"
    );
    assert!(complaint.contains("web.users"), "{complaint}");
    fs::write(&config, text).expect("it writes");
    let _daemon = daemon(&config);
    let (ana, mut to_ana) = client(port, "ana", PASSWORD, "reply/#").await;
    let (luis, mut to_luis) = client(port, "luis", PASSWORD, "#").await;
    let (_screen, mut to_screen) = client(port, "luis", PASSWORD, "status").await;
    let (eve, mut to_eve) = client(port, "ana", "guess", "reply/#").await;
    let command = |user: &str, transaction: &str| {
        vec![Outgoing {
            topic: format!("atalaya/v1/test/cmd/{user}/resync"),
            retained: false,
            qos: Qos::AtLeastOnce,
            payload: format!(r#"{{"transaction":"{transaction}","board":1}}"#).into_bytes(),
            receipt: None,
        }]
    };
    for phone in [&ana, &luis] {
        let mut connected = phone.connected();
        let up = tokio::time::timeout(PATIENCE, connected.wait_for(|up| *up)).await;
        assert!(up.is_ok(), "no connection");
    }
    luis.send(command("ana", "forged"));
    luis.send(command("luis", "a viewer's"));
    eve.send(command("ana", "guessed"));
    assert_eq!(reply(&mut to_ana, Duration::from_secs(2)).await, None);
    ana.send(command("ana", "mine"));
    let mine = reply(&mut to_ana, PATIENCE).await.expect("an answer");
    assert!(
        mine.contains("reply/ana") && mine.contains("\"mine\""),
        "{mine}"
    );
    // A viewer hears what a screen shows, and a filter that also catches alerts catches nothing.
    let status = reply(&mut to_screen, PATIENCE).await.expect("the status");
    assert!(
        status.contains("test/status") && status.contains("online"),
        "{status}"
    );
    assert_eq!(reply(&mut to_luis, Duration::from_millis(200)).await, None);
    assert!(!*eve.connected().borrow());
    assert!(to_eve.try_recv().is_err());
}
