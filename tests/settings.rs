//! The configuration from outside: the example, the layers, and what is said of faults.

use std::path::{Path, PathBuf};

use atalaya::{
    board::ClockSide,
    hall::{
        Settings, Sources,
        settings::{BrokerAddress, RelayKind, TABLES},
    },
    laws::{Edition, Regime, Rulings},
    link::Address,
};

const EXAMPLE: &str = "config/atalaya.toml";

/// One file in a folder of its own.
struct OneFile {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

fn file(text: &str) -> OneFile {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("a.toml");
    std::fs::write(&path, text).expect("it is written");
    OneFile { _dir: dir, path }
}

fn sources(path: &Path, environment: &[(&str, &str)]) -> Sources {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Sources {
        system: None,
        file: Some(path.to_owned()),
        environment: environment.iter().map(own).collect(),
    }
}

fn load(text: &str) -> Settings {
    let file = file(text);
    Settings::load(&sources(&file.path, &[])).expect("it loads")
}

/// The faults of a text, each without the folder of its file.
fn faults(text: &str) -> Vec<String> {
    let file = file(text);
    let error = Settings::load(&sources(&file.path, &[])).expect_err("it has faults");
    let folder = format!("{}/", file.path.parent().expect("a folder").display());
    let lines = error.to_string();
    lines.lines().map(|l| l.replace(&folder, "")).collect()
}

/// The example with its commented entries made real.
fn everything() -> String {
    let text = std::fs::read_to_string(EXAMPLE).expect("the example");
    let real = |line: &str| match line.strip_prefix('#') {
        Some(entry) if entry.starts_with(|c: char| c == '[' || c.is_ascii_lowercase()) => {
            entry.to_owned()
        }
        _ => line.to_owned(),
    };
    text.lines().map(|line| real(line) + "\n").collect()
}

#[test]
fn the_example_says_what_the_defaults_are() {
    let example = Settings::load(&sources(Path::new(EXAMPLE), &[])).expect("it loads");
    assert_eq!(example, Settings::default());
    let none = Settings::load(&Sources::default()).expect("nothing is enough");
    assert_eq!(none, Settings::default());
}

#[test]
fn the_example_holds_every_key_and_no_other() {
    let text = everything();
    let settings = load(&text);
    assert_eq!(settings.boards.len(), 3);
    assert_eq!(settings.relays.len(), 6);
    assert_eq!(settings.ntfy.len(), 1);
    let whole: toml::Table = text.parse().expect("it is TOML");
    for table in TABLES {
        let entries = match &whole[table.name] {
            toml::Value::Array(entries) => entries.clone(),
            one => vec![one.clone()],
        };
        for key in table.keys {
            let stands = entries.iter().any(|entry| entry.get(key.name).is_some());
            assert!(stands, "{}.{} is not in {EXAMPLE}", table.name, key.name);
        }
    }
}

#[test]
fn values_become_types() {
    let settings = load(
        "[event]\nround = 5\nlaws = 2018\nregime = \"blitz-b3\"\ndate = 2026-11-30\n\
         time_control = \"40/5400+30:1800+30\"\n\
         [mqtt]\nbroker = \"mqtts://[::1]\"\n[web]\nlisten = \"none\"\n\
         [[board]]\nnumber = 7\nport = \"tcp://hall:4001\"\nclock = \"white-right\"\n\
         [[relay]]\nkind = \"livechess\"\n[timing]\nsettle_ms = 0x10\n",
    );
    assert_eq!(settings.event.round, "5");
    assert_eq!(settings.event.laws, Edition::E2018);
    assert_eq!(settings.event.regime, Regime::BlitzB3);
    assert_eq!(
        settings.event.date.map(|date| date.to_string()).as_deref(),
        Some("2026-11-30")
    );
    let control = settings.event.time_control.expect("a time control");
    assert_eq!(control.to_string(), "40/5400+30:1800+30");
    assert_eq!(control.increment_s(), 30);
    assert_eq!(
        settings.mqtt.broker,
        BrokerAddress::Remote {
            host: "::1".to_owned(),
            port: 8883,
            tls: true
        }
    );
    assert_eq!(settings.web.listen, None);
    assert_eq!(
        settings.boards[0].port,
        Some(Address::Tcp("hall:4001".to_owned()))
    );
    assert_eq!(settings.boards[0].clock, ClockSide::WhiteRight);
    assert_eq!(settings.relays[0].kind, RelayKind::Livechess);
    assert_eq!(settings.timing.settle_ms, 16);
}

#[test]
fn the_event_settles_what_the_laws_leave_open() {
    assert_eq!(load("").event.rulings(), Rulings::default());
    let settings = load(
        "[event]\nblitz_b2_penalty_s = 120\ninverted_rook = \"illegal\"\nrook_first = \"illegal\"\n",
    );
    let strict = Rulings {
        blitz_b2_penalty_s: 120,
        inverted_rook_illegal: true,
        rook_first_illegal: true,
    };
    assert_eq!(settings.event.rulings(), strict);
}

#[test]
fn an_unknown_name_names_the_nearest() {
    let text = "[event]\nregme = \"standard\"\n[webb]\nlisten = \"none\"\n";
    assert_eq!(
        faults(text),
        [
            "a.toml:2: event.regme: there is no such key; did you mean `event.regime`?",
            "a.toml:3: webb: there is no such table; did you mean `web`?",
        ]
    );
}

#[test]
fn every_bad_value_is_told_with_its_line_and_key() {
    for (line, key) in [
        ("[venue]\nid = \"Hall 1\"", "venue.id"),
        ("[event]\nname = \"\"", "event.name"),
        ("[event]\ndate = \"30/11/2026\"", "event.date"),
        ("[event]\nlanguage = \"fr\"", "event.language"),
        ("[event]\nregime = \"blitz\"", "event.regime"),
        (
            "[event]\nblitz_b2_penalty_s = \"a minute\"",
            "event.blitz_b2_penalty_s",
        ),
        ("[event]\ninverted_rook = \"queen\"", "event.inverted_rook"),
        ("[event]\nrook_first = \"allowed\"", "event.rook_first"),
        (
            "[event]\ntime_control = \"90 minutes\"",
            "event.time_control",
        ),
        ("[event]\nvariant = \"atomic\"", "event.variant"),
        ("[event]\nlaws = 2020", "event.laws"),
        ("[event]\nname = [\"a\"]", "event.name"),
        ("[mqtt]\nbroker = \"hall:1883\"", "mqtt.broker"),
        ("[mqtt]\nbroker = \"mqtt://hall:0\"", "mqtt.broker"),
        ("[mqtt]\nroot = \"a/#\"", "mqtt.root"),
        ("[broker]\nlisten = \"localhost\"", "broker.listen"),
        ("[broker]\nwebsocket = 9001", "broker.websocket"),
        ("[web]\nlisten = \"8080\"", "web.listen"),
        (
            "[phones]\nhome_assistant = \"a/#\"",
            "phones.home_assistant",
        ),
        ("[phones]\nlines = \"often\"", "phones.lines"),
        ("[timing]\nsettle_ms = -1", "timing.settle_ms"),
        ("[timing]\nsettle_ms = 1.5", "timing.settle_ms"),
    ] {
        let faults = faults(line);
        let start = format!("a.toml:2: {key}: ");
        assert_eq!(faults.len(), 1, "{line}: {faults:?}");
        assert!(faults[0].starts_with(&start), "{line}: {faults:?}");
    }
    let faults = faults("[venue\nid = 1\n");
    assert!(faults[0].starts_with("a.toml:1: "), "{faults:?}");
}

#[test]
fn a_phone_has_a_topic_and_a_name() {
    let faults = faults(
        "[[ntfy]]\nurl = \"https://ntfy.example.org\"\nuser = \"ana\"\n\
         [[ntfy]]\nurl = \"https://ntfy.example.org/hall\"\n\
         [[ntfy]]\nurl = \"https://ntfy.example.org/hall\"\nuser = \"a/b\"\n",
    );
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(
        faults[0].starts_with("a.toml:2: ntfy.url: `https://ntfy.example.org` is no ntfy topic")
    );
    assert_eq!(faults[1], "a.toml:4: ntfy.user: is missing");
    assert!(faults[2].starts_with("a.toml:8: ntfy.user: `a/b` is no name"));
}

#[test]
fn boards_and_relays_are_weighed_against_each_other() {
    let faults = faults(
        "[[board]]\nnumber = 1\n\
         [[board]]\nnumber = 1\nport = \"/dev/a\"\nserial = \"3\"\n\
         [[board]]\nnumber = 0\nport = \"/dev/a\"\n\
         [[board]]\nserial = \"4\"\nclock = \"left\"\n\
         [[relay]]\nkind = \"lichess\"\nurl = \"lichess.org\"\n\
         [[relay]]\ndelay_seconds = 1\n\
         [[relay]]\nkind = \"sftp\"\nurl = \"ftp://ana@host/\"\nhost_key = \"here\"\n\
         [[relay]]\nkind = \"ftp\"\nurl = \"ftp://ana:secret@host/\"\n",
    );
    assert!(!format!("{faults:?}").contains("secret"), "{faults:?}");
    let starts = [
        "a.toml:1: board.port: is missing",
        "a.toml:4: board.number: `1` is taken by the board in line 2",
        "a.toml:6: board.serial: stands beside port",
        "a.toml:8: board.number: `0` is no whole number",
        "a.toml:9: board.port: `/dev/a` is taken by the board in line 5",
        "a.toml:10: board.number: is missing",
        "a.toml:12: board.clock: ",
        "a.toml:13: relay.token_file: is missing",
        "a.toml:15: relay.url: ",
        "a.toml:16: relay.kind: is missing",
        "a.toml:18: relay.key_file: is missing",
        "a.toml:20: relay.url: `ftp://ana@host/` does not fit kind = \"sftp\"",
        "a.toml:21: relay.host_key: `here` is no host key",
        "a.toml:22: relay.password_file: is missing",
        "a.toml:24: relay.url: `ftp://...` is no such address",
    ];
    assert_eq!(faults.len(), starts.len(), "{faults:#?}");
    for (fault, start) in faults.iter().zip(starts) {
        assert!(fault.starts_with(start), "{fault} / {start}");
    }
}

#[test]
fn boards_on_a_bus_share_a_port_with_each_other_only() {
    let faults = faults(
        "[[board]]\nnumber = 1\nport = \"/dev/a\"\nbus = 7\n\
         [[board]]\nnumber = 2\nport = \"/dev/a\"\nbus = 8\n\
         [[board]]\nnumber = 3\nport = \"/dev/a\"\nbus = 8\n\
         [[board]]\nnumber = 4\nport = \"/dev/a\"\n\
         [[board]]\nnumber = 5\nbus = 9\n\
         [[board]]\nnumber = 6\nserial = \"6\"\nbus = 16384\n",
    );
    let starts = [
        "a.toml:11: board.port: `/dev/a` is taken by the board in line 7",
        "a.toml:15: board.port: `/dev/a` is taken by the board in line 3",
        "a.toml:18: board.bus: needs the port",
        "a.toml:22: board.bus: `16384` is no whole number",
        "a.toml:22: board.bus: needs the port",
    ];
    assert_eq!(faults.len(), starts.len(), "{faults:#?}");
    for (fault, start) in faults.iter().zip(starts) {
        assert!(fault.starts_with(start), "{fault} / {start}");
    }
}

#[test]
fn later_layers_win_and_keep_what_they_do_not_name() {
    let system = file("[venue]\nid = \"a\"\n[event]\nname = \"System\"\nround = \"1\"\n");
    let own = file("[event]\nround = \"2\"\n");
    let mut layers = sources(
        &own.path,
        &[
            ("ATALAYA__MQTT__USERNAME", "0123"),
            ("ATALAYA__MQTT__PASSWORD_FILE", "/run/password"),
            ("ATALAYA__EVENT__ROUND", "3"),
            ("ATALAYA__TIMING__SETTLE_MS", "77"),
            ("ATALAYA__EVENT__SITE", ""),
            ("STATE_DIRECTORY", "/var/lib/atalaya"),
            ("HOME", "/root"),
        ],
    );
    layers.system = Some(system.path.clone());
    let settings = Settings::load(&layers).expect("it loads");
    assert_eq!(settings.venue.id, "a");
    assert_eq!(settings.event.name, "System");
    assert_eq!(settings.event.round, "3");
    assert_eq!(settings.event.site, None);
    assert_eq!(settings.mqtt.username.as_deref(), Some("0123"));
    assert_eq!(settings.timing.settle_ms, 77);
    assert_eq!(settings.journal.dir, Path::new("/var/lib/atalaya"));
}

#[test]
fn file_names_are_meant_beside_the_file() {
    let own = file(
        "[event]\npairings = \"round.pgn\"\n[journal]\ndir = \"here\"\n\
         [[relay]]\nkind = \"folder\"\ndir = \"/srv/pgn\"\n[[relay]]\nkind = \"folder\"\ndir = \"pgn\"\n",
    );
    let dir = own.path.parent().expect("a folder");
    let settings = Settings::load(&sources(&own.path, &[])).expect("it loads");
    assert_eq!(settings.event.pairings, Some(dir.join("round.pgn")));
    assert_eq!(settings.journal.dir, Path::new("here"));
    assert_eq!(settings.relays[0].dir, Some(PathBuf::from("/srv/pgn")));
    assert_eq!(settings.relays[1].dir, Some(dir.join("pgn")));
}

#[test]
fn all_layers_tell_their_faults_at_once() {
    let own = file("[venue]\nid = \"A\"\n[event]\nlaws = 1\n");
    let mut layers = sources(
        &own.path,
        &[
            ("ATALAYA__WEB__LISTEN", "x"),
            ("ATALAYA__WEB__LISTN", "none"),
            ("ATALAYA__BOARD__0__PORT", "/dev/a"),
            ("ATALAYA__BROKER__WEBSOCKET", "127.0.0.1:1883"),
            ("ATALAYA_VENUE__ID", "a"),
        ],
    );
    layers.system = Some(PathBuf::from("/nowhere/atalaya.toml"));
    let error = Settings::load(&layers).expect_err("it has faults");
    assert_eq!(error.faults.len(), 6, "{error}");
    let text = error.to_string();
    assert!(text.contains("environment variable ATALAYA__WEB__LISTN: web.listn: "));
    assert!(text.contains("configuration: broker.websocket: 127.0.0.1:1883 is taken"));
    assert_eq!(layers.stray_variables(), ["ATALAYA_VENUE__ID"]);
    let gone = Settings::load(&sources(Path::new("/nowhere/a.toml"), &[])).expect_err("no file");
    assert!(
        gone.to_string()
            .starts_with("/nowhere/a.toml: cannot be read: ")
    );
}
