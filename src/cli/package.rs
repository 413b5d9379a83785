//! `atalaya package`: what a package ships beside the program, made from the command line itself.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Cli, Failure};

/// Shells of a Debian system.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Writes manual pages and completions into a folder, for packages
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya package target/package")]
pub struct Args {
    /// The folder; it is made
    pub folder: PathBuf,
}

/// Writes them.
///
/// # Errors
/// When the folder cannot be written.
pub fn run(args: Args) -> Result<(), Failure> {
    write(&args.folder).map_err(|why| Failure::Usage(format!("{why:#}")))
}

fn write(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut Cli::command(), "atalaya", folder)
            .with_context(|| format!("cannot write {shell}'s completions"))?;
    }
    clap_mangen::generate_to(Cli::command(), folder).context("cannot write the manual pages")
}
