//! Disk, clock and limits of the machine.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use jiff::civil::date;
use nix::sys::{
    resource::{Resource, getrlimit},
    statvfs::statvfs,
};

use super::{Finding, Report};
use crate::hall::{Clock, Settings, Stopwatch};

/// Less is a reason to tidy up, MiB.
const LOW: u64 = 1024;
/// Less does not last for a round, MiB.
const FULL: u64 = 100;
/// A write that needs longer to be safe delays alerts, ms.
const SLOW: u64 = 50;
/// Writes to try.
const WRITES: u32 = 8;
/// Files the daemon needs beside its boards: sockets, browsers, journal.
const OTHERS: u64 = 200;
/// Where the packaged service keeps its state.
const STATE: &str = "/var/lib/atalaya";

pub(super) fn examine(settings: &Settings, clock: Clock, report: &mut Report) {
    disk(&journal(settings), report);
    time(clock, report);
    let wanted = OTHERS + 2 * settings.boards.len() as u64;
    if let Ok((limit, _)) = getrlimit(Resource::RLIMIT_NOFILE)
        && limit < wanted
    {
        report.add("limits", Finding::FewFiles { limit, wanted });
    }
}

/// Where the daemon keeps its journal. By hand nobody says what systemd says to the service.
fn journal(settings: &Settings) -> PathBuf {
    let usual = settings.journal == Settings::default().journal;
    match Path::new(STATE) {
        state if usual && state.exists() => state.to_owned(),
        _ => settings.journal.dir.clone(),
    }
}

fn disk(path: &Path, report: &mut Report) {
    let dir = path.display().to_string();
    let about = "journal";
    let slow = match tried(path) {
        Ok(ms) => ms,
        Err(why) => {
            let why = why.to_string();
            return report.add(about, Finding::DiskFault { dir, why });
        }
    };
    if slow > SLOW {
        let dir = dir.clone();
        report.add(about, Finding::DiskSlow { dir, ms: slow });
    }
    // It has just been written to; a system that does not say how much is free is let be.
    let Ok(about_disk) = statvfs(&there(path)) else {
        return;
    };
    let free = about_disk.blocks_available();
    let free_mib = free.saturating_mul(about_disk.fragment_size()) >> 20;
    let finding = match free_mib {
        ..FULL => Finding::DiskFull { dir, free_mib },
        FULL..LOW => Finding::DiskLow { dir, free_mib },
        _ => Finding::DiskGood { dir, free_mib },
    };
    report.add(about, finding);
}

/// The folder, or what is there of the way to it.
fn there(path: &Path) -> PathBuf {
    let mut all = path.ancestors();
    // A relative path begins with nothing, which is here.
    let there = all.find(|one| one.exists()).unwrap_or(Path::new("."));
    there.to_owned()
}

/// Whether files can be made in a folder, or in the one it would be made in.
pub(super) fn writable(path: &Path) -> io::Result<()> {
    trial(path, |_| Ok(()))
}

/// How long a write takes to be safe, on the average, ms.
fn tried(path: &Path) -> io::Result<u64> {
    let mut took = 0.0;
    trial(path, |file| {
        let watch = Stopwatch::start();
        for _ in 0..WRITES {
            file.write_all(&[0; 512])?;
            file.sync_data()?;
        }
        took = watch.seconds() * 1000.0 / f64::from(WRITES);
        Ok(())
    })?;
    Ok(took as u64)
}

/// Writes to a file that is gone afterwards.
fn trial(path: &Path, mut write: impl FnMut(&mut File) -> io::Result<()>) -> io::Result<()> {
    let file = there(path).join(format!(".atalaya-doctor-{}", std::process::id()));
    let done = File::create(&file).and_then(|mut file| write(&mut file));
    // Where it could not be made there is none.
    let _ = fs::remove_file(&file);
    done
}

fn time(clock: Clock, report: &mut Report) {
    let now = clock.wall();
    let today = now.to_zoned(jiff::tz::TimeZone::UTC).date();
    let finding = if today < date(2026, 1, 1) {
        Finding::ClockPast {
            now: now.to_string(),
        }
    } else {
        match set_by_network() {
            Some(true) => Finding::ClockGood,
            Some(false) => Finding::ClockFree,
            None => Finding::ClockUnknown,
        }
    };
    report.add("clock", finding);
}

/// What systemd says; it asks the kernel, whoever sets the clock.
fn set_by_network() -> Option<bool> {
    let asked = Command::new("timedatectl")
        .args(["show", "--property=NTPSynchronized", "--value"])
        .output()
        .ok()?;
    match String::from_utf8_lossy(&asked.stdout).trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}
