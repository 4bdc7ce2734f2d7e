//! What a verb leaves to be done for its request.

use pipemux_proto::client::{Body, OpenArgs};
use pipemux_proto::refs::Ref;
use pipemux_proto::{ProviderId, Value};

use crate::keys::SessionKey;
use crate::pipeline::parsed_script::ParsedScript;
use crate::runs::Step;
use crate::runs::origin::Origin;
use crate::verbs::tasks::{AfterOpen, AfterStart, Task, Wait};
use crate::views::requested_window::{AnswerKind, WantedWindow};

/// The next step of a request, as the function of its verb decides it.
#[derive(Debug)]
pub(crate) enum Next {
    /// Answer with data, which is written as text or as JSON.
    Data(String, Value),
    /// Answer with a body that has one form only.
    Body(Body),
    /// Wait.
    Wait(Task),
    /// Refuse with a body that says more than a fault does, and with its exit status.
    Refusal(u8, Body),
    /// Open a registered app, and show its window.
    Open(Box<OpenArgs>),
    /// Open a built-in app as its caller would, and go on.
    OpenFor(ProviderId, AfterOpen),
    /// Request windows, and show them once they have arrived.
    Show(Vec<WantedWindow>, AnswerKind),
    /// Wait for something to happen, for at most `wait_ms`; nothing ends the wait in the first `pause_ms`.
    Await { wait: Box<Wait>, wait_ms: u64, pause_ms: u64 },
    /// Start sessions, and go on once each is ready or can't be.
    Start(Vec<SessionKey>, AfterStart),
    /// Carry out steps that were checked.
    Steps(Vec<Step>, Origin),
    /// Carry out a script of sessions that have started.
    Script(Box<ParsedScript>),
    /// Click a link.
    Click(Ref),
}
