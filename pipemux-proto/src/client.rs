//! Messages between a client and the daemon.

mod text;

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::ids::{Incarnation, ProviderId, SessionAddr, SessionId};
use crate::projection::Lod;
use crate::report::Report;
use crate::value::Value;
use crate::watch::{Events, LogPart};

/// One project's desk.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Workspace {
    /// What tells it from others: a name that was given, or the project root's canonical path.
    pub key: String,
    /// What is shown.
    pub name: String,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Text for a model and a person.
    #[default]
    Markdown,
    /// Data for a program.
    Json,
}

/// One verb of the command line. Answered with [`Answer`]; whatever goes wrong is an answer too, so
/// that every surface says it in the same words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Where.
    pub workspace: Workspace,
    /// Who reads.
    pub reader: String,
    /// Unique, made by the client: an acting call that is sent again under the same id isn't
    /// carried out twice.
    pub run_id: String,
    /// How the answer is written.
    #[serde(default)]
    pub format: Format,
    /// Tokens that the answer may take; none: the daemon's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// Level of detail; none: the window's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lod: Option<Lod>,
    /// The epoch that refs and numbers mean; none: what the reader has seen last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The caller's working directory; relative paths in calls start here. Empty: not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// True when every link shows its call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub titles: bool,
    /// What is wanted.
    pub verb: Verb,
}

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Start or attach, add the window, show it.
    Open(Open),
    /// The workspace document, or one window.
    View(View),
    /// Carry out a link.
    Click {
        /// `link:15`, `15`
        link: String,
    },
    /// Carry out calls.
    Run {
        /// The calls.
        code: String,
        /// What the name `stdin` stands for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdin: Option<Bytes>,
    },
    /// Answer the open question.
    Answer {
        /// `1,3`, `all`, `all but 2`, `none`, `yes`, `no`, `go`, a value, a link.
        text: String,
        /// Which question, when several are open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<u64>,
    },
    /// A thing's value, raw.
    Read {
        /// `obj:12`
        target: String,
    },
    /// A provider's prototypes in full.
    Help {
        /// Which one.
        provider: ProviderId,
    },
    /// Close a window.
    Close {
        /// Whose.
        session: SessionAddr,
        /// End the session too.
        #[serde(default)]
        end: bool,
    },
    /// Registered providers.
    Apps,
    /// What runs.
    Sessions,
    /// The last lines that a session printed; to follow it, what it printed since. Without `after` and
    /// `wait_ms` answered as text, else with [`Body::Log`].
    Logs {
        /// Whose.
        session: SessionAddr,
        /// How many.
        lines: u32,
        /// What was printed after this position, as an earlier answer gave it; none: the last lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
        /// How long to wait for something to be printed, in milliseconds; 0: no time.
        #[serde(default, skip_serializing_if = "is_zero")]
        wait_ms: u32,
    },
    /// End the session's process and start it anew.
    Restart {
        /// Which.
        session: SessionAddr,
    },
    /// End the session and close its windows.
    End {
        /// Which.
        session: SessionAddr,
    },
    /// What was done in the workspace.
    History {
        /// With each round's detail.
        #[serde(default)]
        detail: bool,
        /// How many of the newest rounds; none: a screenful.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rounds: Option<u32>,
    },
    /// Shows the workspace's options, or sets one.
    Set {
        /// `epoch` or `rebase`; none: all are shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
        /// `strict` or `meaning`; `on` or `off`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// How the daemon is.
    Status,
    /// Every bound that a user can reach, and how much of it is used.
    Limits,
    /// What happens, as it happens; marks nothing as seen. Answered with [`Body::Events`].
    Watch(Watch),
    /// Reads the manifests again, after a change to them if one is given.
    Providers(Providers),
    /// End everything.
    Down,
}

impl Verb {
    /// True for what may run an app's actions: recorded under its `run_id`, so that what is sent again is
    /// answered from the record and runs nothing.
    pub fn acts(&self) -> bool {
        self.does() == Does::Acts
    }

    /// True for what may change something, if only which windows are open: lost on its way, its outcome is
    /// unknown. All else only reads, and may be sent again at any time.
    pub fn changes(&self) -> bool {
        self.does() != Does::Reads
    }

    fn does(&self) -> Does {
        match self {
            Self::Click { .. } | Self::Run { .. } | Self::Answer { .. } => Does::Acts,
            Self::Open(_)
            | Self::Close { .. }
            | Self::Restart { .. }
            | Self::End { .. }
            | Self::Set { .. }
            | Self::Providers(_)
            | Self::Down => Does::Arranges,
            Self::View(_)
            | Self::Read { .. }
            | Self::Help { .. }
            | Self::Apps
            | Self::Sessions
            | Self::Logs { .. }
            | Self::History { .. }
            | Self::Watch(_)
            | Self::Limits
            | Self::Status => Does::Reads,
        }
    }
}

/// What a verb does to what there is.
#[derive(PartialEq)]
enum Does {
    Reads,
    Arranges,
    Acts,
}

/// Arguments of `watch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Events after this one; none: those that are yet to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// The daemon's life that `after` is of, as its answer gave it; of another life, all of the present
    /// one's events count as later. 0: the present one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub life: u64,
    /// How long to wait for one, in milliseconds; 0: no time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wait_ms: u32,
    /// True for the events of all workspaces.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
}

/// Arguments of `app add` and `app remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Providers {
    /// A manifest to copy into the user's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<NewProvider>,
    /// A provider whose manifest is to be removed from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<ProviderId>,
}

/// A manifest as `app add` found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewProvider {
    /// Its absolute path: errors name it, relative commands start beside it.
    pub file: String,
    /// What it says.
    pub text: String,
    /// True when it may take the place of another of the same id.
    #[serde(default)]
    pub replace: bool,
    /// The caller's `PATH`, in which a bare command is looked up.
    #[serde(default)]
    pub path: String,
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

/// Arguments of `open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// Which app.
    pub provider: ProviderId,
    /// Which instance; none: `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// For the app.
    #[serde(default)]
    pub args: Vec<String>,
    /// The caller's working directory.
    pub cwd: String,
    /// The caller's environment; the daemon passes on its allow-list and what the manifest names.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Whether the session is to stay awake however long nobody uses it; none: as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<bool>,
}

/// Arguments of `view`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// One window; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionAddr>,
    /// Only what changed since that epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// How long to wait until something changed since the reader saw it, in milliseconds; 0: no time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wait_ms: u32,
}

/// The answer of a verb.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Exit status of the command line.
    pub exit: u8,
    /// What is printed.
    pub body: Body,
    /// Says which delivery this is; the client confirms it with [`Seen`] once it is written out. 0:
    /// nothing to confirm.
    #[serde(default)]
    pub delivery: u64,
}

/// What is printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Markdown, printed as it is; ends with a newline.
    Text(String),
    /// `--json` of verbs that act and view. Boxed, for it is much larger than the others.
    Report(Box<Report>),
    /// `--json` of the other verbs.
    Data(Value),
    /// A value, printed byte for byte.
    Raw(Bytes),
    /// What happened.
    Events(Events),
    /// What a session printed.
    Log(LogPart),
}

/// The reader has the answer. A request, replied to with [`crate::app::Empty`], so that the next
/// process of the same agent comes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Which one.
    pub delivery: u64,
}

/// Names a session for exchanges, and starts its process if it has none. Replied to with [`Attached`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// Where it was opened.
    pub workspace: Workspace,
    /// Which.
    pub session: SessionAddr,
}

/// The reply to [`Attach`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// The life that exchanges name in their envelope.
    pub incarnation: Incarnation,
}
