//! Deleting several items or ranges at once, in any number of files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use docui::{Context, Fault, Line};
use pipemux_syntax::{Source, plan_delete};

use super::arranged_lines::gap_after;
use super::arranging::{ArrangeReport, described};
use super::resolved::{Resolved, Unresolved};
use super::surroundings::EditedPlace;
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::open_files::OpenFiles;
use crate::model::text_diff::difference;
use crate::model::workspace_edit::WorkspaceEdit;
use crate::update::edit::{Plan, Work};
use crate::update::symbols::arranging::arrange;
use crate::update::symbols::target_argument::target;

/// Deletes items and lines: all that are named, or none.
pub(crate) fn delete_all(
    open_files: &OpenFiles,
    edits: &mut Edits,
    ranges: &[Line],
    context: &Context,
) -> Result<Work, Fault> {
    let targets = ranges.iter().map(|range| target(open_files, range, context));
    let targets = targets.collect::<Result<Vec<_>, Fault>>()?;
    if targets.is_empty() {
        return Err(Fault::usage("expected what to delete: delete(['foo', 'a.rs:10-20'])"));
    }
    arrange(open_files, edits, context, move |resolver| {
        let (mut files, mut names) = (BTreeMap::<PathBuf, Vec<Resolved>>::new(), Vec::new());
        for target in &targets {
            let found = resolver.resolve(target)?.into_items();
            names.push(described(&found));
            files.entry(found.path.clone()).or_default().push(found);
        }
        let mut edit = WorkspaceEdit::new(EditKind::Delete);
        let mut edited_places = Vec::new();
        for (path, found) in files {
            let Some(before) = found.first().map(|one| one.source.text().to_owned()) else {
                continue;
            };
            let (after, gaps) = without(found)?;
            edit = edit.splices(path.clone(), difference(&before, &after).0);
            edited_places
                .extend(gaps.into_iter().rev().map(|gap| EditedPlace::Gap(path.clone(), gap)));
        }
        Ok(Plan::Edit(
            edit,
            ArrangeReport { brief: names.join("; "), edited_places, replaced: None },
        ))
    })
}

/// Returns a file's text without items, and the bytes where they were taken out, the last one
/// first.
///
/// The last one is taken out first, so that the bytes of those above it still count.
fn without(mut found: Vec<Resolved>) -> Result<(String, Vec<usize>), Unresolved> {
    found.sort_by_key(|one| (one.bytes.start, one.bytes.end));
    let mut text = found.first().map(|one| one.source.text().to_owned()).unwrap_or_default();
    let mut gaps: Vec<usize> = Vec::new();
    while let Some(one) = found.pop() {
        let bytes = one.item()?;
        let parsed = match one.source.is_plain() {
            true => Source::plain(text.as_str()),
            false => Source::parse(one.source.language(), text.as_str()),
        };
        let source = parsed.map_err(|error| Fault::refused(error.to_string()))?;
        let planned = plan_delete(&source, &bytes, one.is_exact());
        if let Some(above) = found.last_mut() {
            let starts = planned.edits.iter().map(|edit| edit.range.start);
            let start = starts.min().unwrap_or(above.bytes.end).min(above.bytes.end);
            let taken = text.get(start..above.bytes.end).unwrap_or_default();
            if !taken.trim().is_empty() {
                let message = format!("{} and {} overlap", above.name(), one.name());
                return Err(Fault::usage(message)
                    .hint("name them as one range: 'a.rs:10-20'")
                    .into());
            }
            // At the end of a file the newline above goes, too.
            above.bytes.end = start;
        }
        let shorter = planned.apply(&text);
        let taken = text.len().saturating_sub(shorter.len());
        gaps.iter_mut().for_each(|gap| *gap = gap.saturating_sub(taken));
        gaps.push(gap_after(&planned, &bytes));
        text = shorter;
    }
    Ok((text, gaps))
}
