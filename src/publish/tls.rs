//! TLS to the venue's broker.
//!
//! The client crate's own TLS locks an old certificate checker with open advisories. So the crate speaks
//! to a Unix socket in a folder that only this user can enter, and behind it rustls does the rest.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpStream, UnixListener, UnixStream},
    task::JoinHandle,
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{
            CertificateDer, InvalidDnsNameError, PrivateKeyDer, ServerName,
            pem::{self, PemObject as _},
        },
    },
};

/// A broker that does not answer in this time is away.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why no TLS connection can be tried.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file is not what it should be.
    #[error("{path}: {source}; it must be PEM")]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: pem::Error,
    },
    /// A file with certificates holds none.
    #[error("{path}: no certificate stands in it")]
    Empty {
        /// Which.
        path: PathBuf,
    },
    /// No certificate of the system is known.
    #[error("this system knows no certification authority: name the broker's in mqtt.ca_file")]
    NoAuthority,
    /// The host cannot stand in a certificate.
    #[error("{host}: {source}")]
    Host {
        /// As configured.
        host: String,
        /// Why.
        source: InvalidDnsNameError,
    },
    /// Certificates and key do not fit.
    #[error("{0}")]
    Rustls(#[from] tokio_rustls::rustls::Error),
}

/// Who signs the broker's certificate, and who we are.
#[derive(Debug, Clone, Default)]
pub struct TlsFiles {
    /// PEM; without it the system's authorities.
    pub authority: Option<PathBuf>,
    /// Our certificate and its key, PEM, when the broker asks for one.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// How a broker is reached by TLS.
#[derive(Clone)]
pub struct Tls {
    connector: TlsConnector,
    host: String,
    port: u16,
    name: ServerName<'static>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// When one does not read, or they do not fit together.
    pub fn new(host: &str, port: u16, files: &TlsFiles) -> Result<Tls, TlsError> {
        let mut roots = RootCertStore::empty();
        match &files.authority {
            Some(path) => {
                for certificate in certificates(path)? {
                    roots.add(certificate)?;
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        if roots.is_empty() {
            return Err(TlsError::NoAuthority);
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let config = match &files.own {
            None => config.with_no_client_auth(),
            Some((chain, key)) => {
                let own = PrivateKeyDer::from_pem_file(key).map_err(at(key))?;
                config.with_client_auth_cert(certificates(chain)?, own)?
            }
        };
        let name = ServerName::try_from(host.to_owned()).map_err(|source| TlsError::Host {
            host: host.to_owned(),
            source,
        })?;
        Ok(Tls {
            connector: TlsConnector::from(Arc::new(config)),
            host: host.to_owned(),
            port,
            name,
        })
    }

    /// Greets the broker and hangs up: the certificates it shows, its own first.
    ///
    /// # Errors
    /// When it does not answer, or is not to be trusted.
    pub async fn greet(&self) -> io::Result<Vec<CertificateDer<'static>>> {
        let outer = self.outer().await?;
        let (_, session) = outer.get_ref();
        let shown = session.peer_certificates().unwrap_or_default();
        Ok(shown.to_vec())
    }

    async fn outer(&self) -> io::Result<TlsStream<TcpStream>> {
        let connecting = async {
            let outer = TcpStream::connect((self.host.as_str(), self.port)).await?;
            outer.set_nodelay(true)?;
            self.connector.connect(self.name.clone(), outer).await
        };
        timeout(PATIENCE, connecting)
            .await
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "no answer"))?
    }

    async fn connect(&self, inner: UnixStream) -> io::Result<()> {
        let mut inner = inner;
        let mut outer = self.outer().await?;
        // How it ends the client's own end tells.
        let _ = copy_bidirectional(&mut inner, &mut outer).await;
        Ok(())
    }
}

/// All certificates of a PEM file.
///
/// # Errors
/// When it does not read or holds none.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all = CertificateDer::pem_file_iter(path).map_err(at(path))?;
    let all: Vec<_> = all.collect::<Result<_, _>>().map_err(at(path))?;
    if all.is_empty() {
        return Err(TlsError::Empty {
            path: path.to_owned(),
        });
    }
    Ok(all)
}

/// The fault of a file.
pub fn at(path: &Path) -> impl Fn(pem::Error) -> TlsError {
    move |source| TlsError::File {
        path: path.to_owned(),
        source,
    }
}

/// The socket the client speaks to; gone when dropped.
pub(super) struct Tunnel {
    dir: PathBuf,
    task: JoinHandle<()>,
    fault: Arc<Mutex<Option<String>>>,
}

impl Tunnel {
    /// Opens the socket; each connection to it becomes one to the broker.
    pub(super) fn open(tls: Tls) -> io::Result<Tunnel> {
        let name = format!("atalaya-{}-{:016x}", std::process::id(), fastrand::u64(..));
        let dir = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&dir)?;
        let listener = UnixListener::bind(dir.join("broker")).inspect_err(|_| remove(&dir))?;
        let fault = Arc::new(Mutex::new(None));
        let task = tokio::spawn(serve(listener, tls, Arc::clone(&fault)));
        Ok(Tunnel { dir, task, fault })
    }

    /// Where the client connects.
    pub(super) fn socket(&self) -> PathBuf {
        self.dir.join("broker")
    }

    /// Why the last connection did not come about, if it did not.
    pub(super) fn take_fault(&self) -> Option<String> {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.take()
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.task.abort();
        remove(&self.dir);
    }
}

fn remove(dir: &Path) {
    if let Err(why) = fs::remove_dir_all(dir) {
        tracing::debug!(dir = %dir.display(), %why, "left behind");
    }
}

async fn serve(listener: UnixListener, tls: Tls, fault: Arc<Mutex<Option<String>>>) {
    while let Ok((inner, _)) = listener.accept().await {
        let (tls, fault) = (tls.clone(), Arc::clone(&fault));
        tokio::spawn(async move {
            if let Err(why) = tls.connect(inner).await {
                let mut fault = fault.lock().unwrap_or_else(PoisonError::into_inner);
                *fault = Some(why.to_string());
            }
        });
    }
}
