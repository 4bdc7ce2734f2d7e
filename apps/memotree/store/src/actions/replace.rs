//! Replaces a text in many nodes.

use super::fields::{GIST_CHARS_MAX, optional_line, summary};
use crate::actions::draft::Draft;
use crate::error::StoreError;
use crate::store::{Committed, Store};

impl Store {
    /// Replaces a text in the contents, gists and summaries of nodes, of none named in those of
    /// all. Returns the nodes that had it, and how often in all.
    ///
    /// # Errors
    /// There is no such node, the text is empty, a gist or summary gets too long, or a file can't
    /// be written.
    pub fn replace(
        &mut self,
        ids: &[&str],
        old: &str,
        new: &str,
    ) -> Result<(Vec<String>, usize, Committed), StoreError> {
        if old.is_empty() {
            return Err(StoreError::Value(
                "old: expected a text that is to be replaced".to_owned(),
            ));
        }
        let all = match ids {
            [] => self.files.index.ids_after(None, u32::MAX as usize)?,
            ids => ids.iter().map(|id| (*id).to_owned()).collect(),
        };
        let mut draft = Draft::new(self);
        let (today, mut changed, mut places) = (draft.today(), Vec::new(), 0);
        for id in all {
            let file = match draft.store.files.read(&id) {
                Ok((_, file, _)) => file,
                // It costs this node only, unless it is named.
                Err(StoreError::Broken { .. } | StoreError::Folder(_)) if ids.is_empty() => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            let [gist, text] = ["gist", "summary"].map(|key| file.get(key).unwrap_or_default());
            let texts = [gist, text, file.content()];
            let found: usize = texts.iter().map(|text| text.matches(old).count()).sum();
            if found == 0 {
                continue;
            }
            let [gist, short, content] = texts.map(|text| text.replace(old, new));
            let file = draft.file(&id)?;
            file.set("gist", &optional_line("gist", &gist, GIST_CHARS_MAX)?);
            file.set("summary", &summary(&short)?);
            file.set_content(&content);
            file.set("modified", &today);
            places += found;
            changed.push(id);
        }
        let done = draft.commit(&format!("replace in {} nodes", changed.len()))?;
        Ok((changed, places, done))
    }
}
