//! `edit_file`: texts that are replaced, and the difference that this makes.

use serde_json::Value;
use similar::TextDiff;

use super::{allowed_path, failed, text_of};
use crate::exec::daemon::Daemon;
use crate::exec::edits::Target;
use crate::exec::{Arguments, Outcome, ToolAnswer};

/// Unchanged lines around a change that a difference shows.
const CONTEXT: usize = 4;

/// Makes all of the edits or none, and the difference that they make.
///
/// # Errors
/// A text isn't found, or no daemon answers.
pub fn edit(arguments: &Arguments<'_>, daemon: &mut Daemon) -> Outcome {
    let path = arguments.text("path")?;
    let real = allowed_path(path, daemon)?;
    let wrong = || arguments.wrong("edits", "a list of {oldText, newText}");
    let edits = arguments.given("edits").and_then(Value::as_array).ok_or_else(wrong)?;
    let before = text_of(&real, daemon)?;
    let is_crlf = before.contains("\r\n");
    let before = before.replace("\r\n", "\n");
    let mut after = before.clone();
    for edit in edits {
        let text = |name: &str| edit.get(name).and_then(Value::as_str).ok_or_else(wrong);
        let (old, new) =
            (text("oldText")?.replace("\r\n", "\n"), text("newText")?.replace("\r\n", "\n"));
        let edited = edited(&after, &old, &new);
        after =
            edited.ok_or_else(|| failed(format!("Could not find exact match for edit:\n{old}")))?;
    }
    if !arguments.flag("dryRun") {
        let whole = if is_crlf { after.replace('\n', "\r\n") } else { after.clone() };
        Target(&real).write(&whole, daemon)?;
    }
    let diff = TextDiff::from_lines(&before, &after);
    let diff = diff.unified_diff().context_radius(CONTEXT).to_string();
    let rule = "=".repeat(67);
    let diff = format!("Index: {path}\n{rule}\n--- {path}\toriginal\n+++ {path}\tmodified\n{diff}");
    let mut fence = "```".to_owned();
    while diff.contains(&fence) {
        fence.push('`');
    }
    Ok(ToolAnswer::done(format!("{fence}diff\n{diff}{fence}\n\n")))
}

/// Replaces the first place of a text; where it is nowhere, lines that differ from it at their ends
/// only.
fn edited(text: &str, old: &str, new: &str) -> Option<String> {
    if text.contains(old) {
        return Some(text.replacen(old, new, 1));
    }
    let indent = |line: &str| line.chars().take_while(|c| c.is_whitespace()).count();
    let (lines, old): (Vec<&str>, Vec<&str>) =
        (text.split('\n').collect(), old.split('\n').collect());
    let is_same =
        |window: &[&str]| window.iter().zip(&old).all(|(one, other)| one.trim() == other.trim());
    let at = lines.windows(old.len()).position(is_same)?;
    let first = lines.get(at)?;
    let kept: String = first.chars().take(indent(first)).collect();
    let new = new.split('\n').enumerate().map(|(index, line)| {
        let before = old.get(index).map_or(0, |line| indent(line));
        match (index, before, indent(line)) {
            (0, ..) => kept.clone() + line.trim_start(),
            (_, 1.., 1..) => {
                let more = indent(line).saturating_sub(before);
                kept.clone() + &" ".repeat(more) + line.trim_start()
            }
            _ => line.to_owned(),
        }
    });
    let head = lines.iter().take(at).map(|line| (*line).to_owned());
    let tail = lines.iter().skip(at.saturating_add(old.len())).map(|line| (*line).to_owned());
    Some(head.chain(new).chain(tail).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_goes_by_the_text_and_then_by_its_lines() {
        assert_eq!(edited("a b a", "a", "c").unwrap(), "c b a");
        let text = "def f():\n    if x:\n        y()\n";
        let found = edited(text, "if x:\n    y()", "if x:\n    z()\n    w()").unwrap();
        assert_eq!(found, "def f():\n    if x:\n    z()\n    w()\n");
        assert_eq!(edited("a\nb", "c", "d"), None);
        assert_eq!(edited("a", "c\nd\ne", "d"), None);
    }
}
