//! Answers whoever reads the metrics, over HTTP. Only the driver knows them, so each reader waits
//! for its next turn.

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, ORIGIN};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

use super::MetricsListener;
use crate::limits::{ACCEPT_RETRY_MS, METRICS_CONNECTIONS_MAX, METRICS_HEAD_MAX, METRICS_MS};

/// The only path that is served.
const PATH: &str = "/metrics";
const FORMAT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Readers who wait for the driver.
#[derive(Debug, Clone)]
pub struct Scrapes {
    waiting: Rc<RefCell<Vec<oneshot::Sender<String>>>>,
    driver: Waker,
}

impl Scrapes {
    /// Nobody waits yet; `driver` has the driver answer those who do.
    pub fn new(driver: Waker) -> Self {
        Self { waiting: Rc::default(), driver }
    }

    /// Answers everybody who waits.
    pub fn answer(&self, text: impl FnOnce() -> String) {
        let waiting = self.waiting.take();
        if waiting.is_empty() {
            return;
        }
        let text = text();
        for one in waiting {
            // Who has gone meanwhile needs none.
            let _ = one.send(text.clone());
        }
    }

    async fn read(&self) -> Option<String> {
        let (send, receive) = oneshot::channel();
        self.waiting.borrow_mut().push(send);
        self.driver.wake_by_ref();
        receive.await.ok()
    }
}

/// Serves for ever.
pub async fn serve(listener: MetricsListener, scrapes: Scrapes) {
    let room = Arc::new(Semaphore::new(METRICS_CONNECTIONS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let scrapes = scrapes.clone();
        let accepted = match &listener {
            MetricsListener::Unix(listener, _) => listener.accept().await.map(|(stream, _)| {
                spawn_local(serve_one(stream, scrapes, permit));
            }),
            MetricsListener::Loopback(listener) => listener.accept().await.map(|(stream, _)| {
                spawn_local(serve_one(stream, scrapes, permit));
            }),
        };
        if accepted.is_err() {
            // Most likely no descriptor is free: a pause keeps this from spinning.
            sleep(Duration::from_millis(ACCEPT_RETRY_MS)).await;
        }
    }
}

/// Serves one connection, for a while at most. Its errors concern nobody else.
async fn serve_one(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    scrapes: Scrapes,
    _permit: OwnedSemaphorePermit,
) {
    let service = service_fn(move |request| {
        let scrapes = scrapes.clone();
        async move { Ok::<_, Infallible>(respond(&request, &scrapes).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).max_buf_size(METRICS_HEAD_MAX);
    let served = http.serve_connection(TokioIo::new(stream), service);
    let _ = timeout(Duration::from_millis(METRICS_MS), served).await;
}

async fn respond(request: &Request<Incoming>, scrapes: &Scrapes) -> Response<Full<Bytes>> {
    let refusal = |status: StatusCode, text: &'static str| {
        let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
        *response.status_mut() = status;
        response
    };
    if request.uri().path() != PATH {
        return refusal(StatusCode::NOT_FOUND, "the path is /metrics\n");
    }
    if request.method() != Method::GET {
        let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, "use GET\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
        return response;
    }
    // A page in a browser that reaches this port by a name of its own is no scraper.
    if request.headers().contains_key(ORIGIN) {
        return refusal(StatusCode::FORBIDDEN, "not for pages of browsers\n");
    }
    let Some(text) = scrapes.read().await else {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "the daemon stops\n");
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(FORMAT));
    response
}
