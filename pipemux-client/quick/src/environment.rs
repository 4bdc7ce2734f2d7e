//! What the environment says of workspace, reader and daemon, as the client's `Options::from_env`
//! reads it.

use crate::limits::{SESSION_MAX, VARIABLES_BYTES_MAX, VARIABLES_MAX};

/// The relevant environment variables. Empty ones count as absent.
#[derive(Debug, Default)]
pub struct Environment<'a> {
    pub state_dir: Option<&'a str>,
    pub runtime_dir: Option<&'a str>,
    pub xdg_state: Option<&'a str>,
    pub xdg_runtime: Option<&'a str>,
    pub home: Option<&'a str>,
    pub workspace: Option<&'a str>,
    pub reader: Option<&'a str>,
    pub reader_token: Option<&'a str>,
    sessions: [Option<&'a str>; 4],
    passed: Passed<'a>,
}

/// The environment variables that are passed to an app when it is opened.
#[derive(Debug, Default)]
struct Passed<'a> {
    variables: [(&'a str, &'a str); VARIABLES_MAX],
    count: usize,
    bytes: usize,
}

/// The variables that are passed to an app, besides those that begin with `LC_`.
const PASSED: &[&str] = &[
    "CI",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// The harnesses with a variable for their sessions, in [`Environment::place`]'s order.
const HARNESSES: [&str; 4] = ["claude-code", "codex", "gemini", "opencode"];

impl<'a> Environment<'a> {
    /// Reads texts such as `NAME=value`; `None` if one that counts is no text, or stands there
    /// twice.
    pub fn read(entries: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let mut found = Self::default();
        for entry in entries {
            let at = entry.iter().position(|byte| *byte == b'=');
            let Some((name, value)) = at.and_then(|at| entry.split_at_checked(at)) else {
                continue;
            };
            // What is no text is none of the names.
            let Ok(name) = core::str::from_utf8(name) else { continue };
            let is_passed = PASSED.contains(&name) || name.starts_with("LC_");
            let place = found.place(name);
            if place.is_none() && !is_passed {
                continue;
            }
            let value = core::str::from_utf8(value.get(1..)?).ok()?;
            match place {
                Some(place) if !value.is_empty() => match place {
                    None => *place = Some(value),
                    Some(_) => return None,
                },
                _ => {}
            }
            if is_passed {
                found.passed.insert(name, value)?;
            }
        }
        Some(found)
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<&'a str>> {
        let [claude, codex, gemini, opencode] = &mut self.sessions;
        Some(match name {
            "PIPEMUX_STATE_DIR" => &mut self.state_dir,
            "PIPEMUX_RUNTIME_DIR" => &mut self.runtime_dir,
            "XDG_STATE_HOME" => &mut self.xdg_state,
            "XDG_RUNTIME_DIR" => &mut self.xdg_runtime,
            "HOME" => &mut self.home,
            "PIPEMUX_WORKSPACE" => &mut self.workspace,
            "PIPEMUX_READER" => &mut self.reader,
            "PIPEMUX_READER_TOKEN" => &mut self.reader_token,
            "CLAUDE_CODE_SESSION_ID" => claude,
            "CODEX_THREAD_ID" => codex,
            "GEMINI_SESSION_ID" => gemini,
            "OPENCODE_SESSION_ID" => opencode,
            _ => return None,
        })
    }

    /// Returns the harness that started this process and its session, if it names one.
    pub fn session(&self) -> Option<(&'static str, &'a str)> {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let is_name = |name: &&str| name.len() <= SESSION_MAX && name.bytes().all(is_plain);
        let named = HARNESSES.iter().zip(&self.sessions);
        let mut named = named.filter_map(|(harness, session)| Some((*harness, (*session)?)));
        named.find(|(_, session)| is_name(session))
    }

    /// Returns the variables that an app gets, in the order of their names.
    pub fn passed(&self) -> &[(&'a str, &'a str)] {
        self.passed.variables.get(..self.passed.count).unwrap_or_default()
    }
}

impl<'a> Passed<'a> {
    fn insert(&mut self, name: &'a str, value: &'a str) -> Option<()> {
        self.bytes = self.bytes.saturating_add(name.len()).saturating_add(value.len());
        if self.bytes > VARIABLES_BYTES_MAX {
            return None;
        }
        let held = self.variables.get(..self.count)?;
        let at = held.partition_point(|(other, _)| *other < name);
        if held.get(at).is_some_and(|(other, _)| *other == name) {
            return None;
        }
        self.variables.get_mut(at..=self.count)?.rotate_right(1);
        *self.variables.get_mut(at)? = (name, value);
        self.count = self.count.wrapping_add(1);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::client::{PASSED_VARIABLES, is_passed_variable};

    fn read(entries: &[&'static str]) -> Option<Environment<'static>> {
        let entries: std::vec::Vec<&'static [u8]> =
            entries.iter().map(|text| text.as_bytes()).collect();
        Environment::read(entries.into_iter())
    }

    #[test]
    fn variables_are_found_and_passed_in_order() {
        let found =
            read(&["PATH=/bin", "SECRET=s", "HOME=/h", "LC_ALL=C", "=x", "y", "PIPEMUX_READER="])
                .unwrap();
        assert_eq!((found.home, found.reader), (Some("/h"), None));
        assert_eq!(found.passed(), [("HOME", "/h"), ("LC_ALL", "C"), ("PATH", "/bin")]);
        assert!(found.passed().iter().all(|(name, _)| is_passed_variable(name)));
        assert_eq!(PASSED, PASSED_VARIABLES);
        assert!(read(&["HOME=/a", "HOME=/b"]).is_none());
        assert!(Environment::read([&b"HOME=\xff"[..]].into_iter()).is_none());
        assert!(Environment::read([&b"OTHER=\xff"[..]].into_iter()).is_some());
        let long = std::format!("PATH={}", "x".repeat(VARIABLES_BYTES_MAX));
        assert!(Environment::read([long.as_bytes()].into_iter()).is_none());
    }

    #[test]
    fn session_is_the_first_that_is_a_name() {
        let found = read(&["CODEX_THREAD_ID=a b", "GEMINI_SESSION_ID=g-1"]).unwrap();
        assert_eq!(found.session(), Some(("gemini", "g-1")));
        assert_eq!(read(&["CODEX_THREAD_ID="]).unwrap().session(), None);
    }
}
