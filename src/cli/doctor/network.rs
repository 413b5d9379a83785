//! The broker, the addresses we listen at, and the ways out of the venue.

use std::{io::ErrorKind, net::SocketAddr, net::TcpListener, time::Duration};

use tokio::{net::TcpStream, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{Finding, Report, files, holder};
use crate::{
    hall::{
        Clock, Settings, broker_tls, depot, login, relay_address,
        settings::{BrokerAddress, Relay, RelayKind},
        target,
    },
    publish::{ClientSettings, channel},
    relay::lichess::Token,
};

/// A broker or a server that does not answer in this time is away.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn examine(settings: &Settings, clock: Clock, report: &mut Report) {
    let embedded = settings.mqtt.broker == BrokerAddress::Embedded;
    let listens = [
        ("broker", Some(settings.broker.listen).filter(|_| embedded)),
        ("broker", settings.broker.websocket.filter(|_| embedded)),
        ("page", settings.web.listen),
        ("metrics", settings.metrics.listen),
    ];
    for (about, address) in listens {
        if let Some(address) = address {
            listen(about, address, report);
        }
    }
    if let BrokerAddress::Remote { host, port, .. } = &settings.mqtt.broker {
        broker(settings, host, *port, clock, report).await;
    }
    for one in &settings.relays {
        relay(one, report).await;
    }
}

/// Whether an address can be listened at, or is by us already.
fn listen(about: &str, address: SocketAddr, report: &mut Report) {
    let shown = address.to_string();
    let finding = match TcpListener::bind(address) {
        Ok(_) => Finding::ListenGood { address: shown },
        Err(why) if why.kind() == ErrorKind::AddrInUse => match holder::listens(address) {
            Some(program) if program.is_daemon() => Finding::ListenOurs { address: shown },
            program => Finding::ListenTaken {
                address: shown,
                by: program.map_or_else(|| "?".to_owned(), |program| program.to_string()),
            },
        },
        Err(why) => Finding::ListenFault {
            address: shown,
            why: why.to_string(),
        },
    };
    report.add(about, finding);
}

async fn broker(settings: &Settings, host: &str, port: u16, clock: Clock, report: &mut Report) {
    let address = format!("{host}:{port}");
    let reached = timeout(PATIENCE, TcpStream::connect((host, port))).await;
    let away = match reached {
        Ok(Ok(_)) => None,
        Ok(Err(why)) => Some(why.to_string()),
        Err(_) => Some("no answer".to_owned()),
    };
    if let Some(why) = away {
        return report.add("broker", Finding::BrokerAway { address, why });
    }
    let finding = match enter(settings, host, port, clock, report).await {
        Ok(()) => Finding::BrokerGood { address },
        Err(why) => Finding::BrokerRefuses { address, why },
    };
    report.add("broker", finding);
}

/// Comes in as the daemon would, under another name, and leaves again.
async fn enter(
    settings: &Settings,
    host: &str,
    port: u16,
    clock: Clock,
    report: &mut Report,
) -> Result<(), String> {
    let tls = broker_tls(settings).map_err(|why| why.to_string())?;
    if let Some(tls) = &tls {
        let shown = tls.greet().await.map_err(|why| why.to_string())?;
        if let Some(own) = shown.first() {
            files::certificate(format!("{host}:{port}"), own, clock.wall(), report);
        }
    }
    let login = login(&settings.mqtt).map_err(|why| why.to_string())?;
    let (publisher, actor) = channel(ClientSettings {
        host: host.to_owned(),
        port,
        tls,
        client_id: format!("atalaya-doctor-{:08x}", fastrand::u32(..)),
        login,
        keep_alive: PATIENCE,
        status: None,
        hear: None,
    });
    let stop = CancellationToken::new();
    let actor = tokio::spawn(actor.run(stop.clone()));
    let mut connected = publisher.connected();
    let entered = timeout(PATIENCE, connected.wait_for(|connected| *connected)).await;
    let entered = entered.is_ok_and(|changed| changed.is_ok());
    let complaint = publisher.complaint();
    stop.cancel();
    // It ends with the token; a panic has been told.
    let _ = actor.await;
    match entered {
        true => Ok(()),
        false => Err(complaint.unwrap_or_else(|| "no answer".to_owned())),
    }
}

async fn relay(relay: &Relay, report: &mut Report) {
    if let Some(address) = relay_address(relay) {
        return listen("relay", address, report);
    }
    if relay.kind == RelayKind::Lichess {
        let url = relay.url.clone().unwrap_or_default();
        // A token that does not read has been told.
        let Ok(target) = target(relay) else { return };
        let finding = match target.token().await {
            Ok(Token::Good { user }) => Finding::TokenGood { url, user },
            Ok(Token::Lacks) => Finding::TokenScope { url },
            Ok(Token::Unknown) => Finding::TokenUnknown { url },
            Err(why) => Finding::RelayAway { url, why },
        };
        return report.add("relay", finding);
    }
    if matches!(relay.kind, RelayKind::Ftp | RelayKind::Sftp) {
        let url = relay.url.clone().unwrap_or_default();
        // A password or key that does not read has been told.
        let Ok(depot) = depot(relay) else { return };
        let finding = match timeout(PATIENCE, depot.probe()).await {
            Ok(Ok(())) => Finding::FarGood { url },
            Ok(Err(why)) => Finding::FarFault {
                url,
                why: why.to_string(),
            },
            Err(_) => Finding::FarFault {
                url,
                why: "no answer".to_owned(),
            },
        };
        return report.add("relay", finding);
    }
    if let Some(path) = &relay.dir {
        let dir = path.display().to_string();
        let finding = match super::machine::writable(path) {
            Ok(()) => Finding::FolderGood { dir },
            Err(why) => Finding::FolderFault {
                dir,
                why: why.to_string(),
            },
        };
        report.add("relay", finding);
    }
}
