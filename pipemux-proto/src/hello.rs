//! The first message in each direction.

use serde::{Deserialize, Serialize};

use crate::fault::{Code, Fault};
use crate::prototype::Prototype;

/// The version of the protocol, which is independent of releases. Peers of different majors don't
/// understand each other; a higher minor only adds fields, methods and features that a peer may
/// ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtocolVersion {
    /// Grows when an older peer would misunderstand a message.
    pub major: u16,
    /// Grows when something is added.
    pub minor: u16,
}

/// The protocol version of this crate.
pub const PROTOCOL: ProtocolVersion = ProtocolVersion { major: 1, minor: 6 };

/// The feature of a daemon that accepts a client's [`Method::Seen`](crate::Method::Seen) also as an
/// event.
pub const SEEN_EVENT: &str = "seen-event";

/// The feature of an app whose state may change without a
/// [`Method::Changed`](crate::Method::Changed) event, as a file does that somebody else writes.
/// While a client waits for a change, the daemon asks such an app for its window about once a
/// second.
pub const UNREPORTED_CHANGES: &str = "unreported-changes";

/// The feature of an app whose windows may differ from reader to reader, as when each turns pages
/// for itself. The daemon then keeps what it holds of a window for each reader, and asks the app
/// for a window that another reader was shown. Of all other apps one projection serves all readers.
pub const PER_READER: &str = "per-reader";

/// The feature of an app that takes values above [`COPY_MAX`](crate::limits::COPY_MAX) as files:
/// [`Copied::file`](crate::projection::Copied::file).
pub const VALUE_FILES: &str = "value-files";

/// The feature of a daemon that shows an app's questions with fields ([`QuestionKind::Form`]) and
/// secret ones.
///
/// [`QuestionKind::Form`]: crate::app::QuestionKind::Form
pub const FORMS: &str = "forms";

/// The feature of a daemon that knows jobs: an app may answer an action with
/// [`Outcome::Started`](crate::app::Outcome::Started).
pub const JOBS: &str = "jobs";

/// The feature of a daemon that shows another session's window inside of an app's own, where the
/// app sends a [`Piece::Embed`](crate::projection::PieceOf::Embed).
pub const EMBED: &str = "embed";

/// The feature of a client that shows the [`Progress`](crate::app::Progress) of its requests.
pub const PROGRESS: &str = "progress";

/// The role of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The daemon, `pipemuxd`.
    Daemon,
    /// An app's process.
    App,
    /// The command line, a library or a bridge.
    Client,
}

/// The identity of a daemon.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonIdentity {
    /// A random id of its state directory, 32 hexadecimal digits. A copy of the directory on
    /// another machine gets another one.
    pub id: String,
    /// The name of the daemon's machine, for people.
    #[serde(default)]
    pub host: String,
}

/// The first message in each direction, an event. A peer sends nothing else before it has received
/// the other's, except for what `PROTOCOL.md` lets it send ahead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The protocol version of this side.
    pub protocol: ProtocolVersion,
    /// Names of optional features; unknown ones are ignored.
    #[serde(default)]
    pub features: Vec<String>,
    /// The role of this side.
    pub role: Role,
    /// The software's name and release, for people: `pipemux 0.1.0`.
    #[serde(default)]
    pub software: String,
    /// The prefix of the app's tokens, `MT` for `[[MT:Node:7]]`; `None` from other roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_prefix: Option<String>,
    /// The daemon's identity; `None` from other roles and from daemons before 1.6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon: Option<DaemonIdentity>,
    /// The app's actions; empty from other roles.
    #[serde(default)]
    pub prototypes: Vec<Prototype>,
}

impl Hello {
    /// Makes a greeting of the current version without features and prototypes.
    pub fn new(role: Role, software: impl Into<String>) -> Self {
        Self {
            protocol: PROTOCOL,
            features: Vec::new(),
            token_prefix: None,
            daemon: None,
            role,
            software: software.into(),
            prototypes: Vec::new(),
        }
    }

    /// Checks that the two sides speak the same major version.
    ///
    /// # Errors
    /// The majors differ; the error names both versions and says what to do.
    pub fn check(&self) -> Result<(), Fault> {
        if self.protocol.major == PROTOCOL.major {
            return Ok(());
        }
        let (theirs, ours) = (self.protocol, PROTOCOL);
        Err(Fault::new(
            Code::Version,
            format!(
                "{} speaks protocol {}.{}, this side {}.{}.",
                if self.software.is_empty() { "the other side" } else { &self.software },
                theirs.major,
                theirs.minor,
                ours.major,
                ours.minor
            ),
        )
        .hint(if theirs.major > ours.major {
            "update the older side, then: pipemux down"
        } else {
            "end the daemon, then run the command again: pipemux down"
        }))
    }
}
