//! The life of an alert: claimed, confirmed, dismissed, undone, escalated, aged.

use atalaya::{
    incident::{
        Alert, AlertChange, Book, Care, ClockAt, Level, Order, Outcome, Reason, Refusal, Remedy,
        Rules, Said, Status, Window,
    },
    laws::{Certainty, Code, Finding, Regime, Rulings, Terms},
    words::{At, Side},
};
use shakmaty::{CastlingMode, Chess, Position, Square, fen::Fen, san::San};

const FEN: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
/// Black has the king alone: no series of moves mates White.
const BARE: &str = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";

fn book(regime: Regime) -> Book {
    ruled(regime, Rulings::default())
}

fn ruled(regime: Regime, rulings: Rulings) -> Book {
    Book::new(Rules {
        terms: Terms {
            regime,
            rulings,
            increment_s: 30,
        },
        mode: CastlingMode::Standard,
        escalate_ms: 15_000,
        claim_ms: 300_000,
    })
}

fn alert(id: &str, ply: u16, fen: &str) -> Alert {
    Alert {
        id: id.to_owned(),
        rev: 1,
        raised: At(1_000),
        finding: Finding {
            code: Code::KnightBadJump,
            side: Side::White,
            certainty: Certainty::Certain,
            squares: vec![shakmaty::Square::G1, shakmaty::Square::G3],
            played: "Ng1-g3".to_owned(),
            instead: None,
        },
        level: Level::Urgent,
        status: Status::Open,
        window: Window::UntilReply,
        ply,
        move_text: "2. Ng3".to_owned(),
        fen: fen.to_owned(),
        placement: "8/8/8/8/8/8/8/8".to_owned(),
        clock_at_turn_start: ClockAt::default(),
        clock_at_press: ClockAt::default(),
        clock: ClockAt::default(),
        pressed: None,
        offences: (0, 0),
        remedy: Remedy {
            restore: None,
            add_s: None,
            remove_increment_s: None,
            touch_move: Vec::new(),
            outcome: None,
            mate_line: Vec::new(),
            counts: false,
        },
        care: Care::default(),
    }
}

fn order(user: &str, verb: &str, json: &str) -> Order {
    Order::read(user, verb, json.as_bytes(), None).expect("a command")
}

fn on(user: &str, verb: &str, id: &str) -> Order {
    order(
        user,
        verb,
        &format!(r#"{{"alert":"{id}","reason":"sensors","text":"seen"}}"#),
    )
}

fn changes(said: Vec<Said>) -> Vec<(AlertChange, Alert)> {
    said.into_iter()
        .filter_map(|one| match one {
            Said::Changed(change, alert) => Some((change, *alert)),
            Said::Gone(_) => None,
        })
        .collect()
}

#[test]
fn one_arbiter_goes_and_only_a_confirmation_counts() {
    let mut book = book(Regime::BlitzB2);
    book.raise(alert("b1-a", 3, FEN)).expect("it is new");
    assert!(
        book.raise(alert("b1-a", 3, FEN)).is_none(),
        "the same again"
    );
    let claimed = book.order(&on("ana", "claim", "b1-a"), At(2_000));
    let (change, seen) = changes(claimed.expect("free")).remove(0);
    assert_eq!((change, seen.rev), (AlertChange::Claimed, 2));
    assert_eq!(seen.care.claimed_by.as_deref(), Some("ana"));
    let second = book.order(&on("luis", "claim", "b1-a"), At(2_100));
    assert_eq!(
        second,
        Err(Refusal::Claimed {
            by: "ana".to_owned()
        })
    );
    assert_eq!(book.offences(), (0, 0));
    book.order(&on("ana", "confirm", "b1-a"), At(3_000))
        .expect("confirmed");
    assert_eq!(book.offences(), (1, 0));
    let again = book.order(&on("luis", "dismiss", "b1-a"), At(3_100));
    assert_eq!(again, Err(Refusal::Decided("confirmed")));
    book.order(&on("luis", "undo", "b1-a"), At(3_200))
        .expect("undone");
    assert_eq!(book.offences(), (0, 0));
    assert_eq!(book.open_ids(), ["b1-a"]);
}

#[test]
fn an_offence_seen_again_after_it_was_put_right_counts_again() {
    let mut book = book(Regime::Standard);
    let ids = |said: Vec<Said>| changes(said).remove(0).1.id;
    let first = book.offence(alert("b1-a", 3, FEN), "ana", At(1_000));
    assert_eq!(ids(first.expect("new")), "b1-a");
    let same = book.offence(alert("b1-a", 3, FEN), "ana", At(1_500));
    assert_eq!(same, Err(Refusal::Decided("confirmed")));
    book.corrected(3, At(2_000));
    let second = book.offence(alert("b1-a", 3, FEN), "ana", At(3_000));
    assert_eq!(ids(second.expect("made once more")), "b1-a-2");
    assert_eq!(book.offences(), (2, 0));
}

/// Whether these legal moves end with a mate by the side.
fn mates(fen: &str, side: Side, line: &[String]) -> bool {
    let fen: Fen = fen.parse().expect("a FEN");
    let mut game: Chess = fen.into_position(CastlingMode::Standard).expect("legal");
    for san in line {
        let san: San = san.trim_end_matches(['+', '#']).parse().expect("SAN");
        game.play_unchecked(san.to_move(&game).expect("a legal move"));
    }
    game.is_checkmate() && game.turn() != side
}

#[test]
fn a_second_offence_proposes_the_end_of_the_game() {
    // The restored position decides: in R2 of laws.md only there can White mate; a wall of pawns is
    // no lack of material, and yet nobody can.
    let r2 = "5k1b/8/6KB/4Q3/8/8/8/8 b - - 0 1";
    let wall = "4k3/8/8/p2p2p1/P2P2P1/8/8/4K3 w - - 0 40";
    for (fen, side, outcome) in [
        (FEN, Side::White, Outcome::Lost),
        (BARE, Side::White, Outcome::Drawn),
        (r2, Side::Black, Outcome::Lost),
        (wall, Side::White, Outcome::Drawn),
    ] {
        let mut book = book(Regime::BlitzB2);
        for (id, ply) in [("b1-a", 3), ("b1-b", 5)] {
            let mut offence = alert(id, ply, fen);
            offence.finding.side = side;
            book.raise(offence);
        }
        let said = book.order(&on("ana", "confirm", "b1-a"), At(3_000));
        let said = changes(said.expect("confirmed"));
        let (change, other) = said.last().expect("the other one changes too");
        assert_eq!((*change, other.id.as_str()), (AlertChange::Updated, "b1-b"));
        assert_eq!(other.offences, side.fold_wb((1, 0), (0, 1)));
        assert_eq!(other.remedy.add_s, None);
        assert_eq!(other.remedy.outcome, Some(outcome), "{fen}");
        let lost = outcome == Outcome::Lost;
        assert_eq!(mates(fen, !side, &other.remedy.mate_line), lost, "{fen}");
    }
}

#[test]
fn a_flag_tells_how_the_opponent_can_mate_and_only_then() {
    for (fen, outcome) in [(FEN, Outcome::Lost), (BARE, Outcome::Drawn)] {
        let mut book = book(Regime::Standard);
        let mut flag = alert("b1-a", 3, fen);
        flag.finding = Finding {
            code: Code::Flag,
            side: Side::White,
            ..flag.finding
        };
        book.raise(flag);
        let remedy = &book.alerts().next().expect("it stands").remedy;
        assert_eq!(remedy.outcome, Some(outcome), "{fen}");
        let lost = outcome == Outcome::Lost;
        assert_eq!(mates(fen, Side::Black, &remedy.mate_line), lost, "{fen}");
    }
}

#[test]
fn a_first_offence_gives_the_seconds_of_its_regime() {
    let strict = Rulings {
        blitz_b2_penalty_s: 120,
        ..Rulings::default()
    };
    for (regime, rulings, seconds) in [
        (Regime::Standard, strict, 120),
        (Regime::RapidA4, strict, 60),
        (Regime::RapidA5, strict, 60),
        (Regime::BlitzB2, strict, 120),
        (Regime::BlitzB2, Rulings::default(), 60),
        (Regime::BlitzB3, strict, 60),
    ] {
        let mut book = ruled(regime, rulings);
        book.raise(alert("b1-a", 3, FEN));
        let remedy = &book.alerts().next().expect("it stands").remedy;
        assert_eq!(remedy.add_s, Some((Side::Black, seconds)), "{regime:?}");
        assert!(remedy.counts);
    }
}

/// Castling with the rook first and a promotion to a rook are nothing to count, unless the event calls
/// them illegal moves; then the arbiter's word counts, and the position before is restored.
#[test]
fn what_arbiters_see_differently_counts_where_the_event_says_so() {
    let castling = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1";
    let promotion = "8/P6k/8/8/8/8/8/K7 w - - 0 1";
    let strict = Rulings {
        inverted_rook_illegal: true,
        rook_first_illegal: true,
        ..Rulings::default()
    };
    let hint = Certainty::Hint;
    for (code, certainty, fen, squares, touched) in [
        (
            Code::CastlingRookFirst,
            Certainty::Probable,
            castling,
            [Square::H1, Square::E1],
            Square::H1,
        ),
        (
            Code::InvertedRookPromotion,
            hint,
            promotion,
            [Square::A7, Square::A8],
            Square::A7,
        ),
    ] {
        for (rulings, counts) in [(Rulings::default(), 0), (strict, 1)] {
            let mut book = ruled(Regime::Standard, rulings);
            let mut seen = alert("b1-a", 1, fen);
            seen.finding.code = code;
            seen.finding.certainty = certainty;
            seen.finding.squares = squares.to_vec();
            let loud = book.rules().terms.level(&seen.finding);
            let looked_at = counts == 1 && certainty != hint;
            assert_eq!(loud == Level::Check, looked_at, "{code}");
            assert_eq!(loud == Level::Info, !looked_at, "{code}");
            book.raise(seen);
            let remedy = book.alerts().next().expect("it stands").remedy.clone();
            assert_eq!(remedy.counts, counts == 1, "{code}");
            assert_eq!(remedy.add_s, None, "the board does not decide it");
            let restored = (counts == 1).then_some(fen);
            assert_eq!(remedy.restore.as_deref(), restored, "{code}");
            let bound: &[Square] = if counts == 1 { &[touched] } else { &[] };
            assert_eq!(remedy.touch_move, bound, "{code}");
            book.order(&on("ana", "confirm", "b1-a"), At(2_000))
                .expect("confirmed");
            assert_eq!(book.offences(), (counts, 0), "{code}");
        }
    }
}

#[test]
fn findings_of_one_move_are_one_incident() {
    let mut book = book(Regime::BlitzB2);
    book.raise(alert("b1-a", 3, FEN));
    book.raise(alert("b1-b", 3, FEN));
    let said = book
        .order(&on("ana", "claim", "b1-a"), At(2_000))
        .expect("free");
    assert_eq!(said.len(), 2);
    let said = book.order(&on("ana", "confirm", "b1-b"), At(2_500));
    let said = changes(said.expect("confirmed"));
    let merged = said.iter().find(|(_, alert)| alert.id == "b1-a");
    let (change, merged) = merged.expect("the other goes along");
    assert_eq!(*change, AlertChange::Dismissed);
    assert_eq!(merged.care.reason, Some(Reason::SameMove));
    assert_eq!(book.offences(), (1, 0));
}

#[test]
fn nobody_comes_so_it_escalates_and_a_stale_claim_runs_out() {
    let mut book = book(Regime::BlitzB2);
    book.raise(alert("b1-a", 3, FEN));
    assert_eq!(book.wake_at(), Some(At(16_000)));
    assert!(book.tick(At(15_999)).is_empty());
    let (_, seen) = changes(book.tick(At(16_000))).remove(0);
    assert!(seen.care.escalated);
    assert_eq!(book.wake_at(), None);
    book.order(&on("ana", "claim", "b1-a"), At(20_000))
        .expect("free");
    assert_eq!(book.wake_at(), Some(At(320_000)));
    let (_, seen) = changes(book.tick(At(320_000))).remove(0);
    assert_eq!((seen.status, seen.care.claimed_by), (Status::Open, None));
}

#[test]
fn the_board_closes_what_is_open_and_leaves_the_claimed_to_its_arbiter() {
    let mut book = book(Regime::BlitzB3);
    book.raise(alert("b1-a", 3, FEN));
    let (_, seen) = changes(book.corrected(3, At(2_000))).remove(0);
    assert_eq!(
        (seen.status, seen.window),
        (Status::Corrected, Window::Closed)
    );
    book.order(&on("ana", "confirm", "b1-a"), At(2_500))
        .expect("it was one all the same");
    assert_eq!(book.offences(), (1, 0));

    book.raise(alert("b1-b", 5, FEN));
    book.order(&on("ana", "claim", "b1-b"), At(3_000))
        .expect("free");
    let (change, seen) = changes(book.replied(5, At(4_000))).remove(0);
    assert_eq!(
        (change, seen.status),
        (AlertChange::Updated, Status::Claimed)
    );
    assert_eq!(seen.window, Window::Closed);

    book.raise(alert("b1-c", 7, FEN));
    let (change, seen) = changes(book.replied(7, At(5_000))).remove(0);
    assert_eq!(
        (change, seen.status),
        (AlertChange::Resolved, Status::Stands)
    );
}

#[test]
fn closed_alerts_age_and_leave_the_tree() {
    let mut book = book(Regime::Standard);
    book.raise(alert("b1-a", 3, FEN));
    book.order(&on("ana", "dismiss", "b1-a"), At(10_000))
        .expect("dismissed");
    assert_eq!(book.wake_at(), Some(At(610_000)));
    assert_eq!(book.tick(At(610_000)), [Said::Gone("b1-a".to_owned())]);
    assert_eq!(book.wake_at(), None);
    assert!(
        book.raise(alert("b1-a", 3, FEN)).is_none(),
        "still the same fault"
    );
    book.game_over(At(700_000));
    book.tick(At(700_000));
    assert_eq!(
        book.order(&on("ana", "note", "b1-a"), At(700_001)),
        Err(Refusal::Alert("b1-a".to_owned()))
    );
}

#[test]
fn notes_are_kept_also_over_an_undo() {
    let mut book = book(Regime::Standard);
    book.raise(alert("b1-a", 3, FEN));
    book.order(&on("ana", "claim", "b1-a"), At(2_000))
        .expect("free");
    book.order(&on("ana", "note", "b1-a"), At(2_100))
        .expect("noted");
    let said = book.order(&on("ana", "undo", "b1-a"), At(2_200));
    let (_, seen) = changes(said.expect("undone")).remove(0);
    assert_eq!(seen.status, Status::Open);
    assert_eq!(seen.care.notes.len(), 1);
    let nothing = book.order(&on("ana", "undo", "b1-a"), At(2_300));
    assert_eq!(nothing, Err(Refusal::Nothing));
}

#[test]
fn a_sensor_that_lies_is_muted_and_a_certain_fault_is_not() {
    let mut book = book(Regime::Standard);
    let doubtful = |id: &str, ply: u16| {
        let mut doubtful = alert(id, ply, FEN);
        doubtful.finding.certainty = Certainty::Probable;
        doubtful
    };
    book.raise(doubtful("b1-a", 3));
    book.raise(doubtful("b1-b", 5));
    let said = book
        .order(&on("ana", "mute", "b1-a"), At(2_000))
        .expect("open");
    let quiet: Vec<_> = changes(said)
        .into_iter()
        .map(|(_, alert)| (alert.id.clone(), alert.loudness(), alert.care.muted_by))
        .collect();
    let by = Some("ana".to_owned());
    assert_eq!(
        quiet,
        [
            ("b1-a".to_owned(), Level::Info, by.clone()),
            ("b1-b".to_owned(), Level::Info, by.clone())
        ]
    );
    assert_eq!(book.wake_at(), None, "nobody has to come");
    let level = |said: Option<Said>| match said {
        Some(Said::Changed(_, alert)) => alert.loudness(),
        other => panic!("{other:?}"),
    };
    assert_eq!(level(book.raise(doubtful("b1-c", 7))), Level::Info);
    assert_eq!(level(book.raise(alert("b1-d", 7, FEN))), Level::Urgent);
    book.order(&on("ana", "confirm", "b1-b"), At(3_000))
        .expect("it was one all the same");
    assert_eq!(book.offences(), (1, 0));
    for id in ["b1-a", "b1-b", "b1-b"] {
        book.order(&on("ana", "undo", id), At(4_000))
            .expect("it can be taken back");
    }
    let loud = |book: &Book, id: &str| {
        let alert = book.alerts().find(|alert| alert.id == id);
        alert.expect("it is there").loudness()
    };
    assert_eq!(loud(&book, "b1-a"), Level::Urgent);
    assert_eq!(loud(&book, "b1-b"), Level::Urgent);
    book.game_over(At(5_000));
    assert_eq!(level(book.raise(doubtful("b1-e", 1))), Level::Urgent);
}
