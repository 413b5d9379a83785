//! Virtual boards in real time, each behind a pty that a reader opens like a serial port.
#![expect(
    clippy::disallowed_methods,
    reason = "virtual boards live in real time"
)]

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl},
    pty::openpty,
    sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr},
    unistd::{read, ttyname, write},
};
use tokio::{io::unix::AsyncFd, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{Bus, GamesError, Noise, PlannedGame, Session, Truth, read_games};

/// Bytes a board keeps for a reader that does not read, before the rest is lost as on a real line.
const KEPT_BYTES: usize = 16 * 1024;

/// What to simulate.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many boards, numbered from 1.
    pub boards: u16,
    /// All on one line, linked as `bus`, instead of one each.
    pub bus: bool,
    /// PGN file with the games.
    pub games: PathBuf,
    /// Folder for the links `board-1` ...
    pub links: PathBuf,
    /// Virtual seconds per real second; the line runs that much faster too.
    pub speed: f64,
    /// Luck: the same seed gives the same games and noise.
    pub seed: u64,
    /// Noise of board 1, 2, ...; begun anew when the list is shorter. Empty: calm.
    pub noise: Vec<Noise>,
    /// Chance of an illegal move per ply.
    pub mishaps: f64,
    /// File for the truth, one JSON object a line.
    pub truth: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Games begun.
    pub games: usize,
    /// Bytes lost because nobody read them.
    pub dropped_bytes: u64,
    /// Commands a daemon must never send in play.
    pub forbidden_commands: u64,
}

/// Why the boards cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The games.
    #[error(transparent)]
    Games(#[from] GamesError),
    /// A speed, rate or number that makes no sense.
    #[error("{0}")]
    Options(&'static str),
    /// A file or a link.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A pty.
    #[error("pty of board {board}: {source}")]
    Pty {
        /// Board number.
        board: u16,
        /// What the system said.
        source: io::Error,
    },
}

/// A pty whose slave end stands as a link in a folder.
#[derive(Debug)]
pub struct PtyBoard {
    master: AsyncFd<OwnedFd>,
    /// Kept open: without a slave the master reads EIO while no reader is there.
    _slave: OwnedFd,
    link: PathBuf,
}

impl PtyBoard {
    /// Opens a pty and links it as `DIR/board-N`. Needs a tokio runtime.
    pub fn open(dir: &Path, number: u16) -> Result<PtyBoard, Error> {
        PtyBoard::linked(dir, number, &format!("board-{number}"))
    }

    fn linked(dir: &Path, number: u16, name: &str) -> Result<PtyBoard, Error> {
        let pty = |source: io::Error| Error::Pty {
            board: number,
            source,
        };
        let pair = openpty(None, None).map_err(|e| pty(e.into()))?;
        // Raw before anyone opens it: in cooked mode protocol bytes are mangled and echoed.
        let mut settings = tcgetattr(&pair.slave).map_err(|e| pty(e.into()))?;
        cfmakeraw(&mut settings);
        tcsetattr(&pair.slave, SetArg::TCSANOW, &settings).map_err(|e| pty(e.into()))?;
        fcntl(&pair.master, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|e| pty(e.into()))?;
        let device = ttyname(&pair.slave).map_err(|e| pty(e.into()))?;
        let link = dir.join(name);
        let file = |source| Error::File {
            path: link.clone(),
            source,
        };
        if link.is_symlink() {
            std::fs::remove_file(&link).map_err(file)?;
        }
        std::os::unix::fs::symlink(&device, &link).map_err(file)?;
        // Its fault is for types that may change their descriptor; an OwnedFd never does.
        #[expect(deprecated, reason = "the sound constructor is unsafe")]
        let master = AsyncFd::new(pair.master).map_err(pty)?;
        Ok(PtyBoard {
            master,
            _slave: pair.slave,
            link,
        })
    }

    /// Writes what the pty takes; the rest stays, and beyond the limit the newest is lost, as on a
    /// real line. Returns the number of lost bytes.
    fn write(&self, waiting: &mut Vec<u8>) -> io::Result<u64> {
        while !waiting.is_empty() {
            match write(self.master.get_ref(), waiting) {
                Ok(count) => drop(waiting.drain(..count)),
                Err(Errno::EAGAIN) => break,
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let lost = waiting.len().saturating_sub(KEPT_BYTES);
        waiting.truncate(KEPT_BYTES);
        Ok(lost as u64)
    }

    async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.master.readable().await?;
            let tried = ready.try_io(|fd| read(fd.get_ref(), buffer).map_err(Into::into));
            if let Ok(result) = tried {
                return result;
            }
        }
    }
}

impl Drop for PtyBoard {
    fn drop(&mut self) {
        // A link that somebody else took away needs no care.
        let _ = std::fs::remove_file(&self.link);
    }
}

/// The shared truth file.
type TruthFile = Arc<Mutex<BufWriter<File>>>;

/// Reads the games and runs the boards until `stop`.
pub async fn run(options: Options, stop: CancellationToken) -> Result<Summary, Error> {
    let games = read_games(&options.games)?;
    run_boards(&options, games, stop).await
}

/// Runs boards with these games until `stop`; `options.games` is not read.
pub async fn run_boards(
    options: &Options,
    games: Vec<PlannedGame>,
    stop: CancellationToken,
) -> Result<Summary, Error> {
    if !(options.speed.is_finite() && options.speed > 0.0) {
        return Err(Error::Options("the speed must be above zero"));
    }
    if !(0.0..=1.0).contains(&options.mishaps) {
        return Err(Error::Options(
            "the rate of mishaps must lie between 0 and 1",
        ));
    }
    let games: Vec<_> = games.into_iter().map(Arc::new).collect();
    if games.is_empty() || options.boards == 0 {
        return Err(Error::Options("there must be a board and a game"));
    }
    std::fs::create_dir_all(&options.links).map_err(|source| Error::File {
        path: options.links.clone(),
        source,
    })?;
    let truth = match &options.truth {
        None => None,
        Some(path) => {
            let file = File::create(path).map_err(|source| Error::File {
                path: path.clone(),
                source,
            })?;
            Some(Arc::new(Mutex::new(BufWriter::new(file))))
        }
    };
    let mut tasks = JoinSet::new();
    let mut together = Vec::new();
    for number in 1..=options.boards {
        let mut own = games.clone();
        own.rotate_left(usize::from(number - 1) % games.len());
        let noise = options
            .noise
            .get(usize::from(number - 1) % options.noise.len().max(1));
        let noise = noise.copied().unwrap_or_default();
        // Every fourth board stands the other way round, as in a real hall.
        let turned = number % 4 == 0;
        let session = Session::new(number, own, options.seed, noise, options.mishaps, turned);
        let session = session.repeating();
        if options.bus {
            together.push(session);
        } else {
            let port = PtyBoard::open(&options.links, number)?;
            let play = play(session, port, options.speed, truth.clone(), stop.clone());
            tasks.spawn(named(number, play));
        }
    }
    if options.bus {
        let port = PtyBoard::linked(&options.links, 0, "bus")?;
        let bus = Bus::new(together, options.seed);
        let play = play(bus, port, options.speed, truth.clone(), stop.clone());
        tasks.spawn(named(0, play));
    }
    let mut summary = Summary::default();
    while let Some(ended) = tasks.join_next().await {
        let part = ended.map_err(|e| Error::Pty {
            board: 0,
            source: io::Error::other(e),
        })??;
        summary.games += part.games;
        summary.dropped_bytes += part.dropped_bytes;
        summary.forbidden_commands += part.forbidden_commands;
    }
    Ok(summary)
}

/// What is at the other end of a line.
trait Played {
    fn advance_to(&mut self, now_ms: u64, out: &mut Vec<u8>);
    fn command(&mut self, bytes: &[u8], now_ms: u64);
    fn next_wake(&self) -> Option<u64>;
    fn truth(&mut self) -> Vec<Truth>;
    fn summary(&self) -> (usize, u64);
}

impl Played for Session {
    fn advance_to(&mut self, now_ms: u64, out: &mut Vec<u8>) {
        Session::advance_to(self, now_ms, out);
    }

    fn command(&mut self, bytes: &[u8], now_ms: u64) {
        Session::command(self, bytes, now_ms);
    }

    fn next_wake(&self) -> Option<u64> {
        Session::next_wake(self)
    }

    fn truth(&mut self) -> Vec<Truth> {
        Session::truth(self)
    }

    fn summary(&self) -> (usize, u64) {
        (self.games_begun(), self.board().forbidden())
    }
}

impl Played for Bus {
    fn advance_to(&mut self, now_ms: u64, out: &mut Vec<u8>) {
        Bus::advance_to(self, now_ms, out);
    }

    fn command(&mut self, bytes: &[u8], now_ms: u64) {
        Bus::command(self, bytes, now_ms);
    }

    fn next_wake(&self) -> Option<u64> {
        Bus::next_wake(self)
    }

    fn truth(&mut self) -> Vec<Truth> {
        Bus::truth(self)
    }

    fn summary(&self) -> (usize, u64) {
        (self.games_begun(), self.forbidden())
    }
}

async fn named(
    board: u16,
    play: impl Future<Output = io::Result<Summary>>,
) -> Result<Summary, Error> {
    play.await.map_err(|source| Error::Pty { board, source })
}

async fn play(
    mut session: impl Played,
    port: PtyBoard,
    speed: f64,
    truth: Option<TruthFile>,
    stop: CancellationToken,
) -> io::Result<Summary> {
    let start = Instant::now();
    let virtual_ms = || (start.elapsed().as_secs_f64() * 1000.0 * speed) as u64;
    let (mut waiting, mut commands) = (Vec::new(), [0; 256]);
    let mut summary = Summary::default();
    loop {
        session.advance_to(virtual_ms(), &mut waiting);
        summary.dropped_bytes += port.write(&mut waiting)?;
        let lines = session.truth();
        if let Some(file) = truth.as_ref().filter(|_| !lines.is_empty()) {
            write_truth(file, &lines)?;
        }
        let wake = session
            .next_wake()
            .unwrap_or(u64::MAX)
            .saturating_sub(virtual_ms());
        let pause = (wake as f64 / speed).clamp(1.0, 1_000.0);
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(Duration::from_secs_f64(pause / 1000.0)) => {}
            count = port.read(&mut commands) => {
                let now = virtual_ms();
                session.advance_to(now, &mut waiting);
                session.command(&commands[..count?], now);
            }
        }
    }
    (summary.games, summary.forbidden_commands) = session.summary();
    Ok(summary)
}

fn write_truth(file: &TruthFile, lines: &[Truth]) -> io::Result<()> {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    for line in lines {
        serde_json::to_writer(&mut *file, line)?;
        file.write_all(b"\n")?;
    }
    file.flush()
}
