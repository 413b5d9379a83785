//! Atalaya stands watch beside the broadcast boards of a chess event.
//!
//! The data go one way, from room to room; a room knows only rooms before it, and `tests/house.rs`
//! keeps it so.
//!
//! | room | does |
//! | --- | --- |
//! | [`words`] | names and moments that all rooms share |
//! | [`link`] | the wire to a board: the only room that touches devices |
//! | [`dgt`] | bytes to messages and back (pure) |
//! | [`board`] | messages to placement, orientation, clock facts, doubt (pure) |
//! | [`game`] | what was seen to the record of a game (pure) |
//! | [`laws`] | which rule broke, how sure, what to do (pure) |
//! | [`incident`] | alerts and their life (pure) |
//! | [`monitor`] | one board's pipeline of the five above, as one state machine (pure) |
//! | [`journal`] | the log of truth: append, and play again |
//! | [`publish`] | MQTT: the contract, the outbox, the client, the embedded broker |
//! | [`relay`] | the games go out: files, polled address, LiveChess, Lichess |
//! | [`web`] | the arbiters' page, a consumer of the contract |
//! | [`scenario`] | scenario files through the monitor |
//! | [`simulate`] | virtual boards that speak the protocol |
//! | [`hall`] | settings, pairings, clocks, ports, metrics: the wiring |
//! | [`cli`] | one file per subcommand |
//!
//! Pure: no clock, no files, no tasks; time is an argument.
#![forbid(unsafe_code)]
pub mod board;
pub mod cli;
pub mod dgt;
pub mod game;
pub mod hall;
pub mod incident;
pub mod journal;
pub mod laws;
pub mod link;
pub mod monitor;
pub mod publish;
pub mod relay;
pub mod scenario;
pub mod simulate;
pub mod web;
pub mod words;
