//! The result of an update: the action was carried out, or a question must be answered first.

mod ask;

use std::time::Duration;

use pipemux_proto::app;
use pipemux_proto::job;
use pipemux_proto::limits::CHANGED_FILES_MAX;
use pipemux_proto::projection::LinkSlot;
use pipemux_proto::{LineNumbers, Value};

use crate::actions::Actions;
use crate::job::JobHandle;
use crate::view::link_slot;

pub use ask::Ask;

/// The result of an update that did not fail. [`Done`], [`Ask`] and [`Started`] convert into it
/// with `into()`.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The action took effect.
    Done(Done),
    /// The app asks a question first. Nothing took effect yet.
    Ask(Ask),
    /// The action began a job.
    Started(Started),
}

impl Reply {
    /// Reports that the action began a job, and what that does in a few words: `cargo test`.
    pub fn started(job: &JobHandle, brief: impl Into<String>) -> Self {
        Started::new(job, brief).into()
    }
}

impl From<Done> for Reply {
    fn from(done: Done) -> Self {
        Reply::Done(done)
    }
}
impl From<Ask> for Reply {
    fn from(ask: Ask) -> Self {
        Reply::Ask(ask)
    }
}

impl From<Started> for Reply {
    fn from(started: Started) -> Self {
        Reply::Started(started)
    }
}

/// Reports an action that began a job. A daemon that knows no jobs is told that the action took
/// effect.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Started(pub(crate) job::Started);

impl Started {
    /// Says what the job does, in a few words: `cargo test`.
    pub fn new(job: &JobHandle, brief: impl Into<String>) -> Self {
        let (job, brief) = (job.key().to_owned(), brief.into());
        Self(job::Started { job, brief, ..job::Started::default() })
    }

    /// Says how many units of work there are.
    #[must_use]
    pub fn total(mut self, total: u64) -> Self {
        self.0.total = total;
        self
    }

    /// Adds a link to a likely next action. The link that cancels the job is the daemon's.
    #[must_use]
    pub fn link(mut self, label: impl Into<String>, action: &impl Actions) -> Self {
        self.0.links.push(link_slot(label, action));
        self
    }

    /// Marks that readers know the job by its key, which begins with a letter and has at most 32
    /// letters, digits, `-` and `_`: `job c2`. Other jobs are named by a number that the daemon
    /// gives.
    #[must_use]
    pub fn named(mut self) -> Self {
        self.0.named = true;
        self
    }

    /// Marks that the brief tells all that the action changed, so that the answer doesn't show the
    /// window.
    #[must_use]
    pub fn complete(mut self) -> Self {
        self.0.complete = true;
        self
    }

    /// Lets a run that waits for this job continue with its next steps even if the job fails: the
    /// failure is the job's result, like a command's exit status.
    #[must_use]
    pub fn fails_alone(mut self) -> Self {
        self.0.fails_alone = true;
        self
    }

    /// Sets how long the job has already run, if the action waited for it to end. The job's
    /// duration counts from its start.
    #[must_use]
    pub fn ran(mut self, time: Duration) -> Self {
        self.0.ran_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self
    }

    /// Names a job that this action ended, for example to replace it. The reader isn't told of its
    /// end again.
    #[must_use]
    pub fn ended_job(mut self, key: impl Into<String>) -> Self {
        self.0.ended_jobs.push(key.into());
        self
    }

    /// As [`Done::no_undo`].
    #[must_use]
    pub fn no_undo(mut self, why: impl Into<String>) -> Self {
        self.0.no_undo = Some(why.into());
        self
    }

    /// Marks the job as continuing while its session is hibernated: [`crate::App::save`] saves it
    /// and [`crate::App::open`] resumes it. Any other running job prevents hibernation.
    #[must_use]
    pub fn sleeps(mut self) -> Self {
        self.0.sleeps = true;
        self
    }
}

/// Reports an action that took effect.
///
/// ```
/// use docui::Done;
/// let done = Done::new("2 of 3 matches").value(2);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Done(pub(crate) app::Done);

impl Done {
    /// Summarises the effect in one line: `2 of 3 matches`. The daemon writes the action's name
    /// before it.
    pub fn new(brief: impl Into<String>) -> Self {
        Self(app::Done { brief: brief.into(), ..app::Done::default() })
    }

    /// Adds something else that is to be known to the summary, after a semicolon.
    #[must_use]
    pub fn also(mut self, note: &str) -> Self {
        self.0.brief = format!("{}; {note}", self.0.brief);
        self
    }

    /// Adds multi-line detail, which is shown on request.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Tells what the action changed in files, as a unified diff. The history keeps it for those
    /// who ask; no answer shows it.
    #[must_use]
    pub fn diff(mut self, diff: impl Into<String>) -> Self {
        self.0.diff = Some(diff.into()).filter(|diff| !diff.is_empty());
        self
    }

    /// Tells which files the action changed, made or removed, as absolute paths: `pipemux who`
    /// finds it by them.
    #[must_use]
    pub fn changed_files(mut self, paths: impl IntoIterator<Item = String>) -> Self {
        self.0.changed_files.extend(paths);
        self.0.changed_files.truncate(CHANGED_FILES_MAX);
        self
    }

    /// Explains why no link undoes the action, and what can; empty if the action changed nothing
    /// that an undo could revert.
    #[must_use]
    pub fn no_undo(mut self, why: impl Into<String>) -> Self {
        self.0.no_undo = Some(why.into());
        self
    }

    /// Adds a view to be shown besides the brief: the result of a query, or evidence that an action
    /// did what was meant. It should keep to [`crate::Context::budget`]. Declare its line numbers
    /// with [`Done::shows`].
    #[must_use]
    pub fn content(mut self, view: crate::View) -> Self {
        self.0.content = view.0.content;
        self
    }

    /// Marks that the brief and the content tell all that the action changed, so that the answer
    /// doesn't show the window.
    #[must_use]
    pub fn complete(mut self) -> Self {
        self.0.complete = true;
        self
    }

    /// Names a job whose end the outcome tells: the reader isn't told of it again.
    #[must_use]
    pub fn ended_job(mut self, key: impl Into<String>) -> Self {
        self.0.ended_jobs.push(key.into());
        self
    }

    /// Sets the action's result, which a script or another app can use.
    #[must_use]
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        self.0.value = Some(value.into().to_blob());
        self
    }

    /// Names the origin of the result, for another app that receives it: `src/parse.rs:101-300`.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.0.label = Some(label.into());
        self
    }

    /// Adds a link to a likely next action, such as `undo`. It belongs to what was done: a link
    /// whose action changes something and refers to no object is stale once the state has changed
    /// since, so that an old `undo` never takes back a later change. One whose action has a
    /// [`crate::Change`] stays valid.
    #[must_use]
    pub fn link(mut self, label: impl Into<String>, action: &impl Actions) -> Self {
        self.0.links.push(link_slot(label, action));
        self
    }

    /// Marks that the action undid or redid an earlier change: the answer then also shows what
    /// disappeared.
    #[must_use]
    pub fn reverts(mut self) -> Self {
        self.0.reverts = true;
        self
    }

    /// Declares the line numbers that the answer shows or maps, in its text as well, with the
    /// version to which they belong, usually [`crate::Context::next_version`].
    #[must_use]
    pub fn shows(mut self, numbers: impl IntoIterator<Item = LineNumbers>) -> Self {
        self.0.numbers.extend(numbers);
        self
    }

    /// Retires the numbers of a document from `first` on: they are refused as stale until they are
    /// shown again.
    #[must_use]
    pub fn retires(mut self, document: impl Into<String>, first: u64) -> Self {
        let document = document.into();
        self.0.numbers.push(LineNumbers {
            document,
            first,
            last: u64::MAX,
            version: None,
            was: None,
        });
        self
    }

    /// Adds to the end of the brief.
    pub fn add_to_brief(&mut self, text: &str) {
        self.0.brief.push_str(text);
    }

    /// Returns the numbers that it names so far, to change them.
    pub fn numbers_mut(&mut self) -> &mut Vec<LineNumbers> {
        &mut self.0.numbers
    }

    /// Returns the brief.
    pub fn brief(&self) -> &str {
        &self.0.brief
    }

    /// Returns the links that were added so far.
    pub fn links(&self) -> &[LinkSlot] {
        &self.0.links
    }
}

impl Ask {
    /// Returns the question as a text that nobody answers: what an action would ask first.
    pub(crate) fn as_shown(&self) -> Done {
        let question = &self.0.question;
        let options = question.options.iter().map(|option| match option.text.is_empty() {
            true => option.label.clone(),
            false => format!("{}: {}", option.label, option.text),
        });
        let more = (question.unlisted > 0).then(|| format!("… {} more", question.unlisted));
        let listed: Vec<String> = options.chain(more).collect();
        let mut view = crate::View::new("");
        if !listed.is_empty() {
            view.code("", listed.join("\n") + "\n");
        }
        Done::new(format!("asks first: {}", question.text))
            .content(view)
            .shows(self.0.numbers.iter().cloned())
    }
}
