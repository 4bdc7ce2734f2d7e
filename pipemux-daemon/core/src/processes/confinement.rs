//! The confinement of a session's process, from its manifest and the folders that its user named.
//!
//! A folder is granted by being named: where an `open` was made, by a path among its arguments and,
//! for a built-in app, by a path among the arguments of a call. An app can't ask for one. A process
//! that runs can't be given more, so it is put to sleep and woken with the wider grants
//! ([`wider_grants`](crate::processes::wider_grants)).

use crate::event::Confinement;
use crate::manifest::{FolderAccess, Isolation, SandboxLevel};
use crate::persist::records::SavedOpen;
use crate::processes::forbidden::ForbiddenFolders;
use crate::processes::granted_paths::{
    folders_of, is_nameable, is_within, named_paths, normalized,
};
use crate::processes::session::Session;

impl Session {
    /// The confinement of the session's next process; `None` if it isn't confined.
    pub(super) fn confinement(&self, forbidden: &ForbiddenFolders) -> Option<Confinement> {
        let (key, manifest) = (&self.key, &self.manifest);
        if manifest.sandbox == SandboxLevel::Off {
            return None;
        }
        // The sessions of a shared process come and go while it runs, each with folders of its own,
        // and no rule can be added to a running process: its files aren't confined, everything else
        // is.
        let files = manifest.isolation == Isolation::Session;
        let home = self.opens.newest().and_then(|open| {
            open.env.iter().find(|(name, _)| name == "HOME").map(|(_, home)| home.as_str())
        });
        let listed = |paths: &[String]| paths.iter().map(|path| in_home(path, home)).collect();
        let folder = manifest.folder_access();
        let (mut folders, mut paths) = (Vec::new(), Vec::new());
        if folder != FolderAccess::None {
            if folder != FolderAccess::Named {
                folders = folders_of(key, self.opens.as_slice());
            }
            paths = named_paths(self.opens.as_slice());
            paths.retain(|path| !folders.iter().any(|folder| is_within(path, folder)));
        }
        Some(Confinement {
            strict: manifest.sandbox == SandboxLevel::Strict,
            files,
            forbidden: forbidden.as_slice().to_vec(),
            folders,
            paths,
            write_folders: matches!(folder, FolderAccess::Write | FolderAccess::Named),
            whole: manifest.built_in.is_some(),
            read: listed(&manifest.read),
            write: listed(&manifest.write),
            network: manifest.network,
            exec: manifest.exec,
            signals: manifest.signals,
            watch: manifest.watch,
            note: format!(
                "{key} runs in the sandbox ({}); in its manifest, read, write, folder, network, exec, signals and \
                 watch grant more",
                manifest.sandbox.word()
            ),
        })
    }

    /// The paths that an `open` needs and that the process wasn't granted.
    pub fn missing_grants(&self, forbidden: &ForbiddenFolders, open: &SavedOpen) -> Vec<String> {
        let wanted = std::slice::from_ref(open);
        let mut all = named_paths(wanted);
        if self.manifest.folder_access() != FolderAccess::Named {
            all.extend(folders_of(&self.key, wanted));
        }
        self.not_granted(forbidden, all)
    }

    /// The given absolute paths that the process wasn't granted.
    pub fn not_granted(&self, forbidden: &ForbiddenFolders, mut paths: Vec<String>) -> Vec<String> {
        let confined = self.confinement(forbidden);
        let Some(Confinement { files: true, folders, paths: granted, .. }) = confined else {
            return Vec::new();
        };
        if self.manifest.folder_access() == FolderAccess::None {
            return Vec::new();
        }
        paths.retain(|path| {
            is_nameable(path) && !folders.iter().chain(&granted).any(|one| is_within(path, one))
        });
        paths.dedup();
        paths
    }
}

fn in_home(path: &str, home: Option<&str>) -> String {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => normalized(home, rest),
        _ => path.to_owned(),
    }
}
