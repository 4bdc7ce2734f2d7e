//! Enters the workspace that a request names.

use pipemux_proto::Fault;
use pipemux_proto::client::VerbRequest;

use crate::Core;
use crate::answers::delivery::reserve;
use crate::keys::WorkspaceKey;
use crate::workspaces::{Entered, FirstNumbers};

impl Core {
    /// Enters the workspace of a request, and makes it if it is new.
    ///
    /// # Errors
    /// There are too many workspaces.
    pub(crate) fn enter_workspace(&mut self, call: &VerbRequest) -> Result<WorkspaceKey, Fault> {
        let (now, losses) = (self.turn.now, &self.persist.losses);
        let names = (call.workspace.key.as_str(), call.workspace.name.as_str());
        let Entered { key, created, retired, evicted_reader } =
            self.workspaces.enter(names, &call.reader, now, || {
                let (id, epoch) = losses.first_numbers();
                FirstNumbers { id, epoch }
            })?;
        if let Some(retired) = retired {
            self.runs.forget_workspace(&retired);
        }
        if let Some(evicted) = evicted_reader {
            self.runs.forget_kept(&key, &evicted);
        }
        if created {
            let news = self.persist.losses.take_news();
            if let (Some(text), Some(new)) = (news, self.workspaces.get_mut(&key)) {
                new.notify(text, now);
            }
            // The workspace must be on disk before any window of it is.
            reserve(&mut self.workspaces, &mut self.turn, &key);
        }
        Ok(key)
    }
}
