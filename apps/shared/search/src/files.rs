//! Resolves a list of paths, folders and globs to files.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::{WalkBuilder, WalkState};

use crate::limits::{BRACES_MAX, ENTRIES_MAX, FILES_MAX, IGNORED_MAX, THREADS_MAX};

/// Files that are named by paths, folders and globs. A folder means all in it. What `.gitignore`
/// and its kin list, and names that begin with a dot, are left out, unless they are named
/// themselves: a folder or a glob that is named and of which nothing else would be left means what
/// the rules list, too. Symbolic links in folders aren't followed.
#[derive(Debug)]
pub struct Files {
    /// Files that were named by their paths, with symbolic links resolved.
    named: Vec<PathBuf>,
    /// The search criteria by folder, and whether hidden files are included.
    folders: BTreeMap<(PathBuf, bool), Folder>,
    /// The globs as given; each must match at least one file.
    globs: Vec<GivenGlob>,
    /// Files that are known but not on disk.
    known: Vec<PathBuf>,
    excluded: GlobSet,
}

/// The search criteria in one folder.
#[derive(Debug, Default)]
struct Folder {
    /// True for all of it.
    all: bool,
    /// True if it was named, or a glob in it: the project's own folder is searched without being
    /// named.
    named: bool,
    /// The deepest level that a glob reaches; `None` for no limit.
    depth: Option<usize>,
    /// Indexes of globs.
    globs: Vec<usize>,
}

#[derive(Debug)]
struct GivenGlob {
    /// The glob as written.
    text: String,
    /// Relative to its folder.
    glob: GlobSet,
}

/// Files in the folders that were searched which nobody named, and which were left out for that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ignored {
    /// The number of files ignored by `.gitignore` and similar files.
    pub by_rules: usize,
    /// The number of files with a name, or a folder's name, that begins with a dot.
    pub hidden: usize,
    /// True if there are more of them than were counted, `IGNORED_MAX`.
    pub more: bool,
}

/// The ignore rules that a walk of a folder follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heeded {
    /// All rules: those of the folder and of its parent folders.
    All,
    /// The rules in the folder itself.
    Own,
    /// No rules.
    Nothing,
}

/// The reason why files can't be listed.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The path doesn't exist.
    #[error("{0}: no such file or folder")]
    Missing(PathBuf),
    /// A glob matches no file.
    #[error("no file matches {0}")]
    NoMatch(String),
    /// A glob is invalid.
    #[error("{glob}: {why}")]
    Glob {
        /// The glob as written.
        glob: String,
        /// The problem with the glob.
        why: String,
    },
    /// Something else than a file or a folder, or one that can't be read.
    #[error("{path} can't be read: {error}")]
    Unreadable {
        path: PathBuf,
        /// The error from the operating system.
        error: io::Error,
    },
    #[error("a list names at most {ENTRIES_MAX} files, folders and globs")]
    TooManyEntries,
    #[error("more than {FILES_MAX} files")]
    TooManyFiles,
}

impl Files {
    /// Reads entries, which are relative to `base`. None at all mean the folder `root`. An entry is
    /// a path, a folder, a glob, or `!` and a glob of files to leave out. `*` and `?` match within
    /// one name, `**` any folders, `{a,b}` either; a glob without a slash matches names in all
    /// folders below `base`. What exists is never a glob. `known` are files that need not exist on
    /// disk.
    ///
    /// # Errors
    /// A path leads nowhere, or a glob can't be read.
    pub fn new(
        entries: &[String],
        base: &Path,
        root: &Path,
        known: &[PathBuf],
    ) -> Result<Self, FilesError> {
        if entries.len() > ENTRIES_MAX {
            return Err(FilesError::TooManyEntries);
        }
        let unreadable = |error| FilesError::Unreadable { path: base.to_owned(), error };
        let base = &std::path::absolute(base).map_err(unreadable)?;
        let mut files = Self {
            named: Vec::new(),
            folders: BTreeMap::new(),
            globs: Vec::new(),
            known: known.to_vec(),
            excluded: GlobSet::empty(),
        };
        let mut excluded = GlobSetBuilder::new();
        let mut all_excluded = true;
        for entry in entries {
            match entry.strip_prefix('!') {
                Some(glob) => {
                    excluded.add(glob_of(entry, &absolute_glob(base, glob))?);
                    excluded.add(glob_of(entry, &format!("{}/**", absolute_glob(base, glob)))?);
                }
                None => {
                    all_excluded = false;
                    files.add(entry, base)?;
                }
            }
        }
        if all_excluded {
            let root = canonical(root)?;
            files.folders.entry((root, false)).or_default().all = true;
        }
        files.excluded = excluded.build().map_err(|error| glob_error("!", &error))?;
        Ok(files)
    }

    fn add(&mut self, entry: &str, base: &Path) -> Result<(), FilesError> {
        let path = normalized(&base.join(entry));
        if self.known.contains(&path) {
            self.named.push(path);
            return Ok(());
        }
        match std::fs::metadata(&path) {
            Ok(found) if found.is_dir() => {
                let folder = self.folders.entry((canonical(&path)?, false)).or_default();
                (folder.all, folder.named) = (true, true);
                return Ok(());
            }
            Ok(_) => {
                self.named.push(canonical(&path)?);
                return Ok(());
            }
            Err(error) if !is_glob(entry) => {
                return Err(match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                        FilesError::Missing(path)
                    }
                    _ => FilesError::Unreadable { path, error },
                });
            }
            Err(_) => {}
        }
        let folders = alternatives(entry);
        if folders.iter().any(|one| base.join(one).is_dir()) {
            return self.add_alternatives(&folders, base);
        }
        self.add_glob(entry, base)
    }

    /// Adds what braces name, of which some are folders: as in a glob, those that lead nowhere are
    /// none.
    fn add_alternatives(&mut self, all: &[String], base: &Path) -> Result<(), FilesError> {
        for one in all {
            if is_glob(one) || base.join(one).exists() {
                self.add(one, base)?;
            }
        }
        Ok(())
    }

    fn add_glob(&mut self, entry: &str, base: &Path) -> Result<(), FilesError> {
        let pattern = entry.trim_start_matches("./");
        let parts: Vec<&str> = pattern.split('/').collect();
        let fixed = parts.iter().take_while(|part| !is_glob(part)).count();
        let mut folder = if pattern.starts_with('/') { "/".into() } else { base.to_owned() };
        folder.extend(parts[..fixed].iter().filter(|part| !part.is_empty()));
        let folder = canonical(&normalized(&folder))?;
        let rest = parts[fixed..].join("/");
        let anywhere = parts.len() == 1;
        let glob = if anywhere { format!("**/{rest}") } else { rest.clone() };
        let depth = (!glob.contains("**")).then(|| glob_depth(&glob));
        let mut set = GlobSetBuilder::new();
        set.add(glob_of(entry, &glob)?);
        let set = set.build().map_err(|error| glob_error(entry, &error))?;
        // A name that begins with a dot in the glob names hidden files.
        let hidden = rest.split(['/', ',', '{']).any(|part| part.starts_with('.') && part != "..");
        let target = self
            .folders
            .entry((folder, hidden))
            .or_insert_with(|| Folder { depth: Some(0), ..Folder::default() });
        target.depth = target.depth.and_then(|before| depth.map(|depth| before.max(depth)));
        target.named = true;
        target.globs.push(self.globs.len());
        self.globs.push(GivenGlob { text: entry.to_owned(), glob: set });
        Ok(())
    }

    /// Returns the files that were named by their own paths.
    pub fn named(&self) -> &[PathBuf] {
        &self.named
    }

    /// Returns all files, each once, in the order of their paths.
    ///
    /// # Errors
    /// A glob matches no file, or there are too many files.
    pub fn list(&self) -> Result<Vec<PathBuf>, FilesError> {
        let mut all = self.named.clone();
        let mut used = vec![false; self.globs.len()];
        for ((path, hidden), folder) in &self.folders {
            let known = self.known.iter().filter(|known| known.starts_with(path));
            let known: Vec<PathBuf> = known.cloned().collect();
            for heeded in [Heeded::All, Heeded::Own, Heeded::Nothing] {
                let depth = if folder.all { None } else { folder.depth };
                let hidden = *hidden || heeded == Heeded::Nothing;
                let files = match walk(path, hidden, heeded, depth) {
                    // Nobody means all files of all packages by a name that none has.
                    Err(FilesError::TooManyFiles) if heeded != Heeded::All => break,
                    files => files?,
                };
                let mut found = false;
                // A glob that has matched already means no more of what the rules list.
                let open: Vec<usize> =
                    folder.globs.iter().copied().filter(|index| !used[*index]).collect();
                for file in files.into_iter().chain(known.iter().cloned()) {
                    let relative = file.strip_prefix(path).unwrap_or(&file);
                    let mut wanted = folder.all;
                    for index in &open {
                        if self.globs[*index].glob.is_match(relative) {
                            used[*index] = true;
                            wanted = true;
                        }
                    }
                    if wanted {
                        found = true;
                        all.push(file);
                    }
                }
                if all.len() > FILES_MAX {
                    return Err(FilesError::TooManyFiles);
                }
                let done = folder.globs.iter().all(|index| used[*index]);
                if !folder.named || (done && (found || !folder.all)) {
                    break;
                }
            }
        }
        if let Some(unused) = used.iter().position(|used| !used) {
            return Err(FilesError::NoMatch(self.globs[unused].text.clone()));
        }
        if !self.excluded.is_empty() {
            all.retain(|file| !self.excluded.is_match(file));
        }
        all.sort();
        all.dedup();
        Ok(all)
    }
}

impl Files {
    /// Counts what [`Files::list`] leaves out of its folders, for answers that claim that something
    /// isn't there.
    pub fn ignored(&self) -> Ignored {
        let listed = self.list().unwrap_or_default();
        let mut ignored = Ignored::default();
        for ((path, _), folder) in &self.folders {
            let mut builder = WalkBuilder::new(path);
            builder.standard_filters(false).max_depth(if folder.all { None } else { folder.depth });
            builder.filter_entry(|entry| entry.file_name() != ".git");
            for entry in builder.build().flatten() {
                if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                    continue;
                }
                let relative = entry.path().strip_prefix(path).unwrap_or(entry.path());
                let mut globs = folder.globs.iter();
                let wanted =
                    folder.all || globs.any(|index| self.globs[*index].glob.is_match(relative));
                if !wanted
                    || self.excluded.is_match(entry.path())
                    || listed.binary_search_by(|one| one.as_path().cmp(entry.path())).is_ok()
                {
                    continue;
                }
                if ignored.by_rules + ignored.hidden >= IGNORED_MAX {
                    ignored.more = true;
                    return ignored;
                }
                let dotted = |part: &std::ffi::OsStr| part.as_encoded_bytes().starts_with(b".");
                match relative.iter().any(dotted) {
                    true => ignored.hidden += 1,
                    false => ignored.by_rules += 1,
                }
            }
        }
        ignored
    }
}

/// Returns the files of a folder, in any order.
fn walk(
    folder: &Path,
    hidden: bool,
    heeded: Heeded,
    depth: Option<usize>,
) -> Result<Vec<PathBuf>, FilesError> {
    let mut builder = WalkBuilder::new(folder);
    match heeded {
        Heeded::All => {}
        Heeded::Own => drop(builder.parents(false)),
        Heeded::Nothing => drop(builder.standard_filters(false)),
    }
    builder.hidden(!hidden).max_depth(depth).threads(threads());
    if heeded != Heeded::Nothing {
        builder.add_custom_ignore_filename(".rgignore");
    }
    if hidden {
        builder.filter_entry(|entry| entry.file_name() != ".git");
    }
    let found = Mutex::new(Vec::new());
    builder.build_parallel().run(|| {
        let mut own = Batch { files: Vec::new(), all: &found };
        Box::new(move |entry| {
            // What can't be listed is left out, as by every tool that walks folders.
            let Ok(entry) = entry else { return WalkState::Continue };
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                own.files.push(entry.into_path());
            }
            match own.files.len() > FILES_MAX {
                true => WalkState::Quit,
                false => WalkState::Continue,
            }
        })
    });
    let found = found.into_inner().unwrap_or_default();
    if found.len() > FILES_MAX { Err(FilesError::TooManyFiles) } else { Ok(found) }
}

/// The files found by one thread.
struct Batch<'a> {
    files: Vec<PathBuf>,
    all: &'a Mutex<Vec<PathBuf>>,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.all.lock() {
            all.append(&mut self.files);
        }
    }
}

/// Returns the number of threads that walk and search.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX)
}

/// Returns what `{a,b}/c` means, `a/c` and `b/c`; nothing for an entry without braces, with nested
/// ones, or with many.
fn alternatives(entry: &str) -> Vec<String> {
    /// Returns false if there is more than that.
    fn expand(entry: &str, all: &mut Vec<String>) -> bool {
        let Some((head, behind)) = entry.split_once('{') else {
            all.push(entry.to_owned());
            return all.len() <= ENTRIES_MAX;
        };
        let Some((inner, tail)) = behind.split_once('}') else { return false };
        let mut parts = inner.split(',');
        !inner.contains('{') && parts.all(|part| expand(&format!("{head}{part}{tail}"), all))
    }
    let mut all = Vec::new();
    let few = (1..=BRACES_MAX).contains(&entry.matches('{').count());
    if few && expand(entry, &mut all) { all } else { Vec::new() }
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// Returns the number of path components that a glob without `**` matches.
fn glob_depth(glob: &str) -> usize {
    // Alternatives may have slashes of their own.
    glob.matches('/').count() + 1
}

fn glob_of(entry: &str, glob: &str) -> Result<globset::Glob, FilesError> {
    let mut builder = GlobBuilder::new(glob);
    builder.literal_separator(true).empty_alternates(true);
    builder.build().map_err(|error| glob_error(entry, &error))
}

fn glob_error(entry: &str, error: &globset::Error) -> FilesError {
    FilesError::Glob { glob: entry.to_owned(), why: error.kind().to_string() }
}

/// Returns a glob of absolute paths.
fn absolute_glob(base: &Path, glob: &str) -> String {
    let base = base.canonicalize().unwrap_or_else(|_| base.to_owned());
    let base = globset::escape(&base.to_string_lossy());
    let base = base.trim_end_matches('/');
    match (glob.strip_prefix("./").unwrap_or(glob), glob.contains('/')) {
        (glob, _) if glob.starts_with('/') => glob.to_owned(),
        (glob, true) => format!("{base}/{}", glob.trim_end_matches('/')),
        (glob, false) => format!("{base}/**/{glob}"),
    }
}

fn canonical(path: &Path) -> Result<PathBuf, FilesError> {
    path.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            FilesError::Missing(path.to_owned())
        }
        _ => FilesError::Unreadable { path: path.to_owned(), error },
    })
}

/// Returns a path without `.` and `..`, as it is written.
fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}
