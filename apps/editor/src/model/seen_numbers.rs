//! Resolves a reader's bare line numbers to the file that was current and the version that the
//! reader saw.

use std::ops::Range;

use docui::{Context, Fault, NumbersSeen, SeenNumbers};

use crate::model::current_file_log::{CurrentFileChange, SeenFile};
use crate::model::line_log::Baseline;
use crate::model::open_files::OpenFiles;

/// Lines of a file that a caller names by the numbers that they saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenPart<'a> {
    /// The lines, counted from 0.
    pub lines: Range<usize>,
    /// The reference point of the line numbers; `None` if the numbers are retired.
    pub baseline: Option<Baseline<'a>>,
    /// True when the reader was shown exactly these numbers.
    pub listed: bool,
}

/// Returns the file that bare numbers of a caller refer to: the one that was current in the version
/// that the reader saw, after the run's own steps.
///
/// # Errors
/// No file was current, or the file was closed since.
pub(crate) fn seen_file_index(files: &OpenFiles, context: &Context) -> Result<usize, Fault> {
    let path = match seen_file(files, context) {
        SeenFile::Path(path) => Some(path),
        SeenFile::None => None,
        SeenFile::Unknown => files.current.as_deref(),
    };
    let path = path.ok_or_else(|| files.no_file_open())?;
    files.index(path).ok_or_else(|| {
        Fault::stale(format!("{}, which you saw, was closed", files.paths.display_path(path)))
            .hint(files.paths.view_hint())
    })
}

/// Returns the file that was current in what the reader saw, after the run's own steps.
pub(crate) fn seen_file<'a>(files: &'a OpenFiles, context: &Context) -> SeenFile<'a> {
    let own = |change: &CurrentFileChange| !change.run.is_empty() && change.run == context.run_id;
    let seen = |change: &CurrentFileChange| match (context.seen_lost, context.seen_version) {
        (true, _) => own(change),
        (false, 0) => true,
        (false, version) => change.version <= version || own(change),
    };
    let path = match files.current_file_log.latest_where(seen) {
        Some(change) => change.to.as_deref(),
        None if context.seen_lost => match files.shown_revisions.only_current_file() {
            Some(path) => Some(path),
            None => return SeenFile::Unknown,
        },
        None => files.current.as_deref(),
    };
    path.map_or(SeenFile::None, SeenFile::Path)
}

/// Returns what lines of a file count in that a caller names by the numbers that they saw, in order
/// and without gaps.
pub(crate) fn baselines<'a>(
    files: &OpenFiles,
    index: usize,
    lines: Range<usize>,
    context: &'a Context,
) -> Vec<SeenPart<'a>> {
    let file = &files[index];
    if let Some(baseline) = present_to_own_query(files, index, context) {
        return vec![SeenPart { lines, baseline: Some(baseline), listed: true }];
    }
    let numbers = lines.start as u64 + 1..lines.end as u64 + 1;
    let names = |since: u64, until: u64| {
        move |seen: NumbersSeen| match seen {
            // Under that name the reader saw another file.
            NumbersSeen::In(version) if version > 0 && !(since..=until).contains(&version) => {
                NumbersSeen::Retired
            }
            seen => seen,
        }
    };
    let current = names(file.named_since(), u64::MAX);
    let mut parts = context.seen_numbers(&file.key(), numbers);
    parts.iter_mut().for_each(|part| part.seen = current(part.seen));
    for (key, until) in file.former_keys() {
        let former = names(0, *until);
        let split = parts.into_iter().flat_map(|part| match part.listed {
            true => vec![part],
            false => {
                let mut parts = context.seen_numbers(key, part.numbers);
                let listed = parts.iter_mut().filter(|part| part.listed);
                listed.for_each(|part| part.seen = former(part.seen));
                parts
            }
        });
        parts = split.collect();
    }
    let mut all: Vec<SeenPart<'a>> = Vec::new();
    for SeenNumbers { numbers, seen, listed } in parts {
        let lines = numbers.start as usize - 1..numbers.end as usize - 1;
        let baseline = match (listed, seen) {
            (false, NumbersSeen::In(_)) => unlisted_baseline(files, index, context),
            _ => baseline_of(seen, context),
        };
        match all.last_mut() {
            Some(last)
                if last.listed == listed && are_same(files, index, last.baseline, baseline) =>
            {
                last.lines.end = lines.end;
            }
            _ => all.push(SeenPart { lines, baseline, listed }),
        }
    }
    all
}

/// Returns the present text if a query looks at a file that an earlier step of its run has changed.
/// It is there to look at what the steps made of the file, so its numbers count in that, while
/// those of further edits count in what the reader saw. A call inside another's arguments counts as
/// that other call does.
fn present_to_own_query<'a>(
    files: &OpenFiles,
    index: usize,
    context: &'a Context,
) -> Option<Baseline<'a>> {
    let run = context.run_id.as_str();
    let looks = context.query && !context.nested && !run.is_empty();
    let changed = || files[index].line_log().has_change_by(run, context.version);
    let present = Baseline { version: context.version, from_earlier_process: false, run };
    (looks && changed()).then_some(present)
}

/// Returns what one line counts in that a caller names by the number that they saw; `None` if it is
/// retired.
pub(crate) fn baseline_at<'a>(
    files: &OpenFiles,
    index: usize,
    line: usize,
    context: &'a Context,
) -> Option<Baseline<'a>> {
    baselines(files, index, line..line + 1, context).first().and_then(|part| part.baseline)
}

/// Returns what numbers of a file count in that the reader wasn't shown: the text as it was when
/// they last saw a part of the file or, if they never did, the present text before the changes of
/// their own run. `None` if they only saw another file of that name.
pub(crate) fn unlisted_baseline<'a>(
    files: &OpenFiles,
    index: usize,
    context: &'a Context,
) -> Option<Baseline<'a>> {
    let run = context.run_id.as_str();
    if context.seen_lost || context.forgotten {
        return Some(Baseline { version: 0, from_earlier_process: true, run });
    }
    let file = &files[index];
    // The keys that the file has and had, each with the versions in which it meant this file.
    let former = file.former_keys().map(|(key, until)| (key.clone(), 0..=*until));
    let keys: Vec<_> =
        [(file.key(), file.named_since()..=u64::MAX)].into_iter().chain(former).collect();
    let shown = context.numbers.iter().filter_map(|numbers| {
        let version = numbers.version.filter(|version| *version > 0)?;
        let (_, named) = keys.iter().find(|(key, _)| *key == numbers.document)?;
        Some((version, named.contains(&version)))
    });
    // A window shows the file that is current.
    let window = Some(context.seen_version).filter(|version| {
        let seen = |change: &CurrentFileChange| change.version <= *version;
        let path = match files.current_file_log.latest_where(seen) {
            Some(change) => change.to.as_deref(),
            None => files.current.as_deref(),
        };
        *version > 0 && path == Some(file.path())
    });
    let window = window.map(|version| (version, version >= file.named_since()));
    let seen: Vec<(u64, bool)> = shown.chain(window).collect();
    let last = seen.iter().filter(|(_, named)| *named).map(|(version, _)| *version).max();
    let present = || file.line_log().version_before(run);
    let version = last.or_else(|| seen.is_empty().then(present))?;
    Some(Baseline { version, from_earlier_process: false, run })
}

fn baseline_of<'a>(seen: NumbersSeen, context: &'a Context) -> Option<Baseline<'a>> {
    let (version, from_earlier_process) = match seen {
        NumbersSeen::In(version) => (version, false),
        NumbersSeen::Lost => (0, true),
        NumbersSeen::Retired => return None,
    };
    Some(Baseline { version, from_earlier_process, run: &context.run_id })
}

/// True when the lines of a file were the same in both versions.
fn are_same(
    files: &OpenFiles,
    index: usize,
    one: Option<Baseline<'_>>,
    other: Option<Baseline<'_>>,
) -> bool {
    let log = files[index].line_log();
    one == other
        || one.zip(other).is_some_and(|(one, other)| {
            let same_process = one.from_earlier_process == other.from_earlier_process;
            let (one, other) = (log.changes_until(one), log.changes_until(other));
            same_process && one.is_some() && one == other
        })
}
