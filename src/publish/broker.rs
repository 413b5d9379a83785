//! The broker in process (mqtt5), so that a club needs to install nothing. The only file that knows
//! that crate: a venue with its own Mosquitto never starts it.

use std::{
    collections::HashMap,
    future::{Future, ready},
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use mqtt5::{
    broker::{
        AuthProvider, BrokerConfig, BrokerShutdownHandle, MqttBroker, PasswordAuthProvider,
        StorageBackendType, StorageConfig, auth::AuthResult, config::WebSocketConfig,
    },
    packet::connect::ConnectPacket,
    protocol::v5::reason_codes::ReasonCode,
};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tokio::{
    sync::Semaphore,
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};

use super::{client::MAX_PACKET, topic::Topics};

/// Connections at once: arbiters' devices, relays and the daemon itself, with room to spare.
const MAX_CLIENTS: usize = 512;
/// A whole hall's retained topics must fit in one new subscriber's queue (1,000 boards, 3 each, and
/// alerts); the crate drops QoS 0 messages that do not.
const CLIENT_QUEUE: usize = 20_000;
/// How long messages wait for a device that asked for it; the crate's default is for ever.
const SESSION: Duration = Duration::from_secs(24 * 60 * 60);
const PATIENCE: Duration = Duration::from_secs(10);

/// Why the broker does not run.
#[derive(Debug, Error)]
pub enum BrokerError {
    /// An address is taken or not ours.
    #[error(
        "embedded broker cannot listen on {listen}: {source}; free the port, or set another [broker] listen or websocket, or name a broker of your own in [mqtt] broker"
    )]
    Bind {
        /// The addresses asked for.
        listen: String,
        /// What the crate says.
        source: mqtt5::MqttError,
    },
    /// It ended before it was ready.
    #[error("embedded broker ended before it was ready; the log above says why")]
    NotReady,
}

/// Somebody who may connect.
#[derive(Clone)]
pub struct User {
    /// Name, also a topic segment of the commands.
    pub name: String,
    /// The password.
    pub password: Password,
    /// What it may publish and hear.
    pub speaks: Speaks,
}

/// A user's password.
#[derive(Clone)]
pub enum Password {
    /// In clear, for one run: long and drawn by chance, so that no guessing needs slowing down.
    Clear(String),
    /// argon2 hash.
    Hash(String),
}

/// What a user may publish; who may publish something hears everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Speaks {
    /// Any topic: the daemon and the page's server.
    Everything,
    /// Commands under the user's own name, of these verbs.
    Commands(Vec<&'static str>),
    /// Nothing: a screen for spectators, that hears of the games and of no alert.
    Nothing,
}

/// Where the broker listens and whom it lets in.
#[derive(Clone)]
pub struct BrokerSettings {
    /// TCP; port 0 takes a free one.
    pub listen: SocketAddr,
    /// WebSocket, path `/mqtt`; port 0 takes a free one.
    pub websocket: Option<SocketAddr>,
    /// Who may connect; empty: everybody.
    pub users: Vec<User>,
    /// The venue, for the topics of commands.
    pub topics: Topics,
}

/// Passwords, and what each user may publish: so that a command's topic proves who spoke.
struct Gate {
    users: HashMap<String, User>,
    topics: Topics,
    /// argon2 is slow on purpose: somebody who guesses must not take the cores from the boards.
    one_at_a_time: Arc<Semaphore>,
}

impl Gate {
    async fn knows(&self, name: &str, password: &[u8]) -> bool {
        let Some(user) = self.users.get(name) else {
            return false;
        };
        match &user.password {
            Password::Clear(right) => Sha256::digest(right) == Sha256::digest(password),
            Password::Hash(hash) => {
                let (hash, said) = (hash.clone(), String::from_utf8_lossy(password).into_owned());
                let Ok(turn) = self.one_at_a_time.clone().acquire_owned().await else {
                    return false;
                };
                let checked = spawn_blocking(move || {
                    let right = PasswordAuthProvider::verify_password(&said, &hash);
                    drop(turn);
                    right
                });
                checked.await.unwrap_or(false)
            }
        }
    }

    fn may_publish(&self, user: Option<&str>, topic: &str) -> bool {
        let Some((user, speaks)) =
            user.and_then(|user| Some((user, &self.users.get(user)?.speaks)))
        else {
            return false;
        };
        match speaks {
            Speaks::Everything => true,
            Speaks::Nothing => false,
            Speaks::Commands(verbs) => self.topics.command(topic).is_some_and(|(name, verb)| {
                name == user && (verbs.contains(&verb) || verb == "ack")
            }),
        }
    }
}

impl Gate {
    fn may_hear(&self, user: Option<&str>, filter: &str) -> bool {
        match user.and_then(|user| self.users.get(user)) {
            Some(user) if user.speaks == Speaks::Nothing => self.topics.is_for_spectators(filter),
            other => other.is_some(),
        }
    }
}

impl AuthProvider for Gate {
    fn authenticate<'a>(
        &'a self,
        connect: &'a ConnectPacket,
        from: SocketAddr,
    ) -> Pin<Box<dyn Future<Output = mqtt5::Result<AuthResult>> + Send + 'a>> {
        Box::pin(async move {
            let name = connect.username.as_deref().unwrap_or_default();
            let password = connect.password.as_deref().unwrap_or_default();
            if self.knows(name, password).await {
                return Ok(AuthResult::success_with_user(name.to_owned()));
            }
            tracing::warn!(name, %from, "the broker lets nobody in with this name and password");
            Ok(AuthResult::fail(ReasonCode::BadUsernameOrPassword))
        })
    }

    fn authorize_publish<'a>(
        &'a self,
        _client: &str,
        user: Option<&'a str>,
        topic: &'a str,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(ready(self.may_publish(user, topic)))
    }

    fn authorize_subscribe<'a>(
        &'a self,
        _client: &str,
        user: Option<&'a str>,
        filter: &'a str,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(ready(self.may_hear(user, filter)))
    }
}

/// A running broker. Dropping it stops it too, without waiting.
pub struct Broker {
    addr: SocketAddr,
    websocket: Option<SocketAddr>,
    shutdown: BrokerShutdownHandle,
    task: JoinHandle<()>,
}

impl Broker {
    /// Binds and serves. Nothing is kept on disk: the daemon asserts all retained topics again
    /// whenever it connects.
    ///
    /// # Errors
    /// When an address cannot be bound.
    pub async fn start(settings: BrokerSettings) -> Result<Broker, BrokerError> {
        let mut broker = MqttBroker::with_config(config(&settings))
            .await
            .map_err(|source| BrokerError::Bind {
                listen: addresses(&settings),
                source,
            })?;
        if !settings.users.is_empty() {
            // bound, but nobody is let in before `run`: the anonymous default never serves. The
            // crate's own rate limiter goes with it, and should: it locks out whole addresses, and
            // in a hall all devices may come from one
            let users = settings.users.iter();
            broker = broker.with_auth_provider(Arc::new(Gate {
                users: users
                    .map(|user| (user.name.clone(), user.clone()))
                    .collect(),
                topics: settings.topics.clone(),
                one_at_a_time: Arc::new(Semaphore::new(1)),
            }));
        }
        let addr = broker.local_addr().ok_or(BrokerError::NotReady)?;
        let websocket = broker.ws_local_addr();
        let shutdown = broker.shutdown_handle();
        let mut ready = broker.ready_receiver();
        let task = tokio::spawn(async move {
            if let Err(error) = broker.run().await {
                tracing::error!(%error, "embedded broker ended");
            }
        });
        let is_ready = timeout(PATIENCE, ready.wait_for(|ready| *ready)).await;
        if !matches!(is_ready, Ok(Ok(_))) {
            task.abort();
            return Err(BrokerError::NotReady);
        }
        Ok(Broker {
            addr,
            websocket,
            shutdown,
            task,
        })
    }

    /// The TCP address bound.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The WebSocket address bound.
    pub fn websocket_addr(&self) -> Option<SocketAddr> {
        self.websocket
    }

    /// Closes every connection and frees the ports.
    pub async fn stop(mut self) {
        self.shutdown.shutdown();
        if timeout(PATIENCE, &mut self.task).await.is_err() {
            tracing::warn!("embedded broker did not stop in {PATIENCE:?}; it is cut off");
            self.task.abort();
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.shutdown.shutdown();
    }
}

fn config(settings: &BrokerSettings) -> BrokerConfig {
    let storage = StorageConfig::new()
        .with_backend(StorageBackendType::Memory)
        .with_persistence(true);
    let mut config = BrokerConfig::new()
        .with_bind_address(settings.listen)
        .with_max_clients(MAX_CLIENTS)
        .with_max_packet_size(2 * MAX_PACKET)
        .with_session_expiry(SESSION)
        .with_sys_topics_enabled(false)
        .with_storage(storage);
    config.client_channel_capacity = CLIENT_QUEUE;
    config.websocket_config = settings.websocket.map(|listen| {
        WebSocketConfig::new()
            .with_bind_addresses(vec![listen])
            .with_path("/mqtt")
    });
    config
}

fn addresses(settings: &BrokerSettings) -> String {
    match settings.websocket {
        Some(websocket) => format!("{} or {websocket}", settings.listen),
        None => settings.listen.to_string(),
    }
}
