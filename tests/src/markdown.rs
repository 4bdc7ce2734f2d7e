//! Finds the anchors, headings and fences of a document, as a CommonMark reader would.

/// The parts of a document that have a meaning, outside its fences.
#[derive(Debug, Default)]
pub struct Markdown {
    /// Refs such as `obj:enemy:23` and `link:42` as they are printed, with their labels, in order.
    pub anchors: Vec<(String, String)>,
    /// Headings of the first and second level that look like a window's, as written.
    pub headings: Vec<String>,
    /// Lines that look like the last line of an answer: epoch and receipt.
    pub footers: Vec<String>,
    /// The fence that is never closed.
    pub open_fence: Option<String>,
}

impl Markdown {
    /// Reads a document. A destination counts as an anchor wherever its label's bracket isn't
    /// escaped, even in a code span, because an agent may not read Markdown as strictly as its
    /// specification.
    pub fn read(text: &str) -> Self {
        let mut read = Self::default();
        for line in text.lines() {
            let indented = line.len() - line.trim_start_matches(' ').len() > 3;
            let trimmed = line.trim_start_matches(' ');
            if let Some(fence) = &read.open_fence {
                let end = trimmed.trim_end();
                let closes =
                    !indented && end.len() >= fence.len() && end.starts_with(fence.as_str());
                if closes && end.chars().all(|c| fence.starts_with(c)) {
                    read.open_fence = None;
                }
                continue;
            }
            if !indented && let Some(fence) = opening(trimmed) {
                read.open_fence = Some(fence);
                continue;
            }
            let text = ["# ", "## "].iter().find_map(|mark| trimmed.strip_prefix(mark));
            let word = text.and_then(|text| text.split_whitespace().next());
            let heading = word.is_some_and(|word| word.contains('/'));
            if heading && !indented {
                read.headings.push(line.to_owned());
            }
            if trimmed.ends_with(" tokens") && line.split(" · ").any(is_epoch) && !indented {
                read.footers.push(line.to_owned());
            }
            read.anchors_of(line);
        }
        read
    }

    fn anchors_of(&mut self, line: &str) {
        let mut found = Vec::new();
        for kind in ["obj", "link"] {
            for mark in [format!("]({kind}:"), format!("](<{kind}:"), format!("]: {kind}:")] {
                for (at, _) in line.match_indices(&mark).filter(|(at, _)| !is_escaped(&line[..*at]))
                {
                    let start = line[..at].rfind('[').map_or(0, |start| start + 1);
                    found.push((at, line[start..at].to_owned(), kind, at + mark.len()));
                }
            }
            let mark = format!("<{kind}:");
            for (at, _) in line.match_indices(&mark).filter(|(at, _)| !is_escaped(&line[..*at])) {
                if !line[..at].ends_with("](") {
                    found.push((at, String::new(), kind, at + mark.len()));
                }
            }
        }
        found.sort_by_key(|(at, ..)| *at);
        let anchor = |(_, label, kind, at): (usize, String, &str, usize)| {
            let local = line[at..].split([')', '>', ' ']).next().unwrap_or_default();
            let printed = format!("{kind}:{local}");
            let is_ref = printed.parse::<pipemux_proto::refs::Ref>().is_ok();
            (if is_ref { printed } else { format!("{kind}:?") }, label)
        };
        self.anchors.extend(found.into_iter().map(anchor));
    }
}

/// Returns the fence that a line opens.
fn opening(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let fence = &line[..line.len() - info.len()];
    (fence.len() >= 3 && !(mark == '`' && info.contains('`'))).then(|| fence.to_owned())
}

fn is_epoch(part: &str) -> bool {
    part.strip_prefix('e').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn is_escaped(before: &str) -> bool {
    (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_or_fenced_anchors_are_not_found() {
        let text = "## a/main\n## own\n[x](obj:note:1) \\[y\\](link:2) [z](link:3 \"t\") <obj:4> [v]: obj:5\n\
                    ````md\n```\n[w](obj:6)\n## b\n````\n~~~\n```\n~~~\n    ## c\n`e9 · 1 tokens\n\
                    e9 · 1 of 2 tokens\n```open `not`\n```rust\n";
        let read = Markdown::read(text);
        let ids: Vec<&str> = read.anchors.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["obj:note:1", "link:3", "obj:4", "obj:5"]);
        assert_eq!((read.headings, read.footers.len()), (vec!["## a/main".to_owned()], 1));
        assert_eq!(read.open_fence.as_deref(), Some("```"));
    }
}
