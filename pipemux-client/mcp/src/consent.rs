//! What only a person may allow is put to the person at the client, where the client can ask one in
//! the middle of a call. Everywhere else the answer says what the person types at a terminal.

use std::collections::BTreeMap;

use pipemux_client::proto::Value;
use pipemux_client::proto::client::{Body, Format, Verb};
use pipemux_client::proto::consent::{ConsentArgs, ConsentDecision, PersonChannel};
use pipemux_client::tools::{ToolCall, ToolRequest, ToolVerb};
use rmcp::model::{
    CallToolResponse, ElicitRequestParams, ElicitationAction, ElicitationSchema, ProtocolVersion,
};

use crate::bridge::{Bridge, Performed};
use crate::context::Context;
use crate::outcome;

/// A request of an app for a person's consent.
struct Asked {
    number: u64,
    text: String,
}

/// Answers a call of which nothing took effect because a person has to allow something first: with
/// what comes of it once the person has, else with the refusal.
pub async fn ask(
    bridge: &Bridge,
    call: &ToolCall,
    refused: Performed,
    context: &Context,
) -> CallToolResponse {
    let asked = match can_ask(context) {
        true => asked_by(bridge, &refused.run_id).await,
        false => None,
    };
    let Some(Asked { number, text }) = asked else {
        return bridge.complete(refused, context).into();
    };
    let request = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("{text}Allow it?"),
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    };
    let answered = context.peer.create_elicitation(request).await.map(|result| result.action);
    let decision = match answered {
        Ok(ElicitationAction::Accept) => ConsentDecision::Allow,
        Ok(ElicitationAction::Decline) => ConsentDecision::Refuse,
        // Nobody decided: it stays asked for.
        _ => return bridge.complete(refused, context).into(),
    };
    let by = Some(PersonChannel::Elicitation);
    let verb = Verb::Consent(ConsentArgs { number: Some(number), decision: Some(decision), by });
    let decided = bridge.perform(ToolVerb::new(verb), context).await;
    if decision == ConsentDecision::Refuse || !decided.is_ok_and(|decided| decided.answer.exit == 0)
    {
        return bridge.complete(refused, context).into();
    }
    let again = match call.to_request(bridge) {
        Ok(ToolRequest::Verb(verb)) => bridge.perform(*verb, context).await,
        Ok(ToolRequest::Text(_)) => Ok(refused),
        Err(error) => Err(error),
    };
    match again {
        Ok(performed) => bridge.complete(performed, context).into(),
        Err(error) => outcome::failure(&error).into(),
    }
}

/// True if the client shows forms, and while a call waits: one that asks by a result would send the
/// call again itself.
fn can_ask(context: &Context) -> bool {
    let asks_by_result = context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    let modes = context.client_capabilities().and_then(|client| client.elicitation);
    !asks_by_result && modes.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Returns what the request with this id asks a person to allow.
async fn asked_by(bridge: &Bridge, run_id: &str) -> Option<Asked> {
    let verb = Verb::Consent(ConsentArgs::default());
    let mut request = ToolVerb::new(verb).into_request(&bridge.options());
    request.format = Format::Json;
    let Body::Data(data) = bridge.ask(&request).await.ok()?.body else { return None };
    let Some(Value::List(all)) = data.get("asked") else { return None };
    let own = all.iter().find(|one| one.get("run_id").and_then(Value::as_str) == Some(run_id))?;
    let number = match own.get("number")? {
        Value::Int(number) => u64::try_from(*number).ok()?,
        _ => return None,
    };
    Some(Asked { number, text: own.get("text")?.as_str()?.to_owned() })
}
