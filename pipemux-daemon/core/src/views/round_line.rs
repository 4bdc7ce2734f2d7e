//! A round of history in one line.

use crate::limits::{LINE_ACTION_MAX, LINE_RESULT_MAX};
use crate::persist::records::SavedRound;
use crate::text::clip;
use crate::views::inert::{line, whole_line};

/// Returns the line of a round: its number, when, by whom, what was done, what came of it, and whether it is undone. Its day
/// is left out if it is `today`. With `detail`, its result follows elsewhere.
pub fn round_line(round: &SavedRound, (at, today): (&str, &str), detail: bool) -> String {
    let reader = match round.reader.as_str() {
        "default" => String::new(),
        reader => format!(" · {}", line(reader)),
    };
    let status = if round.exit == 0 { String::new() } else { format!(" (exit {})", round.exit) };
    let undone = match (round.is_undone(), round.undo.is_empty()) {
        (true, _) => " · undone",
        (false, false) if round.undo.iter().any(|undo| undo.undone) => " · half undone",
        (false, true) if !round.lasting.is_empty() => " · no undo",
        _ => "",
    };
    let (number, action) = (round.number, line(&round.action));
    match detail {
        true => format!("{number}. {at}{reader} · {action}{status}{undone}\n"),
        false => {
            let time = at.split_once('T').filter(|(day, _)| today.starts_with(*day));
            let time = time.map_or(at, |(_, time)| time);
            let (action, result) = (clip(&action, LINE_ACTION_MAX), whole_line(&round.result));
            let result = clip(&result, LINE_RESULT_MAX);
            format!("{number}. {time}{reader} · {action} → {result}{status}{undone}\n")
        }
    }
}
