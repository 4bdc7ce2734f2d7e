//! What a reader's bare line numbers refer to: the file that was current and the version of it that
//! the reader saw.

use std::ops::Range;
use std::path::Path;

use docui::{Context, Fault, NumbersSeen, SeenNumbers};

use super::Editor;
use crate::model::current_file_log::{CurrentFileChange, SeenFile};
use crate::model::journal::unrecorded;
use crate::model::line_log::Baseline;

/// Lines of a file that a caller names by the numbers that they saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenPart<'a> {
    /// The lines, from 0.
    pub lines: Range<usize>,
    /// What they count in; `None` when their numbers are retired.
    pub baseline: Option<Baseline<'a>>,
    /// True when the reader was shown exactly these numbers.
    pub listed: bool,
}

impl Editor {
    /// Returns the file that bare numbers of a caller refer to: the one that was current in the version
    /// that the reader saw, after the run's own steps.
    ///
    /// # Errors
    /// No file was current, or the file was closed since.
    pub(crate) fn seen_file_index(&self, context: &Context) -> Result<usize, Fault> {
        let path = match self.seen_file(context) {
            SeenFile::Path(path) => Some(path),
            SeenFile::None => None,
            SeenFile::Unknown => self.current.as_deref(),
        };
        let path = path.ok_or_else(|| self.no_file_open())?;
        self.file_index(path).ok_or_else(|| {
            Fault::stale(format!("{}, which you saw, was closed", self.display_path(path)))
                .hint(self.view_hint())
        })
    }

    /// Returns the file that was current in what the reader saw, after the run's own steps.
    pub(crate) fn seen_file(&self, context: &Context) -> SeenFile<'_> {
        let own =
            |change: &CurrentFileChange| !change.run.is_empty() && change.run == context.run_id;
        let seen = |change: &CurrentFileChange| match (context.seen_lost, context.seen_version) {
            (true, _) => own(change),
            (false, 0) => true,
            (false, version) => change.version <= version || own(change),
        };
        let path = match self.current_file_log.latest_where(seen) {
            Some(change) => change.to.as_deref(),
            None if context.seen_lost => match self.shown_revisions.only_current_file() {
                Some(path) => Some(path),
                None => return SeenFile::Unknown,
            },
            None => self.current.as_deref(),
        };
        path.map_or(SeenFile::None, SeenFile::Path)
    }

    /// Returns what lines of a file count in that a caller names by the numbers that they saw, in order and
    /// without gaps.
    pub(crate) fn baselines<'a>(
        &self,
        index: usize,
        lines: Range<usize>,
        context: &'a Context,
    ) -> Vec<SeenPart<'a>> {
        let file = &self.files[index];
        if let Some(baseline) = self.present_to_own_query(index, context) {
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
                (false, NumbersSeen::In(_)) => self.unlisted_baseline(index, context),
                _ => self.baseline_of(seen, context),
            };
            match all.last_mut() {
                Some(last)
                    if last.listed == listed && self.are_same(index, last.baseline, baseline) =>
                {
                    last.lines.end = lines.end;
                }
                _ => all.push(SeenPart { lines, baseline, listed }),
            }
        }
        all
    }

    /// Returns the present text if a query looks at a file that an earlier step of its run has changed. It is there to
    /// look at what the steps made of the file, so its numbers count in that, while those of further edits count in what
    /// the reader saw. A call inside another's arguments counts as that other call does.
    fn present_to_own_query<'a>(&self, index: usize, context: &'a Context) -> Option<Baseline<'a>> {
        let run = context.run_id.as_str();
        let looks = context.query && !context.nested && !run.is_empty();
        let changed = || self.files[index].line_log().has_change_by(run, context.version);
        let present = Baseline { version: context.version, from_earlier_process: false, run };
        (looks && changed()).then_some(present)
    }

    /// Returns what one line counts in that a caller names by the number that they saw; `None` if it is retired.
    pub(crate) fn baseline_at<'a>(
        &self,
        index: usize,
        line: usize,
        context: &'a Context,
    ) -> Option<Baseline<'a>> {
        self.baselines(index, line..line + 1, context).first().and_then(|part| part.baseline)
    }

    /// Returns what numbers of a file count in that the reader wasn't shown: the text as it was when they last saw a
    /// part of the file or, if they never did, the present text before the changes of their own run. `None` if they
    /// only saw another file of that name.
    pub(crate) fn unlisted_baseline<'a>(
        &self,
        index: usize,
        context: &'a Context,
    ) -> Option<Baseline<'a>> {
        let run = context.run_id.as_str();
        if context.seen_lost || context.forgotten {
            return Some(Baseline { version: 0, from_earlier_process: true, run });
        }
        let file = &self.files[index];
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
            let path = match self.current_file_log.latest_where(seen) {
                Some(change) => change.to.as_deref(),
                None => self.current.as_deref(),
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

    fn baseline_of<'a>(&self, seen: NumbersSeen, context: &'a Context) -> Option<Baseline<'a>> {
        let (version, from_earlier_process) = match seen {
            NumbersSeen::In(version) => (version, false),
            NumbersSeen::Lost => (0, true),
            NumbersSeen::Retired => return None,
        };
        Some(Baseline { version, from_earlier_process, run: &context.run_id })
    }

    /// True when the lines of a file were the same in both versions.
    fn are_same(
        &self,
        index: usize,
        one: Option<Baseline<'_>>,
        other: Option<Baseline<'_>>,
    ) -> bool {
        let log = self.files[index].line_log();
        one == other
            || one.zip(other).is_some_and(|(one, other)| {
                let same_process = one.from_earlier_process == other.from_earlier_process;
                let (one, other) = (log.changes_until(one), log.changes_until(other));
                same_process && one.is_some() && one == other
            })
    }

    /// Records that a file's text is about to change, after which no number from an earlier process
    /// counts for it.
    ///
    /// # Errors
    /// This can't be written down; the change must not be made.
    pub(crate) fn before_change(&mut self, index: usize) -> Result<(), Fault> {
        self.shown_revisions.record_changed(self.files[index].path());
        self.shown_revisions.write().map_err(|error| unrecorded(&self.state_dir, &error))
    }

    /// Records that a path has another text than readers saw there before.
    pub(crate) fn record_other_text(&mut self, index: usize) {
        let file = &self.files[index];
        self.shown_revisions.record_shown(file.path(), file.buffer().digest());
        self.shown_revisions.record_changed(file.path());
    }

    /// Records that a file has changed on disk. Unlike in [`Editor::before_change`] there is no caller to
    /// refuse the change to, so it is written down with the manifest.
    pub(crate) fn record_changed_on_disk(&mut self, path: &Path) {
        self.shown_revisions.record_changed(path);
    }
}
