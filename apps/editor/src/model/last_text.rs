//! The text that a session last wrote to a file, kept in its state directory.
//!
//! While no process of the session runs, others may write the file. What they wrote is then known
//! by comparison with the kept text, so that earlier changes can still be taken back around it. A
//! kept text that is cut off, or older than the last one, has another digest than it should and
//! leads nowhere, or leads on from there.

use std::fs;
use std::path::{Path, PathBuf};

use docui::regular_file;

use crate::limits::{LAST_TEXT_MAX, LAST_TEXTS_MAX};

use super::buffer::Buffer;
use super::stable_hash::stable_hash;

const FOLDER: &str = "texts";

fn place(state_dir: &Path, file: &Path) -> PathBuf {
    let hash = stable_hash(file.as_os_str().as_encoded_bytes());
    state_dir.join(FOLDER).join(format!("{hash:016x}"))
}

/// Keeps the text of a file, unless it is too long. If that fails, less can be taken back later,
/// and nothing is lost.
pub fn keep(state_dir: &Path, file: &Path, text: &Buffer) {
    let place = place(state_dir, file);
    if text.len() > LAST_TEXT_MAX {
        let _ = fs::remove_file(place);
        return;
    }
    if !place.exists() {
        make_room(&state_dir.join(FOLDER));
    }
    let _ = fs::write(place, text.text());
}

/// Returns the kept text of a file.
pub fn read(state_dir: &Path, file: &Path, bom: bool) -> Option<Buffer> {
    let bytes = regular_file::read(&place(state_dir, file)).ok()?;
    Some(Buffer::new(std::str::from_utf8(&bytes).ok()?, bom))
}

/// Makes the folder, and room in it: the text that was kept longest ago goes.
fn make_room(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        let _ = fs::create_dir(folder);
        return;
    };
    let kept: Vec<_> = entries.flatten().collect();
    if kept.len() >= LAST_TEXTS_MAX {
        let age = |entry: &&fs::DirEntry| entry.metadata().and_then(|meta| meta.modified()).ok();
        let oldest = kept.iter().min_by_key(age);
        let _ = oldest.map(|oldest| fs::remove_file(oldest.path()));
    }
}
