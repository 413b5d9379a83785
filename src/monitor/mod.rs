//! One board's pipeline as a state machine: input and time in, outputs out. Pure.
//!
//! After every [`Monitor::handle`] drain [`Monitor::poll_output`], then call `handle` with
//! [`Input::Tick`] at [`Monitor::wake_at`]. Early and extra ticks are harmless.

mod cut;
mod output;
mod pipeline;
mod settings;
mod talk;

pub use cut::Cut;
pub use output::{
    BoardState, ClockView, FinalPly, LinkReport, LinkState, Output, Phase, Retraction,
};
pub use pipeline::{Input, Monitor, NoSuchCandidate};
pub use settings::Settings;
