//! The files in a folder, each replaced whole.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    feed::{Reader, Time},
    files::{Files, Printer},
    standing::{self, Standing},
};

/// A folder that takes nothing is tried again after so long.
const AGAIN: Duration = Duration::from_secs(5);

/// Puts a file in its place whole: readers see the old one or the new one. Folders are made.
///
/// # Errors
/// What the system says.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // No ending that anybody watches for.
    let scratch = folder.join(format!(".{name}.new"));
    let mut file = fs::File::create(&scratch)?;
    file.write_all(content)?;
    file.sync_data()?;
    drop(file);
    fs::rename(&scratch, path)
}

/// Keeps the folder up to date until `stop`, then writes what is due once more. `standing` learns when
/// that fails and when it works again.
pub async fn run<T: Time>(
    dir: PathBuf,
    mut reader: Reader<T>,
    standing: watch::Sender<Standing>,
    stop: CancellationToken,
) {
    let mut printer = Printer::default();
    let mut written = Files::new();
    loop {
        let last = stop.is_cancelled();
        let (world, now) = match last {
            true => reader.current(),
            false => tokio::select! {
                next = reader.next() => match next {
                    Some(next) => next,
                    None => return,
                },
                () = stop.cancelled() => continue,
            },
        };
        let files = printer.print(&world, reader.profile(), now);
        while let Err(why) = write(&dir, &files, &mut written).await {
            if standing::fails(&standing, &why) {
                tracing::error!(dir = %dir.display(), %why, "the relay's folder cannot be written");
            }
            tokio::select! {
                () = tokio::time::sleep(AGAIN) => {}
                () = stop.cancelled() => return,
            }
        }
        if standing::works(&standing) {
            tracing::info!(dir = %dir.display(), "the relay's folder is written again");
        }
        if last {
            return;
        }
    }
}

/// What has to be done so that a folder holds these files.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// To be written.
    pub(super) new: Files,
    /// Ours, and no more.
    pub(super) gone: Vec<String>,
}

impl Changes {
    /// From what stands there to what should.
    pub(super) fn between(there: &Files, files: &Files) -> Changes {
        let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let gone = |path: &&String| {
            let here = folder(path);
            // Files of a round that is over stay.
            !files.contains_key(*path) && files.keys().any(|other| folder(other) == here)
        };
        let new = files
            .iter()
            .filter(|(path, text)| there.get(*path) != Some(*text));
        Changes {
            new: new
                .map(|(path, text)| (path.clone(), text.clone()))
                .collect(),
            gone: there.keys().filter(gone).cloned().collect(),
        }
    }

    /// Nothing has to be done.
    pub(super) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty()
    }
}

/// Writes the files that differ from what stands there, so that a file's time is when its content
/// was last due; removes those of ours that are no more.
async fn write(dir: &Path, files: &Files, written: &mut Files) -> io::Result<()> {
    let Changes { new, gone } = Changes::between(written, files);
    let dir = dir.to_owned();
    tokio::task::spawn_blocking(move || {
        for (path, text) in new {
            let path = dir.join(path);
            if fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
                replace(&path, text.as_bytes())?;
            }
        }
        for path in gone {
            match fs::remove_file(dir.join(path)) {
                Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
                _ => {}
            }
        }
        Ok::<(), io::Error>(())
    })
    .await
    .map_err(io::Error::other)??;
    written.clone_from(files);
    Ok(())
}
