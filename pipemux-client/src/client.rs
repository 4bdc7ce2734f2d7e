//! A client on tokio: many requests in flight over one connection, which `multiplexed` shares among
//! them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pipemux_proto::app::Progress;
use pipemux_proto::client::{Answer, Verb, VerbRequest};
use pipemux_proto::deadline;
use pipemux_proto::limits::EXCHANGE_MAX;
use pipemux_proto::{Code, Incarnation, SessionAddr};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout_at;

use crate::blocking::{REPLY_GRACE, SEEN_TIMEOUT};
use crate::connect;
use crate::error::ClientError;
use crate::incoming::{RawReply, decode_answer, decode_attached};
use crate::multiplexed::{LostRequest, MultiplexedConnection, PENDING_MAX};
use crate::options::Options;
use crate::requests::{self, RequestBytes};

/// Most bytes of requests that one connection holds; further calls wait for room.
pub const IN_FLIGHT_BYTES: usize = 16 * 1024 * 1024;

/// The least charge of a request, which limits concurrent requests to 1024.
const REQUEST_MIN: usize = IN_FLIGHT_BYTES / 1024;

/// Most bytes of exchanges that one connection has in flight, in at most 256 exchanges; further
/// ones wait. The daemon accepts no more than that from one client.
pub const EXCHANGED_BYTES: usize = 2 * 1024 * 1024;

/// The least charge of an exchange, which limits concurrent exchanges to 256.
const EXCHANGE_MIN: usize = EXCHANGED_BYTES / 256;
// Every request that these budgets allow has a slot in the table of pending requests.
const _: () =
    assert!(IN_FLIGHT_BYTES / REQUEST_MIN + EXCHANGED_BYTES / EXCHANGE_MIN <= PENDING_MAX);

/// A connection for many calls at once. Clones share it, and it closes with the last one. A lost
/// connection is not restored: connect again.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: Options,
    connection: MultiplexedConnection,
    /// Bounds the requests in flight, in units of [`REQUEST_MIN`].
    request_budget: Semaphore,
    /// Bounds the exchanges in flight, in units of [`EXCHANGE_MIN`].
    exchange_budget: Semaphore,
}

impl Client {
    /// Connects, and starts the daemon if it is not running and [`Options::start`] allows it.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`], [`ClientError::VersionMismatch`].
    pub async fn connect(options: &Options) -> Result<Client, ClientError> {
        let for_thread = options.clone();
        // Starting a daemon blocks, so it happens on a thread that may block.
        let (stream, reader) = tokio::task::spawn_blocking(move || connect::open(&for_thread))
            .await
            .map_err(|error| ClientError::unreachable(error.to_string()))??;
        let connection = MultiplexedConnection::start(stream, reader).map_err(|error| {
            ClientError::unreachable(format!("the connection can't be used: {error}"))
        })?;
        let shared = Shared {
            options: options.clone(),
            connection,
            request_budget: Semaphore::new(IN_FLIGHT_BYTES / REQUEST_MIN),
            exchange_budget: Semaphore::new(EXCHANGED_BYTES / EXCHANGE_MIN),
        };
        Ok(Client { shared: Arc::new(shared) })
    }

    /// Sends a verb with the workspace and reader of the options, and returns the answer as
    /// Markdown. Dropping the future cancels the request: steps that have not begun are not
    /// started.
    ///
    /// # Errors
    /// See [`Client::send`].
    pub async fn call(&self, verb: Verb) -> Result<Answer, ClientError> {
        let options = &self.shared.options;
        self.send(&options.call(verb), options.timeout).await
    }

    /// Sends a call that states everything: workspace, reader, format and budget. `timeout` is the
    /// daemon's deadline.
    ///
    /// # Errors
    /// Any [`ClientError`]; [`ClientError::OutcomeUnknown`] when an acting call may have reached
    /// the daemon and no answer came.
    pub async fn send(&self, call: &VerbRequest, timeout: Duration) -> Result<Answer, ClientError> {
        self.send_with_progress(call, timeout, drop).await
    }

    /// Sends a call as [`Client::send`] does; `on_progress` is called with how far the request is,
    /// if [`Options::progress`] is set. It must not block.
    ///
    /// # Errors
    /// See [`Client::send`].
    pub async fn send_with_progress(
        &self,
        call: &VerbRequest,
        timeout: Duration,
        on_progress: impl FnMut(Progress),
    ) -> Result<Answer, ClientError> {
        let acts = call.verb.changes();
        let encode = |id| requests::call(id, call, timeout);
        let reply =
            self.request(timeout.saturating_add(REPLY_GRACE), acts, encode, on_progress).await?;
        decode_answer(reply, acts)
    }

    /// Confirms that the answer of this delivery reached its reader. Later answers then tell only
    /// what has changed since. A delivery of 0 needs no confirmation.
    ///
    /// # Errors
    /// The daemon is gone or slow. The reader is then shown some things again; nothing is lost.
    pub async fn seen(&self, delivery: u64) -> Result<(), ClientError> {
        if delivery == 0 {
            return Ok(());
        }
        let encode = |id| requests::seen(id, delivery, SEEN_TIMEOUT);
        let reply = self.request(SEEN_TIMEOUT, false, encode, drop).await?;
        reply.map(drop).map_err(ClientError::Refused)
    }

    /// Attaches to an open session of the options' workspace, for exchanges with its app. Starts
    /// its process if it has none.
    ///
    /// # Errors
    /// Any [`ClientError`]; [`ClientError::Refused`] when there is no such session, or it can't be
    /// started.
    pub async fn attach(&self, session: &SessionAddr) -> Result<Attached, ClientError> {
        let options = &self.shared.options;
        let encode = |id| requests::attach(id, &options.workspace, session, options.timeout);
        let reply =
            self.request(options.timeout.saturating_add(REPLY_GRACE), false, encode, drop).await?;
        let incarnation = decode_attached(&reply.map_err(ClientError::Refused)?)?;
        Ok(Attached { client: self.clone(), incarnation, timeout: options.timeout })
    }

    async fn request(
        &self,
        timeout: Duration,
        acts: bool,
        encode: impl FnOnce(u64) -> Result<Bytes, ClientError>,
        on_progress: impl FnMut(Progress),
    ) -> Result<RawReply, ClientError> {
        // Each is charged the same: the length of a request isn't known before it has its id.
        let _permit = acquire(&self.shared.request_budget, 1, timeout).await?;
        let encode = |id| {
            encode(id).map(RequestBytes::Frame).map_err(|error| SendError::Encode(error.into()))
        };
        match self.shared.connection.send(timeout, encode, Bytes::new()) {
            Ok(pending) => {
                pending.reply(on_progress).await.map_err(|lost| lost_request(lost, acts))
            }
            Err(SendError::Encode(error)) => Err(*error),
            Err(SendError::Lost(lost)) => Err(lost_request(lost, acts)),
        }
    }
}

/// One incarnation of a session, for exchanges: bytes that its app answers and the daemon doesn't
/// read. Many may be in flight at once; they reach the app in the order in which they are sent.
#[derive(Debug, Clone)]
pub struct Attached {
    client: Client,
    incarnation: Incarnation,
    timeout: Duration,
}

impl Attached {
    /// Sets another deadline for each exchange.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Returns the incarnation that this is attached to.
    pub fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// Sends at most [`EXCHANGE_MAX`] bytes and waits for the app's answer. Dropping the future
    /// cancels the exchange. Once the session's process has ended, attach again.
    ///
    /// # Errors
    /// [`ClientError::OutcomeUnknown`] when the app may have acted on it and no answer came;
    /// [`ClientError::Refused`] with the app's reason, or with [`Code::Unavailable`] when it was
    /// not delivered; [`ClientError::Unreachable`] when it did not reach the daemon.
    pub async fn exchange(&self, body: impl Into<Bytes>) -> Result<Bytes, ClientError> {
        let body = body.into();
        if body.len() > EXCHANGE_MAX {
            let message = format!(
                "the exchange has {} bytes; at most {EXCHANGE_MAX} are allowed",
                body.len()
            );
            return Err(ClientError::invalid(message).hint("split it over several exchanges"));
        }
        let shared = &self.client.shared;
        let units = body.len().div_ceil(EXCHANGE_MIN).max(1);
        let _permit =
            acquire(&shared.exchange_budget, units, self.timeout.saturating_add(REPLY_GRACE))
                .await?;
        let (incarnation, timeout, length) = (self.incarnation, self.timeout, body.len());
        let encode = |id| {
            let head = requests::exchange(id, incarnation, length, timeout);
            head.map(RequestBytes::Head).map_err(|error| SendError::Encode(error.into()))
        };
        let pending =
            match shared.connection.send(timeout.saturating_add(REPLY_GRACE), encode, body) {
                Ok(pending) => pending,
                Err(SendError::Encode(error)) => return Err(*error),
                Err(SendError::Lost(lost)) => return Err(lost_request(lost, true)),
            };
        match pending.reply(drop).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(fault)) if fault.code == Code::Unknown => {
                Err(ClientError::OutcomeUnknown(fault))
            }
            Ok(Err(fault)) => Err(ClientError::Refused(fault)),
            Err(lost) => Err(lost_request(lost, true)),
        }
    }
}

/// The reason why a request was not sent.
enum SendError {
    Encode(Box<ClientError>),
    Lost(LostRequest),
}

impl From<LostRequest> for SendError {
    fn from(lost: LostRequest) -> Self {
        SendError::Lost(lost)
    }
}

async fn acquire(
    budget: &Semaphore,
    units: usize,
    timeout: Duration,
) -> Result<Option<SemaphorePermit<'_>>, ClientError> {
    let units = u32::try_from(units).unwrap_or(u32::MAX);
    if let Ok(permit) = budget.try_acquire_many(units) {
        return Ok(Some(permit));
    }
    match timeout_at(deadline::after(timeout).into(), budget.acquire_many(units)).await {
        Ok(Ok(permit)) => Ok(Some(permit)),
        _ => {
            let full = "too many requests on this connection are waiting for their answers";
            Err(ClientError::unreachable(full).hint("wait for some of them to complete"))
        }
    }
}

fn lost_request(lost: LostRequest, acts: bool) -> ClientError {
    match lost {
        LostRequest::NotSent(why) => {
            ClientError::unreachable(format!("{why}; the request was not sent"))
                .hint("connect again and send it again")
        }
        LostRequest::MaybeDelivered(why) => ClientError::lost(acts, &why),
    }
}
