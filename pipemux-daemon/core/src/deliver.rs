//! Putting an answer together: minting ids, counting the epoch, comparing with what the reader has.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::app::QuestionKind;
use pipemux_proto::client::{Answer, Body, Format};
use pipemux_proto::projection::{Lod, Projection};
use pipemux_proto::prototype::Prototype;
use pipemux_proto::report::{AnswerOption, Asked, Receipt, Report};
use pipemux_proto::{report, tokens};

use crate::Core;
use crate::act::Acting;
use crate::context::context;
use crate::event::Effect;
use crate::jobs::Task;
use crate::keys::{JobId, SessionKey, WorkspaceKey};
use crate::limits::BLOCK;
use crate::render::answer;
use crate::render::delta::{Delta, delta};
use crate::render::prototypes::{compact, declarations};
use crate::render::window::{Painter, Rendered};
use crate::saved::Record;
use crate::verbs::act_exit_status;
use crate::verbs::show::{Head, Showing, Shown, State};
use crate::workspace::{Delivery, Seen, Workspace};

/// A window as it goes into an answer.
struct Part {
    session: SessionKey,
    state: State,
    rendered: Option<Rc<Rendered>>,
    projection: Option<Rc<Projection>>,
    /// As a window shows them.
    prototypes: Rc<str>,
    lod: Lod,
    lowered: bool,
}

impl Core {
    /// Answers a request whose windows have all come, or won't.
    pub(crate) fn finish_show(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let Task::Showing(showing) = std::mem::replace(&mut job.task, Task::Moving) else { return };
        let (at, reader) = (job.workspace.clone(), job.call.reader.clone());
        let (format, budget) = (job.call.format, job.call.budget);
        let Showing { windows, head } = *showing;
        let now = self.now;
        let Some(workspace) = self.workspaces.get_mut(&at) else { return };
        workspace.reader(&reader, now);

        let epoch = workspace.epoch + 1;
        let mut changed = false;
        let mut parts = Vec::new();
        for shown in windows {
            let prototypes = self.sessions.get(&shown.session).map(|s| s.prototypes.clone());
            let prototypes = prototypes.unwrap_or_default();
            let (part, differs) = part(workspace, shown, &prototypes, epoch);
            changed |= differs;
            parts.push(part);
        }
        let mut acted = None;
        if let Head::Act(acting) = &head {
            let (text, asked, minted) = outcome(workspace, &self.sessions, acting, epoch);
            changed |= minted;
            acted = Some((text, asked));
        }
        if changed {
            workspace.epoch = epoch;
        }
        workspace.anchors.forget(workspace.epoch);
        let news = workspace.news(&reader, now);
        let writer = AnswerText { workspace, reader: &reader, parts: &parts, news: &news, budget };
        let (text, receipt) = match &head {
            Head::Act(acting) => writer.act(acting, acted.as_ref().map_or("", |(text, _)| text)),
            Head::Open { notes } => writer.windows(notes, false),
            Head::Workspace => writer.windows(&[], true),
            Head::Window => writer.windows(&[], false),
        };
        let exit = match &head {
            Head::Act(acting) => act_exit_status(acting),
            Head::Workspace => 0,
            Head::Open { .. } | Head::Window => single_exit(&parts),
        };
        let body = match format {
            Format::Markdown => Body::Text(text),
            Format::Json => {
                let acting = if let Head::Act(acting) = &head { Some(&**acting) } else { None };
                let asked = acted.and_then(|(_, asked)| asked);
                let mut report = make_report(workspace, &parts, acting, asked, now);
                report.notices = news;
                report.receipt = receipt;
                Body::Report(Box::new(report))
            }
        };
        let number = self.next_local();
        self.deliver_to(&at, &reader, number, parts);
        self.reserve(&at);
        self.deliveries.insert(number, (at, reader));
        self.answer(id, Answer { exit, body, delivery: number });
    }

    /// Remembers what an answer shows until the reader confirms it.
    fn deliver_to(&mut self, at: &WorkspaceKey, reader: &str, number: u64, parts: Vec<Part>) {
        let now = self.now;
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        let (epoch, noticed) = (workspace.epoch, workspace.noticed);
        let mut seen = Vec::new();
        for part in parts.into_iter().filter(|part| part.state == State::Fresh) {
            let window = workspace.window(&part.session);
            let held = window.and_then(|window| window.projection.as_ref());
            if let (Some(held), Some(rendered)) = (held, part.rendered) {
                let (app, version) = (held.app, held.projection.version);
                let prototypes = part.prototypes;
                seen.push((part.session, Seen { epoch, app, version, rendered, prototypes }));
            }
        }
        workspace.reader(reader, now).deliver(Delivery { number, seen, noticed });
    }

    /// A reader has an answer.
    pub(crate) fn handle_seen(&mut self, number: u64) {
        if let Some((at, reader)) = self.deliveries.remove(&number)
            && let Some(workspace) = self.workspaces.get_mut(&at)
        {
            workspace.confirm(&reader, number);
        }
        // Unconfirmed ones are forgotten in the order they were made.
        while self.deliveries.len() > crate::limits::CLIENTS_MAX {
            self.deliveries.pop_first();
        }
    }

    /// Reserves ids and epochs on disk before an answer that uses them goes out.
    pub(crate) fn reserve(&mut self, at: &WorkspaceKey) {
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        let (ids, epochs) = (workspace.anchors.next_id(), workspace.epoch + 1);
        let (ids_below, epochs_below) = workspace.reserved;
        if ids <= ids_below && epochs <= epochs_below {
            return;
        }
        workspace.reserved = (
            if ids > ids_below { ids + BLOCK } else { ids_below },
            if epochs > epochs_below { epochs + BLOCK } else { epochs_below },
        );
        self.out.push(Effect::Persist(Record::Workspace {
            key: at.to_string(),
            name: workspace.name.clone(),
            ids_below: workspace.reserved.0,
            epochs_below: workspace.reserved.1,
        }));
    }
}

/// Writes one window. Returns also whether anything of it is new.
fn part(
    workspace: &mut Workspace,
    shown: Shown,
    prototypes: &[Prototype],
    epoch: u64,
) -> (Part, bool) {
    let Shown { session, lod, lowered, state, .. } = shown;
    let provider = session.addr.provider.clone();
    let mut part = Part {
        prototypes: "".into(),
        rendered: None,
        projection: None,
        state,
        session,
        lod,
        lowered,
    };
    let Some(window) = workspace.windows.iter_mut().find(|w| w.session == part.session) else {
        return (part, false);
    };
    if part.state == State::Busy {
        part.rendered = window.rendered.as_ref().map(|(_, rendered)| rendered.clone());
        return (part, false);
    }
    let Some(held) = window.projection.clone().filter(|_| part.state == State::Fresh) else {
        return (part, false);
    };
    let projection = held.projection;
    let visible: Vec<&Prototype> = prototypes
        .iter()
        .filter(|p| projection.actions.as_ref().is_none_or(|names| names.contains(&p.name)))
        .collect();
    part.prototypes = match lod {
        Lod::Gist => "".into(),
        Lod::Summary => compact(&provider, &visible).into(),
        Lod::Full => declarations(&visible).into(),
    };
    part.projection = Some(projection.clone());
    if let Some((of, rendered)) = &window.rendered {
        // An unchanged projection keeps its bytes and costs nothing.
        if Rc::ptr_eq(of, &projection) {
            part.rendered = Some(rendered.clone());
            return (part, false);
        }
    }
    let mut painter = Painter::new(&part.session, &mut workspace.anchors, prototypes, epoch);
    let rendered = painter.window(&projection);
    let differs =
        painter.changed || window.rendered.as_ref().is_none_or(|(_, before)| **before != rendered);
    window.context.count(held.app, projection.version, lod, differs);
    let rendered = Rc::new(rendered);
    window.rendered = Some((projection, rendered.clone()));
    part.rendered = Some(rendered);
    (part, differs)
}

/// The text of a run's steps and its question; also whether links were minted for it.
fn outcome(
    workspace: &mut Workspace,
    sessions: &BTreeMap<SessionKey, crate::session::Session>,
    acting: &Acting,
    epoch: u64,
) -> (String, Option<Asked>, bool) {
    let mut minted = false;
    let anchors = &mut workspace.anchors;
    let mut text = answer::steps(acting, |ended, index| {
        let session = &acting.steps[index].session;
        let none = Rc::new(Vec::new());
        let prototypes = sessions.get(session).map_or(&none, |session| &session.prototypes);
        let mut painter = Painter::new(session, anchors, prototypes, epoch);
        let links = ended.links.iter().map(|link| painter.link(link, true)).collect();
        minted |= painter.changed;
        links
    });
    let Some(number) = acting.question else { return (text, None, minted) };
    let Some(open) = workspace.questions.get(&number) else { return (text, None, minted) };
    let asks = &open.needs.question;
    let session = &acting.steps[acting.next].session;
    let mut painter = Painter::new(session, anchors, &[], epoch);
    let (title, ways) = (open.title(), open.ways());
    let later = answer::later(acting, acting.next + 1);
    let (asked_text, links) = answer::question(&mut painter, number, &title, asks, &later, &ways);
    text += &asked_text;
    let asked = Asked {
        id: number,
        text: title,
        options: match asks.kind {
            QuestionKind::Text => Vec::new(),
            _ => links
                .into_iter()
                .map(|(label, id)| AnswerOption { label, link: format!("link:{id}") })
                .collect(),
        },
        unlisted: asks.unlisted,
        hints: ways.iter().map(|way| format!("pipemux answer {way}")).collect(),
    };
    (text, Some(asked), true)
}

fn single_exit(parts: &[Part]) -> u8 {
    match parts.first().map(|part| &part.state) {
        Some(State::Broken(fault)) => fault.code.exit_status(),
        _ => 0,
    }
}

/// What an answer is written from.
struct AnswerText<'a> {
    workspace: &'a Workspace,
    reader: &'a str,
    parts: &'a [Part],
    news: &'a [String],
    budget: Option<u32>,
}

impl AnswerText<'_> {
    /// Windows in full: `open` and `view`.
    fn windows(&self, notes: &[String], whole: bool) -> (String, Receipt) {
        let mut out = self.notices();
        for note in notes {
            out += &format!("{note}\n");
        }
        let mut cut = None;
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 || !out.is_empty() {
                out.push('\n');
            }
            out += &self.window(part, whole);
            let hidden = part.rendered.as_ref().is_some_and(|rendered| rendered.hidden_tokens > 0);
            if part.lowered || (self.budget.is_some() && hidden) {
                cut = Some(&part.session);
            }
        }
        if self.parts.is_empty() {
            out += "0 windows · pipemux apps · pipemux open <app>\n";
        }
        if let (Some(session), Some(budget)) = (cut, self.budget) {
            out += &format!(
                "cut to fit {budget} tokens; all of a window: pipemux view {session} --lod full\n"
            );
        } else if let Some(session) = cut {
            out += &format!("less detail, to fit; all of it: pipemux view {session} --lod full\n");
        }
        let position = match self.parts {
            [part] => part.rendered.as_ref().and_then(|r| r.position.as_deref()),
            _ => None,
        };
        self.finish(out, position, true)
    }

    fn window(&self, part: &Part, whole: bool) -> String {
        let suffix = match &part.state {
            State::Broken(fault) => {
                let refusal = answer::refusal(fault);
                return format!("## {}\n{refusal}", part.session);
            }
            State::Busy | State::Waiting => " · busy, as it was before",
            State::Fresh => "",
        };
        let Some(rendered) = &part.rendered else {
            return format!("## {}{suffix}\n", part.session);
        };
        let seen = self.workspace.seen(self.reader, &part.session);
        let known = seen.is_some_and(|seen| seen.prototypes == part.prototypes);
        // They are shown once, and again when they change or the window is asked for by itself.
        let prototypes = if known && whole { "" } else { &*part.prototypes };
        let body = rendered.body(prototypes);
        match suffix {
            "" => body,
            suffix => body.replacen('\n', &format!("{suffix}\n"), 1),
        }
    }

    /// A run: what came of it, then what changed.
    fn act(&self, acting: &Acting, outcome: &str) -> (String, Receipt) {
        let mut out = self.notices();
        out += outcome;
        let mut position = None;
        for part in self.parts {
            let Some(rendered) = part.rendered.as_ref().filter(|_| part.state == State::Fresh)
            else {
                if part.state == State::Busy {
                    out += &format!("\n{} is busy: pipemux view {}\n", part.session, part.session);
                }
                continue;
            };
            let seen = self.workspace.seen(self.reader, &part.session);
            let changed = match seen {
                Some(seen) => delta(&seen.rendered, rendered, !self.own(acting, part)),
                None => Delta::Whole,
            };
            match changed {
                Delta::Same => {}
                Delta::Lines(lines) => out += &format!("\n{lines}"),
                Delta::Whole => {
                    position = rendered.position.as_deref();
                    out += &format!("\n{}", self.window(part, true));
                }
            }
        }
        self.finish(out, position, false)
    }

    /// True while nobody but this run changed the window since the reader saw it: each step counts
    /// one version.
    fn own(&self, acting: &Acting, part: &Part) -> bool {
        let expected = acting.expected.get(&part.session).copied();
        acting.own && part.projection.as_ref().map(|projection| projection.version) == expected
    }

    fn notices(&self) -> String {
        self.news.iter().map(|news| format!("{news}\n")).collect()
    }

    /// Adds the last line: place, workspace, epoch, receipt.
    fn finish(&self, mut out: String, position: Option<&str>, named: bool) -> (String, Receipt) {
        let available = self
            .parts
            .iter()
            .filter_map(|part| part.rendered.as_ref())
            .map(|rendered| rendered.tokens() + rendered.hidden_tokens)
            .sum::<u64>();
        let mut last = position.map_or(String::new(), |position| format!("{position} · "));
        if named {
            last += &format!("workspace {} · ", self.workspace.name);
        }
        last += &format!("e{} · ", self.workspace.epoch);
        let shown = tokens::estimate(&out) + tokens::estimate(&last) + 8;
        let receipt = Receipt { shown, available: available.max(shown) };
        out += &format!("{last}{} of {} tokens\n", receipt.shown, receipt.available);
        (out, receipt)
    }
}

fn make_report(
    workspace: &Workspace,
    parts: &[Part],
    acting: Option<&Acting>,
    question: Option<Asked>,
    now: crate::Now,
) -> Report {
    let steps = acting.map_or(Vec::new(), |acting| {
        let step = |(index, step): (usize, &crate::act::Step)| {
            let call = step.call.clone();
            match acting.done.get(index) {
                Some(ended) => report::Step {
                    call,
                    status: ended.status,
                    brief: ended.brief.clone(),
                    detail: ended.detail.clone(),
                    value: ended.value.as_ref().and_then(|blob| blob.to_value().ok()),
                    error: ended.fault.clone(),
                },
                None => {
                    let asks = acting.question.is_some() && index == acting.next;
                    let status = if asks { report::Status::Needs } else { report::Status::Skipped };
                    let brief = String::new();
                    report::Step { call, status, brief, detail: None, value: None, error: None }
                }
            }
        };
        acting.steps.iter().enumerate().map(step).collect()
    });
    let windows = parts
        .iter()
        .filter_map(|part| {
            let (rendered, projection) = (part.rendered.as_ref()?, part.projection.as_ref()?);
            let window = workspace.window(&part.session)?;
            Some(context(workspace, window, rendered, projection, part.lod, now))
        })
        .collect();
    let error = match parts {
        [Part { state: State::Broken(fault), .. }] if acting.is_none() => Some((**fault).clone()),
        _ => None,
    };
    Report {
        workspace: workspace.name.clone(),
        epoch: workspace.epoch,
        steps,
        question,
        windows,
        notices: Vec::new(),
        error,
        receipt: Receipt::default(),
    }
}
