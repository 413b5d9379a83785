//! An arbiter's phone in the demo: a client that knows only the broker.

use rumqttc::{AsyncClient, Event, EventLoop, MqttOptions, Packet, QoS};

use crate::hall::Settings;

/// Subscribed to the alert events.
pub(super) struct Subscriber {
    client: AsyncClient,
    events: EventLoop,
    topic: String,
}

impl Subscriber {
    /// Connects as soon as it is asked for news.
    pub fn connect(host: &str, port: u16, settings: &Settings) -> Subscriber {
        let id = format!("demo-phone-{}", std::process::id());
        let mut options = MqttOptions::new(id, host, port);
        options.set_max_packet_size(1 << 20, 1 << 20);
        let (client, events) = AsyncClient::new(options, 16);
        let topic = format!(
            "{}/v1/{}/alert-event",
            settings.mqtt.root, settings.venue.id
        );
        Subscriber {
            client,
            events,
            topic,
        }
    }

    /// The id of the next alert that is raised; `None` when the broker is gone for good.
    pub async fn next_raised(&mut self) -> Option<String> {
        loop {
            match self.events.poll().await.ok()? {
                Event::Incoming(Packet::ConnAck(_)) => {
                    self.client
                        .subscribe(&self.topic, QoS::AtLeastOnce)
                        .await
                        .ok()?;
                }
                Event::Incoming(Packet::Publish(message)) => {
                    let event: serde_json::Value = serde_json::from_slice(&message.payload).ok()?;
                    if event["event"] == "raised" {
                        return event["alert"]["id"].as_str().map(str::to_owned);
                    }
                }
                _ => {}
            }
        }
    }
}
