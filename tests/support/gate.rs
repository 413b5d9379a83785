//! A TCP relay before a broker that freezes, cuts, and leads elsewhere.

use std::{future::pending, net::SocketAddr};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// A door between client and broker that can be shut, or lead to another broker.
pub struct Gate {
    pub addr: SocketAddr,
    target: watch::Sender<Option<SocketAddr>>,
    ice: watch::Sender<()>,
    silent: watch::Sender<bool>,
}

impl Gate {
    pub async fn open(target: SocketAddr) -> Gate {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (target, now) = watch::channel(Some(target));
        let (ice, freezing) = watch::channel(());
        let (silent, silence) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut now = now.clone();
                let mut freezing = freezing.clone();
                let silence = silence.clone();
                freezing.borrow_and_update();
                let Some(broker) = *now.borrow_and_update() else {
                    continue;
                };
                tokio::spawn(async move {
                    // A broker that is away: the client's connection just closes.
                    let Ok(mut broker) = TcpStream::connect(broker).await else {
                        return;
                    };
                    let (from_client, to_client) = client.split();
                    let (from_broker, to_broker) = broker.split();
                    tokio::select! {
                        () = pass(from_client, to_broker, silence.clone()) => {}
                        () = pass(from_broker, to_client, silence) => {}
                        _ = now.changed() => {}
                        // both ends stay open and nothing passes
                        _ = freezing.changed() => pending::<()>().await,
                    }
                });
            }
        });
        Gate {
            addr,
            target,
            ice,
            silent,
        }
    }

    /// What passes now falls silent without a word; new connections are let through.
    pub fn freeze(&self) {
        self.ice.send_replace(());
    }

    /// As long as it is silent nothing passes, on old connections and new; then all that waits does.
    pub fn silence(&self, silent: bool) {
        self.silent.send_replace(silent);
    }

    /// Cuts what passes and leads elsewhere; nowhere with `None`.
    pub fn point(&self, target: Option<SocketAddr>) {
        self.target.send_replace(target);
    }
}

/// Until one end closes.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut silence: watch::Receiver<bool>,
) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let opened = silence.wait_for(|silent| !silent).await.is_ok();
        if !opened || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
