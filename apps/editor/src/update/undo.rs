//! Undo and redo, over all files that a change touched.

use std::collections::HashMap;
use std::path::PathBuf;

use docui::{Context, Done, Fault};

use crate::action::Action;
use crate::display::wording::{count, line_range, listed_ranges};
use crate::limits::{CHANGED_RANGES_NAMED, FILES_NAMED};
use crate::model::Editor;
use crate::model::change_log::change_journal::Operation;
use crate::model::documents::Documents;
use crate::model::history::{Author, Change, EditKind, FileChange};
use crate::model::line_change::LineChange;
use crate::model::workspace_edit::{TextEdit, WorkspaceEdit};

use super::edit::{Made, Plan, Work};
use super::search::again::quoted;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Undo,
    Redo,
}

impl Direction {
    /// The name of the action.
    fn verb(self) -> &'static str {
        match self {
            Direction::Undo => "undo",
            Direction::Redo => "redo",
        }
    }

    fn kind(self) -> EditKind {
        match self {
            Direction::Undo => EditKind::Undo,
            Direction::Redo => EditKind::Redo,
        }
    }
}

impl Editor {
    pub(super) fn undo(
        &mut self,
        steps: i64,
        change: Option<&str>,
        context: &Context,
    ) -> Result<Work, Fault> {
        self.step_history(Direction::Undo, steps, change, context)
    }

    pub(super) fn redo(
        &mut self,
        steps: i64,
        change: Option<&str>,
        context: &Context,
    ) -> Result<Work, Fault> {
        self.step_history(Direction::Redo, steps, change, context)
    }

    fn step_history(
        &mut self,
        direction: Direction,
        steps: i64,
        named: Option<&str>,
        context: &Context,
    ) -> Result<Work, Fault> {
        let steps = usize::try_from(steps).ok().filter(|steps| *steps > 0);
        let steps = steps.ok_or_else(|| Fault::usage("steps: expected 1 or more"))?;
        if named.is_some() && steps > 1 {
            let verb = direction.verb();
            return Err(Fault::usage("steps and change: expected one of them")
                .hint(self.run_command(&format!("{verb}(steps={steps})"))));
        }
        let changes = match named {
            Some(named) => vec![self.named_change(direction, named, context)?],
            None => self.next_changes(direction, steps, context)?,
        };
        let ids: Vec<String> = changes.iter().map(|change| change.id.clone()).collect();
        let mut edit = WorkspaceEdit::new(direction.kind());
        for change in &changes {
            let mut files: Vec<FileChange> = match direction {
                Direction::Undo => change.files.iter().map(FileChange::inverse).collect(),
                Direction::Redo => change.files.clone(),
            };
            // A path can have a link that goes and a file that comes, one behind the other.
            if direction == Direction::Undo && files.iter().any(|file| file.link) {
                files.reverse();
            }
            for file in files {
                edit = edit.file(file.path.clone(), TextEdit::Exact(file));
            }
        }
        let waits_for = match edit.files.as_slice() {
            [one] => format!("the disk of {}", self.display_path(&one.path)),
            files => format!("the disk of {}", count(files.len(), "file")),
        };
        let (began, ids_first) = (ids.clone(), ids[0].clone());
        let operation = move |_, files| match direction {
            Direction::Undo => Operation::Undo { ids: began, files },
            Direction::Redo => Operation::Redo { ids: began, files },
        };
        let plan = move |_: &mut Documents| Ok(Plan::Edit(edit, ()));
        let done = move |editor: &mut Self, made: Made, (), context: &Context| {
            let author = Author::of(context);
            match direction {
                Direction::Undo => editor.changes.take_undo(&ids, &author),
                Direction::Redo => editor.changes.take_redo(&ids, &author),
            }
            let (brief, detail) = editor.outcome(direction, &changes, &made.files);
            let back = ids.last().cloned().map(Into::into);
            let done = Done::new(brief).reverts();
            let done = detail.into_iter().fold(done, Done::detail);
            match direction {
                Direction::Undo => done.link("redo", &Action::Redo { steps: 1, change: back }),
                Direction::Redo => done.link("undo", &Action::Undo { steps: 1, change: back }),
            }
        };
        let begun = (waits_for, ids_first);
        Ok(self.begin_edit(begun, context, plan, operation, done)?.into())
    }

    /// Says what was undone or redone where: of one file in one line, else in a line a file.
    fn outcome(
        &self,
        direction: Direction,
        changes: &[Change],
        files: &[FileChange],
    ) -> (String, Option<String>) {
        let kinds: Vec<_> = changes.iter().map(|change| change.kind.to_string()).collect();
        let kinds = kinds.join(", ");
        let mut same: Vec<_> = changes.iter().flat_map(|change| &change.files).collect();
        same.retain(|file| files.iter().all(|written| written.path != file.path));
        let mut same: Vec<_> = same.iter().map(|file| self.display_path(&file.path)).collect();
        same.sort_unstable();
        same.dedup();
        let told = files
            .iter()
            .map(|file| format!("{}: {}", self.display_path(&file.path), effect(direction, file)));
        // What the changes did to these files adds up to nothing.
        let mut told: Vec<_> =
            told.chain(same.into_iter().map(|shown| format!("{shown}: unchanged"))).collect();
        match told.as_slice() {
            [one] => (format!("{kinds} in {one}"), None),
            _ => {
                let brief = format!("{kinds} in {}", count(told.len(), "file"));
                let more = told.len().saturating_sub(FILES_NAMED);
                told.truncate(FILES_NAMED);
                if more > 0 {
                    told.push(format!("and {}", count(more, "more file")));
                }
                (brief, Some(told.join("\n")))
            }
        }
    }

    /// Returns the changes that are undone or redone next, that one first.
    fn next_changes(
        &self,
        direction: Direction,
        steps: usize,
        context: &Context,
    ) -> Result<Vec<Change>, Fault> {
        let verb = direction.verb();
        let all: Vec<&Change> = match direction {
            Direction::Undo => self.changes.undoable().collect(),
            Direction::Redo => self.changes.redoable().collect(),
        };
        // What other programs and people write is nobody's change here, and taken back by nobody.
        let own = all.iter().filter(|change| !change.is_foreign());
        let changes: Vec<&Change> = own.copied().take(steps).collect();
        if direction == Direction::Undo {
            let last = changes.last().and_then(|last| all.iter().position(|one| one.id == last.id));
            self.check_untouched(&all[..last.map_or(0, |last| last + 1)])?;
        }
        match changes.len() {
            enough if enough >= steps => {}
            0 => return Err(Fault::failed(format!("nothing to {verb}"))),
            some => {
                let changes = count(some, "change");
                return Err(Fault::failed(format!("only {changes} to {verb}"))
                    .hint(self.run_command(&format!("{verb}(steps={some})"))));
            }
        }
        self.check_seen(&changes, context)?;
        Ok(changes.into_iter().cloned().collect())
    }

    /// Checks that nobody else has written to the files of these changes since they were made. The latest is first.
    fn check_untouched(&self, changes: &[&Change]) -> Result<(), Fault> {
        for (at, foreign) in changes.iter().enumerate().filter(|(_, change)| change.is_foreign()) {
            let Some(own) =
                changes[at..].iter().find(|own| !own.is_foreign() && own.shares_file_with(foreign))
            else {
                continue;
            };
            let files = foreign.files.iter().map(|file| self.display_path(&file.path));
            let shown = files.collect::<Vec<_>>().join(", ");
            let message = format!(
                "{shown} was changed on disk after {}: undo would take that back, too",
                own.kind
            );
            return Err(Fault::stale(message).hint(self.view_hint()));
        }
        Ok(())
    }

    /// Checks that the reader has seen the changes that the action is about to undo or redo, or made them.
    fn check_seen(&self, changes: &[&Change], context: &Context) -> Result<(), Fault> {
        let unseen = changes.iter().find(|change| is_unseen(change, context));
        unseen.map_or(Ok(()), |unseen| Err(self.unseen(unseen).hint(self.view_hint())))
    }

    /// Returns the error of an action that would take back a change that its reader hasn't seen.
    fn unseen(&self, change: &Change) -> Fault {
        let by = match change.author.reader.as_str() {
            "" => "from disk".to_owned(),
            reader => format!("by {reader}"),
        };
        let files = change.files.iter().map(|file| self.display_path(&file.path));
        let (shown, kind) = (files.collect::<Vec<_>>().join(", "), change.kind);
        Fault::stale(format!("{shown} has a change that you haven't seen: {kind} {by}"))
    }

    /// Returns the files with changes that the reader hasn't seen, each with the error of an action that would take them
    /// away.
    pub(super) fn unseen_changes(&self, context: &Context) -> HashMap<PathBuf, Fault> {
        let unseen = self.changes.undoable().filter(|change| is_unseen(change, context));
        let of = |change: &Change| {
            let fault = self.unseen(change);
            let hinted = |file: &FileChange| {
                let look = match quoted(&self.display_path(&file.path)) {
                    Some(path) => {
                        let call = format!("{}.lines({path})", self.callee());
                        format!("look: {}", docui::command::command(&["ask", &call]))
                    }
                    None => self.view_hint(),
                };
                (file.path.clone(), fault.clone().hint(look))
            };
            change.files.iter().map(hinted).collect::<Vec<_>>()
        };
        unseen.flat_map(of).collect()
    }

    /// Returns the change with an id, if it is the latest one of its files.
    fn named_change(
        &self,
        direction: Direction,
        id: &str,
        context: &Context,
    ) -> Result<Change, Fault> {
        let verb = direction.verb();
        let done: Vec<&Change> = self.changes.undoable().collect();
        let undone: Vec<&Change> = self.changes.redoable().collect();
        let (these, others) = match direction {
            Direction::Undo => (&done, &undone),
            Direction::Redo => (&undone, &done),
        };
        let Some(at) = these.iter().position(|change| change.id == id) else {
            if others.iter().any(|change| change.id == id) {
                return Err(match direction {
                    Direction::Redo => Fault::failed("that change is already applied"),
                    Direction::Undo => Fault::failed("that change is already undone")
                        .hint(self.run_command("redo()")),
                });
            }
            return Err(Fault::not_found("that change can't be found any more: it is too old")
                .hint(self.view_command()));
        };
        let change = these[at];
        let later = these[..at].iter().filter(|later| later.shares_file_with(change)).count();
        if later == 0 {
            return Ok(change.clone());
        }
        let files = change.files.iter().map(|file| self.display_path(&file.path));
        let (shown, others) = (files.collect::<Vec<_>>().join(", "), count(later, "change"));
        let message = format!("not the latest change of {shown}: {others} came after it");
        let later = these[..at].iter().filter(|later| later.shares_file_with(change));
        // What others made since is nothing to be taken back unseen.
        let is_own = |later: &&Change| later.author.reader == context.reader;
        Err(match later.copied().all(|later| is_own(&later) && !later.is_foreign()) {
            true => {
                let call = format!("{verb}(steps={})", at + 1);
                Fault::failed(message).hint(self.run_command(&call))
            }
            false => Fault::stale(message).hint(self.view_hint()),
        })
    }
}

/// True for a change that neither the reader nor the present run made, since the reader looked last.
fn is_unseen(change: &Change, context: &Context) -> bool {
    let author = &change.author;
    author.version > context.seen_version
        && author.run != context.run_id
        && (author.reader.is_empty() || author.reader != context.reader)
}

/// Says what an undo or a redo did to a file, in the numbers that its lines have now.
fn effect(direction: Direction, change: &FileChange) -> String {
    let state = match direction {
        Direction::Undo => "as before",
        Direction::Redo => "again",
    };
    match (change.before, change.after) {
        (_, None) if change.link => return "link deleted".to_owned(),
        (None, _) if change.link => return format!("link {state}"),
        (_, None) => return "deleted".to_owned(),
        (None, _) => {
            let lines: usize = change.splices.iter().map(|splice| splice.new.lines().count()).sum();
            return format!("created, {}", count(lines, "line"));
        }
        _ => {}
    }
    let changed = change.lines.changed_lines();
    let splices = match &change.lines {
        LineChange::Move(_) => return format!("lines {} back", listed_ranges(&changed)),
        LineChange::Splices(splices) => splices,
    };
    let there: Vec<_> = changed.iter().filter(|lines| !lines.is_empty()).cloned().collect();
    let removed = splices.iter().zip(&changed).filter(|(_, lines)| lines.is_empty());
    let removed: Vec<_> = removed
        .map(|(splice, at)| match at.start {
            0 => format!("{} gone from the top", count(splice.removed, "line")),
            line => format!("{} gone after {line}", count(splice.removed, "line")),
        })
        .collect();
    let mut told = Vec::new();
    match there.as_slice() {
        [] => {}
        [one] => told.push(format!("{} {state}", line_range(one))),
        several => told.push(format!("lines {} {state}", listed_ranges(several))),
    }
    let more = removed.len().saturating_sub(CHANGED_RANGES_NAMED);
    told.extend(removed.into_iter().take(CHANGED_RANGES_NAMED));
    if more > 0 {
        told.push(format!("{} gone", count(more, "more place")));
    }
    if change.mode_before.is_some() {
        told.push(format!("permissions {state}"));
    }
    if told.is_empty() { "unchanged".to_owned() } else { told.join(", ") }
}
