//! What does not go together, for the operator: the pairings and the boards, the results and the kings,
//! and what does not go out.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::watch;

use super::plan::Plan;
use crate::{
    monitor::{LinkState, Monitor, Output},
    publish::payload::Fault,
    relay::Standing,
    words::BoardNo,
};

/// After so many plies a game is well under way.
const UNDER_WAY: usize = 10;

/// What matters here of one board.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its serial number.
    pub serial: Option<String>,
    /// It talks.
    pub connected: bool,
    /// A move was made.
    pub begun: bool,
    /// Many were.
    pub under_way: bool,
    /// The result an arbiter gave.
    pub ruled: Option<&'static str>,
    /// The result the kings on the board tell.
    pub sign: Option<&'static str>,
}

/// An output of the relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outlet {
    /// A Lichess broadcast round.
    Lichess,
    /// Any other: its address or folder, as the operator reads it.
    To(String),
}

/// What is looked at.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// The boards.
    pub boards: BTreeMap<BoardNo, Seen>,
    /// How the outputs of the relay stand. The numbers only tell them apart: an output that ends and
    /// one that takes its place overlap.
    pub outlets: BTreeMap<usize, (Outlet, Standing)>,
}

/// Keeps the view; copies keep the same.
#[derive(Debug, Clone, Default)]
pub struct Lookout(Arc<watch::Sender<View>>);

impl Lookout {
    /// The newest view, and each change.
    pub fn view(&self) -> watch::Receiver<View> {
        self.0.subscribe()
    }

    /// Learns from what a board says.
    pub fn note(&self, board: BoardNo, output: &Output, monitor: &Monitor) {
        self.0.send_if_modified(|view| {
            let old = view.boards.get(&board).cloned().unwrap_or_default();
            let mut seen = old.clone();
            match output {
                Output::Link(link) => {
                    seen.serial.clone_from(&link.serial);
                    seen.connected = link.state == LinkState::Up;
                }
                Output::State(_) => {
                    let plies = monitor.record().len();
                    seen.begun = plies > 0;
                    seen.under_way = plies >= UNDER_WAY;
                    seen.ruled = monitor.ruled();
                    seen.sign = monitor.sign();
                }
                _ => return false,
            }
            let news = seen != old;
            view.boards.insert(board, seen);
            news
        });
    }

    /// Nobody watches this board any more.
    pub fn forget(&self, board: BoardNo) {
        self.0
            .send_if_modified(|view| view.boards.remove(&board).is_some());
    }

    /// Follows how an output stands, until it ends.
    pub async fn follow(self, outlet: Outlet, mut standing: watch::Receiver<Standing>) {
        let mut number = 0;
        self.0.send_if_modified(|view| {
            number = view
                .outlets
                .last_key_value()
                .map_or(0, |(last, _)| last + 1);
            let unknown = Standing::default();
            view.outlets.insert(number, (outlet.clone(), unknown));
            false
        });
        while standing.changed().await.is_ok() {
            let now = standing.borrow_and_update().clone();
            self.0.send_if_modified(|view| {
                let old = view.outlets.insert(number, (outlet.clone(), now.clone()));
                let old = old.map(|(_, old)| old).unwrap_or_default();
                (old.alarm, old.wrong) != (now.alarm, now.wrong)
            });
        }
        self.0
            .send_if_modified(|view| view.outlets.remove(&number).is_some());
    }
}

/// The outputs log what happens to them themselves, once; its reason may change with every try.
pub fn logs_itself(fault: &Fault) -> bool {
    ["lichess-silent", "lichess-refuses", "relay-silent"].contains(&fault.code)
}

/// What the operator has to look at.
pub fn faults(plan: &Plan, view: &View) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |board: Option<BoardNo>, code, about: &[&str]| {
        faults.push(Fault {
            board,
            code,
            about: about.iter().map(|text| (*text).to_owned()).collect(),
        });
    };
    let pairings = &plan.pairings;
    let notes = pairings.notes().len();
    if notes > 0 {
        fault(None, "pairings", &[&notes.to_string()]);
    }
    // As a rule the last boards of an event are played on wood.
    let named = |no: BoardNo| plan.settings.boards.iter().any(|one| one.number == no.0);
    let played: Vec<_> = pairings
        .iter()
        .filter(|(no, _)| view.boards.contains_key(no) || named(*no))
        .filter(|(_, pair)| !pair.white.is_bye() && !pair.black.is_bye())
        .collect();
    let seen = |board: BoardNo| view.boards.get(&board).cloned().unwrap_or_default();
    let all = played.len();
    let under_way = played.iter().filter(|(no, _)| seen(*no).under_way).count();
    for (board, pair) in played {
        let now = seen(board);
        let expected = pair.result.is_none();
        if let (Some(paired), Some(there)) = (&pair.serial, &now.serial)
            && paired != there
        {
            fault(Some(board), "other-board", &[there, paired]);
        }
        if expected && !now.connected {
            fault(Some(board), "no-board", &[]);
        } else if expected && !now.begun && now.ruled.is_none() && 2 * under_way >= all.max(2) {
            fault(Some(board), "no-moves", &[]);
        }
        if let Some(forfeit) = pair.result.as_deref().filter(|_| now.begun) {
            fault(Some(board), "forfeit-played", &[forfeit]);
        }
    }
    for (board, now) in &view.boards {
        if now.begun && pairings.iter().next().is_some() && pairings.get(*board).is_none() {
            fault(Some(*board), "nobody-paired", &[]);
        }
        if let (Some(ruled), Some(sign)) = (now.ruled, now.sign)
            && ruled != sign
        {
            fault(Some(*board), "kings-differ", &[ruled, sign]);
        }
    }
    for (outlet, standing) in view.outlets.values() {
        match (&standing.alarm, outlet) {
            (Some(why), Outlet::Lichess) => fault(None, "lichess-silent", &[why]),
            (Some(why), Outlet::To(place)) => fault(None, "relay-silent", &[place, why]),
            (None, _) => {}
        }
        for (board, why) in &standing.wrong {
            fault(Some(*board), "lichess-refuses", &[why]);
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hall::{Settings, Sources};

    fn plan(rows: &str) -> Plan {
        let dir = tempfile::tempdir().expect("a folder");
        let pairings = dir.path().join("round.csv");
        let text = format!("board,white,black,result,serial\n{rows}");
        std::fs::write(&pairings, text).expect("it writes");
        let config = dir.path().join("atalaya.toml");
        std::fs::write(
            &config,
            "[event]\npairings = \"round.csv\"\n[[board]]\nnumber = 5\nserial = \"555\"\n",
        )
        .expect("it writes");
        let sources = Sources {
            file: Some(config),
            ..Sources::default()
        };
        let settings = Settings::load(&sources).expect("it reads");
        Plan::read(&settings).expect("it reads")
    }

    fn playing(serial: &str) -> Seen {
        Seen {
            serial: Some(serial.to_owned()),
            connected: true,
            begun: true,
            under_way: true,
            ..Seen::default()
        }
    }

    /// No other output than Lichess looks into the games.
    fn lone(standing: &Standing) -> Standing {
        Standing {
            alarm: standing.alarm.clone(),
            ..Standing::default()
        }
    }

    fn told(plan: &Plan, boards: &[(u16, Seen)], standing: Standing) -> Vec<String> {
        let boards = boards.iter().cloned();
        let view = View {
            boards: boards.map(|(no, seen)| (BoardNo(no), seen)).collect(),
            outlets: BTreeMap::from([
                (0, (Outlet::Lichess, standing.clone())),
                (1, (Outlet::To("sftp://x/y".to_owned()), lone(&standing))),
            ]),
        };
        let said = |fault: Fault| {
            let board = fault.board.map(|no| no.to_string()).unwrap_or_default();
            format!("{board} {} {}", fault.code, fault.about.join(" "))
        };
        let faults = faults(plan, &view).into_iter();
        faults.map(|fault| said(fault).trim().to_owned()).collect()
    }

    #[test]
    fn boards_that_are_as_paired_are_no_fault() {
        // Board 6 is played on wood.
        let plan = plan("1,A,B,,111\n2,C,D,,\n3,E,bye,,\n4,F,G,1-0,\n5,J,bye,,\n6,H,I,,\n");
        let boards = [
            (1, playing("111")),
            (2, playing("222")),
            (4, Seen::default()),
        ];
        assert!(told(&plan, &boards, Standing::default()).is_empty());
    }

    #[test]
    fn each_mismatch_is_named_with_its_board() {
        let plan = plan("1,A,B,,111\n2,C,D,,\n3,E,F,,\n4,G,H,1-0,\n5,I,J,,\n");
        let waits = Seen {
            begun: false,
            under_way: false,
            ..playing("333")
        };
        let other = Seen {
            ruled: Some("1-0"),
            sign: Some("0-1"),
            ..playing("222")
        };
        let boards = [
            (1, playing("999")),
            (2, other),
            (3, waits),
            (4, playing("444")),
            (6, playing("666")),
        ];
        let standing = Standing {
            alarm: Some("HTTP 502".to_owned()),
            wrong: vec![(BoardNo(2), "Cannot play Ke5".to_owned())],
            ..Standing::default()
        };
        let told = told(&plan, &boards, standing);
        // The page has words for each, in both languages.
        let words = include_str!("../web/assets/words.js");
        for fault in &told {
            let code = fault.split(' ').find(|word| word.parse::<u16>().is_err());
            let line = format!("\"fault-{}\": [\"", code.unwrap_or_default());
            assert!(words.contains(&line), "{line}");
        }
        assert_eq!(
            told,
            [
                "1 other-board 999 111",
                "3 no-moves",
                "4 forfeit-played 1-0",
                "5 no-board",
                "2 kings-differ 1-0 0-1",
                "6 nobody-paired",
                "lichess-silent HTTP 502",
                "2 lichess-refuses Cannot play Ke5",
                "relay-silent sftp://x/y HTTP 502",
            ]
        );
    }
}
