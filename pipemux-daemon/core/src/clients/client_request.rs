//! A client's request that has no answer yet.

use pipemux_proto::client::VerbRequest;
use pipemux_proto::envelope::Envelope;

use crate::audit::AuditNotes;
use crate::clients::idempotency::ActKey;
use crate::event::ClientId;
use crate::keys::WorkspaceKey;

/// A client's request.
#[derive(Debug)]
pub struct ClientRequest {
    /// Who asked.
    pub client: ClientId,
    /// The request's envelope.
    pub envelope: Envelope,
    /// What was asked; the verb is kept for how it is answered.
    pub call: VerbRequest,
    /// The workspace that it is about.
    pub workspace: WorkspaceKey,
    /// What it is known by if it is an acting one.
    pub(super) key: ActKey,
    /// When it must be answered, on the monotonic clock.
    pub deadline: u64,
    /// The length of its body, in bytes.
    pub length: usize,
    /// True once its record *begun* is written: a later daemon that finds no answer to it knows
    /// that it may have acted.
    pub recorded: bool,
    /// When its client was last told of its progress, on the monotonic clock.
    pub progress_at: Option<u64>,
    /// What is said in the answer besides.
    pub remark: Option<String>,
    /// What the audit log tells of it besides.
    pub audit: AuditNotes,
}

/// How long a request may take, in milliseconds: the answer has to be there before the client gives
/// up, which it does after `deadline_ms`; 0: it named none.
pub fn patience(deadline_ms: u32, otherwise: u64) -> u64 {
    match deadline_ms {
        0 => otherwise,
        given => u64::from(given).saturating_sub(u64::from(given / 10).min(500)).max(1),
    }
}
