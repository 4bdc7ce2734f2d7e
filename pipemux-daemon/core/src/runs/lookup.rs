//! What must be looked up before a step can run: where an object is that its window doesn't show, and values
//! that go from one app to another.

use std::cmp::Ordering;
use std::mem;

use pipemux_proto::app::{Chunk, Locate, ReadRequest};
use pipemux_proto::limits::{COPY_MAX, READ_CHUNK, VALUE_FILE_MAX};
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
                let (key, project) = window.whole(&self.reader);
                RunOutput::Refresh { session: session.clone(), key, project }
            }
            Lookup::Location { session, key, .. } => {
                let locate = Locate {
                    keys: vec![key.clone()],
                    reader: self.reader.clone(),
                    ..Locate::default()
                };
                RunOutput::Locate { session: session.clone(), locate }
            }
            Lookup::Value { object, data, path, file, .. } => {
                let offset = file.as_ref().map_or(data.len() as u64, |file| file.length);
                let read = ReadRequest { path: *path, ..read_request(object, offset) };
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
        let Phase::LookingUp(Lookup::Value { object, shown, path, receiver, mut data, file }) =
            mem::take(&mut self.phase)
        else {
            return self.lost();
        };
        let chunk = match chunk(reply, &shown, &object) {
            Ok(chunk) => chunk,
            Err(fault) => return self.end(StepStatus::Failed, fault),
        };
        if !path && (chunk.total > COPY_MAX as u64 || file.is_some()) {
            let asked = self.looked_up.windows.contains(&receiver);
            let is_open = context.workspace.window(&receiver).is_some();
            if !asked && is_open && !context.has_greeted(&receiver) {
                // A daemon that just began doesn't know what the app takes until it has started it.
                return self.look_up(Lookup::Window { session: receiver }, context);
            }
            let most = match context.takes_value_files(&receiver) {
                true => VALUE_FILE_MAX,
                false => COPY_MAX as u64,
            };
            if chunk.total > most {
                let fault = Fault::refused(format!(
                    "{shown} has {} bytes; at most {most} pass from app to app",
                    chunk.total
                ));
                return self.end(StepStatus::Failed, fault.hint("pass it in parts"));
            }
            let file = file.unwrap_or_default();
            let lookup = Lookup::Value { object, shown, path, receiver, data, file: Some(file) };
            return self.store_part(lookup, chunk);
        }
        if path {
            let Some(path) = chunk.path else {
                let fault = Fault::usage(format!("{shown} of {} has no path", object.session))
                    .hint(format!("pipemux read {shown}"));
                return self.end(StepStatus::Failed, fault);
            };
            return self.copied(*object, true, Value::Str(path), None, context);
        }
        data.extend_from_slice(&chunk.data);
        match is_complete(&chunk, data.len(), &shown) {
            Ok(true) => {}
            Ok(false) => {
                let lookup = Lookup::Value { object, shown, path, receiver, data, file: None };
                return self.look_up(lookup, context);
            }
            Err(fault) => return self.end(StepStatus::Failed, fault),
        }
        let value = match String::from_utf8(data) {
            Ok(text) => Value::Str(text),
            Err(error) => Value::Bin(error.into_bytes().into()),
        };
        self.copied(*object, false, value, None, context)
    }

    /// Has a part of a long value written into a file of the session that it goes to.
    fn store_part(&mut self, mut lookup: Lookup, chunk: Chunk) -> RunOutput {
        let Lookup::Value { shown, receiver, file: Some(file), .. } = &mut lookup else {
            return self.lost();
        };
        let (offset, path) = (file.length, file.path.clone());
        file.length += chunk.data.len() as u64;
        file.total = chunk.total;
        // A value that became shorter or longer meanwhile isn't the one that was asked for.
        let announced = usize::try_from(file.length).unwrap_or(usize::MAX);
        if let Err(fault) = is_complete(&chunk, announced, shown) {
            return self.end(StepStatus::Failed, fault);
        }
        let output = RunOutput::Store { session: receiver.clone(), path, offset, data: chunk.data };
        self.phase = Phase::LookingUp(lookup);
        output
    }

    /// A part of a long value was written to this file, or couldn't be.
    pub(super) fn value_stored(
        &mut self,
        stored: Result<String, String>,
        context: &RunContext<'_>,
    ) -> RunOutput {
        let Phase::LookingUp(Lookup::Value {
            object,
            shown,
            path,
            receiver,
            data,
            file: Some(mut file),
        }) = mem::take(&mut self.phase)
        else {
            return self.lost();
        };
        match stored {
            Ok(at) => {
                if file.path.is_none() {
                    self.value_files.push(at.clone());
                }
                file.path = Some(at.clone());
                if file.length == file.total {
                    return self.copied(*object, path, Value::Null, Some(at), context);
                }
                let lookup =
                    Lookup::Value { object, shown, path, receiver, data, file: Some(file) };
                self.look_up(lookup, context)
            }
            Err(why) => {
                let fault = Fault::unavailable(format!("{shown} can't be passed as a file: {why}"));
                self.end(StepStatus::Failed, fault.hint("pipemux doctor"))
            }
        }
    }

    /// Returns the files with values that were written for the run, to be removed.
    pub fn take_value_files(&mut self) -> Vec<String> {
        mem::take(&mut self.value_files)
    }

    /// Goes on with the value or the path of an object.
    fn copied(
        &mut self,
        object: ResolvedObject,
        path: bool,
        value: Value,
        file: Option<String>,
        context: &RunContext<'_>,
    ) -> RunOutput {
        let ResolvedObject { session, key, label, .. } = object;
        let copied = Copied {
            value: value.to_blob(),
            from: session.to_string(),
            label: data::exact(&label),
            file,
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
pub fn read_request(object: &ResolvedObject, offset: u64) -> ReadRequest {
    let (key, rev) = (object.key.clone(), object.rev);
    ReadRequest { key, rev, offset, max: READ_CHUNK, path: false }
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
