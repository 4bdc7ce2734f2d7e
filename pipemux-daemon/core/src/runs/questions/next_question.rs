//! Finds the next question that the daemon itself asks before any step of a run.

use pipemux_proto::app::QuestionKind;

use crate::foreign::Needs;
use crate::runs::progress::Progress;
use crate::runs::questions::asker::{AskedArgument, Asker};
use crate::runs::questions::form::missing_form;
use crate::runs::questions::missing_argument::{names_objects, question, target_question};
use crate::scripts::context::RunContext;
use crate::scripts::step::{Argument, Step};

/// An object argument is missing, and no window shows a candidate.
pub struct NothingToChoose {
    /// The step's index.
    pub step: usize,
    /// The argument's name and type: `at: note`.
    pub wanted: String,
}

/// Returns the question for what is missing of the steps that are left; none if nothing is.
pub fn next_question(
    progress: &Progress,
    context: &RunContext<'_>,
) -> Option<Result<(Needs, Asker), NothingToChoose>> {
    if let Some(step) = progress.ambiguous_target() {
        let needs = target_question(&progress.steps[step]);
        return Some(Ok((needs, Asker::AmbiguousTarget(step))));
    }
    let (step, index, missing) = progress.missing_argument()?;
    let asks = &progress.steps[step];
    if let Some(needs) = missing_form(asks) {
        let is_nothing = |(_, argument): &&(String, Argument)| match argument {
            Argument::Missing(missing) if names_objects(&missing.ty) => {
                question(context.workspace, &asks.session, "", missing).1.is_empty()
            }
            _ => false,
        };
        return Some(match asks.args.iter().position(|argument| is_nothing(&argument)) {
            Some(index) => Err(nothing_to_choose(asks, step, index)),
            None => Ok((needs, Asker::MissingArguments(step))),
        });
    }
    let (session, param) = (&asks.session, &asks.args[index].0);
    let (needs, options) = question(context.workspace, session, param, missing);
    if needs.question.kind == QuestionKind::Text && names_objects(&missing.ty) {
        return Some(Err(nothing_to_choose(asks, step, index)));
    }
    let asked = AskedArgument { step, index, missing: missing.clone(), options };
    Some(Ok((needs, Asker::MissingArgument(asked))))
}

fn nothing_to_choose(asks: &Step, step: usize, index: usize) -> NothingToChoose {
    let wanted = match asks.args.get(index) {
        Some((name, Argument::Missing(missing))) => format!("{name}: {}", missing.ty),
        _ => String::new(),
    };
    NothingToChoose { step, wanted }
}
