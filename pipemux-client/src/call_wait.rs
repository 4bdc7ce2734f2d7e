//! How long calls wait by their own words: `terminal.run('cargo test', wait=300)`.
//!
//! An app waits within the deadline of its request and then answers with a job. The daemon waits
//! for the job's end as long as the request says, so a request with such a call says it, as
//! `--wait` does.

use pipemux_proto::Value;
use pipemux_proto::call::{Call, Expr, Step, parse};
use pipemux_proto::client::Verb;
use pipemux_proto::limits::WAIT_MAX_MS;

/// The name of the parameter that asks apps to wait, in seconds.
const PARAMETER: &str = "wait";

/// Returns how long the calls of a verb wait together, in milliseconds, at most [`WAIT_MAX_MS`]; 0
/// for code that can't be read.
pub fn call_wait_ms(verb: &Verb) -> u32 {
    let (code, stdin) = match verb {
        Verb::Run { code, stdin, .. } => (code, stdin),
        Verb::Answer { text, stdin, .. } => (text, stdin),
        _ => return 0,
    };
    if !code.contains(PARAMETER) {
        return 0;
    }
    // What it holds says nothing of waits; an empty one would be refused.
    let stdin = stdin.as_ref().map(|_| "text");
    let Ok(script) = parse(code, stdin) else { return 0 };
    let calls = script.steps.iter().filter_map(|step| match step {
        Step::Call(call) => Some(call),
        Step::Ref(..) => None,
    });
    let calls: Vec<_> = calls.collect();
    // The daemon waits for each job of a run: a server that another call starts would hold up the
    // rest.
    let is_alone =
        |call: &&&Call| calls.iter().filter(|other| other.action == call.action).count() == 1;
    let waits = calls
        .iter()
        .filter(is_alone)
        .flat_map(|call| &call.args)
        .filter(|arg| arg.name.as_ref().is_some_and(|(name, _)| name == PARAMETER));
    let seconds = waits.map(|arg| match arg.value {
        Expr::Value(Value::Int(seconds)) => seconds as f64,
        Expr::Value(Value::Float(seconds)) => seconds,
        _ => 0.0,
    });
    let most = f64::from(WAIT_MAX_MS);
    seconds.map(|seconds| (seconds * 1_000.0).clamp(0.0, most)).sum::<f64>().min(most) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_calls_are_added_up_to_a_bound() {
        let of = |code: &str| {
            let verb = Verb::Run { code: code.to_owned(), stdin: None, only_queries: false };
            call_wait_ms(&verb)
        };
        assert_eq!(of("terminal.run('make', wait=300)"), 300_000);
        assert_eq!(of("a.b(wait=1.5); terminal.run('make', wait=2)\neditor.find('wait=9')"), 3_500);
        assert_eq!(of("terminal.run('make', wait=-5)"), 0);
        assert_eq!(of("terminal.run('make', wait=1e300); a.b(wait='x')"), WAIT_MAX_MS);
        assert_eq!(of("terminal.run('serve'); terminal.run('make', wait=300)"), 0);
        assert_eq!(of("terminal.run('wait=5')"), 0);
        assert_eq!(of("terminal.run('wait=5'"), 0);
        let answer =
            Verb::Answer { text: "a.b(stdin, wait=7)".into(), to: None, stdin: Some("x".into()) };
        assert_eq!(call_wait_ms(&answer), 7_000);
    }
}
