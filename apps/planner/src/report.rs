//! The record of a check, `checks/c{n}.json` in a topic's folder: what of a plan held when its commands were run.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use docui::{Fault, regular_file};
use pipemux_planner_course::contract;
use pipemux_planner_course::ordered;
use pipemux_planner_course::turn::{count, flat, gist, quoted};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits::{CHECK_RECORD_MAX, CHECKS_KEPT, EVIDENCE_MAX};
use crate::store::replace;

/// Whether something holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Its command ended with status 0.
    Passed,
    /// Its command ended otherwise, or not in time.
    Failed,
    /// Nothing ran.
    #[default]
    NotRun,
}

impl Verdict {
    /// Returns how it is shown.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotRun => "not run",
        }
    }
}

/// How a command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it holds.
    pub verdict: Verdict,
    /// The exit status; none if a signal ended it, or it did not run.
    pub exit: Option<i32>,
    /// Why, in a few words: `status 101`.
    pub why: String,
    /// Its last lines.
    pub output: String,
    /// How long it took.
    pub seconds: u64,
}

impl Outcome {
    /// Nothing ran, for this reason.
    pub fn not_run(why: &str) -> Self {
        Self { why: why.to_owned(), ..Self::default() }
    }
}

/// A criterion with its verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checked {
    id: String,
    text: String,
    requirements: Vec<String>,
    pub command: Option<String>,
    verdict: Verdict,
    exit: Option<i32>,
    /// Why, in a few words.
    pub why: String,
    output: String,
    seconds: u64,
}

/// A check. Others may write its file: whatever it says is shown as foreign text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Its number in the topic, from 1.
    #[serde(rename = "check")]
    pub number: u32,
    pub topic: String,
    /// The version of the plan, and the hash of its file.
    pub version: u32,
    pub sha256: String,
    pub by: String,
    #[serde(rename = "as")]
    pub typed: String,
    pub at: String,
    /// Empty while it runs, or if it was cut off.
    pub ended: String,
    /// The first words of each requirement, by its id.
    requirements: BTreeMap<String, String>,
    pub results: Vec<Checked>,
}

impl Report {
    /// Makes one of a plan, of which nothing has run: of all of it, or of what has these ids.
    ///
    /// # Errors
    /// The id that nothing has.
    pub fn new(plan: &Value, of: &[String]) -> Result<Self, String> {
        let requirements = contract::requirements(plan);
        let mut criteria = contract::criteria(plan);
        let is_of =
            |one: &contract::Criterion, id: &String| one.id == *id || one.requirements.contains(id);
        if let Some(unknown) = of.iter().find(|id| !criteria.iter().any(|one| is_of(one, id))) {
            return Err(unknown.clone());
        }
        criteria.retain(|one| of.is_empty() || of.iter().any(|id| is_of(one, id)));
        let result = |one: contract::Criterion| Checked {
            why: if one.command.is_none() { "it has no command".into() } else { String::new() },
            text: gist(&one.text),
            id: one.id,
            requirements: one.requirements,
            command: one.command,
            ..Checked::default()
        };
        Ok(Self {
            at: jiff::Timestamp::now().to_string(),
            requirements: requirements.into_iter().map(|(id, text)| (id, gist(&text))).collect(),
            results: criteria.into_iter().map(result).collect(),
            ..Self::default()
        })
    }

    /// Takes the next number of a topic, and writes its file. Two sessions never take the same.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn claim(&mut self, topic: &Path) -> Result<PathBuf, Fault> {
        let folder = topic.join("checks");
        let failed = |error: std::io::Error| {
            Fault::failed(format!("{}: {error}; nothing ran", folder.display()))
        };
        fs::create_dir_all(&folder).map_err(failed)?;
        self.number = numbers(&folder).max().unwrap_or(0);
        loop {
            self.number = self.number.saturating_add(1);
            let path = file(&folder, self.number);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
                Ok(_) => {
                    self.write(&path)?;
                    for old in numbers(&folder).filter(|old| old + CHECKS_KEPT <= self.number) {
                        // One that stays takes room only.
                        let _ = fs::remove_file(file(&folder, old));
                    }
                    return Ok(path);
                }
            }
        }
    }

    /// Writes its file.
    ///
    /// # Errors
    /// It can't be written.
    pub fn write(&self, path: &Path) -> Result<(), Fault> {
        let value = serde_json::to_value(self).unwrap_or_default();
        replace(path, ordered::pretty(&value).as_bytes())
    }

    /// Returns the newest one of a topic; none if there is none that can be read.
    pub fn newest(topic: &Path) -> Option<Self> {
        let folder = topic.join("checks");
        let path = file(&folder, numbers(&folder).max()?);
        let is_small = path.metadata().ok()?.len() <= CHECK_RECORD_MAX;
        serde_json::from_slice(&regular_file::read(&path).ok().filter(|_| is_small)?).ok()
    }

    /// Takes how a command ended, for all that it shows.
    pub fn set(&mut self, command: &str, outcome: &Outcome) {
        let of = self.results.iter_mut().filter(|one| one.command.as_deref() == Some(command));
        for one in of {
            (one.verdict, one.exit, one.seconds) = (outcome.verdict, outcome.exit, outcome.seconds);
            (one.why, one.output) = (outcome.why.clone(), outcome.output.clone());
        }
    }

    /// Returns true if something has this verdict.
    pub fn has(&self, verdict: Verdict) -> bool {
        self.results.iter().any(|one| one.verdict == verdict)
    }

    /// Says how it went: `1 passed, 1 failed, 1 not run`.
    pub fn summary(&self) -> String {
        let parts = [Verdict::Failed, Verdict::Passed, Verdict::NotRun].map(|verdict| {
            let number = self.results.iter().filter(|one| one.verdict == verdict).count();
            (number > 0).then(|| format!("{number} {}", verdict.word()))
        });
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns a line for each criterion that a command shows, with the last lines of its output if it failed.
    pub fn lines_of(&self, command: &str) -> Vec<String> {
        let of = self.results.iter().filter(|one| one.command.as_deref() == Some(command));
        of.map(|one| one.shown("") + "\n").collect()
    }

    /// Writes each requirement with what stands for it.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let known = self.requirements.iter();
        for (id, what) in known {
            // A test that stands for several is told with the first of them.
            let of: Vec<&Checked> =
                self.results.iter().filter(|one| one.requirements.first() == Some(id)).collect();
            let all = || self.results.iter().filter(|one| one.requirements.contains(id));
            if all().next().is_none() {
                continue;
            }
            let is = |verdict| all().filter(|one| one.verdict == verdict).count();
            let word = match (is(Verdict::Failed), is(Verdict::Passed), is(Verdict::NotRun)) {
                (0, 0, _) => "not run".to_owned(),
                (0, _, 0) => "passed".to_owned(),
                (0, _, more) => format!("passed, {more} not run"),
                _ => "failed".to_owned(),
            };
            text += &format!("- **{}** {word}: {}\n", flat(id), flat(what));
            of.iter().for_each(|one| text += &format!("  - {}\n", one.shown("    ")));
        }
        let other = self.results.iter().filter(|one| {
            one.requirements.first().is_none_or(|id| !self.requirements.contains_key(id))
        });
        other.for_each(|one| text += &format!("- {}\n", one.shown("  ")));
        text
    }

    /// Writes what failed, for the brief of a new cycle; none if nothing did. Each criterion is a line, and what its command
    /// printed is quoted, so that it forges no part of the brief.
    pub fn evidence(&self) -> Option<String> {
        let failed: Vec<&Checked> =
            self.results.iter().filter(|one| one.verdict == Verdict::Failed).collect();
        if failed.is_empty() {
            return None;
        }
        let mut text = format!("Check {} of version {} failed:", self.number, self.version);
        for (at, one) in failed.iter().enumerate() {
            let of: Vec<String> = one
                .requirements
                .iter()
                .map(|id| {
                    let what = self.requirements.get(id).map_or("", String::as_str);
                    format!("{} ({})", flat(id), flat(what))
                })
                .collect();
            let more = format!("\n- of {}: {}", of.join("; "), one.shown("  "));
            if text.chars().count() + more.chars().count() > EVIDENCE_MAX {
                text += &format!("\n- and {} more", failed.len() - at);
                break;
            }
            text += &more;
        }
        Some(text)
    }
}

impl Checked {
    /// Writes it on a line, and what a command that failed printed quoted below, after an indentation.
    fn shown(&self, indent: &str) -> String {
        let mut text = format!("{} {}", flat(&self.id), self.verdict.word());
        let why = flat(&self.why);
        if self.verdict != Verdict::Passed && !why.is_empty() {
            text += &format!(", {why}");
        }
        text += &format!(": {}", flat(&self.text));
        if let Some(command) = &self.command {
            text += &format!(" · `{}`", flat(command).replace('`', "'"));
        }
        if self.verdict == Verdict::Failed && !self.output.trim().is_empty() {
            let quoted = quoted(self.output.trim_end());
            quoted.lines().for_each(|line| text += &format!("\n{indent}{line}"));
        }
        text
    }
}

fn file(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("c{number}.json"))
}

/// Returns the numbers of the checks that there are.
fn numbers(folder: &Path) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_prefix('c')?.strip_suffix(".json")?.parse().ok()
    })
}

/// Writes the newest check of a topic for its window, and how to go on.
pub fn shown(report: &Report, is_running: bool, adjust: &str) -> String {
    let (number, version) = (report.number, report.version);
    let head = match (report.ended.is_empty(), is_running) {
        (false, _) => report.summary(),
        (true, true) => "is running".into(),
        (true, false) => {
            "has no end on record: it was cut off, unless another session runs it".into()
        }
    };
    let topic = flat(&report.topic);
    let mut text = format!(
        "\n### Check {number} of version {version}: {head}\n.planning/{topic}/checks/c{number}.json · {}\n{}",
        count(report.results.len(), "criterion").replace("criterions", "criteria"),
        report.table()
    );
    if report.has(Verdict::Failed) {
        text += &format!("a new cycle with what failed: `{adjust}`\n");
    }
    text
}
