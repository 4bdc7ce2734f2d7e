//! The parts of an answer that shows windows. Each method of [`AnswerBuilder`] makes one of them; they are called
//! once each, in the order in which they stand here, because each may change what the next ones read.

use std::collections::BTreeMap;

use pipemux_proto::Fault;
use pipemux_proto::client::{Format, Verb};
use pipemux_proto::command::with_options;
use pipemux_proto::report::{KeptReport, QuestionReport, Report, TokenReceipt};

use crate::clients::requests::ClientRequest;
use crate::event::Now;
use crate::jobs::Jobs;
use crate::keys::{SessionKey, WorkspaceKey};
use crate::limits::{ANSWER_BUDGET_MIN, INJECT_BUDGET, NOTICES_TOKENS, TURN_WORK_MAX};
use crate::processes::Processes;
use crate::runs::Run;
use crate::runs::followup::follow_up;
use crate::runs::open_questions::OpenRuns;
use crate::turn::Turn;
use crate::verbs::answer_jobs::JobsPart;
use crate::verbs::delivery::make_delivery;
use crate::verbs::kept_rests::{keep_rest_of, kept_line};
use crate::verbs::panels::PanelInput;
use crate::verbs::render_window::{embeds_of, render_input, shared_words, write_and_record};
use crate::verbs::tasks::PendingEmbed;
use crate::verbs::write_answer::waits_behind;
use crate::views::answer::fault_with_options;
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::answer_window::{AnswerWindow, write_calls};
use crate::views::context::focus;
use crate::views::delta::{Delta, Known, delta};
use crate::views::file_diff::file_diff;
use crate::views::fit::cut_notices;
use crate::views::held::HeldClaim;
use crate::views::outcome::{RunOutcome, StepApp, write_outcome, write_question};
use crate::views::quoted_refs::quoted_refs_note;
use crate::views::report::{ReportInput, make_report};
use crate::views::requested_window::{AnswerKind, RequestedWindow, WindowStatus};
use crate::workspaces::anchors::StateVersion;
use crate::workspaces::{Delivery, Panels, Window, Workspace};

/// What a request says of its answer.
pub(super) struct AnswerRequest {
    pub(super) workspace: WorkspaceKey,
    pub(super) reader: String,
    pub(super) format: Format,
    /// The budget in tokens of the whole answer.
    pub(super) budget: Option<u32>,
    /// True if links show their calls.
    titles: bool,
    pub(super) hint_options: String,
    /// What the client says it has of windows.
    pub(super) held: Vec<HeldClaim>,
    /// Most tokens for what an act changed in files.
    diff: u32,
    /// True if windows are shown in another detail than they have for good.
    one_off: bool,
}

impl AnswerRequest {
    pub(super) fn new(request: &ClientRequest, kind: &AnswerKind, workspace: &Workspace) -> Self {
        let call = &request.call;
        let other_detail = call.lod.is_some() || call.budget.is_some();
        Self {
            workspace: request.workspace.clone(),
            reader: call.reader.clone(),
            format: call.format,
            budget: match kind {
                AnswerKind::Injection { .. } => Some(call.budget.unwrap_or(INJECT_BUDGET)),
                _ => call.budget,
            },
            titles: call.titles,
            hint_options: call.hint_options.clone(),
            held: match &call.verb {
                Verb::View(view) => {
                    view.held.iter().map(|held| HeldClaim::find(workspace, held)).collect()
                }
                _ => Vec::new(),
            },
            diff: call.diff,
            one_off: other_detail
                && !matches!(kind, AnswerKind::Open { .. } | AnswerKind::Injection { .. }),
        }
    }
}

/// What an answer says besides its windows.
pub(super) struct AnswerParts {
    pub(super) run: RunPart,
    pub(super) questions: QuestionsPart,
    pub(super) jobs: JobsPart,
    pub(super) notices: Vec<String>,
    /// The panels of the workspace document, if the answer is one.
    pub(super) panels: Panels,
    /// What was done so far, if the answer is the context of a prompt after a reset.
    pub(super) recap: String,
}

/// What an answer says of its run; empty if it isn't a run's.
#[derive(Default)]
pub(super) struct RunPart {
    /// The outcome and what to do next, as Markdown.
    pub(super) text: String,
    /// What each step that ended shows besides its brief.
    contents: Vec<String>,
    /// The question that the run asks.
    asked: Option<QuestionReport>,
    /// What the run left when it failed.
    kept: Option<KeptReport>,
}

/// The open questions that an answer shows besides its run.
#[derive(Default)]
pub(super) struct QuestionsPart {
    /// All of them, as Markdown.
    pub(super) text: String,
    reports: Vec<QuestionReport>,
}

/// Makes the parts of one answer from the components that it is about.
pub(super) struct AnswerBuilder<'a> {
    pub(super) request: &'a AnswerRequest,
    pub(super) kind: AnswerKind,
    pub(super) workspace: &'a mut Workspace,
    /// The windows that windows of the answer embed, as far as they arrived.
    pub(super) embeds: Vec<PendingEmbed>,
    pub(super) runs: &'a mut OpenRuns,
    pub(super) processes: &'a Processes,
    pub(super) jobs: &'a Jobs,
    pub(super) turn: &'a mut Turn,
    pub(super) now: Now,
    /// The workspace's epoch after this answer, if the answer shows anything new.
    pub(super) epoch: u64,
    /// True once the answer shows something new.
    pub(super) changed: bool,
}

impl AnswerBuilder<'_> {
    /// Returns the run whose answer it is, if it is one's.
    pub(super) fn run(&self) -> Option<&Run> {
        match &self.kind {
            AnswerKind::Run(run) => Some(run),
            _ => None,
        }
    }

    /// Renders the windows that were asked for.
    pub(super) fn render_windows(&mut self, requested: Vec<RequestedWindow>) -> Vec<AnswerWindow> {
        let count = requested.len().max(1) as u64;
        requested.into_iter().map(|requested| self.render_window(requested, count)).collect()
    }

    fn render_window(&mut self, mut requested: RequestedWindow, count: u64) -> AnswerWindow {
        if self.turn.work() > TURN_WORK_MAX && count > 1 {
            requested.state = WindowStatus::Broken(Box::new(too_much_work(&requested.session)));
        }
        let AnswerRequest { titles, budget, one_off, .. } = *self.request;
        let workspace = &mut *self.workspace;
        // A window that is shown with another budget than its own, such as its share of a workspace's, is shown so once.
        let is_look = matches!(self.kind, AnswerKind::Workspace(_) | AnswerKind::Window(_));
        let peek = one_off || is_look && requested.peek;
        let session = self.processes.get(&requested.session);
        let (embeds, minted) =
            embeds_of(workspace, self.processes, &requested, &self.embeds, self.epoch);
        let shared = shared_words(workspace, session, &requested.session);
        let show_calls = workspace.options.titles;
        let input = render_input(session, self.epoch, show_calls, &shared, &embeds);
        let (mut window, news) =
            write_and_record(workspace, requested, (session, input), peek, self.now);
        if titles && !show_calls {
            write_calls(&mut window, input, &mut workspace.anchors);
        }
        (window.one_off, window.peek) = (one_off, peek);
        let own_budget = workspace.window(&window.session).and_then(|window| window.budget);
        let own_room = own_budget.map_or(u64::MAX, u64::from);
        let room = match (budget, &self.kind) {
            // The request's budget was shared out before the windows were asked for.
            (Some(_), AnswerKind::Workspace(_)) => window.budget.into(),
            (Some(budget), _) => u64::from(budget) / count,
            (None, _) => own_room,
        };
        // The version of what a prompt has is that of what it shows at its own budget.
        let is_prompt = matches!(self.kind, AnswerKind::Injection { .. });
        window.room = if is_prompt { own_room } else { room };
        // A run's answer doesn't show a busy window: it only says so.
        let unshown =
            window.status == WindowStatus::Busy && matches!(self.kind, AnswerKind::Run(_));
        if let Some(content) = window.shown_content().filter(|_| !unshown) {
            let version = |workspace: &Workspace| {
                let context = &workspace.window(&window.session)?.context;
                Some((context.major, context.minor, context.patch))
            };
            let before = version(workspace);
            workspace.count_context(&window.session, content, peek, self.now);
            // Of new data a peek may show the same text as before.
            self.changed |= news.differs && version(workspace) != before;
        }
        let mut claims = self.request.held.iter();
        let claim = claims.find(|claim| claim.session.as_ref() == Some(&window.session));
        if let (Some(version), Some(kept)) =
            (claim.and_then(HeldClaim::version), workspace.window_mut(&window.session))
        {
            kept.make_exact(version, self.now);
        }
        window.room = room;
        self.changed |= news.is_new || minted;
        window
    }

    /// Keeps what a failed run left, and writes the outcome of the run.
    pub(super) fn write_run(&mut self) -> RunPart {
        let AnswerKind::Run(run) = &mut self.kind else { return RunPart::default() };
        let (at, hint_options) = (&self.request.workspace, &self.request.hint_options);
        keep_rest_of(self.turn, self.runs, self.workspace, run);
        let kept = run.kept.and_then(|number| Some((number, self.runs.rest(at, number)?)));
        let kept_line = kept.map_or(String::new(), |(number, rest)| kept_line(number, rest));
        let kept = kept.map(|(number, rest)| rest.report(number));
        let question =
            run.question.and_then(|number| Some((number, self.runs.question(at, number)?)));
        let shown = shown_versions(run, self.workspace);
        let RunOutcome { text, contents, asked, minted } = write_outcome(
            run,
            question,
            |session| self.processes.actions_of(session).unwrap_or_default(),
            |session| {
                let found = self.processes.sessions().get(session);
                let token_prefix = found.and_then(|found| found.token_prefix.as_deref());
                StepApp { is_built_in: self.processes.speaker(session).built_in, token_prefix }
            },
            |session, state| shown.get(session).is_none_or(|newest| *newest <= state),
            (self.epoch, hint_options),
            &mut self.workspace.anchors,
        );
        self.changed |= minted;
        let advice = follow_up(self.workspace, self.runs, run) + &kept_line;
        let seen = |session: &SessionKey| self.workspace.seen(&self.request.reader, session);
        let is_seen = |session: &SessionKey| seen(session).is_some();
        let diff = file_diff(run, self.request.diff, hint_options, is_seen);
        let text = [text.as_str(), diff.as_str(), &with_options(&advice, hint_options)].concat();
        RunPart { text, contents, asked, kept }
    }

    /// Returns true when the reader has seen a window of the workspace.
    fn knows_windows(&self) -> bool {
        let seen = |window: &Window| self.workspace.seen(&self.request.reader, &window.session);
        self.workspace.windows.iter().any(|window| seen(window).is_some())
    }

    /// Returns the numbers of the open questions that the answer shows, a run's own included.
    pub(super) fn shown_questions(&self) -> Vec<u64> {
        let AnswerRequest { workspace, reader, .. } = self.request;
        match &self.kind {
            AnswerKind::Run(run) => run.question.into_iter().collect(),
            AnswerKind::Questions { numbers, .. } => numbers.clone(),
            AnswerKind::Injection { reset: false } if self.knows_windows() => Vec::new(),
            AnswerKind::Workspace(_) | AnswerKind::Injection { .. } | AnswerKind::Window(_) => {
                self.runs.questions_of(workspace, reader).map(|(number, _)| number).collect()
            }
            AnswerKind::Open { .. } => Vec::new(),
        }
    }

    /// Writes open questions. A run's own is part of its outcome.
    pub(super) fn write_questions(&mut self, numbers: &[u64]) -> QuestionsPart {
        let mut part = QuestionsPart::default();
        if matches!(self.kind, AnswerKind::Run(_)) {
            return part;
        }
        let several = numbers.len() > 1;
        for number in numbers {
            let Some(open) = self.runs.question(&self.request.workspace, *number) else { continue };
            let written = write_question(
                (*number, several),
                open,
                (self.epoch, &self.request.hint_options),
                &mut self.workspace.anchors,
            );
            part.text += &written.text;
            self.changed |= written.minted;
            part.reports.push(written.report);
        }
        part
    }

    /// Counts the answer as an epoch if it shows anything new. From here on nothing that it shows changes.
    pub(super) fn end_epoch(&mut self) {
        if self.changed {
            self.workspace.epoch = self.epoch;
        }
        self.workspace.outdate_revised();
        self.workspace.anchors.forget(self.workspace.epoch);
    }

    /// Returns the notices of the answer, and the ends of jobs, without the `newest` ones, which a panel shows. `remark` says
    /// that nothing has changed: it is left out if a window has.
    pub(super) fn notices(
        &self,
        remark: Option<String>,
        windows: &[AnswerWindow],
        job_ends: Vec<String>,
        newest: usize,
    ) -> Vec<String> {
        let (workspace, reader) = (&*self.workspace, &self.request.reader);
        // An app that can't say when it has changed may have done so by now.
        let remark = remark.filter(|_| {
            let since = self.kind.since();
            windows.iter().all(|window| is_unchanged(workspace, reader, window, since))
        });
        let (own, of_apps) = workspace.unread_notices(reader, newest, self.now);
        let own = remark.into_iter().chain(own).chain(job_ends).collect();
        let half = self.request.budget.map(|budget| (budget / 2).max(ANSWER_BUDGET_MIN / 2));
        cut_notices(own, of_apps, half.unwrap_or(NOTICES_TOKENS).into())
    }

    /// Writes the panels of an answer that is a workspace document; of the context of a prompt only what its reader doesn't
    /// know of them.
    pub(super) fn panels(&self, questions: &[u64]) -> Panels {
        let AnswerRequest { reader, budget, .. } = self.request;
        let reset = match self.kind {
            AnswerKind::Workspace(None) => true,
            AnswerKind::Injection { reset } => reset,
            _ => return Panels::default(),
        };
        let input = PanelInput {
            workspace: self.workspace,
            runs: self.runs,
            processes: self.processes,
            reader,
            budget: *budget,
            known: self.workspace.reader(reader).filter(|_| !reset),
            names_only: matches!(self.kind, AnswerKind::Injection { .. }),
            has_questions: !questions.is_empty(),
        };
        input.write()
    }

    /// Returns the sessions of windows that aren't in a run's answer and that have changed.
    pub(super) fn take_changed_elsewhere(&mut self, windows: &[AnswerWindow]) -> Vec<SessionKey> {
        let AnswerKind::Run(run) = &self.kind else { return Vec::new() };
        let mut changed = self.workspace.take_dirty_windows(&self.request.reader, |session| {
            let session = self.processes.get(session)?;
            Some((session.app()?, session.version))
        });
        // What a step was sent to is no news: the outcome tells what the step changed or found.
        changed.retain(|session| {
            windows.iter().all(|window| window.session != *session)
                && run.steps.iter().all(|step| step.session != *session)
        });
        changed
    }

    /// Makes the report that is the answer as data.
    pub(super) fn report(
        &self,
        windows: &[AnswerWindow],
        parts: AnswerParts,
        text: &AnswerBuffer,
        receipt: TokenReceipt,
    ) -> Report {
        let AnswerParts { run, questions, jobs, notices, panels, recap: _ } = parts;
        let AnswerRequest { reader, hint_options, .. } = self.request;
        let input = ReportInput {
            workspace: self.workspace,
            windows,
            run: self.run(),
            contents: &run.contents,
            prototypes: &|session| self.processes.actions_of(session).unwrap_or_default(),
            hint_options,
        };
        let asked = run.asked.or_else(|| questions.reports.first().cloned());
        let mut report = make_report(&input, asked);
        if questions.reports.len() > 1 {
            report.questions = questions.reports;
        }
        let panels = panels.shown.into_iter();
        report.panels = panels.map(|(panel, text)| (panel.name().into(), (*text).into())).collect();
        report.kept = run.kept;
        report.jobs = jobs.statuses;
        match &self.kind {
            AnswerKind::Questions { refusal: Some(fault), .. } => {
                report.error = Some(fault_with_options((**fault).clone(), hint_options));
            }
            AnswerKind::Run(run) => report.error = run.wrong_answer.clone().or(report.error),
            _ => {}
        }
        let quoted = quoted_refs_note(self.workspace, reader, &text.quoted_refs());
        let waits = match &self.kind {
            AnswerKind::Questions { waiting, .. } => waits_behind(*waiting),
            _ => None,
        };
        report.notices = waits.into_iter().chain(notices).chain(quoted).collect();
        let too_large = windows.iter().filter_map(AnswerWindow::too_large);
        report.notices.extend(too_large.map(|fault| fault.named_message()));
        report.receipt = receipt;
        report
    }

    /// Makes the delivery with this number: what the reader will have seen once the answer is confirmed.
    /// `untold` are windows that the answer only names.
    pub(super) fn make_delivery(
        &mut self,
        number: u64,
        windows: Vec<AnswerWindow>,
        untold: Vec<AnswerWindow>,
    ) -> Delivery {
        // A Context names what is in focus, even where the window doesn't show it.
        let anchors = &self.workspace.anchors;
        let focus_of =
            |w: &AnswerWindow| focus(anchors, &w.session, w.shown()?, w.projection.as_ref()?);
        let in_focus: Vec<u64> = match self.request.format {
            Format::Json => windows.iter().filter_map(focus_of).collect(),
            Format::Markdown => Vec::new(),
        };
        let shows_busy = !matches!(self.kind, AnswerKind::Run(_));
        let shows_all =
            matches!(self.kind, AnswerKind::Workspace(_) | AnswerKind::Injection { .. });
        let reader = &self.request.reader;
        let mut delivery = make_delivery(
            self.workspace,
            reader,
            number,
            (windows, untold),
            (shows_busy, shows_all),
        );
        delivery.ids.extend(in_focus);
        delivery
    }
}

/// Says that a window isn't in an answer because those before it were too long.
fn too_much_work(session: &SessionKey) -> Fault {
    Fault::unavailable("not written: the windows before it took all the work of one answer")
        .hint(format!("pipemux view {session}"))
}

/// Returns the newest states that the windows of a run's sessions have shown.
fn shown_versions(run: &Run, workspace: &Workspace) -> BTreeMap<SessionKey, StateVersion> {
    let sessions = run.steps.iter().map(|step| &step.session);
    let shown = sessions.filter_map(|session| {
        let (app, version, _) = workspace.window(session)?.context.counted?;
        Some((session.clone(), (app, version)))
    });
    shown.collect()
}

/// Returns true for a window that is as it was in an epoch or, without one, as its reader saw it last.
fn is_unchanged(
    workspace: &Workspace,
    reader: &str,
    window: &AnswerWindow,
    since: Option<u64>,
) -> bool {
    let seen = match since {
        Some(epoch) => {
            let kept = workspace.window(&window.session).and_then(|kept| kept.at(epoch));
            kept.map(|kept| (kept.seen, &kept.rendered))
        }
        None => workspace
            .seen(reader, &window.session)
            .map(|seen| ((seen.app, seen.version), &seen.rendered)),
    };
    let Some((version, before)) = seen else { return false };
    let fresh = window.rendered.as_ref().filter(|_| window.status == WindowStatus::Fresh);
    match fresh {
        // What is shown in more or less detail can't be compared.
        Some(_) if window.one_off => window.version == Some(version),
        Some(now) => {
            let known = Known { removed: true, ..Known::default() };
            let same_data = window.peek && window.version == Some(version);
            same_data || delta(before, now, &known).0 == Delta::Same
        }
        None => false,
    }
}
