//! A version that went back. Within the life of a process versions only grow. An app that breaks this, for example since
//! it loaded a saved game, is shown in full again, and readers are told. What was seen of the versions before doesn't
//! count for the present ones: numbers in a call would mean other lines.

use pipemux_proto::Incarnation;
use pipemux_proto::watch::EventKind;

use crate::Core;
use crate::keys::SessionKey;
use crate::workspaces::context_errors::version_mismatch;

/// Stands for the process that showed what was seen before a version went back.
const NO_PROCESS: Incarnation = Incarnation(0);

impl Core {
    /// Handles that the version of a session's process went back, from the first to the second.
    pub(crate) fn version_went_back(
        &mut self,
        session: &SessionKey,
        app: Incarnation,
        versions: (u64, u64),
    ) {
        self.continue_incarnation(session, app, NO_PROCESS);
        if let Some(session) = self.processes.get_mut(session) {
            session.version = versions.1;
        }
        self.workspaces.note_went_back(session, versions);
        let text = version_mismatch(session, versions).named_message();
        self.notify_windows(EventKind::Notice, session, text);
    }
}
