//! Questions of apps, and the answers that resume their steps.
//!
//! | law | why it must hold |
//! |---|---|
//! | a confirmation is given by the reader | destructive actions need the consent of the reader that asked for them |
//! | an answer resumes its own question once | it would otherwise confirm something else |
//! | a wrong answer leaves its question open | the run that waits for it holds texts that nobody could write again |

use crate::action::ReaderIndex;
use crate::law::{LawResult, law};
use crate::sim::Sim;
use pipemux_proto::Fault;
use pipemux_proto::app::{Choice, Invoke};
use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::projection::Arg;

/// A question that an app asked.
#[derive(Debug)]
pub struct Question {
    pub invoke: Invoke,
    pub who: ReaderIndex,
    pub confirms: bool,
    pub answered: u32,
}

impl Sim {
    /// Checks that an answer resumes its question once, as its reader gave it.
    pub fn check_resumed(
        &mut self,
        who: ReaderIndex,
        invoke: &Invoke,
        token: &[u8],
        choice: &Choice,
    ) -> LawResult {
        let requests = self.requests.iter().rev().take(700);
        let open = requests.filter(|r| r.who == who && r.is_open() && !r.abandoned && r.acts());
        let given: Vec<&Verb> = open.map(|request| &request.call.verb).collect();
        let fits = given.iter().any(|verb| match verb {
            Verb::Answer { text, .. } => text_means(text, choice),
            _ => true,
        });
        let Some(question) = self.runs.questions.get_mut(token) else {
            law!(false, "an answer resumes its own question once", "{invoke:?}");
            return Ok(());
        };
        question.answered += 1;
        let asked = &question.invoke;
        let same = asked.args == invoke.args
            && asked.action == invoke.action
            && asked.run_id == invoke.run_id
            && question.who == who
            && question.answered == 1;
        law!(
            same,
            "an answer resumes its own question once",
            "{question:?}\nwas answered {invoke:?}"
        );
        let confirmed = question.confirms && *choice == Choice::Yes;
        law!(
            invoke.confirmed == confirmed && fits,
            "a confirmation is given by the reader",
            "{invoke:?} of {given:?}"
        );
        Ok(())
    }
}

impl Sim {
    /// Notes that an app refused an answer as wrong: the question may be answered once more.
    pub fn note_refused_answer(&mut self, token: &[u8]) {
        if let Some(question) = self.runs.questions.get_mut(token) {
            question.answered = question.answered.saturating_sub(1);
            self.statistics.count("answer refused by an app");
        }
    }

    /// Checks that a wrong answer shows the question, which is still open when the reader looks at
    /// once.
    pub fn check_wrong_answer(
        &mut self,
        index: usize,
        answer: &Result<Answer, Fault>,
    ) -> LawResult {
        let request = &self.requests[index];
        let Verb::Answer { text, .. } = &request.call.verb else { return Ok(()) };
        // A repeated answer may come from a record, which keeps the exit status alone once the
        // daemon was lost.
        if request.repeats.is_some() {
            self.runs.wrong_answer = None;
            return Ok(());
        }
        let asks = match answer {
            Ok(Answer { body: Body::Text(said), .. }) => said.contains("needs an answer"),
            Ok(Answer { body: Body::Report(report), .. }) => report.question.is_some(),
            _ => return Ok(()),
        };
        let (who, at, exit) = (request.who, request.at, request.exit.unwrap_or_default());
        if text.is_empty() {
            law!(
                asks == (exit == 5),
                "a wrong answer leaves its question open",
                "{exit}: {answer:?}"
            );
            let wrong = self.runs.wrong_answer.take();
            let same = wrong.is_some_and(|(of, then)| of == who && then == at);
            law!(
                !same || exit == 5 || request.refused,
                "a wrong answer leaves its question open",
                "{answer:?}"
            );
            self.statistics.count(format!("question looked at, {exit}"));
            return Ok(());
        }
        // `?!` is no answer to any question but one for a text.
        let trace = format!("{answer:?}");
        // It may mean what failed runs left, too.
        let several =
            ["questions are open", "steps were kept"].iter().any(|why| trace.contains(why));
        if text == "?!" && exit == 2 {
            law!(asks || several, "a wrong answer leaves its question open", "{answer:?}");
        }
        self.runs.wrong_answer = None;
        if exit == 2 && asks {
            self.statistics.count("wrong answer");
            self.runs.wrong_answer = Some((who, at));
        }
        Ok(())
    }
}

/// True when a typed answer means that choice.
fn text_means(text: &str, choice: &Choice) -> bool {
    match choice {
        Choice::Yes => text == "yes" || text.starts_with("link:"),
        Choice::Picked(picked) => {
            let typed: Vec<String> = picked.iter().map(u32::to_string).collect();
            text == typed.join(",")
        }
        Choice::AllBut(but) => match but.as_slice() {
            [] => text == "all",
            [one] => text == format!("all but {one}"),
            _ => false,
        },
        Choice::Text(said) => text == said,
        // What was right stays with the form: the last answer gave all of it, or what was left.
        Choice::Fields(fields) => {
            let given = |arg: &Arg| match arg {
                Arg::Value(blob) => blob.to_value().ok()?.as_str().map(str::to_owned),
                _ => None,
            };
            let given: Vec<String> = fields.values().filter_map(given).collect();
            // Spaces around a comma belong to no field.
            let typed: Vec<&str> = text.split(',').map(str::trim).collect();
            given.contains(&text.trim().to_owned()) || given == typed
        }
    }
}
