//! The editor's state.
//!
//! | module | holds |
//! |---|---|
//! | `asleep` | the whole state on disk while the process sleeps |
//! | [`buffer`] | a text, byte for byte |
//! | [`changes`] | what a change of text does to its lines |
//! | [`disk`] | reading and writing files |
//! | [`file`] | one open file |
//! | [`history`] | undo and redo |
//! | [`journal`] | unsaved edits on disk |
//! | [`linemap`] | line numbers across versions |
//! | [`manifest`] | the open files on disk |
//! | [`marks`] | selections and matches |
//! | `sight` | what a reader saw: which file, which version |
//! | [`witness`] | what was shown in earlier lives of the process |

mod asleep;
pub mod buffer;
pub mod changes;
pub mod disk;
pub mod file;
pub mod history;
pub mod journal;
pub mod linemap;
pub mod manifest;
pub mod marks;
mod sight;
pub mod witness;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use docui::{Context, Fault, Opening};
use serde::{Deserialize, Serialize};

use crate::limits::{FILES_MAX, SWITCHES_MAX};
use file::File;
use history::Author;
use manifest::{Listed, Manifest};
use witness::Witness;

/// One session of the editor.
#[derive(Debug, Serialize, Deserialize)]
pub struct Editor {
    pub(crate) files: Vec<File>,
    pub(crate) current: Option<PathBuf>,
    /// Where the first opener stood: the directory of those whose own isn't known.
    cwd: PathBuf,
    /// What paths are shown relative to, to every reader: it never changes.
    root: PathBuf,
    witness: Witness,
    /// What calls on this session begin with, and its address.
    #[serde(skip)]
    pub(crate) callee: String,
    #[serde(skip)]
    address: String,
    #[serde(skip)]
    pub(crate) state_dir: PathBuf,
    pub(crate) listing: Option<Listing>,
    pub(crate) selection: Option<String>,
    /// The version that the SDK counts; the same rules are followed here for what happens outside of
    /// an action.
    pub(crate) version: u64,
    pub(crate) names: Names,
    #[serde(skip)]
    pub(crate) notes: Vec<String>,
    switches: VecDeque<Switch>,
    closed: VecDeque<(String, String)>,
    unlisted: bool,
    /// True while the file of [`asleep`] has just this state.
    #[serde(skip)]
    asleep: bool,
    /// True when this process goes on where the one before it was put to sleep.
    #[serde(skip)]
    pub(crate) resumed: bool,
}

/// What the last `find` found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Listing {
    pub path: PathBuf,
    pub text: String,
    pub keys: Vec<String>,
    pub more: usize,
    /// True until something else is done: then the places keep their keys, but are no longer listed.
    pub shown: bool,
}

/// The current file became another one.
#[derive(Debug, Serialize, Deserialize)]
struct Switch {
    version: u64,
    run: String,
    to: Option<PathBuf>,
}

/// Makes names that are never used again, in this life of the process or another.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Names {
    launch: String,
    last: u64,
}

impl Names {
    fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let launch = format!("{:x}-{:x}", now.as_nanos(), std::process::id());
        Self { launch, last: 0 }
    }

    pub(crate) fn make(&mut self, kind: &str) -> String {
        self.last += 1;
        format!("{kind}-{}-{}", self.launch, self.last)
    }

    /// What tells this life of the process from others.
    pub(crate) fn launch(&self) -> &str {
        &self.launch
    }
}

impl Editor {
    pub(crate) fn start(opening: &Opening) -> Result<(Self, Vec<String>), Fault> {
        let mut lost = None;
        if opening.woken {
            match Self::wake_up(opening) {
                Ok(editor) => return Ok((editor, Vec::new())),
                Err(why) => lost = Some(why),
            }
        }
        asleep::forget(&opening.state_dir);
        let cwd = real(&opening.cwd);
        let manifest = Manifest::read(&opening.state_dir);
        let later = opening.again || manifest.is_some();
        let mut editor = Self {
            root: root(&cwd),
            witness: Witness::read(&opening.state_dir, later),
            files: Vec::new(),
            current: None,
            cwd,
            callee: opening.callee(),
            address: opening.address(),
            state_dir: opening.state_dir.clone(),
            listing: None,
            selection: None,
            version: 0,
            names: Names::new(),
            notes: Vec::new(),
            switches: VecDeque::new(),
            closed: VecDeque::new(),
            unlisted: false,
            asleep: false,
            resumed: false,
        };
        let notes = match manifest.filter(|_| opening.again) {
            Some(manifest) => editor.restore(manifest),
            None => editor.take_in(opening)?,
        };
        editor.version = 1;
        let open = |path: &Path| editor.file(path).is_some();
        let left = journal::kept(&opening.state_dir).into_iter().filter(|path| !open(path));
        let left = left.map(|path| {
            format!("Unsaved edits of {} are kept: open it to have them back.", path.display())
        });
        let notes = lost.into_iter().chain(notes).chain(left).collect();
        Ok((editor, notes))
    }

    /// Opens what was asked for: all of it or nothing.
    pub(crate) fn take_in(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        // A repeated `open` asks for what the manifest has brought back, but for what was closed since.
        if opening.again && (self.resumed || !self.files.is_empty()) {
            return Ok(Vec::new());
        }
        let mut notes = Vec::new();
        let mut opened: Vec<File> = Vec::new();
        let mut last = None;
        for argument in opening.args.iter().filter(|argument| *argument != "--") {
            let found = disk::resolve(&opening.path(argument)).and_then(|path| {
                let known = |files: &[File]| files.iter().any(|file| file.path() == path);
                if known(&self.files) || known(&opened) {
                    return Ok((path, None));
                }
                if self.files.len() + opened.len() >= FILES_MAX {
                    return Err(Fault::refused(format!(
                        "at most {FILES_MAX} files in one session"
                    ))
                    .hint(format!(
                        "close some first, or open another session: {} …",
                        self.open_command("two")
                    )));
                }
                let (version, shown) = (self.version + 1, self.shown(&path));
                let (mut file, said) = File::open(path.clone(), &shown, &self.state_dir, version)?;
                // Who saw it before it was closed may have seen other lines.
                if self.why_closed(&file.key()).is_some() {
                    file.forget_lines(version);
                }
                Ok((path, Some((file, said))))
            });
            match found {
                Ok((path, file)) => {
                    last = Some(path);
                    let file = file.map(|(file, said)| {
                        notes.extend(said);
                        file
                    });
                    opened.extend(file);
                }
                Err(fault) if opening.again => {
                    notes.push(format!("{argument} is not opened: {fault}."))
                }
                Err(fault) => return Err(fault),
            }
        }
        opened.iter_mut().for_each(|file| note_shown(&mut self.witness, file));
        self.files.append(&mut opened);
        if let Some(last) = last {
            self.switch(Some(last), &Author { version: self.version + 1, ..Author::default() });
        }
        self.list_files();
        Ok(notes)
    }

    fn restore(&mut self, manifest: Manifest) -> Vec<String> {
        let mut notes = Vec::new();
        for listed in manifest.files {
            let shown = self.shown(&listed.path);
            match File::open(listed.path.clone(), &shown, &self.state_dir, 1) {
                Ok((mut file, said)) => {
                    if file.base() != listed.base {
                        file.forget_lines(1);
                    }
                    note_shown(&mut self.witness, &mut file);
                    self.files.push(file);
                    notes.extend(said);
                }
                Err(fault) => notes.push(format!("{shown} is not open any more: {fault}.")),
            }
        }
        let current = manifest.current.filter(|path| self.file(path).is_some());
        let current = current.or_else(|| self.files.last().map(|file| file.path().to_owned()));
        self.switch(current, &Author { version: 1, ..Author::default() });
        self.list_files();
        notes
    }

    /// The open file of that path.
    pub fn file(&self, path: &Path) -> Option<&File> {
        self.files.iter().find(|file| file.path() == path)
    }

    pub(crate) fn index(&self, path: &Path) -> Option<usize> {
        self.files.iter().position(|file| file.path() == path)
    }

    /// The file in view.
    pub fn current(&self) -> Option<&File> {
        self.current.as_deref().and_then(|path| self.file(path))
    }

    /// A path as the caller means it.
    pub(crate) fn path_of(&self, argument: &str, context: &Context) -> PathBuf {
        self.cwd.join(context.path(argument))
    }

    /// Lists the matches of the last `find` no longer: they were about what was in view then.
    pub(crate) fn unlist(&mut self) {
        if let Some(listing) = &mut self.listing {
            listing.shown = false;
        }
    }

    pub(crate) fn switch(&mut self, to: Option<PathBuf>, author: &Author) {
        // To go where another has gone already is one's own step all the same.
        let last = self.switches.back().map(|last| last.run.as_str());
        if self.current == to && last == Some(author.run.as_str()) {
            return;
        }
        self.unlisted |= self.current != to;
        if let Some(to) = &to {
            self.witness.current(to);
        }
        self.current.clone_from(&to);
        if self.switches.len() >= SWITCHES_MAX {
            self.switches.pop_front();
        }
        self.switches.push_back(Switch { version: author.version, run: author.run.clone(), to });
    }

    /// Lets what readers saw under an old path mean the file under its new one.
    pub(crate) fn rename_seen(&mut self, from: &Path, to: &Path) {
        let seen = self.switches.iter_mut().filter(|switch| switch.to.as_deref() == Some(from));
        seen.for_each(|switch| switch.to = Some(to.to_owned()));
    }

    /// Takes a file off the list; the next one becomes current.
    pub(crate) fn remove(&mut self, index: usize, why: &str, author: &Author) {
        let mut file = self.files.remove(index);
        file.discard();
        // What it has when it is opened again may be something else.
        self.witness.several(file.path());
        if self.closed.len() >= FILES_MAX {
            self.closed.pop_front();
        }
        self.closed.push_back((file.key(), why.to_owned()));
        if self.current.as_deref() == Some(file.path()) {
            let next = self.files.get(index).or(self.files.last());
            let next = next.map(|file| file.path().to_owned());
            self.switch(next, author);
        }
        self.list_files();
    }

    /// Notes that a key's file is no longer open.
    pub(crate) fn note_closed(&mut self, key: String, why: String) {
        self.closed.push_back((key, why));
    }

    /// How a file went that is no longer open.
    pub(crate) fn why_closed(&self, key: &str) -> Option<String> {
        self.closed.iter().rev().find(|(closed, _)| closed == key).map(|(_, why)| why.clone())
    }

    /// A call as a whole command: `pipemux run 'editor.undo(steps=2)'`. Texts in it stand in double
    /// quotes.
    pub(crate) fn command(&self, call: &str) -> String {
        format!("pipemux run '{}.{}'", self.callee, call.replace('\'', r"'\''"))
    }

    /// The command that opens files in this session, or in another one of the same app.
    pub(crate) fn open_command(&self, other: &str) -> String {
        let provider = self.address.split('/').next().unwrap_or_default();
        match other {
            "" => format!("pipemux open {}", self.callee),
            other => format!("pipemux open {provider}/{other}"),
        }
    }

    pub(crate) fn no_file(&self) -> Fault {
        Fault::not_found("no file is open").hint(format!("{} <path>", self.open_command("")))
    }

    /// How to look at the session as it is now.
    pub(crate) fn look_hint(&self) -> String {
        format!("look: pipemux view {}", self.address)
    }

    /// The path as every reader is shown it: relative to the session's root when below it.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// Writes down which files are open, for a restart. What can't be written is tried again with the
    /// next change.
    pub(crate) fn list_files(&mut self) {
        let listed = |file: &File| Listed { path: file.path().to_owned(), base: file.base() };
        let manifest = Manifest::new(self.files.iter().map(listed).collect(), self.current.clone());
        self.unlisted = manifest.write(&self.state_dir).is_err() || self.witness.write().is_err();
    }

    pub(crate) fn list_if_needed(&mut self) {
        if self.unlisted {
            self.list_files();
        }
    }
}

/// A directory by the path that files in it have: without symlinks.
fn real(directory: &Path) -> PathBuf {
    directory.canonicalize().unwrap_or_else(|_| directory.to_owned())
}

/// The project that a directory is in: the nearest one above it with `.git`, else itself.
fn root(directory: &Path) -> PathBuf {
    let project = directory.ancestors().find(|above| above.join(".git").exists());
    project.unwrap_or(directory).to_owned()
}

/// Notes that a file is going to be shown, and finds out what numbers of earlier lives mean in it.
fn note_shown(witness: &mut Witness, file: &mut File) {
    let digest = file.digest();
    if witness.knows(file.path(), digest) {
        file.trust_lines();
    }
    witness.shows(file.path(), digest);
}
