//! Starts a confined command: a helper program confines itself and then executes the command that
//! it was given.
//!
//! The helper reads what to execute from a file that exists only in memory, since variables may be
//! secrets. It has no environment variables itself: one such as `LD_PRELOAD` would run code before
//! the confinement.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::domain::{Domain, confine};

/// The first argument of a program that is to become a command. The second one is the path of what
/// it is told.
pub const ARGUMENT: &str = "--confined";

/// The exit status of a command that couldn't be started, by shell convention.
const NOT_STARTED: u8 = 126;

/// The program to execute, and its restrictions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    places: BTreeSet<PathBuf>,
    network: bool,
    /// Variables, each as `NAME=value`.
    env: Vec<OsString>,
    /// The program and its arguments.
    args: Vec<OsString>,
}

impl Launch {
    /// Says that a program with these variables is to be held to a domain.
    pub fn new(domain: &Domain, env: Vec<OsString>, args: Vec<OsString>) -> Self {
        let Domain { grants, network } = domain;
        Self { places: grants.places.clone(), network: *network, env, args }
    }

    /// Writes it down: each text behind a letter and in front of a zero.
    ///
    /// # Errors
    /// One of the texts has a zero, so that what is behind it would be read as another one.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let network = self.network.then_some((b'n', OsStr::new("")));
        let places = self.places.iter().map(|place| (b'p', place.as_os_str()));
        let env = self.env.iter().map(|variable| (b'e', variable.as_os_str()));
        let args = self.args.iter().map(|arg| (b'a', arg.as_os_str()));
        let mut bytes = Vec::new();
        for (letter, text) in places.chain(env).chain(args).chain(network) {
            if text.as_bytes().contains(&0) {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "a text with a zero"));
            }
            bytes.push(letter);
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
        }
        Ok(bytes)
    }

    /// Reads what [`Launch::to_bytes`] wrote.
    fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        let mut launch = Self::default();
        let Some(bytes) = bytes.strip_suffix(&[0]) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        for text in bytes.split(|byte| *byte == 0) {
            let Some((letter, text)) = text.split_first() else {
                return Err(io::ErrorKind::InvalidData.into());
            };
            let text = OsString::from_vec(text.to_vec());
            match letter {
                b'p' => drop(launch.places.insert(text.into())),
                b'e' => launch.env.push(text),
                b'a' => launch.args.push(text),
                b'n' => launch.network = true,
                _ => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
        Ok(launch)
    }

    /// Confines this process and becomes the command. Returns only if that can't be done.
    fn become_command(&self) -> io::Error {
        if let Err(error) = confine(&self.places, self.network) {
            return error;
        }
        let Some((program, args)) = self.args.split_first() else {
            return io::ErrorKind::InvalidData.into();
        };
        let mut command = Command::new(program);
        command.args(args).env_clear();
        for variable in &self.env {
            let bytes = variable.as_bytes();
            let at = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
            let value = bytes.get(at.saturating_add(1)..).unwrap_or_default();
            command.env(OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(value));
        }
        command.exec()
    }
}

/// Becomes the command that the file at a path tells of. Returns only if that can't be done, after
/// saying why.
pub fn become_told(path: &Path) -> ExitCode {
    let launch = std::fs::read(path).and_then(|bytes| Launch::from_bytes(&bytes));
    let error = match launch {
        Ok(launch) => launch.become_command(),
        Err(error) => error,
    };
    let _ = writeln!(io::stderr(), "the command can't be started confined: {error}");
    ExitCode::from(NOT_STARTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launch_is_read_as_it_was_written_and_nothing_else_is() {
        let raw = OsString::from_vec(vec![b'/', 0xff, b'\n']);
        let launch = Launch {
            places: ["/a b".into(), PathBuf::from(&raw)].into(),
            network: true,
            env: vec!["A=b=c".into(), "B=".into()],
            args: vec!["sh".into(), "-c".into(), "".into(), raw],
        };
        assert_eq!(Launch::from_bytes(&launch.to_bytes().unwrap()).unwrap(), launch);
        let forged = Launch { env: vec!["A=\0p/".into()], ..launch };
        assert!(forged.to_bytes().is_err());
        for bytes in [&b""[..], b"p/a", b"\0", b"x\0", b"pa\0\0"] {
            assert!(Launch::from_bytes(bytes).is_err(), "{bytes:?}");
        }
    }
}
