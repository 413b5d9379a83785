//! Home Assistant finds the hall by itself: one device with an event for the alerts and two sensors a
//! board (MQTT discovery, one message for a device). Pure.

use serde_json::{Map, Value, json};

use crate::{publish::Topics, words::BoardNo};

/// Topic and payload that announce the hall, from what `info` says of it.
pub(super) fn device(prefix: &str, topics: &Topics, info: &Value) -> (String, Value) {
    let name = format!("atalaya-{}", topics.venue());
    let mut parts = Map::new();
    parts.insert(
        "alerts".to_owned(),
        json!({
            "platform": "event",
            "unique_id": format!("{name}-alerts"),
            "name": "Alerts",
            "icon": "mdi:chess-king",
            "state_topic": topics.alert_event(),
            "event_types": ["raised", "updated", "claimed", "confirmed", "dismissed", "resolved"],
            "value_template": "{{ {'event_type': value_json.event, 'alert': value_json.alert.id, \
                'board': value_json.alert.board, 'level': value_json.alert.level, \
                'status': value_json.alert.status, 'en': value_json.alert.title.en, \
                'es': value_json.alert.title.es} | tojson }}",
        }),
    );
    let boards = info["boards"].as_array().into_iter().flatten();
    for number in boards.filter_map(Value::as_u64) {
        let Ok(number) = u16::try_from(number) else {
            continue;
        };
        let board = BoardNo(number);
        parts.insert(
            format!("board-{board}-alert"),
            json!({
                "platform": "binary_sensor",
                "unique_id": format!("{name}-board-{board}-alert"),
                "name": format!("Board {board} alert"),
                "device_class": "problem",
                "state_topic": topics.state(board),
                "value_template": "{{ 'ON' if value_json.alerts | count > 0 else 'OFF' }}",
            }),
        );
        parts.insert(
            format!("board-{board}-link"),
            json!({
                "platform": "binary_sensor",
                "unique_id": format!("{name}-board-{board}-link"),
                "name": format!("Board {board} link"),
                "device_class": "connectivity",
                "entity_category": "diagnostic",
                "state_topic": topics.link(board),
                "value_template": "{{ 'ON' if value_json.state == 'up' else 'OFF' }}",
            }),
        );
    }
    let version = &info["version"];
    let device = json!({
        "device": {
            "identifiers": [name],
            "name": format!("Atalaya {}", topics.venue()),
            "manufacturer": "Atalaya",
            "sw_version": version,
        },
        "origin": {"name": "atalaya", "sw_version": version},
        "availability": [{
            "topic": topics.status(),
            "value_template": "{{ 'online' if value_json.state == 'online' else 'offline' }}",
        }],
        "qos": 1,
        "components": parts,
    });
    (format!("{prefix}/device/{name}/config"), device)
}
