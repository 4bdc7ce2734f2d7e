//! A client on tokio: many requests in flight over one connection.
//!
//! One task owns the connection; calls hand it encoded frames and wait for their end.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use pipemux_proto::client::{Answer, Call, Verb};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use crate::blocking::{GRACE, SEEN_DEADLINE};
use crate::connect;
use crate::error::ClientError;
use crate::options::Options;
use crate::wire::{Ended, Incoming, Wire, WireError, acts, answer_of};

/// Most bytes of requests that one connection holds; further calls wait for room.
pub const IN_FLIGHT_BYTES: usize = 16 * 1024 * 1024;

/// What a request counts at least, so that there are at most 1024 at once.
const REQUEST_MIN: usize = IN_FLIGHT_BYTES / 1024;

/// A connection for many calls at once. Clones share it; it closes with the last one. A lost
/// connection stays lost: connect again.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: Options,
    commands: mpsc::UnboundedSender<Command>,
    /// Bounds what is queued in `commands` and in the task.
    room: Arc<Semaphore>,
    last_id: AtomicU64,
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
        let stream = into_tokio(stream).map_err(|error| {
            ClientError::unreachable(format!("the connection can't be used: {error}"))
        })?;
        let (commands, inbox) = mpsc::unbounded_channel();
        tokio::spawn(Task::new(stream, wire, inbox).run());
        let room = Arc::new(Semaphore::new(IN_FLIGHT_BYTES));
        let shared =
            Shared { options: options.clone(), commands, room, last_id: AtomicU64::new(0) };
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
        let id = self.fresh_id();
        let request = Wire::call(id, call, timeout)?;
        let acts = acts(&call.verb);
        answer_of(self.ask(id, request, timeout + GRACE, acts).await?, acts)
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
        let id = self.fresh_id();
        let request = Wire::seen(id, delivery, SEEN_DEADLINE)?;
        let ended = self.ask(id, request, SEEN_DEADLINE, false).await?;
        ended.map(drop).map_err(ClientError::Refused)
    }

    fn fresh_id(&self) -> u64 {
        self.shared.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    async fn ask(
        &self,
        id: u64,
        request: Bytes,
        timeout: Duration,
        acts: bool,
    ) -> Result<Ended, ClientError> {
        let deadline = Instant::now() + timeout;
        let cost = u32::try_from(request.len().max(REQUEST_MIN)).unwrap_or(u32::MAX);
        let room = timeout_at(deadline, self.shared.room.clone().acquire_many_owned(cost)).await;
        let Ok(Ok(room)) = room else {
            let full = "too many requests of this connection wait for their answers";
            return Err(ClientError::unreachable(full).hint("wait for some of them"));
        };
        let (end, ended) = oneshot::channel();
        let ask = Command::Ask(Ask { id, request, end, _room: room });
        if self.shared.commands.send(ask).is_err() {
            return Err(not_sent("the connection to the daemon was lost before"));
        }
        let mut waiting = Waiting { id, commands: &self.shared.commands, ended: false };
        let outcome = timeout_at(deadline, ended).await;
        waiting.ended = outcome.is_ok();
        match outcome {
            Ok(Ok(Ok(ended))) => Ok(ended),
            Ok(Ok(Err(Lost { sent: false, why }))) => Err(not_sent(&why)),
            Ok(Ok(Err(Lost { sent: true, why }))) => Err(ClientError::lost(acts, &why)),
            Ok(Err(_)) => Err(ClientError::lost(acts, "the connection's task was ended")),
            Err(_) => Err(ClientError::lost(acts, "the daemon didn't answer in time")),
        }
    }
}

fn into_tokio(stream: std::os::unix::net::UnixStream) -> io::Result<UnixStream> {
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

fn not_sent(why: &str) -> ClientError {
    ClientError::unreachable(format!("{why}; the request was not sent"))
        .hint("connect again and ask again")
}

/// Cancels the request unless it ended: its caller may have been dropped.
struct Waiting<'a> {
    id: u64,
    commands: &'a mpsc::UnboundedSender<Command>,
    ended: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.ended {
            // Without the task there is nothing left to cancel.
            let _ = self.commands.send(Command::Cancel(self.id));
        }
    }
}

#[derive(Debug)]
enum Command {
    Ask(Ask),
    Cancel(u64),
}

#[derive(Debug)]
struct Ask {
    id: u64,
    request: Bytes,
    end: oneshot::Sender<Result<Ended, Lost>>,
    _room: OwnedSemaphorePermit,
}

/// The connection ended before the request did.
#[derive(Debug)]
struct Lost {
    /// True when the daemon may have the whole request.
    sent: bool,
    why: String,
}

#[derive(Debug)]
struct Pending {
    end: oneshot::Sender<Result<Ended, Lost>>,
    /// Where in the stream of written bytes the request ends.
    ends_at: u64,
    _room: OwnedSemaphorePermit,
}

/// Owns the connection.
#[derive(Debug)]
struct Task {
    stream: UnixStream,
    wire: Wire,
    inbox: mpsc::UnboundedReceiver<Command>,
    pending: HashMap<u64, Pending>,
    out: BytesMut,
    /// Bytes ever put into `out`, and of those the bytes that left it.
    queued: u64,
    written: u64,
}

impl Task {
    fn new(stream: UnixStream, wire: Wire, inbox: mpsc::UnboundedReceiver<Command>) -> Self {
        let (pending, out) = (HashMap::new(), BytesMut::new());
        Task { stream, wire, inbox, pending, out, queued: 0, written: 0 }
    }

    async fn run(mut self) {
        let why = match self.serve().await {
            Ok(()) => return,
            Err(why) => why,
        };
        self.inbox.close();
        while let Ok(command) = self.inbox.try_recv() {
            if let Command::Ask(ask) = command {
                let _ = ask.end.send(Err(Lost { sent: false, why: why.clone() }));
            }
        }
        for (_, pending) in self.pending.drain() {
            let sent = pending.ends_at <= self.written;
            let _ = pending.end.send(Err(Lost { sent, why: why.clone() }));
        }
    }

    /// Goes on until all clients are gone, or the connection is: then it says why.
    async fn serve(&mut self) -> Result<(), String> {
        let (mut reader, mut writer) = self.stream.split();
        let mut input = BytesMut::with_capacity(4096);
        loop {
            let command = tokio::select! {
                command = self.inbox.recv() => match command {
                    Some(command) => command,
                    None => return Ok(()),
                },
                read = reader.read_buf(&mut input) => {
                    if read.map_err(|error| format!("the daemon was lost ({error})"))? == 0 {
                        return Err("the daemon ended before it answered".into());
                    }
                    self.wire.handle_bytes(&input);
                    input.clear();
                    let pongs = deliver(&mut self.wire, &mut self.pending)?;
                    self.queued += pongs.len() as u64;
                    self.out.extend_from_slice(&pongs);
                    continue;
                }
                written = writer.write_buf(&mut self.out), if !self.out.is_empty() => {
                    // A daemon that ended may have answered before: the reading end says.
                    match written {
                        Ok(length) => self.written += length as u64,
                        Err(_) => self.out.clear(),
                    }
                    continue;
                }
            };
            // All that is ready goes out in one write.
            let mut next = Some(command);
            while let Some(command) = next {
                let frame = match command {
                    Command::Ask(Ask { id, request, end, _room }) => {
                        let ends_at = self.queued + request.len() as u64;
                        self.pending.insert(id, Pending { end, ends_at, _room });
                        request
                    }
                    Command::Cancel(id) => match self.pending.remove(&id) {
                        Some(_) => Wire::cancel(id).unwrap_or_default(),
                        None => Bytes::new(),
                    },
                };
                self.queued += frame.len() as u64;
                self.out.extend_from_slice(&frame);
                next = self.inbox.try_recv().ok();
            }
        }
    }
}

/// Gives answers to who waits for them; returns what is to be written back.
fn deliver(wire: &mut Wire, pending: &mut HashMap<u64, Pending>) -> Result<Bytes, String> {
    let mut pongs = BytesMut::new();
    loop {
        match wire.poll_incoming() {
            Ok(Some(Incoming::Answer(id, ended))) => {
                // An answer to a cancelled request has nobody to go to.
                if let Some(pending) = pending.remove(&id) {
                    let _ = pending.end.send(Ok(ended));
                }
            }
            Ok(Some(Incoming::Ping(pong))) => pongs.extend_from_slice(&pong),
            Ok(Some(Incoming::Hello)) => {}
            Ok(None) => return Ok(pongs.freeze()),
            Err(WireError::Greeting(fault)) => return Err(fault.message),
            Err(WireError::Garbage(what)) => {
                return Err(format!("the daemon sent what can't be read ({what})"));
            }
        }
    }
}
