//! A session: the commands that it runs and ran.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docui::{Anchor, Context, Fault, Found, Handle, Opening, regular_file, state_file};
use pipemux_problems::Report;

use crate::action::Command;
use crate::answer::problem_object;
use crate::job::{Circumstances, Ended, Job};
use crate::limits::{COMMAND_SHOWN, OUTPUT_BYTES, RUNNING_MAX, RUNS_MAX};
use crate::permission::Allowed;
use crate::question::Permit;
use crate::start::Order;

/// A terminal session.
pub struct Terminal {
    /// The commands, in the order in which they were started.
    pub(crate) jobs: Vec<Arc<Job>>,
    pub(crate) allowed: Allowed,
    /// The opener's environment.
    pub(crate) env: BTreeMap<String, String>,
    cwd: PathBuf,
    pub(crate) state_dir: PathBuf,
    outputs: PathBuf,
    /// The number of the newest command.
    newest: u64,
    pub(crate) handle: Handle,
    pub(crate) callee: String,
    /// True when an earlier process of the session was lost with its commands.
    lost: bool,
}

impl Terminal {
    /// Makes a session without commands.
    ///
    /// # Errors
    /// There are arguments, or its directory can't be written to.
    pub fn new(opening: &Opening) -> Result<Self, Fault> {
        without_arguments(opening)?;
        let outputs = opening.state_dir.join("output");
        // What an earlier process kept is of commands that nobody knows any more.
        let _ = fs::remove_dir_all(&outputs);
        fs::create_dir_all(&outputs)
            .map_err(|error| Fault::failed(format!("{}: {error}", outputs.display())))?;
        let newest = regular_file::read_to_string(&opening.state_dir.join("newest")).ok();
        let newest = newest.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        Ok(Self {
            jobs: Vec::new(),
            allowed: Allowed::read(&opening.state_dir),
            env: opening.env.clone(),
            cwd: opening.cwd.clone(),
            state_dir: opening.state_dir.clone(),
            outputs,
            newest,
            handle: opening.handle.clone(),
            callee: opening.callee(),
            lost: opening.again && newest > 0,
        })
    }

    /// Takes over the environment of a further opener.
    ///
    /// # Errors
    /// There are arguments.
    pub fn attach(&mut self, opening: &Opening) -> Result<(), Fault> {
        without_arguments(opening)?;
        self.env.clone_from(&opening.env);
        self.cwd.clone_from(&opening.cwd);
        Ok(())
    }

    /// Returns what readers should know after a restart.
    pub fn restart_notes(&mut self) -> Vec<String> {
        match std::mem::take(&mut self.lost) {
            true => vec!["Kept: what may run. Lost: the commands that ran, and all output.".into()],
            false => Vec::new(),
        }
    }

    /// Returns the directory in which a call's commands run.
    pub fn directory(&self, context: &Context) -> PathBuf {
        match context.cwd.as_os_str().is_empty() {
            true => self.cwd.clone(),
            false => context.cwd.clone(),
        }
    }

    /// Returns the directory in which the workspace's commands run, unless a call says otherwise.
    pub fn workspace(&self) -> &Path {
        &self.cwd
    }

    /// Returns the commands that run.
    pub fn running(&self) -> Vec<Arc<Job>> {
        self.jobs.iter().filter(|job| job.ended().is_none()).cloned().collect()
    }

    /// Starts a command.
    ///
    /// # Errors
    /// Too many run already, or it can't be started.
    pub fn start(
        &mut self,
        permit: Permit,
        timeout: Option<std::time::Duration>,
        reader: &str,
    ) -> Result<Arc<Job>, Fault> {
        let running = self.running().len();
        if running >= RUNNING_MAX {
            return Err(Fault::refused(format!(
                "{running} commands run already, which is the limit"
            ))
            .hint(format!("pipemux view {}", self.callee))
            .hint(format!("pipemux run '{}.stop(\"c1\")'", self.callee)));
        }
        let number = self.newest + 1;
        // Numbers are never used twice, not even by the next process.
        state_file::replace(&self.state_dir.join("newest"), number.to_string().as_bytes())?;
        self.newest = number;
        let with = Circumstances {
            timeout,
            reader: reader.to_owned(),
            before: self.before(permit.order()),
            session: self.handle.clone(),
        };
        let job = Job::start(number, permit, &self.outputs, with)?;
        self.jobs.push(job.clone());
        self.make_room();
        Ok(job)
    }

    /// Returns what the newest run of the same command found that has ended by itself.
    fn before(&self, order: &Order) -> Option<Arc<Report>> {
        let same = |job: &&Arc<Job>| {
            let other = &job.order;
            (&other.line, &other.cwd, &other.given) == (&order.line, &order.cwd, &order.given)
        };
        let ended = |job: &Arc<Job>| job.ended().filter(|ended| ended.how.is_complete());
        let report = |job| Some(ended(job)?.report.clone());
        self.jobs.iter().rev().filter(same).find_map(report)
    }

    /// Forgets the oldest commands that have ended, and their output.
    fn make_room(&mut self) {
        let mut excess = self.jobs.len().saturating_sub(RUNS_MAX);
        self.jobs.retain(|job| {
            let forget = excess > 0 && job.ended().is_some();
            excess -= usize::from(forget);
            !forget
        });
        let mut bytes = 0;
        for job in self.jobs.iter().rev().filter(|job| job.ended().is_some()) {
            job.with(|state| {
                let kept = state.spill.kept_bytes();
                match bytes + kept <= OUTPUT_BYTES {
                    true => bytes += kept,
                    false => state.spill.remove(),
                }
            });
        }
    }

    /// Returns the command that a call means: the one that is named, else the newest one of its reader, else the newest.
    ///
    /// # Errors
    /// There is none.
    pub fn job(&self, named: Option<&Anchor<Command>>, reader: &str) -> Result<Arc<Job>, Fault> {
        let found = match named {
            Some(anchor) => self.by_key(&anchor.key).map(|(job, _)| job),
            None => {
                let own = self.jobs.iter().rev().find(|job| job.reader == reader);
                own.or(self.jobs.last()).cloned()
            }
        };
        found.ok_or_else(|| {
            Fault::not_found("no command was run yet")
                .hint(format!("pipemux run '{}.run(\"ls\")'", self.callee))
        })
    }

    /// Returns the command that a call acts on: as [`Terminal::job`], but one that runs before those that have ended.
    ///
    /// # Errors
    /// There is none.
    pub fn active_job(
        &self,
        named: Option<&Anchor<Command>>,
        reader: &str,
    ) -> Result<Arc<Job>, Fault> {
        let running = self.running();
        let own = running.iter().rev().find(|job| job.reader == reader);
        match own.or(running.last()) {
            Some(job) if named.is_none() => Ok(job.clone()),
            _ => self.job(named, reader),
        }
    }

    /// Returns the command that a key names, and the rest of the key.
    pub fn by_key<'k>(&self, key: &'k str) -> Option<(Arc<Job>, &'k str)> {
        let (name, part) = key.split_once('.').unwrap_or((key, ""));
        let number: u64 = name.strip_prefix('c')?.parse().ok()?;
        let job = self.jobs.iter().find(|job| job.number == number)?;
        Some((job.clone(), part))
    }

    /// Looks up a command, a problem or a failed test.
    pub fn locate(&self, key: &str) -> Found {
        let gone = || Found::Gone(Some("only the newest commands are remembered".into()));
        let Some((job, part)) = self.by_key(key) else { return gone() };
        let is_there = part.is_empty()
            || job.ended().is_some_and(|ended| problem_object(&job, &ended.report, part).is_some());
        if is_there { Found::Here(0) } else { gone() }
    }

    /// Returns the key of the command that a name means: `c3`, `3`, or the beginning of its line.
    ///
    /// # Errors
    /// No command has the name.
    pub fn key_of(&self, name: &str) -> Result<String, Fault> {
        let name = name.trim();
        let number: Option<u64> = name.strip_prefix('c').unwrap_or(name).parse().ok();
        let found = match number {
            Some(number) => self.jobs.iter().find(|job| job.number == number),
            None => self.jobs.iter().rev().find(|job| job.order.line.text.starts_with(name)),
        };
        match found.filter(|_| !name.is_empty()) {
            Some(job) => Ok(job.name()),
            None => {
                let known: Vec<String> =
                    self.jobs.iter().rev().take(5).map(|job| titled(job)).collect();
                let known =
                    if known.is_empty() { "none was run".to_owned() } else { known.join(" · ") };
                Err(Fault::not_found(format!("no command is named {name:?}: {known}")))
            }
        }
    }

    /// Returns where a problem or a failed test is now.
    ///
    /// # Errors
    /// It has no place, or the line was edited since.
    pub fn place(&self, key: &str) -> Result<(PathBuf, usize), Fault> {
        let none = || Fault::refused("its tool named no place").about(key);
        let (job, part) =
            self.by_key(key).ok_or_else(|| Fault::not_found("it is forgotten").about(key))?;
        let ended: Arc<Ended> = job.ended().ok_or_else(none)?;
        let index = |part: &str| part.get(1..).and_then(|index| index.parse().ok());
        let located = match part.chars().next() {
            Some('p') => index(part).and_then(|index| ended.places.problem(index)),
            Some('t') => index(part).and_then(|index| ended.places.failure(index)),
            _ => None,
        };
        let located = located.ok_or_else(none)?;
        Ok((located.path.clone(), located.now().map_err(|fault| fault.about(key))?))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.jobs.iter().for_each(|job| job.kill());
    }
}

/// Returns a command's name and line: `c3 cargo test`.
pub fn titled(job: &Job) -> String {
    format!("{} {}", job.name(), shortened(&job.order.whole()))
}

/// Returns a command line in one line, cut if it is long.
pub fn shortened(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.len() <= COMMAND_SHOWN {
        true => line,
        false => format!("{}…", &line[..line.floor_char_boundary(COMMAND_SHOWN)]),
    }
}

/// Returns a path relative to a directory, if it is below it.
pub fn below<'p>(path: &'p Path, directory: &Path) -> &'p Path {
    path.strip_prefix(directory).unwrap_or(path)
}

fn without_arguments(opening: &Opening) -> Result<(), Fault> {
    match opening.args.is_empty() {
        true => Ok(()),
        false => {
            let line = opening.args.join(" ");
            Err(Fault::usage("the terminal is opened without a command")
                .hint(docui::command::run(&format!("{}.run({line:?})", opening.callee()))))
        }
    }
}
