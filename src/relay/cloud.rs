//! The files of LiveChess Cloud, as viewers and scrapers read them (relay.md 2.2).

use serde_json::{Value, json};

use super::{
    line::{number_960, segments},
    pgn::score,
    round::{Event, Player, Table},
    world::World,
};

/// The number LiveChess gives a game that starts from no Chess960 array.
const USUAL: u16 = 518;

/// The round's place in the tournament, from 1; a round without a number is the first.
pub fn round_number(event: &Event) -> usize {
    event
        .round
        .parse()
        .ok()
        .filter(|n| (1..=999).contains(n))
        .unwrap_or(1)
}

/// `tournament.json`, of the rounds that are known with their tables, the present one last.
pub fn tournament(known_rounds: &[(&World, Vec<Table<'_>>)]) -> Value {
    let Some((world, tables)) = known_rounds.last() else {
        return Value::Null;
    };
    let event = &world.event;
    let last = known_rounds
        .iter()
        .map(|(round, _)| round_number(&round.event));
    // Of others no more is known than that they are.
    let mut rounds = vec![json!({"count": 0, "live": 0}); last.max().unwrap_or(0)];
    for (round, tables) in known_rounds {
        let on = tables.iter().filter(|table| is_on(table)).count();
        rounds[round_number(&round.event) - 1] = json!({"count": tables.len(), "live": on});
    }
    let serials = tables.iter().filter_map(|table| serial(world, table));
    json!({
        "id": event.name,
        "name": event.name,
        "location": known(&event.site),
        "country": null,
        "website": null,
        "rules": "STANDARD",
        "chess960": if event.chess960 { "ANY" } else { "STANDARD" },
        "timecontrol": event.time_control,
        "rounds": rounds,
        "eboards": serials.collect::<Vec<_>>(),
    })
}

/// `index.json` of a round.
pub fn index(event: &Event, tables: &[Table<'_>]) -> Value {
    let pairing = |table: &Table<'_>| {
        let player = |pick: fn(&super::round::Seat) -> &Player| player(table.seat.map(pick));
        json!({
            "white": player(|seat| &seat.white),
            "black": player(|seat| &seat.black),
            "result": match score(table) { "0-0" => "*", score => score },
            "live": is_on(table),
        })
    };
    json!({
        "date": known(&event.date).map(|date| date.replace('.', "-")),
        "pairings": tables.iter().map(pairing).collect::<Vec<_>>(),
    })
}

/// `game-M.json`.
pub fn game(world: &World, table: &Table<'_>, clocks: bool) -> Value {
    let segments = table
        .shown
        .map(|shown| segments(&shown, world.event.first_s));
    let first = segments.as_ref().and_then(|segments| segments.first());
    let steps = first.map_or(&[][..], |segment| &segment.steps);
    let start = first.and_then(|segment| segment.start.as_ref());
    let moves = steps
        .iter()
        .map(|step| match step.clock_s.filter(|_| clocks) {
            Some(seconds) => format!("{} {seconds}", step.san),
            None => step.san.clone(),
        });
    let result = match score(table) {
        "1-0" => "WHITEWIN",
        "0-1" => "BLACKWIN",
        "1/2-1/2" => "DRAW",
        _ => "*",
    };
    json!({
        "live": is_on(table),
        "serialNr": serial(world, table),
        "firstMove": steps.first().map(|step| step.ply.at),
        "chess960": start.and_then(number_960).unwrap_or(USUAL),
        "result": result,
        "comment": null,
        "clock": null,
        "moves": moves.collect::<Vec<_>>(),
    })
}

fn is_on(table: &Table<'_>) -> bool {
    table.shown.is_some_and(|shown| shown.ending.is_none())
}

fn serial<'a>(world: &'a World, table: &Table<'_>) -> Option<&'a str> {
    world.serials.get(&table.board).map(String::as_str)
}

fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.contains('?'))
}

/// Readers join the three names with blanks, so what stands before the comma goes last.
fn player(player: Option<&Player>) -> Value {
    let name = player.map_or("", |player| player.name.as_str());
    let (last, first) = match name.split_once(',') {
        Some((last, first)) => (last.trim(), Some(first.trim())),
        None => (name.trim(), None),
    };
    json!({
        "fname": first,
        "mname": null,
        "lname": Some(last).filter(|last| !last.is_empty()),
        "title": player.and_then(|player| player.title.as_deref()),
        "federation": player.and_then(|player| player.federation.as_deref()),
        "gender": null,
        "fideid": player.and_then(|player| player.fide_id).filter(|id| *id > 0),
    })
}
