//! Text of whole lines: every line has its ending, except possibly the last one of a file.

use docui::Text;

use crate::model::buffer::Buffer;
use crate::model::splice::Splice;

/// Returns an argument as whole lines with the line endings of the file. One final newline is the
/// end of the last line, however the text came: quoted, as a raw block, or by reference.
pub(super) fn whole_lines(text: &Text, buffer: &Buffer) -> String {
    let ending = buffer.line_ending();
    let given = text.text.as_str();
    let lines = given.strip_suffix(ending).or(given.strip_suffix('\n')).unwrap_or(given);
    let text = format!("{lines}{ending}");
    match ending == "\r\n" && !text[..text.len() - 2].contains("\r\n") {
        true => text[..text.len() - 2].replace('\n', ending) + ending,
        false => text,
    }
}

/// Returns an argument that takes the place of whole lines. Where their last line is empty, a final
/// newline of the text stands for that line: lines that are written again as they were shown end
/// so. Text by reference has the newline of its last line.
pub(super) fn lines_in_place_of(old: &str, text: &Text, buffer: &Buffer) -> String {
    let is_empty = old.lines().next_back().is_some_and(|line| line.trim().is_empty());
    let lines = text.text.strip_suffix('\n');
    let has_one = lines.is_some_and(|lines| !lines.ends_with('\n') && !lines.ends_with("\n\r"));
    match is_empty && has_one && text.from.is_none() {
        true => {
            let text = Text { text: format!("{}{}", text.text, buffer.line_ending()), from: None };
            whole_lines(&text, buffer)
        }
        false => whole_lines(text, buffer),
    }
}

/// Returns the splice that puts whole lines before a line, or at the end. There the file's last
/// line keeps lacking its newline if it did.
pub(super) fn insertion(buffer: &Buffer, line: usize, new: String) -> Splice {
    let (at, old) = (buffer.line_start(line), String::new());
    if line < buffer.line_count() || buffer.is_empty() || buffer.ends_with_newline() {
        return Splice { at, old, new };
    }
    let new = format!("{}{}", buffer.line_ending(), without_last_newline(new));
    Splice { at, old, new }
}

/// Joins two blocks of lines that changed places. Only the last line may lack its newline.
pub(super) fn join(first: String, second: String) -> String {
    if first.ends_with('\n') {
        return first + &second;
    }
    let open = without_last_newline(second.clone());
    let ending = match &second[open.len()..] {
        // An empty last line consists of its newline only, which therefore stays.
        "" if second.ends_with("\r\n") => "\r\n",
        "" => "\n",
        ending => ending,
    };
    format!("{first}{ending}{open}")
}

/// Removes the newline of the last line, unless that line consists of nothing else.
pub(super) fn without_last_newline(mut lines: String) -> String {
    let body = lines.trim_end_matches('\n');
    let newlines = lines.len() - body.len();
    let body = body.strip_suffix('\r').unwrap_or(body);
    if newlines == 1 && !body.is_empty() && !body.ends_with('\n') {
        lines.truncate(body.len());
    }
    lines
}
