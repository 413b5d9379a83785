//! One line to an SFTP server.

use std::{str::FromStr, sync::Arc, time::Duration};

use russh::{
    client,
    keys::{
        HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKey, PublicKeyOrCertificate,
        decode_secret_key, ssh_key::Fingerprint,
    },
};
use russh_sftp::{
    client::{RawSftpSession, error::Error as SftpError},
    extensions::HardlinkExtension,
    protocol::{FileAttributes, OpenFlags, Packet, Status, StatusCode},
};

use super::far::{FarError, Place};

/// Renames onto a file that is there, in one step.
const POSIX_RENAME: &str = "posix-rename@openssh.com";
/// Every server takes so many bytes at once.
const CHUNK: usize = 32 * 1024;
/// A line that says nothing for three times as long is broken.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// The key that the far machine must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostKey(Fingerprint);

/// Neither a fingerprint nor a public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no host key: write SHA256:... or `ssh-ed25519 AAAA...`, as `ssh-keyscan -t ed25519 HOST` gives it"
)]
pub struct HostKeyError(String);

impl FromStr for HostKey {
    type Err = HostKeyError;

    fn from_str(text: &str) -> Result<HostKey, HostKeyError> {
        let fingerprint = match text.starts_with("SHA256:") {
            true => text.parse().ok(),
            false => PublicKey::from_openssh(text)
                .ok()
                .map(|key| key.fingerprint(HashAlg::Sha256)),
        };
        fingerprint
            .map(HostKey)
            .ok_or_else(|| HostKeyError(text.to_owned()))
    }
}

/// What is shown to the far machine.
#[derive(Clone)]
pub enum Proof {
    /// The user's password.
    Password(String),
    /// A private key.
    Key(Arc<PrivateKey>),
}

impl Proof {
    /// A private key from the text of its file, which has no passphrase.
    ///
    /// # Errors
    /// When it is none.
    pub fn key(text: &str) -> Result<Proof, russh::keys::Error> {
        Ok(Proof::Key(Arc::new(decode_secret_key(text, None)?)))
    }
}

/// Looks at the machine's key before anything secret is said.
struct Doorman(HostKey);

impl client::Handler for Doorman {
    type Error = FarError;

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, FarError> {
        let PublicKeyOrCertificate::PublicKey { key, .. } = shown else {
            return Ok(false);
        };
        let fingerprint = key.fingerprint(HashAlg::Sha256);
        match fingerprint == self.0.0 {
            true => Ok(true),
            false => Err(FarError::HostKey {
                offered: format!("{} {fingerprint}", key.algorithm()),
            }),
        }
    }
}

/// A logged-in line.
pub(super) struct Link {
    sftp: RawSftpSession,
    renames_over: bool,
    // The line lives as long as its handle.
    _ssh: client::Handle<Doorman>,
}

impl Link {
    pub(super) async fn open(
        place: &Place,
        key: &HostKey,
        proof: &Proof,
    ) -> Result<Link, FarError> {
        let config = client::Config {
            keepalive_interval: Some(KEEPALIVE),
            nodelay: true,
            ..client::Config::default()
        };
        let address = (place.host.as_str(), place.port);
        let mut ssh = client::connect(Arc::new(config), address, Doorman(*key)).await?;
        let taken = match proof {
            Proof::Password(word) => ssh.authenticate_password(&place.user, word).await?,
            Proof::Key(key) => {
                let key = PrivateKeyWithHashAlg::new(Arc::clone(key), None);
                ssh.authenticate_publickey(&place.user, key).await?
            }
        };
        if !taken.success() {
            return Err(FarError::Refused);
        }
        let channel = ssh.channel_open_session().await?;
        channel.request_subsystem(true, "sftp").await?;
        let sftp = RawSftpSession::new(channel.into_stream());
        let version = sftp.init().await?;
        Ok(Link {
            sftp,
            renames_over: version.extensions.contains_key(POSIX_RENAME),
            _ssh: ssh,
        })
    }

    /// A folder that cannot be made is told by the first file in it.
    pub(super) async fn make_dir(&mut self, dir: &str) {
        let _ = self.sftp.mkdir(dir, FileAttributes::empty()).await;
    }

    pub(super) async fn put(
        &mut self,
        scratch: &str,
        path: &str,
        content: &[u8],
    ) -> Result<(), FarError> {
        let sftp = &self.sftp;
        let flags = OpenFlags::CREATE | OpenFlags::TRUNCATE | OpenFlags::WRITE;
        let file = sftp.open(scratch, flags, FileAttributes::empty()).await?;
        let mut offset = 0;
        for chunk in content.chunks(CHUNK) {
            sftp.write(&file.handle, offset, chunk.to_vec()).await?;
            offset += chunk.len() as u64;
        }
        sftp.close(&file.handle).await?;
        if !self.renames_over {
            self.remove(path).await?;
            self.sftp.rename(scratch, path).await?;
            return Ok(());
        }
        // The same two names on the wire.
        let names = HardlinkExtension {
            oldpath: scratch.to_owned(),
            newpath: path.to_owned(),
        };
        let names = TryInto::<Vec<u8>>::try_into(names)
            .map_err(|why| SftpError::UnexpectedBehavior(why.to_string()))?;
        match sftp.extended(POSIX_RENAME, names).await? {
            Packet::Status(Status {
                status_code: StatusCode::Ok,
                ..
            }) => Ok(()),
            Packet::Status(status) => Err(SftpError::Status(status).into()),
            _ => Err(SftpError::UnexpectedPacket.into()),
        }
    }

    /// A file that is not there is no fault.
    pub(super) async fn remove(&mut self, path: &str) -> Result<(), FarError> {
        match self.sftp.remove(path).await {
            Err(SftpError::Status(status)) if status.status_code == StatusCode::NoSuchFile => {
                Ok(())
            }
            other => {
                other?;
                Ok(())
            }
        }
    }
}
