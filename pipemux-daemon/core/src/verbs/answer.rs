//! `answer`: answers an open question, shows it, or sends a kept run again.

use bytes::Bytes;
use pipemux_proto::Fault;
use pipemux_proto::app::Choice;
use pipemux_proto::refs::{Ref, RefKind};
use pipemux_proto::watch::EventKind;

use crate::audit::{ToldText, clip};
use crate::feed::Audience;
use crate::keys::RequestId;
use crate::persist::records::Record;
use crate::processes::Processes;
use crate::runs::questions::question::{OpenQuestion, ParsedAnswer, declines};
use crate::runs::{Run, RunContext, RunInput, TypedAnswer};
use crate::verbs::click::{LinkEffect, resolve_link};
use crate::verbs::next::{Next, RunWork};
use crate::verbs::questions::{Questions, show_questions};
use crate::verbs::require;

/// The answer that sends the kept run again.
const GO: &str = "go";

impl Questions<'_> {
    /// Answers an open question, or sends a kept run again. Without words the question is shown.
    pub(crate) fn answer(
        &mut self,
        processes: &Processes,
        id: RequestId,
        text: &str,
        to: Option<u64>,
        stdin: Option<Bytes>,
    ) -> Result<Next, Fault> {
        // A link that answers may be given as the answer.
        if let Ok(link) = text.trim().parse::<Ref>()
            && link.kind == RefKind::Link
        {
            let (request, workspace) = self.request(id)?;
            return match resolve_link(workspace, processes, request, &link)? {
                LinkEffect::Answer(question, answer) => {
                    Ok(Next::Run(RunWork::AnswerQuestion(question, answer)))
                }
                LinkEffect::Steps(_) | LinkEffect::CancelJob(_) | LinkEffect::Hidden(_) => {
                    Err(Fault::usage(format!("{link} is no answer"))
                        .hint(format!("pipemux click {link}")))
                }
            };
        }
        if let Some(kept) = self.take_kept_run(id, text, to)? {
            return Ok(Next::Run(RunWork::Begin(Box::new(kept), RunInput::Begin)));
        }
        if text.trim().is_empty() {
            return self.show_open(id, to);
        }
        if let Some(number) = self.named_rest(id, to)?.filter(|_| text.trim() != GO) {
            return self.answer_rest(id, number, text, stdin);
        }
        let stdin = stdin.as_deref();
        let (number, question) = self.find(id, text, to)?;
        if question.is_form() && !declines(text) {
            return self.answer_form(processes, id, number, text, stdin);
        }
        self.note_told(id, number, text);
        let (number, question) = self.find(id, text, to)?;
        let request = require::request(self.clients, id)?;
        let workspace = require::workspace(self.workspaces, request)?;
        let context = RunContext { workspace, sessions: processes.sessions() };
        let typed = TypedAnswer::read(text, stdin, &question.value_names());
        let answer = match typed.and_then(|typed| question.read(typed, &context)) {
            Ok(answer) => answer,
            Err(fault) => return Ok(show_questions(vec![number], Some(fault))),
        };
        let confirms = matches!(answer, ParsedAnswer::Choice(Choice::Yes));
        // The number, or the link that carries it, is known only from an answer that shows the
        // question.
        if confirms && question.is_destructive() && !question.shown && to.is_none() {
            let fault = Fault::refused(format!("question {number} was not shown to you before"));
            return Ok(show_questions(vec![number], Some(fault)));
        }
        let (at, reader) = (request.workspace.clone(), request.call.reader.clone());
        let Some(question) = self.runs.remove_question(&at, number) else {
            return Err(no_question(to));
        };
        let confirmed = (confirms && question.is_destructive()).then(|| clip(&question.title()));
        let told = question.told(text);
        let (run, input) = question.answer(number, answer, &context);
        if let Some(notes) = self.clients.audit_notes(id) {
            (notes.answered, notes.confirmed) = (Some(number), confirmed);
        }
        self.turn.persist(Record::QuestionClosed { workspace: at.to_string(), number });
        let text = format!("question {number} was answered: {told}");
        let audience = Audience::Workspace(at, None);
        self.feed.publish(self.turn.now, EventKind::Answered, audience, Some(&reader), &text);
        Ok(Next::Run(RunWork::Begin(Box::new(run), input)))
    }

    /// Notes for the audit log what may be told of the answer to a question.
    pub(super) fn note_told(&mut self, id: RequestId, number: u64, text: &str) {
        let request = self.clients.request(id);
        let question = request.and_then(|request| self.runs.question(&request.workspace, number));
        let told = match question.map(|question| question.told(text)) {
            Some(told) if told == text.trim() => ToldText::Whole,
            Some(told) => ToldText::Hidden(told),
            None => ToldText::Unchecked,
        };
        if let Some(notes) = self.clients.audit_notes(id) {
            notes.text = told;
        }
    }

    /// Shows the questions that the reader has open, or the one of a number.
    fn show_open(&mut self, id: RequestId, to: Option<u64>) -> Result<Next, Fault> {
        let numbers = match to {
            Some(number) if self.named_rest(id, to)? == Some(number) => Vec::new(),
            Some(_) => vec![self.find(id, "", to)?.0],
            None => self.open(require::request(self.clients, id)?),
        };
        if !numbers.is_empty() {
            return Ok(show_questions(numbers, None));
        }
        let kept = self.list_rests(require::request(self.clients, id)?);
        kept.ok_or_else(|| no_question(None))
    }

    /// The question that an answer means: the one of its number, or the reader's only one.
    fn find(
        &self,
        id: RequestId,
        text: &str,
        to: Option<u64>,
    ) -> Result<(u64, &OpenQuestion), Fault> {
        let request = require::request(self.clients, id)?;
        let open = self.open(request);
        if let (None, [_, _, ..]) = (to, open.as_slice()) {
            let ways = open.iter().map(|number| format!("pipemux answer --to {number} …"));
            let fault = Fault::usage(format!("{} questions are open: say which", open.len()));
            return Err(ways.fold(fault, Fault::hint));
        }
        let closed = || match text.trim() {
            GO if to.is_none() => {
                Fault::not_found("no question is open, and no call is kept to be sent again")
                    .hint("pipemux view")
            }
            _ => no_question(to),
        };
        if let Some(fault) = self
            .unnamed_rest(request, text)
            .filter(|_| to.is_none() && open.is_empty() && text.trim() != GO)
        {
            return Err(fault);
        }
        let number = to.or_else(|| open.first().copied()).ok_or_else(closed)?;
        let question = self.runs.question(&request.workspace, number).ok_or_else(closed)?;
        if question.reader() != request.call.reader {
            return Err(Fault::refused(format!(
                "question {number} was asked of {}, not of {}",
                question.reader(),
                request.call.reader
            )));
        }
        Ok((number, question))
    }

    /// Takes the kept run that `answer go` sends again, unless a question is open.
    fn take_kept_run(
        &mut self,
        id: RequestId,
        text: &str,
        to: Option<u64>,
    ) -> Result<Option<Run>, Fault> {
        let request = require::request(self.clients, id)?;
        if to.is_some() || text.trim() != GO || !self.open(request).is_empty() {
            return Ok(None);
        }
        let workspace = require::workspace(self.workspaces, request)?;
        let (at, reader) = (&request.workspace, &request.call.reader);
        let Some(kept) = self.runs.take_kept(at, reader) else { return Ok(None) };
        if let Some(number) = kept.kept_steps {
            self.runs.remove_rest(at, number);
            self.turn.persist(Record::KeptClosed { workspace: at.to_string(), number });
        }
        let run_id = self.clients.pseudonym(&request.call);
        Ok(Some(kept.send_again(run_id.into(), workspace)))
    }
}

pub(super) fn no_question(to: Option<u64>) -> Fault {
    let message = match to {
        Some(number) => format!("question {number} was answered, or has expired"),
        None => "no question is open".to_owned(),
    };
    Fault::not_found(message).hint("pipemux view")
}
