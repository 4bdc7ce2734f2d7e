//! Notices when a tool's result was written, so that the daemon counts it as seen only then.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioWriter, stdio_pipes};
use tokio::io::Empty;

use crate::bounded_lines::{BoundedLines, Line};
use crate::context::Context;
use crate::daemon::Daemon;
use crate::limits::DELIVERIES_MAX;
use crate::malformed::{self, Parsed};

/// Results that are to be written, by the request that they answer. A result that is never written,
/// because its request was cancelled, stays until the connection ends; so they are bounded.
#[derive(Debug, Default, Clone)]
pub struct Deliveries {
    waiting: Arc<Mutex<HashMap<RequestId, u64>>>,
}

impl Deliveries {
    /// Records that the answer to a request carries this delivery.
    pub fn expect(&self, context: &Context, delivery: u64) {
        if delivery == 0 {
            return;
        }
        let parts = context.extensions.get::<http::request::Parts>();
        if let Some(slot) = parts.and_then(|parts| parts.extensions.get::<ResponseDelivery>()) {
            *slot.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(delivery);
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < DELIVERIES_MAX {
            waiting.insert(context.id.clone(), delivery);
        }
    }

    fn take(&self, request: &RequestId) -> Option<u64> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(request)
    }
}

/// The delivery that the response to an HTTP request carries.
#[derive(Debug, Default, Clone)]
pub struct ResponseDelivery(Arc<Mutex<Option<u64>>>);

impl ResponseDelivery {
    /// Returns the delivery, once.
    pub fn take(&self) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Standard input and output as a transport.
pub fn stdio(daemon: &(Arc<Daemon>, Deliveries)) -> Confirming {
    let (reader, writer) = stdio_pipes();
    // BoundedLines are read here, since a message that can't be read is to be answered, too.
    let writer = AsyncRwTransport::new_server(tokio::io::empty(), writer);
    let (daemon, deliveries) = daemon.clone();
    Confirming { lines: BoundedLines::new(reader), writer, refusal: None, daemon, deliveries }
}

/// The pending write of the answer to a message that can't be carried out.
type Refusal = Pin<Box<dyn Future<Output = Result<(), std::io::Error>> + Send>>;

/// A transport that confirms the deliveries that it wrote.
pub struct Confirming {
    lines: BoundedLines,
    writer: AsyncRwTransport<RoleServer, Empty, StdioWriter>,
    /// The pending refusal, kept if `receive` is dropped. Nothing is read before it is written.
    refusal: Option<Refusal>,
    daemon: Arc<Daemon>,
    deliveries: Deliveries,
}

impl Transport<RoleServer> for Confirming {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let delivery = match &item {
            JsonRpcMessage::Response(response) => self.deliveries.take(&response.id),
            _ => None,
        };
        let daemon = self.daemon.clone();
        let written = self.writer.send(item);
        async move {
            match delivery {
                Some(delivery) => daemon.write_and_confirm(delivery, written).await,
                None => written.await,
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                let written = refusal.await;
                self.refusal = None;
                written.ok()?;
            }
            let parsed = match self.lines.next().await? {
                Line::Whole(line) => malformed::parse(&line),
                Line::TooLong(outline) => malformed::too_long(&outline),
            };
            match parsed {
                Parsed::Message(message) => return Some(*message),
                Parsed::Nothing => {}
                Parsed::Error(error) => self.refusal = Some(Box::pin(self.writer.send(*error))),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writer.close().await
    }
}
