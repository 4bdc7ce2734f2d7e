//! The first message each way.

use serde::{Deserialize, Serialize};

use crate::fault::{Code, Fault};
use crate::prototype::Prototype;

/// The protocol's version, apart from any release's. Majors don't understand each other; a higher
/// minor only adds fields, methods and features that the other side may ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtocolVersion {
    /// Changes when an old peer would misunderstand.
    pub major: u16,
    /// Changes when something is added.
    pub minor: u16,
}

/// The version that this crate speaks.
pub const PROTOCOL: ProtocolVersion = ProtocolVersion { major: 1, minor: 2 };

/// The feature of a daemon that takes a client's [`Method::Seen`](crate::Method::Seen) as an event, too.
pub const SEEN_EVENT: &str = "seen-event";

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// `pipemuxd`.
    Daemon,
    /// A provider's process.
    App,
    /// The command line, a library, a bridge.
    Client,
}

/// The first message each way, as an event; nothing else is sent before the other's has come,
/// except that a client may send its first request right behind its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The version spoken.
    pub protocol: ProtocolVersion,
    /// Optional abilities by name; unknown ones are ignored.
    #[serde(default)]
    pub features: Vec<String>,
    /// Who speaks.
    pub role: Role,
    /// The software's name and release, for people: `pipemux 0.1.0`.
    #[serde(default)]
    pub software: String,
    /// From an app: the prefix of its tokens, `MT` for `[[MT:Node:7]]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_prefix: Option<String>,
    /// An app's actions; empty from others.
    #[serde(default)]
    pub prototypes: Vec<Prototype>,
}

impl Hello {
    /// A greeting of this version without prototypes.
    pub fn new(role: Role, software: impl Into<String>) -> Self {
        Self {
            protocol: PROTOCOL,
            features: Vec::new(),
            token_prefix: None,
            role,
            software: software.into(),
            prototypes: Vec::new(),
        }
    }

    /// Checks that the two sides understand each other.
    ///
    /// # Errors
    /// Another major version: names both and says what to do.
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
            "pipemux down, then run the command again"
        }))
    }
}
