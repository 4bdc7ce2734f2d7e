//! `read`: the raw value of an object.

use bytes::Bytes;
use pipemux_proto::Fault;
use pipemux_proto::app::Locate;
use pipemux_proto::client::{Answer, Body};
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::FRAME_MAX;
use pipemux_proto::refs::{Ref, RefKind};

use crate::Core;
use crate::keys::RequestId;
use crate::limits::LOCATE_MS;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::runs::RunContext;
use crate::runs::lookup::{chunk, is_complete, located, read_request};
use crate::scripts::ref_errors;
use crate::scripts::resolve_ref::{RefScope, ResolvedObject, UnresolvedRef};
use crate::verbs::require;
use crate::verbs::tasks::{Task, ValueRead};

/// The longest value that one answer holds, in bytes.
const VALUE_MAX: u64 = FRAME_MAX as u64 - 1024;

impl Core {
    /// Reads the value of the object that a ref leads to.
    pub(crate) fn read(&mut self, id: RequestId, target: &str) -> Result<(), Fault> {
        let target = Ref::parse_loose(target, RefKind::Obj)
            .map_err(|error| Fault::usage(error.to_string()))?;
        if target.kind != RefKind::Obj {
            // A link that isn't there can't be clicked either.
            self.resolve_link(id, &target)?;
            return Err(Fault::usage(format!("{target} is a link: it has no value"))
                .hint(format!("click it: pipemux click {target}")));
        }
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let refs = RefScope::of(workspace, &request.call.reader, request.call.at);
        let (object, located, data) = (None, Vec::new(), Vec::new());
        self.resolve_and_read(id, ValueRead { target, object, refs, located, data })
    }

    /// Checks that a ref leads to an object, so that its value can be read.
    pub(super) fn check_object(&self, id: RequestId, target: &Ref) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let context = RunContext { workspace, sessions: self.processes.sessions() };
        let refs = RefScope::of(workspace, &request.call.reader, request.call.at);
        match refs.resolve(&context, target, &[]) {
            Err(UnresolvedRef::Invalid(fault, _)) => Err(*fault),
            // Where it is, is asked when it is read.
            Ok(_) | Err(UnresolvedRef::NotShown { .. }) => Ok(()),
        }
    }

    /// Resolves the ref and requests the object's value. An object that its window doesn't show is located first.
    fn resolve_and_read(&mut self, id: RequestId, mut read: ValueRead) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let context = RunContext { workspace, sessions: self.processes.sessions() };
        match read.refs.resolve(&context, &read.target, &read.located) {
            Ok(object) => {
                let deadline = request.deadline;
                read.object = Some(object.clone());
                self.request_chunk(id, read, &object, deadline);
                Ok(())
            }
            Err(UnresolvedRef::Invalid(fault, Some(session))) => {
                Err(fault.hint(format!("pipemux view {session}")))
            }
            Err(UnresolvedRef::Invalid(fault, None)) => Err(*fault),
            Err(UnresolvedRef::NotShown { session, key, .. }) => {
                let deadline = request.deadline.min(self.turn.now.mono_ms + LOCATE_MS);
                let locate = Locate {
                    keys: vec![key.clone()],
                    reader: request.call.reader.clone(),
                    ..Locate::default()
                };
                read.located = vec![(session.clone(), key)];
                self.set_task(id, Task::Reading(Box::new(read)));
                let (turn, to) = (&mut self.turn, ReplyTo::Locate(id));
                self.processes.request(turn, &session, Method::Locate, &locate, deadline, to);
                Ok(())
            }
        }
    }

    /// Requests the next part of an object's value.
    fn request_chunk(
        &mut self,
        id: RequestId,
        read: ValueRead,
        object: &ResolvedObject,
        deadline: u64,
    ) {
        let message = read_request(object, read.data.len() as u64);
        self.set_task(id, Task::Reading(Box::new(read)));
        let (turn, to) = (&mut self.turn, ReplyTo::Read(id));
        self.processes.request(turn, &object.session, Method::AppRead, &message, deadline, to);
    }

    /// Returns true for a request of `read`, whose replies are not those of a run.
    pub(crate) fn is_reading(&self, id: RequestId) -> bool {
        matches!(self.tasks.get(id), Some(Task::Reading(_)))
    }

    /// Goes on once an app has replied where the object is.
    pub(crate) fn object_located(&mut self, id: RequestId, reply: AppReply) -> Result<(), Fault> {
        let read = self.take_value_read(id)?;
        let Some((session, _)) = read.located.first() else {
            return Err(require::missing_task(&self.clients, id));
        };
        let by = self.processes.speaker(session);
        located(reply, &ref_errors::name(&read.target), by)?;
        self.resolve_and_read(id, read)
    }

    /// Takes a part of the object's value, and answers once it is complete.
    pub(crate) fn chunk_read(&mut self, id: RequestId, reply: AppReply) -> Result<(), Fault> {
        let mut read = self.take_value_read(id)?;
        let deadline = require::request(&self.clients, id)?.deadline;
        let name = ref_errors::name(&read.target);
        let Some(object) = read.object.clone() else {
            return Err(require::missing_task(&self.clients, id));
        };
        let chunk = chunk(reply, &name, &object)?;
        if chunk.total > VALUE_MAX {
            let message =
                format!("{name} holds {} bytes, at most {VALUE_MAX} fit one answer", chunk.total);
            return Err(Fault::refused(message));
        }
        read.data.extend_from_slice(&chunk.data);
        if !is_complete(&chunk, read.data.len(), &name)? {
            self.request_chunk(id, read, &object, deadline);
        } else {
            let body = Body::Raw(Bytes::from(read.data));
            self.answer(id, Answer { exit: 0, body, delivery: 0, error: false });
        }
        Ok(())
    }

    fn take_value_read(&mut self, id: RequestId) -> Result<ValueRead, Fault> {
        match self.tasks.take_if(id, |task| matches!(task, Task::Reading(_))) {
            Some(Task::Reading(read)) => Ok(*read),
            _ => Err(require::missing_task(&self.clients, id)),
        }
    }
}
