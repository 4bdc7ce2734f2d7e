//! A value that is being read from an app.

use pipemux_proto::refs::Ref;

use crate::keys::SessionKey;
use crate::scripts::resolve_ref::{RefScope, ResolvedObject};

/// A value that is being read from an app, part by part.
#[derive(Debug)]
pub(crate) struct ValueRead {
    /// The ref that the reader gave.
    pub target: Ref,
    /// The object that the ref leads to; none while it is being located.
    pub object: Option<ResolvedObject>,
    /// The meaning of refs to the reader when the request came.
    pub refs: RefScope,
    /// The object that its app was asked to locate, if any.
    pub located: Vec<(SessionKey, String)>,
    /// The parts that have arrived.
    pub data: Vec<u8>,
}
