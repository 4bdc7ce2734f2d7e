//! What nothing can go below: a relay that decides nothing, and a program that does nothing.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::roles::{self, read_frame};

/// A relay and what answers behind it, each a process. Dropping it ends both.
pub struct Floor {
    stream: UnixStream,
    answer: Vec<u8>,
    children: Vec<Child>,
}

impl Floor {
    /// Starts both.
    ///
    /// # Errors
    /// One can't be started.
    pub fn start() -> io::Result<Floor> {
        let ((stream, up), (down, end)) = (UnixStream::pair()?, UnixStream::pair()?);
        let relay = start("relay", up, Stdio::from(OwnedFd::from(down)))?;
        let echo = start("echo", end, Stdio::null())?;
        Ok(Floor { stream, answer: Vec::new(), children: vec![relay, echo] })
    }

    /// Sends a frame through the relay and waits for its answer.
    ///
    /// # Errors
    /// One of the two is gone.
    pub fn round_trip(&mut self, frame: &[u8]) -> io::Result<()> {
        self.stream.write_all(frame)?;
        expect(read_frame(&mut self.stream, &mut self.answer)?)
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        for child in &mut self.children {
            let _ = child.wait();
        }
    }
}

/// From the start of the lightest program that can answer until it has: this one, which is linked statically
/// where that can be done. It stays for as long as it is held.
///
/// # Errors
/// It can't be started.
pub fn lightest() -> io::Result<(Duration, Alone)> {
    let (mut stream, theirs) = UnixStream::pair()?;
    let began = Instant::now();
    let child = start("echo", theirs, Stdio::null())?;
    stream.write_all(&roles::frame(1))?;
    expect(read_frame(&mut stream, &mut Vec::new())?)?;
    Ok((began.elapsed(), Alone { stream, child }))
}

/// The same of an ordinary program, linked dynamically as nearly all are: `cat`, which every system has. One
/// in Rust on std alone takes as long.
///
/// # Errors
/// It can't be started.
pub fn ordinary() -> io::Result<Duration> {
    let (mut stream, theirs) = UnixStream::pair()?;
    let (input, output) = (OwnedFd::from(theirs.try_clone()?), OwnedFd::from(theirs));
    let mut cat = Command::new("cat");
    let began = Instant::now();
    let child = cat.stdin(input).stdout(output).spawn()?;
    // The command holds the other end, too: dropped, the program sees the end.
    drop(cat);
    let alone = Alone { stream: stream.try_clone()?, child };
    stream.write_all(b"x")?;
    stream.read_exact(&mut [0])?;
    let took = began.elapsed();
    drop(alone);
    Ok(took)
}

/// A program on std alone that waits. Dropping it ends it.
pub struct Alone {
    stream: UnixStream,
    child: Child,
}

impl Alone {
    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let _ = self.child.wait();
    }
}

fn start(role: &str, input: UnixStream, output: Stdio) -> io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(["bench", roles::OPTION, role])
        .stdin(Stdio::from(OwnedFd::from(input)))
        .stdout(output)
        .spawn()
}

fn expect(answered: bool) -> io::Result<()> {
    if answered { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
