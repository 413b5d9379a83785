//! The arbiters' page: a consumer of the MQTT contract like any other, pushed to browsers by
//! server-sent events. Its own files are plain HTML, CSS and JavaScript under `assets`.

mod mirror;
pub mod phones;
mod routes;
mod session;
pub mod tls;

use std::net::SocketAddr;

use thiserror::Error;
use tokio::{
    net::TcpListener,
    sync::mpsc,
    task::JoinHandle,
    time::{Duration, timeout},
};
use tokio_util::sync::CancellationToken;

pub use session::{Role, User, Users, UsersError, hash_password, is_user_name, random_password};

use self::mirror::Mirror;
use self::tls::{Certificate, Peer, TlsListener};
use crate::publish::{ClientSettings, Hear, Tls, TlsError, Topics, channel};

/// Half the time after which a silent broker is given up.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// Open event streams are cut after this when the page stops.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// Where the page is served, and what it shows.
pub struct WebSettings {
    /// HTTP; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Broker: host and port.
    pub broker: (String, u16),
    /// TLS to the broker.
    pub broker_tls: Option<Tls>,
    /// The page's own certificate; `None`: plain HTTP.
    pub certificate: Option<Certificate>,
    /// User name and password at the broker. It must be allowed to speak for all users of the page.
    pub login: Option<(String, String)>,
    /// The venue.
    pub topics: Topics,
    /// Who may come in; `None`: everybody, under any name.
    pub users: Option<Users>,
    /// Language of a browser that asks for neither.
    pub language: &'static str,
}

/// Why the page is not served.
#[derive(Debug, Error)]
pub enum WebError {
    /// The address is taken or not ours.
    #[error(
        "the page cannot listen on {listen}: {source}; free the port, or set another [web] listen, or none"
    )]
    Bind {
        /// The address asked for.
        listen: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The certificate.
    #[error("the page's certificate: {0}")]
    Certificate(#[from] TlsError),
}

/// The page, being served.
pub struct Web {
    addr: SocketAddr,
    secure: bool,
    stop: CancellationToken,
    client: JoinHandle<()>,
    mirror: JoinHandle<()>,
    server: JoinHandle<()>,
}

impl Web {
    /// Listens, and follows the broker until stopped.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn start(settings: WebSettings) -> Result<Web, WebError> {
        let bind = |source| WebError::Bind {
            listen: settings.listen,
            source,
        };
        let certificate = settings.certificate.as_ref();
        let config = certificate.map(Certificate::config).transpose()?;
        let listener = TcpListener::bind(settings.listen).await.map_err(bind)?;
        let addr = listener.local_addr().map_err(bind)?;
        let (ear, heard) = mpsc::unbounded_channel();
        let (host, port) = settings.broker;
        let (publisher, actor) = channel(ClientSettings {
            host,
            port,
            tls: settings.broker_tls,
            // Two pages at one broker must not throw each other out.
            client_id: format!("atalaya-web-{:08x}", fastrand::u32(..)),
            login: settings.login,
            keep_alive: KEEP_ALIVE,
            status: None,
            hear: Some(Hear {
                filters: settings.topics.public(),
                ear,
            }),
        });
        let stop = CancellationToken::new();
        let mirror = Mirror::new(settings.topics.clone());
        let app = routes::router(routes::Desk::new(
            settings.topics,
            publisher,
            mirror.clone(),
            settings.users,
            settings.language,
            config.is_some(),
            stop.clone(),
        ));
        let client = tokio::spawn(actor.run(stop.clone()));
        let mirror = tokio::spawn(mirror.follow(heard));
        let app = app.into_make_service_with_connect_info::<Peer>();
        let end = stop.clone().cancelled_owned();
        let secure = config.is_some();
        let serving = match config {
            None => {
                let serving = axum::serve(listener, app).with_graceful_shutdown(end);
                serving.into_future()
            }
            Some(config) => {
                let listener = TlsListener::new(listener, config).map_err(bind)?;
                let serving = axum::serve(listener, app).with_graceful_shutdown(end);
                serving.into_future()
            }
        };
        let server = tokio::spawn(async move {
            if let Err(why) = serving.await {
                tracing::error!(%why, "the page ended");
            }
        });
        Ok(Web {
            addr,
            secure,
            stop,
            client,
            mirror,
            server,
        })
    }

    /// The address bound.
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Where a browser finds it.
    pub fn url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}/", self.addr)
    }

    /// Ends all streams and frees the port.
    pub async fn stop(mut self) {
        self.stop.cancel();
        if timeout(STOP_PATIENCE, &mut self.server).await.is_err() {
            self.server.abort();
        }
        // The mirror ends with the client that feeds it.
        let _ = (self.client.await, self.mirror.await);
    }
}
