//! What the text of an answer is written from.

use pipemux_proto::client::Format;
use pipemux_proto::command::with_options;
use pipemux_proto::report::TokenReceipt;

use crate::answers::job_lines::JobsPart;
use crate::answers::questions::QuestionsPart;
use crate::answers::request::AnswerRequest;
use crate::answers::run_outcome::RunPart;
use crate::keys::SessionKey;
use crate::views::answer::refusal as refusal_text;
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::answer_text::AnswerText;
use crate::views::answer_window::AnswerWindow;
use crate::views::requested_window::AnswerKind;
use crate::workspaces::{Panels, Workspace};

/// The parts of an answer other than its windows.
pub(super) struct AnswerParts {
    pub run: RunPart,
    pub questions: QuestionsPart,
    pub jobs: JobsPart,
    pub notices: Vec<String>,
    /// The panels of the workspace document, if the answer is such a document.
    pub panels: Panels,
    /// The newest rounds, if the answer is the context of a prompt after a reset.
    pub recap: String,
}

/// An answer that is being written: everything about it but its windows, which are cut until it
/// keeps to its budget.
#[derive(Clone, Copy)]
pub(super) struct Draft<'a> {
    pub request: &'a AnswerRequest,
    pub kind: &'a AnswerKind,
    pub workspace: &'a Workspace,
    pub parts: &'a AnswerParts,
}

impl<'a> Draft<'a> {
    /// Returns the writer of the answer's text with these windows. Those in `left_out` are only
    /// named.
    pub fn text<'t>(
        &self,
        windows: &'t [AnswerWindow],
        left_out: &'t [SessionKey],
    ) -> AnswerText<'t>
    where
        'a: 't,
    {
        let Self { request, parts, .. } = *self;
        AnswerText {
            workspace: self.workspace,
            reader: &request.reader,
            windows,
            notices: &parts.notices,
            panels: &parts.panels,
            recap: &parts.recap,
            changed_elsewhere: &[],
            questions: &parts.questions.text,
            budget: request.budget,
            held: &request.held,
            left_out,
            hint_options: &request.hint_options,
        }
    }

    /// Writes the answer with these windows. Of those in `changed_elsewhere` it says that they
    /// changed; those in `left_out` found no room.
    pub fn write(
        &self,
        windows: &[AnswerWindow],
        changed_elsewhere: &[SessionKey],
        left_out: &[SessionKey],
    ) -> (AnswerBuffer, TokenReceipt) {
        let text = AnswerText { changed_elsewhere, ..self.text(windows, left_out) };
        match self.kind {
            AnswerKind::Run(run) => text.run_result(run, &self.parts.run.text),
            AnswerKind::Open { notes } => text.full(notes, false),
            AnswerKind::Workspace(Some(epoch)) | AnswerKind::Window(Some(epoch)) => {
                text.changes_since(*epoch)
            }
            AnswerKind::Injection { reset } => text.injection(*reset),
            // A Context has all of a window, whatever its reader knows.
            AnswerKind::Workspace(None) => text.full(&[], self.request.format == Format::Markdown),
            AnswerKind::Window(None) => text.full(&[], false),
            AnswerKind::Questions { refusal, waiting, .. } => {
                let refused = refusal.as_deref().map(refusal_text);
                let waits = steps_behind_question(*waiting).map(|line| line + "\n");
                let first = refused.or(waits).unwrap_or_default();
                text.questions_only(with_options(&first, &self.request.hint_options).into_owned())
            }
        }
    }
}

/// Says that so many steps of a request run once the question that is shown is answered.
pub(super) fn steps_behind_question(steps: usize) -> Option<String> {
    match steps {
        0 => None,
        1 => Some("kept: your step runs behind the answer; `none` drops it".into()),
        n => Some(format!("kept: your {n} steps run behind the answer; `none` drops them")),
    }
}
