//! Applying a patch to any number of files: all of it, or nothing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use docui::{Ask, Blocking, Choice, Context, Done, Fault, Reply, Text};
use pipemux_patch::{Choice as Place, FileChange, FileSource, Obstacle, Patch, Plan as PatchPlan};
use pipemux_patch::{PathScope, Question, report};

use crate::display::lines::readable;
use crate::display::wording::{count, shown_lines};
use crate::limits::PLACES_LISTED;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::open_files::OpenFiles;
use crate::model::splice::Splice;
use crate::model::text_diff::difference;
use crate::model::workspace_edit::{TextEdit, WorkspaceEdit, links};
use crate::model::{Editor, disk};
use crate::update::edit::edit;

use super::asked::AskedPatch;
use super::edit::Plan;
use super::question::{QuestionToken, chosen_matches};

pub(crate) fn apply(
    open_files: &OpenFiles,
    edits: &mut Edits,
    patch: &Text,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let asked = match QuestionToken::answered(context)? {
        None => None,
        Some((QuestionToken::PatchPlaces(asked), choice)) => match answered(asked, choice)? {
            Some(asked) => Some(asked),
            None => return Err(Fault::failed("no place was chosen, nothing was changed")),
        },
        Some(_) => {
            return Err(
                Fault::stale("the answer is to another question").hint("run the call again")
            );
        }
    };
    let (text, root) = (patch.text.clone(), open_files.paths.root.to_owned());
    let directory = open_files.paths.caller_path("", context);
    let waits_for = format!("the disk of {}", root.display());
    let plan = move |documents: &mut Documents| {
        let scope = PathScope::new(&real(&root), &real(&directory));
        plan_patch(documents, &text, &scope, asked)
    };
    edit(open_files, edits, waits_for, context, plan, |editor, _, applied: Applied, context| {
        let mut numbers = Vec::new();
        for (path, lines) in applied.lines {
            let Some(index) = editor.files.index(&path) else { continue };
            let open = &editor.files[index];
            let shown = lines.iter().filter(|lines| !lines.is_empty());
            numbers.extend(shown.map(|lines| shown_lines(open, lines, context.next_version())));
        }
        Done::new(applied.summary).shows(numbers)
    })
}

/// The outcome of a patch.
struct Applied {
    summary: String,
    /// The lines of each file that are new.
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
enum PatchedFile {
    /// The path without symlinks, the text, and its digest.
    Text(PathBuf, String, u64),
    /// A link: its path, of which only the last part is not followed, where it leads, and the file
    /// there.
    Link {
        name: PathBuf,
        target: String,
        leads_to: PathBuf,
    },
    /// The path without symlinks.
    Missing(PathBuf),
    Unreadable(String),
}

fn plan_patch(
    documents: &mut Documents,
    text: &str,
    scope: &PathScope,
    asked: Option<AskedPatch>,
) -> Result<Plan<Applied>, Fault> {
    let patch = Patch::parse(text).map_err(|error| Fault::usage(error.to_string()))?;
    let lexical = |path: &Path| path.display().to_string();
    let paths =
        patch.paths(scope).map_err(|problems| refused(report::problems(&problems, &lexical)))?;
    let mut found = HashMap::new();
    for path in paths {
        let file = find(documents, &path, scope);
        if let PatchedFile::Link { leads_to, .. } = &file
            && !found.contains_key(leads_to)
        {
            found.insert(leads_to.clone(), find_text(documents, leads_to, scope));
        }
        found.insert(path, file);
    }
    if let Some(asked) = &asked {
        check_unchanged(documents, asked)?;
    }
    let names = |path: &Path| match found.get(path) {
        Some(PatchedFile::Text(real, ..) | PatchedFile::Missing(real)) => documents.display(real),
        Some(PatchedFile::Link { name, .. }) => documents.display(name),
        _ => documents.display(path),
    };
    let source = |path: &Path| match found.get(path) {
        Some(PatchedFile::Text(_, text, _)) => FileSource::Text(text),
        Some(PatchedFile::Link { target, leads_to, .. }) => FileSource::Link { target, leads_to },
        Some(PatchedFile::Unreadable(reason)) => FileSource::Unreadable(reason),
        Some(PatchedFile::Missing(_)) | None => FileSource::Missing,
    };
    let chosen = asked.as_ref().map(|asked| asked.chosen.clone()).unwrap_or_default();
    let places: Vec<_> =
        chosen.iter().map(|(at, picks)| Place { at: *at, picks: picks.clone() }).collect();
    let mut plan = match patch.plan(scope, &source, &places) {
        Ok(plan) => plan,
        Err(Obstacle::Refused(problems)) => {
            return Err(refused(report::problems(&problems, &names)));
        }
        Err(Obstacle::Ask(questions)) => {
            return ask(&questions, &found, chosen, &names).map(Plan::Reply);
        }
    };
    for change in plan.files.iter_mut().filter(|change| change.executable.is_some()) {
        let source = change.from.as_ref().unwrap_or(&change.path);
        // Only what differs is a change.
        let is = match found.get(source) {
            Some(PatchedFile::Text(real, ..)) => {
                disk::permission_bits(real).unwrap_or(0) & 0o100 != 0
            }
            _ => false,
        };
        change.executable = change.executable.filter(|executable| *executable != is);
    }
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

/// Returns the path without symlinks, if it exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn refused(problems: String) -> Fault {
    Fault::failed(format!("{problems}\nnothing was changed"))
}

fn find(documents: &mut Documents, path: &Path, scope: &PathScope) -> PatchedFile {
    // A reading of a name that leads through a file means nothing.
    let above = path.ancestors().skip(1).find(|above| std::fs::symlink_metadata(above).is_ok());
    if above.is_some_and(|above| !above.is_dir()) {
        return PatchedFile::Missing(path.to_owned());
    }
    let Some(target) = links::target(path) else { return find_text(documents, path, scope) };
    let parent = path.parent().map(real).unwrap_or_default();
    if !scope.contains(&parent) {
        return PatchedFile::Unreadable(format!(
            "leads out of the project, to {}",
            parent.display()
        ));
    }
    let name = parent.join(path.file_name().unwrap_or_default());
    let leads_to = path.canonicalize().unwrap_or_else(|_| parent.join(&target));
    PatchedFile::Link { name, target, leads_to }
}

fn find_text(documents: &mut Documents, path: &Path, scope: &PathScope) -> PatchedFile {
    let real = match documents.resolve(path) {
        Ok(real) => real,
        Err(fault) => return PatchedFile::Unreadable(fault.message),
    };
    if !scope.contains(&real) {
        return PatchedFile::Unreadable(format!("leads out of the project, to {}", real.display()));
    }
    if documents.open_file(&real).is_none() && documents.is_missing(&real) {
        return PatchedFile::Missing(real);
    }
    match documents.text(&real) {
        Ok(buffer) => {
            let (text, digest) = (buffer.text(), buffer.digest());
            PatchedFile::Text(real, text, digest)
        }
        Err(fault) => PatchedFile::Unreadable(fault.message),
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
    found: &HashMap<PathBuf, PatchedFile>,
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
        if let PatchedFile::Text(path, _, digest) = file
            && !files.iter().any(|(known, _)| known == path)
        {
            files.push((path.clone(), *digest));
        }
    }
    files.sort();
    let hunks = questions.iter().map(|one| (one.at, one.candidates.len())).collect();
    QuestionToken::PatchPlaces(AskedPatch { files, hunks, chosen }).attach_to(ask)
}

/// Returns the new lines of each file, for the line numbers in the summary.
fn new_lines(
    plan: &PatchPlan,
    found: &HashMap<PathBuf, PatchedFile>,
) -> Vec<(PathBuf, Vec<std::ops::Range<usize>>)> {
    let lines = |change: &FileChange| {
        let hunks = change.hunks.iter().map(|hunk| hunk.first - 1..hunk.first - 1 + hunk.lines);
        (real_path(&change.path, found), hunks.collect())
    };
    plan.files.iter().map(lines).collect()
}

fn real_path(path: &Path, found: &HashMap<PathBuf, PatchedFile>) -> PathBuf {
    match found.get(path) {
        Some(PatchedFile::Text(real, ..) | PatchedFile::Missing(real)) => real.clone(),
        Some(PatchedFile::Link { name, .. }) => name.clone(),
        _ => path.to_owned(),
    }
}

/// Adds what becomes of a path to an edit.
fn add(
    edit: WorkspaceEdit,
    change: FileChange,
    found: &HashMap<PathBuf, PatchedFile>,
) -> WorkspaceEdit {
    let path = real_path(&change.path, found);
    // A link and a file don't turn into each other: one goes, and the other comes.
    let stays = change.existed && change.text.is_some() && change.was_link == change.link;
    let edit = match (change.existed && !stays, change.was_link) {
        (true, true) => edit.file(path.clone(), TextEdit::DeleteLink),
        (true, false) => edit.file(path.clone(), TextEdit::Delete),
        (false, true) if change.link => {
            let edit = edit.file(path.clone(), TextEdit::DeleteLink);
            return edit.file(path, TextEdit::CreateLink(change.text.unwrap_or_default()));
        }
        (false, _) => edit,
    };
    let Some(text) = change.text else { return edit };
    if change.link {
        return edit.file(path, TextEdit::CreateLink(text));
    }
    let from = change.from.as_ref().map(|from| real_path(from, found));
    let mode = mode(from.as_deref(), &path, change.executable, stays);
    if !stays {
        return edit.file(path, TextEdit::Create(text)).with_mode(mode);
    }
    let old = match found.get(&change.path) {
        Some(PatchedFile::Text(_, text, _)) => text.as_str(),
        _ => "",
    };
    let splices = match change.rewritten || from.is_some() {
        true => difference(old, &text).0,
        false => {
            let splices = change.splices.into_iter();
            let splice = |splice: pipemux_patch::Splice| Splice {
                at: splice.range.start,
                old: old[splice.range].to_owned(),
                new: splice.text,
            };
            splices.map(splice).collect()
        }
    };
    edit.splices(path, splices).with_mode(mode)
}

/// The permission bits that a file is given: those of the file whose text it takes, and as a
/// program if the patch says so. `None` where they stay, or the umask decides.
fn mode(from: Option<&Path>, path: &Path, executable: Option<bool>, stays: bool) -> Option<u32> {
    let own = || if stays { disk::permission_bits(path) } else { None };
    let bits = from.map_or_else(own, disk::permission_bits);
    match executable {
        None => from.and(bits),
        Some(true) => {
            let bits = bits.unwrap_or(0o666);
            Some(bits | (bits & 0o444) >> 2)
        }
        Some(false) => Some(bits.unwrap_or(0o666) & !0o111),
    }
}
