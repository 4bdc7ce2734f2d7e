//! Says what commands of the terminal are held to, and which sockets lead past that.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};
use pipemux_confine::{Mode, WhyOff, mode};

use pipemux_proto::ProviderId;

use super::context::DoctorContext;
use super::finding::Finding;
use crate::settings;

/// Says what commands are held to.
pub(super) fn commands(context: &DoctorContext) -> Vec<Finding> {
    let (settings, problem) = settings::load(context.manifests.settings_file().as_deref());
    if let Some(problem) = problem {
        return vec![Finding::bad("commands", problem, "mend it; until then nobody may act")];
    }
    let known = context.manifests.load().manifests;
    let is_known = |id: &&ProviderId| known.iter().any(|manifest| manifest.id == **id);
    let mut findings: Vec<Finding> = settings
        .apps
        .forbidden
        .iter()
        .filter(|id| !is_known(id))
        .map(|id| {
            let text = format!("[apps] forbidden names {id}, and no app has that name");
            Finding::bad("rules", text, "correct the name in config.toml; apps: pipemux apps")
        })
        .collect();
    let variable = |name: &str| std::env::var(name).ok();
    let text = match Mode::of(&settings.terminal, variable) {
        Mode::Off(WhyOff::Set) => "not confined: confine = \"off\"".to_owned(),
        Mode::Off(WhyOff::Container) => {
            "not confined: root in a container has the machine".to_owned()
        }
        Mode::Off(WhyOff::Ci) => "not confined: CI is set".to_owned(),
        Mode::Impossible => "this system can't confine them: a person is asked first".to_owned(),
        Mode::Confined => {
            let truncation = if mode::holds_truncation() { "" } else { ", but not truncate(2)" };
            let reachable = reachable_sockets(context.uid, variable);
            let sockets = match reachable.is_empty() {
                true => String::new(),
                false => {
                    let all: Vec<String> =
                        reachable.iter().map(|path| path.display().to_string()).collect();
                    format!("; programs behind these sockets are not: {}", all.join(", "))
                }
            };
            format!("confined to what they may write{truncation}{sockets}")
        }
    };
    findings.push(Finding::ok("commands", text));
    findings
}

/// Returns the sockets by which a command can have something done elsewhere: containers, services,
/// terminals, keys.
fn reachable_sockets(uid: u32, variable: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = [
        "/run/docker.sock",
        "/run/podman/podman.sock",
        "/run/containerd/containerd.sock",
        "/run/dbus/system_bus_socket",
        "/run/systemd/private",
    ]
    .map(PathBuf::from)
    .into();
    let runtime = variable("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = ["bus", "systemd/private", "podman/podman.sock", "docker.sock"];
    all.extend(runtime.iter().flat_map(|runtime| own.map(|name| runtime.join(name))));
    let tmux = variable("TMUX_TMPDIR").unwrap_or_else(|| "/tmp".to_owned());
    all.push(Path::new(&tmux).join(format!("tmux-{uid}/default")));
    all.extend(variable("SSH_AUTH_SOCK").map(PathBuf::from));
    let named = variable("DOCKER_HOST");
    all.extend(named.as_deref().and_then(|host| host.strip_prefix("unix://")).map(PathBuf::from));
    all.retain(|path| {
        let is_socket = path.metadata().is_ok_and(|found| found.file_type().is_socket());
        is_socket && access(path, AccessFlags::W_OK).is_ok()
    });
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn sockets_that_can_be_reached_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent");
        let variable = |name: &str| (name == "SSH_AUTH_SOCK").then(|| path.display().to_string());
        assert!(!reachable_sockets(4_000_000, variable).contains(&path));
        let _listener = UnixListener::bind(&path).unwrap();
        assert!(reachable_sockets(4_000_000, variable).contains(&path));
    }
}
