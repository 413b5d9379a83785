//! `atalaya doctor`: looks for what usually goes wrong at a venue, and says what to do.

mod files;
mod finding;
mod holder;
mod machine;
mod network;
mod ports;

use std::{fmt::Write as _, path::PathBuf};

use serde::Serialize;

use self::finding::{Finding, Sort, Verdict};
use super::{Failure, print, sources};
use crate::{
    hall::{Clock, Settings},
    laws::Lang,
};

/// Looks for what usually goes wrong: configuration, ports and boards, broker, addresses, relays,
/// certificates, disk, clock. Changes nothing, and asks nothing that disturbs a game
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: atalaya doctor --config config/atalaya.toml --lang es")]
pub struct Args {
    /// Configuration file, above /etc/atalaya/atalaya.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Language: en or es [default: that of the configuration]
    #[arg(long)]
    pub lang: Option<Lang>,
    /// One JSON object per finding
    #[arg(long)]
    pub json: bool,
}

/// What was found, each with what it is about.
#[derive(Default)]
struct Report(Vec<(String, Finding)>);

impl Report {
    fn add(&mut self, about: impl Into<String>, finding: Finding) {
        self.0.push((about.into(), finding));
    }

    fn count(&self, verdict: Verdict) -> usize {
        let so = self.0.iter().filter(|(_, one)| one.verdict() == verdict);
        so.count()
    }

    fn has(&self, sort: Sort) -> bool {
        let mut all = self.0.iter();
        all.any(|(_, one)| one.verdict() == Verdict::Fault && one.sort() == sort)
    }
}

/// One finding as JSON.
#[derive(Serialize)]
struct Line<'a> {
    verdict: Verdict,
    about: &'a str,
    #[serde(flatten)]
    finding: &'a Finding,
    what: String,
    cure: String,
}

/// Examines everything it can reach.
///
/// # Errors
/// When there is a fault; its exit code says whether it is one of the configuration (2), of a device or
/// the network (3), or of the machine (1).
pub async fn run(args: Args) -> Result<(), Failure> {
    let sources = sources(args.config);
    let mut report = Report::default();
    for name in sources.stray_variables() {
        let name = name.to_owned();
        report.add("environment", Finding::StrayVariable { name });
    }
    // A configuration with a fault hides nothing else: the rest is looked at by the defaults.
    let settings = match Settings::load(&sources) {
        Ok(settings) => Some(settings),
        Err(error) => {
            for fault in error.faults {
                let why = fault.to_string();
                report.add("configuration", Finding::ConfigurationFault { why });
            }
            None
        }
    };
    let known = settings.is_some();
    let settings = settings.unwrap_or_default();
    let clock = Clock::new();
    if known {
        files::examine(&settings, clock, &mut report);
    }
    ports::examine(&settings, &mut report).await;
    if known {
        network::examine(&settings, clock, &mut report).await;
    }
    machine::examine(&settings, clock, &mut report);
    let lang = args.lang.unwrap_or(settings.event.language);
    print(if args.json {
        json(&report, lang)
    } else {
        table(&report, lang)
    });
    verdict(&report, lang)
}

fn json(report: &Report, lang: Lang) -> String {
    let lines = report.0.iter().filter_map(|(about, finding)| {
        let (what, cure) = finding.words(lang);
        let line = Line {
            verdict: finding.verdict(),
            about,
            finding,
            what,
            cure,
        };
        // A line is plain words and numbers: it always becomes text.
        serde_json::to_string(&line).ok()
    });
    lines.map(|line| line + "\n").collect()
}

fn table(report: &Report, lang: Lang) -> String {
    let longest = report.0.iter().map(|(about, _)| about.chars().count());
    let width = longest.max().unwrap_or(0);
    let mut text = String::new();
    for (about, finding) in &report.0 {
        let word = finding.verdict().word(lang);
        let (what, cure) = finding.words(lang);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{word:<7}  {about:<width$}  {what}");
        if !cure.is_empty() {
            let _ = writeln!(text, "{:<7}  {:<width$}  -> {cure}", "", "");
        }
    }
    text
}

fn verdict(report: &Report, lang: Lang) -> Result<(), Failure> {
    let (faults, warnings) = (report.count(Verdict::Fault), report.count(Verdict::Warning));
    let sum = match lang {
        Lang::En => format!("faults {faults}, warnings {warnings}"),
        Lang::Es => format!("fallos {faults}, avisos {warnings}"),
    };
    if report.has(Sort::Configuration) {
        return Err(Failure::Usage(sum));
    }
    if report.has(Sort::Device) {
        return Err(Failure::Device(sum));
    }
    if report.has(Sort::Machine) {
        return Err(Failure::Check(sum));
    }
    Ok(())
}
