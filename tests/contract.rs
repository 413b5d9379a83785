//! The contract's document is true: all that a running hall says fits it, and nothing else is said.
#![allow(clippy::disallowed_methods, reason = "a test waits for real")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use atalaya::{
    incident::{Order, VERBS},
    publish::contract::{asyncapi, schemas},
};
use jsonschema::Validator;
use serde_json::{Value, json};
use support::{Guard, Seen, Subscriber, program};

const PATIENCE: Duration = Duration::from_secs(120);

/// The messages of each topic of the document, ready to judge.
struct Contract {
    channels: Vec<(String, Vec<Validator>)>,
}

impl Contract {
    fn read() -> Contract {
        let (document, schemas) = (asyncapi(), schemas());
        let channels = document["channels"].as_object().expect("channels").values();
        let channel = |channel: &Value| {
            let messages = channel["messages"].as_object().expect("messages").keys();
            let judges = messages.map(|name| judge(&schemas[name])).collect();
            (text(&channel["address"]), judges)
        };
        Contract {
            channels: channels.map(channel).collect(),
        }
    }

    /// The address a topic is of.
    fn address(&self, topic: &str) -> Option<&str> {
        let fits = |(address, _): &&(String, Vec<Validator>)| fits(address, topic);
        self.channels
            .iter()
            .find(fits)
            .map(|(address, _)| &**address)
    }

    /// Why the payload is none of the topic's messages.
    fn faults(&self, topic: &str, payload: &Value) -> Vec<String> {
        let (_, judges) = self
            .channels
            .iter()
            .find(|(address, _)| fits(address, topic))
            .unwrap_or_else(|| panic!("{topic} is in no channel"));
        let faults = judges.iter().map(|judge| {
            let errors = judge.iter_errors(payload);
            let errors = errors.map(|error| format!("{}: {error}", error.instance_path()));
            errors.collect::<Vec<_>>().join("; ")
        });
        let faults: Vec<_> = faults.collect();
        if faults.iter().any(String::is_empty) {
            return Vec::new();
        }
        faults
    }
}

/// Stricter than the contract: a key that stands in no schema is a fault here.
fn judge(schema: &Value) -> Validator {
    let mut schema = schema.clone();
    close(&mut schema);
    jsonschema::validator_for(&schema).expect("a schema of draft 7")
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") && object.get("type") == Some(&json!("object")) {
                object.insert("additionalProperties".to_owned(), false.into());
            }
            object.values_mut().for_each(close);
        }
        Value::Array(values) => values.iter_mut().for_each(close),
        _ => {}
    }
}

fn fits(address: &str, topic: &str) -> bool {
    let (address, topic) = (address.split('/'), topic.split('/'));
    address.clone().count() == topic.clone().count()
        && address
            .zip(topic)
            .all(|(said, heard)| said.starts_with('{') || said == heard)
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// The demo, and where its broker is.
fn demo() -> (Guard, SocketAddr) {
    let mut demo = Guard::spawn(
        Command::new(env!("CARGO_BIN_EXE_atalaya"))
            .args(["demo", "--boards", "4", "--speed", "20", "--seed", "7"])
            .args(["--mishaps", "0.2"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null()),
    );
    let mut lines = BufReader::new(demo.0.stdout.take().expect("piped")).lines();
    let port = loop {
        let line = lines.next().expect("it says where").expect("it reads");
        if let Some((_, rest)) = line.split_once(" -p ") {
            let port = rest.split(' ').next().expect("a port");
            break port.parse().expect("a number");
        }
    };
    // Nobody may stop on a full pipe.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    (demo, SocketAddr::from(([127, 0, 0, 1], port)))
}

fn say(broker: SocketAddr, topic: &str, payload: &str) {
    let publish = program("mosquitto_pub").expect("it comes with mosquitto_sub");
    let (host, port) = (broker.ip().to_string(), broker.port().to_string());
    let said = Command::new(publish)
        .args([
            "-h", &host, "-p", &port, "-q", "1", "-t", topic, "-m", payload,
        ])
        .status();
    assert!(said.expect("it runs").success());
}

#[test]
fn a_hall_says_what_the_contract_says() {
    if program("mosquitto_sub").is_none() {
        return;
    }
    let contract = Contract::read();
    let (_demo, broker) = demo();
    let mut phone = Subscriber::start(broker).expect("it is there");
    let until = Instant::now() + PATIENCE;
    let alert = |seen: &[Seen]| {
        let alerts = seen.iter().filter(|seen| {
            seen.topic.contains("/alert/") && seen.payload.contains(r#""status":"open""#)
        });
        alerts.map(|seen| seen.topic.clone()).next_back()
    };
    assert!(
        phone.wait(PATIENCE, |seen| alert(seen).is_some()),
        "no alert"
    );
    let topic = alert(&phone.seen).expect("just seen");
    let (venue, id) = topic.split_once("/alert/").expect("its topic");
    let command = |verb: &str, payload: Value| {
        let topic = format!("{venue}/cmd/ana/{verb}");
        let faults = contract.faults(&topic, &payload);
        assert!(faults.is_empty(), "{topic} {payload}: {faults:?}");
        say(broker, &topic, &payload.to_string());
    };
    command("claim", json!({"transaction": "t1", "alert": id}));
    command(
        "note",
        json!({"transaction": "t2", "alert": id, "text": "Table 4"}),
    );
    command("confirm", json!({"transaction": "t3", "alert": id}));
    command("resync", json!({"transaction": "t4", "board": 1}));
    command("resync", json!({"transaction": "t5", "board": 99}));
    say(broker, &format!("{venue}/cmd/ana/claim"), "{}");

    // Everything but what only a fault or a takeback brings, and lines for phones (tests/phones.rs).
    let document = asyncapi();
    let channels = document["channels"].as_object().expect("channels");
    let said = channels
        .iter()
        .filter(|(name, _)| !name.starts_with("cmd-") && *name != "alert-text");
    let wanted: BTreeSet<_> = said.map(|(_, channel)| text(&channel["address"])).collect();
    let heard = |seen: &[Seen]| -> BTreeSet<String> {
        let topics = seen.iter().filter(|seen| seen.topic.starts_with(venue));
        topics
            .filter_map(|seen| contract.address(&seen.topic))
            .map(str::to_owned)
            .collect()
    };
    let left = until.saturating_duration_since(Instant::now());
    let all = phone.wait(left, |seen| heard(seen).is_superset(&wanted));
    assert!(
        all,
        "never heard: {:?}",
        wanted.difference(&heard(&phone.seen))
    );

    let mut checked: BTreeMap<&str, u32> = BTreeMap::new();
    for seen in phone
        .seen
        .iter()
        .filter(|seen| seen.topic.starts_with(venue))
    {
        let address = contract.address(&seen.topic);
        let address = address.unwrap_or_else(|| panic!("{} is not in the contract", seen.topic));
        if seen.payload.is_empty() || address.contains("/cmd/") {
            continue;
        }
        let faults = contract.faults(&seen.topic, &seen.json());
        assert!(
            faults.is_empty(),
            "{} {}: {faults:?}",
            seen.topic,
            seen.payload
        );
        *checked.entry(address).or_default() += 1;
    }
    println!("messages that fit: {checked:#?}");
}

#[test]
fn a_schema_refuses_what_the_daemon_refuses() {
    let schemas = schemas();
    let right = [
        ("claim", json!({"alert": "b3-1"})),
        ("dismiss", json!({"alert": "b3-1", "reason": "sensors"})),
        (
            "adopt",
            json!({"board": 3, "turn": "white", "transaction": "t"}),
        ),
        (
            "offence",
            json!({"board": 3, "side": "black", "code": "two-hands"}),
        ),
        ("choose", json!({"board": 3, "candidate": 0})),
        ("mute", json!({"alert": "b3-1", "reason": "sensors"})),
        ("reinstate", json!({"board": 3, "ply": 12})),
        (
            "reinstate",
            json!({"board": 3, "ply": 0, "moves": ["e4", "e7e5"]}),
        ),
        (
            "adopt",
            json!({"board": 3, "turn": "black", "fen": "4k3/8/8/8/8/8/8/4K3 b - - 0 1"}),
        ),
    ];
    let wrong = [
        ("claim", json!({})),
        ("claim", json!({"alert": 7})),
        ("dismiss", json!({"alert": "b3-1", "reason": "x"})),
        ("adopt", json!({"board": 3, "turn": "red"})),
        ("adopt", json!({"board": 70_000, "turn": "white"})),
        ("choose", json!({"board": 3, "candidate": -1})),
        ("mute", json!({"alert": "b3-1"})),
        ("reinstate", json!({"board": 3})),
        ("reinstate", json!({"board": 3, "ply": 1, "moves": "e4"})),
    ];
    for (cases, fits) in [(&right[..], true), (&wrong[..], false)] {
        for (verb, payload) in cases {
            let schema = judge(&schemas[&format!("cmd-{verb}")]);
            assert_eq!(schema.is_valid(payload), fits, "{verb} {payload}");
            let read = Order::read("ana", verb, payload.to_string().as_bytes(), None);
            assert_eq!(read.is_ok(), fits, "{verb} {payload}");
        }
    }
}

#[test]
fn every_verb_stands_in_the_document_and_every_reference_leads_somewhere() {
    let document = asyncapi();
    for verb in VERBS.iter().chain(&["ack"]) {
        let channel = &document["channels"][format!("cmd-{verb}")];
        assert!(channel["address"].is_string(), "{verb}");
    }
    let mut references = Vec::new();
    gather(&document, &mut references);
    assert!(references.len() > 40);
    for reference in references {
        let place = reference.strip_prefix('#').expect("one of its own");
        assert!(document.pointer(place).is_some(), "{reference}");
    }
}

fn gather<'a>(value: &'a Value, references: &mut Vec<&'a str>) {
    match value {
        Value::Object(object) => {
            references.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|value| gather(value, references));
        }
        Value::Array(values) => values.iter().for_each(|value| gather(value, references)),
        _ => {}
    }
}
