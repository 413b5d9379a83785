//! The room against the PGN it plays: plies, placements, clocks, and the same bytes each time.

use std::sync::Arc;

use shakmaty::{Chess, Position, san::San};

use super::{Noise, PlannedGame, Session, Truth, TruthEvent, parse_games};
use crate::dgt::{ClockMessage, Frames, Hand, Message, square_of};

const GAMES: &str = r#"[Result "1-0"]
[TimeControl "180+2"]

1. e4 {[%clk 0:03:01]} d5 {[%clk 0:03:00]} 2. exd5 {[%clk 0:02:59]} Qxd5 {[%clk 0:02:58]}
3. Nf3 {[%clk 0:02:50]} Bg4 {[%clk 0:02:52]} 4. Be2 Nc6 5. O-O O-O-O 1-0

[Result "*"]
[TimeControl "40/5400+30:1800+30"]
[FEN "4k3/P6p/8/8/5pP1/8/8/4K3 b - g3 0 1"]

1... fxg3 2. a8=Q+ Kd7 3. Qb7+ Ke6 *

[Result "1/2-1/2"]
[Variant "Chess960"]
[FEN "1rk4r/pppppppp/8/8/8/8/PPPPPPPP/1RK4R w KQkq - 0 1"]

1. O-O-O O-O 2. e4 e5 3. d4 exd4 4. Rxd4 1/2-1/2
"#;

fn games() -> Vec<Arc<PlannedGame>> {
    parse_games(GAMES.as_bytes(), "test.pgn")
        .expect("the games are good")
        .into_iter()
        .map(Arc::new)
        .collect()
}

/// Plays all; each piece of bytes comes with its moment.
fn play(mut session: Session) -> (Vec<(u64, Vec<u8>)>, Vec<Truth>) {
    let (mut pieces, mut truth) = (Vec::new(), Vec::new());
    session.command(&[0x4b], 0);
    while let Some(at) = session.next_wake() {
        let mut out = Vec::new();
        session.advance_to(at, &mut out);
        if !out.is_empty() {
            pieces.push((at, out));
        }
        truth.extend(session.truth());
    }
    assert!(session.finished(), "stopped early");
    (pieces, truth)
}

/// The plies told are the plies of the file, and when the flip is seen the board holds the position
/// and shows the clock of the truth.
fn check(games: &[Arc<PlannedGame>], noise: Noise, mishaps: f64, turned: bool) {
    let session = Session::new(3, games.to_vec(), 7, noise, mishaps, turned);
    let (pieces, truth) = play(session);
    let mut pieces = pieces.into_iter().peekable();
    let mut frames = Frames::new();
    let (mut board, mut clock) = ([0_u8; 64], None);
    let (mut number, mut ply, mut pos) = (0, 0, Chess::default());
    for line in truth {
        match line.event {
            TruthEvent::Start { .. } => {
                (number, ply) = (line.game - 1, 0);
                pos = games[number].start.clone();
            }
            TruthEvent::Ply {
                ply: told,
                san,
                clock_s,
                ..
            } => {
                ply += 1;
                let planned = &games[number].plies[ply - 1];
                assert_eq!((told, &san), (ply, &planned.san));
                let mover = pos.turn();
                pos.play_unchecked(planned.mv);
                // All before the press, then up to the flip: within 300 ms and a dozen bytes.
                let (before, until) = (line.at_ms, line.at_ms + 330);
                let mut now = 0;
                loop {
                    if let Some(message) = frames.next_message() {
                        match message {
                            Message::Field { square, code } => board[usize::from(square)] = code,
                            Message::Clock(ClockMessage::Times(times)) => clock = Some(times),
                            _ => {}
                        }
                        let left = clock.map(|times| times.lever == Hand::Left);
                        let flipped = left == Some(mover.is_black() != turned);
                        if now > before && flipped && clock_s.is_some() {
                            break;
                        }
                    } else if let Some((at, bytes)) = pieces.next_if(|(at, _)| *at <= until) {
                        now = at;
                        frames.push(&bytes);
                    } else {
                        break;
                    }
                }
                for (physical, code) in (0_u8..).zip(board) {
                    let man = pos.board().piece_at(square_of(physical, turned));
                    let letter = " PRNBKQprnbkq".chars().nth(usize::from(code));
                    assert_eq!(
                        man.map_or(' ', shakmaty::Piece::char),
                        letter.expect("a code"),
                        "square {physical} after {san} of game {number}"
                    );
                }
                let Some(seconds) = clock_s else { continue };
                if let Some(planned) = planned.clock_s {
                    assert_eq!(seconds, planned);
                }
                let times = clock.expect("a clock message");
                let white_left = !turned;
                let hand = if mover.is_white() == white_left {
                    Hand::Left
                } else {
                    Hand::Right
                };
                let shown = match hand {
                    Hand::Left => times.left.seconds,
                    Hand::Right => times.right.seconds,
                };
                assert_eq!(
                    (shown, times.lever),
                    (seconds.min(35_999), hand.other()),
                    "{san}"
                );
            }
            TruthEvent::End { result } => {
                assert_eq!(ply, games[number].plies.len());
                assert_eq!(result, games[number].result);
            }
            TruthEvent::Mishap { .. } | TruthEvent::Press { .. } => {}
        }
    }
    assert_eq!(number + 1, games.len());
}

#[test]
fn games_are_played_as_written() {
    for turned in [false, true] {
        for noise in [Noise::Calm, Noise::Hall] {
            check(&games(), noise, 0.0, turned);
            check(&games(), noise, 0.5, turned);
        }
    }
}

#[test]
fn same_seed_same_bytes() {
    let session = || Session::new(1, games(), 11, Noise::Rough, 0.3, false);
    assert_eq!(play(session()), play(session()));
}

#[test]
fn truth_lines_read_back() {
    let (_, truth) = play(Session::new(1, games(), 5, Noise::Calm, 0.5, false));
    assert!(
        truth
            .iter()
            .any(|line| matches!(line.event, TruthEvent::Mishap { .. }))
    );
    for line in truth {
        let text = serde_json::to_string(&line).expect("it is plain");
        assert_eq!(
            serde_json::from_str::<Truth>(&text).expect("it reads"),
            line
        );
    }
}

#[test]
fn a_bad_game_is_named() {
    let error = parse_games("1. e4 e5 *\n\n1. e4 Ke4 *\n".as_bytes(), "x.pgn");
    let text = error.expect_err("Ke4 is illegal").to_string();
    assert!(text.starts_with("x.pgn: game 2, ply 2: Ke4"), "{text}");
    assert!("Ke4".parse::<San>().is_ok());
}

#[test]
fn forbidden_commands_are_counted_and_their_data_skipped() {
    let mut session = Session::new(1, games(), 1, Noise::Calm, 0.0, false);
    session.command(
        &[0x2b, 3, 0x42, 0x42, 0, 0x4a, 0x4e, 0x42, 0x4d, 0x42, 0x45],
        0,
    );
    assert_eq!(session.board().forbidden(), 3);
    let mut out = Vec::new();
    session.advance_to(69, &mut out);
    assert_eq!(out.len(), 66, "9600 baud");
    session.advance_to(500, &mut out);
    assert_eq!(out.len(), 67 + 5 + 67 + 8);
}

/// The corpus, when it is at hand: `ATALAYA_GAMES=file cargo test --release corpus -- --ignored`.
#[test]
#[ignore = "needs a file of games"]
fn corpus() {
    let path = std::env::var("ATALAYA_GAMES").expect("ATALAYA_GAMES names a PGN file");
    let games = super::read_games(path.as_ref()).expect("games");
    let games: Vec<_> = games.into_iter().map(Arc::new).collect();
    check(&games, Noise::Hall, 0.01, false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_answers_through_its_link() {
    use std::io::{Read, Write};
    let dir = tempfile::tempdir().expect("a folder");
    let port = super::PtyBoard::open(dir.path(), 1).expect("a pty");
    drop(port);
    let options = super::Options {
        bus: false,
        boards: 2,
        games: "unused".into(),
        links: dir.path().to_owned(),
        speed: 10.0,
        seed: 1,
        noise: Vec::new(),
        mishaps: 0.0,
        truth: Some(dir.path().join("truth.jsonl")),
    };
    let stop = tokio_util::sync::CancellationToken::new();
    let planned = parse_games(GAMES.as_bytes(), "test.pgn").expect("games");
    let (link, ended) = (dir.path().join("board-2"), stop.clone());
    let reader = tokio::task::spawn_blocking(move || {
        while !link.exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let mut port = std::fs::File::options().read(true).write(true).open(link)?;
        port.write_all(&[0x42])?;
        let mut dump = [0; 67];
        port.read_exact(&mut dump)?;
        ended.cancel();
        Ok::<_, std::io::Error>(dump)
    });
    let summary = super::run_boards(&options, planned, stop)
        .await
        .expect("runs");
    let dump = reader.await.expect("ends").expect("reads");
    assert_eq!(dump[..3], [0x86, 0, 67]);
    assert_eq!((summary.games, summary.forbidden_commands), (2, 0));
    assert!(!dir.path().join("board-1").exists());
}
