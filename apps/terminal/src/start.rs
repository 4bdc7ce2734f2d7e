//! Starts a command in a terminal of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use docui::Fault;
use filedescriptor::FileDescriptor;
use pipemux_confine::{Domain, Launch, launch};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use sha2::{Digest, Sha256};

use crate::limits::{COLUMNS, ROWS};
use crate::permit::Permit;
use crate::shell::Shell;
use crate::{orphans, process};

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The command line, as a shell reads it.
    pub line: String,
    /// The directory in which it runs.
    pub cwd: PathBuf,
    /// Variables that were given with the call.
    pub given: BTreeMap<String, String>,
    /// All variables.
    pub env: BTreeMap<String, String>,
    /// The shell that its reader keeps, for a line that is typed into that.
    pub(crate) shell: Option<Shell>,
    /// True if the call returns the command's name: who asks for its output names it, since others
    /// may run commands at the same time.
    pub(crate) is_told: bool,
}

/// A command that was started.
pub struct Started {
    /// The process, which leads a session and a group of its own.
    pub child: Box<dyn Child + Send + Sync>,
    /// Its process id.
    pub leader: i32,
    /// The terminal, which lasts as long as this.
    pub terminal: Box<dyn MasterPty + Send>,
    /// What it prints.
    pub output: Box<dyn Read + Send>,
    /// What is typed.
    pub input: File,
    /// What it is held to; nothing if it may do what the user may.
    pub domain: Option<Arc<Domain>>,
    /// What tells the program that confines itself what to become: it reads this by its path while
    /// this is open.
    pub launch_file: Option<File>,
}

/// Variables that every command gets: nothing may wait for a person who turns pages, and what moves
/// in a terminal costs an agent as much as what is said.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("NO_COLOR", "1"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ("npm_config_progress", "false"),
    ("PIP_PROGRESS_BAR", "off"),
];

/// The language and encoding that every command has unless its call says otherwise.
const LOCALE: &str = if cfg!(target_os = "macos") { "en_US.UTF-8" } else { "C.UTF-8" };

/// Where programs are looked for when the opener's environment doesn't say.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Order {
    /// Returns true if it seems to keep something in a repository, which no file of the project
    /// shows.
    pub fn commits(&self) -> bool {
        let has = |names: &[&str]| self.line.split_whitespace().any(|word| names.contains(&word));
        has(&["git"]) && has(&["commit", "push"])
    }

    /// Makes an order; `env` is what the opener's environment has.
    pub fn new(
        line: String,
        cwd: PathBuf,
        given: BTreeMap<String, String>,
        env: &BTreeMap<String, String>,
    ) -> Self {
        let mut all = env.clone();
        // In some encodings a backslash can be the second byte of a character, so a shell would
        // read another line than is written. Without any locale, programs print names outside of
        // ASCII as escapes.
        all.retain(|name, _| !is_locale(name));
        all.insert("LANG".to_owned(), LOCALE.to_owned());
        all.entry("PATH".to_owned()).or_insert_with(|| PATH.to_owned());
        all.extend(
            ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        all.extend(given.clone());
        Self { line, cwd, given, env: all, shell: None, is_told: false }
    }

    /// Returns the line with the variables that were given, as it is asked for and told: without
    /// what a secret is.
    pub fn whole(&self) -> String {
        let shown = |(name, value): (&String, &String)| match is_secret(name) {
            true => format!("{name}=*** "),
            false => format!("{name}={} ", quoted(value)),
        };
        self.given.iter().map(shown).collect::<String>() + &self.line
    }

    /// Starts what a permit is for, in its domain.
    ///
    /// # Errors
    /// There is no such directory, or the system gives no terminal or process.
    pub(crate) fn start(permit: Permit, mark: &str) -> Result<(Self, Started), Fault> {
        let (order, domain) = permit.into_parts();
        let started = order.start_in(domain, mark)?;
        Ok((order, started))
    }

    fn start_in(&self, domain: Option<Arc<Domain>>, mark: &str) -> Result<Started, Fault> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            let error = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            Fault::failed(format!("{what}: {error}"))
        };
        // A directory that is removed meanwhile stays the one that is meant, or there is none: the
        // library would take the home directory in its place.
        let folder = File::open(&self.cwd).ok().filter(|_| self.cwd.is_dir());
        let folder = folder.ok_or_else(|| self.no_folder())?;
        let opened = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
        let cwd = if opened.is_dir() { &opened } else { &self.cwd };
        let shell = if self.finds("bash") { "bash" } else { "/bin/sh" };
        // A line that begins as an option does isn't one behind a blank.
        let line = if self.line.starts_with(['-', '+']) { " " } else { "" }.to_owned() + &self.line;
        let arguments = match &self.shell {
            Some(kept) if shell == "bash" => kept.arguments(&line),
            _ => [shell.to_owned(), "-c".to_owned(), line].map(OsString::from).into(),
        };
        let env = self.environment(domain.as_deref(), mark);
        let (arguments, launch_file) = match &domain {
            None => (arguments, None),
            Some(domain) => {
                let (arguments, file) = confined(domain, &env, arguments)
                    .map_err(|error| failed("it can't be started confined", &error))?;
                (arguments, Some(file))
            }
        };
        let mut command = CommandBuilder::from_argv(arguments);
        command.env_clear();
        // What confines itself first gets them then.
        if domain.is_none() {
            env.into_iter().for_each(|(name, value)| command.env(name, value));
        }
        command.cwd(cwd);
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system()
            .openpty(size)
            .map_err(|error| failed("the system gives no terminal", &error))?;
        let output =
            pair.master.try_clone_reader().map_err(|error| failed("its output", &error))?;
        // Not the library's writer, which waits when it is dropped.
        let master = pair.master.as_raw_fd().map(Descriptor);
        let input = master
            .ok_or_else(|| Fault::failed("its input: the terminal has no descriptor"))
            .and_then(|master| {
                let own = FileDescriptor::dup(&master).and_then(|own| own.as_file());
                own.map_err(|error| failed("its input", &error))
            })?;
        let (child, leader) = orphans::start(|| {
            let child = pair
                .slave
                .spawn_command(command)
                .map_err(|error| failed(&format!("{} can't be started", self.line), &error))?;
            let leader = child.process_id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0);
            Ok((child, leader))
        })?;
        Ok(Started { child, leader, terminal: pair.master, output, input, domain, launch_file })
    }

    /// Returns the variables with which it runs.
    fn environment(&self, domain: Option<&Domain>, mark: &str) -> BTreeMap<OsString, OsString> {
        let own = self.env.iter().map(|(name, value)| (name.into(), value.into()));
        let mut env: BTreeMap<OsString, OsString> = own.collect();
        env.insert("PWD".into(), self.cwd.clone().into());
        env.insert(process::MARK.into(), mark.into());
        if let Some(temporary) = domain.and_then(|domain| domain.grants.temporary.as_ref()) {
            env.insert("TMPDIR".into(), temporary.into());
        }
        env
    }

    /// Checks that its directory exists.
    ///
    /// # Errors
    /// It doesn't.
    pub fn check(&self) -> Result<(), Fault> {
        if self.cwd.is_dir() { Ok(()) } else { Err(self.no_folder()) }
    }

    fn no_folder(&self) -> Fault {
        Fault::not_found(format!("cwd: there is no folder {}", self.cwd.display()))
    }

    fn finds(&self, program: &str) -> bool {
        let path = self.env.get("PATH").map_or("", String::as_str);
        path.split(':').any(|folder| self.cwd.join(folder).join(program).is_file())
    }
}

/// Returns how this program is started to become a command that is confined, and what tells it.
#[cfg(target_os = "linux")]
fn confined(
    domain: &Domain,
    env: &BTreeMap<OsString, OsString>,
    args: Vec<OsString>,
) -> io::Result<(Vec<OsString>, File)> {
    let variable = |(name, value): (&OsString, &OsString)| {
        let mut variable = name.clone();
        variable.push("=");
        variable.push(value);
        variable
    };
    let launch = Launch::new(domain, env.iter().map(variable).collect(), args);
    let mut told = File::from(rustix::fs::memfd_create("told", rustix::fs::MemfdFlags::CLOEXEC)?);
    told.write_all(&launch.to_bytes()?)?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), told.as_raw_fd());
    // What runs here, also where another program was put in its place since.
    Ok((vec!["/proc/self/exe".into(), launch::ARGUMENT.into(), path.into()], told))
}

#[cfg(not(target_os = "linux"))]
fn confined(
    _: &Domain,
    _: &BTreeMap<OsString, OsString>,
    _: Vec<OsString>,
) -> io::Result<(Vec<OsString>, File)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns what tells orders from any others: their lines, directories and variables, as a digest,
/// since a variable may be a secret.
pub fn identity(orders: &[&Order]) -> String {
    let mut digest = Sha256::new();
    for Order { line, cwd, given, .. } in orders {
        let parts =
            serde_json::to_vec(&(line, cwd.as_os_str().as_bytes(), given)).unwrap_or_default();
        digest.update(Sha256::digest(parts));
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A descriptor that something else keeps open.
struct Descriptor(RawFd);

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0
    }
}

fn is_locale(name: &str) -> bool {
    name == "LANG" || name == "LANGUAGE" || name.starts_with("LC_")
}

/// Returns true for a variable whose value nobody should read: by its name, as those are named that
/// have one.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // They name a program, or are one: whoever is asked has to see it.
    if name.ends_with("_ASKPASS") || name.starts_with("BASH_FUNC_") || name.contains("AUTHOR_") {
        return false;
    }
    ["TOKEN", "SECRET", "PASS", "PWD", "KEY", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE", "DSN"]
        .iter()
        .any(|part| name.contains(part))
}

/// Returns a value as a shell reads it.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,@%+".contains(c);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(line: &str, given: &[(&str, &str)]) -> Order {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Order::new(line.to_owned(), "/p".into(), given.collect(), &BTreeMap::new())
    }

    #[test]
    fn secrets_are_not_told_and_values_are_quoted() {
        assert_eq!(
            order("a", &[("API_TOKEN", "x"), ("B", "1 2"), ("C", "d")]).whole(),
            "API_TOKEN=*** B='1 2' C=d a"
        );
        assert_eq!(order("a", &[("B", "it's")]).whole(), r"B='it'\''s' a");
        let (one, two) = (order("a", &[("TOKEN", "x")]), order("a", &[("TOKEN", "y")]));
        assert_eq!(one.whole(), two.whole());
        assert_ne!(identity(&[&one]), identity(&[&two]));
        assert_ne!(identity(&[&one]), identity(&[&one, &one]));
    }

    #[test]
    fn locale_is_that_of_the_call_and_never_that_of_the_opener() {
        let opener =
            [("LANG", "zh_CN.GBK"), ("LC_ALL", "zh_TW.Big5"), ("LANGUAGE", "de"), ("A", "b")];
        let opener = opener.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let of = |given: &[(&str, &str)]| {
            let given = given.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let env = Order::new("a".to_owned(), "/p".into(), given.collect(), &opener).env;
            let locale = env.iter().filter(|(name, _)| is_locale(name));
            locale.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(of(&[]), [format!("LANG={LOCALE}")]);
        assert_eq!(
            of(&[("LC_ALL", "de_DE.UTF-8")]),
            [format!("LANG={LOCALE}"), "LC_ALL=de_DE.UTF-8".into()]
        );
        assert_eq!(of(&[("LANG", "C")]), ["LANG=C"]);
    }
}
