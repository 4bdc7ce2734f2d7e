//! The workspaces, readers and sessions of a scenario.

#[path = "../world/paths.rs"]
mod paths;

use pipemux_core::{Config, Idle, Isolation, Manifest, Scope, State};

/// The names of the workspaces. Nothing fails in the last one, whatever happens in the others.
pub const WORKSPACES: [&str; 3] = ["w0", "w1", "calm"];
/// The sessions that each workspace has of its own.
pub const OWN: [&str; 3] = ["notes/main", "notes/two", "other/main"];
/// The session that all workspaces share.
pub const SHARED: &str = "shared/main";
/// The readers: workspace and name.
pub const READERS: [(usize, &str); 4] = [(0, "a"), (0, "b"), (1, "a"), (CALM, "c")];
/// The workspace in which nothing fails.
pub const CALM: usize = 2;
/// The reader of that workspace.
pub const CALM_READER: usize = 3;

/// A session of a workspace, or the shared one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionKey(pub usize);

/// The number of session keys.
pub const SESSIONS: usize = WORKSPACES.len() * OWN.len() + 1;

impl SessionKey {
    /// Returns the session that an address names in a workspace.
    pub fn of(workspace: usize, addr: &str) -> Option<Self> {
        if addr == SHARED {
            return Some(Self(SESSIONS - 1));
        }
        let index = OWN.iter().position(|own| *own == addr)?;
        Some(Self(workspace * OWN.len() + index))
    }

    /// Returns the session with that state directory.
    pub fn of_dir(dir: &str) -> Option<Self> {
        (0..SESSIONS).map(Self).find(|session_key| session_key.dir() == dir)
    }

    /// Returns its address.
    pub fn addr(self) -> &'static str {
        if self.0 == SESSIONS - 1 { SHARED } else { OWN[self.0 % OWN.len()] }
    }

    /// Returns its provider.
    pub fn provider(self) -> &'static str {
        self.addr().split('/').next().unwrap_or_default()
    }

    /// Returns the workspace that owns it; `None` for the shared session.
    pub fn workspace(self) -> Option<usize> {
        (self.0 < SESSIONS - 1).then_some(self.0 / OWN.len())
    }

    /// Returns the first letter of its things' labels.
    pub fn tag(self) -> char {
        char::from(b'a' + self.0 as u8)
    }

    /// True in the calm workspace.
    pub fn is_calm(self) -> bool {
        self.workspace() == Some(CALM)
    }

    /// True when its app counts versions from 1 in each incarnation.
    pub fn restarts_versions(self) -> bool {
        self.0 % 2 == 1
    }

    /// Returns its state directory, which is the same in every release.
    pub fn dir(self) -> String {
        let owner = self.workspace().map_or("user".to_owned(), |workspace| {
            paths::workspace_directory(&format!("/{}", WORKSPACES[workspace]))
        });
        format!("/state/sessions/{owner}/{}", self.addr())
    }
}

/// Returns the configuration of the daemon.
pub fn config(hosts: bool) -> Config {
    let manifest = |id: &str, scope| Manifest {
        description: format!("the {id} app"),
        scope,
        isolation: if hosts { Isolation::Provider } else { Isolation::Session },
        ..Manifest::new(id.parse().expect("a provider"), format!("/apps/{id}"))
    };
    Config {
        providers: vec![
            Manifest { idle: Idle::After(60_000), ..manifest("notes", Scope::Workspace) },
            Manifest { state: State::Discard, ..manifest("other", Scope::Workspace) },
            Manifest { idle: Idle::After(90_000), ..manifest("shared", Scope::User) },
        ],
        state_dir: "/state".into(),
        pid: 1,
        software: "pipemuxd test".into(),
        identity: None,
        socket: "/run/pipemux.sock".into(),
        ..Config::default()
    }
}
