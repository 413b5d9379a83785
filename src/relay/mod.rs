//! The games go out: to folders here and far away, readers over HTTP, LiveChess clients and Lichess.
//!
//! One ordered record per board feeds every output; each output has its own [`Profile`] that says
//! what it may show at a moment. Everything up to the text of the files is pure.

pub mod book;
pub mod cloud;
pub mod eboard;
pub mod far;
pub mod feed;
pub mod files;
pub mod folder;
mod ftp;
pub mod http;
pub mod lichess;
pub mod line;
pub mod livechess;
pub mod pgn;
pub mod profile;
pub mod push;
pub mod round;
pub mod sftp;
pub mod standing;
mod store;
pub mod world;

pub use book::{Moment, Sheet};
pub use feed::{Feed, Keeper, News, Reader, Sight, Time, feed};
pub use profile::{Boards, BoardsError, Profile};
pub use round::{Event, Player, Seat, Seats};
pub use standing::Standing;
pub use world::World;
