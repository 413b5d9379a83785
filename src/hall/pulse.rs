//! The pulse that goes through the daemon's loops: only while each of them comes by is the watchdog of
//! systemd told that all is well.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{oneshot, watch};

/// The loops that must move. Copies know the same ones.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Rises with each beat; who hears of it has moved.
    round: watch::Sender<u64>,
    loops: Mutex<Loops>,
}

#[derive(Debug, Default)]
struct Loops {
    next: u64,
    moving: BTreeMap<u64, Moving>,
    /// Those found standing by the last check.
    standing: Vec<Standing>,
}

/// A loop that stands still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its name.
    pub name: String,
    /// The daemon is of no use without it, and is better started again.
    pub vital: bool,
}

#[derive(Debug)]
struct Moving {
    name: String,
    vital: bool,
    /// The last round it answered.
    answered: u64,
}

impl Default for Pulse {
    fn default() -> Pulse {
        Pulse(Arc::new(Inner {
            round: watch::Sender::new(0),
            loops: Mutex::default(),
        }))
    }
}

impl Pulse {
    /// From now on a loop of this name must come by at each beat, until the [`Beat`] is dropped. A loop
    /// that panics stays on the list, and stands still.
    pub fn watch(&self, name: impl Into<String>) -> Beat {
        self.add(name.into(), true)
    }

    /// The same for a loop whose standing still is told, but is no reason to start the daemon again.
    pub fn watch_aside(&self, name: impl Into<String>) -> Beat {
        self.add(name.into(), false)
    }

    fn add(&self, name: String, vital: bool) -> Beat {
        let round = self.0.round.subscribe();
        let mut loops = self.0.loops();
        let id = loops.next;
        loops.next += 1;
        let moving = Moving {
            name,
            vital,
            answered: *round.borrow(),
        };
        loops.moving.insert(id, moving);
        Beat {
            pulse: Arc::clone(&self.0),
            id,
            round,
        }
    }

    /// Whether every vital loop has come by since the last check, and if so begins the next round. A
    /// loop that stands still is named in the log, once, and so is its coming back.
    pub fn check(&self) -> bool {
        let round = *self.0.round.borrow();
        let mut loops = self.0.loops();
        let still = loops.moving.values().filter(|one| one.answered != round);
        let still: Vec<Standing> = still
            .map(|one| Standing {
                name: one.name.clone(),
                vital: one.vital,
            })
            .collect();
        let before = std::mem::replace(&mut loops.standing, still.clone());
        // The log may block, and whoever asks how we stand is not to wait for it.
        drop(loops);
        for one in still.iter().filter(|one| !before.contains(one)) {
            tracing::error!(name = one.name, "a loop of the daemon stands still");
        }
        for one in before.iter().filter(|one| !still.contains(one)) {
            tracing::info!(name = one.name, "a loop of the daemon moves again");
        }
        let all = still.iter().all(|one| !one.vital);
        if all {
            self.0.round.send_modify(|round| *round += 1);
        }
        all
    }

    /// The loops that the last check found standing still.
    pub fn standing(&self) -> Vec<Standing> {
        self.0.loops().standing.clone()
    }
}

impl Inner {
    fn loops(&self) -> MutexGuard<'_, Loops> {
        // A thread that panicked left the lists whole.
        self.loops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A loop's part in the pulse.
#[derive(Debug)]
pub struct Beat {
    pulse: Arc<Inner>,
    id: u64,
    round: watch::Receiver<u64>,
}

impl Beat {
    /// Resolves at each beat: a loop that selects on it moves. May be dropped half-way.
    pub async fn felt(&mut self) {
        let round = self.asked().await;
        self.answer(round);
    }

    /// Answers for a loop elsewhere, which says itself whether it moves; ends with that loop.
    pub async fn relay(mut self, ask: impl Fn() -> oneshot::Receiver<()>) {
        loop {
            let round = self.asked().await;
            if ask().await.is_err() {
                // it has ended, in order or not: at the stop nobody checks any more
                std::future::pending::<()>().await;
            }
            self.answer(round);
        }
    }

    async fn asked(&mut self) -> u64 {
        // the sender lives as long as we hold the pulse
        let _ = self.round.changed().await;
        *self.round.borrow_and_update()
    }

    fn answer(&self, round: u64) {
        if let Some(moving) = self.pulse.loops().moving.get_mut(&self.id) {
            moving.answered = round;
        }
    }
}

impl Drop for Beat {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.pulse.loops().moving.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pulse: &Pulse) -> Vec<String> {
        let standing = pulse.standing().into_iter();
        standing.map(|one| one.name).collect()
    }

    #[tokio::test]
    async fn a_loop_aside_is_named_and_holds_nobody_up() {
        let pulse = Pulse::default();
        let mut aside = pulse.watch_aside("journal");
        assert!(pulse.check());
        assert!(pulse.check());
        assert_eq!(names(&pulse), ["journal"]);
        aside.felt().await;
        assert!(pulse.check());
        assert!(pulse.standing().is_empty());
    }

    /// Lets all other tasks of this test's only thread go on until they wait.
    async fn others_go_on() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_loop_that_stands_still_is_named_until_it_moves() {
        let pulse = Pulse::default();
        let (mut quick, mut slow) = (pulse.watch("quick"), pulse.watch("slow"));
        assert!(pulse.check(), "nobody was asked yet");
        quick.felt().await;
        assert!(!pulse.check());
        assert!(!pulse.check(), "the same round, until all have answered");
        assert_eq!(names(&pulse), ["slow"]);
        slow.felt().await;
        assert!(pulse.check());
        assert!(pulse.standing().is_empty());
    }

    #[tokio::test]
    async fn a_loop_that_ended_is_asked_no_more_and_one_that_panicked_stays() {
        let pulse = Pulse::default();
        drop(pulse.watch("ended"));
        let mut beat = pulse.watch("board 3");
        let task = tokio::spawn(async move {
            beat.felt().await;
            panic!("as a fault in a loop would");
        });
        assert!(pulse.check());
        assert!(task.await.is_err());
        assert!(pulse.check(), "it answered before");
        assert!(!pulse.check());
        assert_eq!(names(&pulse), ["board 3"]);
    }

    #[tokio::test]
    async fn a_loop_elsewhere_is_asked_and_its_end_is_not_taken_for_an_answer() {
        let pulse = Pulse::default();
        let (asked, mut inbox) = tokio::sync::mpsc::unbounded_channel();
        let beat = pulse.watch("journal");
        tokio::spawn(beat.relay(move || {
            let (sender, receiver) = oneshot::channel();
            let _ = asked.send(sender);
            receiver
        }));
        assert!(pulse.check());
        others_go_on().await;
        assert!(!pulse.check());
        inbox.recv().await.unwrap().send(()).unwrap();
        others_go_on().await;
        assert!(pulse.check());
        drop(inbox);
        others_go_on().await;
        assert!(!pulse.check());
    }
}
