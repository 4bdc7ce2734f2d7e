//! `pipemux pipe`: serves many command lines with one process. Requests are lines of JSON on
//! standard input. Answers are lines on standard output, in the order in which they arrive.
//! Requests are sent one by one in the order of their lines; only their answers are awaited
//! concurrently.
//!
//! | module | holds |
//! |---|---|
//! | `pipe` | the loop: sends lines in order, bounds how many are in flight, answers each once |
//! | `pipe::ordering` | which lines wait for the answer to an earlier line |
//! | `pipe::request` | a line, parsed as a command line |
//! | `pipe::reply` | an answer as a line |
//! | `pipe::streams` | the two standard streams, each on its own thread |
//! | `pipe::reconnecting` | a connection that is replaced when the daemon is |
//!
//! A program that has read an answer may send its next request at once. So the daemon is told that
//! an answer was seen before any later line is sent.

mod ordering;
mod reconnecting;
mod reply;
mod request;
mod streams;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use pipemux_client::ClientError;
use pipemux_client::proto::client::{Answer, Body};
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;

use super::requester::Requester;
use ordering::{Barrier, BarrierGuard};
use reconnecting::{AnswerFuture, ReconnectingClient};
use reply::ReplyLine;
use request::{PipeRequest, RequestAction};
use streams::{InputLine, InputLines, OutputLines};

/// Requests that are in flight at once; further lines wait.
const IN_FLIGHT_MAX: usize = 64;

/// Serves requests until standard input ends. Returns the exit status.
///
/// # Errors
/// The runtime can't be started.
pub fn execute(requester: &Requester) -> Result<u8, ClientError> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
        ClientError::invalid(format!("the runtime can't be started: {error}"))
            .hint("check the system's limits: ulimit -a")
    })?;
    let served = runtime.block_on(serve(requester));
    // A thread may still be starting a daemon, for a request that nobody waits for any more.
    runtime.shutdown_background();
    served.map(|()| 0)
}

struct Pipe {
    requester: Requester,
    daemon: Arc<ReconnectingClient>,
    output: OutputLines,
    /// Held while an answer is written and until its `seen` is sent, and taken by each line before
    /// it is sent.
    order: Mutex<()>,
}

async fn serve(requester: &Requester) -> Result<(), ClientError> {
    let mut requester = requester.clone();
    requester.options = requester.options.made_with("pipe");
    let mut lines = InputLines::start();
    let pipe = Arc::new(Pipe {
        requester: requester.clone(),
        daemon: Arc::new(ReconnectingClient::new(requester.options.clone())),
        output: OutputLines::start(),
        order: Mutex::new(()),
    });
    let in_flight = Arc::new(Semaphore::new(IN_FLIGHT_MAX));
    let mut tasks = JoinSet::new();
    let mut barrier = Barrier::default();
    loop {
        let Ok(permit) = in_flight.clone().acquire_owned().await else { break };
        let line = tokio::select! {
            line = lines.next() => line,
            () = pipe.output.closed() => return Ok(()),
        };
        let Some(line) = line else { break };
        let started = tokio::select! {
            started = pipe.start(line, &mut barrier) => started,
            () = pipe.output.closed() => return Ok(()),
        };
        let serving = pipe.clone();
        tasks.spawn(async move {
            serving.finish(started).await;
            drop(permit);
        });
        while tasks.try_join_next().is_some() {}
    }
    tokio::select! {
        () = async { while tasks.join_next().await.is_some() {} } => {}
        () = pipe.output.closed() => {}
    }
    Ok(())
}

/// A parsed line, whose request was sent if it needs the daemon.
enum StartedLine {
    /// The reply to the line; the daemon is not asked.
    Done(ReplyLine),
    /// The line's request was sent to the daemon.
    Sent { id: Value, json: bool, answer: AnswerFuture, guard: Option<BarrierGuard> },
}

impl Pipe {
    /// Parses a line, and sends its request when the lines before it allow that.
    async fn start(&self, line: InputLine, barrier: &mut Barrier) -> StartedLine {
        let request = match PipeRequest::parse(line) {
            Ok(request) => request,
            Err(refused) => {
                let (id, error) = *refused;
                return StartedLine::Done(ReplyLine::failed(id, &error, false));
            }
        };
        let (id, json) = (request.id.clone(), request.json);
        let requester = self.requester.clone();
        // Blocking: it may read files, and ask the daemon for its apps.
        let action = tokio::task::spawn_blocking(move || request.action(&requester)).await;
        let action = action.unwrap_or_else(|error| Err(ClientError::invalid(error.to_string())));
        let (call, timeout, json) = match action {
            Ok(RequestAction::Call { call, timeout, json }) => (call, timeout, json),
            Ok(RequestAction::Text { text }) => {
                let answer = Answer { exit: 0, body: Body::Text(text), delivery: 0, error: false };
                return StartedLine::Done(ReplyLine::answered(id, &answer, json));
            }
            Err(error) => return StartedLine::Done(ReplyLine::failed(id, &error, json)),
        };
        let guard = barrier.pass(&call).await;
        drop(self.order.lock().await);
        let answer = self.daemon.start(call, timeout).await;
        StartedLine::Sent { id, json, answer, guard }
    }

    /// Waits for the answer to a line and writes it.
    async fn finish(&self, started: StartedLine) {
        let (id, json, answer, _guard) = match started {
            StartedLine::Done(reply) => return self.write(&reply, 0).await,
            StartedLine::Sent { id, json, answer, guard } => (id, json, answer, guard),
        };
        match answer.await {
            Ok(answer) => {
                let reply = ReplyLine::answered(id, &answer, json);
                self.write(&reply, answer.delivery).await;
            }
            Err(error) => self.write(&ReplyLine::failed(id, &error, json), 0).await,
        }
    }

    async fn write(&self, reply: &ReplyLine, delivery: u64) {
        let _order = self.order.lock().await;
        if !self.output.write(reply.line()).await || delivery == 0 {
            return;
        }
        let Some(client) = self.daemon.current().await else { return };
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
    }
}
