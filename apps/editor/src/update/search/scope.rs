//! The scope of a search: the files, and the parts of them.

use std::path::{Path, PathBuf};

use docui::{Code, Context, Fault, FilePath, Line};
use pipemux_search::{Files, FilesError, Parts};

use crate::display::wording::range_name;
use crate::model::disk;
use crate::model::documents::Documents;
use crate::model::open_files::OpenFiles;
use crate::update::resolve::resolve_file_name;
use crate::update::symbols::target::scope;
use crate::update::symbols::target_argument::{lines_target, present_lines, target};
use crate::update::symbols::{Resolver, SymbolScope, Target, Unresolved, numbered};

/// The value of an `in=` argument.
#[derive(Debug, Clone)]
pub(crate) struct SearchScope {
    /// Paths, folders and globs as they were written.
    pub entries: Vec<String>,
    /// Lines and symbols of files. Without any and without entries, the root is meant.
    parts: Vec<Target>,
    /// The scope in which symbols are looked up.
    symbols: SymbolScope,
    /// The caller's working directory.
    pub base: PathBuf,
    /// The directory that displayed paths are relative to.
    pub root: PathBuf,
    /// True if what isn't there is said beside the rest.
    says_missing: bool,
}

/// The files that a scope selects.
pub(crate) struct ScopedFiles {
    /// The files in order.
    pub files: Vec<PathBuf>,
    /// The files that were named by their own paths.
    pub named: Vec<PathBuf>,
    /// The parts to search in files that aren't searched whole.
    pub within: Parts,
    /// The parts as they are displayed: `config.ini:51-150`.
    pub shown: Vec<String>,
    /// The listing that the files came from; answers without a match report what it skipped.
    pub listed_by: Option<Files>,
    /// One line for each entry that doesn't exist.
    pub missing: String,
}

/// The text that line numbers refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// The text that the reader saw: lines that changed since are refused.
    Seen,
    /// The present text, if the lines changed since: reading changes nothing.
    Present,
}

/// Reads what is written after `in=`: files, folders, globs, and lines or symbols of files.
pub(crate) fn search_scope(
    open_files: &OpenFiles,
    entries: &[FilePath],
    numbers: Numbers,
    context: &Context,
) -> Result<SearchScope, Fault> {
    let mut scope = SearchScope {
        entries: Vec::new(),
        parts: Vec::new(),
        symbols: scope(open_files, context)?,
        base: open_files.paths.caller_path("", context),
        root: open_files.paths.root.to_owned(),
        says_missing: numbers == Numbers::Present && !context.nested,
    };
    for FilePath(entry) in entries {
        if !is_part(open_files, entry, context) {
            scope.entries.push(entry.clone());
            continue;
        }
        let line = Line::Text(entry.clone());
        let target = match target(open_files, &line, context) {
            Err(fault) if fault.code == Code::Stale => match numbers {
                Numbers::Present => present_lines(open_files, &line, &line, context),
                Numbers::Seen => lines_between_ends(open_files, entry, context),
            }
            .ok_or(fault),
            other => other,
        };
        scope.parts.push(target?);
    }
    Ok(scope)
}

/// Returns the lines from one to another, if these two are as they were seen. What is between them
/// may have changed since: it is only searched.
fn lines_between_ends(open_files: &OpenFiles, entry: &str, context: &Context) -> Option<Target> {
    let (file, first, last) = numbered(entry)?;
    let line = |number: i64| {
        let line = Line::Text(format!("{}:{number}", file?));
        match lines_target(open_files, &line, &line, context) {
            Ok(Target::Lines { path, lines }) => Some((path, lines)),
            _ => None,
        }
    };
    let ((path, first), (_, last)) = (line(first)?, line(last)?);
    (first.start < last.end).then_some(Target::Lines { path, lines: first.start..last.end })
}

/// True for `a.rs:10-20`, `a.rs#foo`, `body(…)` and names such as `foo` and `Type::foo`, unless
/// there is such a file.
fn is_part(open_files: &OpenFiles, entry: &str, context: &Context) -> bool {
    let is_written = matches!(numbered(entry), Some((Some(_), _, _)))
        || entry.starts_with("body(")
        || entry.split_once('#').is_some_and(|(file, symbol)| {
            !file.is_empty() && !symbol.is_empty() && !symbol.contains('/')
        })
        || is_name(entry);
    let exists = || {
        open_files.paths.caller_path(entry, context).exists()
            || open_files.paths.root.join(entry).exists()
    };
    let is_open = || resolve_file_name(open_files, entry).is_ok();
    is_written && !entry.starts_with('!') && !exists() && !is_open()
}

impl SearchScope {
    /// Searches no parts of files, but these entries.
    pub(super) fn set_entries(&mut self, entries: Vec<String>) {
        self.entries = entries;
    }

    /// True if only parts of files are searched.
    pub(super) fn is_parts(&self) -> bool {
        self.entries.is_empty() && !self.parts.is_empty()
    }

    pub(super) fn files(&self, documents: &mut Documents) -> Result<ScopedFiles, Fault> {
        let mut scoped = ScopedFiles {
            files: Vec::new(),
            named: Vec::new(),
            within: Parts::new(),
            shown: Vec::new(),
            listed_by: None,
            missing: String::new(),
        };
        if !self.is_parts() {
            let files = self.whole_files(documents, &mut scoped.missing)?;
            scoped.files = files.list().map_err(|error| self.fault(error))?;
            scoped.named = files.named().to_vec();
            scoped.listed_by = Some(files);
        }
        let mut resolver = Resolver::new(documents, self.symbols.clone());
        resolver.clamps = true;
        for part in &self.parts {
            let found = match resolver.resolve(part) {
                Ok(found) => found,
                Err(Unresolved::Fault(mut fault)) => {
                    if let Target::Written { text, .. } = part
                        && is_name(text)
                        && fault.code == Code::NotFound
                    {
                        fault.message = format!("{text}: no such file, and {}", fault.message);
                    }
                    return Err(fault);
                }
                Err(Unresolved::Ask(_, ambiguous)) => return Err(ambiguous.fault("in: ")),
            };
            let shown = resolver.documents.display(&found.path);
            scoped.shown.push(range_name(&shown, &found.lines()));
            if scoped.files.binary_search(&found.path).is_err() {
                scoped.within.entry(found.path).or_default().push(found.bytes);
            }
        }
        scoped.files.extend(scoped.within.keys().cloned());
        scoped.named.extend(scoped.within.keys().cloned());
        scoped.files.sort();
        Ok(scoped)
    }

    fn whole_files(&self, documents: &Documents, missing: &mut String) -> Result<Files, Fault> {
        let unwritten = documents.open_files().filter(|open| documents.is_missing(&open.path));
        let known: Vec<PathBuf> = unwritten.map(|open| open.path.clone()).collect();
        let files_of = |entries: &[String]| {
            let files = |base: &Path| Files::new(entries, base, &self.root, &known);
            files(&self.base).or_else(|error| match error {
                // As paths are displayed.
                FilesError::Missing(_) => files(&self.root).map_err(|_| error),
                error => Err(error),
            })
        };
        let all = files_of(&self.entries);
        if self.says_missing && matches!(all, Err(FilesError::Missing(_))) {
            let is_missing = |entry: &&String| {
                let alone = files_of(std::slice::from_ref(*entry));
                matches!(alone, Err(FilesError::Missing(_)))
            };
            let (gone, there): (Vec<&String>, Vec<&String>) =
                self.entries.iter().partition(is_missing);
            if there.iter().any(|entry| !entry.starts_with('!')) {
                for entry in gone {
                    *missing += &format!("{}\n", documents.missing(&self.base.join(entry)));
                }
                let there: Vec<String> = there.into_iter().cloned().collect();
                return files_of(&there).map_err(|error| self.fault(error));
            }
        }
        all.map_err(|error| self.fault(error))
    }

    fn fault(&self, error: FilesError) -> Fault {
        match error {
            FilesError::Missing(path) => match disk::resolve(&path) {
                // A link that leads nowhere, for instance.
                Err(fault) if path.symlink_metadata().is_ok() => fault,
                _ => {
                    let shown = path.strip_prefix(&self.root).unwrap_or(&path).display();
                    Fault::not_found(format!("{shown}: no such file"))
                        .hint("expected a path, a folder, a glob, 'file:10-20' or 'file#symbol'")
                }
            },
            FilesError::NoMatch(glob) => Fault::not_found(format!("no file matches {glob}"))
                .hint("a glob is relative to the folder of the call; files that .gitignore lists were looked at, too"),
            error @ FilesError::Glob { .. } => Fault::usage(error.to_string()),
            error => Fault::refused(error.to_string()),
        }
    }
}

/// True for `foo` and `Type::foo`.
fn is_name(text: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    text.split("::").all(is_part)
}
