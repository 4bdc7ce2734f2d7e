//! One window as it goes into an answer.

use std::rc::Rc;

use pipemux_proto::Incarnation;
use pipemux_proto::projection::Lod;
use pipemux_proto::prototype::Prototype;

use crate::event::Now;
use crate::keys::SessionKey;
use crate::verbs::show::{RequestedWindow, WindowStatus};
use crate::views::inert::Tokens;
use crate::views::prototypes::{compact, declarations};
use crate::views::trim::trim;
use crate::views::window_renderer::{Rendered, WindowRenderer};
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{HeldProjection, Workspace};

/// A window as it goes into an answer.
pub struct AnswerWindow {
    pub session: SessionKey,
    pub state: WindowStatus,
    pub rendered: Option<Rc<Rendered>>,
    /// The same with every link's call, where that was asked for.
    pub titled: Option<Rc<Rendered>>,
    /// The tokens that it may take.
    pub budget: u32,
    pub projection: Option<Rc<RawProjection>>,
    /// The process and version that it shows.
    pub shows: Option<(Incarnation, u64)>,
    /// As a window shows them.
    pub prototypes: Rc<str>,
    pub lod: Lod,
    /// The tokens that it would take, once the level of detail was lowered to fit.
    pub lowered: Option<u64>,
    /// True when its detail or budget holds for this answer only.
    pub one_off: bool,
}

impl AnswerWindow {
    /// What is shown of it: with the links' calls, where these were asked for.
    pub fn written(&self) -> Option<&Rc<Rendered>> {
        self.titled.as_ref().or(self.rendered.as_ref())
    }
}

/// Writes one window. Returns also whether anything of it is new.
pub fn part(
    workspace: &mut Workspace,
    shown: RequestedWindow,
    (prototypes, tokens): (&[Prototype], &Tokens),
    epoch: u64,
    now: Now,
) -> (AnswerWindow, bool) {
    let RequestedWindow { session, lod, budget, lowered, held, state, .. } = shown;
    let provider = session.addr.provider.clone();
    let mut part = AnswerWindow {
        prototypes: "".into(),
        rendered: None,
        titled: None,
        budget,
        projection: None,
        shows: None,
        state,
        session,
        lod,
        lowered,
        one_off: false,
    };
    let Some(window) = workspace.windows.get_mut(&part.session) else {
        return (part, false);
    };
    if part.state == WindowStatus::Busy {
        part.rendered = window.rendered.as_ref().map(|(_, rendered)| rendered.clone());
        return (part, false);
    }
    // Another answer may have shown a newer version, or a later life's, while this one waited for a slow
    // app.
    let newer = window.projection.clone().filter(|own| {
        held.as_ref().is_none_or(|held| {
            let of = |held: &HeldProjection| (held.app, held.projection.version);
            own.lod == held.lod && own.budget == held.budget && of(own) > of(held)
        })
    });
    let held = newer.or(held);
    let past = |held: &HeldProjection| {
        let of = (held.app, held.projection.version);
        window.context.of.is_some_and(|(app, version, _)| (app, version) > of)
    };
    if window.rendered.is_some() && held.as_ref().is_some_and(past) {
        part.state = WindowStatus::Busy;
        part.rendered = window.rendered.as_ref().map(|(_, rendered)| rendered.clone());
        return (part, false);
    }
    let Some(held) = held.filter(|_| part.state == WindowStatus::Fresh) else {
        return (part, false);
    };
    part.shows = Some((held.app, held.projection.version));
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
    let mut renderer =
        WindowRenderer::new(&part.session, &mut workspace.anchors, prototypes, epoch);
    renderer.tokens = tokens.clone();
    let before = window.rendered.as_ref().map(|(_, before)| before);
    renderer.before = before.cloned();
    let slots = projection.slots();
    let drawn = renderer.window(&projection, &slots.nav, projection.pieces(&slots));
    let mut rendered = trim(drawn, u64::from(budget));
    let differs = renderer.changed || before.is_none_or(|before| **before != rendered);
    if let Some(before) = before.filter(|before| before.content == rendered.content) {
        rendered.content = before.content.clone();
    }
    window.context.count((held.app, projection.version, lod), differs, now);
    let major = window.context.major;
    let conflicts = std::mem::take(&mut renderer.conflicts);
    let fresh: Vec<String> =
        conflicts.into_iter().filter(|key| !window.conflicts.contains(key)).take(8).collect();
    window.conflicts.extend(fresh.iter().cloned());
    let session = part.session.to_string();
    let rendered = Rc::new(rendered);
    window.rendered = Some((projection, rendered.clone()));
    part.rendered = Some(rendered);
    workspace.count_version(major);
    for key in fresh {
        let text = format!("{session} shows two things under the key {key}: the first one is kept");
        workspace.notify(text, now);
    }
    (part, differs)
}

/// Writes a window once more with every link's call.
pub fn titled(
    workspace: &mut Workspace,
    part: &mut AnswerWindow,
    (prototypes, tokens): (&[Prototype], &Tokens),
    epoch: u64,
) {
    if let Some(projection) = &part.projection {
        let mut renderer =
            WindowRenderer::new(&part.session, &mut workspace.anchors, prototypes, epoch);
        renderer.tokens = tokens.clone();
        renderer.titles = true;
        let slots = projection.slots();
        let drawn = renderer.window(projection, &slots.nav, projection.pieces(&slots));
        part.titled = Some(Rc::new(trim(drawn, u64::from(part.budget))));
    }
}
