//! Writes the answer of a request that shows windows: mints ids, counts the epoch, and compares with the windows
//! that the reader has seen.

use pipemux_proto::Fault;
use pipemux_proto::client::{Answer, Body, Format};
use pipemux_proto::command::with_options;
use pipemux_proto::projection::Lod;
use pipemux_proto::prototype::Prototype;

use crate::Core;
use crate::event::{Effect, Now};
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::persist::records::Record;
use crate::processes::session::Session;
use crate::runs::followup::follow_up;
use crate::runs::run::ASKS;
use crate::runs::saved_question;
use crate::verbs::require;
use crate::verbs::tasks::{PendingView, Task};
use crate::views::answer::{fault_with_options, refusal as refusal_text};
use crate::views::answer_text::AnswerText;
use crate::views::answer_window::{AnswerWindow, write_calls, write_window};
use crate::views::context::focus;
use crate::views::delta::{Delta, Known, delta};
use crate::views::inert::RefTokens;
use crate::views::link_title::SharedWords;
use crate::views::minter::RenderInput;
use crate::views::outcome::{RunOutcome, write_outcome, write_question};
use crate::views::quoted_refs::quoted_refs_note;
use crate::views::report::{ReportInput, make_report};
use crate::views::requested_window::{AnswerKind, RequestedWindow, WindowStatus};
use crate::workspaces::{Delivery, SeenWindow, Workspace};

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
        let PendingView { windows: requested, kind } = *view;
        let one_off = other_detail && !matches!(kind, AnswerKind::Open { .. });
        let now = self.turn.now;
        if let Some(evicted) = workspace.enter_reader(&reader, now) {
            self.runs.forget_kept(&at, &evicted);
        }

        let epoch = workspace.epoch + 1;
        let mut changed = false;
        let mut windows = Vec::new();
        let count = requested.len().max(1) as u64;
        for requested in requested {
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
        if let AnswerKind::Run(run) = &kind {
            let question =
                run.question.and_then(|number| Some((number, self.runs.question(&at, number)?)));
            let prototypes =
                |session: &SessionKey| self.processes.actions_of(session).unwrap_or_default();
            let RunOutcome { text, asked, minted } = write_outcome(
                run,
                question,
                prototypes,
                (epoch, &hint_options),
                &mut workspace.anchors,
            );
            changed |= minted;
            let advice = follow_up(workspace, &mut self.runs, run);
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
        let mut first_question = None;
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
                first_question.get_or_insert(written.report);
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
        let notices: Vec<String> =
            remark.into_iter().chain(workspace.unread_notices(&reader, now)).collect();
        let mut changed_elsewhere = Vec::new();
        if outcome.is_some() {
            changed_elsewhere = workspace.take_dirty_windows(&reader, |session| {
                let session = self.processes.get(session)?;
                Some((session.app()?, session.version))
            });
            changed_elsewhere.retain(|session| windows.iter().all(|w| w.session != *session));
        }
        let writer = AnswerText {
            workspace: &*workspace,
            reader: &reader,
            windows: &windows,
            notices: &notices,
            changed_elsewhere: &changed_elsewhere,
            questions: &questions,
            budget,
            hint_options: &hint_options,
        };
        let (mut text, receipt) = match &kind {
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
            AnswerKind::Questions { refusal, .. } => {
                let refusal = refusal.as_deref().map(refusal_text).unwrap_or_default();
                writer.questions_only(with_options(&refusal, &hint_options).into_owned())
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
                let asked = outcome.and_then(|(_, asked)| asked).or(first_question);
                let input = ReportInput {
                    workspace,
                    windows: &windows,
                    run,
                    prototypes: &|session| self.processes.actions_of(session).unwrap_or_default(),
                    hint_options: &hint_options,
                };
                let mut report = make_report(&input, asked);
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

    /// Notes that a reader has received an answer.
    pub(crate) fn confirm_delivery(&mut self, number: u64) {
        let Some((at, questions)) = self.workspaces.confirm(number) else { return };
        for number in questions {
            let first = self.runs.note_shown(&at, number);
            // A later daemon must know it, too: what can't be undone is only confirmed by who was shown it.
            let Some(question) = first.filter(|question| question.is_destructive()) else {
                continue;
            };
            if let Some(question) = saved_question::save(question) {
                let workspace = at.to_string();
                self.turn.persist(Record::Question { workspace, number, question });
            }
        }
    }

    /// Reserves ids and epochs on disk before an answer that uses them goes out.
    pub(crate) fn reserve(&mut self, at: &WorkspaceKey) {
        self.turn.effects.extend(self.workspaces.reserve(at).map(Effect::Persist));
    }
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
            delta(before, now, &Known { removed: true, ..Known::default() }).0 == Delta::Same
        }
        None => false,
    }
}

/// Returns the delivery that is kept until the reader confirms the answer. `shows_busy` is true when the answer also
/// shows old content of windows whose apps didn't reply, `shows_all` when it shows all windows of the workspace.
fn make_delivery(
    workspace: &mut Workspace,
    reader: &str,
    number: u64,
    windows: Vec<AnswerWindow>,
    (shows_busy, shows_all): (bool, bool),
) -> Delivery {
    let epoch = workspace.epoch;
    let ids = workspace.anchors.take_offered();
    let is_fresh = |window: &AnswerWindow| window.status == WindowStatus::Fresh;
    let shown = windows.iter().filter(|window| shows_busy || is_fresh(window));
    let shown = shown.filter_map(|w| Some((w.session.clone(), w.shown()?.clone()))).collect();
    let fresh = windows.into_iter().filter(is_fresh);
    let seen =
        fresh.filter_map(|window| to_seen_window(workspace, reader, window, epoch)).collect();
    Delivery {
        number,
        seen,
        lines: Vec::new(),
        noticed: workspace.newest_notice(),
        questions: Vec::new(),
        epoch,
        ids,
        shown,
        window_set_revision: shows_all.then_some(workspace.window_set_revision()),
    }
}

/// Renders a window from the projection that the workspace holds. Returns the ids that it shows.
pub(crate) fn render_held_window(
    workspace: &mut Workspace,
    key: &SessionKey,
    session: &Session,
    now: Now,
) -> Vec<u64> {
    let epoch = workspace.epoch + 1;
    let window = workspace.window(key);
    let (lod, number) = window.map(|window| (window.lod, window.number)).unwrap_or_default();
    let requested = RequestedWindow {
        state: WindowStatus::Fresh,
        ..RequestedWindow::new(key.clone(), number, lod, u32::MAX)
    };
    let shared = shared_words(workspace, Some(session), key);
    let show_calls = workspace.options.titles;
    let input = render_input(Some(session), epoch, show_calls, &shared);
    let (window, differs) = write_and_record(workspace, requested, input, now);
    if let Some(content) = window.shown_content() {
        workspace.count_context(key, content, false, now);
    }
    if differs {
        workspace.epoch = epoch;
    }
    window.rendered.map(|rendered| rendered.ids.to_vec()).unwrap_or_default()
}

/// Returns the parts of a session that rendering needs.
fn render_input<'a>(
    session: Option<&'a Session>,
    epoch: u64,
    show_calls: bool,
    shared: &'a SharedWords,
) -> RenderInput<'a> {
    let token_prefix = session.and_then(|session| session.token_prefix.as_deref());
    RenderInput {
        prototypes: session.map_or(&[], |session| &session.prototypes),
        tokens: RefTokens::of_app(token_prefix),
        epoch,
        show_calls,
        shared,
    }
}

/// Returns the words of a session that other windows of the workspace use, too.
fn shared_words(workspace: &Workspace, session: Option<&Session>, key: &SessionKey) -> SharedWords {
    let prototypes = session.into_iter().flat_map(|session| session.prototypes.iter());
    let is_shared = |action: &&Prototype| workspace.windows.with_action(&action.name).len() > 1;
    let actions = prototypes.filter(is_shared).map(|action| action.name.clone()).collect();
    let others = workspace.windows.iter().filter(|window| window.session != *key);
    let held = others.filter_map(|window| window.projection.as_ref());
    let names = held.flat_map(|held| held.projection.names.keys().cloned()).collect();
    SharedWords { actions, names, all: false }
}

/// Writes a window for an answer, and keeps its rendering in the workspace. The flag is true when the rendering
/// differs from the one before.
fn write_and_record(
    workspace: &mut Workspace,
    requested: RequestedWindow,
    input: RenderInput<'_>,
    now: Now,
) -> (AnswerWindow, bool) {
    let Some((window, anchors)) = workspace.window_and_anchors(&requested.session) else {
        return (AnswerWindow::without_content(requested), false);
    };
    let (answer, rendering) = write_window(window, requested, input, anchors);
    let differs = rendering.as_ref().is_some_and(|rendering| rendering.differs);
    if let Some(rendering) = rendering {
        workspace.record_rendering(&answer.session, rendering, now);
    }
    (answer, differs)
}

/// Turns a fresh window of an answer into the window that the reader will have seen once it has the answer.
fn to_seen_window(
    workspace: &mut Workspace,
    reader: &str,
    window: AnswerWindow,
    epoch: u64,
) -> Option<(SessionKey, SeenWindow)> {
    let ((app, version), rendered) = (window.version?, window.rendered?);
    if let Some(kept) = workspace.window_mut(&window.session) {
        kept.remember(epoch, (app, version), &rendered);
    }
    let before = workspace.seen(reader, &window.session);
    let prototypes = match (window.lod, before) {
        // A gist shows no prototypes, so the reader still knows those that were shown before.
        (Lod::Gist, Some(before)) => before.prototypes.clone(),
        _ => window.prototypes,
    };
    // A lower level of detail shows fewer names of the same version, and the known names stay valid.
    let keeps_names = |before: &&SeenWindow| {
        (before.app, before.version) == (app, version) && rendered.names.is_empty()
    };
    let names = before.filter(keeps_names).map_or(&rendered, |before| &before.names).clone();
    let document = rendered.document.clone();
    // A view at another level of detail or budget doesn't become the base of later comparisons.
    let (rendered, base, complete) = match before.filter(|_| window.one_off) {
        Some(before) => (before.rendered.clone(), before.base, false),
        None => (rendered, (app, version), true),
    };
    let seen =
        SeenWindow { epoch, app, version, rendered, base, document, complete, names, prototypes };
    Some((window.session, seen))
}

/// Returns the exit status of an answer that is about one window.
fn first_window_exit_status(windows: &[AnswerWindow]) -> u8 {
    match windows.first().map(|window| &window.status) {
        Some(WindowStatus::Broken(fault)) => fault.code.exit_status(),
        _ => 0,
    }
}
