//! Keeping edits in the session until they are saved.

use docui::{Blocking, Context, Done, Fault, Reply};

use crate::model::Editor;

use super::save::AfterSave;

impl Editor {
    pub(super) fn begin_hold(&mut self) -> Result<Reply, Fault> {
        let was = std::mem::replace(&mut self.hold, true);
        self.manifest_stale |= !was;
        let brief = if was { "on already" } else { "edits stay in the session until save()" };
        Ok(Done::new(brief).into())
    }

    /// Saves what is held. Edits are written at once from then on.
    pub(super) fn end_hold(&mut self, context: &Context) -> Result<Blocking<Self>, Fault> {
        self.save_files((0..self.files.len()).collect(), AfterSave::EndHold, context)
    }
}
