//! Runs an app on its connection: one thread, blocking reads, one message at a time.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Envelope, Frame, Hello, Kind, Method};

use crate::app::App;
use crate::connection::{Connection, Next};
use crate::fd;
use crate::served::AppType;
use crate::session::Response;
use crate::session_table::SessionTable;

/// Serves an app on the connection that this process inherited from the daemon, until the daemon
/// closes it. Each session gets its own model. Returns the exit code for `main`.
///
/// An error is written to standard error, which is the session's log.
///
/// ```ignore
/// fn main() -> std::process::ExitCode {
///     docui::run::<MyApp>()
/// }
/// ```
pub fn run<A: App>() -> ExitCode {
    run_type(AppType::of::<A>())
}

fn run_type(app_type: AppType) -> ExitCode {
    let ended = fd::inherited().and_then(|stream| {
        serve_type(app_type, stream).map_err(|error| format!("connection: {error}"))
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // If this fails too, nobody can be told.
            let _ = writeln!(std::io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

/// Serves an app on a connection, until the other side closes it or asks the app to end.
///
/// # Errors
/// The connection broke, the daemon speaks another major version of the protocol, or the bytes
/// received are not frames.
pub fn serve<A: App>(stream: UnixStream) -> std::io::Result<()> {
    serve_type(AppType::of::<A>(), stream)
}

fn serve_type(app_type: AppType, stream: UnixStream) -> std::io::Result<()> {
    let mut connection = Connection::new(stream);
    let mut session_table = SessionTable::new(app_type)?;
    let hello = Envelope::event(Method::Hello, Incarnation::default());
    let greeting = Frame::encode(&hello, &session_table.hello()).map_err(std::io::Error::other)?;
    connection.send(&greeting)?;
    loop {
        session_table.update_watches();
        let frame = match connection.next(&session_table.wakes())? {
            Next::Frame(frame) => frame,
            Next::Due => {
                let frames = session_table.run_due().map_err(std::io::Error::other)?;
                if !frames.is_empty() {
                    connection.send(&frames)?;
                }
                continue;
            }
            Next::Closed => return Ok(()),
        };
        match (frame.envelope.kind, frame.envelope.method) {
            (_, Method::Hello) => {
                let hello = read_hello(&frame)?;
                session_table.handle_hello(frame.envelope.incarnation, &hello);
            }
            (Kind::Request, Method::Exchange) => {
                exchange(&mut connection, &mut session_table, frame)?;
            }
            _ => {
                // Handling this request may take long; earlier answers should not wait for it.
                connection.flush()?;
                match session_table.handle(&frame).map_err(std::io::Error::other)? {
                    Response::Ignore => {}
                    Response::Send(bytes) => connection.send(&bytes)?,
                    Response::SendAndExit(bytes) => return connection.send(&bytes),
                }
            }
        }
    }
}

fn exchange(
    connection: &mut Connection,
    session_table: &mut SessionTable,
    frame: Frame,
) -> std::io::Result<()> {
    let request = frame.envelope;
    match session_table.exchange(request.incarnation, frame.body) {
        Ok((body, None)) => connection.answer(&request, &body),
        Ok((body, Some(changed))) => {
            let event = Envelope::event(Method::Changed, request.incarnation);
            let event = Frame::encode(&event, &changed).map_err(std::io::Error::other)?;
            connection.send(&event)?;
            connection.answer(&request, &body)
        }
        Err(fault) => connection.refuse(&request, &fault),
    }
}

fn read_hello(frame: &Frame) -> std::io::Result<Hello> {
    let hello: Hello = pipemux_proto::decode(&frame.body).map_err(std::io::Error::other)?;
    hello.check().map_err(std::io::Error::other)?;
    Ok(hello)
}
