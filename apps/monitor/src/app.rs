//! The model: settings and the last sample.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use docui::{Anchor, App, Ask, Context, Done, Fault, Found, Lod, Look, Opening, Reply, View};

use crate::action::{self, Action, By};
use crate::detail::{self, Resource};
use crate::kill;
use crate::sample::Sample;
use crate::sampler::Sampler;
use crate::settings::{self, Settings, TOP_MAX};
use crate::view;

/// How old a sample may be when the window is looked at.
const FRESH: Duration = Duration::from_secs(1);

/// A monitor session.
pub struct Monitor {
    /// What a confirmation shows is looked up when it is asked.
    sampler: RefCell<Sampler>,
    sample: Sample,
    taken: Instant,
    settings: Settings,
    state_dir: PathBuf,
    callee: String,
    address: String,
    again: bool,
}

impl Monitor {
    /// Takes a sample; true when the window shows something else for it.
    fn take(&mut self) -> bool {
        let sample = self.sampler.get_mut().sample();
        self.taken = Instant::now();
        let before = std::mem::replace(&mut self.sample, sample);
        // Many figures change by less than is shown.
        self.everything(&before) != self.everything(&self.sample)
    }

    fn everything(&self, sample: &Sample) -> View {
        view::view(sample, &self.settings, Lod::Full, u64::MAX / 4, "")
    }

    /// Shows something else, and keeps that.
    fn set(&mut self, change: impl FnOnce(&mut Settings)) -> Result<(), Fault> {
        let mut settings = self.settings.clone();
        change(&mut settings);
        if settings != self.settings {
            settings.save(&self.state_dir)?;
            self.settings = settings;
        }
        Ok(())
    }

    fn call(&self, call: &str) -> String {
        format!("pipemux run '{}.{call}'", self.callee)
    }

    fn find_process(&self, key: &str) -> Found {
        let Settings { by, top, ref expanded } = self.settings;
        let is_it = |process: &&crate::sample::Process| process.key() == key;
        let Some(process) = self.sample.processes.iter().find(is_it) else {
            let was_one = key.starts_with('p') && key.contains('-');
            return Found::Gone(was_one.then(|| "The process ended".to_owned()));
        };
        if expanded.contains(&Resource::Processes)
            && detail::top(&self.sample, by, top).contains(&process)
        {
            return Found::Here(0);
        }
        let how = match expanded.contains(&Resource::Processes) {
            true => self.call(&format!("top({TOP_MAX})")),
            false => self.call("top()"),
        };
        Found::Hidden { rev: 0, how }
    }
}

impl App for Monitor {
    type Action = Action;
    // It is never put to sleep: what it shows are samples, and none are taken while it doesn't run.
    const RESUMES: bool = false;

    fn open(opening: &Opening) -> Result<Self, Fault> {
        if !opening.args.is_empty() {
            return Err(Fault::usage("the monitor takes no arguments")
                .hint(format!("pipemux open {}", opening.callee())));
        }
        let mut sampler = Sampler::new()?;
        let sample = sampler.sample();
        Ok(Self {
            sampler: RefCell::new(sampler),
            sample,
            taken: Instant::now(),
            settings: Settings::load(&opening.state_dir),
            state_dir: opening.state_dir.clone(),
            callee: opening.callee(),
            address: opening.address(),
            again: opening.again,
        })
    }

    fn notes(&mut self) -> Vec<String> {
        match self.again {
            true => vec!["Kept: settings. Lost: earlier samples.".into()],
            false => Vec::new(),
        }
    }

    fn update(&mut self, action: Action, _: &Context) -> Result<Reply, Fault> {
        let done = match action {
            Action::Top { n, by } => {
                let number = settings::top(n)?;
                self.set(|settings| {
                    settings.expanded.insert(Resource::Processes);
                    (settings.top, settings.by) = (number, by);
                })?;
                let order = if by == By::Mem { "memory" } else { "CPU" };
                Done::new(format!("{number} by {order}"))
            }
            Action::Expand { resource } => {
                let resource = known(&resource)?;
                self.set(|settings| {
                    settings.expanded.insert(resource);
                })?;
                Done::new(resource.label())
            }
            Action::Fold { resource } => {
                let resource = known(&resource)?;
                self.set(|settings| {
                    settings.expanded.remove(&resource);
                })?;
                Done::new(resource.label())
            }
            Action::Kill { process } => {
                Done::new(kill::terminate(self.sampler.get_mut(), &process.key)?)
            }
            Action::Refresh {} => {
                self.take();
                Done::new(detail::gist(&self.sample))
            }
        };
        Ok(done.into())
    }

    fn view(&self, look: &Look) -> View {
        view::view(&self.sample, &self.settings, look.lod, look.budget, &self.address)
    }

    fn find(&self, key: &str) -> Found {
        match Resource::from_key(key) {
            Some(_) => Found::Here(0),
            None => self.find_process(key),
        }
    }

    fn read(&self, key: &str) -> Result<Vec<u8>, Fault> {
        let Settings { by, top, .. } = self.settings;
        if let Some(resource) = Resource::from_key(key) {
            return Ok(detail::text(resource, &self.sample, by, top).into_bytes());
        }
        let process = self.sample.processes.iter().find(|process| process.key() == key);
        let process = process.ok_or_else(|| Fault::not_found("the process ended").about(key))?;
        Ok(format!("{} {}\n", process.name, detail::cells(process).join(" ")).into_bytes())
    }

    fn confirm(&self, action: &Action) -> Result<Ask, Fault> {
        match action {
            Action::Kill { process } => {
                kill::question(&mut self.sampler.borrow_mut(), &process.key)
            }
            _ => Ok(Ask::confirm("cannot be undone")),
        }
    }

    fn refresh(&mut self) -> bool {
        self.taken.elapsed() >= FRESH && self.take()
    }
}

fn known(anchor: &Anchor<action::Resource>) -> Result<Resource, Fault> {
    Resource::from_key(&anchor.key).ok_or_else(|| {
        let keys = Resource::ALL.map(Resource::key).join(", ");
        Fault::usage("resource: not a resource").hint(format!("there are {keys}"))
    })
}
