//! A connection that outlives daemons: lost, the next request makes another one.

use std::time::{Duration, Instant};

use pipemux_client::proto::client::{Answer, Call};
use pipemux_client::{Client, ClientError, Options};
use tokio::sync::Mutex;

/// The connection to whichever daemon there is.
#[derive(Debug)]
pub struct Lasting {
    options: Options,
    present: Mutex<Present>,
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
        Self { options, present: Mutex::default() }
    }

    /// Asks, over another connection if the present one turns out to be lost and nothing can have come of
    /// the request.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub async fn send(&self, call: &Call, timeout: Duration) -> Result<Answer, ClientError> {
        let began = Instant::now();
        let (number, client) = self.client().await?;
        let first = client.send(call, timeout).await;
        let lost = matches!(first, Err(ClientError::Unreachable(_) | ClientError::Unknown(_)));
        if lost {
            self.leave(number).await;
        }
        // An acting request that may have arrived is unknown instead; others may be asked twice.
        if !matches!(first, Err(ClientError::Unreachable(_))) || began.elapsed() >= timeout {
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
