//! Alerts on devices that know nothing of the page: ntfy, Home Assistant, plain MQTT apps. Like the page,
//! a consumer of the contract; what a button says goes back as a command.

mod home_assistant;
mod line;
mod ntfy;

use std::collections::VecDeque;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use self::ntfy::{Answer, Phone};
use super::KEEP_ALIVE;
use crate::{
    laws::Lang,
    publish::{ClientSettings, Hear, Heard, Outgoing, Publisher, Qos, Tls, Topics, channel},
};

/// What was told lately, so that a message that comes twice rings once.
const REMEMBERED: usize = 512;

/// Which devices are told, and from which broker.
pub struct PhoneSettings {
    /// Broker: host and port.
    pub broker: (String, u16),
    /// TLS to the broker.
    pub broker_tls: Option<Tls>,
    /// User name and password at the broker. It must be allowed to speak for the users of `ntfy`.
    pub login: Option<(String, String)>,
    /// The venue.
    pub topics: Topics,
    /// Whether each alert is also told as one plain line.
    pub lines: bool,
    /// Home Assistant's discovery prefix.
    pub home_assistant: Option<String>,
    /// Arbiters with ntfy.
    pub ntfy: Vec<NtfyUser>,
    /// Now: answers of before are of an earlier run.
    pub wall: Timestamp,
}

impl PhoneSettings {
    /// Nobody is to be told.
    pub const fn is_empty(&self) -> bool {
        !self.lines && self.home_assistant.is_none() && self.ntfy.is_empty()
    }
}

/// One arbiter's ntfy topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NtfyUser {
    /// Address of the topic: server and name.
    pub url: String,
    /// Under which name its buttons answer.
    pub user: String,
    /// In which language.
    pub language: Lang,
    /// Also what may be looked at in passing.
    pub checks: bool,
    /// Access token of the server.
    pub token: Option<String>,
}

/// The bridges, running. Dropping them ends them too, without waiting.
pub struct Phones {
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Phones {
    /// Follows the broker until stopped.
    ///
    /// # Errors
    /// When no TLS can be had.
    pub fn start(settings: PhoneSettings) -> Result<Phones, reqwest::Error> {
        let (ear, heard) = mpsc::unbounded_channel();
        let replies = settings.ntfy.iter();
        let mut filters = vec![settings.topics.info(), settings.topics.alert_event()];
        filters.extend(replies.map(|one| settings.topics.reply(&one.user)));
        let (host, port) = settings.broker;
        let (publisher, actor) = channel(ClientSettings {
            host,
            port,
            tls: settings.broker_tls,
            client_id: format!("atalaya-phones-{:08x}", fastrand::u32(..)),
            login: settings.login,
            keep_alive: KEEP_ALIVE,
            status: None,
            hear: Some(Hear { filters, ear }),
        });
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(actor.run(stop.clone()));
        let (said, answers) = mpsc::unbounded_channel();
        let mut phones = Vec::new();
        for (index, user) in settings.ntfy.into_iter().enumerate() {
            let phone = Phone::new(&user)?;
            let (mail, post) = mpsc::unbounded_channel();
            tasks.spawn(until(stop.clone(), phone.clone().deliver(post)));
            let since = settings.wall.as_second();
            let listens = phone.clone().listen(index, since, said.clone());
            tasks.spawn(until(stop.clone(), listens));
            phones.push(Reached { user, phone, mail });
        }
        let bridge = Bridge {
            topics: settings.topics,
            publisher,
            lines: settings.lines,
            home_assistant: settings.home_assistant,
            phones,
            told: VecDeque::new(),
        };
        tasks.spawn(until(stop.clone(), bridge.follow(heard, answers)));
        Ok(Phones { stop, tasks })
    }

    /// Ends the bridges.
    pub async fn stop(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

async fn until(stop: CancellationToken, work: impl Future<Output = ()>) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = work => {}
    }
}

struct Reached {
    user: NtfyUser,
    phone: Phone,
    mail: mpsc::UnboundedSender<Value>,
}

struct Bridge {
    topics: Topics,
    publisher: Publisher,
    lines: bool,
    home_assistant: Option<String>,
    phones: Vec<Reached>,
    told: VecDeque<String>,
}

/// What has to be told of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    Raised,
    Escalated,
    Claimed,
}

impl Bridge {
    async fn follow(
        mut self,
        mut heard: mpsc::UnboundedReceiver<Heard>,
        mut answers: mpsc::UnboundedReceiver<Answer>,
    ) {
        loop {
            tokio::select! {
                heard = heard.recv() => match heard {
                    Some(Heard::Message { topic, payload, .. }) => self.hear(&topic, &payload),
                    Some(Heard::Connected | Heard::Lost) => {}
                    None => return,
                },
                Some(answer) = answers.recv() => self.answer(&answer),
            }
        }
    }

    fn hear(&mut self, topic: &str, payload: &[u8]) {
        let Some(end) = self.topics.end(topic) else {
            return;
        };
        let Ok(said) = serde_json::from_slice::<Value>(payload) else {
            return;
        };
        match end {
            "info" => self.discover(&said),
            "alert-event" => self.alert(&said),
            _ => {
                if let Some(user) = end.strip_prefix("reply/") {
                    self.refused(user, &said);
                }
            }
        }
    }

    fn discover(&self, info: &Value) {
        if let Some(prefix) = &self.home_assistant {
            let (topic, device) = home_assistant::device(prefix, &self.topics, info);
            self.say(topic, true, device.to_string());
        }
    }

    fn alert(&mut self, event: &Value) {
        let alert = &event["alert"];
        let (id, rev) = (alert["id"].as_str().unwrap_or_default(), &alert["rev"]);
        let news = match event["event"].as_str() {
            Some("raised") => News::Raised,
            Some("claimed") => News::Claimed,
            Some("updated") if alert["escalated"] == true && alert["status"] == "open" => {
                News::Escalated
            }
            _ => return,
        };
        let key = match news {
            News::Raised | News::Escalated => format!("{id} {news:?}"),
            News::Claimed => format!("{id} {news:?} {rev}"),
        };
        if alert["level"] == "info" || self.told.contains(&key) {
            return;
        }
        if self.told.len() == REMEMBERED {
            self.told.pop_front();
        }
        self.told.push_back(key);
        if self.lines {
            for lang in [Lang::En, Lang::Es] {
                let topic = self.topics.alert_line(lang.code());
                self.say(topic, false, line::line(alert, news, lang));
            }
        }
        for Reached { user, phone, mail } in &self.phones {
            let wanted = user.checks || alert["level"] == "urgent";
            let own = news == News::Claimed && alert["claimed_by"] == user.user.as_str();
            if wanted && !own {
                // The receiver ends with the daemon.
                let _ = mail.send(phone.notice(alert, news, user.language));
            }
        }
    }

    /// A button was pressed.
    fn answer(&self, answer: &Answer) {
        let user = &self.phones[answer.phone].user.user;
        let payload = json!({
            "transaction": format!("ntfy-{}", answer.message),
            "alert": answer.alert,
            "reason": "other",
        });
        let topic = self.topics.order(user, answer.verb);
        self.say(topic, false, payload.to_string());
    }

    /// The answer to a button's command, when it was not carried out.
    fn refused(&self, user: &str, reply: &Value) {
        let ours = reply["transaction"]
            .as_str()
            .is_some_and(|name| name.starts_with("ntfy-"));
        if !ours || reply["status"] == "ok" {
            return;
        }
        for one in self.phones.iter().filter(|one| one.user.user == user) {
            let why = reply["error"].as_str().unwrap_or_default();
            let _ = one.mail.send(one.phone.refusal(why, one.user.language));
        }
    }

    fn say(&self, topic: String, retained: bool, payload: String) {
        self.publisher.send(vec![Outgoing {
            topic,
            retained,
            qos: Qos::AtLeastOnce,
            payload: payload.into_bytes(),
            receipt: None,
        }]);
    }
}
