//! What crosses a process boundary in PipeMux, and nothing else.
//!
//! | module | holds |
//! |---|---|
//! | [`ids`] | names of providers, sessions and lives of a process |
//! | [`limits`] | the bounds of the wire |
//! | [`frame`], [`envelope`] | how bytes become messages |
//! | [`hello`] | the first message each way, and versions |
//! | [`app`] | daemon ↔ app messages |
//! | [`client`] | client ↔ daemon messages |
//! | [`report`] | the answer of a verb as data (`--json`) |
//! | [`watch`] | what is told as it happens |
//! | [`projection`] | a window as slots, before ids are minted |
//! | [`prototype`] | an action's signature |
//! | [`value`] | MessagePack values: literals and opaque blobs |
//! | [`refs`] | the ref grammar: `obj:23@e17` |
//! | [`call`] | the call syntax of `run` |
//! | [`context`] | the Context of a window |
//! | [`fault`] | errors with a code, a level and hints |
//! | [`paths`] | where a daemon keeps its state and listens |
//! | [`text`] | text that messages share with who keeps it |
//!
//! **Invariant: no IO, no runtime.** Nothing here opens, waits or reads a clock, so that each side of
//! the wire and every test can use it.
//!
//! **Invariant: one definition a message.** Both ends of a wire use the type that is defined here;
//! `PROTOCOL.md` beside this crate describes the same for other languages.
#![forbid(unsafe_code)]

pub mod app;
pub mod call;
pub mod client;
pub mod codec;
pub mod context;
pub mod envelope;
pub mod fault;
pub mod frame;
pub mod hello;
pub mod ids;
pub mod limits;
pub mod output;
pub mod paths;
pub mod projection;
pub mod prototype;
pub mod refs;
pub mod report;
pub mod table;
pub mod text;
pub mod value;
pub mod watch;

pub use codec::{DecodeError, decode, encode};
pub use envelope::{Envelope, Kind, Method};
pub use fault::{Code, Fault, Level};
pub use frame::{Frame, FrameDecoder, FrameError};
pub use hello::{Hello, Role};
pub use ids::{Incarnation, ProviderId, SessionAddr, SessionId};
pub use value::{Blob, Value};

// A bridge until all users name the crate itself.
pub use pipemux_tokens as tokens;
