//! What an argument for lines says, before any file is read.

use std::ops::Range;
use std::path::PathBuf;

use docui::{Context, Fault, Line};

use super::asked_symbol::Chosen;
use super::resolver::Resolver;
use crate::model::open_files::OpenFiles;
use crate::model::seen_numbers::seen_file_index;
use crate::update::question::Token;
use crate::update::resolve::{resolve_file_name, resolve_lines};

/// What an argument for lines means.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// Lines of an open file as they are numbered now, from 0.
    Lines { path: PathBuf, lines: Range<usize> },
    /// Text that is read when files can be: `foo`, `body(foo)`, `src/a.rs#foo`, `src/a.rs`, and `src/a.rs:10-20` of a
    /// file that isn't open. `body` means what stands between the braces.
    Written { text: String, body: bool },
}

/// A symbol as it was written.
#[derive(Debug, Clone)]
pub(crate) struct SymbolName {
    /// The file that it is in, if that was written.
    pub file: Option<PathBuf>,
    pub written: String,
    /// True for what stands between its braces.
    pub body: bool,
}

/// Where symbols are looked for, and which were chosen in answer to questions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// The current file, which comes first.
    pub current: Option<PathBuf>,
    /// The folder of the project.
    pub root: PathBuf,
    /// The caller's folder, which paths are relative to.
    pub base: PathBuf,
    pub chosen: Vec<Chosen>,
}

/// Reads an argument for lines: numbers, an anchor, a symbol, `body(symbol)`, or a file.
pub(crate) fn target(
    open_files: &OpenFiles,
    line: &Line,
    context: &Context,
) -> Result<Target, Fault> {
    let Line::Text(text) = line else { return lines_target(open_files, line, line, context) };
    let text = text.trim();
    if text.is_empty() {
        return Err(Fault::usage("expected lines ('10-20', 'a.rs:10-20') or a symbol ('foo')"));
    }
    if let Some((file, first, last)) = numbered(text) {
        let line = |number: i64| match file {
            Some(file) => Line::Text(format!("{file}:{number}")),
            None => Line::Number(number),
        };
        if file.is_none_or(|file| is_open(open_files, file, context)) {
            return lines_target(open_files, &line(first), &line(last), context);
        }
    }
    Ok(Target::Written { text: text.to_owned(), body: false })
}

/// Returns where symbols are looked for, with what was answered to questions about them.
pub(crate) fn scope(open_files: &OpenFiles, context: &Context) -> Result<Scope, Fault> {
    let current = seen_file_index(open_files, context).ok();
    let current = current.map(|index| open_files[index].path().to_owned());
    let chosen = match Token::answered(context)? {
        Some((Token::Symbol(asked), choice)) => asked.chosen_by(choice)?,
        Some((Token::Renaming(asked), _)) => asked.chosen,
        _ => Vec::new(),
    };
    let (root, base) =
        (open_files.paths.root.to_owned(), open_files.paths.caller_path("", context));
    Ok(Scope { current, root, base, chosen })
}

/// Returns the lines that have these numbers now, in an open file.
pub(crate) fn present_lines(
    open_files: &OpenFiles,
    first: &Line,
    last: &Line,
    context: &Context,
) -> Option<Target> {
    let place = |line: &Line| match line {
        Line::Number(number) => Some((None, *number, *number)),
        Line::Text(text) => {
            let (file, first, last) = numbered(text.trim())?;
            Some((file.map(str::to_owned), first, last))
        }
        Line::At(_) => None,
    };
    let ((file, first, _), (_, _, last)) = (place(first)?, place(last)?);
    let index = match file {
        Some(file) => resolve_file_name(open_files, &file).ok()?,
        None => seen_file_index(open_files, context).ok()?,
    };
    let count = open_files[index].buffer().line_count();
    let (first, last) = (usize::try_from(first).ok()?, usize::try_from(last).ok()?.min(count));
    let path = open_files[index].path().to_owned();
    (1..=last).contains(&first).then(|| Target::Lines { path, lines: first - 1..last })
}

pub(crate) fn lines_target(
    open_files: &OpenFiles,
    first: &Line,
    last: &Line,
    context: &Context,
) -> Result<Target, Fault> {
    let found = resolve_lines(open_files, first, last, context)?;
    let path = open_files[found.file].path().to_owned();
    Ok(Target::Lines { path, lines: found.lines })
}

/// True if a name means an open file, by its path or the end of it.
pub(crate) fn is_open(open_files: &OpenFiles, name: &str, context: &Context) -> bool {
    let path = open_files.paths.caller_path(name, context);
    let tail = name.trim_start_matches("./");
    open_files.iter().any(|file| file.path() == path || file.path().ends_with(tail))
}

/// Returns what a text means in an open file: the current one, or the one that it names; `None` if it is no
/// symbol there.
///
/// # Errors
/// Several symbols have the name.
pub(crate) fn symbol_in_open_files(
    open_files: &OpenFiles,
    text: &str,
    context: &Context,
) -> Result<Option<(usize, Range<usize>)>, Fault> {
    let mut documents = open_files.documents();
    let mut resolver = Resolver::new(&mut documents, scope(open_files, context)?);
    let Some((path, found)) = resolver.open_symbol(text)? else { return Ok(None) };
    Ok(open_files.index(&path).map(|index| (index, found)))
}

/// Reads `10`, `10-20`, `a.rs:10` and `a.rs:10-20`.
pub(in crate::update) fn numbered(text: &str) -> Option<(Option<&str>, i64, i64)> {
    let (file, numbers) = match text.rsplit_once(':') {
        Some((file, numbers)) if !file.ends_with(':') => (Some(file), numbers),
        _ => (None, text),
    };
    line_numbers(numbers).map(|(first, last)| (file, first, last))
}

/// Reads `10` and `10-20`.
fn line_numbers(text: &str) -> Option<(i64, i64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}
