//! The history's account of a run: what was to be done, and what came of it.

use pipemux_proto::prototype::Risk;
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Code, encode};

use crate::foreign::{data, quote};
use crate::keys::SessionKey;
use crate::limits::{
    ROUND_ACTION_MAX, ROUND_DETAIL_MAX, ROUND_DIFF_MAX, ROUND_FILES_BYTES, ROUND_FILES_MAX,
    ROUND_RESULT_MAX,
};
use crate::persist::records::{SavedRound, SavedUndo};
use crate::runs::progress::Progress;
use crate::runs::run::Run;
use crate::runs::undone_round::undo_link;
use crate::scripts::step::StepOrigin;
use crate::scripts::written_call::written_call;
use crate::text::clip;
use crate::workspaces::Workspace;

/// Writes the round of a run that has ended. Questions and answers in between are one remark.
pub fn history_round(run: &Run, workspace: &Workspace, unix_ms: u64) -> SavedRound {
    let Told { mut ends, mut results, details, diffs } = told(run, 0, None);
    ends.append(&mut results);
    let mut result = ends.join("; ");
    let cancelled = run.progress.done.last().is_some_and(|last| last.status == StepStatus::Skipped);
    if run.answers.count > 0 && !cancelled {
        let plural = if run.answers.count == 1 { "" } else { "s" };
        result += &format!(" (chosen in {} step{plural})", run.answers.count);
    }
    SavedRound {
        number: workspace.history.count + 1,
        unix_ms,
        exit: run.exit_status(),
        action: actions(run, workspace),
        result: clip(&result, ROUND_RESULT_MAX).into_owned(),
        detail: (!details.is_empty()).then(|| joined(&details, "\n", ROUND_DETAIL_MAX)),
        diff: (!diffs.is_empty()).then(|| joined(&diffs, "", ROUND_DIFF_MAX)),
        ..changes(run, workspace, 0, run.progress.done.len())
    }
}

/// Returns the round that a run becomes if the daemon crashes during its next step, covering only
/// the steps from `from` on. It has no number yet; its detail contains the outcomes of the steps.
pub fn unfinished_round(run: &Run, workspace: &Workspace, from: usize) -> SavedRound {
    let under_way = run.progress.outer_step(run.progress.next);
    let Told { ends, results, diffs, .. } = told(run, from, Some(under_way));
    let mut changes = changes(run, workspace, from, under_way + 1);
    let step = run.progress.steps.get(under_way).filter(|step| !step.prototype.risk.only_looks());
    let unknown = step.map_or(String::new(), |step| {
        format!("{} (it isn't known whether it ran)", step.prototype.written_name())
    });
    // The first one is always that of the step that is under way; an empty one is of a step that
    // only looks.
    changes.lasting.insert(0, unknown);
    SavedRound {
        exit: Code::Unknown.exit_status(),
        action: if from == 0 { actions(run, workspace) } else { String::new() },
        result: clip(&ends.join("; "), ROUND_RESULT_MAX).into_owned(),
        detail: (!results.is_empty()).then(|| joined(&results, "; ", ROUND_RESULT_MAX)),
        diff: (!diffs.is_empty()).then(|| joined(&diffs, "", ROUND_DIFF_MAX)),
        ..changes
    }
}

/// The calls of a run, as text.
fn actions(run: &Run, workspace: &Workspace) -> String {
    let visible = || run.progress.steps.iter().enumerate().filter(|(_, step)| !step.nested);
    let actions: Vec<String> = visible()
        .map(|(index, step)| match step.origin {
            StepOrigin::Link => {
                [&*written_call(&run.progress.steps, index, workspace), " (", &step.call, ")"]
                    .concat()
            }
            StepOrigin::Call => step.call.clone(),
        })
        .collect();
    let actions = match run.origin.undone_round() {
        Some(undone) => format!("undo of round {}: {}", undone.number, actions.join("; ")),
        None => actions.join("; "),
    };
    clip(&actions, ROUND_ACTION_MAX).into_owned()
}

/// The description of the ends of steps in history.
#[derive(Default)]
struct Told {
    /// The failed and skipped steps, which come first, since lines of history are cut.
    ends: Vec<String>,
    results: Vec<String>,
    details: Vec<String>,
    diffs: Vec<String>,
}

/// Tells what came of the steps from an index on, and of the one that is under way.
fn told(run: &Run, from: usize, under_way: Option<usize>) -> Told {
    let Told { mut ends, mut results, mut details, mut diffs } = Told::default();
    let mut left = Vec::new();
    // A nested call is part of its outer step, unless its failure is the reason of the run's end.
    let failed = |index: usize| {
        run.progress.done.get(index).is_some_and(|outcome| outcome.status != StepStatus::Done)
    };
    let told = run.progress.steps.iter().enumerate().skip(from);
    for (index, step) in told.filter(|(index, step)| !step.nested || failed(*index)) {
        let ended = run.progress.done.get(index).filter(|outcome| !outcome.is_unreached());
        let Some(outcome) = ended else {
            match step.prototype.written_name() {
                name if under_way == Some(index) => {
                    ends.push(format!("{name} unknown: the daemon was lost meanwhile"));
                }
                name => left.push(name),
            }
            continue;
        };
        let word = match outcome.status {
            StepStatus::Done if outcome.is_started() => "started",
            StepStatus::Done => "done",
            StepStatus::Failed => "failed",
            StepStatus::Unknown => "unknown",
            StepStatus::Skipped => "cancelled",
            StepStatus::Needs => "asked",
        };
        let name = step.prototype.written_name();
        let result = match quote::in_sentence(&outcome.brief) {
            "" => [name, " ", word].concat(),
            brief if brief.starts_with(word) => [name, " ", brief].concat(),
            brief => [name, " ", word, ": ", brief].concat(),
        };
        match outcome.status {
            StepStatus::Failed | StepStatus::Unknown => ends.push(result),
            _ => results.push(result),
        }
        details.extend(data::exact_option(outcome.detail.as_ref()));
        diffs.extend(data::exact_option(outcome.diff.as_ref()));
    }
    ends.extend((!left.is_empty()).then(|| format!("not run: {}", left.join(", "))));
    Told { ends, results, details, diffs }
}

/// Returns a round with the changes made by the steps of a run from an index on, and the sessions
/// in which those steps and the ones up to `begun` act.
fn changes(run: &Run, workspace: &Workspace, from: usize, begun: usize) -> SavedRound {
    let Undos { undo, lasting } = undos(run, from);
    let files = ChangedFiles::since(&run.progress, from);
    let mut round = SavedRound {
        undo,
        lasting,
        undoes: run.origin.undone_round().map(|undone| undone.number),
        reader: run.caller.reader.to_string(),
        epoch: Some(workspace.epoch),
        sessions: sessions(run, from, begun),
        files: files.named,
        more_files: files.more,
        wrote: run.file_times.wrote,
        ..SavedRound::default()
    };
    round.bound_undo();
    round
}

/// The files that a round changed, each once, within its bounds.
#[derive(Default)]
pub struct ChangedFiles {
    /// Their absolute paths.
    pub named: Vec<String>,
    bytes: usize,
    /// The number of further files.
    pub more: u64,
}

impl ChangedFiles {
    /// Returns those that a run has changed so far.
    pub fn of(progress: &Progress) -> Self {
        Self::since(progress, 0)
    }

    /// Returns those that its steps have changed from an index on.
    fn since(progress: &Progress, from: usize) -> Self {
        let mut files = Self::default();
        progress
            .done
            .iter()
            .skip(from)
            .flat_map(|outcome| &outcome.changed_files)
            .for_each(|file| files.add(file));
        files
    }

    fn add(&mut self, file: &String) {
        if self.named.contains(file) {
            return;
        }
        self.bytes += file.len();
        if self.named.len() >= ROUND_FILES_MAX || self.bytes > ROUND_FILES_BYTES {
            self.more += 1;
        } else {
            self.named.push(file.clone());
        }
    }
}

/// The actions that undo a round.
#[derive(Default)]
struct Undos {
    undo: Vec<SavedUndo>,
    lasting: Vec<String>,
}

/// Returns the undos of the steps that this run itself carried out: the links that their apps
/// offered.
fn undos(run: &Run, from: usize) -> Undos {
    let own =
        run.progress.steps.iter().zip(&run.progress.done).enumerate().skip(run.progress.begins_at);
    let changed = own.filter(|(_, (step, outcome))| {
        outcome.status == StepStatus::Done && !step.prototype.risk.only_looks()
    });
    let changed: Vec<_> = changed.collect();
    // An app that offers an undo gives it with each step that changed what could be taken back.
    let offers: Vec<&SessionKey> = changed
        .iter()
        .filter(|(_, (_, outcome))| undo_link(outcome).is_some())
        .map(|(_, (step, _))| &step.session)
        .collect();
    let mut undos = Undos::default();
    for (_, (step, outcome)) in changed.iter().filter(|(index, _)| *index >= from) {
        let provider = step.session.addr.provider.as_str();
        let name = [provider, ".", &step.prototype.name].concat();
        let saved = undo_link(outcome).and_then(|link| {
            Some(SavedUndo {
                workspace: step.session.workspace.as_deref().map(Into::into),
                session: step.session.addr.to_string(),
                call: step.call.clone(),
                action: link.action.clone(),
                args: encode(&link.args).ok()?.into(),
                undone: false,
                unsure: false,
            })
        });
        let harmless = step.prototype.risk != Risk::Destructive && offers.contains(&&step.session);
        match (saved, outcome.no_undo.as_ref().map(quote::in_sentence)) {
            (Some(saved), _) => undos.undo.push(saved),
            (None, Some("")) => {}
            (None, Some(why)) => undos.lasting.push(format!("{name} ({why})")),
            (None, None) if harmless => {}
            (None, None) => undos.lasting.push(name),
        }
    }
    undos
}

/// Returns the sessions of the steps between two indices, each once.
fn sessions(run: &Run, from: usize, to: usize) -> Vec<String> {
    let mut names = Vec::new();
    for step in run.progress.steps.iter().take(to).skip(from) {
        let name = String::from(step.session.addr.clone());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn joined(texts: &[String], between: &str, most: usize) -> String {
    clip(&texts.join(between), most).into_owned()
}
