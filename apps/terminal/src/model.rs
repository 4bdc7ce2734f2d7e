//! A session: the commands that it runs and ran.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docui::{Anchor, Context, Fault, Found, Handle, Opening, Reply};

use crate::action::Command;
use crate::answer::problem_object;
use crate::job::{Ended, Job};
use crate::job_table::JobTable;
use crate::own_directories::OwnDirectories;
use crate::ports;

/// A terminal session.
pub struct Terminal {
    pub(crate) jobs: JobTable,
    /// PipeMux's own directories.
    pub(crate) own: OwnDirectories,
    /// The last message to readers about how commands are confined.
    told: Option<String>,
    /// The message about confinement that the next answer is to contain.
    news: Option<String>,
    /// The environment of the session's opener.
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: PathBuf,
    pub(crate) state_dir: PathBuf,
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
        let own = OwnDirectories::of_daemon();
        let jobs = JobTable::new(opening, own.config_file(&opening.env))?;
        let lost = opening.again && jobs.was_used();
        Ok(Self {
            jobs,
            own,
            told: None,
            news: None,
            env: opening.env.clone(),
            cwd: opening.cwd.clone(),
            state_dir: opening.state_dir.clone(),
            handle: opening.handle.clone(),
            callee: opening.callee(),
            lost,
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
        let lost = std::mem::take(&mut self.lost);
        let lost = lost.then(|| "Lost: the commands that ran, and all output.".to_owned());
        lost.into_iter().collect()
    }

    /// Has readers told how commands are held, unless they were.
    pub(crate) fn tell(&mut self, note: Option<String>) {
        if self.told != note {
            self.told.clone_from(&note);
            self.news = note;
        }
    }

    /// Adds to an answer what readers should know besides.
    pub(crate) fn with_news(&mut self, reply: Reply) -> Reply {
        match (reply, self.news.take()) {
            (Reply::Done(done), Some(news)) => done.also(&news).into(),
            (reply, news) => {
                news.into_iter().for_each(|news| self.handle.notify(news));
                reply
            }
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
        self.jobs.running()
    }

    /// Returns the command that a call looks at: the one that is named, else the newest one of its
    /// reader, else the newest.
    ///
    /// # Errors
    /// There is none.
    pub fn job(&self, named: Option<&Anchor<Command>>, reader: &str) -> Result<Arc<Job>, Fault> {
        let found = match named {
            Some(anchor) => self.by_key(&anchor.key).map(|(job, _)| job),
            None => newest(&self.jobs.all(), reader),
        };
        found.ok_or_else(|| {
            Fault::not_found("no command was run yet")
                .hint(format!("pipemux run '{}.run(\"ls\")'", self.callee))
        })
    }

    /// Returns the command that a call acts on or waits for: as [`Terminal::job`], but one that
    /// runs before those that have ended.
    ///
    /// # Errors
    /// There is none.
    pub fn active_job(
        &self,
        named: Option<&Anchor<Command>>,
        reader: &str,
    ) -> Result<Arc<Job>, Fault> {
        match newest(&self.running(), reader) {
            Some(job) if named.is_none() => Ok(job),
            _ => self.job(named, reader),
        }
    }

    /// Returns the port that later commands get as `$PORT`: the lowest one of the newest command
    /// that listens, as far as that is known.
    pub fn port(&self) -> Option<(Arc<Job>, u16)> {
        self.running().into_iter().rev().find_map(|job| {
            let port = *ports::of(&job.listens()).first()?;
            Some((job, port))
        })
    }

    /// Returns the port as it is now, for a command that is about to get it.
    pub fn port_now(&self) -> Option<(Arc<Job>, u16)> {
        self.running().into_iter().rev().find_map(|job| {
            let port = *ports::of(&job.look_at_ports()).first()?;
            Some((job, port))
        })
    }

    /// Returns the command that a key names, and the rest of the key.
    pub fn by_key<'k>(&self, key: &'k str) -> Option<(Arc<Job>, &'k str)> {
        let (name, part) = key.split_once('.').unwrap_or((key, ""));
        let number: u64 = name.strip_prefix('c')?.parse().ok()?;
        let job = self.jobs.all().into_iter().find(|job| job.number == number)?;
        Some((job, part))
    }

    /// Looks up a command, or what its output told of.
    pub fn locate(&self, key: &str) -> Found {
        let gone = || Found::Gone(Some("only the newest commands are remembered".into()));
        let Some((job, part)) = self.by_key(key) else { return gone() };
        let is_there = part.is_empty()
            || job.ended().is_some_and(|ended| problem_object(&job, &ended.report, part).is_some());
        if is_there { Found::Here(0) } else { gone() }
    }

    /// Returns the key of the command that a name means: `c3`, as answers show it (`job c3`,
    /// `job:c3`), `3`, the beginning of its line, or else a word of it; of several the newest one,
    /// but one that runs comes first.
    ///
    /// # Errors
    /// No command has the name.
    pub fn key_of(&self, name: &str) -> Result<String, Fault> {
        let name = name.trim();
        let bare =
            name.strip_prefix("job").map_or(name, |rest| rest.trim_start_matches([':', ' ']));
        let number: Option<u64> = bare.strip_prefix('c').unwrap_or(bare).parse().ok();
        let jobs = self.jobs.all();
        let found = match number {
            Some(number) => jobs.iter().find(|job| job.number == number),
            None => {
                let text = |job: &Arc<Job>| job.order.line.clone();
                let by = |means: &dyn Fn(&str) -> bool| {
                    let mut named = jobs.iter().rev().filter(|job| means(&text(job)));
                    let newest = named.clone().next();
                    named.find(|job| job.ended().is_none()).or(newest)
                };
                let has_word = |line: &str| {
                    line.split(|c: char| c.is_whitespace() || "/;|&'\"=".contains(c))
                        .any(|word| word == name)
                };
                by(&|line| line.starts_with(name)).or_else(|| by(&has_word))
            }
        };
        match found.filter(|_| !name.is_empty()) {
            Some(job) => Ok(job.name()),
            None => {
                let runs = |job: &&Arc<Job>| job.ended().is_none();
                let (ran, of) = match jobs.iter().any(|job| runs(&job)) {
                    true => (jobs.iter().rev().filter(runs).take(5).collect(), "running"),
                    false => (jobs.iter().rev().take(3).collect::<Vec<_>>(), "ended"),
                };
                let known: Vec<String> = ran.into_iter().map(|job| job.titled()).collect();
                let known = match known.is_empty() {
                    true => "none was run".to_owned(),
                    false => format!("{of}: {}", known.join(" · ")),
                };
                Err(Fault::not_found(format!("no command is named {name:?}; {known}")))
            }
        }
    }

    /// Returns where a problem, a failed test, or a file or hunk that git told of is now.
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
            Some('f') => match part.split_once('h') {
                Some((file, hunk)) => {
                    let hunk = hunk.parse().ok();
                    index(file).and_then(|file| ended.places.file(file, Some(hunk?)))
                }
                None => index(part).and_then(|file| ended.places.file(file, None)),
            },
            _ => None,
        };
        let located = located.ok_or_else(none)?;
        Ok((located.path.clone(), located.now().map_err(|fault| fault.about(key))?))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.jobs.close();
    }
}

/// Returns the newest command of a reader, or of all if it has none.
fn newest(jobs: &[Arc<Job>], reader: &str) -> Option<Arc<Job>> {
    let own = jobs.iter().rev().find(|job| job.reader == reader);
    own.or(jobs.last()).cloned()
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
