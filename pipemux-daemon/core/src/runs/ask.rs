//! Ending a request with a question.

use pipemux_proto::Fault;
use pipemux_proto::app::Needs;
use pipemux_proto::limits::CHOICES_MAX;
use pipemux_proto::report::Status;
use pipemux_proto::watch::What;

use crate::Core;
use crate::event::Effect;
use crate::feed::Audience;
use crate::keys::RequestId;
use crate::limits::QUESTION_MS;
use crate::persist::records::Record;
use crate::runs::question::{Asker, OpenQuestion};
use crate::runs::{Run, Step, saved_question};
use crate::timers::Timer;

impl Core {
    pub(super) fn asked(&mut self, job: RequestId, mut run: Run, step: &Step, mut needs: Needs) {
        let listed = needs.question.options.len();
        needs.question.options.truncate(CHOICES_MAX);
        needs.question.unlisted =
            (needs.question.unlisted).saturating_add(listed.saturating_sub(CHOICES_MAX) as u64);
        if step.nested {
            let fault = Fault::failed(format!(
                "{} asks, and a nested call can't be answered: {}",
                step.prototype.name, needs.question.text
            ))
            .hint("call it on its own first");
            run.fail(Status::Failed, fault);
            return self.finish_run(job, run);
        }
        let Some(invoke) = run.sent.take() else { return };
        self.ask(job, run, needs, Asker::App(Box::new(invoke)));
    }

    /// Ends the request with a question.
    pub(super) fn ask(&mut self, job: RequestId, mut run: Run, needs: Needs, asker: Asker) {
        let number = self.turn.next_number();
        let expires = self.turn.now.mono_ms + QUESTION_MS;
        if self.workspaces.get(&run.workspace).is_none() {
            return;
        }
        run.question = None;
        let question = OpenQuestion { run: run.clone(), needs, asker };
        if let Some(question) = saved_question::save(&question) {
            let workspace = run.workspace.to_string();
            self.turn.effects.push(Effect::Persist(Record::Question {
                workspace,
                number,
                question,
            }));
        }
        let text = format!("question {number} · {}", question.title());
        let session = question.step().session.clone();
        self.runs.add_question(number, question);
        self.turn.set_timer(expires, Timer::Question(number));
        let place = Audience::Workspace(run.workspace.clone(), Some(session));
        self.tell(What::Asked, place, Some(&run.reader), &text);
        run.question = Some(number);
        self.finish_run(job, run);
    }

    /// A question that nobody answered is closed, and its reader told.
    pub(crate) fn question_expired(&mut self, number: u64) {
        let Some(question) = self.runs.expire_question(number) else { return };
        let at = question.run.workspace.clone();
        self.turn.persist(Record::QuestionClosed { workspace: at.to_string(), number });
        let text = format!("question {number} has expired: {}", question.title());
        if let Some(workspace) = self.workspaces.get_mut(&at) {
            workspace.notify(text.clone(), self.turn.now);
        }
        self.tell(What::Notice, Audience::Workspace(at, None), None, &text);
    }
}
