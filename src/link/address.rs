//! Where a board is reached.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A serial device or a TCP port that carries the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// Absolute path of a serial device, or of a link to one.
    Device(PathBuf),
    /// `host:port`, an IPv6 host in brackets.
    Tcp(String),
}

/// The text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Neither an absolute path nor `tcp://`.
    #[error(
        "`{0}` is no board address: write an absolute device path such as \
         /dev/serial/by-path/..., or tcp://host:port"
    )]
    Form(String),
    /// `tcp://` without a host.
    #[error("`{0}` lacks a host: write tcp://host:port")]
    Host(String),
    /// `tcp://` without a port from 1 to 65535.
    #[error("`{0}` lacks a port: write tcp://host:port with a port from 1 to 65535")]
    Port(String),
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        if let Some(target) = text.strip_prefix("tcp://") {
            let (host, port) = target
                .rsplit_once(':')
                .ok_or_else(|| AddressError::Port(text.to_owned()))?;
            // A bare IPv6 address would have its last group taken for the port.
            if host.is_empty() || (host.contains(':') && !host.ends_with(']')) {
                return Err(AddressError::Host(text.to_owned()));
            }
            return match port.parse::<u16>() {
                Ok(1..) => Ok(Address::Tcp(target.to_owned())),
                _ => Err(AddressError::Port(text.to_owned())),
            };
        }
        if text.starts_with('/') {
            return Ok(Address::Device(PathBuf::from(text)));
        }
        Err(AddressError::Form(text.to_owned()))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Device(path) => path.display().fmt(f),
            Address::Tcp(target) => write!(f, "tcp://{target}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_there_and_back() {
        for text in ["/dev/ttyUSB0", "tcp://hall:4001", "tcp://[::1]:4001"] {
            let address: Address = text.parse().expect("an address");
            assert_eq!(address.to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, word) in [
            ("ttyUSB0", "absolute"),
            ("", "absolute"),
            ("tcp://hall", "port"),
            ("tcp://hall:0", "port"),
            ("tcp://hall:70000", "port"),
            ("tcp://:4001", "host"),
            ("tcp://fe80::1:4001", "host"),
        ] {
            let error = text.parse::<Address>().expect_err(text).to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
