//! What an outcome shows besides its brief: the result of a query, or what makes sure that an act
//! did what was meant.

use crate::foreign::Piece;
use crate::views::content_writer::ContentWriter;
use crate::views::inert::{self, RefTokens};
use crate::views::minter::Minter;
use crate::workspaces::raw_projection::Code;

/// Writes the content of an outcome. The app's own `tokens` pass, as in its window. Without
/// `with_refs`, objects are only named. Otherwise its objects and links outlive the next projection
/// of the window, which need not show them.
pub fn write_content(
    pieces: &[Piece],
    tokens: RefTokens<'_>,
    with_refs: bool,
    minter: &mut Minter<'_>,
) -> String {
    let mut content = ContentWriter::new(tokens, None);
    for piece in pieces {
        match piece {
            Piece::Text(text) => content.markdown.text(text),
            Piece::Object(object) if !with_refs => content.markdown.label(&object.label),
            Piece::Object(object) => {
                let markdown = minter.outcome_object(object);
                content.markdown.raw(&markdown);
            }
            Piece::Link(link) if !minter.has_action(&link.action) => {
                content.markdown.raw(&inert::whole_line(&link.label));
            }
            Piece::Link(link) => {
                let markdown = minter.outcome_link(link, None);
                content.markdown.raw(&markdown);
            }
            // Only a window embeds others: an outcome stays as it was.
            Piece::Embed(_) => {}
            Piece::Code(code) => {
                let (lang, text, first) = (code.lang.borrow(), code.text.borrow(), code.first);
                content.code(&Code { lang, text, first, lines: &code.lines }, None);
            }
        }
    }
    content.finish(None).text().to_owned()
}
