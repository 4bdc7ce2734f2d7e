//! A client's request that has no answer yet.

use pipemux_proto::client::VerbRequest;
use pipemux_proto::envelope::Envelope;

use crate::audit::AuditNotes;
use crate::clients::idempotency::ActKey;
use crate::event::ClientId;
use crate::keys::{RequestId, WorkspaceKey};

#[derive(Debug)]
pub struct ClientRequest {
    pub id: RequestId,
    pub client: ClientId,
    pub envelope: Envelope,
    /// The request; its verb is kept for how it is answered.
    pub call: VerbRequest,
    /// The workspace in which the request acts.
    pub workspace: WorkspaceKey,
    /// What it is known by if it is an acting one.
    pub(super) key: ActKey,
    /// The deadline for the answer, on the monotonic clock.
    pub deadline: u64,
    /// The length of the request's body, in bytes.
    pub length: usize,
    /// True once the request's *begun* record is written: a later daemon that finds the record
    /// without an answer knows that the request may have acted.
    pub recorded: bool,
    /// The time of the last progress report to the client, on the monotonic clock.
    pub progress_at: Option<u64>,
    /// An additional remark in the answer.
    pub remark: Option<String>,
    /// Additional information for the audit log.
    pub audit: AuditNotes,
}

/// Returns the time limit of a request in milliseconds: `deadline_ms` less a tenth, but at most 500
/// ms less, so that the answer arrives before the client gives up. Returns `otherwise` if the
/// client named no deadline (0).
pub fn patience(deadline_ms: u32, otherwise: u64) -> u64 {
    match deadline_ms {
        0 => otherwise,
        given => u64::from(given).saturating_sub(u64::from(given / 10).min(500)).max(1),
    }
}
