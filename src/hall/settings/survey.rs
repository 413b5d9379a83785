//! Goes through one configuration file and finds every fault, each with its line.
//!
//! serde stops at the first fault and the layers forget the lines, so the text is looked at by
//! itself before it becomes a layer.

use std::{borrow::Cow, collections::HashMap, path::Path};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    fault::{Fault, Place},
    keys::{Key, TABLES, Table},
};

/// The faults of a file, by line; none when it may become a layer.
pub(super) fn survey(path: &Path, text: &str) -> Vec<Fault> {
    let mut survey = Survey {
        path,
        text,
        faults: Vec::new(),
    };
    let (whole, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let start = error.span().map_or(0, |span| span.start);
        survey.fault(start, "", error.message().trim().replace('\n', "; "));
    }
    // What the parser could recover is looked at all the same, so that all faults show at once.
    survey.whole(whole.get_ref());
    let mut faults = survey.faults;
    faults.sort_by_key(|(line, _)| *line);
    // On a line that does not parse, whatever else seems wrong only follows from that.
    let broken: Vec<usize> = faults
        .iter()
        .filter(|(_, fault)| fault.key.is_empty())
        .map(|(line, _)| *line)
        .collect();
    faults.retain(|(line, fault)| fault.key.is_empty() || !broken.contains(line));
    faults.into_iter().map(|(_, fault)| fault).collect()
}

/// The name most like this one.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> &'a str {
    let like = |one: &&str| strsim::jaro_winkler(one, name);
    known
        .max_by(|a, b| like(a).total_cmp(&like(b)))
        .unwrap_or_default()
}

/// The table of this name, or what to say when there is none.
pub(super) fn table_named(name: &str) -> Result<&'static Table, String> {
    let found = TABLES.iter().find(|table| table.name == name);
    found.ok_or_else(|| {
        let nearest = nearest(name, TABLES.iter().map(|table| table.name));
        format!("there is no such table; did you mean `{nearest}`?")
    })
}

/// The key of this name in a table, or what to say when there is none.
pub(super) fn key_named(table: &Table, name: &str) -> Result<&'static Key, String> {
    let found = table.keys.iter().find(|key| key.name == name);
    found.ok_or_else(|| {
        let nearest = nearest(name, table.keys.iter().map(|key| key.name));
        format!(
            "there is no such key; did you mean `{}.{nearest}`?",
            table.name
        )
    })
}

struct Survey<'a> {
    path: &'a Path,
    text: &'a str,
    faults: Vec<(usize, Fault)>,
}

/// The values of one table, with the offsets where they stand.
type Values<'a> = HashMap<&'static str, (usize, Cow<'a, str>)>;

impl Survey<'_> {
    fn fault(&mut self, offset: usize, key: &str, what: String) {
        let line = self.line(offset);
        let fault = Fault {
            place: Place::Line(self.path.to_owned(), line),
            key: key.to_owned(),
            what,
        };
        self.faults.push((line, fault));
    }

    fn line(&self, offset: usize) -> usize {
        let before = self.text.bytes().take(offset);
        before.filter(|&byte| byte == b'\n').count() + 1
    }

    fn whole(&mut self, whole: &DeTable<'_>) {
        for (name, value) in whole {
            let start = name.span().start;
            let name = name.get_ref().as_ref();
            let table = match table_named(name) {
                Ok(table) => table,
                Err(what) => {
                    self.fault(start, name, what);
                    continue;
                }
            };
            match (table.many, value.get_ref()) {
                (false, DeValue::Table(values)) => {
                    self.values(table, values);
                }
                (true, DeValue::Array(entries)) => self.entries(table, entries),
                (false, _) => {
                    self.fault(start, name, format!("is a table: write [{name}]"));
                }
                (true, _) => {
                    self.fault(start, name, format!("is a list: write [[{name}]]"));
                }
            }
        }
    }

    fn values<'a>(&mut self, table: &Table, values: &'a DeTable<'_>) -> Values<'a> {
        let mut found = Values::new();
        for (name, value) in values {
            let start = name.span().start;
            let full = format!("{}.{}", table.name, name.get_ref());
            let key = match key_named(table, name.get_ref()) {
                Ok(key) => key,
                Err(what) => {
                    self.fault(start, &full, what);
                    continue;
                }
            };
            let Some(text) = text(value.get_ref()) else {
                self.fault(start, &full, "takes one value, not several".to_owned());
                continue;
            };
            if let Err(what) = (key.check)(&text) {
                self.fault(start, &full, what);
            }
            found.insert(key.name, (start, text));
        }
        found
    }

    /// The boards, the phones or the relays: each by itself, then against the ones before it.
    fn entries(&mut self, table: &Table, entries: &[Spanned<DeValue<'_>>]) {
        // Who has a number, port or serial number: the seat on a bus, and the line in the file.
        type Owner = (Option<String>, usize);
        let mut taken: HashMap<(&str, String), Vec<Owner>> = HashMap::new();
        for entry in entries {
            let start = entry.span().start;
            let DeValue::Table(values) = entry.get_ref() else {
                let what = format!("is a list of tables: write [[{}]]", table.name);
                self.fault(start, table.name, what);
                continue;
            };
            let found = self.values(table, values);
            match table.name {
                "board" => self.board(start, &found),
                "ntfy" => self.ntfy(start, &found),
                _ => self.relay(start, &found),
            }
            for name in ["number", "port", "serial"] {
                let Some((at, text)) = found.get(name) else {
                    continue;
                };
                let line = self.line(*at);
                // Boards on a bus share the port among themselves, and with no other.
                let seat = found.get("bus").filter(|_| name == "port");
                let seat = seat.map(|(_, number)| number.to_string());
                let owners = taken.entry((name, text.to_string())).or_default();
                let rival = owners
                    .iter()
                    .find(|(other, _)| seat.is_none() || other.is_none() || *other == seat);
                let first = rival.map(|(_, first)| *first);
                owners.push((seat, line));
                if let Some(first) = first {
                    let what = format!("`{text}` is taken by the board in line {first}");
                    self.fault(*at, &format!("board.{name}"), what);
                }
            }
        }
    }

    fn board(&mut self, start: usize, found: &Values<'_>) {
        if !found.contains_key("number") {
            self.fault(start, "board.number", "is missing".to_owned());
        }
        match (found.get("port"), found.get("serial")) {
            (None, None) if !found.contains_key("bus") => {
                let what =
                    "is missing: write port = \"/dev/serial/by-path/...\", or serial = \"...\"";
                self.fault(start, "board.port", what.to_owned());
            }
            (None, _) if found.contains_key("bus") => {
                let what = "needs the port of the line: write port = \"/dev/ttyS0\"";
                let at = found.get("bus").map_or(start, |(at, _)| *at);
                self.fault(at, "board.bus", what.to_owned());
            }
            (Some(_), Some((at, _))) => {
                let what = "stands beside port: keep one of the two";
                self.fault(*at, "board.serial", what.to_owned());
            }
            _ => {}
        }
    }

    fn ntfy(&mut self, start: usize, found: &Values<'_>) {
        for name in ["url", "user"] {
            if !found.contains_key(name) {
                self.fault(start, &format!("ntfy.{name}"), "is missing".to_owned());
            }
        }
    }

    fn relay(&mut self, start: usize, found: &Values<'_>) {
        let Some((_, kind)) = found.get("kind") else {
            let what = "is missing: write kind = \"folder\", \"ftp\", \"sftp\", \"http\", \"lichess\" or \"livechess\"";
            return self.fault(start, "relay.kind", what.to_owned());
        };
        let needed: &[&str] = match kind.as_ref() {
            "folder" => &["dir"],
            "lichess" => &["url", "token_file"],
            "ftp" => &["url", "password_file"],
            "sftp" => &["url", "host_key"],
            _ => &[],
        };
        for name in needed {
            if !found.contains_key(name) {
                let what = format!("is missing: kind = \"{kind}\" needs it");
                self.fault(start, &format!("relay.{name}"), what);
            }
        }
        if kind == "sftp" && !found.contains_key("key_file") && !found.contains_key("password_file")
        {
            let what = "is missing: kind = \"sftp\" needs it, or password_file";
            self.fault(start, "relay.key_file", what.to_owned());
        }
        let Some((at, url)) = found.get("url") else {
            return;
        };
        let fit: &[&str] = match kind.as_ref() {
            "ftp" => &["ftp"],
            "sftp" => &["sftp"],
            "lichess" => &["http", "https"],
            _ => return,
        };
        // An address that is none has been told.
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        if scheme.is_some_and(|scheme| !fit.contains(&scheme)) {
            let what = format!("`{url}` does not fit kind = \"{kind}\"");
            self.fault(*at, "relay.url", what);
        }
    }
}

/// A plain value as text, the way the layers turn it into text too.
fn text<'a>(value: &'a DeValue<'_>) -> Option<Cow<'a, str>> {
    Some(match value {
        DeValue::String(text) => Cow::Borrowed(text.as_ref()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Cow::Owned(number.to_string()),
            Err(_) => Cow::Owned(number.to_string()),
        },
        DeValue::Float(number) => Cow::Owned(number.to_string()),
        DeValue::Boolean(truth) => Cow::Owned(truth.to_string()),
        DeValue::Datetime(moment) => Cow::Owned(moment.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => return None,
    })
}
