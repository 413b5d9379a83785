//! All that the public can see of a hall.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};
use tungstenite::{Message, connect};

/// A Lichess that takes everything, and keeps the newest body of each address.
#[derive(Clone)]
pub struct Lichess {
    pub port: u16,
    bodies: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Lichess {
    pub fn open() -> Lichess {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let lichess = Lichess {
            port: listener.local_addr().expect("it is bound").port(),
            bodies: Arc::default(),
        };
        let server = lichess.clone();
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let server = server.clone();
                thread::spawn(move || server.serve(socket));
            }
        });
        lichess
    }

    fn serve(&self, socket: TcpStream) {
        let mut reader = BufReader::new(socket);
        loop {
            let (mut path, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 {
                    return;
                }
                let line = line.trim_end();
                if line.is_empty() {
                    break;
                }
                if let Some(rest) = line.strip_prefix("POST ") {
                    path = rest.split(' ').next().unwrap_or_default().to_owned();
                }
                let lower = line.to_ascii_lowercase();
                if let Some(rest) = lower.strip_prefix("content-length:") {
                    length = rest.trim().parse().expect("a length");
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("the body comes");
            let body = String::from_utf8(body).expect("UTF-8");
            let games = vec![json!({"moves": 600}); body.matches("[Event ").count()];
            let answer = json!({ "games": games }).to_string();
            let reset = path.ends_with("/reset");
            self.bodies.lock().expect("whole").insert(path, body);
            let answer = if reset { String::new() } else { answer };
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
                answer.len()
            );
            let socket = reader.get_mut();
            if socket.write_all((head + &answer).as_bytes()).is_err() {
                return;
            }
        }
    }

    pub fn round(&self, round: &str) -> String {
        let path = format!("/round/{round}/push");
        let bodies = self.bodies.lock().expect("whole");
        bodies.get(&path).cloned().unwrap_or_default()
    }
}

/// Where the outputs are. Copies look at the same.
#[derive(Clone)]
pub struct Public {
    pub dir: PathBuf,
    pub polled: u16,
    pub local: u16,
    pub lichess: Lichess,
}

impl Public {
    fn polled(&self, path: &str) -> String {
        let Ok(mut socket) = TcpStream::connect(("127.0.0.1", self.polled)) else {
            return String::new();
        };
        let request = format!("GET /{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let mut text = String::new();
        match socket
            .write_all(request.as_bytes())
            .and_then(|()| socket.read_to_string(&mut text))
        {
            Ok(_) => text,
            Err(_) => String::new(),
        }
    }

    /// What a program made for LiveChess is told of the game.
    fn local(&self) -> String {
        let ask = || -> Option<String> {
            let url = format!("ws://127.0.0.1:{}/api/v1.0", self.local);
            let (mut socket, _) = connect(url).ok()?;
            let feed = json!({"feed": "eboardevent", "id": 1, "param": {"serialnr": "1"}});
            let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
            let setup = json!({"id": 1, "method": "setup", "param": {"fen": fen}});
            for (call, param) in [
                ("eboards", Value::Null),
                ("subscribe", feed),
                ("call", setup),
            ] {
                let text = json!({"call": call, "id": 7, "param": param}).to_string();
                socket.send(Message::text(text)).ok()?;
            }
            let mut heard = String::new();
            loop {
                let text = socket.read().ok()?.into_text().ok()?.to_string();
                heard += &text;
                if text.contains("\"san\"") {
                    return Some(heard);
                }
            }
        };
        ask().unwrap_or_default()
    }

    /// A folder's files, by path.
    fn folder(&self, name: &str) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut dirs = vec![self.dir.join(name)];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let path = entry.path();
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                match path.is_dir() {
                    true => dirs.push(path),
                    false if hidden => {}
                    false => drop(files.insert(
                        relative(&path, &self.dir),
                        fs::read_to_string(&path).unwrap_or_default(),
                    )),
                }
            }
        }
        files
    }

    /// The folder that is not delayed.
    pub fn now(&self) -> BTreeMap<String, String> {
        self.folder("now")
    }

    /// All that the public sees, by output and path: each with its own headers and whole text.
    pub fn all(&self) -> BTreeMap<String, String> {
        let mut public = self.folder("pgn");
        let list = self.polled("");
        let paths = list.lines().filter_map(|line| line.strip_prefix('/'));
        for path in paths.chain([""]) {
            public.insert(format!("http/{path}"), self.polled(path));
        }
        for round in ["5", "6"] {
            let body = self.lichess.round(round);
            if !body.is_empty() {
                public.insert(format!("lichess/{round}"), body);
            }
        }
        public.insert("livechess".to_owned(), self.local());
        public
    }
}

fn relative(path: &Path, base: &Path) -> String {
    let path = path.strip_prefix(base).unwrap_or(path);
    path.to_string_lossy().into_owned()
}
