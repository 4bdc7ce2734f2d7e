//! One app behind the wire, without the wire: a frame in, frames out.

use std::path::PathBuf;

use bytes::Bytes;
use pipemux_proto::app::{
    Changed, Choice, Chunk, Empty, Invoke, Locate, Located, Open, Opened, Outcome, Place, Project,
    Read, Saved,
};
use pipemux_proto::codec::{EncodeError, decode};
use pipemux_proto::limits::EXCHANGE_MAX;
use pipemux_proto::projection::{Arg, Projection};
use pipemux_proto::prototype::Risk;
use pipemux_proto::{Envelope, Fault, Frame, Hello, Kind, Method, Role};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::actions::Actions;
use crate::app::{App, Context, Exchanged, Found, Look, Opening};
use crate::own::{self, OwnChanges};
use crate::reply::Reply;
use crate::view::View;

/// What to do after a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Send this and go on.
    Send(Bytes),
    /// Nothing to send.
    Wait,
    /// Send this and end the process.
    End(Bytes),
}

/// An app and its version.
pub(crate) struct Server<A> {
    app: Option<A>,
    version: u64,
    own: OwnChanges,
    state_dir: PathBuf,
    /// True when this process goes on where the one before it was put to sleep.
    resumed: bool,
}

impl<A: App> Server<A> {
    pub(crate) fn new() -> Self {
        let (own, state_dir) = (OwnChanges::default(), PathBuf::new());
        Self { app: None, version: 0, own, state_dir, resumed: false }
    }

    pub(crate) fn hello() -> Hello {
        let software = format!("docui {}", env!("CARGO_PKG_VERSION"));
        Hello {
            token_prefix: A::TOKEN_PREFIX.map(Into::into),
            prototypes: A::Action::prototypes(),
            ..Hello::new(Role::App, software)
        }
    }

    /// Takes one frame.
    pub(crate) fn handle(&mut self, frame: &Frame) -> Result<Next, EncodeError> {
        let envelope = &frame.envelope;
        if envelope.kind != Kind::Request {
            return Ok(Next::Wait);
        }
        let body = &frame.body;
        let answered = match envelope.method {
            Method::AppOpen => answer(envelope, parse(body).and_then(|m| self.open(m))),
            Method::Project => answer(envelope, parse(body).and_then(|m| self.project(&m))),
            Method::Invoke => answer(envelope, parse(body).map(|m| self.invoke(m))),
            Method::AppRead => answer(envelope, parse(body).and_then(|m| self.read(&m))),
            Method::Locate => answer(envelope, parse(body).and_then(|m| self.locate(&m))),
            Method::Save => answer(envelope, self.sleep()),
            Method::Ping => answer(envelope, Ok(Empty {})),
            Method::AppClose => return Ok(Next::End(answer(envelope, self.save())?)),
            _ => answer::<Empty>(envelope, Err(Fault::refused("an app doesn't answer this"))),
        };
        answered.map(Next::Send)
    }

    pub(crate) fn open(&mut self, message: Open) -> Result<Opened, Fault> {
        let Open { woken, again, .. } = message;
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
                // Of what was saved for another version nothing is taken up, neither here nor there.
                let own = OwnChanges::load(&self.state_dir, woken).filter(|_| A::RESUMES);
                opening.woken = own.is_some();
                let app = self.app.insert(A::open(&opening)?);
                self.resumed = opening.woken && app.resumed();
                if let Some(own) = own.filter(|_| self.resumed) {
                    // Numbers that readers saw before the sleep mean the same now.
                    (self.own, self.version) = (own, woken);
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
        let look = Look { window: message.window, lod, budget, version };
        let View(projection) = self.app()?.view(&look);
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
        let keys = own::keys(message.args.values());
        let action = A::Action::decode(&message.action, message.args)?;
        if is_destructive::<A>(&message.action) && !message.confirmed {
            return self.app()?.confirm(&action).map(|ask| Outcome::Needs(ask.0));
        }
        let context = Context {
            reader: message.reader,
            run_id: message.run_id,
            seen_version: message.seen_version,
            seen_lost: message.seen_lost,
            cwd: message.cwd.into(),
            version: self.version,
            // A confirmation is the daemon's affair; only the app's own questions come back to it.
            answer: message
                .resume
                .filter(|resume| resume.choice != Choice::Yes)
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
            self.own.note(&context.run_id, &before, |key| rev(app, key));
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

    /// The answer to an exchange, and the new version when what views show has changed by it.
    pub(crate) fn exchange(&mut self, body: Bytes) -> Result<(Bytes, Option<Changed>), Fault> {
        let Exchanged { body, changed } = self.app_mut()?.exchange(body)?;
        if changed {
            self.version += 1;
        }
        if body.len() > EXCHANGE_MAX {
            let length = body.len();
            return Err(Fault::failed(format!(
                "the answer has {length} bytes, one exchange takes {EXCHANGE_MAX}"
            )));
        }
        Ok((body, changed.then_some(Changed { version: self.version })))
    }

    /// Refuses refs to things that are gone or no longer mean what they meant.
    fn check_refs<'a>(
        &self,
        args: impl IntoIterator<Item = &'a mut Arg>,
        run_id: &str,
    ) -> Result<(), Fault> {
        for arg in args {
            match arg {
                Arg::List(items) => self.check_refs(items, run_id)?,
                // What the run changed itself is meant as it is now.
                Arg::Ref(found) => found.rev = self.check_rev(&found.key, found.rev, run_id)?,
                Arg::Value(_) | Arg::Copied(_) => {}
            }
        }
        Ok(())
    }

    /// The present rev of a thing, if it still means what it meant.
    fn check_rev(&self, key: &str, seen: u64, run_id: &str) -> Result<u64, Fault> {
        match self.app()?.find(key) {
            Found::Here(rev) | Found::Hidden { rev, .. }
                if rev == seen || self.own.explain(run_id, key, seen, rev) =>
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

    fn read(&mut self, message: &Read) -> Result<Chunk, Fault> {
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
            Found::Here(_) => Place::Shown,
            Found::Hidden { how, .. } => Place::Hidden(how),
            Found::Gone(why) => Place::Gone(why),
        };
        Ok(Located { places: message.keys.iter().map(place).collect() })
    }

    pub(crate) fn sleep(&mut self) -> Result<Saved, Fault> {
        if !A::RESUMES {
            return Err(Fault::refused("it can't be put to sleep without losing something"));
        }
        // Saved is what views show, so that the first look after the sleep finds nothing changed.
        self.refresh()?;
        self.save()?;
        self.own.save(&self.state_dir, self.version)?;
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

fn not_open() -> Fault {
    Fault::refused("the session is not open yet")
}

fn is_destructive<A: App>(action: &str) -> bool {
    A::Action::prototypes().iter().any(|p| p.name == action && p.risk == Risk::Destructive)
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    decode(body).map_err(|error| Fault::refused(format!("an unreadable message: {error}")))
}

fn answer<T: Serialize>(
    request: &Envelope,
    result: Result<T, Fault>,
) -> Result<Bytes, EncodeError> {
    let encoded = match &result {
        Ok(body) => Frame::encode(&request.answer(Kind::Reply), body),
        Err(fault) => Frame::fault(request, fault),
    };
    // An answer that doesn't fit is told, so that the request still has its one end.
    encoded.or_else(|error| Frame::fault(request, &Fault::refused(error.to_string())))
}
