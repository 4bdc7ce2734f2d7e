//! Verbs that go on until somebody ends them: Ctrl-C, or whoever reads the output. A daemon that ends is
//! waited for.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::Answer;
use pipemux_client::proto::{Code, Fault};
use pipemux_client::{ClientError, Options};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::ask::Asker;
use crate::output::{self, Written};

/// How long one request waits for something to happen, in milliseconds. It is asked again.
pub const TURN_MS: u32 = 20_000;

/// How long to wait before it is looked again whether a daemon is there.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// How long a daemon may take to go down.
const GOING_DOWN: Duration = Duration::from_secs(15);

/// Pieces of output that are ahead of their writing.
const AHEAD: usize = 4;

/// What comes next.
pub enum Step {
    /// This is written, and it goes on.
    Print(Vec<u8>),
    /// This is written, and it ends with this status.
    Last(Vec<u8>, u8),
}

/// What is followed.
pub trait Follow: Send {
    /// Asks for what comes next, waiting for it.
    ///
    /// # Errors
    /// The daemon was lost, which is no end, or anything else, which is.
    fn next(&mut self, asker: &Asker, connection: &mut Connection) -> Result<Step, ClientError>;
}

enum Told {
    Step(Result<Step, ClientError>),
    /// A signal, or nobody reads on.
    Stop,
}

/// Writes what comes until an end; returns the exit status.
///
/// # Errors
/// Any but that the daemon was lost meanwhile.
pub fn follow(asker: &Asker, what: impl Follow + 'static) -> Result<u8, ClientError> {
    let (tell, told) = sync_channel(AHEAD);
    end_on_signals(tell.clone());
    end_on_closed_output(tell.clone());
    let asking = asker.clone();
    // Left behind at the end: what it waits for has no meaning then.
    thread::spawn(move || ask_on(&asking, what, &tell));
    write_on(&told)
}

fn write_on(told: &Receiver<Told>) -> Result<u8, ClientError> {
    while let Ok(Told::Step(step)) = told.recv() {
        let (bytes, end) = match step? {
            Step::Print(bytes) => (bytes, None),
            Step::Last(bytes, status) => (bytes, Some(status)),
        };
        match output::out(&bytes) {
            Ok(Written::Whole) => {}
            Ok(Written::Abandoned) => return Ok(0),
            Err(error) => {
                output::unwritable(&error);
                return Ok(1);
            }
        }
        if let Some(status) = end {
            return Ok(status);
        }
    }
    Ok(0)
}

fn ask_on(asker: &Asker, mut what: impl Follow, tell: &SyncSender<Told>) {
    let mut connection = match Connection::open(&asker.options) {
        Ok(connection) => connection,
        Err(error) => return drop(tell.send(Told::Step(Err(error)))),
    };
    loop {
        let step = match what.next(asker, &mut connection) {
            Err(ClientError::Unreachable(_)) => {
                let lost = note(asker, "lost", "the daemon is gone; waiting for another one");
                if tell.send(Told::Step(Ok(Step::Print(lost)))).is_err() {
                    return;
                }
                // One that is going down takes connections until it is gone.
                connection.wait_closed(GOING_DOWN);
                connection = another(&asker.options);
                Ok(Step::Print(note(asker, "found", "a daemon is there again")))
            }
            step => step,
        };
        let ends = !matches!(step, Ok(Step::Print(_)));
        if tell.send(Told::Step(step)).is_err() || ends {
            return;
        }
    }
}

/// Waits for a daemon that somebody else starts: `pipemux down` means what it says.
fn another(options: &Options) -> Connection {
    let mut pause = PAUSES.0;
    loop {
        // One of another version is waited for to be gone, too.
        if let Ok(Some(connection)) = Connection::find(options) {
            return connection;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// What becomes of an answer that isn't what is followed: an end, or word that the daemon is going down.
///
/// # Errors
/// The daemon is going down.
pub fn otherwise(asker: &Asker, answer: &Answer) -> Result<Step, ClientError> {
    if answer.exit == Code::Unavailable.exit_status() {
        return Err(ClientError::Unreachable(Fault::unavailable("the daemon is going down")));
    }
    Ok(Step::Last(output::printed(answer, asker.global.json), answer.exit))
}

/// A line of the client's own; `what` names it for programs.
pub fn note(asker: &Asker, what: &str, text: &str) -> Vec<u8> {
    match asker.global.json {
        true => format!("{}\n", json!({ "what": what, "text": text })).into_bytes(),
        false => format!("{text}\n").into_bytes(),
    }
}

fn end_on_signals(tell: SyncSender<Told>) {
    let Ok((mut ours, theirs)) = UnixStream::pair() else { return };
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Unregistered, the signal ends the process at once: as good an end.
        let _ = theirs.try_clone().map(|end| signal_hook::low_level::pipe::register(signal, end));
    }
    thread::spawn(move || {
        let _open = theirs;
        if io::Read::read(&mut ours, &mut [0]).is_ok() {
            let _ = tell.send(Told::Stop);
        }
    });
}

/// Whoever read the output is gone, which is noticed also while there is nothing to write.
fn end_on_closed_output(tell: SyncSender<Told>) {
    thread::spawn(move || {
        let stdout = io::stdout();
        let mut watched = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
        // Only an error or a hangup is told when nothing is asked for.
        while !matches!(poll(&mut watched, PollTimeout::NONE), Ok(1..)) {}
        let _ = tell.send(Told::Stop);
    });
}
