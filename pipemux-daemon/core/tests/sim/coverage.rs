//! What the statistics count, and what an ordinary run must have met: a situation that never occurs proves nothing.

use pipemux_proto::client::Verb;

use crate::action::{Action, Behaviour};

/// Returns the name of an enum's variant.
fn variant_name(of: &impl std::fmt::Debug) -> String {
    let written = format!("{of:?}");
    let end = written.find(|c: char| !c.is_alphanumeric()).unwrap_or(written.len());
    written[..end].to_owned()
}

pub fn action(action: &Action) -> String {
    variant_name(action)
}

pub fn behaviour(behaviour: Behaviour) -> String {
    match behaviour {
        Behaviour::DiesOnInvoke(false) => "DiesBeforeEffect".into(),
        Behaviour::DiesOnInvoke(true) => "DiesAfterEffect".into(),
        other => variant_name(&other),
    }
}

pub fn verb(verb: &Verb) -> String {
    variant_name(verb)
}

/// Everything that must have happened at least three times among the seeds of an ordinary run.
pub const REQUIRED: &[&str] = &[
    "action Repeat",
    "action Ask",
    "action Cancel",
    "action Change",
    "action Chatter",
    "action Compact",
    "action Confirm",
    "action CrashDaemon",
    "action DiskFull",
    "action FloodApp",
    "action FloodClient",
    "action HalfOpen",
    "action Kill",
    "action LauncherLost",
    "action Behaviour",
    "action Pass",
    "action RogueMessage",
    "action BreakProtocol",
    "action Stop",
    "action Vanish",
    "asked AppClose",
    "asked AppOpen",
    "asked AppRead",
    "asked Invoke",
    "asked Locate",
    "asked Ping",
    "asked Project",
    "asked Save",
    "answer refused by an app",
    "question looked at, 3",
    "question looked at, 5",
    "wrong answer",
    "quarantined",
    "repeated when forgotten",
    "kept",
    "go went",
    "rest kept",
    "corrected, 0",
    "corrected, 1",
    "corrected, 2",
    "pinned",
    "unpinned",
    "process shared",
    "shared process closed",
    "woken",
    "round told",
    "unchanged told",
    "difference shown",
    "store discarded",
    "client gone",
    "client half-open",
    "daemon ended in order",
    "daemon killed",
    "effects",
    "exit 0",
    "exit 1",
    "exit 2",
    "exit 3",
    "exit 4",
    "exit 5",
    "exit 6",
    "exit 7",
    "exit 9",
    "behaviour DiesAfterEffect",
    "behaviour DiesAtStart",
    "behaviour DiesBeforeEffect",
    "behaviour DiesOnOpen",
    "behaviour DiesOnProject",
    "behaviour Garbage",
    "behaviour Hangs",
    "behaviour NoHello",
    "behaviour Normal",
    "behaviour RefusesOpen",
    "behaviour Slow",
    "behaviour Stopped",
    "behaviour Twice",
    "behaviour Unordered",
    "behaviour AtOnce",
    "behaviour Unstartable",
    "behaviour WrongVersion",
    "rogue AnotherLife",
    "rogue AnsweredBefore",
    "rogue Asks",
    "rogue ClosedLife",
    "rogue BadReply",
    "rogue Events",
    "rogue Garbage",
    "rogue Hello",
    "rogue NeverAsked",
    "breach AppMethods",
    "breach BadBody",
    "breach Garbage",
    "breach Gone",
    "breach NoHello",
    "breach WrongVersion",
    "verb Answer",
    "verb Apps",
    "verb Click",
    "verb Close",
    "verb Down",
    "verb End",
    "verb Help",
    "verb History",
    "verb Logs",
    "verb Open",
    "verb Read",
    "verb Restart",
    "verb Run",
    "verb Limits",
    "verb Sessions",
    "verb Watch",
    "verb Set",
    "verb Status",
    "verb View",
];
