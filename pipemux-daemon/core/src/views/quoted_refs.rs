//! Refs that stand in exact text: they look like the daemon's anchors, and are part of a file or a
//! value.
//!
//! Exact text can't be escaped, and a reader who takes a number from it acts on whatever has that
//! number. It always stands in a fence, and an answer says of which numbers in its fences that
//! holds, if they are in use: a text that only talks about links costs nothing.

use std::collections::BTreeSet;

use pipemux_proto::refs::RefKind;

use crate::views::inert;
use crate::workspaces::Workspace;
use crate::workspaces::content::anchors_in;

/// The number of refs that an answer explains; the others are only counted.
const EXPLAINED: usize = 4;

/// Returns the refs in the fences of whole lines of an answer. An app's text opens no fence: it is
/// escaped.
pub fn refs_in_fences(markdown: &str) -> BTreeSet<(RefKind, u64)> {
    let mut found = BTreeSet::new();
    // The ticks of the open fence, and where the line below it begins.
    let mut open: Option<(usize, usize)> = None;
    let mut end = 0;
    // Most lines have no tick, and needn't be looked at one by one.
    while let Some(before) = markdown[end..].find('`') {
        let start = end + before;
        let ticks = markdown[start..].bytes().take_while(|byte| *byte == b'`').count();
        end = start + ticks;
        if !markdown[..start].is_empty() && !markdown[..start].ends_with('\n') {
            continue;
        }
        let rest = &markdown[end..];
        match open {
            Some((fence, from))
                if ticks >= fence && (rest.is_empty() || rest.starts_with('\n')) =>
            {
                found.extend(anchors_in(&markdown[from..start]));
                open = None;
            }
            None if ticks >= 3 => {
                let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
                open = Some((ticks, end + line));
            }
            _ => {}
        }
    }
    found.extend(open.into_iter().flat_map(|(_, from)| anchors_in(&markdown[from..])));
    found
}

/// Says which of some refs in fences are in use as something else for a reader; nothing when none
/// are.
pub fn quoted_refs_note(
    workspace: &Workspace,
    reader: &str,
    quoted: &BTreeSet<(RefKind, u64)>,
) -> Option<String> {
    let real = |(kind, id): &(RefKind, u64)| {
        let anchor = workspace.anchors.get(*kind, *id)?;
        workspace.window(&anchor.session)?;
        let live = anchor.is_shown() || workspace.in_view(reader, &anchor.session, *id);
        live.then(|| {
            let label = inert::line(anchor.label.borrow());
            let kind = if *kind == RefKind::Obj { "obj" } else { "link" };
            format!("{kind}:{id} (really \"{label}\" of {})", anchor.session)
        })
    };
    let mut live = quoted.iter().filter_map(real);
    let explained: Vec<String> = live.by_ref().take(EXPLAINED).collect();
    if explained.is_empty() {
        return None;
    }
    let more = match live.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("only text inside fences: {}{more}", explained.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_are_found_in_fences_only_and_in_their_exact_form_only() {
        let markdown = "[a](link:1)\n```rs\n1\t[b](link:2) [c](obj:3) [d](link:4 \"f()\")\n\
            [e](obj:05) [f](link:6.5) link:7 (link:8) [g](obj:9 \"t\")\n```\n[h](obj:10)\n\
            ````\n```\n[i](obj:11)\n```\n````\n[j](obj:12)\n";
        let found = refs_in_fences(markdown);
        let expected =
            [(RefKind::Link, 2), (RefKind::Obj, 3), (RefKind::Link, 4), (RefKind::Obj, 11)];
        assert_eq!(found, expected.into());
    }
}
