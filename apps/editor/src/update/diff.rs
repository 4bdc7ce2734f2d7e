//! Comparing the files of the session's changes with what they were before these.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docui::{Blocking, Context, Done, Fault, View, tokens};
use pipemux_search::Files;
use similar::{DiffOp, DiffTag, TextDiff};

use super::change_diff::place;
use crate::display::wording::{count, line_numbers};
use crate::limits::{DIFF_MS, DISK_DEADLINE, MOVED_LINES_MIN, VALUE_MAX};
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::model::history::FileChange;
use crate::model::splice::Splice;

/// What the session changed in a file.
struct FileDiff {
    /// The file as it is displayed.
    shown: String,
    /// What differs, or why that isn't known.
    text: String,
    /// The same as a unified diff.
    unified: String,
    added: usize,
    removed: usize,
    moved: usize,
}

impl Editor {
    /// Compares files with what they were before the session's changes; without `files` all that it changed.
    pub(super) fn diff(
        &mut self,
        files: &[String],
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let mut changes: BTreeMap<PathBuf, Vec<FileChange>> = BTreeMap::new();
        for change in self.changes.undoable() {
            for file in &change.files {
                changes.entry(file.path.clone()).or_default().push(file.clone());
            }
        }
        let changed: Vec<PathBuf> = changes.keys().cloned().collect();
        let (entries, base, root) = (files.to_vec(), context.cwd.clone(), self.root().to_owned());
        let mut documents = self.documents();
        let work = move |_: &docui::blocking::CommitPoint| -> Result<Vec<FileDiff>, Fault> {
            if !entries.is_empty() {
                let base = if base.as_os_str().is_empty() { &root } else { &base };
                let wanted = Files::new(&entries, base, &root, &changed)
                    .and_then(|files| files.list())
                    .map_err(|error| Fault::not_found(error.to_string()))?;
                changes.retain(|path, _| wanted.contains(path));
            }
            let diffs =
                changes.iter().map(|(path, changes)| file_diff(&mut documents, path, changes));
            Ok(diffs.flatten().collect())
        };
        let waits_for = "the disk of the changed files".to_owned();
        Ok(self.disk_task(waits_for, DISK_DEADLINE, context, work, |_, diffs, context, _| {
            Ok(outcome(&diffs?, context).into())
        }))
    }
}

/// Returns what differs in a file; `None` if nothing does.
fn file_diff(documents: &mut Documents, path: &Path, changes: &[FileChange]) -> Option<FileDiff> {
    let shown = documents.display(path);
    let now = match documents.is_missing(path) {
        true => String::new(),
        false => match documents.text(path) {
            Ok(buffer) => buffer.text().to_string(),
            Err(fault) => return Some(unknown(shown, &fault.message)),
        },
    };
    let before = changes
        .iter()
        .try_fold(now.clone(), |text, change| undone(&text, &change.inverse().splices));
    let Some(before) = before else {
        return Some(unknown(shown, "changed by another program since"));
    };
    if before == now {
        return None;
    }
    let mut config = TextDiff::configure();
    config.timeout(Duration::from_millis(DIFF_MS));
    let (old, new): (Vec<_>, Vec<_>) =
        (before.split_inclusive('\n').collect(), now.split_inclusive('\n').collect());
    let diff = config.newline_terminated(true).diff_slices(&old, &new);
    let mut one = FileDiff {
        unified: diff.unified_diff().header(&shown, &shown).to_string(),
        shown,
        text: String::new(),
        added: 0,
        removed: 0,
        moved: 0,
    };
    let moves = moved_blocks(diff.ops(), &old, &new);
    for op in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
        let (from, to) = (op.old_range(), op.new_range());
        if let Some((_, target)) = moves.iter().find(|(source, _)| *source == from && to.is_empty())
        {
            one.moved += 1;
            let lines = (line_numbers(&from), line_numbers(target));
            let _ = writeln!(
                one.text,
                "{} → {}: {} moved, unchanged",
                lines.0,
                lines.1,
                count(from.len(), "line")
            );
            continue;
        }
        if moves.iter().any(|(_, target)| *target == to && from.is_empty()) {
            continue;
        }
        (one.removed, one.added) = (one.removed + from.len(), one.added + to.len());
        let _ = writeln!(one.text, "@@ -{} +{} @@", place(&from), place(&to));
        for (sign, lines) in [('-', &old[from]), ('+', &new[to])] {
            for line in lines {
                let _ = writeln!(one.text, "{sign}{}", line.trim_end_matches(['\n', '\r']));
            }
        }
    }
    Some(one)
}

fn unknown(shown: String, why: &str) -> FileDiff {
    let text = format!("can't be compared: {why}\n");
    FileDiff { shown, text, unified: String::new(), added: 0, removed: 0, moved: 0 }
}

/// Makes replacements in a text; `None` if what they replace isn't there.
fn undone(text: &str, splices: &[Splice]) -> Option<String> {
    let (mut before, mut from) = (String::with_capacity(text.len()), 0);
    for splice in splices {
        let end = splice.old_end();
        if text.get(splice.at..end)? != splice.old {
            return None;
        }
        before += text.get(from..splice.at)?;
        before += &splice.new;
        from = end;
    }
    Some(before + text.get(from..)?)
}

/// Returns the lines that stand elsewhere unchanged: those removed in one place that were added in another.
fn moved_blocks(ops: &[DiffOp], old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let block = |lines: &[&str]| lines.concat().trim_matches('\n').to_owned();
    let of = |tag: DiffTag| ops.iter().filter(move |op| op.tag() == tag);
    let mut added: Vec<(String, Range<usize>)> =
        of(DiffTag::Insert).map(|op| (block(&new[op.new_range()]), op.new_range())).collect();
    let mut moves = Vec::new();
    for op in of(DiffTag::Delete).filter(|op| op.old_range().len() >= MOVED_LINES_MIN) {
        let text = block(&old[op.old_range()]);
        if let Some(at) = added.iter().position(|(other, _)| *other == text) {
            moves.push((op.old_range(), added.swap_remove(at).1));
        }
    }
    moves
}

fn outcome(diffs: &[FileDiff], context: &Context) -> Done {
    if diffs.is_empty() {
        return Done::new("0 files differ from before this session's changes").value("");
    }
    let sum = |of: fn(&FileDiff) -> usize| diffs.iter().map(of).sum::<usize>();
    let moved = match sum(|one| one.moved) {
        0 => String::new(),
        moved => format!(", {} moved", count(moved, "block")),
    };
    let brief = format!(
        "{}, +{} -{} lines{moved}; compared with before this session's changes",
        count(diffs.len(), "file"),
        sum(|one| one.added),
        sum(|one| one.removed)
    );
    let (mut text, mut spent) = (String::new(), 0);
    for one in diffs {
        let head = format!("{}: +{} -{}\n", one.shown, one.added, one.removed);
        for line in head.split_inclusive('\n').chain(one.text.split_inclusive('\n')) {
            spent += tokens::estimate(line) + 1;
            if spent > u64::from(context.budget) {
                text += &format!("… diff(in='{}') shows one file\n", one.shown);
                break;
            }
            text += line;
        }
    }
    let mut value: String = diffs.iter().map(|one| one.unified.as_str()).collect();
    if value.len() > VALUE_MAX {
        let end = (0..=VALUE_MAX).rev().find(|end| value.is_char_boundary(*end)).unwrap_or(0);
        value.truncate(end);
        value += "\n… cut\n";
    }
    let mut view = View::new("");
    view.code("", text);
    Done::new(brief).content(view).value(value).label("diff".to_owned())
}
