//! One window's Markdown.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::projection::{Arg, Args, LinkSlot, ObjectRef, Projection};
use pipemux_proto::prototype::{Param, Prototype, Risk, Type};
use pipemux_proto::tokens::Estimate;

use crate::keys::SessionKey;
use crate::views::answer_buffer::{self, AnswerBuffer};
use crate::views::content::{Content, ContentWriter};
use crate::views::inert::{self, Tokens, Writer};
use crate::workspaces::anchors::{AnchorQuery, AnchorTable, Appearance, Minted, SessionIndex};
use crate::workspaces::raw_projection::Piece;

/// A window as Markdown with minted ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// `## editor/main · src/parse.rs · 412 lines · saved`
    pub heading: String,
    /// The row of links, or empty.
    pub nav: String,
    /// The content.
    pub content: Rc<Content>,
    /// `lines 1-40`
    pub position: Option<String>,
    /// The ids shown, in order.
    pub ids: Rc<[u64]>,
    /// What each bound name stands for: key and rev.
    pub names: BTreeMap<String, (String, u64)>,
    /// About how many tokens the app left out.
    pub hidden_tokens: u64,
    /// Tokens of heading, links and content.
    pub tokens: u64,
}

impl Rendered {
    /// Heading, links, and content.
    pub fn body(&self) -> String {
        let mut out = AnswerBuffer::default();
        self.say(&mut out, "", "");
        out.into_text()
    }

    /// How many bytes it takes about, beside a long content.
    pub fn room(&self) -> usize {
        let content = self.content.text().len();
        self.heading.len()
            + self.nav.len()
            + 2
            + if content < answer_buffer::LONG { content } else { 0 }
    }

    /// Appends heading, what the heading ends with here, links, prototypes and content.
    pub fn say(&self, out: &mut AnswerBuffer, suffix: &str, prototypes: &str) {
        out.say(&self.heading);
        out.say(suffix);
        out.say("\n");
        if !self.nav.is_empty() {
            out.say(&self.nav);
            out.say("\n");
        }
        out.say(prototypes);
        out.say_lines(&self.content);
    }

    /// The tokens of its body.
    pub fn count(&self) -> u64 {
        let mut cost = Estimate::default();
        cost.add(&self.heading);
        cost.add("\n");
        if !self.nav.is_empty() {
            cost.add(&self.nav);
            cost.add("\n");
        }
        if !self.content.text().is_empty() {
            cost.add_lines(self.content.cost());
        }
        cost.tokens()
    }
}

/// Writes windows of one session.
#[derive(Debug)]
pub struct WindowRenderer<'a> {
    /// The owner of everything shown.
    pub session: &'a SessionKey,
    /// Where ids come from.
    pub anchors: &'a mut AnchorTable,
    /// What the app can do.
    pub prototypes: &'a [Prototype],
    /// The epoch that is being written.
    pub epoch: u64,
    /// True once something new was minted or a meaning changed.
    pub changed: bool,
    /// Tokens of the app's own that may pass in its text.
    pub tokens: Tokens,
    /// True when every link shows its call.
    pub titles: bool,
    /// Keys that the app gave to two things of one window: the first is kept.
    pub conflicts: Vec<String>,
    /// What the window showed before: kept where nothing of it changed.
    pub before: Option<Rc<Rendered>>,
    ids: Vec<u64>,
    slot: SessionIndex,
}

impl<'a> WindowRenderer<'a> {
    /// For one session in one epoch.
    pub fn new(
        session: &'a SessionKey,
        anchors: &'a mut AnchorTable,
        prototypes: &'a [Prototype],
        epoch: u64,
    ) -> Self {
        let slot = anchors.slot(session);
        Self {
            session,
            slot,
            anchors,
            prototypes,
            epoch,
            changed: false,
            tokens: Tokens::Inert,
            titles: false,
            conflicts: Vec::new(),
            before: None,
            ids: Vec::new(),
        }
    }

    /// Writes a window from its head, its links and its content; what its session showed before counts
    /// as shown no more.
    pub fn window<'p>(
        &mut self,
        head: &Projection,
        nav: &[LinkSlot],
        pieces: impl Iterator<Item = Piece<'p>>,
    ) -> Rendered {
        self.anchors.hide_session(self.session, self.epoch);
        let before = self.before.take();
        self.ids.reserve(before.as_ref().map_or(0, |before| before.ids.len()));
        let mut heading = Writer::default();
        heading.raw("## ");
        heading.raw(&self.session.to_string());
        if !head.title.is_empty() {
            heading.raw(" · ");
            heading.text(&head.title.replace(['\n', '\r'], " "));
        }
        let nav: Vec<String> = nav.iter().map(|link| self.link(link, false)).collect();
        for object in head.names.values() {
            self.mint_object(object.into(), false);
        }
        let known = before.as_ref().map(|before| &before.content);
        let mut content = ContentWriter::new(self.tokens.clone(), known);
        for piece in pieces {
            match piece {
                Piece::Text(plain) => content.markdown.text(plain),
                Piece::Object(object) => self.object(object, &mut content.markdown),
                Piece::Link(link) if !self.has(&link.action) => {
                    content.markdown.text(&link.label.replace(['\n', '\r'], " "));
                }
                Piece::Link(link) => {
                    let markdown = self.link(link, false);
                    content.markdown.raw(&markdown);
                }
                Piece::Code(code, cost) => content.code(code.lang, code.text, code.first, cost),
            }
        }
        self.anchors.end_render_pass(self.slot);
        let ids = std::mem::take(&mut self.ids);
        let mut rendered = Rendered {
            heading: heading.finish(),
            nav: nav.join(" "),
            content: content.finish(known),
            position: head.position.as_deref().map(inert::whole_line),
            ids: match before {
                Some(before) if *before.ids == *ids => before.ids.clone(),
                _ => ids.into(),
            },
            names: head
                .names
                .iter()
                .map(|(name, of)| (name.clone(), (of.key.clone(), of.rev)))
                .collect(),
            hidden_tokens: head.hidden_tokens,
            tokens: 0,
        };
        rendered.tokens = rendered.count();
        rendered
    }

    /// `[label](link:42)`, with the call as title where it is worth seeing. `offered` links stand
    /// beside the window and outlive its next projection.
    pub fn link(&mut self, link: &LinkSlot, offered: bool) -> String {
        let mut writer = Writer::default();
        let Some(prototype) = self.prototypes.iter().find(|p| p.name == link.action) else {
            // A link to an action that the app doesn't have would only lead to an error.
            return inert::whole_line(&link.label);
        };
        let title = (self.titles || link.titled || prototype.risk == Risk::Destructive)
            .then(|| self.call(link));
        let wanted = AnchorQuery::Action(&link.action, &link.args);
        let open: Vec<String> =
            open_params(prototype, &link.args).map(|param| param.name.clone()).collect();
        let shown =
            Appearance { label: &link.label, offered, open: &open, ..Appearance::default() };
        let id = self.mint(wanted, shown).id;
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

    /// A link that answers a question.
    pub fn answer_link(&mut self, question: u64, answer: &str, label: &str) -> (u64, String) {
        let shown = Appearance { label, offered: true, ..Appearance::default() };
        let id = self.mint(AnchorQuery::Answer(question, answer), shown).id;
        let mut writer = Writer::default();
        writer.raw("[");
        writer.label(label);
        writer.raw(&format!("](link:{id})"));
        (id, writer.finish())
    }

    /// A link's call as an agent would write it.
    pub fn call(&self, link: &LinkSlot) -> String {
        let addr = &self.session.addr;
        let owner = if addr.session.as_str() == pipemux_proto::SessionAddr::DEFAULT_SESSION {
            addr.provider.to_string()
        } else {
            addr.to_string()
        };
        format!("{owner}.{}", self.arguments(&link.action, &link.args))
    }

    fn has(&self, action: &str) -> bool {
        self.prototypes.iter().any(|prototype| prototype.name == action)
    }

    fn arguments(&self, action: &str, args: &Args) -> String {
        let written: Vec<String> =
            args.iter().map(|(name, arg)| format!("{name}={}", self.argument(arg))).collect();
        format!("{action}({})", written.join(", "))
    }

    fn argument(&self, arg: &Arg) -> String {
        match arg {
            Arg::Value(blob) => {
                blob.to_value().map_or_else(|_| "?".into(), |v| clip(&v.to_string()))
            }
            Arg::Copied(copied) => format!("<{} of {}>", copied.label, copied.from),
            Arg::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.argument(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Arg::Ref(found) => match self.anchors.id_of(self.session, &found.key) {
                Some(id) => format!("obj:{id}"),
                None => clip(&found.key),
            },
        }
    }

    /// Writes a thing; as mere text, if its key stands for something else in this window already.
    fn object(&mut self, object: ObjectRef<'_>, out: &mut Writer) {
        let Minted { id, conflict, .. } = self.mint_object(object, true);
        if conflict {
            if !self.conflicts.iter().any(|known| known == object.key) {
                self.conflicts.push(object.key.to_owned());
            }
            return out.text(&object.label.replace(['\n', '\r'], " "));
        }
        out.raw("[");
        out.label(object.label);
        out.raw("](obj:");
        out.number(id);
        out.raw(")");
    }

    fn mint_object(&mut self, object: ObjectRef<'_>, listed: bool) -> Minted {
        let shown = Appearance {
            rev: object.rev,
            ty: object.ty,
            label: object.label,
            listed,
            ..Appearance::default()
        };
        let minted = self.mint(AnchorQuery::Object(object.key), shown);
        if !listed {
            self.ids.pop();
        }
        minted
    }

    fn mint(&mut self, wanted: AnchorQuery<'_>, shown: Appearance<'_>) -> Minted {
        let minted = self.anchors.mint(self.slot, wanted, shown, self.epoch);
        self.changed |= minted.changed;
        if !minted.conflict {
            self.ids.push(minted.id);
        }
        minted
    }
}

fn clip(text: &str) -> String {
    const MAX: usize = 60;
    if text.chars().count() <= MAX {
        return text.replace(['\n', '\r'], " ");
    }
    let head: String = text.chars().take(MAX).collect();
    format!("{head}…").replace(['\n', '\r'], " ")
}

/// The parameters that a link leaves open: without a default, and not bound.
pub fn open_params<'a>(
    prototype: &'a Prototype,
    args: &'a Args,
) -> impl Iterator<Item = &'a Param> + 'a {
    prototype.params.iter().filter(|param| {
        let spare = param.default.is_some() || matches!(param.ty, Type::Optional(_));
        !spare && !args.contains_key(&param.name)
    })
}
