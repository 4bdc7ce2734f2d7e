//! Starts a command in a terminal of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::path::PathBuf;
use std::sync::Arc;

use docui::Fault;
use filedescriptor::FileDescriptor;
use pipemux_confine::{Domain, Launch, launch};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::limits::{COLUMNS, ROWS};
use crate::members::MARK;
use crate::order::Order;
use crate::orphans;
use crate::permit::Permit;

pub struct Started {
    /// The process, which leads a session and a process group of its own.
    pub child: Box<dyn Child + Send + Sync>,
    /// The id of the process.
    pub leader: i32,
    /// The terminal, which exists as long as this handle.
    pub terminal: Box<dyn MasterPty + Send>,
    pub output: Box<dyn Read + Send>,
    /// The file to which typed input is written.
    pub input: File,
    /// The restrictions on the command; `None` if it may do what the user may.
    pub domain: Option<Arc<Domain>>,
    /// What tells the program that confines itself what to become: it reads this by its path while
    /// this is open.
    pub launch_file: Option<File>,
}

/// Starts what a permit is for, in its domain.
///
/// # Errors
/// There is no such directory, or the system gives no terminal or process.
pub(crate) fn start(permit: Permit, mark: &str) -> Result<(Order, Started), Fault> {
    let (order, domain) = permit.into_parts();
    let started = start_in(&order, domain, mark)?;
    Ok((order, started))
}

fn start_in(order: &Order, domain: Option<Arc<Domain>>, mark: &str) -> Result<Started, Fault> {
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        let error = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        Fault::failed(format!("{what}: {error}"))
    };
    // A directory that is removed meanwhile stays the one that is meant, or there is none: the
    // library would take the home directory in its place.
    let folder = File::open(&order.cwd).ok().filter(|_| order.cwd.is_dir());
    let folder = folder.ok_or_else(|| order.no_folder())?;
    let opened = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    let cwd = if opened.is_dir() { &opened } else { &order.cwd };
    let shell = if finds(order, "bash") { "bash" } else { "/bin/sh" };
    // A line that begins as an option does isn't one behind a blank.
    let line = if order.line.starts_with(['-', '+']) { " " } else { "" }.to_owned() + &order.line;
    let arguments = match &order.shell {
        Some(kept) if shell == "bash" => kept.arguments(&line),
        _ => [shell.to_owned(), "-c".to_owned(), line].map(OsString::from).into(),
    };
    let env = environment(order, domain.as_deref(), mark);
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
    let output = pair.master.try_clone_reader().map_err(|error| failed("its output", &error))?;
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
            .map_err(|error| failed(&format!("{} can't be started", order.line), &error))?;
        let leader = child.process_id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0);
        Ok((child, leader))
    })?;
    Ok(Started { child, leader, terminal: pair.master, output, input, domain, launch_file })
}

/// Returns the variables with which it runs.
fn environment(order: &Order, domain: Option<&Domain>, mark: &str) -> BTreeMap<OsString, OsString> {
    let own = order.env.iter().map(|(name, value)| (name.into(), value.into()));
    let mut env: BTreeMap<OsString, OsString> = own.collect();
    env.insert("PWD".into(), order.cwd.clone().into());
    env.insert(MARK.into(), mark.into());
    if let Some(temporary) = domain.and_then(|domain| domain.grants.temporary.as_ref()) {
        env.insert("TMPDIR".into(), temporary.into());
    }
    env
}

fn finds(order: &Order, program: &str) -> bool {
    let path = order.env.get("PATH").map_or("", String::as_str);
    path.split(':').any(|folder| order.cwd.join(folder).join(program).is_file())
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

/// A borrowed file descriptor, which something else keeps open.
struct Descriptor(RawFd);

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0
    }
}
