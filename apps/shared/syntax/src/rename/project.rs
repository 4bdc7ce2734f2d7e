//! The project around the files that mention a name: which files there are, and what is known of
//! each.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use crate::source::Source;

use super::facts::Facts;
use super::meaning::FileId;

/// Reads a project's files while a renaming is planned. Paths are relative to the project's root.
pub trait Files {
    /// Returns a parsed file; `None` if it can't be read or parsed.
    fn source(&mut self, path: &Path) -> Option<Rc<Source>>;
    /// Returns the text of a file that isn't parsed, such as a manifest.
    fn text(&mut self, path: &Path) -> Option<String>;
}

pub struct Project<'p> {
    paths: Vec<PathBuf>,
    by_path: BTreeMap<PathBuf, FileId>,
    files: RefCell<&'p mut dyn Files>,
    facts: RefCell<HashMap<FileId, Option<Rc<Facts>>>>,
    texts: RefCell<HashMap<PathBuf, Option<Rc<str>>>>,
}

impl<'p> Project<'p> {
    /// Takes the paths of all source files, relative to the project's root.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>, files: &'p mut dyn Files) -> Self {
        let mut paths: Vec<PathBuf> = paths.into_iter().collect();
        paths.sort();
        paths.dedup();
        let by_path = paths.iter().cloned().enumerate().map(|(index, path)| (path, index));
        let by_path = by_path.collect();
        let (files, facts, texts) = (RefCell::new(files), RefCell::default(), RefCell::default());
        Self { paths, by_path, files, facts, texts }
    }

    pub(super) fn file(&self, path: &Path) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    pub(super) fn path(&self, file: FileId) -> &Path {
        self.paths.get(file).map_or(Path::new(""), PathBuf::as_path)
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = (FileId, &Path)> {
        self.paths.iter().enumerate().map(|(index, path)| (index, path.as_path()))
    }

    /// True if a directory holds a source file, at any depth.
    pub(super) fn has_directory(&self, directory: &Path) -> bool {
        let from = self.by_path.range(directory.to_owned()..);
        from.take(2).any(|(path, _)| path.starts_with(directory) && path != directory)
    }

    /// What is known of a file; `None` if it can't be read or parsed.
    pub(super) fn facts(&self, file: FileId) -> Option<Rc<Facts>> {
        if let Some(known) = self.facts.borrow().get(&file) {
            return known.clone();
        }
        let source = self.files.borrow_mut().source(self.path(file));
        let facts = source.map(|source| Rc::new(Facts::of(source)));
        self.facts.borrow_mut().insert(file, facts.clone());
        facts
    }

    /// True if the text of a file has a name in it.
    pub(super) fn mentions(&self, file: FileId, name: &str) -> bool {
        let text = self.files.borrow_mut().text(self.path(file));
        text.is_some_and(|text| text.contains(name))
    }

    /// The text of a manifest.
    pub(super) fn text(&self, path: &Path) -> Option<Rc<str>> {
        if let Some(known) = self.texts.borrow().get(path) {
            return known.clone();
        }
        let text: Option<Rc<str>> = self.files.borrow_mut().text(path).map(Rc::from);
        self.texts.borrow_mut().insert(path.to_owned(), text.clone());
        text
    }

    /// The manifests of a name in the directories around a file, the nearest first, each with its
    /// directory.
    pub(super) fn manifests(&self, file: FileId, name: &str) -> Vec<(PathBuf, Rc<str>)> {
        let directories = self.path(file).ancestors().skip(1);
        let one = |directory: &Path| {
            self.text(&directory.join(name)).map(|text| (directory.to_owned(), text))
        };
        directories.filter_map(one).collect()
    }
}

/// Resolves `.` and `..` in a path that is relative to the project's root; `None` if it leads out
/// of the project.
pub(super) fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    return None;
                }
            }
            Component::Normal(part) => normal.push(part),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}
