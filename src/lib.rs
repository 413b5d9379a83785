//! Atalaya stands watch beside the broadcast boards of a chess event.
#![forbid(unsafe_code)]
pub mod board;
pub mod dgt;
pub mod game;
pub mod incident;
pub mod journal;
pub mod laws;
pub mod link;
pub mod monitor;
pub mod publish;
pub mod scenario;
pub mod simulate;
pub mod words;
