//! Rendering a window: a projection and the anchor table in, Markdown and minted ids out.

use std::rc::Rc;

use pipemux_proto::projection::ObjectRef;

use crate::keys::SessionKey;
use crate::views::content_writer::ContentWriter;
use crate::views::inert::{self, Writer};
use crate::views::minter::{Minter, RenderInput};
use crate::workspaces::Rendered;
use crate::workspaces::anchors::{AnchorTable, Minted};
use crate::workspaces::raw_projection::{Piece, RawProjection};

/// What rendering gave.
#[derive(Debug)]
pub struct RenderPass {
    /// The window, with the ids that it shows.
    pub rendered: Rendered,
    /// True when something new was minted or a meaning changed.
    pub changed: bool,
    /// Keys that the app gave to two things of the window: the first thing has the key's id, any further one
    /// is shown as text.
    pub conflicts: Vec<String>,
}

/// Renders the window of a session. What the session showed before counts as shown no more; texts of the
/// `previous` rendering are shared where they are the same.
pub fn render_window(
    session: &SessionKey,
    projection: &RawProjection,
    input: RenderInput<'_>,
    previous: Option<&Rc<Rendered>>,
    anchors: &mut AnchorTable,
) -> RenderPass {
    let mut minter = Minter::new(session, input, anchors);
    let mut conflicts = Vec::new();
    let slots = projection.slots();
    minter.begin_window(previous.map_or(0, |previous| previous.ids.len()));
    let mut heading = Writer::default();
    heading.raw("## ");
    heading.raw(&session.to_string());
    if !projection.title.is_empty() {
        heading.raw(" · ");
        heading.text(&projection.title.replace(['\n', '\r'], " "));
    }
    let nav: Vec<String> = slots.nav.iter().map(|link| minter.link(link, false)).collect();
    for object in projection.names.values() {
        minter.mint_object(object.into(), false);
    }
    let previous_content = previous.map(|previous| &previous.content);
    let mut content = ContentWriter::new(input.tokens, previous_content);
    for piece in projection.pieces(&slots) {
        match piece {
            Piece::Text(text) => content.markdown.text(text),
            Piece::Object(object) => {
                write_object(object, &mut minter, &mut conflicts, &mut content.markdown);
            }
            Piece::Link(link) if !minter.has_action(&link.action) => {
                content.markdown.text(&link.label.replace(['\n', '\r'], " "));
            }
            Piece::Link(link) => {
                let markdown = minter.link(link, false);
                content.markdown.raw(&markdown);
            }
            Piece::Code(code, estimate) => content.code(&code, estimate),
        }
    }
    let ids = minter.end_window();
    let mut rendered = Rendered {
        heading: heading.finish(),
        document: projection.document.as_deref().map(Into::into),
        nav: nav.join(" "),
        content: content.finish(previous_content),
        position: projection.position.as_deref().map(inert::whole_line),
        ids: match previous {
            Some(previous) if *previous.ids == *ids => previous.ids.clone(),
            _ => ids.into(),
        },
        names: projection
            .names
            .iter()
            .map(|(name, object)| (name.clone(), (object.key.clone(), object.rev)))
            .collect(),
        numbers: projection.numbers.clone().into(),
        hidden_tokens: projection.hidden_tokens,
        tokens: 0,
    };
    rendered.tokens = rendered.estimate_tokens();
    RenderPass { rendered, changed: minter.has_changed(), conflicts }
}

/// Writes an object; as mere text, if its key stands for something else in this window already.
fn write_object(
    object: ObjectRef<'_>,
    minter: &mut Minter<'_>,
    conflicts: &mut Vec<String>,
    out: &mut Writer<'_>,
) {
    let Minted { id, conflict, .. } = minter.mint_object(object, true);
    if conflict {
        if !conflicts.iter().any(|known| known == object.key) {
            conflicts.push(object.key.to_owned());
        }
        return out.text(&object.label.replace(['\n', '\r'], " "));
    }
    out.raw("[");
    out.label(object.label);
    out.raw("](obj:");
    out.number(id);
    out.raw(")");
}

#[cfg(test)]
mod tests {
    use pipemux_proto::projection::{ObjectSlot, Piece as SentPiece, Projection};

    use super::*;
    use crate::views::answer_buffer::window_markdown;
    use crate::views::inert::RefTokens;

    fn session() -> SessionKey {
        SessionKey { workspace: None, addr: "notes/main".parse().unwrap() }
    }

    fn projection(objects: &[(&str, u64)]) -> RawProjection {
        let object = |(key, rev): &(&str, u64)| {
            let (key, label) = ((*key).to_owned(), format!("the {key}"));
            SentPiece::Object(ObjectSlot { key, rev: *rev, ty: None, label })
        };
        let mut content = vec![SentPiece::Text("see [x](obj:1) ".into())];
        content.extend(objects.iter().map(object));
        let sent = Projection { title: "A\nB".into(), content, ..Projection::default() };
        RawProjection::read(&pipemux_proto::encode(&sent).unwrap().into()).unwrap()
    }

    fn render(
        projection: &RawProjection,
        previous: Option<&Rc<Rendered>>,
        anchors: &mut AnchorTable,
    ) -> RenderPass {
        let (prototypes, tokens) = (&[][..], RefTokens::None);
        let input = RenderInput { prototypes, tokens, epoch: 1, show_calls: false };
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
        assert_eq!(pass.conflicts, ["a"]);
        assert_eq!(*pass.rendered.ids, [1]);
        let text = "see [x]\\(obj:1) [the a](obj:1)the athe a\n";
        assert_eq!(pass.rendered.content.text(), text);
    }
}
