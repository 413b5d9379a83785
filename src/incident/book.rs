//! Opens, corrects, answers and closes the alerts of one board.

use sha2::{Digest, Sha256};

use super::{
    alert::{Alert, AlertChange, Care, Level, Note, Reason, Status, Window},
    order::{Order, Refusal, Verb},
};
use crate::{
    laws::{self, Certainty, Code, Stand, Terms},
    words::{At, Side},
};

/// A closed alert is taken off the retained tree after so long, ms: long enough for a look back.
const AGED_MS: u64 = 10 * 60 * 1000;

/// What the book goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The penalty rules.
    pub terms: Terms,
    /// Standard chess or Chess960.
    pub mode: shakmaty::CastlingMode,
    /// An alert nobody claims is everybody's after so long, ms.
    pub escalate_ms: u64,
    /// A claim without a decision runs out after so long, ms.
    pub claim_ms: u64,
}

/// The alerts of one board.
#[derive(Debug, Clone)]
pub struct Book {
    rules: Rules,
    pages: Vec<Page>,
}

/// One alert and what the book must remember of it.
#[derive(Debug, Clone)]
struct Page {
    alert: Alert,
    /// Which fault: its id, but for how many times it was made.
    fault: String,
    /// The men of its ply were put right since.
    put_right: bool,
    /// Its game is not on the board any more.
    over: bool,
    /// Since when it waits for somebody.
    waits: At,
    /// Since when it is closed.
    closed: Option<At>,
    /// It stands on the retained tree no more.
    gone: bool,
    /// What was before each human word that can be undone.
    before: Vec<(Status, Care)>,
}

/// What the book says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// An alert changed.
    Changed(AlertChange, Box<Alert>),
    /// The alert of this id is closed and aged.
    Gone(String),
}

impl Status {
    /// Nobody has decided, and the game has not either.
    pub const fn is_open(self) -> bool {
        matches!(self, Status::Open | Status::Claimed)
    }

    const fn decided(self) -> Option<&'static str> {
        match self {
            Status::Confirmed => Some("confirmed"),
            Status::Dismissed => Some("dismissed"),
            Status::Open | Status::Claimed | Status::Corrected | Status::Stands => None,
        }
    }
}

impl Page {
    fn change(&mut self, what: AlertChange) -> Said {
        self.alert.rev += 1;
        Said::Changed(what, Box::new(self.alert.clone()))
    }

    fn set(&mut self, status: Status, now: At) {
        self.alert.status = status;
        self.closed = (!status.is_open()).then_some(now);
    }

    fn counts(&self) -> bool {
        self.alert.status == Status::Confirmed && self.alert.remedy.counts
    }
}

impl Book {
    /// No alert yet.
    pub const fn new(rules: Rules) -> Book {
        Book {
            rules,
            pages: Vec::new(),
        }
    }

    /// What it goes by.
    pub const fn rules(&self) -> Rules {
        self.rules
    }

    /// Goes by other rules from now on.
    pub const fn go_by(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// No alert stands on the retained tree, of this game or of one before.
    pub const fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Ids of alerts of the running game that nobody has closed.
    pub fn open_ids(&self) -> Vec<String> {
        self.pages
            .iter()
            .filter(|page| !page.over && page.alert.status.is_open())
            .map(|page| page.alert.id.clone())
            .collect()
    }

    /// All alerts of the running game, closed ones too.
    pub fn alerts(&self) -> impl Iterator<Item = &Alert> {
        self.pages
            .iter()
            .filter(|page| !page.over && !page.gone)
            .map(|page| &page.alert)
    }

    /// Offences the arbiters confirmed in the running game: White, Black.
    pub fn offences(&self) -> (u8, u8) {
        let of = |side| {
            let counted = self.pages.iter();
            let counted = counted
                .filter(|page| !page.over && page.counts() && page.alert.finding.side == side)
                .count();
            u8::try_from(counted).unwrap_or(u8::MAX)
        };
        (of(Side::White), of(Side::Black))
    }

    /// Takes in a new alert. `None` when the same fault is known already (same id).
    pub fn raise(&mut self, mut alert: Alert) -> Option<Said> {
        let mut same = self.pages.iter().filter(|page| page.fault == alert.id);
        if same.any(|page| !page.put_right) {
            return None;
        }
        // The men were put right since, so this is the same fault made once more.
        let before = self
            .pages
            .iter()
            .filter(|page| page.fault == alert.id)
            .count();
        let fault = alert.id.clone();
        if before > 0 {
            alert.id = format!("{fault}-{}", before + 1);
        }
        let offences = self.offences();
        self.propose(&mut alert, offences);
        if alert.finding.certainty != Certainty::Certain {
            alert.care.muted_by = self.muted(alert.finding.code);
        }
        self.pages.push(Page {
            waits: alert.raised,
            alert: alert.clone(),
            fault,
            put_right: false,
            over: false,
            closed: None,
            gone: false,
            before: Vec::new(),
        });
        Some(Said::Changed(AlertChange::Raised, Box::new(alert)))
    }

    /// Who muted this row in the running game.
    fn muted(&self, code: Code) -> Option<String> {
        let same = |page: &&Page| !page.over && page.alert.finding.code == code;
        let mut pages = self.pages.iter().filter(same);
        pages.find_map(|page| page.alert.care.muted_by.clone())
    }

    /// The men of this ply were put right (Article 7.5.1). Whoever is on the way still decides.
    pub fn corrected(&mut self, ply: u16, now: At) -> Vec<Said> {
        let of = |alert: &Alert| alert.ply == ply && !alert.care.restored;
        for page in &mut self.pages {
            page.put_right |= !page.over && page.alert.ply == ply;
        }
        self.close(of, Status::Corrected, now)
    }

    /// What a sensor might have shown wrongly is still there: the open findings of this ply are as
    /// urgent as their rows say.
    pub fn proved(&mut self, ply: u16) -> Vec<Said> {
        let mut changed = Vec::new();
        for Page { alert, .. } in &mut self.pages {
            let level = alert.finding.level();
            if alert.ply == ply && alert.status == Status::Open && alert.level < level {
                alert.rev += 1;
                alert.level = level;
                changed.push(Said::Changed(AlertChange::Updated, Box::new(alert.clone())));
            }
        }
        changed
    }

    /// The game went on from this ply: where the reply closes the window (A.5.2, B.3) it stands.
    pub fn replied(&mut self, ply: u16, now: At) -> Vec<Said> {
        let of = |alert: &Alert| alert.ply == ply && alert.window == Window::UntilReply;
        self.close(of, Status::Stands, now)
    }

    /// The game is over and another begins: what is open stands (Article 7.5, manual).
    pub fn game_over(&mut self, now: At) -> Vec<Said> {
        let said = self.close(|alert| alert.window != Window::Closed, Status::Stands, now);
        for page in &mut self.pages {
            page.over = true;
        }
        said
    }

    fn close(&mut self, of: impl Fn(&Alert) -> bool, status: Status, now: At) -> Vec<Said> {
        let mut said = Vec::new();
        for page in &mut self.pages {
            if page.over || !page.alert.status.is_open() || !of(&page.alert) {
                continue;
            }
            page.alert.window = Window::Closed;
            page.alert.care.restored |= status == Status::Corrected;
            said.push(if page.alert.status == Status::Claimed {
                page.change(AlertChange::Updated)
            } else {
                page.set(status, now);
                page.change(AlertChange::Resolved)
            });
        }
        said
    }

    /// Escalates what nobody claims, opens again what was claimed and not decided, and takes away
    /// what is closed and aged.
    pub fn tick(&mut self, now: At) -> Vec<Said> {
        let rules = self.rules;
        let mut said = Vec::new();
        for page in &mut self.pages {
            let care = &mut page.alert.care;
            if care.expires.is_some_and(|end| end <= now) {
                (care.claimed_by, care.expires) = (None, None);
                page.waits = now;
                if page.over {
                    page.set(Status::Stands, now);
                    said.push(page.change(AlertChange::Resolved));
                } else {
                    page.set(Status::Open, now);
                    said.push(page.change(AlertChange::Updated));
                }
            } else if page.escalates(rules).is_some_and(|end| end <= now) {
                page.alert.care.escalated = true;
                said.push(page.change(AlertChange::Updated));
            } else if page.ages().is_some_and(|end| end <= now) {
                page.gone = true;
                said.push(Said::Gone(page.alert.id.clone()));
            }
        }
        self.pages.retain(|page| !(page.gone && page.over));
        said
    }

    /// When [`Book::tick`] has something to do.
    pub fn wake_at(&self) -> Option<At> {
        let pages = self.pages.iter();
        pages
            .filter_map(|page| {
                [
                    page.alert.care.expires,
                    page.escalates(self.rules),
                    page.ages(),
                ]
                .into_iter()
                .flatten()
                .min()
            })
            .min()
    }

    /// An arbiter's word on one alert. One move is one incident: a claim takes its other open alerts
    /// along, and a decision on one settles them.
    ///
    /// # Errors
    /// When the alert is not known, somebody else has it, or it is decided.
    pub fn order(&mut self, order: &Order, now: At) -> Result<Vec<Said>, Refusal> {
        let user = order.user.as_str();
        let id = order.verb.alert().unwrap_or_default();
        let known = self.pages.iter().position(|page| page.alert.id == id);
        let at = known.ok_or_else(|| Refusal::Alert(id.to_owned()))?;
        let mut said = match &order.verb {
            Verb::Claim { .. } => self.claim(at, user, now)?,
            Verb::Confirm { .. } => self.decide(at, Status::Confirmed, user, None, now)?,
            Verb::Dismiss { reason, .. } => {
                self.decide(at, Status::Dismissed, user, Some(*reason), now)?
            }
            Verb::Resolve { .. } => self.decide(at, Status::Corrected, user, None, now)?,
            Verb::Note { text, .. } => {
                let page = &mut self.pages[at];
                page.alert.care.notes.push(Note {
                    by: user.to_owned(),
                    text: text.clone(),
                    at: now,
                });
                vec![page.change(AlertChange::Updated)]
            }
            Verb::Mute { reason, .. } => self.mute(at, user, *reason)?,
            Verb::Undo { .. } => self.undo(at, now)?,
            _ => return Err(Refusal::Alert(id.to_owned())),
        };
        said.extend(self.propose_again());
        Ok(said)
    }

    /// Takes in an offence an arbiter saw: it is confirmed as it comes.
    ///
    /// # Errors
    /// When the same one is known already.
    pub fn offence(&mut self, alert: Alert, user: &str, now: At) -> Result<Vec<Said>, Refusal> {
        let fault = alert.id.clone();
        let raised = self.raise(alert).ok_or(Refusal::Decided("confirmed"))?;
        let at = self.pages.len() - 1;
        debug_assert_eq!(self.pages[at].fault, fault);
        let mut said = vec![raised];
        said.extend(self.decide(at, Status::Confirmed, user, None, now)?);
        said.extend(self.propose_again());
        Ok(said)
    }

    /// Positions of the other alerts of the same move that are still open.
    fn siblings(&self, at: usize) -> Vec<usize> {
        let (ply, over) = (self.pages[at].alert.ply, self.pages[at].over);
        let open = |page: &Page| {
            page.alert.ply == ply
                && page.over == over
                && page.alert.level >= Level::Check
                && page.alert.status.is_open()
        };
        (0..self.pages.len())
            .filter(|&other| other != at && open(&self.pages[other]))
            .collect()
    }

    fn claim(&mut self, at: usize, user: &str, now: At) -> Result<Vec<Said>, Refusal> {
        let alert = &self.pages[at].alert;
        if let Some(decided) = alert.status.decided() {
            return Err(Refusal::Decided(decided));
        }
        match &alert.care.claimed_by {
            Some(by) if by == user => return Ok(Vec::new()),
            Some(by) => return Err(Refusal::Claimed { by: by.clone() }),
            None => {}
        }
        let expires = now.plus_ms(self.rules.claim_ms);
        let mut said = Vec::new();
        for at in std::iter::once(at).chain(self.siblings(at)) {
            let page = &mut self.pages[at];
            page.remember();
            page.alert.care.claimed_by = Some(user.to_owned());
            page.alert.care.expires = Some(expires);
            page.set(Status::Claimed, now);
            said.push(page.change(AlertChange::Claimed));
        }
        Ok(said)
    }

    fn decide(
        &mut self,
        at: usize,
        status: Status,
        user: &str,
        reason: Option<Reason>,
        now: At,
    ) -> Result<Vec<Said>, Refusal> {
        if let Some(decided) = self.pages[at].alert.status.decided() {
            return Err(Refusal::Decided(decided));
        }
        let siblings = self.siblings(at);
        let mut said = vec![self.pages[at].decide(status, user, reason, now)];
        for other in siblings {
            let merged = Some(Reason::SameMove);
            said.push(self.pages[other].decide(Status::Dismissed, user, merged, now));
        }
        Ok(said)
    }

    /// The alert and the others of its row go quiet; each can be loud again by itself.
    fn mute(&mut self, at: usize, user: &str, reason: Reason) -> Result<Vec<Said>, Refusal> {
        let (over, alert) = (self.pages[at].over, &self.pages[at].alert);
        if let Some(decided) = alert.status.decided() {
            return Err(Refusal::Decided(decided));
        }
        let code = alert.finding.code;
        let mut said = Vec::new();
        for (other, page) in self.pages.iter_mut().enumerate() {
            let alert = &page.alert;
            let same = page.over == over && alert.finding.code == code && alert.status.is_open();
            let unsure = alert.finding.certainty != Certainty::Certain;
            if (other == at || (same && unsure)) && alert.care.muted_by.is_none() {
                page.remember();
                page.alert.care.muted_by = Some(user.to_owned());
                page.alert.care.reason = Some(reason);
                said.push(page.change(AlertChange::Updated));
            }
        }
        Ok(said)
    }

    fn undo(&mut self, at: usize, now: At) -> Result<Vec<Said>, Refusal> {
        let page = &mut self.pages[at];
        let (status, care) = page.before.pop().ok_or(Refusal::Nothing)?;
        let notes = std::mem::take(&mut page.alert.care.notes);
        let restored = page.alert.care.restored;
        page.alert.care = Care {
            notes,
            restored,
            ..care
        };
        page.waits = now;
        page.set(status, now);
        Ok(vec![page.change(AlertChange::Updated)])
    }

    /// Counts moved: open alerts of the game propose anew.
    fn propose_again(&mut self) -> Vec<Said> {
        let offences = self.offences();
        let mut said = Vec::new();
        for at in 0..self.pages.len() {
            let page = &self.pages[at];
            if page.over || !page.alert.status.is_open() || page.alert.offences == offences {
                continue;
            }
            let mut alert = page.alert.clone();
            self.propose(&mut alert, offences);
            self.pages[at].alert = alert;
            said.push(self.pages[at].change(AlertChange::Updated));
        }
        said
    }

    fn propose(&self, alert: &mut Alert, offences: (u8, u8)) {
        alert.offences = offences;
        let earlier = alert.finding.side.fold_wb(offences.0, offences.1);
        let Rules { terms, mode, .. } = self.rules;
        if let Ok(before) = Stand::from_fen(&alert.fen, mode) {
            alert.remedy = laws::remedy(&alert.finding, &before, terms, earlier);
        }
    }
}

impl Page {
    fn remember(&mut self) {
        self.before
            .push((self.alert.status, self.alert.care.clone()));
    }

    fn decide(&mut self, status: Status, user: &str, reason: Option<Reason>, now: At) -> Said {
        self.remember();
        let care = &mut self.alert.care;
        care.expires = None;
        care.decided_by = Some(user.to_owned());
        care.reason = reason;
        self.set(status, now);
        self.change(match status {
            Status::Confirmed => AlertChange::Confirmed,
            Status::Dismissed => AlertChange::Dismissed,
            _ => AlertChange::Resolved,
        })
    }

    fn escalates(&self, rules: Rules) -> Option<At> {
        let alert = &self.alert;
        let waits = alert.status == Status::Open && !alert.care.escalated && !self.over;
        (waits && alert.loudness() > Level::Info).then(|| self.waits.plus_ms(rules.escalate_ms))
    }

    fn ages(&self) -> Option<At> {
        let closed = self.closed.filter(|_| !self.gone)?;
        Some(closed.plus_ms(AGED_MS))
    }
}

/// The id of a fault: the same fault found again after a crash has the same one (design.md 4.2).
pub fn alert_id(
    venue: &str,
    board: u16,
    game: &str,
    ply: u16,
    code: &str,
    placement: &str,
) -> String {
    let mut hash = Sha256::new();
    for part in [venue, game, &ply.to_string(), code, placement] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let digest = hash.finalize();
    let hex: String = digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("b{board}-{hex}")
}
