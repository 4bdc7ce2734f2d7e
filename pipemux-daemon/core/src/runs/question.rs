//! Open questions: what was asked, and the run that waits for the answer.

use std::mem;

use pipemux_proto::Fault;
use pipemux_proto::app::{Choice, Invoke, Needs, QuestionKind};

use crate::runs::missing_argument::fill;
use crate::runs::{Argument, MissingArgument, Run, RunInput, Step};

/// A question that waits for an answer.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    /// The run, stopped at the step that asks.
    pub run: Run,
    /// What is asked.
    pub needs: Needs,
    /// Who asks.
    pub asker: Asker,
}

/// Who asks a question.
#[derive(Debug, Clone)]
pub enum Asker {
    /// The app, about this request.
    App(Box<Invoke>),
    /// The daemon, about an argument.
    MissingArgument(AskedArgument),
    /// The daemon, about which session the step with this index means.
    AmbiguousTarget(usize),
}

/// An argument that is asked for.
#[derive(Debug, Clone)]
pub struct AskedArgument {
    /// The step's index.
    pub step: usize,
    /// The argument's index in the step.
    pub index: usize,
    /// What is missing.
    pub missing: MissingArgument,
    /// What each listed option stands for, as it was when it was listed.
    pub options: Vec<Argument>,
}

/// An answer, checked against its question.
#[derive(Debug, Clone)]
pub enum ParsedAnswer {
    /// Go on with this choice.
    Choice(Choice),
    /// Go on with this argument.
    Argument(Argument),
    /// Don't run the step.
    Cancel,
}

impl OpenQuestion {
    /// The reader who was asked.
    pub fn reader(&self) -> &str {
        &self.run.reader
    }

    /// The step that asks.
    pub fn step(&self) -> &Step {
        match &self.asker {
            Asker::App(_) => &self.run.steps[self.run.next],
            Asker::MissingArgument(asked) => &self.run.steps[asked.step],
            Asker::AmbiguousTarget(step) => &self.run.steps[*step],
        }
    }

    /// The asking step and its question in one line: `editor.replace: 3 matches`.
    pub fn title(&self) -> String {
        let step = self.step();
        let provider = &step.session.addr.provider;
        format!("{provider}.{}: {}", step.prototype.name, self.needs.question.text)
    }

    /// Ways to answer, as they would be typed.
    pub fn ways(&self) -> Vec<String> {
        let question = &self.needs.question;
        match question.kind {
            QuestionKind::Confirm => vec!["yes".into(), "no".into()],
            QuestionKind::Text => vec!["<text>".into(), "cancel".into()],
            QuestionKind::PickOne => vec!["1".into(), "none".into()],
            QuestionKind::PickMany if question.options.len() < 3 => {
                vec!["1".into(), "all".into(), "none".into()]
            }
            QuestionKind::PickMany => {
                ["1,3", "all", "all but 2", "none"].map(str::to_owned).to_vec()
            }
        }
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// What was expected; the question stays open.
    pub fn read(&self, text: &str) -> Result<ParsedAnswer, Fault> {
        match (&self.asker, self.parse(text)?) {
            (Asker::MissingArgument(asked), ParsedAnswer::Choice(choice)) => {
                fill(&asked.missing, &asked.options, &choice).map(ParsedAnswer::Argument)
            }
            (_, parsed) => Ok(parsed),
        }
    }

    /// Gives the run an answer. Returns the run and what it is to be resumed with.
    pub fn answer(self, answer: ParsedAnswer) -> (Run, RunInput) {
        let mut run = self.run;
        run.answers += 1;
        let input = match (self.asker, answer) {
            (_, ParsedAnswer::Cancel) => RunInput::Declined,
            (Asker::App(invoke), ParsedAnswer::Choice(choice)) => {
                RunInput::Answered { invoke, token: self.needs.token, choice }
            }
            (Asker::MissingArgument(asked), ParsedAnswer::Argument(argument)) => {
                run.steps[asked.step].args[asked.index].1 = argument;
                RunInput::Begin
            }
            (Asker::AmbiguousTarget(step), ParsedAnswer::Choice(Choice::Picked(picked))) => {
                let step = &mut run.steps[step];
                let mut candidates = mem::take(&mut step.candidates).into_iter();
                let index = picked.first().map_or(0, |number| *number as usize).checked_sub(1);
                if let Some(session) = index.and_then(|index| candidates.nth(index)) {
                    step.session = session;
                }
                RunInput::Begin
            }
            // [`OpenQuestion::read`] gives no such answer: the question is asked again.
            (_, ParsedAnswer::Choice(_) | ParsedAnswer::Argument(_)) => RunInput::Begin,
        };
        (run, input)
    }

    fn parse(&self, text: &str) -> Result<ParsedAnswer, Fault> {
        let question = &self.needs.question;
        let words = text.trim().to_lowercase();
        let count = (question.options.len() as u64).saturating_add(question.unlisted);
        let expected = || {
            let ways = self.ways().join(" · ");
            Fault::usage(format!("`{}` is no answer to {}", clip(text), self.title()))
                .hint(format!("pipemux answer {ways}"))
        };
        match (question.kind, words.as_str()) {
            (QuestionKind::Confirm, "yes" | "y" | "go") => Ok(ParsedAnswer::Choice(Choice::Yes)),
            (_, "cancel") => Ok(ParsedAnswer::Cancel),
            (QuestionKind::Text, _) if !text.is_empty() => {
                Ok(ParsedAnswer::Choice(Choice::Text(text.to_owned())))
            }
            (_, "none" | "no" | "n") => Ok(ParsedAnswer::Cancel),
            (QuestionKind::PickMany, "all") => Ok(ParsedAnswer::Choice(Choice::AllBut(Vec::new()))),
            (QuestionKind::PickMany, _) if words.starts_with("all but ") => {
                let but = numbers(&words["all but ".len()..], count).ok_or_else(expected)?;
                Ok(ParsedAnswer::Choice(Choice::AllBut(but)))
            }
            (QuestionKind::PickMany, _) => {
                let picked = numbers(&words, count).ok_or_else(expected)?;
                Ok(ParsedAnswer::Choice(Choice::Picked(picked)))
            }
            // An argument may also be typed.
            (QuestionKind::PickOne | QuestionKind::Confirm, _)
                if matches!(self.asker, Asker::MissingArgument(..))
                    && numbers(&words, count).is_none() =>
            {
                Ok(ParsedAnswer::Choice(Choice::Text(text.to_owned())))
            }
            (QuestionKind::PickOne, _) => match numbers(&words, count).ok_or_else(expected)? {
                picked if picked.len() == 1 => Ok(ParsedAnswer::Choice(Choice::Picked(picked))),
                _ => Err(expected()),
            },
            _ => Err(expected()),
        }
    }
}

/// Numbers between 1 and `count`, separated by commas or spaces; ranges count. Sorted, each once.
fn numbers(text: &str, count: u64) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?),
            None => (part.parse().ok()?, part.parse().ok()?),
        };
        let valid = first >= 1 && first <= last && u64::from(last) <= count;
        if !valid || all.len() + (last - first) as usize > 100_000 {
            return None;
        }
        all.extend(first..=last);
    }
    all.sort_unstable();
    all.dedup();
    (!all.is_empty()).then_some(all)
}

fn clip(text: &str) -> String {
    let mut clipped: String = text.chars().take(40).collect();
    if clipped.len() < text.len() {
        clipped.push('…');
    }
    clipped.replace('\n', " ")
}
