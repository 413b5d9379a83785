//! The bytes of a file of pairings as text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::PairingFault;

/// Reads UTF-8, whatever a byte order mark says, or else what older programs on Windows write; the
/// note says so, since it is a guess and names may suffer.
pub(super) fn decode(bytes: &[u8]) -> (Cow<'_, str>, Option<PairingFault>) {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let (text, damaged) = encoding.decode_without_bom_handling(&bytes[mark..]);
        let what = format!("is marked as {} and does not read as such", encoding.name());
        return (text, damaged.then_some(PairingFault { line: None, what }));
    }
    if let Some(text) = UTF_8.decode_without_bom_handling_and_without_replacement(bytes) {
        return (text, None);
    }
    let valid = bytes
        .utf8_chunks()
        .next()
        .map_or(0, |chunk| chunk.valid().len());
    let line = bytes[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
    let odd = text.lines().nth(line - 1).unwrap_or_default().trim();
    let odd: String = odd.chars().take(60).collect();
    let what = format!("is not UTF-8; read as windows-1252, where this line says: {odd}");
    let note = PairingFault {
        line: Some(line),
        what,
    };
    (text, Some(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        assert_eq!(decode("Łukasz\n".as_bytes()), ("Łukasz\n".into(), None));
        assert_eq!(decode(b"\xef\xbb\xbfa").0, "a");
        assert_eq!(decode(b"\xff\xfeA\0\xf1\0").0, "A\u{f1}");
        let (text, note) = decode(b"a\nMu\xf1oz\n");
        assert_eq!(text, "a\nMu\u{f1}oz\n");
        let note = note.expect("a guess is told");
        assert_eq!(note.line, Some(2));
        assert!(note.what.contains("Mu\u{f1}oz"), "{}", note.what);
    }
}
