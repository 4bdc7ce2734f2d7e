//! Plans the effect of an edit on each file, based on the current texts.

use std::path::{Path, PathBuf};

use docui::Fault;

use super::file_edit::{FileEdit, TextEdit};
use super::links;
use super::planned_file::{PlannedFile, is_freed};
use crate::limits::FILE_MAX;
use crate::model::buffer::Buffer;
use crate::model::disk;
use crate::model::documents::Documents;
use crate::model::history::FileChange;
use crate::model::line_change::LineChange;
use crate::model::project_rules::NewFileRules;
use crate::model::splice::Splice;
use crate::model::text_diff::{difference, line_change_of};

/// The effect of an edit on a text.
struct Replacement {
    splices: Vec<Splice>,
    lines: LineChange,
    /// True if the file is deleted.
    deleted: bool,
}

/// A file's text before an edit; `exists` is true if there is a file.
struct TextBefore {
    buffer: Buffer,
    exists: bool,
}

impl Documents {
    /// Adds the edit of a file to those that are planned.
    pub(super) fn plan(
        &mut self,
        file: FileEdit,
        planned: &mut Vec<PlannedFile>,
    ) -> Result<(), Fault> {
        let FileEdit { path, edit, mode } = file;
        let shown = self.display(&path);
        if let Some(link) = links::plan((&path, &edit), &shown, planned)? {
            planned.push(link);
            return Ok(());
        }
        let is_same = |earlier: &PlannedFile| earlier.change.path == path && !earlier.change.link;
        let earlier = planned.iter().position(is_same);
        let missing = match earlier {
            Some(at) => planned[at].change.after.is_none(),
            None => is_freed(&path, planned) || self.is_missing(&path),
        };
        let rules = match edit {
            TextEdit::Create(_) | TextEdit::Splices(_) if missing && earlier.is_none() => {
                NewFileRules::read(&path, &self.root)
            }
            _ => NewFileRules::default(),
        };
        let before = match earlier {
            Some(_) if matches!(edit, TextEdit::Create(_)) && !missing => {
                return Err(already_exists(&shown));
            }
            Some(at) => TextBefore { buffer: planned[at].after.clone(), exists: !missing },
            None => self.text_before((&path, &shown), &edit, missing, &rules)?,
        };
        let mode = if let TextEdit::Exact(change) = &edit { change.mode } else { mode };
        let Some(replacement) = replacement(edit, &before, &rules, &shown)? else {
            return Ok(());
        };
        let mut after = before.buffer.clone();
        after.apply(&replacement.splices);
        if let Some(at) = earlier {
            let digest = (!replacement.deleted).then(|| after.digest());
            if let Some(mode) = mode.filter(|_| !replacement.deleted) {
                let change = &mut planned[at].change;
                change.mode_before = change.mode_before.or_else(|| disk::permission_bits(&path));
                change.mode = Some(mode);
            }
            merge(&mut planned[at], after, digest);
            return Ok(());
        }
        planned.push(self.planned_file(path, mode, (before, after), replacement));
        Ok(())
    }

    /// Returns the text of a file that no earlier part of the edit changes.
    fn text_before(
        &mut self,
        (path, shown): (&Path, &str),
        edit: &TextEdit,
        missing: bool,
        rules: &NewFileRules,
    ) -> Result<TextBefore, Fault> {
        Ok(match edit {
            TextEdit::Create(_) if !missing => return Err(already_exists(shown)),
            TextEdit::Create(_) => TextBefore { buffer: Buffer::new("", rules.bom), exists: false },
            TextEdit::Exact(change) if missing && change.before.is_none() => {
                TextBefore { buffer: Buffer::new("", change.bom), exists: false }
            }
            // An open file may be new, and held text may be of a file that was deleted.
            _ => {
                let open = self.open_file(path);
                let exists = open.is_none_or(|open| open.unsaved || open.base_digest.is_some());
                TextBefore { buffer: self.text(path)?.clone(), exists }
            }
        })
    }

    fn planned_file(
        &self,
        path: PathBuf,
        mode: Option<u32>,
        (TextBefore { buffer: before, exists }, after): (TextBefore, Buffer),
        Replacement { splices, lines, deleted }: Replacement,
    ) -> PlannedFile {
        let open = self.open_file(&path);
        let read = self.read.get(&path).and_then(|read| read.file.digest());
        let base_digest = open.map_or(read, |open| open.base_digest);
        let mode_before = disk::permission_bits(&path).filter(|_| exists);
        let mode = if deleted { mode_before } else { mode };
        let mode_before =
            mode_before.filter(|bits| !deleted && mode.is_some_and(|mode| mode != *bits));
        let change = FileChange {
            path,
            splices,
            lines,
            before: exists.then(|| before.digest()),
            after: (!deleted).then(|| after.digest()),
            bom: before.has_bom(),
            mode: mode.filter(|_| deleted || !exists || mode_before.is_some()),
            mode_before,
            link: false,
        };
        let accepted = vec![base_digest, change.after];
        PlannedFile { change, before, after, guard: None, base_digest, accepted }
    }
}

fn already_exists(shown: &str) -> Fault {
    Fault::refused(format!("{shown} already exists"))
}

/// Returns what an edit does to a text; `None` for links, which have none.
fn replacement(
    edit: TextEdit,
    TextBefore { buffer: before, exists }: &TextBefore,
    rules: &NewFileRules,
    shown: &str,
) -> Result<Option<Replacement>, Fault> {
    let (splices, lines, deleted) = match edit {
        TextEdit::CreateLink(_) | TextEdit::DeleteLink => return Ok(None),
        TextEdit::Splices(mut splices) => {
            splices.retain(|splice| splice.old != splice.new);
            for splice in &mut splices {
                splice.new = rules.with_line_endings(std::mem::take(&mut splice.new));
            }
            (splices, None, false)
        }
        TextEdit::Lines(splices, lines) => (splices, Some(lines), false),
        TextEdit::Create(new) => {
            let new = rules.with_line_endings(new);
            let splice = Splice { at: 0, old: String::new(), new };
            (Vec::from_iter(Some(splice).filter(|one| !one.new.is_empty())), None, false)
        }
        TextEdit::Exact(change) => {
            if change.before != exists.then(|| before.digest()) {
                return Err(Fault::failed(format!("{shown} has been changed since"))
                    .hint("take back first what came later, newest first: pipemux undo"));
            }
            (change.splices, Some(change.lines), change.after.is_none())
        }
        TextEdit::Delete => {
            let splice = Splice { at: 0, old: before.text(), new: String::new() };
            (Vec::from_iter(Some(splice).filter(|one| !one.old.is_empty())), None, true)
        }
    };
    check_splices(&splices, before, shown)?;
    let lines = lines.unwrap_or_else(|| line_change_of(before, &splices));
    Ok(Some(Replacement { splices, lines, deleted }))
}

/// Makes one change of two of the same file.
fn merge(file: &mut PlannedFile, after: Buffer, digest: Option<u64>) {
    let (splices, lines) = difference(&file.before.text(), &after.text());
    file.change.splices = splices;
    file.change.lines = lines;
    file.change.after = digest;
    file.accepted.push(digest);
    file.after = after;
}

fn check_splices(splices: &[Splice], buffer: &Buffer, shown: &str) -> Result<(), Fault> {
    if splices.iter().any(|splice| splice.new.contains('\0')) {
        return Err(Fault::usage("text has a NUL character, which no text file may contain"));
    }
    let disjoint = splices.is_sorted_by(|a, b| a.old_end() <= b.at);
    if !disjoint || !splices.iter().all(|splice| buffer.accepts(splice)) {
        return Err(Fault::failed(format!("the edits of {shown} don't fit its text"))
            .hint("nothing was changed: run the call again"));
    }
    let added: usize = splices.iter().map(|splice| splice.new.len()).sum();
    if (buffer.len() + added) as u64 > FILE_MAX {
        let limit = FILE_MAX / 1024 / 1024;
        return Err(Fault::refused(format!("{shown} would exceed the limit of {limit} MiB")));
    }
    Ok(())
}
