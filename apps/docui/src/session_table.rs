//! The sessions of one process: usually one, or many when the manifest says `isolation =
//! "provider"`.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::time::Instant;

use bytes::Bytes;
use pipemux_proto::app::Changed;
use pipemux_proto::codec::EncodeError;
use pipemux_proto::hello::{EMBED, FORMS, JOBS};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame, Hello, Kind, Method};

use crate::connection::Wakes;
use crate::handle::{Handle, HandleReceiver};
use crate::path_watch::PathWatch;
use crate::served::AppType;
use crate::session::{Response, Session, not_open};

/// Sessions by incarnation, which each frame carries.
pub(crate) struct SessionTable {
    app_type: AppType,
    asked: HandleReceiver,
    /// The process's own incarnation, if sessions share the process. Otherwise the process has the
    /// incarnation of its one session.
    process: Option<Incarnation>,
    /// True when the daemon shows questions with several fields.
    takes_forms: bool,
    takes_embeds: bool,
    sessions: HashMap<Incarnation, Session>,
    /// What watches paths for the sessions, if the app wants that and the system can.
    watch: Option<PathWatch>,
}

impl SessionTable {
    /// Makes an empty table.
    ///
    /// # Errors
    /// The system gives no more descriptors.
    pub(crate) fn new(app_type: AppType) -> std::io::Result<Self> {
        let watch = if app_type.watches { PathWatch::new() } else { None };
        let (asked, sessions) = (HandleReceiver::new()?, HashMap::new());
        Ok(Self {
            app_type,
            asked,
            process: None,
            takes_forms: false,
            takes_embeds: false,
            sessions,
            watch,
        })
    }

    /// Returns the greeting that the app sends first.
    pub(crate) fn hello(&self) -> Hello {
        self.app_type.hello(self.watch.is_some())
    }

    /// What makes [`SessionTable::run_due`] have something to do.
    pub(crate) fn wakes(&self) -> Wakes<'_> {
        let due = self.sessions.values().filter_map(Session::next_deadline);
        let watch = self.watch.as_ref();
        Wakes {
            handles: self.asked.as_fd(),
            watched: watch.and_then(PathWatch::events),
            deadline: due.chain(watch.and_then(PathWatch::next_due)).min(),
        }
    }

    /// Watches the paths that the sessions' apps name now.
    pub(crate) fn update_watches(&mut self) {
        let Some(watch) = &mut self.watch else { return };
        self.sessions.values_mut().for_each(|session| session.update_watches(watch));
    }

    /// Takes in what other threads have done and asked for, and does what is due. Returns the
    /// frames to send.
    pub(crate) fn run_due(&mut self) -> Result<Vec<u8>, EncodeError> {
        let mut asked = self.asked.take();
        let now = Instant::now();
        let watched = self.watch.as_mut().map(|watch| watch.run(now)).unwrap_or_default();
        let mut frames = Vec::new();
        for (incarnation, session) in &mut self.sessions {
            let mut asked = asked.remove(incarnation);
            if watched.contains(incarnation) {
                asked.get_or_insert_default().watched = true;
            }
            if asked.is_some() || session.next_deadline().is_some_and(|deadline| deadline <= now) {
                frames.extend(session.run_due(asked.unwrap_or_default())?);
            }
        }
        Ok(frames)
    }

    /// Notes the incarnation in the daemon's `Hello`, and what the daemon can do.
    pub(crate) fn handle_hello(&mut self, process: Incarnation, hello: &Hello) {
        self.asked.set_has_jobs(hello.features.iter().any(|feature| feature == JOBS));
        self.process = Some(process).filter(|process| process.0 != 0);
        self.takes_embeds = hello.features.iter().any(|feature| feature == EMBED);
        self.takes_forms = hello.features.iter().any(|feature| feature == FORMS);
    }

    /// Hands a frame to its session.
    pub(crate) fn handle(&mut self, frame: &Frame) -> Result<Response, EncodeError> {
        let envelope = &frame.envelope;
        let incarnation = envelope.incarnation;
        match (envelope.kind, envelope.method) {
            (Kind::Request, Method::AppOpen) => {
                let app_type = self.app_type;
                let handle = || self.asked.handle(incarnation);
                let session = self.sessions.entry(incarnation);
                let session =
                    session.or_insert_with(|| Session::new(app_type, incarnation, handle()));
                session.takes_forms = self.takes_forms;
                session.takes_embeds = self.takes_embeds;
                session.handle(frame)
            }
            (Kind::Request, Method::AppClose) => {
                let removed = self.sessions.remove(&incarnation);
                if let Some(watch) = &mut self.watch {
                    watch.forget(incarnation);
                }
                let mut session = removed.unwrap_or_else(|| self.unopened(incarnation));
                Ok(match session.handle(frame)? {
                    // The process goes on, for its other sessions and those to come.
                    Response::SendAndExit(reply)
                        if self.process.is_some_and(|process| process != incarnation) =>
                    {
                        Response::Send(reply)
                    }
                    other => other,
                })
            }
            _ => match self.sessions.get_mut(&incarnation) {
                Some(session) => session.handle(frame),
                // A session without an app refuses what needs one.
                None => self.unopened(incarnation).handle(frame),
            },
        }
    }

    /// Hands an exchange to its session.
    pub(crate) fn exchange(
        &mut self,
        incarnation: Incarnation,
        body: Bytes,
    ) -> Result<(Bytes, Option<Changed>), Fault> {
        self.sessions.get_mut(&incarnation).ok_or_else(not_open)?.exchange(body)
    }

    fn unopened(&self, incarnation: Incarnation) -> Session {
        Session::new(self.app_type, incarnation, Handle::default())
    }
}
