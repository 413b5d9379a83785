use std::io::Cursor;

use atalaya::{
    dgt::Message,
    incident::{Order, Reason, Verb},
    journal::{Entry, Kind, Replay},
    monitor::{Monitor, Output, Settings},
    simulate::parse_games,
    words::{At, Side},
};
use jiff::Timestamp;
use shakmaty::Chess;

use super::{
    bytes::Choices,
    table::{BOARD, Table},
};

/// Whatever happens at a table: the plies are told in order, a regular record reads as PGN, a replay says
/// the same again, and so does one that begins where the game was cut off.
pub fn reconstruction(data: &[u8]) {
    let mut table = Table::new();
    let mut choices = Choices(data);
    while let Some(what) = choices.byte() {
        let done = happen(&mut table, what, &mut choices);
        if done.is_none() {
            break;
        }
    }
    table.wait(20_000);
    reads_as_pgn(&table.monitor);
    same_again(&table);
}

/// One thing; `None` when the bytes do not suffice for it.
fn happen(table: &mut Table, what: u8, choices: &mut Choices<'_>) -> Option<()> {
    match what {
        0..112 => {
            table.play(choices.byte()?);
            table.wait(u64::from(what) * 60);
        }
        112..160 => {
            // A hand takes a man from one square to another, or off the board.
            let (from, to) = (choices.byte()? & 63, choices.byte()?);
            let man = table.codes[usize::from(from)];
            table.put(from, 0);
            table.wait(u64::from(what) * 5);
            if to < 64 {
                table.put(to, man);
            }
        }
        160..176 => table.put(choices.byte()? & 63, choices.byte()? & 15),
        176..184 => {
            // The board missed it.
            table.codes[usize::from(choices.byte()? & 63)] = choices.byte()? & 15;
        }
        184..200 => table.press(choices.of(&[Side::White, Side::Black])?),
        200..206 => {
            table.clock.running = false;
            table.show_clock();
        }
        206..212 => table.wait(1 << (choices.byte()? % 18)),
        212..218 => table.dump(),
        218..222 => table.stand_as_meant(),
        222..225 => {
            let length = usize::from(choices.byte()? % 32);
            table.tell(Kind::Bytes(choices.some(length).to_vec()));
        }
        225 => {
            let length = usize::from(choices.byte()?);
            table.send(&Message::EventMemory(choices.some(length).to_vec()));
        }
        226 => {
            let reason = "pulled".to_owned();
            table.tell(choices.of(&[true, false])?.then_some(()).map_or(
                Kind::Absent {
                    reason: reason.clone(),
                },
                |()| Kind::Closed { reason },
            ));
        }
        227..230 => table.tell(Kind::Opened),
        230 => table.deaf = !table.deaf,
        231..234 => {
            // A new game is set up.
            table.chess = Chess::default();
            table.clock.running = false;
            table.show_clock();
            table.stand_as_meant();
            table.wait(3_000);
        }
        234..236 => {
            let settings = Settings {
                clock: choices
                    .of(&["auto", "white-left", "white-right", "none"])?
                    .to_owned(),
                regime: choices
                    .of(&["standard", "rapid-a5", "blitz-b3"])?
                    .to_owned(),
                round: choices.of(&["1", "1", "1", "2"])?.to_owned(),
                chess960: choices.byte()? > 230,
                ..table.settings.clone()
            };
            table.tell(Kind::Settings(Box::new(settings)));
        }
        236.. => {
            let verb = verb(table, choices)?;
            table.order(&Order {
                user: "ana".to_owned(),
                transaction: None,
                verb,
            });
        }
    }
    Some(())
}

/// An arbiter's command.
fn verb(table: &Table, choices: &mut Choices<'_>) -> Option<Verb> {
    let board = BOARD.0;
    let newest = table
        .said
        .iter()
        .rev()
        .find_map(|(_, output)| match output {
            Output::Alert { alert, .. } => Some(alert.id.clone()),
            _ => None,
        });
    let alert = newest.unwrap_or_default();
    let (kind, value) = (choices.byte()?, choices.byte()?);
    let side = if value % 2 == 0 {
        Side::White
    } else {
        Side::Black
    };
    Some(match kind % 15 {
        0 => Verb::Claim { alert },
        1 => Verb::Confirm { alert },
        2 => Verb::Dismiss {
            alert,
            reason: Reason::Other,
        },
        3 => Verb::Resolve { alert },
        4 => Verb::Undo { alert },
        5 => Verb::Mute {
            alert,
            reason: Reason::Other,
        },
        6 => Verb::Offence {
            board,
            side,
            code: "two-hands".to_owned(),
        },
        7 => Verb::Result {
            board,
            result: ["1-0", "0-1", "1/2-1/2", "0-0", "*"][usize::from(value) % 5].to_owned(),
            how: atalaya::incident::How::Normal,
            game: None,
        },
        8 | 9 => Verb::Adopt {
            board,
            turn: side,
            fen: None,
        },
        10 => Verb::Adopt {
            board,
            turn: side,
            fen: Some("r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 40".to_owned()),
        },
        11 => Verb::Reinstate {
            board,
            ply: u16::from(value % 32),
            moves: ["", "e2e4", "Nf3 Nf6"][usize::from(value) % 3]
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
        },
        12 => Verb::Choose {
            board,
            candidate: usize::from(value % 4),
        },
        13 if value % 4 == 0 => Verb::Flip { board },
        13 => Verb::SwapClock { board },
        _ => Verb::Resync { board },
    })
}

/// What a broker must show, the cable left out.
fn standing(monitor: &Monitor) -> Vec<Output> {
    let mut standing = monitor.standing();
    standing.retain(|output| !matches!(output, Output::Link(_)));
    standing
}

fn reads_as_pgn(monitor: &Monitor) {
    let record = monitor.record();
    if record.is_empty() || record.iter().any(|ply| ply.mv.is_none()) {
        return;
    }
    let text = monitor
        .standing()
        .into_iter()
        .find_map(|output| match output {
            Output::Pgn { pgn, .. } => Some(pgn),
            _ => None,
        });
    let text = text.expect("a game that has plies has a text");
    let games = parse_games(Cursor::new(&text), "record").unwrap_or_else(|why| {
        panic!("{why}\n{text}");
    });
    let read: Vec<_> = games[0]
        .plies
        .iter()
        .map(|ply| (Some(ply.mv), ply.clock_s))
        .collect();
    let kept: Vec<_> = record.iter().map(|ply| (ply.mv, ply.clock_s)).collect();
    assert_eq!(read, kept, "{text}");
}

fn same_again(table: &Table) {
    let mut replay = Replay::new();
    let mut said = table.said.iter();
    for entry in &table.entries {
        for again in replay.entry(entry) {
            assert_eq!(said.next(), Some(&(again.at, again.output)));
        }
    }
    assert_eq!(said.next(), None);

    let Some((before, cut)) = &table.cut else {
        return;
    };
    let mut shorter = Replay::new();
    let at = At(table.entries[before - 1].at.0);
    shorter.entry(&Entry {
        board: BOARD,
        seq: 0,
        at,
        wall: Timestamp::UNIX_EPOCH,
        kind: Kind::Cut(cut.clone()),
    });
    for entry in &table.entries[*before..] {
        shorter.entry(entry);
    }
    let boards = shorter.into_boards();
    let now = standing(&table.monitor);
    assert_eq!(standing(&boards[&BOARD].monitor), now);
}
