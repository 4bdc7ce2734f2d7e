//! The open questions that an answer shows.

use pipemux_proto::report::QuestionReport;

use crate::answers::collect::AnswerInput;
use crate::answers::next_epoch::NextEpoch;
use crate::runs::open_runs::OpenRuns;
use crate::views::outcome::write_question;
use crate::views::requested_window::AnswerKind;
use crate::workspaces::{Window, Workspace};

/// The open questions in an answer. A run's own question is part of its outcome.
#[derive(Default)]
pub(super) struct QuestionsPart {
    /// Their numbers, a run's own included.
    pub numbers: Vec<u64>,
    /// All of them, as Markdown.
    pub text: String,
    pub reports: Vec<QuestionReport>,
}

/// Returns the numbers of the open questions that the answer shows, a run's own included.
pub(super) fn shown_questions(
    input: &AnswerInput,
    workspace: &Workspace,
    runs: &OpenRuns,
) -> Vec<u64> {
    let (at, reader) = (&input.request.workspace, &input.request.reader);
    let knows_windows = || {
        let seen = |window: &Window| workspace.seen(reader, &window.session).is_some();
        workspace.windows.iter().any(seen)
    };
    match &input.kind {
        AnswerKind::Run(run) => run.end.question.into_iter().collect(),
        AnswerKind::Questions { numbers, .. } => numbers.clone(),
        AnswerKind::Injection { reset: false } if knows_windows() => Vec::new(),
        AnswerKind::Workspace(_) | AnswerKind::Injection { .. } | AnswerKind::Window(_) => {
            runs.questions_of(at, reader).map(|(number, _)| number).collect()
        }
        AnswerKind::Open { .. } => Vec::new(),
    }
}

/// Writes the open questions of these numbers.
pub(super) fn write_questions(
    input: &AnswerInput,
    numbers: Vec<u64>,
    next: &mut NextEpoch<'_>,
    runs: &OpenRuns,
) -> QuestionsPart {
    let mut part = QuestionsPart { numbers, ..QuestionsPart::default() };
    if input.run().is_some() {
        return part;
    }
    let several = part.numbers.len() > 1;
    for number in &part.numbers {
        let Some(open) = runs.question(&input.request.workspace, *number) else { continue };
        let written = write_question(
            (*number, several),
            open,
            (next.number, &input.request.hint_options),
            &mut next.workspace.anchors,
        );
        part.text += &written.text;
        next.changed |= written.minted;
        part.reports.push(written.report);
    }
    part
}
