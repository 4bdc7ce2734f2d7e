//! The running apps, and the end of each: an app has ended when nothing that it started is left.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nix::libc;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::cgroup::SessionCgroup;
use crate::disk_usage::disk_usage;
use crate::mark::{MarkOrigin, ProcessMark};
use crate::message::{ExceededLimit, Limits, Report, Spawn, StopSignal, Termination};
use crate::process_limit::ProcessLimitSchedule;
use crate::sys::Usage;
use crate::{orphans, processes, sys, tree_usage};

/// How long an app's descendants may take to die before its exit is reported anyway. Only processes
/// that hang in the kernel need it.
const END_TIMEOUT: Duration = Duration::from_secs(3);
/// Pause between two attempts to kill what is left of an app.
const KILL_ROUND: Duration = Duration::from_millis(2);
/// Rounds of killing orphans after which descendants that aren't orphans are searched for by their
/// mark.
const ROUNDS_BEFORE_MARK_SEARCH: u32 = 4;
/// Pause between two attempts to kill survivors once the exit of their app is reported.
const SURVIVOR_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// The longest time for killing one app's processes before the launcher does other work.
const KILL_TURN: Duration = Duration::from_millis(100);
/// Pause between two sums of what the apps use. The kernel holds each single process to its limits
/// at once.
const TREE_CHECK_INTERVAL: Duration = Duration::from_secs(3);
/// Pause between two sums of what the apps' directories take.
const DISK_CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// The number of children that are reaped before orders are handled.
const REAP_TURN: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct AppTable {
    /// The running apps by process id. The processes are not reaped.
    apps: HashMap<i32, RunningApp>,
    /// Apps that exited and whose descendants may not have.
    ending: Vec<EndingApp>,
    origin: Option<MarkOrigin>,
    /// The first and the newest mark that this launcher assigned.
    given: Option<(ProcessMark, ProcessMark)>,
    /// The schedule for checking whether an app has too many processes.
    process_checks: ProcessLimitSchedule,
    /// The time of the next sum of the apps' usage and of the sizes of their directories.
    next_tree_check: Option<Instant>,
    next_disk_check: Option<Instant>,
}

#[derive(Debug)]
struct RunningApp {
    incarnation: u64,
    mark: ProcessMark,
    /// False where the kernel did not accept the mark.
    marked: bool,
    limits: Limits,
    exceeded: Option<ExceededLimit>,
    state_dir: PathBuf,
    cgroup: Option<SessionCgroup>,
}

#[derive(Debug)]
struct EndingApp {
    incarnation: u64,
    mark: ProcessMark,
    termination: Termination,
    exceeded: Option<ExceededLimit>,
    deadline: Instant,
    rounds: u32,
    reported: bool,
    cgroup: Option<SessionCgroup>,
}

impl AppTable {
    /// Adds an app that was just started, with the control group that it is in.
    pub(crate) fn insert(&mut self, order: &Spawn, pid: i32, cgroup: Option<SessionCgroup>) {
        let mark = order.mark;
        let marked = processes::mark_of(pid) == Some(mark);
        self.origin = Some(mark.origin());
        self.given = Some((self.given.map_or(mark, |(first, _)| first), mark));
        let (incarnation, limits) = (order.incarnation, order.limits);
        if let Some(max) = limits.processes {
            self.process_checks.record_app_start(max, !self.has_process_limits(), Instant::now());
        }
        let (exceeded, state_dir) = (None, PathBuf::from(&order.fallback_cwd));
        let app = RunningApp { incarnation, mark, marked, limits, exceeded, state_dir, cgroup };
        self.apps.insert(pid, app);
    }

    /// Signals an app and its group; does nothing for an app that exited.
    pub(crate) fn signal(&self, incarnation: u64, signal: StopSignal) {
        let mut apps = self.apps.iter();
        let Some((pid, _)) = apps.find(|(_, app)| app.incarnation == incarnation) else { return };
        let signal = match signal {
            StopSignal::Terminate => Signal::SIGTERM,
            StopSignal::Kill => Signal::SIGKILL,
        };
        let _ = killpg(Pid::from_raw(*pid), signal);
    }

    /// Returns the process groups of all apps.
    pub(crate) fn groups(&self) -> Vec<Pid> {
        self.apps.keys().copied().map(Pid::from_raw).collect()
    }

    /// True for marks that this launcher gave. Those of the next daemon's apps have the same
    /// origin: it may have started some while this launcher is about to end.
    pub(crate) fn gave(&self, mark: ProcessMark) -> bool {
        self.given.is_some_and(|(first, newest)| mark.is_between(first, newest))
    }

    /// Returns how long the launcher may wait for an event before it has work to do; `None` means
    /// indefinitely.
    pub(crate) fn time_to_next_check(&self) -> Option<Duration> {
        if self.ending.iter().any(|ending| !ending.reported) {
            return Some(KILL_ROUND);
        }
        let next_check = self
            .has_process_limits()
            .then(|| self.process_checks.time_to_next_check(Instant::now()));
        // Survivors of an app whose exit is reported are killed less often.
        let hanging = (!self.ending.is_empty()).then_some(SURVIVOR_CHECK_INTERVAL);
        next_check.into_iter().chain(hanging).min()
    }

    /// Reaps children that ended, at most [`REAP_TURN`]; returns whether there may be more.
    ///
    /// # Errors
    /// As `waitid` and `wait4`.
    pub(crate) fn reap(&mut self) -> std::io::Result<bool> {
        for _ in 0..REAP_TURN {
            let Some(pid) = sys::next_dead()? else { return Ok(false) };
            let Some(app) = self.apps.remove(&pid) else {
                // An adopted orphan.
                orphans::reap(pid);
                self.process_checks.record_activity();
                continue;
            };
            // The app isn't reaped yet, so the group is still its own.
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
            let (status, usage) = sys::reap(pid)?;
            let by_group = app.cgroup.as_ref().and_then(|cgroup| {
                cgroup.kill();
                cgroup.exceeded(app.limits)
            });
            let by_itself = || exceeded_limit(status, usage, app.limits);
            self.ending.push(EndingApp {
                incarnation: app.incarnation,
                mark: app.mark,
                termination: termination_of(status),
                exceeded: app.exceeded.or(by_group).or_else(by_itself),
                deadline: Instant::now() + END_TIMEOUT,
                // Of too many processes some are certainly no orphans, so the search by mark begins
                // at once.
                rounds: if app.exceeded.is_some() { ROUNDS_BEFORE_MARK_SEARCH } else { 0 },
                reported: false,
                cgroup: app.cgroup,
            });
        }
        Ok(true)
    }

    /// Kills what is left of apps that exited; returns the exits of those of which nothing is left.
    pub(crate) fn finish_ended(&mut self) -> Vec<Report> {
        if self.ending.is_empty() {
            return Vec::new();
        }
        for ending in self.ending.iter_mut() {
            ending.rounds += 1;
        }
        let needs_search = |mark| {
            self.ending.iter().any(|one| one.mark == mark && one.rounds > ROUNDS_BEFORE_MARK_SEARCH)
        };
        if self.ending.iter().any(|one| one.rounds > ROUNDS_BEFORE_MARK_SEARCH) {
            processes::kill_marked(needs_search, KILL_TURN);
        }
        let remaining = self.kill_orphans();
        let now = Instant::now();
        let mut reports = Vec::new();
        self.ending.retain_mut(|ending| {
            let own = |mark: &Option<ProcessMark>| mark.is_none_or(|mark| mark == ending.mark);
            let survivors: Vec<i32> =
                remaining.iter().filter(|(_, mark)| own(mark)).map(|(pid, _)| *pid).collect();
            let none_left = survivors.is_empty();
            if (none_left || now >= ending.deadline)
                && !std::mem::replace(&mut ending.reported, true)
            {
                if let Some(cgroup) = &ending.cgroup {
                    cgroup.remove();
                }
                let EndingApp { incarnation, termination, exceeded, .. } = *ending;
                reports.push(Report::Exited { incarnation, termination, exceeded, survivors });
            }
            !none_left
        });
        reports
    }

    /// Kills adopted children that don't belong to a running app; returns those that aren't gone
    /// yet, with their marks.
    fn kill_orphans(&self) -> Vec<(i32, Option<ProcessMark>)> {
        loop {
            let mut remaining = Vec::new();
            let mut reaped = false;
            for pid in processes::children() {
                if self.apps.contains_key(&pid) {
                    continue;
                }
                if orphans::reap(pid) {
                    // Its children have been adopted meanwhile, and this list lacks them.
                    reaped = true;
                    continue;
                }
                // Another daemon's mark says nothing here: this daemon may itself be a descendant
                // of that daemon's app.
                let own = |mark: &ProcessMark| self.origin.is_some_and(|origin| mark.is_of(origin));
                let mark = processes::mark_of(pid).filter(own);
                if self.belongs_to_running_app(mark) {
                    continue;
                }
                orphans::kill_with_group(pid, |group| self.apps.contains_key(&group));
                remaining.push((pid, mark));
            }
            if !reaped {
                return remaining;
            }
        }
    }

    fn belongs_to_running_app(&self, mark: Option<ProcessMark>) -> bool {
        // All children are apps or their descendants. One without a mark belongs to an app that
        // could not be marked, or it has removed its mark; then it is killed when the next app
        // exits.
        self.apps.values().any(|app| Some(app.mark) == mark || (mark.is_none() && !app.marked))
    }

    /// Kills the apps that have more processes than they may.
    pub(crate) fn enforce_process_limits(&mut self) {
        let now = Instant::now();
        if !self.has_process_limits() || !self.process_checks.is_due(now) {
            return;
        }
        self.enforce_tree_limits(now);
        // The number of apps is known; what matters is what apps and other programs started.
        let total = processes::total().unwrap_or_default().saturating_sub(self.apps.len() as u64);
        if !self.process_checks.record_check(total, now) {
            return;
        }
        let counts = processes::count_marks();
        let mut slack = Some(u64::MAX);
        for (pid, app) in &mut self.apps {
            let Some(max) = app.limits.processes else { continue };
            let count = counts.get(&app.mark).copied().unwrap_or_default();
            slack = slack.min(max.checked_sub(count));
            if count <= max {
                continue;
            }
            app.end(*pid, ExceededLimit::Processes(max));
        }
        self.process_checks.record_count(total, slack, now);
    }

    /// Kills the apps that use more memory, threads or disk than they may, together with all that
    /// they started.
    fn enforce_tree_limits(&mut self, now: Instant) {
        if is_due(&mut self.next_tree_check, now, TREE_CHECK_INTERVAL) {
            let of = |app: &RunningApp| (app.mark, app.limits.memory);
            let usages = tree_usage::of_marks(&self.apps.values().map(of).collect());
            for (pid, app) in &mut self.apps {
                let Some(usage) = usages.get(&app.mark) else { continue };
                let Limits { memory, threads, .. } = app.limits;
                if let Some(max) = memory.filter(|max| usage.memory > *max) {
                    app.end(*pid, ExceededLimit::TreeMemory(max));
                } else if let Some(max) = threads.filter(|max| usage.threads > *max) {
                    app.end(*pid, ExceededLimit::Threads(max));
                }
            }
        }
        if is_due(&mut self.next_disk_check, now, DISK_CHECK_INTERVAL) {
            for (pid, app) in &mut self.apps {
                let Some(max) = app.limits.disk else { continue };
                if disk_usage(&app.state_dir) > max {
                    app.end(*pid, ExceededLimit::Disk(max));
                }
            }
        }
    }

    /// True while a running app has a limit of processes.
    fn has_process_limits(&self) -> bool {
        self.apps.values().any(|app| app.limits.processes.is_some())
    }
}

impl RunningApp {
    /// Kills the app and all that it started, because it exceeded a limit.
    fn end(&mut self, pid: i32, exceeded: ExceededLimit) {
        self.exceeded = Some(exceeded);
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        processes::kill_marked(|mark| mark == self.mark, KILL_TURN);
    }
}

/// True when a check is due that is made in this interval; then the next one is set.
fn is_due(next: &mut Option<Instant>, now: Instant, interval: Duration) -> bool {
    let due = next.is_none_or(|next| now >= next);
    if due {
        *next = Some(now + interval);
    }
    due
}

fn termination_of(status: ExitStatus) -> Termination {
    match (status.code(), status.signal()) {
        (Some(code), _) => Termination::Code(code),
        (None, signal) => Termination::Signal(signal.unwrap_or_default()),
    }
}

/// Returns the limit that most likely ended the process.
fn exceeded_limit(status: ExitStatus, usage: Usage, limits: Limits) -> Option<ExceededLimit> {
    let signal = status.signal().unwrap_or_default();
    if let Some(max) = limits.cpu
        && (signal == libc::SIGXCPU
            || signal == libc::SIGKILL && usage.cpu >= Duration::from_secs(max))
    {
        return Some(ExceededLimit::Cpu(max));
    }
    // A process without memory left either exits with an error status or crashes.
    let crashes = [libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGTRAP];
    let failed = status.code().is_some_and(|code| code != 0) || crashes.contains(&signal);
    let max = limits.memory.filter(|max| failed && usage.memory >= max / 4 * 3)?;
    Some(ExceededLimit::Memory(usage.memory, max))
}
