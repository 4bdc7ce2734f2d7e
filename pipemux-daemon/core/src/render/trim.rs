//! Cutting a window to its tokens: apps estimate, the daemon keeps the bound.

use pipemux_proto::tokens;

use super::window::{Line, Rendered};

/// The window with at most so many tokens of content. Heading and links are required and stay; what is
/// cut is counted as hidden, and a line says so. Being cut ends no ref's validity.
pub fn trim(rendered: Rendered, budget: u64) -> Rendered {
    let required = tokens::estimate(&rendered.heading) + tokens::estimate(&rendered.nav);
    if rendered.tokens <= required + budget {
        return rendered;
    }
    let mut left = budget.saturating_sub(RESERVE);
    let mut open = false;
    let mut kept = Vec::new();
    for line in &rendered.lines {
        let cost = cost(line);
        if cost > left {
            break;
        }
        left -= cost;
        open ^= line.fence;
        kept.push(line.clone());
    }
    let cut = &rendered.lines[kept.len()..];
    if open && let Some(fence) = kept.iter().rev().find(|line| line.fence) {
        let ticks: String = fence.text.chars().take_while(|c| *c == '`').collect();
        kept.push(Line { number: None, text: ticks, fence: true, exact: false });
    }
    let hidden: u64 = cut.iter().map(cost).sum();
    let lines = cut.iter().filter(|line| !line.fence).count();
    if lines > 0 {
        let text = format!("… {lines} more lines");
        kept.push(Line { number: None, text, fence: false, exact: false });
    }
    let mut trimmed = Rendered {
        lines: kept,
        hidden_tokens: rendered.hidden_tokens.saturating_add(hidden),
        ..rendered
    };
    let body = trimmed.body("");
    // What was cut was not seen.
    let shows = |id: &u64| {
        [format!("](obj:{id})"), format!("](link:{id})"), format!("](link:{id} ")]
            .iter()
            .any(|anchor| body.contains(anchor))
    };
    trimmed.ids.retain(shows);
    trimmed.tokens = tokens::estimate(&body);
    trimmed
}

/// Tokens for a closing fence and the line that says what was cut.
const RESERVE: u64 = 8;

fn cost(line: &Line) -> u64 {
    let number = line.number.map_or(0, |_| 2);
    tokens::estimate(&line.text) + number + 1
}
