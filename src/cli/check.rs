//! `atalaya check`: what is wrong with the configuration, before the round begins.

use std::{fs::File, path::PathBuf};

use super::{Failure, print, sources};
use crate::{
    hall::{Pairings, Settings, settings::Relay, token_file},
    words::BoardNo,
};

/// Reads the configuration and the pairings, and says what is wrong with file, line and key
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya check --config config/atalaya.toml")]
pub struct Args {
    /// Configuration file, above /etc/atalaya/atalaya.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Checks.
///
/// # Errors
/// With all faults.
pub fn run(args: Args) -> Result<(), Failure> {
    let sources = sources(args.config);
    for name in sources.stray_variables() {
        tracing::warn!("{name} is read by nobody: write ATALAYA__SECTION__KEY");
    }
    let settings = Settings::load(&sources)?;
    let mut faults = unreadable(&settings);
    let pairings = match &settings.event.pairings {
        None => None,
        Some(file) => match Pairings::read(file, &settings.event.round) {
            Ok(pairings) => Some(pairings),
            Err(error) => {
                faults.push(error.to_string());
                None
            }
        },
    };
    if !faults.is_empty() {
        return Err(Failure::Usage(faults.join("\n")));
    }
    if let (Some(pairings), Some(file)) = (&pairings, &settings.event.pairings) {
        for note in pairings.notes() {
            tracing::warn!("{}", note.at(file));
        }
        for warning in mismatches(&settings, pairings) {
            tracing::warn!("{warning}");
        }
    }
    let numbers = settings.boards.iter().map(|board| BoardNo(board.number));
    if let Some(pairings) = &pairings {
        for board in numbers.filter(|board| pairings.get(*board).is_none()) {
            tracing::warn!("board {board} is not in the pairings");
        }
    }
    let boards = match settings.boards.len() {
        0 => "every one found".to_owned(),
        count => count.to_string(),
    };
    let pairs = pairings.map_or(0, |pairings| pairings.iter().count());
    let venue = settings.venue.id;
    print(format!(
        "configuration good: venue {venue}; boards: {boards}; pairings: {pairs}\n"
    ));
    Ok(())
}

/// Where boards and pairings do not go together: serial numbers, and pairings without a board.
fn mismatches(settings: &Settings, pairings: &Pairings) -> Vec<String> {
    let mut found = Vec::new();
    for board in &settings.boards {
        let number = BoardNo(board.number);
        let paired = pairings
            .get(number)
            .and_then(|pairing| pairing.serial.as_ref());
        if let (Some(ours), Some(paired)) = (&board.serial, paired)
            && ours != paired
        {
            found.push(format!(
                "board {number} has serial number {ours}, but the pairings put it on {paired}"
            ));
        }
    }
    let watched = |number: BoardNo| settings.boards.iter().any(|board| board.number == number.0);
    let unwatched = pairings
        .iter()
        .map(|(number, _)| number)
        .filter(|number| !watched(*number));
    let unwatched: Vec<String> = unwatched.map(|number| number.to_string()).collect();
    if !settings.boards.is_empty() && !unwatched.is_empty() {
        found.push(format!(
            "no [[board]] for these of the pairings: {}",
            unwatched.join(", ")
        ));
    }
    found
}

/// Files that are named and cannot be opened.
fn unreadable(settings: &Settings) -> Vec<String> {
    let mqtt = &settings.mqtt;
    let named = [
        ("mqtt.password_file", &mqtt.password_file),
        ("mqtt.ca_file", &mqtt.ca_file),
        ("mqtt.client_cert", &mqtt.client_cert),
        ("mqtt.client_key", &mqtt.client_key),
    ];
    let named = named.map(|(key, file)| (key, file.clone()));
    let secrets = settings.relays.iter().flat_map(Relay::secrets);
    let tokens = secrets.map(|(key, file)| (key, Some(token_file(file))));
    let files = named.into_iter().chain(tokens);
    let failed = files.filter_map(|(key, file)| {
        let file = file?;
        let why = File::open(&file).err()?;
        Some(format!("{}: {key}: cannot be read: {why}", file.display()))
    });
    failed.collect()
}
