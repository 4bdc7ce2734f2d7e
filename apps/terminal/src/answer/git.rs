//! An output of git's status, diff or log that is too long to be shown, as a list.

use docui::tokens;
use pipemux_problems::model::{GitFile, GitReport};

use super::brief::brief;
use super::content::{Answer, Piece, REF_TOKENS, output_command};
use super::item::{Item, git_items};
use crate::job::{Ended, Job};

/// Lists commits, and files with their hunks, of an output that is too long to be shown; none if
/// git told less than half of it: a script prints other things, too, which must not be hidden.
pub fn listed(job: &Job, ended: &Ended, budget: u64) -> Option<Answer> {
    let report = &ended.report;
    let all = git_items(report);
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
    let brief = format!("{} · {}", brief(job, ended, true), counts(&report.git));
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
