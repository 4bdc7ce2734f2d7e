//! A fake daemon for tests: a thread on a socket that runs a script.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pipemux_proto::client::{Answer, Body, Verb, ViewArgs, Workspace};
use pipemux_proto::paths::Paths;
use pipemux_proto::{Envelope, Frame, FrameDecoder, Hello, Incarnation, Kind, Method, Role};
use tempfile::TempDir;

use crate::Options;

/// A temporary home with state and runtime directories for one test.
pub(crate) struct TestHome {
    pub(crate) dir: TempDir,
}

impl TestHome {
    pub(crate) fn new() -> TestHome {
        let dir = tempfile::tempdir().unwrap();
        for name in ["run", "state"] {
            std::fs::DirBuilder::new().mode(0o700).create(dir.path().join(name)).unwrap();
        }
        TestHome { dir }
    }

    /// Returns options with these directories that never start a daemon.
    pub(crate) fn options(&self) -> Options {
        let path = |name: &str| Some(self.dir.path().join(name).to_str().unwrap().to_owned());
        let get = |name: &str| match name {
            "PIPEMUX_STATE_DIR" => path("state"),
            "PIPEMUX_RUNTIME_DIR" => path("run"),
            _ => None,
        };
        Options {
            paths: Paths::from_env(get, 0).unwrap(),
            daemon: None,
            start: false,
            workspace: Workspace { key: "demo".into(), name: "demo".into() },
            reader: "tester".into(),
            reader_token: String::new(),
            client: String::new(),
            timeout: Duration::from_secs(20),
            progress: None,
            known_daemon: Default::default(),
        }
    }

    /// Listens on the socket and passes each of the expected connections to `serve` in turn.
    pub(crate) fn listen<T: Send + 'static>(
        &self,
        connections: usize,
        mut serve: impl FnMut(Peer) -> T + Send + 'static,
    ) -> JoinHandle<Vec<T>> {
        let listener = UnixListener::bind(&self.options().paths.socket).unwrap();
        thread::spawn(move || {
            (0..connections).map(|_| serve(Peer::new(listener.accept().unwrap().0))).collect()
        })
    }
}

/// The daemon's side of a connection.
pub(crate) struct Peer {
    pub(crate) stream: UnixStream,
    decoder: FrameDecoder,
}

impl Peer {
    fn new(stream: UnixStream) -> Peer {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Peer { stream, decoder: FrameDecoder::default() }
    }

    /// Returns the next frame; `None` at the end of the connection.
    pub(crate) fn receive(&mut self) -> Option<Frame> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                return Some(frame);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(length) => self.decoder.extend(&buffer[..length]),
                // The system doesn't restart a read with a timeout after a signal.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The client closed the connection before it had read everything.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("the fake daemon can't read: {error:?}"),
            }
        }
    }

    /// Reads the client's greeting and sends one with this major version.
    pub(crate) fn greet(&mut self, major: u16) {
        let frame = self.receive().unwrap();
        assert_eq!((frame.envelope.kind, frame.envelope.method), (Kind::Event, Method::Hello));
        let hello: Hello = pipemux_proto::decode(&frame.body).unwrap();
        assert_eq!(hello.role, Role::Client);
        let mut own = Hello::new(Role::Daemon, "pipemuxd 9.9.9");
        own.protocol.major = major;
        self.send(&Envelope::event(Method::Hello, Incarnation(0)), &own);
    }

    pub(crate) fn send<T: serde::Serialize>(&mut self, envelope: &Envelope, body: &T) {
        match self.stream.write_all(&Frame::encode(envelope, body).unwrap()) {
            // A client that is done doesn't wait for the reply to its last message.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.unwrap(),
        }
    }

    pub(crate) fn answer(&mut self, request: &Envelope, exit: u8, text: &str) {
        let body = Body::Text(text.to_owned());
        self.send(&request.answer(Kind::Reply), &Answer { exit, body, delivery: 7, error: false });
    }
}

pub(crate) fn view() -> Verb {
    Verb::View(ViewArgs::default())
}

pub(crate) fn run(code: &str) -> Verb {
    Verb::Run { code: code.to_owned(), stdin: None, only_queries: false }
}
