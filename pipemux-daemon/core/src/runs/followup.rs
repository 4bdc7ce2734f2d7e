//! What a run leaves behind for its reader: a run that is kept to be sent again, and advice.

use pipemux_proto::Code;
use pipemux_proto::report::StepStatus;

use crate::runs::kept_run::KeptRun;
use crate::runs::open_runs::OpenRuns;
use crate::runs::run::Run;
use crate::runs::suspended::Suspended;
use crate::scripts::step::StepOrigin;
use crate::workspaces::{Reader, Workspace};

/// Keeps a run that can be sent again and counts failures. Returns the lines that tell the reader.
pub fn follow_up(workspace: &mut Workspace, runs: &mut OpenRuns, run: &Run) -> String {
    let mut out = String::new();
    let was_applied = |index: &&usize| {
        run.progress.done.get(**index).is_none_or(|outcome| outcome.fault.is_none())
    };
    for index in run.attempts.rebased.iter().filter(was_applied) {
        let name = run.progress.steps.get(*index).map_or("", |step| step.prototype.written_name());
        out += &format!(
            "{name}: what it refers to had changed; it was applied to what is there now\n"
        );
    }
    runs.forget_kept(&run.caller.workspace, &run.caller.reader);
    if workspace.reader(&run.caller.reader).is_none() {
        return out;
    }
    // Queries go on after one that failed.
    let failed = run.progress.done.iter().enumerate().rfind(|(_, outcome)| outcome.fault.is_some());
    let Some((index, outcome)) = failed else {
        workspace.reader_mut(&run.caller.reader).into_iter().for_each(Reader::forget_failures);
        return out;
    };
    let is_last = index + 1 == run.progress.done.len();
    let step = &run.progress.steps[index];
    let stale = outcome.fault.as_ref().is_some_and(|fault| fault.code == Code::Stale);
    let unknown = outcome.status == StepStatus::Unknown;
    // Bare numbers don't follow what they mean, unless their app says that they do.
    let repeatable = outcome.fault.as_ref().and_then(|fault| fault.repeatable).filter(|_| stale);
    // A link binds its arguments: sent again it is as stale as before.
    let follows =
        step.origin != StepOrigin::Link && repeatable.unwrap_or_else(|| !step.has_line_numbers());
    if (stale || unknown) && is_last && !step.nested && follows {
        let suspended = Suspended::in_front_of(run, index, &workspace.anchors);
        let shown_again = (repeatable == Some(true)).then_some(suspended.progress.next..index + 1);
        runs.keep(KeptRun { suspended, shown_again, kept_steps: run.end.kept_steps });
        out += if stale {
            "it changed nothing, your arguments are kept; send them to what is now shown: pipemux answer go\n"
        } else {
            "if it did not take effect, send it again: pipemux answer go\n"
        };
    }
    let reader = workspace.reader_mut(&run.caller.reader);
    if let Some(failures) = reader.and_then(|reader| reader.count_failure(&step.call)) {
        out += &format!(
            "step back: this call has failed {} times in a row. Look first (pipemux view {}), then try another way\n",
            failures, step.session
        );
    }
    out
}
