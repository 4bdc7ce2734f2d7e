//! What a tool's call asks, and where it comes from.

use std::collections::BTreeMap;
use std::time::Duration;

use pipemux_proto::client::{Verb, VerbRequest};
use pipemux_proto::command::WITHOUT_PROGRAM;
use pipemux_proto::projection::Lod;

use crate::call_wait::call_wait_ms;
use crate::error::ClientError;
use crate::options::Options;

/// The way in which a tool call is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolRequest {
    /// The verb is sent to the daemon.
    Verb(Box<ToolVerb>),
    /// The client answers with this text.
    Text(String),
}

/// A verb, with the settings that the code specified.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolVerb {
    /// The verb.
    pub verb: Verb,
    /// Tokens that the answer may take.
    pub budget: Option<u32>,
    /// The level of detail.
    pub lod: Option<Lod>,
    /// The epoch that refs in the code refer to.
    pub at: Option<u64>,
    /// The time to wait for jobs to end, in milliseconds.
    pub wait_ms: u32,
}

impl ToolVerb {
    /// Makes one without settings.
    pub fn new(verb: Verb) -> Self {
        Self { verb, budget: None, lod: None, at: None, wait_ms: 0 }
    }

    /// Makes the request to the daemon, for a caller without a shell.
    pub fn into_request(self, options: &Options) -> VerbRequest {
        let mut request = options.call(self.verb);
        request.budget = self.budget;
        request.lod = self.lod;
        request.at = self.at;
        request.wait_ms = self.wait_ms.max(call_wait_ms(&request.verb));
        request.hint_options = WITHOUT_PROGRAM.to_owned();
        request
    }

    /// Returns how long the request waits for something to happen, on top of the time for its work.
    pub fn waits(&self) -> Duration {
        let event = match &self.verb {
            Verb::View(view) => view.wait_ms,
            _ => 0,
        };
        let jobs = self.wait_ms.max(call_wait_ms(&self.verb));
        Duration::from_millis(u64::from(event) + u64::from(jobs))
    }
}

/// The environment of a tool's caller, which is passed to an app that the call opens.
pub trait CallerEnv {
    /// Returns the working directory.
    ///
    /// # Errors
    /// There is none, or its path isn't text.
    fn directory(&self) -> Result<String, ClientError>;

    /// Returns the environment variables.
    fn variables(&self) -> BTreeMap<String, String>;
}
