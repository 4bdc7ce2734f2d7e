//! What the figures call things.

use pipemux_proto::client::Verb;

use crate::action::{Action, Manner};

/// The first word of how something is written.
fn word(of: &impl std::fmt::Debug) -> String {
    let written = format!("{of:?}");
    let end = written.find(|c: char| !c.is_alphanumeric()).unwrap_or(written.len());
    written[..end].to_owned()
}

pub fn action(action: &Action) -> String {
    word(action)
}

pub fn manner(manner: Manner) -> String {
    match manner {
        Manner::DiesOnInvoke(false) => "DiesBeforeEffect".into(),
        Manner::DiesOnInvoke(true) => "DiesAfterEffect".into(),
        other => word(&other),
    }
}

pub fn verb(verb: &Verb) -> String {
    word(verb)
}

/// Everything that must have happened among the seeds of an ordinary run.
pub const EXPECTED: &[&str] = &[
    "action Again",
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
    "action Manner",
    "action Pass",
    "action Rogue",
    "action Rude",
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
    "quarantined",
    "kept",
    "go went",
    "pinned",
    "unpinned",
    "process shared",
    "shared process closed",
    "woken",
    "round told",
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
    "manner DiesAfterEffect",
    "manner DiesAtStart",
    "manner DiesBeforeEffect",
    "manner DiesOnOpen",
    "manner DiesOnProject",
    "manner Garbage",
    "manner Hangs",
    "manner NoHello",
    "manner Normal",
    "manner RefusesOpen",
    "manner Slow",
    "manner Stopped",
    "manner Twice",
    "manner Unordered",
    "manner AtOnce",
    "manner Unstartable",
    "manner WrongVersion",
    "rogue AnotherLife",
    "rogue AnsweredBefore",
    "rogue Asks",
    "rogue ClosedLife",
    "rogue BadReply",
    "rogue Events",
    "rogue Garbage",
    "rogue Hello",
    "rogue NeverAsked",
    "rude AppMethods",
    "rude BadBody",
    "rude Garbage",
    "rude Gone",
    "rude NoHello",
    "rude WrongVersion",
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
