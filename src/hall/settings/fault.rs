//! What is wrong with a configuration, and where.

use std::{fmt, path::PathBuf};

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file; the line counts from 1.
    Line(PathBuf, usize),
    /// The file as a whole.
    File(PathBuf),
    /// In an environment variable.
    Variable(String),
    /// It shows only when all layers are put together.
    Together,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(path, line) => write!(f, "{}:{line}", path.display()),
            Place::File(path) => path.display().fmt(f),
            Place::Variable(name) => write!(f, "environment variable {name}"),
            Place::Together => f.write_str("configuration"),
        }
    }
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// The key, `section.key`; empty for a fault of the file itself.
    pub key: String,
    /// What is wrong, and what to write instead.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.key.is_empty() {
            write!(f, "{}: {}", self.place, self.what)
        } else {
            write!(f, "{}: {}: {}", self.place, self.key, self.what)
        }
    }
}

/// All faults of a configuration, never none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SettingsError {
    /// In the order of the layers.
    pub faults: Vec<Fault>,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.faults.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}
