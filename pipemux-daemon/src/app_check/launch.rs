//! Starts the processes of a checked app with a launcher, as those of a session.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pipemux_check::{Launch, Start};
use pipemux_core::{Confinement, FolderAccess, Isolation, Manifest, SandboxLevel, Transport};
use pipemux_launcher::{
    Inbox, MarkOrigin, Order, Report, Spawn, StopSignal, Termination, encode, send,
};

use crate::app_processes::limits_of;
use crate::launcher_process::LauncherProcess;
use crate::sandbox;

/// The longest wait for the start of a process.
const START: Duration = Duration::from_secs(10);
/// Bytes at the end of the log that are read.
const TAIL: usize = 4096;

/// A launcher for the processes of one app.
pub struct ProcessLauncher {
    launcher: LauncherProcess,
    inbox: Inbox,
    manifest: Manifest,
    origin: MarkOrigin,
    root: PathBuf,
    log: PathBuf,
    /// The way each process ended or the reason why it didn't start, by number.
    ended: BTreeMap<u64, String>,
    spawned: Vec<u64>,
}

impl ProcessLauncher {
    /// Starts the launcher. `root` is a directory of this check alone.
    ///
    /// # Errors
    /// As `socketpair` and `spawn`.
    pub fn start(program: &Path, manifest: Manifest, root: &Path) -> io::Result<Self> {
        Ok(Self {
            launcher: LauncherProcess::start(program)?,
            inbox: Inbox::default(),
            manifest,
            origin: MarkOrigin::of(root)?,
            root: root.to_owned(),
            log: root.join("log"),
            ended: BTreeMap::new(),
            spawned: Vec::new(),
        })
    }

    /// Has the launcher end every process.
    pub fn end(self) {
        self.launcher.end();
    }

    fn order(&self, order: &Order, fds: &[OwnedFd]) -> io::Result<()> {
        let bytes = encode(order)?;
        let mut sent = 0;
        while sent < bytes.len() {
            let fds = if sent == 0 { fds } else { &[] };
            sent += send(self.launcher.socket(), &bytes[sent..], fds)?;
        }
        Ok(())
    }

    /// Takes in reports until `done` says so, the time is over, or the launcher is lost.
    fn wait_for(&mut self, most: Duration, done: impl Fn(&Self) -> bool) {
        let deadline = pipemux_proto::deadline::after(most);
        while !done(self) {
            match self.inbox.next_message::<Report>() {
                Ok(Some(report)) => {
                    self.take(report);
                    continue;
                }
                Ok(None) => {}
                Err(_) => return,
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let socket = self.launcher.socket();
            let _ = socket.set_read_timeout(Some(left));
            if matches!(self.inbox.receive(socket), Ok(0) | Err(_)) {
                return;
            }
        }
    }

    fn take(&mut self, report: Report) {
        match report {
            Report::Spawned { incarnation, .. } => self.spawned.push(incarnation),
            Report::SpawnFailed { incarnation, why } => drop(self.ended.insert(incarnation, why)),
            Report::Exited { incarnation, termination, exceeded, .. } => {
                let mut words = match termination {
                    Termination::Code(code) => format!("ended with status {code}"),
                    Termination::Signal(signal) => format!("was killed by signal {signal}"),
                };
                if let Some(limit) = exceeded {
                    words += &format!(" at a limit of its manifest ({limit:?})");
                }
                self.ended.insert(incarnation, words);
            }
        }
    }

    /// Returns a path in the directory of this check.
    fn within(&self, name: &str) -> String {
        self.root.join(name).to_string_lossy().into_owned()
    }

    /// Returns what the app is confined to: what its manifest says, with the directories of this
    /// check in place of the user's. The files that the check names are in its working directory.
    fn confinement(&self) -> Option<Confinement> {
        let manifest = &self.manifest;
        if manifest.sandbox == SandboxLevel::Off {
            return None;
        }
        let in_home = |path: &String| match path.strip_prefix("~/") {
            Some(rest) => self.root.join("home").join(rest).to_string_lossy().into_owned(),
            None => path.clone(),
        };
        let folder = manifest.folder_access();
        let folders = if folder == FolderAccess::None { vec![] } else { vec![self.within("work")] };
        let mut write: Vec<String> = manifest.write.iter().map(in_home).collect();
        // A session may write its temporary files as well, into its own directory.
        write.push(self.within("tmp"));
        Some(Confinement {
            strict: manifest.sandbox == SandboxLevel::Strict,
            files: manifest.isolation == Isolation::Session,
            folders,
            write_folders: matches!(folder, FolderAccess::Write | FolderAccess::Named),
            whole: manifest.built_in.is_some(),
            read: manifest.read.iter().map(in_home).collect(),
            write,
            network: manifest.network,
            exec: manifest.exec,
            signals: manifest.signals,
            watch: manifest.watch,
            ..Confinement::default()
        })
    }

    fn spawn(&self, start: &Start) -> io::Result<UnixStream> {
        let (ours, theirs) = UnixStream::pair()?;
        let log: File = OpenOptions::new().create(true).append(true).open(&self.log)?;
        let manifest = &self.manifest;
        let cwd = start.cwd.to_string_lossy().into_owned();
        let order = Order::Spawn(Spawn {
            incarnation: start.incarnation,
            command: manifest.command.clone(),
            args: manifest.args.clone(),
            env: start.env.clone(),
            cwd: cwd.clone(),
            fallback_cwd: cwd,
            mark: self.origin.mark(start.incarnation),
            stdio: manifest.transport == Transport::Stdio,
            limits: limits_of(&manifest.limits),
            sandbox: self
                .confinement()
                .map(|confinement| sandbox::sandbox_of(&confinement, &self.within("state"), &[])),
        });
        self.order(&order, &[theirs.into(), log.into()])?;
        Ok(ours)
    }
}

impl Launch for ProcessLauncher {
    fn start(&mut self, start: &Start) -> Result<UnixStream, String> {
        let id = start.incarnation;
        let stream = self.spawn(start).map_err(|error| format!("can't be started: {error}"))?;
        self.wait_for(START, |this| this.spawned.contains(&id) || this.ended.contains_key(&id));
        match self.ended.get(&id) {
            // A process that ended at once closes its connection, which is seen there.
            Some(why) if !self.spawned.contains(&id) => Err(why.clone()),
            _ => Ok(stream),
        }
    }

    fn kill(&mut self, incarnation: u64) {
        // A lost launcher has killed it.
        let signal = StopSignal::Kill;
        let _ = self.order(&Order::Signal { incarnation, signal }, &[]);
    }

    fn wait(&mut self, incarnation: u64, most: Duration) -> Option<String> {
        self.wait_for(most, |this| this.ended.contains_key(&incarnation));
        self.ended.get(&incarnation).cloned()
    }

    fn last_lines(&mut self) -> Vec<String> {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        let tail = &bytes[bytes.len().saturating_sub(TAIL)..];
        let text = String::from_utf8_lossy(tail);
        text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }
}
