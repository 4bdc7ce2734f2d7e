//! What nobody may exceed.
//!
//! | law | why it must hold |
//! |---|---|
//! | no more is in use than a bound says | who fills one up would stop others |
//! | a process below an app never acts | an app would act as the user |

use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::{Fault, Value};

use crate::law::{LawResult, law};
use crate::sim::Sim;

impl Sim {
    /// Checks what an answer says of bounds, and that it is none to somebody who may not act.
    pub fn check_bounds(&mut self, index: usize, answer: &Result<Answer, Fault>) -> LawResult {
        let request = &self.requests[index];
        let below = self.clients.get(&request.client).is_some_and(|conn| conn.below_app);
        law!(
            !below || answer.is_err(),
            "a process below an app never acts",
            "{:?}: {answer:?}",
            request.call.verb
        );
        let Ok(Answer { body, .. }) = answer else { return Ok(()) };
        if !matches!(request.call.verb, Verb::Limits) {
            return Ok(());
        }
        let beyond: Vec<String> = match body {
            Body::Text(said) => {
                said.lines().filter(|line| is_exceeded(line)).map(Into::into).collect()
            }
            Body::Data(Value::List(rows)) => {
                let beyond = rows.iter().filter(|row| is_exceeded_in(row));
                beyond.map(|row| format!("{row:?}")).collect()
            }
            _ => Vec::new(),
        };
        law!(beyond.is_empty(), "no more is in use than a bound says", "{beyond:?}");
        self.statistics.count("bounds checked");
        Ok(())
    }
}

/// True for a line `what: 7 of 4 KiB`.
fn is_exceeded(line: &str) -> bool {
    let amounts = line.rsplit_once(": ").and_then(|(_, amounts)| amounts.split_once(" of "));
    let Some((used, most)) = amounts else { return false };
    let (number, unit) = most.split_once(' ').unwrap_or((most, ""));
    let factor = match unit {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => 1,
    };
    let (used, most) = (used.parse::<u64>(), number.parse::<u64>());
    matches!((used, most), (Ok(used), Ok(most)) if used > most * factor)
}

fn is_exceeded_in(row: &Value) -> bool {
    let Value::Map(fields) = row else { return false };
    let number = |wanted: &str| {
        let (_, value) = fields.iter().find(|(name, _)| name == wanted)?;
        match value {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    };
    matches!((number("used"), number("value")), (Some(used), Some(most)) if used > most)
}

#[test]
fn exceeded_bound_is_found() {
    assert!(is_exceeded("open: 5 of 4") && is_exceeded("held: 4097 of 4 KiB"));
    assert!(!is_exceeded("open: 4 of 4") && !is_exceeded("held: 4097 of 5 KiB"));
    assert!(!is_exceeded("time: 30 s") && !is_exceeded("## of this daemon"));
}
