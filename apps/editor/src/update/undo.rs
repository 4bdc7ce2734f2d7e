//! Undo and redo, over all files that a change touched.
//!
//! Without a name, the latest changes are undone and the latest undone ones are redone, as in any editor. A change that
//! is named is taken back alone, whatever came after it, and made again alone.

mod one_change;

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

    fn other(self) -> Self {
        match self {
            Direction::Undo => Direction::Redo,
            Direction::Redo => Direction::Undo,
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
            Some(named) => match self.named_change(direction, named)? {
                Named::Latest(change) => vec![*change],
                Named::Alone(direction, origin) => {
                    return self.turn_one(direction, &origin, context);
                }
            },
            None => match self.next_changes(direction, steps, context)? {
                Next::Latest(changes) => changes,
                Next::Alone(origin) => return self.turn_one(direction, &origin, context),
            },
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
        let paths = edit.files.iter().map(|file| self.display_path(&file.path));
        let waits_for = waits_for(&paths.collect::<Vec<_>>());
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
            editor.told(direction, &changes, &made.files, ids.last().cloned())
        };
        let begun = (waits_for, ids_first);
        Ok(self.begin_edit(begun, context, plan, operation, done)?.into())
    }

    /// Makes the outcome of an undo or a redo, with the link that goes back.
    fn told(
        &self,
        direction: Direction,
        changes: &[Change],
        files: &[FileChange],
        back: Option<String>,
    ) -> Done {
        let (brief, detail) = self.outcome(direction, changes, files);
        let back = back.map(Into::into);
        let done = Done::new(brief).reverts();
        let done = detail.into_iter().fold(done, Done::detail);
        match direction {
            Direction::Undo => done.link("redo", &Action::Redo { steps: 1, change: back }),
            Direction::Redo => done.link("undo", &Action::Undo { steps: 1, change: back }),
        }
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
    ) -> Result<Next, Fault> {
        let verb = direction.verb();
        let changes: Vec<&Change> = match direction {
            Direction::Undo => {
                let all: Vec<&Change> = self.changes.undoable().collect();
                // What other programs and people write is nobody's change here, and taken back by nobody.
                let own = all.iter().filter(|change| !change.is_foreign() && self.is_made(change));
                let changes: Vec<&Change> = own.copied().take(steps).collect();
                let last =
                    changes.last().and_then(|last| all.iter().position(|one| one.id == last.id));
                self.check_untouched(&all[..last.map_or(0, |last| last + 1)])?;
                changes
            }
            Direction::Redo => self.changes.redoable().take(steps).collect(),
        };
        if direction == Direction::Redo
            && steps == 1
            && let Some(origin) = self.taken_back_last(changes.first().copied())
        {
            return Ok(Next::Alone(origin));
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
        match (direction, changes.as_slice()) {
            (Direction::Undo, changes) if !self.are_latest(changes) => match changes {
                [one] => Ok(Next::Alone(one.origin().to_owned())),
                _ => {
                    let why = "a change among them was taken back alone or made again: nothing was undone";
                    Err(Fault::failed(why).hint(self.run_command("undo()")))
                }
            },
            _ => Ok(Next::Latest(changes.into_iter().cloned().collect())),
        }
    }

    /// True for a change of which no later one says that it is taken back. Those that take others back aren't made: they
    /// are undone by redoing the other.
    fn is_made(&self, change: &Change) -> bool {
        let standing = self.changes.standing(change.origin());
        standing.is_some_and(|standing| standing.is_made && standing.by.id == change.id)
    }

    /// Returns the change that was taken back alone after the one that is redone next was undone.
    fn taken_back_last(&self, next: Option<&Change>) -> Option<String> {
        let mut done = self.changes.undoable();
        let last = done.find(|change| {
            let standing = self.changes.standing(change.origin());
            change.of.is_some()
                && standing.is_some_and(|standing| !standing.is_made && standing.by.id == change.id)
        })?;
        let is_later = next.is_none_or(|next| last.author.version > next.author.version);
        is_later.then(|| last.origin().to_owned())
    }

    /// True if these changes, the latest first, are the latest ones of their files, and none of them is about another.
    fn are_latest(&self, changes: &[&Change]) -> bool {
        let is_one = |change: &Change| changes.iter().any(|one| one.id == change.id);
        let mut later: Vec<&Change> = Vec::new();
        for change in self.changes.undoable() {
            match is_one(change) {
                false => later.push(change),
                true if change.of.is_some() => return false,
                true if later.iter().any(|later| later.shares_file_with(change)) => return false,
                true => {}
            }
        }
        true
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

    /// Finds the change with an id, and how it is undone or redone.
    fn named_change(&self, direction: Direction, id: &str) -> Result<Named, Fault> {
        let change = self.changes.change(id).ok_or_else(|| self.forgotten())?;
        // To undo what takes a change back is to make that change again.
        let direction = match change.of.is_some() && change.kind == EditKind::Undo {
            true => direction.other(),
            false => direction,
        };
        let origin = change.origin();
        let standing = self.changes.standing(origin).ok_or_else(|| self.forgotten())?;
        match (direction, standing.is_made) {
            (Direction::Redo, true) => Err(Fault::failed("that change is already applied")),
            (Direction::Undo, false) => Err(Fault::failed("that change is already undone")
                .hint(self.run_command(&format!("redo(change=\"{origin}\")")))),
            (Direction::Undo, true) if self.are_latest(&[standing.by]) => {
                Ok(Named::Latest(Box::new(standing.by.clone())))
            }
            (Direction::Redo, false) if self.is_redone_next(standing.by) => {
                Ok(Named::Latest(Box::new(standing.by.clone())))
            }
            _ => Ok(Named::Alone(direction, origin.to_owned())),
        }
    }

    /// True for a change that was undone if no other one of its files is redone before it.
    fn is_redone_next(&self, change: &Change) -> bool {
        let mut redoable = self.changes.redoable();
        let before = redoable.by_ref().take_while(|other| other.id != change.id);
        let shared = before.filter(|other| other.shares_file_with(change)).count();
        shared == 0 && self.changes.redoable().any(|other| other.id == change.id)
    }

    /// Returns the error for a change that isn't known.
    fn forgotten(&self) -> Fault {
        Fault::not_found("that change isn't known: a session keeps the latest ones only")
            .hint(self.view_command())
    }
}

/// The changes that are undone or redone next.
enum Next {
    /// They are the latest ones, that one first.
    Latest(Vec<Change>),
    /// One that isn't the latest of its files.
    Alone(String),
}

/// A change that is named.
enum Named {
    /// It is the latest one of its files.
    Latest(Box<Change>),
    /// It isn't; what is to be done to it.
    Alone(Direction, String),
}

/// Names what is waited for.
fn waits_for(paths: &[String]) -> String {
    match paths {
        [one] => format!("the disk of {one}"),
        several => format!("the disk of {}", count(several.len(), "file")),
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
