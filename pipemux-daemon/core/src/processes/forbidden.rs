//! Folders that the person forbids: no session has a process that was granted one, or what contains
//! it, since a sandbox can take nothing out of a folder that it grants.

use pipemux_proto::Fault;

use crate::keys::SessionKey;
use crate::manifest::{FolderAccess, Manifest};
use crate::persist::records::SavedOpen;
use crate::processes::granted_paths::{folders_of, is_within, named_paths};
use crate::processes::session::Session;

/// The folders that no process is granted, as absolute paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ForbiddenFolders(Vec<String>);

impl ForbiddenFolders {
    pub(super) fn new(folders: Vec<String>) -> Self {
        Self(folders)
    }

    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Refuses a session that was granted a forbidden folder.
    ///
    /// # Errors
    /// The session was granted one.
    pub(super) fn check_session(&self, session: &Session) -> Result<(), Fault> {
        let key = &session.key;
        let checked = self.check_opens(key, &session.manifest, session.opens.as_slice());
        checked.map_err(|fault| fault.hint(format!("a session without it: pipemux end {key}")))
    }

    /// Refuses opens that would grant a session a forbidden folder.
    ///
    /// # Errors
    /// One of the opens would grant one.
    pub fn check_opens(
        &self,
        key: &SessionKey,
        manifest: &Manifest,
        opens: &[SavedOpen],
    ) -> Result<(), Fault> {
        if self.0.is_empty() {
            return Ok(());
        }
        let folders = match manifest.folder_access() {
            FolderAccess::None => return Ok(()),
            FolderAccess::Named => Vec::new(),
            FolderAccess::Read | FolderAccess::Write => folders_of(key, opens),
        };
        self.check_paths(&[folders, named_paths(opens)].concat())
    }

    /// Refuses paths that lie in a forbidden folder or contain one.
    ///
    /// # Errors
    /// One of them does.
    pub fn check_paths(&self, paths: &[String]) -> Result<(), Fault> {
        for path in paths {
            let touches = |folder: &&String| is_within(path, folder) || is_within(folder, path);
            let Some(folder) = self.0.iter().find(touches) else { continue };
            let why = match is_within(path, folder) {
                true => format!("{path} is forbidden here"),
                false => format!("{path} contains {folder}, which is forbidden here"),
            };
            let rule = format!("[files] forbidden = [\"{folder}\"] in config.toml");
            return Err(Fault::refused(format!("{why}: {rule}")));
        }
        Ok(())
    }
}
