//! A whole model message: which of its code runs.
//!
//! Only fenced code blocks whose info string's first word is exactly `docui` run. A message is read as
//! CommonMark reads it, so what is merely mentioned never runs: inline code, indented code, other
//! fences and what they hold, HTML. What stands in a block quote is quoted: it doesn't run either.
//!
//! Two things are stricter or looser than CommonMark, both so that a block is what its writer meant:
//! - **An open text hides fences.** While a raw block (`<<END` … `END`) or a `'''…'''` text of the code
//!   is open, a fence line is text. Without this the code would end in the middle of a text, which is
//!   always an error.
//! - **A `docui` block has its closing fence.** One that ends with the message, or with the list item
//!   around it, is refused: it may have been cut off.
//!
//! | module | holds |
//! |---|---|
//! | `document` | which lines are in which block: quotes, list items, fences |
//! | `line` | one line: columns, tabs, markers |
//! | `html` | HTML blocks |
//! | `hidden` | whether a text of the code is open |

mod document;
mod hidden;
mod html;
mod line;

use super::{CallError, Span};
use crate::limits::CODE_MAX;
use document::{Document, Seen};
use hidden::Hidden;

/// The info word of the blocks that run.
pub const WORD: &str = "docui";

/// Code of a message that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What stands between the fences, without their indentation.
    pub code: String,
    /// The line of the message on which the code begins; counts from 1.
    pub first_line: usize,
}

/// Finds the blocks of a message that run, in order, in time linear in its length.
///
/// # Errors
/// A block without its closing fence; more than [`CODE_MAX`] bytes of code in all. The places are those
/// of the message.
pub fn blocks(message: &str) -> Result<Vec<Block>, CallError> {
    let mut found = Vec::new();
    let mut document = Document::default();
    let mut open: Option<Open> = None;
    let mut total = 0;
    let mut start = 0;
    for (index, whole) in message.split_inclusive('\n').enumerate() {
        let line = whole.strip_suffix('\n').unwrap_or(whole);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let hides = open.as_ref().is_some_and(|open| open.hidden.hides());
        match (document.line(line, hides), open.take()) {
            (Seen::Code(code), Some(mut block)) => {
                block.code.push_str(&code);
                block.code.push_str(&whole[line.len()..]);
                total += code.len() + whole.len() - line.len();
                if total > CODE_MAX {
                    return Err(too_long(block.fence));
                }
                block.hidden.line(&code, index + 1);
                open = Some(block);
            }
            (Seen::Closed, Some(block)) => {
                found.push(Block { code: block.code, first_line: block.line + 1 });
            }
            (_, Some(block)) => return Err(block.unclosed(Some(index + 1))),
            (Seen::Opened { info, quoted: false }, None) if first_word(info) == WORD => {
                let fence = Span { start, end: start + line.len() };
                open = Some(Open::new(line, fence, index + 1));
            }
            (_, None) => {}
        }
        start += whole.len();
    }
    open.map_or(Ok(found), |block| Err(block.unclosed(None)))
}

/// The blocks as the code of one run. Each line has the number that it has in the message, unless the
/// message is so long that the empty lines would be too much code. Blocks stay apart: a call that one
/// leaves open doesn't go on in the next.
pub fn script(blocks: &[Block]) -> String {
    let total: usize = blocks.iter().map(|block| block.code.len()).sum();
    let last = blocks.last().map_or(0, |block| block.first_line);
    let in_place = total + last + 2 * blocks.len() <= CODE_MAX;
    let mut script = String::new();
    let mut line = 1;
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            // Where the closing fence of the one before stood.
            script.push_str(";\n");
            line += 1;
        }
        if in_place {
            let missing = block.first_line.saturating_sub(line);
            script.extend(std::iter::repeat_n('\n', missing));
            line += missing;
        }
        script.push_str(&block.code);
        line += block.code.matches('\n').count();
    }
    script
}

/// A block whose end hasn't come.
struct Open {
    code: String,
    hidden: Hidden,
    /// The signs that close it.
    closing: String,
    /// Where it is opened.
    fence: Span,
    /// The same as a line number.
    line: usize,
}

impl Open {
    fn new(opening: &str, fence: Span, line: usize) -> Self {
        let at = opening.find(['`', '~']).unwrap_or_default();
        let sign = if opening[at..].starts_with('~') { '~' } else { '`' };
        let closing = opening[at..].chars().take_while(|c| *c == sign).collect();
        Self { code: String::new(), hidden: Hidden::default(), closing, fence, line }
    }

    /// The error at the line that ended it, or at the message's end.
    fn unclosed(self, ended: Option<usize>) -> CallError {
        let Self { closing, line, .. } = &self;
        let closing = super::excerpt::clip(closing);
        let note = match (self.hidden.what(), ended) {
            (Some((what, begun)), _) => {
                format!("begins here, on line {line}; {what}, opened on line {begun}, has no end")
            }
            (None, Some(ended)) => format!(
                "begins here, on line {line}; its list item ends on line {ended}, before its closing {closing}"
            ),
            (None, None) => {
                format!("begins here, on line {line}; expected a closing {closing} line behind it")
            }
        };
        let hint = match self.hidden.what() {
            Some((what, _)) => {
                format!("close {what}, then the block with {closing}, and send it again")
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
