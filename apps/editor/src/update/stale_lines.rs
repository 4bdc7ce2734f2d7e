//! The errors of lines that are no longer what their reader saw: where they are now, and how to go
//! on.

use std::ops::Range;

use docui::{Context, Fault};

use crate::display::lines::{excerpt, excerpt_lines, excerpt_of};
use crate::display::wording::{count, line_numbers, line_range, renumbered, shown_lines};
use crate::limits::CHANGED_RANGES_NAMED;
use crate::model::line_change::Unmapped;
use crate::model::open_files::OpenFiles;
use crate::model::seen_numbers::SeenPart;

/// Returns the error of lines of which somebody else has changed some, which are at `changed` now.
/// It says where all of them are now.
pub(crate) fn changed_by_other(
    open_files: &OpenFiles,
    index: usize,
    seen: &Range<usize>,
    parts: &[SeenPart<'_>],
    changed: Range<usize>,
    context: &Context,
) -> Fault {
    let file = &open_files[index];
    let nearest = |part: Option<&SeenPart<'_>>, line: usize| {
        let baseline = part.and_then(|part| part.baseline);
        baseline.map_or(line, |baseline| file.line_log().nearest_line(line, baseline))
    };
    let last = file.buffer().line_count().saturating_sub(1);
    let start = nearest(parts.first(), seen.start).min(changed.start).min(last);
    let end = nearest(parts.last(), seen.end - 1) + 1;
    let now = start..end.max(changed.end).min(file.buffer().line_count());
    let (of, name) = (line_range(seen), open_files.display_name(index));
    let (is_same, numbers) = (now == *seen, line_numbers(&now));
    let place = if is_same { String::new() } else { format!(" {numbers}") };
    let text = excerpt(file, &changed);
    let shown = excerpt_lines(file, &changed);
    let fault =
        Fault::stale(format!("{of} of {name} changed since you saw it; now{place}:\n{text}"))
            .numbers([&now, &shown].map(|lines| shown_lines(file, lines, context.version)));
    match is_same {
        true => repeatable(fault, context),
        false => fault.repeatable(false).hint(format!(
            "this call changed nothing: repeat it with the numbers as they are now, {numbers}"
        )),
    }
}

/// Returns the error of lines that were seen at different times, and that are no longer next to
/// each other.
pub(crate) fn torn_apart(
    open_files: &OpenFiles,
    index: usize,
    seen: &Range<usize>,
    parts: &[SeenPart<'_>],
    context: &Context,
) -> Fault {
    let file = &open_files[index];
    let mut pieces = Vec::new();
    let mut shown = Vec::new();
    for SeenPart { lines, baseline, .. } in parts {
        let Some(baseline) = baseline else { continue };
        let Ok(now) = file.line_log().map_range(lines.clone(), *baseline) else { continue };
        pieces.push(renumbered(lines, &now));
        shown.push(shown_lines(file, &now, context.version));
    }
    pieces.truncate(CHANGED_RANGES_NAMED);
    let (of, name) = (line_range(seen), open_files.display_name(index));
    let pieces = pieces.join(", ");
    Fault::stale(format!("{of} of {name} are no longer next to each other: {pieces}"))
        .numbers(shown)
        .repeatable(false)
        .hint("this call changed nothing: repeat it with the numbers as they are now")
}

/// Says that the same call, sent again, means the lines that have its numbers now.
fn repeatable(fault: Fault, context: &Context) -> Fault {
    match context.nested {
        // Only the call around it can be repeated.
        true => fault.hint("nothing was changed: the same numbers mean these lines now"),
        false => fault.repeatable(true),
    }
}

/// Returns the error of lines that are no longer what the reader saw.
pub(crate) fn unmapped(
    open_files: &OpenFiles,
    index: usize,
    seen: &Range<usize>,
    why: Unmapped,
    restarted: bool,
    context: &Context,
) -> Fault {
    let file = &open_files[index];
    let lines = format!("{} of {}", line_range(seen), open_files.display_name(index));
    let stale =
        |why: &str| {
            let all = file.buffer().line_count();
            // The number after the last one is the end of the file.
            if seen.end > all && *seen != (all..all + 1) {
                let message = format!("{lines} {why}; it has {} now", count(all, "line"));
                return Fault::stale(message).repeatable(false).hint(open_files.paths.view_hint());
            }
            let text = match seen.start < all {
                true => excerpt_of(file, seen),
                false => excerpt(file, seen),
            };
            let fault = Fault::stale(format!("{lines} {why}; now:\n{text}"))
                .numbers([shown_lines(file, seen, context.version)]);
            repeatable(fault, context)
        };
    match why {
        Unmapped::UnknownVersion if restarted => {
            stale("can't be located: the editor was restarted since you saw it")
        }
        Unmapped::UnknownVersion | Unmapped::ChangedByOther(_) => {
            stale("can't be located: the file changed since you saw it")
        }
        Unmapped::Retired => stale("can't be located: these numbers are retired"),
        Unmapped::ReplacedByRun(now) => {
            let shown = shown_lines(file, &now, context.version);
            let now = line_range(&now);
            Fault::failed(format!("{lines}: replaced by an earlier step of this run, now {now}"))
                .numbers([shown])
                .hint("replace all of it, or use a run of its own")
        }
        Unmapped::DeletedByRun => Fault::failed(format!(
            "{lines}: deleted, at least in part, by an earlier step of this run"
        ))
        .hint("numbers are those from before the run: name lines that are left"),
        Unmapped::SplitByRun => Fault::failed(format!(
            "{lines}: an earlier step of this run moved lines out of this range or into it"
        ))
        .hint("use a run of its own"),
    }
}
