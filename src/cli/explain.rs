//! `atalaya explain`: the catalogue in words.

use std::fmt::Write;

use super::{Failure, print};
use crate::laws::{self, Code, Edition, Lang};

/// The rule behind a code, its articles by edition, and what the arbiter does
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya explain king-left-in-check --lang es")]
pub struct Args {
    /// Code of an alert; without one all are listed
    pub code: Option<Code>,
    /// Language: en or es
    #[arg(long, default_value = "en")]
    pub lang: Lang,
    /// Edition of the Laws to mark: 2023, 2018 or 2014
    #[arg(long, default_value_t = Edition::E2023, value_name = "YEAR")]
    pub edition: Edition,
}

/// Explains a code, or lists them all.
///
/// # Errors
/// Never: a code that is not known is refused with the command line.
pub fn run(args: Args) -> Result<(), Failure> {
    if let Some(code) = args.code {
        print(laws::explain(code, args.lang, args.edition));
        return Ok(());
    }
    let mut list = String::new();
    for code in Code::ALL {
        let title = args.lang.of(code.row().title);
        // Writing to a String cannot fail.
        let _ = writeln!(list, "{code:<32} {title}");
    }
    print(list);
    Ok(())
}
