//! One session: decodes each request, calls the app, and encodes the answer.

use std::path::PathBuf;

use bytes::Bytes;
use pipemux_proto::app::{
    Changed, Choice, Chunk, Empty, Invoke, KeyLocation, Locate, Located, OpenRequest, Opened,
    Outcome, Project, ReadRequest, Saved,
};
use pipemux_proto::codec::{EncodeError, decode};
use pipemux_proto::limits::EXCHANGE_MAX;
use pipemux_proto::projection::{Arg, Projection};
use pipemux_proto::prototype::Risk;
use pipemux_proto::{Envelope, Fault, Frame, Hello, Kind, Method, Role};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::actions::Actions;
use crate::app::{App, Context, ExchangeReply, Found, Opening, ViewRequest};
use crate::reply::Reply;
use crate::run_changes::{RunChanges, ref_keys};
use crate::view::View;

/// What the serving loop does after a frame was handled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// Sends these bytes and goes on.
    Send(Bytes),
    /// Sends nothing and goes on.
    Ignore,
    /// Sends these bytes and ends the process.
    SendAndExit(Bytes),
}

/// An app, once it is open, and the version of its state.
pub(crate) struct Session<A> {
    app: Option<A>,
    /// Raised by everything that may change what views show.
    version: u64,
    run_changes: RunChanges,
    state_dir: PathBuf,
    /// True when the app restored the state of the process that was hibernated before it.
    resumed: bool,
}

impl<A: App> Session<A> {
    pub(crate) fn new() -> Self {
        let (run_changes, state_dir) = (RunChanges::default(), PathBuf::new());
        Self { app: None, version: 0, run_changes, state_dir, resumed: false }
    }

    /// Returns the greeting that an app sends first.
    pub(crate) fn hello() -> Hello {
        let software = format!("docui {}", env!("CARGO_PKG_VERSION"));
        Hello {
            token_prefix: A::TOKEN_PREFIX.map(Into::into),
            prototypes: A::Action::prototypes(),
            ..Hello::new(Role::App, software)
        }
    }

    /// Handles one frame. Frames other than requests are ignored.
    pub(crate) fn handle(&mut self, frame: &Frame) -> Result<Response, EncodeError> {
        let envelope = &frame.envelope;
        if envelope.kind != Kind::Request {
            return Ok(Response::Ignore);
        }
        let body = &frame.body;
        let answered = match envelope.method {
            Method::AppOpen => answer(envelope, parse(body).and_then(|m| self.open(m))),
            Method::Project => answer(envelope, parse(body).and_then(|m| self.project(&m))),
            Method::Invoke => answer(envelope, parse(body).map(|m| self.invoke(m))),
            Method::AppRead => answer(envelope, parse(body).and_then(|m| self.read(&m))),
            Method::Locate => answer(envelope, parse(body).and_then(|m| self.locate(&m))),
            Method::Save => answer(envelope, self.hibernate()),
            Method::Ping => answer(envelope, Ok(Empty {})),
            Method::AppClose => {
                return Ok(Response::SendAndExit(answer(envelope, self.save())?));
            }
            _ => answer::<Empty>(envelope, Err(Fault::refused("apps don't handle this method"))),
        };
        answered.map(Response::Send)
    }

    pub(crate) fn open(&mut self, message: OpenRequest) -> Result<Opened, Fault> {
        let OpenRequest { woken, again, .. } = message;
        let mut opening = Opening {
            provider: message.session.provider.to_string(),
            session: message.session.session.to_string(),
            args: message.args,
            cwd: message.cwd.into(),
            env: message.env,
            state_dir: message.state_dir.into(),
            again,
            woken: woken != 0 && self.resumed,
        };
        let notes = match &mut self.app {
            Some(app) => app.attach(&opening)?,
            None => {
                self.state_dir.clone_from(&opening.state_dir);
                // If the SDK's own file is not for this version, the app does not resume either: its
                // state may be for another version too.
                let saved = RunChanges::load(&self.state_dir, woken).filter(|_| A::RESUMES);
                opening.woken = saved.is_some();
                let app = self.app.insert(A::open(&opening)?);
                self.resumed = opening.woken && app.resumed();
                if let Some(run_changes) = saved.filter(|_| self.resumed) {
                    // Line numbers that readers saw before the hibernation stay valid.
                    (self.run_changes, self.version) = (run_changes, woken);
                }
                app.notes()
            }
        };
        let resumed = if self.resumed { woken } else { 0 };
        if resumed == 0 || !again {
            self.version += 1;
        }
        Ok(Opened { notes, resumed })
    }

    pub(crate) fn project(&mut self, message: &Project) -> Result<Projection, Fault> {
        self.refresh()?;
        let version = self.version;
        if message.known_version == Some(version) {
            return Ok(Projection { version, unchanged: true, ..Projection::default() });
        }
        let (lod, budget) = (message.lod, u64::from(message.budget));
        let request = ViewRequest { window: message.window, lod, budget, version };
        let View(projection) = self.app()?.view(&request);
        Ok(Projection { version, ..projection })
    }

    pub(crate) fn invoke(&mut self, message: Invoke) -> Outcome {
        match self.try_invoke(message) {
            Ok(outcome) => outcome,
            Err(fault) => Outcome::Failed(fault),
        }
    }

    fn try_invoke(&mut self, mut message: Invoke) -> Result<Outcome, Fault> {
        self.refresh()?;
        self.check_refs(message.args.values_mut(), &message.run_id)?;
        let keys = ref_keys(message.args.values());
        let action = A::Action::decode(&message.action, message.args)?;
        let is_destructive = action.risk() == Risk::Destructive;
        if is_destructive && !message.confirmed {
            return self.app()?.confirm(&action).map(|ask| Outcome::Needs(ask.0));
        }
        let context = Context {
            reader: message.reader,
            run_id: message.run_id,
            seen_version: message.seen_version,
            seen_lost: message.seen_lost,
            numbers: message.numbers,
            forgotten: message.forgotten,
            cwd: message.cwd.into(),
            version: self.version,
            // The question of `App::confirm` was asked by the SDK, so its answer ends here. Answers to
            // the app's own questions are passed on.
            answer: message
                .resume
                .filter(|resume| !is_destructive || resume.choice != Choice::Yes)
                .map(|resume| (resume.token.0.to_vec(), resume.choice)),
        };
        let rev = |app: &A, key: &str| match app.find(key) {
            Found::Here(rev) | Found::Hidden { rev, .. } => Some(rev),
            Found::Gone(_) => None,
        };
        let app = self.app()?;
        let before: Vec<_> = keys.into_iter().map(|key| (key.clone(), rev(app, &key))).collect();
        let reply = self.app_mut()?.update(action, &context)?;
        if let Some(app) = &self.app {
            self.run_changes.record(&context.run_id, &before, |key| rev(app, key));
        }
        match reply {
            Reply::Ask(ask) => Ok(Outcome::Needs(ask.0)),
            Reply::Done(mut done) => {
                self.version += 1;
                done.0.version = self.version;
                Ok(Outcome::Done(done.0))
            }
        }
    }

    /// Returns the answer to an exchange, and the new version if the exchange changed what views show.
    pub(crate) fn exchange(&mut self, body: Bytes) -> Result<(Bytes, Option<Changed>), Fault> {
        let ExchangeReply { body, changed } = self.app_mut()?.exchange(body)?;
        if changed {
            self.version += 1;
        }
        if body.len() > EXCHANGE_MAX {
            let length = body.len();
            return Err(Fault::failed(format!(
                "the app's answer has {length} bytes; the limit is {EXCHANGE_MAX}"
            )));
        }
        Ok((body, changed.then_some(Changed { version: self.version })))
    }

    /// Refuses refs to objects that are gone or have changed since the reader saw them.
    fn check_refs<'a>(
        &self,
        args: impl IntoIterator<Item = &'a mut Arg>,
        run_id: &str,
    ) -> Result<(), Fault> {
        for arg in args {
            match arg {
                Arg::List(items) => self.check_refs(items, run_id)?,
                // What the run changed itself is passed on with its current rev.
                Arg::Ref(found) => found.rev = self.check_rev(&found.key, found.rev, run_id)?,
                Arg::Value(_) | Arg::Copied(_) => {}
            }
        }
        Ok(())
    }

    /// Returns an object's current rev, unless somebody else changed the object since it was seen.
    fn check_rev(&self, key: &str, seen: u64, run_id: &str) -> Result<u64, Fault> {
        match self.app()?.find(key) {
            Found::Here(rev) | Found::Hidden { rev, .. }
                if rev == seen || self.run_changes.explain(run_id, key, seen, rev) =>
            {
                Ok(rev)
            }
            Found::Here(_) | Found::Hidden { .. } => {
                Err(Fault::stale("changed since it was seen").about(key))
            }
            Found::Gone(why) => {
                let fault = Fault::not_found("gone").about(key);
                Err(why.into_iter().fold(fault, Fault::hint))
            }
        }
    }

    fn read(&mut self, message: &ReadRequest) -> Result<Chunk, Fault> {
        self.refresh()?;
        self.check_rev(&message.key, message.rev, "")?;
        let value = self.app()?.read(&message.key)?;
        let start = usize::try_from(message.offset).unwrap_or(usize::MAX).min(value.len());
        let end = start.saturating_add(message.max as usize).min(value.len());
        let text = std::str::from_utf8(&value).is_ok();
        let total = value.len() as u64;
        Ok(Chunk { data: Bytes::copy_from_slice(&value[start..end]), total, text })
    }

    fn locate(&mut self, message: &Locate) -> Result<Located, Fault> {
        let app = self.app()?;
        let place = |key: &String| match app.find(key) {
            Found::Here(_) => KeyLocation::Shown,
            Found::Hidden { how, .. } => KeyLocation::Hidden(how),
            Found::Gone(why) => KeyLocation::Gone(why),
        };
        Ok(Located { places: message.keys.iter().map(place).collect() })
    }

    /// Saves everything that the session needs to go on in another process.
    pub(crate) fn hibernate(&mut self) -> Result<Saved, Fault> {
        if !A::RESUMES {
            return Err(Fault::refused("this app can't be hibernated without losing state"));
        }
        // The saved state must be the state that views show; otherwise the first view afterwards
        // would report a change.
        self.refresh()?;
        self.save()?;
        self.run_changes.save(&self.state_dir, self.version)?;
        Ok(Saved { version: self.version })
    }

    pub(crate) fn save(&mut self) -> Result<Empty, Fault> {
        match &mut self.app {
            Some(app) => app.save().map(|()| Empty {}),
            None => Ok(Empty {}),
        }
    }

    fn refresh(&mut self) -> Result<(), Fault> {
        if self.app_mut()?.refresh() {
            self.version += 1;
        }
        Ok(())
    }

    pub(crate) fn app(&self) -> Result<&A, Fault> {
        self.app.as_ref().ok_or_else(not_open)
    }

    fn app_mut(&mut self) -> Result<&mut A, Fault> {
        self.app.as_mut().ok_or_else(not_open)
    }
}

/// The fault for a request that comes before the session's `open`.
pub(crate) fn not_open() -> Fault {
    Fault::refused("the session is not open yet")
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    decode(body).map_err(|error| Fault::refused(format!("unreadable message: {error}")))
}

fn answer<T: Serialize>(
    request: &Envelope,
    result: Result<T, Fault>,
) -> Result<Bytes, EncodeError> {
    let encoded = match &result {
        Ok(body) => Frame::encode(&request.answer(Kind::Reply), body),
        Err(fault) => Frame::fault(request, fault),
    };
    // Every request must get an answer: one that doesn't fit into a frame becomes a fault.
    encoded.or_else(|error| Frame::fault(request, &Fault::refused(error.to_string())))
}
