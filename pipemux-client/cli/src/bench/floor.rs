//! The floor that PipeMux is compared with: a relay that makes no decisions, and a program that
//! does nothing.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::roles::{self, read_frame};

/// A relay with an echo server behind it, each a process. Dropping it ends both.
pub struct FloorRelay {
    stream: UnixStream,
    reply: Vec<u8>,
    children: Vec<Child>,
}

impl FloorRelay {
    /// Starts both processes.
    ///
    /// # Errors
    /// One of them can't be started.
    pub fn start() -> io::Result<FloorRelay> {
        let ((stream, up), (down, end)) = (UnixStream::pair()?, UnixStream::pair()?);
        let relay = start("relay", up, Stdio::from(OwnedFd::from(down)))?;
        let echo = start("echo", end, Stdio::null())?;
        Ok(FloorRelay { stream, reply: Vec::new(), children: vec![relay, echo] })
    }

    /// Sends a frame through the relay and waits for its echo.
    ///
    /// # Errors
    /// One of the two is gone.
    pub fn round_trip(&mut self, frame: &[u8]) -> io::Result<()> {
        self.stream.write_all(frame)?;
        expect_reply(read_frame(&mut self.stream, &mut self.reply)?)
    }
}

impl Drop for FloorRelay {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        for child in &mut self.children {
            let _ = child.wait();
        }
    }
}

/// Starts the lightest program that can reply, which is this one in the role of an echo server.
/// Returns the time to its first reply, and the process.
///
/// # Errors
/// It can't be started.
pub fn start_bare_process() -> io::Result<(Duration, BareProcess)> {
    let (mut stream, theirs) = UnixStream::pair()?;
    let began = Instant::now();
    let child = start("echo", theirs, Stdio::null())?;
    stream.write_all(&roles::frame(1))?;
    expect_reply(read_frame(&mut stream, &mut Vec::new())?)?;
    Ok((began.elapsed(), BareProcess { stream, child }))
}

/// Measures the time to the first reply of an ordinary, dynamically linked program: `cat`, which
/// every system has. A Rust program on std alone takes as long.
///
/// # Errors
/// It can't be started.
pub fn time_ordinary_process() -> io::Result<Duration> {
    let (mut stream, theirs) = UnixStream::pair()?;
    let (input, output) = (OwnedFd::from(theirs.try_clone()?), OwnedFd::from(theirs));
    let mut cat = Command::new("cat");
    let began = Instant::now();
    let child = cat.stdin(input).stdout(output).spawn()?;
    // The command holds the program's end of the socket; without it, the program sees the end of
    // its input.
    drop(cat);
    let process = BareProcess { stream: stream.try_clone()?, child };
    stream.write_all(b"x")?;
    stream.read_exact(&mut [0])?;
    let took = began.elapsed();
    drop(process);
    Ok(took)
}

/// A waiting process of a program that only uses std. Dropping it ends the process.
pub struct BareProcess {
    stream: UnixStream,
    child: Child,
}

impl BareProcess {
    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for BareProcess {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let _ = self.child.wait();
    }
}

fn start(role: &str, input: UnixStream, output: Stdio) -> io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(["bench", roles::ROLE_OPTION, role])
        .stdin(Stdio::from(OwnedFd::from(input)))
        .stdout(output)
        .spawn()
}

fn expect_reply(replied: bool) -> io::Result<()> {
    if replied { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
