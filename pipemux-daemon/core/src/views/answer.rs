//! The text of answers: refusals, outcomes of steps, questions.

use pipemux_proto::app::{Question, QuestionKind};
use pipemux_proto::report::Status;
use pipemux_proto::{Code, Fault, Value};

use crate::limits::{DETAIL_CHARS, DETAIL_LINES};
use crate::runs::{Run, StepOutcome};
use crate::views::window_renderer::WindowRenderer;

/// An error before anything was carried out.
pub fn refusal(fault: &Fault) -> String {
    let head = match fault.code {
        Code::Usage => "refused, nothing ran",
        Code::NotFound => "not found",
        Code::Unavailable => "unavailable",
        Code::Refused => "refused",
        Code::Unknown => "unknown",
        Code::Version => "version",
        Code::Failed | Code::Stale | Code::OutOfView | Code::Other => "failed",
    };
    format!("{head} · {}\n{}", message(fault), next(&fault.hints))
}

/// The ways out of an error.
fn next(hints: &[String]) -> String {
    let mut out = String::new();
    for (index, hint) in hints.iter().enumerate() {
        // A log's lines follow their own heading.
        let quoted = hints.first().is_some_and(|first| first.ends_with(':'));
        out += if quoted { if index == 0 { "" } else { "  " } } else { "next: " };
        out += &plain(hint);
        out.push('\n');
    }
    out
}

/// Text of an app or a log within an answer: whole lines, inert.
pub fn plain(text: &str) -> String {
    crate::views::inert::lines(text)
}

/// One line an ended step; what a nested call gave shows in its outer step.
pub fn steps(run: &Run, mut links: impl FnMut(&StepOutcome, usize) -> Vec<String>) -> String {
    let mut out = String::new();
    let visible = run.steps.iter().filter(|step| !step.nested).count();
    let mut number = 0;
    for (index, step) in run.steps.iter().enumerate() {
        let ended = run.done.get(index);
        let nested_ok = step.nested && ended.is_none_or(|ended| ended.status == Status::Done);
        if nested_ok {
            continue;
        }
        number += usize::from(!step.nested);
        let name = &step.prototype.name;
        let Some(ended) = ended else { continue };
        let count = if visible > 1 { format!("{number} ") } else { String::new() };
        match ended.status {
            Status::Done => {
                let brief = if ended.brief.is_empty() {
                    String::new()
                } else {
                    format!(": {}", plain(&ended.brief))
                };
                let links: String =
                    links(ended, index).iter().map(|link| format!(" · {link}")).collect();
                out += &format!("{number} done · {name}{brief}{links}\n");
                if let Some(detail) = &ended.detail {
                    out += &format!("{}\n", plain(&clipped(detail)));
                } else if !run.passes_on(index) {
                    out += &value(ended);
                }
            }
            Status::Failed => out += &format!("{count}failed · {}\n", failure(name, ended)),
            Status::Unknown => out += &format!("{count}unknown · {}\n", failure(name, ended)),
            Status::Skipped => out += &format!("{count}{name}: {}\n", plain(&ended.brief)),
            Status::Needs => {}
        }
        if let Some(fault) = &ended.fault {
            out += &next(&fault.hints);
        }
    }
    out + &left(run)
}

/// A result that nothing else takes, so that it need not be asked for again: text in a fence.
fn value(ended: &StepOutcome) -> String {
    let decoded = ended.value.as_ref().and_then(|value| value.to_value().ok());
    match decoded {
        None | Some(Value::Null) => String::new(),
        Some(Value::Str(text)) if text.is_empty() => String::new(),
        Some(Value::Str(text)) => {
            let shown = clipped(&text);
            let mut writer = crate::views::inert::Writer::default();
            let fence = writer.fence("", &shown);
            for line in shown.lines() {
                writer.raw(&crate::views::inert::printable(line));
                writer.raw("\n");
            }
            writer.raw(&fence);
            writer.raw("\n");
            writer.finish()
        }
        Some(value) => format!("= {}\n", plain(&clipped(&value.to_string()))),
    }
}

/// At most [`DETAIL_LINES`] lines and [`DETAIL_CHARS`] characters; says what was cut.
fn clipped(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref().take(DETAIL_LINES) {
        if kept.chars().count() + line.chars().count() > DETAIL_CHARS {
            let room = DETAIL_CHARS.saturating_sub(kept.chars().count());
            kept.extend(line.chars().take(room));
            kept += "…\n";
            break;
        }
        kept += line;
        kept.push('\n');
    }
    match lines.count() {
        0 => kept,
        more => kept + &format!("… {more} more lines; all of it: the same call with --json\n"),
    }
}

fn failure(name: &str, ended: &StepOutcome) -> String {
    match &ended.fault {
        // The exact sentence comes first; it names the ref itself.
        Some(fault) if matches!(fault.code, Code::Stale | Code::OutOfView) => message(fault),
        Some(fault) => format!("{name}: {}", message(fault)),
        None => format!("{name}: {}", plain(&ended.brief)),
    }
}

/// What a fault says. A soft landing names the ref as the reader wrote it, a token too.
fn message(fault: &Fault) -> String {
    if fault.message.starts_with("Anchor [[") {
        crate::views::inert::sentence(&fault.message)
    } else {
        plain(&fault.message)
    }
}

/// What was not begun: steps that wait for an answer are named with the question instead.
fn left(run: &Run) -> String {
    if run.question.is_some() {
        return String::new();
    }
    let names = later(run, run.done.len());
    if names.is_empty() { String::new() } else { format!("not run: {}\n", names.join(", ")) }
}

/// Names of steps from one on.
pub fn later(run: &Run, from: usize) -> Vec<String> {
    let rest = run.steps.iter().skip(from).filter(|step| !step.nested);
    rest.map(|step| format!("{}.{}", step.session.addr.provider, step.prototype.name)).collect()
}

/// A question with its options and the ways to answer.
pub fn question(
    renderer: &mut WindowRenderer<'_>,
    number: u64,
    title: &str,
    question: &Question,
    later: &[String],
    ways: &[String],
) -> (String, Vec<(String, u64)>) {
    let then =
        if later.is_empty() { String::new() } else { format!("; then {}", later.join(", ")) };
    let mut out = format!("needs an answer · {}{then}\n", plain(title));
    let mut links = Vec::new();
    let picks = matches!(question.kind, QuestionKind::PickOne | QuestionKind::PickMany);
    let bare = question.options.iter().all(|option| option.text.is_empty());
    if !picks && bare && !question.options.is_empty() {
        let labels: Vec<&str> =
            question.options.iter().map(|option| option.label.as_str()).collect();
        out += &format!("{}\n", crate::views::inert::whole_line(&labels.join(" · ")));
    }
    for (index, option) in question.options.iter().enumerate() {
        let text = inert_line(&option.text);
        if picks {
            let answer = (index + 1).to_string();
            let (id, link) = renderer.answer_link(number, &answer, &option.label);
            links.push((option.label.clone(), id));
            let colon = if text.is_empty() { "" } else { ": " };
            out += &format!("{answer}. {link}{colon}{text}\n");
        } else if !bare {
            let bare = option.text.is_empty() || option.label.is_empty();
            let colon = if bare { "" } else { ": " };
            // As one: the label may end with what the colon makes a reference of.
            out += &format!("- {}\n", inert_line(&[&option.label, colon, &option.text].concat()));
        }
    }
    if question.unlisted > 0 {
        out += &format!("… {} more\n", question.unlisted);
    }
    let whole = match question.kind {
        QuestionKind::PickMany => Some("all"),
        QuestionKind::Confirm => Some("yes"),
        QuestionKind::PickOne | QuestionKind::Text => None,
    };
    let mut typed = Vec::new();
    for way in ways {
        typed.push(match whole {
            Some(whole) if way == whole => {
                let (id, link) = renderer.answer_link(number, whole, whole);
                links.push((whole.to_owned(), id));
                link
            }
            _ => way.clone(),
        });
    }
    out += &format!("pipemux answer {}\n", typed.join(" · "));
    (out, links)
}

fn inert_line(text: &str) -> String {
    crate::views::inert::line(text)
}
