//! What is counted, for Prometheus (operations.md 5): its prefix, base units and `_total`. Nothing here
//! names a player or a move.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
};

use jiff::Timestamp;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, text},
    metrics::{
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::{ConstGauge, Gauge},
        histogram::{Histogram, exponential_buckets},
        info::Info,
    },
    registry::Registry,
};

use crate::{
    dgt::Message,
    incident::{Alert, AlertChange, Level, Status},
    journal::Journal,
    monitor::{LinkState, Monitor, Output},
    publish::Publisher,
    words::{At, BoardNo},
};

/// Every name begins so.
const PREFIX: &str = "atalaya";
/// Each state of a link, so that one that no board is in shows as zero.
const STATES: [LinkState; 4] = [
    LinkState::Up,
    LinkState::Silent,
    LinkState::Lost,
    LinkState::Absent,
];

/// A gauge of seconds.
type Seconds = Gauge<f64, AtomicU64>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfBoard {
    board: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfFrames {
    board: u16,
    r#type: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfAlert {
    rule: &'static str,
    severity: &'static str,
    outcome: &'static str,
}

/// All that is counted. Copies count together.
#[derive(Debug, Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    bytes: Family<OfBoard, Counter>,
    frames: Family<OfFrames, Counter>,
    resyncs: Family<OfBoard, Counter>,
    reconnects: Family<OfBoard, Counter>,
    heard: Family<OfBoard, Seconds>,
    plies: Family<OfBoard, Counter>,
    inference: Histogram,
    gap: Histogram,
    alerts: Family<OfAlert, Counter>,
    detect: Histogram,
    ack: Histogram,
    kick: Seconds,
    links: Links,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// How each board's cable is.
#[derive(Debug, Clone, Default)]
struct Links(Arc<Mutex<BTreeMap<BoardNo, LinkState>>>);

impl Links {
    fn all(&self) -> MutexGuard<'_, BTreeMap<BoardNo, LinkState>> {
        // A thread that panicked left the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Metrics {
    /// Counts from zero; what journal and client count themselves is shown beside it.
    pub fn new(journal: &Journal, publisher: &Publisher) -> Metrics {
        let mut registry = Registry::with_prefix(PREFIX);
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program", version);
        let links = Links::default();
        registry.register_collector(Box::new(Standing {
            links: links.clone(),
            journal: journal.clone(),
            publisher: publisher.clone(),
        }));
        let (disk, broker) = (journal.figures(), publisher.figures());
        registry.register(
            "journal_bytes",
            "Bytes of the journal on disk since the start",
            disk.written.clone(),
        );
        registry.register(
            "journal_sync_duration_seconds",
            "How long the disk took for what had gathered",
            disk.sync.clone(),
        );
        registry.register(
            "mqtt_acknowledged",
            "QoS 1 messages that the broker has",
            broker.acknowledged.clone(),
        );
        registry.register(
            "mqtt_dropped",
            "Messages dropped: QoS 0 without a connection, and impossible ones",
            broker.dropped.clone(),
        );
        registry.register(
            "mqtt_outbox_messages",
            "QoS 1 messages that wait for the broker's word",
            broker.waiting.clone(),
        );
        registry.register(
            "mqtt_connections",
            "Connections to the broker since the start",
            broker.connections.clone(),
        );
        let mut inner = Inner {
            registry,
            bytes: Family::default(),
            frames: Family::default(),
            resyncs: Family::default(),
            reconnects: Family::default(),
            heard: Family::default(),
            plies: Family::default(),
            // 2 us, an ordinary byte, to 0.13 s
            inference: Histogram::new(exponential_buckets(2e-6, 4.0, 9)),
            gap: Histogram::new([1.0, 2.0, 3.0, 4.0, 8.0, 16.0]),
            alerts: Family::default(),
            detect: Histogram::new(exponential_buckets(0.125, 2.0, 8)),
            ack: Histogram::new(exponential_buckets(1.0, 2.0, 10)),
            kick: Seconds::default(),
            links,
        };
        inner.register();
        Metrics(Arc::new(inner))
    }

    /// What is counted of one board.
    pub fn meter(&self, board: BoardNo, monitor: &Monitor) -> Meter {
        let inner = &self.0;
        let label = OfBoard { board: board.0 };
        let frames = |r#type| {
            let board = board.0;
            inner
                .frames
                .get_or_create_owned(&OfFrames { board, r#type })
        };
        inner.links.all().entry(board).or_insert(LinkState::Absent);
        Meter {
            bytes: inner.bytes.get_or_create_owned(&label),
            frames: Message::KINDS.map(frames),
            resyncs: inner.resyncs.get_or_create_owned(&label),
            reconnects: inner.reconnects.get_or_create_owned(&label),
            heard: inner.heard.get_or_create_owned(&label),
            plies: inner.plies.get_or_create_owned(&label),
            board,
            opened: false,
            read: Read::of(monitor),
            metrics: self.clone(),
        }
    }

    /// The watchdog of systemd was told that all is well.
    pub fn kicked(&self, now: Timestamp) {
        self.0.kick.set(seconds(now));
    }

    /// How many boards are up, and how many are watched.
    pub fn boards_up(&self) -> (usize, usize) {
        let links = self.0.links.all();
        let up = links.values().filter(|state| **state == LinkState::Up);
        (up.count(), links.len())
    }

    /// All of it, as OpenMetrics text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = text::encode(&mut text, &self.0.registry);
        text
    }
}

impl Inner {
    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "serial_bytes",
            "Bytes read from a board",
            self.bytes.clone(),
        );
        registry.register(
            "serial_frames",
            "Messages read from a board, by their kind",
            self.frames.clone(),
        );
        registry.register(
            "serial_resyncs",
            "Bytes of a board that were part of no message",
            self.resyncs.clone(),
        );
        registry.register(
            "serial_reconnects",
            "How often a board's port was opened again",
            self.reconnects.clone(),
        );
        registry.register(
            "board_last_frame_timestamp_seconds",
            "When a board was heard last, by the wall clock",
            self.heard.clone(),
        );
        registry.register("plies", "Plies of a board made final", self.plies.clone());
        registry.register(
            "inference_duration_seconds",
            "How long the core took for one thing that happened",
            self.inference.clone(),
        );
        registry.register(
            "inference_gap_plies",
            "Plies made final at one stroke: 1 as a rule, more where updates were lost or late, or an arbiter entered them",
            self.gap.clone(),
        );
        registry.register(
            "alerts",
            "Alerts, raised and by how they ended",
            self.alerts.clone(),
        );
        registry.register(
            "alert_detect_seconds",
            "From the press seen to the alert raised",
            self.detect.clone(),
        );
        registry.register(
            "alert_ack_seconds",
            "From the alert raised to an arbiter on the way",
            self.ack.clone(),
        );
        registry.register(
            "watchdog_last_kick_timestamp_seconds",
            "When the watchdog was last told that all loops move; 0 without one",
            self.kick.clone(),
        );
    }

    fn alert(&self, change: AlertChange, alert: &Alert, now: At) {
        let passed = |since: At| now.ms_since(since) as f64 / 1000.0;
        let outcome = match (change, alert.status) {
            (AlertChange::Raised, _) => {
                if let Some(pressed) = alert.pressed {
                    self.detect.observe(passed(pressed));
                }
                "raised"
            }
            (AlertChange::Claimed, _) => {
                self.ack.observe(passed(alert.raised));
                return;
            }
            (AlertChange::Updated, _) | (_, Status::Open | Status::Claimed) => return,
            (_, Status::Confirmed) => "confirmed",
            (_, Status::Dismissed) => "dismissed",
            (_, Status::Corrected) => "corrected",
            (_, Status::Stands) => "stands",
        };
        let label = OfAlert {
            rule: alert.finding.code.as_str(),
            severity: match alert.level {
                Level::Info => "info",
                Level::Check => "check",
                Level::Urgent => "urgent",
            },
            outcome,
        };
        self.alerts.get_or_create(&label).inc();
    }
}

/// How far a monitor has read.
#[derive(Debug, Clone, Copy)]
struct Read {
    messages: [u64; Message::KINDS.len()],
    skipped: u64,
}

impl Read {
    fn of(monitor: &Monitor) -> Read {
        Read {
            messages: monitor.messages_by_kind(),
            skipped: monitor.noise().0,
        }
    }
}

/// What is counted of one board.
#[derive(Debug)]
pub struct Meter {
    bytes: Counter,
    /// By [`Message::kind`].
    frames: [Counter; Message::KINDS.len()],
    resyncs: Counter,
    reconnects: Counter,
    heard: Seconds,
    plies: Counter,
    board: BoardNo,
    opened: bool,
    read: Read,
    metrics: Metrics,
}

impl Meter {
    /// Its port was opened.
    pub fn opened(&mut self) {
        if std::mem::replace(&mut self.opened, true) {
            self.reconnects.inc();
        }
    }

    /// Bytes came.
    pub fn bytes(&self, count: usize, now: Timestamp) {
        self.bytes.inc_by(count as u64);
        self.heard.set(seconds(now));
    }

    /// The monitor was at work for so many seconds.
    pub fn worked(&mut self, monitor: &Monitor, seconds: f64) {
        self.metrics.0.inference.observe(seconds);
        let (before, now) = (self.read, Read::of(monitor));
        self.read = now;
        let read = now.messages.iter().zip(before.messages);
        for (counter, (now, before)) in self.frames.iter().zip(read) {
            counter.inc_by(now.saturating_sub(before));
        }
        let skipped = now.skipped.saturating_sub(before.skipped);
        self.resyncs.inc_by(skipped);
    }

    /// The monitor said something.
    pub fn said(&self, output: &Output, now: At) {
        match output {
            Output::Ply(_) => drop(self.plies.inc()),
            Output::Link(report) => {
                self.metrics.0.links.all().insert(self.board, report.state);
            }
            Output::Alert { change, alert } => self.metrics.0.alert(*change, alert, now),
            _ => {}
        }
    }

    /// The monitor has said all that one input made it say, so many plies among it.
    pub fn made_final(&self, plies: usize) {
        if plies > 0 {
            self.metrics.0.gap.observe(plies as f64);
        }
    }

    /// The board is named no more.
    pub fn gone(&self) {
        self.metrics.0.links.all().remove(&self.board);
    }
}

fn seconds(moment: Timestamp) -> f64 {
    moment.as_millisecond() as f64 / 1000.0
}

/// What is looked up at the moment somebody asks.
#[derive(Debug)]
struct Standing {
    links: Links,
    journal: Journal,
    publisher: Publisher,
}

impl Collector for Standing {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let links = self.links.all().clone();
        let boards = Family::<OfState, Gauge>::default();
        for state in STATES {
            let so = links.values().filter(|one| **one == state).count();
            let state = state_name(state);
            let gauge = boards.get_or_create_owned(&OfState { state });
            gauge.set(i64::try_from(so).unwrap_or(i64::MAX));
        }
        let mut tell = |name: &str, help: &str, metric: &dyn EncodeMetric| {
            let described = encoder.encode_descriptor(name, help, None, metric.metric_type())?;
            metric.encode(described)
        };
        tell("boards", "Boards watched, by how their cable is", &boards)?;
        let connected = i64::from(*self.publisher.connected().borrow());
        tell(
            "mqtt_connected",
            "Whether the broker is there",
            &ConstGauge::new(connected),
        )?;
        tell(
            "mqtt_outbox_oldest_seconds",
            "How long the oldest of them waits; 0 without one",
            &ConstGauge::new(self.publisher.figures().oldest_s()),
        )?;
        let health = self.journal.health().borrow().clone();
        let fault = i64::from(health.fault.is_some());
        tell(
            "journal_fault",
            "Whether the disk refuses the journal",
            &ConstGauge::new(fault),
        )?;
        tell(
            "journal_errors",
            "Failed attempts to write the journal",
            &ConstCounter::new(health.failures),
        )?;
        tell(
            "journal_lost_entries",
            "Entries that will never be on disk",
            &ConstCounter::new(health.lost),
        )?;
        if let Some(used) = Used::by_us() {
            tell(
                "process_resident_memory_bytes",
                "Memory in use",
                &ConstGauge::new(used.memory),
            )?;
            tell(
                "process_cpu_seconds",
                "Processor time used",
                &ConstCounter::new(used.cpu_s),
            )?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfState {
    state: &'static str,
}

const fn state_name(state: LinkState) -> &'static str {
    match state {
        LinkState::Up => "up",
        LinkState::Silent => "silent",
        LinkState::Lost => "lost",
        LinkState::Absent => "absent",
    }
}

/// What this process uses of the machine.
struct Used {
    memory: i64,
    cpu_s: f64,
}

impl Used {
    /// `None` where the system does not say.
    fn by_us() -> Option<Used> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        let usage =
            nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).ok()?;
        let spent = usage.user_time() + usage.system_time();
        Some(Used {
            memory: kib * 1024,
            cpu_s: spent.tv_sec() as f64 + spent.tv_usec() as f64 / 1e6,
        })
    }
}
