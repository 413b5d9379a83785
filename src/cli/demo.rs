//! `atalaya demo`: the whole product on virtual boards.

mod count;
mod subscriber;
mod view;

use std::{
    io::{IsTerminal, stdout},
    net::Ipv4Addr,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::{count::Count, subscriber::Subscriber, view::View};
use super::{Failure, print, stop_on_signal};
use crate::{
    board::ClockSide,
    hall::{
        Clock, Hall, ServeError, Settings,
        settings::{Board, Event, Venue},
    },
    link::Address,
    simulate::{self, Noise, Options, parse_games, read_games},
};

/// The daemon with virtual boards on ptys, real games and some irregularities
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya demo --boards 4 --speed 20 --for 60")]
pub struct Args {
    /// How many boards
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    pub boards: u16,
    /// Seconds of play per real second
    #[arg(long, default_value_t = 20.0, value_parser = super::above_zero)]
    pub speed: f64,
    /// Luck: the same seed gives the same games and noise [default: another each time]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Ends by itself after so many seconds
    #[arg(long = "for", value_name = "SECONDS")]
    pub for_s: Option<u64>,
    /// Games to play [default: some that come with the program]
    #[arg(long, value_name = "FILE.pgn")]
    pub games: Option<PathBuf>,
    /// Noise of board 1, 2, ..., begun anew when the list is shorter
    #[arg(long, value_delimiter = ',', default_value = "hall")]
    pub noise: Vec<Noise>,
    /// Chance of an illegal move per ply
    #[arg(long, value_name = "RATE", default_value_t = 0.03, value_parser = super::rate)]
    pub mishaps: f64,
}

/// Played when no file is named: eight famous games.
const GAMES: &str = include_str!("demo.pgn");

/// Runs until it is told to stop, or for the time asked.
///
/// # Errors
/// When the games cannot be read, a pty not opened or an address not listened on.
pub async fn run(args: Args) -> Result<(), Failure> {
    let games = match &args.games {
        Some(path) => read_games(path),
        None => parse_games(GAMES.as_bytes(), "the program's own games"),
    }
    .map_err(simulate::Error::from)?;
    let stop = stop_on_signal()?;
    let scratch = Scratch::new()?;
    let options = Options {
        boards: args.boards,
        bus: false,
        games: PathBuf::new(),
        links: scratch.0.join("boards"),
        speed: args.speed,
        seed: args.seed.unwrap_or_else(|| fastrand::u64(..)),
        noise: args.noise.clone(),
        mishaps: args.mishaps,
        truth: Some(scratch.0.join("truth.jsonl")),
    };
    let settings = settings(&args, &scratch.0);
    let clock = Clock::scaled(args.speed);
    let (onlooker, mut told) = mpsc::unbounded_channel();
    let stop_players = CancellationToken::new();
    let players = tokio::spawn({
        let (options, stop) = (options.clone(), stop_players.clone());
        async move { simulate::run_boards(&options, games, stop).await }
    });
    until_linked(&options.links, args.boards).await;
    let hall = start(settings.clone(), clock, onlooker).await?;
    let (host, port) = hall.broker();
    let page = hall.page().map(|page| {
        format!("The arbiters' page:  {page}   (come in under any name, and answer the alerts)\n")
    });
    print(format!(
        "Atalaya watches {} virtual boards, {} times as fast as life (seed {}).\n{}\
         Look in from another terminal:  mosquitto_sub -h {host} -p {port} -v -t '{}/v1/{}/#'\n\n",
        args.boards,
        args.speed,
        options.seed,
        page.unwrap_or_default(),
        settings.mqtt.root,
        settings.venue.id,
    ));
    let mut subscriber = Subscriber::connect(host, port, &settings);
    let mut view = View::new(args.boards, stdout().is_terminal());
    let mut count = Count::default();
    let end = async {
        match args.for_s {
            Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(end);
    let mut redraw = tokio::time::interval(Duration::from_millis(500));
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = &mut end => break,
            _ = redraw.tick() => view.draw(),
            Some(one) = told.recv() => {
                count.note(&one);
                view.note(&one);
            }
            Some(id) = subscriber.next_raised() => count.arrived(&id, clock.at()),
        }
    }
    let ended = clock.at();
    stop_players.cancel();
    let played = players.await;
    hall.stop().await;
    while let Ok(one) = told.try_recv() {
        count.note(&one);
    }
    view.draw();
    let played = played.map_err(|why| Failure::Device(why.to_string()))??;
    let text = std::fs::read_to_string(scratch.0.join("truth.jsonl")).unwrap_or_default();
    print(count.summary(&args, &text, ended, &played));
    Ok(())
}

/// Ports 1883 and 8080 may be taken on this machine; then any free ones will do.
async fn start(
    mut settings: Settings,
    clock: Clock,
    onlooker: mpsc::UnboundedSender<crate::hall::Told>,
) -> Result<Hall, Failure> {
    match Hall::start(&settings, clock, Some(onlooker.clone())).await {
        Err(why @ (ServeError::Broker(_) | ServeError::Web(_))) => {
            tracing::info!(%why, "taking a free port instead");
            settings.broker.listen.set_port(0);
            settings.broker.websocket = None;
            settings.web.listen = Some((Ipv4Addr::LOCALHOST, 0).into());
            Ok(Hall::start(&settings, clock, Some(onlooker)).await?)
        }
        started => Ok(started?),
    }
}

fn settings(args: &Args, scratch: &Path) -> Settings {
    let board = |number: u16| Board {
        number,
        port: Some(Address::Device(
            scratch.join("boards").join(format!("board-{number}")),
        )),
        serial: None,
        clock: ClockSide::Auto,
        bus: None,
        dtr: None,
        rts: None,
    };
    let mut settings = Settings {
        venue: Venue {
            id: "demo".to_owned(),
        },
        event: Event {
            name: "Demo".to_owned(),
            time_control: "300+5".parse().ok(),
            ..Event::default()
        },
        boards: (1..=args.boards).map(board).collect(),
        ..Settings::default()
    };
    settings.journal.dir = scratch.join("journal");
    // People are not as fast as the players: what waits for them is told in seconds of theirs.
    settings.timing.escalate_s = Some((30.0 * args.speed) as u64);
    settings.timing.claim_s = (300.0 * args.speed) as u64;
    settings
}

/// The boards' links come up in a moment; a board that is not there yet would be waited for, but
/// the demo would begin with warnings.
async fn until_linked(links: &Path, boards: u16) {
    let last = links.join(format!("board-{boards}"));
    for _ in 0..100 {
        if last.is_symlink() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A folder that is gone when the demo is.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, Failure> {
        let dir = std::env::temp_dir().join(format!("atalaya-demo-{}", std::process::id()));
        std::fs::create_dir_all(&dir)
            .map_err(|why| Failure::Usage(format!("{}: {why}", dir.display())))?;
        Ok(Scratch(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind lies in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
