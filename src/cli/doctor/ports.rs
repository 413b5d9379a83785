//! The ports and what answers there.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::ErrorKind,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use nix::fcntl::OFlag;
use tokio::task::JoinSet;

use super::{
    Finding, Report,
    holder::{self, Program},
};
use crate::{
    hall::{
        Settings,
        probe::{self, Answer, ProbeError},
    },
    link::Address,
};

/// Long enough for six answers at 9600 baud and a board that wakes up.
const PATIENCE: Duration = Duration::from_secs(3);
/// An adapter that holds bytes back no longer than this is set right, ms.
const LATENCY: u32 = 2;

/// Where the udev rule is when it is installed.
const RULES: [&str; 2] = [
    "/usr/lib/udev/rules.d/60-atalaya.rules",
    "/etc/udev/rules.d/60-atalaya.rules",
];

type Answers = HashMap<Address, Result<Answer, ProbeError>>;

pub(super) async fn examine(settings: &Settings, report: &mut Report) {
    let found = settings.ports.search.list().into_iter();
    let found: Vec<Address> = found.map(|port| port.address).collect();
    // A single board's question on a bus would be heard by all of its boards: those are let be.
    let alone = settings.boards.iter().filter(|board| board.bus.is_none());
    let named = alone.filter_map(|board| board.port.clone());
    let mut all: Vec<Address> = named.collect();
    let by_number = settings.boards.iter().any(|board| board.serial.is_some());
    if settings.boards.is_empty() || by_number {
        // Two questions at one port would take each other's answers.
        let named = settings
            .boards
            .iter()
            .filter_map(|board| board.port.as_ref());
        let named: HashSet<Address> = named.map(real).collect();
        let others = found
            .iter()
            .filter(|address| !named.contains(&real(address)));
        all.extend(others.cloned());
    }
    let mut held = HashMap::new();
    let mut free = Vec::new();
    for address in all {
        match holder(&address) {
            Some(program) => drop(held.insert(address, program)),
            None => free.push(address),
        }
    }
    let watched = held.values().any(Program::is_daemon);
    let answers = ask(free).await;
    if settings.boards.is_empty() {
        if found.is_empty() {
            report.add("ports", Finding::NoPorts);
        }
        for address in &found {
            port("port", address, &held, &answers, report);
        }
    }
    let mut first = HashMap::new();
    for board in &settings.boards {
        let about = format!("board {}", board.number);
        if let Some(address) = board.port.as_ref().filter(|_| board.bus.is_none()) {
            let other = *first.entry(real(address)).or_insert(board.number);
            if other != board.number {
                let port = address.to_string();
                report.add(&about, Finding::PortTwice { port, other });
            }
            port(&about, address, &held, &answers, report);
            unstable(&about, address, report);
        }
        if let Some(serial) = &board.serial {
            by_serial(&about, serial, watched, &answers, report);
        }
    }
    for address in &found {
        latency(address, report);
    }
    thieves(report);
}

/// Who has a port; of a pty, whose other end is open too, nobody knows.
fn holder(address: &Address) -> Option<Program> {
    match address {
        Address::Device(path) if !real_path(path).starts_with("/dev/pts") => holder::holds(path),
        Address::Device(_) => None,
        Address::Tcp(target) => holder::speaks_to(target),
    }
}

async fn ask(ports: Vec<Address>) -> Answers {
    let mut asked = JoinSet::new();
    for port in ports {
        asked.spawn(async move { (port.clone(), probe::probe(port, PATIENCE).await) });
    }
    asked.join_all().await.into_iter().collect()
}

fn port(
    about: &str,
    address: &Address,
    held: &HashMap<Address, Program>,
    answers: &Answers,
    report: &mut Report,
) {
    let port = address.to_string();
    let finding = match (held.get(address), answers.get(address)) {
        (Some(program), _) if program.is_daemon() => Finding::PortWatched { port },
        (Some(program), _) => Finding::PortHeld {
            port,
            by: program.to_string(),
        },
        (None, Some(Ok(answer))) => Finding::BoardGood {
            port,
            serial: answer.serial.clone().unwrap_or_else(|| "?".to_owned()),
        },
        (None, Some(Err(ProbeError::Silent))) => Finding::PortSilent { port },
        (None, Some(Err(ProbeError::Closed(why)))) => closed(address, why),
        (None, None) => return,
    };
    report.add(about, finding);
}

fn closed(address: &Address, why: &str) -> Finding {
    let port = address.to_string();
    let opened = match address {
        Address::Device(path) => {
            let mut how = fs::File::options();
            // Without the flag it would wait for a modem's carrier.
            how.read(true)
                .write(true)
                .custom_flags(OFlag::O_NONBLOCK.bits());
            how.open(path).map(drop)
        }
        Address::Tcp(_) => Ok(()),
    };
    match opened.map_err(|error| error.kind()) {
        Err(ErrorKind::NotFound) => Finding::PortAbsent { port },
        Err(ErrorKind::PermissionDenied) => Finding::PortDenied { port },
        Err(ErrorKind::ResourceBusy) => Finding::PortHeld {
            port,
            by: "?".to_owned(),
        },
        _ => Finding::PortFault {
            why: why.to_owned(),
        },
    }
}

/// `watched`: the running daemon has ports, and this board may be at one of them.
fn by_serial(about: &str, serial: &str, watched: bool, answers: &Answers, report: &mut Report) {
    let mut all = answers.iter();
    let found = all.find(|(_, answer)| {
        let mut names = answer.iter().flat_map(|one| [&one.serial, &one.short]);
        names.any(|name| name.as_deref() == Some(serial))
    });
    let serial = serial.to_owned();
    let finding = match found {
        Some((address, _)) => Finding::BoardGood {
            port: address.to_string(),
            serial,
        },
        None if watched => Finding::PortWatched { port: serial },
        None => Finding::SerialNowhere { serial },
    };
    report.add(about, finding);
}

/// Names that change: the number of a device, and a name by the adapter's own id where several adapters
/// have the same.
fn unstable(about: &str, address: &Address, report: &mut Report) {
    let Address::Device(path) = address else {
        return;
    };
    let numbered = ["/dev/ttyUSB", "/dev/ttyACM"];
    let numbered = numbered
        .iter()
        .any(|start| address.to_string().starts_with(start));
    let links = |dir: &str| fs::read_dir(dir).map_or(0, Iterator::count);
    let clash = path.starts_with("/dev/serial/by-id")
        && links("/dev/serial/by-id") < links("/dev/serial/by-path");
    if numbered || clash {
        let better = holder::by_path(path).map_or_else(
            || "/dev/serial/by-path/...".to_owned(),
            |better| better.display().to_string(),
        );
        let port = address.to_string();
        report.add(about, Finding::PortUnstable { port, better });
    }
}

/// FTDI adapters hold short answers back.
fn latency(address: &Address, report: &mut Report) {
    let Address::Device(path) = address else {
        return;
    };
    let real = real_path(path);
    let name = real.file_name().unwrap_or_default();
    let timer = Path::new("/sys/class/tty")
        .join(name)
        .join("device/latency_timer");
    let set = fs::read_to_string(timer).ok();
    let set = set.and_then(|text| text.trim().parse::<u32>().ok());
    if let Some(ms) = set.filter(|ms| *ms > LATENCY) {
        let port = address.to_string();
        report.add("adapter", Finding::Latency { port, ms });
    }
}

/// Programs known to take serial ports for something else. The rule keeps them off.
fn thieves(report: &mut Report) {
    if RULES.iter().any(|rule| Path::new(rule).exists()) {
        return;
    }
    for program in holder::programs() {
        if ["ModemManager", "brltty"].contains(&program.name.as_str()) {
            report.add("ports", Finding::PortThief { name: program.name });
        }
    }
}

fn real(address: &Address) -> Address {
    match address {
        Address::Device(path) => Address::Device(real_path(path)),
        Address::Tcp(_) => address.clone(),
    }
}

fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
