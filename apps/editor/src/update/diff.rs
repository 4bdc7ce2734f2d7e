//! Comparing the current file with the one on disk.

use std::time::Duration;

use docui::blocking::CommitPoint;
use docui::{Blocking, Context, Done, Fault, Reply};
use similar::{DiffTag, TextDiff};

use crate::limits::{DETAIL_MAX, DIFF_MS, VALUE_MAX};
use crate::model::{Editor, disk};

impl Editor {
    pub(super) fn diff(&mut self, context: &Context) -> Result<Blocking<Self>, Fault> {
        let index = self.seen_file_index(context)?;
        let path = self.files[index].path().to_owned();
        let wanted = path.clone();
        let read = move |_: &CommitPoint| disk::load_if_exists(&wanted);
        let asked = path.clone();
        Ok(self.at_disk(&asked, context, read, move |editor, read, _, _| {
            let index = editor.file_index(&path);
            let index = index.ok_or_else(|| Fault::failed("the file was closed meanwhile"))?;
            editor.diff_with(index, &read?.map(|loaded| loaded.text).unwrap_or_default())
        }))
    }

    fn diff_with(&self, index: usize, disk: &str) -> Result<Reply, Fault> {
        let file = &self.files[index];
        let shown = self.display_name(index);
        let now = file.buffer().text();
        if disk == now {
            return Ok(Done::new(format!("{shown}, no changes")).value("").into());
        }
        let mut config = TextDiff::configure();
        config.timeout(Duration::from_millis(DIFF_MS));
        let (old, new): (Vec<_>, Vec<_>) =
            (disk.split_inclusive('\n').collect(), now.split_inclusive('\n').collect());
        let diff = config.newline_terminated(true).diff_slices(&old, &new);
        let (mut added, mut removed) = (0, 0);
        for op in diff.ops() {
            let (tag, before, after) = op.as_tag_tuple();
            if tag != DiffTag::Equal {
                (removed, added) = (removed + before.len(), added + after.len());
            }
        }
        let mut text =
            diff.unified_diff().header(&shown, &format!("{shown} (unsaved)")).to_string();
        let mut brief = format!("{shown}, +{added} -{removed} lines");
        if text.len() > VALUE_MAX {
            text = cut_to_lines(&text, VALUE_MAX);
            brief += ", cut";
        }
        let detail = match text.len() > DETAIL_MAX {
            true => cut_to_lines(&text, DETAIL_MAX),
            false => text.clone(),
        };
        Ok(Done::new(brief).detail(detail).value(text).label(format!("diff of {shown}")).into())
    }
}

/// Returns whole lines from the start of a text, at most `max` bytes of them, and a line that says that the
/// rest was cut.
fn cut_to_lines(text: &str, max: usize) -> String {
    let end = (0..=max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let head = text[..end].rsplit_once('\n').map_or(&text[..end], |(head, _)| head);
    format!("{head}\n… cut\n")
}
