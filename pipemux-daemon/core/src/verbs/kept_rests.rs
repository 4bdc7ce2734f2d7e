//! What failed runs left: kept under a number, resumed by `answer '<corrected call>'`, dropped by
//! `answer none`.

use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::client::Verb;
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, Value};

use crate::answers::kept_rest::{keep, kept_line, kept_rest_line};
use crate::clients::client_request::ClientRequest;
use crate::feed::Audience;
use crate::keys::{RequestId, SessionKey};
use crate::persist::records::Record;
use crate::pipeline::parsed_script::{Correction, ParsedScript};
use crate::runs::baseline::SeenBaseline;
use crate::runs::caller::Caller;
use crate::runs::kept_steps::KeptSteps;
use crate::runs::origin::Origin;
use crate::runs::{Run, RunInput, Step};
use crate::scripts::secrets::SecretActions;
use crate::scripts::source::{Code, Source};
use crate::verbs::next::{Next, RunWork, SessionStart};
use crate::verbs::questions::{Questions, show_questions};
use crate::verbs::require;
use crate::views::inert;

impl Questions<'_> {
    /// Refuses a script because of an error in the step with this index, and keeps its other steps
    /// with standard input.
    pub(super) fn refuse_and_keep(
        &mut self,
        id: RequestId,
        fault: Fault,
        source: &Source,
        index: usize,
    ) -> Result<Next, Fault> {
        let request = require::request(self.clients, id)?;
        let workspace = require::workspace(self.workspaces, request)?;
        let (at, call) = (&request.workspace, &request.call);
        if matches!(call.verb, Verb::Run { only_queries: true, .. }) {
            // What only asks can't be gone on with by an answer, which acts: it is asked again.
            return Err(fault);
        }
        let run_id = self.clients.pseudonym(call);
        let caller =
            Caller { cwd: call.cwd.clone(), ..Caller::new(at.clone(), &*call.reader, run_id) };
        let rest = KeptSteps::of_refused(caller, source, index);
        // Standard input may have been meant for one.
        let has_input = source.stdin.is_some();
        let secret = |code: &str| {
            SecretActions::in_code(workspace, code).are_given(code)
                || has_input && SecretActions::may_take_stdin(workspace, code)
        };
        let secret = match &source.code {
            Code::Script(code) => secret(code),
            Code::Steps(steps) => steps.iter().any(|code| secret(code)),
        };
        let Some(mut rest) = rest.filter(|_| !secret) else {
            self.runs.outdate_rests(at, &call.reader);
            return Err(fault);
        };
        let sessions: Vec<_> = workspace.windows.iter().map(|window| &window.session).collect();
        let seen = SeenBaseline::of(workspace, &call.reader, &sessions, call.at);
        rest.seen = Some(seen.with_names(workspace, &call.reader));
        rest.wait_ms = call.wait_ms;
        let number = keep(self.turn, self.runs, None, rest);
        Ok(Next::Fail(fault, Some(number)))
    }

    /// Returns the number of what an answer means that is no answer to a question.
    pub(super) fn named_rest(&self, id: RequestId, to: Option<u64>) -> Result<Option<u64>, Fault> {
        let request = require::request(self.clients, id)?;
        let (at, reader) = (&request.workspace, &request.call.reader);
        if let Some(number) = to {
            return match self.runs.rest(at, number) {
                Some(rest) if *rest.caller.reader == **reader => Ok(Some(number)),
                Some(rest) => {
                    let whose =
                        format!("{number} was kept for {}, not for {reader}", rest.caller.reader);
                    Err(Fault::refused(whose))
                }
                None => Ok(None),
            };
        }
        if !self.open(request).is_empty() {
            return Ok(None);
        }
        Ok(self.runs.rests_of(at, reader).find(|(_, rest)| rest.newest).map(|(number, _)| number))
    }

    /// Returns an error for an answer without a number that could mean kept steps of an earlier
    /// failed run. `None` if the reader has none.
    pub(super) fn unnamed_rest(&self, request: &ClientRequest, text: &str) -> Option<Fault> {
        let way = if drops(text) { text.trim() } else { "'<corrected call>'" };
        let mut lines = Vec::new();
        for (number, rest) in self.runs.rests_of(&request.workspace, &request.call.reader) {
            // What follows the command is a comment to a shell.
            lines.push(format!("pipemux answer --to {number} {way} # {}", rest.shown_short()));
        }
        if lines.is_empty() {
            return None;
        }
        let fault =
            Fault::usage("a later run has failed since steps were kept: say which are meant");
        Some(lines.into_iter().rev().fold(fault, Fault::hint))
    }

    /// Lists what failed runs of the request's reader left; none when there is nothing.
    pub(super) fn list_rests(&self, request: &ClientRequest) -> Option<Next> {
        let options = &request.call.hint_options;
        let (mut text, mut data) = (String::new(), Vec::new());
        for (number, rest) in self.runs.rests_of(&request.workspace, &request.call.reader) {
            let line = kept_rest_line(number, rest, &rest.shown());
            text.push_str(&pipemux_proto::command::with_options(&line, options));
            let steps: Vec<Value> = rest.shown_steps().into_iter().map(Value::Str).collect();
            data.push(Value::Map(vec![
                ("id".to_owned(), number.into()),
                ("steps".to_owned(), Value::List(steps)),
            ]));
        }
        (!text.is_empty()).then(|| Next::Data(text, Value::List(data)))
    }

    /// Drops what a failed run left, or goes on with it.
    pub(super) fn answer_rest(
        &mut self,
        id: RequestId,
        number: u64,
        text: &str,
        stdin: Option<Bytes>,
    ) -> Result<Next, Fault> {
        match text.trim() {
            words if drops(words) => {}
            words if words == "-" || words.contains('(') => {
                return self.correct_rest(id, number, text, stdin);
            }
            // What is no call was meant for a question, and none is open.
            _ => return Ok(Next::Fail(Fault::not_found("no question is open"), Some(number))),
        }
        let request = require::request(self.clients, id)?;
        let at = request.workspace.clone();
        let rest = self.runs.remove_rest(&at, number).ok_or_else(|| gone(number))?;
        self.turn.persist(Record::KeptClosed { workspace: at.to_string(), number });
        let mut text = format!("dropped {number}: {}\n", inert::whole_line(&rest.shown()));
        if rest.newest
            && let Some((earlier, rest)) = self.runs.renew_newest_rest(&at, &rest.caller.reader)
        {
            text += &kept_line(earlier, rest);
        }
        Ok(Next::Data(text, Value::Null))
    }

    /// Resumes what a failed run left: the request's answer takes the place of the step that
    /// failed.
    fn correct_rest(
        &mut self,
        id: RequestId,
        number: u64,
        text: &str,
        stdin: Option<Bytes>,
    ) -> Result<Next, Fault> {
        let request = require::request(self.clients, id)?;
        let workspace = require::workspace(self.workspaces, request)?;
        let rest = self.runs.rest(&request.workspace, number).ok_or_else(|| gone(number))?;
        let (code, stdin) = match (text.trim(), stdin) {
            ("-", Some(stdin)) => (String::from_utf8_lossy(&stdin).into_owned(), None),
            (_, stdin) => (text.to_owned(), stdin),
        };
        let holds_secret = SecretActions::in_code(workspace, &code).are_given(&code);
        let corrected = rest.corrected(&code, stdin);
        if let Some(refused) = self.refuse_behind_question(request, number)? {
            return Ok(refused);
        }
        match corrected {
            Ok(corrected) => Ok(Next::Run(RunWork::Script(
                Box::new(ParsedScript::corrected(number, corrected)),
                SessionStart::Allowed,
            ))),
            Err(fault) => {
                let fault = if holds_secret { without_code(fault) } else { fault };
                Ok(Next::Fail(fault, Some(number)))
            }
        }
    }

    /// Refuses to resume kept steps while their reader has an open question. Returns `None` if
    /// there is none.
    ///
    /// # Errors
    /// The steps aren't kept any more.
    pub(super) fn refuse_behind_question(
        &self,
        request: &ClientRequest,
        number: u64,
    ) -> Result<Option<Next>, Fault> {
        if self.runs.rest(&request.workspace, number).is_none() {
            return Err(Fault::not_found("the kept steps were dropped meanwhile"));
        }
        let open = self.open(request);
        Ok(open.first().copied().map(|question| {
            let fault = Fault::refused(format!("question {question} is open: answer it first"));
            show_questions(open, Some(fault))
        }))
    }

    /// Refuses a correction because of the step with this index. The kept steps stay as they are,
    /// except that if the corrected call is right and another call is wrong, the other call becomes
    /// the one to correct.
    pub(super) fn refuse_correction(
        &mut self,
        id: RequestId,
        script: &ParsedScript,
        correction: &Correction,
        (index, fault): (usize, Fault),
    ) -> Result<Next, Fault> {
        let Correction { kept: number, source, first, count } = correction;
        let request = require::request(self.clients, id)?;
        let workspace = require::workspace(self.workspaces, request)?;
        let rest = self.runs.rest(&request.workspace, *number).ok_or_else(|| gone(*number))?;
        let own = *first..first + count;
        // A call that isn't right and holds a secret isn't kept in place of another one.
        if script.without_secrets(workspace).is_none() && !own.contains(&index) {
            let moved = KeptSteps::of_refused(rest.caller.clone(), source, index);
            // The corrected call means what the reader has seen by now, the others what it had seen
            // then: where that differs, nobody could tell any more which number counts in what.
            let now = |session: &SessionKey| {
                let seen = workspace.seen(&rest.caller.reader, session)?;
                Some((seen.app, seen.version))
            };
            let sessions = || workspace.windows.iter().map(|window| &window.session);
            let same = |seen: &&SeenBaseline| {
                sessions().all(|session| seen.versions.get(session).copied() == now(session))
            };
            let seen = rest.seen.as_ref().filter(same).cloned();
            if let Some(moved) = moved {
                let moved = KeptSteps { seen, ..moved };
                keep(self.turn, self.runs, Some(*number), moved);
            }
        }
        Ok(Next::Fail(fault, Some(*number)))
    }

    /// Starts the run of kept steps whose failed call was corrected: they are kept no longer.
    pub(super) fn run_corrected(
        &mut self,
        id: RequestId,
        correction: Correction,
        steps: Vec<Step>,
    ) -> Result<Next, Fault> {
        let Correction { kept: number, source, first, count } = correction;
        let request = require::request(self.clients, id)?;
        let workspace = require::workspace(self.workspaces, request)?;
        let at = request.workspace.clone();
        let rest = self.runs.rest(&at, number).ok_or_else(|| gone(number))?;
        let later = written_range(&steps, first, count);
        let mut run = Run::new(rest.caller.clone(), steps);
        run.take_baseline(workspace, request.call.at);
        let seen = rest.seen.clone().unwrap_or_else(|| {
            SeenBaseline::forgotten(workspace.windows.iter().map(|window| &window.session))
        });
        run.baseline.split(seen, later);
        run.origin = Origin::Typed(Rc::new(source));
        run.hide_secrets(workspace);
        self.runs.remove_rest(&at, number);
        self.turn.persist(Record::KeptClosed { workspace: at.to_string(), number });
        Ok(Next::Run(RunWork::Begin(Box::new(run), RunInput::Begin)))
    }

    /// Keeps the steps no longer that nobody took up in time.
    pub(crate) fn expire_rest(&mut self, number: u64) {
        self.end_rest(number, self.turn.mono_ms(), "have lapsed");
    }

    pub(super) fn end_rest(&mut self, number: u64, now: u64, how: &str) {
        let Some(rest) = self.runs.expire_rest(number, now) else { return };
        let workspace = rest.caller.workspace.to_string();
        self.turn.persist(Record::KeptClosed { workspace, number });
        let text = format!("kept steps {number} {how}: {}", rest.shown());
        let audience = Audience::Workspace(rest.caller.workspace, None);
        let reader = Some(&*rest.caller.reader);
        self.feed.publish(self.turn.now, EventKind::Notice, audience, reader, &text);
    }
}

/// Returns the indices of the steps, with their nested calls, that belong to `count` written steps
/// of a script from `first` on.
fn written_range(steps: &[Step], first: usize, count: usize) -> std::ops::Range<usize> {
    let ends = |written: usize| {
        let outer = steps.iter().enumerate().filter(|(_, step)| !step.nested);
        let last = written.checked_sub(1).and_then(|last| outer.map(|(at, _)| at).nth(last));
        last.map_or(0, |last| last + 1)
    };
    ends(first)..ends(first + count)
}

/// True for an answer that drops what is kept.
fn drops(text: &str) -> bool {
    ["none", "no", "cancel"].contains(&text.trim().to_lowercase().as_str())
}

/// Returns an error without the code that it points at, which holds a secret.
pub(super) fn without_code(fault: Fault) -> Fault {
    let title = fault.message.lines().next().unwrap_or_default().to_owned();
    Fault { message: title, at: None, ..fault }
}

fn gone(number: u64) -> Fault {
    Fault::not_found(format!("nothing is kept as {number}: it was resumed, dropped, or has lapsed"))
}
