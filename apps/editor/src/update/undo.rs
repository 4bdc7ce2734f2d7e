//! Undo and redo.

use docui::{Context, Done, Fault, Reply};

use crate::action::Action;
use crate::model::Editor;
use crate::model::history::Change;

use super::{author, count};

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Undo,
    Redo,
}

impl Editor {
    pub(super) fn undo(
        &mut self,
        steps: i64,
        change: Option<&str>,
        context: &Context,
    ) -> Result<Reply, Fault> {
        self.step(Way::Undo, steps, change, context)
    }

    pub(super) fn redo(
        &mut self,
        steps: i64,
        change: Option<&str>,
        context: &Context,
    ) -> Result<Reply, Fault> {
        self.step(Way::Redo, steps, change, context)
    }

    fn step(
        &mut self,
        way: Way,
        steps: i64,
        change: Option<&str>,
        context: &Context,
    ) -> Result<Reply, Fault> {
        let verb = if way == Way::Undo { "undo" } else { "redo" };
        let index = match change {
            Some(change) => self.owner(way, change)?,
            None => self.seen_current(context)?,
        };
        let file = &self.files[index];
        let shown = self.shown(file.path());
        let wanted = usize::try_from(steps).ok().filter(|steps| *steps > 0);
        let wanted = wanted.ok_or_else(|| Fault::usage("steps: expected 1 or more"))?;
        let there: Vec<&Change> = match way {
            Way::Undo => file.history().undoable().take(wanted).collect(),
            Way::Redo => file.history().redoable().take(wanted).collect(),
        };
        if there.len() < wanted {
            return Err(match there.len() {
                0 => Fault::failed(format!("nothing to {verb} in {shown}")),
                some => {
                    Fault::failed(format!("only {} to {verb} in {shown}", count(some, "change")))
                        .hint(self.command(&format!("{verb}(steps={some})")))
                }
            });
        }
        // What a reader didn't see isn't theirs to take back by number.
        let unseen = |change: &&Change| {
            change.author.version > context.seen_version && change.author.run != context.run_id
        };
        if change.is_none()
            && (context.seen_version > 0 || context.seen_lost)
            && let Some(unseen) = there.iter().copied().find(|change| unseen(change))
        {
            let by = match unseen.author.reader.as_str() {
                "" => "from disk".to_owned(),
                reader => format!("by {reader}"),
            };
            return Err(Fault::stale(format!(
                "{shown} has a change that you haven't seen: {} {by}",
                unseen.what
            ))
            .hint(self.look_hint()));
        }
        self.before_change(index)?;
        self.unlist();
        let mut names = Vec::new();
        for _ in 0..wanted {
            let stepped = match way {
                Way::Undo => self.files[index].undo(author(context)),
                Way::Redo => self.files[index].redo(author(context)),
            };
            match stepped {
                Ok(what) => names.push(what),
                // What was done so far stands, and is said.
                Err(fault) if !names.is_empty() => {
                    names.push("then stopped".into());
                    return Ok(Done::new(format!("{}: {fault}", names.join(", "))).into());
                }
                Err(fault) => return Err(fault),
            }
        }
        let mut brief = names.join(", ");
        if self.current.as_deref() != Some(self.files[index].path()) {
            brief = format!("{shown}: {brief}");
        }
        if let Some(moved) = self.moved(index, context) {
            brief = format!("{brief}; {moved}");
        }
        let history = self.files[index].history();
        let done = Done::new(brief);
        Ok(match way {
            Way::Undo => {
                let change = history.redoable().next().map(|change| change.id.clone());
                done.link("redo", &Action::Redo { steps: 1, change })
            }
            Way::Redo => {
                let change = history.undoable().next().map(|change| change.id.clone());
                done.link("undo", &Action::Undo { steps: 1, change })
            }
        }
        .into())
    }

    /// The file whose next change to undo or redo is the one named.
    fn owner(&self, way: Way, change: &str) -> Result<usize, Fault> {
        let verb = if way == Way::Undo { "undo" } else { "redo" };
        for (index, file) in self.files.iter().enumerate() {
            let (mut to_undo, mut to_redo) = (file.history().undoable(), file.history().redoable());
            let (done, undone) = (
                to_undo.position(|other| other.id == change),
                to_redo.position(|other| other.id == change),
            );
            let place = if way == Way::Undo { done } else { undone };
            match place {
                Some(0) => return Ok(index),
                Some(later) => {
                    let shown = self.shown(file.path());
                    let others = count(later, "change");
                    return Err(Fault::failed(format!(
                        "not the latest change of {shown}: {others} came after it"
                    ))
                    .hint(self.command(&format!("{verb}(steps={})", later + 1))));
                }
                None if done.is_some() => return Err(Fault::failed("that change is made already")),
                None if undone.is_some() => {
                    return Err(
                        Fault::failed("that change is undone already").hint(self.command("redo()"))
                    );
                }
                None => {}
            }
        }
        Err(Fault::failed(
            "that change can't be told any more: the file was closed, or it is too old",
        )
        .hint(self.command(&format!("{verb}()"))))
    }
}
