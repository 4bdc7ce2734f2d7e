//! What must be looked up before a step can run: where an object is that its window doesn't show,
//! and values that go from one app to another.

use std::cmp::Ordering;

use pipemux_proto::app::{Chunk, Locate, ReadRequest};
use pipemux_proto::limits::{COPY_MAX, READ_CHUNK, VALUE_FILE_MAX};
use pipemux_proto::projection::Copied;
use pipemux_proto::{Code, Fault, Value};

use crate::foreign::{KeyLocation, Located, Speaker, data, quote};
use crate::intake;
use crate::processes::reply::AppReply;
use crate::runs::phase::{Lookup, ValueFile, ValueLookup};
use crate::runs::protocol::{LookupRequest, RunOutput};
use crate::scripts::ref_errors;
use crate::scripts::resolve_ref::ResolvedObject;
use crate::workspaces::Workspace;

/// The next step of a lookup.
pub(super) enum LookupStep {
    /// Something else is looked up, or the next part of it.
    LookUp(Lookup),
    /// Write a part of the value to its file.
    Store(ValueLookup, RunOutput),
    /// The value, or its path, is available.
    Copied(ValueLookup, Copied),
}

/// Returns the request for what is looked up.
///
/// # Errors
/// The window that would tell was closed.
pub(super) fn lookup_request(
    lookup: &Lookup,
    workspace: &Workspace,
    reader: &str,
) -> Result<RunOutput, Fault> {
    Ok(match lookup {
        Lookup::Window { session } => {
            let window = workspace.window(session).ok_or_else(|| {
                Fault::unavailable(format!("the window of {session} was closed meanwhile"))
            })?;
            let (key, project) = window.whole(reader);
            RunOutput::LookUp(LookupRequest::Refresh { session: session.clone(), key, project })
        }
        Lookup::Location { session, key, .. } => {
            let (keys, reader) = (vec![key.clone()], reader.to_owned());
            let locate = Locate { keys, reader, ..Locate::default() };
            RunOutput::LookUp(LookupRequest::Locate { session: session.clone(), locate })
        }
        Lookup::Value(ValueLookup { object, data, path, file, .. }) => {
            let offset = file.as_ref().map_or(data.len() as u64, |file| file.length);
            let read = ReadRequest { path: *path, ..read_request(object, offset) };
            RunOutput::LookUp(LookupRequest::Read { session: object.session.clone(), read })
        }
    })
}

impl ValueLookup {
    /// Takes the next part of the value. A receiver whose app is `unknown` has to be started before
    /// it is known whether it takes files.
    ///
    /// # Errors
    /// There is no value, or it is too long to be passed.
    pub(super) fn take_part(
        mut self,
        reply: AppReply,
        is_unknown: bool,
        takes_files: bool,
    ) -> Result<LookupStep, Fault> {
        let chunk = chunk(reply, &self.shown, &self.object)?;
        if !self.path && (chunk.total > COPY_MAX as u64 || self.file.is_some()) {
            if is_unknown {
                return Ok(LookupStep::LookUp(Lookup::Window { session: self.receiver }));
            }
            return self.store_part(chunk, takes_files);
        }
        if self.path {
            let Some(path) = chunk.path else {
                let message = format!("{} of {} has no path", self.shown, self.object.session);
                let hint = format!("pipemux read {}", self.shown);
                return Err(Fault::usage(message).hint(hint));
            };
            return Ok(self.copied(Value::Str(path), None));
        }
        self.data.extend_from_slice(&chunk.data);
        if !is_complete(&chunk, self.data.len(), &self.shown)? {
            return Ok(LookupStep::LookUp(Lookup::Value(self)));
        }
        let value = match String::from_utf8(std::mem::take(&mut self.data)) {
            Ok(text) => Value::Str(text),
            Err(error) => Value::Bin(error.into_bytes().into()),
        };
        Ok(self.copied(value, None))
    }

    /// Has a part of a long value written into a file of the session that it goes to.
    fn store_part(mut self, chunk: Chunk, takes_files: bool) -> Result<LookupStep, Fault> {
        let most = if takes_files { VALUE_FILE_MAX } else { COPY_MAX as u64 };
        if chunk.total > most {
            let (shown, total) = (&self.shown, chunk.total);
            let why = format!("{shown} has {total} bytes; at most {most} pass from app to app");
            return Err(Fault::refused(why).hint("pass it in parts"));
        }
        let mut file = self.file.take().unwrap_or_default();
        let (offset, path) = (file.length, file.path.clone());
        file.length += chunk.data.len() as u64;
        file.total = chunk.total;
        // A value that became shorter or longer meanwhile isn't the one that was asked for.
        let announced = usize::try_from(file.length).unwrap_or(usize::MAX);
        is_complete(&chunk, announced, &self.shown)?;
        let session = self.receiver.clone();
        let output =
            RunOutput::LookUp(LookupRequest::Store { session, path, offset, data: chunk.data });
        Ok(LookupStep::Store(Self { file: Some(file), ..self }, output))
    }

    /// Continues after a part of a long value was written to a file, or couldn't be written.
    ///
    /// # Errors
    /// The part couldn't be written.
    pub(super) fn stored(
        mut self,
        mut file: ValueFile,
        stored: Result<String, String>,
    ) -> Result<LookupStep, Fault> {
        let path = stored.map_err(|why| {
            let message = format!("{} can't be passed as a file: {why}", self.shown);
            Fault::unavailable(message).hint("pipemux doctor")
        })?;
        if file.length == file.total {
            return Ok(self.copied(Value::Null, Some(path)));
        }
        file.path = Some(path);
        self.file = Some(file);
        Ok(LookupStep::LookUp(Lookup::Value(self)))
    }

    fn copied(self, value: Value, file: Option<String>) -> LookupStep {
        let (from, label) = (self.object.session.to_string(), data::exact(&self.object.label));
        LookupStep::Copied(self, Copied { value: value.to_blob(), from, label, file })
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
/// The exact sentence, when the object isn't shown or the app doesn't answer in time; why the app
/// can't tell, when it says so.
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
