//! FIDE's tournament report file, TRF16 and TRF26: the `001` and `013` lines, by column.
//!
//! It holds no board numbers. They follow from the Swiss order: score of the better player before
//! the round, both scores together, then the better rank (relay.md 6.2).

use std::{cmp::Reverse, collections::BTreeMap};

use super::{About, List, Pairing};
use crate::words::BoardNo;

/// Where the first round begins, from 0, and how wide each is.
const FIRST_ROUND: usize = 91;
const ROUND_WIDTH: usize = 10;

struct Player {
    line: usize,
    player: super::Player,
    /// The result of the round is a forfeit: whether this player has the point.
    forfeit: Option<bool>,
    /// Half points before the round.
    score: u32,
    /// Rank of the opponent and whether this player has White; none when not paired.
    game: Option<(u32, bool)>,
}

pub(super) fn read(text: &str, round: &str, list: &mut List) {
    let Some(round) = round
        .parse::<usize>()
        .ok()
        .filter(|n| (1..=999).contains(n))
    else {
        let what = format!(
            "is a tournament report, and `{round}` is no round of it: set event.round to a number"
        );
        return list.fault(None, what);
    };
    let mut players = BTreeMap::new();
    let mut teams = BTreeMap::new();
    // Lines may end in CR alone.
    let lines = text.split('\n').flat_map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.split('\r')
    });
    for (number, line) in (1..).zip(lines) {
        if line.starts_with("013") {
            let (name, ranks) = team(line);
            teams.extend(ranks.into_iter().map(|rank| (rank, name.clone())));
        }
        if line.starts_with("001") {
            match player(number, line, round, list) {
                Ok((rank, player)) => {
                    if players.insert(rank, player).is_some() {
                        list.fault(number, format!("starting rank {rank} stands twice"));
                    }
                }
                Err(what) => list.fault(number, what),
            }
        }
    }
    for (rank, player) in &mut players {
        player.player.team = teams.remove(rank);
    }
    pair(&players, round, list);
}

/// What stands in columns of a line, from 0, the last left out.
fn columns(line: &str, from: usize, to: usize) -> String {
    let text: String = line.chars().skip(from).take(to - from).collect();
    text.trim().to_owned()
}

/// A team's name, and the starting ranks of its players.
fn team(line: &str) -> (String, Vec<u32>) {
    let width = line.chars().count();
    let ranks = (36..width)
        .step_by(5)
        .filter_map(|at| columns(line, at, at + 4).parse().ok());
    (columns(line, 4, 36), ranks.collect())
}

fn player(
    line_no: usize,
    line: &str,
    round: usize,
    list: &mut List,
) -> Result<(u32, Player), String> {
    let column = |from, to| columns(line, from, to);
    let rank = column(4, 8);
    let rank = rank
        .parse()
        .map_err(|_| format!("`{rank}` in columns 5-8 is no starting rank"))?;
    let name = column(14, 47);
    if name.is_empty() {
        return Err("columns 15-47 hold no name".to_owned());
    }
    let begin = |round: usize| FIRST_ROUND + (round - 1) * ROUND_WIDTH;
    let half_points = |round| {
        let at = begin(round);
        match column(at + 7, at + 8).as_str() {
            "1" | "+" | "W" | "w" | "F" | "f" | "U" | "u" => 2,
            "=" | "D" | "d" | "H" | "h" => 1,
            _ => 0,
        }
    };
    let at = begin(round);
    let opponent = column(at, at + 4);
    let white = match column(at + 5, at + 6).as_str() {
        "w" | "W" => Some(true),
        "b" | "B" => Some(false),
        _ => None,
    };
    let game = match (opponent.as_str(), white) {
        // Not paired, a bye, or a colour not drawn yet.
        ("" | "0000" | "0", _) | (_, None) => None,
        (rank, Some(white)) => Some((
            rank.parse()
                .map_err(|_| format!("`{rank}` is no opponent in round {round}"))?,
            white,
        )),
    };
    let (title, elo, fide_id) = (column(10, 13), column(48, 52), column(57, 68));
    let federation = column(53, 56);
    let about = About {
        title: &title,
        elo: &elo,
        fide_id: &fide_id,
        federation: &federation,
        team: "",
    };
    let forfeit = match column(at + 7, at + 8).as_str() {
        "+" => Some(true),
        "-" => Some(false),
        _ => None,
    };
    let player = Player {
        line: line_no,
        player: list.player(line_no, &name, about),
        forfeit,
        score: (1..round).map(half_points).sum(),
        game,
    };
    Ok((rank, player))
}

fn pair(players: &BTreeMap<u32, Player>, round: usize, list: &mut List) {
    let mut pairs = Vec::new();
    for (rank, white) in players {
        let Some((opponent, has_white)) = white.game else {
            continue;
        };
        let other = players.get(&opponent);
        let answered = other.and_then(|other| other.game) == Some((*rank, !has_white));
        let Some(black) = other.filter(|_| answered) else {
            let what = format!(
                "player {rank} meets {opponent} in round {round}, but {opponent}'s line does not say so"
            );
            list.fault(white.line, what);
            continue;
        };
        if has_white {
            let better = white.score.max(black.score);
            let order = (
                Reverse((better, white.score + black.score)),
                if white.score == black.score {
                    (*rank).min(opponent)
                } else if white.score > black.score {
                    *rank
                } else {
                    opponent
                },
            );
            pairs.push((order, white, black));
        }
    }
    if pairs.is_empty() && list.faults.is_empty() {
        list.fault(None, format!("has no pairing of round {round}"));
    }
    pairs.sort_by_key(|(order, ..)| *order);
    for (board, (_, white, black)) in (1..=u16::MAX).zip(pairs) {
        let pairing = Pairing {
            white: white.player.clone(),
            black: black.player.clone(),
            round: Some(round.to_string()),
            result: match (white.forfeit, black.forfeit) {
                (Some(true), Some(false)) => Some("1-0".to_owned()),
                (Some(false), Some(true)) => Some("0-1".to_owned()),
                (Some(false), Some(false)) => Some("0-0".to_owned()),
                _ => None,
            },
            serial: None,
        };
        list.add(white.line, BoardNo(board), pairing);
    }
}
