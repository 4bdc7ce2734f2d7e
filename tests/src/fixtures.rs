//! Environments that already have an app open.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixListener;
use std::thread::{self, JoinHandle};

use pipemux_proto::hello::ProtocolVersion;
use pipemux_proto::{Envelope, Frame, Hello, Incarnation, Method, Role};

use crate::TestEnv;

impl TestEnv {
    /// An environment whose editor has `a.txt` open, a file with this text.
    ///
    /// # Panics
    /// The editor can't be opened.
    pub fn with_editor(text: &str) -> Self {
        let env = Self::new();
        env.write("a.txt", text);
        env.pipemux(&["open", "editor", "a.txt"]).ok();
        env
    }

    /// An environment with an open, empty notebook.
    ///
    /// # Panics
    /// The notebook can't be opened.
    pub fn with_notebook() -> Self {
        let env = Self::new();
        env.pipemux(&["open", "notebook"]).ok().has("0 entries");
        env
    }

    /// An environment with an open `rogue` that does nothing wrong until it is told to.
    ///
    /// # Panics
    /// The app can't be opened.
    pub fn with_rogue() -> Self {
        let env = Self::new();
        env.install_rogue("rogue", "tame");
        env.pipemux(&["open", "rogue"]).ok().has("the thing");
        env
    }

    /// An environment with an open `rogue` that does nothing wrong until it is told to, and a
    /// notebook.
    ///
    /// # Panics
    /// An app can't be opened.
    pub fn with_rogue_and_notebook() -> Self {
        let env = Self::with_rogue();
        env.pipemux(&["open", "notebook"]).ok();
        env
    }

    /// Listens at the daemon's socket, greets one client as a daemon of protocol 99.1, and hangs
    /// up.
    ///
    /// # Panics
    /// The socket can't be bound.
    pub fn serve_other_version(&self) -> JoinHandle<()> {
        // A daemon creates the directory of the socket.
        self.pipemux(&["up"]).ok();
        self.pipemux(&["down"]).ok();
        let listener = UnixListener::bind(self.paths().socket).expect("the socket is free");
        thread::spawn(move || {
            let protocol = ProtocolVersion { major: 99, minor: 1 };
            let hello = Hello { protocol, ..Hello::new(Role::Daemon, "pipemuxd of tomorrow") };
            let envelope = Envelope::event(Method::Hello, Incarnation(0));
            let bytes = Frame::encode(&envelope, &hello).expect("a frame");
            let (mut stream, _) = listener.accept().expect("a client");
            stream.write_all(&bytes).expect("the client reads");
            stream.shutdown(Shutdown::Write).expect("the client is connected");
        })
    }
}
