//! A hall in real time: what the daemon costs in processor and memory, and how soon a phone has an alert,
//! by the number of boards. Boards, daemon, broker and phone are processes of their own and measured
//! apart: `cargo bench --bench hall`. Needs Mosquitto; takes some three minutes a line.
//! `ATALAYA_BOARDS=700` measures halls of other sizes.

#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use serde_json::Value;
use support::{
    Guard, Subscriber, free_port,
    play::{ATALAYA, moves, simulate_with, spawn},
    program,
};

/// How long each hall is measured, once its games are under way.
const MEASURED: Duration = Duration::from_secs(60);
/// Men are set up for the better part of a minute.
const PATIENCE: Duration = Duration::from_secs(300);
/// A busy hall has so many illegal moves that there is something to measure.
const MISHAPS: &str = "0.02";

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn main() {
    let Some(mosquitto) = program("mosquitto") else {
        return;
    };
    println!(
        "| boards | processor, one core | of that a board | memory | press to alert p50 / p99 / worst \
         | seen to phone p50 / p99 | alerts | plies/s | broker | virtual boards |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let halls = env::var("ATALAYA_BOARDS").unwrap_or_else(|_| "1,10,100,200".to_owned());
    for boards in halls
        .split(',')
        .map(|n| n.parse::<u16>().expect("a number"))
    {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        let port = free_port();
        configuration(dir, port, boards);
        let broker = support::mosquitto(&mosquitto, port);
        let count = boards.to_string();
        let more = ["--boards", &count, "--noise", "hall", "--mishaps", MISHAPS];
        let players = simulate_with(dir, "boards", &more);
        let played = Played::follow(dir.join("boards.jsonl"));
        let last = dir.join(format!("boards/board-{boards}"));
        while !last.exists() {
            thread::sleep(Duration::from_millis(10));
        }
        let address = format!("127.0.0.1:{port}").parse().expect("an address");
        let Some(mut phone) = Subscriber::start(address) else {
            return;
        };
        let args = ["run", "--config", "atalaya.toml"];
        let daemon = spawn(Path::new(ATALAYA), &args, dir);
        let under_way = |seen: &[support::Seen]| moves(seen) >= 3 * usize::from(boards);
        assert!(phone.wait(PATIENCE, under_way), "no games");

        let label = Label::now();
        let (began, before) = (phone.seen.len(), Instant::now());
        let worked = |process: &Guard| support::processor_time(process.0.id());
        let work = [&daemon, &broker, &players].map(worked);
        let from = Instant::now();
        while before.elapsed() < MEASURED {
            phone.drain(Duration::from_millis(20).min(MEASURED - before.elapsed()));
        }
        let now = [&daemon, &broker, &players].map(worked);
        let took = before.elapsed().as_secs_f64();
        let share = |n: usize| (now[n] - work[n]).as_secs_f64() / took * 100.0;
        let memory = resident_kib(&daemon);
        let plies = moves(&phone.seen[began..]) as f64 / took;
        // What was made last is told a little later.
        phone.drain(Duration::from_secs(2));
        drop(players);
        let played = played.end();
        let (alarms, shares) = latencies(&phone, &played, from, &label);
        println!(
            "| {boards} | {:.1} % | {:.2} % | {:.1} MiB | {} / {} / {} ms | {} / {} ms | {} | {plies:.0} \
             | {:.1} % | {:.1} % |",
            share(0),
            share(0) / f64::from(boards),
            memory as f64 / 1024.0,
            rank(&alarms, 0.5),
            rank(&alarms, 0.99),
            rank(&alarms, 1.0),
            rank(&shares, 0.5),
            rank(&shares, 0.99),
            alarms.len(),
            share(1),
            share(2),
        );
    }
}

fn configuration(dir: &Path, port: u16, boards: u16) {
    let mut text = format!(
        "[venue]\nid = \"test\"\n[mqtt]\nbroker = \"mqtt://127.0.0.1:{port}\"\n\
         [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n[event]\nround = \"5\"\n"
    );
    for number in 1..=boards {
        let link = dir.join(format!("boards/board-{number}"));
        text += &format!("[[board]]\nnumber = {number}\nport = {link:?}\n");
    }
    fs::write(dir.join("atalaya.toml"), text).expect("it writes");
}

/// One moment on both clocks.
struct Label {
    instant: Instant,
    wall: Timestamp,
}

impl Label {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
    fn now() -> Label {
        Label {
            instant: Instant::now(),
            wall: Timestamp::now(),
        }
    }

    fn wall_ms(&self, at: Instant) -> i64 {
        let since = at.saturating_duration_since(self.instant).as_millis();
        self.wall.as_millisecond() + i64::try_from(since).expect("a short while")
    }
}

/// The illegal moves that were made, as they are written down.
struct Played {
    stop: Arc<AtomicBool>,
    reader: JoinHandle<(Vec<Value>, Option<Instant>)>,
}

impl Played {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
    fn follow(truth: PathBuf) -> Played {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let reader = thread::spawn(move || {
            let mut mishaps = Vec::new();
            // When the boards began, as near as any line tells: none is read before it is written.
            let mut zero: Option<Instant> = None;
            let (mut file, mut line) = (None, String::new());
            while !stopped.load(Ordering::Relaxed) {
                if file.is_none() {
                    file = File::open(&truth).ok().map(BufReader::new);
                }
                let Some(file) = &mut file else {
                    thread::sleep(Duration::from_millis(2));
                    continue;
                };
                let read = file.read_line(&mut line).expect("it reads");
                if read == 0 || !line.ends_with('\n') {
                    thread::sleep(Duration::from_millis(2));
                    continue;
                }
                let told: Value = serde_json::from_str(&line).expect("the truth is JSON");
                line.clear();
                let after = Duration::from_millis(told["at_ms"].as_u64().expect("a moment"));
                let began = Instant::now().checked_sub(after);
                zero = zero.min(began).or(began);
                if told["kind"] == "mishap" {
                    mishaps.push(told);
                }
            }
            (mishaps, zero)
        });
        Played { stop, reader }
    }

    /// Every illegal move with the moment of its press.
    fn end(self) -> Vec<(Instant, Value)> {
        self.stop.store(true, Ordering::Relaxed);
        let (mishaps, zero) = self.reader.join().expect("no panic");
        let zero = zero.expect("something was played");
        let moment =
            |told: &Value| zero + Duration::from_millis(told["at_ms"].as_u64().expect("a moment"));
        mishaps
            .into_iter()
            .map(|told| (moment(&told), told))
            .collect()
    }
}

/// Milliseconds from the press to the phone; and from the moment the daemon had seen enough to the phone.
fn latencies(
    phone: &Subscriber,
    played: &[(Instant, Value)],
    from: Instant,
    label: &Label,
) -> (Vec<u64>, Vec<u64>) {
    let (mut alarms, mut shares) = (Vec::new(), Vec::new());
    for seen in phone
        .seen
        .iter()
        .filter(|seen| seen.topic.ends_with("/alert-event"))
    {
        let event = seen.json();
        if event["event"] != "raised" || seen.at < from {
            continue;
        }
        let alert = &event["alert"];
        let made = played.iter().rev().find(|(pressed, mishap)| {
            *pressed <= seen.at
                && alert["board"] == mishap["board"]
                && alert["ply"] == mishap["ply"]
                && (alert["code"] == mishap["code"] || alert["instead"]["code"] == mishap["code"])
        });
        let Some((pressed, _)) = made else { continue };
        let ms = seen.at.duration_since(*pressed).as_millis();
        alarms.push(u64::try_from(ms).expect("a short while"));
        let told: Timestamp = event["ts"]
            .as_str()
            .and_then(|ts| ts.parse().ok())
            .expect("a label");
        let share = label.wall_ms(seen.at) - told.as_millisecond();
        shares.push(u64::try_from(share).unwrap_or(0));
    }
    alarms.sort_unstable();
    shares.sort_unstable();
    (alarms, shares)
}

fn rank(sorted: &[u64], part: f64) -> String {
    let last = sorted.len().saturating_sub(1);
    let place = (last as f64 * part).round() as usize;
    sorted
        .get(place)
        .map_or_else(|| "-".to_owned(), u64::to_string)
}

fn resident_kib(process: &Guard) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.0.id())).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let words = line.and_then(|line| line.split_whitespace().next());
    words.and_then(|kib| kib.parse().ok()).expect("a number")
}
