//! What may be said to a board (protocol sections 3.1 and 3.2).
//!
//! Two types on purpose. The daemon only ever holds a [`Request`], and no `Request` can change the
//! board's settings, its firmware, its framing or a running clock. A [`Command`] is anything a board
//! may hear; it can be recognised, never sent.

/// A command that is safe during a game; each is a single byte without data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Request {
    /// IDLE: stop all updates. No reply.
    Reset = 0x40,
    /// One clock message.
    Clock = 0x41,
    /// One dump; the update mode stays.
    Board = 0x42,
    /// UPDATE mode: squares on change, the clock at least every second.
    Update = 0x43,
    /// UPDATE_BOARD mode: squares only.
    UpdateBoard = 0x44,
    /// Serial number.
    Serial = 0x45,
    /// Bus address.
    BusAddress = 0x46,
    /// Trademark text.
    Trademark = 0x47,
    /// Hardware version.
    HardwareVersion = 0x48,
    /// The event memory; occupies the line for some 8 s.
    EventMemory = 0x49,
    /// UPDATE_NICE mode: squares on change, the clock when it changed.
    UpdateNice = 0x4b,
    /// Battery report.
    Battery = 0x4c,
    /// Firmware version.
    Version = 0x4d,
    /// Ten-character serial number.
    LongSerial = 0x55,
}

impl Request {
    /// Every request.
    pub const ALL: [Request; 14] = [
        Request::Reset,
        Request::Clock,
        Request::Board,
        Request::Update,
        Request::UpdateBoard,
        Request::Serial,
        Request::BusAddress,
        Request::Trademark,
        Request::HardwareVersion,
        Request::EventMemory,
        Request::UpdateNice,
        Request::Battery,
        Request::Version,
        Request::LongSerial,
    ];

    /// The byte on the wire.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self as u8
    }

    fn from_byte(byte: u8) -> Option<Request> {
        Request::ALL.into_iter().find(|r| r.byte() == byte)
    }
}

/// Anything a board in single-board mode may hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    /// One of the safe ones.
    Request(Request),
    /// 0x4a: over to bus mode.
    ToBusMode,
    /// 0x4e: jumps to the firmware loader; the board is gone.
    StartBootloader,
    /// 0x50: dump of the dark squares (draughts).
    BoardDark,
    /// 0x51: scan the dark squares only, for good.
    ScanDark,
    /// 0x52: dump of the light squares (draughts).
    BoardLight,
    /// 0x53: scan the light squares only, for good.
    ScanLight,
    /// 0x54: scan all squares, for good.
    ScanAll,
    /// 0x56: the clock over I2C.
    I2cClock,
    /// 0x57: updates with the I2C clock.
    UpdateI2c,
    /// 0x58: the same, "nice".
    UpdateI2cNice,
    /// 0x2b: a message for the clock follows ([`ClockCommand`]).
    ClockMessage,
    /// 0x2c: a message for an I2C clock follows.
    I2cClockMessage,
    /// 0x60: LEDs of a Revelation II.
    SetLeds,
    /// 0x63: developer key of a Pegasus.
    DeveloperKey,
}

impl Command {
    /// The command that begins with this byte; `None` for a byte no board knows.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Command> {
        Some(match byte {
            0x2b => Command::ClockMessage,
            0x2c => Command::I2cClockMessage,
            0x4a => Command::ToBusMode,
            0x4e => Command::StartBootloader,
            0x50 => Command::BoardDark,
            0x51 => Command::ScanDark,
            0x52 => Command::BoardLight,
            0x53 => Command::ScanLight,
            0x54 => Command::ScanAll,
            0x56 => Command::I2cClock,
            0x57 => Command::UpdateI2c,
            0x58 => Command::UpdateI2cNice,
            0x60 => Command::SetLeds,
            0x63 => Command::DeveloperKey,
            _ => Command::Request(Request::from_byte(byte)?),
        })
    }

    /// A size byte follows, then as many bytes as it says (section 2.1).
    #[must_use]
    pub const fn has_body(self) -> bool {
        matches!(
            self,
            Command::ClockMessage
                | Command::I2cClockMessage
                | Command::SetLeds
                | Command::DeveloperKey
        )
    }
}

/// What a clock message (0x2b) asks of the clock (section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ClockCommand {
    /// Show segments.
    Display = 0x01,
    /// Show icons.
    Icons = 0x02,
    /// Back to the times.
    End = 0x03,
    /// Ask for a pressed button.
    Button = 0x08,
    /// Ask for the clock's version.
    Version = 0x09,
    /// Set both times and run.
    SetAndRun = 0x0a,
    /// Beep.
    Beep = 0x0b,
    /// Show text (DGT 3000).
    Ascii = 0x0c,
    /// Show text (Revelation II).
    RevelationAscii = 0x0d,
}

impl ClockCommand {
    /// Reads the body of a 0x2b command, the bytes behind the size byte: `03, cmd, ..., 00`.
    #[must_use]
    pub fn from_body(body: &[u8]) -> Option<ClockCommand> {
        let [0x03, command, .., 0x00] = body else {
            return None;
        };
        [
            ClockCommand::Display,
            ClockCommand::Icons,
            ClockCommand::End,
            ClockCommand::Button,
            ClockCommand::Version,
            ClockCommand::SetAndRun,
            ClockCommand::Beep,
            ClockCommand::Ascii,
            ClockCommand::RevelationAscii,
        ]
        .into_iter()
        .find(|c| *c as u8 == *command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_heard_as_itself() {
        for request in Request::ALL {
            let heard = Command::from_byte(request.byte());
            assert_eq!(heard, Some(Command::Request(request)));
        }
    }

    #[test]
    fn what_harms_is_no_request() {
        for byte in [
            0x2b, 0x2c, 0x4a, 0x4e, 0x50, 0x51, 0x52, 0x53, 0x54, 0x60, 0x63,
        ] {
            let heard = Command::from_byte(byte);
            assert!(heard.is_some(), "{byte:02x} unheard");
            assert!(!matches!(heard, Some(Command::Request(_))), "{byte:02x}");
        }
    }

    #[test]
    fn bytes_of_no_meaning() {
        for byte in [0x00, 0x3f, 0x4f, 0x5f, 0x7f, 0x81, 0xff] {
            assert_eq!(Command::from_byte(byte), None);
        }
    }

    #[test]
    fn clock_bodies() {
        let set = [0x03, 0x0a, 0, 5, 0, 0, 5, 0, 4, 0];
        assert_eq!(ClockCommand::from_body(&set), Some(ClockCommand::SetAndRun));
        let version = [0x03, 0x09, 0x00];
        assert_eq!(
            ClockCommand::from_body(&version),
            Some(ClockCommand::Version)
        );
        for bad in [&[][..], &[3], &[3, 9], &[3, 9, 1], &[3, 0x7f, 0]] {
            assert_eq!(ClockCommand::from_body(bad), None);
        }
    }
}
