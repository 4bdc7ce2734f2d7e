//! What answers to questions allowed in a session, as it is saved.

use std::collections::BTreeSet;
use std::path::Path;

use docui::{Fault, regular_file, state_file};
use serde::{Deserialize, Serialize};

use crate::limits::ALLOWED_MAX;
use crate::permission::Scope;

/// What was allowed in answers to questions, as it is saved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// Programs, with any arguments.
    #[serde(default)]
    pub programs: BTreeSet<String>,
    /// Whole lines, each in its directory and with its variables: [`crate::start::Order::identity`].
    #[serde(default)]
    pub lines: BTreeSet<String>,
    /// Anything that no pattern asks for or refuses.
    #[serde(default, rename = "any")]
    pub all: bool,
}

impl Allowed {
    /// Reads what was allowed before.
    pub fn read(state_dir: &Path) -> Self {
        regular_file::read(&state_dir.join("allowed.json"))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Adds what was allowed, and saves it. `identity` is that of the order.
    ///
    /// # Errors
    /// It can't be saved. It counts until the process ends.
    pub fn add(&mut self, scope: &Scope, identity: &str, state_dir: &Path) -> Result<(), Fault> {
        match scope {
            Scope::Programs(programs) => self.programs.extend(programs.iter().cloned()),
            Scope::Line => drop(self.lines.insert(identity.to_owned())),
            Scope::All => self.all = true,
        }
        // Lines go first, then programs: who allowed so much is asked again, which costs less than a file that grows for ever.
        if self.programs.len() + self.lines.len() > ALLOWED_MAX {
            self.lines.clear();
        }
        if self.programs.len() > ALLOWED_MAX {
            self.programs.clear();
        }
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        state_file::replace(&state_dir.join("allowed.json"), &bytes)
    }
}
