//! Enforces the bounds of a window's content.

use std::borrow::Cow;

use pipemux_proto::limits::{KEY_MAX, NAME_MAX, PROVIDER_MAX, SESSION_MAX};
use pipemux_proto::projection::{Arg, Args, EmbedSlot, Media, MediaRef};
use pipemux_proto::{Value, encode};

use crate::foreign::bounds::{bounded_line, cut_list, line};
use crate::foreign::{LinkSlot, ObjectSlot, Projection, bounds};
use crate::intake::checks::{bound_key, check_count, check_name};
use crate::limits::{
    CUSTOM_MAX, LABEL_CHARS, LINK_ARGS_MAX, LINK_CODE_MAX, MEDIA_TYPE_MAX, NAMES_MAX, NAV_MAX,
    OBJECT_DETAIL_CHARS, POSITION_CHARS, PROTOTYPES_MAX, TITLE_CHARS,
};

/// Texts of a window's content, which are borrowed from its bytes.
pub struct WindowTexts;

impl WindowTexts {
    /// Returns the label of an object or a link, within its bound.
    pub fn label(label: &str) -> Cow<'_, str> {
        bounded_line(label, LABEL_CHARS)
    }

    /// Returns what the value of a thing is. Of a media type that is no name, nothing is kept.
    pub fn media(media: MediaRef<'_>) -> Media {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "/+-._;= ".contains(c);
        let is_type =
            media.media_type.len() <= MEDIA_TYPE_MAX && media.media_type.chars().all(is_part);
        let media_type = if is_type { media.media_type } else { "" };
        Media::from(MediaRef { media_type, ..media })
    }

    /// Returns an embed; one whose address is too long for a session names none.
    pub fn embed(embed: EmbedSlot) -> EmbedSlot {
        match embed.session.len() <= PROVIDER_MAX + 1 + SESSION_MAX {
            true => embed,
            false => EmbedSlot { session: String::new(), ..embed },
        }
    }

    /// Returns a type that refs may show; none for one that no prototype can name.
    pub fn object_type(ty: Option<&str>) -> Option<&str> {
        ty.filter(|ty| ty.len() <= NAME_MAX)
    }
}

/// Brings all of a window but its content within its bounds. Returns how many links of the row at
/// the top were cut.
///
/// # Errors
/// What exceeds its bound and can't be cut, in words.
pub fn bound_head(head: &mut Projection) -> Result<usize, String> {
    check_count("names", head.names.len(), NAMES_MAX)?;
    for (name, object) in &mut head.names {
        check_name("a name", name, NAME_MAX)?;
        bound_object(object);
    }
    line(&mut head.title, TITLE_CHARS);
    if let Some(position) = &mut head.position {
        line(position, POSITION_CHARS);
    }
    if let Some(actions) = &mut head.actions {
        // No action has a longer name, and no app has more of them.
        actions.retain(|action| action.len() <= NAME_MAX);
        cut_list(actions, PROTOTYPES_MAX);
    }
    bound_key(&mut head.focus);
    if !head.custom.is_empty() {
        let length = encode(&head.custom).map_or(usize::MAX, |bytes| bytes.len());
        if length > CUSTOM_MAX {
            let told = Value::from(format!("{length} bytes (limit {CUSTOM_MAX})"));
            head.custom = [("left_out".to_owned(), told)].into();
        }
    }
    let more = cut_list(&mut head.nav, NAV_MAX);
    head.nav.iter_mut().for_each(bound_link);
    Ok(more)
}

/// Brings an object that is bound to a name, or shown by an outcome, within its bounds.
pub fn bound_object(object: &mut ObjectSlot) {
    line(&mut object.label, LABEL_CHARS);
    object.media = object.media.take().map(|media| WindowTexts::media((&media).into()));
    bounds::keep_start(&mut object.detail, OBJECT_DETAIL_CHARS);
    if WindowTexts::object_type(object.ty.as_deref()).is_none() {
        object.ty = None;
    }
}

/// Brings a link within its bounds. One whose call is too long is only text: without its arguments
/// it would be another action.
pub fn bound_link(link: &mut LinkSlot) {
    line(&mut link.label, LABEL_CHARS);
    let code = link.code.as_ref().map_or(0, String::len);
    let bytes = link.action.len() + args_bytes(&link.args);
    if link.action.len() <= NAME_MAX && bytes <= LINK_ARGS_MAX && code <= LINK_CODE_MAX {
        return;
    }
    bounds::append(&mut link.label, &format!(" (no link: its call takes {} bytes)", bytes + code));
    (link.action, link.args, link.code) = (String::new(), Args::new(), None);
}

fn args_bytes(args: &Args) -> usize {
    args.iter().map(|(name, arg)| name.len() + arg_bytes(arg)).sum()
}

fn arg_bytes(arg: &Arg) -> usize {
    pipemux_tokens::work::spend(1);
    match arg {
        Arg::Value(blob) => blob.0.len(),
        // A key that is too long names nothing, and the link is refused with it.
        Arg::Ref(of) if of.key.len() > KEY_MAX => usize::MAX / 4,
        Arg::Ref(of) => of.key.len() + of.ty.as_ref().map_or(0, String::len) + 8,
        Arg::List(items) => items.iter().map(arg_bytes).fold(1, usize::saturating_add),
        Arg::Record(entries) => entries
            .iter()
            .map(|(name, part)| name.len().saturating_add(arg_bytes(part)))
            .fold(1, usize::saturating_add),
        Arg::Copied(copied) => copied.value.0.len() + copied.from.len() + copied.label.len(),
    }
}
