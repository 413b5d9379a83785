//! One arbiter's ntfy topic: notices with buttons go out, and what the buttons say comes back on the
//! topic of the same name with `-answers` behind it, so that the phone need not reach the page.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{sync::mpsc, time::sleep};

use super::{
    News, NtfyUser,
    line::{board, loudness, pick, what, who},
};
use crate::laws::Lang;

/// For one notice to be taken.
const PATIENCE: Duration = Duration::from_secs(15);
/// The server says something every 45 s, unless the line is dead.
const SILENCE: Duration = Duration::from_secs(120);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A notice that was not taken for this many tries is of no use any more.
const TRIES: u32 = 12;
/// Longest line of the answers' stream, bytes; ntfy's messages are shorter.
const LONGEST_LINE: usize = 64 * 1024;
/// ntfy's limit is 4,096 bytes a message.
const LONGEST_TEXT: usize = 1_000;
/// What buttons may say; ntfy shows three.
const VERBS: [&str; 3] = ["claim", "confirm", "dismiss"];

/// What a button said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// Which phone, counted from 0.
    pub phone: usize,
    /// ntfy's name for the message.
    pub message: String,
    /// One of the contract.
    pub verb: &'static str,
    /// Which alert.
    pub alert: String,
}

/// The way to one topic.
#[derive(Clone)]
pub(super) struct Phone {
    client: reqwest::Client,
    server: String,
    topic: String,
    token: Option<String>,
}

impl Phone {
    pub fn new(user: &NtfyUser) -> Result<Phone, reqwest::Error> {
        let client = reqwest::Client::builder()
            .user_agent(concat!("atalaya/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(PATIENCE)
            .build()?;
        let (server, topic) = user.url.rsplit_once('/').unwrap_or_default();
        Ok(Phone {
            client,
            server: server.to_owned(),
            topic: topic.to_owned(),
            token: user.token.clone(),
        })
    }

    /// What is shown of an alert.
    pub fn notice(&self, alert: &Value, news: News, lang: Lang) -> Value {
        let name = |side: &str| alert[side].as_str().unwrap_or("?").to_owned();
        let action = alert["action"][lang.code()].as_str().unwrap_or_default();
        let lines = [
            who(alert, news, lang),
            what(alert, lang),
            format!("{} - {}", name("white"), name("black")),
            action.to_owned(),
        ];
        let text: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        let (priority, tag) = match (news, alert["level"].as_str()) {
            (News::Claimed, _) => (2, "ok_hand"),
            (_, Some("urgent")) => (5, "rotating_light"),
            _ => (3, "eyes"),
        };
        json!({
            "topic": self.topic,
            "title": format!("{}: {}", board(alert, lang), loudness(alert, lang)),
            "message": text.join("\n").chars().take(LONGEST_TEXT).collect::<String>(),
            "priority": priority,
            "tags": [tag],
            "actions": if news == News::Claimed { Vec::new() } else { self.buttons(alert, lang) },
        })
    }

    /// Why a button did nothing.
    pub fn refusal(&self, why: &str, lang: Lang) -> Value {
        json!({
            "topic": self.topic,
            "title": pick(lang, "Not done", "No hecho"),
            "message": why,
            "priority": 3,
            "tags": ["x"],
        })
    }

    fn buttons(&self, alert: &Value, lang: Lang) -> Vec<Value> {
        let labels = [
            pick(lang, "I am on my way", "Voy yo"),
            pick(lang, "Confirm", "Confirmar"),
            pick(lang, "Dismiss", "Descartar"),
        ];
        let id = alert["id"].as_str().unwrap_or_default();
        let all = VERBS.into_iter().zip(labels);
        all.filter(|(verb, _)| *verb != "confirm" || alert["counts"] == true)
            .map(|(verb, label)| {
                json!({
                    "action": "http",
                    "label": label,
                    "url": self.answers(),
                    "method": "POST",
                    "body": format!("{verb} {id}"),
                    "clear": true,
                })
            })
            .collect()
    }

    fn answers(&self) -> String {
        format!("{}/{}-answers", self.server, self.topic)
    }

    fn signed(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Hands notices to the server, in order, until there are no more.
    pub async fn deliver(self, mut post: mpsc::UnboundedReceiver<Value>) {
        while let Some(notice) = post.recv().await {
            let mut pause = FIRST_PAUSE;
            for tries in 1..=TRIES {
                let request = self
                    .client
                    .post(format!("{}/", self.server))
                    .timeout(PATIENCE)
                    .body(notice.to_string());
                let why = match self.signed(request).send().await {
                    Ok(answer) if answer.status().is_success() => break,
                    Ok(answer) => {
                        let status = answer.status();
                        if status.is_client_error() && status.as_u16() != 429 {
                            tracing::error!(topic = self.topic, %status, "ntfy refuses a notice");
                            break;
                        }
                        status.to_string()
                    }
                    Err(why) => why.without_url().to_string(),
                };
                tracing::warn!(
                    topic = self.topic,
                    why,
                    tries,
                    "ntfy does not take a notice"
                );
                sleep(pause).await;
                pause = (2 * pause).min(LONGEST_PAUSE);
            }
        }
    }

    /// Hears the buttons. `since` is when to begin, s since 1970; after a gap, at the last one heard.
    pub async fn listen(self, phone: usize, since: i64, out: mpsc::UnboundedSender<Answer>) {
        let mut since = since.to_string();
        let mut pause = FIRST_PAUSE;
        loop {
            let url = format!("{}/json?since={since}", self.answers());
            let answer = self.signed(self.client.get(url)).send().await;
            match answer.and_then(reqwest::Response::error_for_status) {
                Ok(stream) => {
                    pause = FIRST_PAUSE;
                    self.read(stream, phone, &mut since, &out).await;
                }
                Err(why) => {
                    let why = why.without_url();
                    tracing::warn!(topic = self.topic, %why, "ntfy's answers cannot be heard");
                }
            }
            sleep(pause).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    async fn read(
        &self,
        mut stream: reqwest::Response,
        phone: usize,
        since: &mut String,
        out: &mpsc::UnboundedSender<Answer>,
    ) {
        let mut rest = Vec::new();
        while let Ok(Ok(Some(bytes))) = tokio::time::timeout(SILENCE, stream.chunk()).await {
            rest.extend_from_slice(&bytes);
            while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                let Some((message, said)) = message(&line) else {
                    continue;
                };
                match answer(phone, &message, &said) {
                    // The bridge ends with the daemon.
                    Some(answer) => drop(out.send(answer)),
                    None => tracing::warn!(topic = self.topic, "an answer that is no button's"),
                }
                *since = message;
            }
            if rest.len() > LONGEST_LINE {
                return;
            }
        }
    }
}

/// Name and text of a message in the stream; nothing of what only keeps it open.
fn message(line: &[u8]) -> Option<(String, String)> {
    let told: Value = serde_json::from_slice(line).ok()?;
    let text = |key: &str| told[key].as_str().map(str::to_owned);
    (told["event"] == "message").then_some(())?;
    let id = text("id").filter(|id| id.chars().all(|c| c.is_ascii_alphanumeric()))?;
    Some((id, text("message")?))
}

fn answer(phone: usize, message: &str, said: &str) -> Option<Answer> {
    let (verb, alert) = said.trim().split_once(' ')?;
    let verb = VERBS.into_iter().find(|known| *known == verb)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (!alert.is_empty() && alert.len() <= 64 && alert.chars().all(plain)).then(|| Answer {
        phone,
        message: message.to_owned(),
        verb,
        alert: alert.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_button_is_heard() {
        let line = br#"{"id":"x1","time":1,"event":"message","topic":"t","message":"claim b3-9f"}"#;
        let (id, said) = message(line).expect("a message");
        let heard = answer(0, &id, &said).expect("a button");
        assert_eq!((heard.verb, heard.alert.as_str()), ("claim", "b3-9f"));
        for nothing in [
            &br#"{"id":"x1","event":"keepalive"}"#[..],
            br#"{"id":"../x","event":"message","message":"claim b3-9f"}"#,
            b"{",
            b"",
        ] {
            assert_eq!(message(nothing), None);
        }
        for said in [
            "claim",
            "adopt b3-9f",
            "claim b3/9f",
            "claim ",
            "hello there",
        ] {
            assert_eq!(answer(0, "x1", said), None, "{said}");
        }
    }
}
