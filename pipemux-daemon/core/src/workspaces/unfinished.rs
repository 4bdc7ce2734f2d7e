//! Rounds of runs that an earlier daemon was lost with, put together from its records.

use crate::limits::{ROUND_DIFF_MAX, ROUND_FILES_BYTES, ROUND_FILES_MAX, ROUND_RESULT_MAX};
use crate::persist::records::SavedRound;
use crate::text::clip;

/// Adds to the round of a run that was cut off what its later steps did.
pub(super) fn add_progress(round: &mut SavedRound, later: SavedRound) {
    let join = |before: &mut Option<String>, later: Option<String>, between: &str, most: usize| {
        let all: Vec<String> = before.take().into_iter().chain(later).collect();
        *before = (!all.is_empty()).then(|| clip(&all.join(between), most).into_owned());
    };
    round.result = later.result;
    join(&mut round.detail, later.detail, "; ", ROUND_RESULT_MAX);
    join(&mut round.diff, later.diff, "", ROUND_DIFF_MAX);
    round.sessions.extend(later.sessions);
    round.sessions.dedup();
    round.undo.extend(later.undo);
    // The first one is that of the step that was under way.
    round.lasting = later.lasting.into_iter().chain(round.lasting.drain(..).skip(1)).collect();
    round.bound_undo();
    round.more_files += later.more_files;
    let mut bytes = round.files.iter().map(String::len).sum::<usize>();
    for file in later.files {
        if round.files.contains(&file) {
            continue;
        }
        bytes += file.len();
        match round.files.len() < ROUND_FILES_MAX && bytes <= ROUND_FILES_BYTES {
            true => round.files.push(file),
            false => round.more_files += 1,
        }
    }
    (round.wrote, round.unix_ms) = (later.wrote, round.unix_ms.max(later.unix_ms));
}

/// Makes the round of a run that was cut off one of history.
pub(super) fn cut_off(round: SavedRound, number: u64) -> SavedRound {
    let told = [Some(round.result), round.detail].into_iter().flatten().collect::<Vec<_>>();
    let result = clip(&told.join("; "), ROUND_RESULT_MAX).into_owned();
    // An empty one is of a step that only looks.
    let lasting = round.lasting.into_iter().filter(|name| !name.is_empty()).collect();
    SavedRound { number, result, detail: None, lasting, ..round }
}
