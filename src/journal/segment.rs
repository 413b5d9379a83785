//! The segment that is being written.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::{
    entry::{DAEMON, Entry, Kind},
    past::Past,
    reader::MAGIC,
};

#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
    file: File,
    day: Date,
    /// Bytes known to be on disk.
    safe: u64,
    /// The head alone, bytes.
    head: u64,
}

impl Segment {
    /// Makes the file, its head and its name safe on disk. `past` is what is before it.
    pub(super) fn create(
        dir: &Path,
        number: u64,
        wall: Timestamp,
        past: &Past,
    ) -> io::Result<Segment> {
        let stamp = wall.strftime("%Y%m%dT%H%M%SZ");
        let path = dir.join(format!("atalaya-{stamp}-{number}.atj"));
        let mut head = MAGIC.to_vec();
        for kind in [
            Kind::Seqs(past.seqs.clone()),
            Kind::Cuts(past.needed(Timestamp::MIN)),
            Kind::Cuts(past.running()),
        ] {
            let entry = Entry {
                board: DAEMON,
                seq: 0,
                at: past.at,
                wall,
                kind,
            };
            entry.encode(&mut head).map_err(io::Error::other)?;
        }
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(&path)?;
        let mut segment = Segment {
            path,
            file,
            day: day(wall),
            safe: 0,
            head: head.len() as u64,
        };
        // without this the file could be whole after a power cut, but in no folder
        match segment
            .append(&head)
            .and_then(|()| File::open(dir)?.sync_all())
        {
            Ok(()) => Ok(segment),
            Err(error) => {
                segment.abandon();
                Err(error)
            }
        }
    }

    /// Whether so many more bytes of that moment belong in here. A clock that was set back does not
    /// begin a new one, or it would once a batch around midnight.
    pub(super) fn takes(&self, bytes: usize, wall: Timestamp, most: u64) -> bool {
        let room = self.safe == self.head || self.safe + bytes as u64 <= most;
        room && day(wall) <= self.day
    }

    /// Writes to the disk itself.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.sync_data()?;
        self.safe += bytes.len() as u64;
        Ok(())
    }

    /// After a fault nothing behind the safe part can be trusted: cuts it off, and removes a file
    /// that holds nothing, so that a full disk is not filled with heads. Both may fail: a reader copes.
    pub(super) fn abandon(self) {
        let _ = if self.safe <= self.head {
            fs::remove_file(&self.path)
        } else {
            self.file.set_len(self.safe)
        };
    }
}

fn day(wall: Timestamp) -> Date {
    wall.to_zoned(TimeZone::UTC).date()
}
