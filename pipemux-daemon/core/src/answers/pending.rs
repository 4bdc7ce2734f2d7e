//! An answer that waits for its windows.

use pipemux_proto::Fault;

use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::views::answer_window::is_overtaken;
use crate::views::requested_window::{AnswerKind, RequestedWindow, WindowStatus};
use crate::workspaces::{EmbedDetail, Workspace};

/// The windows that an answer waits for.
#[derive(Debug)]
pub(crate) struct PendingView {
    /// The windows, in the order of the answer.
    pub windows: Vec<RequestedWindow>,
    /// The windows that the requested ones embed.
    pub embeds: Vec<PendingEmbed>,
    pub kind: AnswerKind,
}

/// A window that was requested because another one embeds it.
#[derive(Debug)]
pub(crate) struct PendingEmbed {
    pub session: SessionKey,
    pub detail: EmbedDetail,
    pub state: WindowStatus,
    /// True once it was requested for a second time.
    pub again: bool,
}

impl PendingView {
    /// Returns the window of a session.
    pub fn window_mut(&mut self, session: &SessionKey) -> Option<&mut RequestedWindow> {
        self.windows.iter_mut().find(|window| window.session == *session)
    }

    /// Returns the embedded window of a session at a level of detail and a budget.
    pub fn embed_mut(
        &mut self,
        session: &SessionKey,
        detail: EmbedDetail,
    ) -> Option<&mut PendingEmbed> {
        let mut embeds = self.embeds.iter_mut();
        embeds.find(|embed| embed.session == *session && embed.detail == detail)
    }

    /// Returns true if a window hasn't arrived yet.
    pub fn is_waiting(&self) -> bool {
        self.windows.iter().any(|window| window.state == WindowStatus::Waiting)
            || self.embeds.iter().any(|embed| embed.state == WindowStatus::Waiting)
    }

    /// Stops waiting for a window that was closed meanwhile.
    pub fn close_window(&mut self, session: &SessionKey) {
        for window in self.windows.iter_mut().filter(|window| window.session == *session) {
            window.state = closed_meanwhile(session);
        }
    }

    /// Removes a window that arrived and was then closed: a window opened later under the same name
    /// is a different one and may show another session.
    pub fn drop_arrived(&mut self, session: &SessionKey) {
        let has_arrived = |window: &&mut RequestedWindow| {
            window.session == *session && window.state == WindowStatus::Fresh
        };
        for window in self.windows.iter_mut().filter(has_arrived) {
            (window.held, window.state) = (None, closed_meanwhile(session));
        }
    }

    /// Stops waiting for the windows that haven't arrived. A window that was shown before keeps its
    /// previous content; for one that never was, the answer says `why` it is missing.
    pub fn stop_waiting(&mut self, workspace: Option<&Workspace>, why: &str) {
        for window in self.windows.iter_mut().filter(|w| w.state == WindowStatus::Waiting) {
            let session = &window.session;
            window.state = match workspace.and_then(|workspace| workspace.window(session)) {
                Some(window) if window.can_be_shown_as_it_was() => WindowStatus::Busy,
                Some(_) => {
                    let fault =
                        Fault::unavailable(format!("{session} is open, not shown yet: {why}"));
                    WindowStatus::Broken(Box::new(fault.hint(format!("pipemux view {session}"))))
                }
                None => closed_meanwhile(session),
            };
        }
    }

    /// Returns the session of a window of which another reader was shown a newer version while this
    /// answer waited: this reader's content is outdated, and the newer content belongs to the other
    /// reader. The answer waits for the window again.
    pub fn take_overtaken(
        &mut self,
        workspace: &Workspace,
        processes: &Processes,
    ) -> Option<SessionKey> {
        let overtaken = self.windows.iter_mut().find(|requested| {
            let window = workspace.window(&requested.session);
            requested.state == WindowStatus::Fresh
                && !requested.again_after_overtaking
                && processes.is_per_reader(&requested.session)
                && window
                    .zip(requested.held.as_ref())
                    .is_some_and(|(w, held)| is_overtaken(w, held))
        })?;
        (overtaken.again_after_overtaking, overtaken.state) = (true, WindowStatus::Waiting);
        Some(overtaken.session.clone())
    }
}

/// Returns the status of a window that was closed while an answer waited for it.
fn closed_meanwhile(session: &SessionKey) -> WindowStatus {
    let fault = Fault::not_found(format!("the window of {session} was closed meanwhile"));
    WindowStatus::Broken(Box::new(fault.hint(format!("pipemux open {session}"))))
}
