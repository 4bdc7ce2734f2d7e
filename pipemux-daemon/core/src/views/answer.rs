//! The text of answers: errors, outcomes of steps, questions.

use std::borrow::Cow;

use pipemux_proto::app::QuestionKind;
use pipemux_proto::command::with_options;
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Code, Fault, Value};
use pipemux_tokens::estimate;

use crate::foreign::{ForeignStr, ForeignText, Question, quote};
use crate::runs::{Run, Step, StepOutcome};
use crate::views::inert::{self, Writer};
use crate::views::minter::Minter;
use crate::views::truncate::cut_lines;

/// Writes the refusal of an answer. It names the step that asked if that is one of a foreign app,
/// whose sentence it may be.
pub fn refused_answer(fault: &Fault, foreign: Option<&Step>) -> String {
    match foreign {
        Some(step) => {
            let message = format!("{}: {}", full_name(step), fault.message);
            refusal(&Fault { message, ..fault.clone() })
        }
        None => refusal(fault),
    }
}

/// Writes an error that came before anything was carried out.
pub fn refusal(fault: &Fault) -> String {
    let head = match fault.code {
        // The name stands before the message.
        code if code.context_error().is_some() => return named_error(fault),
        Code::Usage => "refused, nothing ran",
        Code::NotFound => "not found",
        Code::Unavailable => "unavailable",
        Code::Refused => "refused",
        Code::Unknown => "unknown",
        Code::Version => "version",
        _ => "failed",
    };
    format!("{head} · {}\n{}", message(fault), hint_lines(&fault.hints))
}

/// Returns an error whose commands repeat the caller's options.
pub fn fault_with_options(mut fault: Fault, options: &str) -> Fault {
    for hint in &mut fault.hints {
        if let Cow::Owned(complete) = with_options(hint, options) {
            *hint = complete;
        }
    }
    fault
}

/// Writes an error of a Context: its name, its message, and the ways out.
fn named_error(fault: &Fault) -> String {
    format!("{}\n{}", plain(&fault.named_message()), hint_lines(&fault.hints))
}

/// Writes the ways out of an error.
fn hint_lines(hints: &[String]) -> String {
    let mut out = String::new();
    for (index, hint) in hints.iter().enumerate() {
        // The lines of a log follow a heading of their own.
        let quoted = hints.first().is_some_and(|first| first.ends_with(':'));
        out += if quoted { if index == 0 { "" } else { "  " } } else { "next: " };
        out += &plain(hint);
        out.push('\n');
    }
    out
}

/// Makes text of an app or a log inert as whole lines of an answer.
pub fn plain<'t>(text: impl Into<ForeignStr<'t>>) -> String {
    inert::lines(text)
}

/// The name of a step in its line.
pub struct StepName {
    /// The step's action or, for a click, the link.
    pub written: String,
    /// True for a step of an app that doesn't come with PipeMux.
    pub foreign: bool,
}

/// Writes one line for each step that ended. The result of a nested call shows in its outer step.
/// When that didn't run, the nested call has a line of its own if it failed or changed something,
/// with the number of the outer step. `names` are the names of the steps, `contents` what those
/// that ended show besides.
pub fn steps(
    run: &Run,
    names: &[StepName],
    contents: &[String],
    hint_options: &str,
    mut links: impl FnMut(&StepOutcome, usize) -> Vec<String>,
) -> Vec<String> {
    let mut all = Vec::new();
    let earlier = run.origin.source().map_or(0, |source| source.earlier);
    let visible = earlier + run.progress.steps.iter().filter(|step| !step.nested).count();
    let mut number = 1 + earlier;
    for (index, step) in run.progress.steps.iter().enumerate() {
        let outer = run.progress.outer_step(index);
        let position = number;
        number += usize::from(!step.nested);
        let is_done = |index: usize| {
            run.progress.done.get(index).is_some_and(|outcome| outcome.status == StepStatus::Done)
        };
        if run.progress.done.get(index).is_some_and(|outcome| outcome.told) {
            continue;
        }
        if step.nested && is_done(index) && (step.only_reads() || is_done(outer)) {
            continue;
        }
        let (Some(outcome), Some(own)) = (run.progress.done.get(index), names.get(index)) else {
            continue;
        };
        let StepName { written, foreign } = own;
        let name = &*match run.progress.steps.get(outer).filter(|_| step.nested) {
            Some(outer) => Cow::from(format!("{written} in {}", full_name(outer))),
            None => Cow::from(written),
        };
        let count = if visible > 1 { format!("{position} ") } else { String::new() };
        let mut out = String::new();
        match outcome.status {
            StepStatus::Done => {
                let links = links(outcome, index);
                let links: String = links.iter().flat_map(|link| [" · ", link]).collect();
                let word = if outcome.is_started() { "started" } else { "done" };
                let head = match step.is_query() {
                    true => {
                        let position = (visible > 1).then_some(position);
                        query_head(name, *foreign, &outcome.brief, position)
                    }
                    false => {
                        let brief = plain(&outcome.brief);
                        let colon = if outcome.brief.is_empty() { "" } else { ": " };
                        [&*position.to_string(), " ", word, " · ", name, colon, &brief].concat()
                    }
                };
                if !head.is_empty() || !links.is_empty() {
                    out.extend([&*head, &*links, "\n"]);
                }
                out.push_str(&with_options(&job_line(outcome), hint_options));
                let content = contents.get(index).map_or("", String::as_str);
                out += content;
                if let Some(detail) = &outcome.detail {
                    let detail = if *foreign { quote::quoted(detail) } else { plain(detail) };
                    out += &format!("{}\n", cut_lines(detail.trim_end(), run.budget.into()));
                } else if content.is_empty() && !run.progress.passes_on(index) {
                    out += &result_value(outcome, run.budget);
                }
            }
            StepStatus::Failed => {
                out += &format!("{count}failed · {}\n", failure(name, outcome));
                out += contents.get(index).map_or("", String::as_str);
            }
            StepStatus::Unknown => out += &format!("{count}unknown · {}\n", failure(name, outcome)),
            StepStatus::Skipped => out += &format!("{count}{name}: {}\n", plain(&outcome.brief)),
            StepStatus::Needs => {}
        }
        if let Some(fault) = &outcome.fault {
            out.push_str(&with_options(&hint_lines(&fault.hints), hint_options));
        }
        all.push(out);
    }
    all.push(not_run(run));
    all
}

/// Says how to get the output of the job that a step began, and its end while it runs.
fn job_line(outcome: &StepOutcome) -> String {
    match &outcome.job {
        Some(job) if outcome.is_started() => {
            format!("end and output: pipemux read job:{} --wait 60\n", job.name)
        }
        Some(job) if job.has_more_output => format!("output: pipemux read job:{}\n", job.name),
        _ => String::new(),
    }
}

/// Writes a result that no other step takes, so that it need not be asked for again: text in a
/// fence.
fn result_value(outcome: &StepOutcome, budget: u32) -> String {
    let decoded = outcome.value.as_ref().and_then(|value| value.to_value().ok());
    match decoded {
        None | Some(Value::Null) => String::new(),
        Some(Value::Str(text)) if text.is_empty() => String::new(),
        Some(Value::Str(text)) => {
            let shown = cut_lines(&text, budget.into());
            let mut writer = Writer::default();
            let fence = writer.fence("", &shown);
            for line in shown.lines() {
                writer.raw(&inert::printable(line));
                writer.raw("\n");
            }
            writer.raw(&fence);
            writer.raw("\n");
            writer.finish()
        }
        Some(value) => format!("= {}\n", plain(&cut_lines(&value.to_string(), budget.into()))),
    }
}

/// Writes the line over a query's result: its brief, in a run of several steps after its number and
/// name. What a `foreign` app says is never a line by itself.
fn query_head(name: &str, foreign: bool, brief: &ForeignText, position: Option<usize>) -> String {
    let brief = plain(brief);
    match position {
        None if foreign && !brief.is_empty() => format!("{name}: {brief}"),
        None => brief,
        Some(position) if brief.is_empty() => format!("{position} {name}"),
        Some(position) => format!("{position} {name}: {brief}"),
    }
}

fn failure(name: &str, outcome: &StepOutcome) -> String {
    match &outcome.fault {
        // The exact sentence comes first; it names the ref itself.
        Some(fault) if matches!(fault.code, Code::Stale | Code::OutOfView) => message(fault),
        Some(fault) if fault.code.context_error().is_some() => {
            format!("{name}: {}", plain(&fault.named_message()))
        }
        Some(fault) => format!("{name}: {}", message(fault)),
        None => format!("{name}: {}", plain(&outcome.brief)),
    }
}

/// Writes the message of a fault. The ref that it names stays as the reader wrote it, even a ref
/// token.
fn message(fault: &Fault) -> String {
    let written_ref = fault.written_ref.as_deref();
    let parts = written_ref.and_then(|written| Some((fault.message.split_once(written)?, written)));
    match parts {
        Some(((before, after), written)) => inert::sentence_with_ref(before, written, after),
        None => plain(&fault.message),
    }
}

/// Names the steps that were not begun; those that wait for an answer are named with the question.
fn not_run(run: &Run) -> String {
    // What is kept is told whole.
    if run.end.question.is_some() || run.end.kept_steps.is_some() {
        return String::new();
    }
    let names = later_steps(&run.progress.steps, run.progress.done.len());
    if names.is_empty() { String::new() } else { format!("not run: {}\n", names.join(", ")) }
}

/// Returns the names of the steps from one on.
pub fn later_steps(steps: &[Step], from: usize) -> Vec<String> {
    let rest = steps.iter().skip(from).filter(|step| !step.nested);
    rest.map(full_name).collect()
}

fn full_name(step: &Step) -> String {
    format!("{}.{}", step.session.addr.provider, step.prototype.written_name())
}

/// Writes a question with its options, which take about `room` tokens, and the ways to answer,
/// which begin with `command`. `body` follows its title. Returns also the label and id of each
/// link.
pub fn question(
    minter: &mut Minter<'_>,
    (number, room): (u64, u64),
    title: &str,
    question: &Question,
    (body, later): (&str, &[String]),
    (command, ways): (&str, &[String]),
) -> (String, Vec<(ForeignText, u64)>) {
    let then =
        if later.is_empty() { String::new() } else { format!("; then {}", later.join(", ")) };
    let mut out = format!("needs an answer · {}{then}\n{body}", plain(title));
    let mut links = Vec::new();
    let picks = matches!(question.kind, QuestionKind::PickOne | QuestionKind::PickMany);
    let bare = question.options.iter().all(|option| option.text.is_empty());
    if !picks && bare && !question.options.is_empty() {
        let labels = question.options.iter().map(|option| &option.label);
        out += &quote::quoted_labels(labels);
    }
    let mut hidden = 0;
    for (index, option) in question.options.iter().enumerate() {
        let before = out.len();
        let text = inert::line(&option.text);
        if picks {
            let answer = (index + 1).to_string();
            let (id, link) = minter.answer_link(number, &answer, option.label.borrow());
            links.push((option.label.clone(), id));
            let colon = if text.is_empty() { "" } else { ": " };
            out += &format!("{answer}. {link}{colon}{text}\n");
        } else if !bare {
            out += &format!("- {}\n", inert::labelled_line(&option.label, &option.text));
        }
        // It can be chosen all the same, by its number; all of them are shown by `answer` alone.
        if hidden > 0 || (index > 0 && estimate(&out) > room) {
            out.truncate(before);
            hidden += 1;
        }
    }
    if hidden > 0 {
        out += &format!("… {hidden} more options: {command}\n");
    }
    if question.unlisted > 0 {
        out += &format!("… {} more\n", question.unlisted);
    }
    let whole = match question.kind {
        QuestionKind::PickMany => Some("all"),
        QuestionKind::Confirm => Some("yes"),
        QuestionKind::PickOne | QuestionKind::Text | QuestionKind::Form => None,
    };
    let mut typed = Vec::new();
    for way in ways {
        typed.push(match whole {
            Some(whole) if way == whole => {
                let (id, link) = minter.answer_link(number, whole, whole.into());
                links.push((whole.into(), id));
                link
            }
            _ => way.clone(),
        });
    }
    out += &format!("{command} {}\n", typed.join(" · "));
    (out, links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ref_token_stays_as_written_only_where_the_daemon_names_it() {
        let message_text = "Anchor [[MT:Node:7]] is stale. Please refresh to get current IDs.";
        let named = Fault::stale(message_text).naming("[[MT:Node:7]]");
        assert_eq!(message(&named), message_text);
        // The same text by an app.
        let by_app = Fault::stale(message_text);
        assert_eq!(message(&by_app), message_text.replace("[[", "[\\["));
    }
}
