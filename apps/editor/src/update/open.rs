//! Opening files, or making an open one current.

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault, FilePath, Opening, Reply};

use crate::display::wording::count;
use crate::limits::DISK_DEADLINE;
use crate::model::Editor;
use crate::model::editor::opening::take_arguments;
use crate::model::edits::Edits;
use crate::model::file_reader::ReadArguments;
use crate::model::history::Author;
use crate::model::open_files::OpenFiles;
use crate::update::disk_task::disk_task;

pub(crate) fn open_paths(
    open_files: &OpenFiles,
    paths: &[FilePath],
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    if paths.is_empty() {
        return Err(Fault::usage("path: expected a file, a folder or a glob"));
    }
    let args: Vec<String> = paths.iter().map(|path| path.0.clone()).collect();
    let shown: Vec<_> = args
        .iter()
        .map(|path| open_files.paths.display_path(&open_files.paths.caller_path(path, context)))
        .collect();
    let waits_for = format!("the disk of {}", shown.join(" "));
    let reader = open_files.file_reader(&open_files.paths.caller_path("", context));
    let read = move |_: &CommitPoint| -> Result<Vec<ReadArguments>, Fault> {
        args.iter().map(|path| reader.read(path)).collect()
    };
    Ok(disk_task(waits_for, DISK_DEADLINE, context, read, |editor, read, context, completion| {
        if completion.late {
            return Err(Fault::failed("not opened, because nobody waits for it any more"));
        }
        open_read(&mut editor.files, &mut editor.edits, read?, context)
    }))
}

fn open_read(
    open_files: &mut OpenFiles,
    edits: &mut Edits,
    read: Vec<ReadArguments>,
    context: &Context,
) -> Result<Reply, Fault> {
    let named = |read: &ReadArguments| read.found_in.is_none();
    let single = match read.as_slice() {
        [one] if named(one) => one.files.first().map(|file| file.path().to_owned()),
        _ => None,
    };
    let already_open = single.as_deref().is_some_and(|path| open_files.index(path).is_some());
    // One argument stands for each, so that both lists have the same length.
    let args = read.iter().map(|_| "./".to_owned()).collect();
    let (cwd, state_dir) =
        (open_files.paths.caller_path("", context), open_files.paths.state_dir.clone());
    let opening = Opening { args, cwd, state_dir, ..Opening::default() };
    let several = read.len() > 1;
    let only_binary = match read.as_slice() {
        [one] => one.binary.as_ref().map(|file| open_files.paths.binary_words(file)),
        _ => None,
    };
    let mut notes =
        take_arguments(open_files, edits, &opening, read.into_iter().map(Ok).collect())?;
    if let Some(words) = only_binary {
        return Ok(Done::new(words).into());
    }
    let Some(target) = open_files.current().map(|file| file.path().to_owned()) else {
        return Ok(Done::new("no file").into());
    };
    // Numbers of the run's later steps are about it.
    open_files.set_current(Some(target.clone()), &Author::of(context));
    let shown = open_files.paths.display_path(&target);
    let lines = open_files.file(&target).map_or(0, |file| file.buffer().line_count());
    let mut brief = match single {
        Some(_) => format!("{shown}, {}", count(lines, "line")),
        None if several && notes.is_empty() => {
            format!("{} open; {shown}, {}", count(open_files.len(), "file"), count(lines, "line"))
        }
        None => {
            format!("{} · {shown}, {}", notes.remove(0).trim_end_matches('.'), count(lines, "line"))
        }
    };
    if already_open {
        brief += ", already open";
    } else if single.is_some() && open_files.file(&target).is_some_and(|file| file.is_new()) {
        brief = notes.remove(0).trim_end_matches('.').to_owned();
    }
    let done = Done::new(brief);
    Ok(match notes.is_empty() {
        true => done,
        false => done.detail(notes.join("\n")),
    }
    .into())
}
