//! The history's account of a run: what was to be done, and what came of it.

use pipemux_proto::prototype::Risk;
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Code, encode};

use crate::foreign::{data, quote};
use crate::keys::SessionKey;
use crate::limits::{
    ROUND_ACTION_MAX, ROUND_DETAIL_MAX, ROUND_DIFF_MAX, ROUND_FILES_BYTES, ROUND_FILES_MAX,
    ROUND_RESULT_MAX, ROUND_UNDO_MAX,
};
use crate::persist::records::{SavedRound, SavedUndo};
use crate::runs::put_back::undo_link;
use crate::runs::written_call::written_call;
use crate::runs::{Run, StepOrigin};
use crate::text::clip;
use crate::workspaces::Workspace;

/// Writes the round of a run that has ended. Questions and answers in between are one remark.
pub fn history_round(run: &Run, workspace: &Workspace, unix_ms: u64) -> SavedRound {
    let number = workspace.history.count + 1;
    SavedRound { number, exit: run.exit_status(), ..round_so_far(run, workspace, unix_ms, None) }
}

/// Writes the round that a run becomes if the daemon is lost while its next step is under way. It has no number yet.
pub fn unfinished_round(run: &Run, workspace: &Workspace, unix_ms: u64) -> SavedRound {
    let (exit, under_way) = (Code::Unknown.exit_status(), Some(run.outer_step(run.next)));
    SavedRound { exit, ..round_so_far(run, workspace, unix_ms, under_way) }
}

fn round_so_far(
    run: &Run,
    workspace: &Workspace,
    unix_ms: u64,
    under_way: Option<usize>,
) -> SavedRound {
    let visible = || run.steps.iter().enumerate().filter(|(_, step)| !step.nested);
    let actions: Vec<String> = visible()
        .map(|(index, step)| match step.origin {
            StepOrigin::Link => {
                [&*written_call(run, index, workspace), " (", &step.call, ")"].concat()
            }
            StepOrigin::Call => step.call.clone(),
        })
        .collect();
    // A line of history is cut: what failed and what wasn't run stands first.
    let (mut ends, mut left, mut results) = (Vec::new(), Vec::new(), Vec::new());
    let mut details = Vec::new();
    let (mut diffs, files) = (Vec::new(), ChangedFiles::of(run));
    // A nested call is part of its outer step, unless its failure is the reason of the run's end.
    let failed = |index: usize| {
        run.done.get(index).is_some_and(|outcome| outcome.status != StepStatus::Done)
    };
    let told = run.steps.iter().enumerate();
    for (index, step) in told.filter(|(index, step)| !step.nested || failed(*index)) {
        let ended = run.done.get(index).filter(|outcome| !outcome.is_unreached());
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
    ends.append(&mut results);
    let mut result = ends.join("; ");
    let cancelled = run.done.last().is_some_and(|last| last.status == StepStatus::Skipped);
    if run.answers > 0 && !cancelled {
        let plural = if run.answers == 1 { "" } else { "s" };
        result += &format!(" (chosen in {} step{plural})", run.answers);
    }
    let actions = match &run.undoes {
        Some(undone) => format!("undo of round {}: {}", undone.number, actions.join("; ")),
        None => actions.join("; "),
    };
    let Undos { undo, lasting } = undos(run);
    SavedRound {
        undo,
        lasting,
        undoes: run.undoes.as_ref().map(|undone| undone.number),
        unix_ms,
        reader: run.reader.clone(),
        action: clip(&actions, ROUND_ACTION_MAX).into_owned(),
        result: clip(&result, ROUND_RESULT_MAX).into_owned(),
        detail: (!details.is_empty()).then(|| joined(&details, "\n", ROUND_DETAIL_MAX)),
        diff: (!diffs.is_empty()).then(|| joined(&diffs, "", ROUND_DIFF_MAX)),
        epoch: Some(workspace.epoch),
        sessions: sessions(run, under_way),
        files: files.named,
        more_files: files.more,
        wrote: run.wrote,
        ..SavedRound::default()
    }
}

/// The files that a round changed, each once, within its bounds.
#[derive(Default)]
pub struct ChangedFiles {
    /// Their absolute paths.
    pub named: Vec<String>,
    bytes: usize,
    /// How many more there are.
    pub more: u64,
}

impl ChangedFiles {
    /// Returns those that a run has changed so far.
    pub fn of(run: &Run) -> Self {
        let mut files = Self::default();
        run.done.iter().flat_map(|outcome| &outcome.changed_files).for_each(|file| files.add(file));
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

/// What takes a round back.
#[derive(Default)]
struct Undos {
    undo: Vec<SavedUndo>,
    lasting: Vec<String>,
}

/// Returns what takes the steps of a run back that it did itself: the links with which their apps offered it.
fn undos(run: &Run) -> Undos {
    let own = run.steps.iter().zip(&run.done).skip(run.begins_at);
    let changed = own.filter(|(step, outcome)| {
        outcome.status == StepStatus::Done && !step.prototype.risk.only_looks()
    });
    let changed: Vec<_> = changed.collect();
    // An app that offers an undo gives it with each step that changed what could be taken back.
    let offers: Vec<&SessionKey> = changed
        .iter()
        .filter(|(_, outcome)| undo_link(outcome).is_some())
        .map(|(step, _)| &step.session)
        .collect();
    let mut undos = Undos::default();
    for (step, outcome) in &changed {
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
    if undos.undo.iter().map(|undo| undo.args.len()).sum::<usize>() > ROUND_UNDO_MAX {
        undos.lasting.extend(undos.undo.drain(..).map(|undo| undo.call));
    }
    undos
}

/// Returns the sessions of all steps that were begun, each once.
fn sessions(run: &Run, under_way: Option<usize>) -> Vec<String> {
    let mut names = Vec::new();
    let begun = under_way.map_or(run.done.len(), |index| index + 1);
    for step in run.steps.iter().take(begun) {
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
