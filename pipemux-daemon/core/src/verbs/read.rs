//! `read`: a thing's value, raw.

use bytes::Bytes;
use pipemux_proto::Fault;
use pipemux_proto::app::{Locate, Read};
use pipemux_proto::client::{Answer, Body};
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::{FRAME_MAX, READ_CHUNK};
use pipemux_proto::refs::{Ref, RefKind};

use crate::Core;
use crate::act::args::{Stop, Thing};
use crate::act::lookup::{chunk, located};
use crate::act::{Acting, Lookup, soft};
use crate::jobs::Task;
use crate::keys::JobId;
use crate::limits::LOCATE_MS;
use crate::requests::{Answered, Purpose};

/// Longest value that one answer holds, in bytes.
const VALUE_MAX: u64 = FRAME_MAX as u64 - 1024;

/// A value on its way.
#[derive(Debug)]
pub struct Reading {
    of: Ref,
    /// What the ref leads to; none while it is being located.
    thing: Option<Thing>,
    acting: Acting,
    data: Vec<u8>,
}

impl Core {
    pub(super) fn read(&mut self, job: JobId, target: &str) {
        let of = match Ref::parse_loose(target, RefKind::Obj) {
            Ok(of) if of.kind == RefKind::Obj => of,
            Ok(of) => {
                let fault = Fault::usage(format!("{of} is a link: it has no value"))
                    .hint(format!("pipemux click {of}"));
                return self.fail_job(job, fault);
            }
            Err(error) => return self.fail_job(job, Fault::usage(error.to_string())),
        };
        let Some(found) = self.jobs.get(&job) else { return };
        let call = &found.call;
        let acting =
            Acting::begin(self, &found.workspace, &call.reader, &call.run_id, Vec::new(), call.at);
        self.read_resolved(job, Reading { of, thing: None, acting, data: Vec::new() });
    }

    fn read_resolved(&mut self, job: JobId, mut reading: Reading) {
        let Some(found) = self.jobs.get(&job) else { return };
        let (at, deadline) = (found.workspace.clone(), found.deadline);
        let Some(workspace) = self.workspaces.get(&at) else { return };
        match reading.acting.resolve(&self.sessions, workspace, &reading.of) {
            Ok(thing) => {
                reading.thing = Some(thing.clone());
                self.read_more(job, reading, &thing, deadline);
            }
            Err(Stop::Miss(fault, _)) => self.fail_job(job, *fault),
            Err(Stop::Look(lookup)) => {
                let Lookup::Place { session, key, .. } = &*lookup else { return };
                let (session, locate) = (session.clone(), Locate { keys: vec![key.clone()] });
                reading.acting.looked_up.asking = Some(*lookup);
                self.put_reading(job, reading);
                let soon = deadline.min(self.now.mono_ms + LOCATE_MS);
                self.request(&session, Method::Locate, &locate, soon, Purpose::Locate(job));
            }
        }
    }

    fn read_more(&mut self, job: JobId, reading: Reading, thing: &Thing, deadline: u64) {
        let offset = reading.data.len() as u64;
        let read = Read { key: thing.key.clone(), rev: thing.rev, offset, max: READ_CHUNK };
        self.put_reading(job, reading);
        self.request(&thing.session, Method::AppRead, &read, deadline, Purpose::Read(job));
    }

    pub(crate) fn is_reading(&self, job: JobId) -> bool {
        self.jobs.get(&job).is_some_and(|job| matches!(job.task, Task::Reading(_)))
    }

    pub(crate) fn read_located(&mut self, job: JobId, answered: Answered) {
        let Some((mut reading, _)) = self.take_reading(job) else { return };
        let shown = soft::name(&reading.of);
        match (located(answered, &shown), reading.acting.looked_up.asking.take()) {
            (Ok(()), Some(Lookup::Place { session, key, .. })) => {
                reading.acting.looked_up.found.push((session, key));
                self.read_resolved(job, reading);
            }
            (Err(fault), _) => self.fail_job(job, fault),
            _ => {}
        }
    }

    pub(crate) fn read_chunk(&mut self, job: JobId, answered: Answered) {
        let Some((mut reading, deadline)) = self.take_reading(job) else { return };
        let shown = soft::name(&reading.of);
        let chunk = match chunk(answered, &shown) {
            Ok(chunk) => chunk,
            Err(fault) => return self.fail_job(job, fault),
        };
        if chunk.total > VALUE_MAX {
            let message =
                format!("{shown} holds {} bytes, at most {VALUE_MAX} fit one answer", chunk.total);
            return self.fail_job(job, Fault::refused(message));
        }
        reading.data.extend_from_slice(&chunk.data);
        let more = (reading.data.len() as u64) < chunk.total && !chunk.data.is_empty();
        match reading.thing.clone().filter(|_| more) {
            Some(thing) => self.read_more(job, reading, &thing, deadline),
            None => {
                let body = Body::Raw(Bytes::from(reading.data));
                self.answer(job, Answer { exit: 0, body, delivery: 0 });
            }
        }
    }

    fn take_reading(&mut self, job: JobId) -> Option<(Reading, u64)> {
        let job = self.jobs.get_mut(&job)?;
        match std::mem::replace(&mut job.task, Task::Moving) {
            Task::Reading(reading) => Some((*reading, job.deadline)),
            other => {
                job.task = other;
                None
            }
        }
    }

    fn put_reading(&mut self, job: JobId, reading: Reading) {
        if let Some(job) = self.jobs.get_mut(&job) {
            job.task = Task::Reading(Box::new(reading));
        }
    }
}
