//! What git's status, diff and log told: files, hunks and commits.

use docui::tokens;
use pipemux_problems::Report;
use pipemux_problems::model::{Commit, FileState, GitFile, GitReport};

use super::problems::Item;
use super::{Answer, Piece, REF_TOKENS, output_command, plain};
use crate::job::{Ended, Job};

/// Characters of a commit's hash that are shown.
const HASH_SHOWN: usize = 10;

/// Returns what git told of: each file before its hunks.
pub fn items(report: &Report) -> Vec<Item<'_>> {
    let files = report.git.files.iter().enumerate().flat_map(|(at, file)| {
        let hunks = file.hunks.iter().enumerate();
        let hunks = hunks.map(move |(index, hunk)| Item::Hunk(at, index, file, hunk));
        std::iter::once(Item::File(at, file)).chain(hunks)
    });
    let commits = report.git.commits.iter().enumerate();
    commits.map(|(index, commit)| Item::Commit(index, commit)).chain(files).collect()
}

/// Returns the hunks and the files without any: where there is something to look at.
pub fn places(report: &Report) -> Vec<Item<'_>> {
    let is_place = |item: &Item<'_>| match item {
        Item::File(_, file) => file.hunks.is_empty() && file.state != FileState::Deleted,
        Item::Hunk(_, _, file, _) => file.state != FileState::Deleted,
        _ => false,
    };
    items(report).into_iter().filter(is_place).collect()
}

/// Lists commits, and files with their hunks, of an output that is too long to be shown; none if
/// git told less than half of it: a script prints other things, too, which must not be hidden.
pub fn listed(job: &Job, ended: &Ended, budget: u64) -> Option<Answer> {
    let report = &ended.report;
    let all = items(report);
    if all.is_empty() || lines_told(&report.git) * 2 < report.lines {
        return None;
    }
    let mut pieces = Vec::new();
    let command = output_command(job, 1, report.lines);
    let mut left = budget.saturating_sub(tokens::estimate(&command) + 12);
    let mut written = 0;
    for item in &all {
        let object = item.object(job);
        let price = tokens::estimate(object.label()) + REF_TOKENS + 1;
        if price > left {
            break;
        }
        left -= price;
        let space = match item {
            _ if written == 0 => "",
            Item::Hunk(..) => " ",
            _ => "\n",
        };
        written += 1;
        pieces.push(Piece::Text(space.to_owned()));
        pieces.push(Piece::Object(object));
    }
    let more = match all.len() - written {
        0 => String::new(),
        more => format!("… {more} more\n"),
    };
    pieces.push(Piece::Text(format!("\n{more}all of it: {command}\n")));
    let brief = format!("{} · {}", plain::brief(job, ended, true), counts(&report.git));
    Some(Answer { brief, pieces })
}

/// Returns about how many lines git took to tell this, with the usual context.
fn lines_told(git: &GitReport) -> u64 {
    let of = |file: &GitFile| {
        let hunks = file.hunks.len() as u64;
        1 + file.added + file.removed + 7 * hunks + if hunks > 0 { 3 } else { 0 }
    };
    git.files.iter().map(of).sum::<u64>() + 7 * git.commits.len() as u64
}

/// Counts what git told: `2 commits, 3 files +12 -4`.
fn counts(git: &GitReport) -> String {
    let plural = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{count} {word}s")),
    };
    let sum = |of: fn(&GitFile) -> u64| git.files.iter().map(of).sum::<u64>();
    let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
    let files = plural(git.files.len(), "file").map(|files| match added + removed {
        0 => files,
        _ => format!("{files} +{added} -{removed}"),
    });
    [plural(git.commits.len(), "commit"), files]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

/// Describes a file: `modified src/a.rs +2 -1`, `staged: renamed b.txt from a.txt`.
pub fn file_label(file: &GitFile) -> String {
    let state = match file.state {
        FileState::Added => "added",
        FileState::Modified => "modified",
        FileState::Deleted => "deleted",
        FileState::Renamed => "renamed",
        FileState::Copied => "copied",
        FileState::Untracked => "untracked",
        FileState::Unmerged => "unmerged",
    };
    let staged = if file.staged == Some(true) { "staged: " } else { "" };
    let from = file.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
    let lines = match file.added + file.removed {
        0 => String::new(),
        _ => format!(" +{} -{}", file.added, file.removed),
    };
    format!("{staged}{state} {}{from}{lines}", file.path)
}

/// Describes a commit: `9fceb02d0a Mend the sum`.
pub fn commit_label(commit: &Commit) -> String {
    let hash: String = commit.id.chars().take(HASH_SHOWN).collect();
    format!("{hash} {}", commit.subject)
}
