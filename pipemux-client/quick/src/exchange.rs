//! The whole sequence of a fast command, from the command line to the exit status.

use crate::answer::{self, Answer, Received};
use crate::environment::Environment;
use crate::hand_over;
use crate::limits::{DIRECTORY_MAX, PATIENCE_MS};
use crate::line::{self, Line};
use crate::memory;
use crate::place::{self, Socket};
use crate::request::{self, Facts};
use crate::start::Stack;
use crate::sys::{self, EINTR, EPIPE, Fd, STDERR, STDIN, STDOUT};

/// Carries out the command line and ends the process, or returns for the ordinary program to begin.
///
/// # Safety
/// `stack` is what the stack pointer was when the system started this process.
#[allow(unsafe_code)]
pub unsafe extern "C" fn before_main(stack: *const usize) {
    // SAFETY: the caller's.
    let stack = unsafe { Stack::new(stack) };
    if let Some(status) = carry_out(stack) {
        sys::exit(status);
    }
}

/// Returns the exit status; `None` for the ordinary program to go on.
fn carry_out(stack: Stack) -> Option<u8> {
    let line = line::parse(stack.arguments().skip(1))?;
    // A person at a terminal is shown how far a request is.
    if sys::is_terminal(STDERR) || (line.verb.may_have_input() && may_be_own_input()) {
        return None;
    }
    let environment = Environment::read(stack.environment())?;
    let socket = Socket::of(&environment)?;
    let buffer = memory::take()?;
    let run_id = new_run_id()?;
    let length = write_request(buffer, &line, &environment, &run_id)?;
    let (request, room) = buffer.split_at_mut_checked(length)?;
    let daemon = connect(&socket)?;
    sys::ignore_broken_pipes();
    // What isn't sent whole is no request. A daemon that has closed the connection may have said
    // why in its greeting.
    if ![Ok(length), Err(EPIPE)].contains(&sys::write(daemon, request)) {
        sys::close(daemon);
        return None;
    }
    let received: &'static [u8] = receive(daemon, room);
    if let Received::Answer(answer) = answer::read(received)
        && let Some(status) = print(daemon, &answer)
    {
        return Some(status);
    }
    hand_over::keep(daemon, run_id, received);
    None
}

/// True if standard input may be a here-document, or what a command that has ended left in a pipe:
/// the ordinary program tells that it isn't used.
fn may_be_own_input() -> bool {
    let Ok(found) = sys::fstat(STDIN) else { return false };
    match found.kind() {
        sys::REGULAR => found.links == 0 && found.size > 0,
        sys::PIPE => {
            const LEFT: i16 = sys::POLLIN | sys::POLLHUP;
            sys::poll_readable(STDIN, 0).is_ok_and(|there_is| there_is & LEFT == LEFT)
        }
        _ => false,
    }
}

fn new_run_id() -> Option<[u8; 36]> {
    let mut random = [0; 16];
    let length = sys::random(&mut random).ok()?;
    (length == random.len()).then_some(request::run_id(sys::unix_ms().ok()?, random))
}

/// Writes greeting and request; returns their length.
fn write_request(
    room: &mut [u8],
    line: &Line<'_>,
    environment: &Environment<'_>,
    run_id: &[u8],
) -> Option<usize> {
    let mut path = [0; DIRECTORY_MAX];
    let directory = place::directory(&mut path)?;
    let workspace = match line.workspace.or(environment.workspace) {
        Some(named) => named,
        None => place::project(directory)?,
    };
    let run_id = core::str::from_utf8(run_id).ok()?;
    let facts = Facts { environment, directory, workspace, run_id };
    request::write(room, line, &facts).map(<[u8]>::len)
}

/// Connects, unless the daemon isn't there, is busy, or may be somebody else's.
fn connect(socket: &Socket) -> Option<Fd> {
    let daemon = sys::connect(socket.path()?).ok()?;
    // Where a standard stream is closed, its number is taken by what is opened next.
    let is_usable = daemon.0 > STDERR.0 && socket.is_own();
    if !is_usable {
        sys::close(daemon);
    }
    is_usable.then_some(daemon)
}

/// Receives until there is an answer, or something that needs the ordinary program. Returns what
/// was received.
fn receive(daemon: Fd, room: &'static mut [u8]) -> &'static [u8] {
    let mut length = 0_usize;
    // A process that waits in `read` is also woken when the daemon takes the request.
    while let Ok(1..) = sys::poll_readable(daemon, PATIENCE_MS) {
        let Some(rest) = room.get_mut(length..).filter(|rest| !rest.is_empty()) else { break };
        match sys::read(daemon, rest) {
            Ok(0) | Err(_) => break,
            Ok(more) => length = length.saturating_add(more),
        }
        if answer::read(room.get(..length).unwrap_or_default()) != Received::Part {
            break;
        }
    }
    room.get(..length).unwrap_or_default()
}

/// Prints the answer and confirms it. Returns the exit status; `None` if nothing could be written.
fn print(daemon: Fd, answer: &Answer<'_>) -> Option<u8> {
    let stream = if answer.is_error { STDERR } else { STDOUT };
    let mut rest = answer.text.as_bytes();
    while !rest.is_empty() {
        match sys::write(stream, rest) {
            Ok(written) => rest = rest.get(written..)?,
            Err(EINTR) => {}
            // Nobody reads any more, as in `pipemux view | head`: it doesn't count as seen.
            Err(EPIPE) if !answer.is_error => return Some(answer.exit),
            Err(_) if rest.len() == answer.text.len() => return None,
            Err(_) => {
                let _ = sys::write(STDERR, b"the answer could not be written whole\n");
                return Some(answer.exit.max(1));
            }
        }
    }
    let mut room = [0; 32];
    if answer.delivery > 0
        && let Some(seen) = request::write_seen(&mut room, answer.delivery)
    {
        // Without the confirmation the reader is shown some things again, which is no reason to
        // fail.
        let _ = sys::write(daemon, seen);
    }
    Some(answer.exit)
}
