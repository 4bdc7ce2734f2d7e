//! The files as they are after the sections that were applied so far.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::model::Name;
use crate::plan::{FileChange, FileSource, HunkOutcome, Problem, ProblemKind, name_problem};
use crate::scope::Scope;

/// One file that the patch touches.
pub(super) struct File<'a> {
    existed: bool,
    /// What it is now; `None` if there is none.
    pub(super) document: Option<Document<'a>>,
    from: Option<PathBuf>,
    copied: bool,
    created: bool,
    pub(super) hunks: Vec<HunkOutcome>,
}

pub(super) struct Files<'f, 'a> {
    scope: &'f Scope,
    source: &'f dyn Fn(&Path) -> FileSource<'a>,
    touched: HashMap<PathBuf, File<'a>>,
    order: Vec<PathBuf>,
    /// Whether files were found from the project's folder rather than from the caller's directory.
    from_root: bool,
}

type Result<T> = std::result::Result<T, Problem>;

impl<'f, 'a> Files<'f, 'a> {
    pub(super) fn new(scope: &'f Scope, source: &'f dyn Fn(&Path) -> FileSource<'a>) -> Self {
        Self { scope, source, touched: HashMap::new(), order: Vec::new(), from_root: false }
    }

    /// The file that a name means: the first of its readings that exists.
    pub(super) fn find(&mut self, at: usize, name: &Name) -> Result<Option<PathBuf>> {
        let paths = self.resolve(at, name)?;
        let mut unreadable = None;
        for path in paths {
            match self.touched.get(&path) {
                Some(file) if file.document.is_some() => return Ok(Some(path)),
                Some(_) => continue,
                None => {}
            }
            match (self.source)(&path) {
                FileSource::Text(_) => {
                    self.from_root |= !self.scope.in_directory(&path);
                    return Ok(Some(path));
                }
                FileSource::Missing => {}
                FileSource::Unreadable(reason) => {
                    let kind = ProblemKind::Unreadable(reason.to_owned());
                    unreadable = unreadable.or(Some(Problem { at, path, kind }));
                }
            }
        }
        unreadable.map_or(Ok(None), Err)
    }

    /// Where a file of this name would be made.
    pub(super) fn place_for(&self, at: usize, name: &Name) -> Result<PathBuf> {
        let mut paths = self.resolve(at, name)?;
        let root = paths.iter().position(|path| !self.scope.in_directory(path));
        let chosen = root.filter(|_| self.from_root).unwrap_or(0);
        Ok(paths.swap_remove(chosen))
    }

    fn resolve(&self, at: usize, name: &Name) -> Result<Vec<PathBuf>> {
        self.scope.resolve(name).map_err(|error| name_problem(at, name, error))
    }

    /// The file at a path, to be changed.
    pub(super) fn open(&mut self, path: &Path) -> &mut File<'a> {
        if !self.touched.contains_key(path) {
            self.order.push(path.to_owned());
        }
        let source = self.source;
        self.touched.entry(path.to_owned()).or_insert_with(|| {
            let document = match source(path) {
                FileSource::Text(text) => Some(Document::new(text)),
                _ => None,
            };
            File {
                existed: document.is_some(),
                document,
                from: None,
                copied: false,
                created: false,
                hunks: Vec::new(),
            }
        })
    }

    pub(super) fn create(&mut self, path: &Path, document: Document<'a>) {
        let file = self.open(path);
        file.document = Some(document);
        file.created = true;
    }

    pub(super) fn delete(&mut self, path: &Path) {
        self.open(path).document = None;
    }

    /// Gives a file another path, or makes a copy there.
    pub(super) fn rename(&mut self, from: &Path, to: &Path, copy: bool) {
        let file = self.open(from);
        let document = file.document.clone();
        let (first, created) = (file.from.clone(), file.created);
        let hunks = if copy { Vec::new() } else { std::mem::take(&mut file.hunks) };
        if !copy {
            file.document = None;
        }
        let copied = copy || file.copied;
        let target = self.open(to);
        target.document = document;
        target.created = created;
        target.hunks = hunks;
        target.from = Some(first.unwrap_or_else(|| from.to_owned())).filter(|_| !created);
        target.copied = copied;
    }

    /// What became of each file.
    pub(super) fn changes(mut self) -> Vec<FileChange> {
        let mut moved_away = Vec::new();
        let mut changes = Vec::new();
        for path in self.order {
            let Some(file) = self.touched.remove(&path) else { continue };
            if let Some(from) = file.from.as_ref().filter(|_| !file.copied) {
                moved_away.push(from.clone());
            }
            if file.document.is_none() && !file.existed {
                continue;
            }
            let splices = match &file.document {
                Some(document) if !file.created => document.splices(),
                _ => Vec::new(),
            };
            changes.push(FileChange {
                path,
                from: file.from,
                copied: file.copied,
                existed: file.existed,
                rewritten: file.existed && file.created,
                text: file.document.map(|document| document.text()),
                splices,
                hunks: file.hunks,
            });
        }
        // A file that was renamed is told once, under its new name.
        changes.retain(|change| change.text.is_some() || !moved_away.contains(&change.path));
        changes
    }
}
