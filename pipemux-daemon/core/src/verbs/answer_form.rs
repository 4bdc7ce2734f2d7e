//! `answer` to a form: what is right stays with it, what is wrong is said of its field.

use pipemux_proto::Fault;
use pipemux_proto::watch::EventKind;

use crate::feed::Audience;
use crate::keys::RequestId;
use crate::persist::records::Record;
use crate::processes::Processes;
use crate::runs::RunContext;
use crate::runs::questions::question::ParsedAnswer;
use crate::runs::questions::saved_question;
use crate::verbs::answer::no_question;
use crate::verbs::next::{Next, RunWork};
use crate::verbs::questions::{Questions, show_questions};
use crate::verbs::require;

impl Questions<'_> {
    /// Fills in the fields of a form. The run goes on once it is complete.
    pub(super) fn answer_form(
        &mut self,
        processes: &Processes,
        id: RequestId,
        number: u64,
        text: &str,
        stdin: Option<&[u8]>,
    ) -> Result<Next, Fault> {
        self.note_told(id, number, text);
        let request = require::request(self.clients, id)?;
        let workspace = require::workspace(self.workspaces, request)?;
        let (at, reader) = (request.workspace.clone(), request.call.reader.clone());
        let context = RunContext { workspace, sessions: processes.sessions() };
        let question = self.runs.question(&at, number).ok_or_else(|| no_question(None))?;
        let filled = match question.fill(text, stdin, &context) {
            Ok(filled) => filled,
            Err(fault) => return Ok(show_questions(vec![number], Some(fault))),
        };
        if let Some(fault) = filled.fault {
            if let Some(question) = self.runs.question_mut(&at, number) {
                question.given = filled.given;
                if let Some(question) = saved_question::save(question) {
                    let workspace = at.to_string();
                    self.turn.persist(Record::Question { workspace, number, question });
                }
            }
            return Ok(show_questions(vec![number], Some(fault)));
        }
        let Some(question) = self.runs.remove_question(&at, number) else {
            return Err(no_question(None));
        };
        let told = question.told(text);
        let (run, input) = question.answer(number, ParsedAnswer::Fields(filled.given), &context);
        if let Some(notes) = self.clients.audit_notes(id) {
            notes.answered = Some(number);
        }
        self.turn.persist(Record::QuestionClosed { workspace: at.to_string(), number });
        let text = format!("question {number} was answered: {told}");
        let audience = Audience::Workspace(at, None);
        self.feed.publish(self.turn.now, EventKind::Answered, audience, Some(&reader), &text);
        Ok(Next::Run(RunWork::Begin(Box::new(run), input)))
    }
}
