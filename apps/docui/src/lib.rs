//! SDK for PipeMux apps.
//!
//! An app is a model, an [`App::update`] that carries out one action, and an [`App::view`] that shows
//! the model as slots. The SDK does the wire, the greeting, prototypes, levels of detail, anchors'
//! revs and errors.
//!
//! | module | holds |
//! |---|---|
//! | [`App`] | what an app implements |
//! | [`actions!`], [`choices!`] | declare actions and string choices |
//! | [`args`] | types that parameters may have |
//! | [`reply`] | how an update ends |
//! | [`view`] | building a window |
//! | [`serve`] | the loop around an app |
//! | [`testing`] | an app under test without a daemon |
//!
//! # A whole app
//!
//! The first scenario of the UI-Anchor document: enemies, a fireball, a way out.
//!
//! ```no_run
#![doc = include_str!("../examples/arena.rs")]
//! ```
//!
//! Register it with a manifest `arena.toml` in `$XDG_CONFIG_HOME/pipemux/apps/`:
//!
//! ```toml
//! id = "arena"
//! command = "/path/to/arena"
//! description = "Three enemies and a fireball"
//! ```
//!
//! **Invariant: an app never waits.** The loop is one thread that takes one message at a time; an app
//! does its work within a message and keeps no locks.
//!
//! **Invariant: an app mints nothing.** It names things by keys; ids, epochs and Markdown are the
//! daemon's.
#![deny(unsafe_code)]

mod actions;
mod app;
pub mod args;
mod desk;
mod fd;
mod link;
mod own;
pub mod reply;
pub mod serve;
mod server;
pub mod testing;
pub mod view;

pub use actions::Actions;
pub use app::{App, Context, Exchanged, Found, Look, Opening};
pub use args::{Anchor, Any, ArgType, Kind, Line, Text};
/// What exchanges are made of.
pub use bytes::Bytes;
pub use pipemux_proto::app::Choice;
pub use pipemux_proto::projection::Lod;
pub use pipemux_proto::{Fault, Value, tokens};
pub use reply::{Ask, Done, Reply};
pub use serve::run;
pub use view::{Object, View};

/// What the macros' expansions name.
#[doc(hidden)]
pub mod private {
    pub use pipemux_proto::projection::{Arg, Args};
    pub use pipemux_proto::prototype::{Param, Prominence, Prototype, Risk, Type};
}
