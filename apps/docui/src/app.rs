//! The [`App`] trait, and the requests that the SDK hands to an app.

mod context;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use pipemux_proto::projection::Lod;
use pipemux_proto::{Fault, SessionAddr};

use crate::actions::Actions;
use crate::blocking::Blocking;
use crate::handle::Handle;
use crate::reply::{Ask, Reply};
use crate::view::View;

pub use context::{Context, NumbersSeen, SeenNumbers};

/// An application: a model that actions change and views show.
///
/// Each session has a value of this type. The SDK calls its methods one at a time, on one thread.
/// A method that returns a [`Fault`] must have changed nothing.
///
/// An app must implement [`App::open`], [`App::update`], [`App::view`] and [`App::find`]; the other
/// methods have defaults that suit an app without files, questions or saved state.
pub trait App: Sized + 'static {
    /// The app's actions. Declare them with [`crate::actions!`].
    type Action: Actions;

    /// The prefix of the tokens that views write into their text: `Some("MT")` for `[[MT:Node:7]]`.
    /// It starts with `A`–`Z` and has at most 7 further characters of `A`–`Z` and `0`–`9`.
    ///
    /// A token is accepted wherever a ref is, and names the object of that type and key. `None`
    /// means that the app writes no tokens.
    const TOKEN_PREFIX: Option<&'static str> = None;

    /// True if the app can be hibernated: saved, ended while unused, and started again later
    /// without readers noticing.
    ///
    /// Set it to `true` only if [`App::open`] with [`Opening::woken`] restores exactly the state
    /// that [`App::save`] wrote: the same views, revs and undo steps. An app that leaves it `false`
    /// keeps running.
    const RESUMES: bool = false;

    /// True if the app names the paths that it shows in [`App::watched`]. It is refreshed as soon
    /// as one of them changes, and waiting readers are notified. On systems without file watches,
    /// this acts like [`App::OBSERVES`].
    const WATCHES: bool = false;

    /// True if [`App::refresh`] may find changes that waiting readers should be notified of and
    /// that nothing announces: no watched path, no [`App::next_wake`], no [`Opening::handle`].
    /// While a client waits for a change (`pipemux view --wait`), such an app is refreshed about
    /// once a second. Leave it `false` for an app that changes constantly, such as a gauge: every
    /// wait would end immediately.
    const OBSERVES: bool = false;

    /// Whether views depend on who reads: [`ViewRequest::reader`]. Set it to `true` if each reader
    /// turns pages, filters or folds for itself, and keep that state by the reader's name, as
    /// [`crate::paging::ReaderPages`] does; a key and its rev mean the same to all readers. It
    /// costs a view for each reader, where others share one.
    const PER_READER: bool = false;

    /// Creates the model when the session starts.
    ///
    /// # Errors
    /// The arguments can't be used. The process ends, and the caller is shown the fault.
    fn open(opening: &Opening) -> Result<Self, Fault>;

    /// Returns what readers should know about the first [`App::open`], one sentence per item: what
    /// was restored, what was lost. Called once, directly after it.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Handles a further `open` of the running session, for example with another file. Returns what
    /// the reader should know, one sentence per item. The default ignores the arguments.
    ///
    /// # Errors
    /// The arguments can't be used. The session goes on unchanged.
    fn attach(&mut self, opening: &Opening) -> Result<Vec<String>, Fault> {
        let _ = opening;
        Ok(Vec::new())
    }

    /// Carries out one action. Returns [`crate::Done`] when it took effect, or [`Ask`] to put a
    /// question to the reader first.
    ///
    /// The SDK has already checked the action's anchors: each names an object that exists and has
    /// not changed since the reader saw it.
    ///
    /// # Errors
    /// The action can't be carried out. Nothing took effect.
    fn update(&mut self, action: Self::Action, context: &Context) -> Result<Reply, Fault>;

    /// Returns the part of an action that may wait for a disk or a network. It is done on another
    /// thread, while the app handles other requests, and [`App::update`] isn't called. The default
    /// is `None`: the action doesn't wait.
    ///
    /// The anchors are checked as for [`App::update`].
    ///
    /// # Errors
    /// As [`App::update`].
    fn blocking(
        &mut self,
        action: &Self::Action,
        context: &Context,
    ) -> Result<Option<Blocking<Self>>, Fault> {
        let _ = (action, context);
        Ok(None)
    }

    /// Returns the part of a further `open` that may wait for a disk or a network, as
    /// [`App::blocking`] does for an action; [`App::attach`] isn't called then.
    ///
    /// # Errors
    /// As [`App::attach`].
    fn attach_blocking(
        &mut self,
        opening: &Opening,
    ) -> Result<Option<Blocking<Self, Vec<String>>>, Fault> {
        let _ = opening;
        Ok(None)
    }

    /// Resumes jobs of the previous process, which was lost or hibernated. The app resumes a job by
    /// taking its [handle](Handle::job) by key; all other jobs are reported to readers as lost.
    /// Called after the session has handled all of its `open`s again.
    fn resume_jobs(&mut self, keys: &[String]) {
        let _ = keys;
    }

    /// Renders the model at the requested level of detail, within about `request.budget` tokens.
    ///
    /// The same model and request must give the same view: readers are sent the differences between
    /// views.
    fn view(&self, request: &ViewRequest) -> View;

    /// Looks up the object that a key names.
    ///
    /// Called to check the anchors in calls, and to tell a reader how to reach an object that isn't
    /// shown. A key must never be reused for another object.
    fn find(&self, key: &str) -> Found;

    /// Looks up the object as [`App::find`] does, and tells whether it is on one reader's page.
    /// Override it in an app that is [`App::PER_READER`].
    fn find_for(&self, key: &str, reader: &str) -> Found {
        let _ = reader;
        self.find(key)
    }

    /// Returns the key of the object that a name means, for parameters whose [`crate::Kind`] is
    /// named. `ty` is the type of the object.
    ///
    /// # Errors
    /// No object has the name, or several have it. Say which names are close to it, or how to tell
    /// the objects apart. By default objects have no names.
    fn named(&self, ty: Option<&str>, name: &str) -> Result<String, Fault> {
        let ty = ty.unwrap_or("object");
        Err(Fault::not_found(format!("no {ty} is named {name:?}")))
    }

    /// Resolves one of the app's [tokens](App::TOKEN_PREFIX), possibly from an old document: for
    /// `[[MT:Node:plan]]`, `kind` is `Node` and `name` is `plan`. By default [`App::find`] is
    /// asked, with the name as the key.
    fn token(&self, kind: &str, name: &str) -> Option<Token> {
        let _ = (kind, name);
        None
    }

    /// Returns the value of an object, as bytes: what `pipemux read` prints, and what another app
    /// receives when it is passed a reference to the object.
    ///
    /// # Errors
    /// The object has no value. This is the default for every object.
    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        Err(Fault::refused("it has no value to read").about(key))
    }

    /// Returns the absolute path of an object that is a file. It is passed where another app's
    /// action takes a path: [`crate::FilePath`].
    fn path(&self, _key: &str) -> Option<PathBuf> {
        None
    }

    /// Answers an exchange: bytes that a program sends to the session directly, without a window or
    /// an action, for example for a bulk transfer or a live page.
    ///
    /// App and program agree on the meaning of the bytes; the daemon does not read them. Exchanges
    /// arrive one at a time, like actions, with at most [`pipemux_proto::limits::EXCHANGE_MAX`]
    /// bytes in each direction.
    ///
    /// If an exchange changes what views show, mark the answer with [`ExchangeReply::changed`], so
    /// that readers are told.
    ///
    /// # Errors
    /// The app accepts no exchanges, which is the default, or it rejects this one. Nothing took
    /// effect.
    fn exchange(&mut self, body: Bytes) -> Result<ExchangeReply, Fault> {
        let length = body.len();
        Err(Fault::refused(format!("this app takes no exchanges (received {length} bytes)"))
            .hint("use the actions that its window shows: pipemux view"))
    }

    /// Updates the model from the outside world, such as a file on disk, the time or the machine's
    /// load. Returns whether that changed what views show. Called before each view and each action,
    /// at [`App::next_wake`], when something that is [watched](App::watched) changed, and when the
    /// session's [`Opening::handle`] was used.
    fn refresh(&mut self) -> bool {
        false
    }

    /// Returns the absolute paths that [`App::refresh`] looks at, for an app that
    /// [watches](App::WATCHES): it is called when one of them was written, replaced, made or
    /// removed. A path that ends in `/*` stands for all entries of a directory. Asked for whenever
    /// the state has changed.
    fn watched(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Called instead of [`App::refresh`] when a watched path changed and nobody asked for
    /// anything. Override it if a refresh does more than look, such as mend a file that somebody
    /// may be replacing just now.
    fn watched_changed(&mut self) -> bool {
        self.refresh()
    }

    /// Returns when [`App::refresh`] should be called next without a request, for example when a
    /// timer fires. Readers are notified if that changed what views show. A past time means
    /// immediately.
    ///
    /// It is a time of the clock, so that it holds while the session sleeps: an app that
    /// [resumes](App::RESUMES) is started then, with [`Opening::due`], also by a later daemon.
    fn next_wake(&self) -> Option<SystemTime> {
        None
    }

    /// Builds the question that is asked before a destructive action: what exactly it would affect.
    /// Its options are listed for information and can't be picked.
    ///
    /// # Errors
    /// The action can't be carried out in any case, so nothing needs to be confirmed.
    fn confirm(&self, action: &Self::Action) -> Result<Ask, Fault> {
        Ok(Ask::confirm(format!("{}: cannot be undone", action.name())))
    }

    /// Saves everything that would be lost when the process ends. Called before the session is
    /// closed or hibernated; after a crash it has not been called.
    ///
    /// # Errors
    /// The state couldn't be saved.
    fn save(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Returns whether [`App::open`] with [`Opening::woken`] found the saved state complete. If
    /// not, readers are told that the session was restarted.
    fn resumed(&self) -> bool {
        true
    }
}

/// The answer to [`App::exchange`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExchangeReply {
    pub(crate) body: Bytes,
    pub(crate) changed: bool,
}

impl ExchangeReply {
    /// Answers with these bytes.
    pub fn new(body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), changed: false }
    }

    /// Marks that the exchange changed what views show, so that readers are told.
    #[must_use]
    pub fn changed(mut self) -> Self {
        self.changed = true;
        self
    }

    /// Returns the answer's bytes.
    pub fn body(&self) -> &Bytes {
        &self.body
    }
}

/// One `open` of a session: who opens it, with which arguments and from where.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The name that the app is registered under, such as `editor`. Calls on the app begin with it.
    pub provider: String,
    /// The session's id, such as `main`.
    pub session: String,
    /// The arguments that followed the session on the command line.
    pub args: Vec<String>,
    /// The caller's working directory.
    pub cwd: PathBuf,
    /// The caller's environment variables, as far as the daemon passes them on.
    pub env: BTreeMap<String, String>,
    /// A directory for this session's state alone. It exists, and survives restarts.
    pub state_dir: PathBuf,
    /// True when the daemon repeats an earlier `open` because the process was lost or hibernated.
    pub again: bool,
    /// True when the previous process was hibernated and its state saved. Only apps with
    /// [`App::RESUMES`] see this.
    pub woken: bool,
    /// True when the session is started because the time has come that [`App::next_wake`] named
    /// before it slept.
    pub due: bool,
    /// Sends events from any thread: that the state changed, a notice for readers, or that work is
    /// in progress.
    pub handle: Handle,
}

impl Opening {
    /// Resolves a path argument against the caller's working directory.
    pub fn path(&self, argument: &str) -> PathBuf {
        self.cwd.join(Path::new(argument))
    }

    /// Returns the session's address: `editor/main`.
    pub fn address(&self) -> String {
        format!("{}/{}", self.provider, self.session)
    }

    /// Returns the prefix of calls on this session: `editor` for the main session, `editor/two` for
    /// another one. Use it for the calls in hints.
    pub fn callee(&self) -> String {
        match self.session == SessionAddr::DEFAULT_SESSION {
            true => self.provider.clone(),
            false => self.address(),
        }
    }
}

/// A request for a window's content.
#[derive(Debug, Clone)]
pub struct ViewRequest {
    /// Identifies the window for as long as it is open.
    pub window: u64,
    /// The level of detail.
    pub lod: Lod,
    /// About how many tokens the view may take; estimate them with [`crate::tokens::estimate`].
    pub budget: u64,
    /// The version of the state that is shown.
    pub version: u64,
    /// The reader who the view is for, as in [`Context::reader`]; empty if a daemon of protocol 1.5
    /// asks. Only the view of an app that is [`App::PER_READER`] may depend on it.
    pub reader: String,
}

/// What a token names: see [`App::token`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Whether it is there. [`Found::Gone`] without a reason says that nothing ever had the name.
    pub found: Found,
    /// What it is called.
    pub title: String,
    /// Where it is: `in Roadmap`.
    pub at: Option<String>,
    /// The call that a click on it means, of this session: `expand('plan')`.
    pub click: Option<String>,
}

impl Token {
    /// Makes what a name means that nothing has, or has any more.
    pub fn gone(why: Option<String>) -> Self {
        Self { found: Found::Gone(why), title: String::new(), at: None, click: None }
    }
}

/// The result of looking up a key with [`App::find`].
///
/// A **rev** is the revision of an object. Change it whenever the object changes so much that a
/// reader should see it again before acting on it; calls with an older rev are refused as stale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The object is in view and has this rev.
    Here(u64),
    /// The object exists, but is folded, scrolled or filtered out of view.
    Hidden {
        /// The object's rev.
        rev: u64,
        /// How to bring it into view: `click [show all]`.
        how: String,
    },
    /// The object doesn't exist. Says how it disappeared, if that is known: `Slime 1 died`.
    Gone(Option<String>),
    /// It can't be told now, for this reason: what holds the object can't be read.
    Unreadable(Fault),
}
