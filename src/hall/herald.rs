//! Says who the daemon is, and, once, when its journal falls ill or is well again.

use tokio::sync::watch;

use super::{Clock, Plans};
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
    pub plans: Plans,
}

impl Herald {
    /// Speaks now, at each new plan and at each new fault of the journal, and ends with the journal.
    pub async fn run(mut self, mut health: watch::Receiver<Health>) {
        for seq in 1.. {
            let fault = health.borrow_and_update().fault.clone();
            self.say(seq, fault.as_deref());
            tokio::select! {
                news = health.wait_for(|health| health.fault != fault) => if news.is_err() {
                    return;
                },
                Ok(()) = self.plans.changed() => {}
            }
        }
    }

    fn say(&mut self, seq: u64, journal_fault: Option<&str>) {
        let plan = self.plans.borrow_and_update().clone();
        let boards = plan.settings.boards.iter();
        let boards: Vec<BoardNo> = boards.map(|board| BoardNo(board.number)).collect();
        let hello = Info {
            version: env!("CARGO_PKG_VERSION"),
            boards: &boards,
            regime: plan.settings.event.regime.name(),
            schema: contract::URN,
            journal_fault,
        };
        let message = info(&self.topics, &self.boot, seq, self.clock.wall(), &hello);
        self.publisher.send(vec![message]);
    }
}
