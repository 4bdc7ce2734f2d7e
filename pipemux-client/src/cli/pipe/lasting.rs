//! A connection that outlives daemons: lost, the next request makes another one. Requests leave in the order
//! in which they are begun.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use pipemux_client::proto::client::{Answer, Call, Verb};
use pipemux_client::{Client, ClientError, Options};
use tokio::sync::Mutex;

/// What waits for an answer.
pub type Waiting = Pin<Box<dyn Future<Output = Ended> + Send>>;

type Ended = Result<Answer, ClientError>;

/// The connection to whichever daemon there is.
#[derive(Debug)]
pub struct Lasting {
    options: Options,
    present: Mutex<Present>,
    /// Requests that were begun and have no answer.
    under_way: AtomicUsize,
}

#[derive(Debug, Default)]
struct Present {
    client: Option<Client>,
    /// Which one it is, so that one that was replaced already isn't dropped for another.
    number: u64,
}

impl Lasting {
    /// Not connected yet.
    pub fn new(options: Options) -> Self {
        Self { options, present: Mutex::default(), under_way: AtomicUsize::new(0) }
    }

    /// Sends a request, over another connection if the present one turns out to be lost; returns what
    /// waits for its answer. Who awaits this before the next one is begun has them sent in this order.
    pub async fn begin(self: &Arc<Self>, call: Box<Call>, timeout: Duration) -> Waiting {
        let (call, began) = (Arc::new(*call), Instant::now());
        self.under_way.fetch_add(1, Ordering::Relaxed);
        let mut tries = 0;
        let (number, first) = loop {
            let (number, client) = match self.client().await {
                Ok(found) => found,
                Err(error) => break (None, over(Err(error))),
            };
            let mut waiting = asking(client, call.clone(), timeout);
            match begun(&mut waiting).await {
                Poll::Pending => break (Some(number), waiting),
                // It was lost while nobody asked.
                Poll::Ready(Err(ClientError::Unreachable(_))) if tries == 0 => {
                    tries += 1;
                    self.leave(number).await;
                }
                Poll::Ready(ended) => break (Some(number), over(ended)),
            }
        };
        let lasting = self.clone();
        Box::pin(async move {
            let ended = match number {
                Some(number) => lasting.ended(&call, timeout, began, number, first).await,
                None => first.await,
            };
            lasting.under_way.fetch_sub(1, Ordering::Relaxed);
            ended
        })
    }

    /// Waits for the answer; asks again when the connection is lost and nothing can have come of the request.
    async fn ended(
        &self,
        call: &Call,
        timeout: Duration,
        began: Instant,
        number: u64,
        first: Waiting,
    ) -> Ended {
        let first = first.await;
        let lost = matches!(first, Err(ClientError::Unreachable(_) | ClientError::Unknown(_)));
        if lost || call.verb == Verb::Down {
            self.leave(number).await;
        }
        // An acting request that may have arrived is unknown instead. One that was not sent would come
        // after others that were begun later, unless there are none.
        let again = !call.verb.changes() || self.under_way.load(Ordering::Relaxed) == 1;
        let unreachable = matches!(first, Err(ClientError::Unreachable(_)));
        if !unreachable || !again || began.elapsed() >= timeout {
            return first;
        }
        let (_, client) = self.client().await?;
        client.send(call, timeout).await
    }

    /// The present connection, if there is one.
    pub async fn present(&self) -> Option<Client> {
        self.present.lock().await.client.clone()
    }

    async fn client(&self) -> Result<(u64, Client), ClientError> {
        let mut present = self.present.lock().await;
        if let Some(client) = &present.client {
            return Ok((present.number, client.clone()));
        }
        let client = Client::connect(&self.options).await?;
        present.client = Some(client.clone());
        present.number += 1;
        Ok((present.number, client))
    }

    async fn leave(&self, number: u64) {
        let mut present = self.present.lock().await;
        if present.number == number {
            present.client = None;
        }
    }
}

fn asking(client: Client, call: Arc<Call>, timeout: Duration) -> Waiting {
    Box::pin(async move { client.send(&call, timeout).await })
}

fn over(ended: Ended) -> Waiting {
    Box::pin(std::future::ready(ended))
}

/// Polls once, which sends: a connection takes more requests at once than there are in a pipe.
async fn begun(waiting: &mut Waiting) -> Poll<Ended> {
    poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context))).await
}
