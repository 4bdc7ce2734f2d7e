//! `read`: a thing's value, raw.

use bytes::Bytes;
use pipemux_proto::Fault;
use pipemux_proto::app::Locate;
use pipemux_proto::client::{Answer, Body};
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::FRAME_MAX;
use pipemux_proto::refs::{Ref, RefKind};

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::limits::LOCATE_MS;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::runs::lookup::{chunk, located, read_request};
use crate::runs::resolve_ref::{RefScope, ResolvedObject, UnresolvedRef};
use crate::runs::{RunContext, ref_errors};
use crate::verbs::tasks::Task;

/// Longest value that one answer holds, in bytes.
const VALUE_MAX: u64 = FRAME_MAX as u64 - 1024;

/// A value on its way.
#[derive(Debug)]
pub struct ValueRead {
    of: Ref,
    /// What the ref leads to; none while it is being located.
    thing: Option<ResolvedObject>,
    /// What refs mean to the reader.
    refs: RefScope,
    /// The object that its app is asked for, or was.
    located: Vec<(SessionKey, String)>,
    data: Vec<u8>,
}

impl Core {
    pub(super) fn read(&mut self, job: RequestId, target: &str) {
        let of = match Ref::parse_loose(target, RefKind::Obj) {
            Ok(of) if of.kind == RefKind::Obj => of,
            Ok(of) => {
                let fault = Fault::usage(format!("{of} is a link: it has no value"))
                    .hint(format!("pipemux click {of}"));
                return self.fail_request(job, fault);
            }
            Err(error) => return self.fail_request(job, Fault::usage(error.to_string())),
        };
        let Some(found) = self.clients.request(job) else { return };
        let call = &found.call;
        let workspace = self.workspaces.get(&found.workspace);
        let refs = workspace.map(|workspace| RefScope::of(workspace, &call.reader, call.at));
        let (refs, located) = (refs.unwrap_or_default(), Vec::new());
        self.read_resolved(job, ValueRead { of, thing: None, refs, located, data: Vec::new() });
    }

    fn read_resolved(&mut self, job: RequestId, mut reading: ValueRead) {
        let Some(found) = self.clients.request(job) else { return };
        let (at, deadline) = (found.workspace.clone(), found.deadline);
        let Some(workspace) = self.workspaces.get(&at) else { return };
        let context = RunContext { workspace, sessions: self.processes.sessions() };
        match reading.refs.resolve(&context, &reading.of, &reading.located) {
            Ok(thing) => {
                reading.thing = Some(thing.clone());
                self.read_more(job, reading, &thing, deadline);
            }
            Err(UnresolvedRef::Invalid(fault, _)) => self.fail_request(job, *fault),
            Err(UnresolvedRef::NotShown { session, key, .. }) => {
                let locate = Locate { keys: vec![key.clone()] };
                reading.located = vec![(session.clone(), key)];
                self.put_reading(job, reading);
                let soon = deadline.min(self.turn.now.mono_ms + LOCATE_MS);
                self.processes.request(
                    &mut self.turn,
                    &session,
                    Method::Locate,
                    &locate,
                    soon,
                    ReplyTo::Locate(job),
                );
            }
        }
    }

    fn read_more(
        &mut self,
        job: RequestId,
        reading: ValueRead,
        thing: &ResolvedObject,
        deadline: u64,
    ) {
        let read = read_request(thing, reading.data.len());
        self.put_reading(job, reading);
        self.processes.request(
            &mut self.turn,
            &thing.session,
            Method::AppRead,
            &read,
            deadline,
            ReplyTo::Read(job),
        );
    }

    pub(crate) fn is_reading(&self, job: RequestId) -> bool {
        matches!(self.tasks.get(job), Some(Task::Reading(_)))
    }

    pub(crate) fn read_located(&mut self, job: RequestId, answered: AppReply) {
        let Some((reading, _)) = self.take_reading(job) else { return };
        match located(answered, &ref_errors::name(&reading.of)) {
            Ok(()) => self.read_resolved(job, reading),
            Err(fault) => self.fail_request(job, fault),
        }
    }

    pub(crate) fn read_chunk(&mut self, job: RequestId, answered: AppReply) {
        let Some((mut reading, deadline)) = self.take_reading(job) else { return };
        let shown = ref_errors::name(&reading.of);
        let chunk = match chunk(answered, &shown) {
            Ok(chunk) => chunk,
            Err(fault) => return self.fail_request(job, fault),
        };
        if chunk.total > VALUE_MAX {
            let message =
                format!("{shown} holds {} bytes, at most {VALUE_MAX} fit one answer", chunk.total);
            return self.fail_request(job, Fault::refused(message));
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

    fn take_reading(&mut self, job: RequestId) -> Option<(ValueRead, u64)> {
        let deadline = self.clients.request(job)?.deadline;
        match self.tasks.take_if(job, |task| matches!(task, Task::Reading(_)))? {
            Task::Reading(reading) => Some((*reading, deadline)),
            _ => None,
        }
    }

    fn put_reading(&mut self, job: RequestId, reading: ValueRead) {
        self.set_task(job, Task::Reading(Box::new(reading)));
    }
}
