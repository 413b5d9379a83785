//! The arbiter repairs a game by hand: puts it back to a ply, says what was really played, sets a
//! position. And other rules come in the midst of a game.

use atalaya::{
    board::Placement,
    dgt::{ClockMessage, ClockTimes, Hand, HandTime, Message, physical_of},
    incident::{AlertChange, Level, Order, Refusal, Status},
    laws::Lang,
    monitor::{Input, Monitor, Output, Phase, Settings},
    words::{At, Side},
};
use shakmaty::{Board, Color, Piece, Role, Square, fen::Fen};

/// A board with its clock, moved by the test in virtual time.
struct Table {
    monitor: Monitor,
    now: u64,
    men: Placement,
    to_move: Side,
    running: bool,
    /// Seconds each side has used for all its plies.
    spent: u32,
    told: Vec<Output>,
}

impl Table {
    /// The start array stands and White's clock runs.
    fn lay() -> Table {
        let settings = Settings {
            board: 3,
            clock: "white-left".to_owned(),
            ..Settings::default()
        };
        let mut table = Table {
            monitor: Monitor::new(settings),
            now: 1_000,
            men: Placement::from(&Board::new()),
            to_move: Side::White,
            running: false,
            spent: 0,
            told: Vec::new(),
        };
        table.monitor.handle(Input::Opened, At(1_000));
        table.dump();
        table.clock();
        table.wait(2_000);
        table.running = true;
        table.clock();
        table.wait(1_000);
        table
    }

    fn hear(&mut self, message: &Message) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.monitor.handle(Input::Bytes(&bytes), At(self.now));
        self.take();
    }

    /// Time passes; the board answers what it is asked.
    fn wait(&mut self, ms: u64) {
        let end = self.now + ms;
        while let Some(at) = self.monitor.wake_at().filter(|at| at.0 <= end) {
            self.now = self.now.max(at.0);
            self.monitor.handle(Input::Tick, At(self.now));
            self.take();
        }
        self.now = end;
    }

    fn take(&mut self) {
        let mut asked = false;
        while let Some(output) = self.monitor.poll_output() {
            // DGT_SEND_BRD
            asked |= matches!(&output, Output::Write(bytes) if bytes == &[0x42]);
            self.told.push(output);
        }
        if asked {
            self.now += 40;
            self.dump();
        }
    }

    fn dump(&mut self) {
        let mut codes = [0; 64];
        for square in Square::ALL {
            codes[usize::from(physical_of(square, false))] = self.men.code(square);
        }
        self.hear(&Message::Dump(Box::new(codes)));
    }

    fn clock(&mut self) {
        let hand = HandTime {
            seconds: 600 - self.spent,
            ..HandTime::default()
        };
        let times = ClockTimes {
            left: hand,
            right: hand,
            running: self.running,
            lever: self.to_move.fold_wb(Hand::Left, Hand::Right),
            battery_low: false,
            connected: true,
        };
        self.hear(&Message::Clock(ClockMessage::Times(times)));
    }

    fn put(&mut self, square: Square, man: Option<Piece>) {
        self.men.set(square, man);
        let code = self.men.code(square);
        let square = physical_of(square, false);
        self.hear(&Message::Field { square, code });
        self.wait(300);
    }

    fn slide(&mut self, from: Square, to: Square) {
        let man = self.men.piece(from);
        self.put(from, None);
        self.put(to, man);
    }

    /// Whoever is to move plays this and presses.
    fn play(&mut self, from: Square, to: Square) {
        self.slide(from, to);
        self.press();
    }

    fn press(&mut self) {
        self.spent += 10;
        self.to_move = self.to_move.other();
        self.clock();
        self.wait(3_000);
    }

    fn stop(&mut self) {
        self.running = false;
        self.clock();
        self.wait(2_000);
    }

    fn start(&mut self, side: Side) {
        (self.running, self.to_move) = (true, side);
        self.clock();
        self.wait(1_000);
    }

    /// What an arbiter commands, and how it is answered.
    fn order(&mut self, verb: &str, payload: &str) -> Result<(), String> {
        self.command(verb, payload).map_err(|why| why.to_string())
    }

    fn command(&mut self, verb: &str, payload: &str) -> Result<(), Refusal> {
        let order = Order::read("ana", verb, payload.as_bytes(), None).expect("a command");
        self.monitor.handle(Input::Order(&order), At(self.now));
        self.take();
        let answers = self.told.iter().rev().find_map(|output| match output {
            Output::Answer(answer) => Some(answer.outcome.clone()),
            _ => None,
        });
        answers.expect("an answer")
    }

    fn refused(&mut self, verb: &str, payload: &str) -> Refusal {
        let answer = self.command(verb, payload);
        answer.expect_err("nobody can play on from there")
    }

    fn record(&self) -> Vec<String> {
        let plies = self.monitor.record().iter();
        plies.map(|ply| ply.san.clone()).collect()
    }

    /// The record as whoever heard every ply and retraction has it.
    fn heard(&self) -> Vec<String> {
        let mut heard = Vec::new();
        for output in &self.told {
            match output {
                Output::Ply(ply) => {
                    assert_eq!(usize::from(ply.ply), heard.len() + 1);
                    heard.push(ply.san.clone());
                }
                Output::Retract(retraction) => heard.truncate(retraction.back_to.into()),
                _ => {}
            }
        }
        heard
    }

    fn raised(&self) -> Vec<(String, Level)> {
        let alerts = self.told.iter().filter_map(|output| match output {
            Output::Alert {
                change: AlertChange::Raised,
                alert,
            } => Some((alert.id.clone(), alert.loudness())),
            _ => None,
        });
        alerts.collect()
    }

    fn loud(&self) -> usize {
        let loud = self.raised().into_iter();
        loud.filter(|(_, level)| *level > Level::Info).count()
    }

    fn status(&self, id: &str) -> Status {
        let last = self.told.iter().rev().find_map(|output| match output {
            Output::Alert { alert, .. } if alert.id == id => Some(alert.status),
            _ => None,
        });
        last.expect("it was told")
    }

    fn phase(&self) -> (Phase, Vec<Square>) {
        let standing = self.monitor.standing();
        let state = standing.iter().find_map(|output| match output {
            Output::State(state) => Some((state.phase, state.doubt.clone())),
            _ => None,
        });
        state.expect("a board has a state")
    }
}

fn opening() -> Table {
    let mut table = Table::lay();
    table.play(Square::E2, Square::E4);
    table.play(Square::E7, Square::E5);
    table.play(Square::G1, Square::F3);
    table.play(Square::B8, Square::C6);
    assert_eq!(table.record(), ["e4", "e5", "Nf3", "Nc6"]);
    table
}

#[test]
fn a_game_goes_back_to_a_ply_and_on_from_there() {
    let mut table = opening();
    table.stop();
    table
        .order("reinstate", r#"{"board":3,"ply":2}"#)
        .expect("it has four plies");
    assert_eq!(table.record(), ["e4", "e5"]);
    assert_eq!(table.heard(), ["e4", "e5"]);
    table.wait(10_000);
    let (phase, doubt) = table.phase();
    assert_eq!(phase, Phase::Disturbed, "the men do not stand so yet");
    assert_eq!(
        doubt,
        [Square::G1, Square::F3, Square::C6, Square::B8],
        "these have to be put right"
    );
    table.slide(Square::C6, Square::B8);
    table.slide(Square::F3, Square::G1);
    table.start(Side::White);
    assert_eq!(table.phase().0, Phase::Playing);
    table.play(Square::F1, Square::C4);
    table.play(Square::G8, Square::F6);
    assert_eq!(table.record(), ["e4", "e5", "Bc4", "Nf6"]);
    assert_eq!(table.heard(), table.record());
    assert_eq!(table.raised(), [], "nobody did anything wrong");
}

#[test]
fn plies_that_the_board_never_told_are_entered_and_keep_the_known_times() {
    let mut table = opening();
    let clocks = |table: &Table| -> Vec<Option<u32>> {
        let plies = table.monitor.record().iter();
        plies.map(|ply| ply.clock_s).collect()
    };
    let before = clocks(&table);
    assert!(before.iter().all(Option::is_some));
    table
        .order(
            "reinstate",
            r#"{"board":3,"ply":2,"moves":["f1c4","Nc6","d3"]}"#,
        )
        .expect("legal");
    assert_eq!(table.heard(), ["e4", "e5", "Bc4", "Nc6", "d3"]);
    assert_eq!(clocks(&table)[2..], [None, None, None]);

    // It was right as it stood: the plies taken back are said again, with their times.
    table
        .order("reinstate", r#"{"board":3,"ply":2,"moves":["Nf3","Nc6"]}"#)
        .expect("legal");
    assert_eq!(table.heard(), ["e4", "e5", "Nf3", "Nc6"]);
    assert_eq!(table.phase().0, Phase::Playing, "the men stand so");
    assert_eq!(clocks(&table), before);
    table.play(Square::F1, Square::B5);
    assert_eq!(table.heard(), ["e4", "e5", "Nf3", "Nc6", "Bb5"]);
    assert_eq!(table.raised(), []);
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut table = opening();
    let told = table.heard();
    for (payload, word) in [
        (r#"{"board":3,"ply":5}"#, "4 plies"),
        (
            r#"{"board":3,"ply":4,"moves":["Bb5","Bb5"]}"#,
            "ply 6: 'Bb5'",
        ),
        (r#"{"board":3,"ply":4,"moves":["e2e4"]}"#, "ply 5: 'e2e4'"),
    ] {
        let why = table.order("reinstate", payload).expect_err("it cannot be");
        assert!(why.contains(word), "{why}");
    }
    let why = table.refused("reinstate", r#"{"board":3,"ply":4,"moves":["Bb9"]}"#);
    let spanish = "media jugada 5: 'Bb9' no es ahí una jugada legal";
    assert_eq!(why.text(Lang::Es).as_deref(), Some(spanish));
    let why = table.order("adopt", r#"{"board":3,"turn":"white","fen":"x"}"#);
    assert!(why.is_err_and(|why| why.contains("FEN")));
    assert_eq!(table.heard(), told);
    table.play(Square::F1, Square::B5);
    assert_eq!(table.heard().last().expect("five"), "Bb5");

    let mut empty = Table::lay();
    empty.men = Placement::EMPTY;
    empty.dump();
    assert!(empty.order("reinstate", r#"{"board":3,"ply":1}"#).is_err());
}

/// All that the world is told of the board, and what it may be asked.
fn standing(table: &Table) -> Vec<Output> {
    table.monitor.standing()
}

#[test]
fn a_position_nobody_can_play_on_from_is_refused_and_changes_nothing() {
    let mut table = opening();
    let before = standing(&table);
    for (fen, turn, en, es) in [
        (
            "4k3/8/8/3K4/8/8/8/4K3",
            "white",
            "a side has more than one king (e1, d5)",
            "un bando tiene más de un rey (e1, d5)",
        ),
        (
            "8/8/8/8/8/8/8/4K3",
            "white",
            "a king is missing",
            "falta un rey",
        ),
        (
            "P3k3/8/8/8/8/8/8/4K3",
            "black",
            "its last rank and was not replaced (a8)",
            "en la última fila sin haber sido sustituido (a8)",
        ),
        (
            "4k2p/8/8/8/8/8/8/4K2P",
            "black",
            "its own back rank (h1); a pawn stands on its own back rank (h8)",
            "su propia primera fila (h1); un peón",
        ),
        (
            "4k3/8/8/8/8/8/8/8",
            "black",
            "a king is missing",
            "falta un rey",
        ),
        ("8/8/8/8/8/8/8/8", "white", "no man stands", "ninguna pieza"),
        (
            "4k3/pppppppp/p7/8/8/8/8/4K3",
            "white",
            "more than eight pawns",
            "más de ocho peones",
        ),
        (
            "4k3/8/8/8/QQQQQQQQ/QQQQQQQQ/8/4K3",
            "white",
            "more than sixteen men",
            "más de dieciséis piezas",
        ),
        (
            "4k3/8/8/8/4R3/8/8/4K3",
            "white",
            "the side that just moved stands in check (e4)",
            "el bando que acaba de jugar está en jaque (e4)",
        ),
    ] {
        let payload = format!(r#"{{"board":3,"turn":"{turn}","fen":"{fen} w - - 0 1"}}"#);
        let why = table.refused("adopt", &payload);
        assert_eq!(why.word(), "impossible-position", "{fen}");
        let said = |lang| why.text(lang).expect("an arbiter reads it");
        assert!(said(Lang::En).contains(en), "{}", said(Lang::En));
        assert!(said(Lang::Es).contains(es), "{}", said(Lang::Es));
        assert_eq!(why.to_string(), said(Lang::En));
        assert_eq!(standing(&table), before, "{fen}");
    }

    // The men as they stand: two white kings, while the queen's square is empty.
    let king = table.men.piece(Square::E1);
    table.put(Square::D1, king);
    let before = standing(&table);
    let why = table.refused("adopt", r#"{"board":3,"turn":"white"}"#);
    assert_eq!(why.word(), "impossible-position");
    assert_eq!(standing(&table), before);
    table.put(Square::D1, Some(Role::Queen.of(Color::White)));
    table.play(Square::F1, Square::B5);
    assert_eq!(table.heard().last().expect("five"), "Bb5");
}

#[test]
fn a_game_is_not_put_back_to_a_pawn_on_the_last_rank() {
    let mut table = opening();
    table.stop();
    let fen = "4k3/P7/8/8/8/8/8/4K3 w - - 0 40";
    table
        .order(
            "adopt",
            &format!(r#"{{"board":3,"turn":"white","fen":"{fen}"}}"#),
        )
        .expect("a position");
    table.men = Placement::from(&fen.parse::<Fen>().expect("FEN").as_setup().board);
    table.dump();
    table.start(Side::White);
    // The pawn stays a pawn, and Black plays on.
    table.play(Square::A7, Square::A8);
    assert_eq!(
        table.loud(),
        1,
        "told although the board was just read: {:?}",
        table.raised()
    );
    table.play(Square::E8, Square::E7);
    table.wait(10_000);
    assert_eq!(table.record().len(), 7, "{:?}", table.record());
    let before = standing(&table);
    for ply in [6, 7] {
        let why = table.refused("reinstate", &format!(r#"{{"board":3,"ply":{ply}}}"#));
        assert_eq!(why.word(), "impossible-position", "{why}");
        assert_eq!(standing(&table), before);
    }
    table
        .order("reinstate", r#"{"board":3,"ply":5}"#)
        .expect("before it");
    assert_eq!(table.record().last().expect("five"), "adopted");
}

#[test]
fn other_rules_in_mid_game_leave_its_name_to_its_plies() {
    let other = |chess960, round: &str| Settings {
        board: 3,
        clock: "white-left".to_owned(),
        chess960,
        round: round.to_owned(),
        ..Settings::default()
    };
    let name = |table: &Table| table.monitor.current_game().map(|game| game.0);

    let mut empty = Table::lay();
    assert_eq!(name(&empty).as_deref(), Some("1.3"));
    empty.monitor.configure(other(true, "1"), At(empty.now));
    empty.take();
    empty.wait(2_000);
    assert_eq!(name(&empty).as_deref(), Some("1.3"), "it had no plies");

    let mut table = opening();
    table.monitor.configure(other(true, "1"), At(table.now));
    let cut = table.monitor.take_cut().expect("nothing of before matters");
    assert_eq!(cut.games, 2);
    assert_eq!(
        Monitor::resume(&cut, At(table.now)).current_game(),
        table.monitor.current_game()
    );
    table.running = false;
    table.to_move = Side::White;
    table.clock();
    table.men = Placement::from(&Board::new());
    table.dump();
    table.wait(2_000);
    table.start(Side::White);
    table.play(Square::E2, Square::E4);
    let plies = table.told.iter().filter_map(|output| match output {
        Output::Ply(ply) => Some((ply.game.0.as_str(), ply.ply)),
        _ => None,
    });
    let plies: Vec<_> = plies.collect();
    assert_eq!(plies[3..], [("1.3", 4), ("1.3b", 1)]);

    // Another round names its games anew.
    table.monitor.configure(other(true, "2"), At(table.now));
    table.take();
    table.wait(2_000);
    assert_ne!(name(&table).as_deref(), Some("2.3b"));
}

#[test]
fn no_journal_is_cut_under_an_alert_that_other_rules_leave() {
    let mut table = opening();
    table.play(Square::F3, Square::F5);
    assert_eq!(table.loud(), 1);
    let settings = Settings {
        board: 3,
        clock: "white-left".to_owned(),
        chess960: true,
        ..Settings::default()
    };
    let _ = table.monitor.take_cut();
    table.monitor.configure(settings, At(table.now));
    assert_eq!(
        table.monitor.take_cut(),
        None,
        "a replay must know the alert"
    );
}

#[test]
fn two_forfeits_end_the_movetext_with_an_asterisk() {
    let mut table = opening();
    table
        .order("result", r#"{"board":3,"result":"0-0","how":"forfeit"}"#)
        .expect("both lost");
    let pgn = standing(&table)
        .into_iter()
        .find_map(|output| match output {
            Output::Pgn { pgn, .. } => Some(pgn),
            _ => None,
        });
    let pgn = pgn.expect("a game has a text");
    assert!(pgn.contains("[Result \"0-0\"]"), "{pgn}");
    assert!(
        pgn.ends_with(" *\n\n"),
        "a reader takes 0-0 for castling: {pgn}"
    );
}

#[test]
fn a_game_that_was_over_goes_on() {
    let mut table = opening();
    table.stop();
    table
        .order("result", r#"{"board":3,"result":"1/2-1/2"}"#)
        .expect("a result");
    assert_eq!(table.phase().0, Phase::Ended);
    table
        .order("reinstate", r#"{"board":3,"ply":4}"#)
        .expect("the last one");
    table.start(Side::White);
    assert_eq!(table.phase().0, Phase::Playing);
    table.play(Square::F1, Square::B5);
    assert_eq!(table.heard().len(), 5);
}

#[test]
fn the_same_illegal_move_made_once_more_is_told_once_more() {
    let mut table = opening();
    // The knight cannot.
    table.play(Square::F3, Square::F5);
    let raised = table.raised();
    assert_eq!(raised.len(), 1, "{raised:?}");
    let first = raised[0].0.clone();
    let on = |id: &str| format!(r#"{{"alert":"{id}"}}"#);
    table.order("confirm", &on(&first)).expect("it was so");
    table.stop();
    table
        .order("reinstate", r#"{"board":3,"ply":4}"#)
        .expect("7.5.1");
    table.slide(Square::F5, Square::F3);
    table.start(Side::White);
    table.play(Square::F3, Square::F5);
    let raised = table.raised();
    assert_eq!(raised.len(), 2, "{raised:?}");
    let second = raised[1].0.clone();
    assert!(second.starts_with(&first) && second != first, "{second}");
    assert_eq!(table.status(&first), Status::Confirmed);
    table.order("confirm", &on(&second)).expect("again");
    let offences = table.told.iter().rev().find_map(|output| match output {
        Output::State(state) => Some(state.offences),
        _ => None,
    });
    table.wait(1_000);
    assert_eq!(offences, Some((2, 0)), "{:?}", table.raised());
}

#[test]
fn a_position_is_set_that_the_board_does_not_show_yet() {
    let mut table = opening();
    let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 40";
    let payload = format!(r#"{{"board":3,"turn":"white","fen":"{fen}"}}"#);
    table.stop();
    table.order("adopt", &payload).expect("a position");
    assert_eq!(table.phase().0, Phase::Disturbed);
    table.men = Placement::from(&fen.parse::<Fen>().expect("FEN").as_setup().board);
    table.dump();
    table.start(Side::White);
    table.play(Square::E2, Square::E4);
    table.play(Square::E8, Square::E7);
    assert_eq!(
        table.record(),
        ["e4", "e5", "Nf3", "Nc6", "adopted", "e4", "Ke7"]
    );
    assert_eq!(table.loud(), 0, "{:?}", table.raised());
}
