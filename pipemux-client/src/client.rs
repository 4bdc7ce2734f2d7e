//! A client on tokio: many requests in flight over one connection.
//!
//! What they share is in `link`: a call leaves its request there and waits for its end.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pipemux_proto::client::{Answer, Call, Verb};
use pipemux_proto::limits::EXCHANGE_MAX;
use pipemux_proto::{Code, Incarnation, SessionAddr};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};

use crate::blocking::{GRACE, SEEN_DEADLINE};
use crate::connect;
use crate::error::ClientError;
use crate::link::{Link, Lost, PLACES_MAX};
use crate::options::Options;
use crate::wire::{Ended, Start, Wire, answer_of};

/// Most bytes of requests that one connection holds; further calls wait for room.
pub const IN_FLIGHT_BYTES: usize = 16 * 1024 * 1024;

/// What a request counts at least, so that there are at most 1024 at once.
const REQUEST_MIN: usize = IN_FLIGHT_BYTES / 1024;

/// Most bytes of exchanges that one connection has under way, and at most 256 of them; further ones wait.
/// The daemon takes no more than that of one client.
pub const EXCHANGED_BYTES: usize = 2 * 1024 * 1024;

/// What an exchange counts at least.
const EXCHANGE_MIN: usize = EXCHANGED_BYTES / 256;
// Every request that these let through has a number of its own.
const _: () = assert!(IN_FLIGHT_BYTES / REQUEST_MIN + EXCHANGED_BYTES / EXCHANGE_MIN <= PLACES_MAX);

/// A connection for many calls at once. Clones share it; it closes with the last one. A lost
/// connection stays lost: connect again.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: Options,
    link: Link,
    /// Bounds what waits for its answer, in units of [`REQUEST_MIN`].
    room: Semaphore,
    /// The same for exchanges, in units of [`EXCHANGE_MIN`].
    exchange_room: Semaphore,
}

impl Client {
    /// Connects, and starts the daemon when it isn't up and [`Options::start`] allows it.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`], [`ClientError::Version`].
    pub async fn connect(options: &Options) -> Result<Client, ClientError> {
        let for_thread = options.clone();
        // Starting a daemon blocks, so it happens on a thread that may.
        let (stream, wire) = tokio::task::spawn_blocking(move || connect::open(&for_thread))
            .await
            .map_err(|error| ClientError::unreachable(error.to_string()))??;
        let link = Link::start(stream, wire).map_err(|error| {
            ClientError::unreachable(format!("the connection can't be used: {error}"))
        })?;
        let shared = Shared {
            options: options.clone(),
            link,
            room: Semaphore::new(IN_FLIGHT_BYTES / REQUEST_MIN),
            exchange_room: Semaphore::new(EXCHANGED_BYTES / EXCHANGE_MIN),
        };
        Ok(Client { shared: Arc::new(shared) })
    }

    /// Asks in the workspace and as the reader of the options, answered as Markdown. Dropping the future
    /// cancels the request: steps not begun are not begun any more.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub async fn call(&self, verb: Verb) -> Result<Answer, ClientError> {
        let options = &self.shared.options;
        self.send(&options.call(verb), options.timeout).await
    }

    /// Asks with everything said: workspace, reader, format, budget; `timeout` is the daemon's deadline.
    ///
    /// # Errors
    /// Any [`ClientError`]; [`ClientError::Unknown`] when an acting call may have reached the daemon and
    /// no answer came.
    pub async fn send(&self, call: &Call, timeout: Duration) -> Result<Answer, ClientError> {
        let acts = call.verb.changes();
        let ended = self.ask(timeout + GRACE, acts, |id| Wire::call(id, call, timeout)).await?;
        answer_of(ended, acts)
    }

    /// Says that the answer of that delivery reached its reader; the answers that follow say only what
    /// changed since. 0 says nothing.
    ///
    /// # Errors
    /// The daemon is gone or slow. The reader then sees some things again; nothing is lost.
    pub async fn seen(&self, delivery: u64) -> Result<(), ClientError> {
        if delivery == 0 {
            return Ok(());
        }
        let seen = |id| Wire::seen(id, delivery, SEEN_DEADLINE);
        let ended = self.ask(SEEN_DEADLINE, false, seen).await?;
        ended.map(drop).map_err(ClientError::Refused)
    }

    /// Attaches to a session of the options' workspace, for exchanges with its app: starts its process if
    /// it has none. The session was opened before.
    ///
    /// # Errors
    /// Any [`ClientError`]; [`ClientError::Refused`] when there is no such session, or it can't be started.
    pub async fn attach(&self, session: &SessionAddr) -> Result<Attached, ClientError> {
        let options = &self.shared.options;
        let attach = |id| Wire::attach(id, &options.workspace, session, options.timeout);
        let ended = self.ask(options.timeout + GRACE, false, attach).await?;
        let life = Wire::attached(&ended.map_err(ClientError::Refused)?)?;
        Ok(Attached { client: self.clone(), life, timeout: options.timeout })
    }

    async fn ask(
        &self,
        timeout: Duration,
        acts: bool,
        request: impl FnOnce(u64) -> Result<Bytes, ClientError>,
    ) -> Result<Ended, ClientError> {
        // Of a fixed size each: how long the request is isn't known before it has its id.
        let _room = room(&self.shared.room, 1, timeout).await?;
        let start = |id| request(id).map(Start::Frame).map_err(Unasked::Invalid);
        match self.shared.link.ask(timeout, start, Bytes::new()) {
            Ok(waiting) => waiting.ended().await.map_err(|lost| error_of(lost, acts)),
            Err(Unasked::Invalid(error)) => Err(error),
            Err(Unasked::Lost(lost)) => Err(error_of(lost, acts)),
        }
    }
}

/// A session's life, for exchanges: bytes that its app answers and the daemon doesn't read. Many may be
/// under way at once; they reach the app in the order in which they are asked.
#[derive(Debug, Clone)]
pub struct Attached {
    client: Client,
    life: Incarnation,
    timeout: Duration,
}

impl Attached {
    /// The same with another deadline for each exchange.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The life that it is attached to.
    pub fn life(&self) -> Incarnation {
        self.life
    }

    /// Sends bytes, at most [`EXCHANGE_MAX`], and waits for the app's answer. Dropping the future tells the
    /// app that nobody waits any more. Once the process has ended, attach anew.
    ///
    /// # Errors
    /// [`ClientError::Unknown`] when the app may have acted on it and no answer came;
    /// [`ClientError::Refused`] with what the app says, or with [`Code::Unavailable`] when it was not
    /// delivered; [`ClientError::Unreachable`] when the daemon never had it.
    pub async fn exchange(&self, body: impl Into<Bytes>) -> Result<Bytes, ClientError> {
        let body = body.into();
        if body.len() > EXCHANGE_MAX {
            let message = format!("{} bytes, one exchange takes {EXCHANGE_MAX}", body.len());
            return Err(ClientError::invalid(message).hint("send it in several"));
        }
        let shared = &self.client.shared;
        let units = body.len().div_ceil(EXCHANGE_MIN).max(1);
        let _room = room(&shared.exchange_room, units, self.timeout + GRACE).await?;
        let (life, timeout, length) = (self.life, self.timeout, body.len());
        let head = |id| {
            let head = Wire::exchange(id, life, length, timeout).map_err(Unasked::Invalid);
            head.map(Start::Head)
        };
        let waiting = match shared.link.ask(timeout + GRACE, head, body) {
            Ok(waiting) => waiting,
            Err(Unasked::Invalid(error)) => return Err(error),
            Err(Unasked::Lost(lost)) => return Err(error_of(lost, true)),
        };
        match waiting.ended().await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(fault)) if fault.code == Code::Unknown => Err(ClientError::Unknown(fault)),
            Ok(Err(fault)) => Err(ClientError::Refused(fault)),
            Err(lost) => Err(error_of(lost, true)),
        }
    }
}

/// Why a request wasn't sent.
enum Unasked {
    Invalid(ClientError),
    Lost(Lost),
}

impl From<Lost> for Unasked {
    fn from(lost: Lost) -> Self {
        Unasked::Lost(lost)
    }
}

async fn room(
    room: &Semaphore,
    units: usize,
    timeout: Duration,
) -> Result<Option<SemaphorePermit<'_>>, ClientError> {
    let units = u32::try_from(units).unwrap_or(u32::MAX);
    if let Ok(permit) = room.try_acquire_many(units) {
        return Ok(Some(permit));
    }
    match timeout_at(Instant::now() + timeout, room.acquire_many(units)).await {
        Ok(Ok(permit)) => Ok(Some(permit)),
        _ => {
            let full = "too many requests of this connection wait for their answers";
            Err(ClientError::unreachable(full).hint("wait for some of them"))
        }
    }
}

fn error_of(lost: Lost, acts: bool) -> ClientError {
    match lost {
        Lost::Unsent(why) => ClientError::unreachable(format!("{why}; the request was not sent"))
            .hint("connect again and ask again"),
        Lost::Sent(why) => ClientError::lost(acts, &why),
    }
}
