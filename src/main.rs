//! Parses the command line, starts the log, turns an error into an exit code.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use atalaya::cli::{Cli, Failure, logging};
use clap::Parser;

fn main() -> ExitCode {
    let cli = Cli::parse();
    logging::start(cli.log_format);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|why| Failure::Device(format!("cannot start: {why}")))?;
    runtime.block_on(cli.run())
}
