use atalaya::dgt::{Frames, Message};

fn all(frames: &mut Frames) -> Vec<Message> {
    std::iter::from_fn(|| frames.next_message()).collect()
}

/// Any bytes into the framer, whole and in pieces: the same messages, and back in step behind them.
/// The first byte gives the size of the pieces, the rest is the stream.
pub fn frames(data: &[u8]) {
    let Some((&size, stream)) = data.split_first() else {
        return;
    };
    let mut whole = Frames::new();
    whole.push(stream);
    let expected = all(&mut whole);

    let mut pieces = Frames::new();
    let mut seen = Vec::new();
    for piece in stream.chunks(usize::from(size).max(1)) {
        pieces.push(piece);
        seen.extend(all(&mut pieces));
    }
    assert_eq!(seen, expected);
    assert_eq!(pieces.skipped(), whole.skipped());

    // What was read can be sent, and reads as the same.
    let mut wire = Vec::new();
    for message in &expected {
        message.encode(&mut wire);
    }
    let mut again = Frames::new();
    again.push(&wire);
    assert_eq!(all(&mut again), expected);
    assert_eq!(again.skipped(), 0);

    let tail = [
        Message::Dump(Box::new([7; 64])),
        Message::Field { square: 9, code: 3 },
    ];
    for message in &tail {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        whole.push(&bytes);
    }
    assert!(all(&mut whole).ends_with(&tail));
}
