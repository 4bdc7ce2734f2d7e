//! The client side of PipeMux: everything that talks to `pipemuxd`. The `pipemux` command
//! (`pipemux-client/cli`) and the MCP server (`pipemux-client/mcp`) are built on it.
//!
//! | module | holds |
//! |---|---|
//! | [`options`] | which daemon, workspace and reader to use: from the environment, or set by the caller |
//! | [`workspace`] | how a directory is mapped to a workspace |
//! | [`blocking`] | a client for one request at a time on a std socket, used by the command line |
//! | [`client`] | a client for many requests in flight on tokio, for harnesses and bridges |
//! | [`error`] | why a request has no answer |
//! | [`exec`] | the tools that models know from other harnesses, carried out by apps |
//! | [`guide`] | what an agent is told before its first call, for every door |
//! | [`tools`] | PipeMux as tools of a model: their definitions, and what their calls ask |
//! | `multiplexed` | one connection that many calls share |
//! | `requests` | encodes what the client sends, without IO |
//! | `incoming` | decodes what the daemon sends, without IO |
//! | [`daemon`] | detects a running `pipemuxd` and starts one |
//! | [`service_unit`] | the systemd unit that listens in the daemon's place, if there is one |
//! | `connect` | finds the socket, and has the daemon started when nobody listens |
//!
//! **Invariant: every request gets exactly one terminal answer.** When the daemon is lost, this
//! library gives the answer itself: *outcome unknown* for an acting request that may have reached
//! the daemon, *unreachable* for one that certainly did not. It never sends an acting request
//! twice, with one exception: a request that goes out together with the greeting is sent again if
//! the daemon is lost before it greets. It keeps its id, and the daemon carries out only one
//! request per id.
//!
//! **Invariant: the client makes no decisions.** The daemon determines what is printed and with
//! which exit status. The client adds only what happens before the daemon is reached, or after it
//! is lost.
//!
//! **Invariant: the command line carries no async runtime.** [`blocking`] and the modules that it
//! uses are built on std, because starting a one-shot process must be cheap.
//!
//! # Example
//!
//! This sends two requests at once over one connection. The daemon is started if it is not running.
//!
//! ```no_run
//! use pipemux_client::proto::client::{Body, Verb, ViewArgs};
//! use pipemux_client::{Client, ClientError, Options};
//!
//! # async fn example() -> Result<(), ClientError> {
//! let options = Options::from_env()?.reader("my-harness");
//! let client = Client::connect(&options).await?;
//!
//! let view = client.call(Verb::View(ViewArgs::default()));
//! let act = client.call(Verb::Run { code: "editor.save()".into(), stdin: None, only_queries: false });
//! let (view, act) = tokio::join!(view, act);
//!
//! let act = act?;
//! if let Body::Text(text) = &act.body {
//!     println!("exit {}: {text}", act.exit);
//! }
//! // The agent has read these answers: later ones tell it only what has changed since.
//! client.seen(act.delivery).await?;
//! client.seen(view?.delivery).await?;
//! # Ok(())
//! # }
//! ```
// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod blocking;
pub mod call_wait;
pub mod client;
mod connect;
pub mod daemon;
pub mod error;
pub mod exec;
pub mod guide;
mod incoming;
mod known_daemon;
mod multiplexed;
pub mod options;
mod requests;
mod sandbox_hints;
pub mod service_unit;
pub mod tools;
pub mod workspace;

#[cfg(test)]
mod tests;

pub use client::{Attached, Client};
pub use error::ClientError;
pub use known_daemon::KnownDaemon;
pub use options::Options;
/// The messages of the protocol version that this library speaks.
pub use pipemux_proto as proto;
/// The locations where the daemon listens and keeps its state.
pub use pipemux_proto::paths;
