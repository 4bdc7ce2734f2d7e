//! The blocks of a model's message that run.
//!
//! Only fenced code blocks run whose info string has `docui` as its first word. The message is read
//! as CommonMark, so code that is only mentioned never runs: inline code, indented code, code in
//! other fences or in HTML. Code in a block quote is a quotation and doesn't run either.
//!
//! Two rules differ from CommonMark, so that a block is always what its writer meant:
//! - **An open text hides fences.** While a raw block (`<<END` … `END`) or a `'''…'''` text of the
//!   code is open, a fence line belongs to the text. Otherwise the code would end in the middle of
//!   a text, which is always an error.
//! - **A `docui` block needs its closing fence.** A block that ends with the message, or with the
//!   list item around it, is refused, because it may be cut off.
//!
//! The first rule is why this module has a block parser of its own. It decides line by line, by the
//! code so far, where a fenced block ends, and all that follows depends on it. A CommonMark library
//! such as pulldown-cmark has found the ends of all blocks before it reports one, and can't be told
//! otherwise. Masking the hidden fences and parsing again takes one pass for each text that hides a
//! fence, while a message must be read in linear time. `tests/proto/call_blocks.rs` compares both
//! parsers where the rules agree.
//!
//! | module | holds |
//! |---|---|
//! | `document` | block structure: quotes, list items, fences |
//! | `line` | one line: columns, tabs, markers |
//! | `html` | HTML blocks |
//! | `open_text` | whether a text of the code is open |

mod document;
mod html;
mod line;
mod open_text;

use super::error::CallError;
use super::span::Span;
use crate::limits::CODE_MAX;
use document::{Document, LineKind};
use open_text::OpenText;

/// The first word of the info string of blocks that run.
pub const WORD: &str = "docui";

/// A block of a message that is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The code between the fences, without their indentation.
    pub code: String,
    /// The line of the message on which the code begins, from 1.
    pub first_line: usize,
}

/// Returns the blocks of a message that run, in order. The time is linear in the message's length.
///
/// # Errors
/// A block has no closing fence, or all code together exceeds [`CODE_MAX`] bytes. The spans of
/// errors refer to the message.
pub fn blocks(message: &str) -> Result<Vec<Block>, CallError> {
    let mut found = Vec::new();
    let mut document = Document::default();
    let mut open: Option<OpenBlock> = None;
    let mut total = 0;
    let mut start = 0;
    for (index, whole) in message.split_inclusive('\n').enumerate() {
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let hides_fences = open.as_ref().is_some_and(|block| block.text.is_open());
        match (document.next_line(line, hides_fences), open.take()) {
            (LineKind::Code(code), Some(mut block)) => {
                block.code.push_str(&code);
                block.code.push_str(&whole[line.len()..]);
                total += code.len() + whole.len() - line.len();
                if total > CODE_MAX {
                    return Err(too_long(block.fence));
                }
                block.text.next_line(&code, index + 1);
                open = Some(block);
            }
            (LineKind::Closed, Some(block)) => {
                found.push(Block { code: block.code, first_line: block.line + 1 });
            }
            (_, Some(block)) => return Err(block.unclosed(Some(index + 1))),
            (LineKind::Opened { info, quoted: false }, None) if first_word(info) == WORD => {
                let fence = Span { start, end: start + line.len() };
                open = Some(OpenBlock::new(line, fence, index + 1));
            }
            (_, None) => {}
        }
        start += whole.len();
    }
    open.map_or(Ok(found), |block| Err(block.unclosed(None)))
}

/// Joins the blocks to the code of one run. Empty lines give each line the number that it has in
/// the message, unless that would make the code too long. A call that one block leaves open doesn't
/// continue in the next block.
pub fn script(blocks: &[Block]) -> String {
    let total: usize = blocks.iter().map(|block| block.code.len()).sum();
    let last = blocks.last().map_or(0, |block| block.first_line);
    let keeps_numbers = total + last + 2 * blocks.len() <= CODE_MAX;
    let mut script = String::new();
    let mut line = 1;
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            // Takes the line of the previous block's closing fence.
            script.push_str(";\n");
            line += 1;
        }
        if keeps_numbers {
            let missing = block.first_line.saturating_sub(line);
            script.extend(std::iter::repeat_n('\n', missing));
            line += missing;
        }
        script.push_str(&block.code);
        line += block.code.matches('\n').count();
    }
    script
}

/// A block whose closing fence hasn't been read yet.
struct OpenBlock {
    code: String,
    text: OpenText,
    /// The shortest fence that closes the block.
    closing: String,
    /// The span of the opening fence.
    fence: Span,
    /// The line of the opening fence.
    line: usize,
}

impl OpenBlock {
    fn new(opening: &str, fence: Span, line: usize) -> Self {
        let at = opening.find(['`', '~']).unwrap_or_default();
        let sign = if opening[at..].starts_with('~') { '~' } else { '`' };
        let closing = opening[at..].chars().take_while(|c| *c == sign).collect();
        Self { code: String::new(), text: OpenText::default(), closing, fence, line }
    }

    /// Returns the error for a block that ended without its fence, on the line `ended` or with the
    /// message.
    fn unclosed(self, ended: Option<usize>) -> CallError {
        let Self { closing, line, .. } = &self;
        let closing = super::excerpt::clip(closing);
        let note = match (self.text.describe(), ended) {
            (Some((text, begun)), _) => {
                format!("begins here, on line {line}; {text}, opened on line {begun}, has no end")
            }
            (None, Some(ended)) => format!(
                "begins here, on line {line}; its list item ends on line {ended}, before its closing {closing}"
            ),
            (None, None) => {
                format!("begins here, on line {line}; expected a closing {closing} line behind it")
            }
        };
        let hint = match self.text.describe() {
            Some((text, _)) => {
                format!("close {text}, then the block with {closing}, and send it again")
            }
            None => format!("close it with {closing} alone on a line, and send it again"),
        };
        CallError::new("unclosed docui block", self.fence, note).hint(hint)
    }
}

fn first_word(info: &str) -> &str {
    info.split([' ', '\t']).next().unwrap_or_default()
}

fn too_long(fence: Span) -> CallError {
    let note = format!("with this block the code passes {CODE_MAX} bytes");
    CallError::new("code too long", fence, note)
        .hint("send it in several messages, or long text as: pipemux run '…text=stdin…' < file")
}
