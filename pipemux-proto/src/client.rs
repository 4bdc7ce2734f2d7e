//! Messages between a client and the daemon.

mod clock;
mod environment;
mod text;
mod verb;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::str::FromStr;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::ids::{Incarnation, ProviderId, SessionAddr, SessionId};
use crate::projection::Lod;
use crate::report::Report;
use crate::value::Value;
use crate::watch::{Events, LogPart};

pub use clock::ClockOffset;
pub use environment::{PASSED_VARIABLES, is_passed_variable};
pub use verb::{HoldsLater, ToolUse, Verb, VerbEffect, VerbKind};

/// The windows, anchors and history of one project.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Workspace {
    /// The identity: a name that the user gave, or the canonical path of the project's root.
    pub key: String,
    /// The displayed name.
    pub name: String,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Text for a model and a person.
    #[default]
    Markdown,
    /// Data for a program.
    Json,
}

/// One command: a verb and the settings that all verbs share. The daemon replies with [`Answer`].
/// Errors of the verb are answers too, so that every surface reports them in the same words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerbRequest {
    /// The workspace that the verb works in.
    pub workspace: Workspace,
    /// The reader who makes the request, an agent or a person.
    pub reader: String,
    /// A token that proves the reader's identity: after the first request with a token, later
    /// requests need the same token to speak as this reader in the workspace. Empty for none; at
    /// most [`READER_TOKEN_MAX`](crate::limits::READER_TOKEN_MAX) bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reader_token: String,
    /// A unique id that the client makes: an acting request that is sent again under the same id
    /// isn't carried out twice.
    pub run_id: String,
    /// The form of the answer.
    #[serde(default)]
    pub format: Format,
    /// The token budget of the answer; `None` for the daemon's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// The level of detail; `None` for the window's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lod: Option<Lod>,
    /// The epoch that refs and line numbers refer to; `None` for what the reader saw last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// The caller's working directory; relative paths in calls start here. Empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// What the request was made with, as it names itself: `mcp claude-code`, `exec codex`, `pipe`.
    /// History tells it. Empty for a plain command; at most
    /// [`CLIENT_NAME_MAX`](crate::limits::CLIENT_NAME_MAX) bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// True when every link shows its call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub titles: bool,
    /// The options that commands in hints repeat, so that they mean the same when they are pasted:
    /// `--reader a`, quoted for a shell. Empty when the caller named none; at most
    /// [`HINT_OPTIONS_MAX`](crate::limits::HINT_OPTIONS_MAX) bytes.
    /// [`WITHOUT_PROGRAM`](crate::command::WITHOUT_PROGRAM) for a caller that has no shell:
    /// commands then stand without the program's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint_options: String,
    /// The caller's environment variables for an app that a `run`, or a `view` with
    /// [`ViewArgs::open`], opens implicitly. Only those that [`is_passed_variable`] names are used.
    /// Empty for other verbs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// How many tokens the answer of an act may use to show what it changed in files, for steps
    /// whose windows don't show it; 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub diff: u32,
    /// The wait for the end of each job that is started or read, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wait_ms: u32,
    /// The verb with its arguments.
    pub verb: Verb,
}

/// The arguments of `open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenArgs {
    /// The app.
    pub provider: ProviderId,
    /// The session; `None` for `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The arguments for the app.
    #[serde(default)]
    pub args: Vec<String>,
    /// The caller's working directory.
    pub cwd: String,
    /// The caller's environment; the daemon passes on its allow-list and what the manifest names.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Whether the window keeps its session awake even if unused; `None` leaves it unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<bool>,
    /// The window's priority in the workspace document: a higher one stands earlier, and is left
    /// out later. Absent to leave it unchanged; a new window has 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// The window's part of the workspace document's budget compared to the other windows', at
    /// least 1. Absent to leave it unchanged; a new window has 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
}

/// The arguments of `history`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryArgs {
    /// True to include the detail of each round.
    #[serde(default)]
    pub detail: bool,
    /// The number of newest rounds; `None` for a screenful, or for all since `since_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The earliest end of the shown rounds, in milliseconds since 1970, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
    /// True for the rounds of all workspaces.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// The absolute path of a file; only rounds that changed it are shown, newest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How far the reader's clock is ahead of UTC, the newest first, at most
    /// [`CLOCK_OFFSETS_MAX`](crate::limits::CLOCK_OFFSETS_MAX): later ones are left out. Empty for
    /// times in UTC.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clock: Vec<ClockOffset>,
}

/// The arguments of `view`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewArgs {
    /// The session of one window; `None` for all windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionAddr>,
    /// Shows only what changed since this epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// The longest wait for a change that the reader hasn't seen, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wait_ms: u32,
    /// Shows all windows as the context of a prompt: what the reader hasn't seen, which may be
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject: Option<Inject>,
    /// The versions of windows that the client has, at most [`HELD_MAX`](crate::limits::HELD_MAX),
    /// which count instead of what the daemon knows of the reader: of these windows only what
    /// changed since is shown. Not with `since` or `wait_ms`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldWindow>,
    /// True to open the session first if it is `main` of a built-in app that has no window here: as
    /// a `run` does, where and as the caller runs. Without it, a window that isn't open is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

/// The version of a window that a client has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldWindow {
    /// The window's session: `memotree/main`, or `memotree` for `main`.
    pub window: String,
    /// The version as shown in answers: `2.0.6`. If it is malformed or unknown, the answer says so
    /// and shows the whole window.
    pub version: String,
}

impl FromStr for HeldWindow {
    type Err = Infallible;

    /// Reads `memotree/main=2.0.6`. What has another form names no version: the answer says so.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let (window, version) = text.split_once('=').unwrap_or((text, ""));
        Ok(Self { window: window.into(), version: version.into() })
    }
}

/// The options for a workspace as the context of a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inject {
    /// True when the model has lost what it was shown: everything is shown again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
}

/// The arguments of `watch`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchArgs {
    /// Reports the events after this number; absent for those that are yet to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// The [`Events::life`] that `after` belongs to. If the daemon has another one by now, all its
    /// events count as later. 0 stands for the current one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub life: u64,
    /// The longest wait for an event, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wait_ms: u32,
    /// True for the events of all workspaces.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
}

/// The arguments of `app add` and `app remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvidersArgs {
    /// A manifest to be copied into the user's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<NewProvider>,
    /// A provider whose manifest is to be removed from the user's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<ProviderId>,
}

/// A manifest to add.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewProvider {
    /// The manifest's absolute path, for errors; relative commands start in its directory.
    pub file: String,
    /// The manifest's text.
    pub text: String,
    /// True when it may replace another manifest of the same id.
    #[serde(default)]
    pub replace: bool,
    /// The caller's `PATH`, in which a bare command is looked up.
    #[serde(default)]
    pub path: String,
}

/// The answer of a verb.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The exit status of the command line.
    pub exit: u8,
    /// The content.
    pub body: Body,
    /// The number to confirm with [`DeliveryAck`] once the answer is written out; 0 if there is
    /// nothing to confirm.
    #[serde(default)]
    pub delivery: u64,
    /// True when the answer is an error and no step ran: a command line writes its text to standard
    /// error, so that a file that standard output goes to never holds it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub error: bool,
}

/// The content of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Markdown, printed as it is; ends with a newline.
    Text(String),
    /// The data of verbs that act or view. Boxed because it is much larger than the other variants.
    Report(Box<Report>),
    /// The data of the other verbs.
    Data(Value),
    /// A value, printed byte for byte.
    Raw(Bytes),
    /// Events of `watch`.
    Events(Events),
    /// A part of a session's log.
    Log(LogPart),
}

/// Confirms that the reader has an answer. As a request it is replied to with
/// [`crate::app::Empty`], so that the agent's next process can wait until it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryAck {
    /// The number from [`Answer::delivery`].
    pub delivery: u64,
}

/// Prepares exchanges with a session, and starts its process if there is none. The daemon replies
/// with [`Attached`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// The workspace in which the session was opened.
    pub workspace: Workspace,
    /// The session.
    pub session: SessionAddr,
}

/// The reply to [`Attach`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// The incarnation that exchanges name in their envelope.
    pub incarnation: Incarnation,
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}
