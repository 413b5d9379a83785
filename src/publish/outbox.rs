//! Holds every message until the broker has acknowledged it, and the retained tree the broker must
//! show. Pure: the client asks what to hand over next and tells what was acknowledged.

use std::collections::{BTreeMap, VecDeque};

use super::payload::{Outgoing, Qos};
use crate::words::BoardNo;

/// How many messages may be handed over and not acknowledged. Small enough that little is repeated
/// after a cut, large enough that a round trip to the broker does not hold the hall back.
pub const WINDOW: usize = 16;

struct Entry {
    message: Outgoing,
    acked: bool,
    number: u64,
}

/// Messages in order, none forgotten before its PUBACK; and `topic -> latest payload` of what is
/// retained.
#[derive(Default)]
pub struct Outbox {
    /// Unacknowledged, oldest first; an acknowledged one stays only behind an unacknowledged one.
    entries: VecDeque<Entry>,
    /// So many of `entries`, from the front, are handed over.
    handed: usize,
    /// Entries popped from the front since the connection began: the hand-over number of `entries[0]`.
    popped: u64,
    /// Messages taken since the start.
    taken: u64,
    retained: BTreeMap<String, Outgoing>,
    connected: bool,
    /// What is said once so many of this connection's messages are acknowledged, in order.
    last_word: Option<(u64, Outgoing)>,
    /// The last receipt of each board since they were asked for.
    delivered: BTreeMap<BoardNo, u64>,
}

impl Outbox {
    /// An empty outbox without a connection.
    pub fn new() -> Outbox {
        Outbox::default()
    }

    /// Takes a QoS 1 message. Without a connection a retained one goes to the tree alone: the next
    /// connection asserts the latest of each topic anyway.
    pub fn push(&mut self, message: Outgoing) {
        debug_assert_eq!(message.qos, Qos::AtLeastOnce);
        if message.retained {
            self.retained.insert(message.topic.clone(), message.clone());
            if !self.connected {
                return;
            }
        }
        self.append(message);
    }

    /// The next message to hand over, if the window has room. Call [`Outbox::handed_over`] once the
    /// client has taken it.
    pub fn next_to_hand_over(&self) -> Option<&Outgoing> {
        if !self.connected || self.handed >= WINDOW {
            return None;
        }
        self.entries.get(self.handed).map(|entry| &entry.message)
    }

    /// The client has taken what [`Outbox::next_to_hand_over`] gave.
    pub fn handed_over(&mut self) {
        self.handed = (self.handed + 1).min(self.entries.len());
    }

    /// The broker has acknowledged the `k`-th message handed over on this connection, from 0.
    pub fn acked(&mut self, k: u64) {
        let Some(index) = k.checked_sub(self.popped) else {
            return;
        };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        if index >= self.handed {
            return;
        }
        self.entries[index].acked = true;
        while self.handed > 0 && self.entries[0].acked {
            if let Some(entry) = self.entries.pop_front() {
                self.forget_emptied(&entry.message);
                self.delivered.extend(entry.message.receipt);
            }
            self.handed -= 1;
            self.popped += 1;
        }
        self.say_last_word();
    }

    /// The receipts since the last call: up to these numbers the broker has what each board told.
    pub fn take_delivered(&mut self) -> BTreeMap<BoardNo, u64> {
        std::mem::take(&mut self.delivered)
    }

    /// A new connection stands: everything unacknowledged is due again in order, then the whole
    /// retained tree, and `online`, if we are who says so, once the broker has all of it. Retained
    /// messages still in the list give way to the tree, so that no topic steps back to an older payload.
    pub fn connected(&mut self, online: Option<Outgoing>) {
        self.disconnected();
        self.connected = true;
        let tree: Vec<_> = self.retained.values().cloned().collect();
        for message in tree {
            self.append(message);
        }
        self.last_word = online.map(|online| (self.entries.len() as u64, online));
        self.say_last_word();
    }

    fn say_last_word(&mut self) {
        if let Some((_, online)) = self.last_word.take_if(|(due, _)| *due <= self.popped) {
            self.append(online);
        }
    }

    /// The broker keeps something under this topic. When this run has never told it, it is what an
    /// earlier one left behind, and is emptied; whether it was so.
    pub fn empty_if_strange(&mut self, topic: &str) -> bool {
        let strange = !self.retained.contains_key(topic);
        if strange {
            self.push(Outgoing::emptied(topic.to_owned()));
        }
        strange
    }

    /// The connection is gone: nothing counts as handed over any more.
    pub fn disconnected(&mut self) {
        self.connected = false;
        self.last_word = None;
        self.handed = 0;
        self.popped = 0;
        self.entries
            .retain(|entry| !entry.acked && !entry.message.retained);
    }

    /// A retained message that is no part of the tree, such as the status `stopped`.
    pub fn append(&mut self, message: Outgoing) {
        self.entries.push_back(Entry {
            message,
            acked: false,
            number: self.taken,
        });
        self.taken += 1;
    }

    /// Numbers, in the order of taking, of the oldest message that is not acknowledged and of the next
    /// one to be taken. What is asserted anew on a new connection is taken anew.
    pub fn waiting(&self) -> (Option<u64>, u64) {
        (self.entries.front().map(|entry| entry.number), self.taken)
    }

    /// Messages not acknowledged yet.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Everything is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// An emptied topic needs no asserting once the broker has the empty payload.
    fn forget_emptied(&mut self, message: &Outgoing) {
        let emptied = message.retained && message.payload.is_empty();
        if emptied && self.retained.get(&message.topic) == Some(message) {
            self.retained.remove(&message.topic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(topic: &str, text: &str, retained: bool) -> Outgoing {
        Outgoing {
            topic: topic.to_owned(),
            retained,
            qos: Qos::AtLeastOnce,
            payload: text.as_bytes().to_vec(),
            receipt: None,
        }
    }

    fn online() -> Outgoing {
        message("status", "online", true)
    }

    /// Hands over all the window has room for.
    fn hand_over(outbox: &mut Outbox) -> Vec<String> {
        let mut texts = Vec::new();
        while let Some(next) = outbox.next_to_hand_over() {
            texts.push(String::from_utf8(next.payload.clone()).unwrap());
            outbox.handed_over();
        }
        texts
    }

    #[test]
    fn the_window_holds_back_and_an_ack_makes_room() {
        let mut outbox = Outbox::new();
        for n in 0..40 {
            outbox.push(message("m", &n.to_string(), false));
        }
        assert!(outbox.next_to_hand_over().is_none(), "no connection yet");
        outbox.connected(Some(online()));
        assert_eq!(hand_over(&mut outbox).len(), WINDOW);
        outbox.acked(0);
        assert_eq!(hand_over(&mut outbox), ["16"]);
        assert_eq!(outbox.len(), 39);
    }

    #[test]
    fn acks_out_of_order_and_strange_ones_do_no_harm() {
        let mut outbox = Outbox::new();
        outbox.connected(Some(online()));
        for text in ["a", "b", "c"] {
            outbox.push(message("m", text, false));
        }
        hand_over(&mut outbox);
        outbox.acked(2);
        outbox.acked(99);
        assert_eq!(outbox.len(), 4);
        outbox.acked(0);
        outbox.acked(1);
        outbox.acked(1);
        assert_eq!(outbox.len(), 1);
        outbox.acked(3);
        assert!(outbox.is_empty());
    }

    #[test]
    fn a_new_connection_repeats_the_unacknowledged_then_the_tree_then_says_online() {
        let mut outbox = Outbox::new();
        outbox.connected(Some(online()));
        outbox.push(message("m", "one", false));
        outbox.push(message("state", "old", true));
        outbox.push(message("m", "two", false));
        outbox.push(message("state", "new", true));
        hand_over(&mut outbox);
        outbox.acked(0);
        outbox.acked(1);
        outbox.disconnected();
        outbox.push(message("link", "up", true));
        outbox.push(message("m", "three", false));
        outbox.connected(Some(online()));
        assert_eq!(hand_over(&mut outbox), ["two", "three", "up", "new"]);
        outbox.push(message("m", "four", false));
        for k in 0..3 {
            outbox.acked(k);
        }
        assert_eq!(
            hand_over(&mut outbox),
            ["four"],
            "the tree is not there yet"
        );
        outbox.acked(3);
        assert_eq!(hand_over(&mut outbox), ["online"]);
    }

    #[test]
    fn an_emptied_topic_is_asserted_until_the_broker_has_it() {
        let mut outbox = Outbox::new();
        outbox.push(message("alert", "x", true));
        outbox.push(message("alert", "", true));
        outbox.connected(Some(online()));
        assert_eq!(hand_over(&mut outbox), [""]);
        outbox.connected(Some(online()));
        assert_eq!(hand_over(&mut outbox), [""]);
        outbox.acked(0);
        outbox.connected(Some(online()));
        assert_eq!(hand_over(&mut outbox), ["online"]);
    }

    #[test]
    fn what_an_earlier_run_left_is_emptied_and_what_is_ours_stays() {
        let mut outbox = Outbox::new();
        outbox.push(message("state", "ours", true));
        outbox.connected(None);
        assert!(!outbox.empty_if_strange("state"));
        assert!(outbox.empty_if_strange("alert/old"));
        assert!(!outbox.empty_if_strange("alert/old"), "it is on its way");
        assert_eq!(hand_over(&mut outbox), ["ours", ""]);
    }
}
