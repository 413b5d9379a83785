//! The framer against hostile streams, and against real games.

use std::path::PathBuf;

use atalaya::dgt::{Battery, ClockAck, ClockMessage, ClockTimes, Frames, Hand, HandTime, Message};
use base64::Engine;
use proptest::prelude::*;

fn all(frames: &mut Frames) -> Vec<Message> {
    std::iter::from_fn(|| frames.next_message()).collect()
}

fn wire(messages: &[Message]) -> Vec<u8> {
    let mut out = Vec::new();
    for message in messages {
        message.encode(&mut out);
    }
    out
}

fn field(square: u8, code: u8) -> Message {
    Message::Field { square, code }
}

/// One hostile stream: legend, bytes, bytes skipped, the messages that must come out.
type Row = (&'static str, Vec<u8>, u64, Vec<Message>);

fn rows() -> Vec<Row> {
    let good = [0x8e, 0, 5, 0x34, 1];
    let with = |before: &[u8]| [before, &good].concat();
    let dump = wire(&[Message::Dump(Box::new([1; 64]))]);
    let mut memory = vec![0x40; 0x1f00];
    memory[17] = 0xff;
    memory[18] = 0xff;
    let memory = Message::EventMemory(memory);
    let memory_wire = wire(std::slice::from_ref(&memory));
    vec![
        ("plain", good.to_vec(), 0, vec![field(0x34, 1)]),
        (
            "high bits of a code",
            vec![0x8e, 0, 5, 1, 0x5c],
            0,
            vec![field(1, 12)],
        ),
        (
            "strays in front",
            with(&[0, 0x7f, 5]),
            3,
            vec![field(0x34, 1)],
        ),
        (
            "no message, length zero",
            with(&[0x80, 0, 0]),
            3,
            vec![field(0x34, 1)],
        ),
        (
            "a flood of those",
            with(&[0x80, 0, 0].repeat(500)),
            1500,
            vec![field(0x34, 1)],
        ),
        ("length one", with(&[0x8e, 0, 1]), 3, vec![field(0x34, 1)]),
        (
            "length of another message",
            with(&[0x8e, 0, 10]),
            3,
            vec![field(0x34, 1)],
        ),
        (
            "an immense length",
            with(&[0x86, 0x7f, 0x7f]),
            3,
            vec![field(0x34, 1)],
        ),
        (
            "unknown and immense",
            with(&[0xc1, 0x7f, 0x7f, 1]),
            4,
            vec![field(0x34, 1)],
        ),
        ("id alone", with(&[0x8e]), 1, vec![field(0x34, 1)]),
        (
            "id and half a length",
            with(&[0x8e, 0]),
            2,
            vec![field(0x34, 1)],
        ),
        ("header alone", with(&[0x8e, 0, 5]), 3, vec![field(0x34, 1)]),
        (
            "payload cut short",
            with(&[0x8e, 0, 5, 0x10]),
            4,
            vec![field(0x34, 1)],
        ),
        (
            "a dump cut short",
            with(&dump[..60]),
            60,
            vec![field(0x34, 1)],
        ),
        (
            "a byte too many",
            with(&[0x8e, 0, 5, 1, 2, 3]),
            1,
            vec![field(1, 2), field(0x34, 1)],
        ),
        (
            "no such square",
            with(&[0x8e, 0, 5, 0x40, 1]),
            5,
            vec![field(0x34, 1)],
        ),
        (
            "0xff is no data elsewhere",
            with(&[0x8e, 0, 5, 0xff]),
            4,
            vec![field(0x34, 1)],
        ),
        (
            "0xff is data in the event memory",
            with(&memory_wire),
            0,
            vec![memory, field(0x34, 1)],
        ),
        (
            "event memory cut short",
            with(&memory_wire[..4000]),
            4000,
            vec![field(0x34, 1)],
        ),
        (
            "an unknown id",
            with(&[0xa3, 0, 4, 9]),
            0,
            vec![
                Message::Unknown {
                    id: 0xa3,
                    payload: vec![9],
                },
                field(0x34, 1),
            ],
        ),
        (
            "serial of six",
            with(&[0x91, 0, 9, 49, 49, 49, 49, 49, 49]),
            9,
            vec![field(0x34, 1)],
        ),
        (
            "serial, new and old",
            [&[0x91, 0, 8][..], b"13116", &[0x91, 0, 12], b"13116 1.0"].concat(),
            0,
            vec![
                Message::Serial("13116".into()),
                Message::Serial("13116 1.0".into()),
            ],
        ),
        (
            "bus address",
            vec![0x90, 0, 5, 8, 1],
            0,
            vec![Message::BusAddress(1025)],
        ),
        (
            "battery without a guess",
            vec![0xa0, 0, 12, 80, 0x7f, 0x7f, 0, 0, 0, 0, 0, 2],
            0,
            vec![Message::Battery(Battery {
                percent: 80,
                remaining_minutes: None,
                charging: false,
                discharging: true,
            })],
        ),
        (
            "all-zero clock",
            vec![0x8d, 0, 10, 0, 0, 0, 0, 0, 0, 0],
            0,
            vec![Message::Clock(ClockMessage::Meaningless)],
        ),
        (
            "status with the high bit (dgtnix's virtual board)",
            with(&[0x8d, 0, 10, 0, 0, 0, 0, 0, 0, 0xff]),
            10,
            vec![field(0x34, 1)],
        ),
    ]
}

#[test]
fn hostile_rows() {
    for (legend, bytes, skipped, expected) in rows() {
        let mut whole = Frames::new();
        whole.push(&bytes);
        assert_eq!(all(&mut whole), expected, "{legend}");
        assert_eq!(whole.skipped(), skipped, "{legend}");

        let mut single = Frames::new();
        let mut seen = Vec::new();
        for byte in bytes {
            single.push(&[byte]);
            seen.extend(all(&mut single));
        }
        assert_eq!(seen, expected, "{legend}, byte by byte");
        assert_eq!(single.skipped(), skipped, "{legend}, byte by byte");
    }
}

#[test]
fn a_reader_that_stopped_loses_the_oldest_only() {
    let mut frames = Frames::new();
    for _ in 0..400_000 {
        frames.push(&[0x8e, 0, 5, 7, 7]);
    }
    frames.push(&[0x8e, 0, 5, 9, 9]);
    let seen = all(&mut frames);
    assert!(seen.len() * 5 <= 1 << 20);
    assert_eq!(seen.last(), Some(&field(9, 9)));
    assert_eq!(frames.skipped() + seen.len() as u64 * 5, 400_001 * 5);
}

#[test]
fn real_games_are_read_whole() {
    let shared = std::env::var_os("ATALAYA_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let folder = shared.join("corpus/captures");
    if !folder.is_dir() {
        assert!(
            std::env::var_os("CI").is_none(),
            "no captures under {}",
            folder.display()
        );
        eprintln!("skipped: no captures under {}", folder.display());
        return;
    }
    // Messages as counted in section 9.1 of the protocol notes.
    for (name, count) in [("1.inbytes", 455), ("johan.inbytes", 956)] {
        let text = std::fs::read_to_string(folder.join(name)).expect("a capture");
        let mut frames = Frames::new();
        for line in text.lines() {
            let bytes = base64::engine::general_purpose::STANDARD.decode(line);
            frames.push(&bytes.expect("base64"));
        }
        let seen = all(&mut frames);
        assert_eq!((frames.skipped(), frames.unknown()), (0, 0), "{name}");
        assert!(!seen.contains(&Message::Clock(ClockMessage::Meaningless)));
        assert_eq!(seen.len(), count, "{name}");
    }
}

fn hand() -> impl Strategy<Value = HandTime> {
    (0..36_000_u32, any::<[bool; 3]>()).prop_map(|(seconds, [a, b, c])| HandTime {
        seconds,
        flag_fallen: a,
        time_per_move: b,
        flag_shown: c,
    })
}

fn clock() -> impl Strategy<Value = ClockMessage> {
    let times = (hand(), hand(), any::<[bool; 4]>()).prop_map(|(right, left, [a, b, c, d])| {
        ClockMessage::Times(ClockTimes {
            right,
            left,
            running: a,
            lever: if b { Hand::Left } else { Hand::Right },
            battery_low: c,
            connected: d,
        })
    });
    prop_oneof![
        times,
        any::<[u8; 4]>().prop_map(|bytes| ClockMessage::Ack(ClockAck(bytes))),
        Just(ClockMessage::Meaningless),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let two = (0..128_u8, 0..128_u8);
    let battery = (
        0..=100_u8,
        proptest::option::of(0..7000_u16),
        any::<[bool; 2]>(),
    )
        .prop_map(|(percent, remaining_minutes, [charging, discharging])| {
            Message::Battery(Battery {
                percent,
                remaining_minutes,
                charging,
                discharging,
            })
        });
    let memory = prop_oneof![4 => 0..128_u8, 1 => Just(0xff_u8)];
    prop_oneof![
        20 => (0..64_u8, 0..16_u8).prop_map(|(square, code)| field(square, code)),
        20 => clock().prop_map(Message::Clock),
        5 => proptest::array::uniform32((0..16_u8, 0..16_u8)).prop_map(|pairs| {
            let codes: Vec<u8> = pairs.into_iter().flat_map(|(a, b)| [a, b]).collect();
            Message::Dump(Box::new(codes.try_into().expect("64 codes")))
        }),
        2 => "[0-9]{5}( [0-9.]{3})?".prop_map(Message::Serial),
        2 => "[0-9.]{10}".prop_map(Message::LongSerial),
        2 => "[ -~\n]{0,256}".prop_map(Message::Trademark),
        2 => two.clone().prop_map(|(major, minor)| Message::Version { major, minor }),
        2 => two.prop_map(|(major, minor)| Message::HardwareVersion { major, minor }),
        2 => (0..1_u16 << 14).prop_map(Message::BusAddress),
        2 => battery,
        1 => proptest::collection::vec(memory, 0x1f00).prop_map(Message::EventMemory),
        2 => proptest::collection::vec(0..128_u8, 0..256)
            .prop_map(|payload| Message::Unknown { id: 0xa3, payload }),
    ]
}

/// A stream with damage: bytes lost, put in, or changed anywhere.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let hits =
        proptest::collection::vec((any::<prop::sample::Index>(), 0..3_u8, any::<u8>()), 0..9);
    let noise = prop_oneof![
        proptest::collection::vec(message(), 0..12).prop_map(|messages| wire(&messages)),
        proptest::collection::vec(any::<u8>(), 0..400),
    ];
    (noise, hits).prop_map(|(mut bytes, hits)| {
        for (at, kind, value) in hits {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match kind {
                0 => {
                    bytes.remove(at);
                }
                1 => bytes.insert(at, value),
                _ => bytes[at] = value,
            }
        }
        bytes
    })
}

proptest! {
    #[test]
    fn what_is_sent_is_read(messages in proptest::collection::vec(message(), 0..20)) {
        let mut frames = Frames::new();
        frames.push(&wire(&messages));
        prop_assert_eq!(all(&mut frames), messages);
        prop_assert_eq!(frames.skipped(), 0);
    }

    #[test]
    fn the_cuts_do_not_matter(
        bytes in damaged(),
        cuts in proptest::collection::vec(1..40_usize, 1..20),
    ) {
        let mut whole = Frames::new();
        whole.push(&bytes);
        let expected = all(&mut whole);

        let mut pieces = Frames::new();
        let mut seen = Vec::new();
        let mut rest = bytes.as_slice();
        for cut in cuts.into_iter().cycle() {
            let (piece, more) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            seen.extend(all(&mut pieces));
            rest = more;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(seen, expected);
        prop_assert_eq!(pieces.skipped(), whole.skipped());
    }

    #[test]
    fn what_was_read_can_be_sent(bytes in damaged()) {
        let mut frames = Frames::new();
        frames.push(&bytes);
        let seen = all(&mut frames);
        let mut again = Frames::new();
        again.push(&wire(&seen));
        prop_assert_eq!(all(&mut again), seen);
        prop_assert_eq!(again.skipped(), 0);
    }

    #[test]
    fn back_in_step_within_one_dump(
        garbage in damaged(),
        codes in proptest::array::uniform32(0..16_u8),
        square in 0..64_u8,
    ) {
        let dump = Message::Dump(Box::new([codes, codes].concat().try_into().expect("64 codes")));
        let tail = [dump, field(square, 3)];
        let mut frames = Frames::new();
        frames.push(&garbage);
        frames.push(&wire(&tail));
        let seen = all(&mut frames);
        prop_assert!(seen.ends_with(&tail), "{seen:?}");
    }
}
