//! Which program has a device open or listens at an address. Root sees all programs, others their own.

use std::{
    fmt,
    net::{SocketAddr, ToSocketAddrs as _},
    path::{Path, PathBuf},
};

use procfs::{
    net::{TcpState, tcp, tcp6},
    process::{FDTarget, Process, all_processes},
};

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub pid: i32,
    pub name: String,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.pid)
    }
}

impl Program {
    /// It is the daemon, not this process.
    pub(super) fn is_daemon(&self) -> bool {
        self.name == "atalaya" && u32::try_from(self.pid) != Ok(std::process::id())
    }
}

/// All programs that let us look, but for this one.
pub(super) fn programs() -> Vec<Program> {
    let all = all_processes().into_iter().flatten().flatten();
    all.filter_map(|process| program(&process))
        .filter(|one| u32::try_from(one.pid) != Ok(std::process::id()))
        .collect()
}

/// Who has this file open.
pub(super) fn holds(file: &Path) -> Option<Program> {
    let file = file.canonicalize().ok()?;
    with_open(|target| matches!(target, FDTarget::Path(path) if *path == file))
}

/// Who listens at this address, or at all addresses of its port.
pub(super) fn listens(address: SocketAddr) -> Option<Program> {
    let sockets = [tcp().ok(), tcp6().ok()];
    let mut sockets = sockets.into_iter().flatten().flatten();
    let socket = sockets.find(|one| {
        let local = one.local_address;
        let same = local.ip() == address.ip() || local.ip().is_unspecified();
        one.state == TcpState::Listen
            && local.port() == address.port()
            && (same || address.ip().is_unspecified())
    })?;
    with_open(|target| matches!(target, FDTarget::Socket(inode) if *inode == socket.inode))
}

/// Who has a connection to this `host:port`.
pub(super) fn speaks_to(target: &str) -> Option<Program> {
    let targets: Vec<SocketAddr> = target.to_socket_addrs().ok()?.collect();
    let sockets = [tcp().ok(), tcp6().ok()];
    let mut sockets = sockets.into_iter().flatten().flatten();
    let socket = sockets
        .find(|one| one.state == TcpState::Established && targets.contains(&one.remote_address))?;
    with_open(|target| matches!(target, FDTarget::Socket(inode) if *inode == socket.inode))
}

fn with_open(wanted: impl Fn(&FDTarget) -> bool) -> Option<Program> {
    let all = all_processes().into_iter().flatten().flatten();
    let mut others = all.filter(|process| u32::try_from(process.pid) != Ok(std::process::id()));
    let found = others.find(|process| {
        let open = process.fd().into_iter().flatten().flatten();
        open.map(|fd| fd.target).any(|target| wanted(&target))
    })?;
    program(&found)
}

fn program(process: &Process) -> Option<Program> {
    // The name alone is cut off at 15 letters; ours is shorter.
    let name = process.stat().ok()?.comm;
    let pid = process.pid;
    Some(Program { pid, name })
}

/// The stable name of a serial device: the socket it hangs on.
pub(super) fn by_path(device: &Path) -> Option<PathBuf> {
    let real = device.canonicalize().ok()?;
    let links = std::fs::read_dir("/dev/serial/by-path").ok()?;
    let mut links = links.filter_map(|link| Some(link.ok()?.path()));
    links.find(|link| link.canonicalize().is_ok_and(|one| one == real))
}
