//! Composes two successive lists of edits into one.

use crate::Edit;

enum Piece<'e> {
    Kept(usize, usize),
    New(&'e str),
}

impl Piece<'_> {
    fn len(&self) -> usize {
        match self {
            Piece::Kept(start, end) => end - start,
            Piece::New(text) => text.len(),
        }
    }
}

/// Returns the edits that do at once what `first` does to a text of so many bytes and `second` to
/// the text after that. All of them are in ascending order without overlaps.
pub fn compose(length: usize, first: &[Edit], second: &[Edit]) -> Vec<Edit> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for edit in first {
        pieces.extend([Piece::Kept(at, edit.range.start), Piece::New(&edit.new)]);
        at = edit.range.end;
    }
    pieces.push(Piece::Kept(at, length));
    let mut cut = Cut { pieces, piece: 0, offset: 0 };
    let (mut result, mut at) = (Vec::new(), 0);
    for edit in second {
        cut.take(edit.range.start - at, Some(&mut result));
        cut.take(edit.range.len(), None);
        result.push(Piece::New(&edit.new));
        at = edit.range.end;
    }
    cut.take(usize::MAX, Some(&mut result));
    let (mut edits, mut at, mut new) = (Vec::new(), 0, String::new());
    for piece in &result {
        match piece {
            Piece::New(text) => new += text,
            Piece::Kept(start, end) if start == end => {}
            Piece::Kept(start, end) => {
                if at < *start || !new.is_empty() {
                    edits.push(Edit { range: at..*start, new: std::mem::take(&mut new) });
                }
                at = *end;
            }
        }
    }
    if at < length || !new.is_empty() {
        edits.push(Edit { range: at..length, new });
    }
    edits
}

/// A position in the pieces of a text from which bytes are taken.
struct Cut<'e> {
    pieces: Vec<Piece<'e>>,
    piece: usize,
    offset: usize,
}

impl<'e> Cut<'e> {
    fn take(&mut self, mut bytes: usize, mut into: Option<&mut Vec<Piece<'e>>>) {
        while let Some(piece) = self.pieces.get(self.piece).filter(|_| bytes > 0) {
            let (from, length) = (self.offset, (piece.len() - self.offset).min(bytes));
            if let Some(into) = into.as_mut() {
                into.push(match piece {
                    Piece::Kept(start, _) => Piece::Kept(start + from, start + from + length),
                    Piece::New(text) => Piece::New(&text[from..from + length]),
                });
            }
            bytes -= length;
            self.offset += length;
            if self.offset == piece.len() {
                (self.piece, self.offset) = (self.piece + 1, 0);
            }
        }
    }
}

/// Returns where a byte of a text is after edits. What is put at the byte itself comes before it.
pub fn shifted(edits: &[Edit], at: usize) -> usize {
    let before = edits.iter().take_while(|edit| edit.range.end <= at);
    let growth: isize =
        before.map(|edit| edit.new.len() as isize - edit.range.len() as isize).sum();
    at.saturating_add_signed(growth)
}
