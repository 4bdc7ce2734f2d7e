//! Minting ids for what one session shows, and writing links with them.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use pipemux_proto::Incarnation;
use pipemux_proto::projection::{Arg, ObjectRef};
use pipemux_proto::prototype::{Param, Prototype, Risk};
use pipemux_proto::refs::{Ref, RefKind};

use rustc_hash::FxHashMap;

use crate::foreign::{ForeignStr, LinkSlot, ObjectSlot};
use crate::keys::SessionKey;
use crate::views::inert::{self, RefTokens, Writer};
use crate::views::link_title::{ALL_WORDS, SharedWords, TitleWriter};
use crate::views::media::media_words;
use crate::workspaces::anchors::{
    AnchorQuery, AnchorTable, Appearance, Minted, SessionIndex, StateVersion, open_params,
    open_params_of_call,
};
use crate::workspaces::link_code::link_call;
use crate::workspaces::{Embed, TitleWord};

/// The input of rendering from the app and from the answer being written.
#[derive(Debug, Clone, Copy)]
pub struct RenderInput<'a> {
    /// The app's prototypes.
    pub prototypes: &'a [Prototype],
    /// The ref tokens that are allowed in the app's text.
    pub tokens: RefTokens<'a>,
    /// The epoch of the answer.
    pub epoch: u64,
    /// True when every link shows its call.
    pub show_calls: bool,
    /// The words that need a session name in calls.
    pub shared: &'a SharedWords,
    /// The embedded windows of other sessions.
    pub embeds: &'a [Embed],
}

impl<'a> RenderInput<'a> {
    /// Makes the input for links beside a window.
    pub fn of_links(prototypes: &'a [Prototype], epoch: u64) -> Self {
        let tokens = RefTokens::None;
        Self { prototypes, tokens, epoch, show_calls: false, shared: &ALL_WORDS, embeds: &[] }
    }
}

/// Mints ids for one session in one epoch, and remembers which.
#[derive(Debug)]
pub struct Minter<'a> {
    session: &'a SessionKey,
    input: RenderInput<'a>,
    anchors: &'a mut AnchorTable,
    index: SessionIndex,
    ids: Vec<u64>,
    changed: bool,
    words: BTreeSet<TitleWord>,
    /// True while a window is written that another one shows.
    embedded: bool,
    /// The prototypes by name, built when a link asks for one of many.
    prototypes: OnceCell<FxHashMap<&'a str, &'a Prototype>>,
}

/// Prototypes that are looked through faster than an index is made.
const FEW_PROTOTYPES: usize = 32;

impl<'a> Minter<'a> {
    /// Makes a minter for a session.
    pub fn new(
        session: &'a SessionKey,
        input: RenderInput<'a>,
        anchors: &'a mut AnchorTable,
    ) -> Self {
        let index = anchors.session_index(session);
        Self {
            session,
            input,
            anchors,
            index,
            ids: Vec::new(),
            changed: false,
            words: BTreeSet::new(),
            embedded: false,
            prototypes: OnceCell::new(),
        }
    }

    /// Mints for a window that another one shows: what it mints isn't shown by the session's own
    /// window.
    #[must_use]
    pub(super) fn embedded(self) -> Self {
        Self { embedded: true, ..self }
    }

    /// Takes the ids that were minted, in order.
    pub(super) fn take_ids(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.ids)
    }

    /// Adds the ids that the window shows of another session's window.
    pub(super) fn show_embedded(&mut self, ids: &[u64]) {
        self.ids.extend_from_slice(ids);
    }

    /// Returns true once something new was minted or a meaning changed.
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// Begins a window: nothing that the session showed before counts as shown, until it is minted
    /// again.
    pub(super) fn begin_window(&mut self, expected_ids: usize) {
        self.anchors.hide_session(self.session, self.input.epoch);
        self.ids.reserve(expected_ids);
    }

    /// Ends a window. Returns the ids that it shows, in order.
    pub(super) fn end_window(&mut self) -> Vec<u64> {
        self.anchors.end_render_pass(self.index);
        std::mem::take(&mut self.ids)
    }

    /// Mints the id of an object. `listed` is true for an object in the window's content: any other
    /// isn't shown by its id.
    pub(super) fn mint_object(
        &mut self,
        object: ObjectRef<'_, ForeignStr<'_>>,
        listed: bool,
    ) -> Minted {
        let appearance = Appearance {
            rev: object.rev,
            ty: object.ty,
            label: object.label,
            listed,
            ..Appearance::default()
        };
        let minted = self.mint(AnchorQuery::Object(object.key), appearance);
        if !listed {
            self.ids.pop();
        } else if object.show_key && !minted.conflict {
            self.anchors.show_key(minted.id);
        }
        minted
    }

    /// Mints the id of an object before it is listed, because the call of a link before it names
    /// the object.
    pub(super) fn mint_early(&mut self, object: ObjectRef<'_, ForeignStr<'_>>) {
        let id = self.mint_object(object, false).id;
        if object.show_key {
            self.anchors.show_key(id);
        }
    }

    /// Returns the ref to an object as windows show it.
    pub(super) fn written(&self, id: u64) -> Ref {
        self.anchors.written(RefKind::Obj, id)
    }

    /// Writes `[label](obj:23)` for an object of an outcome, which the window need not show.
    pub fn outcome_object(&mut self, object: &ObjectSlot) -> String {
        let appearance = Appearance {
            rev: object.rev,
            ty: object.ty.as_deref(),
            label: object.label.borrow(),
            offered: true,
            ..Appearance::default()
        };
        let minted = self.mint(AnchorQuery::Object(&object.key), appearance);
        let mut writer = Writer::default();
        if minted.conflict {
            writer.label(&object.label);
            return writer.finish();
        }
        writer.raw("[");
        writer.label(&object.label);
        writer.raw(&format!("]({})", self.written(minted.id)));
        if let Some(media) = &object.media {
            writer.raw(&media_words(media.into()));
        }
        writer.finish()
    }

    fn mint(&mut self, query: AnchorQuery<'_>, appearance: Appearance<'_>) -> Minted {
        pipemux_tokens::work::spend(query.length());
        let appearance = Appearance { embedded: self.embedded, ..appearance };
        let minted = self.anchors.mint(self.index, query, appearance, self.input.epoch);
        self.changed |= minted.changed;
        if !minted.conflict {
            self.ids.push(minted.id);
        }
        minted
    }
}

/// Writing links.
impl<'a> Minter<'a> {
    /// Writes `[label](link:42)` of a window, with the call as title where the app asks for it.
    pub fn link(&mut self, link: &LinkSlot) -> String {
        self.write_link(link, false, None)
    }

    /// Writes a link of an outcome, which stays valid after the window's next projection. A link
    /// that changes something without naming its object is bound to the state that the step left:
    /// otherwise an old `undo` would take back whatever came last.
    pub fn outcome_link(&mut self, link: &LinkSlot, state: Option<StateVersion>) -> String {
        let risk = self.prototype(&link.action).map(|prototype| prototype.risk);
        let changes = matches!(risk, Some(Risk::Changes | Risk::Destructive));
        let belongs = changes && !link.lasting && !link.args.values().any(has_ref);
        // Of a step whose version isn't known, nobody can say that nothing has changed since.
        let state = belongs.then(|| state.unwrap_or((Incarnation(0), 0)));
        self.write_link(link, true, state)
    }

    fn write_link(
        &mut self,
        link: &LinkSlot,
        offered: bool,
        state: Option<StateVersion>,
    ) -> String {
        let Some(prototype) = self.prototype(&link.action) else {
            // A link to an action that the app doesn't have would only lead to an error.
            return inert::whole_line(&link.label);
        };
        let open: Vec<&Param> = match &link.code {
            None => open_params(prototype, &link.args).collect(),
            Some(code) => match link_call(code, &link.action, &self.session.addr) {
                Some(call) => open_params_of_call(prototype, &call),
                None => return inert::whole_line(&link.label),
            },
        };
        let open: Vec<String> = open.into_iter().map(|param| param.name.clone()).collect();
        let title = self.shows_call(link).then(|| self.title(link, prototype));
        let appearance = Appearance {
            label: link.label.borrow(),
            offered,
            open: &open,
            ..Appearance::default()
        };
        let code = link.code.as_deref();
        let query = AnchorQuery::Action(&link.action, &link.args, code, state);
        let id = self.mint(query, appearance).id;
        let mut writer = Writer::default();
        writer.raw("[");
        writer.label(&link.label);
        writer.raw(&format!("](link:{id}"));
        if let Some(title) = title {
            writer.raw(&format!(" \"{title}\""));
        }
        writer.raw(")");
        writer.finish()
    }

    /// Returns true for a link that shows its call.
    pub(super) fn shows_call(&self, link: &LinkSlot) -> bool {
        self.input.show_calls || link.titled
    }

    fn title(&mut self, link: &LinkSlot, prototype: &Prototype) -> String {
        let (session, anchors) = (self.session, &*self.anchors);
        let written = |key: &str| {
            let id = anchors.id_of(session, key)?;
            let shown = anchors.get(RefKind::Obj, id).filter(|anchor| anchor.is_shown())?;
            Some(shown.written(id))
        };
        let mut writer = TitleWriter {
            session: &session.addr,
            prototypes: self.input.prototypes,
            shared: self.input.shared,
            written: &written,
            words: Vec::new(),
        };
        let title = writer.title(link, prototype);
        self.words.extend(writer.words);
        title
    }

    /// Takes the words of the titles that were written.
    pub(super) fn take_words(&mut self) -> Box<[TitleWord]> {
        std::mem::take(&mut self.words).into_iter().collect()
    }

    /// Writes a link that answers a question. Returns its id, too.
    pub fn answer_link(
        &mut self,
        question: u64,
        answer: &str,
        label: ForeignStr<'_>,
    ) -> (u64, String) {
        let appearance = Appearance { label, offered: true, ..Appearance::default() };
        let id = self.mint(AnchorQuery::Answer(question, answer), appearance).id;
        let mut writer = Writer::default();
        writer.raw("[");
        writer.label(label);
        writer.raw(&format!("](link:{id})"));
        (id, writer.finish())
    }

    /// Writes the link that cancels a job.
    pub fn cancel_link(&mut self, job: u64) -> String {
        let appearance =
            Appearance { label: "cancel".into(), offered: true, ..Appearance::default() };
        let id = self.mint(AnchorQuery::CancelJob(job), appearance).id;
        format!("[cancel](link:{id})")
    }

    /// Returns true when the app has an action.
    pub(super) fn has_action(&self, action: &str) -> bool {
        self.prototype(action).is_some()
    }

    fn prototype(&self, action: &str) -> Option<&'a Prototype> {
        let all = self.input.prototypes;
        if all.len() <= FEW_PROTOTYPES {
            pipemux_tokens::work::spend(all.len());
            return all.iter().find(|prototype| prototype.name == action);
        }
        let index = self.prototypes.get_or_init(|| {
            pipemux_tokens::work::spend(all.len());
            // Of several with the same name, the first one counts.
            all.iter().rev().map(|prototype| (prototype.name.as_str(), prototype)).collect()
        });
        index.get(action).copied()
    }
}

fn has_ref(arg: &Arg) -> bool {
    match arg {
        Arg::Ref(_) => true,
        Arg::List(items) => items.iter().any(has_ref),
        Arg::Record(entries) => entries.values().any(has_ref),
        Arg::Value(_) | Arg::Copied(_) => false,
    }
}
