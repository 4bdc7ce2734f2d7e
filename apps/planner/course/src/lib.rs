//! The course of a planning workshop as a pure state machine: `(state, event) → state, effects`.
//!
//! | module | purpose |
//! |---|---|
//! | [`course`] | the state, of a [`brief`], a [`cycle`], [`turn`]s, [`versions`] and a [`record`] |
//! | [`event`], `apply` | what happens to a course, and how it changes by it |
//! | `advance` | which turn is next once something happened |
//! | `begin`, `control`, `edits` | what the user does: begins, adjusts, goes back, pauses, edits |
//! | `meeting`, `replies`, [`question`] | the clarification meeting between rounds 2 and 3 |
//! | [`signing`] | roles confirm what the coach wrote of them |
//! | `payload`, `instruction`, [`answers`] | what each turn is given, and what is answered |
//! | [`schema`] | the JSON schemas in `schemas/`, by which payloads and answers are checked |
//! | [`artifact`], `plan`, `draft`, `sections` | what comes of a cycle |
//! | [`contract`], [`quality`], [`compare`] | what a plan asks for, how complete it is, what differs |
//! | [`role`], [`stage`] | who speaks, and how far a course is |
//! | `why` | why a discussion goes on, and who can end it |
//! | [`ordered`], [`text`], [`lang`] | how values and texts are shown |
//! | [`limits`] | every bound |
//!
//! There is no IO, no clock and no randomness here: an [`Entry`](event::Entry) brings its time
//! along. The entries of a course, applied in order to [`Course::default`], give its state again,
//! so the journal of entries is all that has to be saved.
//!
//! **Invariant: a refused entry changes nothing.**
//!
//! **Invariant: what was answered isn't asked again**, unless the user goes back or changes the
//! brief.
#![forbid(unsafe_code)]

mod advance;
pub mod answers;
mod apply;
pub mod artifact;
mod begin;
mod brief;
pub mod compare;
pub mod contract;
mod control;
mod course;
mod cycle;
mod draft;
mod edits;
pub mod event;
mod instruction;
pub mod lang;
pub mod limits;
mod meeting;
pub mod ordered;
mod payload;
mod plan;
mod plan_fields;
pub mod quality;
pub mod question;
pub mod record;
mod refusal;
mod replies;
mod role;
pub mod schema;
mod sections;
mod signing;
mod stage;
pub mod text;
pub mod turn;
pub mod versions;
mod why;

pub use course::Course;
pub use event::{By, Driver, Effect, Entry, Event, Refusal};
pub use role::{Role, Speaker};
pub use stage::Stage;
