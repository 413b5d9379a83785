//! Every topic of the MQTT contract, major version 1 (design.md 4). Pure.

use thiserror::Error;

use crate::words::BoardNo;

/// Why a root or a venue cannot stand in a topic.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TopicError {
    /// The venue is not one plain topic segment.
    #[error(
        "venue id \"{0}\": use only a-z, 0-9 and -, at least one of them (for example \"hall-1\")"
    )]
    Venue(String),
    /// The root holds a wildcard or an empty segment.
    #[error(
        "mqtt root \"{0}\": leave out +, #, blanks and empty segments (for example \"atalaya\")"
    )]
    Root(String),
}

/// Builds the topics of one venue: `<root>/v1/<venue>/...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topics {
    root: String,
    venue: String,
}

impl Topics {
    /// The topics below `root` (one or more segments) for `venue` (one segment of a-z 0-9 -).
    ///
    /// # Errors
    /// When either cannot stand in a topic.
    pub fn new(root: &str, venue: &str) -> Result<Topics, TopicError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if venue.is_empty() || !venue.chars().all(plain) {
            return Err(TopicError::Venue(venue.to_owned()));
        }
        let bad = |c: char| c == '+' || c == '#' || c.is_whitespace() || c.is_control();
        if root
            .split('/')
            .any(|segment| segment.is_empty() || segment.contains(bad))
        {
            return Err(TopicError::Root(root.to_owned()));
        }
        Ok(Topics {
            root: root.to_owned(),
            venue: venue.to_owned(),
        })
    }

    /// The venue's name, as it stands in the topics.
    pub fn venue(&self) -> &str {
        &self.venue
    }

    /// Online, offline or stopped; retained, and the last will.
    pub fn status(&self) -> String {
        self.below("status")
    }

    /// Version, boards, regime; retained.
    pub fn info(&self) -> String {
        self.below("info")
    }

    /// How a board's cable is; retained.
    pub fn link(&self, board: BoardNo) -> String {
        self.below(&format!("board/{board}/link"))
    }

    /// A board's state (design.md 4.1); retained.
    pub fn state(&self, board: BoardNo) -> String {
        self.below(&format!("board/{board}/state"))
    }

    /// One message per final ply or retraction; not retained.
    pub fn moves(&self, board: BoardNo) -> String {
        self.below(&format!("board/{board}/move"))
    }

    /// Both times; QoS 0, not retained.
    pub fn clock(&self, board: BoardNo) -> String {
        self.below(&format!("board/{board}/clock"))
    }

    /// The whole game's text; retained.
    pub fn pgn(&self, board: BoardNo) -> String {
        self.below(&format!("board/{board}/pgn"))
    }

    /// One alert (design.md 4.2); retained until it is closed and aged. `id` is the monitor's hash.
    pub fn alert(&self, id: &str) -> String {
        self.below(&format!("alert/{id}"))
    }

    /// What happened to alerts; not retained.
    pub fn alert_event(&self) -> String {
        self.below("alert-event")
    }

    /// What happens to alerts, as one line of plain text in a language (`en`, `es`); not retained, and
    /// only where phones are told by lines.
    pub fn alert_line(&self, language: &str) -> String {
        self.below(&format!("alert-text/{language}"))
    }

    /// The filters that catch all but commands.
    pub fn public(&self) -> Vec<String> {
        [
            "status",
            "info",
            "board/#",
            "alert/#",
            "alert-event",
            "reply/#",
        ]
        .map(|rest| self.below(rest))
        .to_vec()
    }

    /// The filters that catch what is retained for a board or an alert: what a daemon that was stopped
    /// for good may have left behind.
    pub fn kept(&self) -> Vec<String> {
        ["board/+/link", "board/+/state", "board/+/pgn", "alert/+"]
            .map(|rest| self.below(rest))
            .to_vec()
    }

    /// Whether [`Topics::kept`] catches this topic.
    pub fn is_kept(&self, topic: &str) -> bool {
        let segments: Vec<_> = self.end(topic).unwrap_or_default().split('/').collect();
        matches!(
            segments[..],
            ["alert", _] | ["board", _, "link" | "state" | "pgn"]
        )
    }

    /// What stands behind `<root>/v1/<venue>/`; `None` when it is not one of this venue's.
    pub fn end<'a>(&self, topic: &'a str) -> Option<&'a str> {
        topic.strip_prefix(self.below("").as_str())
    }

    /// One user's command.
    pub fn order(&self, user: &str, verb: &str) -> String {
        self.below(&format!("cmd/{user}/{verb}"))
    }

    /// The filter that catches the commands of all users.
    pub fn commands(&self) -> String {
        self.below("cmd/+/+")
    }

    /// The answer to one user's commands; not retained.
    pub fn reply(&self, user: &str) -> String {
        self.below(&format!("reply/{user}"))
    }

    /// User and verb of a command's topic; `None` when it is not one of this venue's.
    pub fn command<'a>(&self, topic: &'a str) -> Option<(&'a str, &'a str)> {
        let rest = topic.strip_prefix(self.below("cmd/").as_str())?;
        let (user, verb) = rest.split_once('/')?;
        (!user.is_empty() && !verb.is_empty() && !verb.contains('/')).then_some((user, verb))
    }

    /// Whether a filter catches nothing but what spectators may see: the games, and no alert, no
    /// command and no board's state, which says that an alert is open (Articles 12.6, 12.7).
    pub fn is_for_spectators(&self, filter: &str) -> bool {
        let segments: Vec<_> = self.end(filter).unwrap_or_default().split('/').collect();
        matches!(
            segments[..],
            ["status" | "info"] | ["board", _, "move" | "clock" | "pgn"]
        )
    }

    fn below(&self, rest: &str) -> String {
        format!("{}/v1/{}/{rest}", self.root, self.venue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_follow_the_contract() {
        let topics = Topics::new("atalaya", "hall-1").unwrap();
        let three = BoardNo(3);
        assert_eq!(topics.status(), "atalaya/v1/hall-1/status");
        assert_eq!(topics.info(), "atalaya/v1/hall-1/info");
        assert_eq!(topics.link(three), "atalaya/v1/hall-1/board/3/link");
        assert_eq!(topics.state(three), "atalaya/v1/hall-1/board/3/state");
        assert_eq!(topics.moves(three), "atalaya/v1/hall-1/board/3/move");
        assert_eq!(topics.clock(three), "atalaya/v1/hall-1/board/3/clock");
        assert_eq!(topics.pgn(three), "atalaya/v1/hall-1/board/3/pgn");
        for seen in ["status", "board/3/pgn", "board/+/move"] {
            assert!(topics.is_for_spectators(&topics.below(seen)), "{seen}");
        }
        for hidden in [
            "#",
            "+",
            "alert/#",
            "board/#",
            "board/3/+",
            "board/3/state",
            "cmd/+/+",
        ] {
            assert!(!topics.is_for_spectators(&topics.below(hidden)), "{hidden}");
        }
        for hidden in ["#", "+/v1/hall-1/status", "atalaya/v1/+/board/3/pgn"] {
            assert!(!topics.is_for_spectators(hidden), "{hidden}");
        }
        assert_eq!(topics.alert("b3-9f2c"), "atalaya/v1/hall-1/alert/b3-9f2c");
        assert_eq!(topics.alert_event(), "atalaya/v1/hall-1/alert-event");
        assert_eq!(topics.reply("ana"), "atalaya/v1/hall-1/reply/ana");
    }

    #[test]
    fn a_command_names_its_user_and_verb() {
        let topics = Topics::new("clubs/atalaya", "hall-1").unwrap();
        assert_eq!(
            topics.command("clubs/atalaya/v1/hall-1/cmd/ana/claim"),
            Some(("ana", "claim"))
        );
        for wrong in [
            "clubs/atalaya/v1/hall-2/cmd/ana/claim",
            "clubs/atalaya/v1/hall-1/cmd/ana",
            "clubs/atalaya/v1/hall-1/cmd//claim",
            "clubs/atalaya/v1/hall-1/cmd/ana/claim/x",
        ] {
            assert_eq!(topics.command(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_kept_is_known_again() {
        let topics = Topics::new("atalaya", "hall-1").unwrap();
        let three = BoardNo(3);
        for kept in [
            topics.link(three),
            topics.state(three),
            topics.pgn(three),
            topics.alert("b3-9f2c"),
        ] {
            assert!(topics.is_kept(&kept), "{kept}");
        }
        let other = "atalaya/v1/hall-2/alert/b3-9f2c".to_owned();
        for not_kept in [
            topics.status(),
            topics.moves(three),
            topics.order("a", "b"),
            other,
        ] {
            assert!(!topics.is_kept(&not_kept), "{not_kept}");
        }
    }

    #[test]
    fn names_that_break_topics_are_refused() {
        for venue in ["", "Hall", "hall 1", "a/b", "a+", "#", "sal\u{f3}n"] {
            assert!(Topics::new("atalaya", venue).is_err(), "{venue}");
        }
        for root in ["", "/a", "a/", "a//b", "+", "a/#", "a b"] {
            assert!(Topics::new(root, "hall-1").is_err(), "{root}");
        }
    }
}
