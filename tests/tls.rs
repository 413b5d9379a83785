//! TLS both ways: to a real Mosquitto, and from browsers to the page.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use atalaya::publish::{ClientSettings, Publisher, Tls, TlsFiles, channel};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
};
use support::{Guard, free_port, program};
use tokio::{task::block_in_place, time::timeout};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(20);

/// Certificates of a venue in a folder: an authority, a broker and a daemon it signed.
struct Office(tempfile::TempDir);

impl Office {
    fn open() -> Office {
        let office = Office(tempfile::tempdir().expect("a folder"));
        let mut params = named("authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(params, key).expect("it signs itself");
        fs::write(office.path("ca.crt"), authority.pem()).expect("it writes");
        for name in ["localhost", "daemon"] {
            let key = KeyPair::generate().expect("a key");
            let signed = named(name).signed_by(&key, &authority).expect("it signs");
            fs::write(office.path(&format!("{name}.crt")), signed.pem()).expect("it writes");
            fs::write(office.path(&format!("{name}.key")), key.serialize_pem()).expect("it writes");
        }
        // Mosquitto started by root reads as another user.
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        open(office.0.path(), 0o755).expect("it is ours");
        for file in fs::read_dir(office.0.path()).expect("it lists").flatten() {
            open(&file.path(), 0o644).expect("it is ours");
        }
        office
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A Mosquitto that speaks TLS only, and asks who comes.
    fn broker(&self, mosquitto: &Path, port: u16) -> Guard {
        let text = format!(
            "listener {port} 127.0.0.1\nallow_anonymous true\nrequire_certificate true\n\
             cafile {}\ncertfile {}\nkeyfile {}\n",
            self.path("ca.crt").display(),
            self.path("localhost.crt").display(),
            self.path("localhost.key").display(),
        );
        fs::write(self.path("broker.conf"), text).expect("it writes");
        let broker = Guard::spawn(
            Command::new(mosquitto)
                .arg("-c")
                .arg(self.path("broker.conf"))
                .stderr(Stdio::null()),
        );
        until_it_listens(port);
        broker
    }

    fn files(&self, with_own: bool) -> TlsFiles {
        let own = (self.path("daemon.crt"), self.path("daemon.key"));
        TlsFiles {
            authority: Some(self.path("ca.crt")),
            own: Some(own).filter(|_| with_own),
        }
    }
}

/// OpenSSL takes a certificate of its signer's name for its own signer.
fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn until_it_listens(port: u16) {
    let until = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "nobody listens within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(30));
    }
}

fn client(port: u16, files: &TlsFiles) -> (Publisher, CancellationToken) {
    let (publisher, actor) = channel(ClientSettings {
        host: "localhost".to_owned(),
        port,
        tls: Some(Tls::new("localhost", port, files).expect("good files")),
        client_id: "atalaya-hall-1".to_owned(),
        login: None,
        keep_alive: Duration::from_secs(1),
        status: None,
        hear: None,
    });
    let stop = CancellationToken::new();
    tokio::spawn(actor.run(stop.clone()));
    (publisher, stop)
}

async fn connects(publisher: &Publisher, patience: Duration) -> bool {
    let mut connected = publisher.connected();
    let there = connected.wait_for(|there| *there);
    matches!(timeout(patience, there).await, Ok(Ok(_)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_broker_and_the_daemon_know_each_other_by_their_certificates() {
    let Some(mosquitto) = program("mosquitto") else {
        return;
    };
    let (ours, other) = (Office::open(), Office::open());
    let port = free_port();
    let _broker = block_in_place(|| ours.broker(&mosquitto, port));
    let (good, stop) = client(port, &ours.files(true));
    let (unknown, stop_unknown) = client(port, &ours.files(false));
    let (cheated, stop_cheated) = client(port, &other.files(true));
    assert!(connects(&good, PATIENCE).await);
    // Each of the others has tried more than once by now.
    assert!(
        !connects(&unknown, Duration::from_secs(2)).await,
        "no certificate"
    );
    assert!(
        !connects(&cheated, Duration::from_secs(2)).await,
        "another authority"
    );
    for stop in [stop, stop_unknown, stop_cheated] {
        stop.cancel();
    }
}

#[test]
fn a_file_that_is_no_certificate_is_named() {
    let office = Office::open();
    let told = |files: TlsFiles| match Tls::new("localhost", 8883, &files) {
        Ok(_) => panic!("it is no certificate"),
        Err(why) => why.to_string(),
    };
    let key = office.path("daemon.key");
    let none = told(TlsFiles {
        authority: Some(key.clone()),
        own: None,
    });
    assert!(none.starts_with(&key.display().to_string()), "{none}");
    let gone = office.path("gone.crt");
    let missing = told(TlsFiles {
        authority: Some(gone.clone()),
        own: None,
    });
    assert!(
        missing.starts_with(&gone.display().to_string()),
        "{missing}"
    );
}

/// A daemon whose page speaks TLS.
fn page(dir: &Path, port: u16) -> Guard {
    let text = format!(
        "[broker]\nlisten = \"127.0.0.1:0\"\nwebsocket = \"none\"\n[web]\nlisten = \"127.0.0.1:{port}\"\n\
         tls = \"generated\"\n[journal]\ndir = \"state\"\n[[board]]\nnumber = 1\nport = \"/nowhere\"\n"
    );
    fs::write(dir.join("atalaya.toml"), text).expect("it writes");
    let daemon = Guard::spawn(
        Command::new(env!("CARGO_BIN_EXE_atalaya"))
            .args(["run", "--config", "atalaya.toml"])
            .current_dir(dir)
            .stderr(Stdio::null()),
    );
    until_it_listens(port);
    daemon
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_served_under_a_certificate_that_stays() {
    let dir = tempfile::tempdir().expect("a folder");
    let port = free_port();
    let daemon = block_in_place(|| page(dir.path(), port));
    let certificate = dir.path().join("state/page-certificate.pem");
    let key = fs::metadata(dir.path().join("state/page-key.pem")).expect("it is kept");
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
    let pem = fs::read(&certificate).expect("it is kept");

    // Somebody who never speaks holds nobody up.
    let _silent = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let trusting = reqwest::Client::builder()
        .add_root_certificate(reqwest::Certificate::from_pem(&pem).expect("PEM"))
        .timeout(PATIENCE)
        .build()
        .expect("a client");
    let url = format!("https://localhost:{port}/session");
    let answer = trusting.get(&url).send().await.expect("it answers");
    assert!(answer.status().is_success());
    let login = trusting.post(format!("https://localhost:{port}/login"));
    let login = login.header("content-type", "application/json");
    let entered = login
        .body(r#"{"user":"ana"}"#)
        .send()
        .await
        .expect("it answers");
    let cookie = entered.headers()["set-cookie"].to_str().expect("text");
    assert!(cookie.contains("; Secure"), "{cookie}");
    let doubting = reqwest::Client::new();
    doubting
        .get(&url)
        .send()
        .await
        .expect_err("nobody signed it");

    let clear = block_in_place(|| {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut clear = TcpStream::connect(address).expect("it listens");
        clear.set_read_timeout(Some(PATIENCE)).expect("a time");
        clear
            .write_all(b"GET /session HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .expect("it is sent");
        let mut answer = Vec::new();
        let _ = clear.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    });
    assert!(!clear.contains("200 OK"), "{clear}");

    drop(daemon);
    let _again = block_in_place(|| page(dir.path(), port));
    assert_eq!(fs::read(&certificate).expect("it is kept"), pem);
}

#[test]
fn a_public_page_without_users_or_tls_says_how_to_set_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let refused = |web: &str| {
        let text = format!("[web]\nlisten = \"0.0.0.0:0\"\n{web}[journal]\ndir = \"state\"\n");
        fs::write(dir.path().join("atalaya.toml"), text).expect("it writes");
        let run = Command::new(env!("CARGO_BIN_EXE_atalaya"))
            .args(["run", "--config", "atalaya.toml"])
            .current_dir(dir.path())
            .output()
            .expect("it runs");
        assert_eq!(run.status.code(), Some(2));
        String::from_utf8_lossy(&run.stderr).into_owned()
    };
    let nobody = refused("tls = \"generated\"\n");
    assert!(nobody.contains("web.users"), "{nobody}");
    assert!(nobody.contains("atalaya user NAME"), "{nobody}");
    let clear = refused("users = \"users.toml\"\n");
    assert!(clear.contains("web.tls = \"generated\""), "{clear}");
    let files = refused("users = \"users.toml\"\ntls = \"files\"\n");
    assert!(files.contains("web.certificate"), "{files}");
}
