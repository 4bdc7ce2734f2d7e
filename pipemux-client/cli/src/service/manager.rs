//! The two service managers: systemd for a user, and launchd.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pipemux_client::proto::Fault;
use pipemux_client::proto::paths::Paths;
use pipemux_client::service_unit::{SERVICE_UNIT, SOCKET_UNIT, directory, holds_socket};
use pipemux_client::{ClientError, Options, daemon};

use super::units::{Daemon, LABEL, MARK, MARK_XML};

/// Variables that decide what the daemon reads, besides its directories.
const VARIABLES: &[&str] = &["PIPEMUX_CONFIG_DIR", "PIPEMUX_METRICS", "XDG_CONFIG_HOME"];

/// A unit file of the service.
#[derive(Debug, Clone)]
pub struct Unit {
    pub path: PathBuf,
    pub text: String,
}

/// The kind of the system's service manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Systemd,
    Launchd,
}

/// A service manager, and the service to be installed.
#[derive(Debug, Clone)]
pub struct Manager {
    kind: Kind,
    pub units: Vec<Unit>,
}

impl Manager {
    /// Returns the service manager that systems like this one have.
    ///
    /// # Errors
    /// There is no home directory, or a path that no unit can name.
    pub fn of_this_system(options: &Options) -> Result<Self, ClientError> {
        let kind = if cfg!(target_os = "macos") { Kind::Launchd } else { Kind::Systemd };
        let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self::new(kind, options, get)
    }

    fn new(
        kind: Kind,
        options: &Options,
        get: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ClientError> {
        let program = absolute_program(options)?;
        let variables = VARIABLES.iter().filter_map(|name| Some((*name, get(name)?)));
        let daemon =
            Daemon { program: &program, paths: &options.paths, variables: variables.collect() };
        daemon.check().map_err(ClientError::invalid)?;
        let no_home = || ClientError::invalid("there is no home directory: set HOME");
        let units = match kind {
            Kind::Systemd => {
                let directory = directory(&get).ok_or_else(no_home)?;
                vec![
                    Unit { path: directory.join(SOCKET_UNIT), text: daemon.socket_unit() },
                    Unit { path: directory.join(SERVICE_UNIT), text: daemon.service_unit() },
                ]
            }
            Kind::Launchd => {
                let home = get("HOME").map(PathBuf::from).ok_or_else(no_home)?;
                let path = home.join(format!("Library/LaunchAgents/{LABEL}.plist"));
                vec![Unit { path, text: daemon.property_list() }]
            }
        };
        let unnameable =
            |unit: &Unit| unit.text.chars().any(|c| c.is_control() && !"\n\t".contains(c));
        if units.iter().any(unnameable) {
            return Err(ClientError::invalid(
                "a path with control characters can't stand in a unit",
            ));
        }
        Ok(Self { kind, units })
    }

    /// Checks that the service manager can be asked.
    ///
    /// # Errors
    /// It can't; what to do instead.
    pub fn check_available(&self) -> Result<(), ClientError> {
        let (probe, name) = match self.kind {
            Kind::Systemd => (words("systemctl --user show-environment"), "systemd"),
            Kind::Launchd => (words("launchctl version"), "launchd"),
        };
        run(&probe).map(drop).map_err(|why| {
            refused(format!(
                "no {name} manages this user's services ({why}); every command starts the daemon"
            ))
            .hint("to have it from login on: echo 'pipemux up > /dev/null' >> ~/.profile")
        })
    }

    /// True while the service is enabled and waits for clients.
    pub fn is_active(&self) -> bool {
        match self.kind {
            Kind::Systemd => ["is-enabled", "is-active"]
                .iter()
                .all(|what| run(&words(&format!("systemctl --user {what} {SOCKET_UNIT}"))).is_ok()),
            Kind::Launchd => run(&launchd("print")).is_ok(),
        }
    }

    /// A phrase that describes the state of the service.
    pub fn state(&self) -> String {
        let ask = |what: &str, unit: &str| {
            let command = words(&format!("systemctl --user {what} {unit}"));
            let [program, arguments @ ..] = &command[..] else { return String::new() };
            let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
            let text = output.map(|found| String::from_utf8_lossy(&found.stdout).trim().to_owned());
            text.ok().filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
        };
        match self.kind {
            Kind::Systemd => format!(
                "socket {} ({}), service {}",
                ask("is-active", SOCKET_UNIT),
                ask("is-enabled", SOCKET_UNIT),
                ask("is-active", SERVICE_UNIT)
            ),
            Kind::Launchd if self.is_active() => "agent loaded".to_owned(),
            Kind::Launchd => "agent not loaded".to_owned(),
        }
    }

    /// The commands of an installation, in order. A socket that a running daemon has isn't started.
    pub fn install_commands(&self, is_taken: bool) -> Vec<Vec<String>> {
        let mut commands = match self.kind {
            Kind::Systemd => vec![
                words("systemctl --user daemon-reload"),
                words(&format!("systemctl --user enable {SOCKET_UNIT}")),
            ],
            Kind::Launchd => Vec::new(),
        };
        if !is_taken {
            commands.push(self.start_command());
        }
        commands
    }

    /// The command after which the service waits for clients.
    pub fn start_command(&self) -> Vec<String> {
        match self.kind {
            Kind::Systemd => words(&format!("systemctl --user start {SOCKET_UNIT}")),
            Kind::Launchd => {
                let path = self.units.first().map(|unit| unit.path.display().to_string());
                let domain = format!("gui/{}", nix::unistd::getuid());
                vec!["launchctl".into(), "bootstrap".into(), domain, path.unwrap_or_default()]
            }
        }
    }

    /// A description of what an installed service does next.
    pub fn what_happens_next(&self) -> &'static str {
        match self.kind {
            Kind::Systemd => "systemd starts the daemon when a command needs it",
            Kind::Launchd => "launchd runs the daemon from now on",
        }
    }

    /// The commands to run before the files are removed, and those to run afterwards.
    pub fn uninstall_commands(&self) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
        match self.kind {
            Kind::Systemd => (
                vec![
                    words(&format!("systemctl --user disable --now {SOCKET_UNIT}")),
                    words(&format!("systemctl --user stop {SERVICE_UNIT}")),
                ],
                vec![words("systemctl --user daemon-reload")],
            ),
            Kind::Launchd if self.is_active() => (vec![launchd("bootout")], Vec::new()),
            Kind::Launchd => (Vec::new(), Vec::new()),
        }
    }

    /// The command that prints the last lines of the log, where the service manager keeps it.
    pub fn log_command(&self, paths: &Paths, lines: u32) -> Option<Vec<String>> {
        (self.kind == Kind::Systemd && holds_socket(paths)).then(|| {
            words(&format!(
                "journalctl --user --unit {SERVICE_UNIT} --lines {lines} --no-pager --output cat"
            ))
        })
    }
}

/// True for a file that `pipemux service install` wrote.
pub fn is_own(text: &str) -> bool {
    text.lines().take(3).any(|line| line == MARK || line == MARK_XML)
}

/// Creates an error after which no change remains unreported.
pub fn refused(message: String) -> ClientError {
    ClientError::Refused(Fault::refused(message))
}

/// Runs a command without its output.
///
/// # Errors
/// It can't be started, or what it says about its failure.
pub fn run(command: &[String]) -> Result<(), String> {
    let [program, arguments @ ..] = command else { return Ok(()) };
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    Err(last.map_or_else(|| output.status.to_string(), str::to_owned))
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn launchd(verb: &str) -> Vec<String> {
    words(&format!("launchctl {verb} gui/{}/{LABEL}", nix::unistd::getuid()))
}

/// The absolute path of the program, which a unit needs.
fn absolute_program(options: &Options) -> Result<PathBuf, ClientError> {
    let program = daemon::program_path(options);
    if program.is_absolute() {
        return Ok(program);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|directory: PathBuf| directory.join(&program));
    found
        .filter(|path: &PathBuf| path.is_absolute())
        .find(|path: &PathBuf| Path::is_file(path))
        .ok_or_else(|| {
            ClientError::invalid(format!("there is no {}", program.display()))
                .hint("put pipemuxd beside pipemux or on PATH, or set PIPEMUX_DAEMON to its path")
        })
}
