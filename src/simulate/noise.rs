//! How untidy hands and wires are.

use std::{fmt, str::FromStr};

/// A level of noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, clap::ValueEnum)]
pub enum Noise {
    /// Measured behaviour at modest rates; nothing is lost.
    #[default]
    Calm,
    /// The rates measured on real boards (reconstruction.md section 2).
    Hall,
    /// Ten times those, and lost bytes, reconnects, stuck squares, knocked men, hurried plies.
    Rough,
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Noise::Calm => "calm",
            Noise::Hall => "hall",
            Noise::Rough => "rough",
        })
    }
}

/// A name that is no noise level.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no noise level: calm, hall or rough")]
pub struct UnknownNoise(String);

impl FromStr for Noise {
    type Err = UnknownNoise;

    fn from_str(text: &str) -> Result<Noise, UnknownNoise> {
        match text {
            "calm" => Ok(Noise::Calm),
            "hall" => Ok(Noise::Hall),
            "rough" => Ok(Noise::Rough),
            _ => Err(UnknownNoise(text.to_owned())),
        }
    }
}

/// Chances per move (or per message, square change) of each habit and fault.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    /// A man stops on squares it passes over.
    pub slide: f64,
    /// A captured man is sensed on a neighbouring square while it is taken away.
    pub victim_track: f64,
    /// A move so quick that one scan pass may see the new square first.
    pub quick: f64,
    /// Own man lifted and put back in own time.
    pub adjust: f64,
    /// Another legal move made and taken back before the press.
    pub take_back: f64,
    /// A bystander is pushed off and put back.
    pub bump: f64,
    /// Several men fall over and are put up again.
    pub knock: f64,
    /// The whole ply in less than a second.
    pub hurry: f64,
    /// One byte of a message is lost.
    pub lost_byte: f64,
    /// The board restarts and is silent until asked again.
    pub reconnect: f64,
    /// A square keeps its old reading for some seconds.
    pub stuck: f64,
}

impl Noise {
    pub(super) const fn rates(self) -> Rates {
        let hall = Rates {
            slide: 0.045,
            victim_track: 0.14,
            quick: 0.025,
            adjust: 0.01,
            take_back: 0.003,
            bump: 0.0,
            knock: 0.0,
            hurry: 0.0,
            lost_byte: 0.0,
            reconnect: 0.0,
            stuck: 0.0,
        };
        match self {
            Noise::Hall => hall,
            Noise::Calm => Rates {
                slide: 0.02,
                victim_track: 0.05,
                quick: 0.01,
                adjust: 0.002,
                take_back: 0.0,
                ..hall
            },
            Noise::Rough => Rates {
                slide: 0.4,
                victim_track: 0.6,
                quick: 0.2,
                adjust: 0.1,
                take_back: 0.03,
                bump: 0.02,
                knock: 0.002,
                hurry: 0.05,
                lost_byte: 0.000_5,
                reconnect: 0.000_5,
                stuck: 0.001,
            },
        }
    }
}
