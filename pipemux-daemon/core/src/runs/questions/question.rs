//! Open questions: what was asked, and the run that waits for the answer.

use pipemux_proto::app::{Choice, QuestionKind};
use pipemux_proto::call::Expr;
use pipemux_proto::prototype::Risk;
use pipemux_proto::{Fault, Value};

use crate::foreign::{Needs, quote};
use crate::runs::protocol::RunInput;
use crate::runs::questions::answer_text::TypedAnswer;
use crate::runs::questions::asker::{AnsweredQuestion, AskedArgument, Asker};
use crate::runs::questions::form::FieldChoice;
use crate::runs::questions::missing_argument::fill;
use crate::runs::questions::selection::{Selection, select};
use crate::runs::questions::typed_values::{TypedValues, placeholder, typed_words};
use crate::runs::run::Run;
use crate::runs::step_outcome::StepOutcome;
use crate::runs::suspended::Suspended;
use crate::scripts::context::RunContext;
use crate::scripts::step::{Argument, Step, StepOrigin};
use crate::scripts::written_call::written_call;

/// A question that awaits an answer.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    /// The suspended run, which resumes with the answer before the asking step.
    pub suspended: Suspended,
    pub needs: Needs,
    pub asker: Asker,
    /// True once an answer that shows the question has reached its reader.
    pub shown: bool,
    /// The expiry on the monotonic clock; 0 until the daemon that restored it has begun.
    pub expires: u64,
    /// The form fields that were validly answered so far.
    pub given: Vec<(String, Argument)>,
    /// The candidates for the form's fields, from the windows when the question was asked.
    pub choices: Vec<FieldChoice>,
}

/// An answer, checked against its question.
#[derive(Debug, Clone)]
pub enum ParsedAnswer {
    /// Go on with this choice.
    Choice(Choice),
    /// Go on with this argument.
    Argument(Argument),
    /// Go on with these fields of a form.
    Fields(Vec<(String, Argument)>),
    /// Don't run the step.
    Cancel,
}

impl OpenQuestion {
    /// A question of a run that hasn't been shown to anyone yet.
    pub fn new(suspended: Suspended, needs: Needs, asker: Asker, expires: u64) -> Self {
        let (given, choices) = (Vec::new(), Vec::new());
        Self { suspended, needs, asker, shown: false, expires, given, choices }
    }

    /// The reader to whom the question is addressed.
    pub fn reader(&self) -> &str {
        &self.suspended.caller.reader
    }

    fn index(&self) -> usize {
        match &self.asker {
            Asker::App(_) => self.suspended.progress.next,
            Asker::MissingArgument(asked) => asked.step,
            Asker::MissingArguments(step) | Asker::AmbiguousTarget(step) => *step,
        }
    }

    /// The step that asks the question.
    pub fn step(&self) -> &Step {
        &self.suspended.progress.steps[self.index()]
    }

    /// Returns about how many bytes it takes: its options, what its app wants back, what its run
    /// was written as, and what came of the steps so far.
    pub fn bytes(&self) -> usize {
        let Needs { question, token, .. } = &self.needs;
        let options = question.options.iter().map(|option| option.label.len() + option.text.len());
        let source = self.suspended.origin.source().map_or(0, |source| source.bytes());
        let done = self.suspended.progress.done.iter().map(StepOutcome::bytes);
        token.0.len() + options.sum::<usize>() + source + done.sum::<usize>()
    }

    /// The asking step and its question in one line: `editor.replace: 3 matches`.
    pub fn title(&self) -> String {
        let step = self.step();
        let provider = &step.session.addr.provider;
        let text = quote::in_sentence(&self.needs.question.text);
        format!("{provider}.{}: {text}", step.prototype.written_name())
    }

    /// True when `yes` carries out an action that can't be undone.
    pub fn is_destructive(&self) -> bool {
        matches!(self.asker, Asker::App(_))
            && self.needs.question.kind == QuestionKind::Confirm
            && self.step().prototype.risk == Risk::Destructive
    }

    /// Ways to answer, as they would be typed.
    pub fn ways(&self) -> Vec<String> {
        let question = &self.needs.question;
        match question.kind {
            QuestionKind::Form => vec![self.example(), "cancel".into()],
            // It would stand in an argument list, and in a shell's history.
            QuestionKind::Text if question.secret => vec!["-".into(), "cancel".into()],
            QuestionKind::Confirm => vec!["yes".into(), "no".into()],
            QuestionKind::Text => {
                let wanted = match &self.asker {
                    Asker::MissingArgument(asked) => placeholder(&asked.missing.ty),
                    Asker::App(_) | Asker::MissingArguments(_) | Asker::AmbiguousTarget(_) => {
                        "<text>"
                    }
                };
                vec![wanted.into(), "cancel".into()]
            }
            QuestionKind::PickOne => vec!["1".into(), "none".into()],
            QuestionKind::PickMany if question.options.len() < 3 => {
                vec!["1".into(), "all".into(), "none".into()]
            }
            QuestionKind::PickMany => {
                ["1,3", "all", "all but 2", "none"].map(str::to_owned).to_vec()
            }
        }
    }

    /// The names that a value may be assigned to in the call syntax.
    pub fn value_names(&self) -> Vec<&str> {
        match &self.asker {
            Asker::MissingArgument(asked) => {
                let param = self.step().args.get(asked.index).map(|(name, _)| name.as_str());
                param.into_iter().chain(["text"]).collect()
            }
            Asker::App(_) if self.needs.question.kind == QuestionKind::Text => vec!["text"],
            Asker::App(_) | Asker::MissingArguments(_) | Asker::AmbiguousTarget(_) => Vec::new(),
        }
    }

    /// Reads an answer.
    ///
    /// # Errors
    /// What was expected; the question stays open.
    pub fn read(
        &self,
        typed: TypedAnswer,
        context: &RunContext<'_>,
    ) -> Result<ParsedAnswer, Fault> {
        match &self.asker {
            Asker::MissingArgument(asked) => self.read_argument(asked, typed, context),
            Asker::App(_) | Asker::MissingArguments(_) | Asker::AmbiguousTarget(_) => {
                self.read_choice(typed)
            }
        }
    }

    /// Reads the answer to a question whose options are all that can be chosen.
    fn read_choice(&self, typed: TypedAnswer) -> Result<ParsedAnswer, Fault> {
        let question = &self.needs.question;
        let is_text = question.kind == QuestionKind::Text;
        let words = match typed {
            TypedAnswer::Text(text) if is_text => {
                return Ok(ParsedAnswer::Choice(Choice::Text(text)));
            }
            TypedAnswer::Value { argument, code } => {
                return match argument.value {
                    Expr::Value(Value::Str(text)) if is_text => {
                        Ok(ParsedAnswer::Choice(Choice::Text(text)))
                    }
                    Expr::Quoted(text) if is_text => {
                        let text = text.text.map_err(|error| error.to_fault(&code))?;
                        Ok(ParsedAnswer::Choice(Choice::Text(text)))
                    }
                    _ => Err(Fault::usage(format!("{} expects a text", self.title()))
                        .hint("pipemux answer 'text=\"a text\"'")),
                };
            }
            TypedAnswer::Text(words) | TypedAnswer::Words(words) => words,
        };
        match question.kind {
            QuestionKind::Confirm => self.read_confirmation(&words),
            QuestionKind::Text | QuestionKind::Form if declines(&words) => Ok(ParsedAnswer::Cancel),
            QuestionKind::Text => Ok(ParsedAnswer::Choice(Choice::Text(words))),
            // Its fields are read by `fill`.
            QuestionKind::Form => Err(self.unexpected(&words)),
            QuestionKind::PickOne | QuestionKind::PickMany => match select(question, &words) {
                Selection::Chosen(choice) => Ok(ParsedAnswer::Choice(choice)),
                Selection::Cancel => Ok(ParsedAnswer::Cancel),
                Selection::Ambiguous(numbers) => Err(self.ambiguous(&words, &numbers)),
                Selection::OutOfRange | Selection::Other => Err(self.unexpected(&words)),
            },
        }
    }

    fn read_confirmation(&self, words: &str) -> Result<ParsedAnswer, Fault> {
        match words.trim().to_lowercase().as_str() {
            "yes" | "y" => Ok(ParsedAnswer::Choice(Choice::Yes)),
            "no" | "n" | "none" | "cancel" => Ok(ParsedAnswer::Cancel),
            _ => Err(self.unexpected(words)),
        }
    }

    /// Reads the answer to a question for an argument, which may also be typed.
    fn read_argument(
        &self,
        asked: &AskedArgument,
        typed: TypedAnswer,
        context: &RunContext<'_>,
    ) -> Result<ParsedAnswer, Fault> {
        let question = &self.needs.question;
        let values = TypedValues { context, reader: self.reader(), missing: &asked.missing };
        let words = match typed {
            TypedAnswer::Value { argument, code } => {
                return values.of_call(&argument, &code).map(ParsedAnswer::Argument);
            }
            TypedAnswer::Text(text) if question.kind == QuestionKind::Text => {
                return values.of_words(&text).map(ParsedAnswer::Argument);
            }
            TypedAnswer::Text(words) | TypedAnswer::Words(words) => words,
        };
        let filled = |choice| fill(&asked.missing, &asked.options, &choice);
        match question.kind {
            QuestionKind::Confirm => match (self.read_confirmation(&words), words.trim()) {
                (Ok(ParsedAnswer::Choice(choice)), _) => filled(choice).map(ParsedAnswer::Argument),
                (Ok(other), _) => Ok(other),
                // It sends a run again, and stands for no value.
                (Err(fault), "go" | "") => Err(fault),
                (Err(_), _) => values.of_words(&words).map(ParsedAnswer::Argument),
            },
            QuestionKind::Text | QuestionKind::Form if declines(&words) => Ok(ParsedAnswer::Cancel),
            QuestionKind::Text | QuestionKind::Form => {
                values.of_words(&words).map(ParsedAnswer::Argument)
            }
            QuestionKind::PickOne | QuestionKind::PickMany => match select(question, &words) {
                Selection::Chosen(choice) => filled(choice).map(ParsedAnswer::Argument),
                Selection::Cancel => Ok(ParsedAnswer::Cancel),
                Selection::Ambiguous(numbers) => Err(self.ambiguous(&words, &numbers)),
                Selection::Other if typed_words(&asked.missing.ty, &words) => {
                    values.of_words(&words).map(ParsedAnswer::Argument)
                }
                Selection::OutOfRange | Selection::Other => Err(self.unexpected(&words)),
            },
        }
    }

    fn unexpected(&self, words: &str) -> Fault {
        Fault::usage(format!("`{}` is no answer to {}", clip(words), self.title()))
            .hint(format!("pipemux answer {}", self.ways().join(" · ")))
    }

    fn ambiguous(&self, words: &str, numbers: &[u32]) -> Fault {
        let several = numbers.len() > 1;
        let why = if several { "several choices have this name" } else { "it is also a word" };
        let ways: Vec<String> = numbers.iter().map(u32::to_string).collect();
        Fault::usage(format!("`{}` can't be told: {why}", clip(words)))
            .hint(format!("pipemux answer {} · cancel", ways.join(" · ")))
    }

    /// Gives the run an answer. Returns the run and what it is to be resumed with.
    pub fn answer(
        self,
        number: u64,
        answer: ParsedAnswer,
        context: &RunContext<'_>,
    ) -> (Run, RunInput) {
        let index = self.index();
        let mut run = self.suspended.into_run();
        let Some(step) = run.progress.steps.get_mut(index) else { return (run, RunInput::Begin) };
        let before = step.clone();
        let given = match &answer {
            ParsedAnswer::Fields(given) => given.clone(),
            _ => Vec::new(),
        };
        let input = match (&self.asker, answer) {
            (_, ParsedAnswer::Cancel) => return (run, RunInput::Declined),
            (Asker::App(invoke), ParsedAnswer::Fields(given)) => {
                let fields = given.into_iter().filter_map(|(name, value)| match value {
                    Argument::Fixed(arg) => Some((name, arg)),
                    _ => None,
                });
                RunInput::Answered {
                    confirms: false,
                    invoke: invoke.clone(),
                    token: self.needs.token.clone(),
                    choice: Choice::Fields(fields.collect()),
                }
            }
            (Asker::MissingArguments(_), ParsedAnswer::Fields(given)) => {
                step.complete(&self.needs.question.fields, given);
                RunInput::Begin
            }
            (Asker::App(invoke), ParsedAnswer::Choice(choice)) => RunInput::Answered {
                confirms: self.needs.question.kind == QuestionKind::Confirm,
                invoke: invoke.clone(),
                token: self.needs.token.clone(),
                choice,
            },
            (Asker::MissingArgument(asked), ParsedAnswer::Argument(argument)) => {
                step.args[asked.index].1 = argument;
                RunInput::Begin
            }
            (Asker::AmbiguousTarget(_), ParsedAnswer::Choice(Choice::Picked(picked))) => {
                let number = picked.first().map_or(0, |number| *number as usize);
                let mut candidates = std::mem::take(&mut step.candidates).into_iter();
                if let Some(session) = number.checked_sub(1).and_then(|at| candidates.nth(at)) {
                    step.session = session;
                }
                RunInput::Begin
            }
            // [`OpenQuestion::read`] gives no such answer: the question is asked again.
            (_, ParsedAnswer::Choice(_) | ParsedAnswer::Argument(_) | ParsedAnswer::Fields(_)) => {
                return (run, RunInput::Begin);
            }
        };
        run.answers.count += 1;
        // What is told of the step from now on is the call that is carried out.
        if !matches!(self.asker, Asker::App(_)) && before.origin == StepOrigin::Call {
            let steps = &mut run.progress.steps;
            steps[index].call = written_call(steps, index, context.workspace);
        }
        run.answers.latest = Some(Box::new(AnsweredQuestion {
            number,
            needs: self.needs,
            asker: self.asker,
            index,
            given,
            step: before,
        }));
        (run, input)
    }
}

/// Returns true for the words that cancel a question. To give one of them as a text, the answer is
/// `text="none"`.
pub fn declines(words: &str) -> bool {
    matches!(words.trim(), "cancel" | "none")
}

fn clip(text: &str) -> String {
    let mut clipped: String = text.chars().take(40).collect();
    if clipped.len() < text.len() {
        clipped.push('…');
    }
    clipped.replace('\n', " ")
}
