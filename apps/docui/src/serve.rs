//! The loop around an app: one thread, blocking reads, one message at a time.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Envelope, Frame, FrameDecoder, Hello, Method};

use crate::app::App;
use crate::fd;
use crate::server::{Next, Server};

/// Serves one app on the connection that this process inherited, until the daemon closes it. What
/// goes wrong is written to standard error, which is the session's log.
///
/// ```ignore
/// fn main() -> std::process::ExitCode {
///     docui::run::<MyApp>()
/// }
/// ```
pub fn run<A: App>() -> ExitCode {
    let ended = fd::inherited()
        .and_then(|stream| serve::<A>(stream).map_err(|error| format!("connection: {error}")));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Nobody is left to tell when even this fails.
            let _ = writeln!(std::io::stderr(), "{why}");
            ExitCode::FAILURE
        }
    }
}

/// Bytes of one read; frames may be longer.
const CHUNK: usize = 16 * 1024;

/// Serves one app on a connection until the other side closes it or asks for the end.
///
/// # Errors
/// The connection broke, or what came on it are no frames.
pub fn serve<A: App>(mut stream: UnixStream) -> std::io::Result<()> {
    let hello = Envelope::event(Method::Hello, Incarnation::default());
    let greeting = Frame::encode(&hello, &Server::<A>::hello()).map_err(std::io::Error::other)?;
    stream.write_all(&greeting)?;
    let mut server = Server::<A>::new();
    let mut decoder = FrameDecoder::default();
    let mut chunk = [0; CHUNK];
    loop {
        while let Some(frame) = decoder.next_frame().map_err(std::io::Error::other)? {
            if frame.envelope.method == Method::Hello {
                check_version(&frame)?;
                continue;
            }
            match server.handle(&frame).map_err(std::io::Error::other)? {
                Next::Wait => {}
                Next::Send(bytes) => stream.write_all(&bytes)?,
                Next::End(bytes) => return stream.write_all(&bytes),
            }
        }
        match stream.read(&mut chunk)? {
            0 => return Ok(()),
            length => decoder.extend(&chunk[..length]),
        }
    }
}

fn check_version(frame: &Frame) -> std::io::Result<()> {
    let hello: Hello = pipemux_proto::decode(&frame.body).map_err(std::io::Error::other)?;
    hello.check().map_err(std::io::Error::other)
}
