//! `pipemux consent`: shows a person what an app asks to be allowed, and asks them.

use std::io::{self, BufRead, IsTerminal, Write};

use pipemux_client::ClientError;
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Body, Format, Verb};
use pipemux_client::proto::consent::{ConsentArgs, ConsentDecision, PersonChannel};
use pipemux_client::proto::{Fault, Value};

use super::requester::Requester;

/// Shows one consent, and asks the person at the terminal about it; with `withdraw` takes it back.
/// Returns the exit status.
///
/// # Errors
/// No person is at a terminal here, or the daemon can't be reached.
pub fn execute(requester: &Requester, number: u64, withdraw: bool) -> Result<u8, ClientError> {
    let mut connection = Connection::open(&requester.options)?;
    let verb = |decision: Option<ConsentDecision>| {
        let by = decision.map(|_| PersonChannel::Terminal);
        Verb::Consent(ConsentArgs { number: Some(number), decision, by })
    };
    if withdraw {
        let answer =
            requester.request_on(&mut connection, verb(Some(ConsentDecision::Withdraw)))?;
        return Ok(requester.print_and_confirm(&mut connection, &answer));
    }
    let mut call = requester.call(verb(None));
    call.format = Format::Json;
    let shown = connection.call(&call, requester.options.timeout)?;
    let Body::Data(data) = &shown.body else {
        let answer = requester.request_on(&mut connection, verb(None))?;
        return Ok(requester.print_and_confirm(&mut connection, &answer));
    };
    let asked = data.get("asked").and_then(|asked| match asked {
        Value::List(asked) => asked.first(),
        _ => None,
    });
    let Some(text) = asked.and_then(|asked| asked.get("text")?.as_str()) else {
        // It is allowed already: nothing to ask.
        let answer = requester.request_on(&mut connection, verb(None))?;
        return Ok(requester.print_and_confirm(&mut connection, &answer));
    };
    let Some(decision) = ask(text)? else {
        return Ok(requester.print_own("nothing was decided", &serde_json::json!({})));
    };
    let answer = requester.request_on(&mut connection, verb(Some(decision)))?;
    Ok(requester.print_and_confirm(&mut connection, &answer))
}

/// Asks the person at the terminal; none if they answer neither yes nor no.
fn ask(text: &str) -> Result<Option<ConsentDecision>, ClientError> {
    write!(io::stderr(), "{text}").map_err(failed)?;
    let decided = |yes| if yes { ConsentDecision::Allow } else { ConsentDecision::Refuse };
    Ok(ask_person("allow it?")?.map(decided))
}

/// Asks the person at the terminal; none if they answer neither yes nor no.
///
/// # Errors
/// No person is at a terminal here.
pub fn ask_person(question: &str) -> Result<Option<bool>, ClientError> {
    check_person()?;
    let (mut stdin, mut stderr) = (io::stdin().lock(), io::stderr());
    write!(stderr, "{question} yes or no: ").and_then(|()| stderr.flush()).map_err(failed)?;
    let mut line = String::new();
    stdin.read_line(&mut line).map_err(failed)?;
    Ok(match line.trim().to_lowercase().as_str() {
        "yes" | "y" => Some(true),
        "no" | "n" => Some(false),
        _ => None,
    })
}

/// Makes sure that a person may be at a terminal here.
///
/// # Errors
/// Standard input or standard error is none.
pub fn check_person() -> Result<(), ClientError> {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        return Ok(());
    }
    let why = "only a person at a terminal can do that";
    Err(ClientError::Refused(Fault::refused(why).hint("tell your user to type this command")))
}

fn failed(error: io::Error) -> ClientError {
    ClientError::invalid(format!("the terminal: {error}"))
}
