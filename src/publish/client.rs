//! The MQTT client: a stub that never blocks and an actor that loses nothing. The only file that
//! knows rumqttc.
//!
//! The crate forgets queued and unacknowledged messages when a broker comes back without the session
//! (its `eventloop.rs`, `clean` and `poll`). So each connection gets a client and an event loop of
//! its own, at most [`outbox::WINDOW`](super::outbox::WINDOW) messages are handed over, and all that
//! has no PUBACK is handed over again, in order, on the next one.
#![expect(
    clippy::disallowed_methods,
    reason = "its own waits, and the label of its own status message"
)]

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use prometheus_client::metrics::{counter::Counter, gauge::Gauge};
use rumqttc::{
    AsyncClient, Event, EventLoop, LastWill, MqttOptions, Packet, QoS, SubscribeFilter, Transport,
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::{Instant, sleep, sleep_until, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{
    outbox::Outbox,
    payload::{DaemonState, Outgoing, Qos, status},
    tls::{Tls, Tunnel},
    topic::Topics,
};
use crate::words::BoardNo;

/// Largest packet either way, bytes. A whole game's PGN is a few thousand.
pub const MAX_PACKET: usize = 1 << 20;
/// Largest packet we read, bytes. Above what any broker should let through (our own takes half of it):
/// a longer one cuts the connection, and a command that is only too long is to be refused in words.
const MAX_HEARD: usize = 4 << 20;
/// Fixed header, topic length and packet id of a PUBLISH, generously.
const PACKET_OVERHEAD: usize = 16;
/// Room in the crate's channel: the window, and as many QoS 0 messages again as a busy hall gives in
/// one turn of the loop.
const CHANNEL: usize = 256;
/// The crate's own limit must never be reached, or it would reuse packet ids.
const INFLIGHT: u16 = 1_000;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// A connection that lived so long was a good one: the pauses start short again.
const GOOD_LIFE: Duration = Duration::from_secs(5);
const STOP_PATIENCE: Duration = Duration::from_secs(3);
/// So long after the last retained message of an earlier run nothing more of it is expected.
const SWEEP: Duration = Duration::from_secs(5);

/// Which broker, and who we are.
#[derive(Clone)]
pub struct ClientSettings {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// TLS, to the same host and port.
    pub tls: Option<Tls>,
    /// MQTT client id; two clients with the same one throw each other out.
    pub client_id: String,
    /// User name and password.
    pub login: Option<(String, String)>,
    /// Half the time after which a silent broker is given up; whole seconds, at least 1.
    pub keep_alive: Duration,
    /// Who says online and offline; only the daemon does.
    pub status: Option<StatusWords>,
    /// What is listened to.
    pub hear: Option<Hear>,
}

/// What the status topic needs.
#[derive(Clone)]
pub struct StatusWords {
    /// The venue.
    pub topics: Topics,
    /// Names this run of the daemon.
    pub boot: String,
}

/// Topics subscribed to on each connection, and who hears them.
#[derive(Clone)]
pub struct Hear {
    /// Topic filters.
    pub filters: Vec<String>,
    /// Gets all that comes.
    pub ear: mpsc::UnboundedSender<Heard>,
}

/// News from the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The connection stands; all that is retained comes now.
    Connected,
    /// The connection is gone.
    Lost,
    /// A message.
    Message {
        /// Its topic.
        topic: String,
        /// Its bytes.
        payload: Vec<u8>,
        /// The broker had kept it.
        retained: bool,
    },
}

/// What the stub tells the actor.
#[derive(Debug)]
enum Word {
    Message(Outgoing),
    Settled,
    Moving(oneshot::Sender<()>),
}

/// What the client counts since the start. Copies count together.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// QoS 1 messages that the broker has.
    pub acknowledged: Counter,
    /// Messages dropped: QoS 0 without a connection or room, and impossible ones.
    pub dropped: Counter,
    /// QoS 1 messages that wait for their acknowledgement now.
    pub waiting: Gauge,
    /// Connections that stood.
    pub connections: Counter,
    /// Since when the oldest of `waiting` waits.
    oldest: Arc<Mutex<Option<Instant>>>,
}

impl Figures {
    /// How long the oldest message that waits for its acknowledgement has done so, s; 0 without one.
    pub fn oldest_s(&self) -> f64 {
        let oldest = *self.oldest.lock().unwrap_or_else(PoisonError::into_inner);
        oldest.map_or(0.0, |since| since.elapsed().as_secs_f64())
    }
}

/// The stub: hands messages to the actor, from anywhere, without waiting.
#[derive(Debug, Clone)]
pub struct Publisher {
    inbox: mpsc::UnboundedSender<Word>,
    connected: watch::Receiver<bool>,
    delivered: watch::Receiver<BTreeMap<BoardNo, u64>>,
    complaint: watch::Receiver<Option<String>>,
    figures: Figures,
}

impl Publisher {
    /// Takes the messages, in order. QoS 1 is kept until the broker has it. QoS 0 without a
    /// connection is dropped, and so is a message no broker would take.
    pub fn send(&self, messages: Vec<Outgoing>) {
        for message in messages {
            let size = message.payload.len() + message.topic.len() + PACKET_OVERHEAD;
            if size > MAX_PACKET || message.topic.contains(['+', '#']) {
                // one such message would break every connection that tries it
                tracing::error!(topic = message.topic, size, "message cannot be published");
                self.figures.dropped.inc();
            } else if message.qos == Qos::AtMostOnce && !*self.connected.borrow() {
                self.figures.dropped.inc();
            } else {
                // the actor is gone only when the daemon is stopping
                let _ = self.inbox.send(Word::Message(message));
            }
        }
    }

    /// All that this run retains has been sent once. From now on what the broker keeps for the boards
    /// and alerts of the venue beside it is of an earlier run, and is emptied.
    pub fn settled(&self) {
        let _ = self.inbox.send(Word::Settled);
    }

    /// Whether the broker is there now, and each change of it.
    pub fn connected(&self) -> watch::Receiver<bool> {
        self.connected.clone()
    }

    /// Why there is no connection, as it was last found out.
    pub fn complaint(&self) -> Option<String> {
        self.complaint.borrow().clone()
    }

    /// Up to which number the broker has what each board told, and each change of it: all boards
    /// that had a receipt since the start.
    pub fn delivered(&self) -> watch::Receiver<BTreeMap<BoardNo, u64>> {
        self.delivered.clone()
    }

    /// Resolves when the actor comes by, connected or not; an error when it is gone.
    pub fn moving(&self) -> oneshot::Receiver<()> {
        let (asked, moves) = oneshot::channel();
        // an actor that is gone drops it, which says so
        let _ = self.inbox.send(Word::Moving(asked));
        moves
    }

    /// What it counts.
    pub const fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Messages dropped since the start: QoS 0 without a connection or room, and impossible ones.
    pub fn dropped(&self) -> u64 {
        self.figures.dropped.get()
    }
}

/// The stub and the actor that does the work; spawn [`Actor::run`].
pub fn channel(settings: ClientSettings) -> (Publisher, Actor) {
    let (inbox, messages) = mpsc::unbounded_channel();
    let (connected_now, connected) = watch::channel(false);
    let figures = Figures::default();
    let (delivered_now, delivered) = watch::channel(BTreeMap::new());
    let (complaint_now, complaint) = watch::channel(None);
    let actor = Actor {
        settings,
        messages,
        connected_now,
        delivered_now,
        figures: figures.clone(),
        outbox: Outbox::new(),
        ages: Ages::default(),
        connections: 0,
        complaint: complaint_now,
        settled: false,
        strange: BTreeSet::new(),
        tunnel: None,
    };
    let publisher = Publisher {
        inbox,
        connected,
        delivered,
        complaint,
        figures,
    };
    (publisher, actor)
}

/// Owns the outbox and the connection.
pub struct Actor {
    settings: ClientSettings,
    messages: mpsc::UnboundedReceiver<Word>,
    connected_now: watch::Sender<bool>,
    delivered_now: watch::Sender<BTreeMap<BoardNo, u64>>,
    figures: Figures,
    outbox: Outbox,
    ages: Ages,
    connections: u64,
    /// Why there is no connection, as last logged.
    complaint: watch::Sender<Option<String>>,
    /// All that this run retains has been sent once.
    settled: bool,
    /// Topics that this broker keeps and that are not ours, until we are settled.
    strange: BTreeSet<String>,
    tunnel: Option<Tunnel>,
}

/// How a connection ended.
enum End {
    Broken,
    Stop,
}

impl Actor {
    /// Publishes until `stop` (or until every stub is gone), then says `stopped`, waits up to 3 s for
    /// the acknowledgements and disconnects.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut pause = FIRST_PAUSE;
        loop {
            let options = match self.options() {
                Ok(options) => options,
                Err(why) => {
                    self.complain(why.to_string());
                    if self.rest(LONGEST_PAUSE, &stop).await {
                        return;
                    }
                    continue;
                }
            };
            let mut epoch = Epoch::open(options);
            let end = self.serve(&mut epoch, &stop).await;
            if matches!(end, End::Stop) {
                self.say_stopped(&mut epoch).await;
            }
            self.outbox.disconnected();
            if self.connected_now.send_replace(false) {
                self.tell(Heard::Lost);
            }
            if matches!(end, End::Stop) {
                return;
            }
            if epoch
                .connected
                .is_some_and(|since| since.elapsed() > GOOD_LIFE)
            {
                pause = FIRST_PAUSE;
            }
            // jitter, so that the daemons of many venues do not all come back at once
            let jittered = pause.mul_f64(0.5 + fastrand::f64() / 2.0);
            if self.rest(jittered, &stop).await {
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// One connection, from CONNECT to its end.
    async fn serve(&mut self, epoch: &mut Epoch, stop: &CancellationToken) -> End {
        loop {
            let sweeping = epoch.sweeping;
            tokio::select! {
                () = stop.cancelled() => return End::Stop,
                word = self.messages.recv() => match word {
                    Some(word) => self.take(word, epoch),
                    None => return End::Stop,
                },
                progress = epoch.progress() => match progress {
                    Some(progress) => self.follow(progress, epoch),
                    None => return End::Broken,
                },
                () = until(sweeping), if self.settled => self.end_sweep(epoch),
            }
            self.fill(epoch);
            self.count_waiting();
        }
    }

    /// Waits before the next connection, still taking messages; true when told to stop.
    async fn rest(&mut self, pause: Duration, stop: &CancellationToken) -> bool {
        let pause = sleep(pause);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = stop.cancelled() => return true,
                () = &mut pause => return false,
                word = self.messages.recv() => match word {
                    Some(Word::Settled) => self.settled = true,
                    Some(Word::Moving(asked)) => moves(asked),
                    Some(Word::Message(message)) if message.qos == Qos::AtLeastOnce => {
                        self.outbox.push(message);
                    }
                    Some(Word::Message(_)) => self.count_dropped(),
                    None => return true,
                },
            }
            self.count_waiting();
        }
    }

    fn take(&mut self, word: Word, epoch: &Epoch) {
        let message = match word {
            Word::Message(message) => message,
            Word::Settled => {
                self.settled = true;
                for topic in std::mem::take(&mut self.strange) {
                    self.sweep(topic);
                }
                return;
            }
            Word::Moving(asked) => return moves(asked),
        };
        match message.qos {
            Qos::AtLeastOnce => self.outbox.push(message),
            Qos::AtMostOnce if *self.connected_now.borrow() && epoch.publish(&message) => {}
            Qos::AtMostOnce => self.count_dropped(),
        }
    }

    fn follow(&mut self, progress: Progress, epoch: &mut Epoch) {
        match progress {
            Progress::Connected => {
                self.connections += 1;
                self.figures.connections.inc();
                self.complaint.send_replace(None);
                epoch.connected = Some(Instant::now());
                let online = self.status(DaemonState::Online);
                self.outbox.connected(online);
                self.connected_now.send_replace(true);
                self.tell(Heard::Connected);
                if let Some(StatusWords { topics, .. }) = &self.settings.status {
                    self.strange.clear();
                    epoch.subscribe(&topics.kept(), QoS::AtMostOnce);
                    epoch.sweeping = Some(Instant::now() + SWEEP);
                }
                if let Some(hear) = &self.settings.hear {
                    epoch.subscribe(&hear.filters, QoS::AtLeastOnce);
                }
                tracing::info!(
                    host = self.settings.host,
                    port = self.settings.port,
                    due = self.outbox.len(),
                    "connected to the broker"
                );
            }
            Progress::Heard(heard) => self.hear(heard, epoch),
            Progress::Sent(id) => epoch.pair(id),
            Progress::Acked(id) => {
                if let Some(k) = epoch.unacked.remove(&id) {
                    self.figures.acknowledged.inc();
                    self.outbox.acked(k);
                    let fresh = self.outbox.take_delivered();
                    if !fresh.is_empty() {
                        self.delivered_now.send_modify(|all| all.extend(fresh));
                    }
                }
            }
            Progress::Broken(why) => self.complain(why),
        }
    }

    /// Hands over what the window has room for.
    fn fill(&mut self, epoch: &mut Epoch) {
        while let Some(message) = self.outbox.next_to_hand_over() {
            // a full channel: tried again at the next event, and there is one, for it is full
            if !epoch.publish(message) {
                return;
            }
            epoch.note_handed();
            self.outbox.handed_over();
        }
    }

    /// The clean end. Without a connection there is nothing to say: the will has spoken.
    async fn say_stopped(&mut self, epoch: &mut Epoch) {
        while let Ok(word) = self.messages.try_recv() {
            self.take(word, epoch);
        }
        if !*self.connected_now.borrow() {
            return;
        }
        if let Some(stopped) = self.status(DaemonState::Stopped) {
            self.outbox.append(stopped);
        }
        self.fill(epoch);
        let deadline = Instant::now() + STOP_PATIENCE;
        while !self.outbox.is_empty() {
            match timeout_at(deadline, epoch.progress()).await {
                Ok(Some(progress)) => self.follow(progress, epoch),
                Ok(None) | Err(_) => {
                    let left = self.outbox.len();
                    tracing::warn!(left, "stopped before the broker had every message");
                    return;
                }
            }
            self.fill(epoch);
        }
        if epoch.client.try_disconnect().is_ok() {
            // The broker closes once it has read the goodbye. Our own, stopped before that, would
            // take us for lost and speak the will.
            while let Ok(Some(progress)) = timeout_at(deadline, epoch.progress()).await {
                if matches!(progress, Progress::Broken(_)) {
                    return;
                }
            }
        }
    }

    fn status(&self, state: DaemonState) -> Option<Outgoing> {
        let StatusWords { topics, boot } = self.settings.status.as_ref()?;
        let now = jiff::Timestamp::now();
        Some(status(topics, boot, self.connections, now, state))
    }

    fn hear(&mut self, heard: Heard, epoch: &mut Epoch) {
        let kept = match (&heard, &self.settings.status) {
            (Heard::Message { topic, .. }, Some(StatusWords { topics, .. })) => {
                topics.is_kept(topic)
            }
            _ => false,
        };
        match heard {
            Heard::Message {
                topic, retained, ..
            } if kept => {
                // What is not retained is our own, as it was just told.
                if retained {
                    epoch.sweeping = Some(Instant::now() + SWEEP);
                    self.sweep(topic);
                }
            }
            other => self.tell(other),
        }
    }

    fn sweep(&mut self, topic: String) {
        if !self.settled {
            self.strange.insert(topic);
        } else if self.outbox.empty_if_strange(&topic) {
            tracing::info!(topic, "left by an earlier run; emptied");
        }
    }

    /// Our own messages need not come back for ever.
    fn end_sweep(&self, epoch: &mut Epoch) {
        epoch.sweeping = None;
        if let Some(StatusWords { topics, .. }) = &self.settings.status {
            epoch.unsubscribe(topics.kept());
        }
    }

    fn tell(&self, heard: Heard) {
        if let Some(hear) = &self.settings.hear {
            // Who has gone does not listen any more.
            let _ = hear.ear.send(heard);
        }
    }

    fn options(&mut self) -> std::io::Result<MqttOptions> {
        if let (Some(tls), None) = (&self.settings.tls, &self.tunnel) {
            self.tunnel = Some(Tunnel::open(tls.clone())?);
        }
        let settings = &self.settings;
        let id = settings.client_id.as_str();
        let mut options = match &self.tunnel {
            None => MqttOptions::new(id, &settings.host, settings.port),
            Some(tunnel) => {
                let socket = tunnel.socket();
                let mut options = MqttOptions::new(id, socket.to_string_lossy(), settings.port);
                options.set_transport(Transport::Unix);
                options
            }
        };
        options
            .set_keep_alive(settings.keep_alive.max(Duration::from_secs(1)))
            .set_clean_session(true)
            .set_inflight(INFLIGHT)
            .set_max_packet_size(MAX_HEARD, MAX_PACKET);
        if let Some((name, password)) = &settings.login {
            options.set_credentials(name, password);
        }
        if let Some(will) = self.status(DaemonState::Offline) {
            options.set_last_will(LastWill::new(
                will.topic,
                will.payload,
                QoS::AtLeastOnce,
                will.retained,
            ));
        }
        Ok(options)
    }

    /// One warning for one reason: a broker away for a night must not fill the log.
    fn complain(&mut self, why: String) {
        let by_tls = self.tunnel.as_ref().and_then(Tunnel::take_fault);
        let why = by_tls.unwrap_or(why);
        if self.complaint.borrow().as_ref() != Some(&why) {
            let ClientSettings { host, port, .. } = &self.settings;
            tracing::warn!(host, port, why, "no connection to the broker; trying again");
            self.complaint.send_replace(Some(why));
        }
    }

    fn count_dropped(&self) {
        self.figures.dropped.inc();
    }

    fn count_waiting(&mut self) {
        let waiting = i64::try_from(self.outbox.len()).unwrap_or(i64::MAX);
        self.figures.waiting.set(waiting);
        let oldest = self.ages.oldest(self.outbox.waiting(), Instant::now());
        *self
            .figures
            .oldest
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = oldest;
    }
}

/// When the messages that wait were taken.
#[derive(Debug, Default)]
struct Ages(VecDeque<(u64, Instant)>);

impl Ages {
    /// When the oldest was taken, of what [`Outbox::waiting`] says now.
    fn oldest(&mut self, (oldest, next): (Option<u64>, u64), now: Instant) -> Option<Instant> {
        let Some(oldest) = oldest else {
            self.0.clear();
            return None;
        };
        // All that came since the last look came now; one mark tells of the numbers below it.
        if self.0.back().is_none_or(|(below, _)| *below < next) {
            self.0.push_back((next, now));
        }
        while self.0.front().is_some_and(|(below, _)| *below <= oldest) {
            self.0.pop_front();
        }
        self.0.front().map(|(_, since)| *since)
    }
}

/// What the event loop's task reports.
enum Progress {
    /// CONNACK.
    Connected,
    /// A message for us.
    Heard(Heard),
    /// A QoS 1 PUBLISH left with this packet id.
    Sent(u16),
    /// PUBACK for this packet id.
    Acked(u16),
    /// The connection failed, or was refused, and why.
    Broken(String),
}

/// One connection: its client, its event loop in a task of its own (a poll dropped half-way would
/// abandon what it was doing), and which packet id belongs to which hand-over.
struct Epoch {
    client: AsyncClient,
    progress: mpsc::UnboundedReceiver<Progress>,
    poller: JoinHandle<()>,
    connected: Option<Instant>,
    /// Until when what earlier runs left is listened for.
    sweeping: Option<Instant>,
    handed: u64,
    unsent: VecDeque<u64>,
    unacked: HashMap<u16, u64>,
}

impl Epoch {
    fn open(options: MqttOptions) -> Epoch {
        let (client, mut event_loop) = AsyncClient::new(options, CHANNEL);
        let mut network = event_loop.network_options();
        network.set_tcp_nodelay(true);
        event_loop.set_network_options(network);
        let (report, progress) = mpsc::unbounded_channel();
        Epoch {
            client,
            progress,
            poller: tokio::spawn(poll(event_loop, report)),
            connected: None,
            sweeping: None,
            handed: 0,
            unsent: VecDeque::new(),
            unacked: HashMap::new(),
        }
    }

    /// What happened next; `None` when the connection is gone.
    async fn progress(&mut self) -> Option<Progress> {
        self.progress.recv().await
    }

    /// Gives a message to the crate; false when its channel is full.
    fn publish(&self, message: &Outgoing) -> bool {
        let qos = match message.qos {
            Qos::AtMostOnce => QoS::AtMostOnce,
            Qos::AtLeastOnce => QoS::AtLeastOnce,
        };
        let (topic, payload) = (message.topic.as_str(), message.payload.as_slice());
        self.client
            .try_publish(topic, qos, message.retained, payload)
            .is_ok()
    }

    fn subscribe(&self, filters: &[String], qos: QoS) {
        let filters = filters.iter();
        let filters = filters.map(|filter| SubscribeFilter::new(filter.clone(), qos));
        // The channel is as good as empty right after the CONNACK.
        if self.client.try_subscribe_many(filters).is_err() {
            tracing::error!("the client takes no subscription");
        }
    }

    fn unsubscribe(&self, filters: Vec<String>) {
        for filter in filters {
            if self.client.try_unsubscribe(filter).is_err() {
                tracing::debug!("what is retained goes on coming back: the client is too busy");
            }
        }
    }

    fn note_handed(&mut self) {
        self.unsent.push_back(self.handed);
        self.handed += 1;
    }

    /// The k-th QoS 1 PUBLISH that leaves is the k-th handed over: the channel keeps the order.
    fn pair(&mut self, id: u16) {
        if let Some(k) = self.unsent.pop_front() {
            self.unacked.insert(id, k);
        }
    }
}

impl Drop for Epoch {
    fn drop(&mut self) {
        // the loop never ends by itself when its clients are gone
        self.poller.abort();
    }
}

/// Answers who asks whether the actor still moves; it may have stopped waiting.
fn moves(asked: oneshot::Sender<()>) {
    let _ = asked.send(());
}

/// Waits until the moment; for ever without one.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Drives one event loop to its first error; the closed channel tells of it.
async fn poll(mut event_loop: EventLoop, report: mpsc::UnboundedSender<Progress>) {
    loop {
        let progress = match event_loop.poll().await {
            Ok(Event::Incoming(Packet::ConnAck(_))) => Progress::Connected,
            Ok(Event::Incoming(Packet::Publish(message))) => Progress::Heard(Heard::Message {
                topic: message.topic,
                payload: message.payload.to_vec(),
                retained: message.retain,
            }),
            Ok(Event::Incoming(Packet::PubAck(ack))) => Progress::Acked(ack.pkid),
            // packet id 0 is QoS 0, which nobody acknowledges
            Ok(Event::Outgoing(rumqttc::Outgoing::Publish(id))) if id != 0 => Progress::Sent(id),
            Ok(_) => continue,
            Err(error) => {
                // the actor may be gone already, when it is stopping
                let _ = report.send(Progress::Broken(error.to_string()));
                return;
            }
        };
        if report.send(progress).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_message_that_waits_tells_its_age() {
        let start = Instant::now();
        let second = |s| start + Duration::from_secs(s);
        let mut ages = Ages::default();
        assert_eq!(ages.oldest((None, 0), second(0)), None);
        // Three are taken, then two more; the broker has them one after the other.
        assert_eq!(ages.oldest((Some(0), 3), second(1)), Some(second(1)));
        assert_eq!(ages.oldest((Some(0), 5), second(2)), Some(second(1)));
        assert_eq!(ages.oldest((Some(2), 5), second(3)), Some(second(1)));
        assert_eq!(ages.oldest((Some(3), 5), second(4)), Some(second(2)));
        assert_eq!(ages.oldest((Some(4), 6), second(5)), Some(second(2)));
        assert_eq!(ages.oldest((None, 6), second(6)), None);
        assert_eq!(ages.oldest((Some(6), 7), second(7)), Some(second(7)));
    }
}
