//! Lines for the systemd journal, in its own form: a message that says all by itself, and beside it each
//! field to search by, `journalctl ATALAYA_BOARD=3`.
//!
//! The crate for it (tracing-journald) leaves the fields out of the message, and `journalctl -u atalaya`
//! would say "the board's port was lost" without saying of which board.

use std::{
    fmt::{self, Write as _},
    io::{self, Write as _},
    os::unix::net::UnixDatagram,
};

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::layer::{Context, Layer};

const SOCKET: &str = "/run/systemd/journal/socket";
/// Every field begins so.
const PREFIX: &str = "ATALAYA_";
/// A message that is longer is cut: a datagram has an end.
const LONGEST: usize = 32 << 10;

/// The way to the journal.
#[derive(Debug)]
pub(super) struct Journal(UnixDatagram);

impl Journal {
    /// # Errors
    /// When nobody keeps a journal here.
    pub(super) fn connect() -> io::Result<Journal> {
        let socket = UnixDatagram::unbound()?;
        socket.connect(SOCKET)?;
        Ok(Journal(socket))
    }
}

impl<S: Subscriber> Layer<S> for Journal {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let about = event.metadata();
        let mut line = Line::default();
        event.record(&mut line);
        let Line {
            mut message,
            rest,
            mut fields,
        } = line;
        message.push_str(&rest);
        let end = message.floor_char_boundary(LONGEST);
        message.truncate(end);
        put(&mut fields, "MESSAGE", &message);
        put(&mut fields, "PRIORITY", priority(*about.level()));
        put(&mut fields, "SYSLOG_IDENTIFIER", "atalaya");
        if let (Some(file), Some(number)) = (about.file(), about.line()) {
            put(&mut fields, "CODE_FILE", file);
            put(&mut fields, "CODE_LINE", &number.to_string());
        }
        // There is nobody left to tell of a journal that takes nothing.
        let _ = self.0.send(&fields);
    }
}

/// As syslog has them.
const fn priority(level: Level) -> &'static str {
    match level {
        Level::ERROR => "3",
        Level::WARN => "4",
        Level::INFO => "6",
        _ => "7",
    }
}

/// A field whose value may be anything, lines and all.
fn put(fields: &mut Vec<u8>, name: &str, value: &str) {
    // Writing to a Vec cannot fail.
    let _ = writeln!(fields, "{name}");
    fields.extend_from_slice(&(value.len() as u64).to_le_bytes());
    fields.extend_from_slice(value.as_bytes());
    fields.push(b'\n');
}

#[derive(Default)]
struct Line {
    message: String,
    /// ` board=3 reason="..."`
    rest: String,
    fields: Vec<u8>,
}

impl Line {
    fn field(&mut self, field: &Field, shown: &str, plain: &str) {
        // Writing to a String cannot fail.
        let _ = write!(self.rest, " {}={shown}", field.name());
        let name = field.name().to_ascii_uppercase().replace('.', "_");
        if plain.len() <= LONGEST {
            put(&mut self.fields, &format!("{PREFIX}{name}"), plain);
        }
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message.push_str(value);
        } else {
            self.field(field, &format!("{value:?}"), value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        if field.name() == "message" {
            self.message.push_str(&text);
        } else {
            self.field(field, &text, &text);
        }
    }
}
