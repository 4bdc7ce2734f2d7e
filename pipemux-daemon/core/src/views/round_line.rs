//! A round of history in one line.

use crate::limits::{LINE_ACTION_MAX, LINE_RESULT_MAX};
use crate::persist::records::SavedRound;
use crate::text::clip;
use crate::views::inert::{line, whole_line};

/// The data of a round's line other than the round itself.
#[derive(Debug)]
pub struct RoundHead<'r> {
    /// The workspace, if several are possible.
    pub workspace: Option<&'r str>,
    /// The time at which the round ended.
    pub time: &'r str,
    /// True to tell what it was made with.
    pub tells_client: bool,
}

/// Returns the line of a round: its number, when, by whom, what was done, what came of it, and
/// whether it is undone. With `detail`, its result follows elsewhere.
pub fn round_line(round: &SavedRound, head: &RoundHead<'_>, detail: bool) -> String {
    let mut by = match round.reader.as_str() {
        "default" => String::new(),
        reader => format!(" · {}", line(reader)),
    };
    if head.tells_client && !round.client.is_empty() {
        let dot = if by.is_empty() { " ·" } else { "" };
        by += &format!("{dot} via {}", line(&*round.client));
    }
    let status = if round.exit == 0 { String::new() } else { format!(" (exit {})", round.exit) };
    let undone = match (round.is_undone(), round.undo.is_empty()) {
        (true, _) => " · undone",
        (false, false) if round.undo.iter().any(|undo| undo.undone) => " · half undone",
        (false, true) if !round.lasting.is_empty() => " · no undo",
        _ => "",
    };
    let place = head.workspace.map_or(String::new(), |name| format!("{} · ", line(name)));
    let (number, time, action) = (round.number, head.time, line(&round.action));
    match detail {
        true => format!("{place}{number}. {time}{by} · {action}{status}{undone}\n"),
        false => {
            let (action, result) = (clip(&action, LINE_ACTION_MAX), whole_line(&round.result));
            let result = clip(&result, LINE_RESULT_MAX);
            format!("{place}{number}. {time}{by} · {action} → {result}{status}{undone}\n")
        }
    }
}
