//! A query that shows several ranges, symbols and files: `lines(['foo', 'a.rs:10-20'])`, whole or
//! around what matches.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use docui::{Blocking, Code, Context, Fault, FilePath, Pattern};

use super::excerpt::{ExcerptRange, Excerpts, merged};
use super::project;
use super::resolved::Unresolved;
use super::resolver::Resolver;
use super::target::{SymbolScope, Target, numbered};
use crate::display::lines::readable;
use crate::display::wording::{count, range_name};
use crate::limits::{HEAD_FIRST, HEAD_LAST, HEADS_MAX, REST_NAMED};
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::model::open_files::OpenFiles;
use crate::update::search::first_lines::{FirstLinesRequest, add_bare_lines, first_lines};
use crate::update::search::listing::listing;
use crate::update::search::{
    Blocks, Budget, Listing, ShownLines, left_out, line_matcher, pieces, quoted,
};
use crate::update::symbols::target::scope;

/// The options of `lines`: the ranges, symbols, files, folders and globs, and the filters.
#[derive(Debug, Clone)]
pub(crate) struct LinesRequest {
    pub names: Vec<FilePath>,
    /// The first and last requested lines of each whole file, from 1.
    pub lines: (i64, i64),
    /// Leaves out the lines that match this regular expression.
    pub not: Option<Pattern>,
    /// Shows badges, link addresses and HTML of Markdown, too.
    pub markup: bool,
    /// Shows signatures, and the lines around those that match this regular expression.
    pub around: Option<Pattern>,
    /// False leaves out long documentation.
    pub docs: bool,
}

/// Shows lines of several files: the same lines of each, unless ranges or parts of files are asked
/// for.
///
/// # Errors
/// A range is named together with lines of whole files.
pub(crate) fn lines_of_files(
    open_files: &OpenFiles,
    request: LinesRequest,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let LinesRequest { names, lines, not, markup, around, docs } = &request;
    if around.is_none() && *docs && !names_a_range(open_files, names, context) {
        let (first, last) = *lines;
        let (files, not, markup) = (names.clone(), not.clone(), *markup);
        let request = FirstLinesRequest { files, first, last, not, markup };
        return first_lines(open_files, &request, context);
    }
    if *lines != (HEAD_FIRST, HEAD_LAST) {
        let names = names.iter().map(|file| format!("{:?}", file.0));
        let call = format!("lines([{}])", names.collect::<Vec<_>>().join(", "));
        let message = "first and last are of whole files, and a range has its own";
        return Err(Fault::usage(message).hint(open_files.paths.run_command(&call)));
    }
    several_ranges(open_files, &request, context)
}

/// The options of an answer to `lines`.
struct LinesQuery {
    excerpts: Excerpts,
    budget: u64,
    /// True if another call takes the bare text.
    nested: bool,
    /// The arguments of the call, after the names.
    arguments: String,
    /// The prefix of calls on this session.
    callee: String,
}

/// True if one of several names is a range or a symbol rather than a file, a folder or a glob.
fn names_a_range(open_files: &OpenFiles, names: &[FilePath], context: &Context) -> bool {
    // What looks like a path and isn't there is a missing file.
    let is_range = |name: &FilePath| {
        let looks_like_range = name.0.contains('#')
            || numbered(&name.0).is_some()
            || !name.0.contains(['*', '?', '{', '/', '.']);
        looks_like_range && !open_files.paths.caller_path(&name.0, context).exists()
    };
    names.iter().any(is_range)
}

/// Shows several ranges, symbols and files: by file, in the order in which the files were named. As
/// an argument they are the bare text, in the order of the names.
fn several_ranges(
    open_files: &OpenFiles,
    request: &LinesRequest,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let LinesRequest { names, not, around, docs, .. } = request;
    let given = [("not", not), ("around", around)].map(|(name, pattern)| {
        let written = pattern.as_ref().and_then(|pattern| quoted(&pattern.0))?;
        Some(format!(", {name}={written}"))
    });
    let docs_given = if *docs { None } else { Some(", docs=false".to_owned()) };
    let matcher = line_matcher("around", around.as_ref())?;
    let around = around.as_ref().map(|around| around.0.clone()).zip(matcher);
    let not = line_matcher("not", not.as_ref())?;
    let query = LinesQuery {
        excerpts: Excerpts { not, around, docs: *docs },
        budget: u64::from(context.budget),
        nested: context.nested,
        arguments: given.into_iter().flatten().chain(docs_given).collect(),
        callee: open_files.paths.callee().to_owned(),
    };
    let names: Vec<String> = names.iter().map(|name| name.0.clone()).collect();
    let scope = scope(open_files, context)?;
    listing(open_files, context, move |mut documents| {
        let found = find_all(&names, &mut documents, scope, &query)?;
        query.list(names.len(), found, documents)
    })
}

/// The places that names resolve to, and messages for names that resolve to none.
struct FoundPlaces {
    places: Vec<ExcerptRange>,
    missing: Vec<String>,
}

/// Finds what is named. A name that means nothing, or several things, is said beside the others;
/// the answer fails if it is the only one, or if another call takes the lines.
fn find_all(
    names: &[String],
    documents: &mut Documents,
    scope: SymbolScope,
    query: &LinesQuery,
) -> Result<FoundPlaces, Fault> {
    let (nested, searches) = (query.nested, query.excerpts.around.is_some());
    let mut resolver = Resolver::new(documents, scope);
    resolver.clamps = !nested;
    let mut found = FoundPlaces { places: Vec::new(), missing: Vec::new() };
    let mut first_fault = None;
    for name in names {
        match find(name.trim(), &mut resolver, searches) {
            Ok(places) => found.places.extend(places),
            Err(fault) if !nested => {
                found.missing.push(match fault.code == Code::NotFound && looks_like_path(name) {
                    true => resolver.documents.missing(&resolver.scope.base.join(name.trim())),
                    false => [&[fault.message.clone()][..], &fault.hints].concat().join("; "),
                });
                first_fault.get_or_insert(fault);
            }
            Err(fault) => return Err(fault),
        }
    }
    match first_fault.filter(|_| found.places.is_empty()) {
        Some(fault) => Err(fault),
        None => Ok(found),
    }
}

fn looks_like_path(name: &str) -> bool {
    !name.contains('#') && numbered(name).is_none() && name.contains(['/', '.'])
}

fn find(
    name: &str,
    resolver: &mut Resolver<'_>,
    searches: bool,
) -> Result<Vec<ExcerptRange>, Fault> {
    let path = resolver.scope.base.join(name);
    let is_glob = name.contains(['*', '?', '{']) && !name.contains('#') && !path.exists();
    if !path.is_dir() && !is_glob {
        let target = Target::Written { text: name.to_owned(), body: false };
        return match resolver.resolve(&target) {
            Ok(found) => Ok(vec![ExcerptRange::of(&found)]),
            Err(Unresolved::Fault(fault)) => Err(fault),
            Err(Unresolved::Ask(_, ambiguous)) => Err(ambiguous.fault("")),
        };
    }
    let files = project::files(&[name.to_owned()], &resolver.scope.base, &resolver.scope.root)?;
    let place = |path: PathBuf| {
        // A folder may have anything.
        let lines = 0..resolver.documents.text(&path).ok()?.line_count();
        Some(ExcerptRange {
            path,
            lines,
            signatures: Vec::new(),
            is_file: true,
            is_listed: searches,
        })
    };
    Ok(files.into_iter().take(HEADS_MAX).filter_map(place).collect())
}

impl LinesQuery {
    fn list(
        &self,
        names: usize,
        FoundPlaces { places, missing }: FoundPlaces,
        mut documents: Documents,
    ) -> Result<Listing, Fault> {
        let ranges = places.len();
        let files = merged(places, self.nested);
        let display = |documents: &Documents, path: &Path| readable(&documents.display(path));
        let paths = files.iter().map(|(path, _)| display(&documents, path));
        // The second name, which no path has, says that there are several.
        let several = (names > 1).then(|| "\0".to_owned());
        let blocks = Blocks::new(paths.chain(several).collect::<Vec<_>>());
        let mut budget = Budget::new(self.budget);
        let (mut text, mut bare, mut rest) = (String::new(), String::new(), VecDeque::new());
        let (mut lines, mut matches, mut excluded, mut without) = (0, 0, 0, 0);
        let mut shown = ShownLines::default();
        for (path, places) in files {
            let display = display(&documents, &path);
            let buffer = documents.text(&path)?.clone();
            let excerpt = self.excerpts.of(&path, &buffer, &places);
            if excerpt.lines.is_empty() && excerpt.of_listed {
                without += 1;
                continue;
            }
            (matches, excluded) = (matches + excerpt.matches, excluded + excerpt.excluded);
            if self.nested {
                add_bare_lines(&mut bare, &buffer, &excerpt.lines)?;
            }
            let (mut wanted, mut notes) = (excerpt.lines, excerpt.notes);
            let all = wanted.len();
            let fits = |wanted: &[usize], notes: &_, budget: &mut Budget| {
                let block = blocks.block(&display, &buffer, wanted, notes);
                budget.take(&block).then_some(block)
            };
            let mut block = match rest.is_empty() || self.nested {
                true => fits(&wanted, &notes, &mut budget),
                false => None,
            };
            // Of the first file, what there is room for.
            while block.is_none() && text.is_empty() && rest.is_empty() && wanted.len() > 1 {
                wanted.truncate(wanted.len() / 2);
                notes.retain(|at, _| wanted.last().is_some_and(|last| at < last));
                block = fits(&wanted, &notes, &mut budget);
            }
            if block.is_none() {
                wanted.clear();
            }
            if wanted.len() < all && !self.nested {
                let next = wanted.last().map_or(0, |last| last + 1);
                let unshown =
                    places.iter().map(|place| place.lines.start.max(next)..place.lines.end);
                let unshown = unshown.filter(|lines| !lines.is_empty());
                rest.extend(unshown.map(|lines| range_name(&display, &lines)));
            }
            text += &block.unwrap_or_default();
            lines += wanted.len();
            pieces(&wanted).into_iter().for_each(|piece| shown.add(&path, piece));
        }
        let mut brief = format!("{} of {}", count(lines, "line"), count(ranges, "range"));
        if self.excerpts.around.is_some() {
            brief += &format!(", {}", count(matches, "match"));
        }
        brief += &left_out(excluded);
        if without > 0 {
            brief += &format!("; no match in {}", count(without, "file"));
        }
        let missing = missing.iter().map(|line| format!("{line}\n"));
        let rest = missing.chain(self.call_for(&rest)).collect();
        let value = self.nested.then_some(bare);
        Ok(Listing { brief, text, rest, shown, documents, value })
    }

    /// Returns the line with the call for the ranges that exceed the budget.
    fn call_for(&self, ranges: &VecDeque<String>) -> Option<String> {
        let named: Option<Vec<String>> =
            ranges.iter().take(REST_NAMED).map(|range| quoted(range)).collect();
        let named = named.filter(|named| !named.is_empty())?.join(", ");
        let more = count(ranges.len(), "more range");
        let some = match ranges.len() > REST_NAMED {
            true => format!(", the first {REST_NAMED}"),
            false => String::new(),
        };
        let call = format!("{}.lines([{named}]{})", self.callee, self.arguments);
        Some(format!("… {more}{some}: {}\n", docui::command::run(&call)))
    }
}
