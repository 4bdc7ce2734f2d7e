//! A client for one request after the other, on std alone: a one-shot process starts no runtime.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use pipemux_proto::client::{Answer, Call};

use crate::connect::{self, First};
use crate::error::ClientError;
use crate::options::Options;
use crate::wire::{Ended, Incoming, Wire, WireError, answer_of};

/// How much longer than the daemon the client waits: the daemon's own word on a passed deadline is
/// better than the client's.
pub const GRACE: Duration = Duration::from_secs(2);

/// How long the daemon may take to note that an answer was seen.
pub(crate) const SEEN_DEADLINE: Duration = Duration::from_secs(1);

/// Bytes of a reading at first: most answers fit, and memory that is touched costs a short process time.
const READ_MIN: usize = 2 * 1024;
/// Bytes of a reading while a long answer comes: about what a socket holds.
const READ_MAX: usize = 256 * 1024;

/// A connection to the daemon. Dropping it cancels what it waits for.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    wire: Wire,
    last_id: u64,
}

impl Connection {
    /// Connects, and starts the daemon when it isn't up and [`Options::start`] allows it. Both sides have
    /// greeted when this returns, so that no request reaches a daemon of another version, and what goes
    /// wrong up to here is certainly not delivered.
    ///
    /// # Errors
    /// [`ClientError::Unreachable`], [`ClientError::Version`].
    pub fn open(options: &Options) -> Result<Connection, ClientError> {
        connect::open(options).map(Self::new)
    }

    /// [`Connection::open`] and the first [`Connection::call`] in one: greeting and request go out together.
    /// A daemon of another version takes neither. A daemon that is lost before it greets is followed by
    /// another one, and that gets the request under the same id, so that it is carried out once.
    ///
    /// # Errors
    /// As both.
    pub fn open_and_call(
        options: &Options,
        call: &Call,
        timeout: Duration,
    ) -> Result<(Connection, Answer), ClientError> {
        let acts = call.verb.changes();
        let request = Wire::call(1, call, timeout)?;
        let mut connection =
            connect::open_with(options, First { request: &request, acts }).map(Self::new)?;
        connection.last_id = 1;
        let deadline = Instant::now() + timeout + GRACE;
        let answer = connection.answer(1, acts, deadline)?;
        Ok((connection, answer))
    }

    /// Connects only if a daemon listens now.
    ///
    /// # Errors
    /// As [`Connection::open`], but that nobody listens is `None`.
    pub fn find(options: &Options) -> Result<Option<Connection>, ClientError> {
        Self::find_within(options, connect::START_DEADLINE)
    }

    /// [`Connection::find`] that waits no longer than `timeout` for a daemon that is slow to greet.
    ///
    /// # Errors
    /// As [`Connection::find`].
    pub fn find_within(
        options: &Options,
        timeout: Duration,
    ) -> Result<Option<Connection>, ClientError> {
        let deadline = Instant::now() + timeout;
        Ok(connect::knock(options, deadline, First::default())?.map(Self::new))
    }

    fn new((stream, wire): connect::Greeted) -> Self {
        Self { stream, wire, last_id: 0 }
    }

    /// Asks and waits. `timeout` is the daemon's deadline; past it and [`GRACE`] the client gives up.
    ///
    /// # Errors
    /// Any [`ClientError`]; [`ClientError::Unknown`] when an acting call was sent and no answer came.
    pub fn call(&mut self, call: &Call, timeout: Duration) -> Result<Answer, ClientError> {
        let acts = call.verb.changes();
        let deadline = Instant::now() + timeout + GRACE;
        self.last_id += 1;
        let request = Wire::call(self.last_id, call, timeout)?;
        self.send(&request, deadline)?;
        self.answer(self.last_id, acts, deadline)
    }

    /// Says that the answer of that delivery was written out, and waits until the daemon has noted it.
    ///
    /// # Errors
    /// The daemon is gone or slow. The reader then sees some things again; nothing is lost.
    pub fn seen(&mut self, delivery: u64) -> Result<(), ClientError> {
        if delivery == 0 {
            return Ok(());
        }
        let deadline = Instant::now() + SEEN_DEADLINE;
        self.last_id += 1;
        let request = Wire::seen(self.last_id, delivery, SEEN_DEADLINE)?;
        self.send(&request, deadline)?;
        let ended = self.receive(self.last_id, deadline);
        let ended = ended.map_err(|why| ClientError::lost(false, &why))?;
        ended.map(drop).map_err(ClientError::Refused)
    }

    /// [`Connection::seen`] as the last that is said here: what a later connection asks comes after it.
    /// Nothing is reported, for nothing is lost when it fails: the reader sees some things again.
    pub fn end(mut self, delivery: u64) {
        if delivery == 0 {
            return;
        }
        if !self.wire.takes_last {
            let _ = self.seen(delivery);
            return;
        }
        let Ok(last) = Wire::seen_last(delivery) else { return };
        let sent = self.send(&last, Instant::now() + SEEN_DEADLINE);
        // The daemon reads connections in the order in which something came on them, as the system tells
        // it; where the system keeps no such order, it is waited for.
        if sent.is_ok() && !cfg!(target_os = "linux") {
            self.wait_closed(SEEN_DEADLINE);
        }
    }

    /// Waits until the daemon closes the connection; false when the timeout passes before.
    pub fn wait_closed(mut self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut buffer = [0; 4096];
        loop {
            match connect::read_until(&mut self.stream, &mut buffer, deadline) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return !connect::is_timeout(&error),
            }
        }
    }

    /// A frame that isn't written whole is no request: the daemon can't have acted on it.
    fn send(&mut self, frame: &[u8], deadline: Instant) -> Result<(), ClientError> {
        connect::write_until(&mut self.stream, frame, deadline).map_err(|error| {
            ClientError::unreachable(format!("the request could not be sent: {error}"))
                .hint("nothing was done; run the command again")
        })
    }

    fn answer(&mut self, id: u64, acts: bool, deadline: Instant) -> Result<Answer, ClientError> {
        match self.receive(id, deadline) {
            Ok(ended) => answer_of(ended, acts),
            Err(why) => Err(ClientError::lost(acts, &why)),
        }
    }

    fn receive(&mut self, id: u64, deadline: Instant) -> Result<Ended, String> {
        loop {
            match self.wire.poll_incoming() {
                Ok(Some(Incoming::Answer(of, ended))) if of == id => return Ok(ended),
                // Answers to what nobody waits for any more, such as a slow `seen`.
                Ok(Some(Incoming::Answer(..) | Incoming::Hello)) => continue,
                Ok(Some(Incoming::Ping(pong))) => {
                    let _ = self.stream.write_all(&pong);
                    continue;
                }
                Ok(None) => {}
                Err(WireError::Greeting(fault)) => return Err(fault.message),
                Err(WireError::Garbage(what)) => {
                    return Err(format!("the daemon sent what can't be read ({what})"));
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

    /// Reads to where a frame that has begun goes on: a long answer is copied once.
    fn read(&mut self, deadline: Instant) -> io::Result<usize> {
        let room = self.wire.room(READ_MIN);
        let before = room.len();
        room.resize(before + (room.capacity() - before).min(READ_MAX), 0);
        let read = connect::read_until(&mut self.stream, &mut room[before..], deadline);
        room.truncate(before + read.as_ref().map_or(0, |length| *length));
        read
    }
}
