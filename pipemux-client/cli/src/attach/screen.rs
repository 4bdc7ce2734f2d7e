//! Draws the state: the window, the news below it, a line that tells where one is, and the prompt.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use ratatui_core::terminal::Frame;
use unicode_segmentation::UnicodeSegmentation;

use super::graphics::Placement;
use super::look::Look;
use super::model::State;
use super::rows::{Row, columns_of, inert};

/// The prompt before the typed line.
const PROMPT: &str = "> ";

/// Draws the state on a terminal.
pub fn draw(frame: &mut Frame<'_>, state: &State) {
    let area = frame.area();
    let cursor = draw_on(frame.buffer_mut(), area, state);
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

/// Returns where pictures stand on the terminal.
pub fn placements(state: &State) -> Vec<Placement> {
    let placement = |(y, name, (width, height)): (u16, &str, (u16, u16))| {
        Some(Placement { picture: state.pictures.get(name)?, x: 0, y, width, height })
    };
    state.window.pictures().filter_map(placement).collect()
}

/// Draws the state, and returns where the cursor stands.
fn draw_on(buffer: &mut Buffer, area: Rect, state: &State) -> Option<(u16, u16)> {
    let prompt = state.line.show(area.width.saturating_sub(2), state.target.hides_line());
    let prompt_rows = u16::try_from(prompt.rows.len()).unwrap_or(1).min(area.height);
    let prompt_top = area.height - prompt_rows;
    let status = prompt_top.checked_sub(1);
    let news_top = status.unwrap_or(0).saturating_sub(state.news_height());
    let plain = Style::new();
    for (at, row) in (0..news_top).zip(state.window.shown()) {
        write_row(buffer, area, at, row, |look| state.theme.style(look));
    }
    for (at, row) in (news_top..status.unwrap_or(0)).zip(state.news.shown()) {
        let style = |look| state.theme.style(look).add_modifier(Modifier::ITALIC);
        write_row(buffer, area, at, row, style);
    }
    if let Some(at) = status {
        let text = status_line(state, area.width);
        let room = usize::from(area.width);
        let padding = " ".repeat(room.saturating_sub(columns_of(&text)));
        write(buffer, area, at, &(text + &padding), plain.add_modifier(Modifier::REVERSED));
    }
    for (at, row) in (prompt_top..area.height).zip(&prompt.rows) {
        let mark = if at == prompt_top { PROMPT } else { "  " };
        write(buffer, area, at, &format!("{mark}{row}"), plain);
    }
    let (row, column) = prompt.cursor;
    let (x, y) = (area.x + 2 + column, area.y + prompt_top + row);
    (x < area.right() && y < area.bottom()).then_some((x, y))
}

/// Returns the rows that have a character whose width terminals count differently, such as a family
/// of emoji: some count each member.
pub fn contested_rows(buffer: &Buffer) -> Vec<(u16, String)> {
    let area = buffer.area;
    let row = |y: u16| {
        let symbols = || (area.left()..area.right()).map(move |x| buffer[(x, y)].symbol());
        symbols().any(is_contested).then(|| (y, symbols().collect()))
    };
    (area.top()..area.bottom()).filter_map(row).collect()
}

/// True for a character of several code points that together are as wide as not all of them are one
/// by one.
fn is_contested(cluster: &str) -> bool {
    let one_by_one = cluster.chars().map(|c| columns_of(c.encode_utf8(&mut [0; 4]))).sum::<usize>();
    one_by_one != columns_of(cluster)
}

fn write(buffer: &mut Buffer, area: Rect, row: u16, text: &str, style: Style) {
    if row < area.height {
        buffer.set_stringn(area.x, area.y + row, text, area.width.into(), style);
    }
}

fn write_row(buffer: &mut Buffer, area: Rect, y: u16, row: &Row, style: impl Fn(Look) -> Style) {
    let mut x = area.x;
    for span in row.iter().filter(|_| y < area.height) {
        let room = usize::from(area.right().saturating_sub(x));
        (x, _) = buffer.set_stringn(x, area.y + y, &span.text, room, style(span.look));
    }
}

/// Returns what the line above the prompt says, the most important first: a narrow terminal shows
/// its beginning.
fn status_line(state: &State, width: u16) -> String {
    let mut parts = vec![state.target.callee.clone()];
    if state.lost {
        parts.push("the daemon is gone: waiting for another one".into());
    }
    if !state.waiting.is_empty() {
        parts.push(match state.waiting.len() {
            1 => "waiting for an answer".into(),
            n => format!("waiting for {n} answers"),
        });
    }
    if let Some(question) = &state.target.question {
        parts.push(format!("question {}: a line answers it", question.id));
    } else if let Some(input) = &state.target.input {
        parts.push(format!("a line goes to {}", input.call));
    }
    let pane = if state.news_first { &state.news } else { &state.window };
    parts.extend(pane.position());
    if !state.news_first && state.news.position().is_some() {
        parts.push("Tab: all of the news".into());
    }
    let leaves = if state.target.takes_words() { "Ctrl-C" } else { "q" };
    parts.push(format!("? helps · {leaves} leaves"));
    if !state.target.takes_words() && !state.window.links().is_empty() {
        parts.push("a number follows its link".into());
    }
    let text = inert(&parts.join(" · "));
    let mut shown = String::new();
    for cluster in text.graphemes(true) {
        if columns_of(&shown) + columns_of(cluster) > usize::from(width) {
            break;
        }
        shown.push_str(cluster);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attach::event::{Event, Key};
    use crate::attach::look::Theme;
    use crate::attach::window::Input;

    fn drawn(state: &State, width: u16, height: u16) -> (Vec<String>, Option<(u16, u16)>) {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let cursor = draw_on(&mut buffer, area, state);
        let row = |y| {
            let mut row = String::new();
            let mut x = 0;
            while x < width {
                let symbol = buffer[(x, y)].symbol();
                row.push_str(symbol);
                x += u16::try_from(columns_of(symbol).max(1)).unwrap();
            }
            row.trim_end().to_owned()
        };
        ((0..height).map(row).collect(), cursor)
    }

    fn state(width: u16, height: u16) -> State {
        let mut state = State::new("planner".into(), Theme::default(), None);
        state.target.input = Some(Input { call: "planner.reply".into(), param: "text".into() });
        state.window.set_text("## planner/main · 会议\nWhich users?\n".into());
        state.update(Event::Resized(width, height));
        state
    }

    #[test]
    fn window_news_status_and_prompt_share_the_terminal() {
        let mut state = state(60, 8);
        state.update(Event::Told("said: 好".into()));
        for c in "两个角色".chars() {
            state.update(Event::Key(Key::Char(c)));
        }
        let (rows, cursor) = drawn(&state, 60, 8);
        assert_eq!(
            rows,
            [
                "planner/main · 会议",
                "Which users?",
                "",
                "",
                "",
                "said: 好",
                "planner · a line goes to planner.reply · ? helps · Ctrl-C le",
                "> 两个角色",
            ]
        );
        assert_eq!(cursor, Some((10, 7)));
    }

    #[test]
    fn rows_whose_width_is_contested_are_known() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 4));
        for (row, text) in ["> 键盘 é e\u{301} 👍", "> 👨‍👩‍👧", "", "❤\u{fe0f} 👍🏽"].iter().enumerate()
        {
            write(
                &mut buffer,
                Rect::new(0, 0, 20, 4),
                u16::try_from(row).unwrap(),
                text,
                Style::new(),
            );
        }
        let rows: Vec<u16> = contested_rows(&buffer).into_iter().map(|(row, _)| row).collect();
        assert_eq!(rows, [1, 3]);
    }

    #[test]
    fn tiny_terminals_are_survived() {
        let mut state = state(60, 8);
        state.update(Event::Told("a\nb\nc\nd".into()));
        state.update(Event::Pasted("规划\n研讨会 and more".into()));
        for (width, height) in (0..7).flat_map(|w| (0..7).map(move |h| (w, h))) {
            state.update(Event::Resized(width, height));
            if width > 0 && height > 0 {
                drawn(&state, width, height);
            }
            // The terminal may be smaller than the last event said.
            drawn(&state, 1, 1);
        }
    }
}
