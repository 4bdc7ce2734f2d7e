//! The outline of files: their symbols with their lines, and of many Markdown files what each is
//! about.
//!
//! | module | holds |
//! |---|---|
//! | `entries` | which symbols of a file an outline has, and what it says of each |
//! | `outlines` | the outlines of several files |
//! | `rendered` | outlines as they are shown |

mod entries;
mod outlines;
mod rendered;

use std::path::PathBuf;

use docui::blocking::CommitPoint;
use docui::{Blocking, Code, Context, Done, Fault, View};
use pipemux_syntax::Language;

use crate::limits::{
    DISK_DEADLINE, MARKDOWN_IN_FULL, NAMED_WITHOUT_SYMBOLS, QUERY_BUDGET, VALUE_MAX,
};
use crate::model::Editor;
use crate::model::open_files::OpenFiles;
use crate::update::disk_task::disk_task;
use crate::update::symbols::target::scope;

use super::resolver::Resolver;
use entries::Filter;
pub(crate) use entries::OutlineRequest;
use outlines::Outlines;
use rendered::render;

/// Lists the symbols of files.
pub(crate) fn outline(
    open_files: &OpenFiles,
    request: OutlineRequest,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let filter = Filter::new(&request)?;
    let mut documents = open_files.documents();
    let scope = scope(open_files, context)?;
    let budget = match context.budget {
        // Another call takes all of it.
        _ if context.nested => u32::MAX,
        0 => QUERY_BUDGET,
        budget => budget,
    };
    let nested = context.nested;
    let work = move |_: &CommitPoint| -> Result<(String, String, String), Fault> {
        let mut resolver = Resolver::new(&mut documents, scope);
        let (files, missing) = files_of(&mut resolver, &request.files, nested)?;
        let outlines = outlines_of(&mut resolver, files, filter, request.count)?;
        let (brief, text) = render(&outlines, budget);
        Ok((brief, text, missing))
    };
    let waits_for = "the project's disk".to_owned();
    Ok(disk_task(waits_for, DISK_DEADLINE, context, work, |_, found, _, _| {
        let (brief, text, missing) = found?;
        if text.len() > VALUE_MAX {
            let message = format!("the outline has {} bytes; the limit is {VALUE_MAX}", text.len());
            return Err(Fault::refused(message).hint("narrow it with in, name, kinds or depth"));
        }
        let mut view = View::new("");
        if !text.is_empty() {
            view.code("", text.clone());
        }
        if !missing.is_empty() {
            view.text(missing);
        }
        let done = Done::new(brief).content(view).complete();
        // Nothing is shown twice: an answer without content would show the value.
        let done = if text.is_empty() { done } else { done.value(text).label("outline") };
        Ok(done.into())
    }))
}

/// Returns the files that entries mean, and lines about those entries that mean none. Another call
/// that takes the outline gets an error instead, as does a call none of whose entries means a file.
fn files_of(
    resolver: &mut Resolver<'_>,
    entries: &[String],
    nested: bool,
) -> Result<(Vec<PathBuf>, String), Fault> {
    let fault = match resolver.files(entries) {
        Ok(files) => return Ok((files, String::new())),
        Err(fault) if fault.code == Code::NotFound && !nested => fault,
        Err(fault) => return Err(fault),
    };
    let is_there = |entry: &String| {
        let alone = resolver.files(std::slice::from_ref(entry));
        entry.starts_with('!') || !matches!(alone, Err(fault) if fault.code == Code::NotFound)
    };
    let (there, gone): (Vec<String>, Vec<String>) = entries.iter().cloned().partition(is_there);
    if there.iter().all(|entry| entry.starts_with('!')) {
        return Err(fault);
    }
    let line = |entry: &String| {
        format!("{}\n", resolver.documents.missing(&resolver.scope.base.join(entry)))
    };
    let missing = gone.iter().map(line).collect();
    Ok((resolver.files(&there)?, missing))
}

fn outlines_of(
    resolver: &mut Resolver<'_>,
    files: Vec<PathBuf>,
    filter: Filter,
    only_counts: bool,
) -> Result<Outlines, Fault> {
    let named = files.len() <= NAMED_WITHOUT_SYMBOLS;
    let is_markdown = |path| Language::of_path(path) == Some(Language::Markdown);
    let markdown = files.iter().filter(|path| is_markdown(path)).count();
    let leads = filter.is_open() && !only_counts && markdown > MARKDOWN_IN_FULL;
    let mut outlines = Outlines {
        filter,
        only_counts,
        files: Vec::new(),
        empty: Vec::new(),
        unmatched: Vec::new(),
        others: 0,
        unknown: Vec::new(),
        macros: Vec::new(),
    };
    for path in files {
        let shown = resolver.documents.display(&path);
        if Language::of_path(&path).is_none() {
            outlines.unknown.push(shown);
            continue;
        }
        // Files that can't be read are left out, unless they are named.
        match resolver.source(&path) {
            Ok(source) => {
                let lead = if leads { source.lead() } else { None };
                outlines.add(shown, &source, lead);
            }
            Err(fault) if named => return Err(fault),
            Err(_) => {}
        }
    }
    Ok(outlines)
}
