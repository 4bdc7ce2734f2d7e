//! Owner, mode and extended attributes, among which are access lists and security labels.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};

/// Bytes of the names, and of one value, of extended attributes; the kernel has no longer ones.
const MOST: usize = 64 * 1024;

/// Gives a text the owner, the attributes and last the mode of the file whose place it is to take.
///
/// # Errors
/// The mode can't be set.
pub(crate) fn copy(from: &File, to: &File) -> io::Result<()> {
    let before = from.metadata()?;
    // Only root may give a file away; anybody else becomes the owner of what they write.
    let _ = std::os::unix::fs::fchown(to, Some(before.uid()), Some(before.gid()));
    // What a file system can't keep, or only the system may set, is left out.
    let _ = copy_extended(from, to);
    to.set_permissions(fs::Permissions::from_mode(before.mode() & 0o7777))
}

fn copy_extended(from: &File, to: &File) -> rustix::io::Result<()> {
    let mut names = vec![0; MOST];
    let length = flistxattr(from, &mut names)?;
    let mut value = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        value.resize(MOST, 0);
        if let Ok(length) = fgetxattr(from, name, &mut value[..]) {
            let _ = fsetxattr(to, name, &value[..length], XattrFlags::empty());
        }
    }
    Ok(())
}
