//! Resolves an argument to lines of a file. This reads files, so it runs on another thread.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use docui::Fault;
use pipemux_syntax::{FoundSymbol, Language, Source, Wanted, lookup};

use crate::display::wording::line_numbers;
use crate::limits::NEAREST_FILES_MAX;
use crate::model::documents::Documents;

use super::project;
use super::resolved::{Resolved, Unresolved};
use super::target::{SymbolName, SymbolScope, Target, numbered};

/// A parsed argument for lines.
enum Read {
    Symbol(SymbolName),
    /// A file, or some of its lines counted from 0.
    File(PathBuf, Option<Range<usize>>),
}

/// Finds symbols in files.
pub(crate) struct Resolver<'d> {
    pub documents: &'d mut Documents,
    pub scope: SymbolScope,
    /// True when lines beyond the end of a file mean those up to its end: of what is only shown.
    pub clamps: bool,
    sources: BTreeMap<PathBuf, Rc<Source>>,
}

impl<'d> Resolver<'d> {
    pub(in crate::update) fn new(documents: &'d mut Documents, scope: SymbolScope) -> Self {
        Self { documents, scope, clamps: false, sources: BTreeMap::new() }
    }

    /// Returns a parsed file.
    pub(super) fn source(&mut self, path: &Path) -> Result<Rc<Source>, Fault> {
        if let Some(source) = self.sources.get(path) {
            return Ok(source.clone());
        }
        let text = self.documents.text(path)?.text();
        let parsed = match Language::of_path(path) {
            Some(language) => {
                Source::parse(language, text.as_str()).or_else(|_| Source::plain(text))
            }
            None => Source::plain(text),
        };
        let shown = self.documents.display(path);
        let source = parsed.map_err(|error| Fault::refused(format!("{shown}: {error}")))?;
        let source = Rc::new(source);
        self.sources.insert(path.to_owned(), source.clone());
        Ok(source)
    }

    /// Returns the lines that a target means.
    pub(in crate::update) fn resolve(&mut self, target: &Target) -> Result<Resolved, Unresolved> {
        let (path, lines) = match target {
            Target::Lines { path, lines } => (path.clone(), Some(lines.clone())),
            Target::Written { text, body } => match self.read(text, *body)? {
                Read::Symbol(name) => return self.symbol(&name),
                Read::File(path, lines) => (path, lines),
            },
        };
        let path = &path;
        let source = self.source(path)?;
        let buffer = self.documents.text(path)?;
        let all = 0..buffer.line_count();
        let is_file = lines.is_none();
        let mut lines = lines.unwrap_or(all.clone());
        if self.clamps && lines.start < all.end {
            lines.end = lines.end.min(all.end);
        }
        if lines.end > all.end {
            let shown = line_numbers(&lines);
            let (most, path) = (all.end, self.documents.display(path));
            return Err(Fault::usage(format!("{path} has {most} lines, not {shown}")).into());
        }
        let bytes = buffer.byte_range(&lines);
        // Numbers that are just those of an item mean the item.
        let symbol = source
            .named_symbols()
            .into_iter()
            .find(|one| one.symbol.whole == bytes && one.symbol.is_whole_lines(source.text()));
        Ok(Resolved { path: path.clone(), symbol, is_file, is_items: false, bytes, source })
    }

    /// Reads what was written.
    fn read(&self, text: &str, body: bool) -> Result<Read, Fault> {
        if let Some(inner) = text.strip_prefix("body(").and_then(|rest| rest.strip_suffix(')')) {
            return self.read(inner.trim().trim_matches(['\'', '"']), true);
        }
        let name = |file, written: &str| {
            Ok(Read::Symbol(SymbolName { file, written: written.to_owned(), body }))
        };
        let read = match (numbered(text), text.split_once('#')) {
            (Some((Some(file), first, last)), _) => {
                let path = self
                    .file(file)
                    .ok_or_else(|| Fault::not_found(format!("{file}: no such file")))?;
                let last = usize::try_from(last).unwrap_or(0);
                let first = usize::try_from(first).ok().and_then(|first| first.checked_sub(1));
                let lines = first.map(|first| first..last).filter(|lines| !lines.is_empty());
                let lines = lines.ok_or_else(|| Fault::usage(format!("{text} are no lines")))?;
                Read::File(path, Some(lines))
            }
            (_, Some((file, symbol))) if !file.is_empty() && !symbol.is_empty() => {
                match self.file(file) {
                    Some(path) => return name(Some(path), symbol),
                    None => return name(None, text),
                }
            }
            _ => match self.file(text) {
                Some(path) => Read::File(path, None),
                None => return name(None, text),
            },
        };
        match body {
            true => Err(Fault::usage(format!("body: {text} is no symbol"))),
            false => Ok(read),
        }
    }

    /// Returns the path without symlinks of a file that is open or on disk.
    fn file(&self, name: &str) -> Option<PathBuf> {
        let path = self.scope.base.join(name);
        if path.is_file() {
            return path.canonicalize().ok();
        }
        self.open_file(name)
    }

    /// Returns the open file that a name means: its path, or the end of it.
    fn open_file(&self, name: &str) -> Option<PathBuf> {
        let (path, tail) = (self.scope.base.join(name), name.trim_start_matches("./"));
        if self.documents.open_file(&path).is_some() {
            return Some(path);
        }
        let mut open = self.documents.open_files().filter(|one| one.path.ends_with(tail));
        let file = open.next().filter(|_| !tail.is_empty())?;
        open.next().is_none().then(|| file.path.clone())
    }

    /// Returns the files that were asked for; all of the project if none were.
    pub(super) fn files(&self, entries: &[String]) -> Result<Vec<PathBuf>, Fault> {
        let open: Vec<PathBuf> = entries.iter().filter_map(|name| self.file(name)).collect();
        match open.len() == entries.len() && !open.is_empty() {
            true => Ok(open),
            false => project::files(entries, &self.scope.base, &self.scope.root),
        }
    }

    /// Returns the bytes that a text means in an open file, without waiting for a disk.
    pub(super) fn open_symbol(
        &mut self,
        text: &str,
    ) -> Result<Option<(PathBuf, Range<usize>)>, Fault> {
        let inner = text.strip_prefix("body(").and_then(|rest| rest.strip_suffix(')'));
        let (text, body) = match inner {
            Some(inner) => (inner.trim().trim_matches(['\'', '"']), true),
            None => (text, false),
        };
        let file =
            text.split_once('#').and_then(|(file, symbol)| Some((self.open_file(file)?, symbol)));
        let (files, written) = match file {
            Some((path, symbol)) => (vec![path], symbol),
            None => {
                let mut files: Vec<PathBuf> = self.scope.current.iter().cloned().collect();
                files.extend(self.documents.open_files().map(|one| one.path.clone()));
                (files, text)
            }
        };
        let wanted = Wanted::new(written);
        for path in files {
            let found = self.find_in(&path, &wanted)?;
            match found.as_slice() {
                [] => {}
                [(path, one)] => {
                    let range = match body {
                        false => Some(one.symbol.whole.clone()),
                        true => one.symbol.interior.clone(),
                    };
                    return Ok(range.map(|range| (path.clone(), range)));
                }
                all => {
                    let source = self.source(&path)?;
                    let line = |one: &FoundSymbol| source.line_of(one.symbol.range.start) + 1;
                    let all: Vec<_> = all
                        .iter()
                        .map(|(_, one)| format!("{} {}", one.qualified, line(one)))
                        .collect();
                    return Err(Fault::usage(format!(
                        "{written} is ambiguous: {}",
                        all.join(" · ")
                    ))
                    .hint("write what is around it too: 'Type::foo'"));
                }
            }
        }
        Ok(None)
    }

    fn symbol(&mut self, name: &SymbolName) -> Result<Resolved, Unresolved> {
        let wanted = Wanted::new(&name.written);
        let found = self.candidates(name, &wanted)?;
        let key = key_of(name);
        let chosen = self.scope.chosen.iter().find(|one| one.written == key);
        let one = match (found.as_slice(), chosen) {
            ([], _) => return Err(self.unknown(name, &wanted).into()),
            ([one], None) => one,
            (all, Some(chosen)) => {
                let same = |(path, found): &&(PathBuf, FoundSymbol)| {
                    *path == chosen.path && found.qualified == chosen.qualified
                };
                all.iter().filter(same).nth(chosen.nth).ok_or_else(|| {
                    Fault::stale("the symbols changed since you were asked")
                        .hint("run the call again")
                })?
            }
            (all, None) => return Err(self.ask_which(&key, all)?),
        };
        let (path, found) = one.clone();
        let source = self.source(&path)?;
        let bytes = match name.body {
            false => found.symbol.whole.clone(),
            true => found
                .symbol
                .interior
                .clone()
                .ok_or_else(|| Fault::refused(format!("{} has no body", found.qualified)))?,
        };
        Ok(Resolved { path, symbol: Some(found), is_file: false, is_items: false, bytes, source })
    }

    /// Returns the symbols that a name may mean: in its file, else in the current file, else in the
    /// project.
    pub(super) fn candidates(
        &mut self,
        name: &SymbolName,
        wanted: &Wanted,
    ) -> Result<Vec<(PathBuf, FoundSymbol)>, Fault> {
        if let Some(path) = &name.file {
            return self.find_in(path, wanted);
        }
        if let Some(path) = self.scope.current.clone() {
            let found = self.find_in(&path, wanted)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let mut found = Vec::new();
        for path in self.project_files()? {
            if !wanted.name().is_empty() && self.mentions(&path, wanted.name()) {
                found.extend(self.find_in(&path, wanted)?);
            }
        }
        let mut all: Vec<FoundSymbol> =
            found.iter().map(|(_, one): &(PathBuf, FoundSymbol)| one.clone()).collect();
        lookup::prefer(&mut all);
        found.retain(|(_, one)| all.contains(one));
        Ok(found)
    }

    /// Returns all files of the project, and those that are open.
    pub(super) fn all_files(&self) -> Vec<PathBuf> {
        let root = self.scope.root.clone();
        let mut files = project::files(&[], &root, &root).unwrap_or_default();
        files.extend(self.documents.open_files().map(|open| open.path.clone()));
        files.sort();
        files.dedup();
        files
    }

    /// Returns the source files of the project, and those that are open.
    pub(super) fn project_files(&self) -> Result<Vec<PathBuf>, Fault> {
        let mut files = self.all_files();
        files.retain(|path| Language::of_path(path).is_some());
        Ok(files)
    }

    /// True if a file's text has a name in it.
    pub(super) fn mentions(&self, path: &Path, name: &str) -> bool {
        match self.documents.open_file(path) {
            Some(open) => open.buffer.text().contains(name),
            None => std::fs::read(path)
                .is_ok_and(|bytes| memchr::memmem::find(&bytes, name.as_bytes()).is_some()),
        }
    }

    pub(super) fn find_in(
        &mut self,
        path: &Path,
        wanted: &Wanted,
    ) -> Result<Vec<(PathBuf, FoundSymbol)>, Fault> {
        let source = self.source(path)?;
        let relative = path.strip_prefix(&self.scope.root).unwrap_or(path);
        let found = wanted.find(&source, Some(relative));
        Ok(found.into_iter().map(|one| (path.to_owned(), one)).collect())
    }

    fn unknown(&mut self, name: &SymbolName, wanted: &Wanted) -> Fault {
        let files = match (&name.file, self.project_files()) {
            (Some(path), _) => vec![path.clone()],
            (None, Ok(files)) => files,
            (None, Err(_)) => Vec::new(),
        };
        let mut all = Vec::new();
        for path in files.into_iter().take(NEAREST_FILES_MAX) {
            if let Ok(source) = self.source(&path) {
                all.extend(source.named_symbols());
            }
        }
        let nearest = lookup::nearest(wanted, all.into_iter());
        let place = match &name.file {
            Some(path) => format!(" in {}", self.documents.display(path)),
            None => String::new(),
        };
        let fault = Fault::not_found(format!("no symbol is called {}{place}", name.written));
        match nearest.is_empty() {
            true => fault.hint("find(text) searches for a text; outline() lists the symbols"),
            false => fault.hint(format!("nearest: {}", nearest.join(" · "))),
        }
    }
}

/// Returns the key that identifies a question about a symbol.
fn key_of(name: &SymbolName) -> String {
    name.written.clone()
}
