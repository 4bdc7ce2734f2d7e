//! What an answer says of its run.

use std::collections::BTreeMap;

use pipemux_proto::command::with_options;
use pipemux_proto::report::{KeptReport, QuestionReport};

use crate::answers::collect::AnswerInput;
use crate::answers::kept_rest::{keep_rest_of, kept_line};
use crate::answers::next_epoch::NextEpoch;
use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::runs::Run;
use crate::runs::followup::follow_up;
use crate::runs::open_runs::OpenRuns;
use crate::turn::Turn;
use crate::views::file_diff::file_diff;
use crate::views::outcome::{RunOutcome, StepApp, write_outcome};
use crate::views::requested_window::AnswerKind;
use crate::workspaces::Workspace;
use crate::workspaces::anchors::StateVersion;

/// The part of an answer about its run; empty if the answer isn't a run's.
#[derive(Default)]
pub(super) struct RunPart {
    /// The outcome and the next steps, as Markdown.
    pub text: String,
    /// The content of each ended step besides its brief.
    pub contents: Vec<String>,
    pub asked: Option<QuestionReport>,
    /// The steps of a failed run that are kept.
    pub kept: Option<KeptReport>,
}

/// Keeps what a failed run left, and writes the outcome of the run.
pub(super) fn write_run(
    input: &mut AnswerInput,
    next: &mut NextEpoch<'_>,
    runs: &mut OpenRuns,
    processes: &Processes,
    turn: &mut Turn,
) -> RunPart {
    let AnswerKind::Run(run) = &mut input.kind else { return RunPart::default() };
    let (at, hint_options) = (&input.request.workspace, &input.request.hint_options);
    keep_rest_of(turn, runs, next.workspace, run);
    let kept = run.end.kept_steps.and_then(|number| Some((number, runs.rest(at, number)?)));
    let kept_line = kept.map_or(String::new(), |(number, rest)| kept_line(number, rest));
    let kept = kept.map(|(number, rest)| rest.report(number));
    let question = run.end.question.and_then(|number| Some((number, runs.question(at, number)?)));
    let shown = shown_versions(run, next.workspace);
    let RunOutcome { text, contents, asked, minted } = write_outcome(
        run,
        question,
        |session| processes.actions_of(session).unwrap_or_default(),
        |session| {
            let found = processes.sessions().get(session);
            let token_prefix = found.and_then(|found| found.profile.token_prefix.as_deref());
            StepApp { is_built_in: processes.speaker(session).built_in, token_prefix }
        },
        |session, state| shown.get(session).is_none_or(|newest| *newest <= state),
        (next.number, hint_options),
        &mut next.workspace.anchors,
    );
    next.changed |= minted;
    let advice = follow_up(next.workspace, runs, run) + &kept_line;
    let reader = &input.request.reader;
    let is_seen = |session: &SessionKey| next.workspace.seen(reader, session).is_some();
    let diff = file_diff(run, input.request.diff, hint_options, is_seen);
    let text = [text.as_str(), diff.as_str(), &with_options(&advice, hint_options)].concat();
    RunPart { text, contents, asked, kept }
}

/// Returns the newest states that the windows of a run's sessions have shown.
fn shown_versions(run: &Run, workspace: &Workspace) -> BTreeMap<SessionKey, StateVersion> {
    let sessions = run.progress.steps.iter().map(|step| &step.session);
    let shown = sessions.filter_map(|session| {
        let (app, version, _) = workspace.window(session)?.context.counted?;
        Some((session.clone(), (app, version)))
    });
    shown.collect()
}
