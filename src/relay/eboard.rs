//! Boards as the LiveChess local interface tells them (relay.md 2.3).

use serde_json::{Value, json};
use shakmaty::{Position, fen::Fen};

use super::{
    book::Moment,
    line::segments,
    profile::Profile,
    world::{Live, World},
};
use crate::{monitor::LinkState, words::BoardNo};

/// The board part of the usual start.
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/// What may be told of one board now.
#[derive(Debug, Clone, PartialEq)]
pub struct Eboard {
    /// The serial number, or the board's number where none is known.
    pub serial: String,
    state: Option<&'static str>,
    battery: Option<u8>,
    placement: Option<String>,
    flipped: bool,
    clock: Value,
    /// The placements of the game so far, the start first.
    past: Vec<String>,
    san: Vec<String>,
}

impl Eboard {
    /// Looks at a board. A delayed output shows the position of the last move that may be seen, and
    /// nothing of what the board says now.
    pub fn new(
        world: &World,
        live: &Live,
        board: BoardNo,
        profile: &Profile,
        now: Moment,
    ) -> Eboard {
        let games = world.games.get(&board);
        let shown = games.and_then(|games| profile.shown(board, games, now));
        let (mut past, mut san) = (Vec::new(), Vec::new());
        if let Some(shown) = shown {
            // Behind an irregular ply the game goes on in the last segment.
            let last = segments(&shown, None).pop();
            if let Some(mut position) = last.as_ref().and_then(|last| last.start.clone()) {
                past.push(position.board().to_string());
                for step in last.iter().flat_map(|last| &last.steps) {
                    position.play_unchecked(step.mv);
                    san.push(step.san.clone());
                    past.push(position.board().to_string());
                }
            }
        }
        let delayed = profile.delays(board);
        let placement = match delayed {
            true => Some(past.last().cloned().unwrap_or_else(|| START.to_owned())),
            false => live.placement.clone(),
        };
        let clock = live.clock.filter(|_| !delayed && profile.clocks);
        let clock = clock.map(|(clock, at)| {
            json!({
                "white": clock.white_s.unwrap_or(0),
                "black": clock.black_s.unwrap_or(0),
                "run": clock.running.map(|side| side.is_white()),
                "time": at,
            })
        });
        Eboard {
            serial: world
                .serials
                .get(&board)
                .cloned()
                .unwrap_or_else(|| board.to_string()),
            state: match live.link {
                Some(LinkState::Up) => Some("ACTIVE"),
                Some(LinkState::Silent) => Some("NOTRESPONDING"),
                Some(LinkState::Lost | LinkState::Absent) => Some("INACTIVE"),
                None => None,
            },
            battery: live.battery,
            placement,
            flipped: live.flipped && !delayed,
            clock: clock.unwrap_or(Value::Null),
            past,
            san,
        }
    }

    /// Its entry in the list of boards.
    pub fn entry(&self) -> Value {
        json!({
            "serialnr": self.serial,
            "source": null,
            "state": self.state,
            "battery": self.battery.map(|percent| format!("{percent}%")),
            "comment": null,
            "board": self.placement,
            "flipped": self.flipped,
            "clock": self.clock,
        })
    }

    /// The event of one subscriber: what changed since `before` (all, when that is nothing).
    /// `setup` is where the subscriber said the game begins. `None` when nothing changed.
    pub fn event(
        &self,
        before: Option<&Eboard>,
        setup: Option<&str>,
        fresh: bool,
    ) -> Option<Value> {
        let mut event = json!({"serialnr": self.serial, "flipped": self.flipped});
        if before.is_none_or(|before| before.placement != self.placement) {
            event["board"] = json!(self.placement);
        }
        if before.is_none_or(|before| before.clock != self.clock) {
            event["clock"] = self.clock.clone();
        }
        if let Some(start) = setup {
            let men = start.split(' ').next().unwrap_or_default();
            let begin = self.past.iter().rposition(|past| past == men);
            let san = begin.map_or(&[][..], |begin| &self.san[begin..]);
            let rebuilt = begin
                .and_then(|_| self.past.last())
                .map_or(men, String::as_str);
            event["start"] = json!(start);
            event["san"] = json!(san);
            event["match"] = json!(self.placement.as_deref() == Some(rebuilt));
        }
        let news = before.is_none_or(|before| before != self);
        (fresh || news).then_some(event)
    }
}

/// A position a subscriber sets, as it is echoed; the fields behind the men may be left out.
pub fn setup(fen: &str) -> Option<String> {
    Some(fen.parse::<Fen>().ok()?.to_string())
}
