//! Each code of the catalogue that a board can show has its three scenarios: a position of our own, one
//! for the other colour, and a false-positive twin that stays silent about it (laws.md 1.4).

use std::{collections::BTreeSet, fs, path::Path};

use atalaya::{
    laws::{Code, Witness},
    scenario::{self, Scenario},
};

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
