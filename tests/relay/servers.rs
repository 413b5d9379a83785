//! Real FTP and SFTP servers, and a line to them that breaks.

use std::{
    env, fs,
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, copy, sink},
    net::{TcpListener, TcpStream},
};

/// Where a server is; without it the test is skipped with a word, but not in CI.
fn server(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .chain(["/usr/sbin".into()])
        .map(|dir| dir.join(name))
        .find(|file| file.is_file());
    if found.is_none() {
        assert!(env::var_os("CI").is_none(), "apt-get install {name}");
        println!("skipped: {name} is not installed");
    }
    found
}

fn run(program: &str, words: &[&str]) -> String {
    let done = Command::new(program).args(words).output();
    let done = done.unwrap_or_else(|why| panic!("{program}: {why}"));
    assert!(done.status.success(), "{program} {words:?}: {done:?}");
    String::from_utf8(done.stdout).expect("text")
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("it has one").port()
}

/// A running server; it ends with this.
pub struct Server {
    child: Child,
    pub at: SocketAddr,
}

impl Server {
    async fn start(command: &mut Command, port: u16) -> Server {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let mut child = child.expect("it starts");
        let at = SocketAddr::from(([127, 0, 0, 1], port));
        for _ in 0..500 {
            let ended = child.try_wait().expect("it is ours");
            assert!(ended.is_none(), "the server ended: {ended:?}");
            if TcpStream::connect(at).await.is_ok() {
                return Server { child, at };
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("no server at {at}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An SSH server of this user, with keys made for it.
pub struct Ssh {
    pub server: Server,
    pub user: String,
    /// Private key of the user.
    pub key: String,
    /// Public key of the machine, as `ssh-keyscan` gives it.
    pub host_key: String,
}

pub async fn sshd(dir: &Path) -> Option<Ssh> {
    let sshd = server("sshd")?;
    let made = |name: &str| {
        let file = dir.join(name).display().to_string();
        run(
            "ssh-keygen",
            &["-q", "-t", "ed25519", "-N", "", "-f", &file],
        );
        file
    };
    let (host, own) = (made("host"), made("own"));
    if run("id", &["-u"]).trim() == "0" {
        fs::create_dir_all("/run/sshd").expect("sshd's own folder");
    }
    let port = free_port();
    let config = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {host}\nAuthorizedKeysFile {own}.pub\n\
         PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
         PermitRootLogin prohibit-password\nSubsystem sftp internal-sftp\n"
    );
    let file = dir.join("sshd_config");
    fs::write(&file, config).expect("it writes");
    let mut command = Command::new(sshd);
    command.args(["-D", "-f"]).arg(file);
    command.arg("-E").arg(dir.join("sshd.log"));
    let read = |file: String| fs::read_to_string(file).expect("it was made");
    Some(Ssh {
        server: Server::start(&mut command, port).await,
        user: run("id", &["-un"]).trim().to_owned(),
        key: read(own),
        host_key: read(format!("{host}.pub")).trim().to_owned(),
    })
}

/// An FTP server that lets `ftp` in with this password, into the folder that is given.
pub async fn vsftpd(dir: &Path, password: &str) -> Option<(Server, PathBuf)> {
    let vsftpd = server("vsftpd")?;
    let root = dir.join("root");
    fs::create_dir(&root).expect("it is new");
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let words = dir.join("passwords");
    fs::write(&words, format!("{password}\n")).expect("it writes");
    let empty = dir.join("empty");
    fs::create_dir(&empty).expect("it is new");
    let port = free_port();
    let config = format!(
        "listen=YES\nlisten_address=127.0.0.1\nlisten_port={port}\nbackground=NO\n\
         anonymous_enable=YES\nlocal_enable=NO\nwrite_enable=YES\nanon_upload_enable=YES\n\
         anon_mkdir_write_enable=YES\nanon_other_write_enable=YES\nanon_umask=022\n\
         anon_root={}\nsecure_email_list_enable=YES\nemail_password_file={}\n\
         secure_chroot_dir={}\nseccomp_sandbox=NO\nisolate=NO\nisolate_network=NO\n\
         run_as_launching_user=YES\nconnect_from_port_20=NO\n",
        root.display(),
        words.display(),
        empty.display()
    );
    let file = dir.join("vsftpd.conf");
    fs::write(&file, config).expect("it writes");
    let started = Server::start(Command::new(vsftpd).arg(file), port).await;
    Some((started, root))
}

/// A line to a server that breaks in the middle of what is sent.
#[derive(Clone)]
pub struct Line {
    pub at: SocketAddr,
    left: Arc<AtomicUsize>,
    away: Arc<AtomicBool>,
}

impl Line {
    /// A line to an SSH server: when it breaks both ends lose it.
    pub async fn whole(server: SocketAddr) -> Line {
        let (line, listener) = Line::new().await;
        let own = line.clone();
        tokio::spawn(async move {
            while let Some(client) = own.caller(&listener).await {
                tokio::spawn(own.clone().carry(client, server, false));
            }
        });
        line
    }

    /// A line to an FTP server: its data connections break, in such a way that the server thinks it
    /// has all.
    pub async fn data(server: SocketAddr) -> Line {
        let (line, listener) = Line::new().await;
        let own = line.clone();
        tokio::spawn(async move {
            while let Some(client) = own.caller(&listener).await {
                tokio::spawn(own.clone().control(client, server));
            }
        });
        line
    }

    async fn new() -> (Line, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let at = listener.local_addr().expect("it has one");
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let away = Arc::default();
        (Line { at, left, away }, listener)
    }

    /// The next that the line is given to.
    async fn caller(&self, listener: &TcpListener) -> Option<TcpStream> {
        loop {
            let (client, _) = listener.accept().await.ok()?;
            if !self.away.load(Ordering::SeqCst) {
                return Some(client);
            }
        }
    }

    /// From now on it hangs up on whoever calls, or does so no more. Who is on the line stays.
    pub fn hang_up(&self, away: bool) {
        self.away.store(away, Ordering::SeqCst);
    }

    /// Breaks once, after so many bytes more.
    pub fn break_after(&self, bytes: usize) {
        self.left.store(bytes, Ordering::SeqCst);
    }

    /// It broke, and is whole again.
    pub fn broke(&self) -> bool {
        self.left.load(Ordering::SeqCst) == usize::MAX
    }

    async fn carry(self, client: TcpStream, server: SocketAddr, quietly: bool) {
        let Ok(server) = TcpStream::connect(server).await else {
            return;
        };
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        let back = tokio::spawn(async move {
            // Either end may go.
            let _ = copy(&mut from_server, &mut to_client).await;
        });
        let mut bytes = [0; 256];
        while let Ok(count @ 1..) = from_client.read(&mut bytes).await {
            let left = self.left.load(Ordering::SeqCst);
            if left < count {
                let _ = to_server.write_all(&bytes[..left]).await;
                self.left.store(usize::MAX, Ordering::SeqCst);
                if quietly {
                    let _ = to_server.shutdown().await;
                    let _ = copy(&mut from_client, &mut sink()).await;
                }
                back.abort();
                return;
            }
            if left != usize::MAX {
                self.left.store(left - count, Ordering::SeqCst);
            }
            if to_server.write_all(&bytes[..count]).await.is_err() {
                break;
            }
        }
        let _ = to_server.shutdown().await;
        let _ = back.await;
    }

    async fn control(self, client: TcpStream, server: SocketAddr) {
        let Ok(server) = TcpStream::connect(server).await else {
            return;
        };
        let (mut from_client, mut to_client) = client.into_split();
        let (from_server, mut to_server) = server.into_split();
        tokio::spawn(async move {
            let _ = copy(&mut from_client, &mut to_server).await;
            let _ = to_server.shutdown().await;
        });
        let mut lines = BufReader::new(from_server).lines();
        while let Ok(Some(mut line)) = lines.next_line().await {
            if line.starts_with("227") {
                let inside = line.split(['(', ')']).nth(1).expect("an address");
                let parts: Vec<u16> = inside.split(',').map(|n| n.parse().unwrap()).collect();
                let port = parts[4] * 256 + parts[5];
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                let own = listener.local_addr().expect("it has one").port();
                line = format!("227 Passive (127,0,0,1,{},{}).", own / 256, own % 256);
                let carrier = self.clone();
                tokio::spawn(async move {
                    if let Ok((data, _)) = listener.accept().await {
                        let server = SocketAddr::from(([127, 0, 0, 1], port));
                        carrier.carry(data, server, true).await;
                    }
                });
            }
            if to_client
                .write_all(format!("{line}\r\n").as_bytes())
                .await
                .is_err()
            {
                return;
            }
        }
    }
}
