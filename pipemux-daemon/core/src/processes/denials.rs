//! Explains what a confined app was refused: which line of its manifest would grant it.

use pipemux_proto::Fault;

use crate::keys::SessionKey;
use crate::manifest::{FolderAccess, SandboxLevel};
use crate::processes::Processes;
use crate::processes::granted_paths::{folders_of, is_within};
use crate::processes::session::Session;

/// The directories of the system's programs, which all apps may read.
const SYSTEM_PROGRAMS: &[&str] = &["/bin", "/sbin", "/usr", "/lib", "/lib64"];

impl Processes {
    /// Adds to a fault that the sandbox may have caused what the session can access, and which
    /// manifest entry would grant more.
    pub fn explain_denial(&self, key: &SessionKey, fault: &mut Fault) {
        if let Some(session) = self.sessions.get(key) {
            session.explain_denial(self.directories.base(), fault);
        }
    }
}

impl Session {
    /// Like [`Processes::explain_denial`]; `own` is the directory of PipeMux's state.
    fn explain_denial(&self, own: &str, fault: &mut Fault) {
        let (key, manifest) = (&self.key, &self.manifest);
        if manifest.sandbox == SandboxLevel::Off
            || !tells_of_denial(&fault.message, manifest.network)
        {
            return;
        }
        let lower = fault.message.to_lowercase();
        let tells = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let path = path_in(&fault.message);
        // Of a file `EACCES` comes, of a call that the filter refuses `EPERM`.
        let by_filter = tells(&["not permitted", "eperm", "os error 1)"]);
        let line = if !manifest.network
            && (tells(NAME_LOOKUP)
                || by_filter && tells(&["network", "connect", "resolve", "socket"]))
        {
            "network = true".to_owned()
        } else if !manifest.signals && by_filter && tells(&["kill", "signal"]) {
            "signals = true".to_owned()
        } else if !manifest.watch && by_filter && tells(&["inotify", "fanotify", "watch"]) {
            "watch = true".to_owned()
        } else if let Some(path) = path {
            match self.line_that_grants(own, path) {
                Some(line) => line,
                None => return,
            }
        } else if !manifest.exec && tells(&["exec", "spawn", "start"]) {
            "exec = true".to_owned()
        } else {
            "one of network, exec, signals, watch, folder, read, write".to_owned()
        };
        let level = manifest.sandbox.word();
        let hint = match path.filter(|_| manifest.built_in.is_some()) {
            Some(path) if line.starts_with("read") => {
                let command = pipemux_proto::command::quote(path);
                format!("pipemux open {} {command}", key.addr)
            }
            _ if line.is_empty() => "PipeMux's own directories are granted to no app".to_owned(),
            _ => format!("{line} in its manifest grants that"),
        };
        fault.hints.push(format!("{key} runs in the sandbox ({level}): {hint}"));
    }

    /// Returns the manifest line that would grant a path, or an empty text if there is none.
    /// Returns `None` if the path is already granted: the file system itself refused access then.
    fn line_that_grants(&self, own: &str, path: &str) -> Option<String> {
        let manifest = &self.manifest;
        let in_folder = || {
            folders_of(&self.key, self.opens.as_slice())
                .iter()
                .any(|folder| is_within(path, folder))
        };
        let is_program = || SYSTEM_PROGRAMS.iter().any(|directory| is_within(path, directory));
        if is_within(path, own) {
            return Some(String::new());
        }
        if in_folder() {
            return match manifest.folder_access() {
                FolderAccess::None | FolderAccess::Named => Some("folder = \"read\"".to_owned()),
                FolderAccess::Read => Some("folder = \"write\"".to_owned()),
                FolderAccess::Write => None,
            };
        }
        if is_program() {
            return (!manifest.exec).then(|| "exec = true".to_owned());
        }
        Some(format!("read = [{path:?}] or write = [{path:?}]"))
    }
}

/// Phrases, in lower case, of messages about host names that couldn't be looked up.
const NAME_LOOKUP: &[&str] =
    &["name resolution", "resolve host", "getaddrinfo", "eai_again", "lookup address", "dns error"];

/// Returns true for a message about an access that the system refused. A failed name lookup counts,
/// too, unless the app may use the `network`.
pub fn tells_of_denial(message: &str, network: bool) -> bool {
    const SIGNS: &[&str] = &[
        "permission denied",
        "not permitted",
        "permissionerror",
        "eacces",
        "eperm",
        "os error 13",
        "os error 1)",
    ];
    let lower = message.to_lowercase();
    let names = NAME_LOOKUP.iter().filter(|_| !network);
    SIGNS.iter().chain(names).any(|sign| lower.contains(sign))
}

/// The first absolute path in a message.
fn path_in(message: &str) -> Option<&str> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ':' | ',' | ';' | ')');
    let mut rest = message;
    loop {
        let at = rest.find('/')?;
        let starts = rest[..at].chars().next_back().is_none_or(|c| ends(c) || c == '(');
        let found = rest[at..].split(ends).next().unwrap_or_default();
        if starts && found.len() > 1 {
            return Some(found.trim_end_matches('.'));
        }
        rest = &rest[at + found.len().max(1)..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_denial_is_found_in_its_message() {
        let path = |text| path_in(text);
        assert_eq!(path("[Errno 13] Permission denied: '/etc/shadow'"), Some("/etc/shadow"));
        assert_eq!(path("/x/y.rs: permission denied"), Some("/x/y.rs"));
        assert_eq!(path("EACCES: permission denied, open '/x'"), Some("/x"));
        assert_eq!(path("read/write: permission denied"), None);
        assert_eq!(path("permission denied"), None);
        assert!(tells_of_denial("connect: Operation not permitted (os error 1)", false));
        assert!(!tells_of_denial("no such file", false));
        let lookup = "socket.gaierror: [Errno -3] Temporary failure in name resolution";
        assert!(tells_of_denial(lookup, false) && !tells_of_denial(lookup, true));
    }
}
