//! What a row showed, and whether it passes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::siblings::Asked;
use super::{KEPT_MAX, RATIO_MAX};
use crate::raw::Heard;
use crate::{Raw, Said, World};

/// Bytes that the state of a world may take at the end: saved state, logs, and what the siblings keep.
const STATE_MAX: u64 = 16 * 1024 * 1024;
/// Characters of what an attacker was told that are shown.
const SHOWN: usize = 110;

/// What a row showed.
#[derive(Debug, Default)]
pub struct Finding {
    /// The row.
    pub name: &'static str,
    /// The siblings before the attack.
    pub quiet: Asked,
    /// During it.
    pub attacked: Asked,
    /// After it.
    pub afterwards: Asked,
    /// The daemon's memory before, in KiB.
    pub memory_before: u64,
    /// The most during the attack.
    pub memory_peak: u64,
    /// After it.
    pub memory_after: u64,
    /// The daemon's descriptors before.
    pub descriptors_before: usize,
    /// After.
    pub descriptors_after: usize,
    /// Processes of the attacker that outlived its end.
    pub survivors: Vec<String>,
    /// True when the daemon is the same process as before.
    pub same_daemon: bool,
    /// True when the attack could not be carried out.
    pub attack_failed: bool,
    /// What was left after `down`.
    pub left: Vec<String>,
    /// What the attacker was told.
    pub told: String,
}

impl Finding {
    /// The slowest hundredth during the attack as a multiple of that of the quiet.
    pub fn ratio(&self) -> f64 {
        let quiet = self.quiet.within(0.99).as_secs_f64();
        if quiet > 0.0 { self.attacked.within(0.99).as_secs_f64() / quiet } else { 1.0 }
    }

    /// True when the slowest hundredth stayed within its bound; told, never demanded.
    pub fn is_quick(&self) -> bool {
        self.ratio() <= RATIO_MAX
    }

    /// What is wrong; times are none of it.
    pub fn complaints(&self) -> Vec<String> {
        let mut all = Vec::new();
        let runs = [&self.quiet, &self.attacked, &self.afterwards];
        if let Some(first) = runs.iter().find_map(|asked| asked.strange.first()) {
            let count: usize = runs.iter().map(|asked| asked.strange.len()).sum();
            all.push(format!("{count} of the siblings' answers changed, the first: {first}"));
        }
        if self.attack_failed {
            all.push("the attack itself failed; what stands above says why".into());
        }
        if !self.same_daemon {
            all.push("the daemon did not live through it".into());
        }
        if self.memory_after > self.memory_before + KEPT_MAX {
            let (before, after) = (self.memory_before, self.memory_after);
            all.push(format!("the daemon kept memory: {before} KiB before, {after} after"));
        }
        if self.descriptors_after > self.descriptors_before {
            let (before, after) = (self.descriptors_before, self.descriptors_after);
            all.push(format!("the daemon kept descriptors: {before} before, {after} after"));
        }
        if !self.survivors.is_empty() {
            all.push(format!("outlived the attacker's end: {}", self.survivors.join(", ")));
        }
        all.extend(self.left.iter().map(|what| format!("left after down: {what}")));
        all
    }
}

/// What an attacker was told, and how often.
#[derive(Debug, Clone, Default)]
pub struct Told(BTreeMap<String, u64>);

impl Told {
    /// One thing, once.
    pub fn of(what: &str) -> Self {
        let mut told = Self::default();
        told.count(what);
        told
    }

    /// Counts an answer by its exit status and first line.
    pub fn note(&mut self, said: &Said) {
        self.count(&format!("exit {}: {}", said.exit, said.first_line()));
    }

    /// Counts a thing; numbers in it make no difference.
    pub fn count(&mut self, what: &str) {
        let mut plain = String::new();
        for c in what.chars() {
            match c {
                '0'..='9' if plain.ends_with('#') => {}
                '0'..='9' if !plain.ends_with("exit ") => plain.push('#'),
                '|' | '\n' => plain.push('/'),
                _ => plain.push(c),
            }
        }
        if let Some((end, _)) = plain.char_indices().nth(SHOWN) {
            plain.truncate(end);
            plain.push('…');
        }
        *self.0.entry(plain).or_default() += 1;
    }

    /// Takes in what another was told.
    pub fn join(&mut self, other: Self) {
        for (what, count) in other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    /// Waits for a connection's end and counts it with what was said before.
    pub fn ending(&mut self, raw: &mut Raw) {
        let faults = raw.faults(Duration::from_secs(5));
        let ended = match raw.hear(Duration::from_millis(1)) {
            Heard::End => "was closed",
            _ => "stayed open",
        };
        match faults.first() {
            Some(fault) => self.count(&format!("{ended}: {fault}")),
            None => self.count(&format!("{ended} without a word")),
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all: Vec<(&String, &u64)> = self.0.iter().collect();
        all.sort_by(|one, other| other.1.cmp(one.1));
        let shown: Vec<String> =
            all.iter().take(3).map(|(what, count)| format!("{what} ×{count}")).collect();
        f.write_str(&shown.join("; "))
    }
}

/// Files that should not be there once the daemon has ended, and state that grew beyond its bound.
pub(super) fn stray_files(world: &World) -> Vec<String> {
    let mut stray = Vec::new();
    let paths = world.paths();
    let mut state = 0;
    walk(world.root(), &mut |path, length| {
        let below = path.strip_prefix(world.root()).unwrap_or(path);
        if path.starts_with(&paths.state_dir) {
            // What an app writes there is its own and stays, as a notebook's entries do.
            let own = path.starts_with(paths.state_dir.join("sessions"));
            state += if own { 0 } else { length };
            let torn = path.extension().is_some_and(|end| end == "tmp" || end == "new");
            if torn && !own {
                stray.push(below.display().to_string());
            }
        } else if path.starts_with(&paths.runtime_dir) {
            stray.push(below.display().to_string());
        }
    });
    if state > STATE_MAX {
        stray.push(format!("{} MiB of state", state / 1024 / 1024));
    }
    stray
}

fn walk(directory: &Path, see: &mut impl FnMut(&Path, u64)) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.filter_map(Result::ok) {
        match entry.metadata() {
            Ok(found) if found.is_dir() => walk(&entry.path(), see),
            Ok(found) => see(&entry.path(), found.len()),
            Err(_) => {}
        }
    }
}
