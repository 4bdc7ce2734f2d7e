//! Enforces the bounds of the results of actions: outcomes, questions and errors.

use pipemux_proto::app::QuestionKind;
use pipemux_proto::consent::ConsentRequest;
use pipemux_proto::limits::{
    CHANGED_FILES_MAX, CHOICES_MAX, CONSENT_KEY_MAX, CONSENT_LINE_CHARS, CONSENT_LINES_MAX,
    COPY_MAX, KEY_MAX,
};
use pipemux_proto::prototype::check_fields;
use pipemux_proto::{Fault, LineNumbers};

use crate::foreign::bounds::{append, cut_list, line, lines, own_line, own_lines};
use crate::foreign::{Done, Needs, Outcome, Piece, Question, Speaker, Started};
use crate::intake::checks::bound_key;
use crate::intake::decode::SaidByApp;
use crate::intake::greeting::bound_fields;
use crate::intake::window::{bound_link, bound_object};
use crate::limits::{
    BRIEF_CHARS, CHANGED_PATH_MAX, DETAIL_CHARS, ENDED_JOBS_MAX, FAULT_CHARS, HINT_CHARS,
    HINTS_MAX, LABEL_CHARS, OPTION_CHARS, OUTCOME_LINKS_MAX, PROGRESS_CHARS, QUESTION_CHARS,
    SLOTS_MAX, TOKEN_MAX,
};

impl SaidByApp for Outcome {
    fn bound(&mut self, by: Speaker<'_>) -> Result<(), String> {
        match self {
            Outcome::Done(done) => bound_done(done),
            Outcome::Started(started) => {
                if let Some(done) = bound_started(started) {
                    *self = Outcome::Done(done);
                }
            }
            Outcome::Failed(fault) => {
                bound_fault(fault);
                by.mark_fault(fault, false);
            }
            Outcome::Needs(needs) => {
                let length = needs.token.0.len();
                // Nothing took effect yet: to refuse it is true.
                if length > TOKEN_MAX {
                    let why = format!("its question carries {length} bytes (limit {TOKEN_MAX})");
                    *self = Outcome::Failed(Fault::refused(why));
                    return Ok(());
                }
                if let Err(why) = bound_needs(needs) {
                    *self = Outcome::Failed(Fault::refused(why));
                }
            }
        }
        Ok(())
    }
}

/// Enforces the bounds of a successful outcome. Because the action took effect, the outcome isn't
/// refused: parts that can't be cut are left out, which the outcome then says.
fn bound_done(done: &mut Done) {
    let mut left_out = Vec::new();
    line(&mut done.brief, BRIEF_CHARS);
    if let Some(detail) = &mut done.detail {
        lines(detail, DETAIL_CHARS);
    }
    if let Some(value) = done.value.take_if(|value| value.0.len() > COPY_MAX) {
        left_out.push(format!("its value of {} bytes was left out", value.0.len()));
    }
    if let Some(label) = &mut done.label {
        line(label, LABEL_CHARS);
    }
    let links = cut_list(&mut done.links, OUTCOME_LINKS_MAX);
    if links > 0 {
        left_out.push(format!("{links} links were left out"));
    }
    done.links.iter_mut().for_each(bound_link);
    done.ended_jobs.truncate(ENDED_JOBS_MAX);
    done.changed_files.truncate(CHANGED_FILES_MAX);
    done.changed_files.retain(|path| path.starts_with('/') && path.len() <= CHANGED_PATH_MAX);
    if let Some(why) = &mut done.no_undo {
        line(why, BRIEF_CHARS);
    }
    let pieces = cut_list(&mut done.content, SLOTS_MAX);
    if pieces > 0 {
        left_out.push(format!("{pieces} pieces were left out"));
    }
    done.content.iter_mut().for_each(bound_piece);
    bound_numbers(&mut done.numbers);
    if !left_out.is_empty() {
        let space = if done.brief.is_empty() { "" } else { " " };
        append(&mut done.brief, &format!("{space}({})", left_out.join(", ")));
    }
}

/// Enforces the bounds of a started job. The job isn't refused, because it started: if its key
/// can't be kept, it counts as done, and the outcome says so.
fn bound_started(started: &mut Started) -> Option<Done> {
    line(&mut started.brief, PROGRESS_CHARS);
    cut_list(&mut started.links, OUTCOME_LINKS_MAX);
    started.links.iter_mut().for_each(bound_link);
    started.ended_jobs.truncate(ENDED_JOBS_MAX);
    if let Some(why) = &mut started.no_undo {
        line(why, BRIEF_CHARS);
    }
    let length = started.job.len();
    if (1..=KEY_MAX).contains(&length) {
        return None;
    }
    let Started { brief, version, links, ended_jobs, no_undo, .. } = std::mem::take(started);
    let mut brief = brief;
    append(&mut brief, &format!(" (a job whose key has {length} bytes isn't followed)"));
    Some(Done { brief, version, links, ended_jobs, no_undo, ..Done::default() })
}

fn bound_piece(piece: &mut Piece) {
    match piece {
        Piece::Text(_) | Piece::Embed(_) => {}
        Piece::Object(object) => bound_object(object),
        Piece::Link(link) => bound_link(link),
        Piece::Code(code) => line(&mut code.lang, LABEL_CHARS),
    }
}

fn bound_needs(needs: &mut Needs) -> Result<(), String> {
    let Question { text, kind, options, unlisted, fields, secret } = &mut needs.question;
    let form = *kind == QuestionKind::Form;
    if form == fields.is_empty() {
        return Err("its question is a form without fields, or has fields and is none".into());
    }
    check_fields(fields).map_err(|error| format!("its form can't be: {error}"))?;
    bound_fields(fields, 0).map_err(|why| format!("its form can't be: {why}"))?;
    // Of a form, single fields are secret; what is picked stands in the question.
    *secret &= *kind == QuestionKind::Text;
    line(text, QUESTION_CHARS);
    *unlisted = unlisted.saturating_add(cut_list(options, CHOICES_MAX) as u64);
    for option in options {
        line(&mut option.label, LABEL_CHARS);
        line(&mut option.text, OPTION_CHARS);
    }
    bound_numbers(&mut needs.numbers);
    Ok(())
}

/// Cuts only the heading of a consent request: a person can't decide about something that isn't
/// shown in full.
fn bound_consent(consent: &mut ConsentRequest) -> Result<(), String> {
    let ConsentRequest { key, what, shows, .. } = consent;
    let length = key.len();
    if !(1..=CONSENT_KEY_MAX).contains(&length) {
        return Err(format!(
            "it asks a person to allow something under a key of {length} bytes (limit {CONSENT_KEY_MAX})"
        ));
    }
    let long = |line: &String| line.chars().nth(CONSENT_LINE_CHARS).is_some();
    if shows.len() > CONSENT_LINES_MAX || shows.iter().any(long) {
        return Err(format!(
            "it asks a person to allow more than {CONSENT_LINES_MAX} lines of {CONSENT_LINE_CHARS} characters"
        ));
    }
    own_line(what, OPTION_CHARS);
    shows.iter_mut().for_each(|line| own_line(line, CONSENT_LINE_CHARS));
    Ok(())
}

pub(super) fn bound_fault(fault: &mut Fault) {
    if let Some(Err(why)) = fault.consent.as_deref_mut().map(bound_consent) {
        *fault = Fault::refused(why);
    }
    own_lines(&mut fault.message, FAULT_CHARS);
    // A command that is cut doesn't work: a long hint is left out.
    let all = fault.hints.len();
    fault.hints.retain(|hint| hint.len() <= HINT_CHARS);
    cut_list(&mut fault.hints, HINTS_MAX);
    let more = all - fault.hints.len();
    fault.hints.iter_mut().for_each(|hint| own_line(hint, HINT_CHARS));
    if more > 0 {
        fault.hints.push(format!("… {more} more hints were left out"));
    }
    bound_key(&mut fault.key);
    bound_key(&mut fault.field);
    let mut numbers = std::mem::take(&mut fault.numbers).into_vec();
    bound_numbers(&mut numbers);
    fault.numbers = numbers.into();
}

/// Drops numbers of documents that no key can name. How many there may be is checked where they are
/// used: too many retire what the reader was shown.
fn bound_numbers(numbers: &mut Vec<LineNumbers>) {
    numbers.retain(|numbers| numbers.document.len() <= KEY_MAX);
}
