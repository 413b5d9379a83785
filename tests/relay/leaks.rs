//! A reader of a delayed output must not be able to tell what happened since: two hours that are the
//! same up to the delay give the same files, byte for byte.

use std::sync::Arc;

use atalaya::{
    relay::{
        Moment, Profile, Sheet, World,
        book::Games,
        files::{Files, Printer},
    },
    words::BoardNo,
};
use fastrand::Rng;
use proptest::prelude::*;

use crate::played::{Plan, USUAL, game, world};

/// The same world as it stood at `then`.
fn as_of(world: &World, then: Moment) -> World {
    let mut old = world.clone();
    for games in old.games.values_mut() {
        let mut past = Games {
            sheets: Vec::new(),
            rev: 7,
        };
        for sheet in &games.sheets {
            let mut sheet = sheet.clone();
            sheet.plies.retain(|ply| ply.at <= then);
            sheet.ending = sheet.ending.filter(|end| end.at <= then);
            past.sheets.push(sheet);
        }
        *games = Arc::new(past);
    }
    old
}

fn files(world: &World, profile: &Profile, now: Moment) -> Files {
    Printer::default().print(world, profile, now)
}

fn hall(seed: u64) -> World {
    let mut rng = Rng::with_seed(seed);
    let board = |n: usize, rng: &mut Rng| {
        let plan = Plan {
            game: format!("5.{n}"),
            plies: rng.usize(0..50),
            from: 1_000_000 + rng.u64(0..60_000),
            pace_ms: rng.u64(100..20_000),
            irregular: rng.bool().then(|| rng.usize(1..40)),
            score: [None, Some("1-0"), Some("1/2-1/2")][rng.usize(0..3)],
            ..Plan::default()
        };
        let first = game(rng, USUAL, &plan);
        let again = Plan {
            game: format!("5.{n}b"),
            from: plan.from + plan.pace_ms * 60,
            ..plan
        };
        vec![first, game(rng, USUAL, &again)]
    };
    let sheets: Vec<Vec<Sheet>> = (1..=3).map(|n| board(n, &mut rng)).collect();
    world(sheets, false)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_is_held_back_changes_no_byte(
        seed: u64, delay_s in 1_u64..900, held in 0_usize..8, since in 0_u64..1_500_000,
        clocks: bool, segments: bool,
    ) {
        let profile = Profile { delay_ms: delay_s * 1000, delay_plies: held, clocks, segments, ..Profile::default() };
        let now = Moment(1_000_000 + since);
        let then = Moment(now.0 - profile.delay_ms.min(now.0));
        let world = hall(seed);
        let shown = files(&world, &profile, now);
        prop_assert_eq!(&shown, &files(&as_of(&world, then), &profile, now));
        // And the same as an undelayed reader with the same patience saw then.
        let live = Profile { delay_ms: 0, ..profile };
        prop_assert_eq!(&shown, &files(&as_of(&world, then), &live, then));
    }

    #[test]
    fn plies_are_held_until_others_follow(seed: u64, held in 1_usize..8, since in 0_u64..900_000) {
        let profile = Profile { delay_plies: held, ..Profile::default() };
        let now = Moment(1_000_000 + since);
        let world = hall(seed);
        for (board, games) in &world.games {
            let Some(shown) = profile.shown(*board, games, now) else { continue };
            let known = shown.sheet.plies.iter().filter(|ply| ply.at <= now).count();
            match shown.ending {
                Some(end) => prop_assert!(end.at <= now && shown.plies.len() == shown.sheet.plies.len()),
                None => prop_assert_eq!(shown.plies.len(), known.saturating_sub(held)),
            }
            // The held plies may be any others: nothing of them is told.
            let mut other = games.as_ref().clone();
            for sheet in &mut other.sheets {
                if sheet.game == shown.sheet.game && shown.ending.is_none() {
                    for ply in &mut sheet.plies[shown.plies.len()..] {
                        ply.uci.clear();
                        ply.san = "Kh8".to_owned();
                        ply.clock_s = Some(1);
                    }
                }
            }
            let mut changed = world.clone();
            changed.games.insert(*board, Arc::new(other));
            prop_assert_eq!(files(&world, &profile, now), files(&changed, &profile, now));
        }
    }

    #[test]
    fn the_next_change_is_never_missed(seed: u64, delay_s in 0_u64..300, held in 0_usize..3, since in 0_u64..900_000) {
        let profile = Profile { delay_ms: delay_s * 1000, delay_plies: held, ..Profile::default() };
        let mut world = hall(seed);
        // What is known is known at once: nothing lies in the future.
        let now = Moment(1_000_000 + since);
        world = as_of(&world, now);
        let before = files(&world, &profile, now);
        let end = world.next_change(&profile, now).map_or(Moment(now.0 + 3_600_000), |due| Moment(due.0 - 1));
        prop_assert_eq!(&before, &files(&world, &profile, end));
    }
}

#[test]
fn only_the_boards_meant_are_delayed_and_shown() {
    let world = hall(3);
    let late = Moment(9_000_000);
    let all = files(&world, &Profile::default(), late);
    let profile = Profile {
        boards: Some("1-2".parse().expect("boards")),
        delay_ms: 8_500_000,
        delay_boards: Some("2".parse().expect("boards")),
        ..Profile::default()
    };
    let some = files(&world, &profile, late);
    assert_eq!(all["round-5/game-1.pgn"], some["round-5/game-1.pgn"]);
    assert_ne!(all["round-5/game-2.pgn"], some["round-5/game-2.pgn"]);
    assert!(all.contains_key("round-5/game-3.pgn"));
    assert!(!some.contains_key("round-5/game-3.pgn"));
    for wrong in ["", "0", "3-1", "a", "1,,2", "1-2-3"] {
        assert!(wrong.parse::<atalaya::relay::Boards>().is_err(), "{wrong}");
    }
}

#[test]
fn known_plies_keep_their_moment_and_finished_games_are_frozen() {
    let mut rng = Rng::with_seed(5);
    let whole = game(
        &mut rng,
        USUAL,
        &Plan {
            score: None,
            ..Plan::default()
        },
    );
    let mut games = Games::default();
    let told = |plies: usize, at: u64, score: Option<&str>| {
        let mut sheet = whole.clone();
        sheet.plies.truncate(plies);
        sheet.plies.iter_mut().for_each(|ply| ply.at = Moment(at));
        sheet.ending = score.map(|score| atalaya::relay::book::Ending {
            score: score.to_owned(),
            by: "kings".to_owned(),
            at: Moment(at),
        });
        sheet
    };
    let moments =
        |games: &Games| -> Vec<u64> { games.sheets[0].plies.iter().map(|ply| ply.at.0).collect() };
    assert!(games.take(told(2, 10, None)));
    assert!(games.take(told(3, 20, None)));
    assert!(!games.take(told(3, 30, None)), "nothing new");
    assert_eq!(moments(&games), [10, 10, 20]);
    // A correction: the third ply was another.
    let mut other = told(3, 40, None);
    other.plies[2].uci = "a2a3".to_owned();
    assert!(games.take(other));
    assert_eq!(moments(&games), [10, 10, 40]);
    assert!(games.take(told(4, 50, Some("1-0"))));
    // The men are set up again and others are moved: not this game.
    let mut stray = told(2, 60, None);
    stray.plies[0].uci = "a2a4".to_owned();
    assert!(!games.take(stray));
    assert!(!games.take(told(0, 60, None)));
    // Unless an arbiter put it back so.
    let mut back = games.clone();
    assert!(back.take(Sheet {
        repairs: 1,
        ..told(0, 65, None)
    }));
    assert!(back.sheets[0].plies.is_empty());
    // The arbiter's correction of the result, and a result taken back.
    assert!(games.take(told(4, 70, Some("1/2-1/2"))));
    assert_eq!(
        games.sheets[0].ending.as_ref().map(|end| end.at),
        Some(Moment(70))
    );
    assert!(games.take(told(4, 80, None)));
    assert_eq!(moments(&games), [10, 10, 50, 50]);
}

#[test]
fn a_false_start_gives_way_and_a_real_game_does_not() {
    let mut rng = Rng::with_seed(8);
    let mut sheet = |name: &str, plies, from, score| {
        let plan = Plan {
            game: name.to_owned(),
            plies,
            from,
            score,
            ..Plan::default()
        };
        game(&mut rng, USUAL, &plan)
    };
    let false_start = sheet("5.1", 3, 1_000_000, None);
    let real = sheet("5.1b", 40, 2_000_000, None);
    let after = sheet("5.1c", 60, 3_000_000, Some("0-1"));
    let games = Games {
        sheets: vec![false_start, real, after],
        rev: 1,
    };
    let seen = |at| {
        let shown = Profile::default().shown(BoardNo(1), &games, Moment(at));
        shown.map(|shown| shown.sheet.game.0.clone())
    };
    assert_eq!(seen(999_999), None);
    assert_eq!(seen(1_500_000).as_deref(), Some("5.1"));
    assert_eq!(seen(2_000_000).as_deref(), Some("5.1b"));
    assert_eq!(seen(9_000_000).as_deref(), Some("5.1b"));
}
