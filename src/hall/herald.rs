//! Says who the daemon is, and, once, when its journal falls ill or is well again.

use tokio::sync::watch;

use super::Clock;
use crate::{
    journal::Health,
    publish::{
        Publisher, Topics, contract,
        payload::{Info, info},
    },
    words::BoardNo,
};

/// The retained info of one run of the daemon.
pub(super) struct Herald {
    pub topics: Topics,
    pub boot: String,
    pub clock: Clock,
    pub publisher: Publisher,
    pub boards: Vec<BoardNo>,
    pub regime: &'static str,
}

impl Herald {
    /// Speaks now and at each new fault of the journal, and ends with the journal.
    pub async fn run(self, mut health: watch::Receiver<Health>) {
        for seq in 1.. {
            let fault = health.borrow_and_update().fault.clone();
            self.say(seq, fault.as_deref());
            let news = health.wait_for(|health| health.fault != fault).await;
            if news.is_err() {
                return;
            }
        }
    }

    fn say(&self, seq: u64, journal_fault: Option<&str>) {
        let hello = Info {
            version: env!("CARGO_PKG_VERSION"),
            boards: &self.boards,
            regime: self.regime,
            schema: contract::URN,
            journal_fault,
        };
        let message = info(&self.topics, &self.boot, seq, self.clock.wall(), &hello);
        self.publisher.send(vec![message]);
    }
}
