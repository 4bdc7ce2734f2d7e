//! The names of directories, as every release of the core makes them.

/// Returns the name of the directory that holds a workspace's sessions.
pub fn workspace_directory(key: &str) -> String {
    format!("{:016x}", pipemux_stable_hash::hash(key.as_bytes()))
}
