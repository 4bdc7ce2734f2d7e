//! What must be looked up before a step can run: where a thing is that its window doesn't show, and values
//! that go from one app to another.

use std::rc::Rc;

use pipemux_proto::app::{Chunk, Locate, Located, Place, Read};
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::{COPY_MAX, READ_CHUNK};
use pipemux_proto::projection::{Copied, Lod};
use pipemux_proto::report::Status;
use pipemux_proto::{Code, Fault, Value, decode};

use crate::Core;
use crate::keys::{ProjectionKey, RequestId, SessionKey};
use crate::limits::LOCATE_MS;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::runs::{Lookup, Run, ref_errors};
use crate::workspaces::raw_projection::RawProjection;

impl Core {
    pub(super) fn look_up(&mut self, job: RequestId, mut run: Run, lookup: Lookup, deadline: u64) {
        run.looked_up.asking = Some(lookup.clone());
        let at = run.workspace.clone();
        self.put_run(job, run);
        match lookup {
            Lookup::Window { session } => {
                let window = self.workspaces.get(&at).and_then(|found| found.window(&session));
                let Some((look, ask)) = window.map(|window| window.whole()) else {
                    let why = format!("the window of {session} was closed meanwhile");
                    let lost =
                        AppReply::Lost { delivered: false, died: false, why, hints: Vec::new() };
                    let look = ProjectionKey { window: 0, lod: Lod::Gist, budget: 0 };
                    return self.refresh_answered(job, &session, look, lost);
                };
                let purpose = ReplyTo::Refresh(job, look);
                self.processes.request(
                    &mut self.turn,
                    &session,
                    Method::Project,
                    &ask,
                    deadline,
                    purpose,
                );
            }
            Lookup::Place { session, key, .. } => {
                let soon = deadline.min(self.turn.now.mono_ms + LOCATE_MS);
                let locate = Locate { keys: vec![key] };
                self.processes.request(
                    &mut self.turn,
                    &session,
                    Method::Locate,
                    &locate,
                    soon,
                    ReplyTo::Locate(job),
                );
            }
            Lookup::Value { session, key, rev, data, .. } => {
                let read = Read { key, rev, offset: data.len() as u64, max: READ_CHUNK };
                self.processes.request(
                    &mut self.turn,
                    &session,
                    Method::AppRead,
                    &read,
                    deadline,
                    ReplyTo::Read(job),
                );
            }
        }
    }

    /// A thing that its window doesn't show was asked for.
    pub(crate) fn locate_answered(&mut self, job: RequestId, answered: AppReply) {
        if self.is_reading(job) {
            return self.read_located(job, answered);
        }
        let Some((mut run, _)) = self.take_run(job) else { return };
        let Some(Lookup::Place { session, key, shown }) = run.looked_up.asking.take() else {
            return;
        };
        match located(answered, &shown) {
            Ok(()) => {
                run.looked_up.found.push((session, key));
                self.put_run(job, run);
                self.advance(job);
            }
            Err(fault) => {
                run.touch(&session);
                run.fail(Status::Failed, fault);
                self.finish_run(job, run);
            }
        }
    }

    /// A window came, or didn't, for what its names stand for now.
    pub(super) fn names_answered(
        &mut self,
        job: RequestId,
        mut run: Run,
        session: SessionKey,
        look: ProjectionKey,
        answered: AppReply,
    ) {
        let app = self.processes.get(&session).and_then(|live| live.app());
        let held = match (answered, app) {
            (AppReply::Reply(body), Some(app)) => RawProjection::read(&body)
                .map(|projection| (app, Rc::new(projection)))
                .map_err(|error| Fault::unavailable(format!("{session} sent no window: {error}"))),
            (AppReply::Fault(fault), _) => Err(fault),
            (AppReply::Lost { why, .. }, _) => Err(Fault::unavailable(why)),
            (_, None) => Err(Fault::unavailable(format!("{session} has ended"))),
        };
        match held {
            Err(fault) => {
                run.fail(Status::Failed, fault);
                self.finish_run(job, run);
            }
            Ok((app, projection)) => {
                let workspace = self.workspaces.get_mut(&run.workspace);
                if let Some(window) = workspace.and_then(|found| found.window_mut(&session)) {
                    window.hold(look, app, projection);
                }
                run.looked_up.windows.push(session);
                self.put_run(job, run);
                self.advance(job);
            }
        }
    }

    /// A part of a value came that goes to another app.
    pub(crate) fn read_answered(&mut self, job: RequestId, answered: AppReply) {
        if self.is_reading(job) {
            return self.read_chunk(job, answered);
        }
        let Some((mut run, deadline)) = self.take_run(job) else { return };
        let Some(Lookup::Value { session, key, rev, label, shown, mut data }) =
            run.looked_up.asking.take()
        else {
            return;
        };
        let chunk = match chunk(answered, &shown) {
            Ok(chunk) => chunk,
            Err(fault) => {
                run.fail(Status::Failed, fault);
                return self.finish_run(job, run);
            }
        };
        if chunk.total > COPY_MAX as u64 {
            let fault = Fault::refused(format!(
                "{shown} holds {} bytes, at most {COPY_MAX} pass from app to app",
                chunk.total
            ));
            run.fail(Status::Failed, fault.hint("pass it in parts"));
            return self.finish_run(job, run);
        }
        data.extend_from_slice(&chunk.data);
        if (data.len() as u64) < chunk.total && !chunk.data.is_empty() {
            let lookup = Lookup::Value { session, key, rev, label, shown, data };
            return self.look_up(job, run, lookup, deadline);
        }
        let value = match String::from_utf8(data) {
            Ok(text) => Value::Str(text),
            Err(error) => Value::Bin(error.into_bytes().into()),
        };
        let copied = Copied { value: value.to_blob(), from: session.to_string(), label };
        run.looked_up.copies.insert((session, key), copied);
        self.put_run(job, run);
        self.advance(job);
    }
}

/// What `Locate` said about one thing.
pub(crate) fn located(answered: AppReply, shown: &str) -> Result<(), Fault> {
    let place = match answered {
        AppReply::Reply(body) => {
            decode::<Located>(&body).ok().and_then(|l| l.places.into_iter().next())
        }
        // No answer in time means out of view.
        AppReply::Fault(_) | AppReply::Lost { .. } => None,
    };
    match place {
        Some(Place::Shown) => Ok(()),
        Some(Place::Hidden(how)) => Err(ref_errors::out_of_view(shown, Some(how))),
        Some(Place::Gone(why)) => Err(ref_errors::not_found(shown, why)),
        None => Err(ref_errors::out_of_view(shown, None)),
    }
}

/// What `Read` gave.
pub(crate) fn chunk(answered: AppReply, shown: &str) -> Result<Chunk, Fault> {
    match answered {
        AppReply::Reply(body) => decode::<Chunk>(&body).map_err(|error| {
            Fault::unavailable(format!("an unreadable value of {shown}: {error}"))
        }),
        AppReply::Fault(fault) => Err(match fault.code {
            Code::Stale => ref_errors::stale(shown),
            Code::NotFound => ref_errors::not_found(shown, fault.hints.into_iter().next()),
            _ => fault,
        }),
        AppReply::Lost { why, hints, .. } => {
            let mut fault = Fault::unavailable(why);
            fault.hints = hints;
            Err(fault)
        }
    }
}
