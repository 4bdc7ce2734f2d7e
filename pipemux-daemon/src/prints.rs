//! What apps print: taken from their pipes, kept in their logs, told to who waits for it.
//!
//! A process prints into a pipe, so that a flood costs a bounded part of each turn and of the disk. A pipe
//! that was full when it was read has its next turn a moment later: the others come first, and a process
//! that prints faster than that waits for its pipe, nobody for the process.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::io::{self, PipeReader, Read};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pipemux_core::LogText;
use pipemux_proto::Incarnation;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe::Receiver;

use crate::limits::{LAST_PRINTED, LOG_PAUSE_MS, LOG_READ, LOG_TURN, LOGS_KNOWN};
use crate::logs::{self, Kept, Sink};

/// All that prints, and all who wait for it.
#[derive(Debug, Default)]
pub struct Prints {
    printers: HashMap<Incarnation, Printer>,
    /// Who is due when, each once.
    due: BTreeSet<(u64, Incarnation)>,
    begins: Begins,
    watches: HashMap<PathBuf, Vec<Watch>>,
    /// Watched logs that grew since who waits was last looked for.
    grown: HashSet<PathBuf>,
}

#[derive(Debug)]
struct Printer {
    /// None once it ended.
    pipe: Option<Receiver>,
    waker: Waker,
    sink: Sink,
    /// The log's end when it began to print.
    since: u64,
    /// True between two turns of a flood.
    paused: bool,
    due: Option<u64>,
}

/// Who waits for a log to grow.
#[derive(Debug)]
pub struct Watch {
    /// What is answered.
    pub request: u64,
    /// How many lines at most.
    pub lines: u32,
    /// The position after which they come.
    pub after: u64,
}

impl Prints {
    /// Opens a process's log, which is rotated after `max` bytes, and reads the pipe that it prints into from
    /// now on; what comes wakes `waker`. To be called in a runtime.
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
        now_ms: u64,
    ) -> Result<(), String> {
        let cannot = |error: io::Error| format!("can't write to {}: {error}", log.display());
        let begin = self.begins.get(log).unwrap_or_else(|| logs::before(log));
        let sink = Sink::open(log, begin, max, now_ms).map_err(cannot)?;
        let pipe = Receiver::from_owned_fd(pipe.into())
            .map_err(|error| format!("can't watch a pipe: {error}"))?;
        // Looked at once, which is how its waker comes to be known.
        waker.wake_by_ref();
        let since = sink.end();
        let printer = Printer { pipe: Some(pipe), waker, sink, since, paused: false, due: None };
        self.printers.insert(app, printer);
        Ok(())
    }

    /// Takes what a process printed, a turn's share.
    pub fn read(&mut self, app: Incarnation, buffer: &mut [u8], now_ms: u64) {
        let Some(printer) = self.printers.get_mut(&app).filter(|printer| !printer.paused) else {
            return;
        };
        let mut left = LOG_TURN;
        let mut grew = false;
        while left > 0 {
            let most = left.min(buffer.len());
            match printer.read(&mut buffer[..most]) {
                Poll::Pending => break,
                Poll::Ready(0) => {
                    printer.pipe = None;
                    break;
                }
                Poll::Ready(length) => {
                    grew |= printer.sink.take(&buffer[..length], now_ms);
                    left -= length;
                }
            }
        }
        printer.paused = left == 0;
        self.after_turn(app, grew, now_ms);
    }

    /// When somebody is due, in milliseconds.
    pub fn next_timeout(&self) -> Option<u64> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Serves who is due.
    pub fn handle_timeout(&mut self, buffer: &mut [u8], now_ms: u64) {
        while let Some((at, app)) = self.due.first().copied().filter(|(at, _)| *at <= now_ms) {
            self.due.remove(&(at, app));
            let Some(printer) = self.printers.get_mut(&app) else { continue };
            printer.due = None;
            if std::mem::take(&mut printer.paused) {
                self.read(app, buffer, now_ms);
            } else {
                let grew = printer.sink.go_on(now_ms);
                self.after_turn(app, grew, now_ms);
            }
        }
    }

    /// Takes what a process that ended printed last, and closes its log; returns its path, and the
    /// position from which on it is this process's. A descendant that holds the pipe is not waited for.
    pub fn finish(
        &mut self,
        app: Incarnation,
        buffer: &mut [u8],
        now_ms: u64,
    ) -> Option<(PathBuf, u64)> {
        let mut printer = self.printers.remove(&app)?;
        if let Some(due) = printer.due {
            self.due.remove(&(due, app));
        }
        if let Some(mut pipe) = printer
            .pipe
            .take()
            .and_then(|pipe| pipe.into_nonblocking_fd().ok())
            .map(std::fs::File::from)
        {
            // Asked for directly: the runtime may not know yet what came just now.
            let mut left = LAST_PRINTED;
            while left > 0 {
                match pipe.read(buffer) {
                    Ok(0) => break,
                    Ok(length) => {
                        printer.sink.take(&buffer[..length], now_ms);
                        left = left.saturating_sub(length);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        }
        printer.sink.finish();
        let path = printer.sink.path().to_owned();
        self.begins.set(&path, printer.sink.begin());
        self.note_growth(&path);
        Some((path, printer.since))
    }

    /// The last lines of a log, or the first ones after a position.
    ///
    /// # Errors
    /// Why there are none, in one line.
    pub fn piece(&self, log: &Path, lines: u32, after: Option<u64>) -> Result<LogText, String> {
        let Some(position) = after else { return self.last(log, lines, 0) };
        let cannot = |error| cannot_read(log, &error);
        let mut kept = Kept::open(log, self.begin(log)).map_err(cannot)?;
        kept.after(position, lines as usize, LOG_READ).map_err(cannot)
    }

    /// The last lines of a log, of those after a position.
    ///
    /// # Errors
    /// Why there are none, in one line.
    pub fn last(&self, log: &Path, lines: u32, since: u64) -> Result<LogText, String> {
        let cannot = |error| cannot_read(log, &error);
        let mut kept = Kept::open(log, self.begin(log)).map_err(cannot)?;
        kept.tail(lines as usize, LOG_READ, since).map_err(cannot)
    }

    /// Has someone wait for a log to grow.
    pub fn watch(&mut self, log: &Path, watch: Watch) {
        self.watches.entry(log.to_owned()).or_default().push(watch);
        self.grown.insert(log.to_owned());
    }

    /// Nobody waits for that any more.
    pub fn unwatch(&mut self, request: u64) {
        self.watches.retain(|_, watches| {
            watches.retain(|watch| watch.request != request);
            !watches.is_empty()
        });
    }

    /// True when [`Prints::next_news`] may have something.
    pub fn has_news(&self) -> bool {
        !self.grown.is_empty()
    }

    /// Who waited for something that is there now.
    pub fn next_news(&mut self) -> Vec<(u64, Result<LogText, String>)> {
        let mut news = Vec::new();
        for log in std::mem::take(&mut self.grown) {
            let Some(watches) = self.watches.remove(&log) else { continue };
            let mut waiting = Vec::new();
            for watch in watches {
                match self.piece(&log, watch.lines, Some(watch.after)) {
                    // A position beyond the end is one of an earlier daemon: who follows has to learn the
                    // present one.
                    Ok(piece) if piece.next != watch.after || piece.missed > 0 => {
                        news.push((watch.request, Ok(piece)));
                    }
                    // Nothing more, or no log yet.
                    Ok(_) => waiting.push(watch),
                    Err(_) if !log.exists() => waiting.push(watch),
                    Err(why) => news.push((watch.request, Err(why))),
                }
            }
            if !waiting.is_empty() {
                self.watches.insert(log, waiting);
            }
        }
        news
    }

    fn after_turn(&mut self, app: Incarnation, grew: bool, now_ms: u64) {
        let Some(printer) = self.printers.get_mut(&app) else { return };
        let due = match printer.paused {
            true => Some(now_ms + LOG_PAUSE_MS),
            false => printer.sink.due(),
        };
        if printer.due != due {
            if let Some(before) = std::mem::replace(&mut printer.due, due) {
                self.due.remove(&(before, app));
            }
            self.due.extend(due.map(|at| (at, app)));
        }
        if grew {
            let path = printer.sink.path().to_owned();
            self.note_growth(&path);
        }
    }

    fn note_growth(&mut self, log: &Path) {
        if self.watches.contains_key(log) {
            self.grown.insert(log.to_owned());
        }
    }

    fn begin(&self, log: &Path) -> Option<u64> {
        let open = self.printers.values().find(|printer| printer.sink.path() == log);
        open.map(|printer| printer.sink.begin()).or_else(|| self.begins.get(log))
    }
}

impl Printer {
    /// How much came; 0 at the end.
    fn read(&mut self, buffer: &mut [u8]) -> Poll<usize> {
        let Some(pipe) = &mut self.pipe else { return Poll::Pending };
        let mut buffer = ReadBuf::new(buffer);
        match Pin::new(pipe).poll_read(&mut Context::from_waker(&self.waker), &mut buffer) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => Poll::Ready(buffer.filled().len()),
            // Nothing can be read from it any more, whatever the reason.
            Poll::Ready(Err(_)) => Poll::Ready(0),
        }
    }
}

fn cannot_read(log: &Path, error: &io::Error) -> String {
    format!("can't read {}: {error}", log.display())
}

/// Where the files of logs begin that no process prints into now.
#[derive(Debug, Default)]
struct Begins {
    known: HashMap<PathBuf, u64>,
    order: VecDeque<PathBuf>,
}

impl Begins {
    fn get(&self, log: &Path) -> Option<u64> {
        self.known.get(log).copied()
    }

    fn set(&mut self, log: &Path, begin: u64) {
        if self.known.insert(log.to_owned(), begin).is_none() {
            self.order.push_back(log.to_owned());
        }
        if self.order.len() > LOGS_KNOWN
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}
