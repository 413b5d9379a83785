//! Which ports boards are looked for on.

use std::{
    collections::HashSet,
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::link::{Address, AddressError};

/// Places to look, in order: paths, whose last part may hold one `*`, and `tcp://host:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ports(Vec<Address>);

/// The text names no places.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortsError {
    /// One of them is no address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A `*` where none can be, or two.
    #[error("`{0}`: one * may stand in the last part of a path, as in /dev/ttyUSB*")]
    Pattern(String),
}

/// A port that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// As it was named.
    pub address: Address,
    /// What it is behind all links, so that one port under two names is known to be one.
    pub real: Address,
}

impl Default for Ports {
    /// Every USB serial port; first by the name that tells the socket, and stays when a cable is pulled
    /// and put back.
    fn default() -> Ports {
        let paths = ["/dev/serial/by-path/*", "/dev/ttyUSB*", "/dev/ttyACM*"];
        Ports(
            paths
                .map(|path| Address::Device(PathBuf::from(path)))
                .to_vec(),
        )
    }
}

impl FromStr for Ports {
    type Err = PortsError;

    fn from_str(text: &str) -> Result<Ports, PortsError> {
        let place = |text: &str| {
            let address: Address = text.parse()?;
            let stars = text.matches('*').count();
            let last = text.rsplit('/').next().unwrap_or_default();
            let misplaced = stars > 1 || !(stars == 0 || last.contains('*'));
            match address {
                Address::Device(_) if misplaced => Err(PortsError::Pattern(text.to_owned())),
                address => Ok(address),
            }
        };
        let places = text.split(',').map(|text| place(text.trim()));
        places.collect::<Result<_, _>>().map(Ports)
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places: Vec<_> = self.0.iter().map(Address::to_string).collect();
        f.write_str(&places.join(", "))
    }
}

impl Ports {
    /// The ports that are there now, each once, by its first name. A TCP port counts as there.
    pub fn list(&self) -> Vec<Port> {
        let mut ports: Vec<Port> = Vec::new();
        let mut seen = HashSet::new();
        let named = self.0.iter().flat_map(expanded);
        for address in named {
            if let Some(real) = real(&address)
                && seen.insert(real.clone())
            {
                ports.push(Port { address, real });
            }
        }
        ports
    }
}

/// What a port is behind all links; `None` when it is not there.
pub fn real(address: &Address) -> Option<Address> {
    match address {
        Address::Tcp(_) => Some(address.clone()),
        Address::Device(path) => std::fs::canonicalize(path).ok().map(Address::Device),
    }
}

fn expanded(place: &Address) -> Vec<Address> {
    let Address::Device(path) = place else {
        return vec![place.clone()];
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some((before, after)) = name.split_once('*') else {
        return vec![place.clone()];
    };
    let dir = path.parent().unwrap_or(Path::new("/"));
    // A folder that is not there has no ports, as on a machine without serial ports.
    let read = std::fs::read_dir(dir).into_iter().flatten();
    let mut found: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let fits = name.len() >= before.len() + after.len();
        fits && name.starts_with(before) && name.ends_with(after)
    });
    found.sort();
    found.into_iter().map(Address::Device).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_port_under_two_names_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        for name in ["ttyUSB0", "ttyUSB1", "ttyS0", "tty"] {
            std::fs::write(dir.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink(dir.join("ttyUSB1"), dir.join("socket-7")).unwrap();
        std::os::unix::fs::symlink(dir.join("gone"), dir.join("socket-8")).unwrap();
        let text = format!("{0}/socket-*, {0}/ttyUSB*,tcp://hall:4001", dir.display());
        let ports: Ports = text.parse().unwrap();
        let names = ports.list().into_iter().map(|port| {
            let text = port.address.to_string();
            text.rsplit('/').next().unwrap_or_default().to_owned()
        });
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["socket-7", "ttyUSB0", "hall:4001"]
        );
    }

    #[test]
    fn places_there_and_back() {
        let text = Ports::default().to_string();
        assert_eq!(text.parse(), Ok(Ports::default()));
        for bad in [
            "",
            "ttyUSB*",
            "/dev/*/tty",
            "/dev/t*y*",
            "/dev/a,",
            "tcp://*",
        ] {
            assert!(bad.parse::<Ports>().is_err(), "{bad}");
        }
    }
}
