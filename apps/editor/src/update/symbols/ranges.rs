//! Queries that show lines: of a symbol, of a range, between braces.

use std::path::PathBuf;

use std::ops::Range;

use docui::{Blocking, Code, Context, Done, Fault, FilePath, Line, View, tokens};

use crate::display::lines::visible_line;
use crate::display::wording::{range_name, shown_lines};
use crate::limits::{DISK_DEADLINE, HEAD_FIRST, HEAD_LAST, QUERY_BUDGET, VALUE_MAX};
use crate::model::Editor;
use crate::model::open_file::{OpenFile, ReadFile};
use crate::model::open_files::OpenFiles;
use crate::model::written_files::open_silently;
use crate::update::disk_task::disk_task;
use crate::update::search::first_lines::{FirstLinesRequest, first_lines};
use crate::update::symbols::target::scope;
use crate::update::symbols::target_argument::{lines_target, present_lines, target};

use super::resolved::{Resolved, Unresolved};
use super::resolver::Resolver;
use super::target::Target;

/// Shows the lines of an item or a range. As an argument they are the bare text.
pub(crate) fn lines_of(
    open_files: &OpenFiles,
    range: &Line,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    if let Line::Text(text) = range
        && names_several_files(open_files, text, context)
    {
        let files = vec![FilePath(text.clone())];
        let request = FirstLinesRequest {
            files,
            first: HEAD_FIRST,
            last: HEAD_LAST,
            not: None,
            markup: false,
        };
        return first_lines(open_files, &request, context);
    }
    let target = shown_target(open_files, range, range, context)?;
    show_range(open_files, target, false, context)
}

/// Shows the lines from one to another.
pub(crate) fn lines_between(
    open_files: &OpenFiles,
    first: &Line,
    last: &Line,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let target = shown_target(open_files, first, last, context)?;
    show_range(open_files, target, false, context)
}

/// Returns what a query is to show. Numbers of lines that changed since the reader saw them mean
/// the present lines, and numbers beyond the end of the file mean its end: looking changes nothing,
/// and the answer has the numbers of what it shows.
fn shown_target(
    open_files: &OpenFiles,
    first: &Line,
    last: &Line,
    context: &Context,
) -> Result<Target, Fault> {
    let seen = match first == last {
        true => target(open_files, first, context),
        false => lines_target(open_files, first, last, context),
    };
    match seen {
        // What another call takes must be what the reader saw.
        Err(fault) if matches!(fault.code, Code::Stale | Code::Usage) && !context.nested => {
            present_lines(open_files, first, last, context).ok_or(fault)
        }
        other => other,
    }
}

/// True for a glob, or a folder.
fn names_several_files(open_files: &OpenFiles, text: &str, context: &Context) -> bool {
    let path = open_files.paths.caller_path(text, context);
    path.is_dir() || (!path.exists() && text.contains(['*', '?', '{']))
}

/// Shows what stands between the braces of a symbol. As an argument it means these lines.
pub(crate) fn body(
    open_files: &OpenFiles,
    symbol: &Line,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let target = target(open_files, symbol, context)?;
    show_range(open_files, target, true, context)
}

fn show_range(
    open_files: &OpenFiles,
    mut target: Target,
    body: bool,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    match &mut target {
        Target::Written { body: wanted, .. } => *wanted = body,
        Target::Lines { .. } if body => {
            return Err(Fault::usage("body takes a symbol: body('foo')"));
        }
        Target::Lines { .. } => {}
    }
    let mut documents = open_files.documents();
    let scope = scope(open_files, context)?;
    let state_dir = open_files.paths.state_dir.clone();
    let clamps = !context.nested;
    type ShownRange = (PathBuf, Option<ReadFile>, Range<usize>, String, String);
    let work = move |_: &docui::blocking::CommitPoint| -> Result<ShownRange, Unresolved> {
        let mut resolver = Resolver::new(&mut documents, scope);
        resolver.clamps = clamps;
        let found: Resolved = resolver.resolve(&target)?;
        let text = found.source.text()[found.bytes.clone()].to_owned();
        let lines = found.lines();
        let shown = resolver.documents.display(&found.path);
        let value = match (&found.symbol, body) {
            (Some(one), true) => format!("body({shown}#{})", one.qualified),
            _ => text,
        };
        if value.len() > VALUE_MAX {
            let length = value.len();
            let message = format!("these lines have {length} bytes; the limit is {VALUE_MAX}");
            return Err(Fault::refused(message).hint("ask for fewer lines").into());
        }
        let read = match resolver.documents.open_file(&found.path) {
            Some(_) => None,
            None => Some(ReadFile::read(found.path.clone(), state_dir)),
        };
        Ok((found.path, read, lines, value, shown))
    };
    let waits_for = "the project's disk".to_owned();
    let task = disk_task(waits_for, DISK_DEADLINE, context, work, |editor, found, context, _| {
        let (path, read, lines, value, shown) = match found {
            Ok(found) => found,
            // A query leaves no question open.
            Err(Unresolved::Ask(_, ambiguous)) => return Err(ambiguous.fault("")),
            Err(Unresolved::Fault(fault)) => return Err(fault),
        };
        let opened = read
            .map(|read| {
                open_silently(&mut editor.files, &mut editor.edits, read, context.next_version())
            })
            .transpose()?;
        let index = opened.or_else(|| editor.files.index(&path));
        let index = index.ok_or_else(|| Fault::stale(format!("{shown} was closed")))?;
        let file = &editor.files[index];
        let budget = if context.budget == 0 { QUERY_BUDGET } else { context.budget };
        let (text, end) = numbered_lines(file, &lines, budget.into());
        let name = range_name(&shown, &lines);
        let mut brief = name.clone();
        if end < lines.end {
            let rest = end..lines.end;
            let call = format!("lines({:?})", range_name(&shown, &rest));
            brief += &format!("; cut, the rest: {}", editor.files.paths.run_command(&call));
        }
        let mut view = View::new("");
        view.code("", text);
        let numbers = shown_lines(file, &(lines.start..end), context.next_version());
        Ok(Done::new(brief)
            .content(view)
            .value(value)
            .label(name)
            .shows([numbers])
            .complete()
            .into())
    });
    Ok(task)
}

/// Writes the lines with their numbers that a budget has room for, at least one. Returns where they
/// end.
fn numbered_lines(file: &OpenFile, lines: &Range<usize>, budget: u64) -> (String, usize) {
    let (mut text, mut cost, mut end) = (String::new(), 0, lines.start);
    for line in lines.clone() {
        let row = format!("{}\t{}\n", line + 1, visible_line(file, line));
        cost += tokens::estimate(&row);
        if cost > budget && end > lines.start {
            break;
        }
        text += &row;
        end = line + 1;
    }
    (text, end)
}
