use atalaya::hall::settings::{Place, Settings, Sources};

use super::bytes::{file, most_lines};

/// A file and, behind a zero byte, variables, one `NAME=VALUE` a line: settings that nobody can misuse,
/// or every fault with its place.
pub fn configuration(data: &[u8]) {
    let (text, variables) = match data.iter().position(|byte| *byte == 0) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, [].as_slice()),
    };
    let file = file(text, ".toml");
    let variables = String::from_utf8_lossy(variables);
    let variable = |line: &str| {
        let (name, value) = line.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    let sources = Sources {
        system: None,
        file: Some(file.path().to_owned()),
        environment: variables.lines().filter_map(variable).collect(),
    };
    let first = Settings::load(&sources);
    match &first {
        Ok(settings) => {
            assert_eq!(settings.exposed(), None);
            assert!(settings.boards.iter().all(|board| board.number > 0));
        }
        Err(error) => {
            assert!(!error.faults.is_empty());
            for fault in &error.faults {
                assert!(!fault.what.is_empty(), "{fault:?}");
                match &fault.place {
                    Place::Line(path, line) => {
                        assert_eq!(path, file.path());
                        assert!((1..=most_lines(text)).contains(line), "{fault:?}");
                    }
                    Place::File(path) => assert_eq!(path, file.path()),
                    Place::Variable(name) => {
                        assert!(sources.environment.iter().any(|(one, _)| one == name));
                    }
                    Place::Together => {}
                }
            }
        }
    }
    assert_eq!(Settings::load(&sources), first);
}
