//! The contract as an AsyncAPI 3 document with JSON Schemas (draft 7), made from the very types that
//! are published and read. Pure.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{payload::SCHEMA, schema};
use crate::incident::Verb;

/// Where the shared schemas stand in the document.
const COMPONENTS: &str = "/components/schemas";
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";
/// The name of this contract: major version 1.
pub const URN: &str = "urn:atalaya:mqtt:v1";

/// What one topic carries.
struct Channel {
    name: &'static str,
    /// Behind `<root>/v1/<venue>/`.
    topic: &'static str,
    about: &'static str,
    retained: bool,
    qos: u8,
    messages: &'static [Message],
}

struct Message {
    name: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

const fn message<T: JsonSchema>(name: &'static str) -> Message {
    Message {
        name,
        schema: SchemaGenerator::subschema_for::<T>,
    }
}

/// All that the daemon says.
const SAID: &[Channel] = &[
    Channel {
        name: "status",
        topic: "status",
        about: "Whether the daemon is there; also its last will.",
        retained: true,
        qos: 1,
        messages: &[message::<schema::Status<'_>>("status")],
    },
    Channel {
        name: "info",
        topic: "info",
        about: "What the daemon is, and which boards it watches.",
        retained: true,
        qos: 1,
        messages: &[message::<schema::InfoObject<'_>>("info")],
    },
    Channel {
        name: "link",
        topic: "board/{board}/link",
        about: "How a board's cable is.",
        retained: true,
        qos: 1,
        messages: &[message::<schema::Link<'_>>("link")],
    },
    Channel {
        name: "state",
        topic: "board/{board}/state",
        about: "Where a board's game stands.",
        retained: true,
        qos: 1,
        messages: &[message::<schema::State<'_>>("state")],
    },
    Channel {
        name: "move",
        topic: "board/{board}/move",
        about: "One message for each final ply, or for plies taken back. At least once: a number `seq` \
                seen before is a repeat.",
        retained: false,
        qos: 1,
        messages: &[
            message::<schema::Move<'_>>("move"),
            message::<schema::Retract<'_>>("retract"),
        ],
    },
    Channel {
        name: "clock",
        topic: "board/{board}/clock",
        about: "Both times, at most once a second.",
        retained: false,
        qos: 0,
        messages: &[message::<schema::Clock<'_>>("clock")],
    },
    Channel {
        name: "pgn",
        topic: "board/{board}/pgn",
        about: "The whole game.",
        retained: true,
        qos: 1,
        messages: &[message::<schema::Pgn<'_>>("pgn")],
    },
    Channel {
        name: "alert",
        topic: "alert/{alert}",
        about: "One alert, for arbiters alone; emptied when it is closed and aged. Keep the highest `rev`.",
        retained: true,
        qos: 1,
        messages: &[message::<schema::AlertObject<'_>>("alert")],
    },
    Channel {
        name: "alert-event",
        topic: "alert-event",
        about: "What happened to an alert, with the alert as it is now.",
        retained: false,
        qos: 1,
        messages: &[message::<schema::AlertEvent<'_>>("alert-event")],
    },
    Channel {
        name: "alert-text",
        topic: "alert-text/{language}",
        about: "The same in one line of plain text, no JSON, in `en` or `es`: for apps that show a topic's \
                text. Only where `phones.lines` is set.",
        retained: false,
        qos: 1,
        messages: &[message::<String>("alert-text")],
    },
    Channel {
        name: "reply",
        topic: "reply/{user}",
        about: "The answer to a command.",
        retained: false,
        qos: 1,
        messages: &[message::<schema::Reply<'_>>("reply")],
    },
];

/// The contract as an AsyncAPI 3 document.
pub fn asyncapi() -> Value {
    let mut said = generator(SchemaSettings::for_serialize);
    let mut heard = generator(SchemaSettings::for_deserialize);
    let mut book = Book::default();
    for channel in SAID {
        let messages = channel.messages.iter();
        let messages =
            messages.map(|one| (one.name.to_owned(), (one.schema)(&mut said).to_value()));
        book.channel(channel, "send", messages.collect());
    }
    for (verb, about, payload) in commands(&mut heard) {
        book.command(&verb, &about, payload);
    }
    let ack =
        json!({"description": "The bare word, for buttons that send fixed text.", "const": "ack"});
    book.command("ack", "Claims the newest open alert.", ack);
    let mut schemas = said.take_definitions(true);
    schemas.extend(heard.take_definitions(true));
    json!({
        "asyncapi": "3.0.0",
        "id": URN,
        "info": {
            "title": "Atalaya",
            "version": format!("1.{SCHEMA}"),
            "description": "What a watched chess hall says over MQTT, and the commands of its arbiters. \
                            Consumers ignore keys they do not know; the minor version stands in `v`.",
            "license": {"name": "GPL-3.0-or-later"},
        },
        "defaultContentType": "application/json",
        "channels": book.channels,
        "operations": book.operations,
        "components": {"messages": book.messages, "schemas": schemas},
    })
}

/// Each message's JSON Schema by itself, by the message's name.
pub fn schemas() -> BTreeMap<String, Value> {
    let contract = asyncapi();
    let shared = &contract["components"]["schemas"];
    let messages = contract["components"]["messages"].as_object();
    let alone = |(name, message): (&String, &Value)| (name.clone(), alone(name, message, shared));
    messages.into_iter().flatten().map(alone).collect()
}

fn alone(name: &str, message: &Value, shared: &Value) -> Value {
    let mut schema = message["payload"].clone();
    let mut definitions = Map::new();
    gather(&mut schema, shared, &mut definitions);
    let object = schema
        .as_object_mut()
        .expect("a payload's schema is an object");
    object.insert("$schema".to_owned(), DRAFT.into());
    object.insert("$id".to_owned(), format!("{URN}:{name}").into());
    if !definitions.is_empty() {
        object.insert("definitions".to_owned(), definitions.into());
    }
    schema
}

/// Points what refers to a shared schema to one of its own, and takes that in.
fn gather(schema: &mut Value, shared: &Value, definitions: &mut Map<String, Value>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::String(target)) = object.get_mut("$ref")
                && let Some(name) = target.strip_prefix("#/components/schemas/")
            {
                let name = name.to_owned();
                *target = format!("#/definitions/{name}");
                if !definitions.contains_key(&name) {
                    let mut found = shared[&name].clone();
                    definitions.insert(name.clone(), Value::Null);
                    gather(&mut found, shared, definitions);
                    definitions.insert(name, found);
                }
            }
            for value in object.values_mut() {
                gather(value, shared, definitions);
            }
        }
        Value::Array(values) => {
            for value in values {
                gather(value, shared, definitions);
            }
        }
        _ => {}
    }
}

fn generator(side: fn(SchemaSettings) -> SchemaSettings) -> SchemaGenerator {
    let mut settings = side(SchemaSettings::draft07());
    settings.definitions_path = COMPONENTS.into();
    settings.into_generator()
}

/// Each verb with what it means and the schema of its payload: that of [`Verb`], without the verb
/// (it stands in the topic) and with what every command may carry.
fn commands(generator: &mut SchemaGenerator) -> Vec<(String, String, Value)> {
    let mut all = Verb::json_schema(generator).to_value();
    let verbs = all["oneOf"].as_array_mut().map(std::mem::take);
    let verbs = verbs.unwrap_or_default().into_iter();
    verbs.map(command).collect()
}

fn command(mut schema: Value) -> (String, String, Value) {
    let about = schema["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let properties = schema["properties"].as_object_mut();
    let properties = properties.expect("a verb's payload is an object");
    let verb = properties.remove("verb").expect("its tag");
    properties.insert(
        "transaction".to_owned(),
        json!({
            "description": "The sender's own name for this command; the answer carries it, and a repeat \
                            gets the first answer.",
            "type": ["string", "null"],
        }),
    );
    properties.insert(
        "user".to_owned(),
        json!({"description": "If it stands here, it is the topic's.", "type": "string"}),
    );
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|key| key != "verb");
    }
    let verb = verb["const"].as_str().expect("a verb is a word").to_owned();
    (verb, about, schema)
}

#[derive(Default)]
struct Book {
    channels: Map<String, Value>,
    operations: Map<String, Value>,
    messages: Map<String, Value>,
}

impl Book {
    fn channel(&mut self, channel: &Channel, action: &str, messages: Vec<(String, Value)>) {
        let refer = |name: &String| json!({"$ref": format!("#/components/messages/{name}")});
        let own: Map<_, _> = messages
            .iter()
            .map(|(name, _)| (name.clone(), refer(name)))
            .collect();
        self.channels.insert(
            channel.name.to_owned(),
            json!({
                "address": format!("{{root}}/v1/{{venue}}/{}", channel.topic),
                "description": channel.about,
                "parameters": parameters(channel.topic),
                "messages": own,
            }),
        );
        self.operations.insert(
            channel.name.to_owned(),
            json!({
                "action": action,
                "channel": {"$ref": format!("#/channels/{}", channel.name)},
                "bindings": {"mqtt": {
                    "qos": channel.qos,
                    "retain": channel.retained,
                    "bindingVersion": "0.2.0",
                }},
            }),
        );
        for (name, payload) in messages {
            let mut told = json!({"name": name, "payload": payload});
            if channel.name == "alert-text" {
                told["contentType"] = "text/plain".into();
            }
            self.messages.insert(name, told);
        }
    }

    fn command(&mut self, verb: &str, about: &str, payload: Value) {
        let name = format!("cmd-{verb}");
        self.channels.insert(
            name.clone(),
            json!({
                "address": format!("{{root}}/v1/{{venue}}/cmd/{{user}}/{verb}"),
                "description": about,
                "parameters": parameters("{user}"),
                "messages": {&name: {"$ref": format!("#/components/messages/{name}")}},
            }),
        );
        self.operations.insert(
            name.clone(),
            json!({
                "action": "receive",
                "channel": {"$ref": format!("#/channels/{name}")},
                "bindings": {"mqtt": {"qos": 1, "retain": false, "bindingVersion": "0.2.0"}},
                "reply": {"channel": {"$ref": "#/channels/reply"}},
            }),
        );
        let mut told = json!({"name": name, "payload": payload});
        if verb == "ack" {
            told["contentType"] = "text/plain".into();
        }
        self.messages.insert(name, told);
    }
}

/// The parameters that stand in a topic.
fn parameters(topic: &str) -> Value {
    let known = [
        (
            "root",
            "First segments of all topics, `mqtt.root`.",
            "atalaya",
        ),
        ("venue", "The hall, `venue.id`: a-z 0-9 -.", "hall-1"),
        ("board", "Number of the board.", "3"),
        ("alert", "Name of the alert, its `id`.", "b3-9f2c"),
        ("language", "`en` or `es`.", "en"),
        (
            "user",
            "Who speaks: the access list of the broker proves it.",
            "ana",
        ),
    ];
    let stands =
        |name: &str| name == "root" || name == "venue" || topic.contains(&format!("{{{name}}}"));
    let chosen = known.into_iter().filter(|(name, _, _)| stands(name));
    let told = |(name, about, example): (&str, &str, &str)| {
        let told = json!({"description": about, "examples": [example]});
        (name.to_owned(), told)
    };
    Value::Object(chosen.map(told).collect())
}
