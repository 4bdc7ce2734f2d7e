//! Cuts a window to its budget. Apps only estimate what a window costs; the daemon keeps the bound.

use std::collections::HashSet;
use std::rc::Rc;

use pipemux_proto::limits::REF_MAX;
use pipemux_proto::refs::{Local, Ref};
use pipemux_tokens::work::position_within;

use crate::views::answer_buffer::window_markdown;
use crate::workspaces::Rendered;
use crate::workspaces::content::{Line, ends_ref};

/// Cuts the content of a window to a budget in tokens. Heading and links always stay; tokens that
/// are cut count as hidden, and a line says so. Refs to what was cut stay valid.
pub fn trim(rendered: Rendered, budget: u64) -> Rendered {
    let required =
        pipemux_tokens::estimate(&rendered.heading) + pipemux_tokens::estimate(&rendered.nav);
    if rendered.tokens <= required + budget {
        return rendered;
    }
    let mut left = budget.saturating_sub(RESERVE);
    let (mut last, mut open) = (None, None);
    let (mut hidden_tokens, mut hidden_lines) = (0, 0);
    let mut full = false;
    for line in rendered.content.lines() {
        let cost = line_tokens(&line);
        full |= cost > left;
        if full {
            hidden_tokens += cost;
            hidden_lines += usize::from(!line.fence);
            continue;
        }
        left -= cost;
        last = Some(line);
        if line.fence {
            open = if open.is_none() { Some(line.text) } else { None };
        }
    }
    let fence: Option<&str> = open.map(|fence| {
        let ticks = fence.len() - fence.trim_start_matches('`').len();
        &fence[..ticks]
    });
    let more = (hidden_lines > 0).then(|| format!("… {hidden_lines} more lines"));
    let mut trimmed = Rendered {
        content: Rc::new(rendered.content.cut_after(last, fence, more.as_deref())),
        hidden_tokens: rendered.hidden_tokens.saturating_add(hidden_tokens),
        // Which of them were cut isn't known.
        numbers: [].into(),
        ..rendered.clone()
    };
    // The reader hasn't seen the ids that were cut.
    let markdown = window_markdown(&trimmed);
    let mut shown = shown_ids(&markdown);
    let (mut keyed, refs) = (trimmed.keyed.into_vec(), shown_refs(&markdown));
    keyed.retain(|(_, written)| refs.contains(&**written));
    shown.extend(keyed.iter().map(|(id, _)| *id));
    trimmed.keyed = keyed.into();
    trimmed.ids = trimmed.ids.iter().copied().filter(|id| shown.contains(id)).collect();
    trimmed.tokens = trimmed.estimate_tokens();
    trimmed
}

/// Tokens for a closing fence and the line that tells how much was cut.
const RESERVE: u64 = 8;

fn line_tokens(line: &Line<'_>) -> u64 {
    let number = line.number.map_or(0, |_| 2);
    pipemux_tokens::estimate(line.text) + number + 1
}

/// Returns the ids of the anchors that a text shows.
fn shown_ids(markdown: &str) -> HashSet<u64> {
    let id = |written: &str| match written.parse::<Ref>().ok()?.local {
        Local::Id(id) => Some(id),
        Local::Key(_) => None,
    };
    shown_refs(markdown).into_iter().filter_map(id).collect()
}

/// Returns the refs that a text shows.
pub(super) fn shown_refs(markdown: &str) -> HashSet<&str> {
    pipemux_tokens::work::spend(markdown.len());
    let destination = |at: usize| {
        let after = &markdown[at + "](".len()..];
        position_within(after, REF_MAX, ends_ref).map(|end| &after[..end])
    };
    markdown.match_indices("](").filter_map(|(at, _)| destination(at)).collect()
}
