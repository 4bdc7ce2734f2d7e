//! A search query, and the results of a search.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docui::Fault;
use pipemux_search::{
    Files, Filters, Overlay, Part, PartOf, Parts, Pattern, PatternError, SearchResults,
};
use pipemux_syntax::regions::{Region, regions_of};
use pipemux_syntax::{Language, limits};

use crate::action::Only;
use crate::model::documents::Documents;

use super::scope::{ScopedFiles, SearchScope};

/// The text to search for and its filters.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub text: String,
    pub regex: bool,
    pub word: bool,
    pub case: bool,
    pub only: Option<Only>,
    pub not: Option<String>,
    /// A text that the file must also contain, anywhere.
    pub with: Option<String>,
}

pub(crate) struct Searched {
    pub pattern: Pattern,
    pub files: Vec<PathBuf>,
    /// The files that were named by their own paths.
    pub named: Vec<PathBuf>,
    /// The parts of files that were searched, as they are displayed; empty if whole files were.
    pub parts: Vec<String>,
    pub found: SearchResults,
    pub listed_by: Option<Files>,
    /// One line for each entry that doesn't exist.
    pub missing: String,
}

impl Wanted {
    pub(in crate::update) fn pattern(&self, within: Parts) -> Result<Pattern, Fault> {
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
            within,
        };
        Pattern::new(&self.text, self.regex, self.case, filters).map_err(pattern_fault)
    }

    /// Returns the pattern of `with`, which the file must also match, in any kind of text.
    fn with_pattern(&self) -> Result<Option<Pattern>, Fault> {
        let Some(text) = &self.with else { return Ok(None) };
        let filters = Filters { word: self.word, ..Filters::default() };
        let pattern = Pattern::new(text, self.regex, self.case, filters);
        pattern.map(Some).map_err(|error| {
            let fault = pattern_fault(error);
            Fault::usage(format!("with: {}", fault.message))
        })
    }
}

pub(super) fn pattern_fault(error: PatternError) -> Fault {
    match error {
        PatternError::Empty => Fault::usage("text is empty: expected what to find"),
        PatternError::Syntax(why) => {
            let instead = match why.contains("look-around") {
                true => "; not='…' leaves out lines that match it",
                false => "",
            };
            Fault::usage(format!("not a regular expression: {why}{instead}"))
        }
    }
}

/// Searches the files of a scope, open ones as they are in the session.
pub(in crate::update) fn search(
    wanted: &Wanted,
    scope: &SearchScope,
    documents: &mut Documents,
) -> Result<Searched, Fault> {
    // What is written wrong is told before any file is read.
    wanted.pattern(Parts::new())?;
    let with = wanted.with_pattern()?;
    let ScopedFiles { mut files, named, within, shown, listed_by, missing } =
        scope.files(documents)?;
    let pattern = wanted.pattern(within)?;
    let overlay: Overlay = documents
        .open_files()
        .filter(|open| files.binary_search(&open.path).is_ok())
        .map(|open| (open.path.clone(), open.buffer.text().into()))
        .collect();
    if let Some(with) = &with {
        let found = pipemux_search::search(with, &files, &overlay);
        let have = found.files.into_iter().filter(|file| file.counts.matches > 0);
        let have: HashSet<PathBuf> = have.map(|file| file.path).collect();
        files.retain(|path| have.contains(path));
    }
    let found = pipemux_search::search(&pattern, &files, &overlay);
    let parts = if scope.is_parts() { shown } else { Vec::new() };
    Ok(Searched { pattern, files, named, parts, found, listed_by, missing })
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
