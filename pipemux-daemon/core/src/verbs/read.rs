//! `read`: the raw value of an object.

use bytes::Bytes;
use pipemux_proto::Fault;
use pipemux_proto::app::Locate;
use pipemux_proto::client::Body;
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::FRAME_MAX;
use pipemux_proto::refs::{Ref, RefKind};

use crate::clients::client_request::ClientRequest;
use crate::limits::LOCATE_MS;
use crate::processes::Processes;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::runs::RunContext;
use crate::runs::lookup::{chunk, is_complete, located, read_request};
use crate::scripts::ref_errors;
use crate::scripts::resolve_ref::{RefScope, ResolvedObject, UnresolvedRef};
use crate::turn::Turn;
use crate::verbs::click::resolve_link;
use crate::verbs::next::Next;
use crate::verbs::tasks::{Task, ValueRead};
use crate::workspaces::Workspace;

/// The longest value that one answer holds, in bytes.
const VALUE_MAX: u64 = FRAME_MAX as u64 - 1024;

/// Reads the value of the object that a ref leads to.
///
/// # Errors
/// The ref leads to no object.
pub(crate) fn read(
    turn: &mut Turn,
    processes: &mut Processes,
    workspace: &Workspace,
    request: &ClientRequest,
    target: &str,
) -> Result<Next, Fault> {
    let target =
        Ref::parse_loose(target, RefKind::Obj).map_err(|error| Fault::usage(error.to_string()))?;
    if target.kind != RefKind::Obj {
        // A link that isn't there can't be clicked either.
        resolve_link(workspace, processes, request, &target)?;
        return Err(Fault::usage(format!("{target} is a link: it has no value"))
            .hint(format!("click it: pipemux click {target}")));
    }
    let refs = RefScope::of(workspace, &request.call.reader, request.call.at);
    let (object, located, data) = (None, Vec::new(), Vec::new());
    let read = ValueRead { target, object, refs, located, data };
    resolve_and_read(turn, processes, workspace, request, read)
}

/// Resolves the ref and requests the object's value. An object that its window doesn't show is
/// located first.
fn resolve_and_read(
    turn: &mut Turn,
    processes: &mut Processes,
    workspace: &Workspace,
    request: &ClientRequest,
    mut read: ValueRead,
) -> Result<Next, Fault> {
    let context = RunContext { workspace, sessions: processes.sessions() };
    match read.refs.resolve(&context, &read.target, &read.located) {
        Ok(object) => {
            read.object = Some(object.clone());
            Ok(request_chunk(turn, processes, request, read, &object))
        }
        Err(UnresolvedRef::Invalid(fault, Some(session))) => {
            Err(fault.hint(format!("pipemux view {session}")))
        }
        Err(UnresolvedRef::Invalid(fault, None)) => Err(*fault),
        Err(UnresolvedRef::NotShown { session, key, .. }) => {
            let deadline = request.deadline.min(turn.now.mono_ms + LOCATE_MS);
            let keys = vec![key.clone()];
            let locate = Locate { keys, reader: request.call.reader.clone(), ..Locate::default() };
            let to = ReplyTo::Locate(request.id);
            processes.request(turn, &session, Method::Locate, &locate, deadline, to);
            read.located = vec![(session, key)];
            Ok(Next::Wait(Task::Reading(Box::new(read))))
        }
    }
}

/// Requests the next part of an object's value.
fn request_chunk(
    turn: &mut Turn,
    processes: &mut Processes,
    request: &ClientRequest,
    read: ValueRead,
    object: &ResolvedObject,
) -> Next {
    let message = read_request(object, read.data.len() as u64);
    let to = ReplyTo::Read(request.id);
    processes.request(turn, &object.session, Method::AppRead, &message, request.deadline, to);
    Next::Wait(Task::Reading(Box::new(read)))
}

/// Requests the value of an object once its app has replied where it is.
///
/// # Errors
/// It is nowhere.
pub(crate) fn object_located(
    turn: &mut Turn,
    processes: &mut Processes,
    workspace: &Workspace,
    request: &ClientRequest,
    read: ValueRead,
    reply: AppReply,
) -> Result<Next, Fault> {
    if let Some((session, _)) = read.located.first() {
        located(reply, &ref_errors::name(&read.target), processes.speaker(session))?;
    }
    resolve_and_read(turn, processes, workspace, request, read)
}

/// Takes a part of the object's value, and answers once it is complete.
///
/// # Errors
/// The app sent no value, or one that is too long for an answer.
pub(crate) fn chunk_read(
    turn: &mut Turn,
    processes: &mut Processes,
    request: &ClientRequest,
    mut read: ValueRead,
    reply: AppReply,
) -> Result<Next, Fault> {
    let name = ref_errors::name(&read.target);
    let Some(object) = read.object.clone() else { return Ok(Next::Nothing) };
    let chunk = chunk(reply, &name, &object)?;
    if chunk.total > VALUE_MAX {
        let message =
            format!("{name} holds {} bytes, at most {VALUE_MAX} fit one answer", chunk.total);
        return Err(Fault::refused(message));
    }
    read.data.extend_from_slice(&chunk.data);
    Ok(match is_complete(&chunk, read.data.len(), &name)? {
        true => Next::Body(Body::Raw(Bytes::from(read.data))),
        false => request_chunk(turn, processes, request, read, &object),
    })
}
