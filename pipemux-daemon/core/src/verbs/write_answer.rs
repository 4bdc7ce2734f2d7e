//! Writes the answer of a request that shows windows: mints ids, counts the epoch, and compares with the windows
//! that the reader has seen.

use std::collections::BTreeMap;

use pipemux_proto::Fault;
use pipemux_proto::client::{Answer, Body, Format};
use pipemux_proto::command::with_options;
use pipemux_proto::report::TokenReceipt;

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{ANSWER_BUDGET_MIN, NOTICES_TOKENS, TURN_WORK_MAX};
use crate::runs::Run;
use crate::runs::followup::follow_up;
use crate::runs::run::ASKS;
use crate::verbs::delivery::make_delivery;
use crate::verbs::kept_rests::{keep_rest_of, kept_line};
use crate::verbs::render_window::{render_input, shared_words, write_and_record};
use crate::verbs::require;
use crate::verbs::tasks::{PendingView, Task};
use crate::views::answer::{fault_with_options, refusal as refusal_text};
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::answer_text::AnswerText;
use crate::views::answer_window::{AnswerWindow, write_calls};
use crate::views::context::focus;
use crate::views::delta::{Delta, Known, delta};
use crate::views::fit::{cut_notices, cut_windows};
use crate::views::outcome::{RunOutcome, write_outcome, write_question};
use crate::views::quoted_refs::quoted_refs_note;
use crate::views::report::{ReportInput, make_report};
use crate::views::requested_window::{AnswerKind, WindowStatus};
use crate::workspaces::Workspace;
use crate::workspaces::anchors::StateVersion;

impl Core {
    /// Answers a request whose windows have all arrived, or won't.
    pub(crate) fn finish_view(&mut self, id: RequestId) -> Result<(), Fault> {
        let Some(Task::Viewing(view)) =
            self.tasks.take_if(id, |task| matches!(task, Task::Viewing(_)))
        else {
            return Err(require::missing_task(&self.clients, id));
        };
        let remark = self.clients.take_remark(id);
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace_mut(&mut self.workspaces, request)?;
        let (at, reader) = (request.workspace.clone(), request.call.reader.clone());
        let (format, budget) = (request.call.format, request.call.budget);
        let titles = request.call.titles;
        let hint_options = request.call.hint_options.clone();
        let other_detail = request.call.lod.is_some() || budget.is_some();
        let PendingView { windows: requested, mut kind } = *view;
        let opening = matches!(kind, AnswerKind::Open { .. });
        let one_off = other_detail && !opening;
        let now = self.turn.now;
        if let Some(evicted) = workspace.enter_reader(&reader, now) {
            self.runs.forget_kept(&at, &evicted);
        }

        let epoch = workspace.epoch + 1;
        let mut changed = false;
        let mut windows = Vec::new();
        let count = requested.len().max(1) as u64;
        for mut requested in requested {
            if self.turn.work() > TURN_WORK_MAX && !windows.is_empty() {
                requested.state = WindowStatus::Broken(Box::new(too_much_work(&requested.session)));
            }
            let session = self.processes.get(&requested.session);
            let shared = shared_words(workspace, session, &requested.session);
            let show_calls = workspace.options.titles;
            let input = render_input(session, epoch, show_calls, &shared);
            let (mut window, differs) = write_and_record(workspace, requested, input, now);
            if titles && !show_calls {
                write_calls(&mut window, input, &mut workspace.anchors);
            }
            window.one_off = one_off;
            let own_budget = workspace.window(&window.session).and_then(|window| window.budget);
            window.room = match budget {
                Some(budget) => u64::from(budget) / count,
                None => own_budget.map_or(u64::MAX, u64::from),
            };
            // A run's answer doesn't show a busy window: it only says so.
            let unshown = window.status == WindowStatus::Busy && matches!(kind, AnswerKind::Run(_));
            if let Some(content) = window.shown_content().filter(|_| !unshown) {
                workspace.count_context(&window.session, content, one_off, now);
            }
            changed |= differs;
            windows.push(window);
        }
        let mut outcome = None;
        let mut step_contents = Vec::new();
        let mut kept = None;
        if let AnswerKind::Run(run) = &mut kind {
            keep_rest_of(&mut self.turn, &mut self.runs, workspace, run);
            kept = run.kept.and_then(|number| Some((number, self.runs.rest(&at, number)?)));
        }
        let kept_line = kept.map_or(String::new(), |(number, rest)| kept_line(number, rest));
        let kept = kept.map(|(number, rest)| rest.report(number));
        if let AnswerKind::Run(run) = &kind {
            let question =
                run.question.and_then(|number| Some((number, self.runs.question(&at, number)?)));
            let prototypes =
                |session: &SessionKey| self.processes.actions_of(session).unwrap_or_default();
            let shown = shown_versions(run, workspace);
            let RunOutcome { text, contents, asked, minted } = write_outcome(
                run,
                question,
                prototypes,
                |session, state| shown.get(session).is_none_or(|newest| *newest <= state),
                (epoch, &hint_options),
                &mut workspace.anchors,
            );
            changed |= minted;
            let advice = follow_up(workspace, &mut self.runs, run) + &kept_line;
            step_contents = contents;
            outcome = Some((text + &with_options(&advice, &hint_options), asked));
        }
        let shown_questions: Vec<u64> = match &kind {
            AnswerKind::Run(run) => run.question.into_iter().collect(),
            AnswerKind::Questions { numbers, .. } => numbers.clone(),
            AnswerKind::Workspace(_) | AnswerKind::Window(_) => {
                self.runs.questions_of(&at, &reader).map(|(number, _)| number).collect()
            }
            AnswerKind::Open { .. } => Vec::new(),
        };
        let mut questions = String::new();
        let mut question_reports = Vec::new();
        if !matches!(kind, AnswerKind::Run(_)) {
            let several = shown_questions.len() > 1;
            for number in &shown_questions {
                let Some(open) = self.runs.question(&at, *number) else { continue };
                let written = write_question(
                    (*number, several),
                    open,
                    (epoch, &hint_options),
                    &mut workspace.anchors,
                );
                questions += &written.text;
                changed |= written.minted;
                question_reports.push(written.report);
            }
        }
        if changed {
            workspace.epoch = epoch;
        }
        workspace.anchors.forget(workspace.epoch);
        // An app that can't say when it has changed may have done so by now.
        let remark = remark.filter(|_| {
            let since = kind.since();
            windows.iter().all(|window| is_unchanged(workspace, &reader, window, since))
        });
        let (own, of_apps) = workspace.unread_notices(&reader, now);
        let own = remark.into_iter().chain(own).collect();
        let room = budget.map_or(NOTICES_TOKENS, |budget| (budget / 2).max(ANSWER_BUDGET_MIN / 2));
        let notices = cut_notices(own, of_apps, room.into());
        let mut changed_elsewhere = Vec::new();
        if outcome.is_some() {
            changed_elsewhere = workspace.take_dirty_windows(&reader, |session| {
                let session = self.processes.get(session)?;
                Some((session.app()?, session.version))
            });
            // What a step was sent to is no news: the outcome tells what the step changed or found.
            let sent_to = |session: &SessionKey| match &kind {
                AnswerKind::Run(run) => run.steps.iter().any(|step| step.session == *session),
                _ => false,
            };
            changed_elsewhere.retain(|session| {
                windows.iter().all(|w| w.session != *session) && !sent_to(session)
            });
        }
        let refusal = match &kind {
            AnswerKind::Questions { refusal, .. } => {
                let refusal = refusal.as_deref().map(refusal_text).unwrap_or_default();
                with_options(&refusal, &hint_options).into_owned()
            }
            _ => String::new(),
        };
        let write =
            |windows: &[AnswerWindow], elsewhere: &[SessionKey], left_out: &[SessionKey]| {
                let writer = AnswerText {
                    workspace: &*workspace,
                    reader: &reader,
                    windows,
                    notices: &notices,
                    changed_elsewhere: elsewhere,
                    questions: &questions,
                    budget,
                    left_out,
                    hint_options: &hint_options,
                };
                match &kind {
                    AnswerKind::Run(run) => {
                        writer.run_result(run, outcome.as_ref().map_or("", |(text, _)| text))
                    }
                    AnswerKind::Open { notes } => writer.full(notes, false),
                    AnswerKind::Workspace(Some(epoch)) | AnswerKind::Window(Some(epoch)) => {
                        writer.changes_since(*epoch)
                    }
                    // A Context has all of a window, whatever its reader knows.
                    AnswerKind::Workspace(None) => writer.full(&[], format == Format::Markdown),
                    AnswerKind::Window(None) => writer.full(&[], false),
                    AnswerKind::Questions { .. } => writer.questions_only(refusal.clone()),
                }
            };
        let (mut text, receipt) = match budget.filter(|_| !opening) {
            None => write(&windows, &changed_elsewhere, &[]),
            Some(budget) => {
                let budget = u64::from(budget.max(ANSWER_BUDGET_MIN));
                fit(&mut windows, changed_elsewhere, budget, &kind, write)
            }
        };
        let mut lines = text.take_lines();
        if format == Format::Json {
            // Windows are complete in it.
            lines.extend(windows.iter().flat_map(AnswerWindow::line_updates));
        }
        let exit = match &kind {
            AnswerKind::Run(run) => run.exit_status(),
            AnswerKind::Workspace(_) => 0,
            AnswerKind::Questions { refusal, .. } => {
                refusal.as_ref().map_or(ASKS, |fault| fault.code.exit_status())
            }
            AnswerKind::Open { .. } | AnswerKind::Window(_) => first_window_exit_status(&windows),
        };
        let body = match format {
            Format::Markdown if text.is_long() && exit == 0 => Err(text),
            Format::Markdown => Ok(Body::Text(text.into_text())),
            Format::Json => {
                let run = if let AnswerKind::Run(run) = &kind { Some(&**run) } else { None };
                let first_question = || question_reports.first().cloned();
                let asked = outcome.and_then(|(_, asked)| asked).or_else(first_question);
                let input = ReportInput {
                    workspace,
                    windows: &windows,
                    run,
                    contents: &step_contents,
                    prototypes: &|session| self.processes.actions_of(session).unwrap_or_default(),
                    hint_options: &hint_options,
                };
                let mut report = make_report(&input, asked);
                if question_reports.len() > 1 {
                    report.questions = question_reports;
                }
                report.kept = kept;
                let too_large = windows.iter().filter_map(AnswerWindow::too_large);
                match &kind {
                    AnswerKind::Questions { refusal: Some(fault), .. } => {
                        report.error = Some(fault_with_options((**fault).clone(), &hint_options));
                    }
                    AnswerKind::Run(run) => {
                        report.error = run.wrong_answer.clone().or(report.error);
                    }
                    _ => {}
                }
                let quoted = quoted_refs_note(workspace, &reader, &text.quoted_refs());
                report.notices = notices.into_iter().chain(quoted).collect();
                report.notices.extend(too_large.map(|fault| fault.named_message()));
                report.receipt = receipt;
                Ok(Body::Report(Box::new(report)))
            }
        };
        let error = match &kind {
            AnswerKind::Run(run) => run.wrong_answer.is_some(),
            AnswerKind::Questions { refusal, .. } => refusal.is_some(),
            // Of a window that can't be shown there is only the error.
            AnswerKind::Open { .. } | AnswerKind::Window(_) | AnswerKind::Workspace(_) => exit != 0,
        };
        let number = self.turn.next_local();
        // A Context names what is in focus, even where the window doesn't show it.
        let table = &workspace.anchors;
        let focus_of =
            |w: &AnswerWindow| focus(table, &w.session, w.shown()?, w.projection.as_ref()?);
        let in_focus: Vec<u64> = match format {
            Format::Json => windows.iter().filter_map(focus_of).collect(),
            Format::Markdown => Vec::new(),
        };
        let shows_busy = !matches!(kind, AnswerKind::Run(_));
        let shows_all = matches!(kind, AnswerKind::Workspace(_));
        let mut delivery =
            make_delivery(workspace, &reader, number, windows, (shows_busy, shows_all));
        delivery.lines = lines;
        delivery.ids.extend(in_focus);
        delivery.questions = shown_questions;
        self.workspaces.deliver(&at, reader, delivery);
        self.reserve(&at);
        match body {
            Ok(body) => self.answer(id, Answer { exit, body, delivery: number, error }),
            Err(text) => self.answer_in_parts(id, exit, number, text)?,
        }
        Ok(())
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
    let whole = windows.clone();
    for _ in 0..FIT_PASSES {
        let written = write(windows, &elsewhere, &left_out);
        let over = written.1.shown.saturating_sub(budget);
        if over == 0 || windows.iter().all(|window| window.shown().is_none()) {
            return written;
        }
        excess += over;
        if matches!(kind, AnswerKind::Run(_)) {
            elsewhere.extend(take_shown(windows));
            continue;
        }
        windows.clone_from(&whole);
        left_out = cut_windows(windows, excess);
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
const FIT_PASSES: u32 = 4;

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
            delta(before, now, &Known { removed: true, ..Known::default() }).0 == Delta::Same
        }
        None => false,
    }
}

/// Returns the exit status of an answer that is about one window.
fn first_window_exit_status(windows: &[AnswerWindow]) -> u8 {
    match windows.first().map(|window| &window.status) {
        Some(WindowStatus::Broken(fault)) => fault.code.exit_status(),
        _ => 0,
    }
}
