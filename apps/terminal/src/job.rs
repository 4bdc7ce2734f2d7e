//! One command that was started: its process, its output, and its end.

mod control;
mod ended;
mod work;

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use docui::deadline;
use docui::{Fault, Handle, JobHandle};
use pipemux_confine::Domain;
use pipemux_problems::{OutputReader, Report, visible};
use portable_pty::MasterPty;

use crate::display::shortened;
use crate::file_changes::Span;
use crate::limits::{LINE_NEWEST, PROGRESS_SPACING, READ_PATIENCE, TAIL_BYTES};
use crate::line_reader::{Kept, LineReader, RawLine};
use crate::order::Order;
use crate::permit::Permit;
use crate::screen::Screen;
use crate::shell_line::plain_words;
use crate::spill::Spill;
use crate::start::{Started, start};

pub use ended::{Ended, How, duration};

/// A command that was started.
pub struct Job {
    /// The command's number in this session, from 1.
    pub number: u64,
    pub order: Order,
    pub timeout: Option<Duration>,
    /// The reader who started the command.
    pub reader: String,
    /// The time of the start.
    pub began: Instant,
    /// The wall-clock time of the start, comparable with file times.
    pub began_at: SystemTime,
    /// The restrictions on the command; `None` if it may do what the user may.
    pub(crate) domain: Option<Arc<Domain>>,
    /// The mark by which the command's processes are recognised.
    mark: String,
    /// The path of the user's file with rules, in the form in which a user writes it.
    pub(crate) config_file: String,
    /// The report on the previous run of the same command.
    pub before: Option<Arc<Report>>,
    /// Tells the session when something changed.
    session: Handle,
    state: Mutex<State>,
    /// The end: set under the lock on `state`, and readable without waiting for that lock.
    end: OnceLock<Arc<Ended>>,
    changed: Condvar,
    input: Mutex<File>,
    /// The addresses on which the command listened at the last check.
    listens: Mutex<Vec<SocketAddr>>,
}

/// The state that changes while a command runs.
pub struct State {
    /// The results so far; empty once the command has ended.
    pub output: OutputReader,
    /// The whole output.
    pub spill: Spill,
    /// The record of the command's file changes, until it has ended.
    span: Option<Span>,
    /// The newest bytes of the output.
    tail: Vec<u8>,
    /// The terminal's screen, once a program draws on it.
    pub screen: Screen,
    /// The id of the first process, until that is reaped.
    leader: Option<i32>,
    /// The reason for ending the command early.
    wish: Option<How>,
    /// The time of the last output.
    pub printed: Instant,
    /// True once no more output can come.
    drained: bool,
    /// Follows it for the daemon, once its call was answered.
    handle: Option<JobHandle>,
    /// True for one that the daemon follows, also once it has ended.
    followed: bool,
    told: Instant,
    /// The terminal; closed at the end.
    terminal: Option<Box<dyn MasterPty + Send>>,
    /// The file from which the launching program read its target; closed at the end.
    launch_file: Option<File>,
}

/// The options of a call besides the command.
#[derive(Default)]
pub struct Circumstances {
    pub timeout: Option<Duration>,
    /// The reader who starts the command.
    pub reader: String,
    /// The report on the previous run of the same command.
    pub before: Option<Arc<Report>>,
    /// The path of the user's file with rules, in the form in which a user writes it.
    pub config_file: String,
    /// Tells the session when something changed.
    pub session: Handle,
    /// The record of file changes; `None` for one of several commands in order.
    pub span: Option<Span>,
}

impl Job {
    /// Starts a command. Its output is kept in `dir`.
    ///
    /// # Errors
    /// It can't be started.
    pub fn start(
        number: u64,
        permit: Permit,
        dir: &Path,
        with: Circumstances,
    ) -> Result<Arc<Self>, Fault> {
        let began_at = SystemTime::now();
        // Its number isn't enough: another session may have a command of the same number.
        let mark = format!("{}-{}", std::process::id(), dir.join(number.to_string()).display());
        let (order, started) = start(permit, &mark)?;
        let Started { child, leader, terminal, output, input, domain, launch_file } = started;
        let now = Instant::now();
        let state = State {
            output: OutputReader::of_command(&plain_words(&order.line)),
            spill: Spill::new(dir, &number.to_string()),
            span: None,
            tail: Vec::new(),
            screen: Screen::default(),
            leader: Some(leader),
            wish: None,
            printed: now,
            drained: false,
            handle: None,
            followed: false,
            told: now,
            terminal: Some(terminal),
            launch_file,
        };
        let Circumstances { timeout, reader, before, config_file, session, span } = with;
        if let Some(span) = &span {
            span.name(format!("c{number}"), shortened(&order.whole()));
        }
        let state = State { span, ..state };
        let job = Arc::new(Self {
            number,
            order,
            timeout,
            reader,
            began: now,
            began_at,
            domain,
            mark,
            before,
            config_file,
            session,
            state: Mutex::new(state),
            end: OnceLock::new(),
            changed: Condvar::new(),
            input: Mutex::new(input),
            listens: Mutex::default(),
        });
        if let Err(error) = job.begin_work(child, output) {
            job.kill();
            return Err(Fault::failed(format!("the system gives no more threads: {error}")));
        }
        Ok(job)
    }

    /// Calls `look` with what changes while it runs. Nothing else of the command may be asked for
    /// meanwhile.
    pub fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state())
    }

    /// Returns what changes while it runs. Only this module holds it: a guard in a condition is
    /// held longer than it looks.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the name by which calls mean it.
    pub fn name(&self) -> String {
        format!("c{}", self.number)
    }

    /// Returns its name and line: `c3 cargo test`.
    pub fn titled(&self) -> String {
        format!("{} {}", self.name(), shortened(&self.order.whole()))
    }

    /// Returns how it ended, if it has.
    pub fn ended(&self) -> Option<Arc<Ended>> {
        self.end.get().cloned()
    }

    /// Returns what the run before found, as far as this one can be compared with it.
    pub fn compared(&self) -> Option<Arc<Report>> {
        self.ended().map_or_else(|| self.before.clone(), |ended| ended.before.clone())
    }

    /// Waits until `ready` says so, it has ended, or the time has come. Returns how it ended, if it
    /// has.
    pub fn wait(
        &self,
        until: Instant,
        mut ready: impl FnMut(&State) -> Option<Duration>,
    ) -> Option<Arc<Ended>> {
        let mut state = self.state();
        loop {
            if let Some(ended) = self.ended() {
                return Some(ended);
            }
            // What must pass without a change until it is ready.
            let quiet = ready(&state);
            let left = until.saturating_duration_since(Instant::now());
            let patience = quiet.map_or(left, |quiet| quiet.min(left));
            if patience.is_zero() {
                return None;
            }
            state = self
                .changed
                .wait_timeout(state, patience)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Has the daemon follow it from now on. Returns how it ended if it has meanwhile.
    pub fn follow(self: &Arc<Self>, handle: JobHandle) -> Result<(), Arc<Ended>> {
        {
            let mut state = self.state();
            if let Some(ended) = self.ended() {
                return Err(ended);
            }
            handle.progress(0, 0, state.newest_line());
            state.handle = Some(handle.clone());
            state.followed = true;
        }
        self.end_when_cancelled(handle);
        Ok(())
    }

    /// Returns true if the daemon tells of its end by itself, as that of a job.
    pub fn is_followed(&self) -> bool {
        self.state().followed
    }

    /// Returns lines of the output from one on, as they are shown, at most so many.
    ///
    /// # Errors
    /// The disk can't be read.
    pub fn lines(&self, from: u64, most: usize) -> io::Result<Vec<(u64, String)>> {
        let mut found = Vec::new();
        if most > 0 {
            self.each_line(from, &mut |number, text| {
                found.push((number, text));
                found.len() < most
            })?;
        }
        Ok(found)
    }

    /// Calls `each` with the lines of the output from one on, until it returns false.
    ///
    /// # Errors
    /// The disk can't be read, or it takes too long.
    pub fn each_line(
        &self,
        from: u64,
        each: &mut dyn FnMut(u64, String) -> bool,
    ) -> io::Result<()> {
        let until = deadline::after(READ_PATIENCE);
        let mut is_wanted = true;
        let take = &mut |line: RawLine| {
            is_wanted = each(line.number, visible(&line.bytes));
            is_wanted
        };
        let mut reader = LineReader::new(from);
        let is_read = reader.read_all(&self.kept(from), &|| Instant::now() >= until, take)?;
        match is_read || !is_wanted {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::TimedOut, "it takes too long")),
        }
    }

    /// Returns what is kept of the output now, to be read from a line on. Nothing waits for who
    /// reads it.
    pub fn kept(&self, from: u64) -> Kept {
        self.state().spill.kept(from)
    }
}

impl State {
    /// Takes in what was printed.
    fn take(&mut self, bytes: &[u8]) {
        self.output.feed(bytes);
        self.spill.push(bytes);
        let fits = &bytes[bytes.len().saturating_sub(TAIL_BYTES)..];
        self.tail.extend_from_slice(fits);
        if self.tail.len() > 2 * TAIL_BYTES {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
        self.screen.take(bytes, &self.tail);
        self.printed = Instant::now();
        if let Some(handle) =
            self.handle.as_ref().filter(|_| self.told.elapsed() >= PROGRESS_SPACING)
        {
            handle.progress(0, 0, self.newest_line());
            self.told = self.printed;
        }
    }

    /// Returns the newest line that says something.
    pub fn newest_line(&self) -> String {
        if self.screen.is_taken() {
            return "full screen".to_owned();
        }
        let newest = &self.tail[self.tail.len().saturating_sub(4096)..];
        let mut lines = newest.rsplit(|byte| *byte == b'\n').map(visible);
        let line = lines.find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.trim().chars().take(LINE_NEWEST).collect()
    }

    /// Returns the newest bytes.
    pub fn tail(&self) -> &[u8] {
        &self.tail
    }
}
