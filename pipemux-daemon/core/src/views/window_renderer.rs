//! Rendering a window: a projection and the anchor table in, Markdown and minted ids out.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use pipemux_proto::SessionAddr;
use pipemux_proto::projection::{EmbedSlot, Lod, ObjectRef};
use pipemux_proto::refs::Ref;

use crate::foreign::{ForeignStr, LinkSlot, ObjectSlot};
use crate::keys::SessionKey;
use crate::limits::CONFLICTS_MAX;
use crate::views::content_writer::{ContentWriter, EMBED_HEADING};
use crate::views::inert::{self, Writer};
use crate::views::link_title::add_keys_of_link;
use crate::views::media::media_words;
use crate::views::minter::{Minter, RenderInput};
use crate::views::trim::trim;
use crate::workspaces::anchors::{AnchorTable, Minted};
use crate::workspaces::raw_projection::{Code, Piece, RawProjection, Slots};
use crate::workspaces::{Embed, Embeds, Rendered};

/// The result of a render pass.
#[derive(Debug)]
pub struct RenderPass {
    /// The rendered window, with the ids that it shows.
    pub rendered: Rendered,
    /// True when something new was minted or a meaning changed.
    pub changed: bool,
}

/// Renders the window of a session. What the session showed before counts as shown no more; texts
/// of the `previous` rendering are shared where they are the same.
pub fn render_window(
    session: &SessionKey,
    projection: &RawProjection,
    input: RenderInput<'_>,
    previous: Option<&Rc<Rendered>>,
    anchors: &mut AnchorTable,
) -> RenderPass {
    let mut minter = Minter::new(session, input, anchors);
    let (mut conflicts, mut keyed) = (Vec::new(), Vec::new());
    let slots = projection.slots();
    minter.begin_window(previous.map_or(0, |previous| previous.ids.len()));
    let heading = heading("## ", session, projection);
    mint_early(projection, &slots, &mut minter);
    let mut nav: Vec<String> = slots.nav.iter().map(|link| minter.link(link)).collect();
    if slots.nav_left_out > 0 {
        nav.push(format!("… {} more links", slots.nav_left_out));
    }
    let names = bound_names(projection, &slots, &mut conflicts);
    for object in names.values() {
        minter.mint_object((*object).into(), false);
    }
    let previous_content = previous.map(|previous| &previous.content);
    let mut content = ContentWriter::new(input.tokens, previous_content);
    let (mut pieces, mut embeds) = (projection.pieces(&slots).peekable(), input.embeds.iter());
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Embed(_) => {
                let more = pieces.peek().is_some_and(|next| !matches!(next, Piece::Embed(_)));
                embeds.next().into_iter().for_each(|embed| content.embed(embed, more));
            }
            Piece::Text(text) => content.markdown.text(text),
            Piece::Object(object) => {
                keyed.extend(write_object(
                    object,
                    &mut minter,
                    &mut conflicts,
                    &mut content.markdown,
                ));
            }
            Piece::Link(link) => write_link(link, &mut minter, &mut content.markdown),
            Piece::Code(code, estimate) => content.code(&code, estimate),
        }
    }
    let embeds = Embeds(input.embeds.into());
    for window in embeds.windows() {
        minter.show_embedded(&window.rendered.ids);
        keyed.extend(window.rendered.keyed.iter().cloned());
    }
    let ids = minter.end_window();
    let mut rendered = Rendered {
        heading,
        document: projection.document.as_deref().map(Into::into),
        nav: nav.join(" "),
        content: content.finish(previous_content),
        position: projection.position.as_ref().map(inert::whole_line),
        ids: match previous {
            Some(previous) if *previous.ids == *ids => previous.ids.clone(),
            _ => ids.into(),
        },
        keyed: keyed.into(),
        show_calls: input.show_calls,
        words: minter.take_words(),
        names: names
            .into_iter()
            .map(|(name, object)| (name.clone(), (object.key.clone(), object.rev)))
            .collect(),
        numbers: projection.numbers.clone().into(),
        hidden_tokens: embeds
            .windows()
            .map(|window| window.rendered.hidden_tokens)
            .fold(projection.hidden_tokens, u64::saturating_add),
        embeds,
        tokens: 0,
        conflicts: conflicts.into(),
    };
    rendered.tokens = rendered.estimate_tokens();
    RenderPass { rendered, changed: minter.has_changed() }
}

/// Renders the window of a session as a window of another one shows it, within a budget in tokens:
/// without line numbers, which are no references there, and with one line for each window that it
/// shows itself. What it shows counts as shown once the other window is rendered.
pub fn render_embedded(
    session: &SessionKey,
    projection: &RawProjection,
    input: RenderInput<'_>,
    (lod, budget): (Lod, u32),
    anchors: &mut AnchorTable,
) -> RenderPass {
    anchors.begin_embed();
    let mut minter = Minter::new(session, input, anchors).embedded();
    let (mut conflicts, mut keyed) = (Vec::new(), Vec::new());
    let slots = projection.slots();
    mint_early(projection, &slots, &mut minter);
    let nav: Vec<String> = match lod {
        // One line has no room for what could be done.
        Lod::Gist => Vec::new(),
        _ => slots.nav.iter().map(|link| minter.link(link)).collect(),
    };
    let mut content = ContentWriter::new(input.tokens, None);
    for piece in projection.pieces(&slots) {
        match piece {
            Piece::Embed(embed) => content.embed(&nested(embed), false),
            Piece::Text(text) => content.markdown.text(text),
            Piece::Object(object) => {
                let out = &mut content.markdown;
                keyed.extend(write_object(object, &mut minter, &mut conflicts, out));
            }
            Piece::Link(link) => write_link(link, &mut minter, &mut content.markdown),
            Piece::Code(code, _) => {
                content.code(&Code { first: None, lines: &[], ..code }, None);
            }
        }
    }
    let ids = minter.take_ids();
    let (words, changed) = (minter.take_words(), minter.has_changed());
    anchors.end_embed();
    let mut rendered = Rendered {
        heading: heading(EMBED_HEADING, session, projection),
        nav: nav.join(" "),
        content: content.finish(None),
        ids: ids.into(),
        keyed: keyed.into(),
        show_calls: input.show_calls,
        words,
        hidden_tokens: projection.hidden_tokens,
        ..Rendered::default()
    };
    rendered.tokens = rendered.estimate_tokens();
    let numbers = projection.numbers.clone().into();
    RenderPass { rendered: Rendered { numbers, ..trim(rendered, budget.into()) }, changed }
}

/// Returns the line for a window that an embedded window shows itself.
fn nested(embed: &EmbedSlot) -> Embed {
    Embed::Line(match embed.session.parse::<SessionAddr>() {
        Ok(addr) => format!("{EMBED_HEADING}{addr} · pipemux view {addr}"),
        Err(_) => format!("{EMBED_HEADING}no session"),
    })
}

fn heading(marks: &str, session: &SessionKey, projection: &RawProjection) -> String {
    let mut heading = Writer::default();
    heading.raw(marks);
    for part in [session.addr.provider.as_str(), "/", session.addr.session.as_str()] {
        heading.raw(part);
    }
    if !projection.title.is_empty() {
        heading.raw(" · ");
        heading.one_line(&projection.title);
    }
    heading.finish()
}

/// Returns the names that a projection binds, except those whose object has another revision or
/// type than in the content or an earlier name: otherwise one key would have two meanings.
fn bound_names<'a>(
    projection: &'a RawProjection,
    slots: &Slots,
    conflicts: &mut Vec<String>,
) -> BTreeMap<&'a String, &'a ObjectSlot> {
    if projection.names.is_empty() {
        return BTreeMap::new();
    }
    let mut meanings = BTreeMap::new();
    for piece in projection.pieces(slots) {
        if let Piece::Object(object) = piece {
            meanings.entry(object.key).or_insert((object.rev, object.ty));
        }
    }
    let mut names = BTreeMap::new();
    for (name, object) in &projection.names {
        let meaning = (object.rev, object.ty.as_deref());
        if *meanings.entry(&object.key).or_insert(meaning) == meaning {
            names.insert(name, object);
        } else {
            note_conflict(conflicts, &object.key);
        }
    }
    names
}

/// Remembers a key that stands for two things: the first few are enough for an error that names
/// them.
fn note_conflict(conflicts: &mut Vec<String>, key: &str) {
    pipemux_tokens::work::spend(conflicts.len() + 1);
    if conflicts.len() < CONFLICTS_MAX && !conflicts.iter().any(|known| known == key) {
        conflicts.push(key.to_owned());
    }
}

/// Mints the ids of the objects that the calls of links name: a link may stand before its object.
fn mint_early(projection: &RawProjection, slots: &Slots, minter: &mut Minter<'_>) {
    let mut keys = BTreeSet::new();
    for link in slots.links().filter(|link| minter.shows_call(link)) {
        add_keys_of_link(link, &mut keys);
    }
    if keys.is_empty() {
        return;
    }
    for piece in projection.pieces(slots) {
        if let Piece::Object(object) = piece
            && keys.remove(object.key)
        {
            minter.mint_early(object);
        }
    }
}

/// Writes a link; of one whose action the app doesn't have, only the label.
fn write_link(link: &LinkSlot, minter: &mut Minter<'_>, out: &mut Writer<'_>) {
    match minter.has_action(&link.action) {
        true => {
            let markdown = minter.link(link);
            out.raw(&markdown);
        }
        false => out.one_line(&link.label),
    }
}

/// Writes an object, as plain text if its key already stands for another object in this window.
/// Returns the id and the ref if the ref is written without the id.
fn write_object(
    object: ObjectRef<'_, ForeignStr<'_>>,
    minter: &mut Minter<'_>,
    conflicts: &mut Vec<String>,
    out: &mut Writer<'_>,
) -> Option<(u64, Box<str>)> {
    let Minted { id, conflict, .. } = minter.mint_object(object, true);
    if conflict {
        note_conflict(conflicts, object.key);
        out.one_line(object.label);
        return None;
    }
    out.raw("[");
    out.label(object.label);
    out.raw("](");
    let mut keyed = None;
    if object.show_key {
        let written = minter.written(id).to_string();
        out.raw(&written);
        keyed = Some((id, written.into()));
    } else {
        // As `Anchor::written`, without an allocation.
        out.raw("obj:");
        if let Some(ty) = object.ty.filter(|ty| Ref::shows_type(ty)) {
            out.raw(ty);
            out.raw(":");
        }
        out.number(id);
    }
    out.raw(")");
    if let Some(media) = object.media {
        out.raw(&media_words(media));
    }
    keyed
}

#[cfg(test)]
mod tests {
    use pipemux_proto::projection::{ObjectSlot, Piece as SentPiece, Projection};

    use super::*;
    use crate::views::answer_buffer::window_markdown;
    use crate::views::inert::RefTokens;
    use crate::views::link_title::ALL_WORDS;

    fn session() -> SessionKey {
        SessionKey { workspace: None, addr: "notes/main".parse().unwrap() }
    }

    fn projection(objects: &[(&str, u64)]) -> RawProjection {
        let object = |(key, rev): &(&str, u64)| {
            let (key, label) = ((*key).to_owned(), format!("the {key}"));
            SentPiece::Object(ObjectSlot { key, rev: *rev, label, ..ObjectSlot::default() })
        };
        let mut content = vec![SentPiece::Text("see [x](obj:1) ".into())];
        content.extend(objects.iter().map(object));
        let sent = Projection { title: "A\nB".into(), content, ..Projection::default() };
        RawProjection::read(&pipemux_proto::encode(&sent).unwrap().into()).unwrap()
    }

    /// Renders for the first epoch or, when there was a rendering before, for the next one.
    fn render(
        projection: &RawProjection,
        previous: Option<&Rc<Rendered>>,
        anchors: &mut AnchorTable,
    ) -> RenderPass {
        let (prototypes, tokens) = (&[][..], RefTokens::None);
        let epoch = 1 + u64::from(previous.is_some());
        let (shared, embeds) = (&ALL_WORDS, &[][..]);
        let input = RenderInput { prototypes, tokens, epoch, show_calls: false, shared, embeds };
        render_window(&session(), projection, input, previous, anchors)
    }

    #[test]
    fn equal_projection_and_table_give_equal_markdown_and_ids() {
        let sent = projection(&[("a", 1), ("b", 1)]);
        let (mut one, mut other) = (AnchorTable::starting_at(5), AnchorTable::starting_at(5));
        let first = render(&sent, None, &mut one);
        assert_eq!(
            window_markdown(&first.rendered),
            "## notes/main · A B\nsee [x]\\(obj:1) [the a](obj:5)[the b](obj:6)\n"
        );
        assert_eq!(*first.rendered.ids, [5, 6]);
        assert!(first.changed);
        assert_eq!(render(&sent, None, &mut other).rendered, first.rendered);

        let previous = Rc::new(first.rendered);
        let again = render(&sent, Some(&previous), &mut one);
        assert!(!again.changed);
        assert_eq!(again.rendered, *previous);
        assert!(Rc::ptr_eq(&again.rendered.content, &previous.content), "shared");
    }

    #[test]
    fn second_object_of_a_key_is_written_as_text() {
        let mut anchors = AnchorTable::starting_at(1);
        let pass = render(&projection(&[("a", 1), ("a", 2), ("a", 3)]), None, &mut anchors);
        assert_eq!(*pass.rendered.conflicts, ["a"]);
        assert_eq!(*pass.rendered.ids, [1]);
        let text = "see [x]\\(obj:1) [the a](obj:1)the athe a\n";
        assert_eq!(pass.rendered.content.text(), text);
    }
}
