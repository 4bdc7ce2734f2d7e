//! Writes the answer of a request that shows windows, and sends it. The parts of the answer, ids and epoch
//! included, come from `answer_builder`.

use pipemux_proto::Fault;
use pipemux_proto::client::{Answer, Body, Format};
use pipemux_proto::command::with_options;
use pipemux_proto::report::{Report, TokenReceipt};

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{ANSWER_BUDGET_MIN, CONTEXT_BYTES};
use crate::measurement::Measurement;
use crate::runs::run::ASKS;
use crate::verbs::answer_builder::{AnswerBuilder, AnswerParts, AnswerRequest};
use crate::verbs::injection::fit_injection;
use crate::verbs::require;
use crate::verbs::tasks::{PendingView, Task};
use crate::views::answer::refusal as refusal_text;
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::answer_text::AnswerText;
use crate::views::answer_window::AnswerWindow;
use crate::views::delta::Delta;
use crate::views::fit::{cut_to_shares, cut_windows, tokens_of};
use crate::views::news::unshown_status;
use crate::views::requested_window::{AnswerKind, WindowStatus};

impl Core {
    /// Answers a request whose windows have all arrived, or won't.
    pub(crate) fn finish_view(&mut self, id: RequestId) -> Result<(), Fault> {
        self.turn_windows_for(id);
        let Some(Task::Viewing(view)) =
            self.tasks.take_if(id, |task| matches!(task, Task::Viewing(_)))
        else {
            return Err(require::missing_task(&self.clients, id));
        };
        let remark = self.clients.take_remark(id);
        let client_request = require::request(&self.clients, id)?;
        let PendingView { windows: requested, embeds, kind } = *view;
        let workspace = require::workspace(&self.workspaces, client_request)?;
        let request = AnswerRequest::new(client_request, &kind, workspace);
        let mut unheard_steps = self.unheard_steps(&request.workspace, &request.reader);
        let unheard = match &kind {
            AnswerKind::Run(run) if self.is_unheard(id, run) => self.unheard_outcomes(run),
            _ => Vec::new(),
        };
        let client_request = require::request(&self.clients, id)?;
        let workspace = require::workspace_mut(&mut self.workspaces, client_request)?;
        let now = self.turn.now;
        if let Some(evicted) = workspace.enter_reader(&request.reader, now) {
            self.runs.forget_kept(&request.workspace, &evicted);
        }

        let mut builder = AnswerBuilder {
            request: &request,
            kind,
            epoch: workspace.epoch + 1,
            workspace,
            embeds,
            runs: &mut self.runs,
            processes: &self.processes,
            jobs: &self.jobs,
            turn: &mut self.turn,
            now,
            changed: false,
        };
        let mut windows = builder.render_windows(requested);
        let run = builder.write_run();
        let shown_questions = builder.shown_questions();
        let questions = builder.write_questions(&shown_questions);
        let mut jobs = builder.write_jobs(&mut windows);
        builder.end_epoch();
        let told = builder.workspace.unheard(&request.reader);
        let told_unheard = told.len();
        unheard_steps.extend(told);
        unheard_steps.extend(builder.job_ends(&mut jobs));
        let (seen_jobs, told_jobs) = (jobs.seen.clone(), jobs.told.clone());
        let panels = builder.panels(&shown_questions);
        let notices = builder.notices(remark, &windows, unheard_steps, panels.notices);
        let changed_elsewhere = builder.take_changed_elsewhere(&windows);

        let known_panels = panels.known.clone();
        let recap = builder.recap();
        let parts = AnswerParts { run, questions, jobs, notices, panels, recap };
        let mut untold = Vec::new();
        let mut shown_faults = Vec::new();
        let mut reported: Option<Vec<bool>> = None;
        let (mut text, receipt) = match builder.kind {
            AnswerKind::Injection { reset } => {
                untold = fit_injection(&builder, &parts, &mut windows, reset);
                let left_out: Vec<SessionKey> = untold.iter().map(|w| w.session.clone()).collect();
                let text = text_of(&builder, &parts, &windows, &left_out);
                let news: Vec<bool> =
                    text.unseen(reset).iter().map(|news| *news != Delta::Same).collect();
                let text = text.injection(reset);
                // What found no room comes with the next injection, which has room for it, unless there is never enough.
                if news.contains(&true) {
                    untold.clear();
                }
                shown_faults = windows.iter().filter_map(unshown_status).collect();
                if request.format == Format::Json {
                    // As data, too, an injection has only what is new.
                    reported = Some(news);
                }
                text
            }
            _ => write_text(&builder, &parts, &mut windows, changed_elsewhere),
        };
        let held = text_of(&builder, &parts, &windows, &[]);
        if request.format == Format::Json && reported.is_none() && !request.held.is_empty() {
            reported = Some(windows.iter().map(|window| !held.is_unchanged(window)).collect());
        }
        let held = held.held_reports();
        let TokenReceipt { shown, available, .. } = receipt;
        builder.turn.measure(|| Measurement::Shown { shown, available });
        count_tokens(&builder, &windows, shown);
        let mut lines = text.take_lines();
        let is_whole = matches!(builder.kind, AnswerKind::Injection { reset: true });
        let context = is_whole.then(|| text.beginning(CONTEXT_BYTES).into());
        if request.format == Format::Json {
            // Windows are complete in it.
            let is_shown = |at: usize| reported.as_ref().is_none_or(|news| news[at]);
            let shown = windows.iter().enumerate().filter(|(at, _)| is_shown(*at));
            lines.extend(shown.flat_map(|(_, window)| window.line_updates()));
        }
        let exit = exit_status(&builder.kind, &windows);
        let error = is_error(&builder.kind, exit);
        let body = match request.format {
            Format::Markdown if text.is_long() && exit == 0 => Err(text),
            Format::Markdown => Ok(Body::Text(text.into_text())),
            Format::Json => {
                let news: Vec<AnswerWindow> = match &reported {
                    Some(news) => {
                        let new = windows.iter().zip(news).filter(|(_, is_new)| **is_new);
                        new.map(|(window, _)| window.clone()).collect()
                    }
                    None => Vec::new(),
                };
                let shown = if reported.is_some() { &news } else { &windows };
                let report = builder.report(shown, parts, &text, receipt);
                let report = Report { held, ..report };
                Ok(Body::Report(Box::new(report)))
            }
        };
        let number = builder.turn.next_local();
        let mut delivery = builder.make_delivery(number, windows, untold);
        delivery.panels = known_panels;
        delivery.unheard = told_unheard;
        delivery.unshown = shown_faults;
        delivery.context = context;
        delivery.lines = lines;
        delivery.questions = shown_questions;
        (delivery.running_jobs, delivery.told_jobs) = (seen_jobs, told_jobs);
        if !unheard.is_empty()
            && let Some(workspace) = self.workspaces.get_mut(&request.workspace)
        {
            workspace.add_unheard(&request.reader, unheard);
        }
        self.workspaces.deliver(&request.workspace, request.reader, delivery);
        self.reserve(&request.workspace);
        match body {
            Ok(body) => self.answer(id, Answer { exit, body, delivery: number, error }),
            Err(text) => self.answer_in_parts(id, exit, number, text)?,
        }
        Ok(())
    }
}

/// Counts the tokens of an answer for the sessions that it shows or whose actions ran: for each of several the same part.
fn count_tokens(builder: &AnswerBuilder<'_>, windows: &[AnswerWindow], shown: u64) {
    let steps = match &builder.kind {
        AnswerKind::Run(run) => &run.steps[..],
        _ => &[],
    };
    let mut sessions: Vec<&SessionKey> = Vec::new();
    let named = windows.iter().map(|window| &window.session);
    for session in named.chain(steps.iter().map(|step| &step.session)) {
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    let mut left = shown;
    for (at, session) in sessions.iter().enumerate() {
        let part = left / (sessions.len() - at) as u64;
        left -= part;
        if let Some(session) = builder.processes.get(session) {
            session.tokens.set(session.tokens.get() + part);
        }
    }
}

/// Writes the answer as Markdown, within the request's budget.
fn write_text(
    builder: &AnswerBuilder<'_>,
    parts: &AnswerParts,
    windows: &mut Vec<AnswerWindow>,
    changed_elsewhere: Vec<SessionKey>,
) -> (AnswerBuffer, TokenReceipt) {
    let AnswerRequest { format, budget, hint_options, .. } = builder.request;
    let write = |windows: &[AnswerWindow], elsewhere: &[SessionKey], left_out: &[SessionKey]| {
        let writer = AnswerText {
            changed_elsewhere: elsewhere,
            ..text_of(builder, parts, windows, left_out)
        };
        match &builder.kind {
            AnswerKind::Run(run) => writer.run_result(run, &parts.run.text),
            AnswerKind::Open { notes } => writer.full(notes, false),
            AnswerKind::Workspace(Some(epoch)) | AnswerKind::Window(Some(epoch)) => {
                writer.changes_since(*epoch)
            }
            AnswerKind::Injection { reset } => writer.injection(*reset),
            // A Context has all of a window, whatever its reader knows.
            AnswerKind::Workspace(None) => writer.full(&[], *format == Format::Markdown),
            AnswerKind::Window(None) => writer.full(&[], false),
            AnswerKind::Questions { refusal, waiting, .. } => {
                let refused = refusal.as_deref().map(refusal_text);
                let waits = waits_behind(*waiting).map(|told| told + "\n");
                let first = refused.or(waits).unwrap_or_default();
                writer.questions_only(with_options(&first, hint_options).into_owned())
            }
        }
    };
    // The budget of an `open` stays with its windows, which keep to it themselves.
    match budget.filter(|_| !matches!(builder.kind, AnswerKind::Open { .. })) {
        None => write(windows, &changed_elsewhere, &[]),
        Some(budget) => {
            let budget = u64::from(budget.max(ANSWER_BUDGET_MIN));
            fit(windows, changed_elsewhere, budget, &builder.kind, write)
        }
    }
}

/// Returns what an answer is written from.
pub(super) fn text_of<'a>(
    builder: &'a AnswerBuilder<'_>,
    parts: &'a AnswerParts,
    windows: &'a [AnswerWindow],
    left_out: &'a [SessionKey],
) -> AnswerText<'a> {
    AnswerText {
        workspace: builder.workspace,
        reader: &builder.request.reader,
        windows,
        notices: &parts.notices,
        panels: &parts.panels,
        recap: &parts.recap,
        changed_elsewhere: &[],
        questions: &parts.questions.text,
        budget: builder.request.budget,
        held: &builder.request.held,
        left_out,
        hint_options: &builder.request.hint_options,
    }
}

/// Says that so many steps of a request wait for the answer to the question that is shown.
pub(super) fn waits_behind(steps: usize) -> Option<String> {
    match steps {
        0 => None,
        1 => Some("kept: your step runs behind the answer; `none` drops it".into()),
        n => Some(format!("kept: your {n} steps run behind the answer; `none` drops them")),
    }
}

/// Returns the exit status of an answer.
fn exit_status(kind: &AnswerKind, windows: &[AnswerWindow]) -> u8 {
    match kind {
        AnswerKind::Run(run) => run.exit_status(),
        AnswerKind::Workspace(_) | AnswerKind::Injection { .. } => 0,
        AnswerKind::Questions { refusal, .. } => {
            refusal.as_ref().map_or(ASKS, |fault| fault.code.exit_status())
        }
        AnswerKind::Open { .. } | AnswerKind::Window(_) => first_window_exit_status(windows),
    }
}

/// Returns true if the answer is an error and no step ran.
fn is_error(kind: &AnswerKind, exit: u8) -> bool {
    match kind {
        AnswerKind::Run(run) => run.wrong_answer.is_some(),
        AnswerKind::Questions { refusal, .. } => refusal.is_some(),
        // Of a window that can't be shown there is only the error.
        AnswerKind::Open { .. }
        | AnswerKind::Window(_)
        | AnswerKind::Workspace(_)
        | AnswerKind::Injection { .. } => exit != 0,
    }
}

/// Returns the exit status of an answer that is about one window.
fn first_window_exit_status(windows: &[AnswerWindow]) -> u8 {
    match windows.first().map(|window| &window.status) {
        Some(WindowStatus::Broken(fault)) => fault.code.exit_status(),
        _ => 0,
    }
}

/// Writes an answer that keeps to a budget: windows are cut until it does. After an act windows that there is no
/// room for are only named.
fn fit(
    windows: &mut Vec<AnswerWindow>,
    mut elsewhere: Vec<SessionKey>,
    budget: u64,
    kind: &AnswerKind,
    write: impl Fn(&[AnswerWindow], &[SessionKey], &[SessionKey]) -> (AnswerBuffer, TokenReceipt),
) -> (AnswerBuffer, TokenReceipt) {
    let mut left_out = Vec::new();
    let mut excess = 0;
    let mut in_shares = None;
    for _ in 0..FIT_PASSES {
        let written = write(windows, &elsewhere, &left_out);
        let over = written.1.shown.saturating_sub(budget);
        if over == 0 || windows.iter().all(|window| window.shown().is_none()) {
            return written;
        }
        if matches!(kind, AnswerKind::Run(_)) {
            elsewhere.extend(take_shown(windows));
            continue;
        }
        // Within their shares, none changes what is shown of another. Only when these are too much are all cut further.
        match &in_shares {
            None => {
                let whole = windows.clone();
                left_out = cut_to_shares(windows);
                in_shares = Some((whole, tokens_of(windows)));
            }
            Some((whole, tokens)) => {
                excess += over;
                windows.clone_from(whole);
                left_out = cut_windows(windows, tokens.saturating_sub(excess));
            }
        }
    }
    // What is left are the lines without which nobody would know what the answer is about.
    left_out.extend(take_shown(windows));
    write(windows, &elsewhere, &left_out)
}

/// Takes out the windows that there is something to show of. What remains are errors.
fn take_shown(windows: &mut Vec<AnswerWindow>) -> Vec<SessionKey> {
    let shown = windows.extract_if(.., |window| window.shown().is_some());
    shown.map(|window| window.session).collect()
}

/// How often an answer is written until it keeps to its budget: each time what was cut is estimated better.
pub(super) const FIT_PASSES: u32 = 4;
