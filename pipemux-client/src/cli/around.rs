//! What a command line has around it: standard input, a directory, an environment. A command has its
//! process's own; a line of `pipemux pipe` brings its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pipemux_client::ClientError;

use super::stdin;

/// Most bytes of environment that are sent; a frame has room for four times as much.
const ENV_MAX: usize = 256 * 1024;

/// What a command line may ask for besides its words.
pub trait Around {
    /// Standard input to its end, at most so many bytes.
    ///
    /// # Errors
    /// It can't be had.
    fn stdin(&self, most: usize) -> Result<String, ClientError>;

    /// The current directory.
    ///
    /// # Errors
    /// There is none.
    fn directory(&self) -> Result<PathBuf, ClientError>;

    /// The environment.
    fn variables(&self) -> Vec<(OsString, OsString)>;

    /// The current directory as text.
    ///
    /// # Errors
    /// There is none, or its path isn't text.
    fn cwd(&self) -> Result<String, ClientError> {
        self.directory()?.into_os_string().into_string().map_err(|path| {
            let path = path.display();
            ClientError::invalid(format!("the current directory's path is not UTF-8: {path}"))
                .hint("cd to a directory whose path is")
        })
    }

    /// The variables that an `open` sends.
    fn environment(&self) -> BTreeMap<String, String> {
        fitting(self.variables().into_iter(), ENV_MAX)
    }

    /// A path as it is typed, from the root on.
    ///
    /// # Errors
    /// It is relative, and there is no directory.
    fn absolute(&self, path: &Path) -> Result<PathBuf, ClientError> {
        match path.is_absolute() {
            true => Ok(path.to_owned()),
            false => Ok(self.directory()?.join(path)),
        }
    }
}

/// A process's own.
#[derive(Debug)]
pub struct Process {
    /// How long standard input may take.
    pub timeout: Duration,
}

impl Around for Process {
    fn stdin(&self, most: usize) -> Result<String, ClientError> {
        stdin::text(most, self.timeout)
    }

    fn directory(&self) -> Result<PathBuf, ClientError> {
        std::env::current_dir().map_err(|error| {
            ClientError::invalid(format!("there is no current directory: {error}"))
                .hint("cd to one that exists")
        })
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        std::env::vars_os().collect()
    }
}

/// The variables that are text; when they are more than fits, the longest are left out: those that apps
/// live by (`PATH`, `HOME`, `LANG`) are short.
fn fitting(
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
    fn what_is_not_text_or_too_long_stays_behind() {
        let variables = [
            pair("HUGE", &"x".repeat(100)),
            pair("PATH", "/bin"),
            (OsString::from("BAD"), OsString::from_vec(vec![0xff])),
            pair("LANG", "日本"),
        ];
        let kept = fitting(variables.into_iter(), 100);
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["LANG", "PATH"]);
    }

    #[test]
    fn the_bound_is_exact() {
        let variables = || [pair("A", "12"), pair("B", "12")].into_iter();
        assert_eq!(fitting(variables(), 6).len(), 2);
        assert_eq!(fitting(variables(), 5).keys().collect::<Vec<_>>(), ["A"]);
        assert_eq!(fitting(variables(), 0).len(), 0);
    }
}
