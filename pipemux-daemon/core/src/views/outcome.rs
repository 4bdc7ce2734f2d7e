//! The outcome of a run as text, and the question that it asks.

use pipemux_proto::Level;
use pipemux_proto::app::QuestionKind;
use pipemux_proto::command::with_options;
use pipemux_proto::refs::{Local, Ref, RefKind};
use pipemux_proto::report::{AnswerOption, QuestionReport, StepStatus};

use pipemux_tokens::estimate;

use crate::foreign::{ForeignText, LinkSlot, data, quote};
use crate::keys::SessionKey;
use crate::limits::CONTENT_BUDGET_MIN;
use crate::processes::Prototypes;
use crate::runs::progress::Progress;
use crate::runs::questions::asker::Asker;
use crate::runs::questions::question::OpenQuestion;
use crate::runs::{Argument, Run, Step, StepOrigin};
use crate::text::clip;
use crate::views::answer::StepName;
use crate::views::inert::RefTokens;
use crate::views::minter::{Minter, RenderInput};
use crate::views::outcome_content::write_content;
use crate::views::trim::shown_refs;
use crate::views::truncate::{cut_contents, cut_steps};
use crate::views::{answer, form, inert};
use crate::workspaces::anchors::{AnchorTable, StateVersion};

pub struct RunOutcome {
    /// The text of the steps and the question.
    pub text: String,
    /// For each step that ended, its contents besides its brief.
    pub contents: Vec<String>,
    /// The question as data.
    pub asked: Option<QuestionReport>,
    /// True when links were minted for it.
    pub minted: bool,
}

/// The facts on a step's app that its outcome depends on.
pub struct StepApp<'p> {
    /// True if the app comes with PipeMux.
    pub is_built_in: bool,
    /// The prefix of the app's tokens.
    pub token_prefix: Option<&'p str>,
}

/// Writes the outcome of a run. `question` is the run's open question; `prototypes` returns the
/// prototypes of a session, `app` what is known of its app; `is_present` tells whether the state
/// that a step left is still the newest one shown of a session. Commands repeat `hint_options`.
pub fn write_outcome<'p>(
    run: &Run,
    question: Option<(u64, &OpenQuestion)>,
    prototypes: impl Fn(&SessionKey) -> Prototypes,
    app: impl Fn(&SessionKey) -> StepApp<'p>,
    is_present: impl Fn(&SessionKey, StateVersion) -> bool,
    (epoch, hint_options): (u64, &str),
    anchors: &mut AnchorTable,
) -> RunOutcome {
    let mut minted = false;
    let name = |(index, step): (usize, &Step)| match run.origin.undone_round() {
        Some(undone) if undone.failed.is_some_and(|failed| index > failed) => {
            format!("{} again", inert::line(&step.call))
        }
        Some(_) => format!("undo of {}", inert::line(&step.call)),
        None => step_name(step, anchors),
    };
    let is_foreign = |step: &Step| !app(&step.session).is_built_in;
    let name = |(index, step)| StepName { written: name((index, step)), foreign: is_foreign(step) };
    let names: Vec<StepName> = run.progress.steps.iter().enumerate().map(name).collect();
    let mut contents =
        write_contents(run, &prototypes, &app, is_present, (epoch, anchors), &mut minted);
    let mut write_steps = |contents: &[String]| {
        answer::steps(run, &names, contents, hint_options, |outcome, index| {
            if outcome.links.is_empty() && !outcome.is_started() {
                return Vec::new();
            }
            let session = &run.progress.steps[index].session;
            let prototypes = prototypes(session);
            let mut minter =
                Minter::new(session, RenderInput::of_links(&prototypes, epoch), anchors);
            let shown = outcome.links.iter().filter(|link| !is_offered_later(run, index, link));
            let job = outcome.job.as_ref().filter(|_| outcome.is_started());
            let cancel = job.map(|job| minter.cancel_link(job.number));
            let links = shown.map(|link| minter.outcome_link(link, outcome.state));
            let links = cancel.into_iter().chain(links).collect();
            minted |= minter.has_changed();
            links
        })
    };
    let mut steps = write_steps(&contents);
    let excess = estimate(&steps.concat()).saturating_sub(run.budget.into());
    let was_cut = excess > 0 && contents.iter().any(|content| !content.is_empty());
    if was_cut {
        cut_contents(&mut contents, excess);
        steps = write_steps(&contents);
    }
    let whole = steps.concat();
    let mut text = cut_steps(steps, run.budget.into());
    if was_cut || text != whole {
        // What was cut isn't shown.
        let shown = shown_refs(&text);
        anchors.keep_offered(|written| shown.contains(written));
    }
    let skipped = run.origin.undone_round().map_or("", |undone| undone.skipped.as_str());
    text.push_str(&with_options(skipped, hint_options));
    if let Some(undone) = run.origin.undone_round().filter(|undone| !undone.stays.is_empty()) {
        let names = undone.stays.join(", ");
        text.push_str(&format!("not undone, since it has no undo: {}\n", inert::line(&names)));
    }
    text.push_str(&with_options(&undo_left(run), hint_options));
    if let Some(fault) = &run.end.wrong_answer {
        let foreign = run.progress.steps.get(run.progress.next).filter(|step| is_foreign(step));
        text.push_str(&with_options(&answer::refused_answer(fault, foreign), hint_options));
    }
    let Some((number, open)) = question else {
        return RunOutcome { text, contents, asked: None, minted };
    };
    let room = u64::from(run.budget).saturating_sub(estimate(&text)).max(CONTENT_BUDGET_MIN.into());
    let input = (epoch, hint_options);
    let asked = write_question_within(room, (number, false), open, input, anchors);
    RunOutcome { text: text + &asked.text, contents, asked: Some(asked.report), minted: true }
}

/// Writes what each step that ended shows besides its brief.
fn write_contents<'p>(
    run: &Run,
    prototypes: impl Fn(&SessionKey) -> Prototypes,
    app: impl Fn(&SessionKey) -> StepApp<'p>,
    is_present: impl Fn(&SessionKey, StateVersion) -> bool,
    (epoch, anchors): (u64, &mut AnchorTable),
    minted: &mut bool,
) -> Vec<String> {
    let mut contents = Vec::with_capacity(run.progress.done.len());
    for (outcome, step) in run.progress.done.iter().zip(&run.progress.steps) {
        if outcome.content.is_empty() {
            contents.push(String::new());
            continue;
        }
        let (session, prototypes) = (&step.session, prototypes(&step.session));
        let mut minter = Minter::new(session, RenderInput::of_links(&prototypes, epoch), anchors);
        // Things that have changed since would be shown in a state that they have left: their names
        // are enough.
        let present = outcome.state.is_some_and(|state| is_present(session, state));
        let tokens = RefTokens::of_app(app(session).token_prefix);
        contents.push(write_content(&outcome.content, tokens, present, &mut minter));
        *minted |= minter.has_changed();
    }
    contents
}

/// Says how much of a round is undone once not all of it could be, and how to go on.
fn undo_left(run: &Run) -> String {
    let stopped = run.progress.done.last().is_some_and(|last| last.status != StepStatus::Done);
    let Some(undone) = run.origin.undone_round().filter(|_| stopped && run.end.question.is_none())
    else {
        return String::new();
    };
    let number = undone.number;
    let taken: Vec<String> =
        undone.calls_taken_back(&run.progress).into_iter().map(inert::line).collect();
    match taken.as_slice() {
        [] if run.unknown => String::new(),
        [] => format!("nothing was undone; once it can be: pipemux undo {number}\n"),
        some => {
            let some = some.join("; ");
            format!("half undone, {some}; the rest: pipemux undo {number}\n")
        }
    }
}

/// True if a later step of the run offers the same link for its own change, such as its undo. The
/// answer then shows only the later one; the other steps can be undone with the whole round.
fn is_offered_later(run: &Run, index: usize, link: &LinkSlot) -> bool {
    let session = &run.progress.steps[index].session;
    let mut later = run.progress.steps.iter().zip(&run.progress.done).skip(index + 1);
    let offers = |other: &LinkSlot| {
        other.lasting && other.label == link.label && other.action == link.action
    };
    link.lasting
        && later.any(|(step, outcome)| step.session == *session && outcome.links.iter().any(offers))
}

/// The hint for a secret answer.
const SECRET: &str = "secret: from standard input it is in no argument list or shell history\n";

/// A question as readers see it.
pub struct WrittenQuestion {
    /// The question's text, with its options and the ways to answer.
    pub text: String,
    /// The question as data.
    pub report: QuestionReport,
    /// True when a link was minted for it that wasn't there before.
    pub minted: bool,
}

/// Writes an open question, whole. It says its number when it is one of `several`; commands repeat
/// `hint_options`.
pub fn write_question(
    numbered: (u64, bool),
    open: &OpenQuestion,
    input: (u64, &str),
    anchors: &mut AnchorTable,
) -> WrittenQuestion {
    write_question_within(u64::MAX, numbered, open, input, anchors)
}

/// Writes an open question whose options take no more than about so many tokens; the first is
/// always shown.
fn write_question_within(
    room: u64,
    (number, several): (u64, bool),
    open: &OpenQuestion,
    (epoch, hint_options): (u64, &str),
    anchors: &mut AnchorTable,
) -> WrittenQuestion {
    let question = &open.needs.question;
    let session = &open.step().session;
    let mut minter = Minter::new(session, RenderInput::of_links(&[], epoch), anchors);
    let (title, ways) = (open.title(), open.ways());
    let later = match open.asker {
        Asker::App(_) => {
            let progress = &open.suspended.progress;
            answer::later_steps(&progress.steps, progress.next + 1)
        }
        // Asked before anything runs: the step itself is still to come, and those around it.
        Asker::MissingArgument(_) | Asker::MissingArguments(_) | Asker::AmbiguousTarget(_) => {
            Vec::new()
        }
    };
    let body = match question.secret {
        true => SECRET.to_owned(),
        false => form::lines(open),
    };
    let command = match several {
        true => format!("pipemux answer --to {number}"),
        false => "pipemux answer".to_owned(),
    };
    let command = with_options(&command, hint_options);
    let ways_of = (&*command, ways.as_slice());
    let (text, links) =
        answer::question(&mut minter, (number, room), &title, question, (&body, &later), ways_of);
    let none = ForeignText::default();
    let details = question.options.iter().map(|option| &option.text);
    let details = details.chain(std::iter::repeat(&none));
    let report = QuestionReport {
        id: number,
        level: match open.is_form() {
            true if open.lacking().count() > 1 => Level::Wizard,
            true => Level::Hint,
            false => level(&open.suspended.progress, !question.options.is_empty()),
        },
        text: title,
        options: match question.kind {
            QuestionKind::Text | QuestionKind::Form => Vec::new(),
            // Its only link is the answer itself, not one of the things that it would affect.
            QuestionKind::Confirm => options(links, std::iter::repeat(&none)),
            QuestionKind::PickOne | QuestionKind::PickMany => options(links, details),
        },
        unlisted: question.unlisted,
        fields: form::reports(open),
        secret: question.secret,
        hints: ways.iter().map(|way| format!("{command} {way}")).collect(),
    };
    WrittenQuestion { text, report, minted: minter.has_changed() }
}

fn options<'a>(
    links: Vec<(ForeignText, u64)>,
    details: impl Iterator<Item = &'a ForeignText>,
) -> Vec<AnswerOption> {
    let option = |((label, id), detail): ((ForeignText, u64), &ForeignText)| AnswerOption {
        label: data::exact(&label),
        detail: data::exact(detail),
        link: format!("link:{id}"),
    };
    links.into_iter().zip(details).map(option).collect()
}

/// Names a step: by its action or, for a click, by the link. Naming the link reveals a number that
/// was taken from a text where it was no link.
fn step_name(step: &Step, anchors: &AnchorTable) -> String {
    let action = step.prototype.written_name();
    match clicked(step, anchors) {
        None => action.to_owned(),
        Some((label, session)) if label == action => {
            ["clicked \"", action, "\" of ", &session].concat()
        }
        Some((label, session)) => {
            format!("clicked \"{}\" ({action}) of {session}", inert::line(&label))
        }
    }
}

/// Returns the label of the link that a step was made from, and whose link it is.
pub fn clicked(step: &Step, anchors: &AnchorTable) -> Option<(String, String)> {
    if step.origin != StepOrigin::Link {
        return None;
    }
    let link: Option<Ref> = step.call.parse().ok();
    let anchor = link.and_then(|link| match link.local {
        Local::Id(id) => anchors.get(RefKind::Link, id),
        Local::Key(_) => None,
    });
    // A link that was forgotten meanwhile is named by its number.
    let label =
        anchor.map_or(step.call.as_str(), |anchor| quote::in_sentence(anchor.label.borrow()));
    let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
    let short = clip(&label, CLICKED_LABEL).into_owned();
    Some((short, step.session.addr.clone().into()))
}

/// The number of characters of a clicked link's label that an answer repeats.
const CLICKED_LABEL: usize = 40;

/// Returns how much is needed to go on: more than one open point makes a wizard.
fn level(progress: &Progress, options: bool) -> Level {
    let rest = progress.steps.iter().skip(progress.next);
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
