//! Undo and redo.

use docui::{Context, Done, Fault, Reply};

use crate::action::Action;
use crate::display::wording::count;
use crate::model::Editor;
use crate::model::history::{Author, Change, EditKind};
use crate::model::open_file::OpenFile;

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

    /// The changes that can be undone or redone, the next one first.
    fn changes(self, file: &OpenFile) -> Vec<&Change> {
        match self {
            Direction::Undo => file.history().undoable().collect(),
            Direction::Redo => file.history().redoable().collect(),
        }
    }

    /// Undoes or redoes one change.
    fn step(self, file: &mut OpenFile, author: Author) -> Result<EditKind, Fault> {
        match self {
            Direction::Undo => file.undo(author),
            Direction::Redo => file.redo(author),
        }
    }

    /// Adds the link that takes the whole action back.
    fn link_back(self, done: Done, file: &OpenFile) -> Done {
        match self {
            Direction::Undo => {
                let change =
                    file.history().redoable().next().map(|change| change.id.clone().into());
                done.link("redo", &Action::Redo { steps: 1, change })
            }
            Direction::Redo => done.link(
                "undo",
                &Action::Undo { steps: 1, change: file.last_change_id().map(Into::into) },
            ),
        }
    }
}

impl Editor {
    pub(super) fn undo(
        &mut self,
        steps: i64,
        change: Option<&str>,
        context: &Context,
    ) -> Result<Reply, Fault> {
        self.step_history(Direction::Undo, steps, change, context)
    }

    pub(super) fn redo(
        &mut self,
        steps: i64,
        change: Option<&str>,
        context: &Context,
    ) -> Result<Reply, Fault> {
        self.step_history(Direction::Redo, steps, change, context)
    }

    fn step_history(
        &mut self,
        direction: Direction,
        steps: i64,
        change: Option<&str>,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let index = match change {
            Some(change) => self.file_with_next_change(direction, change)?,
            None => self.seen_file_index(context)?,
        };
        let steps = usize::try_from(steps).ok().filter(|steps| *steps > 0);
        let steps = steps.ok_or_else(|| Fault::usage("steps: expected 1 or more"))?;
        self.check_steps(direction, index, steps)?;
        // A reader who names no change must have seen those that they take back.
        if change.is_none() {
            self.check_seen(direction, index, steps, context)?;
        }
        self.before_change(index)?;
        self.hide_search_results();
        let mut kinds = Vec::new();
        for _ in 0..steps {
            match direction.step(&mut self.files[index], Author::of(context)) {
                Ok(kind) => kinds.push(kind.to_string()),
                // The steps so far stand, so the outcome is what was done and why it stopped.
                Err(fault) if !kinds.is_empty() => {
                    let brief = format!("{}, then stopped: {fault}", kinds.join(", "));
                    return Ok(Done::new(brief).reverts().into());
                }
                Err(fault) => return Err(fault),
            }
        }
        let brief = self.brief_about(index, kinds.join(", "));
        Ok(direction.link_back(Done::new(brief).reverts(), &self.files[index]).into())
    }

    /// Checks that a file has enough changes to undo or redo.
    fn check_steps(&self, direction: Direction, index: usize, steps: usize) -> Result<(), Fault> {
        let (verb, shown) = (direction.verb(), self.display_name(index));
        match direction.changes(&self.files[index]).len() {
            enough if enough >= steps => Ok(()),
            0 => Err(Fault::failed(format!("nothing to {verb} in {shown}"))),
            some => {
                let changes = count(some, "change");
                Err(Fault::failed(format!("only {changes} to {verb} in {shown}"))
                    .hint(self.run_command(&format!("{verb}(steps={some})"))))
            }
        }
    }

    /// Checks that the reader has seen the changes that the action is about to undo or redo. Readers who
    /// have seen nothing at all are not held to this.
    fn check_seen(
        &self,
        direction: Direction,
        index: usize,
        steps: usize,
        context: &Context,
    ) -> Result<(), Fault> {
        if context.seen_version == 0 && !context.seen_lost {
            return Ok(());
        }
        let unseen = |change: &&Change| {
            change.author.version > context.seen_version && change.author.run != context.run_id
        };
        let mut changes = direction.changes(&self.files[index]).into_iter().take(steps);
        let Some(unseen) = changes.find(unseen) else { return Ok(()) };
        let by = match unseen.author.reader.as_str() {
            "" => "from disk".to_owned(),
            reader => format!("by {reader}"),
        };
        let (shown, kind) = (self.display_name(index), unseen.kind);
        Err(Fault::stale(format!("{shown} has a change that you haven't seen: {kind} {by}"))
            .hint(self.view_hint()))
    }

    /// Returns the file whose next change to undo or redo is the one named.
    fn file_with_next_change(&self, direction: Direction, id: &str) -> Result<usize, Fault> {
        let verb = direction.verb();
        for (index, file) in self.files.iter().enumerate() {
            let done = file.history().undoable().position(|other| other.id == id);
            let undone = file.history().redoable().position(|other| other.id == id);
            let position = if direction == Direction::Undo { done } else { undone };
            match position {
                Some(0) => return Ok(index),
                Some(later) => {
                    let (shown, others) = (self.display_name(index), count(later, "change"));
                    let message =
                        format!("not the latest change of {shown}: {others} came after it");
                    return Err(Fault::failed(message)
                        .hint(self.run_command(&format!("{verb}(steps={})", later + 1))));
                }
                None if done.is_some() => {
                    return Err(Fault::failed("that change is already applied"));
                }
                None if undone.is_some() => {
                    return Err(Fault::failed("that change is already undone")
                        .hint(self.run_command("redo()")));
                }
                None => {}
            }
        }
        Err(Fault::not_found(
            "that change can't be found any more: its file was closed, or it is too old",
        )
        .hint(self.view_command()))
    }
}
