//! The model of a session: its settings and the last sample.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use docui::{Fault, Found, Kind, Opening};

use crate::disks::DiskSampler;
use crate::limits::TOP_MAX;
use crate::resource::{Resource, unknown_resource};
use crate::sample::{Process, Sample};
use crate::sampler::Sampler;
use crate::settings::Settings;
use crate::{action, detail};

/// Maximum age of the sample when the window is viewed.
const SAMPLE_AGE_MAX: Duration = Duration::from_secs(1);

pub struct Monitor {
    /// In a cell, because building a confirmation inspects a process through a shared reference.
    pub(crate) sampler: RefCell<Sampler>,
    pub(crate) sample: Sample,
    sampled_at: Instant,
    pub(crate) settings: Settings,
    state_dir: PathBuf,
    callee: String,
    address: String,
    /// True when the daemon repeated an earlier `open` to start this process.
    again: bool,
}

impl Monitor {
    /// Takes a first sample and restores the session's settings.
    ///
    /// # Errors
    /// There are arguments, or the system is not supported.
    pub fn new(opening: &Opening) -> Result<Self, Fault> {
        if !opening.args.is_empty() {
            return Err(Fault::usage("the monitor takes no arguments")
                .hint(format!("pipemux open {}", opening.callee())));
        }
        let disks = DiskSampler::new(opening.cwd.clone(), opening.handle.clone());
        let mut sampler = Sampler::new(disks)?;
        let sample = sampler.sample();
        Ok(Self {
            sampler: RefCell::new(sampler),
            sample,
            sampled_at: Instant::now(),
            settings: Settings::load(&opening.state_dir),
            state_dir: opening.state_dir.clone(),
            callee: opening.callee(),
            address: opening.address(),
            again: opening.again,
        })
    }

    /// Returns what readers should know after a restart, or nothing if there was none.
    pub fn restart_notes(&self) -> Vec<String> {
        match self.again {
            true => vec!["Kept: settings. Lost: earlier samples.".into()],
            false => Vec::new(),
        }
    }

    /// Returns the session's address: `monitor/main`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Takes a new sample.
    pub fn resample(&mut self) {
        self.sample = self.sampler.get_mut().sample();
        self.sampled_at = Instant::now();
    }

    /// Returns whether the sample is too old to be shown.
    pub fn is_sample_old(&self) -> bool {
        self.sampled_at.elapsed() >= SAMPLE_AGE_MAX
    }

    /// Changes the settings, and saves them.
    ///
    /// # Errors
    /// They can't be saved. Nothing was changed.
    pub fn change_settings(&mut self, change: impl FnOnce(&mut Settings)) -> Result<(), Fault> {
        let mut settings = self.settings.clone();
        change(&mut settings);
        if settings != self.settings {
            settings.save(&self.state_dir)?;
            self.settings = settings;
        }
        Ok(())
    }

    /// Looks up the resource or process that a key names.
    pub fn locate(&self, key: &str) -> Found {
        match Resource::from_key(key) {
            Some(_) => Found::Here(0),
            None => self.locate_process(key),
        }
    }

    /// Describes a resource or process as plain text.
    ///
    /// # Errors
    /// There is no such process in the last sample.
    pub fn describe(&self, key: &str) -> Result<String, Fault> {
        let Settings { by, top, .. } = self.settings;
        if let Some(resource) = Resource::from_key(key) {
            return Ok(detail::text(resource, &self.sample, by, top));
        }
        let process = self.sample.processes.iter().find(|process| process.key() == key);
        let process = process.ok_or_else(|| Fault::not_found("the process ended").about(key))?;
        Ok(format!("{} {}\n", process.name, detail::cells(process).join(" ")))
    }

    /// Returns the key of the resource that a name means, or of the process with a pid or a name.
    ///
    /// # Errors
    /// There is no such resource or process, or several processes have the name.
    pub fn key_of(&self, ty: Option<&str>, name: &str) -> Result<String, Fault> {
        let name = name.trim();
        if ty != Some(action::Process::NAME.unwrap_or_default()) {
            let resource = Resource::from_key(&name.to_lowercase());
            return resource
                .map(|resource| resource.key().to_owned())
                .ok_or_else(|| unknown_resource(&format!("{name:?} is no resource")));
        }
        let processes = self.sample.processes.iter();
        let is_named = |process: &&Process| process.name == name || process.pid.to_string() == name;
        let found: Vec<&Process> = processes.filter(is_named).collect();
        match found[..] {
            [one] => Ok(one.key()),
            [] => Err(Fault::not_found(format!("no process is {name:?}: write its pid"))),
            _ => {
                let pids: Vec<_> = found.iter().take(10).map(|one| one.pid.to_string()).collect();
                let message = format!("{} processes are {name:?}", found.len());
                Err(Fault::usage(message).hint(format!("write the pid: {}", pids.join(", "))))
            }
        }
    }

    fn locate_process(&self, key: &str) -> Found {
        let Settings { by, top, ref expanded } = self.settings;
        let Some(process) = self.sample.processes.iter().find(|process| process.key() == key)
        else {
            let was_process = Process::pid_in(key).is_some();
            return Found::Gone(was_process.then(|| "The process ended".to_owned()));
        };
        let is_expanded = expanded.contains(&Resource::Processes);
        if is_expanded && detail::top(&self.sample, by, top).contains(&process) {
            return Found::Here(0);
        }
        let (verb, call) = match is_expanded {
            true => ("ask", format!("top({TOP_MAX})")),
            false => ("run", "expand(\"processes\")".to_owned()),
        };
        Found::Hidden { rev: 0, how: format!("pipemux {verb} '{}.{call}'", self.callee) }
    }
}
