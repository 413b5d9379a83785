//! What is put right late reaches every output, and nothing wrong stays in any.

use serde_json::json;
use shakmaty::{Role, Square};

use crate::hall::Hall;

fn played(hall: &Hall, moves: &[(Square, Square)]) {
    for (from, to) in moves {
        hall.table.slide(*from, *to);
        hall.table.press();
    }
}

#[test]
fn a_result_is_given_changed_taken_back_and_corrected_when_the_round_is_over() {
    let mut hall = Hall::open(0);
    hall.table.start_clock();
    played(&hall, &[(Square::F2, Square::F3), (Square::E7, Square::E5)]);
    hall.shows("5", &["f3", "e5", "[Result \"*\"]"]);

    let won = json!({"board": 1, "result": "1-0", "how": "flag"});
    assert_eq!(hall.command("result", won)["status"], "ok");
    hall.shows(
        "5",
        &["[Result \"1-0\"]", "time forfeit", "5:12]} 1... e5", "1-0"],
    );
    // The men go home, or are moved to and fro: no move of the game.
    played(&hall, &[(Square::G2, Square::G4), (Square::D8, Square::H4)]);
    let drawn = json!({"board": 1, "result": "1/2-1/2"});
    assert_eq!(hall.command("result", drawn)["status"], "ok");
    hall.shows("5", &["[Result \"1/2-1/2\"]", "[Termination \"normal\"]"]);
    hall.nowhere("1-0");
    hall.nowhere("time forfeit");
    hall.nowhere("g4");
    let on = json!({"board": 1, "result": "*"});
    assert_eq!(hall.command("result", on)["status"], "ok");
    hall.nowhere("1/2-1/2");
    let lost = json!({"board": 1, "result": "0-1", "game": "5.1"});
    assert_eq!(hall.command("result", lost)["status"], "ok");
    hall.shows("5", &["[Result \"0-1\"]"]);

    // The next round. A result and a name of the last one are corrected still.
    hall.pairings("6", "Roe, Bo", "Poe, Cy");
    hall.configure("6");
    hall.hangup();
    hall.shows("6", &["Poe, Cy", "[Result \"*\"]"]);
    let unknown = json!({"board": 1, "result": "1-0", "game": "4.1"});
    assert_eq!(hall.command("result", unknown)["code"], "bad-value");
    let others = json!({"board": 1, "result": "1-0", "game": "5.2"});
    assert_eq!(hall.command("result", others)["code"], "bad-value");
    let both = json!({"board": 1, "result": "0-0", "how": "forfeit", "game": "5.1"});
    assert_eq!(hall.command("result", both)["status"], "ok");
    hall.shows("5", &["[Result \"0-0\"]", "abandoned", "e5"]);
    hall.nowhere("0-1");
    hall.pairings("5", "Gil, Anabel", "Roe, Bo");
    hall.hangup();
    hall.shows("5", &["Gil, Anabel", "[Result \"0-0\"]"]);
    hall.nowhere("Gil, Ana\"");
    hall.shows("6", &["Poe, Cy", "[Result \"*\"]"]);

    // And a crash forgets nothing of it.
    let hall = hall.killed();
    hall.until("round 5 is there again", |hall| {
        let public = hall.public.all();
        let text = public
            .get("http/round-5/games.pgn")
            .map_or("", String::as_str);
        text.contains("Gil, Anabel") && text.contains("[Result \"0-0\"]") && text.contains("e5")
    });
}

#[test]
fn a_move_taken_back_leaves_every_output_and_the_game_goes_on_from_a_position_an_arbiter_adopts() {
    let mut hall = Hall::open(0);
    hall.table.start_clock();
    played(
        &hall,
        &[
            (Square::E2, Square::E4),
            (Square::E7, Square::E5),
            (Square::G1, Square::F3),
        ],
    );
    hall.shows("5", &["Nf3"]);
    // No knight goes like that, but White replies: it stands, and what follows is a game of its own.
    played(&hall, &[(Square::B8, Square::B5)]);
    let alerts = |hall: &Hall| hall.state()["alerts"].as_array().map_or(0, Vec::len);
    hall.until("it is seen", |hall| alerts(hall) > 0);
    played(&hall, &[(Square::D2, Square::D3)]);
    hall.until("what followed stands beside", |hall| {
        let public = hall.public.all();
        let beside = |path: &str| public.get(path).is_some_and(|text| text.contains("d3"));
        beside("pgn/round-5/game-1b.pgn") && beside("http/round-5/game-1b.pgn")
    });
    hall.shows("5", &["Nf3"]);
    // The arbiter puts the game back.
    hall.table.slide(Square::D3, Square::D2);
    hall.table.slide(Square::B5, Square::B8);
    hall.until("it is taken back", |hall| hall.state()["ply"] == 3);
    hall.nowhere("d3");
    hall.nowhere("record ends here");
    assert!(
        hall.public
            .all()
            .keys()
            .all(|path| !path.contains("game-1b"))
    );
    played(&hall, &[(Square::B8, Square::C6)]);
    hall.shows("5", &["Nf3", "Nc6"]);

    // A pawn fell and was put back wrong, and the players went on: it is so now.
    hall.table.put(Square::A2, None);
    let pawn = Role::Pawn.of(shakmaty::Color::White);
    hall.table.put(Square::A3, Some(pawn));
    hall.table.put(Square::H2, None);
    hall.table.put(Square::H3, Some(pawn));
    let right = json!({"board": 1, "turn": "white"});
    assert_eq!(hall.command("adopt", right)["status"], "ok");
    played(&hall, &[(Square::F1, Square::C4)]);
    hall.until("the game goes on", |hall| {
        let public = hall.public.all();
        let beside = |path: &str| public.get(path).is_some_and(|text| text.contains("Bc4"));
        beside("pgn/round-5/game-1b.pgn") && beside("http/round-5/games.pgn")
    });
    assert_eq!(hall.state()["game"], "5.1");
    let won = json!({"board": 1, "result": "1-0"});
    assert_eq!(hall.command("result", won)["status"], "ok");
    hall.shows("5", &["Nf3", "Nc6", "[Result \"1-0\"]"]);
}
