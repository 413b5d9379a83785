//! The link against real ptys and sockets.
#![expect(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use atalaya::link::{Address, Lines, LinkEvent, Manner, run};
use nix::fcntl::OFlag;
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The wait after which a thing that should happen has not.
const PATIENCE: Duration = Duration::from_secs(5);

/// The board's end of a pty, raw, with the slave held open so the master outlives its readers.
struct Board {
    master: PtyMaster,
    _slave: File,
    path: PathBuf,
}

impl Board {
    fn new() -> Board {
        let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY).expect("a pty");
        grantpt(&master).expect("grantpt");
        unlockpt(&master).expect("unlockpt");
        let path = PathBuf::from(ptsname_r(&master).expect("ptsname"));
        let slave = File::options()
            .read(true)
            .write(true)
            .open(&path)
            .expect("the slave");
        let mut termios = tcgetattr(&slave).expect("termios");
        cfmakeraw(&mut termios);
        tcsetattr(&slave, SetArg::TCSANOW, &termios).expect("raw");
        Board {
            master,
            _slave: slave,
            path,
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.master.write_all(bytes).expect("the pty takes bytes");
    }

    /// Reads so many bytes in a thread of its own, each with the time it came.
    fn heard(&self, count: usize) -> std::thread::JoinHandle<Vec<(u8, Instant)>> {
        let copy: OwnedFd = nix::unistd::dup(&self.master).expect("dup");
        let mut master = File::from(copy);
        std::thread::spawn(move || {
            let mut seen = Vec::new();
            while seen.len() < count {
                let mut byte = [0];
                master.read_exact(&mut byte).expect("a command");
                seen.push((byte[0], Instant::now()));
            }
            seen
        })
    }
}

/// A running link.
struct Wire {
    events: mpsc::Receiver<LinkEvent>,
    commands: mpsc::Sender<Vec<u8>>,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Wire {
    fn new(address: &str) -> Wire {
        Wire::with_lines(address, Lines::default())
    }

    fn with_lines(address: &str, lines: Lines) -> Wire {
        let address: Address = address.parse().expect("an address");
        let manner = Manner {
            lines,
            ..Manner::default()
        };
        let (bytes_out, events) = mpsc::channel(1000);
        let (commands, commands_in) = mpsc::channel(16);
        let stop = CancellationToken::new();
        let task = tokio::spawn(run(address, manner, bytes_out, commands_in, stop.clone()));
        Wire {
            events,
            commands,
            stop,
            task,
        }
    }

    fn at(path: &Path) -> Wire {
        Wire::new(path.to_str().expect("text"))
    }

    async fn next(&mut self) -> LinkEvent {
        timeout(PATIENCE, self.events.recv())
            .await
            .expect("an event in time")
            .expect("a living link")
    }

    async fn opened(&mut self) {
        assert_eq!(self.next().await, LinkEvent::Opened);
    }

    async fn closed(&mut self) {
        let event = self.next().await;
        assert!(matches!(event, LinkEvent::Closed { .. }), "{event:?}");
    }

    async fn absent(&mut self) -> String {
        match self.next().await {
            LinkEvent::Absent { reason } => reason,
            event => panic!("{event:?}"),
        }
    }

    async fn bytes(&mut self, expected: &[u8]) {
        let mut seen = Vec::new();
        while seen.len() < expected.len() {
            match self.next().await {
                LinkEvent::Bytes(bytes) => seen.extend(bytes),
                event => panic!("{event:?} after {seen:02x?}"),
            }
        }
        assert_eq!(seen, expected);
    }

    async fn end(self) {
        self.stop.cancel();
        timeout(PATIENCE, self.task)
            .await
            .expect("stops when told")
            .expect("no panic");
    }
}

#[tokio::test]
async fn bytes_pass_unchanged_and_commands_are_spaced() {
    let mut board = Board::new();
    let mut wire = Wire::at(&board.path);
    wire.opened().await;
    let every: Vec<u8> = (0..=255).collect();
    board.send(&every);
    wire.bytes(&every).await;

    let heard = board.heard(4);
    for byte in [0x40, 0x4d, 0x42, 0x4b] {
        wire.commands.send(vec![byte]).await.expect("taken");
    }
    let heard = tokio::task::spawn_blocking(|| heard.join().expect("heard"))
        .await
        .expect("heard");
    let bytes: Vec<u8> = heard.iter().map(|(byte, _)| *byte).collect();
    assert_eq!(bytes, [0x40, 0x4d, 0x42, 0x4b]);
    // Over all of them: single arrivals jitter with the scheduler of the machine.
    assert!(heard[3].1 - heard[0].1 >= Duration::from_millis(160));
    wire.end().await;
}

/// The daemon goes and comes while the board stays: as root, and as the child of
/// [`reopens_without_privilege`] as anybody.
#[tokio::test]
async fn opens_closes_and_opens_again() {
    let path = std::env::var_os("LINK_TEST_PTY").map(PathBuf::from);
    let board = path.is_none().then(Board::new);
    let path = path.unwrap_or_else(|| board.as_ref().expect("own board").path.clone());
    for _ in 0..3 {
        let mut wire = Wire::at(&path);
        wire.opened().await;
        wire.end().await;
    }
    if std::env::var_os("LINK_TEST_DIE").is_some() {
        let mut wire = Wire::at(&path);
        wire.opened().await;
        // Dies as a killed daemon does, with the port open.
        std::process::abort();
    }
}

#[test]
fn reopens_without_privilege() {
    // Root passes over an exclusive flag, so as root this test runs its child as nobody.
    let root = std::fs::metadata("/proc/self").is_ok_and(|meta| {
        use std::os::unix::fs::MetadataExt;
        meta.uid() == 0
    });
    let board = Board::new();
    let mut open_to_all = std::fs::metadata(&board.path).expect("slave").permissions();
    open_to_all.set_mode(0o666);
    std::fs::set_permissions(&board.path, open_to_all).expect("own slave");

    // The build folder may lie where nobody else may look.
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join("link");
    std::fs::copy(std::env::current_exe().expect("this test"), &binary).expect("copied");
    for reached in [folder.path(), &binary] {
        std::fs::set_permissions(reached, std::fs::Permissions::from_mode(0o755)).expect("own");
    }
    let child = |die: bool| {
        let mut command = if root {
            let mut command = std::process::Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(&binary);
            command
        } else {
            std::process::Command::new(&binary)
        };
        command.args(["--exact", "opens_closes_and_opens_again"]);
        command.env("LINK_TEST_PTY", &board.path);
        command.current_dir("/");
        if die {
            command.env("LINK_TEST_DIE", "1");
        }
        command
            .output()
            .expect("setpriv (util-linux) runs the child")
    };
    use std::os::unix::process::ExitStatusExt;
    let killed = child(true);
    assert_eq!(killed.status.signal(), Some(6), "{killed:?}");
    let after = child(false);
    assert!(after.status.success(), "{after:?}");
}

#[tokio::test]
async fn a_lost_board_is_said_once_and_found_at_its_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("board-7");
    let first = Board::new();
    symlink(&first.path, &link).expect("linked");
    let mut wire = Wire::at(&link);
    wire.opened().await;
    // The link goes first, as udev does it: the kernel gives a free pty number to the next test.
    std::fs::remove_file(&link).expect("unlinked");
    drop(first);
    wire.closed().await;

    // Gone for a while: one word of it, commands dropped, and next to no work.
    let before = support::processor_time("self");
    let reason = wire.absent().await;
    assert!(reason.contains("board-7"), "{reason}");
    for _ in 0..40 {
        wire.commands.send(vec![0x42]).await.expect("not held up");
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(wire.events.try_recv().is_err());
    let used = support::processor_time("self") - before;
    assert!(used < Duration::from_secs(2), "{used:?} of processor time");

    let mut second = Board::new();
    symlink(&second.path, &link).expect("linked again");
    let asked = Instant::now();
    wire.opened().await;
    assert!(asked.elapsed() < Duration::from_millis(2500));
    second.send(&[0x8e, 0, 5, 1, 2]);
    wire.bytes(&[0x8e, 0, 5, 1, 2]).await;
    // Of the commands sent into the void none may come now; the first heard is the new one.
    let heard = second.heard(1);
    wire.commands.send(vec![0x4b]).await.expect("taken");
    let heard = tokio::task::spawn_blocking(|| heard.join().expect("heard"))
        .await
        .expect("heard");
    assert_eq!(heard[0].0, 0x4b);
    wire.end().await;
}

#[tokio::test]
async fn a_file_that_is_no_port_is_absent() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "text").expect("written");
    let mut wire = Wire::at(&file);
    assert!(!wire.absent().await.is_empty());
    wire.end().await;
}

#[tokio::test]
async fn a_tcp_server_that_restarts_is_found_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let local = listener.local_addr().expect("bound");
    let mut wire = Wire::new(&format!("tcp://{local}"));
    let (mut server, _) = listener.accept().await.expect("a caller");
    wire.opened().await;
    server.write_all(&[0x93, 0, 5, 1, 8]).await.expect("sent");
    wire.bytes(&[0x93, 0, 5, 1, 8]).await;
    wire.commands.send(vec![0x4d]).await.expect("taken");
    assert_eq!(server.read_u8().await.expect("a command"), 0x4d);

    drop(listener);
    drop(server);
    wire.closed().await;
    assert!(wire.absent().await.contains("tcp://"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(wire.events.try_recv().is_err());

    let listener = TcpListener::bind(local).await.expect("the same port");
    let (mut server, _) = timeout(Duration::from_millis(2500), listener.accept())
        .await
        .expect("called again in time")
        .expect("a caller");
    wire.opened().await;
    server.write_all(&[0x91]).await.expect("sent");
    wire.bytes(&[0x91]).await;
    wire.end().await;
}

/// A serial server that froze keeps the connection and says nothing for ever.
#[tokio::test]
async fn a_tcp_server_that_froze_is_called_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let local = listener.local_addr().expect("bound");
    let mut wire = Wire::new(&format!("tcp://{local}"));
    let (mut frozen, _) = listener.accept().await.expect("a caller");
    wire.opened().await;
    frozen.write_all(&[0x93, 0, 5, 1, 8]).await.expect("sent");
    wire.bytes(&[0x93, 0, 5, 1, 8]).await;
    wire.commands.send(vec![0x42]).await.expect("taken");
    // Nobody answers, but nobody hangs up either.
    let given_up = timeout(Duration::from_secs(60), wire.events.recv()).await;
    match given_up.expect("given up in time").expect("a living link") {
        LinkEvent::Closed { reason } => assert!(reason.contains("no answer"), "{reason}"),
        event => panic!("{event:?}"),
    }
    let again = timeout(PATIENCE, listener.accept()).await;
    let (mut server, _) = again.expect("called again").expect("a caller");
    wire.opened().await;
    server.write_all(&[0x93, 0, 5, 1, 8]).await.expect("sent");
    wire.bytes(&[0x93, 0, 5, 1, 8]).await;
    drop(frozen);
    wire.end().await;
}

/// In a process of its own, so that a stand-in for the system's call can write down what is asked of it.
#[test]
fn the_lines_are_set_as_the_settings_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/lines.c");
    let library = folder.path().join("lines.so");
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    assert!(built.expect("a C compiler runs").success());
    let file = folder.path().join("lines");
    for (dtr, rts, asked) in [
        ("keep", "keep", ""),
        ("off", "off", "clear 2\nclear 4\n"),
        ("on", "keep", "set 2\n"),
    ] {
        std::fs::write(&file, "").expect("written");
        let child = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "a_port_with_lines"])
            .env("LD_PRELOAD", &library)
            .env("LINES_FILE", &file)
            .env("LINK_TEST_LINES", format!("{dtr} {rts}"))
            .output();
        let child = child.expect("it runs");
        assert!(child.status.success(), "{child:?}");
        let told = std::fs::read_to_string(&file).expect("it reads");
        assert_eq!(told, asked, "{dtr} {rts}");
    }
}

/// The child of [`the_lines_are_set_as_the_settings_say`]; by itself, a pty that has no such lines.
#[tokio::test]
async fn a_port_with_lines() {
    let asked = std::env::var("LINK_TEST_LINES").unwrap_or_else(|_| "off off".to_owned());
    let (dtr, rts) = asked.split_once(' ').expect("two levels");
    let lines = Lines {
        dtr: dtr.parse().expect("a level"),
        rts: rts.parse().expect("a level"),
    };
    let mut board = Board::new();
    let mut wire = Wire::with_lines(board.path.to_str().expect("text"), lines);
    wire.opened().await;
    board.send(&[0x93, 0, 5, 1, 8]);
    wire.bytes(&[0x93, 0, 5, 1, 8]).await;
    wire.end().await;
}

#[tokio::test]
async fn ends_when_nobody_listens() {
    let mut board = Board::new();
    let mut wire = Wire::at(&board.path);
    wire.opened().await;
    wire.events.close();
    board.send(&[1]);
    timeout(PATIENCE, wire.task)
        .await
        .expect("ends")
        .expect("no panic");
}
