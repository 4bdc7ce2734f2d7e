//! Entries that hold bytes besides their text.

use docui::{Fault, Media};

use super::rows::{Batch, insert, insert_blob};
use super::{Added, ChangeKind};
use crate::entry::{BLOB_MAX, Content};
use crate::store::Store;

impl Store {
    /// Adds an entry that holds bytes besides its text. `media` says what they are.
    ///
    /// # Errors
    /// As [`Store::add`]; also if there are too many bytes.
    pub fn add_bytes(
        &mut self,
        content: &Content,
        media: &Media,
        bytes: &[u8],
    ) -> Result<Added, Fault> {
        content.check()?;
        if bytes.len() > BLOB_MAX {
            let (length, most) = (bytes.len() / 1024, BLOB_MAX / 1024);
            return Err(Fault::refused(format!("text: {length} KiB, at most {most} KiB")));
        }
        let media =
            serde_json::to_string(media).map_err(|error| Fault::failed(error.to_string()))?;
        self.write(|transaction| {
            let blob = Some(insert_blob(transaction, &media, bytes)?);
            let entry = insert(transaction, None, &Content { blob, ..content.clone() })?;
            let mut batch = Batch::new(ChangeKind::Add, None);
            batch.record(transaction, entry, 1, None)?;
            Ok(Added { change: batch.end(transaction)?, entries: vec![entry] })
        })
    }
}
