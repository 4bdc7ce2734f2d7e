//! Stops commands.

use std::sync::Arc;

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault};

use crate::answer::Answer;
use crate::job::{Ended, How, Job};
use crate::limits::{STOP_PATIENCE, WAIT_MARGIN};
use crate::model::Terminal;
use crate::shell::Shell;

/// Stops a command, and tells the last lines of its output.
pub fn stop(job: Arc<Job>, budget: u64) -> Blocking<Terminal> {
    let stopped = job.clone();
    Blocking::new(
        job.titled(),
        2 * STOP_PATIENCE.saturating_add(WAIT_MARGIN),
        move |commit| ended_by_stop(&stopped, commit),
        move |_, ended: Option<Arc<Ended>>, _| match ended {
            Some(ended) => Ok(Answer::of_stopped(&job, &ended, budget).into_end_of(&job).into()),
            None => {
                Err(Fault::failed(format!("{} was killed and hangs in the system", job.titled())))
            }
        },
    )
}

/// Stops a command, unless the call was cancelled; `None` if it hangs in the system.
pub fn ended_by_stop(job: &Job, commit: &CommitPoint) -> Option<Arc<Ended>> {
    commit.begin().then(|| job.stop(How::Stopped)).flatten()
}

/// Ends the commands of the shell that the reader keeps, and forgets it.
pub fn restart_shell(app: &Terminal, context: &Context) -> Blocking<Terminal> {
    let reader = context.reader.clone();
    let mut jobs = app.running();
    jobs.retain(|job| job.order.shell.is_some() && job.reader == reader);
    let state_dir = app.state_dir.clone();
    let work = move |commit: &CommitPoint| {
        if commit.begin() {
            jobs.iter().for_each(|job| drop(job.stop(How::Stopped)));
            Shell::forget(&state_dir, &reader);
        }
    };
    Blocking::new(
        "the shell's commands",
        2 * STOP_PATIENCE.saturating_add(WAIT_MARGIN),
        work,
        |_, (), _| Ok(Done::new("tool has been restarted.").into()),
    )
}
