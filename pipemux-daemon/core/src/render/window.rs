//! One window's Markdown.

use std::collections::{BTreeMap, HashMap};

use pipemux_proto::projection::{Arg, Args, LinkSlot, ObjectSlot, Piece, Projection};
use pipemux_proto::prototype::{Param, Prototype, Risk, Type};
use pipemux_proto::tokens;

use super::inert::{self, Tokens, Writer};
use crate::anchors::{AnchorTable, Shown, Target};
use crate::keys::SessionKey;

/// A line of a window: numbered ones are compared by their text alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number in the thing that is shown.
    pub number: Option<u64>,
    /// The text without number and newline.
    pub text: String,
    /// True for the daemon's own fences.
    pub fence: bool,
    /// True for text that a fence makes inert.
    pub exact: bool,
}

/// A window as Markdown with minted ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// `## editor/main · src/parse.rs · 412 lines · saved`
    pub heading: String,
    /// The row of links, or empty.
    pub nav: String,
    /// The content.
    pub lines: Vec<Line>,
    /// `lines 1-40`
    pub position: Option<String>,
    /// The ids shown, in order.
    pub ids: Vec<u64>,
    /// What each bound name stands for: key and rev.
    pub names: BTreeMap<String, (String, u64)>,
    /// About how many tokens the app left out.
    pub hidden_tokens: u64,
    /// Tokens of heading, links and content.
    pub tokens: u64,
}

impl Rendered {
    /// Heading, links, and content.
    pub fn body(&self, prototypes: &str) -> String {
        let mut out = format!("{}\n", self.heading);
        if !self.nav.is_empty() {
            out += &self.nav;
            out.push('\n');
        }
        out += prototypes;
        for line in &self.lines {
            if let Some(number) = line.number {
                out += &number.to_string();
                out.push('\t');
            }
            out += &line.text;
            out.push('\n');
        }
        out
    }
}

/// Writes windows of one session.
#[derive(Debug)]
pub struct Painter<'a> {
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
    ids: Vec<u64>,
    /// Things of this window: what each key stands for.
    things: HashMap<String, (u64, Option<String>)>,
}

impl<'a> Painter<'a> {
    /// For one session in one epoch.
    pub fn new(
        session: &'a SessionKey,
        anchors: &'a mut AnchorTable,
        prototypes: &'a [Prototype],
        epoch: u64,
    ) -> Self {
        Self {
            session,
            anchors,
            prototypes,
            epoch,
            changed: false,
            tokens: Tokens::Inert,
            titles: false,
            conflicts: Vec::new(),
            ids: Vec::new(),
            things: HashMap::new(),
        }
    }

    /// Writes a window; what its session showed before counts as shown no more.
    pub fn window(&mut self, projection: &Projection) -> Rendered {
        self.anchors.hide_session(self.session, self.epoch);
        let mut heading = Writer::default();
        heading.raw("## ");
        heading.raw(&self.session.to_string());
        if !projection.title.is_empty() {
            heading.raw(" · ");
            heading.text(&projection.title.replace(['\n', '\r'], " "));
        }
        let nav: Vec<String> = projection.nav.iter().map(|link| self.link(link, false)).collect();
        for object in projection.names.values() {
            self.mint_object(object, false);
        }
        let mut lines = Vec::new();
        let mut text = Writer::with(self.tokens.clone());
        for piece in &projection.content {
            match piece {
                Piece::Text(plain) => text.text(plain),
                Piece::Object(object) if self.conflicts_with(object) => {
                    text.text(&object.label.replace(['\n', '\r'], " "));
                }
                Piece::Object(object) => {
                    let markdown = self.object(object);
                    text.raw(&markdown);
                }
                Piece::Link(link) if !self.has(&link.action) => {
                    text.text(&link.label.replace(['\n', '\r'], " "));
                }
                Piece::Link(link) => {
                    let markdown = self.link(link, false);
                    text.raw(&markdown);
                }
                Piece::Code(code) => {
                    flush(&mut text, &mut lines);
                    let mut writer = Writer::default();
                    let fence = writer.fence(&code.lang, &code.text);
                    let opening = writer.finish();
                    lines.push(fence_line(opening.trim_end()));
                    let numbers = code.first.map_or(Numbers::None, Numbers::From);
                    push_code(&code.text, numbers, &mut lines);
                    lines.push(fence_line(&fence));
                }
            }
        }
        flush(&mut text, &mut lines);
        let mut rendered = Rendered {
            heading: heading.finish(),
            nav: nav.join(" "),
            lines,
            position: projection.position.as_deref().map(inert::whole_line),
            ids: std::mem::take(&mut self.ids),
            names: projection
                .names
                .iter()
                .map(|(name, of)| (name.clone(), (of.key.clone(), of.rev)))
                .collect(),
            hidden_tokens: projection.hidden_tokens,
            tokens: 0,
        };
        rendered.tokens = tokens::estimate(&rendered.body(""));
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
        let target = Target::Action { action: link.action.clone(), args: link.args.clone() };
        let open: Vec<String> =
            open_params(prototype, &link.args).map(|param| param.name.clone()).collect();
        let shown = Shown { label: &link.label, offered, open: &open, ..Shown::default() };
        let id = self.mint(target, shown);
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
        let target = Target::Answer { question, answer: answer.to_owned() };
        let id = self.mint(target, Shown { label, offered: true, ..Shown::default() });
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

    /// Notes what a key stands for in this window; true when it stands for something else already.
    fn conflicts_with(&mut self, object: &ObjectSlot) -> bool {
        let thing = (object.rev, object.ty.clone());
        let first = self.things.entry(object.key.clone()).or_insert_with(|| thing.clone());
        let conflict = *first != thing;
        if conflict && !self.conflicts.contains(&object.key) {
            self.conflicts.push(object.key.clone());
        }
        conflict
    }

    fn object(&mut self, object: &ObjectSlot) -> String {
        let id = self.mint_object(object, true);
        let mut writer = Writer::default();
        writer.raw("[");
        writer.label(&object.label);
        writer.raw(&format!("](obj:{id})"));
        writer.finish()
    }

    fn mint_object(&mut self, object: &ObjectSlot, listed: bool) -> u64 {
        let target = Target::Object { key: object.key.clone() };
        let shown = Shown {
            rev: object.rev,
            ty: object.ty.as_deref(),
            label: &object.label,
            ..Shown::default()
        };
        let id = self.mint(target, shown);
        if !listed && self.ids.last() == Some(&id) {
            self.ids.pop();
        }
        id
    }

    fn mint(&mut self, target: Target, shown: Shown<'_>) -> u64 {
        let (id, changed) = self.anchors.mint(self.session, target, shown, self.epoch);
        self.changed |= changed;
        self.ids.push(id);
        id
    }
}

#[derive(Clone, Copy)]
enum Numbers {
    None,
    From(u64),
}

fn push_code(text: &str, numbers: Numbers, lines: &mut Vec<Line>) {
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = match numbers {
            Numbers::None => None,
            Numbers::From(first) => Some(first.saturating_add(index as u64)),
        };
        let text = line.strip_suffix('\n').unwrap_or(line);
        let text = inert::printable(text);
        lines.push(Line { number, text, fence: false, exact: true });
    }
}

fn flush(text: &mut Writer, lines: &mut Vec<Line>) {
    let tokens = text.tokens();
    let written = std::mem::replace(text, Writer::with(tokens)).finish();
    let whole = written.strip_suffix('\n').unwrap_or(&written);
    if !written.is_empty() {
        let plain =
            |line: &str| Line { number: None, text: line.to_owned(), fence: false, exact: false };
        lines.extend(whole.split('\n').map(plain));
    }
}

fn fence_line(text: &str) -> Line {
    Line { number: None, text: text.to_owned(), fence: true, exact: false }
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
