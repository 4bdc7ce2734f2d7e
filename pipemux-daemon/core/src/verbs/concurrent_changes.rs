//! Finds files that other runs changed while a run was in progress, so that an app that undoes
//! observed changes, such as a command's, can leave those out.

use std::path::Path;

use pipemux_proto::app::ChangedBeside;
use pipemux_proto::projection::Args;

use crate::foreign::{Done, bounds};
use crate::jobs::Jobs;
use crate::keys::WorkspaceKey;
use crate::limits::CHANGED_BESIDE_MAX;
use crate::persist::records::{SavedRound, SavedUndo};
use crate::runs::Run;
use crate::runs::history_round::ChangedFiles;
use crate::runs::open_runs::OpenRuns;
use crate::runs::suspended::Suspended;
use crate::verbs::tasks::Tasks;
use crate::verbs::undo::{args_of, session_of};
use crate::views::inert::line;
use crate::workspaces::Workspaces;
use crate::workspaces::history::History;

/// Files that an answer names of those that another run changed, too.
const NAMED: usize = 3;

/// Where it is known from what runs and jobs change in files.
pub(crate) struct FileChanges<'a> {
    pub workspaces: &'a Workspaces,
    /// The runs that wait for an answer of their reader.
    pub asking: &'a OpenRuns,
    /// The runs under way.
    pub tasks: &'a Tasks,
    pub jobs: &'a Jobs,
}

impl FileChanges<'_> {
    /// Returns the files that others changed during the round that the current step undoes; nothing
    /// if the step undoes none.
    pub(crate) fn during_undone(&self, run: &Run) -> Vec<ChangedBeside> {
        let at = &run.caller.workspace;
        let Some(history) = self.workspaces.get(at).map(|workspace| &workspace.history) else {
            return Vec::new();
        };
        let round = undone_round(run, history);
        let wrote = round.and_then(|round| Some((round.number, round.wrote?)));
        let Some((number, wrote)) = wrote else { return Vec::new() };
        let is_other = |of: &WorkspaceKey, round: &SavedRound| of != at || round.number != number;
        self.within(wrote, at, &run.caller.run_id, is_other)
    }

    /// Says in an outcome which of its files other runs changed while its step ran, from when it
    /// was sent until `now`, in milliseconds since 1970. Returns when the run changed files, if it
    /// did.
    pub(crate) fn tell_in_outcome(
        &self,
        run: &Run,
        now: u64,
        done: &mut Done,
    ) -> Option<(u64, u64)> {
        if done.changed_files.is_empty() {
            return None;
        }
        let wrote = (run.file_times.sent_ms, now);
        let others = self.within(wrote, &run.caller.workspace, &run.caller.run_id, |_, _| true);
        let words = others.iter().filter_map(|other| {
            let both = other.files.iter().filter(|file| done.changed_files.contains(file));
            let names: Vec<&str> =
                both.map(|file| file.rsplit('/').next().unwrap_or(file)).collect();
            let more = names.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(", +{more} more") } else { String::new() };
            let names: Vec<&str> = names.into_iter().take(NAMED).collect();
            let words = || format!("{} changed {}{more} meanwhile", other.by, names.join(", "));
            (!names.is_empty()).then(words)
        });
        let words: Vec<String> = words.map(|words| line(&words).to_string()).collect();
        if !words.is_empty() {
            bounds::append(&mut done.brief, &format!(" · {}", words.join(", ")));
        }
        let (from, to) = run.file_times.wrote.unwrap_or(wrote);
        Some((from.min(wrote.0), to.max(wrote.1)))
    }

    /// Returns the files that other runs changed within a time range, newest first: from the rounds
    /// of all workspaces that aren't undone, and from runs that aren't rounds yet. Steps in
    /// progress and jobs are included, but the files that they change aren't known.
    fn within(
        &self,
        (from, to): (u64, u64),
        at: &WorkspaceKey,
        run_id: &str,
        is_other: impl Fn(&WorkspaceKey, &SavedRound) -> bool,
    ) -> Vec<ChangedBeside> {
        let is_beside = |wrote: Option<(u64, u64)>| {
            // What ended in the same millisecond in which this one was sent came before it.
            wrote.is_some_and(|(began, ended)| began < to && ended > from)
        };
        let running = self.tasks.running().map(|run| {
            let acts = acts_since(run).is_some_and(|sent| sent < to);
            (&run.caller, &run.progress, run.file_times.wrote, acts)
        });
        let asking = self.workspaces.iter().flat_map(|(at, _)| self.asking.questions(at));
        let asking = asking.map(|(_, question)| {
            let Suspended { caller, progress, wrote, .. } = &question.suspended;
            (caller, progress, *wrote, false)
        });
        let runs = running.chain(asking).filter(|(caller, ..)| *caller.run_id != *run_id);
        let runs = runs.filter_map(|(caller, progress, wrote, acts)| {
            let acts = acts && !are_apart(&caller.workspace, at);
            if !acts && !is_beside(wrote) {
                return None;
            }
            let ChangedFiles { named: files, more, .. } = ChangedFiles::of(progress);
            let elsewhere = (caller.workspace != *at).then_some(&caller.workspace);
            let by = by("a run", &caller.reader, elsewhere);
            Some(ChangedBeside { by, files, more_files: more + u64::from(acts) })
        });
        let jobs = self.jobs.all().filter(|job| {
            let is_beside = job.started_ms < to && (job.is_running() || job.ended_ms > from);
            is_beside && !job.only_looks && !are_apart(&job.owner.0, at)
        });
        let jobs = jobs.map(|job| {
            let ((of, reader), what) = (&job.owner, format!("job {}", job.full_name()));
            let by = by(&what, reader, (of != at).then_some(of));
            ChangedBeside { by, files: Vec::new(), more_files: 1 }
        });
        let rounds = self.workspaces.iter().flat_map(|(of, workspace)| {
            let newest = workspace.history.rounds.iter().rev();
            newest.take_while(|round| round.unix_ms >= from).map(move |round| (of, round))
        });
        let rounds = rounds.filter(|(of, round)| {
            is_beside(round.wrote) && !round.is_undone() && is_other(of, round)
        });
        let rounds = rounds.map(|(of, round)| ChangedBeside {
            by: by(&format!("round {}", round.number), &round.reader, (of != at).then_some(of)),
            files: round.files.clone(),
            more_files: round.more_files,
        });
        let mut all = runs.chain(jobs).chain(rounds);
        let mut told: Vec<ChangedBeside> = all.by_ref().take(CHANGED_BESIDE_MAX).collect();
        // An app that leaves what others changed must know that it doesn't know all of it.
        let further = all.count() as u64;
        if let Some(last) = told.last_mut().filter(|_| further > 0) {
            last.more_files += further;
        }
        told
    }
}

/// Returns the round that the current step undoes: the one that `undo` named, otherwise the one
/// that offered this call as a link, otherwise, for a call without arguments, the reader's newest
/// round.
fn undone_round<'h>(run: &Run, history: &'h History) -> Option<&'h SavedRound> {
    let (session, invoke) = run.in_flight()?;
    if !history.may_undo(&invoke.action) {
        return None;
    }
    let mut round = match run.origin.undone_round() {
        Some(undone) => history.round(undone.number)?,
        None => {
            let given: &Args = &invoke.args;
            let takes_back = |undo: &SavedUndo| {
                let names =
                    |args: Args| given.iter().all(|(name, arg)| args.get(name) == Some(arg));
                undo.action == invoke.action
                    && session_of(undo).is_ok_and(|of| of == *session)
                    && if given.is_empty() {
                        !undo.undone
                    } else {
                        args_of(undo).is_some_and(names)
                    }
            };
            let newest = history.rounds.iter().rev();
            let mut own =
                newest.filter(|round| !given.is_empty() || *round.reader == *run.caller.reader);
            own.find(|round| round.undo.iter().any(takes_back))?
        }
    };
    // What was made again is taken back as what it was at first.
    while let Some(first) = round.undoes.filter(|first| *first < round.number) {
        round = history.round(first)?;
    }
    Some(round)
}

/// Returns when the step was sent that a run has in flight, if it may change files.
fn acts_since(run: &Run) -> Option<u64> {
    run.in_flight()?;
    let step = run.progress.steps.get(run.progress.next)?;
    (!step.prototype.risk.only_looks()).then_some(run.file_times.sent_ms)
}

/// True for workspaces in unrelated folders, neither of which contains the other: changes in one
/// are not looked for in the other's files.
fn are_apart(one: &WorkspaceKey, other: &WorkspaceKey) -> bool {
    let (one, other) = (Path::new(&**one), Path::new(&**other));
    one.is_absolute() && other.is_absolute() && !one.starts_with(other) && !other.starts_with(one)
}

/// Names a run: `round 5 (reviewer)`.
fn by(what: &str, reader: &str, workspace: Option<&WorkspaceKey>) -> String {
    let reader = match reader {
        "default" => String::new(),
        reader => format!(" ({reader})"),
    };
    let workspace = workspace.map_or(String::new(), |workspace| format!(" of {workspace}"));
    line(&[what, &reader, &workspace].concat()).to_string()
}
