//! One process, on Linux: its program, descriptors, environment and group.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, fcntl};

use crate::child::{Place, Program, STACK};
use crate::message::Spawn;
use crate::sys;

/// The descriptor that an app finds its connection at.
const APP_FD: i32 = 3;
/// Where programs are sought when the environment doesn't say.
const PATH: &str = "/bin:/usr/bin";

/// Starts processes; what all of them need is made once.
#[derive(Debug)]
pub(crate) struct Spawner {
    /// What an app reads from its standard input: nothing.
    nothing: OwnedFd,
    stack: Vec<u8>,
}

impl Spawner {
    /// # Errors
    /// There is no `/dev/null`.
    pub(crate) fn new() -> io::Result<Self> {
        let nothing = beyond_places(File::open("/dev/null")?.into())?;
        Ok(Self { nothing, stack: vec![0; STACK] })
    }

    /// Starts the process: its connection as descriptor 3, or as standard input and output; the log as the
    /// standard output and error that are left; nothing else open. Returns its process id.
    ///
    /// # Errors
    /// Why it can't be started, in one line.
    pub(crate) fn spawn(
        &mut self,
        order: &Spawn,
        app: OwnedFd,
        log: OwnedFd,
    ) -> Result<i32, String> {
        self.try_spawn(order, app, log).map_err(|error| cannot(&order.command, &error))
    }

    fn try_spawn(&mut self, order: &Spawn, app: OwnedFd, log: OwnedFd) -> io::Result<i32> {
        let (app, log) = (beyond_places(app)?, beyond_places(log)?);
        let (nothing, app, log) = (self.nothing.as_raw_fd(), app.as_raw_fd(), log.as_raw_fd());
        let in_place: &[Place] = match order.stdio {
            true => &[(app, 0), (app, 1), (log, 2)],
            false => &[(nothing, 0), (log, 1), (log, 2), (app, APP_FD)],
        };
        let (name, value) = match order.stdio {
            true => ("PIPEMUX_TRANSPORT", "stdio".to_owned()),
            false => ("PIPEMUX_FD", APP_FD.to_string()),
        };
        let mut env: BTreeMap<&str, &str> =
            order.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        env.insert(name, &value);
        let path = env.get("PATH").copied().unwrap_or(PATH);
        let args: Vec<&str> =
            [&order.command].into_iter().chain(&order.args).map(String::as_str).collect();
        let program = Program::new(
            files(&order.command, path),
            &args,
            env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            &[&order.cwd, &order.fallback_cwd],
        )?;
        sys::start(&program, in_place, order.limits, order.mark, &mut self.stack)
    }
}

/// The same descriptor, under a number that no place of the child has.
fn beyond_places(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > APP_FD {
        return Ok(fd);
    }
    Ok(sys::own(fcntl(&fd, FcntlArg::F_DUPFD_CLOEXEC(APP_FD + 1))?))
}

/// Where a program may be, by its name or path.
fn files(command: &str, path: &str) -> Vec<String> {
    if command.is_empty() || command.contains('/') {
        return vec![command.to_owned()];
    }
    let at = |directory: &str| match directory {
        "" => command.to_owned(),
        _ => format!("{directory}/{command}"),
    };
    path.split(':').map(at).collect()
}

fn cannot(command: &str, error: &io::Error) -> String {
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
    fn a_path_is_taken_as_it_is_and_a_name_sought_where_the_environment_says() {
        assert_eq!(files("/bin/x", "/a:/b"), ["/bin/x"]);
        assert_eq!(files("./x", "/a:/b"), ["./x"]);
        assert_eq!(files("x", "/a::/b/"), ["/a/x", "x", "/b//x"]);
        assert_eq!(files("", "/a"), [""]);
    }
}
