//! The outcome of a run as text, and the question that it asks.

use pipemux_proto::Level;
use pipemux_proto::app::QuestionKind;
use pipemux_proto::command::with_options;
use pipemux_proto::report::{AnswerOption, QuestionReport};

use crate::keys::SessionKey;
use crate::processes::Prototypes;
use crate::runs::question::{Asker, OpenQuestion};
use crate::runs::{Argument, Run};
use crate::views::answer;
use crate::views::minter::{Minter, RenderInput};
use crate::workspaces::anchors::AnchorTable;

/// The outcome of a run.
pub struct RunOutcome {
    /// Its steps and its question.
    pub text: String,
    /// The question as data.
    pub asked: Option<QuestionReport>,
    /// True when links were minted for it.
    pub minted: bool,
}

/// Writes the outcome of a run. `question` is the one that the run has open; `prototypes` gives what a session
/// can do; commands repeat `hint_options`.
pub fn write_outcome(
    run: &Run,
    question: Option<(u64, &OpenQuestion)>,
    prototypes: impl Fn(&SessionKey) -> Prototypes,
    (epoch, hint_options): (u64, &str),
    anchors: &mut AnchorTable,
) -> RunOutcome {
    let mut minted = false;
    let mut text = answer::steps(run, hint_options, |outcome, index| {
        let session = &run.steps[index].session;
        let prototypes = prototypes(session);
        let mut minter = Minter::new(session, RenderInput::of_links(&prototypes, epoch), anchors);
        let links = outcome.links.iter().map(|link| minter.link(link, true)).collect();
        minted |= minter.has_changed();
        links
    });
    let Some((number, open)) = question else { return RunOutcome { text, asked: None, minted } };
    let question = &open.needs.question;
    let session = &open.step().session;
    let mut minter = Minter::new(session, RenderInput::of_links(&[], epoch), anchors);
    let (title, ways) = (open.title(), open.ways());
    let later = match open.asker {
        Asker::App(_) => answer::later_steps(run, run.next + 1),
        // Asked before anything runs: the step itself is still to come, and those around it.
        Asker::MissingArgument(_) | Asker::AmbiguousTarget(_) => Vec::new(),
    };
    let (question_text, links) =
        answer::question(&mut minter, number, &title, question, &later, &ways);
    // Only the last line is a command: the lines of the options are the app's own.
    let options_end = question_text.trim_end().rfind('\n').map_or(0, |end| end + 1);
    let (options, command) = question_text.split_at(options_end);
    text += options;
    text += &with_options(command, hint_options);
    let asked = QuestionReport {
        id: number,
        level: level(&open.run, !question.options.is_empty()),
        text: title,
        options: match question.kind {
            QuestionKind::Text => Vec::new(),
            _ => links
                .into_iter()
                .map(|(label, id)| AnswerOption { label, link: format!("link:{id}") })
                .collect(),
        },
        unlisted: question.unlisted,
        hints: ways
            .iter()
            .map(|way| with_options(&format!("pipemux answer {way}"), hint_options).into_owned())
            .collect(),
    };
    RunOutcome { text, asked: Some(asked), minted: true }
}

/// Returns how much is needed to go on: more than one open point makes a wizard.
fn level(run: &Run, options: bool) -> Level {
    let rest = run.steps.iter().skip(run.next);
    let open: usize = rest
        .map(|step| {
            let missing = |(_, arg): &&(String, Argument)| matches!(arg, Argument::Missing(_));
            step.args.iter().filter(missing).count() + usize::from(!step.candidates.is_empty())
        })
        .sum();
    match (open, options) {
        (2.., _) => Level::Wizard,
        (_, true) => Level::Choice,
        (_, false) => Level::Hint,
    }
}
