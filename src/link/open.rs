//! Opening a port, and saying in plain words why it does not open.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_serial::{DataBits, ErrorKind, FlowControl, Parity, SerialPortBuilderExt, StopBits};

use super::{Address, Lines};

/// The rate of every board (protocol section 1.1), bits per second.
const BAUD: u32 = 9600;
const CONNECT: Duration = Duration::from_secs(3);
/// A converter that lost power says nothing; the system asks it after so long a silence.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// An open port of either kind.
pub(super) trait Port: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Port for T {}

/// Opens the port; the error is the reason in words. A TCP port has no lines.
pub(super) async fn open(address: &Address, lines: Lines) -> Result<Box<dyn Port>, String> {
    match address {
        Address::Device(path) => device(path, lines).await,
        Address::Tcp(target) => tcp(target).await,
    }
}

async fn device(path: &Path, lines: Lines) -> Result<Box<dyn Port>, String> {
    let shown = path.display();
    let real = tokio::fs::canonicalize(path)
        .await
        .map_err(|error| format!("{shown}: {error}"))?;
    // A pty keeps its exclusive flag as long as the master lives, so a daemon that was killed
    // could not open its simulated board again. Real devices are ours alone.
    let pty = real.starts_with("/dev/pts");
    let name = path
        .to_str()
        .ok_or_else(|| format!("{shown}: the path is no valid text"))?;
    let opened = tokio_serial::new(name, BAUD)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(FlowControl::None)
        .exclusive(!pty)
        .open_native_async();
    match opened {
        Ok(mut port) => {
            if let Err(why) = lines.set(&mut port) {
                // A pty has no lines. The bytes may well pass all the same.
                tracing::warn!("{shown}: {why}");
            }
            Ok(Box::new(port))
        }
        // The path was there a moment ago: "no device" is how a refused lock is reported.
        Err(error) if error.kind() == ErrorKind::NoDevice => Err(format!(
            "{shown} is held by another program (LiveChess?): close it there"
        )),
        Err(error) if error.kind() == ErrorKind::Io(std::io::ErrorKind::PermissionDenied) => Err(
            format!("{shown}: permission denied; the user must be in the group dialout"),
        ),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}

async fn tcp(target: &str) -> Result<Box<dyn Port>, String> {
    let stream = tokio::time::timeout(CONNECT, TcpStream::connect(target))
        .await
        .map_err(|_| format!("tcp://{target}: no answer"))?
        .map_err(|error| format!("tcp://{target}: {error}"))?;
    let keepalive = socket2::TcpKeepalive::new()
        .with_time(KEEPALIVE)
        .with_interval(KEEPALIVE / 2);
    let tuned = stream
        .set_nodelay(true)
        .and_then(|()| socket2::SockRef::from(&stream).set_tcp_keepalive(&keepalive));
    tuned.map_err(|error| format!("tcp://{target}: {error}"))?;
    Ok(Box::new(stream))
}
