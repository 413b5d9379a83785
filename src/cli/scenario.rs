//! `atalaya scenario`: scenario files through the pure core.

use std::path::PathBuf;

use serde_json::json;

use super::{Failure, print};
use crate::scenario;

/// Plays scenario files through the core; exit code 1 when an expectation fails
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya scenario tests/scenarios/ordinary.toml")]
pub struct Args {
    /// Scenario files
    #[arg(required = true, value_name = "FILE.toml")]
    pub files: Vec<PathBuf>,
    /// One JSON object per scenario
    #[arg(long)]
    pub json: bool,
}

/// Plays them all.
///
/// # Errors
/// When a file cannot be read or an expectation fails.
pub fn run(args: Args) -> Result<(), Failure> {
    let (mut played, mut failed) = (0, 0);
    for path in &args.files {
        let here =
            |why: &dyn std::fmt::Display| Failure::Usage(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|why| here(&why))?;
        let file = scenario::parse(&text).map_err(|why| here(&why))?;
        for one in &file.scenario {
            let outcome = scenario::run(one).map_err(|why| here(&why))?;
            played += 1;
            failed += usize::from(!outcome.faults.is_empty());
            if args.json {
                let line = json!({
                    "id": one.id, "pass": outcome.faults.is_empty(), "alerts": outcome.alerts,
                    "moves": outcome.moves, "result": outcome.result, "faults": outcome.faults,
                });
                print(format!("{line}\n"));
            } else {
                for fault in &outcome.faults {
                    print(format!("{}: {}: {fault}\n", path.display(), one.id));
                }
            }
        }
    }
    if !args.json {
        print(format!("{played} scenarios, {failed} failed\n"));
    }
    if failed > 0 {
        return Err(Failure::Check(format!(
            "{failed} of {played} scenarios failed"
        )));
    }
    Ok(())
}
