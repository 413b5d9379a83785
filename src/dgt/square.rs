//! Physical squares of the board and squares of the game (protocol sections 6.1 and 6.3).

use shakmaty::Square;

/// The chess square over a physical one. `turned` is a board whose connector lies at White's right.
/// Only the low six bits of `physical` count, so no input is out of range.
#[must_use]
pub fn square_of(physical: u8, turned: bool) -> Square {
    let physical = physical & 63;
    let seen = if turned { 63 - physical } else { physical };
    // The board counts from a8 by rows, shakmaty from a1: same files, ranks mirrored.
    Square::new(u32::from(seen ^ 56))
}

/// The physical square (0 to 63) under a chess square: the inverse of [`square_of`].
#[must_use]
pub fn physical_of(square: Square, turned: bool) -> u8 {
    let seen = u8::from(square) ^ 56;
    if turned { 63 - seen } else { seen }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_the_table_in_6_1() {
        for (physical, plain, turned) in [
            (0, Square::A8, Square::H1),
            (7, Square::H8, Square::A1),
            (8, Square::A7, Square::H2),
            (56, Square::A1, Square::H8),
            (63, Square::H1, Square::A8),
        ] {
            assert_eq!(square_of(physical, false), plain);
            assert_eq!(square_of(physical, true), turned);
        }
    }

    #[test]
    fn there_and_back() {
        for turned in [false, true] {
            for physical in 0..64 {
                assert_eq!(physical_of(square_of(physical, turned), turned), physical);
            }
        }
    }
}
