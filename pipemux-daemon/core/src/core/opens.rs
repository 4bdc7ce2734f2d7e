//! The way of an app from an `open` to its window: through the readings of manifests, the start of its session, or a
//! further request to it.

use pipemux_proto::client::{OpenArgs, ViewArgs};
use pipemux_proto::envelope::Method;
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, ProviderId};

use crate::Core;
use crate::feed::Audience;
use crate::foreign::ForeignText;
use crate::keys::{RequestId, SessionKey};
use crate::persist::records::SavedOpen;
use crate::pipeline::grants::grant_for_open;
use crate::processes::opening::open_message;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::starting::wake;
use crate::verbs::open::{
    OpenStep, add_window, begin_open, session_to_open, set_options, take_opened,
};
use crate::verbs::require;
use crate::verbs::tasks::{AfterOpen, Opening, Task};
use crate::views::requested_window::{AnswerKind, WantedWindow};

impl Core {
    /// Opens a registered app.
    ///
    /// # Errors
    /// There is no app of that name, or no room for another window or session.
    pub(crate) fn open_registered(
        &mut self,
        id: RequestId,
        open: OpenArgs,
        then: AfterOpen,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let (processes, workspaces) = (&self.processes, &self.workspaces);
        let (rules, providers) = (&self.rules, &self.providers);
        let (key, manifest) =
            session_to_open(rules, providers, processes, workspaces, request, &open)?;
        let step = begin_open(&mut self.processes, id, &key, manifest, &open)?;
        if matches!(step, OpenStep::AwaitEnd) {
            self.set_task(id, Task::Reopening(Box::new(open)));
            return Ok(());
        }
        let shows = matches!(then, AfterOpen::Show);
        let opening = Opening { session: key.clone(), args: open, then };
        self.set_task(id, Task::Opening(Box::new(opening)));
        match step {
            OpenStep::AwaitEnd => Ok(()),
            OpenStep::Start => self.start_to_open(id, &key, shows),
            OpenStep::Attach(notes) => self.finish_open(id, notes),
            OpenStep::Ask(saved) => self.ask_to_open(id, &key, saved),
        }
    }

    /// Starts a session that opens something, and requests its window if that is shown then.
    fn start_to_open(&mut self, id: RequestId, key: &SessionKey, shows: bool) -> Result<(), Fault> {
        if let Err(fault) = wake(&mut self.turn, &mut self.processes, key) {
            if let Some(session) = self.processes.get_mut(key) {
                session.opens.cancel_request(id);
            }
            return Err(fault);
        }
        if shows && let Ok((mut requests, _)) = self.window_requests(id) {
            requests.prefetch_for_open(key);
        }
        Ok(())
    }

    /// Asks a running session to open something, once it reaches the folders that are named.
    fn ask_to_open(
        &mut self,
        id: RequestId,
        key: &SessionKey,
        saved: SavedOpen,
    ) -> Result<(), Fault> {
        let deadline = require::request(&self.clients, id)?.deadline;
        let parts = (&self.clients, &mut self.processes);
        if grant_for_open(&mut self.turn, parts, id, key, &saved)? {
            if let Some(Task::Opening(opening)) = self.tasks.remove(id) {
                self.set_task(id, Task::Widening(Box::new(opening.args)));
            }
            return Ok(());
        }
        let message = open_message(&self.processes, key, saved, true, false);
        let (turn, to) = (&mut self.turn, ReplyTo::Attach(id));
        self.processes.request(turn, key, Method::AppOpen, &message, deadline, to);
        Ok(())
    }

    /// Handles a running session's reply to a further open.
    pub(crate) fn attach_replied(&mut self, id: RequestId, reply: AppReply) -> Result<(), Fault> {
        let Some(Task::Opening(opening)) = self.tasks.get(id) else {
            return Err(require::missing_task(&self.clients, id));
        };
        let notes = take_opened(&mut self.turn, &mut self.processes, opening, reply)?;
        self.finish_open(id, notes)
    }

    /// Adds the window of a session that has opened, and shows it or goes on with the run that needed it.
    pub(crate) fn finish_open(
        &mut self,
        id: RequestId,
        notes: Vec<ForeignText>,
    ) -> Result<(), Fault> {
        let is_opening = |task: &Task| matches!(task, Task::Opening(_));
        let Some(Task::Opening(opening)) = self.tasks.take_if(id, is_opening) else {
            return Err(require::missing_task(&self.clients, id));
        };
        let Opening { session: key, args, then } = *opening;
        if let Some(session) = self.processes.get_mut(&key) {
            session.opens.cancel_request(id);
        }
        let shows = matches!(then, AfterOpen::Show);
        let number = self.tasks.prefetches.window_number(id, &key);
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace_mut(&mut self.workspaces, request)?;
        let (at, reader) = (request.workspace.clone(), request.call.reader.clone());
        let number = number.unwrap_or_else(|| self.turn.next_number());
        let fresh = add_window(&self.processes, workspace, &reader, number, &key);
        if let Some(window) = workspace.window_mut(&key).filter(|_| shows) {
            set_options(window, request, &args);
        }
        if fresh {
            let audience = Audience::Workspace(at.clone(), Some(key.clone()));
            self.publish(EventKind::Opened, audience, Some(&reader), &format!("{key} was opened"));
        }
        if let Some(session) = self.processes.get_mut(&key) {
            session.save(&mut self.turn);
        }
        let workspace = self.workspaces.get(&at);
        if let Some(window) = workspace.and_then(|workspace| workspace.window(&key)) {
            self.turn.persist(window.to_record(&at));
        }
        match then {
            AfterOpen::Show => {
                let wanted = WantedWindow { session: key, lod: None, budget: None };
                self.show_windows(id, vec![wanted], AnswerKind::Open { notes })
            }
            AfterOpen::Script(script) => self.run_script(id, script, true),
            // The window is open now, so that it isn't opened again.
            AfterOpen::View(view) => self.begin_view(id, ViewArgs { open: false, ..*view }),
        }
    }

    /// Opens an app with nothing, where and as its caller runs, for a script or a view that needs it.
    pub(crate) fn open_for(
        &mut self,
        id: RequestId,
        provider: ProviderId,
        then: AfterOpen,
    ) -> Result<(), Fault> {
        let call = &require::request(&self.clients, id)?.call;
        let (cwd, env) = (call.cwd.clone(), call.env.clone());
        let (session, args) = (None, Vec::new());
        let (pin, priority, weight) = (None, None, None);
        let open = OpenArgs { provider, session, args, cwd, env, pin, priority, weight };
        self.open_registered(id, open, then)
    }
}
