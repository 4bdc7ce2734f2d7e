//! Opens the app, and again what it refused.

use pipemux_proto::app::{OpenRequest, Opened};
use pipemux_proto::{Envelope, Fault};

use crate::app::Opening;
use crate::blocking::Completion;
use crate::run_changes::RunChanges;

use super::Session;
use super::pending::ParkedWork;

impl Session {
    /// Opens the app, or has it handle a further open. Returns `None` when the request waits for
    /// work on another thread.
    pub(crate) fn open(
        &mut self,
        request: &Envelope,
        message: OpenRequest,
    ) -> Result<Option<Opened>, Fault> {
        // Versions of this SDK begin with 1, and a daemon of protocol 1.5 means by 0 that there is
        // none.
        let (woken, again, due) = (message.woken.unwrap_or(0), message.again, message.due);
        self.jobs_before = message.jobs;
        let mut opening = Opening {
            provider: message.session.provider.to_string(),
            session: message.session.session.to_string(),
            args: message.args,
            cwd: message.cwd.into(),
            env: message.env,
            state_dir: message.state_dir.into(),
            again,
            woken: woken != 0 && self.resumed,
            due,
            handle: self.handle.clone(),
        };
        if let Err(fault) = self.open_again() {
            if again {
                self.refused_opens.push(Opening { woken: false, ..opening });
            }
            return Err(fault);
        }
        let notes = match &mut self.app {
            Some(app) => match app.attach_blocking(&opening)? {
                None => app.attach(&opening)?,
                Some(blocking) => {
                    let Some(finish) = self.park(request, blocking, ParkedWork::Open)? else {
                        return Ok(None);
                    };
                    let completion = Completion { version: self.version, late: false };
                    finish(self.app_mut()?, completion)?
                }
            },
            None => {
                self.state_dir.clone_from(&opening.state_dir);
                // If the SDK's own file is not for this version, the app does not resume either:
                // its state may be for another version too.
                let saved =
                    RunChanges::load(&self.state_dir, woken).filter(|_| self.app_type.resumes);
                opening.woken = saved.is_some();
                let opened = (self.app_type.open)(&opening);
                if opened.is_err() && again {
                    // Readers know the session, so it goes on once this is mended. The saved state
                    // is not used then, because the daemon has told them that it is lost.
                    self.refused_opens.push(Opening { woken: false, ..opening.clone() });
                }
                let app = self.app.insert(opened?);
                self.resumed = opening.woken && app.resumed();
                if let Some(run_changes) = saved.filter(|_| self.resumed) {
                    // Line numbers that readers saw before the hibernation stay valid.
                    (self.run_changes, self.version) = (run_changes, woken);
                }
                app.notes()
            }
        };
        let resumed = self.resumed.then_some(woken);
        if resumed.is_none() || !again {
            self.version += 1;
        }
        Ok(Some(Opened { resumed, ..self.opened(notes) }))
    }

    /// Makes the reply to an open, with the jobs that the app goes on with.
    pub(super) fn opened(&mut self, notes: Vec<String>) -> Opened {
        let mut jobs = std::mem::take(&mut self.jobs_before);
        if let Some(app) = self.app.as_mut().filter(|_| !jobs.is_empty()) {
            app.resume_jobs(&jobs);
        }
        jobs.retain(|key| self.handle.cancel_flag(key).is_some());
        Opened { notes, jobs, ..Opened::default() }
    }

    /// Opens the app as it was asked to before and refused.
    ///
    /// # Errors
    /// The app refuses again; the fault gives the reason.
    pub(super) fn open_again(&mut self) -> Result<(), Fault> {
        let Some(opening) = self.refused_opens.first() else { return Ok(()) };
        let mut app = (self.app_type.open)(opening)?;
        for opening in self.refused_opens.drain(..).skip(1) {
            // As after any restart, an open that is refused now doesn't keep the session from going
            // on.
            let _ = app.attach(&opening);
        }
        self.app = Some(app);
        self.version += 1;
        Ok(())
    }
}
