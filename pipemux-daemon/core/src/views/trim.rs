//! Cutting a window to its tokens: apps estimate, the daemon keeps the bound.

use std::collections::HashSet;
use std::rc::Rc;

use pipemux_proto::tokens;

use crate::views::content::Line;
use crate::views::window_renderer::Rendered;

/// The window with at most so many tokens of content. Heading and links are required and stay; what is
/// cut is counted as hidden, and a line says so. Being cut ends no ref's validity.
pub fn trim(rendered: Rendered, budget: u64) -> Rendered {
    let required = tokens::estimate(&rendered.heading) + tokens::estimate(&rendered.nav);
    if rendered.tokens <= required + budget {
        return rendered;
    }
    let mut left = budget.saturating_sub(RESERVE);
    let (mut last, mut open) = (None, None);
    let (mut hidden, mut lines) = (0, 0);
    let mut full = false;
    for line in rendered.content.lines() {
        let cost = cost(&line);
        full |= cost > left;
        if full {
            hidden += cost;
            lines += usize::from(!line.fence);
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
    let more = (lines > 0).then(|| format!("… {lines} more lines"));
    let mut trimmed = Rendered {
        content: Rc::new(rendered.content.up_to(last, fence, more.as_deref())),
        hidden_tokens: rendered.hidden_tokens.saturating_add(hidden),
        ..rendered.clone()
    };
    // What was cut was not seen.
    let shown = shown(&trimmed.body());
    trimmed.ids = trimmed.ids.iter().copied().filter(|id| shown.contains(id)).collect();
    trimmed.tokens = trimmed.count();
    trimmed
}

/// Tokens for a closing fence and the line that says what was cut.
const RESERVE: u64 = 8;

fn cost(line: &Line<'_>) -> u64 {
    let number = line.number.map_or(0, |_| 2);
    tokens::estimate(line.text) + number + 1
}

/// The ids of anchors that a text shows.
fn shown(body: &str) -> HashSet<u64> {
    let id = |after: &str| {
        let (link, number) = match after.strip_prefix("obj:") {
            Some(number) => (false, number),
            None => (true, after.strip_prefix("link:")?),
        };
        let end = number.bytes().position(|byte| !byte.is_ascii_digit())?;
        let (digits, rest) = number.split_at(end);
        let ends = rest.starts_with(')') || (link && rest.starts_with(' '));
        digits.parse().ok().filter(|_| ends && !digits.starts_with('0'))
    };
    body.match_indices("](").filter_map(|(at, _)| id(&body[at + 2..])).collect()
}
