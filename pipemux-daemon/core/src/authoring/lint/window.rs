//! The flaws of a window.

use std::collections::BTreeMap;

use pipemux_proto::limits::{EMBEDS_MAX, KEY_MAX, NAME_MAX, TYPE_MAX};
use pipemux_proto::projection::{
    Arg, CodePiece, EmbedSlot, LinkSlot, ObjectSlot, Piece, Projection,
};
use pipemux_proto::prototype::{Prototype, Type};
use pipemux_proto::{SessionAddr, encode};

use super::lints::{Lint, Lints};
use super::types::fits;
use crate::limits::{
    CUSTOM_MAX, LABEL_CHARS, LINK_ARGS_MAX, LINK_CODE_MAX, MEDIA_TYPE_MAX, NAMES_MAX, NAV_MAX,
    POSITION_CHARS, SLOTS_MAX, TITLE_CHARS,
};

/// Returns the flaws of a window of an app that can do this.
pub fn projection(shown: &Projection, actions: &[Prototype]) -> Vec<Lint> {
    let mut lints = Lints::default();
    if shown.unchanged && !shown.content.is_empty() {
        lints.add("unchanged", "content", "is ignored, because `unchanged` is true");
    }
    lints.line("title", &shown.title, TITLE_CHARS);
    lints.line("position", shown.position.as_deref().unwrap_or_default(), POSITION_CHARS);
    if let Some(document) = &shown.document {
        check_key(&mut lints, "document", document);
    }
    let slots = shown.content.len() + shown.nav.len() + shown.names.len();
    if slots > SLOTS_MAX {
        let text = format!("{slots} pieces, links and names (limit {SLOTS_MAX}): it isn't shown");
        lints.add("too-many", "content", text);
    }
    let embeds = shown.content.iter().filter(|piece| matches!(piece, Piece::Embed(_))).count();
    lints.count("embeds", embeds, EMBEDS_MAX);
    lints.count("nav", shown.nav.len(), NAV_MAX);
    for (at, link) in shown.nav.iter().enumerate() {
        check_link(&mut lints, &format!("nav[{at}]"), link, actions);
    }
    let mut keys = BTreeMap::new();
    pieces(&mut lints, "content", &shown.content, actions, &mut keys);
    for (name, object) in &shown.names {
        let path = format!("names.{name}");
        if !is_name(name) {
            lints.add("name", &path, "isn't [A-Za-z_][A-Za-z0-9_]* of at most 64 bytes");
        }
        check_object(&mut lints, &path, object, &mut keys);
    }
    lints.count("names", shown.names.len(), NAMES_MAX);
    if let Some(focus) = &shown.focus
        && !keys.contains_key(focus.as_str())
    {
        let text = format!("{focus:?} is the key of nothing in `content` or `names`");
        lints.add("focus", "focus", text);
    }
    for (at, action) in shown.actions.iter().flatten().enumerate() {
        if !actions.iter().any(|known| known.name == *action) {
            let text = format!("{action:?} is no action of the Hello");
            lints.add("actions", format!("actions[{at}]"), text);
        }
    }
    let custom = encode(&shown.custom).map_or(usize::MAX, |bytes| bytes.len());
    if !shown.custom.is_empty() && custom > CUSTOM_MAX {
        lints.add("too-long", "custom", format!("has {custom} bytes (limit {CUSTOM_MAX})"));
    }
    for (at, numbers) in shown.numbers.iter().enumerate() {
        if numbers.first > numbers.last {
            lints.add("numbers", format!("numbers[{at}]"), "`first` is greater than `last`");
        }
    }
    lints.0
}

/// Checks pieces; `keys` has the things that were met before, with their revisions and types.
pub(super) fn pieces<'a>(
    lints: &mut Lints,
    path: &str,
    content: &'a [Piece],
    actions: &[Prototype],
    keys: &mut BTreeMap<&'a str, (u64, Option<&'a str>)>,
) {
    for (at, piece) in content.iter().enumerate() {
        match piece {
            Piece::Text(_) => {}
            Piece::Object(object) => {
                check_object(lints, &format!("{path}[{at}].object"), object, keys);
            }
            Piece::Link(link) => check_link(lints, &format!("{path}[{at}].link"), link, actions),
            Piece::Code(code) => check_code(lints, &format!("{path}[{at}].code"), code),
            Piece::Embed(embed) => check_embed(lints, &format!("{path}[{at}].embed"), embed),
        }
    }
}

fn check_embed(lints: &mut Lints, path: &str, embed: &EmbedSlot) {
    if embed.session.parse::<SessionAddr>().is_err() {
        let text = format!("{:?} is no session, such as monitor/main", embed.session);
        lints.add("embed", format!("{path}.session"), text);
    }
}

fn check_object<'a>(
    lints: &mut Lints,
    path: &str,
    object: &'a ObjectSlot,
    keys: &mut BTreeMap<&'a str, (u64, Option<&'a str>)>,
) {
    check_key(lints, &format!("{path}.key"), &object.key);
    let label = format!("{path}.label");
    if object.label.trim().is_empty() {
        lints.add("label", &label, "is empty: nothing is shown that could be referred to");
    }
    lints.line(&label, &object.label, LABEL_CHARS);
    if let Some(ty) = &object.ty
        && !is_type(ty)
    {
        let text =
            format!("{ty:?} isn't [a-z][a-z0-9_-]* of at most {TYPE_MAX} bytes: it isn't shown");
        lints.add("type", format!("{path}.type"), text);
    }
    if let Some(media) = &object.media
        && !is_media_type(&media.media_type)
    {
        let text = format!("{:?} is no media type, such as image/png", media.media_type);
        lints.add("media", format!("{path}.media.type"), text);
    }
    let now = (object.rev, object.ty.as_deref());
    match keys.insert(&object.key, now) {
        Some(before) if before != now => {
            let text = format!("{:?} stands for two things: the first one is kept", object.key);
            lints.add("key-twice", format!("{path}.key"), text);
        }
        _ => {}
    }
}

fn check_key(lints: &mut Lints, path: &str, key: &str) {
    if !(1..=KEY_MAX).contains(&key.len()) {
        let text =
            format!("has {} bytes, expected 1 to {KEY_MAX}: the window isn't shown", key.len());
        lints.add("key", path, text);
    }
}

/// Checks a link against the action that it carries out.
pub(super) fn check_link(lints: &mut Lints, path: &str, link: &LinkSlot, actions: &[Prototype]) {
    let label = format!("{path}.label");
    if link.label.trim().is_empty() {
        lints.add("label", &label, "is empty: there is nothing to click");
    }
    lints.line(&label, &link.label, LABEL_CHARS);
    let Some(action) = actions.iter().find(|action| action.name == link.action) else {
        let text = format!("{:?} is no action of the Hello: only the label is shown", link.action);
        return lints.add("link-action", format!("{path}.action"), text);
    };
    for (name, arg) in &link.args {
        let path = format!("{path}.args.{name}");
        let Some(param) = action.params.iter().find(|param| param.name == *name) else {
            let text = format!("{} has no parameter {name}", action.name);
            lints.add("link-argument", path, text);
            continue;
        };
        if let Some(value) = mismatch(arg, &param.ty) {
            lints.add("link-argument", path, format!("{value} is no {}", param.ty));
        }
    }
    let bytes = encode(&link.args).map_or(0, |bytes| bytes.len());
    let code = link.code.as_ref().map_or(0, String::len);
    if bytes > LINK_ARGS_MAX || code > LINK_CODE_MAX {
        let text = format!("its call takes {} bytes: only the label is shown", bytes + code);
        lints.add("too-long", path, text);
    }
}

/// Returns the value that isn't of a type, as it is written.
fn mismatch(arg: &Arg, ty: &Type) -> Option<String> {
    match (arg, ty) {
        (Arg::Value(blob), _) => match blob.to_value() {
            Ok(value) => (!fits(&value, ty)).then(|| value.to_string()),
            Err(error) => Some(format!("an unreadable value ({error})")),
        },
        (arg, Type::Optional(of)) => mismatch(arg, of),
        (Arg::List(items), Type::List(of)) => items.iter().find_map(|item| mismatch(item, of)),
        (Arg::Record(args), Type::Map(of)) => args.values().find_map(|arg| mismatch(arg, of)),
        (Arg::Record(args), Type::Record(fields)) => {
            args.iter().find_map(|(name, arg)| {
                match fields.iter().find(|field| field.name == *name) {
                    Some(field) => mismatch(arg, &field.ty),
                    None => Some(format!("a record with the field {name}")),
                }
            })
        }
        (Arg::Ref(of), Type::Anchor(Some(wanted))) => {
            let other = of.ty.as_ref().filter(|ty| *ty != wanted)?;
            Some(format!("a thing of type {other}"))
        }
        _ => None,
    }
}

fn check_code(lints: &mut Lints, path: &str, code: &CodePiece) {
    let is_lang = |c: char| c.is_ascii_alphanumeric() || "+#._-".contains(c);
    if !code.lang.chars().all(is_lang) || code.lang.len() > 32 || code.lang == "docui" {
        let text = format!("{:?} is left out: expected [A-Za-z0-9+#._-]*", code.lang);
        lints.add("lang", format!("{path}.lang"), text);
    }
    if code.lines.is_empty() {
        return;
    }
    let lines = code.text.lines().count() as u64;
    let identified = code.lines.iter().fold(0_u64, |sum, run| sum.saturating_add(run.count));
    if code.first.is_none() || identified != lines {
        let text = format!("identifies {identified} lines; the text has {lines} numbered lines");
        lints.add("line-identities", format!("{path}.lines"), text);
    }
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    first && name.len() <= NAME_MAX && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_media_type(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "/+-._;= ".contains(c);
    let halves = name.split_once('/').is_some_and(|(of, kind)| !of.is_empty() && !kind.is_empty());
    halves && name.len() <= MEDIA_TYPE_MAX && name.chars().all(is_part)
}

fn is_type(ty: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    ty.starts_with(|c: char| c.is_ascii_lowercase())
        && ty.len() <= TYPE_MAX
        && ty.chars().all(is_part)
}
