//! Minting ids for what one session shows, and writing links with them.

use pipemux_proto::SessionAddr;
use pipemux_proto::projection::{Arg, Args, LinkSlot, ObjectRef};
use pipemux_proto::prototype::{Param, Prototype, Risk, Type};
use pipemux_proto::refs::{Ref, RefKind};

use crate::keys::SessionKey;
use crate::views::inert::{self, RefTokens, Writer};
use crate::workspaces::anchors::{AnchorQuery, AnchorTable, Appearance, Minted, SessionIndex};

/// What rendering takes from the app, and from the answer that is written.
#[derive(Debug, Clone, Copy)]
pub struct RenderInput<'a> {
    /// What the app can do.
    pub prototypes: &'a [Prototype],
    /// The ref tokens that may pass in the app's text.
    pub tokens: RefTokens<'a>,
    /// The epoch of the answer.
    pub epoch: u64,
    /// True when every link shows its call.
    pub show_calls: bool,
}

impl<'a> RenderInput<'a> {
    /// Makes the input for links beside a window.
    pub fn of_links(prototypes: &'a [Prototype], epoch: u64) -> Self {
        Self { prototypes, tokens: RefTokens::None, epoch, show_calls: false }
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
}

impl<'a> Minter<'a> {
    /// Makes a minter for a session.
    pub fn new(
        session: &'a SessionKey,
        input: RenderInput<'a>,
        anchors: &'a mut AnchorTable,
    ) -> Self {
        let index = anchors.session_index(session);
        Self { session, input, anchors, index, ids: Vec::new(), changed: false }
    }

    /// Returns true once something new was minted or a meaning changed.
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// Begins a window: nothing that the session showed before counts as shown, until it is minted again.
    pub(super) fn begin_window(&mut self, expected_ids: usize) {
        self.anchors.hide_session(self.session, self.input.epoch);
        self.ids.reserve(expected_ids);
    }

    /// Ends a window. Returns the ids that it shows, in order.
    pub(super) fn end_window(&mut self) -> Vec<u64> {
        self.anchors.end_render_pass(self.index);
        std::mem::take(&mut self.ids)
    }

    /// Mints the id of an object. `listed` is true for an object in the window's content: any other isn't
    /// shown by its id.
    pub(super) fn mint_object(&mut self, object: ObjectRef<'_>, listed: bool) -> Minted {
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

    /// Returns the ref to an object as windows show it.
    pub(super) fn written(&self, id: u64) -> Ref {
        self.anchors.written(RefKind::Obj, id)
    }

    fn mint(&mut self, query: AnchorQuery<'_>, appearance: Appearance<'_>) -> Minted {
        let minted = self.anchors.mint(self.index, query, appearance, self.input.epoch);
        self.changed |= minted.changed;
        if !minted.conflict {
            self.ids.push(minted.id);
        }
        minted
    }
}

/// Links.
impl Minter<'_> {
    /// Writes `[label](link:42)`, with the call as title where it is worth seeing. `offered` links stand beside
    /// the window and outlive its next projection.
    pub fn link(&mut self, link: &LinkSlot, offered: bool) -> String {
        let Some(prototype) = self.prototype(&link.action) else {
            // A link to an action that the app doesn't have would only lead to an error.
            return inert::whole_line(&link.label);
        };
        let titled = self.input.show_calls || link.titled || prototype.risk == Risk::Destructive;
        let title = titled.then(|| self.call(link));
        let open: Vec<String> =
            open_params(prototype, &link.args).map(|param| param.name.clone()).collect();
        let appearance =
            Appearance { label: &link.label, offered, open: &open, ..Appearance::default() };
        let id = self.mint(AnchorQuery::Action(&link.action, &link.args), appearance).id;
        let mut writer = Writer::default();
        writer.raw("[");
        writer.label(&link.label);
        writer.raw(&format!("](link:{id}"));
        if let Some(title) = title {
            let title = inert::line(&title.replace('\\', "\\\\").replace('"', "\\\""));
            writer.raw(&format!(" \"{title}\""));
        }
        writer.raw(")");
        writer.finish()
    }

    /// Writes a link that answers a question. Returns its id, too.
    pub fn answer_link(&mut self, question: u64, answer: &str, label: &str) -> (u64, String) {
        let appearance = Appearance { label, offered: true, ..Appearance::default() };
        let id = self.mint(AnchorQuery::Answer(question, answer), appearance).id;
        let mut writer = Writer::default();
        writer.raw("[");
        writer.label(label);
        writer.raw(&format!("](link:{id})"));
        (id, writer.finish())
    }

    /// Returns true when the app has an action.
    pub(super) fn has_action(&self, action: &str) -> bool {
        self.prototype(action).is_some()
    }

    fn prototype(&self, action: &str) -> Option<&'_ Prototype> {
        self.input.prototypes.iter().find(|prototype| prototype.name == action)
    }

    /// Writes a link's call as an agent would type it.
    fn call(&self, link: &LinkSlot) -> String {
        let target = callee(&self.session.addr);
        let args = link.args.iter().map(|(name, arg)| format!("{name}={}", self.argument(arg)));
        let args: Vec<String> = args.collect();
        format!("{target}.{}({})", link.action, args.join(", "))
    }

    fn argument(&self, arg: &Arg) -> String {
        match arg {
            Arg::Value(blob) => {
                blob.to_value().map_or_else(|_| "?".into(), |value| clip(&value.to_string()))
            }
            Arg::Copied(copied) => format!("<{} of {}>", copied.label, copied.from),
            Arg::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.argument(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Arg::Ref(object) => match self.anchors.id_of(self.session, &object.key) {
                Some(id) => self.anchors.written(RefKind::Obj, id).to_string(),
                None => clip(&object.key),
            },
        }
    }
}

/// Returns what calls on a session begin with: `editor` for the main session, `editor/two` for another one.
pub fn callee(addr: &SessionAddr) -> String {
    match addr.session.as_str() {
        SessionAddr::DEFAULT_SESSION => addr.provider.to_string(),
        _ => addr.to_string(),
    }
}

/// Iterates over the parameters that a link leaves open: neither bound nor optional.
pub fn open_params<'a>(
    prototype: &'a Prototype,
    args: &'a Args,
) -> impl Iterator<Item = &'a Param> + 'a {
    prototype.params.iter().filter(|param| {
        let optional = param.default.is_some() || matches!(param.ty, Type::Optional(_));
        !optional && !args.contains_key(&param.name)
    })
}

fn clip(text: &str) -> String {
    const MAX: usize = 60;
    if text.chars().count() <= MAX {
        return text.replace(['\n', '\r'], " ");
    }
    let start: String = text.chars().take(MAX).collect();
    format!("{start}…").replace(['\n', '\r'], " ")
}
