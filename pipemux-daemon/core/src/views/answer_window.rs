//! One window as an answer shows it.

use std::borrow::Cow;
use std::rc::Rc;

use pipemux_proto::projection::Lod;
use pipemux_proto::prototype::Prototype;
use pipemux_proto::{Fault, Incarnation, ProviderId};

use crate::keys::SessionKey;
use crate::limits::{BUDGET_MAX, FULL_BUDGET, WINDOW_BUDGET};
use crate::views::answer::refusal;
use crate::views::minter::RenderInput;
use crate::views::prototypes::{compact, declarations, possible};
use crate::views::requested_window::{RequestedWindow, WindowStatus};
use crate::views::shown_lines::whole_window;
use crate::views::trim::trim;
use crate::views::window_renderer::render_window;
use crate::workspaces::anchors::AnchorTable;
use crate::workspaces::context_errors::context_too_large;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::window::NewRendering;
use crate::workspaces::{HeldProjection, LineUpdate, Rendered, ShownContent, TitleWord, Window};

/// A window as an answer shows it.
#[derive(Debug, Clone)]
pub struct AnswerWindow {
    pub session: SessionKey,
    /// The status, which says whether the window is current.
    pub status: WindowStatus,
    /// The rendered window.
    pub rendered: Option<Rc<Rendered>>,
    /// The rendered window with the call of every link, if requested.
    pub with_calls: Option<Rc<Rendered>>,
    /// The base for later comparisons if the answer may be partial; else the rendered window.
    pub base: Option<Rc<Rendered>>,
    /// The window's token budget.
    pub budget: u32,
    /// The projection from which the window was rendered.
    pub projection: Option<Rc<RawProjection>>,
    /// The process and version that the window shows.
    pub version: Option<(Incarnation, u64)>,
    /// The process and version of an older window that is shown instead, if known.
    pub older_version: Option<(Incarnation, u64)>,
    /// The text of the session's prototypes.
    pub prototypes: Rc<str>,
    pub lod: Lod,
    /// The full token count, if the level of detail was lowered to fit.
    pub lowered: Option<u64>,
    /// True when its level of detail or budget is for this answer only.
    pub one_off: bool,
    /// True when the window is shown with a budget other than its own, such as its share of the
    /// workspace's. Of data that its reader has already seen, such a view changes nothing.
    pub peek: bool,
    /// The tokens that it may take together with its prototypes: its share of a budget that the
    /// request named, or the budget that was set for it.
    pub room: u64,
    /// One line for each running job of the session.
    pub jobs: String,
}

impl AnswerWindow {
    /// Makes a window of which nothing is shown but its status.
    pub fn without_content(requested: RequestedWindow) -> Self {
        Self {
            session: requested.session,
            status: requested.state,
            rendered: None,
            with_calls: None,
            base: None,
            budget: requested.budget,
            projection: None,
            version: None,
            older_version: None,
            prototypes: "".into(),
            lod: requested.lod,
            lowered: requested.lowered,
            one_off: false,
            peek: false,
            room: u64::MAX,
            jobs: String::new(),
        }
    }

    /// Returns what its Context counts.
    pub fn shown_content(&self) -> Option<ShownContent> {
        match &self.status {
            WindowStatus::Fresh => {
                let ((app, data), rendered) = (self.version?, self.rendered.clone()?);
                let fits = self.prototypes_fit(&rendered);
                Some(ShownContent::Window { app, data, lod: self.lod, rendered, fits })
            }
            WindowStatus::Waiting | WindowStatus::Busy => {
                Some(ShownContent::Busy(self.rendered.clone()))
            }
            WindowStatus::Broken(fault) => Some(ShownContent::Diagnosis(refusal(fault))),
        }
    }

    /// Returns its prototypes or, where there is no room for them, the command that shows them.
    pub fn fitting_prototypes(&self, rendered: &Rendered) -> Cow<'_, str> {
        if self.prototypes_fit(rendered) {
            return Cow::Borrowed(&self.prototypes);
        }
        format!("actions: pipemux help {}\n", self.session.addr.provider).into()
    }

    fn prototypes_fit(&self, rendered: &Rendered) -> bool {
        // Without a budget they may take as much as a window at this level of detail.
        let usual = if self.lod == Lod::Full { FULL_BUDGET } else { WINDOW_BUDGET };
        self.prototypes.is_empty()
            || (self.room == u64::MAX && pipemux_tokens::estimate(&self.prototypes) <= usual.into())
            || (self.room != u64::MAX
                && rendered.tokens + pipemux_tokens::estimate(&self.prototypes) <= self.room)
    }

    /// Returns the error of a window whose level of detail was lowered to fit its budget.
    pub fn too_large(&self) -> Option<Fault> {
        let tokens = self.lowered?;
        // The daemon's own text around the content takes tokens, too.
        let enough = tokens.saturating_add(tokens / 4 + 100).min(u64::from(BUDGET_MAX));
        let command = format!("pipemux view {} --lod full --budget {enough}", self.session);
        Some(context_too_large(&self.session, tokens, command))
    }

    /// Returns what is shown of it: with the links' calls, where these were asked for.
    pub fn shown(&self) -> Option<&Rc<Rendered>> {
        self.with_calls.as_ref().or(self.rendered.as_ref())
    }

    /// Returns what it says of line numbers when all of it is shown.
    pub fn line_updates(&self) -> Vec<(SessionKey, LineUpdate)> {
        let version = self.version.or(self.older_version);
        let rendered = self.rendered.iter();
        let updates = rendered.clone().flat_map(|rendered| whole_window(rendered, version));
        let own = updates.map(|update| (self.session.clone(), update));
        let embedded = rendered.flat_map(|rendered| rendered.embeds.line_updates());
        own.chain(embedded.map(|(session, update)| (session.clone(), update))).collect()
    }

    /// Has later windows compared with all of it, also if this answer shows only a part.
    pub fn keep_base(&mut self) {
        self.base = self.rendered.clone();
    }

    /// Returns true when an answer shows a part of it that later windows aren't compared with.
    pub fn is_cut(&self) -> bool {
        match (&self.base, &self.rendered) {
            (Some(base), Some(shown)) => !Rc::ptr_eq(base, shown),
            _ => false,
        }
    }

    /// Returns true when lines that its app sent found no room in its budget.
    pub fn is_trimmed(&self) -> bool {
        let (Some(rendered), Some(projection)) = (self.shown(), &self.projection) else {
            return false;
        };
        let embedded = rendered.embeds.windows().map(|window| window.rendered.hidden_tokens);
        let left_out = embedded.fold(projection.hidden_tokens, u64::saturating_add);
        self.lowered.is_none() && rendered.hidden_tokens > left_out
    }

    /// Returns true when it, shown whole, tells what can be done with another window of its app.
    pub fn tells_prototypes_of(&self, other: &Self) -> bool {
        let is_told = |rendered: &Rc<Rendered>| self.prototypes_fit(rendered);
        self.session.addr.provider == other.session.addr.provider
            && self.prototypes == other.prototypes
            && self.shown().is_some_and(is_told)
    }

    fn set_busy(&mut self, window: &Window, is_overtaken: bool) {
        if (window.rendered.is_some() || is_overtaken) && !window.can_be_shown_as_it_was() {
            let why = format!("{} has changed, and did not answer in time", self.session);
            let fault = Fault::unavailable(why).hint(format!("pipemux view {}", self.session));
            self.status = WindowStatus::Broken(Box::new(fault));
            return;
        }
        self.status = WindowStatus::Busy;
        self.rendered = window.rendered.as_ref().map(|(_, rendered)| rendered.clone());
        self.older_version = window.context.counted.map(|(app, version, _)| (app, version));
    }
}

/// Writes a window for an answer. Returns also what was rendered for it, unless the last rendering
/// was of the same projection.
pub fn write_window(
    window: &Window,
    mut requested: RequestedWindow,
    input: RenderInput<'_>,
    anchors: &mut AnchorTable,
) -> (AnswerWindow, Option<NewRendering>) {
    let held = requested.held.take();
    let mut answer = AnswerWindow::without_content(requested);
    if answer.status == WindowStatus::Busy {
        answer.set_busy(window, false);
        return (answer, None);
    }
    let held = newest(window, held);
    if held.as_ref().is_some_and(|held| is_overtaken(window, held)) {
        answer.set_busy(window, true);
        return (answer, None);
    }
    let Some(held) = held.filter(|_| answer.status == WindowStatus::Fresh) else {
        return (answer, None);
    };
    let HeldProjection { app, projection, .. } = held;
    answer.version = Some((app, projection.version));
    answer.projection = Some(projection.clone());
    let previous = match &window.rendered {
        // An unchanged projection keeps its text, and costs nothing; but its refs may stand for
        // what another reader was shown since.
        Some((source, rendered))
            if Rc::ptr_eq(source, &projection)
                && !window.is_outdated()
                && has_these_calls(rendered, input)
                && rendered.embeds.are(input.embeds) =>
        {
            answer.rendered = Some(rendered.clone());
            return (answer, None);
        }
        other => other.as_ref().map(|(_, rendered)| rendered),
    };
    let pass = render_window(&answer.session, &projection, input, previous, anchors);
    let mut rendered = trim(pass.rendered, u64::from(answer.budget));
    let differs = previous.is_none_or(|previous| **previous != rendered);
    if let Some(previous) = previous.filter(|previous| previous.content == rendered.content) {
        rendered.content = previous.content.clone();
    }
    let rendered = Rc::new(rendered);
    answer.rendered = Some(rendered.clone());
    let lod = answer.lod;
    (answer, Some(NewRendering { lod, projection, rendered, minted: pass.changed, differs }))
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

/// Returns the projection that a window is written from for an answer.
pub fn window_to_write(window: &Window, requested: &RequestedWindow) -> Option<Rc<RawProjection>> {
    newest(window, requested.held.clone()).map(|held| held.projection)
}

/// Returns the newest projection for an answer. While the answer waited for a slow app, another
/// answer may have shown a newer version, or one of a later process.
fn newest(window: &Window, held: Option<HeldProjection>) -> Option<HeldProjection> {
    let newer = window.projection.clone().filter(|own| {
        held.as_ref().is_none_or(|held| {
            let version = |held: &HeldProjection| (held.app, held.projection.version);
            own.lod == held.lod && own.budget == held.budget && version(own) > version(held)
        })
    });
    newer.or(held)
}

/// Returns true when a newer version than this one was rendered, for this reader or another one.
pub fn is_overtaken(window: &Window, held: &HeldProjection) -> bool {
    let version = (held.app, held.projection.version);
    window.context.counted.is_some_and(|(app, rendered, _)| (app, rendered) > version)
}

/// Writes what can be done with a window, of which `names` says what is possible now.
pub fn write_prototypes(
    provider: &ProviderId,
    prototypes: &[Prototype],
    names: Option<&[String]>,
    lod: Lod,
) -> Rc<str> {
    let possible: Vec<&Prototype> = possible(prototypes, names).collect();
    match lod {
        Lod::Gist => "".into(),
        Lod::Summary => compact(provider, &possible).into(),
        Lod::Full => declarations(&possible).into(),
    }
}
