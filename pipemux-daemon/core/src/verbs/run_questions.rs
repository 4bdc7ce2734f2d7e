//! The questions of runs: a question ends the request of its run, and is closed when nobody answers it.

use pipemux_proto::Fault;
use pipemux_proto::watch::EventKind;

use crate::Core;
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
use crate::verbs::tasks::Task;
use crate::views::requested_window::AnswerKind;

impl Core {
    /// Keeps a run with its question, and ends the request with it.
    pub(super) fn ask(&mut self, id: RequestId, needs: Needs, asker: Asker) -> Result<(), Fault> {
        let number = self.turn.next_number();
        self.put_question(id, number, (needs, asker, Vec::new()))
    }

    /// Asks a question once more, since its answer was wrong: it stays open under its number.
    pub(super) fn ask_again(
        &mut self,
        id: RequestId,
        question: AnsweredQuestion,
        fault: Fault,
    ) -> Result<(), Fault> {
        let AnsweredQuestion { number, needs, asker, mut given, .. } = question;
        // Of a form only what is refused has to be given again.
        given.retain(|(name, _)| fault.field.as_deref() != Some(name.as_str()));
        if let Some(Task::Running(run)) = self.tasks.get_mut(id) {
            run.end.wrong_answer = Some(fault);
        }
        self.put_question(id, number, (needs, asker, given))
    }

    fn put_question(
        &mut self,
        id: RequestId,
        number: u64,
        (needs, asker, given): (Needs, Asker, Vec<(String, Argument)>),
    ) -> Result<(), Fault> {
        let mut run = self.take_run(id)?;
        let expires = self.turn.mono_ms() + QUESTION_MS;
        let workspace = self.workspaces.get(&run.caller.workspace).ok_or_else(Self::lost_run)?;
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
        self.publish(EventKind::Asked, audience, Some(&run.caller.reader), &text);
        run.end.question = Some(number);
        if let Some(notes) = self.clients.audit_notes(id) {
            notes.asked = Some(number);
        }
        self.finish_run(id, run)
    }

    /// Has a run wait behind the one that asks the reader's only question, and answers its request with the question.
    /// Returns false when it can't wait there.
    pub(super) fn wait_behind_question(
        &mut self,
        id: RequestId,
        number: u64,
        later: &Run,
    ) -> Result<bool, Fault> {
        if self.open_questions(id)?.len() > 1 {
            return Ok(false);
        }
        let at = later.caller.workspace.clone();
        let workspace = self.workspaces.get(&at).ok_or_else(Self::lost_run)?;
        let Some(question) = self.runs.question(&at, number) else { return Ok(false) };
        let mut suspended = question.suspended.clone();
        if !suspended.append(later, workspace) {
            return Ok(false);
        }
        // A request that is sent again, because a daemon was lost with its answer, is known by this record.
        if !self.begin_acting(id) {
            return Ok(true);
        }
        let Some(question) = self.runs.question_mut(&at, number) else { return Ok(false) };
        question.suspended = suspended;
        if let Some(question) = saved_question::save(question) {
            self.turn.persist(Record::Question { workspace: at.to_string(), number, question });
        }
        let waiting = later.progress.steps.iter().filter(|step| !step.nested).count();
        let numbers = vec![number];
        let kind = AnswerKind::Questions { numbers, refusal: None, waiting };
        self.show_windows(id, Vec::new(), kind)?;
        Ok(true)
    }

    /// Closes a question that nobody answered in time, and notifies its workspace.
    pub(crate) fn question_expired(&mut self, number: u64) {
        self.end_question(number, self.turn.mono_ms(), "has expired");
    }

    /// Lets the oldest questions and kept steps go that are too much for all to be kept.
    pub(crate) fn bound_open_runs(&mut self) {
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
        self.publish(EventKind::Notice, Audience::Workspace(at, None), None, &text);
    }
}
