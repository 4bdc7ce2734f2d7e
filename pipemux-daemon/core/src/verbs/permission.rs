//! Checks whether a request may act.

use pipemux_proto::Fault;

use crate::clients::Clients;
use crate::clients::client_request::ClientRequest;
use crate::clients::idempotency::ActKey;
use crate::keys::RequestId;
use crate::pauses::Pauses;
use crate::persist::DiskFailure;
use crate::rules::Rules;

/// What may keep a request from acting.
#[derive(Clone, Copy)]
pub(crate) struct ActPermission<'a> {
    pub rules: &'a Rules,
    pub pauses: &'a Pauses,
    /// Why the disk doesn't take what is to be written down.
    pub disk_failure: Option<&'a DiskFailure>,
    pub unix_ms: u64,
}

impl ActPermission<'_> {
    /// Returns why a request may not act, if the settings forbid it or a pause holds its reader.
    pub(crate) fn refusal(&self, request: &ClientRequest) -> Option<Fault> {
        let reader = &request.call.reader;
        let refusal = self.rules.refusal(reader);
        refusal.or_else(|| self.pauses.refusal(&request.workspace, reader, self.unix_ms))
    }

    /// Checks that a request has begun to act, or may begin to; the caller must then record that it
    /// does.
    ///
    /// # Errors
    /// The request isn't permitted, or the daemon can't write to the disk. Nothing took effect, and
    /// the client may retry under the same id.
    pub(crate) fn check(&self, clients: &mut Clients, id: RequestId) -> Result<(), Fault> {
        let Some(request) = clients.request(id).filter(|request| !request.recorded) else {
            return Ok(());
        };
        let fault = self.refusal(request).or_else(|| {
            let DiskFailure { why, next } = self.disk_failure?;
            let why = format!("the daemon can't write its state down ({why})");
            Some(Fault::refused(why).hint(next))
        });
        let Some(fault) = fault else { return Ok(()) };
        let key = ActKey::of(&request.call);
        clients.forget_act(&key);
        Err(fault)
    }
}
