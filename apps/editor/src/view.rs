//! The window: a page of the current file. Showing it costs as much as the page, however long the
//! file is.
//!
//! | module | holds |
//! |---|---|
//! | [`page`] | the lines that fit, and what they cost |

mod page;

use std::ops::Range;

use docui::{Line, Lod, Object, View, ViewRequest, tokens};

use crate::action::Action;
use crate::display::language::language;
use crate::display::lines::readable;
use crate::display::wording::{count, left_out_changes, line_range, range_name};
use crate::limits::{FILES_LISTED, FOLDERS_NAMED, PAGE, UNSAVED_NAMED};
use crate::model::Editor;
use crate::model::changes_outside::{ChangesOutside, append};
use crate::model::editor::disk_changes::disk_wait;
use crate::model::edits::Edits;
use crate::model::open_file::{DiskState, DiskWait, OpenFile};
use crate::model::open_files::OpenFiles;

use page::{PageLines, estimated_cost, lines_within, page};

/// The approximate cost in tokens of a link or an anchor beside its label.
const ANCHOR_TOKENS: u64 = 7;

/// Tokens spent on lists above the page, and how much they may take.
struct ListBudget {
    spent: u64,
    max: u64,
}

pub(crate) fn show(editor: &Editor, request: &ViewRequest) -> View {
    let Some(file) = editor.files.current() else {
        return show_nothing(&editor.files, &editor.edits);
    };
    let title = title(editor, file);
    let mut view = View::new(&*title);
    view.document(file.key()).bind("file", file_object(&editor.files, file)).focus(file.key());
    view.custom("path", file.path().display().to_string());
    view.custom("lines", file.buffer().line_count());
    view.custom("unsaved", file.is_unsaved());
    let selection = selection_object(editor);
    if let Some((object, _)) = &selection {
        view.bind("selection", object.clone());
    }
    if request.lod == Lod::Gist {
        view.hidden(estimated_cost(file.buffer().len() as u64, &PageLines::default()));
        return view;
    }
    let mut budget =
        ListBudget { spent: tokens::estimate(&title) + 4 * ANCHOR_TOKENS, max: request.budget / 2 };
    list_open_files(&editor.files, &mut view, &mut budget);
    budget.spent += list_binaries(&editor.files, &mut view);
    if let Some((object, label)) = selection {
        name_selected_lines(editor, &mut view);
        budget.spent += tokens::estimate(&label) + ANCHOR_TOKENS + 3;
        view.text("selection: ").object(object).text("\n");
    }
    let room = request.budget.saturating_sub(budget.spent);
    let shown = match request.lod {
        Lod::Full => page(file, usize::MAX, room),
        _ => page(file, PAGE, room),
    };
    add_links(&editor.files, &editor.edits, &mut view, file, &shown.lines);
    let language = language(file.path());
    if !shown.lines.is_empty() {
        let (first, ids) = (shown.lines.start as u64 + 1, file.line_ids().of(&shown.lines));
        view.identified_lines(&language, first, shown.text.clone(), ids);
    }
    let mut left = room.saturating_sub(shown.tokens);
    let all = file.buffer().line_count();
    let ChangesOutside { shown: wanted, left_out } =
        ChangesOutside::of(&file.changed_lines, &shown.lines, all);
    let mut unshown = Vec::new();
    for changed in wanted {
        let fits = lines_within(file, changed.clone(), left);
        left = left.saturating_sub(fits.tokens);
        append(&mut unshown, fits.lines.end..changed.end);
        if !fits.lines.is_empty() {
            let (first, ids) = (fits.lines.start as u64 + 1, file.line_ids().of(&fits.lines));
            view.identified_lines(&language, first, fits.text, ids);
        }
    }
    left_out.into_iter().for_each(|lines| append(&mut unshown, lines));
    let goto = |line: usize| editor.files.paths.run_command(&format!("goto({})", line + 1));
    let note = left_out_changes(&unshown, &shown.lines, goto);
    if !note.is_empty() {
        view.text(note);
    }
    view.position(match (shown.lines.len(), file.buffer().line_count()) {
        (_, 0) => "empty".to_owned(),
        (0, _) => format!("at line {}", file.top_line + 1),
        _ => line_range(&shown.lines),
    });
    let bytes = file.buffer().byte_range(&shown.lines).len();
    let hidden = file.buffer().len().saturating_sub(bytes) as u64;
    view.hidden(estimated_cost(hidden, &shown));
    view
}

fn show_nothing(open_files: &OpenFiles, edits: &Edits) -> View {
    let mut view = View::new("no file");
    let mut changed: Vec<String> = Vec::new();
    for file in edits.changes.undoable().flat_map(|change| &change.files) {
        let shown = readable(&open_files.paths.display_path(&file.path));
        if !changed.contains(&shown) {
            changed.push(shown);
        }
    }
    if !changed.is_empty() {
        let more = changed.len().saturating_sub(FILES_LISTED);
        changed.truncate(FILES_LISTED);
        let more = if more > 0 { format!(", {}", count(more, "more file")) } else { String::new() };
        let diff = open_files.paths.run_command("diff()");
        view.text(format!("changed: {}{more} · {diff}\n", changed.join(", ")));
    }
    list_binaries(open_files, &mut view);
    if open_files.binaries.is_empty() {
        view.text(format!("No file is open: {} <path>…\n", open_files.paths.open_command()));
    }
    view
}

fn title(editor: &Editor, file: &OpenFile) -> String {
    let lines = count(file.buffer().line_count(), "line");
    let state = match (editor.files.hold, file.is_unsaved()) {
        (true, true) => " · unsaved, edits are held",
        (true, false) => " · edits are held",
        (false, true) => " · unsaved",
        (false, false) if file.is_new() => " · new",
        (false, false) => "",
    };
    let disk = match file.disk_state() {
        DiskState::Same => "",
        DiskState::Changed => " · changed on disk",
        DiskState::Deleted => " · deleted on disk",
        DiskState::Unusable(_) => " · changed on disk to content that can't be opened",
    };
    let wait = match disk_wait(&editor.disk_watch, file) {
        None => "",
        Some(DiskWait::Write) => " · being written",
        Some(DiskWait::Check) => " · its disk does not answer",
    };
    format!(
        "{} · {lines}{state}{disk}{wait}",
        readable(&editor.files.paths.display_path(file.path()))
    )
}

fn file_object(open_files: &OpenFiles, file: &OpenFile) -> Object {
    Object::new(file.key(), readable(&open_files.paths.display_path(file.path()))).ty("file")
}

/// Returns the selection with its label, unless there is none or its text is gone.
fn selection_object(editor: &Editor) -> Option<(Object, String)> {
    let (index, range) = editor.files.existing_range(editor.selection.as_deref()?)?;
    let lines = editor.files[index].buffer().lines_of(&range.bytes);
    let label = readable(&range_name(&editor.files.display_name(index), &lines));
    let object = Object::new(&*range.key, label.clone()).ty("selection").rev(range.rev);
    Some((object, label))
}

/// Names the numbers in the selection's label.
fn name_selected_lines(editor: &Editor, view: &mut View) {
    let range = editor.selection.as_deref().and_then(|key| editor.files.existing_range(key));
    if let Some((index, range)) = range {
        let file = &editor.files[index];
        let lines = file.buffer().lines_of(&range.bytes);
        view.shows_number(file.key(), lines.start as u64 + 1, lines.end as u64);
    }
}

fn list_open_files(open_files: &OpenFiles, view: &mut View, budget: &mut ListBudget) {
    let all = open_files.listed_files().count();
    if all <= 1 {
        return;
    }
    if all > FILES_LISTED {
        return count_open_files(open_files, view);
    }
    for (index, file) in open_files.listed_files().enumerate() {
        let state = match (open_files.is_current(file), file.is_unsaved()) {
            (true, _) => " current",
            (false, true) => " unsaved",
            (false, false) => "",
        };
        if budget.spent > budget.max && index > 0 {
            view.text(format!(" and {} more", all - index));
            break;
        }
        let label = open_files.paths.display_path(file.path());
        budget.spent += tokens::estimate(&label) + ANCHOR_TOKENS + 2;
        let separator = if index > 0 { " · " } else { "" };
        view.text(separator).object(file_object(open_files, file)).text(state);
    }
    view.text("\n");
}

/// Lists the open files that are no text, each with what it is. Returns about how many tokens that
/// takes.
fn list_binaries(open_files: &OpenFiles, view: &mut View) -> u64 {
    let mut spent = 0;
    for (at, file) in open_files.binaries.iter().enumerate() {
        if at == FILES_LISTED {
            let more = open_files.binaries.iter().count() - at;
            view.text(format!("and {} that are no text\n", count(more, "more file")));
            break;
        }
        let label = readable(&open_files.paths.display_path(file.path()));
        spent += tokens::estimate(&label) + 2 * ANCHOR_TOKENS;
        if file.is_missing() {
            view.text(format!("{label} · deleted on disk\n"));
            continue;
        }
        let object =
            Object::new(open_files.paths.binary_key(file), label).ty("file").rev(file.rev());
        view.object(object.media(file.media().clone())).text("\n");
    }
    spent
}

/// Counts the open files, and lists those that are unsaved: `48 files open in src, tests/it`.
fn count_open_files(open_files: &OpenFiles, view: &mut View) {
    let folder = |file: &OpenFile| {
        let shown = open_files.paths.display_path(file.path());
        shown.rsplit_once('/').map_or_else(|| ".".to_owned(), |(folder, _)| folder.to_owned())
    };
    let mut folders: Vec<(String, usize)> = Vec::new();
    for file in open_files.listed_files() {
        let folder = folder(file);
        match folders.iter_mut().find(|(known, _)| *known == folder) {
            Some((_, count)) => *count += 1,
            None => folders.push((folder, 1)),
        }
    }
    folders.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let named = folders.iter().take(FOLDERS_NAMED).map(|(folder, _)| readable(folder));
    let more = if folders.len() > FOLDERS_NAMED { ", …" } else { "" };
    let named = named.collect::<Vec<_>>().join(", ");
    view.text(format!(
        "{} open in {named}{more}",
        count(open_files.listed_files().count(), "file")
    ));
    let unsaved: Vec<_> = open_files.iter().filter(|file| file.is_unsaved()).collect();
    for (at, file) in unsaved.iter().take(UNSAVED_NAMED).enumerate() {
        view.text(if at == 0 { " · unsaved: " } else { ", " })
            .object(file_object(open_files, file));
    }
    if unsaved.len() > UNSAVED_NAMED {
        view.text(format!(" and {} more", unsaved.len() - UNSAVED_NAMED));
    }
    view.text("\n");
}

fn add_links(
    open_files: &OpenFiles,
    edits: &Edits,
    view: &mut View,
    file: &OpenFile,
    shown: &Range<usize>,
) {
    let goto = |line: usize| Action::Goto { line: Line::Number(line as i64 + 1) };
    if shown.start > 0 && !shown.is_empty() {
        view.nav("previous page", &goto(shown.start.saturating_sub(shown.len())));
    }
    if shown.end < file.buffer().line_count() && !shown.is_empty() {
        view.nav("next page", &goto(shown.end));
    }
    if let Some(change) = edits.changes.undoable().find(|change| edits.changes.is_made(change)) {
        view.nav("undo", &Action::Undo { steps: 1, change: Some(change.id.clone().into()) });
    }
    if let Some(change) = edits.changes.redoable().next() {
        view.nav("redo", &Action::Redo { steps: 1, change: Some(change.id.clone().into()) });
    }
    let unsaved = |file: &OpenFile| file.is_unsaved() || *file.disk_state() == DiskState::Deleted;
    if open_files.iter().any(unsaved) {
        view.nav("save", &Action::Save {});
    }
}
