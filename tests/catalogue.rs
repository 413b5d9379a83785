//! Each code of the catalogue that a board can show has its three scenarios: a position of our own, one
//! for the other colour, and a false-positive twin that stays silent about it (laws.md 1.4).

use std::{collections::BTreeSet, fs, path::Path};

use atalaya::{
    incident::{AlertChange, Order},
    laws::{Code, Counts, Rulings, Witness},
    monitor::{Input, Monitor, Output, Settings},
    scenario::{self, Scenario},
    words::{At, Side},
};
use shakmaty::Setup;

/// All scenarios of the tests' own.
fn scenarios() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder reads") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a scenario file");
        let file = scenario::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        found.extend(file.scenario);
    }
    found
}

fn raises(scenario: &Scenario, code: Code, side: &str) -> bool {
    let head = format!("{code} {side} ");
    let alerts = scenario.alerts.iter().flatten();
    alerts.into_iter().any(|alert| alert.starts_with(&head))
}

fn is_silent_on(scenario: &Scenario, code: Code) -> bool {
    scenario.id == format!("{code}: twin")
        && scenario.alerts.is_some()
        && !raises(scenario, code, "white")
        && !raises(scenario, code, "black")
}

#[test]
fn every_code_a_board_can_show_has_both_colours_and_a_twin() {
    let scenarios = scenarios();
    let mut missing = Vec::new();
    for &code in Code::ALL {
        if code.witness() != Witness::Board {
            continue;
        }
        for side in ["white", "black"] {
            if !scenarios.iter().any(|one| raises(one, code, side)) {
                missing.push(format!("{code}: no scenario for {side}"));
            }
        }
        if !scenarios.iter().any(|one| is_silent_on(one, code)) {
            missing.push(format!("{code}: no twin that stays silent"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// What raises no alert has a scenario that shows it silent, and what the state tells instead.
#[test]
fn every_code_of_the_state_has_its_silent_scenario() {
    let scenarios = scenarios();
    for &code in STATE {
        let id = format!("{code}: state");
        let one = scenarios.iter().find(|one| one.id == id);
        let one = one.unwrap_or_else(|| panic!("no scenario '{id}'"));
        assert_eq!(one.alerts.as_deref(), Some(&[][..]), "{id}");
        assert!(one.phase.is_some(), "{id}: what the state tells");
        let outcome = scenario::run(one).unwrap_or_else(|why| panic!("{id}: {why}"));
        assert!(outcome.faults.is_empty(), "{id}: {:?}", outcome.faults);
    }
}

/// What no board and no clock can see: an arbiter enters it.
const ENTERED: &[Code] = &[
    Code::TwoHands,
    Code::WrongHandPressed,
    Code::ClockHovered,
    Code::ClockHitHard,
    Code::ClockKnocked,
    Code::ColoursReversed,
    Code::Resignation,
    Code::AgreedDraw,
    Code::ClaimRightLost,
    Code::WrongClaim,
    Code::LateArrival,
];

/// What is ordinary play, or stands in the board's state, and would be noise as an alert.
const STATE: &[Code] = &[
    Code::RepliedBeforePress,
    Code::ClockNotPressed,
    Code::ClockPaused,
    Code::RookThenKing,
    Code::Adjusted,
    Code::AdjustedOutOfTurn,
    Code::Checkmate,
    Code::Stalemate,
];

#[test]
fn every_code_is_raised_entered_or_stands_in_the_state() {
    let scenarios = scenarios();
    for &code in Code::ALL {
        let raised = scenarios
            .iter()
            .any(|one| raises(one, code, "white") || raises(one, code, "black"));
        let ways = [raised, ENTERED.contains(&code), STATE.contains(&code)];
        assert_eq!(ways.into_iter().filter(|&way| way).count(), 1, "{code}");
        assert_eq!(ENTERED.contains(&code), code.witness() == Witness::People);
        assert_eq!(STATE.contains(&code), code.witness() == Witness::State);
    }
}

/// An arbiter's entry stands confirmed at once, with the count of 7.5.5 only where the Laws count it.
#[test]
fn an_arbiter_enters_what_no_board_sees() {
    for &code in ENTERED {
        let mut monitor = Monitor::new(Settings::default());
        let start = Setup::initial();
        monitor.adopt(start, At(1_000));
        let text = format!(r#"{{"transaction":"t1","board":1,"side":"black","code":"{code}"}}"#);
        let order = Order::read("ana", "offence", text.as_bytes(), None);
        let order = order.unwrap_or_else(|why| panic!("{code}: {why:?}"));
        while monitor.poll_output().is_some() {}
        monitor.handle(Input::Order(&order), At(2_000));
        let (mut confirmed, mut offences) = (false, (0, 0));
        while let Some(output) = monitor.poll_output() {
            match output {
                Output::Alert {
                    change: AlertChange::Confirmed,
                    alert,
                } => {
                    confirmed = alert.finding.code == code && alert.finding.side == Side::Black;
                }
                Output::State(state) => offences = state.offences,
                _ => {}
            }
        }
        assert!(confirmed, "{code}");
        let counts = u8::from(code.row().counts != Counts::No);
        assert_eq!(counts == 1, code == Code::TwoHands, "{code}");
        assert_eq!(offences, (0, counts), "{code}");
    }
}

/// A matter of opinion is entered as an offence only where the event calls it an illegal move.
#[test]
fn an_arbiter_enters_a_matter_of_opinion_where_the_event_has_settled_it() {
    let ruled: Vec<Code> = Code::ALL
        .iter()
        .copied()
        .filter(|code| code.row().counts == Counts::IfRuled)
        .collect();
    assert_eq!(
        ruled,
        [Code::CastlingRookFirst, Code::InvertedRookPromotion]
    );
    for illegal in [false, true] {
        for code in &ruled {
            let mut monitor = Monitor::new(Settings {
                rulings: Rulings {
                    inverted_rook_illegal: illegal,
                    rook_first_illegal: illegal,
                    ..Rulings::default()
                },
                ..Settings::default()
            });
            monitor.adopt(Setup::initial(), At(1_000));
            let text =
                format!(r#"{{"transaction":"t1","board":1,"side":"white","code":"{code}"}}"#);
            let order = Order::read("ana", "offence", text.as_bytes(), None).expect("an order");
            monitor.handle(Input::Order(&order), At(2_000));
            let mut offences = (0, 0);
            while let Some(output) = monitor.poll_output() {
                if let Output::State(state) = output {
                    offences = state.offences;
                }
            }
            assert_eq!(offences, (u8::from(illegal), 0), "{code}");
        }
    }
}

#[test]
fn what_no_board_shows_is_never_raised() {
    let raised: BTreeSet<String> = scenarios()
        .iter()
        .flat_map(|one| one.alerts.iter().flatten())
        .filter_map(|alert| Some(alert.split_once(' ')?.0.to_owned()))
        .collect();
    for &code in Code::ALL {
        if code.witness() != Witness::Board {
            assert!(!raised.contains(code.as_str()), "{code}");
        }
    }
}
