//! Reads node files for the index.

use crate::file_edit::{FileName, Part};
use crate::folder::{Folder, FolderError, now_ns};
use crate::index::IndexedFile;
use crate::name::NodeId;
use crate::node_file::{FILE_BYTES_MAX, NodeFile, conflict_line, first_side};
use crate::stamp::{Stamp, hash};

/// A listed node file: its name, and its stamp or the reason for lacking one.
pub(super) type ListedFile = (String, Result<Stamp, String>);

/// Reads a file for the index. What is wrong with it costs this node only.
pub(super) fn indexed(folder: &Folder, id: &NodeId, (name, stamp): ListedFile) -> IndexedFile {
    let broken = |name: String, problem: String| IndexedFile {
        file: name,
        title: id.to_string(),
        problem: Some(problem),
        ..IndexedFile::default()
    };
    let file = FileName::new(Part::Nodes, name);
    let read = folder.read(&file);
    let claimed = stamp.as_ref().err().filter(|why| why.starts_with("two files")).cloned();
    match (read, stamp) {
        (Ok(Some((bytes, stamp))), Ok(_)) => {
            let stamp = stamp.if_settled(now_ns());
            IndexedFile { stamp, ..parse(id, &file.name, &bytes) }
        }
        (Ok(Some((bytes, _))), Err(_)) if claimed.is_some() => {
            IndexedFile { problem: claimed, ..parse(id, &file.name, &bytes) }
        }
        (Ok(_), Ok(_)) => broken(file.name, "its file is gone".to_owned()),
        (Ok(_), Err(why)) => broken(file.name, why),
        (Err(FolderError::TooLong { bytes, .. }), _) => {
            broken(file.name, format!("its file has {bytes} bytes, at most {FILE_BYTES_MAX}"))
        }
        (Err(error), _) => broken(file.name, error.to_string()),
    }
}

/// Reads the content of a file for the index.
pub(crate) fn parse(id: &NodeId, name: &str, bytes: &[u8]) -> IndexedFile {
    let hash = hash(bytes);
    let (parsed, problem) = match conflict(bytes) {
        // Where it stands is taken from the first side; the text is searched with the markers.
        Some(problem) => {
            let text = String::from_utf8_lossy(bytes);
            let side = first_side(&text);
            (NodeFile::parse(side.as_bytes()).unwrap_or_default(), Some(problem))
        }
        None => match NodeFile::parse(bytes) {
            Ok(parsed) => (parsed, None),
            Err(error) => (NodeFile::default(), Some(error.to_string())),
        },
    };
    let relations =
        parsed.list("relations").iter().filter_map(|text| split_relation(text)).collect();
    let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    IndexedFile {
        file: name.to_owned(),
        parent: parsed.get("parent").unwrap_or_default(),
        order: parsed.get("order").unwrap_or_default(),
        title: parsed.title().map(one_line).unwrap_or_else(|| id.to_string()),
        gist: parsed.get("gist").map(one_line).unwrap_or_default(),
        summary: parsed.get("summary").unwrap_or_default(),
        tags: parsed.list("tags"),
        content: parsed.content(),
        modified: parsed.get("modified").unwrap_or_default(),
        relations,
        problem,
        hash,
        stamp: None,
    }
}

/// Reads a relation: `id kind target`.
fn split_relation(text: &str) -> Option<(String, String, String)> {
    let mut words = text.split_whitespace().map(str::to_owned);
    Some((words.next()?, words.next()?, words.next()?))
}

/// Says where a merge left a conflict in a file.
pub(super) fn conflict(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    conflict_line(text).map(|line| format!("line {line}: a merge left a conflict there"))
}
