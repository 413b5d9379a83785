//! Start arrays, and the result the kings tell.

use shakmaty::{Color, Role, Square};

use crate::board::{Placement, Reading};

/// Whether the men stand for a game: the usual array, or with `any_array` any of the 960.
pub fn is_start_array(seen: &Placement, any_array: bool) -> bool {
    if !any_array {
        return *seen == Placement::from(&shakmaty::Board::new());
    }
    (0..960).any(|number| *seen == Placement::from(&shakmaty::Board::chess960(number)))
}

const CENTRE: [Square; 4] = [Square::D4, Square::E4, Square::D5, Square::E5];

/// Whether kings tell a result from this square.
pub(super) fn is_centre(square: Square) -> bool {
    CENTRE.contains(&square)
}

/// The result that the players show with both kings in the centre, or with one of DGT's result pieces
/// on a square that was empty (`stood`: the men of the last final position; protocol sections 6.2,
/// 6.4). A man's own square that reads as a result piece has a faulty chip.
pub fn shown_result(read: &Placement, stood: &Placement) -> Option<&'static str> {
    let mut pieces = (read.occupied() & !stood.occupied())
        .into_iter()
        .filter_map(|square| match read.get(square) {
            Reading::Magic(code) => score_of(code),
            Reading::Empty | Reading::Man(_) => None,
        });
    match (pieces.next(), pieces.next()) {
        (Some(score), None) => Some(score),
        (None, _) => kings_result(read),
        (Some(_), Some(_)) => None,
    }
}

/// What a result piece says (protocol section 6.2).
const fn score_of(code: u8) -> Option<&'static str> {
    match code {
        13 => Some("1/2-1/2"),
        14 => Some("1-0"),
        15 => Some("0-1"),
        _ => None,
    }
}

/// Both kings on two of the four centre squares is the players' sign for the result: both on light
/// squares White won, both on dark Black, else a draw (protocol section 6.4). Such kings touch, so
/// no legal position is mistaken for it.
fn kings_result(seen: &Placement) -> Option<&'static str> {
    let mut kings = CENTRE
        .into_iter()
        .filter(|&square| matches!(seen.get(square), Reading::Man(man) if man.role == Role::King));
    let (Some(one), Some(other)) = (kings.next(), kings.next()) else {
        return None;
    };
    if seen.piece(one).map(|man| man.color) == seen.piece(other).map(|man| man.color) {
        return None;
    }
    Some(match (one.is_light(), other.is_light()) {
        (true, true) => "1-0",
        (false, false) => "0-1",
        _ => "1/2-1/2",
    })
}

/// Whether a king stands in the centre: perhaps the first half of the sign.
pub(super) fn king_in_centre(seen: &Placement, side: Color) -> bool {
    CENTRE
        .into_iter()
        .any(|square| seen.piece(square) == Some(Role::King.of(side)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kings_on_light_squares_mean_white_won() {
        let mut seen = Placement::EMPTY;
        seen.set(Square::D5, Some(Role::King.of(Color::Black)));
        assert_eq!(kings_result(&seen), None);
        seen.set(Square::E4, Some(Role::King.of(Color::White)));
        assert_eq!(kings_result(&seen), Some("1-0"));
        assert!(king_in_centre(&seen, Color::Black));
    }
}
