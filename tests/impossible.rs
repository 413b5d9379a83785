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

fn labelled(file: &str) -> Vec<(String, bool)> {
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
            (next(), next() == "illegal")
        })
        .collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures")]
fn no_legal_position_is_called_impossible() {
    for file in ["corpus/positions.txt", "corpus/positions-known.txt"] {
        let (mut proven, mut illegal) = (0, 0);
        let mut times = Vec::new();
        for (fen, is_illegal) in labelled(file) {
            let stand = stand(&fen);
            let start = Instant::now();
            let proofs = impossible(&stand);
            times.push(start.elapsed());
            assert!(is_illegal || proofs.is_empty(), "{fen}: {proofs:?}");
            illegal += usize::from(is_illegal);
            proven += usize::from(!proofs.is_empty());
        }
        if times.is_empty() {
            continue;
        }
        times.sort();
        let (middle, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("{file}: {proven} of {illegal} proven, median {middle:?}, worst {worst:?}");
        // 117 of 385 is what the best library proves of the whole set; this is a part of it.
        assert!(proven * 385 > illegal * 117, "{file}");
        assert!(worst < Duration::from_millis(50), "{file}: {worst:?}");
    }
}

/// The M-series of laws.md 9, by the first reason told.
#[test]
fn each_proof_has_its_name() {
    let cases = [
        ("8/8/8/8/8/8/8/8 w - -", Reason::BoardEmpty),
        ("8/8/8/8/8/8/8/K3R3 w - -", Reason::KingMissing),
        ("4k3/8/8/8/8/8/8/K3K3 w - -", Reason::KingExtra),
        ("4k3/8/8/8/8/8/8/4K2P w - -", Reason::PawnOnOwnBackRank),
        ("P3k3/8/8/8/8/8/8/4K3 b - -", Reason::PawnOnLastRank),
        ("4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - -", Reason::TooManyPawns),
        (
            "4k3/8/8/8/8/8/PPPPPPPP/QQ2K3 w - -",
            Reason::PromotionBudget,
        ),
        (
            "4k3/8/8/8/8/8/PPPPPPPP/B1B1K3 w - -",
            Reason::PromotionBudget,
        ),
        ("4k3/4R3/8/8/8/8/4r3/4K3 w - -", Reason::MoverLeftInCheck),
        ("8/8/8/3kK3/8/8/8/8 w - -", Reason::MoverLeftInCheck),
        ("4r1k1/8/8/8/1b5q/8/8/4K3 w - -", Reason::TooManyCheckers),
        (
            "6k1/8/8/8/8/3n1n2/8/4K3 w - -",
            Reason::DoubleCheckImpossible,
        ),
        ("4k3/8/8/b7/8/8/8/r3K3 w - -", Reason::DoubleCheckImpossible),
        ("8/8/8/8/8/3k4/2P5/4K3 b - -", Reason::CheckHasNoLastMove),
        (
            "4k3/8/8/8/8/P7/PP6/4K3 w - -",
            Reason::PawnNeedsTooManyCaptures,
        ),
        (
            "rnbqkbnr/pppppppp/8/8/5B2/8/PPPPPPPP/RN1QKBNR b KQkq -",
            Reason::CagedMan,
        ),
        (
            "rnbqkbnr/pppppppp/8/8/R7/8/PPPPPPPP/1NBQKBNR b Kkq -",
            Reason::CagedMan,
        ),
        (
            "r3k3/8/8/8/8/8/8/R3K2R w KQq -",
            Reason::CastlingRightInconsistent,
        ),
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e3",
            Reason::EpRightInconsistent,
        ),
    ];
    for (fen, reason) in cases {
        let proofs = impossible(&stand(fen));
        assert_eq!(
            proofs.first().map(|proof| proof.reason),
            Some(reason),
            "{fen}: {proofs:?}"
        );
    }
    for fen in [
        "4k3/8/8/8/8/8/PPPPPP2/QQQ1K3 w - -",
        "4k3/8/8/8/8/1P6/P1PPPPP1/B1B1K3 w - -",
        "rnbqkb1r/pppppppp/8/8/8/2P5/1PP1PPPP/RNBQKBNR w KQkq -",
        "4r1k1/8/8/8/7b/8/8/4K3 w - -",
        "8/4k3/3P4/8/8/8/8/4R1K1 b - -",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    ] {
        assert_eq!(impossible(&stand(fen)), [], "{fen}");
    }
}

#[test]
fn from_the_anchor_more_is_impossible() {
    let start = stand("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    let reason = |fen: &str, plies| {
        let seen: Placement = stand(fen).placement();
        from_anchor(&start, &seen, plies).map(|proof| proof.reason)
    };
    let e4e5 = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w - -";
    assert_eq!(reason(e4e5, 2), None);
    assert_eq!(reason(e4e5, 1), Some(Reason::NotASuccessor));
    // 1.e3 e5 2.e4 loses a move; but two plies do not bring three moved men.
    assert_eq!(reason(e4e5, 3), None);
    let knight = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w - -";
    assert_eq!(reason(knight, 2), Some(Reason::NotReachableInK));
    let doubled = "rnbqkbnr/pppppppp/8/8/4P3/4P3/PPP2PPP/RNBQKBNR w - -";
    assert_eq!(reason(doubled, 4), Some(Reason::IrreversibleViolation));
}
