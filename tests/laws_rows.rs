//! Every row of laws.toml through the judge and the hints, in both colours.

use std::{env, fs, path::PathBuf};

use atalaya::{
    board::{Edge, Placement, Reading},
    laws::{Finding, Past, Stand, Turn, hints, judge, late_placement, out_of_turn},
    words::{At, side_name},
};
use serde::Deserialize;
use shakmaty::{CastlingMode, Chess, Color, Move, Piece, Position, Square, fen::Fen};

#[derive(Deserialize)]
struct File {
    scenario: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    start: String,
    events: String,
    alerts: Vec<String>,
}

fn rows() -> Option<Vec<Row>> {
    let shared = env::var_os("ATALAYA_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"),
        PathBuf::from,
    );
    let path = shared.join("scenarios/laws.toml");
    let Ok(text) = fs::read_to_string(&path) else {
        assert!(env::var_os("CI").is_none(), "{} is missing", path.display());
        println!("skipped: {} is missing", path.display());
        return None;
    };
    Some(
        toml::from_str::<File>(&text)
            .expect("laws.toml reads")
            .scenario,
    )
}

/// The same row with the board flipped and the colours swapped.
fn mirrored(row: &Row) -> Row {
    let mut setup = row.start.parse::<Fen>().expect("FEN").into_setup();
    let white_to_move = setup.turn == Color::White;
    setup.mirror();
    // Keep the number of moves the side not to move has made.
    let full = setup.fullmoves.get();
    let full = if white_to_move {
        full.saturating_sub(1).max(1)
    } else {
        full + 1
    };
    setup.fullmoves = full.try_into().expect("from 1");
    let swap = |c: char| {
        if c.is_ascii_uppercase() {
            c.to_ascii_lowercase()
        } else {
            c.to_ascii_uppercase()
        }
    };
    let flip = |square: &str| square.parse::<Square>().expect("square").flip_vertical();
    let events = row.events.split_whitespace().map(|token| match token {
        "W>B" => "B>W".to_owned(),
        "B>W" => "W>B".to_owned(),
        "~" => "~".to_owned(),
        _ if token.ends_with('-') => format!("{}-", flip(&token[..2])),
        _ => format!("{}={}", flip(&token[..2]), swap(token.as_bytes()[3].into())),
    });
    let events = events.collect::<Vec<_>>().join(" ");
    let alerts = row.alerts.iter().map(|alert| {
        let parts: Vec<&str> = alert.split(' ').collect();
        let side = if parts[1] == "white" {
            "black"
        } else {
            "white"
        };
        format!("{} {side} {}", parts[0], parts[2])
    });
    Row {
        id: format!("{}-mirrored", row.id),
        start: Fen::try_from_setup(setup).expect("mirrors").to_string(),
        events,
        alerts: alerts.collect(),
    }
}

fn legal(stand: &Stand, seen: &Placement) -> Option<Move> {
    let chess: Chess = stand.setup.clone().position(stand.mode).ok()?;
    chess.legal_moves().into_iter().find(|&m| {
        let mut after = chess.clone();
        after.play_unchecked(m);
        Placement::from(after.board()) == *seen
    })
}

fn run(row: &Row) -> Vec<Finding> {
    let before = Stand::from_fen(&row.start, CastlingMode::Standard).expect("FEN");
    let past = Past::default();
    let mut seen = before.placement();
    let mut edges = Vec::new();
    let mut at = 0;
    let mut pressed = None;
    for token in row.events.split_whitespace() {
        at += if token == "~" { 3000 } else { 300 };
        match token {
            "W>B" => pressed = Some((Color::White, seen)),
            "B>W" => pressed = Some((Color::Black, seen)),
            "~" => {}
            _ => {
                let square: Square = token[..2].parse().expect("square");
                let from = seen.get(square);
                let man = token
                    .as_bytes()
                    .get(3)
                    .and_then(|&c| Piece::from_char(c.into()));
                seen.set(square, man);
                let to = man.map_or(Reading::Empty, Reading::Man);
                edges.push(Edge {
                    at: At(at),
                    square,
                    from,
                    to,
                });
            }
        }
    }
    let mover = pressed.map_or(!before.turn(), |(side, _)| side);
    let turn = Turn {
        before: &before,
        seen: &seen,
        mover,
        past: &past,
        edges: &edges,
    };
    if mover != before.turn() {
        return out_of_turn(&turn).into_iter().collect();
    }
    match legal(&before, &seen) {
        Some(m) => {
            if pressed.is_some_and(|(_, at_press)| at_press != seen) {
                let from = m.from().expect("no drops");
                return vec![late_placement(&turn, from, m.to())];
            }
            hints(&turn, m, 1000)
        }
        None => judge(&turn),
    }
}

#[test]
fn every_row_in_both_colours() {
    let Some(rows) = rows() else { return };
    let mut wrong = Vec::new();
    for row in rows
        .iter()
        .flat_map(|row| [mirrored(row), mirrored(&mirrored(row))])
    {
        let found: Vec<String> = run(&row)
            .iter()
            .map(|f| format!("{} {} {}", f.code, side_name(f.side), certainty(f)))
            .collect();
        if found != row.alerts {
            wrong.push(format!("{}: {found:?}, expected {:?}", row.id, row.alerts));
        }
    }
    for row in &rows {
        let found = run(row).iter().map(|f| f.code.as_str()).collect::<Vec<_>>();
        let wanted: Vec<&str> = row
            .alerts
            .iter()
            .filter_map(|a| a.split(' ').next())
            .collect();
        if found != wanted {
            wrong.push(format!("{}: {found:?}, expected {wanted:?}", row.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn certainty(finding: &Finding) -> String {
    format!("{:?}", finding.certainty).to_lowercase()
}
