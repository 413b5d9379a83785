//! Why a command did not do what was asked, and the exit code that says so.

use crate::{
    hall::{PairingsError, SettingsError},
    simulate,
};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A check was made and failed.
    #[error("{0}")]
    Check(String),
    /// The command line, the configuration or a file that was named.
    #[error("{0}")]
    Usage(String),
    /// A device or the network.
    #[error("{0}")]
    Device(String),
}

impl Failure {
    /// The exit code.
    pub const fn code(&self) -> u8 {
        match self {
            Failure::Check(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Device(_) => 3,
        }
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Failure {
        Failure::Usage(error.to_string())
    }
}

impl From<PairingsError> for Failure {
    fn from(error: PairingsError) -> Failure {
        Failure::Usage(error.to_string())
    }
}

impl From<simulate::Error> for Failure {
    fn from(error: simulate::Error) -> Failure {
        match error {
            simulate::Error::Pty { .. } => Failure::Device(error.to_string()),
            _ => Failure::Usage(error.to_string()),
        }
    }
}
