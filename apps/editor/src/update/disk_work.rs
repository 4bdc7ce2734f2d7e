//! What actions do at the disk: on another thread, while the session handles other requests.

use std::path::Path;
use std::time::Duration;

use docui::blocking::CommitPoint;
use docui::{Blocking, Completion, Context, Fault, Line, Reply};

use crate::action::Action;
use crate::limits::{DISK_DEADLINE, HEAD_FIRST, HEAD_LAST};
use crate::model::Editor;

use super::edit::Work;
use super::search::HeadsRequest;
use super::symbols::{ExcerptRequest, InsertPlace, OutlineRequest};

impl Editor {
    /// Returns what an action does at the disk; `None` if it does nothing there.
    pub(crate) fn disk_work(
        &mut self,
        action: &Action,
        context: &Context,
    ) -> Result<Option<Blocking<Self>>, Fault> {
        let context = &self.without_disk_answer(context)?;
        let by_name = self.in_closed_file(action, context);
        let work = match by_name.as_ref().unwrap_or(action) {
            Action::Open { path } => self.open_paths(path, context)?.into(),
            Action::Save {} => self.save(context)?.into(),
            Action::SaveAs { path } => self.save_as(&path.0, context)?.into(),
            Action::Create { path, text, overwrite } => match text.clone().into_text() {
                Ok(text) => self.create(&path.0, &text, *overwrite, context)?.into(),
                Err(data) => self.create_binary(&path.0, data, context).into(),
            },
            Action::Hold { on: false } => self.end_hold(context)?.into(),
            Action::Close { file } => {
                return self.save_before_closing(file.as_ref(), context);
            }
            Action::Diff { r#in } => self.diff(r#in, context)?.into(),
            Action::Find { .. } | Action::Grep { .. } => self.find(action, context)?.into(),
            Action::Uses { name, r#in, all } => self.uses(name, r#in, *all, context)?.into(),
            Action::Heads { files, first, last, not, markup, around, docs } => {
                if around.is_some() || !docs || self.names_a_range(files, context) {
                    if (*first, *last) != (HEAD_FIRST, HEAD_LAST) {
                        let names = files.iter().map(|file| format!("{:?}", file.0));
                        let call = format!("lines([{}])", names.collect::<Vec<_>>().join(", "));
                        let message = "first and last are of whole files, and a range has its own";
                        return Err(Fault::usage(message).hint(self.run_command(&call)));
                    }
                    let (names, not, around) = (files.clone(), not.clone(), around.clone());
                    let request = ExcerptRequest { names, not, around, docs: *docs };
                    self.several_ranges(&request, context)?.into()
                } else {
                    let (files, not) = (files.clone(), not.clone());
                    let request =
                        HeadsRequest { files, first: *first, last: *last, not, markup: *markup };
                    self.heads_of(&request, context)?.into()
                }
            }
            Action::Glob { pattern, path } => self.glob(pattern, path.as_ref(), context)?.into(),
            Action::Replace { .. } => self.replace(action, context)?.into(),
            Action::ReplaceLines { first, last, text } => {
                self.replace_lines(first, last, text, context)?
            }
            Action::ReplaceRange { range, text } => self.replace_range(range, text, context)?,
            Action::MoveLines { first, last, before } => {
                self.move_lines(first, last, before, context)?
            }
            Action::Insert { at, text } => self.insert(at, text, context)?,
            Action::DeleteLines { first, last } => self.delete_lines(first, last, context)?,
            Action::ExtractMethod { range, name, types } => {
                self.extract_method(range, name, types, context)?
            }
            Action::Outline { r#in, public, count, kinds, depth, name } => {
                let request = OutlineRequest {
                    files: r#in.clone(),
                    public: *public,
                    count: *count,
                    kinds: kinds.clone(),
                    depth: *depth,
                    name: name.clone(),
                };
                self.outline(request, context)?.into()
            }
            Action::LinesOf { range } => self.lines_of(range, context)?.into(),
            Action::Lines { first, last } => self.lines_between(first, last, context)?.into(),
            Action::Body { symbol } => self.body(symbol, context)?.into(),
            Action::Move { range, before, after, at_start_of, at_end_of } => {
                let (before, after) = (before.as_ref(), after.as_ref());
                let (at_start_of, at_end_of) = (at_start_of.as_ref(), at_end_of.as_ref());
                let place = InsertPlace { before, after, at_start_of, at_end_of };
                self.move_range(range, place, context)?
            }
            Action::Swap { one, other } => self.swap(one, other, context)?,
            Action::Delete { range } => self.delete(range, context)?,
            Action::DeleteAll { ranges } => self.delete_all(ranges, context)?,
            Action::AppendTo { path, text } => {
                let file = Line::Text(path.0.clone());
                let place = InsertPlace {
                    before: None,
                    after: None,
                    at_start_of: None,
                    at_end_of: Some(&file),
                };
                self.insert_beside(text, place, "", context)?
            }
            Action::InsertBeside { text, before, after, at_start_of, at_end_of, indent } => {
                let (before, after) = (before.as_ref(), after.as_ref());
                let (at_start_of, at_end_of) = (at_start_of.as_ref(), at_end_of.as_ref());
                let place = InsertPlace { before, after, at_start_of, at_end_of };
                self.insert_beside(text, place, indent, context)?
            }
            Action::ReplaceBody { symbol, text } => self.replace_body(symbol, text, context)?,
            Action::Rename { symbol, new, r#in } => self.rename(symbol, new, r#in, context)?,
            Action::Undo { steps, change } => {
                self.undo(*steps, change.as_ref().map(|change| change.0.as_str()), context)?
            }
            Action::Redo { steps, change } => {
                self.redo(*steps, change.as_ref().map(|change| change.0.as_str()), context)?
            }
            Action::Apply { patch }
            | Action::ApplyPatch { patch }
            | Action::ApplyPatchInput { input: patch } => self.apply(patch, context)?.into(),
            alias @ (Action::StrReplace { .. }
            | Action::StrReplaceHere { .. }
            | Action::StrRemove { .. }
            | Action::EditFile { .. }
            | Action::ViewFile { .. }
            | Action::ReadFile { .. }
            | Action::ReadFilePath { .. }
            | Action::InsertAfter { .. }
            | Action::InsertNewStr { .. }
            | Action::InsertTextAfter { .. }
            | Action::InsertHere { .. }
            | Action::InsertNewStrHere { .. }
            | Action::InsertTextHere { .. }
            | Action::CreateFile { .. }
            | Action::WriteFile { .. }
            | Action::WriteFilePath { .. }) => self.alias(alias, context)?,
            Action::Hold { on: true } | Action::Select { .. } | Action::Goto { .. } => {
                return Ok(None);
            }
        };
        Ok(Some(match work {
            Work::Blocking(blocking) => blocking,
            // Work that is done already.
            Work::Reply(reply) => {
                let deadline = DISK_DEADLINE;
                self.disk_task(String::new(), deadline, context, |_| (), |_, (), _, _| Ok(*reply))
            }
        }))
    }

    /// Makes work at the disk of a file. `finish` gets its result, with the version that the session has by
    /// then.
    pub(super) fn at_disk<T: Send + 'static>(
        &self,
        path: &Path,
        context: &Context,
        work: impl FnOnce(&CommitPoint) -> T + Send + 'static,
        finish: impl FnOnce(&mut Self, T, &Context, Completion) -> Result<Reply, Fault> + Send + 'static,
    ) -> Blocking<Self> {
        let waits_for = format!("the disk of {}", self.display_path(path));
        self.disk_task(waits_for, DISK_DEADLINE, context, work, finish)
    }

    /// Makes work on another thread that waits for what `waits_for` names. `finish` gets its result, with the
    /// version that the session has by then.
    pub(super) fn disk_task<T: Send + 'static>(
        &self,
        waits_for: String,
        deadline: Duration,
        context: &Context,
        work: impl FnOnce(&CommitPoint) -> T + Send + 'static,
        finish: impl FnOnce(&mut Self, T, &Context, Completion) -> Result<Reply, Fault> + Send + 'static,
    ) -> Blocking<Self> {
        let context = context.clone();
        Blocking::new(waits_for, deadline, work, move |editor: &mut Self, result, completion| {
            editor.invalidate_snapshot();
            editor.version = completion.version;
            let context = Context { version: completion.version, ..context };
            let reply = finish(editor, result, &context, completion)?;
            let reply = editor.concluded(reply, &context);
            editor.write_manifest_if_stale();
            Ok(reply)
        })
    }

    /// Counts the version that an action leaves, and tells what it did to line numbers. A query leaves all as it is.
    pub(crate) fn concluded(&mut self, reply: Reply, context: &Context) -> Reply {
        match reply {
            Reply::Done(done) if !context.query => {
                self.version += 1;
                Reply::Done(self.tell_renumbering(done, context))
            }
            reply => reply,
        }
    }
}
