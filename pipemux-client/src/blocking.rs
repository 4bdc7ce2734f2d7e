//! A client for one request at a time, on std alone, so that a one-shot process starts no runtime.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use pipemux_proto::app::Progress;
use pipemux_proto::client::{Answer, VerbRequest};
use pipemux_proto::deadline;

use crate::connect::{self, FirstRequest};
use crate::error::ClientError;
use crate::incoming::{DaemonMessage, MessageReader, RawReply, ReadError, decode_answer};
use crate::options::Options;
use crate::{daemon, requests, service_unit};

/// How much longer the client waits than the daemon: the daemon's report on a passed deadline says
/// more than the client's own.
pub const REPLY_GRACE: Duration = Duration::from_secs(2);

/// The time limit of the daemon for recording that an answer was seen.
pub(crate) const SEEN_TIMEOUT: Duration = Duration::from_secs(1);

/// Size of the first read, in bytes. Most answers fit, and touching memory costs a short process
/// time.
const READ_MIN: usize = 2 * 1024;
/// Size of the reads of a long answer, in bytes: about what a socket buffers.
const READ_MAX: usize = 256 * 1024;

/// A connection to the daemon. Dropping it cancels the request that it waits for.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    reader: MessageReader,
    last_id: u64,
    /// The callback for the progress of the request that is waited for.
    progress: Option<fn(&Progress)>,
}

impl Connection {
    /// Connects, and starts the daemon if it is not running and [`Options::start`] allows it. Both
    /// sides have greeted when this returns. So no request reaches a daemon of another version, and
    /// a request that follows an error of this function was certainly not delivered.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`], [`ClientError::VersionMismatch`].
    pub fn open(options: &Options) -> Result<Connection, ClientError> {
        connect::open(options).map(|established| Self::new(established, options))
    }

    /// Combines [`Connection::open`] with a first [`Connection::call`]: greeting and request go out
    /// together. A daemon of another version accepts neither. If the daemon is lost before it
    /// greets, the request is sent to the next one under the same id, so it is carried out once.
    ///
    /// # Errors
    /// See both functions.
    pub fn open_and_call(
        options: &Options,
        call: &VerbRequest,
        timeout: Duration,
    ) -> Result<(Connection, Answer), ClientError> {
        let acts = call.verb.changes();
        let request = requests::call(1, call, timeout)?;
        let first = FirstRequest { bytes: &request, acts };
        Self::first_answer(connect::open_with(options, first)?, options, acts, timeout)
    }

    /// Goes on where somebody else has begun a [`Connection::open_and_call`] with this call:
    /// greeting and request were sent, and `received` was read from the connection.
    ///
    /// # Errors
    /// As [`Connection::open_and_call`].
    pub fn resume(
        options: &Options,
        call: &VerbRequest,
        timeout: Duration,
        (stream, received): (UnixStream, &[u8]),
    ) -> Result<(Connection, Answer), ClientError> {
        let acts = call.verb.changes();
        match connect::resume(stream, received, options, acts)? {
            Some(established) => Self::first_answer(established, options, acts, timeout),
            None => Self::open_and_call(options, call, timeout),
        }
    }

    fn first_answer(
        established: connect::Established,
        options: &Options,
        acts: bool,
        timeout: Duration,
    ) -> Result<(Connection, Answer), ClientError> {
        let mut connection = Self::new(established, options);
        connection.last_id = 1;
        let deadline = deadline::after(timeout.saturating_add(REPLY_GRACE));
        let answer = connection.receive_answer(1, acts, deadline)?;
        Ok((connection, answer))
    }

    /// Connects only if a daemon is listening; returns `None` if none is.
    ///
    /// # Errors
    /// See [`Connection::open`].
    pub fn open_existing(options: &Options) -> Result<Option<Connection>, ClientError> {
        Self::open_existing_within(options, connect::connect_timeout(options))
    }

    /// Does the same as [`Connection::open_existing`], but waits no longer than `timeout` for a
    /// daemon that is slow to greet.
    ///
    /// # Errors
    /// See [`Connection::open`].
    pub fn open_existing_within(
        options: &Options,
        timeout: Duration,
    ) -> Result<Option<Connection>, ClientError> {
        let deadline = deadline::after(timeout);
        // Connecting to a service manager's socket would start the daemon.
        if !daemon::is_running(&options.paths) && service_unit::holds_socket(&options.paths) {
            return Ok(None);
        }
        let established = connect::try_connect(options, deadline, FirstRequest::default())?;
        Ok(established.map(|established| Self::new(established, options)))
    }

    fn new((stream, reader): connect::Established, options: &Options) -> Self {
        Self { stream, reader, last_id: 0, progress: options.progress }
    }

    /// Sends a call and waits for its answer. `timeout` is the daemon's deadline; the client gives
    /// up [`REPLY_GRACE`] later.
    ///
    /// # Errors
    /// Any [`ClientError`]; [`ClientError::OutcomeUnknown`] when an acting call was sent and no
    /// answer came.
    pub fn call(&mut self, call: &VerbRequest, timeout: Duration) -> Result<Answer, ClientError> {
        let acts = call.verb.changes();
        let deadline = deadline::after(timeout.saturating_add(REPLY_GRACE));
        self.last_id += 1;
        let request = requests::call(self.last_id, call, timeout)?;
        self.send(&request, deadline)?;
        self.receive_answer(self.last_id, acts, deadline)
    }

    /// Confirms that the answer of this delivery was written out, and waits until the daemon has
    /// recorded it.
    ///
    /// # Errors
    /// The daemon is gone or slow. The reader is then shown some things again; nothing is lost.
    pub fn seen(&mut self, delivery: u64) -> Result<(), ClientError> {
        if delivery == 0 {
            return Ok(());
        }
        let deadline = deadline::after(SEEN_TIMEOUT);
        self.last_id += 1;
        let request = requests::seen(self.last_id, delivery, SEEN_TIMEOUT)?;
        self.send(&request, deadline)?;
        let reply = self.receive(self.last_id, deadline);
        let reply = reply.map_err(|why| ClientError::lost(false, &why))?;
        reply.map(drop).map_err(ClientError::Refused)
    }

    /// Confirms the delivery like [`Connection::seen`] and closes the connection. The confirmation
    /// takes effect before any request of a later connection. Errors are not reported, because
    /// nothing is lost by them: the reader is shown some things again.
    pub fn close_seen(mut self, delivery: u64) {
        if delivery == 0 {
            return;
        }
        if !self.reader.accepts_final_seen {
            let _ = self.seen(delivery);
            return;
        }
        let Ok(frame) = requests::final_seen(delivery) else { return };
        let sent = self.send(&frame, deadline::after(SEEN_TIMEOUT));
        // On Linux the daemon reads connections in the order in which data arrived on them. Other
        // systems keep no such order, so there the client waits for the daemon.
        if sent.is_ok() && !cfg!(target_os = "linux") {
            self.wait_closed(SEEN_TIMEOUT);
        }
    }

    /// Waits until the daemon closes the connection; returns false when the timeout passes first.
    pub fn wait_closed(mut self, timeout: Duration) -> bool {
        let deadline = deadline::after(timeout);
        let mut buffer = [0; 4096];
        loop {
            match connect::read_with_deadline(&mut self.stream, &mut buffer, deadline) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return !connect::is_timeout(&error),
            }
        }
    }

    /// Writes a frame. A frame that isn't written whole is not a request, so the daemon can't have
    /// acted on it.
    fn send(&mut self, frame: &[u8], deadline: Instant) -> Result<(), ClientError> {
        connect::write_with_deadline(&mut self.stream, frame, deadline).map_err(|error| {
            ClientError::unreachable(format!("the request could not be sent: {error}"))
                .hint("nothing was done; run the command again")
        })
    }

    fn receive_answer(
        &mut self,
        id: u64,
        acts: bool,
        deadline: Instant,
    ) -> Result<Answer, ClientError> {
        match self.receive(id, deadline) {
            Ok(reply) => decode_answer(reply, acts),
            Err(why) => Err(ClientError::lost(acts, &why)),
        }
    }

    fn receive(&mut self, id: u64, deadline: Instant) -> Result<RawReply, String> {
        loop {
            match self.reader.poll_message() {
                Ok(Some(DaemonMessage::Reply(of, reply))) if of == id => return Ok(reply),
                // Replies to requests that were given up, such as a slow `seen`.
                Ok(Some(DaemonMessage::Reply(..) | DaemonMessage::Hello)) => continue,
                Ok(Some(DaemonMessage::Progress(of, progress))) => {
                    if let Some(show) = self.progress.filter(|_| of == id) {
                        show(&progress);
                    }
                    continue;
                }
                Ok(Some(DaemonMessage::Ping(pong))) => {
                    let _ = self.stream.write_all(&pong);
                    continue;
                }
                Ok(None) => {}
                Err(ReadError::Greeting(fault)) => return Err(fault.message),
                Err(ReadError::Invalid(what)) => {
                    return Err(format!("the daemon sent data that can't be read ({what})"));
                }
            }
            match self.read(deadline) {
                Ok(0) => return Err("the daemon ended before it answered".into()),
                Ok(_) => {}
                Err(error) if connect::is_timeout(&error) => {
                    return Err("the daemon didn't answer in time".into());
                }
                Err(error) => return Err(format!("the daemon was lost ({error})")),
            }
        }
    }

    /// Reads directly into the decoder's buffer, behind the frame that has begun: a long answer is
    /// copied once.
    fn read(&mut self, deadline: Instant) -> io::Result<usize> {
        let room = self.reader.room(READ_MIN);
        let before = room.len();
        room.resize(before + (room.capacity() - before).min(READ_MAX), 0);
        let read = connect::read_with_deadline(&mut self.stream, &mut room[before..], deadline);
        room.truncate(before + read.as_ref().map_or(0, |length| *length));
        read
    }
}
