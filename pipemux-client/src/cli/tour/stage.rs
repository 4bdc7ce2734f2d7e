//! Where the tour takes place: a directory and a workspace of its own, both gone afterwards.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::cli::slips::as_typed;
use crate::output::{self, Written};

/// Why the tour ends before its end.
#[derive(Debug)]
pub enum Stop {
    /// A command ended otherwise than it should have.
    Unexpected {
        /// How it ended.
        status: u8,
    },
    /// Nobody reads on.
    Abandoned,
    /// Somebody wants it to end: Ctrl-C.
    Interrupted,
    /// The system failed it.
    System(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::System(error)
    }
}

/// Runs commands as an agent would, and shows them.
#[derive(Debug)]
pub struct Stage {
    /// Where the copies are.
    pub directory: PathBuf,
    /// The workspace's name.
    pub workspace: String,
    program: PathBuf,
    /// Sessions that are still to be ended.
    open: Vec<String>,
    /// Set by the signals that would end the process, so that it tidies up first.
    interrupted: Arc<AtomicBool>,
}

impl Stage {
    /// Makes the directory.
    ///
    /// # Errors
    /// It can't be made, or is there already.
    pub fn new() -> io::Result<Stage> {
        let workspace = format!("tour-{}", std::process::id());
        let directory = std::env::temp_dir().join(format!("pipemux-{workspace}"));
        let program = std::env::current_exe()?;
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
        }
        DirBuilder::new().mode(0o700).create(&directory)?;
        Ok(Stage { directory, workspace, program, open: Vec::new(), interrupted })
    }

    /// Puts a file there.
    ///
    /// # Errors
    /// It can't be written.
    pub fn put(&self, name: &str, text: &str) -> io::Result<()> {
        fs::write(self.directory.join(name), text)
    }

    /// Says a sentence, shows the command, runs it, shows what it prints; returns that.
    ///
    /// # Errors
    /// It didn't end with `expected`, or somebody wants the tour to end.
    pub fn step(&mut self, remark: &str, words: &[&str], expected: u8) -> Result<String, Stop> {
        self.go_on()?;
        show(&format!("\n{remark}\n$ pipemux {}\n", as_typed(words)))?;
        if let ["open", session, ..] = words {
            self.open.push(if session.contains('/') {
                (*session).to_owned()
            } else {
                format!("{session}/main")
            });
        }
        let ran = self.command(words).output()?;
        // Ctrl-C ended the command as well.
        self.go_on()?;
        let mut text = String::from_utf8_lossy(&ran.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&ran.stderr));
        let status = ran.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        show(&text)?;
        if status != 0 {
            show(&format!("(exit {status})\n"))?;
        }
        if let ["close", session, "--end"] = words {
            self.open.retain(|open| open != session);
        }
        if status == expected { Ok(text) } else { Err(Stop::Unexpected { status: status.max(1) }) }
    }

    fn go_on(&self) -> Result<(), Stop> {
        if self.interrupted.load(Ordering::Relaxed) { Err(Stop::Interrupted) } else { Ok(()) }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .env("PIPEMUX_WORKSPACE", &self.workspace)
            .current_dir(&self.directory)
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for session in std::mem::take(&mut self.open) {
            // The tour is over; what is in the way of tidying up stands in `pipemux sessions`.
            let _ = self.command(&["end", &session]).output();
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Writes to standard output.
///
/// # Errors
/// Nobody reads it, or it can't be written.
pub fn show(text: &str) -> Result<(), Stop> {
    match output::out(text.as_bytes())? {
        Written::Whole => Ok(()),
        Written::Abandoned => Err(Stop::Abandoned),
    }
}

/// The links of a printed document with their labels, in order: `[undo](link:14)`.
pub fn links(text: &str) -> Vec<(&str, &str)> {
    let ends = text.match_indices("](link:").map(|(at, _)| at);
    let link = |at: usize| {
        let label = &text[text[..at].rfind('[')? + 1..at];
        let after = &text[at + "](".len()..];
        let end = after.find([')', ' '])?;
        let is_id = |id: &str| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
        is_id(&after["link:".len()..end]).then_some((label, &after[..end]))
    };
    ends.filter_map(link).collect()
}

/// The path as the reader would write it.
pub fn shown_path<'a>(path: &'a Path, root: &Path) -> std::path::Display<'a> {
    path.strip_prefix(root).unwrap_or(path).display()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_taken_from_what_was_printed() {
        let text = "## editor/main · [x]\n[next page](link:3) [undo](link:14 \"editor.undo()\") \
                    [a thing](obj:7) [odd](link:x) [深い](link:5)\n[cut](link:";
        assert_eq!(links(text), [("next page", "link:3"), ("undo", "link:14"), ("深い", "link:5")]);
        assert_eq!(links("](link:1)"), []);
    }
}
