//! How an output stands, for the operator: what does not go out is told as long as it lasts, and
//! logged once.

use std::{fmt::Display, io, net::SocketAddr, time::Duration};

use axum::serve::Listener;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::sleep,
};

use crate::words::BoardNo;

/// How an output stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Pushes that were taken. Only an output that pushes counts.
    pub taken: u64,
    /// What is due does not go out: why, as it is now.
    pub alarm: Option<String>,
    /// Boards whose game is not taken as it is, and why.
    pub wrong: Vec<(BoardNo, String)>,
    /// Size of the last push, bytes.
    pub bytes: usize,
}

impl Standing {
    /// It does not go out. True when it did until now.
    pub fn fails(&mut self, why: impl Display) -> bool {
        self.alarm.replace(why.to_string()).is_none()
    }

    /// It goes out. True when it did not until now.
    pub fn works(&mut self) -> bool {
        self.alarm.take().is_some()
    }
}

/// [`Standing::fails`], told to whoever listens.
pub fn fails(told: &watch::Sender<Standing>, why: impl Display) -> bool {
    let mut news = false;
    told.send_modify(|standing| news = standing.fails(why));
    news
}

/// [`Standing::works`], told to whoever listens.
pub fn works(told: &watch::Sender<Standing>) -> bool {
    told.send_if_modified(Standing::works)
}

/// After so long a reader that could not be let in is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Where readers come in. One that cannot be let in, as when the daemon has no file handle left, is
/// an alarm until the next is.
#[derive(Debug)]
pub(super) struct Door {
    listener: TcpListener,
    standing: watch::Sender<Standing>,
}

impl Door {
    /// Where `listener` listens.
    pub(super) fn new(listener: TcpListener, standing: watch::Sender<Standing>) -> Door {
        Door { listener, standing }
    }
}

impl Listener for Door {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            let why = match self.listener.accept().await {
                Ok(reader) => {
                    if works(&self.standing) {
                        tracing::info!(at = ?self.local_addr().ok(), "the relay's readers get in again");
                    }
                    return reader;
                }
                Err(why) => why,
            };
            // It went away while it waited: nothing is wrong here.
            if matches!(
                why.kind(),
                io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::ConnectionReset
            ) {
                continue;
            }
            if fails(&self.standing, &why) {
                tracing::error!(at = ?self.local_addr().ok(), %why, "the relay's readers do not get in");
            }
            sleep(AGAIN).await;
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
