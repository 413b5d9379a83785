//! Raw captures: one base64 message a line; before it may stand its time in ms. Pure.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    dgt::{ClockMessage, Frames, Message},
    words::At,
};

/// A line that is no part of a capture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line}: {why}; a capture has one base64 message a line, with its time in ms before it or none"
)]
pub struct InbytesError {
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

/// Between two messages of one burst, ms.
const APART_MS: u64 = 60;

/// Reads a capture. Times that it does not tell are made up as a board would have made them: the
/// clock speaks at least once a second, so a clock message whose seconds moved comes a second after
/// the last one that moved, and everything else shortly after what came before it.
///
/// # Errors
/// With the line that does not decode, or goes back in time. Blank lines and those that begin with
/// `#` are passed over.
pub fn read_inbytes(text: &str) -> Result<Vec<(At, Vec<u8>)>, InbytesError> {
    let mut messages = Vec::new();
    let (mut now, mut second, mut shown) = (0, 0, None);
    for (index, line) in text.lines().enumerate() {
        let wrong = |why: String| InbytesError {
            line: index + 1,
            why,
        };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (time, message) = match line.split_once(char::is_whitespace) {
            Some((time, message)) => {
                let time = time.parse::<u64>();
                let time = time.map_err(|_| wrong("its time is no number".to_owned()))?;
                (Some(time), message.trim_start())
            }
            None => (None, line),
        };
        let bytes = STANDARD
            .decode(message)
            .map_err(|why| wrong(why.to_string()))?;
        match time {
            Some(time) if time < now => {
                return Err(wrong(format!("{time} ms comes after {now} ms")));
            }
            Some(time) => now = time,
            None => now = now.saturating_add(APART_MS),
        }
        if let Some(times) = clock_times(&bytes) {
            if time.is_none() && shown.is_some_and(|shown| shown != times) {
                now = now.max(second + 1_000);
                second = now;
            }
            shown = Some(times);
        }
        messages.push((At(now), bytes));
    }
    Ok(messages)
}

/// The seconds both hands show.
fn clock_times(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut frames = Frames::new();
    frames.push(bytes);
    match frames.next_message() {
        Some(Message::Clock(ClockMessage::Times(times))) => {
            Some((times.left.seconds, times.right.seconds))
        }
        _ => None,
    }
}
