//! One line to an FTP server.

use suppaftp::{FtpError, Mode, Status, tokio::AsyncFtpStream, types::FileType};
use tokio::net::TcpStream;

use super::far::{FarError, Place};

/// A logged-in line.
pub(super) struct Link(AsyncFtpStream);

impl Link {
    pub(super) async fn open(place: &Place, password: &str) -> Result<Link, FarError> {
        let stream = TcpStream::connect((place.host.as_str(), place.port)).await;
        let stream = stream.map_err(FtpError::ConnectionError)?;
        let peer = stream.peer_addr().map_err(FtpError::ConnectionError)?;
        let mut ftp = AsyncFtpStream::connect_with_stream(stream).await?;
        if peer.is_ipv6() {
            ftp.set_mode(Mode::ExtendedPassive);
        }
        // The files go to the machine we logged into, whatever address it believes it has.
        ftp.set_passive_nat_workaround(true);
        match ftp.login(place.user.as_str(), password).await {
            Err(FtpError::UnexpectedResponse(answer)) if answer.status == Status::NotLoggedIn => {
                return Err(FarError::Refused);
            }
            other => other?,
        }
        ftp.transfer_type(FileType::Binary).await?;
        Ok(Link(ftp))
    }

    /// A folder that cannot be made is told by the first file in it.
    pub(super) async fn make_dir(&mut self, dir: &str) {
        let _ = self.0.mkdir(dir).await;
    }

    pub(super) async fn put(
        &mut self,
        scratch: &str,
        path: &str,
        mut content: &[u8],
    ) -> Result<(), FarError> {
        let sent = content.len();
        self.0.put_file(scratch, &mut content).await?;
        // A data connection that ends early looks to the server like the end of the file.
        match self.0.size(scratch).await {
            Ok(there) if there == sent => {}
            Ok(there) => return Err(FarError::Short { there, sent }),
            Err(FtpError::UnexpectedResponse(answer)) if unknown(answer.status) => {}
            Err(why) => return Err(why.into()),
        }
        match self.0.rename(scratch, path).await {
            // Some servers rename onto no file that is there.
            Err(FtpError::UnexpectedResponse(_)) => {
                self.remove(path).await?;
                Ok(self.0.rename(scratch, path).await?)
            }
            other => Ok(other?),
        }
    }

    /// A file that is not there is no fault.
    pub(super) async fn remove(&mut self, path: &str) -> Result<(), FarError> {
        match self.0.rm(path).await {
            Err(FtpError::UnexpectedResponse(answer))
                if answer.status == Status::FileUnavailable =>
            {
                Ok(())
            }
            other => Ok(other?),
        }
    }
}

/// The server does not have that command.
fn unknown(status: Status) -> bool {
    matches!(
        status,
        Status::BadCommand | Status::NotImplemented | Status::CommandNotImplemented
    )
}
