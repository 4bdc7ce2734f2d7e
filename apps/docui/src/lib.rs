//! SDK for PipeMux apps.
//!
//! An app is a model, an [`App::update`] that carries out one action, and an [`App::view`] that
//! renders the model as Markdown with anchors. The SDK does the rest: the connection to the daemon,
//! action signatures, argument types, stale anchors, errors.
//!
//! | module | purpose |
//! |---|---|
//! | [`App`] | the trait that an app implements |
//! | [`actions!`], [`choices!`], [`kind!`], [`record!`] | declare actions, string choices, types of objects and records |
//! | [`args`] | the types that an action's parameters may have |
//! | [`view`] | builds the content of a window |
//! | [`media`] | what the bytes of an image, a sound or a file are |
//! | [`table`] | tables of things: sorted, filtered, page by page |
//! | [`reply`] | the result of an update: done, or a question |
//! | [`Handle`] | says things unasked: a change, a notice, that work goes on |
//! | [`JobHandle`] | reports on work that outlasts the action that began it |
//! | [`blocking`] | work that may wait for a disk or a network, on threads of its own |
//! | [`undo`] | takes changes back, and makes them again |
//! | [`paging`] | shows a long list in pages |
//! | [`state_file`] | replaces small files in the state directory |
//! | [`regular_file`] | opens files without waiting for what is no file |
//! | [`serve`] | runs an app on its connection to the daemon |
//! | [`testing`] | drives an app in tests, without a daemon |
//!
//! Internally, `connection` reads and writes frames, `session_table` hands each frame to its
//! session, and `session` decodes it and calls the app, whose type `served` erases; `run_changes`
//! remembers what the current run changed itself; `path_watch` tells when the paths change that an
//! app watches; `limits` names every bound.
//!
//! # A complete app
//!
//! A fight with three enemies, a fireball and a way out:
//!
//! ```no_run
// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![doc = include_str!("../examples/arena.rs")]
//! ```
//!
//! To register it, write a manifest `arena.toml` to `$XDG_CONFIG_HOME/pipemux/apps/`:
//!
//! ```toml
//! id = "arena"
//! command = "/path/to/arena"
//! description = "Three enemies and a fireball"
//! ```
//!
//! Then open it: `pipemux open arena`.
//!
//! **Invariant: an app never waits.** One thread handles one message at a time. An app finishes its work
//! within the message and holds no locks between messages. What may wait for a disk or a network is done on
//! another thread ([`blocking`]).
//!
//! **Invariant: an app creates no anchor ids.** It names its objects by keys of its own; the daemon assigns
//! ids and epochs and writes the final Markdown.
#![deny(unsafe_code)]

mod actions;
mod app;
pub mod args;
pub mod blocking;
mod connection;
mod fd;
mod handle;
mod job;
mod job_report;
mod limits;
pub use pipemux_media as media;
pub mod paging;
mod path_watch;
pub mod regular_file;
pub mod reply;
mod run_changes;
pub mod serve;
mod served;
mod session;
mod session_table;
pub mod state_file;
pub mod table;
pub mod testing;
pub mod undo;
pub mod view;

use pipemux_proto::refs::{Local, Ref, RefKind};

pub use actions::Actions;
pub use app::{
    App, Context, ExchangeReply, Found, NumbersSeen, Opening, SeenNumbers, Token, ViewRequest,
};
pub use args::{
    Anchor, Any, ArgType, Change, Data, FilePath, Kind, Line, Pattern, Record, Secret, Text,
    TextOrPattern,
};
pub use blocking::{Blocking, Completion};
/// The type of an exchange's bytes.
pub use bytes::Bytes;
pub use handle::Handle;
pub use job::JobHandle;
pub use pipemux_proto::app::{ChangedBeside, Choice};
pub use pipemux_proto::call::nearest;
pub use pipemux_proto::command;
pub use pipemux_proto::consent::ConsentRequest;
pub use pipemux_proto::deadline;
pub use pipemux_proto::projection::{Lod, Media};
pub use pipemux_proto::text::{code_point, is_deceptive_in_prose};
pub use pipemux_proto::{Code, Fault, LineNumbers, LineRun, Value};
pub use pipemux_tokens as tokens;
pub use reply::{Ask, Done, Reply, Started};
pub use serve::run;
pub use view::{Embed, Object, View};

/// Returns the ref by which calls and commands name an object of a session, whether a window shows
/// it or not: `obj:editor/main:file:pic.png`. `address` is the session's, `ty` the object's type.
pub fn object_ref(address: &str, ty: Option<&str>, key: &str) -> String {
    let of = Ref {
        prefix: None,
        kind: RefKind::Obj,
        owner: address.parse().ok(),
        ty: ty.map(Into::into),
        local: Local::Key(key.into()),
        epoch: None,
    };
    of.to_string()
}

/// Names that the macros' expansions refer to.
#[doc(hidden)]
pub mod private {
    pub use crate::actions::with_previews;
    pub use crate::args::{in_field, missing_field, value_of};
    pub use pipemux_proto::projection::{Arg, Args};
    pub use pipemux_proto::prototype::{Field, Param, Prominence, Prototype, Risk, Type};

    /// Returns the name of a parameter from a Rust identifier: `r#in` stands for `in`.
    pub fn param_name(identifier: &'static str) -> &'static str {
        identifier.strip_prefix("r#").unwrap_or(identifier)
    }
}
