//! Reverts what one change did to a node's file, entry by entry.

use super::NodeFile;

/// The entries with a single value.
const VALUES: &[&str] = &["title", "parent", "order", "gist", "summary"];

/// The entries whose items are taken back individually.
const LISTS: &[&str] = &["tags", "relations"];

impl NodeFile {
    /// Takes back what a change made of the file, and leaves what was changed since. Returns false,
    /// with a file that isn't to be used, if it was the same entry or the same lines.
    #[must_use]
    pub(crate) fn take_back(&mut self, after: &Self, before: &Self) -> bool {
        for key in VALUES {
            let (made, was, now) = (after.get(key), before.get(key), self.get(key));
            if made == was || now == was {
                continue;
            }
            if now != made {
                return false;
            }
            self.set(key, &was.unwrap_or_default());
        }
        for key in LISTS {
            let (made, was, now) = (after.list(key), before.list(key), self.list(key));
            let mut all = now.clone();
            all.retain(|item| was.contains(item) || !made.contains(item));
            let gone = was.into_iter().filter(|item| !made.contains(item) && !now.contains(item));
            all.extend(gone);
            if all != now {
                self.set_list(key, &all);
            }
        }
        let texts = [after, self, before].map(|file| file.content());
        let [made, now, was] = texts.each_ref().map(String::as_bytes);
        let Ok(merged) = pipemux_merge::merge(made, now, was) else { return false };
        self.set_content(&String::from_utf8_lossy(&merged));
        true
    }
}
