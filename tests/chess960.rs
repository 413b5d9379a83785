//! Chess960 (laws.md 8): from each of the 960 arrays both castlings are legal however the hands do them, and
//! raise no hint.

use atalaya::scenario;
use shakmaty::{Bitboard, Board, File, Rank, Role};

/// One act of the hands: a square is left, or a man comes to it.
#[derive(Clone, Copy, PartialEq)]
enum Act {
    Left(char),
    Came(char, char),
}

/// The acts of one castling in an order that hands can do, by chance.
fn hands(king: (char, char), rook: (char, char), chance: &mut fastrand::Rng) -> Vec<Act> {
    let mut acts = Vec::new();
    for ((from, to), man) in [(king, 'k'), (rook, 'r')] {
        if from != to {
            acts.extend([Act::Left(from), Act::Came(to, man)]);
        }
    }
    let possible = |acts: &[Act]| {
        let at = |act: Act| acts.iter().position(|&one| one == act);
        // Each man is lifted before it comes down, and onto a square that is free by then.
        [(king, 'k'), (rook, 'r')]
            .into_iter()
            .all(|((from, to), man)| {
                let came = at(Act::Came(to, man));
                at(Act::Left(from)) <= came && at(Act::Left(to)) <= came
            })
    };
    loop {
        chance.shuffle(&mut acts);
        if possible(&acts) {
            return acts;
        }
    }
}

#[test]
fn both_castlings_of_every_array_are_clean() {
    let mut chance = fastrand::Rng::with_seed(960);
    let mut forms = [0; 4];
    // A slow build looks at every ninth array.
    let apart = if cfg!(debug_assertions) { 9 } else { 1 };
    for number in (0..960).step_by(apart) {
        let board = Board::chess960(number);
        let first = |role: Role| board.by_role(role) & Bitboard::from_rank(Rank::First);
        let king = first(Role::King).first().expect("a king").file();
        for rook in first(Role::Rook) {
            let black = chance.bool();
            let short = rook.file() > king;
            let ends = if short { ('g', 'f') } else { ('c', 'd') };
            let (home, corner) = (king.char(), rook.file().char());
            let moves = ((home, ends.0), (corner, ends.1));
            forms[match (home == ends.0, corner == ends.1) {
                (false, false) if home == ends.1 && corner == ends.0 => 1,
                (false, false) => 0,
                (false, true) => 2,
                (true, _) => 3,
            }] += 1;
            let case = |man: char| if black { man } else { man.to_ascii_uppercase() };
            let rank = if black { 8 } else { 1 };
            let mut events = String::new();
            for act in hands(moves.0, moves.1, &mut chance) {
                events += &match act {
                    Act::Left(file) => format!("{file}{rank}- "),
                    Act::Came(file, man) => format!("{file}{rank}={} ", case(man)),
                };
                if chance.u8(..4) == 0 {
                    events += "~ ";
                }
            }
            let row: String = File::ALL
                .map(|file| match file {
                    file if file == king => case('k'),
                    file if file == rook.file() => case('r'),
                    _ => '1',
                })
                .into_iter()
                .collect();
            let (top, bottom, turn, press) = if black {
                (row.as_str(), "4K3", 'b', "B>W")
            } else {
                ("4k3", row.as_str(), 'w', "W>B")
            };
            let right = case(corner);
            let san = if short { "O-O" } else { "O-O-O" };
            let text = format!(
                "[[scenario]]\nid = \"{number} {san}\"\nvariant = \"chess960\"\n\
                 start = \"{top}/pppppppp/8/8/8/8/PPPPPPPP/{bottom} {turn} {right} - 0 8\"\n\
                 events = \"{events}{press}\"\nalerts = []\nmoves = [\"{san}\"]\n"
            );
            let file = scenario::parse(&text).expect("a scenario");
            let outcome = scenario::run(&file.scenario[0]).expect("it runs");
            assert!(outcome.faults.is_empty(), "{text}{:?}", outcome.faults);
        }
    }
    assert!(forms.into_iter().all(|count| count > 0), "{forms:?}");
}
