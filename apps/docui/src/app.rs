//! The [`App`] trait, and the requests that the SDK hands to an app.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use pipemux_proto::app::Choice;
use pipemux_proto::projection::Lod;
use pipemux_proto::{Fault, LineNumbers, SessionAddr};

use crate::actions::Actions;
use crate::blocking::{Blocking, Waker};
use crate::reply::{Ask, Reply};
use crate::view::View;

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
    /// A token is accepted wherever a ref is, and names the object of that type and key. `None` means
    /// that the app writes no tokens.
    const TOKEN_PREFIX: Option<&'static str> = None;

    /// Whether the app can be hibernated: saved, ended while nobody uses it, and started again later
    /// without a reader noticing.
    ///
    /// Set it to `true` only if [`App::open`] with [`Opening::woken`] restores exactly the state that
    /// [`App::save`] wrote: the same views, revs and undo steps. An app that leaves it `false` keeps
    /// running.
    const RESUMES: bool = false;

    /// Whether [`App::refresh`] may find a change that a waiting reader is to be told of, such as a file that
    /// somebody else wrote. While a client waits for a change (`pipemux view --wait`), such an app is
    /// refreshed about once a second. Leave it `false` for an app that changes all the time by itself, such
    /// as a gauge: no wait would last.
    const OBSERVES: bool = false;

    /// Creates the model when the session starts.
    ///
    /// # Errors
    /// The arguments can't be used. The process ends, and the caller is shown the fault.
    fn open(opening: &Opening) -> Result<Self, Fault>;

    /// Returns what readers should know about the first [`App::open`], one sentence per item: what was
    /// restored, what was lost. Called once, directly after it.
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
    /// The SDK has already checked the action's anchors: each names an object that exists and has not
    /// changed since the reader saw it.
    ///
    /// # Errors
    /// The action can't be carried out. Nothing took effect.
    fn update(&mut self, action: Self::Action, context: &Context) -> Result<Reply, Fault>;

    /// Returns the part of an action that may wait for a disk or a network. It is done on another thread,
    /// while the app handles other requests, and [`App::update`] isn't called. The default is `None`: the
    /// action doesn't wait.
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

    /// Returns the part of a further `open` that may wait for a disk or a network, as [`App::blocking`]
    /// does for an action; [`App::attach`] isn't called then.
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

    /// Returns the key of the object that a name means, for parameters whose [`crate::Kind`] is named. `ty` is
    /// the type of the object.
    ///
    /// # Errors
    /// No object has the name, or several have it. Say which names are close to it, or how to tell the objects
    /// apart. By default objects have no names.
    fn named(&self, ty: Option<&str>, name: &str) -> Result<String, Fault> {
        let ty = ty.unwrap_or("object");
        Err(Fault::not_found(format!("no {ty} is named {name:?}")))
    }

    /// Returns the value of an object, as bytes: what `pipemux read` prints, and what another app
    /// receives when it is passed a reference to the object.
    ///
    /// # Errors
    /// The object has no value. This is the default for every object.
    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        Err(Fault::refused("it has no value to read").about(key))
    }

    /// Returns the absolute path of an object that is a file. It is passed where another app's action takes
    /// a path: [`crate::FilePath`].
    fn path(&self, _key: &str) -> Option<PathBuf> {
        None
    }

    /// Answers an exchange: bytes that a program sends to the session directly, without a window or an
    /// action, for example for a bulk transfer or a live page.
    ///
    /// App and program agree on the meaning of the bytes; the daemon does not read them. Exchanges
    /// arrive one at a time, like actions, with at most [`pipemux_proto::limits::EXCHANGE_MAX`] bytes in
    /// each direction.
    ///
    /// If an exchange changes what views show, mark the answer with [`ExchangeReply::changed`], so that
    /// readers are told.
    ///
    /// # Errors
    /// The app accepts no exchanges, which is the default, or it rejects this one. Nothing took effect.
    fn exchange(&mut self, body: Bytes) -> Result<ExchangeReply, Fault> {
        let length = body.len();
        Err(Fault::refused(format!("this app takes no exchanges (received {length} bytes)"))
            .hint("use the actions that its window shows: pipemux view"))
    }

    /// Updates the model from the outside world, such as a file on disk or the machine's load. Returns
    /// whether that changed what views show. Called before each view and each action, and when the session's
    /// [`Opening::waker`] was used.
    fn refresh(&mut self) -> bool {
        false
    }

    /// Builds the question that is asked before a destructive action: what exactly it would affect.
    /// Its options are listed for information and can't be picked.
    ///
    /// # Errors
    /// The action can't be carried out in any case, so nothing needs to be confirmed.
    fn confirm(&self, action: &Self::Action) -> Result<Ask, Fault> {
        Ok(Ask::confirm(format!("{}: cannot be undone", action.name())))
    }

    /// Saves everything that would be lost when the process ends. Called before the session is closed
    /// or hibernated; after a crash it has not been called.
    ///
    /// # Errors
    /// The state couldn't be saved.
    fn save(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Returns whether [`App::open`] with [`Opening::woken`] found the saved state complete. If not,
    /// readers are told that the session was restarted.
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
    /// Has the serving loop call [`App::refresh`], from any thread.
    pub waker: Waker,
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

    /// Returns what calls on this session begin with: `editor` for the main session, `editor/two` for
    /// another one. Use it for the calls in hints.
    pub fn callee(&self) -> String {
        match self.session == SessionAddr::DEFAULT_SESSION {
            true => self.provider.clone(),
            false => self.address(),
        }
    }
}

/// The circumstances of an action: who requested it, and which state they had seen.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The reader who requested the action.
    pub reader: String,
    /// Identifies the run. All steps of one run share it, and so does the answer that resumes the run. It is a pseudonym
    /// that the daemon makes: no other run has it, and the client's own id can't be told from it.
    pub run_id: String,
    /// The version of the state that the reader saw last. 0: the reader has seen none. Line numbers in the
    /// action refer to what [`Context::seen_numbers`] says.
    pub seen_version: u64,
    /// True when the reader saw only an earlier process of this session. Line numbers in the action
    /// then refer to a state that this process never showed.
    pub seen_lost: bool,
    /// The numbers that the reader was shown, where they don't all count in `seen_version`:
    /// [`Context::seen_numbers`] reads them.
    pub numbers: Vec<LineNumbers>,
    /// True when the reader may have been shown numbers that aren't known any more.
    pub forgotten: bool,
    /// The caller's working directory; empty when it isn't known.
    pub cwd: PathBuf,
    /// The current version of the state.
    pub version: u64,
    /// True when the action is a query, which leaves the state in its version.
    pub query: bool,
    /// The approximate number of tokens that the outcome's content may take.
    pub budget: u32,
    /// True when another call takes the result, which is then not shown.
    pub nested: bool,
    /// The answer to the question that this action asked before: the token that was given with the
    /// question, and the reader's choice. `None` when the action has not asked yet.
    pub answer: Option<(Vec<u8>, Choice)>,
}

impl Context {
    /// Resolves a path against the caller's working directory, if that is known.
    pub fn path(&self, argument: &str) -> PathBuf {
        self.cwd.join(Path::new(argument))
    }

    /// Returns what line numbers of a document refer to, in order and without gaps. A reader whose window was
    /// shown as a difference has seen some numbers in a later version than others.
    pub fn seen_numbers(&self, document: &str, numbers: Range<u64>) -> Vec<SeenNumbers> {
        let mut listed: Vec<&LineNumbers> =
            self.numbers.iter().filter(|listed| listed.document == document).collect();
        listed.sort_by_key(|listed| listed.first);
        let unlisted = match self.seen_lost || self.forgotten {
            true => NumbersSeen::Lost,
            false => NumbersSeen::In(self.seen_version),
        };
        let (mut all, mut from) = (Vec::new(), numbers.start);
        for LineNumbers { first, last, version, .. } in listed {
            let (start, end) = ((*first).max(from), last.saturating_add(1).min(numbers.end));
            if start >= end {
                continue;
            }
            if from < start {
                all.push(SeenNumbers { numbers: from..start, seen: unlisted, listed: false });
            }
            let seen = match version {
                None => NumbersSeen::Retired,
                Some(0) => NumbersSeen::Lost,
                Some(version) => NumbersSeen::In(*version),
            };
            all.push(SeenNumbers { numbers: start..end, seen, listed: true });
            from = end;
        }
        if from < numbers.end {
            all.push(SeenNumbers { numbers: from..numbers.end, seen: unlisted, listed: false });
        }
        all
    }

    /// Returns the version that the state will have once this action has taken effect: a query leaves it as it
    /// is.
    pub fn next_version(&self) -> u64 {
        self.version + u64::from(!self.query)
    }
}

/// Line numbers of a document, and where the reader saw them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenNumbers {
    /// The numbers.
    pub numbers: Range<u64>,
    /// Where the reader saw them.
    pub seen: NumbersSeen,
    /// True when the reader was shown exactly these numbers of this document, false when they count like
    /// everything that the reader wasn't shown.
    pub listed: bool,
}

/// Where a reader saw line numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumbersSeen {
    /// In this version of this process's state; 0: nowhere.
    In(u64),
    /// In an earlier process, or in a version that isn't known any more.
    Lost,
    /// The reader was told that they don't count any more: refuse them as stale.
    Retired,
}

/// A request for a window's content.
#[derive(Debug, Clone, Copy)]
pub struct ViewRequest {
    /// Identifies the window for as long as it is open.
    pub window: u64,
    /// The level of detail.
    pub lod: Lod,
    /// About how many tokens the view may take; estimate them with [`crate::tokens::estimate`].
    pub budget: u64,
    /// The version of the state that is shown.
    pub version: u64,
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
