//! What a session's process is confined to: what its manifest asks for, and the folders that its user named.
//!
//! A folder is granted by being named: where an `open` was made, by a path among its arguments and, for a built-in app,
//! by a path among the arguments of a call. An app can't ask for one. A process that runs can't be given more, so it
//! is put to sleep and woken with the wider grants ([`Processes::widen`]).

use crate::event::Confinement;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{GRANTED_MAX, SAVE_MS, SAVES_MAX};
use crate::manifest::{FolderAccess, Isolation, SandboxLevel};
use crate::persist::records::SavedOpen;
use crate::processes::forbidden::ForbiddenFolders;
use crate::processes::reply::Purpose;
use crate::processes::session::{ProcessState, Session};
use crate::processes::{ProcessEvent, Processes};
use crate::turn::Turn;
use pipemux_proto::Fault;
use pipemux_proto::app::{Empty, Saved, meant_version};
use pipemux_proto::envelope::Method;

/// Characters that make a part of a path a pattern.
const PATTERN: &[char] = &['*', '?', '[', '{'];

/// What became of a wish for wider grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widening {
    /// The session's process has them, or its next one will.
    Granted,
    /// The process is being replaced, or about to be ready: the request goes on after that.
    Pending,
}

impl Session {
    /// What its next process is confined to; none if it isn't.
    pub(super) fn confinement(&self, forbidden: &ForbiddenFolders) -> Option<Confinement> {
        let (key, manifest) = (&self.key, &self.manifest);
        if manifest.sandbox == SandboxLevel::Off {
            return None;
        }
        // The sessions of a shared process come and go while it runs, each with folders of its own, and no rule can be
        // added to a running process: its files aren't confined, everything else is.
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

    /// The paths that an `open` needs and its process wasn't granted.
    pub fn missing_grants(&self, forbidden: &ForbiddenFolders, open: &SavedOpen) -> Vec<String> {
        let wanted = std::slice::from_ref(open);
        let mut all = named_paths(wanted);
        if self.manifest.folder_access() != FolderAccess::Named {
            all.extend(folders_of(&self.key, wanted));
        }
        self.not_granted(forbidden, all)
    }

    /// Those of some absolute paths that its process wasn't granted.
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

impl Processes {
    /// Grants a session paths that its user named. `request` waits if its process has to be replaced for that.
    ///
    /// # Errors
    /// The session was granted too many, or has a process and can't be put to sleep.
    pub fn widen(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        paths: Vec<String>,
        request: RequestId,
    ) -> Result<Widening, Fault> {
        let Some(session) = self.sessions.get_mut(key) else { return Ok(Widening::Granted) };
        let Some(granted) = session.opens.granted() else { return Ok(Widening::Granted) };
        let granted = granted + session.hibernation.widening.len();
        if granted + paths.len() > GRANTED_MAX {
            let why = format!("{key} was granted {granted} paths, and {GRANTED_MAX} are the limit");
            return Err(Fault::refused(why)
                .hint(format!("open another session: pipemux open {}/2", key.addr.provider)));
        }
        match session.process {
            ProcessState::Down | ProcessState::Backoff { .. } => {
                session.opens.grant(paths);
                session.save(turn);
                Ok(Widening::Granted)
            }
            ProcessState::Starting { .. } | ProcessState::Draining { .. } => {
                session.wait_until_ready(request);
                Ok(Widening::Pending)
            }
            ProcessState::Ready { app } => {
                session.wait_until_ready(request);
                let now = turn.mono_ms();
                if let Some(session) = self.sessions.get_mut(key) {
                    let first = session.hibernation.widening.is_empty();
                    session.hibernation.widening.extend(paths);
                    session.hibernation.saves = 1;
                    if first && session.hibernation.saving.replace(now).is_none() {
                        let (target, deadline) = ((key, app), now + SAVE_MS);
                        self.send_now(
                            turn,
                            target,
                            Method::Save,
                            &Empty {},
                            deadline,
                            Purpose::Save,
                        );
                    }
                }
                Ok(Widening::Pending)
            }
        }
    }

    /// The app saved its state, or couldn't, so that its process can be replaced by one with wider grants.
    pub(super) fn finish_widening(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        saved: Option<Saved>,
        current: bool,
    ) {
        let now = turn.mono_ms();
        let Some(session) = self.sessions.get_mut(key) else { return };
        let Some(app) = session.ready() else { return };
        match saved {
            Some(Saved { version, .. }) if current => {
                let version = meant_version(version, session.profile.minor);
                let paths = std::mem::take(&mut session.hibernation.widening);
                session.opens.grant(paths);
                session.hibernation.asleep = Some(super::hibernation::Asleep { app, version });
                session.save(turn);
                session.hibernation.save(turn, key);
                self.close(turn, key);
            }
            // Asked for something meanwhile: what was saved is out of date already.
            Some(_) if session.hibernation.saves < SAVES_MAX => {
                session.hibernation.saves += 1;
                session.hibernation.saving = Some(now);
                let (target, deadline) = ((key, app), now + SAVE_MS);
                self.send_now(turn, target, Method::Save, &Empty {}, deadline, Purpose::Save);
            }
            _ => {
                session.hibernation.widening.clear();
                let waiters = std::mem::take(&mut session.ready_waiters);
                let addr = &key.addr;
                let fault = Fault::refused(format!(
                    "the sandbox of {key} doesn't reach there, and it can't save its state to be restarted with wider grants"
                ))
                .hint(format!("another session: pipemux open {}/2 … · or: pipemux restart {addr}", addr.provider));
                self.events.push_back(ProcessEvent::NotWidened { waiters, fault });
            }
        }
    }
}

/// The folders that opens were made for: the workspace's project if it contains where the caller was, else that place.
pub(super) fn folders_of(key: &SessionKey, opens: &[SavedOpen]) -> Vec<String> {
    let project = key.workspace.as_deref().filter(|owner| owner.starts_with('/'));
    let mut folders: Vec<String> = Vec::new();
    for open in opens.iter().filter(|open| open.cwd.starts_with('/')) {
        let folder = match project {
            Some(project) if is_within(&open.cwd, project) => normalized("/", project),
            _ => normalized("/", &open.cwd),
        };
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

/// The absolute paths that opens name, and those that were granted besides.
pub(super) fn named_paths(opens: &[SavedOpen]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for open in opens {
        let args = open.args.iter().filter(|arg| !arg.starts_with('-') && !arg.is_empty());
        let named = args.map(|arg| normalized(&open.cwd, arg)).filter(|path| is_nameable(path));
        paths.extend(named.chain(open.granted.iter().cloned()));
    }
    paths
}

/// False for devices and for what the kernel tells of processes and itself: those are granted by a manifest only.
fn is_nameable(path: &str) -> bool {
    !["/dev", "/proc", "/sys"].iter().any(|kernel| is_within(path, kernel))
}

/// The path without `.`, `..` and doubled slashes, up to the first part that is a pattern; `base` is where a relative
/// one begins.
pub fn normalized(base: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { base };
    for part in base.split('/').chain(path.split('/').take_while(|part| !part.contains(PATTERN))) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// True for a path that is `folder` or lies in it; both are normalized.
pub(super) fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn in_home(path: &str, home: Option<&str>) -> String {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => normalized(home, rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized_without_looking_at_the_disk() {
        assert_eq!(normalized("/a/b", "c/./d"), "/a/b/c/d");
        assert_eq!(normalized("/a/b", "../../../x"), "/x");
        assert_eq!(normalized("/a/b", "/etc//passwd"), "/etc/passwd");
        assert_eq!(normalized("/a", "src/*.rs"), "/a/src");
        assert_eq!(normalized("/a", "**/x"), "/a");
        assert!(is_within("/a/b", "/a") && is_within("/a", "/a") && is_within("/a", "/"));
        assert!(!is_within("/ab", "/a") && !is_within("/", "/a"));
    }
}
