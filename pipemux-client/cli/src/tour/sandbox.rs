//! The tour's own directory, with a project, a daemon and its state. The daemon is ended and all of
//! it removed afterwards.

use std::fs::{self, DirBuilder};
use std::io::{self, IsTerminal};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pipemux_client::proto::command;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::keys::{self, Key};
use crate::output::{self, WriteOutcome, colour};

/// The reason why the tour ends early.
#[derive(Debug)]
pub enum TourError {
    /// A command ended with an unexpected exit status.
    UnexpectedStatus { status: u8 },
    /// Nobody reads the output any more.
    ReaderGone,
    /// The user interrupted the tour with Ctrl-C.
    Interrupted,
    /// The user pressed the key that leaves the tour.
    Left,
    /// A system call failed.
    Io(io::Error),
}

impl From<io::Error> for TourError {
    fn from(error: io::Error) -> TourError {
        TourError::Io(error)
    }
}

/// Runs commands as an agent would, and prints them with their output.
#[derive(Debug)]
pub struct Sandbox {
    /// The directory with the tour's files.
    pub project: PathBuf,
    directory: PathBuf,
    program: PathBuf,
    /// True for a person who reads at a terminal: each step waits for a key.
    pauses: bool,
    /// Set by the signals that would end the process, so that it cleans up first.
    interrupted: Arc<AtomicBool>,
}

impl Sandbox {
    /// Creates the directory.
    ///
    /// # Errors
    /// It can't be created, or exists already.
    pub fn new() -> io::Result<Sandbox> {
        let name = format!("pipemux-tour-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let project = directory.join("project");
        let program = std::env::current_exe()?;
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
        }
        DirBuilder::new().mode(0o700).create(&directory)?;
        let pauses = io::stdin().is_terminal() && io::stdout().is_terminal();
        let sandbox = Sandbox { project, directory, program, pauses, interrupted };
        for directory in [&sandbox.project, &sandbox.directory.join("run")] {
            DirBuilder::new().mode(0o700).create(directory)?;
        }
        Ok(sandbox)
    }

    /// Writes a file into the directory.
    ///
    /// # Errors
    /// It can't be written.
    pub fn write_file(&self, name: &str, text: &str) -> io::Result<()> {
        fs::write(self.project.join(name), text)
    }

    /// Prints a remark and a command, runs the command, and prints and returns its output. At a
    /// terminal it waits for a key first.
    ///
    /// # Errors
    /// The command's exit status is not `expected`, or the user interrupts or leaves the tour.
    pub fn step(
        &mut self,
        remark: &str,
        words: &[&str],
        expected: u8,
    ) -> Result<String, TourError> {
        self.pause("next")?;
        print(&format!("\n{remark}\n$ {}\n", command::command(words)))?;
        let ran = self.command(words).output()?;
        // Ctrl-C has ended the command as well.
        self.check_interrupted()?;
        let mut text = String::from_utf8_lossy(&ran.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&ran.stderr));
        let status = ran.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        if colour::is_wanted(&io::stdout()) {
            print(&colour::answer(&text))?;
        } else {
            print(&text)?;
        }
        if status != 0 {
            print(&format!("(exit {status})\n"))?;
        }
        if status == expected {
            Ok(text)
        } else {
            Err(TourError::UnexpectedStatus { status: status.max(1) })
        }
    }

    /// Waits for a key, if a person reads at a terminal.
    ///
    /// # Errors
    /// The user interrupts or leaves the tour.
    pub fn pause(&self, what: &str) -> Result<(), TourError> {
        self.check_interrupted()?;
        if !self.pauses {
            return Ok(());
        }
        print(&format!("\n[any key: {what} · q: leave]"))?;
        let key = keys::read_key(&self.interrupted);
        // The line of the prompt is used again.
        print("\r\x1b[K")?;
        self.check_interrupted()?;
        match key? {
            Key::Leave => Err(TourError::Left),
            Key::Next => Ok(()),
        }
    }

    fn check_interrupted(&self) -> Result<(), TourError> {
        if self.interrupted.load(Ordering::Relaxed) { Err(TourError::Interrupted) } else { Ok(()) }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .env("PIPEMUX_STATE_DIR", self.directory.join("state"))
            .env("PIPEMUX_RUNTIME_DIR", self.directory.join("run"))
            .env("PIPEMUX_WORKSPACE", "tour")
            .env_remove("PIPEMUX_READER")
            // The address is that of the user's own daemon.
            .env_remove("PIPEMUX_METRICS")
            .current_dir(&self.project)
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = self.command(&["down"]).output();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Writes to standard output.
///
/// # Errors
/// Nobody reads the output, or it can't be written.
pub fn print(text: &str) -> Result<(), TourError> {
    match output::write_stdout(text.as_bytes())? {
        WriteOutcome::Complete => Ok(()),
        WriteOutcome::ReaderGone => Err(TourError::ReaderGone),
    }
}

/// Returns the labels and refs of a printed document's links, such as `[undo](link:14)`, in order.
pub fn parse_links(text: &str) -> Vec<(&str, &str)> {
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

/// Formats a path relative to the project's root if it is below it.
pub fn relative_display<'a>(path: &'a Path, root: &Path) -> std::path::Display<'a> {
    path.strip_prefix(root).unwrap_or(path).display()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_parsed_from_printed_markdown() {
        let text = "## editor/main · [x]\n[next page](link:3) [undo](link:14 \"editor.undo()\") \
                    [a thing](obj:7) [odd](link:x) [深い](link:5)\n[cut](link:";
        assert_eq!(
            parse_links(text),
            [("next page", "link:3"), ("undo", "link:14"), ("深い", "link:5")]
        );
        assert_eq!(parse_links("](link:1)"), []);
    }
}
