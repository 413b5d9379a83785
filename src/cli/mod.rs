//! The command line: one file per subcommand.

pub mod boards;
pub mod check;
pub mod completions;
pub mod contract;
pub mod demo;
pub mod doctor;
pub mod explain;
mod failure;
pub mod logging;
pub mod package;
pub mod position;
pub mod replay;
pub mod reset;
mod run;
pub mod scenario;
mod signals;
pub mod simulate;
pub mod user;
pub mod web;

use std::{io::Write, path::PathBuf};

use clap::{Parser, Subcommand};

pub use failure::Failure;
pub use logging::LogFormat;
pub use signals::stop_on_signal;

/// Stands watch beside the broadcast boards of a chess event.
#[derive(Debug, Parser)]
#[command(
    name = "atalaya",
    version,
    after_help = "Example: atalaya demo --boards 4\n\nExit codes: 0 good, 1 a check failed, 2 usage or configuration, 3 a device or network fault."
)]
pub struct Cli {
    /// How to write the log [default: the journal under systemd, else human]
    #[arg(long, global = true, value_enum, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The daemon
    Run(run::Args),
    /// The daemon with virtual boards, to look around
    Demo(demo::Args),
    /// Only the virtual boards, each behind a pty
    Simulate(simulate::Args),
    /// Plays scenario files through the core
    Scenario(scenario::Args),
    /// Plays journals or raw captures through the core
    Replay(replay::Args),
    /// Probes the serial ports and lists the boards
    Boards(boards::Args),
    /// Says what is wrong with the configuration and the pairings
    Check(check::Args),
    /// Looks for what usually goes wrong, and says what to do
    Doctor(doctor::Args),
    /// Deletes the games of the Lichess rounds, to be pushed anew
    Reset(reset::Args),
    /// Explains a code of the catalogue: the rule, its articles, what the arbiter does
    Explain(explain::Args),
    /// Whether a position is impossible, who can still mate, what ends the game
    Position(position::Args),
    /// The arbiters' page alone
    Web(web::Args),
    /// Writes one user for the file of users
    User(user::Args),
    /// The MQTT contract as AsyncAPI and JSON Schemas
    Contract(contract::Args),
    /// Writes manual pages and completions for packages
    #[command(hide = true)]
    Package(package::Args),
    /// Writes completions for a shell
    Completions(completions::Args),
}

impl Cli {
    /// Does what was asked.
    ///
    /// # Errors
    /// With the reason, and the exit code that goes with it.
    pub async fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Run(args) => run::run(args).await,
            Command::Demo(args) => demo::run(args).await,
            Command::Simulate(args) => simulate::run(args).await,
            Command::Scenario(args) => scenario::run(args),
            Command::Replay(args) => replay::run(args),
            Command::Boards(args) => boards::run(args).await,
            Command::Check(args) => check::run(args),
            Command::Doctor(args) => doctor::run(args).await,
            Command::Reset(args) => reset::run(args).await,
            Command::Explain(args) => explain::run(args),
            Command::Position(args) => position::run(args),
            Command::Web(args) => web::run(args).await,
            Command::User(args) => user::run(args),
            Command::Contract(args) => contract::run(args),
            Command::Package(args) => package::run(args),
            Command::Completions(args) => completions::run(args),
        }
    }
}

/// Writes a result to the standard output. A reader that has seen enough and closed the pipe is no
/// fault.
pub(crate) fn print(text: impl AsRef<[u8]>) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_ref()).and_then(|()| out.flush());
}

/// `--config` with the layers below and above it.
pub(crate) fn sources(config: Option<PathBuf>) -> crate::hall::Sources {
    crate::hall::Sources::of_process(config)
}

/// A number above zero.
fn above_zero(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let sound = number.filter(|number| number.is_finite() && *number > 0.0);
    sound.ok_or_else(|| "write a number above zero, such as 20".to_owned())
}

/// A chance.
fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let sound = number.filter(|number| (0.0..=1.0).contains(number));
    sound.ok_or_else(|| "write a number from 0 to 1, such as 0.01".to_owned())
}
