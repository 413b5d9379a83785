//! Says who the daemon is, and, once, when its journal falls ill or is well again, and what else the
//! operator has to look at.

use tokio::sync::watch;

use super::{
    Clock, Plan, Plans,
    lookout::{Lookout, faults, logs_itself},
};
use crate::{
    journal::Health,
    publish::{
        Publisher, Topics, contract,
        payload::{Fault, Info, info},
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
    pub lookout: Lookout,
}

impl Herald {
    /// Speaks now, at each new plan and at each new fault, and ends with the journal.
    pub async fn run(mut self, mut health: watch::Receiver<Health>) {
        let mut view = self.lookout.view();
        let mut known = Vec::new();
        for seq in 1.. {
            let fault = health.borrow_and_update().fault.clone();
            let plan = self.plans.borrow_and_update().clone();
            let faults = faults(&plan, &view.borrow_and_update());
            let news = faults.iter().filter(|fault| !known.contains(*fault));
            for fault in news.filter(|fault| !logs_itself(fault)) {
                let board = fault.board.map(|board| board.to_string());
                tracing::warn!(board, fault.code, about = ?fault.about, "this does not go together");
            }
            known = faults;
            self.say(seq, &plan, fault.as_deref(), &known);
            loop {
                tokio::select! {
                    news = health.wait_for(|health| health.fault != fault) => match news {
                        Ok(_) => break,
                        Err(_) => return,
                    },
                    Ok(()) = self.plans.changed() => break,
                    Ok(()) = view.changed() => {
                        let now = self::faults(&plan, &view.borrow_and_update());
                        if now != known {
                            break;
                        }
                    }
                }
            }
        }
    }

    fn say(&self, seq: u64, plan: &Plan, journal_fault: Option<&str>, faults: &[Fault]) {
        let boards = plan.settings.boards.iter();
        let boards: Vec<BoardNo> = boards.map(|board| BoardNo(board.number)).collect();
        let hello = Info {
            version: env!("CARGO_PKG_VERSION"),
            boards: &boards,
            regime: plan.settings.event.regime.name(),
            schema: contract::URN,
            journal_fault,
            faults,
        };
        let message = info(&self.topics, &self.boot, seq, self.clock.wall(), &hello);
        self.publisher.send(vec![message]);
    }
}
