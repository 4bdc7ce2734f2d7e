//! Answers requests that show windows.

use pipemux_proto::Fault;

use crate::Core;
use crate::answers::collect::AnswerInput;
use crate::keys::RequestId;
use crate::verbs::require;
use crate::verbs::tasks::Task;

impl Core {
    /// Answers a request whose windows have all arrived, or won't.
    pub(crate) fn finish_view(&mut self, id: RequestId) -> Result<(), Fault> {
        self.turn_windows_for(id);
        let Some(Task::Viewing(view)) =
            self.tasks.take_if(id, |task| matches!(task, Task::Viewing(_)))
        else {
            return Err(require::missing_task(&self.clients, id));
        };
        let request = require::request(&self.clients, id)?;
        let is_connected = self.clients.is_connected(request.client);
        let workspace = require::workspace_mut(&mut self.workspaces, request)?;
        let running = self.tasks.running();
        let (runs, processes, jobs) = (&mut self.runs, &self.processes, &self.jobs);
        let now = self.turn.now;
        let input =
            AnswerInput::collect(*view, (request, is_connected), workspace, processes, running);
        let minted = input.mint(workspace, runs, processes, jobs, &mut self.turn);
        let composed = minted.compose(workspace, runs, processes, jobs, now);
        let answer = composed.commit(&mut self.workspaces, processes, &mut self.turn);
        self.end_task(id);
        answer.send(id, &mut self.clients, &mut self.turn);
        Ok(())
    }
}
