//! What must be looked up before a step can run: where a thing is that its window doesn't show, and values
//! that go from one app to another.

use std::rc::Rc;

use pipemux_proto::app::{Chunk, Locate, Located, Place, Read};
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::{COPY_MAX, READ_CHUNK};
use pipemux_proto::projection::{Copied, Lod};
use pipemux_proto::report::Status;
use pipemux_proto::{Code, Fault, Value, decode};

use super::{Acting, Lookup, soft};
use crate::Core;
use crate::keys::{JobId, SessionKey};
use crate::limits::LOCATE_MS;
use crate::requests::{Answered, Look, Purpose};
use crate::sent::Sent;

impl Core {
    pub(super) fn look_up(
        &mut self,
        job: JobId,
        mut acting: Acting,
        lookup: Lookup,
        deadline: u64,
    ) {
        acting.looked_up.asking = Some(lookup.clone());
        let at = acting.workspace.clone();
        self.put_acting(job, acting);
        match lookup {
            Lookup::Window { session } => {
                let window = self.workspaces.get(&at).and_then(|found| found.window(&session));
                let Some((look, ask)) = window.map(|window| window.whole()) else {
                    let why = format!("the window of {session} was closed meanwhile");
                    let lost =
                        Answered::Lost { delivered: false, died: false, why, hints: Vec::new() };
                    let look = Look { window: 0, lod: Lod::Gist, budget: 0 };
                    return self.refresh_answered(job, &session, look, lost);
                };
                let purpose = Purpose::Refresh(job, look);
                self.request(&session, Method::Project, &ask, deadline, purpose);
            }
            Lookup::Place { session, key, .. } => {
                let soon = deadline.min(self.now.mono_ms + LOCATE_MS);
                let locate = Locate { keys: vec![key] };
                self.request(&session, Method::Locate, &locate, soon, Purpose::Locate(job));
            }
            Lookup::Value { session, key, rev, data, .. } => {
                let read = Read { key, rev, offset: data.len() as u64, max: READ_CHUNK };
                self.request(&session, Method::AppRead, &read, deadline, Purpose::Read(job));
            }
        }
    }

    /// A thing that its window doesn't show was asked for.
    pub(crate) fn locate_answered(&mut self, job: JobId, answered: Answered) {
        if self.is_reading(job) {
            return self.read_located(job, answered);
        }
        let Some((mut acting, _)) = self.take_acting(job) else { return };
        let Some(Lookup::Place { session, key, shown }) = acting.looked_up.asking.take() else {
            return;
        };
        match located(answered, &shown) {
            Ok(()) => {
                acting.looked_up.found.push((session, key));
                self.put_acting(job, acting);
                self.advance(job);
            }
            Err(fault) => {
                acting.touch(&session);
                acting.fail(Status::Failed, fault);
                self.acted(job, acting);
            }
        }
    }

    /// A window came, or didn't, for what its names stand for now.
    pub(super) fn names_answered(
        &mut self,
        job: JobId,
        mut acting: Acting,
        session: SessionKey,
        look: Look,
        answered: Answered,
    ) {
        let app = self.sessions.get(&session).and_then(|live| live.app());
        let held = match (answered, app) {
            (Answered::Reply(body), Some(app)) => Sent::read(&body)
                .map(|projection| (app, Rc::new(projection)))
                .map_err(|error| Fault::unavailable(format!("{session} sent no window: {error}"))),
            (Answered::Fault(fault), _) => Err(fault),
            (Answered::Lost { why, .. }, _) => Err(Fault::unavailable(why)),
            (_, None) => Err(Fault::unavailable(format!("{session} has ended"))),
        };
        match held {
            Err(fault) => {
                acting.fail(Status::Failed, fault);
                self.acted(job, acting);
            }
            Ok((app, projection)) => {
                let workspace = self.workspaces.get_mut(&acting.workspace);
                if let Some(window) = workspace.and_then(|found| found.window_mut(&session)) {
                    window.hold(look, app, projection);
                }
                acting.looked_up.windows.push(session);
                self.put_acting(job, acting);
                self.advance(job);
            }
        }
    }

    /// A part of a value came that goes to another app.
    pub(crate) fn read_answered(&mut self, job: JobId, answered: Answered) {
        if self.is_reading(job) {
            return self.read_chunk(job, answered);
        }
        let Some((mut acting, deadline)) = self.take_acting(job) else { return };
        let Some(Lookup::Value { session, key, rev, label, shown, mut data }) =
            acting.looked_up.asking.take()
        else {
            return;
        };
        let chunk = match chunk(answered, &shown) {
            Ok(chunk) => chunk,
            Err(fault) => {
                acting.fail(Status::Failed, fault);
                return self.acted(job, acting);
            }
        };
        if chunk.total > COPY_MAX as u64 {
            let fault = Fault::refused(format!(
                "{shown} holds {} bytes, at most {COPY_MAX} pass from app to app",
                chunk.total
            ));
            acting.fail(Status::Failed, fault.hint("pass it in parts"));
            return self.acted(job, acting);
        }
        data.extend_from_slice(&chunk.data);
        if (data.len() as u64) < chunk.total && !chunk.data.is_empty() {
            let lookup = Lookup::Value { session, key, rev, label, shown, data };
            return self.look_up(job, acting, lookup, deadline);
        }
        let value = match String::from_utf8(data) {
            Ok(text) => Value::Str(text),
            Err(error) => Value::Bin(error.into_bytes().into()),
        };
        let copied = Copied { value: value.to_blob(), from: session.to_string(), label };
        acting.looked_up.copies.insert((session, key), copied);
        self.put_acting(job, acting);
        self.advance(job);
    }
}

/// What `Locate` said about one thing.
pub(crate) fn located(answered: Answered, shown: &str) -> Result<(), Fault> {
    let place = match answered {
        Answered::Reply(body) => {
            decode::<Located>(&body).ok().and_then(|l| l.places.into_iter().next())
        }
        // No answer in time means out of view.
        Answered::Fault(_) | Answered::Lost { .. } => None,
    };
    match place {
        Some(Place::Shown) => Ok(()),
        Some(Place::Hidden(how)) => Err(soft::out_of_view(shown, Some(how))),
        Some(Place::Gone(why)) => Err(soft::not_found(shown, why)),
        None => Err(soft::out_of_view(shown, None)),
    }
}

/// What `Read` gave.
pub(crate) fn chunk(answered: Answered, shown: &str) -> Result<Chunk, Fault> {
    match answered {
        Answered::Reply(body) => decode::<Chunk>(&body).map_err(|error| {
            Fault::unavailable(format!("an unreadable value of {shown}: {error}"))
        }),
        Answered::Fault(fault) => Err(match fault.code {
            Code::Stale => soft::stale(shown),
            Code::NotFound => soft::not_found(shown, fault.hints.into_iter().next()),
            _ => fault,
        }),
        Answered::Lost { why, hints, .. } => {
            let mut fault = Fault::unavailable(why);
            fault.hints = hints;
            Err(fault)
        }
    }
}
