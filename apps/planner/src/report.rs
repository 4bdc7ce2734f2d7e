//! The record of a check, `checks/c{n}.json` in a topic's folder: what of a plan held when its
//! commands were run.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use docui::{Fault, regular_file};
use pipemux_planner_course::contract;
use pipemux_planner_course::lang::Lang;
use pipemux_planner_course::ordered;
use pipemux_planner_course::text::gist;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::frame::say;
use crate::limits::{CHECK_RECORD_MAX, CHECKS_KEPT};
use crate::store::replace;

/// The result of checking a criterion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The command exited with status 0.
    Passed,
    /// The command exited with another status, was ended by a signal, or timed out.
    Failed,
    /// No command ran.
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

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    pub verdict: Verdict,
    /// The exit status; `None` if a signal ended the command or it did not run.
    pub exit: Option<i32>,
    /// The reason in a few words: `status 101`.
    pub why: String,
    /// The last lines of the command's output.
    pub output: String,
    /// The duration of the command, in seconds.
    pub seconds: u64,
}

impl Outcome {
    /// Returns the outcome of a command that did not run, with the reason.
    pub fn not_run(why: &str) -> Self {
        Self { why: why.to_owned(), ..Self::default() }
    }
}

/// A criterion and the result of its check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checked {
    pub id: String,
    pub text: String,
    pub requirements: Vec<String>,
    pub command: Option<String>,
    pub verdict: Verdict,
    pub exit: Option<i32>,
    /// The reason in a few words.
    pub why: String,
    pub output: String,
    pub seconds: u64,
}

/// A check's report. Others may write its file, so its contents are shown as foreign text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The number of the check in its topic, from 1.
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
    /// The first words of each requirement, by the requirement's id.
    pub requirements: BTreeMap<String, String>,
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
            self.number += 1;
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
    pub fn summary(&self, lang: Lang) -> String {
        let parts = [Verdict::Failed, Verdict::Passed, Verdict::NotRun].map(|verdict| {
            let number = self.results.iter().filter(|one| one.verdict == verdict).count();
            (number > 0).then(|| format!("{number} {}", say(lang, verdict.word())))
        });
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

fn file(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("c{number}.json"))
}

/// Returns the numbers of the checks that there are, but none that is too high to have come about.
fn numbers(folder: &Path) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let number: u32 = name.strip_prefix('c')?.strip_suffix(".json")?.parse().ok()?;
        (number < u32::MAX / 2).then_some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_once_and_old_records_go() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("checks")).unwrap();
        fs::write(dir.path().join("checks/c4294967295.json"), "").unwrap();
        for number in 1..=CHECKS_KEPT + 3 {
            let mut report = Report::default();
            report.claim(dir.path()).unwrap();
            assert_eq!(report.number, number);
        }
        let mut kept: Vec<u32> = numbers(&dir.path().join("checks")).collect();
        kept.sort_unstable();
        assert_eq!(kept, (4..=CHECKS_KEPT + 3).collect::<Vec<_>>());
        assert_eq!(Report::newest(dir.path()).unwrap().number, CHECKS_KEPT + 3);
    }
}
