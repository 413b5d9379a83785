//! What arbiters command, carried out (design.md 4.3).

use shakmaty::{Setup, Square, fen::Fen};

use super::{Monitor, clock_at, stand};
use crate::{
    board::{Edge, Placement},
    game::Ground,
    incident::{Alert, Answer, How, Order, Refusal, Verb},
    laws::{self, Code, Finding, Proof, Reason, Witness},
    monitor::Output,
    words::{GameId, Side},
};

impl Monitor {
    /// Carries one command out, once, and answers it.
    pub(super) fn order(&mut self, order: &Order) {
        let answer = match self.answers.given(order) {
            Some(given) => given.clone(),
            None => {
                let answer = Answer {
                    user: order.user.clone(),
                    transaction: order.transaction.clone(),
                    outcome: self.carry_out(order),
                };
                self.answers.keep(answer.clone());
                answer
            }
        };
        self.stale = true;
        self.out.push_back(Output::Answer(answer));
    }

    fn carry_out(&mut self, order: &Order) -> Result<(), Refusal> {
        let now = self.now;
        match &order.verb {
            Verb::Offence { side, code, .. } => {
                let alert = self.seen_by_arbiter(*side, code)?;
                let said = self.book.offence(alert, &order.user, now)?;
                self.tell_alerts(said);
            }
            Verb::Result {
                result, how, game, ..
            } => {
                let ruling = score(result)?.map(|score| (score, *how));
                self.rule(ruling, game.as_deref())?;
            }
            Verb::Adopt { turn, fen, .. } => {
                let setup = match fen {
                    Some(fen) => given(fen, *turn)?,
                    None if self.sensors.known() => {
                        let seen = self.sensors.placement();
                        adopted(seen, self.game.last_final(), *turn)
                    }
                    None => {
                        let why = "the board has not been read yet".to_owned();
                        return Err(Refusal::Value(why));
                    }
                };
                let ground = Ground::from_setup(setup.clone(), self.game.start().mode());
                refuse(laws::unplayable(&stand(&ground)))?;
                self.ruling = None;
                self.repairs += 1;
                self.game.goes_on_from(setup, fen.is_some(), now);
                self.game.wait_for_men();
                self.drain_game();
                self.tell_pgn();
            }
            Verb::Reinstate { ply, moves, .. } => {
                let back = self.game.reinstated(*ply, moves, now);
                let back = back.map_err(Refusal::Back)?;
                let mut proofs = laws::unplayable(&stand(back.ground()));
                // It was so in the game: an illegal move that stands may leave the king in check.
                proofs.retain(|proof| proof.reason != Reason::MoverLeftInCheck);
                refuse(proofs)?;
                self.game.put_back_to(back, now);
                self.ruling = None;
                self.repairs += 1;
                self.unproved = None;
                self.turn_began = clock_at(self.clock.facts());
                self.talk.ask_board(now);
                self.drain_game();
                self.tell_pgn();
            }
            Verb::Choose { candidate, .. } => {
                self.repairs += 1;
                let chosen = self.choose(*candidate, now);
                chosen.map_err(|why| Refusal::Value(why.to_string()))?;
            }
            Verb::Flip { .. } => {
                let before = *self.sensors.placement();
                let changed = self.sensors.turn();
                self.clock.board_lies(self.sensors.turned());
                let placement = *self.sensors.placement();
                let edge = |square| Edge {
                    at: now,
                    square,
                    from: before.get(square),
                    to: placement.get(square),
                };
                let edges: Vec<Edge> = changed.into_iter().map(edge).collect();
                self.game.patched(&edges, &placement, now);
                self.talk.ask_board(now);
                self.drain_game();
            }
            Verb::SwapClock { .. } => self.clock.swap(),
            Verb::Resync { .. } => self.talk.ask_board(now),
            _ => {
                let said = self.book.order(order, now)?;
                self.tell_alerts(said);
            }
        }
        Ok(())
    }

    /// The result of the game on the board, or of an earlier one.
    fn rule(
        &mut self,
        ruling: Option<(&'static str, How)>,
        game: Option<&str>,
    ) -> Result<(), Refusal> {
        let now = self.now;
        match game {
            Some(game) if game != self.game_id().0 => {
                let board = GameId(game.to_owned()).board();
                if board != Some(self.settings.board) {
                    let why = format!("'{game}' is no game of board {}", self.settings.board);
                    return Err(Refusal::Value(why));
                }
                self.out.push_back(Output::Result {
                    game: GameId(game.to_owned()),
                    result: ruling.map(|(score, how)| (score, how.word())),
                });
            }
            _ => {
                self.ruling = ruling;
                self.repairs += 1;
                match ruling {
                    Some((score, _)) => self.game.ruled_over(score, now),
                    None => self.game.ruled_on(now),
                }
                self.drain_game();
                self.tell_pgn();
            }
        }
        Ok(())
    }

    /// An alert for what an arbiter saw and no sensor can.
    fn seen_by_arbiter(&self, side: Side, code: &str) -> Result<Alert, Refusal> {
        let code: Code = code
            .parse()
            .map_err(|why: laws::UnknownCode| Refusal::Value(why.to_string()))?;
        if !self.book.rules().terms.counts(code) && code.witness() != Witness::People {
            return Err(Refusal::Value(format!("{code} does not count (7.5.5)")));
        }
        let before = stand(self.game.last_final());
        let placement = self.sensors.placement().to_string();
        let ply = self.game.record().len() as u16 + 1;
        let finding = Finding::certain(code, side, Vec::new());
        // Each is an act of its own, also on the same men: the number of those before tells them apart.
        let counted = side.fold_wb(self.book.offences().0, self.book.offences().1);
        let told_apart = format!("{placement} {counted}");
        Ok(self.alert(finding, ply, &before, &placement, &told_apart))
    }
}

/// Refuses a position nobody can play on from.
fn refuse(proofs: Vec<Proof>) -> Result<(), Refusal> {
    if proofs.is_empty() {
        Ok(())
    } else {
        Err(Refusal::Impossible(proofs))
    }
}

/// The position an arbiter says.
fn given(fen: &str, turn: Side) -> Result<Setup, Refusal> {
    let fen: Fen = fen
        .parse()
        .map_err(|why| Refusal::Value(format!("'{fen}' is no FEN: {why}")))?;
    Ok(Setup {
        turn,
        ..fen.into_setup()
    })
}

/// A result as an arbiter gives it; `*` is none.
fn score(text: &str) -> Result<Option<&'static str>, Refusal> {
    const SCORES: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "0-0"];
    if text == "*" {
        return Ok(None);
    }
    let known = SCORES.into_iter().find(|score| *score == text);
    let why = || format!("'{text}' is no result: {} or *", SCORES.join(", "));
    known.map(Some).ok_or_else(|| Refusal::Value(why()))
}

/// The men as they stand, with the castling rights whose king and rook have not left home since the
/// last position that was sure.
fn adopted(seen: &Placement, last: &Ground, turn: Side) -> Setup {
    let mut setup = last.setup().clone();
    let before = setup.board.clone();
    setup.board = seen.to_board();
    setup.turn = turn;
    setup.ep_square = None;
    setup.halfmoves = 0;
    if turn.is_white() && last.turn().is_black() {
        setup.fullmoves = setup.fullmoves.saturating_add(1);
    }
    let stays = |square: Square| setup.board.piece_at(square) == before.piece_at(square);
    for square in setup.castling_rights {
        let side = before.color_at(square);
        let king = side.and_then(|side| before.king_of(side));
        if !stays(square) || !king.is_some_and(stays) {
            setup.castling_rights.discard(square);
        }
    }
    setup
}
