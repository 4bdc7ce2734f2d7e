//! Several commands, one after the other, until one fails.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use docui::deadline;
use docui::{Blocking, Context, Fault, JobHandle, Reply, Started};

use crate::answer::{Answer, Piece};
use crate::display::shortened;
use crate::file_changes::{Changed, Span};
use crate::job::{Ended, How, Job};
use crate::job_table::JobTable;
use crate::limits::{ANSWER_TOKENS, BEFORE_PATIENCE, WAIT_MARGIN};
use crate::model::Terminal;
use crate::order::Order;
use crate::permit::Permit;
use crate::undo::undo_of_job;

/// The longest time until a cancellation is noticed.
const CANCEL_SPACING: Duration = Duration::from_millis(500);

/// Commands that run one after the other.
pub struct Sequence {
    orders: Vec<Order>,
    /// The permits of the commands that haven't been started yet.
    permits: Mutex<VecDeque<Permit>>,
    timeout: Option<Duration>,
    reader: String,
    table: JobTable,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The jobs that were started.
    jobs: Vec<Arc<Job>>,
    /// The reason why a command could not be started.
    failure: Option<Fault>,
    cancelled: bool,
    /// The record of all file changes, until the commands have ended.
    span: Option<Span>,
    /// The file changes of all commands.
    files: Changed,
    ended: bool,
    /// Follows them for the daemon, once the call was answered.
    handle: Option<JobHandle>,
}

impl Sequence {
    /// Starts the first command, and a thread that starts the others.
    ///
    /// # Errors
    /// The first one can't be started, or the system gives no more threads.
    pub fn start(
        table: JobTable,
        permits: Vec<Permit>,
        timeout: Option<Duration>,
        reader: &str,
        span: Span,
    ) -> Result<Arc<Self>, Fault> {
        let orders = permits.iter().map(|permit| permit.order().clone()).collect();
        let mut permits = VecDeque::from(permits);
        let first = permits.pop_front().ok_or_else(|| Fault::usage("command: expected a line"))?;
        let first = table.start(first, timeout, reader, None)?;
        let (line, more) = (shortened(&first.order.whole()), permits.len());
        span.name(first.name(), format!("{line} and {more} more"));
        let jobs = vec![first.clone()];
        let state = State { jobs, span: Some(span), ..State::default() };
        let sequence = Arc::new(Self {
            orders,
            permits: Mutex::new(permits),
            timeout,
            reader: reader.to_owned(),
            table,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let own = sequence.clone();
        let begun = thread::Builder::new().name("sequence".into()).spawn(move || own.work(first));
        if let Err(error) = begun {
            sequence.stop();
            return Err(Fault::failed(format!("the system gives no more threads: {error}")));
        }
        Ok(sequence)
    }

    fn work(&self, first: Arc<Job>) {
        let mut job = first;
        for next in 1..=self.orders.len() {
            let ended = loop {
                let far = deadline::after(Duration::from_secs(3600));
                if let Some(ended) = job.wait(far, |_| None) {
                    break ended;
                }
            };
            let mut state = self.state();
            if !ended.how.is_success() || state.cancelled {
                break;
            }
            let permit = self.permits.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(permit) = permit else { break };
            match self.table.start(permit, self.timeout, &self.reader, None) {
                Ok(started) => {
                    if let Some(handle) = &state.handle {
                        handle.progress(next as u64, self.orders.len() as u64, started.titled());
                    }
                    state.jobs.push(started.clone());
                    job = started;
                }
                Err(fault) => {
                    state.failure = Some(fault);
                    break;
                }
            }
        }
        let (span, outlasted) = {
            let mut state = self.state();
            (state.span.take(), state.handle.is_some())
        };
        let files = span.map(|span| span.end(&self.reader, outlasted)).unwrap_or_default();
        let handle = {
            let mut state = self.state();
            (state.files, state.ended) = (files, true);
            state.handle.take()
        };
        self.changed.notify_all();
        if let Some(handle) = handle {
            self.tell_end(&handle);
        }
    }

    /// Runs commands, and answers with the end of all or with the job that goes on.
    pub fn run(
        table: JobTable,
        permits: Vec<Permit>,
        (timeout, wait): (Option<Duration>, Duration),
        context: &Context,
    ) -> Blocking<Terminal> {
        let (reader, budget) = (context.reader.clone(), u64::from(context.budget));
        let what = format!("{} commands", permits.len());
        let answer_by = context.answer_by;
        let work = move |commit: &docui::blocking::CommitPoint| {
            let span = table.file_changes().begin();
            if !commit.begin() {
                return Err(Fault::failed("it was called off"));
            }
            let sequence = Self::start(table, permits, timeout, &reader, span)?;
            let until = Context::wait_until(answer_by, wait);
            let mut state = sequence.state();
            while !state.ended {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                let woken = sequence.changed.wait_timeout(state, left);
                state = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
            drop(state);
            Ok(sequence)
        };
        Blocking::new(
            what,
            wait.saturating_add(BEFORE_PATIENCE).saturating_add(WAIT_MARGIN),
            work,
            move |app: &mut Terminal, sequence: Result<Arc<Self>, Fault>, _| {
                let reply = sequence?.ended_or_started(app, budget);
                Ok(app.with_news(reply))
            },
        )
    }

    fn ended_or_started(self: &Arc<Self>, app: &Terminal, budget: u64) -> Reply {
        let mut state = self.state();
        let running = state.jobs.last().filter(|_| !state.ended).cloned();
        let Some(job) = running else {
            let files = state.files.clone();
            drop(state);
            let committed = self.orders.iter().any(Order::commits);
            return self.answer(budget).into_done_with(&files, committed).into();
        };
        let (done, all) = (state.jobs.len() - 1, self.orders.len());
        let first = state.jobs.first().unwrap_or(&job).clone();
        let ran = first.began.elapsed();
        // Its name is that of the command which runs.
        let handle = app.handle.job(job.name());
        handle.progress(done as u64, all as u64, job.titled());
        state.handle = Some(handle.clone());
        drop(state);
        self.end_when_cancelled(handle.clone());
        let line = shortened(&job.order.whole());
        let brief = format!("{line} · {} of {all} in order", done + 1);
        let started = Started::new(&handle, brief).named().complete().fails_alone();
        let started = started.no_undo(undo_of_job(app, &first));
        started.ran(ran).total(all as u64).into()
    }

    fn end_when_cancelled(self: &Arc<Self>, handle: JobHandle) {
        let own = self.clone();
        // Without the thread each of them can still be stopped by a call.
        let _ = thread::Builder::new().name("cancel".into()).spawn(move || {
            while !own.state().ended {
                if handle.cancelled_within(CANCEL_SPACING) {
                    return own.stop();
                }
            }
        });
    }

    /// Ends the one that runs, and starts no other one.
    fn stop(&self) {
        let running = {
            let mut state = self.state();
            state.cancelled = true;
            state.jobs.last().cloned()
        };
        if let Some(job) = running {
            job.stop(How::Stopped);
        }
    }

    /// Says how all of them ended: a verdict for each, with what matters of its output.
    fn answer(&self, budget: u64) -> Answer {
        let (jobs, failure, files) = {
            let state = self.state();
            (state.jobs.clone(), state.failure.clone(), state.files.clone())
        };
        let ended: Vec<(Arc<Job>, Arc<Ended>)> =
            jobs.into_iter().filter_map(|job| Some((job.clone(), job.ended()?))).collect();
        let (count, all) = (ended.len(), self.orders.len());
        let mut budget = budget.min(ANSWER_TOKENS);
        let mut pieces = Vec::new();
        for (at, (job, ended)) in ended.iter().enumerate() {
            // The last one is why no other one was run: it has what the others leave.
            let share = if at + 1 == count { budget } else { budget / (2 * (count - at) as u64) };
            let answer = Answer::of(job, ended, share);
            budget = budget.saturating_sub(answer.cost());
            pieces.push(Piece::Text(format!("{} · {}\n", job.titled(), answer.brief)));
            pieces.extend(answer.pieces);
        }
        if let Some(order) = self.orders.get(count) {
            let why = failure.map(|fault| format!(" ({})", fault.message)).unwrap_or_default();
            let more = match all - count - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let line = shortened(&order.whole());
            pieces.push(Piece::Text(format!("not run: {line}{more}{why}\n")));
        }
        let last = ended.last().map(|(_, ended)| ended.how.clone());
        let verdict = ended.last().map(|(_, ended)| ended.verdict()).unwrap_or_default();
        let brief = match last.is_some_and(|how| how.is_success()) {
            true if count == all => format!("all {all} succeeded"),
            true => format!("{count} of {all} were run"),
            false => format!("{count} of {all}: {verdict}"),
        };
        Answer { brief, pieces }.with_changed(&files)
    }

    fn tell_end(&self, handle: &JobHandle) {
        let answer = self.answer(ANSWER_TOKENS);
        handle.output(answer.text());
        let hows: Vec<How> = {
            let state = self.state();
            state.jobs.iter().filter_map(|job| Some(job.ended()?.how.clone())).collect()
        };
        if hows.len() == self.orders.len() && hows.iter().all(How::is_success) {
            handle.done(answer.brief);
        } else if hows.last() == Some(&How::Stopped) || self.state().cancelled {
            handle.cancelled(answer.brief);
        } else {
            handle.failed(answer.brief);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
