//! Detects changes by other programs: an editor, `git checkout`, a merge.

use std::collections::{BTreeMap, HashMap};

use super::NodeFiles;
use super::changes::OutsideChanges;
use super::indexed::{ListedFile, indexed};
use crate::error::StoreError;
use crate::file_edit::{FileName, Part};
use crate::folder::now_ns;
use crate::index::{self, KnownFile, NodeRow};
use crate::name::{NameError, NodeId};
use crate::stamp::Stamp;

/// Files whose names aren't allowed, by their names.
type Misnamed = BTreeMap<String, NameError>;

/// Files with names that aren't allowed that are remembered.
const MISNAMED_MAX: usize = 100;

/// Characters of such a name that are shown.
const NAME_CHARS_SHOWN: usize = 80;

/// Returns a file's name as one line in which nothing is invisible.
fn shown_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric();
    let shown = |c: char| match plain(c) {
        true => c.to_string(),
        false => pipemux_proto::text::code_point(c),
    };
    let cut = if name.chars().nth(NAME_CHARS_SHOWN).is_some() { "…" } else { "" };
    name.chars().take(NAME_CHARS_SHOWN).map(shown).collect::<String>() + cut
}

impl NodeFiles {
    /// Notices what other programs changed: nothing but the time of the folder is looked at if no
    /// file came, went or was replaced. A file that was written in place shows when it is looked at
    /// ([`NodeFiles::verify`]) or swept ([`NodeFiles::sweep`]).
    ///
    /// # Errors
    /// The folder isn't readable.
    pub fn refresh(&mut self) -> Result<OutsideChanges, StoreError> {
        self.sync_folder().map(|(_, changes)| changes)
    }

    /// Compares the files of some nodes with the index, which follows them.
    ///
    /// # Errors
    /// The index isn't usable.
    pub fn verify<'a>(
        &mut self,
        ids: impl IntoIterator<Item = &'a str>,
    ) -> Result<OutsideChanges, StoreError> {
        let mut changes = OutsideChanges::default();
        let looked = self.compare(ids, &mut changes);
        // What was found before something failed is known to the index.
        self.noticed.append(changes.clone());
        looked.map(|()| changes)
    }

    fn compare<'a>(
        &mut self,
        ids: impl IntoIterator<Item = &'a str>,
        changes: &mut OutsideChanges,
    ) -> Result<(), StoreError> {
        for id in ids {
            let Some((name, known)) = self.index.file_of(id)? else { continue };
            let file = FileName::new(Part::Nodes, name);
            let stamp = self.folder.file_stamp(&file);
            let same = |stamp: &Stamp| known.as_deref() == Some(&stamp.to_bytes()[..]);
            match stamp {
                Ok(Some(stamp)) if same(&stamp) => {}
                Ok(Some(stamp)) => changes.append(self.take_in(id, (file.name, Ok(stamp)))?),
                Ok(None) => {
                    let id = NodeId::parse(id)?;
                    self.index.change(|transaction| index::set(transaction, &id, None))?;
                    changes.removed.push(id);
                }
                Err(error) => {
                    changes.append(self.take_in(id, (file.name, Err(error.to_string())))?);
                }
            }
        }
        Ok(())
    }

    /// Compares the files of the next `max` nodes with the index. Returns also true when all have
    /// been compared since the last time that this was returned.
    ///
    /// # Errors
    /// The index isn't usable, or the folder isn't readable.
    pub fn sweep(&mut self, max: usize) -> Result<(OutsideChanges, bool), StoreError> {
        let from = self.swept.take();
        let ids = self.index.ids_after(from.as_deref(), max)?;
        let mut changes = self.verify(ids.iter().map(String::as_str))?;
        if ids.len() == max {
            self.swept = ids.last().cloned();
            return Ok((changes, false));
        }
        // A file that came at the same moment as a change of this session is noticed here.
        self.index.set_folder_stamp(None)?;
        changes.append(self.sync_folder()?.1);
        Ok((changes, true))
    }

    /// Reads one file into the index.
    fn take_in(&mut self, id: &str, listed: ListedFile) -> Result<OutsideChanges, StoreError> {
        let id = NodeId::parse(id)?;
        let old = self.index.node(id.as_str())?;
        let file = indexed(&self.folder, &id, listed);
        let stamp = file.stamp;
        // A file that can't be read has no hash: it is the same as long as it has the same problem.
        let is_same = |row: &NodeRow| {
            row.hash == file.hash && (file.hash != 0 || row.problem == file.problem)
        };
        if old.as_ref().is_some_and(is_same) {
            self.index.change(|transaction| index::set_stamp(transaction, id.as_str(), stamp))?;
            return Ok(OutsideChanges::default());
        }
        self.index.change(|transaction| index::set(transaction, &id, Some(&file)))?;
        let mut changes = OutsideChanges::default();
        if old.is_some() {
            changes.changed.push(id)
        } else {
            changes.added.push(id)
        }
        Ok(changes)
    }

    /// Makes the index follow the folder. Returns also true when all files were read.
    pub(crate) fn sync_folder(&mut self) -> Result<(bool, OutsideChanges), StoreError> {
        let stamp = self.folder.stamp(Part::Nodes)?;
        let bytes = stamp.map(Stamp::to_bytes);
        let known = self.index.folder_stamp()?;
        if bytes.is_some() && bytes.as_ref().map(|bytes| &bytes[..]) == known.as_deref() {
            return Ok((false, OutsideChanges::default()));
        }
        if stamp.is_some() && stamp == self.unsettled {
            // As this session left it. Once its time is past, a later session can rely on it.
            if let Some(settled) = stamp.and_then(|stamp| stamp.if_settled(now_ns())) {
                self.index.set_folder_stamp(Some(settled))?;
                self.unsettled = None;
            }
            return Ok((false, OutsideChanges::default()));
        }
        let (found, misnamed) = self.list_nodes()?;
        let mut known: HashMap<String, KnownFile> = HashMap::new();
        self.index.stamps(|id, file, stamp| drop(known.insert(id, (file, stamp))))?;
        let rebuilt = known.is_empty() && !found.is_empty();
        let mut changes = match rebuilt {
            true => {
                let added = found.keys().cloned().collect();
                self.read_all(found)?;
                OutsideChanges { added, ..OutsideChanges::default() }
            }
            false => self.read_changed(found, known)?,
        };
        changes.misnamed = self.told_once(misnamed);
        self.noticed.append(changes.clone());
        let settled = stamp.and_then(|stamp| stamp.if_settled(now_ns()));
        self.index.set_folder_stamp(settled)?;
        self.unsettled = stamp.filter(|_| settled.is_none());
        Ok((rebuilt, changes))
    }

    /// Returns what wasn't told yet of files whose names aren't allowed, and forgets those that are
    /// gone.
    fn told_once(&mut self, misnamed: BTreeMap<String, NameError>) -> Vec<String> {
        let told = std::mem::take(&mut self.misnamed);
        let news = misnamed
            .iter()
            .filter(|(name, _)| !told.contains(*name))
            .map(|(name, why)| format!("nodes/{}: {why}", shown_name(name)));
        let news = news.collect();
        self.misnamed = misnamed.into_keys().collect();
        news
    }

    /// Returns the files of all nodes, and those that would be nodes if their names were allowed.
    /// Of two that claim one id the first one by its name counts, and says so.
    fn list_nodes(&self) -> Result<(BTreeMap<NodeId, ListedFile>, Misnamed), StoreError> {
        let mut found: BTreeMap<NodeId, ListedFile> = BTreeMap::new();
        let mut misnamed = Misnamed::new();
        let mut twice: Vec<(NodeId, String)> = Vec::new();
        self.folder.list(Part::Nodes, |name, stamp| {
            let id = match NodeId::of_file(&name) {
                Some(Ok(id)) => id,
                Some(Err(why)) => {
                    if misnamed.len() < MISNAMED_MAX {
                        misnamed.insert(name, why);
                    }
                    return;
                }
                // Other files in the folder are none of ours.
                None => return,
            };
            let listed = (name, stamp.map_err(|error| error.to_string()));
            match found.get_mut(&id) {
                None => drop(found.insert(id, listed)),
                Some(first) => {
                    let (winner, loser) = if first.0 < listed.0 {
                        (None, listed.0)
                    } else {
                        (Some(listed), first.0.clone())
                    };
                    if let Some(winner) = winner {
                        *first = winner;
                    }
                    twice.push((id, loser));
                }
            }
        })?;
        for (id, other) in twice {
            if let Some((name, stamp)) = found.get_mut(&id) {
                let message = format!(
                    "two files claim this id: nodes/{name} and nodes/{}; rename one of them",
                    other.escape_unicode()
                );
                *stamp = Err(message);
            }
        }
        Ok((found, misnamed))
    }

    fn read_all(&mut self, found: BTreeMap<NodeId, ListedFile>) -> Result<(), StoreError> {
        let Self { folder, index, .. } = self;
        index.fill(|insert| {
            for (id, listed) in found {
                insert(&id, &indexed(folder, &id, listed))?;
            }
            Ok(())
        })
    }

    fn read_changed(
        &mut self,
        found: BTreeMap<NodeId, ListedFile>,
        mut known: HashMap<String, KnownFile>,
    ) -> Result<OutsideChanges, StoreError> {
        let mut changes = OutsideChanges::default();
        for (id, listed) in found {
            let same = match (known.remove(id.as_str()), &listed.1) {
                (Some((file, stamp)), Ok(now)) => {
                    file == listed.0 && stamp.as_deref() == Some(&now.to_bytes()[..])
                }
                _ => false,
            };
            if !same {
                changes.append(self.take_in(id.as_str(), listed)?);
            }
        }
        for id in known.into_keys() {
            let id = NodeId::parse(&id)?;
            self.index.change(|transaction| index::set(transaction, &id, None))?;
            changes.removed.push(id);
        }
        changes.removed.sort();
        Ok(changes)
    }
}
