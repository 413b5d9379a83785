//! One board, moved by hand, behind a real daemon with every kind of output; and all that the public
//! can see of it.

use std::{
    collections::BTreeMap,
    fs,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use rumqttc::{Client, Event, MqttOptions, Packet, QoS};
use serde_json::{Value, json};

use crate::{
    public::{Lichess, Public},
    support::{Guard, free_port},
    table::Table,
};

pub const PATIENCE: Duration = Duration::from_secs(30);

/// An arbiter at the broker.
struct Arbiter {
    client: Client,
    heard: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Arbiter {
    fn connect(port: u16) -> Arbiter {
        let mut options = MqttOptions::new("ana", "127.0.0.1", port);
        options.set_max_packet_size(1 << 20, 1 << 20);
        let (client, mut connection) = Client::new(options, 100);
        let heard: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
        let (ear, mouth) = (heard.clone(), client.clone());
        thread::spawn(move || {
            for event in connection.iter() {
                match event {
                    Ok(Event::Incoming(Packet::ConnAck(_))) => {
                        // The connection may be gone again: then the next one subscribes.
                        let _ = mouth.try_subscribe("#", QoS::AtLeastOnce);
                    }
                    Ok(Event::Incoming(Packet::Publish(message))) => {
                        let text = String::from_utf8_lossy(&message.payload).into_owned();
                        ear.lock().expect("whole").insert(message.topic, text);
                    }
                    Ok(_) => {}
                    Err(_) => thread::sleep(Duration::from_millis(100)),
                }
            }
        });
        Arbiter { client, heard }
    }
}

/// The daemon with its board.
pub struct Hall {
    dir: tempfile::TempDir,
    pub table: Table,
    process: Guard,
    broker: u16,
    pub public: Public,
    arbiter: Arbiter,
    delay_s: u64,
    transactions: usize,
}

impl Hall {
    /// Round 5, every output that late. Returns when the men stand ready.
    pub fn open(delay_s: u64) -> Hall {
        let (dir, broker) = (tempfile::tempdir().expect("a folder"), free_port());
        let hall = Hall {
            public: Public {
                dir: dir.path().to_owned(),
                polled: free_port(),
                local: free_port(),
                lichess: Lichess::open(),
            },
            dir,
            table: Table::lay(),
            process: Guard::spawn(Command::new("true").stdin(Stdio::null())),
            broker,
            arbiter: Arbiter::connect(broker),
            delay_s,
            transactions: 0,
        };
        fs::write(hall.dir.path().join("token"), "lip_none\n").expect("it writes");
        hall.pairings("5", "Gil, Ana", "Roe, Bo");
        hall.configure("5");
        hall.start()
    }

    fn start(mut self) -> Hall {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atalaya"));
        command.args(["run", "--config", "atalaya.toml"]);
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.dir.path().join("log"));
        command.current_dir(&self.dir).stderr(log.expect("a log"));
        self.process = Guard::spawn(command.stdout(Stdio::null()));
        self.until("the board is read", |hall| {
            let phase = hall.state()["phase"].clone();
            phase.is_string() && phase != "no-board"
        });
        self
    }

    /// The daemon is killed and comes back.
    pub fn killed(mut self) -> Hall {
        // It may be gone already.
        let _ = self.process.0.kill();
        let _ = self.process.0.wait();
        self.arbiter.heard.lock().expect("whole").clear();
        self.start()
    }

    pub fn pairings(&self, round: &str, white: &str, black: &str) {
        let text = format!("board,white,black\n1,\"{white}\",\"{black}\"\n");
        fs::write(self.dir.path().join(format!("round-{round}.csv")), text).expect("it writes");
    }

    pub fn configure(&self, round: &str) {
        let delay = self.delay_s;
        let Public {
            polled,
            local,
            lichess,
            ..
        } = &self.public;
        let lichess = lichess.port;
        let text = format!(
            "[venue]\nid = \"test\"\n[broker]\nlisten = \"127.0.0.1:{}\"\nwebsocket = \"none\"\n\
             [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n\
             [event]\nname = \"City\"\nround = \"{round}\"\npairings = \"round-{round}.csv\"\n\
             [[board]]\nnumber = 1\nport = \"tcp://{}\"\nclock = \"white-left\"\n\
             [[relay]]\nkind = \"folder\"\ndir = \"now\"\n\
             [[relay]]\nkind = \"folder\"\ndir = \"pgn\"\ndelay_seconds = {delay}\n\
             [[relay]]\nkind = \"http\"\nlisten = \"127.0.0.1:{polled}\"\ndelay_seconds = {delay}\n\
             [[relay]]\nkind = \"livechess\"\nlisten = \"127.0.0.1:{local}\"\ndelay_seconds = {delay}\n\
             [[relay]]\nkind = \"lichess\"\nurl = \"http://127.0.0.1:{lichess}/round/{round}/push\"\n\
             token_file = \"token\"\ndelay_seconds = {delay}\n",
            self.broker, self.table.address,
        );
        fs::write(self.dir.path().join("atalaya.toml"), text).expect("it writes");
    }

    /// The configuration is read again.
    pub fn hangup(&self) {
        let pid = self.process.0.id().to_string();
        let told = Command::new("kill").args(["-HUP", &pid]).status();
        assert!(told.expect("kill").success());
    }

    /// An arbiter commands, and is answered.
    pub fn command(&mut self, verb: &str, mut payload: Value) -> Value {
        self.transactions += 1;
        let transaction = format!("t{}", self.transactions);
        payload["transaction"] = json!(transaction);
        let topic = format!("atalaya/v1/test/cmd/ana/{verb}");
        let payload = payload.to_string();
        let sent = self
            .arbiter
            .client
            .publish(topic, QoS::AtLeastOnce, false, payload);
        sent.expect("it goes out");
        let answer = |hall: &Hall| {
            let reply = hall.heard("atalaya/v1/test/reply/ana");
            (reply["transaction"] == *transaction).then_some(reply)
        };
        self.until("an answer", |hall| answer(hall).is_some());
        answer(self).expect("it is there")
    }

    fn heard(&self, topic: &str) -> Value {
        let heard = self.arbiter.heard.lock().expect("whole");
        let text = heard.get(topic);
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    pub fn state(&self) -> Value {
        self.heard("atalaya/v1/test/board/1/state")
    }

    pub fn until(&self, what: &str, mut done: impl FnMut(&Hall) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !done(self) {
            if Instant::now() >= deadline {
                let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
                panic!("{what}: not in time\n{log}\n{:#?}", self.public.all());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until each way out tells the game of the round at board 1 like this.
    pub fn shows(&self, round: &str, words: &[&str]) {
        let paths = [
            format!("pgn/round-{round}/games.pgn"),
            format!("pgn/round-{round}/game-1.pgn"),
            format!("http/round-{round}/games.pgn"),
            format!("http/round-{round}/game-1.pgn"),
            format!("lichess/{round}"),
        ];
        self.until(&format!("round {round} says {words:?}"), |hall| {
            let public = hall.public.all();
            paths.iter().all(|path| {
                let text = public.get(path).map_or("", String::as_str);
                let text = text.replace('\n', " ");
                words.iter().all(|word| text.contains(word))
            })
        });
    }

    /// Waits until no output says this any more. What stands before a body (an ETag's letters and
    /// digits) says nothing.
    pub fn nowhere(&self, words: &str) {
        self.until(&format!("{words:?} is gone"), |hall| {
            let public = hall.public.all();
            let bodies = public.values().map(|text| {
                text.split_once("\r\n\r\n")
                    .map_or(&**text, |(_, body)| body)
            });
            let mut lines = bodies.map(|body| body.replace('\n', " "));
            lines.all(|line| !line.contains(words))
        });
    }
}
