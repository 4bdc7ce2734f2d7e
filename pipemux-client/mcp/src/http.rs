//! The protocol over streamable HTTP, without sessions: each request stands for itself, and its
//! reader is named by the header `PipeMux-Reader` or by `?reader=`.

use std::convert::Infallible;
use std::io::Write as _;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pipemux_client::{ClientError, Options};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::bridge::{Bridge, Settings};
use crate::client_directory::ClientDirectory;
use crate::connection_slots::{ConnectionSlots, Slot};
use crate::daemon::Daemon;
use crate::delivery::{Deliveries, ResponseDelivery};
use crate::limits::{ACCEPT_PAUSE, BODY_MAX, BODY_TIMEOUT, HEAD_TIMEOUT, READER_MAX};
use crate::malformed::{self, Parsed};
use crate::server;
use crate::token::new_token;

/// The only path that is served.
const PATH: &str = "/mcp";
/// The default reader of requests.
const READER: &str = "mcp";
/// The environment variable that holds the token.
const TOKEN_VARIABLE: &str = "PIPEMUX_MCP_TOKEN";

struct Server {
    options: Options,
    settings: Settings,
    link: (Arc<Daemon>, Deliveries),
    config: StreamableHttpServerConfig,
    token: String,
}

/// Serves until the process is ended.
///
/// # Errors
/// The address can't be used, or there is no randomness for a token.
pub async fn serve(
    mut options: Options,
    settings: Settings,
    address: SocketAddr,
    reader: Option<String>,
) -> Result<(), ClientError> {
    // Not from the command line, which other users see.
    let token = std::env::var(TOKEN_VARIABLE).ok();
    let (token, shown_token) = match token.filter(|token| !token.is_empty()) {
        // Its owner knows it, and what is printed may end in a journal.
        Some(token) => (token, format!("${TOKEN_VARIABLE}")),
        None => {
            let token = new_token().map_err(|error| {
                ClientError::invalid(format!("there is no randomness: {error}"))
                    .hint(format!("name a token in {TOKEN_VARIABLE}"))
            })?;
            (token.clone(), token)
        }
    };
    let unusable = |error: std::io::Error| {
        ClientError::invalid(format!("{address} can't be listened on: {error}"))
            .hint("choose another port: pipemux mcp --http 127.0.0.1:0")
    };
    let listener = TcpListener::bind(address).await.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    announce(address, &shown_token)?;
    options.reader = reader.unwrap_or_else(|| READER.to_owned());
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    if !address.ip().is_loopback() {
        // Whoever chose another address decides by which names it is reached; the token is needed
        // in any case.
        config.allowed_hosts.clear();
    }
    // A page in a browser is no harness.
    let config = config.enforce_origin_validation();
    let link = (Arc::new(Daemon::new()), Deliveries::default());
    let server = Arc::new(Server { options, settings, link, config, token });
    let slots = Arc::new(ConnectionSlots::default());
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // A connection that ended before it was accepted is no reason to end, and missing
            // descriptors come back.
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let (server, slot) = (server.clone(), Arc::new(slots.enter().await));
        tokio::spawn(async move {
            let leave = slot.leave.clone();
            let service = service_fn(move |request| {
                let (server, slot) = (server.clone(), slot.clone());
                async move { Ok::<_, Infallible>(server.respond(request, &slot).await) }
            });
            let mut connection = http1::Builder::new();
            connection.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            tokio::select! {
                // Its errors concern only this connection.
                _ = connection.serve_connection(TokioIo::new(stream), service) => {}
                () = leave.cancelled() => {}
            }
        });
    }
}

type ResponseBody = BoxBody<Bytes, Infallible>;

impl Server {
    async fn respond(&self, request: Request<Incoming>, slot: &Slot) -> Response<ResponseBody> {
        if request.uri().path() != PATH {
            return refusal(StatusCode::NOT_FOUND, "the path is /mcp");
        }
        if !self.is_authorised(&request) {
            let mut response = refusal(StatusCode::UNAUTHORIZED, "a token is needed");
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return response;
        }
        slot.trust();
        let reader = match named_reader(&request) {
            Ok(reader) => reader.unwrap_or_else(|| self.options.reader.clone()),
            Err(why) => return refusal(StatusCode::BAD_REQUEST, why),
        };
        let mut request = match with_whole_body(request).await {
            Ok(request) => request,
            Err(response) => return response,
        };
        let delivery = ResponseDelivery::default();
        request.extensions_mut().insert(delivery.clone());
        let options = self.options.clone().reader(reader);
        let directory = ClientDirectory::fixed(options);
        let server =
            server::Server::new(Bridge::with_link(directory, self.settings, self.link.clone()));
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(NeverSessionManager::default()),
            self.config.clone(),
        );
        let response = service.handle(request).await;
        let daemon = self.link.0.clone();
        response.map(|body| Confirming { body, delivery, daemon }.boxed())
    }

    fn is_authorised(&self, request: &Request<Incoming>) -> bool {
        let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let given = given.and_then(|given| given.split_at_checked("Bearer ".len()));
        given.is_some_and(|(scheme, token)| {
            scheme.eq_ignore_ascii_case(b"Bearer ") && is_equal(token, self.token.as_bytes())
        })
    }
}

/// Compares in a time that doesn't depend on where the texts differ.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differing = one.iter().zip(other).fold(0, |bits, (a, b)| bits | (a ^ b));
    one.len() == other.len() && differing == 0
}

fn named_reader(request: &Request<Incoming>) -> Result<Option<String>, &'static str> {
    let header = request.headers().get("pipemux-reader").map(HeaderValue::to_str);
    let query = request.uri().query().unwrap_or_default();
    let asked = query.split('&').find_map(|pair| pair.strip_prefix("reader="));
    let name = match header {
        Some(Ok(name)) => Some(name),
        Some(Err(_)) => return Err("the reader's name is no text"),
        None => asked,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    match name.filter(|name| !name.is_empty()) {
        Some(name) if name.len() > READER_MAX || !name.chars().all(is_plain) => {
            Err("a reader's name has letters, digits and - _ . :")
        }
        name => Ok(name.map(str::to_owned)),
    }
}

/// Reads the body. A message that can't be carried out is answered as on standard input.
async fn with_whole_body<B>(
    request: Request<B>,
) -> Result<Request<Full<Bytes>>, Response<ResponseBody>>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (head, body) = request.into_parts();
    let read = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, BODY_MAX).collect()).await;
    let body = match read {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            return Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, "the body has more than 4 MiB"));
        }
        Ok(Err(_)) => return Err(refusal(StatusCode::BAD_REQUEST, "the body is incomplete")),
        Err(_) => return Err(refusal(StatusCode::REQUEST_TIMEOUT, "the body didn't come in time")),
    };
    if head.method != Method::POST {
        return Ok(Request::from_parts(head, Full::new(body)));
    }
    match malformed::parse(&body) {
        Parsed::Message(_) => Ok(Request::from_parts(head, Full::new(body))),
        Parsed::Nothing => Err(refusal(StatusCode::ACCEPTED, "")),
        Parsed::Error(error) => {
            // It has an id and texts only, so this can't fail.
            let text = serde_json::to_vec(&error).unwrap_or_default();
            let mut response = Response::new(Full::new(Bytes::from(text)).boxed());
            *response.status_mut() = StatusCode::BAD_REQUEST;
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(CONTENT_TYPE, json);
            Err(response)
        }
    }
}

fn refusal(status: StatusCode, why: &'static str) -> Response<ResponseBody> {
    let mut response = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

/// Prints where it listens: over HTTP, standard output isn't the protocol's.
///
/// # Errors
/// It can't be printed, so that nobody could know.
fn announce(address: SocketAddr, token: &str) -> Result<(), ClientError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "http://{address}{PATH} · Authorization: Bearer {token}")
        .and_then(|()| out.flush())
        .map_err(|error| ClientError::invalid(format!("standard output: {error}")))
}

/// A response body that confirms its delivery once it was passed on completely.
struct Confirming {
    body: BoxBody<Bytes, Infallible>,
    delivery: ResponseDelivery,
    daemon: Arc<Daemon>,
}

impl Confirming {
    fn confirm(&self) {
        let Some(delivery) = self.delivery.take() else { return };
        let daemon = self.daemon.clone();
        tokio::spawn(async move {
            let _: Result<(), Infallible> =
                daemon.write_and_confirm(delivery, std::future::ready(Ok(()))).await;
        });
    }
}

impl Body for Confirming {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || (polled.is_ready() && self.body.is_end_stream()) {
            self.confirm();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body that never yields data.
    struct Silent;

    impl Body for Silent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_is_late_or_too_long_is_refused() {
        let post = |request: http::request::Builder| request.method(Method::POST);
        let silent = post(Request::builder()).body(Silent).unwrap();
        let refused = with_whole_body(silent).await.map(drop).unwrap_err();
        assert_eq!(refused.status(), StatusCode::REQUEST_TIMEOUT);
        for (body, status) in [
            (vec![b' '; BODY_MAX + 1], StatusCode::PAYLOAD_TOO_LARGE),
            (b"{bad".to_vec(), StatusCode::BAD_REQUEST),
            (Vec::new(), StatusCode::ACCEPTED),
        ] {
            let request = post(Request::builder()).body(Full::new(Bytes::from(body))).unwrap();
            let refused = with_whole_body(request).await.map(drop).unwrap_err();
            assert_eq!(refused.status(), status);
        }
    }
}
