//! The files as they are after the sections that were applied so far.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::model::{Name, Patch, SectionChange};
use crate::plan::outcome::{FileChange, HunkOutcome, Problem, ProblemKind};
use crate::plan::source::FileSource;
use crate::scope::PathScope;

/// A file that the patch touches.
pub(super) struct File<'a> {
    existed: bool,
    was_link: bool,
    /// True if it is a link at this point, whose text is its target.
    pub(super) link: bool,
    /// The present content; `None` if there is no file.
    pub(super) document: Option<Document<'a>>,
    /// The content of a replaced file, until a later section moves or deletes it.
    displaced: Option<(Document<'a>, bool)>,
    from: Option<PathBuf>,
    copied: bool,
    created: bool,
    pub(super) executable: Option<bool>,
    pub(super) hunks: Vec<HunkOutcome>,
}

/// Moved content: the text, its first path, and the changes on the way.
struct Moved<'a> {
    document: Option<Document<'a>>,
    link: bool,
    from: Option<PathBuf>,
    created: bool,
    copied: bool,
    executable: Option<bool>,
    hunks: Vec<HunkOutcome>,
}

pub(super) struct Files<'f, 'a> {
    scope: &'f PathScope,
    source: &'f dyn Fn(&Path) -> FileSource<'a>,
    touched: HashMap<PathBuf, File<'a>>,
    order: Vec<PathBuf>,
    /// The number of remaining sections that move away or delete each file.
    vacated: HashMap<PathBuf, usize>,
    /// True if names were resolved from the project's folder, not the caller's directory.
    from_root: bool,
}

type Result<T> = std::result::Result<T, Problem>;

impl<'f, 'a> Files<'f, 'a> {
    pub(super) fn new(
        patch: &Patch<'_>,
        scope: &'f PathScope,
        source: &'f dyn Fn(&Path) -> FileSource<'a>,
    ) -> Self {
        let (touched, order, vacated) = Default::default();
        let mut files = Self { scope, source, touched, order, vacated, from_root: false };
        for section in &patch.sections {
            let name = match &section.change {
                SectionChange::Delete { path, .. } => path,
                SectionChange::Update { path, moved: Some(moved), .. } if !moved.copy => path,
                _ => continue,
            };
            if let Ok(Some(path)) = files.find(section.at, name) {
                *files.vacated.entry(path).or_default() += 1;
            }
        }
        files.from_root = false;
        files
    }

    /// Returns the file that a name refers to: the first of its readings that exists.
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
                FileSource::Text(_) | FileSource::Link { .. } => {
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

    /// The file whose text is behind a path: that of the file, or of the one that the link leads
    /// to.
    pub(super) fn behind(&self, at: usize, path: PathBuf) -> Result<PathBuf> {
        let Some(target) = self.link_target(&path) else { return Ok(path) };
        let kind = match (self.source)(&path) {
            FileSource::Link { leads_to, .. } if !self.touched.contains_key(&path) => {
                match (self.source)(leads_to) {
                    FileSource::Text(_) => return Ok(leads_to.to_owned()),
                    FileSource::Unreadable(reason) => ProblemKind::Unreadable(reason.to_owned()),
                    FileSource::Missing | FileSource::Link { .. } => ProblemKind::IsLink(target),
                }
            }
            _ => ProblemKind::IsLink(target),
        };
        Err(Problem { at, path, kind })
    }

    /// Returns the target of a link; `None` for a file.
    pub(super) fn link_target(&self, path: &Path) -> Option<String> {
        match self.touched.get(path) {
            Some(file) if file.link => file.document.as_ref().map(Document::text),
            Some(_) => None,
            None => match (self.source)(path) {
                FileSource::Link { target, .. } => Some(target.to_owned()),
                _ => None,
            },
        }
    }

    /// Returns the target of the link that is moved away from a path; `None` for a file.
    pub(super) fn moved_target(&self, path: &Path) -> Option<String> {
        match self.touched.get(path).and_then(|file| file.displaced.as_ref()) {
            Some((document, link)) => link.then(|| document.text()),
            None => self.link_target(path),
        }
    }

    /// Returns the target of the link at a path before the patch; `None` for a file.
    pub(super) fn original_target(&self, path: &Path) -> Option<String> {
        match (self.source)(path) {
            FileSource::Link { target, .. } => Some(target.to_owned()),
            FileSource::Text(_) => None,
            FileSource::Missing | FileSource::Unreadable(_) => self.link_target(path),
        }
    }

    /// Returns the text that a link led to before the patch, if there was one.
    pub(super) fn text_behind(&self, path: &Path) -> Option<Document<'a>> {
        let FileSource::Link { leads_to, .. } = (self.source)(path) else { return None };
        match (self.source)(leads_to) {
            FileSource::Text(text) => Some(Document::new(text)),
            _ => None,
        }
    }

    /// Returns the path at which a file of this name would be created.
    pub(super) fn place_for(&self, at: usize, name: &Name) -> Result<PathBuf> {
        let mut paths = self.resolve(at, name)?;
        let root = paths.iter().position(|path| !self.scope.in_directory(path));
        let chosen = root.filter(|_| self.from_root).unwrap_or(0);
        Ok(paths.swap_remove(chosen))
    }

    fn resolve(&self, at: usize, name: &Name) -> Result<Vec<PathBuf>> {
        self.scope.resolve(name).map_err(|error| Problem::of_name(at, name, error))
    }

    pub(super) fn open(&mut self, path: &Path) -> &mut File<'a> {
        if !self.touched.contains_key(path) {
            self.order.push(path.to_owned());
        }
        let source = self.source;
        self.touched.entry(path.to_owned()).or_insert_with(|| {
            let (document, link) = original(source(path)).unzip();
            let link = link.unwrap_or(false);
            File {
                existed: document.is_some(),
                was_link: link,
                link,
                document,
                displaced: None,
                from: None,
                copied: false,
                created: false,
                executable: None,
                hunks: Vec::new(),
            }
        })
    }

    /// Whether what is at a path goes from there later, so that something else can come in its
    /// place. What is there is set aside for that section.
    pub(super) fn makes_room(&mut self, path: &Path) -> bool {
        if self.vacated.get(path).is_none_or(|sections| *sections == 0) {
            return false;
        }
        let file = self.open(path);
        if file.displaced.is_some() || file.from.is_some() || file.created {
            return false;
        }
        let link = file.link;
        file.displaced = file.document.take().map(|document| (document, link));
        file.hunks.clear();
        true
    }

    pub(super) fn create(&mut self, path: &Path, document: Document<'a>, link: bool) {
        let file = self.open(path);
        file.document = Some(document);
        file.created = true;
        file.link = link;
        file.from = None;
    }

    /// Sees to it that the hunks of a rewritten file meet the text that it had before the patch.
    pub(super) fn rewrite(&mut self, path: &Path) {
        let source = self.source;
        let _ = self.makes_room(path);
        let file = self.open(path);
        if let Some((document, link)) = original(source(path)) {
            (file.document, file.link, file.from) = (Some(document), link, None);
        }
    }

    /// Returns true if a path had a file before the patch that is now deleted or moved.
    pub(super) fn had(&self, path: &Path) -> bool {
        self.touched.get(path).is_some_and(|file| file.existed)
    }

    /// Takes away what is to be deleted, which is returned with whether it is a link.
    pub(super) fn delete(&mut self, path: &Path) -> Option<(Document<'a>, bool)> {
        self.leaves(path);
        let file = self.open(path);
        let link = file.link;
        file.displaced.take().or_else(|| file.document.take().map(|document| (document, link)))
    }

    fn leaves(&mut self, path: &Path) {
        if let Some(sections) = self.vacated.get_mut(path) {
            *sections = sections.saturating_sub(1);
        }
    }

    /// Gives a file another path, or makes a copy there; from the text that it had before the
    /// patch, if it is so.
    pub(super) fn rename(&mut self, from: &Path, to: &Path, copy: bool, from_original: bool) {
        let moved = if copy {
            self.copied(from, from_original)
        } else {
            self.leaves(from);
            self.moved(from)
        };
        let target = self.open(to);
        target.document = moved.document;
        target.link = moved.link;
        target.created = moved.created;
        target.hunks = moved.hunks;
        target.from =
            Some(moved.from.unwrap_or_else(|| from.to_owned())).filter(|_| !moved.created);
        target.copied = moved.copied;
        target.executable = moved.executable;
    }

    fn moved(&mut self, from: &Path) -> Moved<'a> {
        let file = self.open(from);
        if let Some((document, link)) = file.displaced.take() {
            let (document, hunks) = (Some(document), Vec::new());
            let (created, copied, executable) = (false, false, None);
            return Moved { document, link, from: None, created, copied, executable, hunks };
        }
        Moved {
            document: file.document.take(),
            link: file.link,
            from: file.from.clone(),
            created: file.created,
            copied: file.copied,
            executable: file.executable.take(),
            hunks: std::mem::take(&mut file.hunks),
        }
    }

    fn copied(&mut self, from: &Path, from_original: bool) -> Moved<'a> {
        let hunks = Vec::new();
        if let Some((document, link)) = original((self.source)(from)).filter(|_| from_original) {
            let (document, executable) = (Some(document), None);
            let (created, copied) = (false, true);
            return Moved { document, link, from: None, created, copied, executable, hunks };
        }
        let file = self.open(from);
        Moved {
            document: file.document.clone(),
            link: file.link,
            from: file.from.clone(),
            created: file.created,
            copied: true,
            executable: file.executable,
            hunks,
        }
    }

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
                moved_away: false,
                existed: file.existed,
                was_link: file.was_link,
                link: file.link,
                rewritten: file.existed && file.created,
                text: file.document.map(|document| document.text()),
                executable: file.executable,
                splices,
                hunks: file.hunks,
            });
        }
        for change in &mut changes {
            change.moved_away = change.text.is_none() && moved_away.contains(&change.path);
        }
        changes
    }
}

/// Returns the content before the patch, and whether it is a link.
fn original(source: FileSource<'_>) -> Option<(Document<'_>, bool)> {
    match source {
        FileSource::Text(text) => Some((Document::new(text), false)),
        FileSource::Link { target, .. } => Some((Document::new(target), true)),
        FileSource::Missing | FileSource::Unreadable(_) => None,
    }
}
