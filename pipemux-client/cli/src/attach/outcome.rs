//! What an answer says, in the lines that stand above the prompt.

use pipemux_client::proto::Fault;
use pipemux_client::proto::report::{QuestionReport, Report, StepReport, StepStatus};

/// Returns what an answer says, but for its question.
pub fn text(report: &Report) -> String {
    let mut lines: Vec<String> = report.steps.iter().filter_map(step).collect();
    lines.extend(report.error.as_ref().map(fault));
    // What is to be filled in, and how to give it up, is for who writes scripts: a person types the
    // line again.
    let is_whole = |hint: &&String| !hint.contains('<') && !hint.ends_with(" none");
    lines.extend(report.kept.iter().flat_map(|kept| kept.hints.iter().filter(is_whole).cloned()));
    lines.extend(report.notices.iter().cloned());
    lines.join("\n")
}

fn step(step: &StepReport) -> Option<String> {
    let error = step.error.as_ref().map(fault);
    let call = &step.call;
    match step.status {
        StepStatus::Done => {
            let brief = Some(&step.brief).filter(|brief| !brief.is_empty());
            let content = Some(step.content.trim_end()).filter(|content| !content.is_empty());
            let said = [brief.map(String::as_str), step.detail.as_deref(), content];
            let said: Vec<&str> = said.into_iter().flatten().collect();
            Some(if said.is_empty() { format!("{call}: done") } else { said.join("\n") })
        }
        StepStatus::Failed => Some(error.unwrap_or_else(|| format!("{call}: failed"))),
        StepStatus::Unknown => {
            let error = error.unwrap_or_default();
            Some(format!("{call}: nobody knows whether it took effect. {error}"))
        }
        StepStatus::Skipped => Some(format!("{call}: not begun")),
        StepStatus::Needs => None,
    }
}

/// Returns an error with what can be done about it.
pub fn fault(fault: &Fault) -> String {
    let mut text = fault.message.clone();
    for hint in &fault.hints {
        text.push_str("\n  ");
        text.push_str(hint);
    }
    text
}

/// Returns a question, its options by number, and how it is answered.
pub fn question(question: &QuestionReport) -> String {
    let mut text = format!("? {}\n", question.text.trim_end());
    for (at, option) in question.options.iter().enumerate() {
        text += &format!("  {} {}", at + 1, option.label);
        if !option.detail.is_empty() {
            text += &format!(" · {}", option.detail);
        }
        text.push('\n');
    }
    if question.unlisted > 0 {
        text += &format!("  … {} more, which can be named\n", question.unlisted);
    }
    for field in &question.fields {
        let given = match &field.given {
            Some(given) => format!(" · given: {given}"),
            None if field.required => " · needed".to_owned(),
            None => String::new(),
        };
        let doc = if field.doc.is_empty() { String::new() } else { format!(" · {}", field.doc) };
        text += &format!("  {}: {}{doc}{given}\n", field.name, field.ty);
    }
    let how = match question {
        QuestionReport { secret: true, .. } => "what you type isn't shown",
        QuestionReport { fields, .. } if !fields.is_empty() => {
            "name=\"value\" gives one, several are parted by spaces"
        }
        QuestionReport { options, .. } if !options.is_empty() => "a number chooses",
        _ => "a line answers it",
    };
    text + how + " · cancel leaves it"
}
