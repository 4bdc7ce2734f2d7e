//! Starts one process on Linux: its program, descriptors, environment and working directory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, fcntl};

use crate::cgroup::SessionCgroup;
use crate::confine::{Confiner, StartSecret, resolved_script};
use crate::filter_threads::FilterThreads;
use crate::message::Spawn;
use crate::sys::{self, ChildSetup, FdMapping, Program, STACK_SIZE};

/// The descriptor of an app's connection.
const APP_FD: i32 = 3;
/// The search path of programs if the environment has none.
const PATH: &str = "/bin:/usr/bin";

/// Starts processes. It keeps what all of them share.
#[derive(Debug)]
pub(crate) struct Spawner {
    /// An app's standard input, which is empty.
    dev_null: OwnedFd,
    stack: Vec<u8>,
    confiner: Confiner,
    filter_threads: FilterThreads,
}

impl Spawner {
    /// Creates a spawner.
    ///
    /// # Errors
    /// `/dev/null` can't be opened.
    pub(crate) fn new() -> io::Result<Self> {
        let dev_null = above_mapped_fds(File::open("/dev/null")?.into())?;
        let (confiner, filter_threads) = (Confiner::new(), FilterThreads::default());
        Ok(Self { dev_null, stack: vec![0; STACK_SIZE], confiner, filter_threads })
    }

    /// Starts the process. Its connection is descriptor 3, or standard input and output; the
    /// remaining standard descriptors are its log, and nothing else is open. Returns its process
    /// id, and what was left out of its sandbox in whole lines.
    ///
    /// # Errors
    /// Why it can't be started, in one line.
    pub(crate) fn spawn(
        &mut self,
        order: &Spawn,
        app: OwnedFd,
        log: OwnedFd,
        cgroup: Option<&SessionCgroup>,
    ) -> Result<(i32, Vec<String>), String> {
        self.try_spawn(order, app, log, cgroup).map_err(|error| start_error(&order.command, &error))
    }

    /// Prepares what the next start needs, after the last one was reported.
    pub(crate) fn prepare_next(&mut self) {
        self.confiner.prepare_spare();
    }

    fn try_spawn(
        &mut self,
        order: &Spawn,
        app: OwnedFd,
        log: OwnedFd,
        cgroup: Option<&SessionCgroup>,
    ) -> io::Result<(i32, Vec<String>)> {
        let (app, log) = (above_mapped_fds(app)?, above_mapped_fds(log)?);
        let (dev_null, app, log) = (self.dev_null.as_raw_fd(), app.as_raw_fd(), log.as_raw_fd());
        let mappings: Vec<FdMapping> = match order.stdio {
            true => vec![(app, 0), (app, 1), (log, 2)],
            false => vec![(dev_null, 0), (log, 1), (log, 2), (app, APP_FD)],
        };
        let (name, value) = match order.stdio {
            true => ("PIPEMUX_TRANSPORT", "stdio".to_owned()),
            false => ("PIPEMUX_FD", APP_FD.to_string()),
        };
        let mut env: BTreeMap<&str, &str> =
            order.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        env.insert(name, &value);
        let path = env.get("PATH").copied().unwrap_or(PATH);
        let mut args: Vec<String> =
            [&order.command].into_iter().chain(&order.args).cloned().collect();
        let mut files = candidate_paths(&order.command, path);
        let prepared = order
            .sandbox
            .as_ref()
            .map(|sandbox| self.confiner.prepare(sandbox, &files, &order.args, &order.cwd, path));
        let (confinement, left_out) = prepared.transpose()?.unzip();
        let filter = confinement.as_ref().and_then(|confinement| confinement.filter);
        // What `env` would start is a second program.
        if filter.is_some_and(|filter| !filter.exec)
            && let Some(command) = resolved_script(&files, &order.cwd, path)
        {
            files = vec![command[0].clone()];
            args.splice(..1, command);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let program = Program::new(
            files,
            &args,
            env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            &[&order.cwd, &order.fallback_cwd],
        )?;
        let child = ChildSetup {
            mappings,
            limits: order.limits,
            mark: order.mark,
            confinement,
            cgroup: cgroup.map(SessionCgroup::procs),
        };
        let pid = match filter {
            Some(kind) => self.filter_threads.start(kind, program, child)?,
            None => sys::start(&program, &child, &mut self.stack, StartSecret(0))?,
        };
        Ok((pid, left_out.unwrap_or_default()))
    }
}

/// Returns the same descriptor under a number that no descriptor of the child has.
fn above_mapped_fds(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > APP_FD {
        return Ok(fd);
    }
    Ok(sys::own(fcntl(&fd, FcntlArg::F_DUPFD_CLOEXEC(APP_FD + 1))?))
}

/// Returns the paths where a program may be, given its name or path.
fn candidate_paths(command: &str, path: &str) -> Vec<String> {
    if command.is_empty() || command.contains('/') {
        return vec![command.to_owned()];
    }
    let at = |directory: &str| match directory {
        "" => command.to_owned(),
        _ => format!("{directory}/{command}"),
    };
    path.split(':').map(at).collect()
}

fn start_error(command: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("command not found: {command}"),
        io::ErrorKind::PermissionDenied => format!("not executable: {command}"),
        _ => format!("can't start {command}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_used_directly_and_name_is_searched_in_path() {
        assert_eq!(candidate_paths("/bin/x", "/a:/b"), ["/bin/x"]);
        assert_eq!(candidate_paths("./x", "/a:/b"), ["./x"]);
        assert_eq!(candidate_paths("x", "/a::/b/"), ["/a/x", "x", "/b//x"]);
        assert_eq!(candidate_paths("", "/a"), [""]);
    }
}
