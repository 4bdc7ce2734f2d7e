//! Showing lines of a file, or what a folder has, by a name from another tool.

use std::fs;
use std::path::{Path, PathBuf};

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault, Reply, View, tokens};

use crate::display::language::language;
use crate::display::lines::{readable, visible_line};
use crate::display::wording::{count, line_range, shown_lines};
use crate::limits::{DISK_DEADLINE, FOLDER_DEPTH, FOLDER_ENTRIES_MAX, VALUE_MAX};
use crate::model::Editor;
use crate::model::disk;
use crate::model::open_file::ReadFile;
use crate::model::open_files::OpenFiles;
use crate::model::written_files::open_silently;
use crate::update::disk_task::disk_task;

/// The requested lines of a file, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinesWanted {
    first: usize,
    end: Option<usize>,
}

impl LinesWanted {
    /// `[]`, or `[first, last]` from 1, where a last of -1 means the end.
    pub(super) fn of_range(range: &[i64]) -> Result<Self, Fault> {
        match *range {
            [] => Ok(Self { first: 0, end: None }),
            [first, last] if first >= 1 && (last == -1 || last >= first) => Ok(Self {
                first: usize::try_from(first - 1).unwrap_or(usize::MAX),
                end: usize::try_from(last).ok(),
            }),
            _ => {
                Err(Fault::usage("view_range: expected [first, last] from 1; -1 is the last line"))
            }
        }
    }

    /// Returns the lines from `offset`, from 1; at most `limit` lines unless it is 0.
    pub(super) fn from_offset(offset: i64, limit: i64) -> Result<Self, Fault> {
        let (Ok(offset), Ok(limit)) = (usize::try_from(offset), usize::try_from(limit)) else {
            return Err(Fault::usage("offset and limit: expected numbers from 0 on"));
        };
        let first = offset.saturating_sub(1);
        Ok(Self { first, end: (limit > 0).then(|| first.saturating_add(limit)) })
    }
}

/// What a path leads to.
enum FileOrFolder {
    File(Box<ReadFile>),
    Folder(PathBuf, Listing),
}

pub(crate) fn view_file(
    open_files: &OpenFiles,
    path: &str,
    wanted: LinesWanted,
    context: &Context,
) -> Blocking<Editor> {
    let target = open_files.paths.caller_path(path, context);
    let (state_dir, waits_for) =
        (open_files.paths.state_dir.clone(), open_files.paths.display_path(&target));
    let open: Vec<_> = open_files.iter().map(|file| file.path().to_owned()).collect();
    let read = move |_: &CommitPoint| -> Result<Result<FileOrFolder, PathBuf>, Fault> {
        let path = disk::resolve(&target)?;
        if path.is_dir() {
            let mut listing = Listing::default();
            listing.add(&path, FOLDER_DEPTH, "");
            return Ok(Ok(FileOrFolder::Folder(path, listing)));
        }
        if open.contains(&path) {
            return Ok(Err(path));
        }
        Ok(Ok(FileOrFolder::File(Box::new(ReadFile::read(path, state_dir)))))
    };
    let waits_for = format!("the disk of {waits_for}");
    let name = path.to_owned();
    disk_task(waits_for, DISK_DEADLINE, context, read, move |editor, read, context, _| {
        let index = match read? {
            Ok(FileOrFolder::Folder(path, listing)) => {
                return Ok(folder(&editor.files, &path, listing));
            }
            Ok(FileOrFolder::File(read)) => {
                open_silently(&mut editor.files, &mut editor.edits, *read, context.next_version())?
            }
            Err(path) => {
                let closed = || Fault::failed(format!("{name} was closed meanwhile"));
                editor.files.index(&path).ok_or_else(closed)?
            }
        };
        show_lines(&editor.files, index, wanted, &name, context)
    })
}

fn show_lines(
    open_files: &OpenFiles,
    index: usize,
    wanted: LinesWanted,
    name: &str,
    context: &Context,
) -> Result<Reply, Fault> {
    let file = &open_files[index];
    let shown = open_files.display_name(index);
    let all = file.buffer().line_count();
    if wanted.first >= all && wanted.first > 0 {
        let message = format!("{shown} has {}, not {}", count(all, "line"), wanted.first + 1);
        return Err(Fault::usage(message));
    }
    let lines = wanted.first..wanted.end.unwrap_or(all).min(all);
    let mut text = String::new();
    let mut end = lines.start;
    let mut left = u64::from(context.budget);
    for line in lines.clone() {
        let row = visible_line(file, line) + "\n";
        let cost = tokens::estimate(&format!("{}\t{row}", line + 1));
        if cost > left {
            break;
        }
        left -= cost;
        text += &row;
        end = line + 1;
    }
    let told = lines.start..end;
    let mut view = View::new("");
    if !told.is_empty() {
        let ids = file.line_ids().of(&told);
        view.identified_lines(language(file.path()), told.start as u64 + 1, text, ids);
    }
    if end < lines.end {
        let last = wanted.end.map_or(-1, |end| end.cast_signed());
        let call = format!("view({name:?}, view_range=[{}, {last}])", end + 1);
        view.text(format!(
            "lines {}-{}: {}\n",
            end + 1,
            lines.end,
            open_files.paths.run_command(&call)
        ));
    }
    let brief = match (all, told == (0..all)) {
        (0, _) => format!("{shown}, empty"),
        (_, true) => format!("{shown}, {}", count(all, "line")),
        _ => format!("{shown}, {} of {all}", line_range(&told)),
    };
    let mut done = Done::new(brief).content(view);
    if !told.is_empty() {
        done = done.shows([shown_lines(file, &told, context.next_version())]);
    }
    let bytes = file.buffer().byte_range(&lines);
    if bytes.len() <= VALUE_MAX {
        let label = format!("{shown}:{}-{}", lines.start + 1, lines.end);
        done = done.value(file.buffer().slice(bytes)).label(label);
    }
    Ok(done.into())
}

fn folder(open_files: &OpenFiles, path: &Path, listing: Listing) -> Reply {
    let shown = match open_files.paths.display_path(path) {
        empty if empty.is_empty() => ".".to_owned(),
        shown => shown,
    };
    let mut view = View::new("");
    view.code("", listing.text.clone());
    if listing.more > 0 {
        view.text(format!("… {} more not listed\n", count(listing.more, "name")));
    }
    let names = count(listing.entries + listing.more, "name");
    Done::new(format!("{shown}, {names}")).content(view).value(listing.text).into()
}

/// The listing of a folder.
#[derive(Default)]
struct Listing {
    text: String,
    entries: usize,
    /// The number of entries that were left out.
    more: usize,
}

impl Listing {
    /// Adds what isn't hidden in a folder, and in the folders in it.
    fn add(&mut self, path: &Path, depth: usize, prefix: &str) {
        let Ok(entries) = fs::read_dir(path) else { return };
        let mut names: Vec<_> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let folder = entry.file_type().ok()?.is_dir();
                Some((entry.file_name().to_str()?.to_owned(), folder))
            })
            .filter(|(name, _)| !name.starts_with('.'))
            .collect();
        names.sort();
        for (name, folder) in names {
            if self.entries == FOLDER_ENTRIES_MAX {
                self.more += 1;
                continue;
            }
            self.entries += 1;
            let shown = format!("{prefix}{}{}", readable(&name), if folder { "/" } else { "" });
            self.text += &shown;
            self.text.push('\n');
            if folder && depth > 1 {
                self.add(&path.join(&name), depth - 1, &shown);
            }
        }
    }
}
