//! Jobs: work that outlasts the action that began it, reported from whatever thread does it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pipemux_proto::job::JobEnd;

use crate::handle::Handle;
use crate::job_report::{CancelFlag, PendingReport};
use crate::limits::HANDLE_TEXT_MAX;

/// A job of a session, for the thread that does it. Cheap to clone; any thread may use it.
///
/// An action begins a job with [`Handle::job`] and answers with [`crate::Reply::started`]. From
/// then on readers see how far it is, and are told of its end exactly once. A job whose last handle
/// is dropped without an end has failed, so that a thread that panics leaves nobody waiting.
///
/// A process that is lost with running jobs is followed by another one, which is told of them in
/// [`crate::App::resume_jobs`]. It goes on with a job by taking its handle again; readers are told
/// that all others are lost.
///
/// ```no_run
/// # fn update(handle: &docui::Handle) -> Result<docui::Reply, docui::Fault> {
/// let job = handle.job("count-1");
/// let worker = job.clone();
/// std::thread::spawn(move || {
///     for done in 0..100 {
///         if worker.cancelled_within(std::time::Duration::from_millis(50)) {
///             return worker.cancelled("");
///         }
///         worker.progress(done, 100, "counting");
///         worker.output(format!("{done}\n"));
///     }
///     worker.done("100 numbers");
/// });
/// # return
/// Ok(docui::Reply::started(&job, "count to 100"))
/// # ;}
/// ```
#[derive(Debug, Clone)]
pub struct JobHandle(Arc<Job>);

#[derive(Debug)]
struct Job {
    key: String,
    handle: Handle,
    cancel: Arc<CancelFlag>,
    /// True once it has ended.
    ended: AtomicBool,
}

impl Handle {
    /// Returns the handle of a job that an action starts, or of one that the previous process ran
    /// ([`crate::App::resume_jobs`]). The key is the app's own name for the job; no other job of
    /// the session may ever use it.
    pub fn job(&self, key: impl Into<String>) -> JobHandle {
        JobHandle::new(key.into(), self.clone())
    }
}

impl JobHandle {
    pub(crate) fn new(key: String, handle: Handle) -> Self {
        let cancel = Arc::<CancelFlag>::default();
        handle.add_job(&key, &cancel);
        Self(Arc::new(Job { key, handle, cancel, ended: AtomicBool::new(false) }))
    }

    /// Returns its key.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// Reports how many units of the total are done (a total of 0 means unknown), and a few words
    /// about the current work.
    pub fn progress(&self, done: u64, total: u64, text: impl Into<String>) {
        let mut text = text.into();
        text.truncate(text.floor_char_boundary(HANDLE_TEXT_MAX));
        self.ask(|pending| {
            let report = &mut pending.report;
            (report.done, report.total, report.text) = (Some(done), Some(total), Some(text));
        });
    }

    /// Adds a piece of output. The daemon keeps the last 128 KiB of all pieces. If output arrives
    /// faster than the serving loop forwards it, the oldest is dropped, and a line says how much.
    pub fn output(&self, piece: impl AsRef<[u8]>) {
        self.ask(|pending| pending.add_output(piece.as_ref()));
    }

    /// Ends it: it reached its end. `brief` is the result in one line: `12 passed`.
    pub fn done(&self, brief: impl Into<String>) {
        self.0.end(JobEnd::Done, brief.into());
    }

    /// Ends it: it did not succeed. `brief` says why, in one line.
    pub fn failed(&self, brief: impl Into<String>) {
        self.0.end(JobEnd::Failed, brief.into());
    }

    /// Ends it: it was cancelled. `brief` is what is left of it, in one line, or empty.
    pub fn cancelled(&self, brief: impl Into<String>) {
        self.0.end(JobEnd::Cancelled, brief.into());
    }

    /// Returns true once a reader has asked to cancel it. The work should then end soon, with
    /// [`JobHandle::cancelled`].
    pub fn is_cancelled(&self) -> bool {
        self.0.cancel.is_set()
    }

    /// Waits until a reader asks to cancel it, but not longer than this. Returns
    /// [`JobHandle::is_cancelled`].
    pub fn cancelled_within(&self, time: Duration) -> bool {
        self.0.cancel.is_set_within(time)
    }

    fn ask(&self, add: impl FnOnce(&mut PendingReport)) {
        if !self.0.ended.load(Ordering::Relaxed) {
            self.0.handle.ask_job(&self.0.key, add);
        }
    }
}

impl Job {
    fn end(&self, end: JobEnd, mut brief: String) {
        if self.ended.swap(true, Ordering::Relaxed) {
            return;
        }
        brief.truncate(brief.floor_char_boundary(HANDLE_TEXT_MAX));
        self.handle.ask_job(&self.key, |pending| {
            (pending.report.state, pending.report.brief) = (Some(end), brief);
        });
        self.handle.remove_job(&self.key);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.end(JobEnd::Failed, "its work ended without a result".into());
    }
}
