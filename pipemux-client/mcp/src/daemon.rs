//! A connection to the daemon that is running at the time.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use pipemux_client::proto::app::Progress;
use pipemux_client::proto::client::{Answer, VerbRequest};
use pipemux_client::{Client, ClientError, Options};
use tokio::sync::Mutex;

/// Sends requests over one connection, and over a new one after that was lost.
#[derive(Debug)]
pub struct Daemon {
    current: Mutex<Option<Client>>,
    /// Held while an answer is written and until it is confirmed, and taken by each request before
    /// it is sent: a client that has read an answer may send its next request at once.
    order: Mutex<()>,
}

impl Daemon {
    /// Makes a connection that isn't open yet.
    pub fn new() -> Self {
        Self { current: Mutex::new(None), order: Mutex::new(()) }
    }

    /// Sends a request and waits for its answer; dropping the future cancels it.
    ///
    /// # Errors
    /// Any [`ClientError`]. A request that didn't reach the daemon is sent once more.
    pub async fn send(
        &self,
        options: &Options,
        request: &VerbRequest,
        waits: std::time::Duration,
        mut on_progress: impl FnMut(Progress),
    ) -> Result<Answer, ClientError> {
        drop(self.order.lock().await);
        let timeout = options.timeout.saturating_add(waits);
        let client = self.client(options).await?;
        match client.send_with_progress(request, timeout, &mut on_progress).await {
            // The daemon was ended while nobody asked it for anything.
            Err(ClientError::Unreachable(_)) => {
                *self.current.lock().await = None;
                let client = self.client(options).await?;
                client.send_with_progress(request, timeout, on_progress).await
            }
            Err(error @ ClientError::OutcomeUnknown(_)) => {
                *self.current.lock().await = None;
                Err(error)
            }
            answer => answer,
        }
    }

    /// Writes an answer by `write`, and confirms it when that succeeded.
    ///
    /// # Errors
    /// The error of `write`.
    pub async fn write_and_confirm<E>(
        &self,
        delivery: u64,
        write: impl Future<Output = Result<(), E>>,
    ) -> Result<(), E> {
        let _order = self.order.lock().await;
        write.await?;
        let Some(client) = self.current.lock().await.clone() else { return Ok(()) };
        let seen = async move {
            // Without the confirmation the reader is shown some things again.
            let _ = client.seen(delivery).await;
        };
        // One poll sends the confirmation. Nobody waits for its reply.
        let mut seen = Box::pin(seen);
        poll_fn(|context| {
            let _ = pin!(&mut seen).poll(context);
            Poll::Ready(())
        })
        .await;
        tokio::spawn(seen);
        Ok(())
    }

    async fn client(&self, options: &Options) -> Result<Client, ClientError> {
        let mut current = self.current.lock().await;
        if let Some(client) = &*current {
            return Ok(client.clone());
        }
        let client = Client::connect(options).await?;
        *current = Some(client.clone());
        Ok(client)
    }
}
