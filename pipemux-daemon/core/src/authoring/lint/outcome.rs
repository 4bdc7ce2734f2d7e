//! The flaws of what became of an action.

use std::collections::BTreeMap;

use pipemux_proto::Fault;
use pipemux_proto::app::{Done, Needs, Outcome, Question, QuestionKind};
use pipemux_proto::job::Started;
use pipemux_proto::limits::{CHANGED_FILES_MAX, CHOICES_MAX, COPY_MAX};
use pipemux_proto::prototype::{self, Prototype};

use super::greeting::check_fields;
use super::lints::{Lint, Lints};
use super::types::fits;
use super::window::{check_link, pieces};
use crate::intake::bound_fields;
use crate::limits::{
    BRIEF_CHARS, DETAIL_CHARS, ENDED_JOBS_MAX, FAULT_CHARS, HINT_CHARS, HINTS_MAX, LABEL_CHARS,
    OPTION_CHARS, OUTCOME_LINKS_MAX, PROGRESS_CHARS, QUESTION_CHARS, TOKEN_MAX,
};

/// Returns the flaws of an outcome. `action` is what was carried out, if that is known.
pub fn outcome(outcome: &Outcome, action: Option<&Prototype>, actions: &[Prototype]) -> Vec<Lint> {
    let mut lints = Lints::default();
    match outcome {
        Outcome::Done(done) => check_done(&mut lints, done, action, actions),
        Outcome::Started(started) => check_started(&mut lints, started, actions),
        Outcome::Needs(needs) => check_needs(&mut lints, needs),
        Outcome::Failed(fault) => check_fault(&mut lints, "failed.", fault),
    }
    lints.0
}

/// Returns the flaws of an error.
pub fn fault(fault: &Fault) -> Vec<Lint> {
    let mut lints = Lints::default();
    check_fault(&mut lints, "", fault);
    lints.0
}

fn check_done(lints: &mut Lints, done: &Done, action: Option<&Prototype>, actions: &[Prototype]) {
    lints.line("done.brief", &done.brief, BRIEF_CHARS);
    lints.text("done.detail", done.detail.as_deref().unwrap_or_default(), DETAIL_CHARS);
    lints.line("done.label", done.label.as_deref().unwrap_or_default(), LABEL_CHARS);
    lints.count("done.links", done.links.len(), OUTCOME_LINKS_MAX);
    lints.count("done.ended_jobs", done.ended_jobs.len(), ENDED_JOBS_MAX);
    lints.count("done.changed_files", done.changed_files.len(), CHANGED_FILES_MAX);
    for (at, link) in done.links.iter().enumerate() {
        check_link(lints, &format!("done.links[{at}]"), link, actions);
    }
    pieces(lints, "done.content", &done.content, actions, &mut BTreeMap::new());
    let value = done.value.as_ref();
    if let Some(value) = value.filter(|value| value.0.len() > COPY_MAX) {
        let text = format!("has {} bytes (limit {COPY_MAX}): it is left out", value.0.len());
        return lints.add("too-long", "done.value", text);
    }
    let Some(action) = action else { return };
    match (&action.returns, value.map(|value| value.to_value())) {
        (_, Some(Err(error))) => {
            lints.add("value", "done.value", format!("is no encoded value: {error}"));
        }
        (Some(ty), Some(Ok(value))) if !fits(&value, ty) => {
            let text = format!("is {}; the prototype returns {ty}", value.kind());
            lints.add("value", "done.value", text);
        }
        // An outcome that no other call takes needs no value.
        _ => {}
    }
}

fn check_started(lints: &mut Lints, started: &Started, actions: &[Prototype]) {
    lints.job_key("started.job", &started.job);
    if started.brief.trim().is_empty() {
        lints.add("brief", "started.brief", "is empty: say what the job does in a few words");
    }
    lints.line("started.brief", &started.brief, PROGRESS_CHARS);
    lints.count("started.links", started.links.len(), OUTCOME_LINKS_MAX);
    lints.count("started.ended_jobs", started.ended_jobs.len(), ENDED_JOBS_MAX);
    for (at, link) in started.links.iter().enumerate() {
        check_link(lints, &format!("started.links[{at}]"), link, actions);
    }
}

fn check_needs(lints: &mut Lints, needs: &Needs) {
    let question = &needs.question;
    if question.text.trim().is_empty() {
        lints.add("question", "needs.question.text", "is empty");
    }
    lints.line("needs.question.text", &question.text, QUESTION_CHARS);
    let picks = matches!(question.kind, QuestionKind::PickOne | QuestionKind::PickMany);
    if picks && question.options.is_empty() {
        lints.add("question", "needs.question.options", "is empty: nothing can be picked");
    }
    check_form(lints, question);
    lints.count("needs.question.options", question.options.len(), CHOICES_MAX);
    for (at, option) in question.options.iter().enumerate() {
        let path = format!("needs.question.options[{at}]");
        lints.line(&format!("{path}.label"), &option.label, LABEL_CHARS);
        lints.line(&format!("{path}.text"), &option.text, OPTION_CHARS);
    }
    let token = needs.token.0.len();
    if token > TOKEN_MAX {
        let text = format!("has {token} bytes (limit {TOKEN_MAX}): the action fails");
        lints.add("too-long", "needs.token", text);
    }
}

/// Checks the fields of a form. A form that can't be is refused with its action.
fn check_form(lints: &mut Lints, question: &Question) {
    let path = "needs.question.fields";
    let form = question.kind == QuestionKind::Form;
    if form && question.fields.is_empty() {
        lints.add("form", path, "is empty: a form without fields is refused");
    } else if !form && !question.fields.is_empty() {
        lints.add(
            "form",
            path,
            "belongs to the kind `form`: another question with fields is refused",
        );
    }
    if question.secret && question.kind != QuestionKind::Text {
        let text = "counts for the kind `text` only; of a form, single fields are secret";
        lints.add("secret", "needs.question.secret", text);
    }
    if let Err(error) = prototype::check_fields(&question.fields) {
        lints.add("form", path, format!("{error}: it is refused"));
    } else if let Err(why) = bound_fields(&mut question.fields.clone(), 0) {
        lints.add("form", path, format!("{why}: it is refused"));
    }
    check_fields(lints, path, &question.fields);
}

fn check_fault(lints: &mut Lints, path: &str, fault: &Fault) {
    let message = format!("{path}message");
    if fault.message.trim().is_empty() {
        lints.add("message", &message, "is empty: say what happened in one sentence");
    }
    lints.text(&message, &fault.message, FAULT_CHARS);
    lints.count(&format!("{path}hints"), fault.hints.len(), HINTS_MAX);
    for (at, hint) in fault.hints.iter().enumerate() {
        if hint.len() > HINT_CHARS {
            let text = format!("has {} bytes and is left out (limit {HINT_CHARS})", hint.len());
            lints.add("too-long", format!("{path}hints[{at}]"), text);
        }
    }
}
