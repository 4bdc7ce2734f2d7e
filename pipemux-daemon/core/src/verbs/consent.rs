//! `consent`: lists what only a person may allow, shows one of it, and carries out what a person
//! decided.

use pipemux_proto::consent::{ConsentArgs, ConsentDecision};
use pipemux_proto::{Fault, Value};

use crate::clients::client_request::ClientRequest;
use crate::consents::{Allowed, Asked, Consents, Decided, hint};
use crate::foreign::inert;
use crate::jobs::words::duration;
use crate::keys::{SessionKey, WorkspaceKey};
use crate::turn::Turn;
use crate::verbs::next::Next;

/// Lists the consents of the workspace, shows one of them, or decides about it.
pub(crate) fn consent(
    turn: &mut Turn,
    consents: &mut Consents,
    workspace: &WorkspaceKey,
    args: ConsentArgs,
) -> Result<Next, Fault> {
    let now = turn.now.unix_ms;
    let unknown = |number: u64| {
        Fault::not_found(format!("no consent {number} is asked for or allowed in this workspace"))
            .hint("pipemux consent")
    };
    let (number, decision) = match args {
        ConsentArgs { number: Some(number), decision: Some(decision), by: Some(_) } => {
            (number, decision)
        }
        ConsentArgs { decision: Some(_), .. } => {
            let why = "a decision names the number of a consent, and where a person decided";
            return Err(Fault::usage(why).hint("pipemux consent"));
        }
        ConsentArgs { number, decision: None, .. } => {
            let is_meant = |one: u64| number.is_none_or(|number| number == one);
            let asked = consents.asked(workspace);
            let asked: Vec<&Asked> = asked.filter(|one| is_meant(one.number)).collect();
            let allowed = consents.allowed(workspace, now);
            let allowed: Vec<&Allowed> = allowed.filter(|one| is_meant(one.number)).collect();
            if let (Some(number), true) = (number, asked.is_empty() && allowed.is_empty()) {
                return Err(unknown(number));
            }
            let (text, data) = (listed(&asked, &allowed, now), data(&asked, &allowed));
            return Ok(Next::Data(text, data));
        }
    };
    let Decided::Done(what) = consents.decide(turn, workspace, number, decision) else {
        return Err(unknown(number));
    };
    let text = match decision {
        ConsentDecision::Allow => format!("allowed: {what}\n"),
        ConsentDecision::Refuse => format!("refused: {what}\n"),
        ConsentDecision::Withdraw => format!("withdrawn: {what}\n"),
    };
    let data = Value::Map([("consent".to_owned(), Value::from(number))].into());
    Ok(Next::Data(inert::lines(text.as_str()) + "\n", data))
}

/// Keeps what a step asked a person to allow, and tells its reader how a person does.
pub(crate) fn keep_consent(
    turn: &mut Turn,
    consents: &mut Consents,
    asking: Option<&ClientRequest>,
    session: &SessionKey,
    fault: &mut Fault,
) {
    let Some(request) = fault.consent.take() else { return };
    let Some(asking) = asking else { return };
    let asked = Asked {
        number: 0,
        workspace: asking.workspace.clone(),
        provider: session.addr.provider.clone(),
        request: *request,
        reader: asking.call.reader.clone(),
        run_id: asking.call.run_id.clone(),
        unix_ms: 0,
    };
    let number = consents.ask(turn, asked);
    fault.hints.push(hint(number));
}

fn listed(asked: &[&Asked], allowed: &[&Allowed], now: u64) -> String {
    let mut text = String::new();
    if asked.is_empty() && allowed.is_empty() {
        text += "no app asks a person to allow anything here, and nothing is allowed\n";
    }
    for one in asked {
        text += &one.shown();
    }
    if let Some(one) = asked.first() {
        text += &format!("pipemux consent {} · at a terminal\n", one.number);
    }
    for one in allowed {
        let Allowed { number, provider, what, unix_ms, until, .. } = one;
        let left = until.map_or(String::new(), |until| {
            format!(", for {} min more", until.saturating_sub(now).div_ceil(60_000))
        });
        let since = duration(now.saturating_sub(*unix_ms));
        text += &format!("{number} · {provider} may {what} · allowed {since} ago{left}\n");
    }
    if let Some(one) = allowed.first() {
        text += &format!("pipemux consent {} --withdraw\n", one.number);
    }
    inert::lines(text.as_str()) + "\n"
}

fn data(asked: &[&Asked], allowed: &[&Allowed]) -> Value {
    let map = |fields: Vec<(&str, Value)>| {
        Value::Map(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let asked = asked.iter().map(|one| {
        map(vec![
            ("number", one.number.into()),
            ("provider", one.provider.as_str().into()),
            ("what", one.request.what.as_str().into()),
            (
                "shows",
                Value::List(one.request.shows.iter().map(|line| line.as_str().into()).collect()),
            ),
            ("text", one.shown().into()),
            ("reader", one.reader.as_str().into()),
            ("run_id", one.run_id.as_str().into()),
            ("unix_ms", one.unix_ms.into()),
        ])
    });
    let allowed = allowed.iter().map(|one| {
        map(vec![
            ("number", one.number.into()),
            ("provider", one.provider.as_str().into()),
            ("what", one.what.as_str().into()),
            ("unix_ms", one.unix_ms.into()),
            ("until", one.until.map_or(Value::Null, Value::from)),
        ])
    });
    map(vec![("asked", Value::List(asked.collect())), ("allowed", Value::List(allowed.collect()))])
}
