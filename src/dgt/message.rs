//! Messages of the board in single-board mode (protocol section 4.1).

use super::clock::ClockMessage;

/// Battery report (0xa0); `None` where the board says "not available" (0x7f).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Battery {
    /// Charge in percent.
    pub percent: u8,
    /// Minutes left.
    pub remaining_minutes: Option<u16>,
    /// Status bit 0.
    pub charging: bool,
    /// Status bit 1.
    pub discharging: bool,
}

/// One message from the board. Squares are physical: 0 is a8, 63 is h1 when the connector is at
/// White's left. Codes are four bits (0 empty, 1-6 white PRNBKQ, 7-12 black, 13-15 result pieces).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Message {
    /// 0x86: the whole board.
    Dump(Box<[u8; 64]>),
    /// 0x8e: one square changed.
    Field {
        /// Physical square, 0 to 63.
        square: u8,
        /// New code, 0 to 15.
        code: u8,
    },
    /// 0x8d.
    Clock(ClockMessage),
    /// 0x91: five digits (older firmware adds more text).
    Serial(String),
    /// 0xa2: ten characters.
    LongSerial(String),
    /// 0x93.
    Version {
        /// Major number.
        major: u8,
        /// Minor number.
        minor: u8,
    },
    /// 0x96.
    HardwareVersion {
        /// Major number.
        major: u8,
        /// Minor number.
        minor: u8,
    },
    /// 0x92.
    Trademark(String),
    /// 0x90: fourteen bits.
    BusAddress(u16),
    /// 0xa0.
    Battery(Battery),
    /// 0x8f: the board's event memory, raw.
    EventMemory(Vec<u8>),
    /// Any id this program has no meaning for, kept and counted.
    Unknown {
        /// Id with the high bit set.
        id: u8,
        /// Payload without the three header bytes.
        payload: Vec<u8>,
    },
}
