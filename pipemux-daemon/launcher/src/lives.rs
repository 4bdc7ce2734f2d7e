//! The apps that run, and the end of each: a life is over when nothing that it started is left.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nix::libc;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::looks::Looks;
use crate::mark::{Mark, Origin};
use crate::message::{Ended, Force, Limits, Over, Report, Spawn};
use crate::sys::Usage;
use crate::{orphans, processes, sys};

/// How long descendants may take to die when their app's end is to be told; only what hangs in the
/// kernel needs it.
const END_LIFE: Duration = Duration::from_secs(3);
/// Between two looks at what was killed and isn't gone.
const ROUND: Duration = Duration::from_millis(2);
/// Rounds after which those are sought by their mark, who aren't orphans yet.
const PATIENCE: u32 = 4;
/// Between two looks at what hangs on after its app's end was told.
const HANGING: Duration = Duration::from_millis(100);
/// How long those of one life are killed again and again before others have their turn.
const KILL_TURN: Duration = Duration::from_millis(100);
/// Children that are reaped before orders have their turn.
const REAP_TURN: usize = 256;

/// All apps.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    /// By process id; what is in here isn't reaped.
    apps: HashMap<i32, App>,
    /// Those whose app has ended, and whose descendants have not yet.
    ending: Vec<Ending>,
    /// Common to all marks.
    origin: Option<Origin>,
    /// Whether they have too many processes.
    looks: Looks,
}

#[derive(Debug)]
struct App {
    incarnation: u64,
    mark: Mark,
    /// False where the kernel didn't take the mark.
    marked: bool,
    limits: Limits,
    over: Option<Over>,
}

#[derive(Debug)]
struct Ending {
    incarnation: u64,
    mark: Mark,
    how: Ended,
    over: Option<Over>,
    until: Instant,
    rounds: u32,
    told: bool,
}

impl Lives {
    /// Takes in an app that was just started.
    pub(crate) fn insert(&mut self, order: &Spawn, pid: i32) {
        let mark = order.mark;
        let marked = processes::mark_of(pid) == Some(mark);
        self.origin = Some(mark.origin());
        let (incarnation, limits) = (order.incarnation, order.limits);
        if let Some(most) = limits.processes {
            self.looks.app_starts(most, !self.are_counted(), Instant::now());
        }
        self.apps.insert(pid, App { incarnation, mark, marked, limits, over: None });
    }

    /// Signals an app and its group; one that ended is passed over.
    pub(crate) fn signal(&self, incarnation: u64, force: Force) {
        let mut apps = self.apps.iter();
        let Some((pid, _)) = apps.find(|(_, app)| app.incarnation == incarnation) else { return };
        let signal = match force {
            Force::Terminate => Signal::SIGTERM,
            Force::Kill => Signal::SIGKILL,
        };
        let _ = killpg(Pid::from_raw(*pid), signal);
    }

    /// The groups of all apps.
    pub(crate) fn groups(&self) -> Vec<Pid> {
        self.apps.keys().copied().map(Pid::from_raw).collect()
    }

    /// What the marks of all apps have in common.
    pub(crate) fn origin(&self) -> Option<Origin> {
        self.origin
    }

    /// How long nothing is to be done unless something happens; none: for ever.
    pub(crate) fn pause(&self) -> Option<Duration> {
        if self.ending.iter().any(|ending| !ending.told) {
            return Some(ROUND);
        }
        let look = self.are_counted().then(|| self.looks.pause(Instant::now()));
        // Once its end was told, what hangs on is looked at less often.
        let hanging = (!self.ending.is_empty()).then_some(HANGING);
        look.into_iter().chain(hanging).min()
    }

    /// Reaps who ended, at most a turn's share; returns whether there may be more.
    ///
    /// # Errors
    /// As `waitid` and `wait4`.
    pub(crate) fn reap(&mut self) -> std::io::Result<bool> {
        for _ in 0..REAP_TURN {
            let Some(pid) = sys::next_dead()? else { return Ok(false) };
            let Some(app) = self.apps.remove(&pid) else {
                // An orphan that was adopted.
                orphans::reap(pid);
                self.looks.stir();
                continue;
            };
            // Not reaped yet: the group is still this app's.
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
            let (status, usage) = sys::reap(pid)?;
            self.ending.push(Ending {
                incarnation: app.incarnation,
                mark: app.mark,
                how: ended(status),
                over: app.over.or_else(|| over(status, usage, app.limits)),
                until: Instant::now() + END_LIFE,
                // Of too many processes not all are orphans.
                rounds: if app.over.is_some() { PATIENCE } else { 0 },
                told: false,
            });
        }
        Ok(true)
    }

    /// Kills what apps that ended have left; returns the reports of those of whom nothing is left.
    pub(crate) fn end(&mut self) -> Vec<Report> {
        if self.ending.is_empty() {
            return Vec::new();
        }
        for ending in self.ending.iter_mut() {
            ending.rounds += 1;
        }
        let hidden = |mark| self.ending.iter().any(|one| one.mark == mark && one.rounds > PATIENCE);
        if self.ending.iter().any(|one| one.rounds > PATIENCE) {
            processes::kill_marked(hidden, KILL_TURN);
        }
        let left = self.kill_strays();
        let now = Instant::now();
        let mut reports = Vec::new();
        self.ending.retain_mut(|ending| {
            let own = |mark: &Option<Mark>| mark.is_none_or(|mark| mark == ending.mark);
            let left: Vec<i32> =
                left.iter().filter(|(_, mark)| own(mark)).map(|(pid, _)| *pid).collect();
            let over = left.is_empty();
            if (over || now >= ending.until) && !std::mem::replace(&mut ending.told, true) {
                let Ending { incarnation, how, over, .. } = *ending;
                reports.push(Report::Exited { incarnation, how, over, left });
            }
            !over
        });
        reports
    }

    /// Kills those adopted children that aren't of an app that runs; returns who isn't gone yet, with
    /// its mark.
    fn kill_strays(&self) -> Vec<(i32, Option<Mark>)> {
        loop {
            let mut left = Vec::new();
            let mut reaped = false;
            for pid in processes::children() {
                if self.apps.contains_key(&pid) {
                    continue;
                }
                if orphans::reap(pid) {
                    // Its children are ours now, and not in this list.
                    reaped = true;
                    continue;
                }
                // Another one's mark says nothing here: this daemon may be a descendant of another's app.
                let own = |mark: &Mark| self.origin.is_some_and(|origin| mark.is_of(origin));
                let mark = processes::mark_of(pid).filter(own);
                if self.is_of_living(mark) {
                    continue;
                }
                orphans::kill_with_group(pid, |group| self.apps.contains_key(&group));
                left.push((pid, mark));
            }
            if !reaped {
                return left;
            }
        }
    }

    fn is_of_living(&self, mark: Option<Mark>) -> bool {
        // Nothing but apps and their descendants are children here: who has no mark is of an app that
        // could not be given one, or threw it away, and then goes with the next that ends.
        self.apps.values().any(|app| Some(app.mark) == mark || (mark.is_none() && !app.marked))
    }

    /// Ends the apps that have more processes than they may.
    pub(crate) fn count(&mut self) {
        let now = Instant::now();
        if !self.are_counted() || !self.looks.is_due(now) {
            return;
        }
        // The apps themselves are known; what counts is what they, or others, started.
        let total = processes::total().unwrap_or_default().saturating_sub(self.apps.len() as u64);
        if !self.looks.look(total, now) {
            return;
        }
        let counts = processes::count_marks();
        let mut slack = Some(u64::MAX);
        for (pid, app) in &mut self.apps {
            let Some(most) = app.limits.processes else { continue };
            let count = counts.get(&app.mark).copied().unwrap_or_default();
            slack = slack.min(most.checked_sub(count));
            if count <= most {
                continue;
            }
            app.over = Some(Over::Processes(most));
            let _ = killpg(Pid::from_raw(*pid), Signal::SIGKILL);
            processes::kill_marked(|mark| mark == app.mark, KILL_TURN);
        }
        self.looks.count(total, slack, now);
    }

    /// True while an app lives whose processes have a bound.
    fn are_counted(&self) -> bool {
        self.apps.values().any(|app| app.limits.processes.is_some())
    }
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(signal.unwrap_or_default()),
    }
}

/// The limit that an end most likely comes from.
fn over(status: ExitStatus, usage: Usage, limits: Limits) -> Option<Over> {
    let signal = status.signal().unwrap_or_default();
    if let Some(most) = limits.cpu
        && (signal == libc::SIGXCPU
            || signal == libc::SIGKILL && usage.cpu >= Duration::from_secs(most))
    {
        return Some(Over::Cpu(most));
    }
    // What had no memory left says so in its own way: a status, or a crash.
    let crashes = [libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGTRAP];
    let failed = status.code().is_some_and(|code| code != 0) || crashes.contains(&signal);
    let most = limits.memory.filter(|most| failed && usage.memory >= most / 4 * 3)?;
    Some(Over::Memory(usage.memory, most))
}
