//! `atalaya web`: the arbiters' page alone.

use std::{net::SocketAddr, path::PathBuf};

use super::{Failure, sources, stop_on_signal};
use crate::hall::{Clock, Settings, login, serve_page, settings::BrokerAddress};

/// The arbiters' page alone, on any machine that reaches the broker
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya web --mqtt mqtt://192.168.1.10:1883 --venue hall-1")]
pub struct Args {
    /// Broker the daemon publishes to [default: mqtt.broker of the configuration]
    #[arg(long, value_name = "URL")]
    pub mqtt: Option<BrokerAddress>,
    /// Venue shown [default: venue.id of the configuration]
    #[arg(long, value_name = "ID")]
    pub venue: Option<String>,
    /// Address to serve on [default: web.listen of the configuration]
    #[arg(long, value_name = "IP:PORT")]
    pub listen: Option<SocketAddr>,
    /// Configuration file: users, topics' root, password at the broker
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Serves until it is told to stop.
///
/// # Errors
/// When the configuration is wrong or the address cannot be listened on.
pub async fn run(args: Args) -> Result<(), Failure> {
    let mut settings = Settings::load(&sources(args.config))?;
    settings.mqtt.broker = args.mqtt.unwrap_or(settings.mqtt.broker);
    settings.venue.id = args.venue.unwrap_or(settings.venue.id);
    settings.web.listen = args.listen.or(settings.web.listen);
    let BrokerAddress::Remote { host, port, .. } = &settings.mqtt.broker else {
        let why = "name the daemon's broker: --mqtt mqtt://host:1883";
        return Err(Failure::Usage(why.to_owned()));
    };
    let Some(listen) = settings.web.listen else {
        let why = "name an address to serve on: --listen 127.0.0.1:8080";
        return Err(Failure::Usage(why.to_owned()));
    };
    if let Some((key, what)) = settings.exposed() {
        return Err(Failure::Usage(format!("{key}: {what}")));
    }
    let stop = stop_on_signal()?;
    let login = login(&settings.mqtt)?;
    let page = serve_page(
        &settings,
        (host.clone(), *port),
        login,
        listen,
        Clock::new(),
    )
    .await?;
    tracing::info!(page = page.url(), venue = settings.venue.id, "serving");
    stop.cancelled().await;
    page.stop().await;
    Ok(())
}
