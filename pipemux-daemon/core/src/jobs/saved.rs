//! Jobs on disk. The output of a running job isn't saved.

use pipemux_proto::SessionAddr;
use pipemux_proto::job::JobState;

use crate::foreign::{ForeignText, Progress, data};
use crate::jobs::job::{Job, Output};
use crate::jobs::report_times::ReportTimes;
use crate::jobs::{JobReader, Jobs};
use crate::keys::SessionKey;
use crate::limits::JOB_OUTPUT_SAVED;
use crate::persist::records::{Record, SavedJob, SavedJobEnd};

/// Returns the record of a job.
pub(super) fn to_record(job: &Job) -> Record {
    let end = (!job.is_running()).then(|| {
        let output = job.output.tail(JOB_OUTPUT_SAVED);
        SavedJobEnd {
            state: job.state.word().to_owned(),
            ended_ms: job.ended_ms,
            result: data::exact(&job.result),
            dropped: job.output.dropped + (job.output.len() - output.len()) as u64,
            output: output.into(),
        }
    });
    let reader = |(workspace, reader): &JobReader| (workspace.to_string(), reader.to_string());
    Record::Job(Box::new(SavedJob {
        number: job.number,
        workspace: job.session.workspace.as_deref().map(Into::into),
        session: job.session.to_string(),
        key: job.key.clone(),
        named: job.named,
        brief: data::exact(&job.brief),
        started_in: job.owner.0.to_string(),
        reader: job.owner.1.to_string(),
        started_ms: job.started_ms,
        sleeps: job.sleeps,
        end,
        readers: job.readers.iter().map(reader).collect(),
    }))
}

impl Jobs {
    /// Restores a job of an earlier daemon.
    pub fn restore(&mut self, saved: SavedJob) {
        let Ok(addr) = saved.session.parse::<SessionAddr>() else { return };
        let session = SessionKey { workspace: saved.workspace.map(Into::into), addr };
        let (state, end) = match saved.end {
            None => (JobState::Running, SavedJobEnd::default()),
            Some(end) => match end.state.as_str() {
                "done" => (JobState::Done, end),
                "failed" => (JobState::Failed, end),
                "cancelled" => (JobState::Cancelled, end),
                _ => (JobState::Lost, end),
            },
        };
        let mut job = Job {
            number: saved.number,
            session,
            key: saved.key,
            named: saved.named,
            brief: saved.brief.into(),
            owner: (saved.started_in.into(), saved.reader.into()),
            started_ms: saved.started_ms,
            ended_ms: end.ended_ms,
            sleeps: saved.sleeps,
            state,
            progress: Progress { done: 0, total: 0, text: ForeignText::default() },
            result: end.result.into(),
            output: Output::restored(&end.output, end.dropped),
            rev: 1,
            restored: true,
            only_looks: false,
            readers: Default::default(),
            told_early: Default::default(),
            reports: ReportTimes::default(),
        };
        for (workspace, reader) in saved.readers {
            job.add_reader((workspace.into(), reader.into()));
        }
        self.insert(job);
    }

    /// Restores that a reader was told of a job's end.
    pub fn restore_told(&mut self, number: u64, workspace: String, reader: String) {
        if let Some(job) = self.by_number.get_mut(&number) {
            job.readers.remove(&(workspace.into(), reader.into()));
        }
    }

    /// Returns the records of all jobs, in an order that restores them.
    pub fn snapshot(&self) -> Vec<Record> {
        let running = self.by_number.values().filter(|job| job.is_running());
        let ended = self.ended.iter().filter_map(|number| self.by_number.get(number));
        ended.chain(running).map(to_record).collect()
    }
}
