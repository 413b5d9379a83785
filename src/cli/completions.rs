//! `atalaya completions`: what a shell offers after Tab.

use clap::CommandFactory;

use super::{Cli, Failure, print};

/// Completions for a shell, on the standard output
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya completions bash > /etc/bash_completion.d/atalaya")]
pub struct Args {
    /// Which shell
    pub shell: clap_complete::Shell,
}

/// Writes them.
///
/// # Errors
/// Never.
pub fn run(args: Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "atalaya", &mut script);
    print(script);
    Ok(())
}
