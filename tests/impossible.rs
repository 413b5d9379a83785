//! Impossible positions: no false alarm on a legal one, and more proven than by the best library.

mod common;

use std::time::{Duration, Instant};

use atalaya::{
    board::Placement,
    laws::{Reason, Stand, from_anchor, impossible},
};
use common::shared;
use shakmaty::CastlingMode;

fn stand(fen: &str) -> Stand {
    Stand::from_fen(fen, CastlingMode::Standard).unwrap_or_else(|fault| panic!("{fen}: {fault}"))
}

fn labelled(file: &str) -> Vec<(String, bool, String)> {
    let Some(path) = shared(file) else {
        return Vec::new();
    };
    std::fs::read_to_string(path)
        .expect("it reads")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let mut parts = line.splitn(3, ';');
            let mut next = || parts.next().unwrap_or_default().to_owned();
            (next(), next() == "illegal", next())
        })
        .collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures")]
fn no_legal_position_is_called_impossible() {
    for file in ["corpus/positions.txt", "corpus/positions-known.txt"] {
        let (mut proven, mut illegal) = (0, 0);
        let mut times = Vec::new();
        let mut missed = Vec::new();
        for (fen, is_illegal, why) in labelled(file) {
            let stand = stand(&fen);
            let start = Instant::now();
            let proofs = impossible(&stand);
            times.push(start.elapsed());
            assert!(is_illegal || proofs.is_empty(), "{fen}: {proofs:?}");
            illegal += usize::from(is_illegal);
            proven += usize::from(!proofs.is_empty());
            if is_illegal && proofs.is_empty() {
                missed.push(format!("{fen}: {why}"));
            }
        }
        if times.is_empty() {
            continue;
        }
        times.sort();
        let (middle, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("{file}: {proven} of {illegal} proven, median {middle:?}, worst {worst:?}");
        if std::env::var_os("SHOW").is_some() {
            println!("{}", missed.join("\n"));
        }
        // 117 of 385 is what the best library proves of the whole set; this is a part of it.
        assert!(proven * 385 > illegal * 117, "{file}");
        assert!(worst < Duration::from_millis(50), "{file}: {worst:?}");
    }
}
