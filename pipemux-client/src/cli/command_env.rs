//! The environment of a command line: standard input, current directory and variables. A command has those of its
//! process; a request of `pipemux pipe` may bring its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pipemux_client::ClientError;

use super::{prompt, stdin};

/// Most bytes of environment variables that are sent. A frame has room for four times as much.
const ENV_MAX: usize = 256 * 1024;

/// What a command line can use besides its arguments.
pub trait CommandEnv {
    /// Reads standard input to its end.
    ///
    /// # Errors
    /// It can't be read, isn't text, or is longer than `most` bytes.
    fn stdin(&self, most: usize) -> Result<String, ClientError>;

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
        limit_variables(self.variables().into_iter(), ENV_MAX)
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

/// The environment of this process.
#[derive(Debug)]
pub struct ProcessEnv {
    /// How long standard input may take to end.
    pub timeout: Duration,
}

impl CommandEnv for ProcessEnv {
    fn stdin(&self, most: usize) -> Result<String, ClientError> {
        stdin::read_text(most, self.timeout)
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

/// Keeps the variables that are text. If they exceed `most` bytes, the longest are left out: the ones that apps
/// depend on (`PATH`, `HOME`, `LANG`) are short.
fn limit_variables(
    variables: impl Iterator<Item = (OsString, OsString)>,
    most: usize,
) -> BTreeMap<String, String> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let mut found: Vec<(String, String)> = variables.filter_map(text).collect();
    found.sort_by_cached_key(|(name, value)| (name.len() + value.len(), name.clone()));
    let mut left = most;
    found
        .into_iter()
        .map_while(|(name, value)| {
            left = left.checked_sub(name.len() + value.len())?;
            Some((name, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn pair(name: &str, value: &str) -> (OsString, OsString) {
        (name.into(), value.into())
    }

    #[test]
    fn variables_that_are_not_text_or_too_long_are_left_out() {
        let variables = [
            pair("HUGE", &"x".repeat(100)),
            pair("PATH", "/bin"),
            (OsString::from("BAD"), OsString::from_vec(vec![0xff])),
            pair("LANG", "日本"),
        ];
        let kept = limit_variables(variables.into_iter(), 100);
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["LANG", "PATH"]);
    }

    #[test]
    fn variables_of_exactly_the_limit_fit() {
        let variables = || [pair("A", "12"), pair("B", "12")].into_iter();
        assert_eq!(limit_variables(variables(), 6).len(), 2);
        assert_eq!(limit_variables(variables(), 5).keys().collect::<Vec<_>>(), ["A"]);
        assert_eq!(limit_variables(variables(), 0).len(), 0);
    }
}
