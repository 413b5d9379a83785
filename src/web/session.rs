//! Who may come in: users with roles, sessions, and a brake on guessing.
#![expect(clippy::disallowed_methods, reason = "its own waits and lifetimes")]

use std::{
    collections::HashMap,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use argon2::{
    Argon2,
    password_hash::{
        PasswordHash, PasswordHasher, PasswordVerifier, SaltString,
        rand_core::{OsRng, RngCore},
    },
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A day of play and its evening.
const SESSION: Duration = Duration::from_secs(18 * 60 * 60);
/// Wrong passwords from one address, in [`BRAKE`], before it has to wait.
const TRIES: usize = 8;
const BRAKE: Duration = Duration::from_secs(60);
/// Commands of one session, in [`RUSH`].
const COMMANDS: usize = 40;
const RUSH: Duration = Duration::from_secs(10);
/// Sessions at once; the oldest gives way.
const SESSIONS: usize = 1_000;

/// What a user may do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Looks.
    Viewer,
    /// Repairs boards; rules on nothing.
    Operator,
    /// Everything.
    Arbiter,
}

impl Role {
    /// Whether this role may say this verb.
    pub fn may(self, verb: &str) -> bool {
        match self {
            Role::Viewer => false,
            Role::Operator => matches!(verb, "flip" | "swap-clock" | "resync" | "note"),
            Role::Arbiter => true,
        }
    }
}

/// One user of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// Letters, digits, `.`, `_` and `-`: a topic segment.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// argon2 hash.
    pub password: String,
}

/// All users, from a file of `[[user]]` tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Users {
    /// In the order of the file.
    #[serde(default, rename = "user")]
    pub users: Vec<User>,
}

/// The file of users cannot be used.
#[derive(Debug, Error)]
pub enum UsersError {
    /// It does not read.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no TOML of `[[user]]` tables.
    #[error("{path}: {why}")]
    Toml {
        /// Which file.
        path: PathBuf,
        /// Where and why.
        why: toml::de::Error,
    },
    /// A user cannot be used.
    #[error("{path}: user \"{name}\": {why}")]
    User {
        /// Which file.
        path: PathBuf,
        /// Who.
        name: String,
        /// Why.
        why: &'static str,
    },
}

/// A name that can stand in a topic.
pub fn is_user_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && name.len() <= 32 && name.chars().all(plain)
}

impl Users {
    /// Reads the file.
    ///
    /// # Errors
    /// When it does not read, or a user in it cannot be used.
    pub fn read(path: &Path) -> Result<Users, UsersError> {
        let text = std::fs::read_to_string(path).map_err(|source| UsersError::Io {
            path: path.to_owned(),
            source,
        })?;
        let users: Users = toml::from_str(&text).map_err(|why| UsersError::Toml {
            path: path.to_owned(),
            why,
        })?;
        for (at, user) in users.users.iter().enumerate() {
            let fault = |why| UsersError::User {
                path: path.to_owned(),
                name: user.name.clone(),
                why,
            };
            if !is_user_name(&user.name) {
                return Err(fault("use at most 32 letters, digits, '.', '_' and '-'"));
            }
            if users.users[..at].iter().any(|one| one.name == user.name) {
                return Err(fault("stands there twice"));
            }
            if PasswordHash::new(&user.password).is_err() {
                return Err(fault(
                    "the password is no argon2 hash: write it with `atalaya user`",
                ));
            }
        }
        Ok(users)
    }

    /// The user whose password this is. A name nobody has takes as long as one somebody has.
    fn check(&self, name: &str, password: &str) -> Option<&User> {
        let user = self.users.iter().find(|user| user.name == name);
        let kept = user.or(self.users.first())?;
        let hash = PasswordHash::new(&kept.password).ok()?;
        let right = Argon2::default().verify_password(password.as_bytes(), &hash);
        user.filter(|_| right.is_ok())
    }
}

/// The hash that stands in the file of users.
///
/// # Errors
/// When the password cannot be hashed.
pub fn hash_password(password: &str) -> Result<String, argon2::password_hash::Error> {
    let salt = SaltString::generate(&mut OsRng);
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt)?;
    Ok(hash.to_string())
}

/// Somebody who came in.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub user: String,
    pub role: Role,
    /// Every command carries it in a header; another site's page cannot know it.
    pub csrf: String,
    since: Instant,
    commands: Vec<Instant>,
}

/// Why somebody does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Wrong name or password.
    Wrong,
    /// Too many tries, or commands.
    Wait,
}

/// The door.
pub(super) struct Door {
    users: Option<Users>,
    sessions: Mutex<HashMap<String, Session>>,
    wrong: Mutex<HashMap<IpAddr, Vec<Instant>>>,
}

impl Door {
    pub fn new(users: Option<Users>) -> Door {
        Door {
            users,
            sessions: Mutex::default(),
            wrong: Mutex::default(),
        }
    }

    /// Whether a password is asked for.
    pub const fn locked(&self) -> bool {
        self.users.is_some()
    }

    /// Lets somebody in; gives the cookie's value. Takes tens of milliseconds: argon2 is slow on
    /// purpose, so call it where blocking is allowed.
    pub fn enter(&self, from: IpAddr, name: &str, password: &str) -> Result<String, Refused> {
        let role = match &self.users {
            None if is_user_name(name) => Role::Arbiter,
            None => return Err(Refused::Wrong),
            Some(users) => {
                if self.tries(from) >= TRIES {
                    return Err(Refused::Wait);
                }
                let Some(user) = users.check(name, password) else {
                    let mut wrong = lock(&self.wrong);
                    wrong.entry(from).or_default().push(Instant::now());
                    return Err(Refused::Wrong);
                };
                user.role
            }
        };
        let token = random_password();
        let mut sessions = lock(&self.sessions);
        sessions.retain(|_, session| session.since.elapsed() < SESSION);
        if sessions.len() >= SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.since);
            if let Some(oldest) = oldest.map(|(token, _)| token.clone()) {
                sessions.remove(&oldest);
            }
        }
        let session = Session {
            user: name.to_owned(),
            role,
            csrf: random_password(),
            since: Instant::now(),
            commands: Vec::new(),
        };
        sessions.insert(token.clone(), session);
        Ok(token)
    }

    fn tries(&self, from: IpAddr) -> usize {
        let mut wrong = lock(&self.wrong);
        wrong.retain(|_, tries| {
            tries.retain(|at| at.elapsed() < BRAKE);
            !tries.is_empty()
        });
        wrong.get(&from).map_or(0, Vec::len)
    }

    /// Who this cookie belongs to.
    pub fn session(&self, token: &str) -> Option<Session> {
        let sessions = lock(&self.sessions);
        let session = sessions.get(token)?;
        (session.since.elapsed() < SESSION).then(|| session.clone())
    }

    /// Counts a command; a session in a rush has to wait.
    pub fn command(&self, token: &str) -> Result<(), Refused> {
        let mut sessions = lock(&self.sessions);
        let session = sessions.get_mut(token).ok_or(Refused::Wrong)?;
        session.commands.retain(|at| at.elapsed() < RUSH);
        if session.commands.len() >= COMMANDS {
            return Err(Refused::Wait);
        }
        session.commands.push(Instant::now());
        Ok(())
    }

    pub fn leave(&self, token: &str) {
        lock(&self.sessions).remove(token);
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked left the maps whole.
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A password nobody guesses.
pub fn random_password() -> String {
    let mut bytes = [0; 24];
    OsRng.fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door() -> Door {
        Door::new(Some(Users {
            users: vec![User {
                name: "ana".to_owned(),
                role: Role::Operator,
                password: hash_password("torre").expect("it hashes"),
            }],
        }))
    }

    #[test]
    fn the_right_password_opens_and_guessing_is_slowed_down() {
        let (door, here) = (door(), IpAddr::from([10, 0, 0, 1]));
        let token = door.enter(here, "ana", "torre").expect("it is right");
        let session = door.session(&token).expect("she is in");
        assert_eq!(
            (session.user.as_str(), session.role),
            ("ana", Role::Operator)
        );
        for _ in 0..TRIES {
            assert_eq!(door.enter(here, "ana", "reina"), Err(Refused::Wrong));
        }
        assert_eq!(door.enter(here, "ana", "torre"), Err(Refused::Wait));
        let elsewhere = IpAddr::from([10, 0, 0, 2]);
        assert!(door.enter(elsewhere, "ana", "torre").is_ok());
        assert_eq!(door.enter(elsewhere, "eva", "torre"), Err(Refused::Wrong));
        door.leave(&token);
        assert!(door.session(&token).is_none());
    }

    #[test]
    fn a_session_in_a_rush_has_to_wait() {
        let door = Door::new(None);
        let here = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(door.enter(here, "a/b", ""), Err(Refused::Wrong));
        let token = door.enter(here, "ana", "").expect("no password is asked");
        for _ in 0..COMMANDS {
            assert!(door.command(&token).is_ok());
        }
        assert_eq!(door.command(&token), Err(Refused::Wait));
    }
}
