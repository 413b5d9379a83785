//! Keeps the walls of the house: cargo does not, within one crate.

use std::path::{Path, PathBuf};

/// The rooms in the order of the data, each with the rooms it may know; `*` is all of them. `words`
/// is known to all.
const ROOMS: &[(&str, &[&str])] = &[
    ("words", &[]),
    ("link", &[]),
    ("dgt", &[]),
    ("board", &["dgt"]),
    ("game", &["board"]),
    // An alert carries the remedy and the level, so these two speak each other's words.
    ("laws", &["board", "game", "incident"]),
    ("incident", &["board", "game", "laws"]),
    ("monitor", &["dgt", "board", "game", "laws", "incident"]),
    (
        "journal",
        &[
            "dgt", "board", "game", "laws", "incident", "monitor", "link",
        ],
    ),
    ("publish", &["board", "game", "laws", "incident", "monitor"]),
    (
        "relay",
        &["board", "game", "laws", "incident", "monitor", "publish"],
    ),
    (
        "web",
        &["board", "game", "laws", "incident", "monitor", "publish"],
    ),
    // Not board, game or laws: it would share their mistakes.
    ("simulate", &["dgt"]),
    (
        "scenario",
        &["dgt", "board", "game", "laws", "incident", "monitor"],
    ),
    ("hall", &["*"]),
    ("cli", &["*"]),
];

/// Bytes and times in, facts out.
const PURE: &[&str] = &[
    "dgt",
    "board",
    "game",
    "laws",
    "incident",
    "monitor",
    "relay/book",
    "relay/cloud",
    "relay/eboard",
    "relay/files",
    "relay/line",
    "relay/pgn",
    "relay/profile",
    "relay/push",
    "relay/round",
    "relay/world",
];

/// What a pure room must not name.
const IMPURE: &[&str] = &[
    "tokio",
    "std::fs",
    "std::io",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "std::time",
    "tracing",
    "fastrand",
    "jiff",
];

/// A file with its lines that are code, numbered.
struct Source {
    path: PathBuf,
    lines: Vec<(usize, String)>,
}

fn sources(room: &str) -> Vec<Source> {
    let mut files = Vec::new();
    collect(&Path::new("src").join(room), &mut files);
    let single = Path::new("src").join(format!("{room}.rs"));
    if single.exists() {
        files.push(single);
    }
    files.into_iter().map(read).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

fn read(path: PathBuf) -> Source {
    let text = std::fs::read_to_string(&path).expect("it reads");
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    let lines = (1..).zip(text.lines().map(code)).collect();
    Source { path, lines }
}

/// The first names behind each `head` (`crate::`), also where they stand in braces over many lines.
fn names_behind(source: &Source, head: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    // How many braces are open within the list, and 0 outside one.
    let mut depth = 0_usize;
    let mut word = String::new();
    let mut fresh = true;
    for (number, line) in &source.lines {
        let mut rest = line.as_str();
        while !rest.is_empty() {
            if depth == 0 {
                let Some(at) = rest.find(head) else { break };
                rest = &rest[at + head.len()..];
                if let Some(list) = rest.strip_prefix('{') {
                    rest = list;
                    (depth, fresh) = (1, true);
                } else {
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                    found.push((*number, rest[..end.unwrap_or(rest.len())].to_owned()));
                }
                continue;
            }
            let c = rest.chars().next().expect("it is not empty");
            rest = &rest[c.len_utf8()..];
            match c {
                _ if depth == 1 && fresh && (c.is_alphanumeric() || c == '_') => word.push(c),
                _ => {
                    if !word.is_empty() {
                        found.push((*number, std::mem::take(&mut word)));
                        fresh = false;
                    }
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 1 => fresh = true,
                        _ => {}
                    }
                }
            }
        }
        if !word.is_empty() {
            found.push((*number, std::mem::take(&mut word)));
            fresh = false;
        }
    }
    found
}

#[test]
fn lists_of_names_are_read() {
    let text =
        "use crate::{\n    a::{b, c},\n    d,\n};\nuse crate::e::f; // crate::g\nx(crate::h::i)";
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    let source = Source {
        path: PathBuf::new(),
        lines: (1..).zip(text.lines().map(code)).collect(),
    };
    let names: Vec<String> = names_behind(&source, "crate::")
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["a", "d", "e", "h"]);
}

#[test]
fn each_room_knows_only_the_rooms_before_it() {
    for (room, may) in ROOMS {
        for source in sources(room) {
            for (line, name) in names_behind(&source, "crate::") {
                let is_room = ROOMS.iter().any(|(room, _)| *room == name);
                let known = name == "words" || name == *room || may.contains(&"*");
                let known = known || may.contains(&name.as_str());
                let path = source.path.display();
                assert!(
                    !is_room || known,
                    "{path}:{line}: {room} must not know {name}"
                );
            }
        }
    }
}

#[test]
fn pure_rooms_stay_pure() {
    for room in PURE {
        for source in sources(room) {
            for (line, code) in &source.lines {
                for word in IMPURE {
                    let path = source.path.display();
                    assert!(!code.contains(word), "{path}:{line}: {word} in a pure room");
                }
            }
            let path = source.path.display();
            for (line, name) in names_behind(&source, "std::") {
                let whole = format!("std::{name}");
                let pure = !IMPURE.contains(&whole.as_str());
                assert!(pure, "{path}:{line}: {whole} in a pure room");
            }
        }
    }
}

#[test]
fn every_room_stands_on_the_map() {
    let lib = std::fs::read_to_string("src/lib.rs").expect("src/lib.rs");
    for entry in std::fs::read_dir("src").expect("src") {
        let path = entry.expect("an entry").path();
        let room = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if room == "lib" || room == "main" {
            continue;
        }
        let listed = ROOMS.iter().any(|(known, _)| *known == room);
        assert!(listed, "{room} is no room of tests/house.rs");
        let on_map = |line: &str| {
            let link = format!("[`{room}`]");
            line.starts_with("//!") && line.contains(&link)
        };
        assert!(lib.lines().any(on_map), "src/lib.rs has no line on {room}");
    }
}

#[test]
fn the_top_level_stays_small() {
    let may = [
        "benches", "config", "src", "systemd", "target", "tests", "vendor",
    ];
    for entry in std::fs::read_dir(".").expect("the top") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        // What runs leave behind is not ours to judge; git ignores it.
        let left = name.starts_with('.') || name == "state";
        let known = left || may.contains(&name.as_str());
        let folder = entry.file_type().expect("a type").is_dir();
        assert!(!folder || known, "{name} stands at the top level");
    }
}
