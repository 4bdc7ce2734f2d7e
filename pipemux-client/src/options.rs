//! Which daemon, workspace and reader a client uses.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::hash::BuildHasher;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pipemux_proto::app::Progress;
use pipemux_proto::client::{Format, Verb, VerbRequest, Workspace, is_passed_variable};
use pipemux_proto::limits::{CLIENT_NAME_MAX, PASSED_VARIABLES_MAX};
use pipemux_proto::paths::Paths;
use pipemux_proto::run_id;

use crate::error::ClientError;
use crate::known_daemon::KnownDaemon;
use crate::workspace;

/// The default time limit of a request.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The settings that a client needs to connect and to send requests.
#[derive(Debug, Clone)]
pub struct Options {
    /// The locations where the daemon listens and keeps its state.
    pub paths: Paths,
    /// The daemon's program. `None` means `pipemuxd` beside the running program, else the one on
    /// `PATH`.
    pub daemon: Option<PathBuf>,
    /// Whether a daemon is started when none is running.
    pub start: bool,
    /// The workspace in which requests act.
    pub workspace: Workspace,
    /// The name of the reader of the answers.
    pub reader: String,
    /// The token that proves that this client is the reader; empty for none.
    pub reader_token: String,
    /// The client's name in the history ([`client_name`]); empty for a plain command.
    pub client: String,
    /// The time limit of the daemon for a request.
    pub timeout: Duration,
    /// The callback for the progress of a request that is waited for.
    pub progress: Option<fn(&Progress)>,
    /// The daemon that greeted first; no other daemon is accepted in its place.
    pub known_daemon: KnownDaemon,
}

impl Options {
    /// Makes options from the environment and the current directory. The variables are
    /// `PIPEMUX_WORKSPACE`, `PIPEMUX_READER`, `PIPEMUX_READER_TOKEN`, `PIPEMUX_DAEMON`, those of
    /// [`Paths::from_env`], and those in which harnesses name their session ([`session_reader`]).
    ///
    /// # Errors
    /// [`ClientError::Invalid`] when the variables don't yield usable paths.
    pub fn from_env() -> Result<Options, ClientError> {
        let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let paths =
            Paths::from_env(get, nix::unistd::getuid().as_raw()).map_err(ClientError::invalid)?;
        let directory = std::env::current_dir().ok();
        Ok(Options {
            paths,
            daemon: get("PIPEMUX_DAEMON").map(PathBuf::from),
            start: true,
            workspace: workspace::find(get("PIPEMUX_WORKSPACE").as_deref(), directory.as_deref()),
            reader: get("PIPEMUX_READER")
                .or_else(|| session_reader(get))
                .unwrap_or_else(|| workspace::DEFAULT.to_owned()),
            reader_token: get("PIPEMUX_READER_TOKEN").unwrap_or_default(),
            client: harness(get).map_or_else(String::new, |name| client_name("cli", name)),
            timeout: DEFAULT_TIMEOUT,
            progress: None,
            known_daemon: KnownDaemon::default(),
        })
    }

    /// Sets the workspace by name.
    #[must_use]
    pub fn workspace(mut self, name: &str) -> Self {
        self.workspace = workspace::find(Some(name), None);
        self
    }

    /// Sets the reader by name.
    #[must_use]
    pub fn reader(mut self, name: impl Into<String>) -> Self {
        self.reader = name.into();
        self
    }

    /// Says what requests are made with: `exec`, `pipe`, besides the harness that started this
    /// process.
    #[must_use]
    pub fn made_with(mut self, surface: &str) -> Self {
        self.client = client_name(surface, harness(|name| std::env::var(name).ok()).unwrap_or(""));
        self
    }

    /// Makes a call with this workspace and reader and a new id; it asks for an answer in Markdown.
    pub fn call(&self, verb: Verb) -> VerbRequest {
        VerbRequest {
            workspace: self.workspace.clone(),
            reader: self.reader.clone(),
            reader_token: self.reader_token.clone(),
            run_id: new_run_id(),
            format: Format::default(),
            budget: None,
            lod: None,
            at: None,
            client: self.client.clone(),
            hint_options: String::new(),
            diff: 0,
            wait_ms: 0,
            env: if verb.may_open() { own_variables() } else { BTreeMap::new() },
            titles: false,
            cwd: working_directory(),
            verb,
        }
    }
}

/// The variables in which harnesses name their session to the commands and servers that they start,
/// and the harnesses.
const SESSION_VARIABLES: &[(&str, &str)] = &[
    ("CLAUDE_CODE_SESSION_ID", "claude-code"),
    ("CODEX_THREAD_ID", "codex"),
    ("GEMINI_SESSION_ID", "gemini"),
    ("OPENCODE_SESSION_ID", "opencode"),
];

/// Returns the harness that started this process, if it says so.
fn harness(get: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let is_said = |name: &str| get(name).is_some_and(|one| reader_of_session(&one).is_some());
    SESSION_VARIABLES.iter().find(|(variable, _)| is_said(variable)).map(|(_, name)| *name)
}

/// Returns what requests are made with, as history tells it: `mcp claude-code`. A name that is too
/// long loses its end.
pub fn client_name(surface: &str, name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let mut client = format!("{surface} {}", name.trim());
    client.truncate(client.floor_char_boundary(CLIENT_NAME_MAX));
    client.truncate(client.trim_end().len());
    client
}

/// Longest name of a harness's session, in bytes.
const SESSION_MAX: usize = 64;

/// Returns the reader for the session of the harness that started this process: so its commands,
/// its hooks and its server of the Model Context Protocol are one reader, and those of another
/// session aren't.
pub fn session_reader(get: impl Fn(&str) -> Option<String>) -> Option<String> {
    SESSION_VARIABLES.iter().find_map(|(name, _)| reader_of_session(&get(name)?))
}

/// Returns the reader for a harness's session; `None` for what is no name of one.
pub fn reader_of_session(session: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name =
        !session.is_empty() && session.len() <= SESSION_MAX && session.chars().all(is_plain);
    is_name.then(|| format!("session-{session}"))
}

/// Returns the directory that relative paths in calls start from; empty when its path is not UTF-8.
pub(crate) fn working_directory() -> String {
    let directory = std::env::current_dir().ok();
    directory.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or_default()
}

/// Returns the variables of this process that a run sends. They are read once: a server sends them
/// with each call.
fn own_variables() -> BTreeMap<String, String> {
    static VARIABLES: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    VARIABLES.get_or_init(|| passed_variables(std::env::vars_os())).clone()
}

/// Returns those of a caller's environment variables that a run sends for the apps that it opens,
/// at most [`PASSED_VARIABLES_MAX`] bytes: the longest are left out first, and so is what isn't
/// text.
pub fn passed_variables(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<String, String> {
    let passed = |(name, value): (OsString, OsString)| {
        let name = name.into_string().ok().filter(|name| is_passed_variable(name))?;
        Some((name, value.into_string().ok()?))
    };
    let mut found: Vec<(String, String)> = variables.into_iter().filter_map(passed).collect();
    found.sort_by_key(|(name, value)| name.len() + value.len());
    let mut left = PASSED_VARIABLES_MAX;
    let fits = |(name, value): &(String, String)| {
        left = left.saturating_sub(name.len() + value.len());
        left > 0
    };
    found.into_iter().take_while(fits).collect()
}

/// Most bytes of environment variables that an `open` sends. A frame has room for four times as
/// much.
const ENV_MAX: usize = 256 * 1024;

/// Returns the environment variables that an `open` sends: those that are text. If they are too
/// many, the longest are left out: the ones that apps depend on (`PATH`, `HOME`, `LANG`) are short.
pub fn text_variables(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> BTreeMap<String, String> {
    limit_variables(variables, ENV_MAX)
}

fn limit_variables(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    most: usize,
) -> BTreeMap<String, String> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let mut found: Vec<(String, String)> = variables.into_iter().filter_map(text).collect();
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

/// Returns an id that no other call has and that tells when it was made. The system's randomness
/// keys the hasher. The time and the process id are hashed too, so that a forked copy of the
/// process doesn't repeat an id.
fn new_run_id() -> String {
    let (state, unix) = (RandomState::new(), SystemTime::now());
    let now = (Instant::now(), unix, std::process::id());
    let random = u128::from(state.hash_one((0, now))) << 64 | u128::from(state.hash_one((1, now)));
    let since = unix.duration_since(UNIX_EPOCH).unwrap_or_default();
    run_id::new(u64::try_from(since.as_millis()).unwrap_or(u64::MAX), random)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn only_variables_that_every_app_gets_are_passed_within_the_bound() {
        let huge = "x".repeat(PASSED_VARIABLES_MAX);
        let all = [("PATH", "/bin"), ("SECRET", "s"), ("LC_ALL", "C"), ("HOME", &huge)];
        let passed = passed_variables(all.map(|(name, value)| (name.into(), value.into())));
        assert_eq!(passed.keys().collect::<Vec<_>>(), ["LC_ALL", "PATH"]);
    }

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
        let kept = limit_variables(variables, 100);
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["LANG", "PATH"]);
    }

    #[test]
    fn variables_of_exactly_the_limit_fit() {
        let variables = || [pair("A", "12"), pair("B", "12")].into_iter();
        assert_eq!(limit_variables(variables(), 6).len(), 2);
        assert_eq!(limit_variables(variables(), 5).keys().collect::<Vec<_>>(), ["A"]);
        assert_eq!(limit_variables(variables(), 0).len(), 0);
    }

    #[test]
    fn each_session_of_a_harness_is_a_reader() {
        let reader = |name: &'static str, value: &'static str| {
            session_reader(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(reader("CODEX_THREAD_ID", "a-1").as_deref(), Some("session-a-1"));
        assert_ne!(reader("CLAUDE_CODE_SESSION_ID", "a"), reader("CLAUDE_CODE_SESSION_ID", "b"));
        for (name, value) in [("OTHER", "a"), ("CODEX_THREAD_ID", ""), ("CODEX_THREAD_ID", "a b")] {
            assert_eq!(reader(name, value), None);
        }
    }

    #[test]
    fn client_is_named_within_its_bound() {
        assert_eq!(client_name("exec", ""), "exec");
        assert_eq!(client_name("mcp", " a\n\u{1b}b "), "mcp ab");
        let long = client_name("mcp", &"é".repeat(500));
        assert!(long.len() <= CLIENT_NAME_MAX && long.ends_with('é'), "{long}");
    }

    #[test]
    fn run_ids_are_unique_and_tell_when_they_were_made() {
        let ms = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let before = ms();
        let ids: HashSet<String> = (0..2000).map(|_| new_run_id()).collect();
        let after = ms();
        assert_eq!(ids.len(), 2000);
        for id in ids {
            let made = run_id::time_of(&id).expect("a UUID of version 7");
            assert!((before..=after).contains(&made), "{id}");
        }
    }
}
