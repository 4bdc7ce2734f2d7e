//! What must be looked up before a step can run: where an object is that its window doesn't show, and values
//! that go from one app to another.

use std::cmp::Ordering;
use std::mem;

use pipemux_proto::app::{Chunk, Locate, ReadRequest};
use pipemux_proto::limits::{COPY_MAX, READ_CHUNK};
use pipemux_proto::projection::Copied;
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Code, Fault, Value};

use crate::foreign::{KeyLocation, Located, Speaker, data, quote};
use crate::intake;
use crate::processes::reply::AppReply;
use crate::runs::context::RunContext;
use crate::runs::phase::{Lookup, Phase};
use crate::runs::protocol::RunOutput;
use crate::runs::resolve_ref::ResolvedObject;
use crate::runs::{Run, ref_errors};

impl Run {
    /// Asks for what the next step needs.
    pub(super) fn look_up(&mut self, lookup: Lookup, context: &RunContext<'_>) -> RunOutput {
        let output = match &lookup {
            Lookup::Window { session } => {
                let Some(window) = context.workspace.window(session) else {
                    let why = format!("the window of {session} was closed meanwhile");
                    return self.end(StepStatus::Failed, Fault::unavailable(why));
                };
                let (key, project) = window.whole();
                RunOutput::Refresh { session: session.clone(), key, project }
            }
            Lookup::Location { session, key, .. } => {
                let locate = Locate { keys: vec![key.clone()] };
                RunOutput::Locate { session: session.clone(), locate }
            }
            Lookup::Value { object, data, path, .. } => {
                let read = ReadRequest { path: *path, ..read_request(object, data.len()) };
                RunOutput::Read { session: object.session.clone(), read }
            }
        };
        self.phase = Phase::LookingUp(lookup);
        output
    }

    /// The app told where an object is.
    pub(super) fn located(&mut self, reply: AppReply, context: &RunContext<'_>) -> RunOutput {
        let Phase::LookingUp(Lookup::Location { session, key, shown }) = mem::take(&mut self.phase)
        else {
            return self.lost();
        };
        match located(reply, &shown, context.speaker(&session)) {
            Ok(()) => {
                self.looked_up.located.push((session, key));
                self.advance(context)
            }
            Err(fault) => {
                self.touch(&session);
                self.end(StepStatus::Failed, fault)
            }
        }
    }

    /// The app sent a part of a value that goes to another app.
    pub(super) fn value_read(&mut self, reply: AppReply, context: &RunContext<'_>) -> RunOutput {
        let Phase::LookingUp(Lookup::Value { object, shown, path, mut data }) =
            mem::take(&mut self.phase)
        else {
            return self.lost();
        };
        let chunk = match chunk(reply, &shown, &object) {
            Ok(chunk) => chunk,
            Err(fault) => return self.end(StepStatus::Failed, fault),
        };
        if chunk.total > COPY_MAX as u64 {
            let fault = Fault::refused(format!(
                "{shown} has {} bytes; at most {COPY_MAX} pass from app to app",
                chunk.total
            ));
            return self.end(StepStatus::Failed, fault.hint("pass it in parts"));
        }
        if path {
            let Some(path) = chunk.path else {
                let fault = Fault::usage(format!("{shown} of {} has no path", object.session))
                    .hint(format!("pipemux read {shown}"));
                return self.end(StepStatus::Failed, fault);
            };
            return self.copied(object, true, Value::Str(path), context);
        }
        data.extend_from_slice(&chunk.data);
        match is_complete(&chunk, data.len(), &shown) {
            Ok(true) => {}
            Ok(false) => {
                return self.look_up(Lookup::Value { object, shown, path, data }, context);
            }
            Err(fault) => return self.end(StepStatus::Failed, fault),
        }
        let value = match String::from_utf8(data) {
            Ok(text) => Value::Str(text),
            Err(error) => Value::Bin(error.into_bytes().into()),
        };
        self.copied(object, false, value, context)
    }

    /// Goes on with the value or the path of an object.
    fn copied(
        &mut self,
        object: ResolvedObject,
        path: bool,
        value: Value,
        context: &RunContext<'_>,
    ) -> RunOutput {
        let ResolvedObject { session, key, label, .. } = object;
        let copied = Copied {
            value: value.to_blob(),
            from: session.to_string(),
            label: data::exact(&label),
        };
        self.looked_up.copies.insert((session, key, path), copied);
        self.advance(context)
    }
}

/// Returns true when the parts of a value that came so far, of that length together, are all of it.
///
/// # Errors
/// The app sent nothing more before the end, or more than it said: what came isn't the value.
pub fn is_complete(chunk: &Chunk, length: usize, shown: &str) -> Result<bool, Fault> {
    let total = chunk.total;
    match (length as u64).cmp(&total) {
        Ordering::Equal => Ok(true),
        Ordering::Less if !chunk.data.is_empty() => Ok(false),
        Ordering::Less | Ordering::Greater => Err(Fault::failed(format!(
            "the value of {shown} is not what its app says: {total} bytes are announced, {length} came"
        ))
        .hint("try again; if it stays so, the app has an error: pipemux sessions")),
    }
}

/// The request for the next part of an object's value.
pub fn read_request(object: &ResolvedObject, offset: usize) -> ReadRequest {
    let (key, rev) = (object.key.clone(), object.rev);
    ReadRequest { key, rev, offset: offset as u64, max: READ_CHUNK, path: false }
}

/// Reads a reply to `Locate` about one object.
///
/// # Errors
/// The exact sentence, when the object isn't shown or the app doesn't answer in time; why the app can't tell,
/// when it says so.
pub fn located(reply: AppReply, shown: &str, by: Speaker<'_>) -> Result<(), Fault> {
    let place = match reply {
        AppReply::Reply(body) => intake::read_said::<Located>(&body, by)
            .ok()
            .and_then(|located| located.places.into_iter().next()),
        AppReply::Fault(fault) => return Err(fault),
        // No answer in time means out of view.
        AppReply::Lost { .. } => None,
    };
    match place {
        Some(KeyLocation::Shown) => Ok(()),
        Some(KeyLocation::Hidden(how)) => {
            Err(ref_errors::out_of_view(shown, Some(quote::in_hint(&how))))
        }
        Some(KeyLocation::Gone(why)) => {
            Err(ref_errors::not_found(shown, why.as_ref().map(quote::in_hint)))
        }
        None => Err(ref_errors::out_of_view(shown, Some("pipemux view".to_owned()))),
    }
}

/// Says what a ref is: `obj:7 is "Slime 1", of type enemy`.
fn described(shown: &str, object: &ResolvedObject) -> String {
    let of_type = object.ty.as_ref().map_or(String::new(), |ty| format!(", of type {ty}"));
    format!("{shown} is {:?}{of_type}", quote::in_sentence(&object.label))
}

/// Reads a reply to `ReadRequest` for an object.
///
/// # Errors
/// Why there is no value.
pub fn chunk(reply: AppReply, shown: &str, object: &ResolvedObject) -> Result<Chunk, Fault> {
    match reply {
        AppReply::Reply(body) => intake::read::<Chunk>(&body).map_err(|error| {
            Fault::unavailable(format!("an unreadable value of {shown}: {error}"))
        }),
        AppReply::Fault(fault) => Err(match fault.code {
            Code::Stale => ref_errors::stale(shown),
            Code::NotFound => ref_errors::not_found(shown, fault.hints.into_iter().next()),
            _ => Fault {
                message: format!("{}: {}", described(shown, object), fault.message),
                ..fault
            },
        }),
        AppReply::Lost { why, hints, .. } => {
            let mut fault = Fault::unavailable(why);
            fault.hints = hints;
            Err(fault)
        }
    }
}
