//! `atalaya boards`: which boards are there.

use std::{
    fmt::Write,
    io::{IsTerminal, stderr},
    time::Duration,
};

use serde::Serialize;
use tokio::task::JoinSet;

use super::{Failure, print};
use crate::{
    hall::{
        Ports,
        probe::{self, Answer, Orientation, ProbeError},
    },
    link::Address,
    words::clock_text,
};

/// Long enough for six answers at 9600 baud and a board that wakes up.
const PATIENCE: Duration = Duration::from_secs(3);

/// Probes the serial ports and lists the boards: port, serial number, firmware, clock, battery,
/// orientation. Asks nothing that disturbs a game, but a line with several boards on a bus must not be among
/// the ports: it would leave the bus
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya boards --port tcp://192.168.1.20:4001 --json")]
pub struct Args {
    /// A port to probe too: a device, a pty, or tcp://host:port; may be repeated
    #[arg(long = "port", value_name = "ADDRESS")]
    pub ports: Vec<Address>,
    /// One JSON object per port
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Line {
    port: String,
    #[serde(flatten)]
    answer: Answer,
    error: Option<String>,
}

/// Probes all ports at once.
///
/// # Errors
/// When no board answers, or a named port has none.
pub async fn run(args: Args) -> Result<(), Failure> {
    let there = Ports::default().list().into_iter();
    let mut ports: Vec<_> = there.map(|port| port.address).collect();
    for port in &args.ports {
        if !ports.contains(port) {
            ports.push(port.clone());
        }
    }
    if ports.is_empty() {
        let what = "no serial port found: plug in a board, or name one with --port";
        return Err(Failure::Device(what.to_owned()));
    }
    if stderr().is_terminal() {
        eprintln!("asking {} ports ...", ports.len());
    }
    let mut asked = JoinSet::new();
    for (place, port) in ports.into_iter().enumerate() {
        asked.spawn(async move { (place, port.clone(), probe::probe(port, PATIENCE).await) });
    }
    let mut answers = asked.join_all().await;
    answers.sort_by_key(|(place, ..)| *place);
    let boards = answers.iter().filter(|(_, _, answer)| answer.is_ok());
    let count = boards.count();
    let lost = |(_, port, answer): &(usize, Address, Result<_, _>)| {
        answer.is_err() && args.ports.contains(port)
    };
    let named_lost = answers.iter().any(lost);
    let lines = answers
        .into_iter()
        .map(|(_, port, answer)| line(&port, answer));
    print(if args.json {
        json(lines)
    } else {
        table(&lines.collect::<Vec<_>>())
    });
    if count == 0 {
        return Err(Failure::Device("no board answers".to_owned()));
    }
    if named_lost {
        return Err(Failure::Device("a named port has no board".to_owned()));
    }
    Ok(())
}

fn line(port: &Address, answer: Result<Answer, ProbeError>) -> Line {
    let port = port.to_string();
    match answer {
        Ok(answer) => Line {
            port,
            answer,
            error: None,
        },
        Err(why) => Line {
            port,
            answer: Answer::default(),
            error: Some(why.to_string()),
        },
    }
}

fn json(lines: impl Iterator<Item = Line>) -> String {
    // A line is plain words and numbers: it always becomes text.
    let texts = lines.filter_map(|line| serde_json::to_string(&line).ok());
    texts.map(|text| text + "\n").collect()
}

fn table(lines: &[Line]) -> String {
    let head = ["port", "serial", "firmware", "clock", "battery", "lies"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(lines.iter().map(row));
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for (i, row) in rows.iter().enumerate() {
        let why = i.checked_sub(1).and_then(|i| lines[i].error.as_ref());
        let padded = match why {
            Some(why) => format!("{:<width$}  {why}", row[0], width = widths[0]),
            None => {
                let cells = row.iter().zip(widths);
                let cells = cells.map(|(cell, width)| format!("{cell:<width$}"));
                cells.collect::<Vec<_>>().join("  ")
            }
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", padded.trim_end());
    }
    text
}

fn row(line: &Line) -> [String; 6] {
    let Answer {
        serial,
        firmware,
        clock,
        battery_percent,
        orientation,
        ..
    } = &line.answer;
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let clock = match clock {
        Some(clock) if clock.connected => {
            let low = if clock.battery_low {
                ", battery low"
            } else {
                ""
            };
            format!(
                "{} {}{low}",
                clock_text(clock.left_s),
                clock_text(clock.right_s)
            )
        }
        Some(_) => "none".to_owned(),
        None => "-".to_owned(),
    };
    let lies = match orientation {
        Some(Orientation::Upright) => "upright",
        Some(Orientation::Turned) => "turned",
        None => "unknown",
    };
    [
        line.port.clone(),
        or_dash(serial),
        or_dash(firmware),
        clock,
        or_dash(&battery_percent.map(|percent| format!("{percent} %"))),
        lies.to_owned(),
    ]
}
