use super::finding::FindingStatus;
use super::*;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

struct Home {
    root: tempfile::TempDir,
    context: DoctorContext,
}

fn home() -> Home {
    let root = tempfile::Builder::new().prefix("pmx-").tempdir().unwrap();
    let path = |name: &str| root.path().join(name).display().to_string();
    let get = |name: &str| match name {
        "HOME" => Some(path("home")),
        "XDG_RUNTIME_DIR" => Some(path("run")),
        _ => None,
    };
    let paths = Paths::from_env(get, getuid().as_raw()).unwrap();
    fs::create_dir_all(root.path().join("bin")).unwrap();
    for app in pipemux_catalog::APPS {
        let program = root.path().join("bin").join(format!("pipemux-{}", app.id));
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    }
    let manifests = ManifestDirs::beside(&root.path().join("bin/pipemuxd"), get);
    let uid = getuid().as_raw();
    let context =
        DoctorContext { paths, uid, manifests, path: "/bin".into(), daemon: None, fix: false };
    Home { root, context }
}

impl Home {
    /// Runs all checks; returns their findings but for the one about the disk, which is the
    /// machine's and not this home's.
    fn findings(&self, fix: bool) -> Vec<Finding> {
        let mut all = Vec::new();
        let context = DoctorContext { fix, ..self.context.clone() };
        run_checks(&context, |finding| all.push(finding.clone())).unwrap();
        all.retain(|found| found.check != "free space");
        all
    }

    fn problems(&self) -> Vec<Finding> {
        self.findings(false).into_iter().filter(|found| found.status != FindingStatus::Ok).collect()
    }

    /// Asserts that the doctor names the problem, repairs it, and then finds nothing.
    #[track_caller]
    fn assert_repaired(&self, check: &str, text: &str) {
        let bad = self.problems();
        assert_eq!(bad.len(), 1, "{bad:#?}");
        assert_eq!((bad[0].check, bad[0].status), (check, FindingStatus::Bad), "{bad:?}");
        assert!(bad[0].text.contains(text), "{bad:?}");
        assert!(bad[0].next.as_ref().unwrap().contains("doctor --fix"), "{bad:?}");
        let fixed: Vec<Finding> = self
            .findings(true)
            .into_iter()
            .filter(|found| found.status != FindingStatus::Ok)
            .collect();
        assert_eq!(fixed.len(), 1, "{fixed:#?}");
        assert_eq!((fixed[0].check, fixed[0].status), (check, FindingStatus::Fixed));
        assert!(self.problems().is_empty(), "{:#?}", self.problems());
    }

    /// Asserts that the doctor names a problem that it can't repair, and says what to do.
    #[track_caller]
    fn assert_reported(&self, check: &str, text: &str) {
        for fix in [false, true] {
            let all = self.findings(fix);
            let bad: Vec<_> =
                all.iter().filter(|found| found.status == FindingStatus::Bad).collect();
            assert_eq!(bad.len(), 1, "{bad:#?}");
            assert_eq!(bad[0].check, check);
            assert!(bad[0].text.contains(text) && bad[0].next.is_some(), "{bad:?}");
        }
    }
}

fn open_to_all(path: &Path) {
    fs::create_dir_all(path).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
}

#[test]
fn new_home_passes_all_checks_and_nothing_is_created() {
    let home = home();
    assert!(home.problems().is_empty(), "{:#?}", home.problems());
    assert!(!home.context.paths.state_dir.exists());
    assert!(home.findings(false).len() >= 12);
    // The doctor creates directories as the daemon does.
    let fixed = home.findings(true);
    assert!(fixed.iter().all(|found| found.status == FindingStatus::Ok), "{fixed:#?}");
}

#[test]
fn directories_open_to_other_users_are_closed() {
    let home = home();
    open_to_all(&home.context.paths.state_dir);
    home.assert_repaired("state directory", "other users");
    open_to_all(&home.context.paths.runtime_dir);
    home.assert_repaired("socket directory", "other users");
}

#[test]
fn file_in_place_of_a_directory_is_reported_and_kept() {
    let home = home();
    fs::create_dir_all(home.root.path().join("run")).unwrap();
    fs::write(&home.context.paths.runtime_dir, "a file").unwrap();
    home.assert_reported("socket directory", "not a directory");
    assert_eq!(fs::read_to_string(&home.context.paths.runtime_dir).unwrap(), "a file");
}

#[test]
fn stale_socket_is_removed_but_never_a_live_one() {
    let home = home();
    home.findings(true);
    fs::create_dir_all(&home.context.paths.runtime_dir).unwrap();
    fs::set_permissions(&home.context.paths.runtime_dir, Permissions::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(&home.context.paths.socket).unwrap());
    home.assert_repaired("lock and socket", "nobody holds the lock");
    assert!(!home.context.paths.socket.exists());
    // This socket refuses connections as well, but the lock is held.
    drop(UnixListener::bind(&home.context.paths.socket).unwrap());
    fs::create_dir_all(&home.context.paths.state_dir).unwrap();
    let lock = crate::lock::acquire(&home.context.paths.lock).unwrap().unwrap();
    assert!(home.findings(true).iter().all(|found| found.status != FindingStatus::Fixed));
    assert!(home.context.paths.socket.exists());
    fs::remove_file(&home.context.paths.socket).unwrap();
    home.assert_reported("lock and socket", "socket is gone");
    drop(lock);
}

#[test]
fn damaged_state_is_reported_and_left_for_the_daemon() {
    let home = home();
    let state = home.context.paths.state_dir.join("state.log");
    fs::create_dir_all(&home.context.paths.state_dir).unwrap();
    fs::set_permissions(&home.context.paths.state_dir, Permissions::from_mode(0o700)).unwrap();
    fs::write(&state, "no state at all").unwrap();
    home.assert_reported("saved state", "is not a saved state");
    assert_eq!(fs::read_to_string(&state).unwrap(), "no state at all");
    fs::rename(&state, state.with_file_name("state.log.bad-1")).unwrap();
    let findings = home.findings(false);
    let found = findings.iter().find(|found| found.check == "saved state").unwrap();
    assert!(found.status == FindingStatus::Ok && found.text.contains("bad-1"), "{found:?}");
}

#[test]
fn oversized_daemon_log_is_truncated_to_its_end() {
    let home = home();
    fs::create_dir_all(&home.context.paths.state_dir).unwrap();
    fs::set_permissions(&home.context.paths.state_dir, Permissions::from_mode(0o700)).unwrap();
    let log = &home.context.paths.log;
    fs::write(log, "first\n".repeat(20 << 20) + "last\n").unwrap();
    home.assert_repaired("logs", "120 MiB");
    let kept = fs::read_to_string(log).unwrap();
    assert!(kept.ends_with("first\nlast\n") && kept.starts_with("first\n"), "{}", kept.len());
    assert!(kept.len() <= 1 << 20);
}

#[test]
fn missing_programs_and_invalid_manifests_are_reported() {
    let home = home();
    let user = home.context.manifests.user.clone().unwrap();
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("a.toml"), "id = \"todo\"\ncommand = \"/no/such/todo\"\n").unwrap();
    home.assert_reported("apps", "todo: /no/such/todo");
    fs::write(user.join("a.toml"), "id = \"todo\"\ncommand = \"no-such-todo\"\n").unwrap();
    home.assert_reported("apps", "todo: no-such-todo");
    fs::write(user.join("a.toml"), "id = \"todo\"\ncommand = 7\n").unwrap();
    home.assert_reported("manifests", "a.toml:2 (command)");
    fs::write(user.join("a.toml"), "id = \"todo\"\ncommand = \"sh\"\n").unwrap();
    assert!(home.problems().is_empty());
    let editor = home.root.path().join("bin/pipemux-editor");
    fs::set_permissions(&editor, Permissions::from_mode(0o644)).unwrap();
    home.assert_reported("apps", "not executable");
}
