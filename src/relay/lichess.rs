//! The push to a Lichess broadcast round: the newest whole state, never faster than allowed, until
//! it is taken.

use std::time::Duration;

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    feed::{Reader, Time},
    push::{Outcome, Push, push},
    standing::Standing,
};
use crate::words::BoardNo;

/// How fast, and how patient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Between two pushes: one a second is allowed.
    pub least: Duration,
    /// After "too many requests", at least; doubled each time.
    pub too_many: Duration,
    /// After a failure, at first; doubled up to [`Pace::longest`].
    pub again: Duration,
    /// The longest wait after failures.
    pub longest: Duration,
    /// The same state is pushed again after so long: what was deleted there (a round that was reset)
    /// comes back.
    pub repeat: Duration,
    /// There is news and for so long no push was taken: alarm.
    pub alarm: Duration,
    /// For one request.
    pub patience: Duration,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            least: Duration::from_secs(1),
            too_many: Duration::from_secs(60),
            again: Duration::from_secs(1),
            longest: Duration::from_secs(30),
            repeat: Duration::from_secs(60),
            alarm: Duration::from_secs(30),
            patience: Duration::from_secs(15),
        }
    }
}

/// Where to push. Its token is shown to nobody.
#[derive(Clone)]
pub struct Target {
    client: reqwest::Client,
    url: String,
    token: String,
    pace: Pace,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Target {
    /// `url` is the round's push address.
    ///
    /// # Errors
    /// When no TLS can be had.
    pub fn new(url: String, token: String, pace: Pace) -> Result<Target, reqwest::Error> {
        let client = reqwest::Client::builder()
            .user_agent(concat!("atalaya/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .timeout(pace.patience)
            .build()?;
        Ok(Target {
            client,
            url,
            token,
            pace,
        })
    }

    async fn push(&self, push: &Push) -> Outcome {
        let request = self
            .client
            .post(&self.url)
            .bearer_auth(&self.token)
            .header("Content-Type", "text/plain; charset=utf-8")
            .body(push.text.clone());
        let answer = async {
            let answer = request.send().await?;
            let status = answer.status().as_u16();
            Ok::<_, reqwest::Error>((status, answer.text().await?))
        };
        match answer.await {
            Ok((status, body)) => push.outcome(status, &body),
            Err(why) => Outcome::Failed(said(&why)),
        }
    }

    /// Deletes all games of the round: an explicit act of the operator. The next push brings them
    /// back as they are now.
    ///
    /// # Errors
    /// What went wrong.
    pub async fn reset(&self) -> Result<(), String> {
        let url = self
            .url
            .strip_suffix("/push")
            .ok_or("the address does not end in /push")?;
        let request = self
            .client
            .post(format!("{url}/reset"))
            .bearer_auth(&self.token);
        let answer = request.send().await.map_err(|why| said(&why))?;
        match answer.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(format!("HTTP {status}")),
        }
    }
}

/// What Lichess says of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// It may write studies, and is this user's.
    Good {
        /// Whose.
        user: String,
    },
    /// It is somebody's, but may not write studies.
    Lacks,
    /// It is nobody's (any more).
    Unknown,
}

impl Target {
    /// Asks what the token is good for; nothing is pushed.
    ///
    /// # Errors
    /// When there is no answer, with the reason.
    pub async fn token(&self) -> Result<Token, String> {
        let mut address = reqwest::Url::parse(&self.url).map_err(|why| why.to_string())?;
        address.set_path("/api/token/test");
        address.set_query(None);
        let request = self.client.post(address).body(self.token.clone());
        let answer = request.send().await.map_err(|why| said(&why))?;
        let status = answer.status().as_u16();
        if status != 200 {
            return Err(format!("HTTP {status}"));
        }
        let text = answer.text().await.map_err(|why| said(&why))?;
        let known: serde_json::Value = serde_json::from_str(&text)
            .map_err(|_| "an answer that is not Lichess's".to_owned())?;
        let about = &known[&self.token];
        let scopes = about["scopes"].as_str().unwrap_or_default();
        Ok(match about["userId"].as_str() {
            None => Token::Unknown,
            Some(_) if !scopes.split(',').any(|scope| scope == SCOPE) => Token::Lacks,
            Some(user) => Token::Good {
                user: user.to_owned(),
            },
        })
    }
}

/// What a push needs.
const SCOPE: &str = "study:write";

/// The whole chain of causes: the outermost alone says little. The address is left out.
fn said(why: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut next: Option<&dyn std::error::Error> = Some(why);
    while let Some(error) = next {
        if error.source().is_none() || text.is_empty() {
            let one = error.to_string();
            text = if text.is_empty() {
                one
            } else {
                format!("{text}: {one}")
            };
        }
        next = error.source();
    }
    text
}

/// How the pushes went so far.
#[derive(Debug)]
struct Course {
    target: Target,
    /// When the next push may go.
    free: Instant,
    /// What was taken last, and when.
    taken: Option<(String, Instant)>,
    /// Since when there is something that was not taken.
    unheard: Option<Instant>,
    failures: u32,
    left_out: Vec<BoardNo>,
    standing: Standing,
}

impl Course {
    /// When to push though there is no news. A round that is over is pushed for news only.
    fn wake(&self, over: bool) -> Option<Instant> {
        match &self.taken {
            _ if self.failures > 0 => Some(self.free),
            Some((_, when)) if !over => Some(*when + self.target.pace.repeat),
            _ => None,
        }
    }

    /// Pushes the state as it is now, if that is due.
    async fn push(&mut self, push: Option<Push>, over: bool) {
        let pace = self.target.pace;
        let Some(push) = push else {
            self.unheard.get_or_insert_with(now);
            let what = "the round is longer than Lichess takes in one push".to_owned();
            return self.failed(what, pace.longest, pace.longest);
        };
        if push.left_out != self.left_out {
            tracing::warn!(boards = ?push.left_out, "not pushed: no names, or beyond 100 games");
            self.left_out.clone_from(&push.left_out);
        }
        let news = self
            .taken
            .as_ref()
            .is_none_or(|(text, _)| *text != push.text);
        if push.games.is_empty() || !(news || self.wake(over).is_some_and(|wake| wake <= now())) {
            return;
        }
        if news {
            self.unheard.get_or_insert_with(now);
        }
        self.standing.bytes = push.text.len();
        match self.target.push(&push).await {
            Outcome::Taken(wrong) => self.took(push, wrong),
            Outcome::TooMany => {
                let longest = pace.too_many.saturating_mul(8);
                self.failed("too many requests".to_owned(), pace.too_many, longest);
            }
            Outcome::Refused(what) => self.failed(what, pace.longest, pace.longest),
            Outcome::Failed(what) => self.failed(what, pace.again, pace.longest),
        }
    }

    fn took(&mut self, push: Push, wrong: Vec<(BoardNo, String)>) {
        if self.standing.works() {
            tracing::info!("Lichess takes the round again");
        }
        for (board, what) in wrong
            .iter()
            .filter(|one| !self.standing.wrong.contains(one))
        {
            tracing::error!(%board, what, "Lichess does not take this game as it is");
        }
        self.standing.wrong = wrong;
        self.standing.taken += 1;
        self.unheard = None;
        self.failures = 0;
        self.free = now() + self.target.pace.least;
        self.taken = Some((push.text, now()));
    }

    /// Waits `first`, twice that after the next failure, and so on up to `longest`.
    fn failed(&mut self, what: String, first: Duration, longest: Duration) {
        tracing::warn!(what, "Lichess did not take the round");
        let pace = self.target.pace;
        let wait = first.saturating_mul(1 << self.failures.min(8)).min(longest);
        self.failures += 1;
        self.free = now() + wait.max(pace.least);
        if self
            .unheard
            .is_some_and(|since| now() - since >= pace.alarm)
            && self.standing.fails(&what)
        {
            tracing::error!(what, "moves come in, and Lichess takes no push");
        }
    }
}

/// Pushes until `stop`; what is due then goes out once more, unless nothing came through before.
pub async fn run<T: Time>(
    target: Target,
    mut reader: Reader<T>,
    standing: watch::Sender<Standing>,
    stop: CancellationToken,
) {
    let mut course = Course {
        target,
        free: now(),
        taken: None,
        unheard: None,
        failures: 0,
        left_out: Vec::new(),
        standing: Standing::default(),
    };
    loop {
        let wake = course.wake(reader.is_over());
        let mut last = tokio::select! {
            () = stop.cancelled() => true,
            next = reader.next() => next.is_none(),
            () = async { match wake {
                Some(wake) => sleep_until(wake).await,
                None => std::future::pending().await,
            } } => false,
        };
        // Meanwhile more may come: what is pushed is read after the wait.
        tokio::select! {
            () = stop.cancelled(), if !last => last = true,
            () = sleep_until(course.free), if !last => {}
            else => {}
        }
        if last && course.failures > 0 {
            return;
        }
        sleep_until(course.free).await;
        let (world, at) = reader.current();
        let over = reader.is_over();
        course.push(push(&world, reader.profile(), at), over).await;
        standing.send_replace(course.standing.clone());
        if last {
            return;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "it times its own waits")]
fn now() -> Instant {
    Instant::now()
}
