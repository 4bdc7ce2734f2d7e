//! Putting an answer together: minting ids, counting the epoch, comparing with what the reader has.

use pipemux_proto::client::{Answer, Body, Format};
use pipemux_proto::projection::Lod;

use crate::Core;
use crate::event::{Effect, Now};
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::limits::BLOCK;
use crate::persist::records::Record;
use crate::processes::session::Session;
use crate::verbs::run_exit_status;
use crate::verbs::show::{AnswerKind, PendingView, RequestedWindow, WindowStatus};
use crate::verbs::tasks::Task;
use crate::views::inert::Tokens;
use crate::workspaces::{Delivery, SeenWindow, Workspace};

use crate::runs::followup::follow_up;
use crate::views::answer_text::AnswerText;
use crate::views::outcome::outcome;
use crate::views::report::make_report;
use crate::views::window_part::{AnswerWindow, part, titled};

impl Core {
    /// Answers a request whose windows have all come, or won't.
    pub(crate) fn finish_show(&mut self, id: RequestId) {
        let Some(Task::Viewing(showing)) =
            self.tasks.take_if(id, |task| matches!(task, Task::Viewing(_)))
        else {
            return;
        };
        let remark = self.clients.take_remark(id);
        let Some(job) = self.clients.request(id) else { return };
        let (at, reader) = (job.workspace.clone(), job.call.reader.clone());
        let (format, budget, titles) = (job.call.format, job.call.budget, job.call.titles);
        let differs = job.call.lod.is_some() || budget.is_some();
        let PendingView { windows, head } = *showing;
        let one_off = differs && !matches!(head, AnswerKind::Open { .. });
        let now = self.turn.now;
        let Some(workspace) = self.workspaces.get_mut(&at) else { return };
        workspace.reader(&reader, now);

        let epoch = workspace.epoch + 1;
        let mut changed = false;
        let mut parts = Vec::new();
        for shown in windows {
            let live = self.processes.get(&shown.session);
            let prototypes = live.map(|live| live.prototypes.clone()).unwrap_or_default();
            let tokens = live.map_or(Tokens::Inert, own_tokens);
            let (mut part, differs) = part(workspace, shown, (&prototypes, &tokens), epoch, now);
            if titles {
                titled(workspace, &mut part, (&prototypes, &tokens), epoch);
            }
            part.one_off = one_off;
            changed |= differs;
            parts.push(part);
        }
        let mut acted = None;
        if let AnswerKind::Run(run) = &head {
            let (text, asked, minted) = outcome(workspace, self.processes.sessions(), run, epoch);
            changed |= minted;
            let advice = follow_up(workspace, run, now);
            acted = Some((text + &advice, asked));
        }
        if changed {
            workspace.epoch = epoch;
        }
        workspace.anchors.forget(workspace.epoch);
        let news: Vec<String> = remark.into_iter().chain(workspace.news(&reader, now)).collect();
        let mut others = Vec::new();
        if acted.is_some() {
            others = workspace.take_dirty_windows(&reader, self.processes.sessions());
            others.retain(|session| parts.iter().all(|part| part.session != *session));
        }
        let (workspace, others) = (&*workspace, others.as_slice());
        let writer =
            AnswerText { workspace, reader: &reader, parts: &parts, news: &news, others, budget };
        let (said, receipt) = match &head {
            AnswerKind::Run(run) => writer.act(run, acted.as_ref().map_or("", |(text, _)| text)),
            AnswerKind::Open { notes } => writer.windows(notes, false),
            AnswerKind::Workspace(Some(epoch)) | AnswerKind::Window(Some(epoch)) => {
                writer.since(*epoch)
            }
            AnswerKind::Workspace(None) => writer.windows(&[], true),
            AnswerKind::Window(None) => writer.windows(&[], false),
        };
        let exit = match &head {
            AnswerKind::Run(run) => run_exit_status(run),
            AnswerKind::Workspace(_) => 0,
            AnswerKind::Open { .. } | AnswerKind::Window(_) => single_exit(&parts),
        };
        let body = match format {
            Format::Markdown if said.is_long() => Err(said),
            Format::Markdown => Ok(Body::Text(said.into_text())),
            Format::Json => {
                let run = if let AnswerKind::Run(run) = &head { Some(&**run) } else { None };
                let asked = acted.and_then(|(_, asked)| asked);
                let mut report = make_report(workspace, &parts, run, asked, now);
                report.notices = news;
                report.receipt = receipt;
                Ok(Body::Report(Box::new(report)))
            }
        };
        let number = self.turn.next_local();
        let listed = !matches!(head, AnswerKind::Run(_));
        let whole = matches!(head, AnswerKind::Workspace(_));
        self.deliver_to(&at, &reader, number, parts, (listed, whole));
        self.reserve(&at);
        self.deliveries.insert(number, (at, reader));
        // Unconfirmed ones are forgotten in the order they were made.
        while self.deliveries.len() > crate::limits::CLIENTS_MAX {
            self.deliveries.pop_first();
        }
        match body {
            Ok(body) => self.answer(id, Answer { exit, body, delivery: number }),
            Err(said) => self.answer_in_parts(id, exit, number, said),
        }
    }

    /// Remembers what an answer shows until the reader confirms it.
    /// A window as it was before is listed in views only; `whole`: all windows are shown.
    fn deliver_to(
        &mut self,
        at: &WorkspaceKey,
        reader: &str,
        number: u64,
        parts: Vec<AnswerWindow>,
        (listed, whole): (bool, bool),
    ) {
        let now = self.turn.now;
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        let (epoch, noticed) = (workspace.epoch, workspace.noticed);
        let mut seen = Vec::new();
        let ids = workspace.anchors.take_offered();
        let shown = parts.iter().filter(|part| listed || part.state == WindowStatus::Fresh);
        let shown = shown.filter_map(|part| Some((part.session.clone(), part.written()?.clone())));
        let shown: Vec<_> = shown.collect();
        for part in parts.into_iter().filter(|part| part.state == WindowStatus::Fresh) {
            if let (Some((app, version)), Some(rendered)) = (part.shows, part.rendered) {
                if let Some(window) = workspace.window_mut(&part.session) {
                    window.remember(epoch, (app, version), &rendered);
                }
                let before = workspace.seen(reader, &part.session);
                let prototypes = match (part.lod, before) {
                    // A gist shows none: those that were shown before are known still.
                    (Lod::Gist, Some(seen)) => seen.prototypes.clone(),
                    _ => part.prototypes,
                };
                // Less of the same version shows fewer names: they stand as they were.
                let stands = |seen: &&SeenWindow| {
                    (seen.app, seen.version) == (app, version) && rendered.names.is_empty()
                };
                let names = before.filter(stands).map_or(&rendered, |seen| &seen.names).clone();
                // One look at more or less of it is nothing to compare the usual window with.
                let (rendered, whole) = match before.filter(|_| part.one_off) {
                    Some(seen) => (seen.rendered.clone(), false),
                    None => (rendered, true),
                };
                let now = SeenWindow { epoch, app, version, rendered, whole, names, prototypes };
                seen.push((part.session, now));
            }
        }
        let window_set_revision = whole.then_some(workspace.window_set_revision);
        workspace.reader(reader, now).deliver(Delivery {
            number,
            seen,
            noticed,
            epoch,
            ids,
            shown,
            window_set_revision,
        });
    }

    /// A reader has an answer.
    pub(crate) fn handle_seen(&mut self, number: u64) {
        if let Some((at, reader)) = self.deliveries.remove(&number)
            && let Some(workspace) = self.workspaces.get_mut(&at)
        {
            workspace.confirm(&reader, number);
        }
    }

    /// Reserves ids and epochs on disk before an answer that uses them goes out.
    pub(crate) fn reserve(&mut self, at: &WorkspaceKey) {
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        let anchors = workspace.anchors.take_fresh();
        if !anchors.is_empty() {
            let record = Record::Anchors { workspace: at.to_string(), anchors };
            self.turn.effects.push(Effect::Persist(record));
        }
        let (ids, epochs) = (workspace.anchors.next_id(), workspace.newest_version() + 1);
        let (ids_below, epochs_below) = workspace.reserved;
        if ids <= ids_below && epochs <= epochs_below {
            return;
        }
        workspace.reserved = (
            if ids > ids_below { ids + BLOCK } else { ids_below },
            if epochs > epochs_below { epochs + BLOCK } else { epochs_below },
        );
        self.turn.effects.push(Effect::Persist(Record::Workspace {
            key: at.to_string(),
            name: workspace.name.clone(),
            ids_below: workspace.reserved.0,
            epochs_below: workspace.reserved.1,
        }));
    }
}

/// Writes a window anew from what its app has sent. Returns the ids that it shows.
pub(crate) fn rewrite(
    workspace: &mut Workspace,
    session: &SessionKey,
    live: &Session,
    now: Now,
) -> Vec<u64> {
    let epoch = workspace.epoch + 1;
    let window = workspace.window(session);
    let (lod, number) = window.map(|window| (window.lod, window.number)).unwrap_or_default();
    let state = WindowStatus::Fresh;
    let (budget, lowered, held, again, known) = (u32::MAX, None, None, false, false);
    let (session, ahead) = (session.clone(), false);
    let shown =
        RequestedWindow { session, lod, budget, lowered, state, number, held, again, known, ahead };
    let (part, differs) = part(workspace, shown, (&live.prototypes, &own_tokens(live)), epoch, now);
    if differs {
        workspace.epoch = epoch;
    }
    part.rendered.map(|rendered| rendered.ids.to_vec()).unwrap_or_default()
}

fn single_exit(parts: &[AnswerWindow]) -> u8 {
    match parts.first().map(|part| &part.state) {
        Some(WindowStatus::Broken(fault)) => fault.code.exit_status(),
        _ => 0,
    }
}

/// The tokens that may pass in a session's text: its own.
fn own_tokens(session: &Session) -> Tokens {
    session.token_prefix.clone().map_or(Tokens::Inert, Tokens::Of)
}
