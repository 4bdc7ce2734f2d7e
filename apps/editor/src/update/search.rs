//! What `find` and `replace` share: which files are searched, and for what.
//!
//! | module | holds |
//! |---|---|
//! | [`find`] | the matches by file |
//! | [`listing`], [`budget`], [`again`] | the answer of a query: what fits in, and the call for the rest |
//! | [`replace`], [`asking`] | replacing them, and the question which ones |
//! | [`heads`], [`blocks`] | the same lines of many files, and lists of files |
//! | [`words`] | counts, and what the filters left out, in words |
//! | [`seen`] | counting the numbers in an answer as seen |

mod again;
mod asking;
mod blocks;
mod budget;
mod find;
mod heads;
mod listing;
mod markup;
mod replace;
mod seen;
mod words;

pub(super) use blocks::Blocks;
pub(super) use budget::Budget;
pub(super) use heads::HeadsRequest;
pub(super) use listing::Listing;
pub(super) use seen::ShownLines;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use docui::{Context, Fault, FilePath};
use pipemux_search::{
    Files, FilesError, Filters, Found, Overlay, Part, PartOf, Pattern, PatternError,
};
use pipemux_syntax::regions::{Region, regions_of};
use pipemux_syntax::{Language, limits};

use crate::action::Only;
use crate::model::Editor;
use crate::model::disk;
use crate::model::documents::Documents;

/// What to search for.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub text: String,
    pub regex: bool,
    pub word: bool,
    pub case: bool,
    pub only: Option<Only>,
    pub not: Option<String>,
}

/// Which files to search.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// Paths, folders and globs as they were written; none mean the root.
    pub entries: Vec<String>,
    /// The caller's directory.
    pub base: PathBuf,
    /// The directory that displayed paths are relative to.
    pub root: PathBuf,
}

/// What was found.
pub(super) struct Searched {
    pub pattern: Pattern,
    pub files: Vec<PathBuf>,
    /// The files that were named by their own paths.
    pub named: Vec<PathBuf>,
    pub found: Found,
}

impl Wanted {
    pub(super) fn pattern(&self) -> Result<Pattern, Fault> {
        let only = self.only.map(|only| match only {
            Only::Code => Part::Code,
            Only::Comments => Part::Comment,
            Only::Strings => Part::String,
        });
        let filters = Filters {
            word: self.word,
            only,
            classify: Some(Arc::new(classify)),
            not: self.not.clone(),
        };
        Pattern::new(&self.text, self.regex, self.case, filters).map_err(pattern_fault)
    }
}

fn pattern_fault(error: PatternError) -> Fault {
    match error {
        PatternError::Empty => Fault::usage("text is empty: expected what to find"),
        PatternError::Syntax(why) => Fault::usage(format!("not a regular expression: {why}")),
    }
}

impl Scope {
    pub(super) fn files(&self, documents: &Documents) -> Result<Files, Fault> {
        let unwritten = documents.open_files().filter(|open| documents.is_missing(&open.path));
        let known: Vec<PathBuf> = unwritten.map(|open| open.path.clone()).collect();
        let files = |base: &Path| Files::new(&self.entries, base, &self.root, &known);
        files(&self.base)
            .or_else(|error| match error {
                // As paths are displayed.
                FilesError::Missing(_) => files(&self.root).map_err(|_| error),
                error => Err(error),
            })
            .map_err(fault)
    }
}

/// Searches the files of a scope, open ones as they are in the session.
pub(super) fn search(
    wanted: &Wanted,
    scope: &Scope,
    documents: &Documents,
) -> Result<Searched, Fault> {
    let pattern = wanted.pattern()?;
    let chosen = scope.files(documents)?;
    let files = chosen.list().map_err(fault)?;
    let overlay: Overlay = documents
        .open_files()
        .filter(|open| files.binary_search(&open.path).is_ok())
        .map(|open| (open.path.clone(), open.buffer.text().into()))
        .collect();
    let found = pipemux_search::search(&pattern, &files, &overlay);
    Ok(Searched { pattern, files, named: chosen.named().to_vec(), found })
}

impl Editor {
    pub(super) fn search_scope(&self, entries: &[FilePath], context: &Context) -> Scope {
        Scope {
            entries: entries.iter().map(|entry| entry.0.clone()).collect(),
            base: self.caller_path("", context),
            root: self.root().to_owned(),
        }
    }
}

fn fault(error: FilesError) -> Fault {
    match error {
        FilesError::Missing(path) => match disk::resolve(&path) {
            Err(fault) => fault,
            Ok(_) => Fault::not_found(format!("{}: no such file", path.display())),
        },
        FilesError::NoMatch(glob) => Fault::not_found(format!("no file matches {glob}"))
            .hint("what .gitignore lists is left out: name the file or its folder"),
        error @ FilesError::Glob { .. } => Fault::usage(error.to_string()),
        error => Fault::refused(error.to_string()),
    }
}

/// Tells the parts of a text by its language, which the path tells.
fn classify(path: &Path, text: &str) -> Option<PartOf> {
    let language = Language::of_path(path).filter(|language| *language != Language::Markdown)?;
    if text.len() > limits::SOURCE_MAX {
        return None;
    }
    let regions = regions_of(Some(language), text);
    Some(Box::new(move |range| match regions.of(range) {
        Region::Code => Part::Code,
        Region::Comment => Part::Comment,
        Region::String => Part::String,
    }))
}
