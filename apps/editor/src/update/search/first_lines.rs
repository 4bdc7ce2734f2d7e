//! The same lines of many files, and lists of files.

use std::ops::Range;
use std::path::Path;

use docui::{Blocking, Context, Fault, FilePath, Pattern};
use pipemux_search::LineMatcher;
use pipemux_syntax::Language;

use super::blocks::{Blocks, Notes, pieces};
use super::budget::Budget;
use super::listing::Listing;
use super::markup::prose_lines;
use super::query::pattern_fault;
use super::repeat_call::{quoted, quoted_files};
use super::scope::{Numbers, ScopedFiles, SearchScope};
use super::shown_lines::ShownLines;

use crate::display::lines::readable;
use crate::display::wording::count;
use crate::limits::{HEADS_MAX, VALUE_MAX};
use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::documents::Documents;
use crate::model::open_files::OpenFiles;
use crate::update::search::listing::listing;
use crate::update::search::scope::search_scope;

/// The requested lines of each of several files.
#[derive(Debug, Clone)]
pub(crate) struct FirstLinesRequest {
    pub files: Vec<FilePath>,
    pub first: i64,
    pub last: i64,
    /// Leaves out the lines that match this regular expression.
    pub not: Option<Pattern>,
    /// Shows badges, link addresses and HTML of Markdown, too.
    pub markup: bool,
}

/// The options of an answer with the first lines of files.
struct FirstLines {
    /// The lines, counted from 0.
    lines: Range<usize>,
    not: Option<LineMatcher>,
    budget: u64,
    /// True if another call takes the bare text.
    nested: bool,
    /// True if lines of Markdown without prose are shown, too.
    markup: bool,
    /// The command that repeats the query.
    again: Option<String>,
}

/// Shows the same lines of several files. As an argument they are the bare text.
pub(crate) fn first_lines(
    open_files: &OpenFiles,
    request: &FirstLinesRequest,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let number = |name: &str, number: i64| match usize::try_from(number) {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Fault::usage(format!("{name} is {number}: lines count from 1"))),
    };
    let FirstLinesRequest { files, first, last, not, markup } = request;
    let (first, last) = (number("first", *first)?, number("last", *last)?);
    if first > last {
        return Err(Fault::usage(format!("first is {first}, after last, which is {last}")));
    }
    let not = line_matcher("not", not.as_ref())?;
    let command = |call: Option<String>| call.map(|call| open_files.paths.run_command(&call));
    let query = FirstLines {
        lines: first - 1..last,
        not,
        budget: u64::from(context.budget),
        nested: context.nested,
        markup: *markup,
        again: command(repeat_first_lines(request)),
    };
    let scope = search_scope(open_files, files, Numbers::Present, context)?;
    listing(open_files, context, move |documents| query.listing(&scope, documents))
}

pub(crate) fn glob(
    open_files: &OpenFiles,
    patterns: &[FilePath],
    path: Option<&FilePath>,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let mut scope = search_scope(open_files, patterns, Numbers::Present, context)?;
    if let Some(path) = path {
        scope.base = open_files.paths.caller_path(&path.0, context);
    }
    let budget = u64::from(context.budget);
    listing(open_files, context, move |documents| list(&scope, budget, documents))
}

impl FirstLines {
    fn listing(self, scope: &SearchScope, mut documents: Documents) -> Result<Listing, Fault> {
        let ScopedFiles { files, named, missing, .. } = scope.files(&mut documents)?;
        let root = documents.root.clone();
        let display =
            |path: &Path| readable(&path.strip_prefix(&root).unwrap_or(path).display().to_string());
        let blocks = Blocks::new(files.iter().map(|path| display(path)));
        let (mut text, mut bare, mut shown) = (String::new(), String::new(), ShownLines::default());
        let (mut lines, mut listed, mut excluded, mut unread) = (0, 0, 0, Vec::new());
        let (mut markup, mut rest) = (0, String::new());
        let mut budget = Budget::new(self.budget);
        for (index, path) in files.iter().enumerate() {
            let buffer = match documents.text(path) {
                Ok(buffer) => buffer,
                // A folder may have anything; what was named is missed.
                Err(fault) => {
                    if named.contains(path) {
                        unread.push(fault.message);
                    }
                    continue;
                }
            };
            let (mut wanted, left) = self.wanted(buffer);
            let mut without_prose = 0;
            if files.len() > 1
                && !(self.nested || self.markup)
                && Language::of_path(path) == Some(Language::Markdown)
            {
                let all = wanted.len();
                wanted = prose_lines(buffer, wanted);
                without_prose = all - wanted.len();
            }
            if self.nested {
                add_bare_lines(&mut bare, buffer, &wanted)?;
            }
            let mut block = blocks.block(&display(path), buffer, &wanted, &Notes::new());
            let is_cut = listed == HEADS_MAX || !budget.take(&block);
            if is_cut {
                let more = count(files.len() - index, "more file");
                rest = format!("… {more}, from {} on", display(path));
                if let Some(again) = &self.again {
                    let needed = budget.all_of_files(files.len(), listed, &block);
                    rest += &format!("; {again} --budget {needed}");
                }
                rest.push('\n');
                if listed == 0 {
                    block = shortened(&mut wanted, &mut budget, |wanted| {
                        blocks.block(&display(path), buffer, wanted, &Notes::new())
                    });
                }
                if listed > 0 || wanted.is_empty() {
                    break;
                }
            }
            text += &block;
            lines += wanted.len();
            excluded += left;
            markup += without_prose;
            listed += 1;
            pieces(&wanted).into_iter().for_each(|piece| shown.add(path, piece));
            if is_cut {
                break;
            }
        }
        let mut brief = format!("{} of {}", count(lines, "line"), count(listed, "file"));
        brief += &left_out(excluded);
        if markup > 0 {
            let lines = count(markup, "line");
            brief += &format!("; left: {lines} of badges, addresses and HTML (markup=true)");
        }
        if !unread.is_empty() {
            brief += &format!("; left: {}", unread.join(", "));
        }
        let value = self.nested.then_some(bare);
        let rest = missing + &rest;
        Ok(Listing { brief, text, rest, shown, documents, value })
    }

    /// Returns the lines that are wanted of a file, and how many are left out.
    fn wanted(&self, buffer: &Buffer) -> (Vec<usize>, usize) {
        let all = buffer.line_count();
        let range = self.lines.start.min(all)..self.lines.end.min(all);
        lines_without(buffer, range, self.not.as_ref())
    }
}

/// Halves the lines that are wanted until there is room for them. Returns their block.
fn shortened(
    wanted: &mut Vec<usize>,
    budget: &mut Budget,
    block_of: impl Fn(&[usize]) -> String,
) -> String {
    while !wanted.is_empty() {
        wanted.truncate(wanted.len() / 2);
        let block = block_of(wanted);
        if budget.take(&block) {
            return block;
        }
    }
    String::new()
}

/// Adds lines as they are to what another call takes.
pub(in crate::update) fn add_bare_lines(
    bare: &mut String,
    buffer: &Buffer,
    lines: &[usize],
) -> Result<(), Fault> {
    for piece in pieces(lines) {
        *bare += &buffer.slice(buffer.byte_range(&piece));
    }
    if bare.len() > VALUE_MAX {
        let message = format!("these lines have more than {VALUE_MAX} bytes");
        return Err(Fault::refused(message).hint("ask for fewer lines"));
    }
    if !bare.is_empty() && !bare.ends_with('\n') {
        bare.push('\n');
    }
    Ok(())
}

/// Returns the lines of a range that don't match a regular expression, and how many do.
pub(in crate::update) fn lines_without(
    buffer: &Buffer,
    range: Range<usize>,
    not: Option<&LineMatcher>,
) -> (Vec<usize>, usize) {
    let Some(not) = not else { return (range.collect(), 0) };
    let count = range.len();
    let matches = |line: &usize| not.is_match(&buffer.slice(buffer.byte_range(&(*line..line + 1))));
    let wanted: Vec<usize> = range.filter(|line| !matches(line)).collect();
    let left = count - wanted.len();
    (wanted, left)
}

/// Reads a regular expression that each line is compared with.
///
/// # Errors
/// It is none.
pub(in crate::update) fn line_matcher(
    parameter: &str,
    expression: Option<&Pattern>,
) -> Result<Option<LineMatcher>, Fault> {
    let given = expression.filter(|expression| !expression.0.is_empty());
    let matcher = |given: &Pattern| LineMatcher::new(parameter, &given.0).map_err(pattern_fault);
    given.map(matcher).transpose()
}

/// Says how many lines a regular expression left out.
pub(in crate::update) fn left_out(excluded: usize) -> String {
    match excluded {
        0 => String::new(),
        1 => "; left: 1 line that matches not".to_owned(),
        some => format!("; left: {some} lines that match not"),
    }
}

fn list(scope: &SearchScope, budget: u64, mut documents: Documents) -> Result<Listing, Fault> {
    let files = scope.files(&mut documents)?.files;
    let mut budget = Budget::new(budget);
    let mut text = String::new();
    let mut listed = 0;
    for path in &files {
        let row = readable(&documents.display(path)) + "\n";
        if !budget.take(&row) {
            break;
        }
        text += &row;
        listed += 1;
    }
    let rest = match files.len() - listed {
        0 => String::new(),
        more => format!("… {}\n", count(more, "more file")),
    };
    let (brief, shown) = (count(files.len(), "file"), ShownLines::default());
    Ok(Listing { brief, text, rest, shown, documents, value: None })
}

/// Writes a call for the same lines again.
fn repeat_first_lines(request: &FirstLinesRequest) -> Option<String> {
    let FirstLinesRequest { files: paths, first, last, not, markup } = request;
    let mut args = vec![quoted_files(paths)?, first.to_string(), last.to_string()];
    if let Some(not) = not {
        args.push(format!("not={}", quoted(&not.0)?));
    }
    if *markup {
        args.push("markup=true".to_owned());
    }
    Some(format!("lines({})", args.join(", ")))
}
