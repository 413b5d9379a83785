//! The fuzz targets of `tests/fuzz` under proptest: the same checks, on bytes of chance and on good
//! bytes that were damaged. `PROPTEST_CASES` makes it as many as you like.

mod checks;

use std::{env, fs, path::Path};

use proptest::{collection::vec, prelude::*, sample::Index, test_runner::RngSeed};

/// So many cases, always the same ones; others, as many as it says, when the environment asks for them.
fn cases(usual: u32) -> ProptestConfig {
    match env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig {
            cases: usual,
            rng_seed: RngSeed::Fixed(1),
            ..ProptestConfig::default()
        },
    }
}

/// The good bytes that fuzzing a target begins with.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzzed/seeds");
    let files = fs::read_dir(dir.join(target)).expect("a folder of seeds");
    let mut paths: Vec<_> = files.map(|file| file.expect("a seed").path()).collect();
    paths.sort();
    let read = |path| fs::read(path).expect("it reads");
    paths.into_iter().map(read).collect()
}

/// A seed with parts cut out and others put in: of chance, or words that mean something there.
fn damaged(target: &str, words: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> + use<> {
    let piece = prop_oneof![
        2 => vec(any::<u8>(), 0..6),
        3 => prop::sample::select(words).prop_map(|word| word.as_bytes().to_vec()),
    ];
    let edit = (
        any::<Index>(),
        prop_oneof![4 => 0..8_usize, 1 => 0..200_usize],
        piece,
    );
    (prop::sample::select(seeds(target)), vec(edit, 0..6)).prop_map(|(mut bytes, edits)| {
        for (place, cut, piece) in edits {
            let from = place.index(bytes.len() + 1);
            let to = (from + cut).min(bytes.len());
            bytes.splice(from..to, piece);
        }
        bytes
    })
}

/// Every seed passes as it is.
fn all_seeds(target: &str, check: impl Fn(&[u8])) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty());
    seeds.iter().for_each(|seed| check(seed));
}

#[test]
fn the_seeds() {
    all_seeds("frames", checks::frames);
    all_seeds("reconstruction", checks::reconstruction);
    all_seeds("journal", checks::journal);
    all_seeds("commands", checks::commands);
    all_seeds("configuration", checks::configuration);
    all_seeds("pgn", checks::pgn);
    all_seeds("trf", checks::trf);
    all_seeds("csv", checks::csv);
}

const IN_JOURNALS: &[&str] = &[
    "{\"board\":1,\"chess960\":true,\"press_grace_ms\":18446744073709551615}",
    "{\"settings\":{},\"games\":4294967295,\"codes\":[],\"clock\":null}",
    "{\"user\":\"ana\",\"verb\":\"adopt\",\"board\":1,\"turn\":\"white\"}",
    "\x01\x01\x01\x01\x01",
    "\u{0}\u{1}",
];

const IN_COMMANDS: &[&str] = &[
    "ana/claim\n",
    "ana/adopt\n",
    "ana/reinstate\n",
    "ana/result\n",
    "ana/choose\n",
    "ana/note\n",
    "ALERT",
    "ack",
    "\"board\":1",
    "\"board\":65535",
    "\"ply\":65535",
    "\"turn\":\"black\"",
    "\"moves\":[\"Nf3\",\"e7e5\",\"O-O\"]",
    "\"fen\":\"8/8/8/8/8/8/8/8 w - - 0 1\"",
    "\"fen\":\"kkkkkkkk/PPPPPPPP/8/8/8/8/pppppppp/KKKKKKKK b KQkq e3 65535 65535\"",
    "\"transaction\":\"t\"",
    "\"candidate\":18446744073709551615",
    "\"result\":\"*\"",
    "{",
    "}",
    ",",
    "\\ud800",
    "\u{0}",
    "\u{202e}",
    "/",
    "+",
    "#",
];

const IN_CONFIGURATIONS: &[&str] = &[
    "[[board]]\nnumber = 1\n",
    "[[relay]]\n",
    "[[ntfy]]\n",
    "[web]\nlisten = \"0.0.0.0:80\"\n",
    "tls = \"generated\"\n",
    "port = \"/dev/ttyUSB0\"\n",
    "serial = \"12345\"\n",
    "\u{0}ATALAYA__EVENT__ROUND=6\n",
    "ATALAYA__WEB__LISTEN=none\n",
    "ATALAYA__BOARD__NUMBER=1\n",
    "time_control = \"40/5400+30:1800+30\"\n",
    "-9223372036854775808",
    "1e400",
    "nan",
    "\"",
    "\"\"\"",
    "[",
    "]",
    "=",
    "#",
    "\n",
    "\u{feff}",
    "\\u0000",
    "1979-05-27",
    "true",
    "{}",
    "..",
];

const IN_PGN: &[&str] = &[
    "[White \"A\"]\n",
    "[Black \"\"]\n",
    "[Round \"1.1\"]\n",
    "[Round \"1.65536\"]\n",
    "[Board \"0\"]\n",
    "[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n",
    "[Variant \"Chess960\"]\n",
    "[Result \"+--\"]\n",
    "\n\n",
    "{",
    "}",
    "(",
    ")",
    "[%clk 99999999999:00:00]",
    "[%clk -1]",
    "O-O-O",
    "e8=Q+",
    "--",
    "$255",
    ";",
    "*",
    "1-0",
    "\r",
    "\u{feff}",
    "\u{ff}\u{fe}",
    "\\",
    "\"",
];

const IN_TABLES: &[&str] = &[
    "001",
    "013",
    "\r",
    "\n",
    "\r\n",
    "\t",
    ";",
    "\"",
    "  65536 ",
    "99999999999",
    " w ",
    " b ",
    "0000 - U",
    "\u{feff}",
    "\u{2003}",
    "\u{301}",
    "board",
    "white_elo",
    "-1",
    "+:-",
    "1/2",
];

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn frames(data in vec(any::<u8>(), 0..400), seed in damaged("frames", &["\u{0}", "\u{1}"])) {
        checks::frames(&data);
        checks::frames(&seed);
    }

    #[test]
    fn commands_of_any_bytes(data in vec(any::<u8>(), 0..200)) {
        checks::commands(&[b"ana/note\n", &data[..]].concat());
    }

    #[test]
    fn configuration(
        data in vec(any::<u8>(), 0..200), seed in damaged("configuration", IN_CONFIGURATIONS)
    ) {
        checks::configuration(&data);
        checks::configuration(&seed);
    }

    #[test]
    fn pgn(data in vec(any::<u8>(), 0..200), seed in damaged("pgn", IN_PGN)) {
        checks::pgn(&data);
        checks::pgn(&seed);
    }

    #[test]
    fn trf(data in vec(any::<u8>(), 0..200), seed in damaged("trf", IN_TABLES)) {
        checks::trf(&data);
        checks::trf(&seed);
    }

    #[test]
    fn csv(data in vec(any::<u8>(), 0..200), seed in damaged("csv", IN_TABLES)) {
        checks::csv(&data);
        checks::csv(&seed);
    }

    #[test]
    fn journal(data in vec(any::<u8>(), 0..400), seed in damaged("journal", IN_JOURNALS)) {
        checks::journal(&data);
        checks::journal(&seed);
    }
}

proptest! {
    // A game is played in each.
    #![proptest_config(cases(100))]

    #[test]
    fn commands(data in damaged("commands", IN_COMMANDS)) {
        checks::commands(&data);
    }

    #[test]
    fn reconstruction(data in vec(any::<u8>(), 0..240)) {
        checks::reconstruction(&data);
    }

    /// Long regular stretches between what goes wrong.
    #[test]
    fn reconstruction_of_games(
        games in vec((vec((0_u8..112, any::<u8>()), 0..12), vec(any::<u8>(), 0..5)), 0..8)
    ) {
        let bytes = games.into_iter().flat_map(|(plies, wrong)| {
            plies.into_iter().flat_map(|(pace, ply)| [pace, ply]).chain(wrong)
        });
        checks::reconstruction(&bytes.collect::<Vec<u8>>());
    }
}
