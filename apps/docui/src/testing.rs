//! Drives an app in tests, without a daemon: the messages of the protocol are passed in process.
//!
//! ```ignore
//! let mut host = Host::<Arena>::open(&[], dir.path(), dir.path())?;
//! let attack = Action::Attack { target: Anchor::new("s1", 0) };
//! assert!(matches!(host.invoke(&attack), Outcome::Done(_)));
//! assert!(host.text(Lod::Summary, 1000)?.contains("[Slime 1](obj:s1)"));
//! ```

mod open;
mod readers;
mod unasked;

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::Path;

use pipemux_proto::app::{Choice, Invoke, Notify, OpenRequest, Opened, Outcome, Resume};
use pipemux_proto::projection::{Arg, Args, Lod, Piece, Projection};
use pipemux_proto::{
    Blob, Envelope, Fault, Frame, FrameDecoder, Incarnation, Kind, Method, SessionAddr, decode,
};
use serde::de::DeserializeOwned;

use crate::actions::Actions;
use crate::app::App;
use crate::handle::{Asked, HandleReceiver};
use crate::path_watch::PathWatch;
use crate::served::{AppType, typed};
use crate::session::Session;

pub use unasked::Unasked;

/// Stands in for the daemon: opens one session of the app, invokes actions, requests views.
pub struct Host<A> {
    session: Session,
    app: PhantomData<A>,
    /// What the app asked for through its handle.
    unasked: HandleReceiver,
    watch: Option<PathWatch>,
    address: SessionAddr,
    state_dir: String,
    cwd: String,
    env: BTreeMap<String, String>,
    /// The version of the last view, which the default reader has seen.
    seen_version: u64,
    /// How many runs were begun; the last one's id is made of it.
    runs: u64,
    /// The action that asked a question last, and the question's token.
    asked: Option<(Invoke, Blob)>,
    /// The tokens that the content of an outcome may take; 0 if the daemon names no number.
    budget: u32,
    opened: bool,
    /// What a person has allowed.
    consents: Vec<String>,
    /// True when a person allows whatever an action asks for.
    allows: bool,
}

impl<A: App> Host<A> {
    fn new(address: &str, cwd: &Path, state_dir: &Path) -> Result<Self, Fault> {
        let unasked = HandleReceiver::new().map_err(|error| Fault::failed(error.to_string()))?;
        Ok(Self {
            session: Session::new(AppType::of::<A>(), INCARNATION, unasked.handle(INCARNATION)),
            app: PhantomData,
            unasked,
            watch: if A::WATCHES { PathWatch::new() } else { None },
            address: address.parse().map_err(|error| Fault::usage(format!("{error}")))?,
            state_dir: state_dir.to_string_lossy().into_owned(),
            cwd: cwd.to_string_lossy().into_owned(),
            env: BTreeMap::new(),
            seen_version: 0,
            runs: 0,
            asked: None,
            budget: 0,
            opened: false,
            consents: Vec::new(),
            allows: false,
        })
    }

    /// Hibernates the app and wakes it with these opens, each a list of arguments, as the daemon
    /// does.
    ///
    /// # Errors
    /// The app can't be hibernated, or did not find its saved state again.
    pub fn hibernate_and_wake(&mut self, opens: &[&[&str]]) -> Result<(), Fault> {
        let version = self.hibernate()?;
        self.wake(version, opens).and_then(|(resumed, notes)| match resumed {
            true => Ok(()),
            false => Err(Fault::failed("the app did not find the state that it had saved")
                .hint(notes.join(" "))),
        })
    }

    /// Has the app save its state and ends it, as the daemon does. Returns the version that was
    /// saved.
    ///
    /// # Errors
    /// The app can't be hibernated. It goes on unchanged.
    pub fn hibernate(&mut self) -> Result<u64, Fault> {
        let version = self.session.hibernate()?.version.unwrap_or(0);
        self.session.save()?;
        self.session =
            Session::new(AppType::of::<A>(), INCARNATION, self.unasked.handle(INCARNATION));
        self.opened = false;
        Ok(version)
    }

    /// Starts the app that was hibernated with this version, and repeats these opens. Returns
    /// whether the app resumed from its saved state, and what it noted.
    ///
    /// # Errors
    /// The app's `open` or `attach` failed.
    pub fn wake(&mut self, version: u64, opens: &[&[&str]]) -> Result<(bool, Vec<String>), Fault> {
        let (mut resumed, mut notes) = (true, Vec::new());
        for args in opens {
            let opened = self.open_once(args, true, version)?;
            resumed &= opened.resumed == Some(version);
            notes.extend(opened.notes);
        }
        Ok((resumed, notes))
    }

    /// Opens the session once more, with these arguments. Returns what the app noted.
    ///
    /// # Errors
    /// The app's `attach` failed.
    pub fn attach(&mut self, args: &[&str]) -> Result<Vec<String>, Fault> {
        self.open_once(args, false, 0).map(|opened| opened.notes)
    }

    fn open_once(&mut self, args: &[&str], again: bool, woken: u64) -> Result<Opened, Fault> {
        let attach = std::mem::replace(&mut self.opened, true);
        let open = OpenRequest {
            session: self.address.clone(),
            attach,
            again,
            woken: (woken > 0).then_some(woken),
            due: false,
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            state_dir: self.state_dir.clone(),
            jobs: Vec::new(),
        };
        match self.session.open(&request(Method::AppOpen), open)? {
            Some(opened) => Ok(opened),
            None => {
                let bytes = self.session.wait_for_parked();
                answered(&bytes)
            }
        }
    }

    /// Returns the app, for a test to inspect.
    ///
    /// # Errors
    /// The app is not open.
    pub fn app(&self) -> Result<&A, Fault> {
        typed(self.session.app()?)
    }

    /// Carries out an action in a new run, by the default reader, who has seen what
    /// [`Host::project`] returned last. A destructive action first asks for confirmation: use
    /// [`Host::answer`].
    pub fn invoke(&mut self, action: &A::Action) -> Outcome {
        self.invoke_as("default", self.seen_version, action)
    }

    /// Carries out an action in a new run, as a call gives it: by its name, with the arguments by
    /// theirs.
    pub fn call(
        &mut self,
        action: &str,
        args: impl IntoIterator<Item = (&'static str, Arg)>,
    ) -> Outcome {
        self.runs += 1;
        let args = args.into_iter().map(|(name, arg)| (name.to_owned(), arg)).collect();
        let invoke = self.raw_message("default", self.seen_version, action, args);
        self.send(invoke)
    }

    /// Asks what an action would do, as a call with `preview=true` does.
    pub fn preview(&mut self, action: &A::Action) -> Outcome {
        self.runs += 1;
        let (name, mut args) = action.encode();
        args.insert("preview".to_owned(), crate::ArgType::to_arg(&true));
        let name = format!("preview_{name}");
        let invoke = self.raw_message("default", self.seen_version, &name, args);
        self.send(invoke)
    }

    /// Carries out an action in a new run, by a reader who has seen this version.
    pub fn invoke_as(&mut self, reader: &str, seen_version: u64, action: &A::Action) -> Outcome {
        self.runs += 1;
        self.step_as(reader, seen_version, action)
    }

    /// Carries out an action in a new run, by the default reader, who has seen only an earlier
    /// process of the app: [`crate::Context::seen_lost`].
    pub fn invoke_lost(&mut self, action: &A::Action) -> Outcome {
        self.runs += 1;
        self.step_lost(action)
    }

    /// Carries out an action as a further step of the current run, which [`Host::invoke_lost`]
    /// began.
    pub fn step_lost(&mut self, action: &A::Action) -> Outcome {
        let invoke = Invoke { seen_lost: true, ..self.message("default", 0, action) };
        self.send(invoke)
    }

    /// Has a person allow, from now on, whatever an action asks for: the action is then sent again.
    pub fn allow_consents(&mut self) {
        self.allows = true;
    }

    /// Sets about how many tokens the content of an outcome may take from now on.
    pub fn set_budget(&mut self, budget: u32) {
        self.budget = budget;
    }

    /// Sets the caller's working directory for what follows.
    pub fn set_cwd(&mut self, cwd: &Path) {
        self.cwd = cwd.to_string_lossy().into_owned();
    }

    /// Carries out an action as a further step of the current run.
    pub fn step_as(&mut self, reader: &str, seen_version: u64, action: &A::Action) -> Outcome {
        let invoke = self.message(reader, seen_version, action);
        self.send(invoke)
    }

    fn message(&self, reader: &str, seen_version: u64, action: &A::Action) -> Invoke {
        let (name, args) = action.encode();
        self.raw_message(reader, seen_version, name, args)
    }

    fn raw_message(&self, reader: &str, seen_version: u64, action: &str, args: Args) -> Invoke {
        Invoke {
            action: action.into(),
            args,
            seen_version: (seen_version > 0).then_some(seen_version),
            seen_lost: false,
            numbers: Vec::new(),
            forgotten: false,
            cwd: self.cwd.clone(),
            reader: reader.into(),
            run_id: format!("run-{}", self.runs),
            confirmed: false,
            budget: self.budget,
            nested: false,
            consents: self.consents.clone(),
            changed_beside: Vec::new(),
            resume: None,
        }
    }

    /// Sends bytes to the app as an exchange, and returns its answer.
    ///
    /// # Errors
    /// As [`App::exchange`]; also when the answer is too long.
    pub fn exchange(&mut self, body: impl Into<bytes::Bytes>) -> Result<bytes::Bytes, Fault> {
        self.session.exchange(body.into()).map(|(body, _)| body)
    }

    /// Answers the question that was asked last.
    pub fn answer(&mut self, choice: Choice) -> Outcome {
        let Some((mut invoke, token)) = self.asked.take() else {
            return Outcome::Failed(Fault::refused("no question is open"));
        };
        invoke.confirmed |= choice == Choice::Yes;
        invoke.resume = Some(Resume { token, choice });
        self.send(invoke)
    }

    /// Returns the window's content at a level of detail. The default reader has then seen it.
    ///
    /// # Errors
    /// The app is not open.
    pub fn project(&mut self, lod: Lod, budget: u32) -> Result<Projection, Fault> {
        self.project_for("default", lod, budget)
    }

    /// Returns the window's content as text, with objects as `[label](obj:key)` and links as
    /// `[label](link:action)`. The default reader has then seen it.
    ///
    /// # Errors
    /// The app is not open.
    pub fn text(&mut self, lod: Lod, budget: u32) -> Result<String, Fault> {
        self.project(lod, budget).map(|projection| written(&projection))
    }

    /// Begins an action in a new run, by the default reader. Returns `None` when its work isn't
    /// done soon: then [`Host::end_wait`] ends it.
    pub fn begin(&mut self, action: &A::Action) -> Option<Outcome> {
        self.runs += 1;
        let invoke = self.message("default", self.seen_version, action);
        self.session.invoke(&request(Method::Invoke), invoke)
    }

    /// Answers the action that was begun as at its deadline.
    ///
    /// # Errors
    /// No action waits.
    pub fn end_wait(&mut self) -> Result<Outcome, Fault> {
        self.session.expire_parked();
        let bytes = self
            .session
            .run_due(Asked::default())
            .map_err(|error| Fault::failed(error.to_string()))?;
        answered(&bytes)
    }

    /// Waits until the work of the action that was begun is done, and returns its answer.
    ///
    /// # Errors
    /// No action waits.
    pub fn wait_for_answer(&mut self) -> Result<Outcome, Fault> {
        let bytes = self.session.wait_for_parked();
        answered(&bytes)
    }

    /// Waits until the work of all requests is done, and lets the app process the results. Returns
    /// the notices for readers.
    pub fn wait_for_work(&mut self) -> Vec<String> {
        let bytes = self.session.wait_for_parked();
        let notices =
            frames(&bytes).into_iter().filter(|frame| frame.envelope.method == Method::Notify);
        let text = |frame: Frame| decode::<Notify>(&frame.body).ok().map(|notify| notify.text);
        notices.filter_map(text).collect()
    }

    fn send(&mut self, invoke: Invoke) -> Outcome {
        let outcome = self.session.invoke(&request(Method::Invoke), invoke.clone());
        let outcome = outcome.unwrap_or_else(|| {
            let bytes = self.session.wait_for_parked();
            answered(&bytes).unwrap_or_else(Outcome::Failed)
        });
        if let Outcome::Failed(Fault { consent: Some(request), .. }) = &outcome
            && self.allows
            && !invoke.consents.contains(&request.key)
        {
            self.consents.push(request.key.clone());
            return self.send(Invoke { consents: self.consents.clone(), ..invoke });
        }
        if let Outcome::Needs(needs) = &outcome {
            self.asked = Some((invoke, needs.token.clone()));
        }
        outcome
    }
}

const INCARNATION: Incarnation = Incarnation(1);

fn request(method: Method) -> Envelope {
    Envelope::request(method, 1, INCARNATION)
}

fn frames(mut bytes: &[u8]) -> Vec<Frame> {
    let mut decoder = FrameDecoder::default();
    decoder.extend(std::mem::take(&mut bytes));
    std::iter::from_fn(|| decoder.next_frame().ok().flatten()).collect()
}

/// Returns the answer among the frames that were sent.
fn answered<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Fault> {
    for frame in frames(bytes) {
        let unreadable = |error| Fault::failed(format!("unreadable answer: {error}"));
        match frame.envelope.kind {
            Kind::Reply => return decode(&frame.body).map_err(unreadable),
            Kind::Fault => return Err(decode::<Fault>(&frame.body).map_err(unreadable)?),
            _ => {}
        }
    }
    Err(Fault::failed("no answer was sent"))
}

/// Writes a window's content for a test to look at.
fn written(projection: &Projection) -> String {
    let mut text = format!("## {}\n", projection.title);
    for link in &projection.nav {
        text += &format!("[{}](link:{}) ", link.label, link.action);
    }
    text.push('\n');
    for piece in &projection.content {
        match piece {
            Piece::Text(plain) => text += plain,
            Piece::Object(object) => text += &format!("[{}](obj:{})", object.label, object.key),
            Piece::Link(link) => text += &format!("[{}](link:{})", link.label, link.action),
            Piece::Embed(embed) => text += &format!("### embedded {}\n", embed.session),
            Piece::Code(code) => {
                for (number, line) in
                    (code.first.unwrap_or(1)..).zip(code.text.split_inclusive('\n'))
                {
                    text += &match code.first {
                        Some(_) => format!("{number}\t{line}"),
                        None => line.to_owned(),
                    };
                }
            }
        }
    }
    text
}
