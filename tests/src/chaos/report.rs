//! The measurements of one scenario, and whether it passes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::siblings::Measurement;
use super::{P99_RATIO_MAX, RETAINED_MEMORY_MAX};
use crate::{ClientReply, RawConnection, Received, TestEnv};

/// Bytes that saved state and logs may take at the end.
const STATE_MAX: u64 = 16 * 1024 * 1024;
/// Characters that are kept of each answer to an attacker.
const ANSWER_MAX: usize = 110;

/// The measurements of one scenario.
#[derive(Debug, Default)]
pub struct ScenarioReport {
    /// The name of the scenario.
    pub name: &'static str,
    /// The siblings' answers before the attack.
    pub baseline: Measurement,
    /// Their answers during the attack.
    pub during: Measurement,
    /// Their answers after the attack.
    pub after: Measurement,
    /// The daemon's resident memory before the attack, in KiB.
    pub memory_before: u64,
    /// Its most resident memory during the attack, in KiB.
    pub memory_peak: u64,
    /// Its resident memory after the attack, in KiB.
    pub memory_after: u64,
    /// The daemon's open descriptors before the attack.
    pub descriptors_before: usize,
    /// Its open descriptors after the attack.
    pub descriptors_after: usize,
    /// Processes of the attacker that outlived its session.
    pub survivors: Vec<String>,
    /// True when the daemon is the same process as before.
    pub same_daemon: bool,
    /// True when the thread that attacks panicked.
    pub attack_failed: bool,
    /// Processes and files that were left after `pipemux down`.
    pub leftovers: Vec<String>,
    /// The answers to the attacker, most frequent first.
    pub answers: String,
}

impl ScenarioReport {
    /// Returns the 99th percentile of the siblings' times during the attack, divided by the
    /// baseline's.
    pub fn p99_ratio(&self) -> f64 {
        let baseline = self.baseline.percentile(0.99).as_secs_f64();
        if baseline > 0.0 { self.during.percentile(0.99).as_secs_f64() / baseline } else { 1.0 }
    }

    /// Returns true when that ratio is within its bound. It is reported and never fails a scenario.
    pub fn is_quick(&self) -> bool {
        self.p99_ratio() <= P99_RATIO_MAX
    }

    /// Lists the checks that failed. Times are not checked.
    pub fn failures(&self) -> Vec<String> {
        let mut all = Vec::new();
        let runs = [&self.baseline, &self.during, &self.after];
        if let Some(first) = runs.iter().find_map(|measured| measured.unexpected.first()) {
            let count: usize = runs.iter().map(|measured| measured.unexpected.len()).sum();
            all.push(format!("{count} of the siblings' answers changed, the first: {first}"));
        }
        if self.attack_failed {
            all.push("the attacking thread panicked; its message is printed above".into());
        }
        if !self.same_daemon {
            all.push("the daemon was restarted".into());
        }
        if self.memory_after > self.memory_before + RETAINED_MEMORY_MAX {
            let (before, after) = (self.memory_before, self.memory_after);
            all.push(format!("the daemon kept memory: {before} KiB before, {after} after"));
        }
        if self.descriptors_after > self.descriptors_before {
            let (before, after) = (self.descriptors_before, self.descriptors_after);
            all.push(format!("the daemon kept descriptors: {before} before, {after} after"));
        }
        if !self.survivors.is_empty() {
            all.push(format!("processes outlived their session: {}", self.survivors.join(", ")));
        }
        all.extend(self.leftovers.iter().map(|what| format!("left after `pipemux down`: {what}")));
        all
    }
}

/// The answers that an attacker got, and how often it got each.
#[derive(Debug, Clone, Default)]
pub struct AnswerTally(BTreeMap<String, u64>);

impl AnswerTally {
    /// Counts one answer once.
    pub fn of(what: &str) -> Self {
        let mut tally = Self::default();
        tally.count(what);
        tally
    }

    /// Counts an answer by its exit status and first line.
    pub fn count_reply(&mut self, reply: &ClientReply) {
        self.count(&format!("exit {}: {}", reply.exit, reply.first_line()));
    }

    /// Counts an answer; answers that differ only in their numbers count as the same.
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
        if let Some((end, _)) = plain.char_indices().nth(ANSWER_MAX) {
            plain.truncate(end);
            plain.push('…');
        }
        *self.0.entry(plain).or_default() += 1;
    }

    /// Adds the counts of another tally.
    pub fn join(&mut self, other: Self) {
        for (what, count) in other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    /// Waits until the daemon closes the connection, and counts that with the fault that came
    /// before.
    pub fn count_ending(&mut self, raw: &mut RawConnection) {
        let faults = raw.faults(Duration::from_secs(5));
        let ended = match raw.receive(Duration::from_millis(1)) {
            Received::Closed => "closed",
            _ => "kept open",
        };
        match faults.first() {
            Some(fault) => self.count(&format!("{ended}: {fault}")),
            None => self.count(&format!("{ended} without a message")),
        }
    }
}

impl fmt::Display for AnswerTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all: Vec<(&String, &u64)> = self.0.iter().collect();
        all.sort_by(|one, other| other.1.cmp(one.1));
        let shown: Vec<String> =
            all.iter().take(3).map(|(what, count)| format!("{what} ×{count}")).collect();
        f.write_str(&shown.join("; "))
    }
}

/// Lists files that should not exist once the daemon has ended, and state that is larger than its
/// bound.
pub(super) fn stray_files(env: &TestEnv) -> Vec<String> {
    let mut stray = Vec::new();
    let paths = env.paths();
    let mut state = 0;
    walk(env.root(), &mut |path, length| {
        let below = path.strip_prefix(env.root()).unwrap_or(path);
        if path.starts_with(&paths.state_dir) {
            // Files of the apps, such as a notebook's entries, are kept on purpose.
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
