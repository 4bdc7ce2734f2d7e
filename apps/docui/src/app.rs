//! What an app implements.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use pipemux_proto::app::Choice;
use pipemux_proto::projection::Lod;
use pipemux_proto::{Fault, SessionAddr};

use crate::actions::Actions;
use crate::reply::{Ask, Reply};
use crate::view::View;

/// An application: a model that actions change and views show.
///
/// A returned [`Fault`] means that nothing took effect.
pub trait App: Sized {
    /// What can be done; declare it with [`crate::actions!`].
    type Action: Actions;

    /// The prefix of the tokens that views write into their text, `MT` for `[[MT:Node:7]]`: `[A-Z]`, then at
    /// most 7 of `[A-Z0-9]`. A token is accepted wherever a ref is, and means the object of that type
    /// and key. None: the app writes no tokens.
    const TOKEN_PREFIX: Option<&'static str> = None;

    /// True when an app that is opened with [`Opening::woken`] has exactly the state that [`App::save`]
    /// wrote: the same views, revisions and undo steps. Such an app is put to sleep when nobody uses it
    /// for long, and no reader sees a difference. False: it is never put to sleep.
    const RESUMES: bool = false;

    /// Makes the model when the session starts. A fault ends the process and is shown to the caller.
    ///
    /// # Errors
    /// Arguments that can't be used.
    fn open(opening: &Opening) -> Result<Self, Fault>;

    /// What the reader should know of the first [`App::open`]: what was restored, what was lost.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Takes in a further `open` of the same session, for example another file. Returns what the
    /// reader should know.
    ///
    /// # Errors
    /// Arguments that can't be used.
    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        let _ = opening;
        Ok(Vec::new())
    }

    /// Carries out one action.
    ///
    /// # Errors
    /// The action can't be carried out; nothing took effect.
    fn update(&mut self, action: Self::Action, context: &Context) -> Result<Reply, Fault>;

    /// Shows the model at a level of detail, within about `look.budget` tokens. The same model and
    /// look give the same view.
    fn view(&self, look: &Look) -> View;

    /// Finds the thing that a key names: for anchors in calls, and to tell how to get to what isn't
    /// shown. Keys are never used again for something else.
    fn find(&self, key: &str) -> Found;

    /// The value of a thing: what `read` prints and what another app gets by reference.
    ///
    /// # Errors
    /// The thing has no value.
    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        Err(Fault::refused(format!("{key} has no value to read")).about(key))
    }

    /// Answers bytes that a program sent past the desk: a bulk transfer, a page, a plotter. What they mean
    /// is between the app and that program; the daemon passes them on unread. They come one after the
    /// other, like actions, and bounded by [`pipemux_proto::limits::EXCHANGE_MAX`] each way.
    ///
    /// Not for acting behind the readers' backs: what changes views says so with [`Exchanged::changed`].
    ///
    /// # Errors
    /// The app takes none, or not this one; nothing took effect.
    fn exchange(&mut self, body: Bytes) -> Result<Exchanged, Fault> {
        let length = body.len();
        Err(Fault::refused(format!("this app takes no exchanges ({length} bytes came)"))
            .hint("act on it as its window shows: pipemux view"))
    }

    /// Brings the model up to date with the world (a file on disk, the machine's load). Called before
    /// each view and each action; returns true when what views show has changed.
    fn refresh(&mut self) -> bool {
        false
    }

    /// What a destructive action would touch: asked before it is carried out. Its options are shown,
    /// not chosen from.
    ///
    /// # Errors
    /// The action can't be carried out at all.
    fn confirm(&self, action: &Self::Action) -> Result<Ask, Fault> {
        Ok(Ask::confirm(format!("{}: cannot be undone", action.name())))
    }

    /// Writes down what the end of the process would lose.
    ///
    /// # Errors
    /// It couldn't be written.
    fn save(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Whether the state that was saved before the sleep was found whole, after an [`App::open`] with
    /// [`Opening::woken`]. False: readers are told that it started anew.
    fn resumed(&self) -> bool {
        true
    }
}

/// The answer to an exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchanged {
    pub(crate) body: Bytes,
    pub(crate) changed: bool,
}

impl Exchanged {
    /// Bytes for the program that asked.
    pub fn new(body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), changed: false }
    }

    /// Says that what views show has changed by it: those who look on are told.
    #[must_use]
    pub fn changed(mut self) -> Self {
        self.changed = true;
        self
    }

    /// The bytes.
    pub fn body(&self) -> &Bytes {
        &self.body
    }
}

/// An `open` of the session.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The name that the app is registered under, which calls on it begin with: `editor`.
    pub provider: String,
    /// The session's id: `main`.
    pub session: String,
    /// What followed the session on the command line.
    pub args: Vec<String>,
    /// The caller's working directory.
    pub cwd: PathBuf,
    /// The caller's environment, as far as it is passed on.
    pub env: BTreeMap<String, String>,
    /// A directory of the session's own; it exists and survives restarts.
    pub state_dir: PathBuf,
    /// True when the daemon repeats an earlier `open` after the process was lost.
    pub again: bool,
    /// True when the process before this one was put to sleep, its state saved. Only for apps that say
    /// so in [`App::RESUMES`].
    pub woken: bool,
}

impl Opening {
    /// A path argument as the caller means it: relative to the caller's directory.
    pub fn path(&self, argument: &str) -> PathBuf {
        self.cwd.join(Path::new(argument))
    }

    /// The session's address: `editor/main`.
    pub fn address(&self) -> String {
        format!("{}/{}", self.provider, self.session)
    }

    /// What calls on the session begin with: `editor`, or `editor/two` when it isn't the main one.
    pub fn callee(&self) -> String {
        match self.session == SessionAddr::DEFAULT_SESSION {
            true => self.provider.clone(),
            false => self.address(),
        }
    }
}

/// Around an action: who acts, and on what state.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Who acts.
    pub reader: String,
    /// The same for all steps of one run, and for the answer that resumes it.
    pub run_id: String,
    /// The version that the reader last saw; numbers in the action mean that one. 0: none seen.
    pub seen_version: u64,
    /// True when the reader saw an earlier life of this app and not this one: its numbers mean what this
    /// process never showed.
    pub seen_lost: bool,
    /// The caller's working directory; empty when it isn't known.
    pub cwd: PathBuf,
    /// The version that the state has now.
    pub version: u64,
    /// The answer, when this action asked before: what was given with the question, and the choice.
    pub answer: Option<(Vec<u8>, Choice)>,
}

impl Context {
    /// A path as the caller means it: relative to the caller's directory, when that is known.
    pub fn path(&self, argument: &str) -> PathBuf {
        self.cwd.join(Path::new(argument))
    }

    /// The version that the state will have once this action took effect.
    pub fn next_version(&self) -> u64 {
        self.version + 1
    }
}

/// How a window is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Which window; the same number while it is open.
    pub window: u64,
    /// How much detail.
    pub lod: Lod,
    /// About how many tokens the view may take.
    pub budget: u64,
    /// The version that is shown.
    pub version: u64,
}

/// Where a thing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// In view. The number is its rev: changes when the thing's meaning does.
    Here(u64),
    /// There, but folded, scrolled or filtered away.
    Hidden {
        /// Its rev.
        rev: u64,
        /// How to get to it: `click [show all]`.
        how: String,
    },
    /// Not there; how it vanished, if that is known: `died in step 1`.
    Gone(Option<String>),
}
