//! The titles of links: a link's call, which runs as it is printed.
//!
//! **Invariant: a title that is code has the effect of its link.** A call that can't be written so,
//! or that is too long, is left out, and the title says so.

use std::collections::BTreeSet;

use pipemux_proto::SessionAddr;
use pipemux_proto::Value;
use pipemux_proto::call::{self, Argument, Call, Entry, Expr, Span, Step};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::{Prototype, Type};
use pipemux_proto::refs::{Local, Ref};

use crate::foreign::LinkSlot;
use crate::limits::LINK_TITLE_CHARS;
use crate::views::inert;
use crate::workspaces::TitleWord;
use crate::workspaces::link_code::link_call;

/// Words that other windows of the workspace use, too: a call names its session with them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedWords {
    /// Names of actions.
    pub actions: BTreeSet<String>,
    /// Names that windows bind.
    pub names: BTreeSet<String>,
    /// True when every call names its session.
    pub all: bool,
}

/// Lets every call name its session.
pub static ALL_WORDS: SharedWords =
    SharedWords { actions: BTreeSet::new(), names: BTreeSet::new(), all: true };

impl SharedWords {
    /// Returns true when a word must be written with its session.
    pub fn qualifies(&self, word: &str, is_name: bool) -> bool {
        let shared = if is_name { &self.names } else { &self.actions };
        // A bare `click(…)` is the click of a link, and a bare `stdin` the standard input.
        let reserved = if is_name { "stdin" } else { "click" };
        self.all || word == reserved || shared.contains(word)
    }
}

/// The data from which the titles of a session's links are written.
pub struct TitleWriter<'a> {
    pub session: &'a SessionAddr,
    /// The session's prototypes.
    pub prototypes: &'a [Prototype],
    /// The words that need a session name in calls, because other windows use them, too.
    pub shared: &'a SharedWords,
    /// Returns the ref to an object of the session as windows show it.
    pub written: &'a dyn Fn(&str) -> Option<Ref>,
    /// The words of the titles.
    pub words: Vec<TitleWord>,
}

impl TitleWriter<'_> {
    /// Returns the title of a link, without its quotes.
    pub fn title(&mut self, link: &LinkSlot, prototype: &Prototype) -> String {
        let plain = "call not shown: it can't be written in one line".to_owned();
        let call = match &link.code {
            Some(code) => link_call(code, &link.action, self.session),
            None => self.plain_call(link, prototype),
        };
        let Some(call) = call.and_then(|call| self.with_shown_refs(call)) else { return plain };
        let mut title = String::new();
        let written = self.call(&call, &mut title).is_some();
        if title.chars().nth(LINK_TITLE_CHARS).is_some() {
            let length = title.chars().count();
            return format!("call not shown: {length} characters");
        }
        if written && inert::line(&title) == title && means(&title, &call) { title } else { plain }
    }

    /// Returns the call of a link whose arguments are all bound.
    fn plain_call(&self, link: &LinkSlot, prototype: &Prototype) -> Option<Call> {
        let known = |name: &String| prototype.params.iter().any(|param| param.name == *name);
        if !link.args.keys().all(known) {
            return None;
        }
        let bound = prototype.params.iter().filter_map(|param| {
            let value = link.args.get(&param.name)?;
            Some(self.plain_expr(value).map(|value| Argument {
                name: Some((param.name.clone(), Span::default())),
                value,
                span: Span::default(),
            }))
        });
        let args = bound.collect::<Option<_>>()?;
        let (name, span) = (Span::default(), Span::default());
        Some(Call { owner: None, action: link.action.clone(), name, args, span })
    }

    fn plain_expr(&self, arg: &Arg) -> Option<Expr> {
        match arg {
            Arg::Value(blob) => blob.to_value().ok().map(Expr::Value),
            Arg::Copied(_) => None,
            Arg::List(items) => {
                let item = |item: &Arg| Some((self.plain_expr(item)?, Span::default()));
                items.iter().map(item).collect::<Option<_>>().map(Expr::List)
            }
            Arg::Record(entries) => {
                let entry = |(name, part): (&String, &Arg)| {
                    Some(Entry {
                        name: name.clone(),
                        name_span: Span::default(),
                        value: self.plain_expr(part)?,
                        span: Span::default(),
                    })
                };
                entries.iter().map(entry).collect::<Option<_>>().map(Expr::Record)
            }
            Arg::Ref(object) => {
                let key = Local::Key(object.key.clone());
                Some(Expr::Ref(Ref { local: key, ..Ref::obj(0) }))
            }
        }
    }

    /// Replaces keys by the refs that windows show.
    fn with_shown_refs(&self, mut call: Call) -> Option<Call> {
        for argument in &mut call.args {
            let value = std::mem::replace(&mut argument.value, Expr::Value(Value::Null));
            argument.value = self.shown_refs(value)?;
        }
        Some(call)
    }

    fn shown_refs(&self, expr: Expr) -> Option<Expr> {
        Some(match expr {
            Expr::Ref(Ref { local: Local::Key(key), .. }) => Expr::Ref((self.written)(&key)?),
            Expr::List(items) => {
                let items =
                    items.into_iter().map(|(item, span)| Some((self.shown_refs(item)?, span)));
                Expr::List(items.collect::<Option<_>>()?)
            }
            Expr::Record(entries) => {
                let shown =
                    |entry: Entry| Some(Entry { value: self.shown_refs(entry.value)?, ..entry });
                Expr::Record(entries.into_iter().map(shown).collect::<Option<_>>()?)
            }
            Expr::Call(call) => Expr::Call(Box::new(self.with_shown_refs(*call)?)),
            other => other,
        })
    }

    fn call(&mut self, call: &Call, out: &mut String) -> Option<()> {
        let prototype = self.prototypes.iter().find(|prototype| prototype.name == call.action)?;
        self.word(&call.action, false, out);
        out.push('(');
        for (index, argument) in call.args.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            let param = match &argument.name {
                Some((name, _)) => {
                    out.push_str(name);
                    out.push('=');
                    prototype.params.iter().find(|param| param.name == *name)
                }
                None => prototype.params.get(index),
            };
            self.expr(&argument.value, &param?.ty, out)?;
        }
        out.push(')');
        Some(())
    }

    fn expr(&mut self, expr: &Expr, ty: &Type, out: &mut String) -> Option<()> {
        match (expr, ty) {
            (expr, Type::Optional(inner)) if *expr != Expr::Value(Value::Null) => {
                self.expr(expr, inner, out)?;
            }
            (Expr::List(items), _) => {
                let any = Type::Any;
                let item_type = if let Type::List(item) = ty { item } else { &any };
                out.push('[');
                for (index, (item, _)) in items.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    self.expr(item, item_type, out)?;
                }
                out.push(']');
            }
            (expr, Type::List(item)) => self.expr(expr, item, out)?,
            (Expr::Record(entries), _) => {
                out.push('{');
                for (index, entry) in entries.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    // A name that isn't a word would need quotes.
                    is_name(&entry.name).then_some(())?;
                    out.push_str(&format!("{}: ", entry.name));
                    let of = match ty {
                        Type::Record(fields) => {
                            fields.iter().find(|field| field.name == entry.name).map(|f| &f.ty)
                        }
                        Type::Map(of) => Some(&**of),
                        _ => None,
                    };
                    self.expr(&entry.value, of.unwrap_or(&Type::Any), out)?;
                }
                out.push('}');
            }
            (Expr::Ref(of), Type::Anchor(_)) => out.push_str(&format!("'{of}'")),
            (Expr::Ref(of), _) => out.push_str(&of.to_string()),
            (Expr::Call(call), _) => self.call(call, out)?,
            (Expr::Name { name, .. }, _) => self.word(name, true, out),
            (Expr::Value(value), _) => write_value(value, out)?,
            // Markdown would read a backslash as its own.
            (Expr::Quoted(_), _) => return None,
        }
        Some(())
    }

    /// Writes a word, with its session where another one has it, too.
    fn word(&mut self, word: &str, is_name: bool, out: &mut String) {
        let qualified = self.shared.qualifies(word, is_name);
        if qualified {
            out.push_str(&callee(self.session));
            out.push('.');
        }
        out.push_str(word);
        self.words.push(TitleWord { word: word.to_owned(), is_name, qualified });
    }
}

/// Adds the keys of the objects that a link's call names.
pub fn add_keys_of_link(link: &LinkSlot, keys: &mut BTreeSet<String>) {
    link.args.values().for_each(|arg| add_keys(arg, keys));
    let script = link.code.as_ref().and_then(|code| call::parse_undecided(code, None).ok());
    for step in script.iter().flat_map(|script| &script.steps) {
        if let Step::Call(call) = step {
            call.args.iter().for_each(|argument| add_keys_of_code(&argument.value, keys));
        }
    }
}

fn add_keys(arg: &Arg, keys: &mut BTreeSet<String>) {
    match arg {
        Arg::Ref(object) => drop(keys.insert(object.key.clone())),
        Arg::List(items) => items.iter().for_each(|item| add_keys(item, keys)),
        Arg::Record(entries) => entries.values().for_each(|part| add_keys(part, keys)),
        Arg::Value(_) | Arg::Copied(_) => {}
    }
}

fn add_keys_of_code(expr: &Expr, keys: &mut BTreeSet<String>) {
    match expr {
        Expr::Ref(Ref { local: Local::Key(key), .. }) => drop(keys.insert(key.clone())),
        Expr::List(items) => items.iter().for_each(|(item, _)| add_keys_of_code(item, keys)),
        Expr::Record(entries) => {
            entries.iter().for_each(|entry| add_keys_of_code(&entry.value, keys));
        }
        Expr::Call(call) => {
            call.args.iter().for_each(|argument| add_keys_of_code(&argument.value, keys));
        }
        Expr::Ref(_) | Expr::Value(_) | Expr::Quoted(_) | Expr::Name { .. } => {}
    }
}

/// Writes a value of the call syntax, if it is the same before and after Markdown is read.
fn write_value(value: &Value, out: &mut String) -> Option<()> {
    match value {
        Value::Str(text) => {
            let fits =
                |c: char| !matches!(c, '"' | '\\') && (!c.is_control() || c == '\n' || c == '\t');
            if !text.chars().all(fits) {
                return None;
            }
            let quotes = if text.contains('\'') { "'''" } else { "'" };
            let text = text.replace('\n', "\\n").replace('\t', "\\t");
            out.push_str(&format!("{quotes}{text}{quotes}"));
        }
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_value(item, out)?;
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (index, (name, value)) in entries.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                is_name(name).then_some(())?;
                out.push_str(&format!("{name}: "));
                write_value(value, out)?;
            }
            out.push('}');
        }
        Value::Bin(_) => return None,
        plain => out.push_str(&plain.to_string()),
    }
    Some(())
}

/// True for a name that needs no quotes in a record.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns true when a title is read as this call.
fn means(title: &str, call: &Call) -> bool {
    let Ok(script) = call::parse(title, None) else { return false };
    matches!(script.steps.as_slice(), [Step::Call(read)] if plain_call(read) == plain_call(call))
}

/// Returns a call without what may differ between ways to write it: owners, and the quotes of refs.
fn plain_call(call: &Call) -> String {
    let args = call.args.iter().map(|argument| {
        let name = argument.name.as_ref().map(|(name, _)| name);
        format!("{name:?}={}", plain(&argument.value))
    });
    format!("{}({})", call.action, args.collect::<Vec<_>>().join(", "))
}

fn plain(expr: &Expr) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    match expr {
        Expr::Value(Value::Str(text)) => match text.parse::<Ref>() {
            Ok(of) => format!("ref {of}"),
            Err(_) => format!("{text:?}"),
        },
        Expr::Value(Value::List(items)) => {
            list(items.iter().map(|item| plain(&Expr::Value(item.clone()))).collect())
        }
        Expr::Value(Value::Map(entries)) => {
            record(entries.iter().map(|(name, value)| (name, plain(&Expr::Value(value.clone())))))
        }
        Expr::Value(value) => format!("{value:?}"),
        Expr::Quoted(text) => format!("{:?}", text.raw),
        Expr::Ref(of) => format!("ref {of}"),
        Expr::List(items) => list(items.iter().map(|(item, _)| plain(item)).collect()),
        Expr::Record(entries) => {
            record(entries.iter().map(|entry| (&entry.name, plain(&entry.value))))
        }
        Expr::Call(call) => plain_call(call),
        Expr::Name { name, .. } => format!("name {name}"),
    }
}

fn record<'a>(entries: impl Iterator<Item = (&'a String, String)>) -> String {
    // An app's map has no order of its own.
    let mut entries: Vec<String> =
        entries.map(|(name, value)| format!("{name}: {value}")).collect();
    entries.sort_unstable();
    format!("{{{}}}", entries.join(", "))
}

/// Returns what calls on a session begin with: `editor` for the main session, `editor/two` for
/// another one.
pub fn callee(addr: &SessionAddr) -> String {
    match addr.session.as_str() {
        SessionAddr::DEFAULT_SESSION => addr.provider.to_string(),
        _ => addr.to_string(),
    }
}
