//! The loop around an app: one thread, blocking reads, one message at a time.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Envelope, Frame, Hello, Kind, Method};

use crate::app::App;
use crate::desk::Desk;
use crate::fd;
use crate::link::Link;
use crate::server::{Next, Server};

/// Serves an app on the connection that this process inherited, each session with a model of its own, until the daemon closes it. What
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

/// Serves one app on a connection until the other side closes it or asks for the end.
///
/// # Errors
/// The connection broke, or what came on it are no frames.
pub fn serve<A: App>(stream: UnixStream) -> std::io::Result<()> {
    let mut link = Link::new(stream);
    let hello = Envelope::event(Method::Hello, Incarnation::default());
    let greeting = Frame::encode(&hello, &Server::<A>::hello()).map_err(std::io::Error::other)?;
    link.send(&greeting)?;
    let mut desk = Desk::<A>::new();
    while let Some(frame) = link.next_frame()? {
        match (frame.envelope.kind, frame.envelope.method) {
            (_, Method::Hello) => {
                check_version(&frame)?;
                desk.greeted(frame.envelope.incarnation);
            }
            (Kind::Request, Method::Exchange) => exchange(&mut link, &mut desk, frame)?,
            _ => {
                // What is asked next may take long.
                link.flush()?;
                match desk.handle(&frame).map_err(std::io::Error::other)? {
                    Next::Wait => {}
                    Next::Send(bytes) => link.send(&bytes)?,
                    Next::End(bytes) => return link.send(&bytes),
                }
            }
        }
    }
    Ok(())
}

fn exchange<A: App>(link: &mut Link, desk: &mut Desk<A>, frame: Frame) -> std::io::Result<()> {
    let request = frame.envelope;
    match desk.exchange(request.incarnation, frame.body) {
        Ok((body, None)) => link.answer(&request, &body),
        Ok((body, Some(changed))) => {
            let event = Envelope::event(Method::Changed, request.incarnation);
            let told = Frame::encode(&event, &changed).map_err(std::io::Error::other)?;
            link.send(&told)?;
            link.answer(&request, &body)
        }
        Err(fault) => link.refuse(&request, &fault),
    }
}

fn check_version(frame: &Frame) -> std::io::Result<()> {
    let hello: Hello = pipemux_proto::decode(&frame.body).map_err(std::io::Error::other)?;
    hello.check().map_err(std::io::Error::other)
}
