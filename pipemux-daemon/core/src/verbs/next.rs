//! What a verb leaves to be done for its request.

use pipemux_proto::Value;
use pipemux_proto::client::{Body, OpenArgs};

use crate::verbs::tasks::Task;

/// The next step of a request, as the function of its verb decides it.
#[derive(Debug)]
pub(crate) enum Next {
    /// Answer with data, which is written as text or as JSON.
    Data(String, Value),
    /// Answer with a body that has one form only.
    Body(Body),
    /// Wait.
    Wait(Task),
    /// Open a registered app, and show its window.
    Open(Box<OpenArgs>),
}
