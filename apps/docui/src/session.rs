//! One session: decodes each request, calls the app, and encodes the answer.
//!
//! | module | holds |
//! |---|---|
//! | `open` | opens the app, and again what it refused |
//! | `invoke` | carries out actions, from the check of their refs to their outcome |
//! | `refs` | names and refs in arguments |
//! | `pending`, `parked` | requests whose work is under way on other threads |
//! | `unasked` | what the session does and says without a request |

mod invoke;
mod open;
mod parked;
mod pending;
mod refs;
mod unasked;
mod value_files;

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use pipemux_proto::app::{
    Changed, Chunk, Empty, KeyLocation, Locate, Located, Project, ReadRequest, Saved, TokenMeaning,
    TokenName,
};
use pipemux_proto::codec::{EncodeError, decode};
use pipemux_proto::job::CancelJob;
use pipemux_proto::limits::EXCHANGE_MAX;
use pipemux_proto::projection::Projection;
use pipemux_proto::{Envelope, Fault, Frame, Incarnation, Kind, Method};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::{ExchangeReply, Found, Opening, Token, ViewRequest};
use crate::handle::{Asked, Handle};
use crate::limits::PATIENCE;
use crate::run_changes::RunChanges;
use crate::served::{AppType, Served};
use crate::view::View;

use pending::Parked;
use refs::Refs;

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
pub(crate) struct Session {
    app_type: AppType,
    app: Option<Box<dyn Served>>,
    /// The opens that the app refused, while it isn't open. They are retried before each request,
    /// and each refusal gives the reason, so that the session works as soon as the problem is
    /// fixed.
    refused_opens: Vec<Opening>,
    /// Raised by everything that may change what views show.
    version: u64,
    run_changes: RunChanges,
    state_dir: PathBuf,
    incarnation: Incarnation,
    /// Says things to the serving loop for this session.
    handle: Handle,
    /// The jobs of the process before this one that the app hasn't been told of yet.
    jobs_before: Vec<String>,
    /// How long the work of a request is waited for before other requests are handled.
    patience: Duration,
    /// When the request came that is being handled.
    received: Instant,
    /// The requests whose work is under way.
    parked: Vec<Parked>,
    /// When the app was last refreshed because it was due.
    refreshed: Option<Instant>,
    /// True if the state changed by itself while a request was handled and the daemon hasn't been
    /// notified yet.
    untold: bool,
    /// The version of the state for which the app named the paths to watch.
    watched_version: u64,
    /// True when the app restored the state of the process that was hibernated before it.
    resumed: bool,
    /// True when the daemon shows questions with several fields.
    pub(crate) takes_forms: bool,
    /// True when the daemon shows windows inside of others.
    pub(crate) takes_embeds: bool,
}

impl Session {
    pub(crate) fn new(app_type: AppType, incarnation: Incarnation, handle: Handle) -> Self {
        Self {
            app_type,
            app: None,
            refused_opens: Vec::new(),
            version: 0,
            run_changes: RunChanges::default(),
            state_dir: PathBuf::new(),
            incarnation,
            handle,
            jobs_before: Vec::new(),
            patience: PATIENCE,
            received: Instant::now(),
            parked: Vec::new(),
            refreshed: None,
            untold: false,
            watched_version: 0,
            resumed: false,
            takes_forms: true,
            takes_embeds: true,
        }
    }

    /// Handles one frame. Frames other than requests are ignored.
    pub(crate) fn handle(&mut self, frame: &Frame) -> Result<Response, EncodeError> {
        let envelope = &frame.envelope;
        match envelope.kind {
            Kind::Request => {}
            Kind::Cancel => {
                self.cancel(envelope.id);
                return Ok(Response::Ignore);
            }
            Kind::Reply | Kind::Fault | Kind::Event => return Ok(Response::Ignore),
        }
        self.received = Instant::now();
        let body = &frame.body;
        let answered = match envelope.method {
            Method::AppOpen => {
                match parse(body).and_then(|message| self.open(envelope, message)).transpose() {
                    Some(opened) => answer(envelope, opened),
                    None => return self.parked_response(),
                }
            }
            Method::Project => answer(envelope, parse(body).and_then(|m| self.project(&m))),
            Method::Invoke => {
                match parse(body).map(|message| self.invoke(envelope, message)).transpose() {
                    Some(outcome) => answer(envelope, outcome),
                    None => return self.parked_response(),
                }
            }
            Method::AppRead => answer(envelope, parse(body).and_then(|m| self.read(&m))),
            Method::Locate => answer(envelope, parse(body).and_then(|m| self.locate(&m))),
            Method::Save => answer(envelope, self.hibernate()),
            Method::CancelJob => answer(envelope, parse(body).map(|m| self.cancel_job(&m))),
            Method::Ping => answer(envelope, Ok(Empty {})),
            Method::AppClose => {
                let mut frames = self.drain_parked()?;
                frames.extend_from_slice(&answer(envelope, self.save())?);
                return Ok(Response::SendAndExit(frames.into()));
            }
            _ => answer::<Empty>(envelope, Err(Fault::refused("apps don't handle this method"))),
        };
        self.with_untold(answered?)
    }

    /// What is sent when a request was parked: that what views show changed, if it did.
    fn parked_response(&mut self) -> Result<Response, EncodeError> {
        let frames = self.run_due(Asked::default())?;
        Ok(if frames.is_empty() { Response::Ignore } else { Response::Send(frames.into()) })
    }

    pub(crate) fn project(&mut self, message: &Project) -> Result<Projection, Fault> {
        self.refresh()?;
        let version = self.version;
        if message.known_version == Some(version) {
            return Ok(Projection { version, unchanged: true, ..Projection::default() });
        }
        let (lod, budget) = (message.lod, u64::from(message.budget));
        let reader = message.reader.clone();
        let request = ViewRequest { window: message.window, lod, budget, version, reader };
        match self.app()?.view(&request) {
            View(_, Some(fault)) => Err(*fault),
            View(mut projection, None) => {
                if !self.takes_embeds {
                    View::name_embeds(&mut projection.content);
                }
                Ok(Projection { version, ..projection })
            }
        }
    }

    /// Returns the answer to an exchange, and the new version if the exchange changed what views
    /// show.
    pub(crate) fn exchange(&mut self, body: Bytes) -> Result<(Bytes, Option<Changed>), Fault> {
        self.open_again()?;
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

    fn read(&mut self, message: &ReadRequest) -> Result<Chunk, Fault> {
        self.refresh()?;
        self.refs("")?.check_rev(&message.key, message.rev)?;
        if message.path {
            let path = self.app()?.path(&message.key);
            let path = path.and_then(|path| path.into_os_string().into_string().ok());
            return Ok(Chunk { text: true, path, ..Chunk::default() });
        }
        let value = self.app()?.read(&message.key)?;
        let start = usize::try_from(message.offset).unwrap_or(usize::MAX).min(value.len());
        let end = start.saturating_add(message.max as usize).min(value.len());
        let text = std::str::from_utf8(&value).is_ok();
        let total = value.len() as u64;
        Ok(Chunk { data: Bytes::copy_from_slice(&value[start..end]), total, text, path: None })
    }

    pub(crate) fn locate(&mut self, message: &Locate) -> Result<Located, Fault> {
        self.refresh()?;
        let app = self.app()?;
        let place = |found: Found| match found {
            Found::Here(_) => Ok(KeyLocation::Shown),
            Found::Hidden { how, .. } => Ok(KeyLocation::Hidden(how)),
            Found::Gone(why) => Ok(KeyLocation::Gone(why)),
            Found::Unreadable(fault) => Err(fault),
        };
        let meaning = |asked: &TokenName| {
            let token = app.token(&asked.ty, &asked.name)?;
            let Token { found, title, at, click } = token;
            Some(place(found).map(|place| TokenMeaning { place, title, at, click }))
        };
        let tokens: Option<Result<Vec<_>, _>> = message.tokens.iter().map(meaning).collect();
        Ok(Located {
            places: message
                .keys
                .iter()
                .map(|key| place(app.find_for(key, &message.reader)))
                .collect::<Result<_, _>>()?,
            tokens: tokens.transpose()?.unwrap_or_default(),
        })
    }

    /// Tells the work of a job that it is to end.
    fn cancel_job(&mut self, message: &CancelJob) -> Empty {
        if let Some(flag) = self.handle.cancel_flag(&message.job) {
            flag.set();
        }
        Empty {}
    }

    /// Saves everything that the session needs to go on in another process.
    pub(crate) fn hibernate(&mut self) -> Result<Saved, Fault> {
        if !self.app_type.resumes {
            return Err(Fault::refused("this app can't be hibernated without losing state"));
        }
        if self.is_working() {
            return Err(Fault::refused("work of a request is under way"));
        }
        // The saved state must be the state that views show; otherwise the first view afterwards
        // would report a change.
        self.refresh()?;
        self.save()?;
        self.run_changes.save(&self.state_dir, self.version)?;
        let wake_at = self.app()?.next_wake().map(|at| {
            let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        });
        Ok(Saved { version: Some(self.version), wake_at })
    }

    pub(crate) fn save(&mut self) -> Result<Empty, Fault> {
        match &mut self.app {
            Some(app) => app.save().map(|()| Empty {}),
            None => Ok(Empty {}),
        }
    }

    fn refresh(&mut self) -> Result<(), Fault> {
        self.open_again()?;
        let watches = self.app_type.watches;
        let app = self.app_mut()?;
        let reports = watches || app.next_wake().is_some_and(|at| at <= SystemTime::now());
        if app.refresh() {
            self.version += 1;
            self.untold |= reports;
        }
        Ok(())
    }

    fn refs<'a>(&'a self, run_id: &'a str) -> Result<Refs<'a>, Fault> {
        Ok(Refs { app: self.app()?, run_changes: &self.run_changes, run_id })
    }

    pub(crate) fn app(&self) -> Result<&dyn Served, Fault> {
        self.app.as_deref().ok_or_else(not_open)
    }

    fn app_mut(&mut self) -> Result<&mut dyn Served, Fault> {
        self.app.as_deref_mut().ok_or_else(not_open)
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
