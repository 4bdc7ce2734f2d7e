//! The messages between PipeMux's processes, and the syntaxes that daemon, clients and apps share.
//!
//! | module | contents |
//! |---|---|
//! | [`ids`] | names of providers and sessions, numbers of incarnations |
//! | [`limits`] | the bounds of the wire |
//! | [`frame`], [`envelope`], [`codec`] | how bytes become messages |
//! | [`hello`] | the first message in each direction, and the protocol's version |
//! | [`app`] | messages between daemon and app |
//! | [`client`] | messages between client and daemon |
//! | [`job`] | jobs: work that outlasts the request that began it |
//! | [`numbers`] | line numbers as references |
//! | [`report`] | the answer of a verb as data (`--json`) |
//! | [`run_id`] | ids of acting requests |
//! | [`watch`] | events and parts of logs |
//! | [`projection`] | a window as slots, before the daemon assigns ids |
//! | [`prototype`] | the signature of an action |
//! | [`value`] | MessagePack values: decoded, or passed on undecoded |
//! | [`refs`] | the ref grammar: `obj:23@e17` |
//! | [`call`] | the call syntax of `run`, and the `docui` blocks of a message |
//! | [`consent`] | what only a person may allow |
//! | [`pause`] | a person holds what agents do |
//! | [`context`] | the Context of a window |
//! | [`fault`] | errors with a code, a level and hints |
//! | [`environment`] | the variables that the daemon is started with |
//! | [`paths`] | the paths of a daemon's state and socket |
//! | [`text`] | text that messages share with its owner |
//!
//! **Invariant: no IO, no runtime.** Nothing in this crate opens a file, waits, or reads a clock,
//! so that every process and every test can use it.
//!
//! **Invariant: one definition for each message.** Both ends of a wire use the type that is defined
//! here. `PROTOCOL.md` beside this crate describes the same messages for other languages, and a
//! test compares the two.
// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod app;
pub mod call;
pub mod client;
pub mod codec;
pub mod command;
pub mod consent;
pub mod context;
pub mod deadline;
pub mod envelope;
pub mod environment;
pub mod fault;
pub mod frame;
pub mod hello;
pub mod ids;
pub mod job;
pub mod limits;
pub mod numbers;
pub mod paths;
pub mod pause;
pub mod projection;
pub mod prototype;
pub mod refs;
pub mod report;
pub mod run_id;
pub mod text;
pub mod value;
pub mod watch;

pub use codec::{DecodeError, decode, encode};
pub use envelope::{Envelope, Kind, Method};
pub use fault::{Code, Fault, Level};
pub use frame::{Frame, FrameDecoder, FrameError};
pub use hello::{Hello, Role};
pub use ids::{Incarnation, ProviderId, SessionAddr, SessionId};
pub use numbers::{LineNumbers, LineRun};
pub use value::{Blob, Value};
