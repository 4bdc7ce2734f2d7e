//! Permits to start commands.
//!
//! A command is started by a [`Permit`], and only the check below makes one
//! ([`Terminal::permits`](crate::Terminal)): no way to start a command passes by it.

mod check;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use docui::Fault;
use pipemux_confine::Domain;

use crate::order::Order;
use crate::shell::Shell;

/// A command that may run now, with its restrictions.
#[derive(Debug)]
pub struct Permit {
    order: Order,
    domain: Option<Arc<Domain>>,
}

impl Permit {
    /// Returns what may run.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// Has the line run in the shell that its reader keeps.
    ///
    /// # Errors
    /// The files of that can't be written.
    pub(crate) fn in_shell(mut self, state_dir: &Path, reader: &str) -> Result<Self, Fault> {
        let granted = self.domain.as_ref().and_then(|domain| domain.grants.temporary.clone());
        let named = self.order.env.get("TMPDIR").map(PathBuf::from);
        let temporary = granted.or(named).unwrap_or_else(|| "/tmp".into());
        self.order.shell = Some(Shell::begin(state_dir, reader, &temporary)?);
        Ok(self.told())
    }

    /// Has the call return the command's name.
    pub(crate) fn told(mut self) -> Self {
        self.order.is_told = true;
        self
    }

    /// Returns what may run, and what it is held to; nothing if it may do what the user may.
    pub(crate) fn into_parts(self) -> (Order, Option<Arc<Domain>>) {
        (self.order, self.domain)
    }
}
