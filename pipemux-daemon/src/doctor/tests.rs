use super::finding::FindingStatus;
use super::*;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

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
    for app in ["editor", "notebook", "monitor"] {
        let program = root.path().join("bin").join(format!("pipemux-{app}"));
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    }
    let manifests = manifests::ManifestDirs {
        programs: root.path().join("bin"),
        user: manifests::user_directory(get),
    };
    let uid = getuid().as_raw();
    let context =
        DoctorContext { paths, uid, manifests, path: "/bin".into(), daemon: None, fix: false };
    Home { root, context }
}

impl Home {
    /// What is told of a check, and how it is.
    fn told(&self, fix: bool) -> Vec<Finding> {
        let mut all = Vec::new();
        let context = DoctorContext { fix, ..self.context.clone() };
        context.run_checks(|finding| all.push(finding.clone())).unwrap();
        all
    }

    fn bad(&self) -> Vec<Finding> {
        self.told(false).into_iter().filter(|found| found.status != FindingStatus::Ok).collect()
    }

    /// It names what is wrong, mends it, and is content then.
    #[track_caller]
    fn mends(&self, check: &str, text: &str) {
        let bad = self.bad();
        assert_eq!(bad.len(), 1, "{bad:#?}");
        assert_eq!((bad[0].check, bad[0].status), (check, FindingStatus::Bad), "{bad:?}");
        assert!(bad[0].text.contains(text), "{bad:?}");
        assert!(bad[0].next.as_ref().unwrap().contains("doctor --fix"), "{bad:?}");
        let fixed: Vec<Finding> =
            self.told(true).into_iter().filter(|found| found.status != FindingStatus::Ok).collect();
        assert_eq!(fixed.len(), 1, "{fixed:#?}");
        assert_eq!((fixed[0].check, fixed[0].status), (check, FindingStatus::Fixed));
        assert!(self.bad().is_empty(), "{:#?}", self.bad());
    }

    /// It names what is wrong, and what to do, for it can't mend that.
    #[track_caller]
    fn names(&self, check: &str, text: &str) {
        for fix in [false, true] {
            let all = self.told(fix);
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
fn a_new_home_is_well_and_nothing_is_made_there() {
    let home = home();
    assert!(home.bad().is_empty(), "{:#?}", home.bad());
    assert!(!home.context.paths.state_dir.exists());
    assert!(home.told(false).len() >= 12);
    // Made by the doctor they are as the daemon makes them.
    let fixed = home.told(true);
    assert!(fixed.iter().all(|found| found.status == FindingStatus::Ok), "{fixed:#?}");
}

#[test]
fn directories_that_others_can_write_to_are_closed() {
    let home = home();
    open_to_all(&home.context.paths.state_dir);
    home.mends("state directory", "others");
    open_to_all(&home.context.paths.runtime_dir);
    home.mends("socket directory", "others");
}

#[test]
fn something_else_in_a_directorys_place_is_named_and_left_alone() {
    let home = home();
    fs::create_dir_all(home.root.path().join("run")).unwrap();
    fs::write(&home.context.paths.runtime_dir, "a file").unwrap();
    home.names("socket directory", "no directory");
    assert_eq!(fs::read_to_string(&home.context.paths.runtime_dir).unwrap(), "a file");
}

#[test]
fn a_dead_daemons_socket_is_removed_and_a_live_ones_never() {
    let home = home();
    home.told(true);
    fs::create_dir_all(&home.context.paths.runtime_dir).unwrap();
    fs::set_permissions(&home.context.paths.runtime_dir, Permissions::from_mode(0o700)).unwrap();
    drop(UnixListener::bind(&home.context.paths.socket).unwrap());
    home.mends("lock and socket", "nobody holds the lock");
    assert!(!home.context.paths.socket.exists());
    // Refused as well, but the lock is held.
    drop(UnixListener::bind(&home.context.paths.socket).unwrap());
    fs::create_dir_all(&home.context.paths.state_dir).unwrap();
    let lock = crate::lock::acquire(&home.context.paths.lock).unwrap().unwrap();
    assert!(home.told(true).iter().all(|found| found.status != FindingStatus::Fixed));
    assert!(home.context.paths.socket.exists());
    fs::remove_file(&home.context.paths.socket).unwrap();
    home.names("lock and socket", "socket is gone");
    drop(lock);
}

#[test]
fn a_damaged_state_is_named_before_a_daemon_sets_it_aside() {
    let home = home();
    let state = home.context.paths.state_dir.join("state.log");
    fs::create_dir_all(&home.context.paths.state_dir).unwrap();
    fs::set_permissions(&home.context.paths.state_dir, Permissions::from_mode(0o700)).unwrap();
    fs::write(&state, "no state at all").unwrap();
    home.names("saved state", "is no saved state");
    assert_eq!(fs::read_to_string(&state).unwrap(), "no state at all");
    fs::rename(&state, state.with_file_name("state.log.bad-1")).unwrap();
    let told = home.told(false);
    let found = told.iter().find(|found| found.check == "saved state").unwrap();
    assert!(found.status == FindingStatus::Ok && found.text.contains("bad-1"), "{found:?}");
}

#[test]
fn a_log_that_grew_too_long_is_cut() {
    let home = home();
    fs::create_dir_all(&home.context.paths.state_dir).unwrap();
    fs::set_permissions(&home.context.paths.state_dir, Permissions::from_mode(0o700)).unwrap();
    let log = &home.context.paths.log;
    fs::write(log, "first\n".repeat(20 << 20) + "last\n").unwrap();
    home.mends("logs", "120 MiB");
    let kept = fs::read_to_string(log).unwrap();
    assert!(kept.ends_with("first\nlast\n") && kept.starts_with("first\n"), "{}", kept.len());
    assert!(kept.len() <= 1 << 20);
}

#[test]
fn apps_without_a_program_and_wrong_manifests_are_named() {
    let home = home();
    let user = home.context.manifests.user.clone().unwrap();
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("a.toml"), "id = \"todo\"\ncommand = \"/no/such/todo\"\n").unwrap();
    home.names("apps", "todo: /no/such/todo");
    fs::write(user.join("a.toml"), "id = \"todo\"\ncommand = \"no-such-todo\"\n").unwrap();
    home.names("apps", "todo: no-such-todo");
    fs::write(user.join("a.toml"), "id = \"todo\"\ncommand = 7\n").unwrap();
    home.names("manifests", "a.toml:2 (command)");
    fs::write(user.join("a.toml"), "id = \"todo\"\ncommand = \"sh\"\n").unwrap();
    assert!(home.bad().is_empty());
    let editor = home.root.path().join("bin/pipemux-editor");
    fs::set_permissions(&editor, Permissions::from_mode(0o644)).unwrap();
    home.names("apps", "not executable");
}
