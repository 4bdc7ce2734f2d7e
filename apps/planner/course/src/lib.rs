//! The course of a planning workshop as a pure state machine: `(state, event) → state, effects`.
//!
//! | module | purpose |
//! |---|---|
//! | [`role`] | who speaks: five roles, and the coach, who leads and never votes |
//! | [`event`] | what happens to a course, and what it wants done |
//! | [`course`] | the state, and [`Course::apply`] |
//! | `stage`, `parts`, `question` | the types of the state |
//! | `advance` | which turn is next once something happened |
//! | [`meeting`] | the clarification meeting between rounds 2 and 3; `replies`: what the user says in it |
//! | `control` | what the user may do at any time: adjust, go back, pause, roll back |
//! | [`signing`] | roles confirm what the coach wrote of them |
//! | [`turn`] | one thing that somebody is asked to say, and what is answered |
//! | `payload`, `instruction` | what each turn is given, and the form of its answer |
//! | [`schema`] | the JSON schemas in `schemas/`, by which payloads and answers are checked |
//! | [`artifact`] | the plan and the draft |
//! | [`ordered`] | JSON in the order in which it is read |
//! | `sections` | what a plan and a draft consist of |
//! | `versions` | versions, edits by hand, going back |
//! | [`contract`] | the criteria of a plan, and the commands that show whether they hold |
//! | [`compare`], [`quality`] | what differs between two versions; how complete a plan is |
//! | `why` | why a discussion goes on, and who can end it |
//! | [`lang`] | the language of the frame |
//! | [`limits`] | every bound |
//!
//! There is no IO, no clock and no randomness here: an [`Entry`](event::Entry) brings its time along. The entries of a course,
//! applied in order to [`Course::default`], give its state again, so the journal of entries is all that has to be saved.
//!
//! **Invariant: a refused entry changes nothing.**
//!
//! **Invariant: what was answered isn't asked again**, unless the user goes back or changes the brief.
#![forbid(unsafe_code)]

mod advance;
pub mod artifact;
pub mod compare;
pub mod contract;
mod control;
pub mod course;
pub mod event;
mod instruction;
pub mod lang;
pub mod limits;
pub mod meeting;
pub mod ordered;
mod parts;
mod payload;
pub mod quality;
mod question;
mod replies;
pub mod role;
pub mod schema;
mod sections;
pub mod signing;
mod stage;
pub mod turn;
mod versions;
mod why;

pub use course::{Course, Stage};
pub use event::{By, Driver, Effect, Entry, Event, Refusal};
pub use role::{Role, Speaker};
