//! A port that gives bytes, but none a board says.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    fs::{self, File},
    io::{Read, Write},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use nix::{
    pty::openpty,
    sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr},
    unistd::ttyname,
};
use support::{
    Guard, Seen, Subscriber, free_port,
    play::{ATALAYA, simulate},
};

/// For what must come at all; a busy machine is not to fail the test.
const PATIENCE: Duration = Duration::from_secs(180);

/// A device that speaks without end, and no board's language.
struct Babbler {
    path: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Babbler {
    fn start(byte: fn() -> u8) -> Babbler {
        let pair = openpty(None, None).expect("a pty");
        let mut settings = tcgetattr(&pair.slave).expect("settings");
        cfmakeraw(&mut settings);
        tcsetattr(&pair.slave, SetArg::TCSANOW, &settings).expect("raw");
        let path = ttyname(&pair.slave).expect("a name");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        thread::spawn(move || {
            let slave = pair.slave;
            let mut master = File::from(pair.master);
            nix::fcntl::fcntl(
                &master,
                nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK),
            )
            .expect("it may not block");
            let mut heard = [0; 64];
            while !stopped.load(Ordering::Relaxed) {
                let bytes: Vec<u8> = (0..10).map(|_| byte()).collect();
                // Nobody may be reading yet; and questions are not understood.
                let _ = master.write(&bytes);
                let _ = master.read(&mut heard);
                thread::sleep(Duration::from_millis(10));
            }
            drop(slave);
        });
        Babbler { path, stop }
    }
}

impl Drop for Babbler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn configuration(dir: &Path, port: u16) {
    let text = format!(
        "[venue]\nid = \"test\"\n[broker]\nlisten = \"127.0.0.1:{port}\"\nwebsocket = \"none\"\n\
         [web]\nlisten = \"none\"\n[journal]\ndir = \"state\"\n[[board]]\nnumber = 1\nport = {:?}\n",
        dir.join("port")
    );
    fs::write(dir.join("atalaya.toml"), text).expect("it writes");
}

fn link(seen: &[Seen]) -> Option<(String, bool)> {
    let mut links = seen.iter().filter(|seen| seen.topic.ends_with("/link"));
    let link = links.next_back()?.json();
    let noise = link["noise"].as_bool().expect("yes or no");
    Some((link["state"].as_str().expect("a word").to_owned(), noise))
}

/// Random bytes come from another kind of device; a line at another speed gives a few patterns again
/// and again.
#[test]
fn noise_is_a_silent_board_and_is_called_noise() {
    let random = || fastrand::u8(..);
    let wrong_speed = || [0x00, 0x80, 0xf8, 0xff, 0x86, 0x78][fastrand::usize(0..6)];
    for byte in [random as fn() -> u8, wrong_speed] {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path();
        let port = free_port();
        let boards = simulate(dir, "boards", 1, "0");
        let noise = Babbler::start(byte);
        symlink(&noise.path, dir.join("port")).expect("linked");
        configuration(dir, port);
        let mut command = Command::new(ATALAYA);
        command
            .args(["run", "--config", "atalaya.toml"])
            .current_dir(dir)
            .env("ATALAYA_LOG", "info")
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut daemon = Guard::spawn(&mut command);
        let log = support::listen(&mut daemon);
        let address = format!("127.0.0.1:{port}").parse().expect("an address");
        let Some(mut phone) = Subscriber::start(address) else {
            return;
        };
        let is = |state: &'static str, noise: bool| {
            move |seen: &[Seen]| link(seen) == Some((state.to_owned(), noise))
        };
        assert!(phone.wait(PATIENCE, is("silent", true)), "not told");
        // The right cable is put in.
        fs::remove_file(dir.join("port")).expect("unlinked");
        drop(noise);
        symlink(dir.join("boards/board-1"), dir.join("port")).expect("linked");
        assert!(phone.wait(PATIENCE, is("up", false)), "not found");
        drop(boards);

        let pid = daemon.0.id().to_string();
        let stopped = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(stopped.expect("kill runs").success());
        assert!(daemon.0.wait().expect("it ends").success());
        let log = log.join().expect("it was read");
        assert_eq!(log.matches("nothing a board says").count(), 1, "{log}");
    }
}
