//! The apps: their processes, from the order to the end, and what they print.

use std::io::{self, PipeReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pipemux_core::{Event, Now, Signal, Start, Transport, limits};
use pipemux_proto::Incarnation;
use rustc_hash::FxHashMap;

use super::connections::Connections;
use super::turn::Turn;
use crate::app_output::AppOutput;
use crate::app_processes::AppProcesses;
use crate::dev_programs::DevPrograms;
use crate::directories;
use crate::pinned_programs::PinnedPrograms;
use crate::ready_queue::{Peer, ReadyQueue, ReadySource};

/// All apps. An app that was ordered is in `starting` until its process is known to run, and in
/// `output` from then on.
pub(super) struct Apps {
    pub(super) processes: AppProcesses,
    pub(super) output: AppOutput,
    starting: FxHashMap<Incarnation, StartingApp>,
    pinned_programs: PinnedPrograms,
    pub(super) dev_programs: DevPrograms,
    state_dir: PathBuf,
    ready_queue: Arc<ReadyQueue>,
}

/// The data that a requested process needs once it runs.
#[derive(Debug)]
struct StartingApp {
    log_path: String,
    /// Longest log file, in bytes.
    log_max: u64,
    /// The read end of the pipe for the process's output.
    output: PipeReader,
    /// What to add to the log once the process prints that something was refused, and whether it
    /// may use the network.
    note: Option<(String, bool)>,
}

impl Apps {
    /// Apps keep their state below `state_dir`.
    pub(super) fn new(
        processes: AppProcesses,
        state_dir: PathBuf,
        ready_queue: Arc<ReadyQueue>,
    ) -> Self {
        Self {
            processes,
            output: AppOutput::default(),
            starting: FxHashMap::default(),
            pinned_programs: PinnedPrograms::default(),
            dev_programs: DevPrograms::default(),
            state_dir,
            ready_queue,
        }
    }

    /// Orders a process.
    pub(super) fn start(&mut self, start: &Start, connections: &mut Connections, turn: &mut Turn) {
        if let Err(why) = self.order(start, connections) {
            self.abort_start(start.app, why, connections, turn);
        }
    }

    /// Orders a process. Its log is opened when the process is known to run, so that the launcher
    /// needn't wait for it; nothing is written to the log before that.
    fn order(&mut self, start: &Start, connections: &mut Connections) -> Result<(), String> {
        let app = start.app;
        self.pinned_programs.check(&start.pinned)?;
        let (output, app_end) =
            io::pipe().map_err(|error| format!("can't create a pipe: {error}"))?;
        // The app works here if it can't work in the opener's directory. Only the launcher finds
        // out whether it can: that may take arbitrarily long on a network file system.
        directories::create_below(&self.state_dir, Path::new(&start.state_dir))
            .map_err(|error| format!("can't create {}: {error}", start.state_dir))?;
        let stream = self.processes.start(start, app_end.into())?;
        connections
            .add_app(app, stream)
            .map_err(|error| format!("can't watch its connection: {error}"))?;
        if start.watched {
            self.dev_programs.watch(app, start);
        }
        let confinement = start.confinement.as_ref();
        let note = confinement.map(|confined| (confined.note.clone(), confined.network));
        let log_max = start.limits.log.map_or(limits::LOG_MAX, |max| max.0);
        let log_path = start.log.clone();
        self.starting.insert(app, StartingApp { log_path, log_max, output, note });
        Ok(())
    }

    /// Opens the log of a process that was ordered, and reads what it prints from now on.
    ///
    /// # Errors
    /// Why it can't, in one line.
    pub(super) fn open_log(&mut self, app: Incarnation, now: Now) -> Result<(), String> {
        let Some(starting) = self.starting.remove(&app) else { return Ok(()) };
        let StartingApp { log_path, log_max, output, note } = starting;
        let directory = Path::new(&log_path).parent().unwrap_or(Path::new("/"));
        directories::create_below(&self.state_dir, directory)
            .map_err(|error| format!("can't create {}: {error}", directory.display()))?;
        let waker = self.ready_queue.waker(ReadySource::AppOutput(app));
        self.output.open(app, Path::new(&log_path), log_max, output, waker, now)?;
        if let Some((note, network)) = note {
            self.output.explain_denials(app, note, network);
        }
        Ok(())
    }

    /// Gives up a process that can't be started, or not with everything it needs.
    pub(super) fn abort_start(
        &mut self,
        app: Incarnation,
        why: String,
        connections: &mut Connections,
        turn: &mut Turn,
    ) {
        connections.remove_app(app);
        // The launcher may have started it already.
        self.processes.signal(app, Signal::Kill);
        self.remove(app, &mut [], turn.now);
        turn.push(Event::StartFailed { app, why });
    }

    /// Removes an app whose process is gone; `buffer` is for the last of its output. Returns what
    /// it printed last, unless the app is gone already.
    pub(super) fn remove(
        &mut self,
        app: Incarnation,
        buffer: &mut [u8],
        now: Now,
    ) -> Option<Vec<String>> {
        self.starting.remove(&app);
        self.dev_programs.forget(app);
        let log = self.output.finish(app, buffer, now.mono_ms);
        if !self.processes.forget(app) {
            return None;
        }
        // What earlier processes left in the log says nothing about this one's end.
        let read = |(path, since): (PathBuf, u64)| {
            self.output.last_lines(&path, limits::LAST_LINES as u32, since).ok()
        };
        let last = log.and_then(read).unwrap_or_default();
        Some(last.text.lines().map(str::to_owned).collect())
    }

    /// Answers the requests whose logs have grown.
    pub(super) fn queue_log_updates(&mut self, turn: &mut Turn) {
        let updates = self.output.take_log_updates().into_iter();
        turn.events.extend(updates.map(|(request, read)| Event::LogRead { request, read }));
    }

    /// Adds the most likely remedy to the reason why a peer's frames are invalid.
    pub(super) fn explain_invalid(&self, peer: Peer, why: String) -> String {
        match peer {
            Peer::App(app) if self.processes.transport(app) == Some(Transport::Stdio) => format!(
                "{why}; with transport = \"stdio\" standard output carries frames and nothing \
                 else: print to standard error"
            ),
            _ => why,
        }
    }
}
