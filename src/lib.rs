//! Atalaya stands watch beside the broadcast boards of a chess event.
pub mod board;
pub mod dgt;
pub mod incident;
pub mod laws;
pub mod monitor;
pub mod publish;
pub mod words;
