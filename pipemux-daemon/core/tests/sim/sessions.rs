//! Where apps keep their state: every session of every workspace that a history speaks of, by number.

#[path = "../world/paths.rs"]
mod paths;

use pipemux_core::{Config, Idle, Isolation, Manifest, Scope, State};

/// Workspaces. The last one is calm: nothing goes wrong in it, whatever happens in the others.
pub const WORKSPACES: [&str; 3] = ["w0", "w1", "calm"];
/// Sessions of a workspace of its own.
pub const OWN: [&str; 3] = ["notes/main", "notes/two", "other/main"];
/// A session that the workspaces share.
pub const SHARED: &str = "shared/main";
/// Readers: workspace and name.
pub const READERS: [(usize, &str); 4] = [(0, "a"), (0, "b"), (1, "a"), (CALM, "c")];
/// The workspace in which nothing goes wrong.
pub const CALM: usize = 2;
/// The reader there.
pub const CALM_READER: usize = 3;

/// A session with a state of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionKey(pub usize);

/// How many there are.
pub const SESSIONS: usize = WORKSPACES.len() * OWN.len() + 1;

impl SessionKey {
    /// What a session's address means in a workspace.
    pub fn of(workspace: usize, addr: &str) -> Option<Self> {
        if addr == SHARED {
            return Some(Self(SESSIONS - 1));
        }
        let index = OWN.iter().position(|own| *own == addr)?;
        Some(Self(workspace * OWN.len() + index))
    }

    /// The session whose directory that is.
    pub fn of_dir(dir: &str) -> Option<Self> {
        (0..SESSIONS).map(Self).find(|session_key| session_key.dir() == dir)
    }

    /// Its address.
    pub fn addr(self) -> &'static str {
        if self.0 == SESSIONS - 1 { SHARED } else { OWN[self.0 % OWN.len()] }
    }

    /// Its provider.
    pub fn provider(self) -> &'static str {
        self.addr().split('/').next().unwrap_or_default()
    }

    /// The workspace that owns it; none when all share it.
    pub fn workspace(self) -> Option<usize> {
        (self.0 < SESSIONS - 1).then_some(self.0 / OWN.len())
    }

    /// The letter that its things are labelled with.
    pub fn tag(self) -> char {
        char::from(b'a' + self.0 as u8)
    }

    /// True where nothing goes wrong.
    pub fn is_calm(self) -> bool {
        self.workspace() == Some(CALM)
    }

    /// True for an app that counts its versions from 1 in each incarnation.
    pub fn restarts_versions(self) -> bool {
        self.0 % 2 == 1
    }

    /// The directory that the core gives it: FNV-1a of the workspace's key, the same in every release.
    pub fn dir(self) -> String {
        let owner = self.workspace().map_or("user".to_owned(), |workspace| {
            paths::workspace_directory(&format!("/{}", WORKSPACES[workspace]))
        });
        format!("/state/sessions/{owner}/{}", self.addr())
    }
}

/// How the daemon is set up.
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
        socket: "/run/pipemux.sock".into(),
        ..Config::default()
    }
}
