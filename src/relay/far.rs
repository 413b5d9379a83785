//! The files of the folder on a machine far away, by FTP or SFTP: each is sent under a name that
//! nobody watches for, and renamed when it is there whole.

use std::{collections::BTreeSet, fmt, str::FromStr, time::Duration};

use percent_encoding::percent_decode_str;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    feed::{Reader, Time},
    files::{Files, Printer},
    folder::Changes,
    ftp, sftp,
    standing::{self, Standing},
};

/// A machine that takes nothing is tried again after so long; doubled up to [`LONGEST`].
const AGAIN: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const LONGEST: Duration = Duration::from_secs(30);
/// For one file, and for the way in.
const PATIENCE: Duration = Duration::from_secs(30);
/// For everything that is still due when the daemon stops.
const LAST: Duration = Duration::from_secs(10);

/// How the far machine is spoken to, and how one proves who one is.
#[derive(Clone)]
pub enum Login {
    /// FTP in clear, with a password.
    Ftp(String),
    /// SFTP, to the machine that holds this key and no other.
    Sftp(sftp::HostKey, sftp::Proof),
}

/// A folder on a far machine. What is secret of it is shown to nobody.
#[derive(Clone)]
pub struct Depot {
    /// Where.
    pub place: Place,
    /// How.
    pub login: Login,
}

impl fmt::Debug for Depot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Depot").field(&self.place).finish()
    }
}

/// Machine, user and folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name or address.
    pub host: String,
    /// TCP.
    pub port: u16,
    /// Who logs in.
    pub user: String,
    /// From the folder one logs into, or from the root where it begins with `/`. May be empty.
    pub dir: String,
}

/// No `ftp://user@host/folder` and no `sftp://user@host/folder`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no such address: write it as sftp://user@host/folder or ftp://user@host/folder (//folder from the root), without a password"
)]
pub struct PlaceError(String);

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Place, PlaceError> {
        let wrong = || PlaceError(text.to_owned());
        let url = reqwest::Url::parse(text).map_err(|_| wrong())?;
        let usual = match url.scheme() {
            "ftp" => 21,
            "sftp" => 22,
            _ => return Err(wrong()),
        };
        // What stands in the configuration is shown in logs.
        if url.password().is_some() {
            return Err(PlaceError(format!("{}://...", url.scheme())));
        }
        let plain = |part: &str| {
            let text = percent_decode_str(part).decode_utf8().ok()?.into_owned();
            let line = !text.contains(char::is_control);
            line.then_some(text)
        };
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or_else(wrong)?;
        let host = host.trim_matches(['[', ']']).to_owned();
        let user = plain(url.username()).filter(|user| !user.is_empty());
        let path = plain(url.path()).ok_or_else(wrong)?;
        let dir = path.strip_prefix('/').unwrap_or(&path);
        Ok(Place {
            host,
            port: url.port().unwrap_or(usual),
            user: user.ok_or_else(wrong)?,
            dir: dir.trim_end_matches('/').to_owned(),
        })
    }
}

impl Place {
    /// Path of a file on that machine.
    fn path(&self, file: &str) -> String {
        match self.dir.as_str() {
            "" => file.to_owned(),
            dir => format!("{dir}/{file}"),
        }
    }
}

/// Why a file is not there.
#[derive(Debug, thiserror::Error)]
pub enum FarError {
    /// The FTP server's answer, or the line to it.
    #[error("{0}")]
    Ftp(#[from] suppaftp::FtpError),
    /// The line to the SSH server.
    #[error("{0}")]
    Ssh(#[from] russh::Error),
    /// The SFTP server's answer.
    #[error("{0}")]
    Sftp(#[from] russh_sftp::client::error::Error),
    /// It is another machine, or it has a new key.
    #[error("the machine shows the key {offered}, and relay.host_key is another")]
    HostKey {
        /// Kind and fingerprint of its key.
        offered: String,
    },
    /// User, password or key are not taken.
    #[error("the login is refused")]
    Refused,
    /// The line broke and the server took what it had for all.
    #[error("{there} of {sent} bytes arrived")]
    Short {
        /// What the server has.
        there: usize,
        /// What was sent.
        sent: usize,
    },
    /// Nothing moves.
    #[error("no answer in time")]
    Slow,
}

/// An open line to the far machine.
enum Link {
    Ftp(Box<ftp::Link>),
    Sftp(Box<sftp::Link>),
}

impl Link {
    async fn open(depot: &Depot) -> Result<Link, FarError> {
        let place = &depot.place;
        let open = async {
            Ok(match &depot.login {
                Login::Ftp(password) => {
                    Link::Ftp(Box::new(ftp::Link::open(place, password).await?))
                }
                Login::Sftp(key, proof) => {
                    Link::Sftp(Box::new(sftp::Link::open(place, key, proof).await?))
                }
            })
        };
        timeout(PATIENCE, open).await.map_err(|_| FarError::Slow)?
    }

    async fn make_dir(&mut self, dir: &str) {
        match self {
            Link::Ftp(link) => link.make_dir(dir).await,
            Link::Sftp(link) => link.make_dir(dir).await,
        }
    }

    /// `scratch` first, then renamed to `path`.
    async fn put(&mut self, scratch: &str, path: &str, content: &[u8]) -> Result<(), FarError> {
        let put = async {
            match self {
                Link::Ftp(link) => link.put(scratch, path, content).await,
                Link::Sftp(link) => link.put(scratch, path, content).await,
            }
        };
        timeout(PATIENCE, put).await.map_err(|_| FarError::Slow)?
    }

    async fn remove(&mut self, path: &str) -> Result<(), FarError> {
        let remove = async {
            match self {
                Link::Ftp(link) => link.remove(path).await,
                Link::Sftp(link) => link.remove(path).await,
            }
        };
        timeout(PATIENCE, remove)
            .await
            .map_err(|_| FarError::Slow)?
    }
}

impl Depot {
    /// Logs in and out again.
    ///
    /// # Errors
    /// When that fails.
    pub async fn probe(&self) -> Result<(), FarError> {
        Link::open(self).await.map(drop)
    }
}

/// What is known of the far machine.
#[derive(Default)]
struct Far {
    link: Option<Link>,
    /// Folders that were made over this link.
    made: BTreeSet<String>,
    /// Files that surely stand there as they are here.
    there: Files,
}

impl Far {
    /// Brings all that differs. A line that lay idle may have ended: it is opened again at once.
    async fn bring(&mut self, depot: &Depot, files: &Files) -> Result<(), FarError> {
        let old = self.link.is_some();
        match self.once(depot, files).await {
            Err(why) if old => {
                tracing::debug!(%why, "the line to the far machine is opened again");
                self.hang_up();
                self.once(depot, files).await
            }
            other => other,
        }
    }

    fn hang_up(&mut self) {
        self.link = None;
        self.made.clear();
    }

    async fn once(&mut self, depot: &Depot, files: &Files) -> Result<(), FarError> {
        let changes = Changes::between(&self.there, files);
        if changes.is_empty() {
            return Ok(());
        }
        let link = match &mut self.link {
            Some(link) => link,
            none => none.insert(Link::open(depot).await?),
        };
        for (file, text) in changes.new {
            let path = depot.place.path(&file);
            for (at, _) in path.match_indices('/').filter(|(at, _)| *at > 0) {
                if self.made.insert(path[..at].to_owned()) {
                    link.make_dir(&path[..at]).await;
                }
            }
            // From here until the answer nobody knows what stands there.
            self.there.remove(&file);
            // No ending that anybody watches for.
            let scratch = format!("{path}.part");
            link.put(&scratch, &path, text.as_bytes()).await?;
            self.there.insert(file, text);
        }
        for file in changes.gone {
            link.remove(&depot.place.path(&file)).await?;
            self.there.remove(&file);
        }
        Ok(())
    }
}

/// Keeps the far folder up to date until `stop`, then brings what is due once more. `standing` learns
/// when that fails and when it works again.
pub async fn run<T: Time>(
    depot: Depot,
    mut reader: Reader<T>,
    standing: watch::Sender<Standing>,
    stop: CancellationToken,
) {
    let mut printer = Printer::default();
    let mut far = Far::default();
    let mut wait = None;
    let host = depot.place.host.clone();
    loop {
        let last = stop.is_cancelled();
        let (world, now) = match last || wait.is_some() {
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
        let brought = tokio::select! {
            brought = far.bring(&depot, &files) => brought,
            () = overtime(&stop) => Err(FarError::Slow),
        };
        match brought {
            Ok(()) => {
                wait = None;
                if standing::works(&standing) {
                    tracing::info!(host, "the relay's files go out again");
                }
            }
            Err(why) => {
                far.hang_up();
                // Said once; a machine that is away for an hour fills no log.
                if standing::fails(&standing, &why) || last {
                    tracing::error!(host, %why, "the relay's files do not go out");
                }
                let pause = wait.map_or(AGAIN, |wait: Duration| (wait * 2).min(LONGEST));
                wait = Some(pause);
                if !last {
                    tokio::select! {
                        () = sleep(pause) => {}
                        () = stop.cancelled() => {}
                    }
                }
            }
        }
        if last {
            return;
        }
    }
}

/// The daemon waits so long for the far machine and no longer.
async fn overtime(stop: &CancellationToken) {
    stop.cancelled().await;
    sleep(LAST).await;
}
