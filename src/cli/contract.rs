//! `atalaya contract`: what the daemon says over MQTT, for programs and for those who write them.

use std::{fs, path::PathBuf};

use anyhow::Context as _;

use super::{Failure, print};
use crate::publish::contract::{asyncapi, schemas};

/// The MQTT contract: an AsyncAPI 3 document with the JSON Schema of every message
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya contract > asyncapi.json")]
pub struct Args {
    /// Writes each message's JSON Schema to a file of its own in this folder instead
    #[arg(long, value_name = "DIR")]
    pub schemas: Option<PathBuf>,
}

/// Prints the document, or writes the schemas.
///
/// # Errors
/// When the folder cannot be written.
pub fn run(args: Args) -> Result<(), Failure> {
    let Some(folder) = args.schemas else {
        print(format!("{:#}\n", asyncapi()));
        return Ok(());
    };
    write(&folder).map_err(|why| Failure::Usage(format!("{why:#}")))
}

fn write(folder: &std::path::Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, schema) in schemas() {
        let path = folder.join(format!("{name}.json"));
        fs::write(&path, format!("{schema:#}\n"))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
