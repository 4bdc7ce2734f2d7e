//! The environment of a command line: standard input, current directory and variables. A command
//! has those of its process; a request of `pipemux pipe` may bring its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pipemux_client::ClientError;
use pipemux_client::options::text_variables;

use super::{prompt, stdin};

/// The remark on standard input that a call doesn't use.
pub const UNUSED_INPUT: &str =
    "standard input was not used: the name stdin takes it, as in text=stdin";

/// The inputs of a command line besides its arguments.
pub trait CommandEnv {
    /// Reads standard input to its end.
    ///
    /// # Errors
    /// It can't be read, isn't text, or is longer than `most` bytes.
    fn stdin(&self, most: usize) -> Result<String, ClientError>;

    /// True if there is standard input that was meant for this command alone, such as a
    /// here-document. It isn't read for that, and what comes later isn't waited for.
    fn has_own_input(&self) -> bool;

    /// As [`CommandEnv::has_own_input`], for a command that can't do without input: what is still
    /// being written is waited for.
    fn awaits_input(&self) -> bool {
        self.has_own_input()
    }

    /// Tells that standard input isn't used by a command that was given some.
    ///
    /// # Errors
    /// The request brought it explicitly.
    fn leave_input(&self) -> Result<(), ClientError>;

    /// As [`CommandEnv::stdin`]; a person at a terminal is asked for one line, which isn't echoed.
    ///
    /// # Errors
    /// As [`CommandEnv::stdin`], or the person gave it up.
    fn stdin_or_prompt(&self, most: usize) -> Result<String, ClientError> {
        self.stdin(most)
    }

    /// Returns the current directory.
    ///
    /// # Errors
    /// There is none.
    fn directory(&self) -> Result<PathBuf, ClientError>;

    /// Returns the environment variables.
    fn variables(&self) -> Vec<(OsString, OsString)>;

    /// Returns the current directory as text.
    ///
    /// # Errors
    /// There is none, or its path isn't text.
    fn directory_text(&self) -> Result<String, ClientError> {
        self.directory()?.into_os_string().into_string().map_err(|path| {
            let path = path.display();
            ClientError::invalid(format!("the current directory's path is not UTF-8: {path}"))
                .hint("change to a directory whose path is")
        })
    }

    /// Returns the variables that an `open` sends.
    fn text_variables(&self) -> BTreeMap<String, String> {
        text_variables(self.variables())
    }

    /// Makes a typed path absolute.
    ///
    /// # Errors
    /// The path is relative, and there is no current directory.
    fn absolute_path(&self, path: &Path) -> Result<PathBuf, ClientError> {
        match path.is_absolute() {
            true => Ok(path.to_owned()),
            false => Ok(self.directory()?.join(path)),
        }
    }
}

#[derive(Debug)]
pub struct ProcessEnv {
    /// The longest wait for the end of standard input.
    pub timeout: Duration,
}

impl CommandEnv for ProcessEnv {
    fn stdin(&self, most: usize) -> Result<String, ClientError> {
        stdin::read_text(most, self.timeout)
    }

    fn has_own_input(&self) -> bool {
        stdin::is_own()
    }

    fn awaits_input(&self) -> bool {
        stdin::is_own() || stdin::begins()
    }

    fn leave_input(&self) -> Result<(), ClientError> {
        // A loop may read what follows.
        if stdin::is_own() {
            // A note that can't be written is no reason to fail.
            let _ = writeln!(std::io::stderr(), "note: {UNUSED_INPUT}");
        }
        Ok(())
    }

    fn stdin_or_prompt(&self, most: usize) -> Result<String, ClientError> {
        match std::io::stdin().is_terminal() {
            true => prompt::read_hidden("answer (not shown): ", most),
            false => self.stdin(most),
        }
    }

    fn directory(&self) -> Result<PathBuf, ClientError> {
        std::env::current_dir().map_err(|error| {
            ClientError::invalid(format!("there is no current directory: {error}"))
                .hint("change to one that exists")
        })
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        std::env::vars_os().collect()
    }
}
