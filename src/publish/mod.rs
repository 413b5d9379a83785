//! MQTT: topics and payloads of the contract (design.md 4), the outbox, the client, the document and the embedded broker.

pub mod broker;
pub mod client;
pub mod contract;
pub mod outbox;
pub mod payload;
mod schema;
pub mod tls;
pub mod topic;

pub use broker::{Broker, BrokerError, BrokerSettings, Password, Speaks, User};
pub use client::{Actor, ClientSettings, Hear, Heard, Publisher, StatusWords, channel};
pub use outbox::Outbox;
pub use payload::{Context, Outgoing, Qos, answer, messages};
pub use tls::{Tls, TlsError, TlsFiles};
pub use topic::{TopicError, Topics};
