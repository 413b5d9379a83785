//! The two lines of a serial port that carry a level instead of bytes.
//!
//! The system raises both when a port is opened. Boards on an RS-232 bus were seen to behave strangely
//! unless both are low, and others to want DTR; USB boards do not care (protocol section 1.1).

use std::str::FromStr;

use tokio_serial::SerialPort;

/// What is done with one line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Level {
    /// As the system left it.
    #[default]
    Keep,
    /// Raised.
    On,
    /// Lowered.
    Off,
}

/// Both lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Lines {
    /// Data terminal ready.
    pub dtr: Level,
    /// Request to send.
    pub rts: Level,
}

/// The text is no level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither keep, on nor off")]
pub struct UnknownLevel(String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Level, UnknownLevel> {
        match text {
            "keep" => Ok(Level::Keep),
            "on" => Ok(Level::On),
            "off" => Ok(Level::Off),
            _ => Err(UnknownLevel(text.to_owned())),
        }
    }
}

impl Level {
    const fn wanted(self) -> Option<bool> {
        match self {
            Level::Keep => None,
            Level::On => Some(true),
            Level::Off => Some(false),
        }
    }
}

impl Lines {
    /// As boards on a bus want them.
    pub const LOW: Lines = Lines {
        dtr: Level::Off,
        rts: Level::Off,
    };

    /// Sets the lines of an open port; the error is the reason in words.
    pub(super) fn set(self, port: &mut impl SerialPort) -> Result<(), String> {
        if let Some(on) = self.dtr.wanted() {
            let set = port.write_data_terminal_ready(on);
            set.map_err(|why| format!("the line DTR cannot be set: {why}"))?;
        }
        if let Some(on) = self.rts.wanted() {
            let set = port.write_request_to_send(on);
            set.map_err(|why| format!("the line RTS cannot be set: {why}"))?;
        }
        Ok(())
    }
}
