//! A question whose answer is yes or no is put to the person at the client, where the client can
//! ask one. All others, and everything else, stand in the document, and the model answers them.
//!
//! **Invariant: a person's answer goes to the question that the person was shown.** What is shown
//! is written from the question of one number, and the answer names that number. Other calls of the
//! same reader may open questions at the same time, so a call's own question is found by the link
//! that its own answer shows. A question that is a result has a state that nobody can guess, which
//! counts once and only for the call that got it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use pipemux_client::ClientError;
use pipemux_client::proto::client::{Body, Format, Verb, Workspace};
use pipemux_client::proto::report::QuestionReport;
use pipemux_client::tools::{ToolCall, ToolVerb};
use rmcp::model::{
    CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
};

use crate::bridge::{Bridge, Performed};
use crate::context::Context;
use crate::limits::ASKED_MAX;
use crate::outcome;
use crate::token::new_token;

/// The name of the question in a result that asks for input.
const CONFIRM: &str = "confirm";
/// The beginning of the answer to a run that waits behind another run's question.
const WAITS_BEHIND: &str = "kept: ";

/// A question that a person is being asked.
#[derive(Debug, Clone, PartialEq)]
struct Asked {
    /// The state that the client returns with the answer.
    state: String,
    question: Scope,
    call: ToolCall,
}

/// The identity of a question. Numbers are counted per workspace.
#[derive(Debug, Clone, PartialEq)]
struct Scope {
    number: u64,
    workspace: Workspace,
    reader: String,
}

impl Scope {
    fn new(bridge: &Bridge, number: u64) -> Self {
        let options = bridge.options();
        Self { number, workspace: options.workspace.clone(), reader: options.reader.clone() }
    }
}

/// The questions that are before persons, of all connections to this process, the oldest first.
/// After a restart none is known, and the model answers.
static ASKED: Mutex<VecDeque<Asked>> = Mutex::new(VecDeque::new());

/// Answers a call whose run asks a question: with the person's answer, or with the question.
pub async fn ask(
    bridge: &Bridge,
    call: ToolCall,
    performed: Performed,
    context: &Context,
) -> CallToolResponse {
    let can_ask = context.client_capabilities().and_then(|client| client.elicitation);
    // A client that names no mode shows forms.
    let can_ask = can_ask.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
    let found = match can_ask {
        true => own_confirmation(bridge, &performed).await,
        false => None,
    };
    let Some((question, message)) = found else {
        return bridge.complete(performed, context).into();
    };
    // A question is before a person only once.
    let Some(asked) = enter(question, call) else {
        return bridge.complete(performed, context).into();
    };
    let request = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    };
    let version = context.protocol_version();
    let asks_by_result =
        version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    if asks_by_result {
        let request = InputRequest::Elicitation(ElicitRequest::new(request));
        let requests = BTreeMap::from([(CONFIRM.to_owned(), request)]);
        return InputRequiredResult::new(Some(requests), Some(asked.state)).into();
    }
    let before = Before(asked);
    let answered = context.peer.create_elicitation(request).await.map(|result| result.action);
    let question = before.0.question.clone();
    drop(before);
    match answered {
        Ok(ElicitationAction::Accept) => answer(bridge, question, "yes", context).await,
        Ok(ElicitationAction::Decline) => answer(bridge, question, "no", context).await,
        // Nobody decided: the question stays open.
        _ => bridge.complete(performed, context).into(),
    }
}

/// Answers a call that brings the person's answer to the question of an earlier result.
pub async fn resume(
    bridge: &Bridge,
    call: &ToolCall,
    state: &str,
    responses: &InputResponses,
    context: &Context,
) -> CallToolResponse {
    let Some(asked) = take(|asked| asked.state == state && asked.call == *call) else {
        let why = "this requestState belongs to another call, or has been used";
        let error = ClientError::invalid(why).hint("answer · shows the open question");
        return outcome::failure(&error).into();
    };
    let action = responses.get(CONFIRM).and_then(|response| response.get("action"));
    let text = match action.and_then(|action| action.as_str()) {
        Some("accept") => "yes",
        Some("decline") => "no",
        // Shows the question.
        _ => "",
    };
    answer(bridge, asked.question, text, context).await
}

/// Notes that a question is put to a person; `None` if it is before one already, or there is no
/// randomness.
fn enter(question: Scope, call: ToolCall) -> Option<Asked> {
    let asked = Asked { state: new_token().ok()?, question, call };
    let mut all = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if all.iter().any(|other| other.question == asked.question) {
        return None;
    }
    if all.len() == ASKED_MAX {
        all.pop_front();
    }
    all.push_back(asked.clone());
    Some(asked)
}

/// Takes a question that was put to a person.
fn take(is_meant: impl Fn(&Asked) -> bool) -> Option<Asked> {
    let mut all = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    let at = all.iter().position(is_meant)?;
    all.remove(at)
}

/// A question that is before a person until this is dropped, also when the call is cancelled.
struct Before(Asked);

impl Drop for Before {
    fn drop(&mut self) {
        take(|asked| asked.state == self.0.state);
    }
}

/// Answers one question of the reader that was asked.
async fn answer(
    bridge: &Bridge,
    question: Scope,
    text: &str,
    context: &Context,
) -> CallToolResponse {
    if Scope::new(bridge, question.number) != question {
        let why = "the question was asked in another workspace, or of another reader";
        let error = ClientError::invalid(why).hint("answer · shows the questions of this one");
        return outcome::failure(&error).into();
    }
    let verb = Verb::Answer { text: text.to_owned(), to: Some(question.number), stdin: None };
    match bridge.perform(ToolVerb::new(verb), context).await {
        Ok(performed) => bridge.complete(performed, context).into(),
        Err(error) => outcome::failure(&error).into(),
    }
}

/// Returns the question that a run asks, if it is one of yes or no, and how a person reads it.
async fn own_confirmation(bridge: &Bridge, performed: &Performed) -> Option<(Scope, String)> {
    let Body::Text(text) = &performed.answer.body else { return None };
    if text.starts_with(WAITS_BEHIND) {
        return None;
    }
    let Body::Report(report) = show(bridge, None, Format::Json).await? else { return None };
    // Where several are open, the first of them is among all.
    let open = match report.questions.is_empty() {
        true => report.question.into_iter().collect(),
        false => report.questions,
    };
    let number = open.iter().find(|question| is_asked_by(text, question))?.id;
    let question = Scope::new(bridge, number);
    let Body::Text(shown) = show(bridge, Some(number), Format::Markdown).await? else {
        return None;
    };
    Some((question, message(&shown)?))
}

/// Shows one open question of the reader, or all of them.
async fn show(bridge: &Bridge, to: Option<u64>, format: Format) -> Option<Body> {
    let verb = Verb::Answer { text: String::new(), to, stdin: None };
    let mut request = ToolVerb::new(verb).into_request(&bridge.options());
    request.format = format;
    Some(bridge.ask(&request).await.ok()?.body)
}

/// True if the answer to a run asks this question, and it is one of yes or no: the link that says
/// yes to it stands in the last line that tells how to answer. What apps wrote stands above that
/// line.
fn is_asked_by(text: &str, question: &QuestionReport) -> bool {
    let is_confirmation = question.hints.iter().any(|hint| hint.ends_with(" yes"));
    let yes = question.options.iter().find(|option| option.label == "yes");
    let (Some(yes), Some((_, ways))) = (yes.filter(|_| is_confirmation), split(text)) else {
        return false;
    };
    ways.contains(&format!("[yes]({})", yes.link))
}

/// Returns a question as a person reads it: without the ways in which a model answers.
fn message(shown: &str) -> Option<String> {
    split(shown).map(|(question, _)| question.trim_end().to_owned())
}

/// Splits a text before the last line that tells how to answer.
fn split(text: &str) -> Option<(&str, &str)> {
    let begin = text.rfind("\nanswer ")? + 1;
    let (question, rest) = text.split_at(begin);
    Some((question, rest.lines().next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use pipemux_client::proto::report::AnswerOption;

    use super::*;

    fn question(id: u64, link: u64) -> QuestionReport {
        let yes = AnswerOption {
            label: "yes".into(),
            detail: String::new(),
            link: format!("link:{link}"),
        };
        let hints = vec!["answer yes".into(), "answer no".into()];
        QuestionReport { id, options: vec![yes], hints, ..QuestionReport::default() }
    }

    #[test]
    fn question_of_a_run_is_the_one_whose_link_its_answer_shows_last() {
        let asks = |link| format!("needs an answer · a.b\nanswer [yes](link:{link}) · no\n\ne3\n");
        assert!(is_asked_by(&asks(42), &question(1, 42)));
        assert!(!is_asked_by(&asks(42), &question(2, 4)));
        assert!(!is_asked_by(&asks(4), &question(2, 42)));
        // What an app showed before can't stand for the question.
        assert!(!is_asked_by(&format!("{}{}", asks(7), asks(42)), &question(1, 7)));
        assert!(!is_asked_by("answer [yes](link:42)", &question(1, 42)));
        assert!(!is_asked_by("", &question(1, 42)));
        let picks = QuestionReport { hints: vec!["answer 1".into()], ..question(1, 42) };
        assert!(!is_asked_by(&asks(42), &picks));
    }

    #[test]
    fn state_counts_once_and_for_its_own_call() {
        let scope = |number| Scope {
            number,
            workspace: pipemux_client::Options::from_env().unwrap().workspace,
            reader: "state_counts_once".to_owned(),
        };
        let call = |name: &str| ToolCall { name: name.to_owned(), arguments: Default::default() };
        let first = enter(scope(1), call("run")).unwrap();
        assert_eq!(enter(scope(1), call("run")), None, "it is before a person already");
        let second = enter(scope(2), call("run")).unwrap();
        assert!(first.state != second.state && first.state.len() >= 32);
        let meant = |state: &str, call: &ToolCall| {
            take(|asked| asked.state == state && asked.call == *call).map(|asked| asked.question)
        };
        assert_eq!(meant("1", &call("run")), None);
        assert_eq!(meant(&first.state, &call("ask")), None);
        assert_eq!(meant(&first.state, &call("run")), Some(scope(1)));
        assert_eq!(meant(&first.state, &call("run")), None);
        drop(Before(second.clone()));
        assert_eq!(meant(&second.state, &call("run")), None);
    }
}
