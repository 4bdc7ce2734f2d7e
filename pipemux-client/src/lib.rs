//! The client side of PipeMux: what talks to `pipemuxd`. The `pipemux` command is built on it.
//!
//! | module | holds |
//! |---|---|
//! | [`options`] | which daemon, workspace and reader: from the environment, or set by hand |
//! | [`workspace`] | how a directory becomes a workspace |
//! | [`blocking`] | one request after the other on a std socket: the command line |
//! | [`client`] | many requests in flight on tokio: harnesses and bridges |
//! | [`error`] | why there is no answer |
//! | `link` | a connection that many calls share |
//! | `wire` | frames and greetings, without IO; both clients stand on it |
//! | [`daemon`] | whether `pipemuxd` runs; starts it |
//! | `connect` | finds the socket, has the daemon started when nobody listens |
//!
//! **Invariant: every request gets exactly one terminal answer.** When the daemon is lost, this library
//! gives it: *outcome unknown* for an acting request that may have reached the daemon, *unreachable*
//! for one that certainly didn't. It never sends an acting request twice, but for the one that goes out
//! with the greeting when the daemon is lost before it greets: that is sent again under its own id, of which
//! the daemon carries out one.
//!
//! **Invariant: the client decides nothing.** What is printed and with which status comes from the
//! daemon; only what happens before it is reached, or after it is lost, is said here.
//!
//! **Invariant: the command line carries no runtime.** [`blocking`] and what it stands on use std only,
//! for a one-shot process must be cheap.
//!
//! # Example
//!
//! Two requests at once over one connection; the daemon is started when it isn't up.
//!
//! ```no_run
//! use pipemux_client::proto::client::{Body, Verb, View};
//! use pipemux_client::{Client, ClientError, Options};
//!
//! # async fn example() -> Result<(), ClientError> {
//! let options = Options::from_env()?.reader("my-harness");
//! let client = Client::connect(&options).await?;
//!
//! let view = client.call(Verb::View(View::default()));
//! let act = client.call(Verb::Run { code: "editor.save()".into(), stdin: None });
//! let (view, act) = tokio::join!(view, act);
//!
//! let act = act?;
//! if let Body::Text(text) = &act.body {
//!     println!("exit {}: {text}", act.exit);
//! }
//! // The agent has read it: from now on it is told only what changes.
//! client.seen(act.delivery).await?;
//! client.seen(view?.delivery).await?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod blocking;
pub mod client;
mod connect;
pub mod daemon;
pub mod error;
mod link;
pub mod options;
mod wire;
pub mod workspace;

#[cfg(test)]
mod tests;

pub use client::{Attached, Client};
pub use error::ClientError;
pub use options::Options;
/// The wire types, of the version that this library speaks.
pub use pipemux_proto as proto;
/// Where the daemon listens and keeps its state.
pub use pipemux_proto::paths;
