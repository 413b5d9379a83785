//! What the broker shows of the venue, kept for browsers that come later, and told to those that are
//! here.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::publish::{Heard, Topics};

/// News that may wait for one browser. One that is slower is cut, and comes back with a fresh look.
const BACKLOG: usize = 4_096;

/// The venue as the broker shows it. Copies look at the same.
#[derive(Clone)]
pub(super) struct Mirror {
    topics: Topics,
    inner: Arc<Mutex<Inner>>,
    news: broadcast::Sender<Arc<str>>,
}

#[derive(Default)]
struct Inner {
    connected: bool,
    /// What is retained, by the topic's end (`board/3/state`), as JSON text.
    kept: BTreeMap<String, String>,
    /// Who waits for the answer to a command: by user and transaction.
    waiting: HashMap<(String, String), oneshot::Sender<Value>>,
}

impl Mirror {
    pub fn new(topics: Topics) -> Mirror {
        Mirror {
            topics,
            inner: Arc::default(),
            news: broadcast::channel(BACKLOG).0,
        }
    }

    /// Follows the broker until its client ends.
    pub async fn follow(self, mut heard: mpsc::UnboundedReceiver<Heard>) {
        while let Some(heard) = heard.recv().await {
            match heard {
                Heard::Connected => {
                    let mut inner = self.inner();
                    // What is still there comes now; what is not must not stay.
                    inner.kept.clear();
                    inner.connected = true;
                    self.tell(frame("$broker", "\"fresh\""));
                }
                Heard::Lost => {
                    self.inner().connected = false;
                    self.tell(frame("$broker", "\"lost\""));
                }
                Heard::Message { topic, payload, .. } => self.take(&topic, payload),
            }
        }
    }

    fn take(&self, topic: &str, payload: Vec<u8>) {
        let Some(end) = self.topics.end(topic) else {
            return;
        };
        let Ok(text) = String::from_utf8(payload) else {
            return;
        };
        if text.is_empty() {
            self.inner().kept.remove(end);
            return self.tell(frame(end, "null"));
        }
        // A stranger at the broker may publish anything; browsers get JSON only.
        let Ok(value) = serde_json::from_str::<Value>(&text) else {
            return;
        };
        if let Some(user) = end.strip_prefix("reply/") {
            let transaction = value["transaction"].as_str().unwrap_or_default();
            let key = (user.to_owned(), transaction.to_owned());
            if let Some(waiting) = self.inner().waiting.remove(&key) {
                // Who asked may have given up.
                let _ = waiting.send(value);
            }
            return;
        }
        let text = value.to_string();
        if !matches!(
            end.rsplit('/').next(),
            Some("move" | "clock" | "alert-event")
        ) {
            self.inner().kept.insert(end.to_owned(), text.clone());
        }
        if !end.ends_with("/pgn") {
            self.tell(frame(end, &text));
        }
    }

    fn tell(&self, news: String) {
        // Nobody may be looking.
        let _ = self.news.send(news.into());
    }

    /// All that is known as one frame, and the news from then on.
    pub fn look(&self) -> (String, broadcast::Receiver<Arc<str>>) {
        let inner = self.inner();
        let news = self.news.subscribe();
        let mut frames = vec![frame(
            "$broker",
            if inner.connected {
                "\"fresh\""
            } else {
                "\"lost\""
            },
        )];
        let shown = inner.kept.iter().filter(|(end, _)| !end.ends_with("/pgn"));
        frames.extend(shown.map(|(end, text)| frame(end, text)));
        (format!("[{}]", frames.join(",")), news)
    }

    /// The payload of one retained topic.
    pub fn kept(&self, end: &str) -> Option<Value> {
        serde_json::from_str(self.inner().kept.get(end)?).ok()
    }

    /// The broker is there.
    pub fn connected(&self) -> bool {
        self.inner().connected
    }

    /// The answer to this user's transaction, when it comes.
    pub fn expect_reply(&self, user: &str, transaction: &str) -> oneshot::Receiver<Value> {
        let (waiting, reply) = oneshot::channel();
        let mut inner = self.inner();
        inner.waiting.retain(|_, other| !other.is_closed());
        let key = (user.to_owned(), transaction.to_owned());
        inner.waiting.insert(key, waiting);
        reply
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A thread that panicked left the maps whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn frame(end: &str, payload: &str) -> String {
    format!("[{},{payload}]", json!(end))
}
