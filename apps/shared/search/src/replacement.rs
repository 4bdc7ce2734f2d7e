//! The replacement text for matches of a regular expression.

use grep_matcher::{Captures, Matcher};

use crate::pattern::{Match, Pattern};

impl Pattern {
    /// Returns a replacement for [`Pattern::expand`] in which all groups are named without doubt:
    /// `$1st` is the group 1 and "st", unless there is a group of the name `1st`.
    ///
    /// # Errors
    /// It names a group that the expression doesn't have; the error is the name.
    pub fn replacement(&self, written: &str) -> Result<String, String> {
        let matcher = self.groups();
        let is_group = |name: &str| match name.parse::<usize>() {
            Ok(number) => number < matcher.capture_count(),
            Err(_) => matcher.capture_index(name).is_some(),
        };
        let (mut plain, mut rest) = (String::new(), written);
        while let Some((before, behind)) = rest.split_once('$') {
            plain += before;
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = &behind[..behind.find(|c| !is_name(c)).unwrap_or(behind.len())];
            let digits = &name[..name.find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len())];
            let braced = behind.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let (name, after) = match braced {
                _ if behind.starts_with('$') => ("", &behind[1..]),
                Some((name, after)) => (name, after),
                None if name.is_empty() => ("", behind),
                None if !is_group(name) && !digits.is_empty() => (digits, &behind[digits.len()..]),
                None => (name, &behind[name.len()..]),
            };
            match name {
                "" => plain += "$$",
                name if is_group(name) => plain += &format!("${{{name}}}"),
                name => return Err(name.to_owned()),
            }
            rest = after;
        }
        Ok(plain + rest)
    }

    /// Returns what stands in place of a match of a regular expression: in `replacement`, `$1`,
    /// `$name` and `${1}` are groups of the match, and `$$` is a dollar sign.
    pub fn expand(&self, text: &str, found: &Match, replacement: &str) -> String {
        let line = text[..found.bytes.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[found.bytes.end..].find('\n').map_or(text.len(), |at| found.bytes.end + at);
        let (at, length) = (found.bytes.start - line, found.bytes.len());
        let part = match (self.is_multi_line(), text[line..end].contains('\r')) {
            (true, false) => &text[line..],
            _ => text[line..end].strip_suffix('\r').unwrap_or(&text[line..end]),
        };
        let joined =
            if self.is_multi_line() { part.replace("\r\n", "\n") } else { part.to_owned() };
        let matcher = self.groups();
        let mut expanded = Vec::new();
        // This matcher has no errors.
        if let Ok(mut groups) = matcher.new_captures()
            && let Ok(true) = matcher.captures_at(joined.as_bytes(), at, &mut groups)
            && groups.get(0).is_some_and(|all| all.start() == at && all.end() - at <= length)
        {
            let group = |name: &str| matcher.capture_index(name);
            groups.interpolate(group, joined.as_bytes(), replacement.as_bytes(), &mut expanded);
        }
        String::from_utf8(expanded).unwrap_or_default()
    }
}
