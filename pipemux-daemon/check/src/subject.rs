//! The app under test, and the messages that depend on its configuration.

use std::path::PathBuf;

use pipemux_proto::SessionAddr;
use pipemux_proto::app::{OpenRequest, Project};
use pipemux_proto::projection::Lod;

/// The app to be checked, and its circumstances.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The session to be opened, named by the app's registered name.
    pub main: SessionAddr,
    /// True for an app whose sessions share a process.
    pub shares_process: bool,
    /// The arguments with which the session is opened.
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// An empty directory, which the caller removes.
    pub root: PathBuf,
    /// True to confirm destructive actions also on things that the app shows before the run made
    /// any.
    pub destructive: bool,
}

/// Names of the files that the working directory has.
pub const FILES: [(&str, &str); 2] =
    [("notes.md", "# Notes\n\nA first line.\nA second line.\n"), ("data.txt", "one\ntwo\nthree\n")];

/// How a session is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Opening {
    /// True for a session that was open before.
    pub again: bool,
    /// The version of the state that it saved when it went to sleep.
    pub woken: Option<u64>,
    /// True when the time has come for which it wants to be woken.
    pub due: bool,
}

impl Opening {
    /// After an end without sleep.
    pub const AGAIN: Self = Self { again: true, woken: None, due: false };
}

impl Subject {
    /// Makes the message for an open of a session.
    pub fn open_request(&self, session: &SessionAddr, opening: Opening) -> OpenRequest {
        let path = |name: &str| self.root.join(name);
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let state = path("state").join(session.session.as_str());
        // Without it the app itself says what it misses.
        let _ = std::fs::create_dir_all(&state);
        OpenRequest {
            session: session.clone(),
            attach: false,
            again: opening.again,
            args: self.args.clone(),
            cwd: text(path("work")),
            env: self.env.iter().cloned().collect(),
            state_dir: text(state),
            woken: opening.woken,
            due: opening.due,
            jobs: Vec::new(),
        }
    }

    /// Makes the request for a window.
    pub fn project(&self, window: u64, lod: Lod, budget: u32, known: Option<u64>) -> Project {
        Project { window, lod, budget, known_version: known, reader: "check".to_owned() }
    }

    /// Makes the directories that the app gets.
    ///
    /// # Errors
    /// As the system's.
    pub fn create_directories(&self) -> std::io::Result<()> {
        for name in ["home", "state", "work", "tmp"] {
            std::fs::create_dir_all(self.root.join(name))?;
        }
        for (name, text) in FILES {
            std::fs::write(self.root.join("work").join(name), text)?;
        }
        Ok(())
    }
}
