//! The content of apps as lines, and lines as content again: the slots in them stay slots, so
//! anchors survive.

use pipemux_proto::LineRun;
use pipemux_proto::limits::EMBED_BUDGET;
use pipemux_proto::projection::{CodePiece, EmbedSlot, LinkSlot, ObjectSlot, Piece};

use crate::merge::Document;
use crate::note::about;
use crate::section::{Line, heading};
use crate::size::Size;

/// A line of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotLine {
    /// Text and slots; the last text ends with the newline, if the line has one.
    Pieces(Vec<Piece>),
    /// The beginning or end of exact text.
    Fence,
    Code(CodeLine),
}

/// A line of exact text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLine {
    /// The index of the exact text in the content.
    pub block: usize,
    pub lang: String,
    /// The line with its newline, if it has one.
    pub text: String,
    /// The line number, if lines are numbered.
    pub number: Option<u64>,
    /// The line's identity, if the app gave it one.
    pub id: Option<u64>,
}

/// The placeholder for an id that isn't minted yet, in measurements of size.
const UNMINTED: &str = "1234";

/// Splits content into lines of one depth.
pub fn lines(content: Vec<Piece>, depth: u32) -> Vec<Line<SlotLine>> {
    let mut out = Vec::new();
    let mut open: Vec<Piece> = Vec::new();
    let end_line = |open: &mut Vec<Piece>, out: &mut Vec<Line<SlotLine>>| {
        if !open.is_empty() {
            let pieces = std::mem::take(open);
            let size = size(&pieces);
            out.push(Line::new(SlotLine::Pieces(pieces), size).at(depth));
        }
    };
    for (block, piece) in content.into_iter().enumerate() {
        match piece {
            Piece::Text(text) => {
                for part in text.split_inclusive('\n') {
                    open.push(Piece::Text(part.to_owned()));
                    if part.ends_with('\n') {
                        end_line(&mut open, &mut out);
                    }
                }
            }
            Piece::Object(_) | Piece::Link(_) => open.push(piece),
            Piece::Code(code) => {
                end_line(&mut open, &mut out);
                split_code(code, block, depth, &mut out);
            }
            // The daemon shows it on lines of its own.
            Piece::Embed(_) => {
                end_line(&mut open, &mut out);
                open.push(piece);
                end_line(&mut open, &mut out);
            }
        }
    }
    end_line(&mut open, &mut out);
    out
}

fn split_code(code: CodePiece, block: usize, depth: u32, out: &mut Vec<Line<SlotLine>>) {
    let CodePiece { lang, text, first, lines } = code;
    let fence = Size::of_lines(&format!("```{lang}\n"));
    out.push(Line::new(SlotLine::Fence, fence).at(depth).structural());
    let mut ids = lines.iter().flat_map(|run| run_ids(*run));
    for (index, text) in text.split_inclusive('\n').enumerate() {
        let number = first.map(|first| first.saturating_add(index as u64));
        let size = match number {
            Some(number) => Size::of_lines(&format!("{number}\t{text}")),
            None => Size::of_lines(text),
        };
        let (lang, text) = (lang.clone(), text.to_owned());
        let line = CodeLine { block, lang, text, number, id: ids.next() };
        out.push(Line::new(SlotLine::Code(line), size).at(depth));
    }
    out.push(Line::new(SlotLine::Fence, Size::of_lines("```\n")).at(depth).structural());
}

/// Returns the identities of a run's lines.
fn run_ids(run: LineRun) -> impl Iterator<Item = u64> {
    let LineRun { id, count } = run;
    // 0 stands for an unknown identity.
    (0..count).map(move |at| if id == 0 { 0 } else { id.saturating_add(at) })
}

/// Makes content of lines again.
pub fn content(lines: impl IntoIterator<Item = SlotLine>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut block = None;
    for line in lines {
        match line {
            SlotLine::Pieces(pieces) => {
                block = None;
                pieces.into_iter().for_each(|piece| push(&mut out, piece));
            }
            SlotLine::Fence => block = None,
            SlotLine::Code(line) => {
                let continues = block == Some(line.block);
                block = Some(line.block);
                match out.last_mut() {
                    Some(Piece::Code(code)) if continues => {
                        code.text += &line.text;
                        push_id(&mut code.lines, line.id);
                    }
                    _ => {
                        let mut code = CodePiece {
                            lang: line.lang,
                            text: line.text,
                            first: line.number,
                            lines: Vec::new(),
                        };
                        push_id(&mut code.lines, line.id);
                        out.push(Piece::Code(code));
                    }
                }
            }
        }
    }
    out
}

fn push(out: &mut Vec<Piece>, piece: Piece) {
    match (out.last_mut(), piece) {
        (Some(Piece::Text(text)), Piece::Text(more)) => *text += &more,
        (_, piece) => out.push(piece),
    }
}

fn push_id(runs: &mut Vec<LineRun>, id: Option<u64>) {
    let Some(id) = id else { return };
    match runs.last_mut() {
        Some(run) if run.id == 0 && id == 0 => run.count += 1,
        Some(run) if run.id != 0 && run.id.checked_add(run.count) == Some(id) => run.count += 1,
        _ => runs.push(LineRun { id, count: 1 }),
    }
}

/// Measures pieces of one line.
pub fn size(pieces: &[Piece]) -> Size {
    let (mut text, mut embedded) = (String::new(), 0_u64);
    for piece in pieces {
        match piece {
            Piece::Text(part) => text += part,
            Piece::Object(ObjectSlot { key, ty, label, show_key, .. }) => {
                let id = if *show_key { key.as_str() } else { UNMINTED };
                let ty = ty.as_deref().map(|ty| format!("{ty}:")).unwrap_or_default();
                text += &format!("[{label}](obj:{ty}{id})");
            }
            Piece::Link(LinkSlot { label, action, code, titled, .. }) => {
                let title = match code {
                    Some(code) if *titled => format!(" \"{code}\""),
                    None if *titled => format!(" \"{action}()\""),
                    _ => String::new(),
                };
                text += &format!("[{label}](link:{UNMINTED}{title})");
            }
            Piece::Code(code) => text += &code.text,
            Piece::Embed(EmbedSlot { session, budget, .. }) => {
                text += &format!("### {session}\n");
                embedded += match budget {
                    0 => u64::from(EMBED_BUDGET),
                    budget => u64::from(*budget),
                };
            }
        }
    }
    let own = Size::of_lines(&text);
    Size { tokens: own.tokens.saturating_add(embedded), ..own }
}

/// Writes a document as content: headings, marks, lines, what was cut, and the lines at the end.
pub fn pieces(document: Document<SlotLine>) -> Vec<Piece> {
    let mut out = Vec::new();
    let text = |text: String| SlotLine::Pieces(vec![Piece::Text(text)]);
    for entry in document.entries {
        let mut mark = entry.mark;
        for section in entry.sections {
            if !section.title.is_empty() {
                out.push(text(heading(&section.title)));
            }
            out.extend(mark.take().map(text));
            let more = section.more.map(|more| text(format!("… {} more lines\n", about(more))));
            out.extend(section.lines);
            out.extend(more);
        }
        out.extend(mark.map(text));
    }
    out.extend(document.notes.into_iter().chain(document.debug).map(text));
    content(out)
}
