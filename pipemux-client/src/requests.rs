//! Encodes what a client sends. Functions here return whole frames and do no IO.

use std::time::Duration;

use bytes::Bytes;
use pipemux_proto::client::{Attach, DeliveryAck, VerbRequest, Workspace};
use pipemux_proto::codec::EncodeError;
use pipemux_proto::envelope::{Kind, Method};
use pipemux_proto::frame::FrameHead;
use pipemux_proto::hello::PROGRESS;
use pipemux_proto::{Envelope, Frame, Hello, Incarnation, Role, SessionAddr};
use serde::Serialize;

use crate::error::ClientError;

/// An encoded request, or the part of it that precedes the body.
pub(crate) enum RequestBytes {
    /// The head of a frame; the body follows separately and is not copied.
    Head(FrameHead),
    /// A complete frame.
    Frame(Bytes),
}

impl RequestBytes {
    /// Returns the number of encoded bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            RequestBytes::Head(head) => head.len(),
            RequestBytes::Frame(frame) => frame.len(),
        }
    }
}

/// Encodes the client's greeting, which must be the first frame of a connection. With `progress`,
/// it asks for the progress of its requests.
pub(crate) fn hello(progress: bool) -> Result<Bytes, ClientError> {
    let software = concat!("pipemux ", env!("CARGO_PKG_VERSION"));
    let envelope = Envelope::event(Method::Hello, Incarnation(0));
    let features = if progress { vec![PROGRESS.to_owned()] } else { Vec::new() };
    let hello = Hello { features, ..Hello::new(Role::Client, software) };
    Frame::encode(&envelope, &hello).map_err(unsendable)
}

/// Encodes a verb. The caller chooses an id that is unique on the connection.
pub(crate) fn call(id: u64, call: &VerbRequest, timeout: Duration) -> Result<Bytes, ClientError> {
    request(Method::Verb, id, call, timeout)
}

/// Encodes the confirmation that an answer was written out, as a request that the daemon replies
/// to.
pub(crate) fn seen(id: u64, delivery: u64, timeout: Duration) -> Result<Bytes, ClientError> {
    request(Method::Seen, id, &DeliveryAck { delivery }, timeout)
}

/// Encodes the same confirmation as an event, to be the connection's last frame: the daemon records
/// it, sends no reply and closes. Daemons that do not announce the feature ignore it.
pub(crate) fn final_seen(delivery: u64) -> Result<Bytes, ClientError> {
    let envelope = Envelope::event(Method::Seen, Incarnation(0));
    Frame::encode(&envelope, &DeliveryAck { delivery }).map_err(unsendable)
}

/// Encodes a request to attach to a session for exchanges.
pub(crate) fn attach(
    id: u64,
    workspace: &Workspace,
    session: &SessionAddr,
    timeout: Duration,
) -> Result<Bytes, ClientError> {
    let attach = Attach { workspace: workspace.clone(), session: session.clone() };
    request(Method::Attach, id, &attach, timeout)
}

/// Encodes the head of an exchange whose body has `length` bytes.
pub(crate) fn exchange(
    id: u64,
    incarnation: Incarnation,
    length: usize,
    timeout: Duration,
) -> Result<FrameHead, ClientError> {
    let mut envelope = Envelope::request(Method::Exchange, id, incarnation);
    envelope.deadline_ms = milliseconds(timeout);
    Frame::head(&envelope, length).map_err(unsendable)
}

/// Encodes the cancellation of the request with this id.
pub(crate) fn cancel(id: u64) -> Result<Bytes, ClientError> {
    let mut envelope = Envelope::request(Method::Verb, id, Incarnation(0));
    envelope.kind = Kind::Cancel;
    Frame::encode(&envelope, &pipemux_proto::app::Empty {}).map_err(unsendable)
}

fn request<T: Serialize>(
    method: Method,
    id: u64,
    body: &T,
    timeout: Duration,
) -> Result<Bytes, ClientError> {
    let mut envelope = Envelope::request(method, id, Incarnation(0));
    envelope.deadline_ms = milliseconds(timeout);
    Frame::encode(&envelope, body).map_err(unsendable)
}

fn milliseconds(timeout: Duration) -> u32 {
    u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX).max(1)
}

fn unsendable(error: EncodeError) -> ClientError {
    ClientError::invalid(error.to_string())
        .hint("put long text into a file that an app opens, or split it over several runs")
}
