//! A client that outlives daemons: when its connection is lost, the next request makes a new one.
//! Requests are sent in the order in which they are started.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use pipemux_client::proto::client::{Answer, Verb, VerbRequest};
use pipemux_client::{Client, ClientError, Options};
use tokio::sync::Mutex;

/// Resolves to the answer to a request that was sent.
pub type AnswerFuture = Pin<Box<dyn Future<Output = CallResult> + Send>>;

type CallResult = Result<Answer, ClientError>;

/// A connection to whichever daemon is running.
#[derive(Debug)]
pub struct ReconnectingClient {
    options: Options,
    current: Mutex<CurrentClient>,
    /// Requests that were started and have no answer.
    in_flight: AtomicUsize,
}

#[derive(Debug, Default)]
struct CurrentClient {
    client: Option<Client>,
    /// Counts the connections, so that the loss of an old one doesn't discard its replacement.
    generation: u64,
}

impl ReconnectingClient {
    /// Makes a client that isn't connected yet.
    pub fn new(options: Options) -> Self {
        Self { options, current: Mutex::default(), in_flight: AtomicUsize::new(0) }
    }

    /// Sends a request, over a new connection if the current one turns out to be lost. Requests
    /// arrive in the order of their starts if each start is awaited before the next.
    pub async fn start(
        self: &Arc<Self>,
        call: Box<VerbRequest>,
        timeout: Duration,
    ) -> AnswerFuture {
        let (call, began) = (Arc::new(*call), Instant::now());
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let mut retries = 0;
        let (generation, first) = loop {
            let (generation, client) = match self.connect().await {
                Ok(found) => found,
                Err(error) => break (None, ready(Err(error))),
            };
            let mut answer = send(client, call.clone(), timeout);
            match poll_once(&mut answer).await {
                Poll::Pending => break (Some(generation), answer),
                // The connection was lost while it was idle.
                Poll::Ready(Err(ClientError::Unreachable(_))) if retries == 0 => {
                    retries += 1;
                    self.discard(generation).await;
                }
                Poll::Ready(result) => break (Some(generation), ready(result)),
            }
        };
        let this = self.clone();
        Box::pin(async move {
            let result = match generation {
                Some(generation) => this.finish(&call, timeout, began, generation, first).await,
                None => first.await,
            };
            this.in_flight.fetch_sub(1, Ordering::Relaxed);
            result
        })
    }

    /// Returns the current connection, if there is one.
    pub async fn current(&self) -> Option<Client> {
        self.current.lock().await.client.clone()
    }

    /// Waits for the answer. Sends the request again if the connection is lost and the request
    /// can't have had an effect.
    async fn finish(
        &self,
        call: &VerbRequest,
        timeout: Duration,
        began: Instant,
        generation: u64,
        first: AnswerFuture,
    ) -> CallResult {
        let first = first.await;
        let unreachable = matches!(first, Err(ClientError::Unreachable(_)));
        let lost = unreachable || matches!(first, Err(ClientError::OutcomeUnknown(_)));
        if lost || call.verb == Verb::Down {
            self.discard(generation).await;
        }
        // Unreachable means that an acting request was not sent. Sent now, it would overtake
        // requests that were started later, unless it is the only one.
        let may_retry = !call.verb.changes() || self.in_flight.load(Ordering::Relaxed) == 1;
        if !unreachable || !may_retry || began.elapsed() >= timeout {
            return first;
        }
        let (_, client) = self.connect().await?;
        client.send(call, timeout).await
    }

    async fn connect(&self) -> Result<(u64, Client), ClientError> {
        let mut current = self.current.lock().await;
        if let Some(client) = &current.client {
            return Ok((current.generation, client.clone()));
        }
        let client = Client::connect(&self.options).await?;
        current.client = Some(client.clone());
        current.generation += 1;
        Ok((current.generation, client))
    }

    async fn discard(&self, generation: u64) {
        let mut current = self.current.lock().await;
        if current.generation == generation {
            current.client = None;
        }
    }
}

fn send(client: Client, call: Arc<VerbRequest>, timeout: Duration) -> AnswerFuture {
    Box::pin(async move { client.send(&call, timeout).await })
}

fn ready(result: CallResult) -> AnswerFuture {
    Box::pin(std::future::ready(result))
}

/// Polls once, which sends the request: a connection has room for more requests than a pipe has in
/// flight.
async fn poll_once(answer: &mut AnswerFuture) -> Poll<CallResult> {
    poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await
}
