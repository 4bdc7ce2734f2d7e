//! Replacing a text that occurs exactly once in a file, or asking which of its occurrences is
//! meant.

use std::ops::Range;
use std::path::{Path, PathBuf};

use docui::{Ask, Context, Done, Fault, Text};

use crate::display::lines::match_row;
use crate::display::wording::{count, line_range};
use crate::limits::{MATCHES_ASKED, PLACES_LISTED};
use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::open_files::OpenFiles;
use crate::model::seen_numbers::seen_file_index;
use crate::model::splice::Splice;
use crate::model::workspace_edit::WorkspaceEdit;
use crate::update::create::create;
use crate::update::edit::{edit, report_lines};

use super::edit::{Committed, Plan, Work};
use super::question::{QuestionToken, chosen_matches};
use super::text_search::{closest_match, matches, settled, with_endings_of};

/// Replaces a text in a file as [`replace_text`] does. Without an old text, the new one makes a new
/// file.
pub(crate) fn replace_or_create(
    open_files: &OpenFiles,
    edits: &mut Edits,
    path: &str,
    (old, new): (&str, &Text),
    all: bool,
    context: &Context,
) -> Result<Work, Fault> {
    match old.is_empty() {
        true => Ok(create(open_files, edits, path, new, false, context)?.into()),
        false => replace_text(open_files, edits, Some(path), (old, new), all, context),
    }
}

/// Replaces the one occurrence of a text in a file; several are asked about.
pub(crate) fn replace_text(
    open_files: &OpenFiles,
    edits: &mut Edits,
    path: Option<&str>,
    (old, new): (&str, &Text),
    all: bool,
    context: &Context,
) -> Result<Work, Fault> {
    if old.is_empty() {
        return Err(Fault::usage("the text to replace is empty")
            .hint("insert(path, insert_line, insert_text) adds lines"));
    }
    if old == new.text {
        return Err(Fault::usage("the old and the new text are the same"));
    }
    let target = match path {
        Some(path) => open_files.paths.caller_path(path, context),
        None => open_files[seen_file_index(open_files, context)?].path().to_owned(),
    };
    let answered = match QuestionToken::answered(context)? {
        None => None,
        Some((QuestionToken::Occurrences { path, text, at }, choice)) => {
            let chosen = chosen_matches(choice, at.len())?;
            Some(AnsweredOccurrences { path, digest: text, chosen })
        }
        Some(_) => {
            return Err(
                Fault::stale("the answer is to another question").hint("run the call again")
            );
        }
    };
    let waits_for = format!("the disk of {}", open_files.paths.display_path(&target));
    let replacing = Replacing { target, old: old.to_owned(), new: new.text.clone(), all, answered };
    let plan = move |documents: &mut Documents| replacing.plan(documents);
    Ok(edit(open_files, edits, waits_for, context, plan, report)?.into())
}

/// A planned replacement.
struct Replacing {
    target: PathBuf,
    old: String,
    new: String,
    /// True replaces all occurrences without asking.
    all: bool,
    answered: Option<AnsweredOccurrences>,
}

/// The chosen occurrences in a file whose text had this digest.
struct AnsweredOccurrences {
    path: PathBuf,
    digest: u64,
    chosen: Vec<usize>,
}

/// The replacements made, for the outcome.
struct Replaced {
    chosen: usize,
    found: usize,
    /// The line of the first replacement before the edit, from 0.
    first_line: usize,
}

impl Replacing {
    fn plan(self, documents: &mut Documents) -> Result<Plan<Replaced>, Fault> {
        let path = documents.resolve(&self.target)?;
        let shown = documents.display(&path);
        let buffer = documents.text(&path)?;
        let (text, digest) = (buffer.text(), buffer.digest());
        let found = matches(&text, &self.old);
        let chosen: Vec<Range<usize>> = match self.answered {
            Some(answered) => {
                if (&answered.path, answered.digest) != (&path, digest) {
                    return Err(Fault::stale(format!("{shown} changed since you were asked"))
                        .hint("nothing was changed: run the call again"));
                }
                let chosen = answered.chosen.into_iter();
                chosen.filter_map(|at| found.get(at).cloned()).collect()
            }
            None if found.is_empty() => {
                let fault = Fault::failed(format!("no match in {shown}"));
                let near = closest_match(&text, &self.old);
                return Err(near.into_iter().fold(fault, Fault::hint));
            }
            None if self.all || found.len() == 1 => found.clone(),
            None => return ask_which(buffer, &path, digest, &found).map(Plan::Reply),
        };
        let Some(first) = chosen.first() else {
            let none = format!("0 of {}", count(found.len(), "match"));
            return Ok(Plan::Reply(Done::new(none).into()));
        };
        let splice = |found: &Range<usize>| {
            let old = text[found.clone()].to_owned();
            let new = settled(&text, found, &self.new);
            let new = with_endings_of(&new, &old, buffer.line_ending());
            Splice { at: found.start, old, new }
        };
        let splices: Vec<_> = chosen.iter().map(splice).collect();
        let first_line = buffer.line_at(first.start);
        let replaced = Replaced { chosen: chosen.len(), found: found.len(), first_line };
        let edit = WorkspaceEdit::new(EditKind::Replace).splices(path, splices);
        Ok(Plan::Edit(edit, replaced))
    }
}

fn report(editor: &mut Editor, made: &Committed, replaced: Replaced, context: &Context) -> Done {
    let Replaced { chosen, found, first_line } = replaced;
    let file = made.files.first();
    let lines = match (chosen, file) {
        (1, Some(file)) => file.lines.first().cloned().unwrap_or(first_line..first_line + 1),
        _ => 0..0,
    };
    let path = file.map(|file| file.path.as_path());
    report_lines(&editor.files, path, &lines, context, |shown| match (chosen, found) {
        (1, 1) => format!("{shown}: 1 match, {}", line_range(&lines)),
        (1, found) => {
            format!("{shown}: 1 of {}, {}", count(found, "match"), line_range(&lines))
        }
        (chosen, found) if chosen < found => {
            format!("{shown}: {chosen} of {}", count(found, "match"))
        }
        (_, found) => format!("{shown}: {}", count(found, "match")),
    })
}

fn ask_which(
    buffer: &Buffer,
    path: &Path,
    digest: u64,
    found: &[Range<usize>],
) -> Result<docui::Reply, Fault> {
    if found.len() > MATCHES_ASKED {
        return Err(Fault::refused(format!("{} matches are too many", found.len()))
            .hint("a longer text has fewer matches"));
    }
    let mut ask = Ask::pick_many(count(found.len(), "match"));
    for found in found.iter().take(PLACES_LISTED) {
        let line = buffer.line_at(found.start) + 1;
        ask = ask.option(format!("line {line}"), match_row(buffer, found, false));
    }
    ask = ask.unlisted(found.len().saturating_sub(PLACES_LISTED) as u64);
    let at = found.iter().map(|found| found.start).collect();
    QuestionToken::Occurrences { path: path.to_owned(), text: digest, at }.attach_to(ask)
}
