//! The questions of runs: a question ends the request of its run, and is closed when nobody answers
//! it.

use pipemux_proto::Fault;
use pipemux_proto::watch::EventKind;

use crate::feed::Audience;
use crate::foreign::Needs;
use crate::keys::RequestId;
use crate::limits::{OPEN_RUNS_BYTES, QUESTION_MS};
use crate::persist::records::Record;
use crate::runs::questions::asker::{AnsweredQuestion, Asker};
use crate::runs::questions::question::OpenQuestion;
use crate::runs::questions::{form, saved_question};
use crate::runs::suspended::Suspended;
use crate::runs::{Argument, Run};
use crate::timers::Timer;
use crate::verbs::next::{Next, RunWork, Work};
use crate::verbs::permission::ActPermission;
use crate::verbs::questions::Questions;
use crate::verbs::require;
use crate::views::requested_window::AnswerKind;

impl Questions<'_> {
    /// Keeps a run with its question, and ends the request with it.
    pub(crate) fn ask(
        &mut self,
        id: RequestId,
        run: Box<Run>,
        needs: Needs,
        asker: Asker,
    ) -> Result<Next, Fault> {
        let number = self.turn.next_number();
        self.put(id, run, number, (needs, asker, Vec::new()))
    }

    /// Asks a question once more, since its answer was wrong: it stays open under its number.
    pub(crate) fn ask_again(
        &mut self,
        id: RequestId,
        mut run: Box<Run>,
        question: AnsweredQuestion,
        fault: Fault,
    ) -> Result<Next, Fault> {
        let AnsweredQuestion { number, needs, asker, mut given, .. } = question;
        // Of a form only what is refused has to be given again.
        given.retain(|(name, _)| fault.field.as_deref() != Some(name.as_str()));
        run.end.wrong_answer = Some(fault);
        self.put(id, run, number, (needs, asker, given))
    }

    fn put(
        &mut self,
        id: RequestId,
        mut run: Box<Run>,
        number: u64,
        (needs, asker, given): (Needs, Asker, Vec<(String, Argument)>),
    ) -> Result<Next, Fault> {
        let expires = self.turn.mono_ms() + QUESTION_MS;
        let workspace = require::workspace_of_run(self.workspaces, &run.caller)?;
        let question = OpenQuestion::new(Suspended::of(&run), needs, asker, expires);
        let fields = &question.needs.question.fields;
        let choices = form::choices(workspace, &question.step().session, fields);
        let question = OpenQuestion { given, choices, ..question };
        if let Some(question) = saved_question::save(&question) {
            let workspace = run.caller.workspace.to_string();
            self.turn.persist(Record::Question { workspace, number, question });
        }
        let text = format!("question {number} · {}", question.title());
        let session = question.step().session.clone();
        self.runs.add_question(number, question);
        self.turn.set_timer(expires, Timer::Question(number));
        let audience = Audience::Workspace(run.caller.workspace.clone(), Some(session));
        let reader = Some(&*run.caller.reader);
        self.feed.publish(self.turn.now, EventKind::Asked, audience, reader, &text);
        run.end.question = Some(number);
        if let Some(notes) = self.clients.audit_notes(id) {
            notes.asked = Some(number);
        }
        Ok(Next::Run(RunWork::End(run)))
    }

    /// Queues a run behind the one that asks the reader's only open question, and answers its
    /// request with that question. Returns `None` if the run can't be queued.
    ///
    /// # Errors
    /// The request may not act.
    pub(super) fn wait_behind(
        &mut self,
        permission: ActPermission<'_>,
        id: RequestId,
        number: u64,
        later: &Run,
    ) -> Result<Option<Next>, Fault> {
        let (request, workspace) = self.request(id)?;
        if self.open(request).len() > 1 {
            return Ok(None);
        }
        let at = later.caller.workspace.clone();
        let Some(question) = self.runs.question(&at, number) else { return Ok(None) };
        let mut suspended = question.suspended.clone();
        if !suspended.append(later, workspace) {
            return Ok(None);
        }
        // A request that is sent again, because a daemon was lost with its answer, is known by this
        // record.
        permission.check(self.clients, id)?;
        self.clients.record_begun(self.turn, id, None);
        let Some(question) = self.runs.question_mut(&at, number) else { return Ok(None) };
        question.suspended = suspended;
        if let Some(question) = saved_question::save(question) {
            self.turn.persist(Record::Question { workspace: at.to_string(), number, question });
        }
        let waiting = later.progress.steps.iter().filter(|step| !step.nested).count();
        let numbers = vec![number];
        let kind = AnswerKind::Questions { numbers, refusal: None, waiting };
        Ok(Some(Next::Work(Work::Show(Vec::new(), kind))))
    }

    /// Closes a question that nobody answered in time, and notifies its workspace.
    pub(crate) fn expire_question(&mut self, number: u64) {
        self.end_question(number, self.turn.mono_ms(), "has expired");
    }

    /// Lets the oldest questions and kept steps go that are too much for all to be kept.
    pub(crate) fn bound(&mut self) {
        for number in self.runs.beyond(OPEN_RUNS_BYTES) {
            self.end_question(number, u64::MAX, "made room for newer ones");
            self.end_rest(number, u64::MAX, "made room for newer ones");
        }
    }

    fn end_question(&mut self, number: u64, now: u64, how: &str) {
        let Some(question) = self.runs.expire_question(number, now) else {
            // The question was answered, closed or asked again; its timer isn't cleared.
            return;
        };
        let at = question.suspended.caller.workspace.clone();
        self.turn.persist(Record::QuestionClosed { workspace: at.to_string(), number });
        let text = format!("question {number} {how}: {}", question.title());
        if let Some(workspace) = self.workspaces.get_mut(&at) {
            workspace.notify(text.clone(), self.turn.now);
        }
        let audience = Audience::Workspace(at, None);
        self.feed.publish(self.turn.now, EventKind::Notice, audience, None, &text);
    }
}
