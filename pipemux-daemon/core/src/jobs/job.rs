//! One job: what is known of it, and the last bytes of its output.

use std::collections::{BTreeSet, VecDeque};

use pipemux_proto::job::{JobState, JobStatus};

use crate::foreign::{ForeignText, JobReport, Progress, data};
use crate::jobs::report_times::ReportTimes;
use crate::keys::{ReaderId, SessionKey, WorkspaceKey};
use crate::limits::{JOB_OUTPUT_MAX, JOB_READERS_MAX};

pub type JobReader = (WorkspaceKey, ReaderId);

/// Work of an app that outlasts the request that began it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The unique number of the job.
    pub number: u64,
    /// The session whose app does the job.
    pub session: SessionKey,
    /// The app's own key of the job.
    pub key: String,
    /// True if readers know it by its key.
    pub named: bool,
    /// A short description of the job.
    pub brief: ForeignText,
    /// The workspace and the reader that started it.
    pub owner: JobReader,
    /// The start time, in milliseconds since 1970.
    pub started_ms: u64,
    /// The end time, in milliseconds since 1970; 0 while the job runs.
    pub ended_ms: u64,
    /// True when it goes on while its session sleeps.
    pub sleeps: bool,
    /// Whether the job runs, or the way in which it ended.
    pub state: JobState,
    /// How far it is.
    pub progress: Progress,
    /// The result in one line, once it has ended.
    pub result: ForeignText,
    pub output: Output,
    /// The revision of what is shown of the job, counted from 1.
    pub rev: u64,
    /// True for a job of an earlier daemon, until its app has said whether it resumes the job.
    pub restored: bool,
    /// True if the action that started the job changes nothing, as a wait does. Always false for a
    /// job of an earlier daemon.
    pub only_looks: bool,
    /// Readers who know of it and, once it has ended, haven't been told so.
    pub(super) readers: BTreeSet<JobReader>,
    /// Readers who were told of its end before its app reported it.
    pub(super) told_early: BTreeSet<JobReader>,
    /// When those who watch are told of its progress.
    pub(super) reports: ReportTimes,
}

impl Job {
    /// Returns true while it runs.
    pub fn is_running(&self) -> bool {
        self.state == JobState::Running
    }

    /// Returns the name by which readers know it: `3`, or the app's word: `c2`, with the session
    /// where that isn't the app's main one.
    pub fn name(&self) -> String {
        match self.named {
            false => self.number.to_string(),
            true if self.session.addr.session.as_str() == "main" => self.key.clone(),
            true => self.full_name(),
        }
    }

    /// Returns its key with its session: `terminal/main:c2`.
    pub fn full_name(&self) -> String {
        format!("{}:{}", self.session, self.key)
    }

    /// Returns how long it has run or did run, in milliseconds.
    pub fn duration(&self, unix_ms: u64) -> u64 {
        let end = if self.is_running() { unix_ms } else { self.ended_ms };
        end.saturating_sub(self.started_ms)
    }

    /// Returns the job as clients see it.
    pub fn status(&self, unix_ms: u64) -> JobStatus {
        JobStatus {
            number: self.number,
            name: self.named.then(|| self.name()),
            session: self.session.to_string(),
            brief: data::exact(&self.brief),
            state: self.state,
            text: data::exact(&self.progress.text),
            done: self.progress.done,
            total: self.progress.total,
            result: data::exact(&self.result),
            ms: self.duration(unix_ms),
            cancel: None,
        }
    }

    /// Notes that a reader knows of it.
    pub(super) fn add_reader(&mut self, reader: JobReader) {
        if self.readers.len() < JOB_READERS_MAX {
            self.readers.insert(reader);
        }
    }

    /// Takes in what a report says of its progress. Returns true if what is shown of it changed.
    pub(super) fn take_progress(&mut self, report: &mut JobReport) -> bool {
        let known = &self.progress;
        let progress = Progress {
            text: report.text.take().unwrap_or_else(|| known.text.clone()),
            done: report.done.unwrap_or(known.done),
            total: report.total.unwrap_or(known.total),
        };
        let changed = progress != *known;
        self.progress = progress;
        self.rev += u64::from(changed);
        changed
    }
}

/// The last bytes of a job's output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    kept: VecDeque<u8>,
    /// The number of bytes before the kept ones.
    pub dropped: u64,
}

impl Output {
    /// Makes the output that an earlier daemon saved.
    pub(super) fn restored(kept: &[u8], dropped: u64) -> Self {
        Self { kept: kept.iter().copied().collect(), dropped }
    }

    /// Appends a piece; the oldest bytes make room.
    pub(super) fn push(&mut self, piece: &[u8]) {
        pipemux_tokens::work::spend(piece.len());
        let fits = &piece[piece.len().saturating_sub(JOB_OUTPUT_MAX)..];
        let excess = (self.kept.len() + fits.len()).saturating_sub(JOB_OUTPUT_MAX);
        self.kept.drain(..excess);
        self.dropped += (excess + piece.len() - fits.len()) as u64;
        self.kept.extend(fits);
    }

    /// Drops all of it.
    pub(super) fn clear(&mut self) {
        self.dropped += self.kept.len() as u64;
        self.kept = VecDeque::new();
    }

    /// Returns the number of bytes that are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Returns true if there was none at all.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.dropped == 0
    }

    /// Returns the last bytes, at most so many.
    pub fn tail(&self, most: usize) -> Vec<u8> {
        self.kept.iter().skip(self.kept.len().saturating_sub(most)).copied().collect()
    }

    /// Returns what is kept as text; bytes that aren't UTF-8 are replaced.
    pub fn to_text(&self) -> ForeignText {
        let bytes = self.tail(JOB_OUTPUT_MAX);
        // What was dropped may end within a character.
        let broken = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        let from = if self.dropped > 0 { broken } else { 0 };
        String::from_utf8_lossy(&bytes[from..]).into_owned().into()
    }
}
