//! One window as an answer shows it.

use std::rc::Rc;

use pipemux_proto::Incarnation;
use pipemux_proto::projection::Lod;
use pipemux_proto::prototype::Prototype;

use crate::keys::SessionKey;
use crate::views::minter::RenderInput;
use crate::views::prototypes::{compact, declarations};
use crate::views::requested_window::{RequestedWindow, WindowStatus};
use crate::views::trim::trim;
use crate::views::window_renderer::render_window;
use crate::workspaces::anchors::AnchorTable;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::window::NewRendering;
use crate::workspaces::{HeldProjection, Rendered, TitleWord, Window};

/// A window as an answer shows it.
#[derive(Debug)]
pub struct AnswerWindow {
    /// The session that it shows.
    pub session: SessionKey,
    /// Whether it is shown as it is now.
    pub status: WindowStatus,
    /// What was written of it.
    pub rendered: Option<Rc<Rendered>>,
    /// The same with every link's call, where that was asked for.
    pub with_calls: Option<Rc<Rendered>>,
    /// The tokens that it may take.
    pub budget: u32,
    /// What it was written from.
    pub projection: Option<Rc<RawProjection>>,
    /// The process and version that it shows.
    pub version: Option<(Incarnation, u64)>,
    /// What can be done with it, as text.
    pub prototypes: Rc<str>,
    /// Its level of detail.
    pub lod: Lod,
    /// The tokens that it would take, once the level of detail was lowered to fit.
    pub lowered: Option<u64>,
    /// True when its level of detail or budget is for this answer only.
    pub one_off: bool,
}

impl AnswerWindow {
    /// Makes a window of which nothing is shown but its status.
    pub fn without_content(requested: RequestedWindow) -> Self {
        Self {
            session: requested.session,
            status: requested.state,
            rendered: None,
            with_calls: None,
            budget: requested.budget,
            projection: None,
            version: None,
            prototypes: "".into(),
            lod: requested.lod,
            lowered: requested.lowered,
            one_off: false,
        }
    }

    /// Returns what is shown of it: with the links' calls, where these were asked for.
    pub fn shown(&self) -> Option<&Rc<Rendered>> {
        self.with_calls.as_ref().or(self.rendered.as_ref())
    }

    fn set_busy(&mut self, window: &Window) {
        self.status = WindowStatus::Busy;
        self.rendered = window.rendered.as_ref().map(|(_, rendered)| rendered.clone());
    }
}

/// Writes a window for an answer. Returns also what was rendered for it, unless the last rendering was of the
/// same projection.
pub fn write_window(
    window: &Window,
    mut requested: RequestedWindow,
    input: RenderInput<'_>,
    anchors: &mut AnchorTable,
) -> (AnswerWindow, Option<NewRendering>) {
    let held = requested.held.take();
    let mut answer = AnswerWindow::without_content(requested);
    if answer.status == WindowStatus::Busy {
        answer.set_busy(window);
        return (answer, None);
    }
    let held = newest(window, held);
    if held.as_ref().is_some_and(|held| is_overtaken(window, held)) {
        answer.set_busy(window);
        return (answer, None);
    }
    let Some(held) = held.filter(|_| answer.status == WindowStatus::Fresh) else {
        return (answer, None);
    };
    let HeldProjection { app, projection, .. } = held;
    answer.version = Some((app, projection.version));
    answer.prototypes = write_prototypes(&answer, &projection, input.prototypes);
    answer.projection = Some(projection.clone());
    let previous = match &window.rendered {
        // An unchanged projection keeps its text, and costs nothing.
        Some((source, rendered))
            if Rc::ptr_eq(source, &projection) && has_these_calls(rendered, input) =>
        {
            answer.rendered = Some(rendered.clone());
            return (answer, None);
        }
        other => other.as_ref().map(|(_, rendered)| rendered),
    };
    let pass = render_window(&answer.session, &projection, input, previous, anchors);
    let mut rendered = trim(pass.rendered, u64::from(answer.budget));
    let differs = pass.changed || previous.is_none_or(|previous| **previous != rendered);
    if let Some(previous) = previous.filter(|previous| previous.content == rendered.content) {
        rendered.content = previous.content.clone();
    }
    let rendered = Rc::new(rendered);
    answer.rendered = Some(rendered.clone());
    let (lod, conflicts) = (answer.lod, pass.conflicts);
    (answer, Some(NewRendering { app, lod, projection, rendered, differs, conflicts }))
}

/// Returns true when a rendering shows calls as they would be written now.
fn has_these_calls(rendered: &Rendered, input: RenderInput<'_>) -> bool {
    let is_same =
        |word: &TitleWord| input.shared.qualifies(&word.word, word.is_name) == word.qualified;
    rendered.show_calls == input.show_calls && rendered.words.iter().all(is_same)
}

/// Writes a window once more, with every link's call.
pub fn write_calls(window: &mut AnswerWindow, input: RenderInput<'_>, anchors: &mut AnchorTable) {
    if let Some(projection) = &window.projection {
        let input = RenderInput { show_calls: true, ..input };
        let pass = render_window(&window.session, projection, input, None, anchors);
        window.with_calls = Some(Rc::new(trim(pass.rendered, u64::from(window.budget))));
    }
}

/// Returns what an app sent for an answer, or what it sent later: while this answer waited for a slow app,
/// another one may have shown a newer version, or one of a later process.
fn newest(window: &Window, held: Option<HeldProjection>) -> Option<HeldProjection> {
    let newer = window.projection.clone().filter(|own| {
        held.as_ref().is_none_or(|held| {
            let version = |held: &HeldProjection| (held.app, held.projection.version);
            own.lod == held.lod && own.budget == held.budget && version(own) > version(held)
        })
    });
    newer.or(held)
}

/// Returns true when a newer version than this one was rendered.
fn is_overtaken(window: &Window, held: &HeldProjection) -> bool {
    let version = (held.app, held.projection.version);
    window.rendered.is_some()
        && window.context.counted.is_some_and(|(app, rendered, _)| (app, rendered) > version)
}

fn write_prototypes(
    answer: &AnswerWindow,
    projection: &RawProjection,
    prototypes: &[Prototype],
) -> Rc<str> {
    let possible = |prototype: &&Prototype| {
        projection.actions.as_ref().is_none_or(|names| names.contains(&prototype.name))
    };
    let possible: Vec<&Prototype> = prototypes.iter().filter(possible).collect();
    match answer.lod {
        Lod::Gist => "".into(),
        Lod::Summary => compact(&answer.session.addr.provider, &possible).into(),
        Lod::Full => declarations(&possible).into(),
    }
}
