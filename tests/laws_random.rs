//! Random games: steps of pieces that leave the own king attacked get a certain king finding, and
//! the legal moves played, with no lifts seen, raise no touch-move hints.
#![expect(clippy::disallowed_methods, reason = "it says how long it took")]

use std::time::Instant;

use atalaya::{
    board::Placement,
    laws::{Certainty, Code, Past, Stand, Turn, hints, judge},
};
use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, Position, Role, attacks};

const KING_CODES: [Code; 4] = [
    Code::KingLeftInCheck,
    Code::OwnKingExposed,
    Code::KingMovedIntoCheck,
    Code::KingsAdjacent,
];

/// Every step to an empty or enemy square that leaves the own king attacked.
fn check_turn(chess: &Chess) -> u32 {
    let stand = Stand::of(chess, CastlingMode::Standard);
    let past = Past::default();
    let side = chess.turn();
    let board = chess.board();
    let legal = chess.legal_moves();
    let mut judged = 0;
    for from in board.by_color(side) {
        let man = board.piece_at(from).expect("a man");
        if man.role == Role::Pawn {
            continue;
        }
        for to in attacks::attacks(from, man, board.occupied()) & !board.by_color(side) {
            let castle = |m: &shakmaty::Move| m.is_castle();
            let known = legal
                .iter()
                .any(|m| !castle(m) && m.from() == Some(from) && m.to() == to);
            if known || board.role_at(to) == Some(Role::King) {
                continue;
            }
            let mut seen = Placement::from(board);
            seen.set(from, None);
            seen.set(to, Some(man));
            let turn = Turn {
                before: &stand,
                seen: &seen,
                mover: side,
                past: &past,
                edges: &[],
            };
            let found = judge(&turn);
            assert_eq!(found.len(), 1);
            assert!(
                KING_CODES.contains(&found[0].code),
                "{} {from}{to}",
                stand.fen()
            );
            assert_eq!(found[0].certainty, Certainty::Certain);
            judged += 1;
        }
    }
    judged
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn unsafe_kings_are_named(choices in prop::collection::vec(any::<prop::sample::Index>(), 0..120)) {
        let mut chess = Chess::default();
        for choice in choices {
            let legal = chess.legal_moves();
            if legal.is_empty() {
                break;
            }
            let played = legal[choice.index(legal.len())];
            let before = Stand::of(&chess, CastlingMode::Standard);
            let side = chess.turn();
            check_turn(&chess);
            chess.play_unchecked(played);
            let seen = Placement::from(chess.board());
            let past = Past::default();
            let turn = Turn { before: &before, seen: &seen, mover: side, past: &past, edges: &[] };
            let quiet = hints(&turn, played, 1000);
            // The two hints a bare placement gives: a rook beside the king, a rook promoted.
            prop_assert!(quiet.iter().all(|f| matches!(
                f.code,
                Code::CastlingInterrupted | Code::InvertedRookPromotion
            )));
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn verdict_time() {
    let stand = Stand::of(&Chess::default(), CastlingMode::Standard);
    let mut seen = stand.placement();
    seen.set(shakmaty::Square::H2, None);
    let past = Past::default();
    let turn = Turn {
        before: &stand,
        seen: &seen,
        mover: stand.turn(),
        past: &past,
        edges: &[],
    };
    let start = Instant::now();
    for _ in 0..1000 {
        assert_eq!(judge(std::hint::black_box(&turn)).len(), 1);
    }
    println!("{:?} a verdict", start.elapsed() / 1000);
}
