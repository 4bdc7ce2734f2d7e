//! Comparing the files of the session's changes with what they were before these.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docui::{Blocking, Context, Done, Fault, View, tokens};
use pipemux_search::Files;
use similar::{DiffOp, TextDiff};

use super::change_diff::place;
use crate::display::wording::{count, line_numbers};
use crate::limits::{
    DIFF_MS, DIFF_RUN_HEAD, DIFF_RUN_MAX, DISK_DEADLINE, FOLDED_RANGES_NAMED, MOVED_LINES_MIN,
    VALUE_MAX,
};
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::{EditKind, FileChange};
use crate::model::open_files::OpenFiles;
use crate::model::splice::Splice;
use crate::update::disk_task::disk_task;

use folding::{Hunk, Replacement};
use moves::Moved;

pub(super) mod folding;
pub(super) mod moves;

/// The changes made to a file.
#[derive(Default)]
struct DiffedChanges {
    latest_first: Vec<FileChange>,
    by_session: bool,
    /// True if another program changed the file while the session had it open.
    by_others: bool,
}

/// The session's changes in a file.
struct FileDiff {
    /// The displayed path of the file.
    shown: String,
    /// Says if another program changed it.
    by_others: &'static str,
    /// The reason why the differences aren't known; `None` if they are.
    unknown: Option<String>,
    hunks: Vec<Hunk>,
    moves: Vec<Moved>,
    /// Descriptions of the blocks that moved to another file.
    elsewhere: Vec<String>,
    unified: String,
}

/// Compares files with what they were before the session's changes; without `files` all that it
/// changed.
pub(crate) fn diff(
    open_files: &OpenFiles,
    edits: &Edits,
    files: &[String],
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let mut changes: BTreeMap<PathBuf, DiffedChanges> = BTreeMap::new();
    for change in edits.changes.undoable() {
        for file in &change.files {
            let of_file = changes.entry(file.path.clone()).or_default();
            match change.kind {
                EditKind::Reload => of_file.by_others = true,
                _ => of_file.by_session = true,
            }
            of_file.latest_first.push(file.clone());
        }
    }
    let changed: Vec<PathBuf> = changes.keys().cloned().collect();
    let (entries, base, root) =
        (files.to_vec(), context.cwd.clone(), open_files.paths.root.to_owned());
    let mut documents = open_files.documents();
    let work = move |_: &docui::blocking::CommitPoint| -> Result<Vec<FileDiff>, Fault> {
        if !entries.is_empty() {
            let base = if base.as_os_str().is_empty() { &root } else { &base };
            let wanted = Files::new(&entries, base, &root, &changed)
                .and_then(|files| files.list())
                .map_err(|error| Fault::not_found(error.to_string()))?;
            changes.retain(|path, _| wanted.contains(path));
        }
        let diffs = changes.iter().map(|(path, changes)| file_diff(&mut documents, path, changes));
        let mut diffs: Vec<FileDiff> = diffs.flatten().collect();
        take_out_moves_between(&mut diffs);
        Ok(diffs)
    };
    let waits_for = "the disk of the changed files".to_owned();
    Ok(disk_task(waits_for, DISK_DEADLINE, context, work, |_, diffs, context, _| {
        Ok(outcome(&diffs?, context).into())
    }))
}

/// Returns what differs in a file; `None` if nothing does.
fn file_diff(documents: &mut Documents, path: &Path, changes: &DiffedChanges) -> Option<FileDiff> {
    let shown = documents.display(path);
    let by_others = match (changes.by_others, changes.by_session) {
        (false, _) => "",
        (true, true) => " (also changed by another program)",
        (true, false) => " (changed by another program)",
    };
    let now = match documents.is_missing(path) {
        true => String::new(),
        false => match documents.text(path) {
            Ok(buffer) => buffer.text().to_string(),
            Err(fault) => return Some(unknown(shown, &fault.message)),
        },
    };
    let mut changes = changes.latest_first.iter();
    let before =
        changes.try_fold(now.clone(), |text, change| undone(&text, &change.inverse().splices));
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
    let (ops, moves) = moves::without_moves(diff.ops(), &old, &new);
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    let hunk = |op: &DiffOp| Hunk {
        old_from: op.old_range().start,
        new_from: op.new_range().start,
        old: lines(&old[op.old_range()]),
        new: lines(&new[op.new_range()]),
    };
    let hunks = ops.iter().map(hunk).collect();
    let unified = diff.unified_diff().header(&shown, &shown).to_string();
    let (unknown, elsewhere) = (None, Vec::new());
    Some(FileDiff { shown, by_others, unknown, hunks, moves, elsewhere, unified })
}

fn unknown(shown: String, why: &str) -> FileDiff {
    let unknown = Some(format!("can't be compared: {why}\n"));
    FileDiff {
        shown,
        by_others: "",
        unknown,
        hunks: Vec::new(),
        moves: Vec::new(),
        elsewhere: Vec::new(),
        unified: String::new(),
    }
}

impl FileDiff {
    fn added(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.new.len()).sum()
    }

    fn removed(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.old.len()).sum()
    }

    /// Says what differs: what moved, the lines that a replacement explains, and the others as
    /// hunks.
    fn written(&self, replacements: &[Replacement]) -> String {
        let (added, removed) = (self.added(), self.removed());
        let shown = format!("{}{}", self.shown, self.by_others);
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.unknown.clone());
        for Moved { from, to } in &self.moves {
            let lines = count(from.len(), "line");
            let (from, to) = (line_numbers(from), line_numbers(to));
            parts.push(format!("{from} → {to}: {lines} moved, unchanged\n"));
        }
        parts.extend(self.elsewhere.iter().cloned());
        let mut folded: Vec<Vec<usize>> = vec![Vec::new(); replacements.len()];
        let mut left: Vec<Hunk> = Vec::new();
        for hunk in &self.hunks {
            let (explained, rest) = hunk.fold(replacements);
            folded.iter_mut().zip(explained).for_each(|(all, more)| all.extend(more));
            left.extend(rest);
        }
        for (replacement, lines) in replacements.iter().zip(&folded) {
            if !lines.is_empty() {
                let number = count(lines.len(), "line");
                parts.push(format!("{number}: {replacement} ({})\n", listed_lines(lines)));
            }
        }
        match parts.as_slice() {
            // All of it came from other files, which say so.
            [] if left.is_empty() => return String::new(),
            // All of it in one line.
            [only] if left.is_empty() => {
                return format!("{shown}: {only}");
            }
            _ => {}
        }
        let mut text = format!("{shown}: +{added} -{removed}\n");
        text.extend(parts);
        for hunk in left {
            let (from, to) = (hunk.old_lines(), hunk.new_lines());
            let _ = writeln!(text, "@@ -{} +{} @@", place(&from), place(&to));
            for (sign, lines) in [('-', &hunk.old), ('+', &hunk.new)] {
                let whole = if lines.len() <= DIFF_RUN_MAX { lines.len() } else { DIFF_RUN_HEAD };
                for line in &lines[..whole] {
                    let _ = writeln!(text, "{sign}{}", line.trim_end_matches(['\n', '\r']));
                }
                if whole < lines.len() {
                    let more = count(lines.len() - whole, "more line");
                    let _ = writeln!(text, "{sign}… {more}");
                }
            }
        }
        text
    }
}

/// Takes out the blocks that were taken from one file and put in another, and says so where they
/// were.
fn take_out_moves_between(diffs: &mut [FileDiff]) {
    for from in 0..diffs.len() {
        let mut at = 0;
        while let Some(gone) = diffs[from].hunks.get(at) {
            let found = (gone.new.is_empty() && gone.old.len() >= MOVED_LINES_MIN)
                .then(|| block_in_others(gone, from, diffs))
                .flatten();
            let Some((to, index)) = found else {
                at += 1;
                continue;
            };
            let gone = diffs[from].hunks.remove(at);
            let put = diffs[to].hunks.remove(index);
            let lines = count(put.new.len(), "line");
            let (old, new) = (line_numbers(&gone.old_lines()), line_numbers(&put.new_lines()));
            let target = format!("{}:{new}", diffs[to].shown);
            diffs[from].elsewhere.push(format!("{old} → {target}: {lines} moved, unchanged\n"));
        }
    }
}

/// Returns the file and the hunk that put the same lines as were taken out here, but for empty ones
/// around them.
fn block_in_others(gone: &Hunk, from: usize, diffs: &[FileDiff]) -> Option<(usize, usize)> {
    fn block(lines: &[String]) -> &[String] {
        let is_filled = |line: &String| !line.trim().is_empty();
        let start = lines.iter().position(is_filled).unwrap_or(lines.len());
        let end = lines.iter().rposition(is_filled).map_or(start, |last| last + 1);
        &lines[start..end]
    }
    let wanted = block(&gone.old);
    diffs.iter().enumerate().filter(|(file, _)| *file != from && !wanted.is_empty()).find_map(
        |(file, diff)| {
            let is_it = |put: &Hunk| put.old.is_empty() && block(&put.new) == wanted;
            Some((file, diff.hunks.iter().position(is_it)?))
        },
    )
}

/// `line 5`, `lines 5-7, 9`
fn listed_lines(lines: &[usize]) -> String {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for line in lines {
        match ranges.last_mut().filter(|last| last.end == *line) {
            Some(last) => last.end += 1,
            None => ranges.push(*line..*line + 1),
        }
    }
    let named = ranges.iter().take(FOLDED_RANGES_NAMED).map(line_numbers).collect::<Vec<_>>();
    let more = match ranges.len() - named.len() {
        0 => String::new(),
        more => format!(" and {}", count(more, "more place")),
    };
    let noun = if lines.len() == 1 { "line" } else { "lines" };
    format!("{noun} {}{more}", named.join(", "))
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

fn outcome(diffs: &[FileDiff], context: &Context) -> Done {
    if diffs.is_empty() {
        return Done::new("0 files differ from before this session's changes").value("");
    }
    let sum = |of: fn(&FileDiff) -> usize| diffs.iter().map(of).sum::<usize>();
    let moved = sum(|one| one.moves.len()) + sum(|one| one.elsewhere.len());
    let moved = match moved {
        0 => String::new(),
        moved => format!(", {} moved", count(moved, "block")),
    };
    let brief = format!(
        "{}, +{} -{} lines{moved}; compared with before this session's changes",
        count(diffs.len(), "file"),
        sum(FileDiff::added),
        sum(FileDiff::removed)
    );
    let (mut text, mut spent) = (String::new(), 0);
    let replacements = folding::replacements(diffs.iter().flat_map(|one| &one.hunks));
    for one in diffs {
        for line in one.written(&replacements).split_inclusive('\n') {
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
