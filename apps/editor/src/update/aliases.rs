//! Actions by the names that models know from other tools, with the meaning that they have there.

use std::ops::Range;
use std::path::{Path, PathBuf};

use docui::{Ask, Blocking, Context, Done, Fault, Line, Text};

use crate::action::Action;
use crate::display::lines::match_row;
use crate::display::wording::{count, line_range, shown_lines};
use crate::limits::{MATCHES_ASKED, PLACES_LISTED};
use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::documents::Documents;
use crate::model::history::EditKind;
use crate::model::splice::Splice;
use crate::model::workspace_edit::WorkspaceEdit;

use super::edit::{Plan, Work};
use super::question::{Token, chosen_matches};
use super::text_search::{closest_match, matches, settled, with_endings_of};
use super::view_file::LinesWanted;
use super::whole_lines::{insertion, whole_lines};

impl Editor {
    /// Carries out an action that is an alias.
    pub(super) fn alias(&mut self, action: &Action, context: &Context) -> Result<Work, Fault> {
        let (path, line, text) = match action {
            Action::StrReplace { path, old_str, new_str } => {
                return self.replace_in(Some(&path.0), (old_str, new_str), false, context);
            }
            Action::StrReplaceHere { old_str, new_str } => {
                return self.replace_in(None, (old_str, new_str), false, context);
            }
            Action::StrRemove { path, old_str } => {
                return self.replace_in(Some(&path.0), (old_str, &"".into()), false, context);
            }
            Action::EditFile { file_path, old_string, new_string, replace_all } => {
                if old_string.is_empty() {
                    return Ok(self.create(&file_path.0, new_string, false, context)?.into());
                }
                let texts = (old_string.as_str(), new_string);
                return self.replace_in(Some(&file_path.0), texts, *replace_all, context);
            }
            Action::ViewFile { path, view_range } => {
                let lines = LinesWanted::of_range(view_range)?;
                return Ok(self.view_file(&path.0, lines, context).into());
            }
            Action::ReadFile { path, offset, limit }
            | Action::ReadFilePath { file_path: path, offset, limit } => {
                let lines = LinesWanted::from_offset(*offset, *limit)?;
                return Ok(self.view_file(&path.0, lines, context).into());
            }
            Action::CreateFile { path, file_text } => {
                return Ok(self.create(&path.0, file_text, false, context)?.into());
            }
            Action::WriteFile { path, content }
            | Action::WriteFilePath { file_path: path, content } => {
                return Ok(self.create(&path.0, content, true, context)?.into());
            }
            Action::InsertAfter { path, insert_line, insert_text: text }
            | Action::InsertNewStr { path, insert_line, new_str: text }
            | Action::InsertTextAfter { path, insert_line, text } => {
                (Some(path), *insert_line, text)
            }
            Action::InsertHere { insert_line, insert_text: text }
            | Action::InsertNewStrHere { insert_line, new_str: text }
            | Action::InsertTextHere { insert_line, text } => (None, *insert_line, text),
            _ => return Err(Fault::failed("the action was not begun")),
        };
        if line < 0 {
            return Err(Fault::usage(format!(
                "insert_line: expected 0 (the top) or a line, not {line}"
            )));
        }
        // Whole lines are inserted, whether the text ends in a newline or not.
        let whole = text.text.strip_suffix('\n').unwrap_or(&text.text);
        let text = &Text { text: whole.to_owned(), ..text.clone() };
        let next = line.saturating_add(1);
        let Some(path) = path else { return self.insert(&Line::Number(next), text, context) };
        let target = self.caller_path(&path.0, context);
        match self.open_file_at(&target) {
            Some(file) => {
                // Numbers of an open file are those that the reader saw.
                let name = self.files[file].path().display();
                self.insert(&Line::Text(format!("{name}:{next}")), text, context)
            }
            None => Ok(self.insert_into_closed(target, line, text, context)?.into()),
        }
    }

    /// The open file that a path means, if that can be told without the disk.
    fn open_file_at(&self, path: &Path) -> Option<usize> {
        self.file_index(&path.components().collect::<PathBuf>())
    }

    /// Inserts lines into a file that isn't open: its numbers are those on disk.
    fn insert_into_closed(
        &mut self,
        target: PathBuf,
        after: i64,
        text: &Text,
        context: &Context,
    ) -> Result<Blocking<Self>, Fault> {
        let (shown, text) = (self.display_path(&target), text.clone());
        let waits_for = format!("the disk of {shown}");
        let plan = move |documents: &mut Documents| {
            let path = documents.resolve(&target)?;
            if documents.open_file(&path).is_some() {
                let shown = documents.display(&path);
                return Err(Fault::usage(format!("this file is open as {shown}: name it so")));
            }
            let buffer = documents.text(&path)?;
            let lines = buffer.line_count();
            let start = usize::try_from(after).ok().filter(|start| *start <= lines);
            let start = start.ok_or_else(|| {
                let message = format!("insert_line: {shown} has {}", count(lines, "line"));
                Fault::usage(format!("{message}, not {after}")).hint(format!("expected 0-{lines}"))
            })?;
            let new = whole_lines(&text, buffer);
            let inserted = start..start + new.matches('\n').count();
            let splices = vec![insertion(buffer, start, new)];
            let edit = WorkspaceEdit::new(EditKind::Insert).splices(path, splices);
            Ok(Plan::Edit(edit, inserted))
        };
        self.edit(waits_for, context, plan, |editor, made, lines, context| {
            let inserted = count(lines.len(), "line");
            editor.report_lines(
                made.files.first().map(|file| file.path.as_path()),
                &lines,
                context,
                |shown| format!("{shown}: {inserted}, now {}", line_range(&lines)),
            )
        })
    }

    /// Replaces the one occurrence of a text in a file; several are asked about.
    fn replace_in(
        &mut self,
        path: Option<&str>,
        (old, new): (&str, &Text),
        all: bool,
        context: &Context,
    ) -> Result<Work, Fault> {
        if old.is_empty() {
            return Err(Fault::usage("the text to replace is empty")
                .hint("insert(path, insert_line, insert_text) adds lines"));
        }
        if old == new.text {
            return Err(Fault::usage("the old and the new text are the same"));
        }
        let target = match path {
            Some(path) => self.caller_path(path, context),
            None => self.files[self.seen_file_index(context)?].path().to_owned(),
        };
        let answered = match Token::answered(context)? {
            None => None,
            Some((Token::Occurrences { path, text, at }, choice)) => {
                let chosen = chosen_matches(choice, at.len())?;
                Some((path, text, chosen))
            }
            Some(_) => {
                return Err(
                    Fault::stale("the answer is to another question").hint("run the call again")
                );
            }
        };
        let waits_for = format!("the disk of {}", self.display_path(&target));
        let (old, new) = (old.to_owned(), new.text.clone());
        let plan = move |documents: &mut Documents| {
            let path = documents.resolve(&target)?;
            let shown = documents.display(&path);
            let buffer = documents.text(&path)?;
            let (text, digest) = (buffer.text(), buffer.digest());
            let found = matches(&text, &old);
            let chosen: Vec<Range<usize>> = match answered {
                Some((asked, before, chosen)) => {
                    if (asked, before) != (path.clone(), digest) {
                        return Err(Fault::stale(format!("{shown} changed since you were asked"))
                            .hint("nothing was changed: run the call again"));
                    }
                    chosen.into_iter().filter_map(|at| found.get(at).cloned()).collect()
                }
                None if found.is_empty() => {
                    let fault = Fault::failed(format!("no match in {shown}"));
                    let near = closest_match(&text, &old);
                    return Err(near.into_iter().fold(fault, Fault::hint));
                }
                None if all || found.len() == 1 => found.clone(),
                None => return ask_which(buffer, &path, digest, &found).map(Plan::Reply),
            };
            if chosen.is_empty() {
                let none = format!("0 of {}", count(found.len(), "match"));
                return Ok(Plan::Reply(Done::new(none).into()));
            }
            let splice = |found: &Range<usize>| {
                let old = text[found.clone()].to_owned();
                let new = settled(&text, found, &new);
                let new = with_endings_of(&new, &old, buffer.line_ending());
                Splice { at: found.start, old, new }
            };
            let splices: Vec<_> = chosen.iter().map(splice).collect();
            let line = buffer.line_at(chosen[0].start);
            let counted = (chosen.len(), found.len(), line);
            let edit = WorkspaceEdit::new(EditKind::Replace).splices(path, splices);
            Ok(Plan::Edit(edit, counted))
        };
        let blocking =
            self.edit(waits_for, context, plan, |editor, made, (some, of, line), context| {
                let file = made.files.first();
                let lines = match (some, file) {
                    (1, Some(file)) => file.lines.first().cloned().unwrap_or(line..line + 1),
                    _ => 0..0,
                };
                editor.report_lines(
                    file.map(|file| file.path.as_path()),
                    &lines,
                    context,
                    |shown| match (some, of) {
                        (1, 1) => format!("{shown}: 1 match, {}", line_range(&lines)),
                        (1, of) => {
                            format!("{shown}: 1 of {}, {}", count(of, "match"), line_range(&lines))
                        }
                        (some, of) if some < of => {
                            format!("{shown}: {some} of {}", count(of, "match"))
                        }
                        (_, of) => format!("{shown}: {}", count(of, "match")),
                    },
                )
            })?;
        Ok(blocking.into())
    }

    /// The outcome of an edit of one file, whose brief names lines.
    fn report_lines(
        &self,
        path: Option<&Path>,
        lines: &Range<usize>,
        context: &Context,
        brief: impl FnOnce(&str) -> String,
    ) -> Done {
        let Some(path) = path else { return Done::default() };
        let done = Done::new(brief(&self.display_path(path)));
        match self.file_index(path).filter(|_| !lines.is_empty()) {
            Some(index) => {
                done.shows([shown_lines(&self.files[index], lines, context.next_version())])
            }
            None => done,
        }
    }
}

fn ask_which(
    buffer: &Buffer,
    path: &Path,
    digest: u64,
    found: &[Range<usize>],
) -> Result<docui::Reply, Fault> {
    if found.len() > MATCHES_ASKED {
        return Err(Fault::refused(format!("{} matches are too many", found.len()))
            .hint("a longer text has fewer matches"));
    }
    let mut ask = Ask::pick_many(count(found.len(), "match"));
    for found in found.iter().take(PLACES_LISTED) {
        let line = buffer.line_at(found.start) + 1;
        ask = ask.option(format!("line {line}"), match_row(buffer, found, false));
    }
    ask = ask.unlisted(found.len().saturating_sub(PLACES_LISTED) as u64);
    let at = found.iter().map(|found| found.start).collect();
    Token::Occurrences { path: path.to_owned(), text: digest, at }.attach_to(ask)
}
