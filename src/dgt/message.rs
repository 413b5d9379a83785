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

impl Message {
    /// The kinds of messages, as metrics name them; [`Message::kind`] is a place in it.
    pub const KINDS: [&'static str; 12] = [
        "dump",
        "field",
        "clock",
        "serial",
        "long-serial",
        "version",
        "hardware-version",
        "trademark",
        "bus-address",
        "battery",
        "event-memory",
        "unknown",
    ];

    /// Which of [`Message::KINDS`] this is.
    pub const fn kind(&self) -> usize {
        match self {
            Message::Dump(_) => 0,
            Message::Field { .. } => 1,
            Message::Clock(_) => 2,
            Message::Serial(_) => 3,
            Message::LongSerial(_) => 4,
            Message::Version { .. } => 5,
            Message::HardwareVersion { .. } => 6,
            Message::Trademark(_) => 7,
            Message::BusAddress(_) => 8,
            Message::Battery(_) => 9,
            Message::EventMemory(_) => 10,
            Message::Unknown { .. } => 11,
        }
    }
}

/// Message ids with the high bit set.
pub(super) mod id {
    pub const DUMP: u8 = 0x86;
    pub const CLOCK: u8 = 0x8d;
    pub const FIELD: u8 = 0x8e;
    pub const EVENT_MEMORY: u8 = 0x8f;
    pub const BUS_ADDRESS: u8 = 0x90;
    pub const SERIAL: u8 = 0x91;
    pub const TRADEMARK: u8 = 0x92;
    pub const VERSION: u8 = 0x93;
    pub const HARDWARE_VERSION: u8 = 0x96;
    pub const BATTERY: u8 = 0xa0;
    pub const LONG_SERIAL: u8 = 0xa2;
}

/// Bytes in front of every payload: id and two length bytes.
pub(super) const HEADER: usize = 3;
/// Payload of the event memory, always whole (section 5.1).
const EVENT_MEMORY: usize = 0x1f00;
/// Longest text, and longest message of an unknown id: "up to 256" is the most any document
/// allows, and a longer one would only hold up the reader behind a damaged length.
const LONGEST: usize = 256;
/// Battery field without a value.
const NOT_AVAILABLE: u8 = 0x7f;
/// An erased byte of the event memory, the only data with the high bit set.
const ERASED: u8 = 0xff;

/// Whether a message of this id can have a payload of so many bytes.
pub(super) fn length_fits(id: u8, payload: usize) -> bool {
    match id {
        // 100 codes come from a draughts board of ten by ten.
        id::DUMP => payload == 64 || payload == 100,
        id::CLOCK => payload == 7,
        id::FIELD | id::BUS_ADDRESS | id::VERSION | id::HARDWARE_VERSION => payload == 2,
        id::EVENT_MEMORY => payload == EVENT_MEMORY,
        id::SERIAL => payload == 5 || payload == 9,
        id::BATTERY => payload == 9,
        id::LONG_SERIAL => payload == 10,
        _ => payload <= LONGEST,
    }
}

/// Whether a byte can stand in a payload of this id. Everywhere but in the event memory a high bit
/// means that bytes were lost and a new message has begun.
pub(super) fn is_data(id: u8, byte: u8) -> bool {
    byte < 0x80 || (id == id::EVENT_MEMORY && byte == ERASED)
}

impl Message {
    /// Reads one whole message; `None` when its content is impossible.
    pub(super) fn decode(id: u8, payload: &[u8]) -> Option<Message> {
        Some(match (id, payload) {
            (id::FIELD, &[square, code]) => {
                if square > 63 {
                    return None;
                }
                Message::Field {
                    square,
                    code: code & 0x0f,
                }
            }
            (id::CLOCK, bytes) => Message::Clock(ClockMessage::decode(bytes.try_into().ok()?)),
            (id::DUMP, bytes) if bytes.len() == 64 => {
                let mut codes: Box<[u8; 64]> = Box::new(bytes.try_into().ok()?);
                codes.iter_mut().for_each(|code| *code &= 0x0f);
                Message::Dump(codes)
            }
            (id::SERIAL, text) => Message::Serial(ascii(text)),
            (id::LONG_SERIAL, text) => Message::LongSerial(ascii(text)),
            (id::TRADEMARK, text) => Message::Trademark(ascii(text)),
            (id::VERSION, &[major, minor]) => Message::Version { major, minor },
            (id::HARDWARE_VERSION, &[major, minor]) => Message::HardwareVersion { major, minor },
            (id::BUS_ADDRESS, &[high, low]) => {
                Message::BusAddress(u16::from(high) << 7 | u16::from(low))
            }
            (id::BATTERY, &[percent, hours, minutes, .., status]) => {
                let known = hours != NOT_AVAILABLE && minutes < 60;
                Message::Battery(Battery {
                    percent,
                    remaining_minutes: known.then_some(u16::from(hours) * 60 + u16::from(minutes)),
                    charging: status & 1 != 0,
                    discharging: status & 2 != 0,
                })
            }
            (id::EVENT_MEMORY, bytes) => Message::EventMemory(bytes.to_vec()),
            (id, bytes) => Message::Unknown {
                id,
                payload: bytes.to_vec(),
            },
        })
    }

    /// Appends the message as a board sends it. Whatever does not fit the wire (high bits, an event
    /// memory of another size) is masked, cut or filled up, so the result is always well framed.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Message::Dump(codes) => frame(out, id::DUMP, codes.as_slice()),
            Message::Field { square, code } => frame(out, id::FIELD, &[*square, *code]),
            Message::Clock(clock) => frame(out, id::CLOCK, &clock.encode()),
            Message::Serial(text) => frame(out, id::SERIAL, text.as_bytes()),
            Message::LongSerial(text) => frame(out, id::LONG_SERIAL, text.as_bytes()),
            Message::Trademark(text) => frame(out, id::TRADEMARK, text.as_bytes()),
            Message::Version { major, minor } => frame(out, id::VERSION, &[*major, *minor]),
            Message::HardwareVersion { major, minor } => {
                frame(out, id::HARDWARE_VERSION, &[*major, *minor]);
            }
            Message::BusAddress(address) => {
                let [low, high] = (address << 1).to_le_bytes();
                frame(out, id::BUS_ADDRESS, &[high, low >> 1]);
            }
            Message::Battery(battery) => frame(out, id::BATTERY, &battery.payload()),
            Message::EventMemory(bytes) => {
                let mut whole = bytes.clone();
                whole.resize(EVENT_MEMORY, ERASED);
                frame(out, id::EVENT_MEMORY, &whole);
            }
            Message::Unknown { id, payload } => frame(out, *id, payload),
        }
    }
}

impl Battery {
    /// On-time and standby time are kept by nobody, so they go out as "not available".
    fn payload(&self) -> [u8; 9] {
        let mut payload = [NOT_AVAILABLE; 9];
        payload[0] = self.percent;
        if let Some(minutes) = self.remaining_minutes {
            // 126 hours are the most the field can say, so the low byte is the whole number.
            payload[1] = (minutes / 60).min(126).to_le_bytes()[0];
            payload[2] = (minutes % 60).to_le_bytes()[0];
        }
        payload[8] = u8::from(self.charging) | u8::from(self.discharging) << 1;
        payload
    }
}

fn frame(out: &mut Vec<u8>, id: u8, payload: &[u8]) {
    let id = id | 0x80;
    let payload = &payload[..payload.len().min(EVENT_MEMORY)];
    let length = payload.len() + HEADER;
    let seven_bits = |n: usize| n.to_le_bytes()[0] & 0x7f;
    out.extend([id, seven_bits(length >> 7), seven_bits(length)]);
    out.extend(
        payload
            .iter()
            .map(|&byte| if is_data(id, byte) { byte } else { byte & 0x7f }),
    );
}

/// Payload bytes have no high bit, so each is a character by itself.
fn ascii(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
