//! One board's pipeline as a state machine: input and time in, outputs out. Pure.

mod output;

pub use output::{
    BoardState, ClockView, FinalPly, LinkReport, LinkState, Output, Phase, Retraction,
};
