//! The verbs, and the one table of what holds for each of them.
//!
//! **Invariant: what depends on the verb alone is declared in the table.** The daemon and the
//! client derive from it what a verb may change, who may send it, what waits for it and how it is
//! called. A new verb has a variant, a line in [`Verb::kind`] and a row; the compiler names the few
//! places that have to do something of its own with it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{HistoryArgs, OpenArgs, ProvidersArgs, ViewArgs, WatchArgs, is_zero};
use crate::consent::ConsentArgs;
use crate::ids::{ProviderId, SessionAddr};
use crate::pause::PauseArgs;

/// A verb of the command line with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Starts or attaches a session, adds its window and shows it.
    Open(OpenArgs),
    /// Shows the workspace document or one window.
    View(ViewArgs),
    /// Carries out a link.
    Click {
        /// `link:15`, `15`
        link: String,
    },
    /// Carries out calls.
    Run {
        /// The code of the calls.
        code: String,
        /// The text for the name `stdin`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdin: Option<Bytes>,
        /// True to refuse the whole of it if it has a call that isn't a query.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        only_queries: bool,
    },
    /// Answers an open question, or shows it when `text` is empty.
    Answer {
        /// `1,3`, `all`, `all but 2`, `none`, `yes`, `no`, `go`, a label, a value, a link,
        /// `name=value`.
        text: String,
        /// The question's number, which is needed if several questions are open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<u64>,
        /// Standard input, for which `-` and `stdin` in `text` stand.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdin: Option<Bytes>,
    },
    /// Prints the value of a thing, byte for byte.
    Read {
        /// `obj:12`; of a job's output: `job:3`
        target: String,
    },
    /// Tells of each ref and token in a text what it is now, and which calls one can make.
    Resolve {
        /// The text: a prompt, a message, a file. At most
        /// [`RESOLVE_TEXT_MAX`](crate::limits::RESOLVE_TEXT_MAX) bytes.
        text: String,
        /// True to carry out the one call that the text names.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        run: bool,
    },
    /// Describes the actions of a provider in a line each; at the level of detail `Full` in whole
    /// declarations.
    Help {
        /// The provider.
        provider: ProviderId,
        /// True for the aliases, which are left out otherwise.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        aliases: bool,
        /// The whole declarations of one action, as calls write its name; `None` for all actions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<String>,
    },
    /// Closes a window.
    Close {
        /// The session that the window shows.
        session: SessionAddr,
        /// True to end the session too.
        #[serde(default)]
        end: bool,
    },
    /// Lists the registered providers.
    Apps,
    /// Lists the sessions.
    Sessions,
    /// Prints the newest frames between the daemon and a session, decoded, or follows them. A
    /// session is traced from the first such request on. The answer is text, or [`Body::Log`] if
    /// `after` or `wait_ms` is given.
    Trace {
        /// The session.
        session: SessionAddr,
        /// The maximum number of frames.
        lines: u32,
        /// The position from an earlier answer, to get the frames after it; absent for the newest
        /// ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
        /// The longest wait for a frame, in milliseconds.
        #[serde(default, skip_serializing_if = "is_zero")]
        wait_ms: u32,
    },
    /// Prints the last lines of a session's log, or follows the log. The answer is text, or
    /// [`Body::Log`] if `after` or `wait_ms` is given.
    Logs {
        /// The session.
        session: SessionAddr,
        /// The maximum number of lines.
        lines: u32,
        /// The position from an earlier answer, to get what was printed after it; absent for the
        /// last lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
        /// The longest wait for new output, in milliseconds.
        #[serde(default, skip_serializing_if = "is_zero")]
        wait_ms: u32,
    },
    /// Ends the session's process and starts another one.
    Restart {
        /// The session.
        session: SessionAddr,
    },
    /// Ends the session and closes its windows.
    End {
        /// The session.
        session: SessionAddr,
    },
    /// Lists what was done in the workspace.
    History(HistoryArgs),
    /// Takes a round of history back, in all sessions that it changed, the newest step first.
    Undo {
        /// The round's number; absent for the reader's newest one that changed anything and isn't
        /// undone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<u64>,
    },
    /// Shows the workspace's options, or sets one.
    Set {
        /// `epoch` or `rebase`; absent to show all options.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
        /// `strict` or `meaning`; `on` or `off`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// Reports the daemon's health.
    Status,
    /// Lists every bound that a user can reach, and how much of it is used.
    Limits,
    /// Reports events. It doesn't affect what a reader counts as having seen. The answer is
    /// [`Body::Events`].
    Watch(WatchArgs),
    /// Reads the manifests again, after adding or removing one if asked to.
    Providers(ProvidersArgs),
    /// Lists what apps ask a person to allow and what a person allowed, shows one of them, or
    /// decides about it.
    Consent(ConsentArgs),
    /// Begins or ends a pause, in which nobody whom it holds may act.
    Pause(PauseArgs),
    /// Ends all sessions and the daemon.
    Down,
}

/// The largest effect that a verb can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerbEffect {
    /// The verb changes nothing, and may be sent again at any time.
    ReadsOnly,
    /// The verb changes windows, sessions or settings, but runs no action.
    ChangesDaemon,
    /// The verb runs calls, of which it isn't known in advance whether all are queries.
    RunsCalls,
    /// The verb runs an app's actions.
    RunsActions,
}

/// The later requests of a client with ordered requests that wait for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldsLater {
    /// No later request waits for the answer.
    Nothing,
    /// Requests for the same workspace wait: the verb changes which windows there are.
    Workspace,
    /// All requests wait, because the verb changes the set of apps or ends the daemon.
    All,
}

/// The model's tools that may use a verb as a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolUse {
    /// No tool; the verb is for programs and persons.
    Nobody,
    /// The read-only tool and the acting one.
    Looks,
    /// The acting tool only.
    Acts,
}

/// Makes the kinds of verbs from the table.
macro_rules! verb_kinds {
    ($($kind:ident: $name:literal, $audit:expr, $effect:ident, $reader:literal, $later:ident, $tool:ident, $rest:ident;)*) => {
        /// The kind of a verb, without its arguments.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum VerbKind {
            $(#[doc = concat!("`", $name, "`")] $kind,)*
        }

        impl VerbKind {
            /// All kinds, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The name on the command line and in metrics. Several kinds may share one.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// The name in the audit log; `None` for a verb that isn't recorded.
            pub fn audit_name(self) -> Option<&'static str> {
                match self { $(Self::$kind => $audit,)* }
            }

            /// The largest effect that the verb can have.
            pub fn effect(self) -> VerbEffect {
                match self { $(Self::$kind => VerbEffect::$effect,)* }
            }

            /// True if it needs the reader's token, where the reader has one: it shows or changes
            /// what is the reader's.
            pub fn speaks_as_reader(self) -> bool {
                match self { $(Self::$kind => $reader,)* }
            }

            /// The later requests that wait for the answer.
            pub fn holds_later(self) -> HoldsLater {
                match self { $(Self::$kind => HoldsLater::$later,)* }
            }

            /// The model's tools that may use the verb.
            pub fn tool_use(self) -> ToolUse {
                match self { $(Self::$kind => ToolUse::$tool,)* }
            }

            /// The command that shows what a long answer leaves out. It never repeats an action.
            pub fn way_to_the_rest(self) -> &'static str {
                match self { $(Self::$kind => $rest,)* }
            }
        }
    };
}

const HISTORY: &str = "pipemux history --detail · pipemux view --budget 4000";
const VIEW: &str = "pipemux view --budget 4000";
const ROUNDS: &str = "pipemux history --rounds 20";
const LINES: &str = "pipemux logs with fewer --lines";
const FRAMES: &str = "pipemux trace with fewer --lines";
const STATUS: &str = "pipemux status";
const BUDGET: &str = "the same command with --budget 4000";

verb_kinds! {
    // Kind: name, name in the audit log, effect, speaks as reader, holds later requests, tool, way
    // to the rest
    Open: "open", Some("open"), ChangesDaemon, true, Workspace, Acts, VIEW;
    View: "view", None, ReadsOnly, true, Nothing, Looks, VIEW;
    Inject: "inject", None, ReadsOnly, true, Nothing, Nobody, VIEW;
    Click: "click", Some("click"), RunsCalls, true, Nothing, Acts, HISTORY;
    Run: "run", Some("run"), RunsCalls, true, Nothing, Acts, HISTORY;
    Ask: "ask", None, RunsCalls, true, Nothing, Looks, HISTORY;
    Answer: "answer", Some("answer"), RunsActions, true, Nothing, Acts, HISTORY;
    ShowQuestion: "answer", None, ReadsOnly, true, Nothing, Nobody, VIEW;
    Read: "read", None, ReadsOnly, true, Nothing, Looks, BUDGET;
    Resolve: "resolve", None, ReadsOnly, true, Nothing, Nobody, BUDGET;
    ResolveAndRun: "resolve", Some("resolve --run"), RunsCalls, true, Nothing, Nobody, HISTORY;
    Help: "help", None, ReadsOnly, false, Nothing, Looks, BUDGET;
    Close: "close", Some("close"), ChangesDaemon, true, Workspace, Acts, STATUS;
    Apps: "apps", None, ReadsOnly, false, Nothing, Looks, BUDGET;
    Sessions: "sessions", None, ReadsOnly, false, Nothing, Looks, BUDGET;
    Trace: "trace", None, ReadsOnly, false, Nothing, Nobody, FRAMES;
    Logs: "logs", None, ReadsOnly, false, Nothing, Looks, LINES;
    Restart: "restart", Some("restart"), ChangesDaemon, true, Workspace, Acts, STATUS;
    End: "end", Some("end"), ChangesDaemon, true, Workspace, Acts, STATUS;
    History: "history", None, ReadsOnly, true, Nothing, Looks, ROUNDS;
    Undo: "undo", Some("undo"), RunsActions, true, Nothing, Acts, HISTORY;
    Set: "set", Some("set"), ChangesDaemon, true, Nothing, Acts, STATUS;
    Status: "status", None, ReadsOnly, false, Nothing, Looks, BUDGET;
    Limits: "status", None, ReadsOnly, false, Nothing, Nobody, BUDGET;
    Watch: "watch", None, ReadsOnly, true, Nothing, Nobody, BUDGET;
    Providers: "app", Some("app"), ChangesDaemon, false, All, Nobody, STATUS;
    Consents: "consent", None, ReadsOnly, false, Nothing, Nobody, BUDGET;
    Consent: "consent", Some("consent"), ChangesDaemon, false, Nothing, Nobody, STATUS;
    Pause: "pause", Some("pause"), ChangesDaemon, false, Nothing, Nobody, STATUS;
    Resume: "pause", Some("resume"), ChangesDaemon, false, Nothing, Nobody, STATUS;
    Down: "down", Some("down"), ChangesDaemon, false, All, Nobody, STATUS;
}

impl Verb {
    /// Returns the row of the table that holds for this request.
    pub fn kind(&self) -> VerbKind {
        match self {
            Self::Open(_) => VerbKind::Open,
            Self::View(ViewArgs { inject: Some(_), .. }) => VerbKind::Inject,
            // Also a view that opens a window: sent again, it finds the window open.
            Self::View(_) => VerbKind::View,
            Self::Click { .. } => VerbKind::Click,
            Self::Run { only_queries: true, .. } => VerbKind::Ask,
            Self::Run { .. } => VerbKind::Run,
            Self::Answer { text, .. } if text.trim().is_empty() => VerbKind::ShowQuestion,
            Self::Answer { .. } => VerbKind::Answer,
            Self::Read { .. } => VerbKind::Read,
            Self::Resolve { run: false, .. } => VerbKind::Resolve,
            Self::Resolve { run: true, .. } => VerbKind::ResolveAndRun,
            Self::Help { .. } => VerbKind::Help,
            Self::Close { .. } => VerbKind::Close,
            Self::Apps => VerbKind::Apps,
            Self::Sessions => VerbKind::Sessions,
            Self::Trace { .. } => VerbKind::Trace,
            Self::Logs { .. } => VerbKind::Logs,
            Self::Restart { .. } => VerbKind::Restart,
            Self::End { .. } => VerbKind::End,
            Self::History(_) => VerbKind::History,
            Self::Undo { .. } => VerbKind::Undo,
            Self::Set { .. } => VerbKind::Set,
            Self::Status => VerbKind::Status,
            Self::Limits => VerbKind::Limits,
            Self::Watch(_) => VerbKind::Watch,
            Self::Providers(_) => VerbKind::Providers,
            Self::Consent(ConsentArgs { decision: None, .. }) => VerbKind::Consents,
            Self::Consent(_) => VerbKind::Consent,
            Self::Pause(PauseArgs { on: true, .. }) => VerbKind::Pause,
            Self::Pause(_) => VerbKind::Resume,
            Self::Down => VerbKind::Down,
        }
    }

    /// Returns true for verbs that may run an app's actions. They are recorded under their
    /// `run_id`: a request that is sent again gets the recorded answer and runs nothing.
    pub fn acts(&self) -> bool {
        matches!(self.kind().effect(), VerbEffect::RunsCalls | VerbEffect::RunsActions)
    }

    /// Returns true for verbs that may change something, if only which windows are open: when such
    /// a request is lost, its outcome is unknown. All others only read and may be sent again at any
    /// time.
    pub fn changes(&self) -> bool {
        self.kind().effect() != VerbEffect::ReadsOnly
    }

    /// Returns true for verbs by which a built-in app may be opened that isn't open: it gets the
    /// environment that the request brings.
    pub fn may_open(&self) -> bool {
        matches!(self, Self::Run { .. } | Self::View(ViewArgs { open: true, .. }))
    }

    /// Returns the session that an argument names.
    pub fn session_mut(&mut self) -> Option<&mut SessionAddr> {
        match self {
            Self::View(ViewArgs { session, .. }) => session.as_mut(),
            Self::Close { session, .. }
            | Self::Logs { session, .. }
            | Self::Trace { session, .. }
            | Self::Restart { session }
            | Self::End { session } => Some(session),
            Self::Open(_)
            | Self::Click { .. }
            | Self::Run { .. }
            | Self::Answer { .. }
            | Self::Read { .. }
            | Self::Resolve { .. }
            | Self::Help { .. }
            | Self::Apps
            | Self::Sessions
            | Self::History(_)
            | Self::Undo { .. }
            | Self::Set { .. }
            | Self::Status
            | Self::Limits
            | Self::Watch(_)
            | Self::Providers(_)
            | Self::Consent(_)
            | Self::Pause(_)
            | Self::Down => None,
        }
    }
}
