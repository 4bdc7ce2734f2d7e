//! `pipemux pipe`: many command lines over one process. Requests are lines of JSON on standard input,
//! answers lines on standard output, in the order in which they come. Requests are sent one by one, in the
//! order of their lines; only their answers are waited for together.
//!
//! | module | holds |
//! |---|---|
//! | `pipe` | the loop: lines in their order, at most so many at once, each answered once |
//! | `pipe::gates` | which lines wait until an earlier one was answered |
//! | `pipe::request` | a line, read as a command line |
//! | `pipe::reply` | an answer as a line |
//! | `pipe::streams` | the two streams, each on a thread of its own |
//! | `pipe::lasting` | a connection that outlives daemons |
//!
//! Who has read an answer may send its next request at once; so what was seen is told to the daemon before
//! any line that came after.

mod gates;
mod lasting;
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

use super::ask::Asker;
use gates::{Gates, Passed};
use lasting::{Lasting, Waiting};
use reply::Reply;
use request::{Asked, Request};
use streams::{Line, Lines, Out};

/// Requests that are worked on at once; the next lines wait.
const AT_ONCE: usize = 64;

/// Answers lines until standard input ends; returns the exit status.
///
/// # Errors
/// The system gives no threads or no timer.
pub fn carry_out(asker: &Asker) -> Result<u8, ClientError> {
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
        ClientError::invalid(format!("the system has no means for this: {error}"))
            .hint("look at its limits: ulimit -a")
    })?;
    let served = runtime.block_on(serve(asker));
    // A request that starts a daemon may be on a thread: nobody waits for it any more.
    runtime.shutdown_background();
    served.map(|()| 0)
}

struct Pipe {
    asker: Asker,
    daemon: Arc<Lasting>,
    out: Out,
    /// Held from the writing of an answer until the daemon is told that it was seen, and by each line
    /// before it is sent.
    turn: Mutex<()>,
}

async fn serve(asker: &Asker) -> Result<(), ClientError> {
    let mut lines = Lines::start();
    let pipe = Arc::new(Pipe {
        asker: asker.clone(),
        daemon: Arc::new(Lasting::new(asker.options.clone())),
        out: Out::start(),
        turn: Mutex::new(()),
    });
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut working = JoinSet::new();
    let mut gates = Gates::default();
    loop {
        let Ok(place) = room.clone().acquire_owned().await else { break };
        let line = tokio::select! {
            line = lines.next() => line,
            () = pipe.out.closed() => return Ok(()),
        };
        let Some(line) = line else { break };
        let begun = tokio::select! {
            begun = pipe.begin(line, &mut gates) => begun,
            () = pipe.out.closed() => return Ok(()),
        };
        let serving = pipe.clone();
        working.spawn(async move {
            serving.answer(begun).await;
            drop(place);
        });
        while working.try_join_next().is_some() {}
    }
    tokio::select! {
        () = async { while working.join_next().await.is_some() {} } => {}
        () = pipe.out.closed() => {}
    }
    Ok(())
}

/// A line that was begun.
enum Begun {
    /// It is answered with that.
    Over(Reply),
    /// The daemon was asked.
    Sent { id: Value, json: bool, waiting: Waiting, passed: Option<Passed> },
}

impl Pipe {
    /// Reads a line and sends what it asks for, when its turn has come.
    async fn begin(&self, line: Line, gates: &mut Gates) -> Begun {
        let request = match Request::read(line) {
            Ok(request) => request,
            Err(refused) => {
                let (id, error) = *refused;
                return Begun::Over(Reply::failed(id, &error, false));
            }
        };
        let (id, json) = (request.id.clone(), request.json);
        let asker = self.asker.clone();
        // It may look at files, and at the daemon for what was meant.
        let read = tokio::task::spawn_blocking(move || request.asked(&asker)).await;
        let asked = read.unwrap_or_else(|error| Err(ClientError::invalid(error.to_string())));
        let (call, timeout, json) = match asked {
            Ok(Asked::Call { call, timeout, json }) => (call, timeout, json),
            Ok(Asked::Text { text }) => {
                let answer = Answer { exit: 0, body: Body::Text(text), delivery: 0 };
                return Begun::Over(Reply::answered(id, &answer, json));
            }
            Err(error) => return Begun::Over(Reply::failed(id, &error, json)),
        };
        let passed = gates.pass(&call).await;
        drop(self.turn.lock().await);
        let waiting = self.daemon.begin(call, timeout).await;
        Begun::Sent { id, json, waiting, passed }
    }

    /// Answers a line, once.
    async fn answer(&self, begun: Begun) {
        let (id, json, waiting, _passed) = match begun {
            Begun::Over(reply) => return self.write(&reply, 0).await,
            Begun::Sent { id, json, waiting, passed } => (id, json, waiting, passed),
        };
        match waiting.await {
            Ok(answer) => {
                self.write(&Reply::answered(id, &answer, json), answer.delivery).await;
            }
            Err(error) => self.write(&Reply::failed(id, &error, json), 0).await,
        }
    }

    async fn write(&self, reply: &Reply, delivery: u64) {
        let _turn = self.turn.lock().await;
        if !self.out.write(reply.line()).await || delivery == 0 {
            return;
        }
        let Some(client) = self.daemon.present().await else { return };
        let seen = async move {
            // Unconfirmed, the reader is shown some things again.
            let _ = client.seen(delivery).await;
        };
        // Sent now; its reply is nobody's.
        let mut seen = Box::pin(seen);
        poll_fn(|context| {
            let _ = pin!(&mut seen).poll(context);
            Poll::Ready(())
        })
        .await;
        tokio::spawn(seen);
    }
}
