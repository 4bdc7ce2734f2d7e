//! An app that is being opened, and the step that follows.

use pipemux_proto::client::{OpenArgs, ViewArgs};

use crate::keys::SessionKey;
use crate::pipeline::parsed_script::ParsedScript;

/// An app that is being opened.
#[derive(Debug)]
pub(crate) struct Opening {
    pub session: SessionKey,
    pub args: OpenArgs,
    pub then: AfterOpen,
}

/// The step that follows once an app was opened.
#[derive(Debug)]
pub(crate) enum AfterOpen {
    /// Show its window, for an `open`.
    Show,
    /// Go on with the script that calls the app.
    Script(Box<ParsedScript>),
    /// Show what a view asked for.
    View(Box<ViewArgs>),
}
