//! The page by TLS: with the venue's own certificate, or with one made here and kept.

use std::{
    collections::BTreeSet,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    net::{IpAddr, SocketAddr},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use sha2::{Digest as _, Sha256};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::{AbortHandle, JoinSet},
    time::timeout,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{PrivateKeyDer, pem::PemObject as _},
    },
    server::TlsStream,
};

use crate::publish::tls::{TlsError, at, certificates};

/// Who says nothing for so long is hung up on.
const GREETING: Duration = Duration::from_secs(10);
/// Greetings at once; a flood of silent ones waits in the system's queue.
const GREETINGS: usize = 64;
/// Telephones refuse certificates that live longer than 825 days.
const LIFE_DAYS: i64 = 820;
/// Made anew when it is older.
const RENEW: Duration = Duration::from_secs(700 * 24 * 60 * 60);

/// A certificate with its key, both PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The chain, the page's own first.
    pub chain: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// One does not read, or they do not fit together.
    #[error("{0}")]
    Tls(#[from] TlsError),
    /// One cannot be made.
    #[error("no certificate can be made: {0}")]
    Make(#[from] rcgen::Error),
    /// What was made cannot be kept.
    #[error("the page's certificate cannot be kept in {path}: {source}")]
    Keep {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Certificate {
    /// The one made for this machine and kept in `dir`; a new one when there is none, when it is old or
    /// the machine has other names now. `wall` is now.
    ///
    /// # Errors
    /// When it can be neither read nor made.
    pub fn generated(
        dir: &Path,
        listen: IpAddr,
        wall: Timestamp,
    ) -> Result<Certificate, CertificateError> {
        let own = Certificate {
            chain: dir.join("page-certificate.pem"),
            key: dir.join("page-key.pem"),
        };
        let names = names(listen);
        let first_line = format!("Atalaya's page: {}\n", names.join(" "));
        if !own.is_good(&first_line, wall) {
            own.make(names, &first_line, wall)?;
        }
        Ok(own)
    }

    fn is_good(&self, first_line: &str, wall: Timestamp) -> bool {
        let made = fs::metadata(&self.chain).and_then(|about| about.modified());
        let made = made.ok().and_then(|made| Timestamp::try_from(made).ok());
        let young = made.is_some_and(|made| wall.duration_since(made).unsigned_abs() < RENEW);
        let text = fs::read_to_string(&self.chain).unwrap_or_default();
        young && text.starts_with(first_line) && self.config().is_ok()
    }

    fn make(
        &self,
        names: Vec<String>,
        first_line: &str,
        wall: Timestamp,
    ) -> Result<(), CertificateError> {
        let key = rcgen::KeyPair::generate()?;
        let mut params = rcgen::CertificateParams::new(names)?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, "Atalaya");
        let day = |days: i64| {
            let date = wall.to_zoned(TimeZone::UTC).date();
            let date = date.saturating_add(days.days());
            rcgen::date_time_ymd(date.year().into(), date.month() as u8, date.day() as u8)
        };
        // A clock that is a little behind must not refuse it.
        params.not_before = day(-2);
        params.not_after = day(LIFE_DAYS);
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.self_signed(&key)?;
        if let Some(dir) = self.chain.parent() {
            fs::create_dir_all(dir).map_err(keep(dir))?;
        }
        write(&self.key, &key.serialize_pem())?;
        write(&self.chain, &format!("{first_line}{}", certificate.pem()))
    }

    /// What rustls needs.
    ///
    /// # Errors
    /// When the files do not read or do not fit together.
    pub fn config(&self) -> Result<ServerConfig, TlsError> {
        let chain = certificates(&self.chain)?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(at(&self.key))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }

    /// What a browser shows of it as SHA-256 fingerprint.
    ///
    /// # Errors
    /// When the file does not read.
    pub fn fingerprint(&self) -> Result<String, TlsError> {
        let chain = certificates(&self.chain)?;
        let digest = Sha256::digest(chain.first().map_or(&[][..], |own| own));
        let pairs: Vec<_> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
        Ok(pairs.join(":"))
    }
}

fn keep(path: &Path) -> impl Fn(io::Error) -> CertificateError {
    move |source| CertificateError::Keep {
        path: path.to_owned(),
        source,
    }
}

/// For this user alone.
fn write(path: &Path, text: &str) -> Result<(), CertificateError> {
    // One that is there may be readable for all.
    let _ = fs::remove_file(path);
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(keep(path))
}

/// What the machine may be called: its name, and the addresses it has now.
fn names(listen: IpAddr) -> Vec<String> {
    let mut names = BTreeSet::from(["localhost".to_owned(), "127.0.0.1".to_owned()]);
    if let Some(name) = nix::unistd::gethostname()
        .ok()
        .and_then(|name| name.into_string().ok())
    {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        if !name.is_empty() && name.chars().all(plain) {
            names.insert(format!("{name}.local"));
            names.insert(name);
        }
    }
    if !listen.is_unspecified() {
        names.insert(listen.to_string());
    }
    let addresses = nix::ifaddrs::getifaddrs().into_iter().flatten();
    for address in addresses.filter_map(|one| one.address) {
        if let Some(v4) = address.as_sockaddr_in() {
            names.insert(v4.ip().to_string());
        }
    }
    names.into_iter().collect()
}

/// Where a browser comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub SocketAddr);

/// Accepts, greets each in a task of its own, and gives those that are through.
pub(super) struct TlsListener {
    addr: SocketAddr,
    greeted: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    task: AbortHandle,
}

impl TlsListener {
    pub(super) fn new(listener: TcpListener, config: ServerConfig) -> io::Result<TlsListener> {
        let addr = listener.local_addr()?;
        let (through, greeted) = mpsc::channel(GREETINGS);
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let task = tokio::spawn(greet(listener, acceptor, through)).abort_handle();
        Ok(TlsListener {
            addr,
            greeted,
            task,
        })
    }
}

impl Drop for TlsListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn greet(
    mut listener: TcpListener,
    acceptor: TlsAcceptor,
    through: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    let mut greetings = JoinSet::new();
    loop {
        if greetings.len() >= GREETINGS {
            greetings.join_next().await;
        }
        // axum's own way to accept: it waits when the system is out of files
        let (stream, from) = axum::serve::Listener::accept(&mut listener).await;
        let (acceptor, through) = (acceptor.clone(), through.clone());
        greetings.spawn(async move {
            match timeout(GREETING, acceptor.accept(stream)).await {
                // A page that is stopping lets nobody in.
                Ok(Ok(stream)) => drop(through.send((stream, from)).await),
                Ok(Err(why)) => tracing::debug!(%from, %why, "no TLS"),
                Err(_) => tracing::debug!(%from, "no greeting"),
            }
        });
        while greetings.try_join_next().is_some() {}
    }
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        match self.greeted.recv().await {
            Some(one) => one,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.addr)
    }
}

impl axum::extract::connect_info::Connected<axum::serve::IncomingStream<'_, TlsListener>> for Peer {
    fn connect_info(stream: axum::serve::IncomingStream<'_, TlsListener>) -> Peer {
        Peer(*stream.remote_addr())
    }
}

impl axum::extract::connect_info::Connected<axum::serve::IncomingStream<'_, TcpListener>> for Peer {
    fn connect_info(stream: axum::serve::IncomingStream<'_, TcpListener>) -> Peer {
        Peer(*stream.remote_addr())
    }
}
