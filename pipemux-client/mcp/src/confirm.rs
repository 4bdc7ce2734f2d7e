//! A question whose answer is yes or no is put to the person at the client, where the client can ask one. All others, and
//! everything else, stand in the document, and the model answers them.

use std::collections::BTreeMap;

use pipemux_client::proto::client::{Body, Format, Verb};
use pipemux_client::tools::ToolVerb;
use rmcp::model::{
    CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
};

use crate::bridge::{Bridge, Context, Performed};
use crate::outcome;

/// The name of the question in a result that asks for input.
const CONFIRM: &str = "confirm";

/// Answers a call whose run asks a question: with the person's answer, or with the question.
pub async fn ask(bridge: &Bridge, performed: Performed, context: &Context) -> CallToolResponse {
    let can_ask = context.client_capabilities().and_then(|client| client.elicitation);
    // A client that names no mode shows forms.
    let can_ask = can_ask.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
    let Some(question) = (match can_ask {
        true => confirmation(bridge).await,
        false => None,
    }) else {
        return bridge.complete(performed, context).into();
    };
    let request = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(&performed),
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    };
    let version = context.protocol_version();
    let asks_by_result =
        version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    if asks_by_result {
        let request = InputRequest::Elicitation(ElicitRequest::new(request));
        let requests = BTreeMap::from([(CONFIRM.to_owned(), request)]);
        return InputRequiredResult::new(Some(requests), Some(question.to_string())).into();
    }
    match context.peer.create_elicitation(request).await.map(|result| result.action) {
        Ok(ElicitationAction::Accept) => answer(bridge, question, "yes", context).await,
        Ok(ElicitationAction::Decline) => answer(bridge, question, "no", context).await,
        // Nobody decided: the question stays open.
        _ => bridge.complete(performed, context).into(),
    }
}

/// Answers a call that brings the person's answer to the question of an earlier result.
pub async fn resume(
    bridge: &Bridge,
    state: &str,
    responses: &InputResponses,
    context: &Context,
) -> CallToolResponse {
    let action = responses.get(CONFIRM).and_then(|response| response.get("action"));
    let text = match action.and_then(|action| action.as_str()) {
        Some("accept") => "yes",
        Some("decline") => "no",
        // Shows the question.
        _ => "",
    };
    answer(bridge, state.parse().unwrap_or_default(), text, context).await
}

async fn answer(bridge: &Bridge, question: u64, text: &str, context: &Context) -> CallToolResponse {
    let verb = Verb::Answer { text: text.to_owned(), to: Some(question), stdin: None };
    match bridge.perform(ToolVerb::new(verb), context).await {
        Ok(performed) => bridge.complete(performed, context).into(),
        Err(error) => outcome::failure(&error).into(),
    }
}

/// Returns the number of the reader's open question, if it is one of yes or no.
async fn confirmation(bridge: &Bridge) -> Option<u64> {
    let verb = Verb::Answer { text: String::new(), to: None, stdin: None };
    let mut request = ToolVerb::new(verb).into_request(&bridge.options());
    request.format = Format::Json;
    let answer = bridge.ask(&request).await.ok()?;
    let Body::Report(report) = answer.body else { return None };
    let question = report.question?;
    question.hints.iter().any(|hint| hint.ends_with(" yes")).then_some(question.id)
}

/// Returns the question as a person reads it: without the ways in which a model answers.
fn message(performed: &Performed) -> String {
    let Body::Text(text) = &performed.answer.body else { return String::new() };
    let lines: Vec<&str> = text.lines().take_while(|line| !line.starts_with("answer ")).collect();
    lines.join("\n")
}
