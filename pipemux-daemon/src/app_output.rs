//! What apps print: read from their pipes, written to their logs, passed on to those who follow a
//! log.
//!
//! A process prints into a pipe, so that a flood costs a bounded part of each turn and of the disk.
//! A pipe that was full when it was read is read again a moment later, after other work. A process
//! that prints faster than that waits for its pipe, and nothing waits for the process.

mod output_pipe;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::io::{self, PipeReader, Read};
use std::path::{Path, PathBuf};
use std::task::{Poll, Waker};

use pipemux_core::{LogText, Now};
use pipemux_proto::Incarnation;
use rustc_hash::FxHashMap;
use tokio::net::unix::pipe::Receiver;

use crate::daemon_log::log as log_line;
use crate::limits::{FINAL_OUTPUT_MAX, LOG_PAUSE_MS, LOG_READ, LOG_STARTS_MAX, LOG_TURN};
use crate::session_logs::{self, LogReader, LogWriter};
use output_pipe::OutputPipe;

/// The output of all processes, and the requests that follow it.
#[derive(Debug, Default)]
pub struct AppOutput {
    pipes: FxHashMap<Incarnation, OutputPipe>,
    /// The deadlines at which processes are handled; each process has one entry at most.
    deadlines: BTreeSet<(u64, Incarnation)>,
    log_starts: LogStarts,
    watches: HashMap<PathBuf, Vec<LogWatch>>,
    /// Watched logs that grew since the last [`AppOutput::take_log_updates`].
    grown_logs: HashSet<PathBuf>,
}

/// A request that waits for a log to grow.
#[derive(Debug)]
pub struct LogWatch {
    pub request: u64,
    pub lines: u32,
    /// The position after which the lines begin.
    pub after: u64,
}

impl AppOutput {
    /// Opens a process's log, which is rotated after `max` bytes, and reads the process's pipe from
    /// now on; its output wakes `waker`. Must be called within a runtime.
    ///
    /// # Errors
    /// What is wrong with the log, in one line.
    pub fn open(
        &mut self,
        app: Incarnation,
        log: &Path,
        max: u64,
        pipe: PipeReader,
        waker: Waker,
        now: Now,
    ) -> Result<(), String> {
        let cannot = |error: io::Error| format!("can't write to {}: {error}", log.display());
        let begin = self.log_starts.get(log).unwrap_or_else(|| session_logs::rotated_length(log));
        let writer = LogWriter::open(log, begin, max, now.mono_ms).map_err(cannot)?;
        let pipe = Receiver::from_owned_fd(pipe.into())
            .map_err(|error| format!("can't watch a pipe: {error}"))?;
        // The first turn polls the pipe, which registers the waker.
        waker.wake_by_ref();
        let output = OutputPipe::new(app, pipe, waker, writer, now);
        self.pipes.insert(app, output);
        Ok(())
    }

    /// Has a line added to the log of a process once it prints that something was refused.
    pub fn explain_denials(&mut self, app: Incarnation, line: String, network: bool) {
        if let Some(output) = self.pipes.get_mut(&app) {
            output.explain_denials(line, network);
        }
    }

    /// Reads what a process printed, at most the share of one turn.
    pub fn read(&mut self, app: Incarnation, buffer: &mut [u8], now_ms: u64) {
        let Some(output) = self.pipes.get_mut(&app).filter(|output| !output.paused) else {
            return;
        };
        let mut left = LOG_TURN;
        let mut grew = false;
        while left > 0 {
            let max = left.min(buffer.len());
            match output.read(&mut buffer[..max]) {
                Poll::Pending => break,
                Poll::Ready(0) => {
                    output.pipe = None;
                    break;
                }
                Poll::Ready(length) => {
                    grew |= output.write(&buffer[..length], now_ms);
                    left -= length;
                }
            }
        }
        output.paused = left == 0;
        self.schedule(app, grew, now_ms);
    }

    /// Writes a line of the daemon's own into the log of a process that runs.
    pub fn note(&mut self, app: Incarnation, line: &str, now_ms: u64) {
        let Some(output) = self.pipes.get_mut(&app) else { return };
        let grew = output.writer.write_note(line, now_ms);
        self.schedule(app, grew, now_ms);
    }

    /// Returns when to call [`AppOutput::handle_timeout`] next, in milliseconds.
    pub fn next_timeout(&self) -> Option<u64> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Handles the processes whose timeouts have passed.
    pub fn handle_timeout(&mut self, buffer: &mut [u8], now_ms: u64) {
        while let Some((at, app)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now_ms)
        {
            self.deadlines.remove(&(at, app));
            let Some(output) = self.pipes.get_mut(&app) else { continue };
            output.resume_at = None;
            if std::mem::take(&mut output.paused) {
                self.read(app, buffer, now_ms);
            } else {
                let grew = output.writer.resume_if_due(now_ms);
                self.schedule(app, grew, now_ms);
            }
        }
    }

    /// Reads what a process that exited printed last, and closes its log; returns the log's path
    /// and the position at which this process began to print. Doesn't wait for descendants that
    /// hold the pipe open.
    pub fn finish(
        &mut self,
        app: Incarnation,
        buffer: &mut [u8],
        now_ms: u64,
    ) -> Option<(PathBuf, u64)> {
        let mut output = self.pipes.remove(&app)?;
        if let Some(at) = output.resume_at {
            self.deadlines.remove(&(at, app));
        }
        if let Some(mut pipe) = output
            .pipe
            .take()
            .and_then(|pipe| pipe.into_nonblocking_fd().ok())
            .map(std::fs::File::from)
        {
            // Read directly, because the runtime may not know yet about the last output.
            let mut left = FINAL_OUTPUT_MAX;
            while left > 0 {
                match pipe.read(buffer) {
                    Ok(0) => break,
                    Ok(length) => {
                        output.write(&buffer[..length], now_ms);
                        left = left.saturating_sub(length);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        }
        output.writer.finish();
        let path = output.writer.path().to_owned();
        self.log_starts.set(&path, output.writer.start());
        self.mark_grown(&path);
        Some((path, output.since))
    }

    /// Removes what is older than the last bytes of a log, unless a process prints to it again.
    pub fn end_log(&mut self, log: &Path, kept: u64) {
        if self.pipes.values().any(|output| output.writer.path() == log) {
            return;
        }
        match session_logs::end(log, kept) {
            Ok(cut) => {
                let start = self.log_starts.get(log).unwrap_or(0);
                self.log_starts.set(log, start + cut);
            }
            Err(error) => log_line(format_args!("can't cut {}: {error}", log.display())),
        }
    }

    /// Returns the last lines of a log, or the first ones after a position.
    ///
    /// # Errors
    /// Why the log can't be read, in one line.
    pub fn read_log(&self, log: &Path, lines: u32, after: Option<u64>) -> Result<LogText, String> {
        let Some(position) = after else { return self.last_lines(log, lines, 0) };
        let cannot = |error| cannot_read(log, &error);
        let mut reader = LogReader::open(log, self.start_of(log)).map_err(cannot)?;
        reader.after(position, lines as usize, LOG_READ).map_err(cannot)
    }

    /// Returns the last lines of a log, among those after the position `since`.
    ///
    /// # Errors
    /// Why the log can't be read, in one line.
    pub fn last_lines(&self, log: &Path, lines: u32, since: u64) -> Result<LogText, String> {
        let cannot = |error| cannot_read(log, &error);
        let mut reader = LogReader::open(log, self.start_of(log)).map_err(cannot)?;
        reader.tail(lines as usize, LOG_READ, since).map_err(cannot)
    }

    /// Adds a request that waits for a log to grow.
    pub fn watch(&mut self, log: &Path, watch: LogWatch) {
        self.watches.entry(log.to_owned()).or_default().push(watch);
        self.grown_logs.insert(log.to_owned());
    }

    /// Removes a request that no longer waits.
    pub fn unwatch(&mut self, request: u64) {
        self.watches.retain(|_, watches| {
            watches.retain(|watch| watch.request != request);
            !watches.is_empty()
        });
    }

    /// Returns the answers to the requests whose logs have grown.
    pub fn take_log_updates(&mut self) -> Vec<(u64, Result<LogText, String>)> {
        let mut updates = Vec::new();
        for log in std::mem::take(&mut self.grown_logs) {
            let Some(watches) = self.watches.remove(&log) else { continue };
            let mut waiting = Vec::new();
            for watch in watches {
                match self.read_log(&log, watch.lines, Some(watch.after)) {
                    // A position beyond the end comes from an earlier daemon. The follower has to
                    // learn the present one.
                    Ok(text) if text.next != watch.after || text.missed > 0 => {
                        updates.push((watch.request, Ok(text)));
                    }
                    // The log has no more lines, or there is no log yet.
                    Ok(_) => waiting.push(watch),
                    Err(_) if !log.exists() => waiting.push(watch),
                    Err(why) => updates.push((watch.request, Err(why))),
                }
            }
            if !waiting.is_empty() {
                self.watches.insert(log, waiting);
            }
        }
        updates
    }

    fn schedule(&mut self, app: Incarnation, grew: bool, now_ms: u64) {
        let Some(output) = self.pipes.get_mut(&app) else { return };
        let resume_at = match output.paused {
            true => Some(now_ms + LOG_PAUSE_MS),
            false => output.writer.resume_at(),
        };
        if output.resume_at != resume_at {
            if let Some(before) = std::mem::replace(&mut output.resume_at, resume_at) {
                self.deadlines.remove(&(before, app));
            }
            self.deadlines.extend(resume_at.map(|at| (at, app)));
        }
        if grew {
            let path = output.writer.path().to_owned();
            self.mark_grown(&path);
        }
    }

    fn mark_grown(&mut self, log: &Path) {
        if self.watches.contains_key(log) {
            self.grown_logs.insert(log.to_owned());
        }
    }

    fn start_of(&self, log: &Path) -> Option<u64> {
        let open = self.pipes.values().find(|output| output.writer.path() == log);
        open.map(|output| output.writer.start()).or_else(|| self.log_starts.get(log))
    }
}

fn cannot_read(log: &Path, error: &io::Error) -> String {
    format!("can't read {}: {error}", log.display())
}

/// The start positions of log files to which no process is printing.
#[derive(Debug, Default)]
struct LogStarts {
    known: HashMap<PathBuf, u64>,
    order: VecDeque<PathBuf>,
}

impl LogStarts {
    fn get(&self, log: &Path) -> Option<u64> {
        self.known.get(log).copied()
    }

    fn set(&mut self, log: &Path, start: u64) {
        if self.known.insert(log.to_owned(), start).is_none() {
            self.order.push_back(log.to_owned());
        }
        if self.order.len() > LOG_STARTS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}
