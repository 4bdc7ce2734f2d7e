//! Applying a patch to any number of files: all of it, or nothing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use docui::{Ask, Blocking, Choice, Context, Done, Fault, Reply, Text};
use pipemux_patch::{Choice as Place, FileChange, FileSource, Obstacle, Patch, Plan as PatchPlan};
use pipemux_patch::{Question, Scope, report};

use crate::display::lines::readable;
use crate::display::wording::{count, shown_lines};
use crate::limits::PLACES_LISTED;
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::model::history::EditKind;
use crate::model::splice::Splice;
use crate::model::text_diff::difference;
use crate::model::workspace_edit::{TextEdit, WorkspaceEdit};

use super::edit::Plan;
use super::question::{AskedPatch, Token, chosen_matches};

impl Editor {
    pub(super) fn apply(
        &mut self,
        patch: &Text,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let asked = match Token::answered(context)? {
            None => None,
            Some((Token::PatchPlaces(asked), choice)) => match answered(asked, choice)? {
                Some(asked) => Some(asked),
                None => return Err(Fault::failed("no place was chosen, nothing was changed")),
            },
            Some(_) => {
                return Err(
                    Fault::stale("the answer is to another question").hint("run the call again")
                );
            }
        };
        let (text, root) = (patch.text.clone(), self.root().to_owned());
        let directory = self.caller_path("", context);
        let waits_for = format!("the disk of {}", root.display());
        let plan = move |documents: &mut Documents| {
            let scope = Scope::new(&real(&root), &real(&directory));
            plan_patch(documents, &text, &scope, asked)
        };
        self.edit(waits_for, context, plan, |editor, _, applied: Applied, context| {
            let mut numbers = Vec::new();
            for (path, lines) in applied.lines {
                let Some(index) = editor.file_index(&path) else { continue };
                let open = &editor.files[index];
                let shown = lines.iter().filter(|lines| !lines.is_empty());
                numbers.extend(shown.map(|lines| shown_lines(open, lines, context.next_version())));
            }
            Done::new(applied.summary).shows(numbers)
        })
    }
}

/// What the outcome of a patch tells.
struct Applied {
    summary: String,
    /// The new lines of each file.
    lines: Vec<(PathBuf, Vec<std::ops::Range<usize>>)>,
}

/// The answer to a question about places; `None` if nothing was chosen.
///
/// # Errors
/// A hunk has no place.
fn answered(mut asked: AskedPatch, choice: &Choice) -> Result<Option<AskedPatch>, Fault> {
    let all = asked.hunks.iter().map(|(_, places)| places).sum();
    let chosen = chosen_matches(choice, all)?;
    if chosen.is_empty() {
        return Ok(None);
    }
    let mut first = 0;
    for (at, places) in std::mem::take(&mut asked.hunks) {
        let own = first..first + places;
        let picks: Vec<_> =
            chosen.iter().filter(|pick| own.contains(pick)).map(|pick| pick - first).collect();
        if picks.is_empty() {
            let (from, to) = (own.start + 1, own.end);
            return Err(Fault::usage(format!(
                "the hunk at patch line {at} has no place: add one of {from}-{to}, or answer none"
            )));
        }
        asked.chosen.push((at, picks));
        first = own.end;
    }
    Ok(Some(asked))
}

/// A file that the patch may be about, as it was found.
enum Found {
    /// Its path without symlinks, and its text.
    Text(PathBuf, String, u64),
    /// Its path without symlinks.
    Missing(PathBuf),
    Unreadable(String),
}

fn plan_patch(
    documents: &mut Documents,
    text: &str,
    scope: &Scope,
    asked: Option<AskedPatch>,
) -> Result<Plan<Applied>, Fault> {
    let patch = Patch::parse(text).map_err(|error| Fault::usage(error.to_string()))?;
    let lexical = |path: &Path| path.display().to_string();
    let paths =
        patch.paths(scope).map_err(|problems| refused(report::problems(&problems, &lexical)))?;
    let mut found = HashMap::new();
    for path in paths {
        let file = find(documents, &path, scope);
        found.insert(path, file);
    }
    if let Some(asked) = &asked {
        check_unchanged(documents, asked)?;
    }
    let names = |path: &Path| match found.get(path) {
        Some(Found::Text(real, ..) | Found::Missing(real)) => documents.display(real),
        _ => documents.display(path),
    };
    let source = |path: &Path| match found.get(path) {
        Some(Found::Text(_, text, _)) => FileSource::Text(text),
        Some(Found::Unreadable(reason)) => FileSource::Unreadable(reason),
        Some(Found::Missing(_)) | None => FileSource::Missing,
    };
    let chosen = asked.as_ref().map(|asked| asked.chosen.clone()).unwrap_or_default();
    let places: Vec<_> =
        chosen.iter().map(|(at, picks)| Place { at: *at, picks: picks.clone() }).collect();
    let plan = match patch.plan(scope, &source, &places) {
        Ok(plan) => plan,
        Err(Obstacle::Refused(problems)) => {
            return Err(refused(report::problems(&problems, &names)));
        }
        Err(Obstacle::Ask(questions)) => {
            return ask(&questions, &found, chosen, &names).map(Plan::Reply);
        }
    };
    let summary = plan.summary(&names);
    if plan.is_empty() {
        return Ok(Plan::Reply(Done::new(format!("no change: {summary}")).into()));
    }
    let lines = new_lines(&plan, &found);
    let mut edit = WorkspaceEdit::new(EditKind::Apply);
    for change in plan.files {
        edit = add(edit, change, &found);
    }
    Ok(Plan::Edit(edit, Applied { summary, lines }))
}

/// A path without symlinks, if it exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn refused(problems: String) -> Fault {
    Fault::failed(format!("{problems}\nnothing was changed"))
}

fn find(documents: &mut Documents, path: &Path, scope: &Scope) -> Found {
    let real = match documents.resolve(path) {
        Ok(real) => real,
        Err(fault) => return Found::Unreadable(fault.message),
    };
    if !scope.contains(&real) {
        return Found::Unreadable(format!("leads out of the project, to {}", real.display()));
    }
    if documents.open_file(&real).is_none() && documents.is_missing(&real) {
        return Found::Missing(real);
    }
    match documents.text(&real) {
        Ok(buffer) => {
            let (text, digest) = (buffer.text(), buffer.digest());
            Found::Text(real, text, digest)
        }
        Err(fault) => Found::Unreadable(fault.message),
    }
}

/// Checks that the files are still those that the reader was asked about.
fn check_unchanged(documents: &mut Documents, asked: &AskedPatch) -> Result<(), Fault> {
    for (path, digest) in &asked.files {
        if documents.text(path)?.digest() != *digest {
            let shown = documents.display(path);
            return Err(Fault::stale(format!("{shown} changed since you were asked"))
                .hint("nothing was changed: run the call again"));
        }
    }
    Ok(())
}

fn ask(
    questions: &[Question],
    found: &HashMap<PathBuf, Found>,
    chosen: Vec<(usize, Vec<usize>)>,
    names: &dyn Fn(&Path) -> String,
) -> Result<Reply, Fault> {
    let mut first = 1;
    let mut parts = Vec::new();
    for Question { at, candidates, .. } in questions {
        let last = first + candidates.len() - 1;
        parts.push(format!("patch line {at}: {first}-{last}"));
        first = last + 1;
    }
    let text = match questions {
        [one] => format!(
            "the hunk at patch line {} fits in {}",
            one.at,
            count(one.candidates.len(), "place")
        ),
        several => {
            format!("{} fit in several places ({})", count(several.len(), "hunk"), parts.join(", "))
        }
    };
    let mut ask = Ask::pick_many(text);
    let mut listed = 0;
    for question in questions {
        for place in &question.candidates {
            listed += 1;
            if listed > PLACES_LISTED {
                continue;
            }
            let mut row = readable(&report::cut(place.text.trim()));
            if let Some((line, above)) = &place.inside {
                row += &format!(" · in {line} {}", readable(&report::cut(above.trim())));
            }
            ask = ask.option(format!("{}:{}", names(&question.path), place.line), row);
        }
    }
    ask = ask.unlisted(listed.saturating_sub(PLACES_LISTED) as u64);
    let mut files: Vec<(PathBuf, u64)> = Vec::new();
    for file in found.values() {
        if let Found::Text(path, _, digest) = file
            && !files.iter().any(|(known, _)| known == path)
        {
            files.push((path.clone(), *digest));
        }
    }
    files.sort();
    let hunks = questions.iter().map(|one| (one.at, one.candidates.len())).collect();
    Token::PatchPlaces(AskedPatch { files, hunks, chosen }).attach_to(ask)
}

/// The new lines of each file, for the numbers in the summary.
fn new_lines(
    plan: &PatchPlan,
    found: &HashMap<PathBuf, Found>,
) -> Vec<(PathBuf, Vec<std::ops::Range<usize>>)> {
    let lines = |change: &FileChange| {
        let hunks = change.hunks.iter().map(|hunk| hunk.first - 1..hunk.first - 1 + hunk.lines);
        (real_path(&change.path, found), hunks.collect())
    };
    plan.files.iter().map(lines).collect()
}

fn real_path(path: &Path, found: &HashMap<PathBuf, Found>) -> PathBuf {
    match found.get(path) {
        Some(Found::Text(real, ..) | Found::Missing(real)) => real.clone(),
        _ => path.to_owned(),
    }
}

/// Adds what becomes of a file to an edit.
fn add(edit: WorkspaceEdit, change: FileChange, found: &HashMap<PathBuf, Found>) -> WorkspaceEdit {
    let path = real_path(&change.path, found);
    let before = |path: &Path| match found.get(path) {
        Some(Found::Text(_, text, _)) => text.as_str(),
        _ => "",
    };
    let Some(text) = change.text else { return edit.file(path, TextEdit::Delete) };
    if let Some(from) = &change.from {
        let source = real_path(from, found);
        let edit = match change.existed {
            true => edit.splices(path, difference(before(&change.path), &text).0),
            false => edit.file(path, TextEdit::CreateLike(text, source.clone())),
        };
        return if change.copied { edit } else { edit.file(source, TextEdit::Delete) };
    }
    if !change.existed {
        return edit.file(path, TextEdit::Create(text));
    }
    let old = before(&change.path);
    if change.rewritten {
        return edit.splices(path, difference(old, &text).0);
    }
    let splices = change.splices.into_iter().map(|splice| Splice {
        at: splice.range.start,
        old: old[splice.range].to_owned(),
        new: splice.text,
    });
    edit.splices(path, splices.collect())
}
