//! `pipemuxd doctor`: looks at what a daemon needs, and mends what can be mended safely. It is no daemon
//! and talks to none; `pipemux doctor` runs it, adds what a client sees, and prints both.
//!
//! | module | looks at |
//! |---|---|
//! | `doctor::places` | directories, the socket, the lock |
//! | `doctor::kept` | the saved state, logs, what sessions left behind |
//! | `doctor::machine` | limits, the clock, apps, processes |
//!
//! A finding is a line on standard output: what became of it, what was looked at, what was found, what to
//! do next, with tabs between.

mod kept;
mod machine;
mod places;

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::unistd::getuid;
use pipemux_proto::paths::Paths;

use crate::manifests;

/// How long one look may take: a directory of a machine that is gone answers never.
const LOOK: Duration = Duration::from_secs(1);

/// What one look found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    check: &'static str,
    state: State,
    text: String,
    /// What to do.
    next: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    Bad,
    Fixed,
}

impl Finding {
    fn ok(check: &'static str, text: impl Into<String>) -> Self {
        Self { check, state: State::Ok, text: text.into(), next: None }
    }

    fn bad(check: &'static str, text: impl Into<String>, next: impl Into<String>) -> Self {
        Self { check, state: State::Bad, text: text.into(), next: Some(next.into()) }
    }

    /// Mended by `mend`, or bad with why it couldn't be.
    fn mend(self, patient: &Patient, mend: impl FnOnce() -> io::Result<()>) -> Self {
        if !patient.fix {
            let next = match self.next {
                Some(next) if next.is_empty() => "pipemux doctor --fix".to_owned(),
                Some(next) => format!("pipemux doctor --fix: {next}"),
                None => "pipemux doctor --fix".to_owned(),
            };
            return Self { next: Some(next), ..self };
        }
        match mend() {
            Ok(()) => Self { state: State::Fixed, next: None, ..self },
            Err(error) => {
                let text = format!("{}; it can't be mended: {error}", self.text);
                Self { text, ..self }
            }
        }
    }

    fn line(&self) -> String {
        let state = match self.state {
            State::Ok => "ok",
            State::Bad => "bad",
            State::Fixed => "fixed",
        };
        let plain = |text: &str| text.replace(['\t', '\n', '\r'], " ");
        let next = self.next.as_deref().unwrap_or_default();
        format!("{state}\t{}\t{}\t{}\n", self.check, plain(&self.text), plain(next))
    }
}

/// What is looked at.
#[derive(Debug, Clone)]
struct Patient {
    paths: Paths,
    uid: u32,
    manifests: manifests::Places,
    /// Where bare commands are looked up.
    path: String,
    /// The daemon that runs, as far as the caller knows.
    daemon: Option<i32>,
    fix: bool,
}

/// Looks at everything and prints what it finds.
///
/// # Errors
/// The environment leads to no paths; there is no thread to look with.
pub fn doctor(fix: bool, daemon: Option<i32>) -> Result<(), String> {
    let get = |name: &str| std::env::var(name).ok();
    let uid = getuid().as_raw();
    let paths = Paths::from_env(get, uid)?;
    let program = std::env::current_exe().map_err(|error| format!("can't find itself: {error}"))?;
    let patient = Patient {
        paths,
        uid,
        manifests: manifests::Places {
            programs: program.parent().unwrap_or(Path::new("/")).to_owned(),
            user: manifests::directory(get),
        },
        path: get("PATH").unwrap_or_default(),
        daemon,
        fix,
    };
    patient.look(|finding| {
        let mut out = io::stdout().lock();
        // Whoever asked is gone: nobody is left to tell.
        let _ = out.write_all(finding.line().as_bytes()).and_then(|()| out.flush());
    })
}

type Look = (&'static str, fn(&Patient) -> Vec<Finding>);

/// In the order of what needs what.
const LOOKS: &[Look] = &[
    ("state directory", places::state_directory),
    ("socket directory", places::socket_directory),
    ("socket path", places::socket_path),
    ("lock and socket", places::socket),
    ("free space", kept::space),
    ("saved state", kept::state),
    ("logs", kept::logs),
    ("session directories", kept::sessions),
    ("open files", machine::files),
    ("clock", machine::clock),
    ("manifests", machine::manifests),
    ("apps", machine::apps),
    ("left-over processes", machine::leftovers),
];

impl Patient {
    fn look(&self, mut tell: impl FnMut(&Finding)) -> Result<(), String> {
        for (check, look) in LOOKS {
            let (found, wait) = mpsc::channel();
            let patient = self.clone();
            thread::Builder::new()
                .name("look".into())
                .spawn(move || found.send(look(&patient)))
                .map_err(|error| format!("can't look: {error}"))?;
            match wait.recv_timeout(LOOK) {
                Ok(findings) => findings.iter().for_each(&mut tell),
                Err(_) => {
                    let text = format!("no end within {} s", LOOK.as_secs());
                    tell(&Finding::bad(check, text, "is a file system away, or a disk failing?"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    struct Home {
        root: tempfile::TempDir,
        patient: Patient,
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
        let manifests = manifests::Places {
            programs: root.path().join("bin"),
            user: manifests::directory(get),
        };
        let uid = getuid().as_raw();
        let patient =
            Patient { paths, uid, manifests, path: "/bin".into(), daemon: None, fix: false };
        Home { root, patient }
    }

    impl Home {
        /// What is told of a check, and how it is.
        fn told(&self, fix: bool) -> Vec<Finding> {
            let mut all = Vec::new();
            let patient = Patient { fix, ..self.patient.clone() };
            patient.look(|finding| all.push(finding.clone())).unwrap();
            all
        }

        fn bad(&self) -> Vec<Finding> {
            self.told(false).into_iter().filter(|found| found.state != State::Ok).collect()
        }

        /// It names what is wrong, mends it, and is content then.
        #[track_caller]
        fn mends(&self, check: &str, text: &str) {
            let bad = self.bad();
            assert_eq!(bad.len(), 1, "{bad:#?}");
            assert_eq!((bad[0].check, bad[0].state), (check, State::Bad), "{bad:?}");
            assert!(bad[0].text.contains(text), "{bad:?}");
            assert!(bad[0].next.as_ref().unwrap().contains("doctor --fix"), "{bad:?}");
            let fixed: Vec<Finding> =
                self.told(true).into_iter().filter(|found| found.state != State::Ok).collect();
            assert_eq!(fixed.len(), 1, "{fixed:#?}");
            assert_eq!((fixed[0].check, fixed[0].state), (check, State::Fixed));
            assert!(self.bad().is_empty(), "{:#?}", self.bad());
        }

        /// It names what is wrong, and what to do, for it can't mend that.
        #[track_caller]
        fn names(&self, check: &str, text: &str) {
            for fix in [false, true] {
                let all = self.told(fix);
                let bad: Vec<_> = all.iter().filter(|found| found.state == State::Bad).collect();
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
        assert!(!home.patient.paths.state_dir.exists());
        assert!(home.told(false).len() >= 12);
        // Made by the doctor they are as the daemon makes them.
        let fixed = home.told(true);
        assert!(fixed.iter().all(|found| found.state == State::Ok), "{fixed:#?}");
    }

    #[test]
    fn directories_that_others_can_write_to_are_closed() {
        let home = home();
        open_to_all(&home.patient.paths.state_dir);
        home.mends("state directory", "others");
        open_to_all(&home.patient.paths.runtime_dir);
        home.mends("socket directory", "others");
    }

    #[test]
    fn something_else_in_a_directorys_place_is_named_and_left_alone() {
        let home = home();
        fs::create_dir_all(home.root.path().join("run")).unwrap();
        fs::write(&home.patient.paths.runtime_dir, "a file").unwrap();
        home.names("socket directory", "no directory");
        assert_eq!(fs::read_to_string(&home.patient.paths.runtime_dir).unwrap(), "a file");
    }

    #[test]
    fn a_dead_daemons_socket_is_removed_and_a_live_ones_never() {
        let home = home();
        home.told(true);
        fs::create_dir_all(&home.patient.paths.runtime_dir).unwrap();
        fs::set_permissions(&home.patient.paths.runtime_dir, Permissions::from_mode(0o700))
            .unwrap();
        drop(UnixListener::bind(&home.patient.paths.socket).unwrap());
        home.mends("lock and socket", "nobody holds the lock");
        assert!(!home.patient.paths.socket.exists());
        // Refused as well, but the lock is held.
        drop(UnixListener::bind(&home.patient.paths.socket).unwrap());
        fs::create_dir_all(&home.patient.paths.state_dir).unwrap();
        let lock = crate::lock::take(&home.patient.paths.lock).unwrap().unwrap();
        assert!(home.told(true).iter().all(|found| found.state != State::Fixed));
        assert!(home.patient.paths.socket.exists());
        fs::remove_file(&home.patient.paths.socket).unwrap();
        home.names("lock and socket", "socket is gone");
        drop(lock);
    }

    #[test]
    fn a_damaged_state_is_named_before_a_daemon_sets_it_aside() {
        let home = home();
        let state = home.patient.paths.state_dir.join("state.log");
        fs::create_dir_all(&home.patient.paths.state_dir).unwrap();
        fs::set_permissions(&home.patient.paths.state_dir, Permissions::from_mode(0o700)).unwrap();
        fs::write(&state, "no state at all").unwrap();
        home.names("saved state", "is no saved state");
        assert_eq!(fs::read_to_string(&state).unwrap(), "no state at all");
        fs::rename(&state, state.with_file_name("state.log.bad-1")).unwrap();
        let told = home.told(false);
        let found = told.iter().find(|found| found.check == "saved state").unwrap();
        assert!(found.state == State::Ok && found.text.contains("bad-1"), "{found:?}");
    }

    #[test]
    fn a_log_that_grew_too_long_is_cut() {
        let home = home();
        fs::create_dir_all(&home.patient.paths.state_dir).unwrap();
        fs::set_permissions(&home.patient.paths.state_dir, Permissions::from_mode(0o700)).unwrap();
        let log = &home.patient.paths.log;
        fs::write(log, "first\n".repeat(20 << 20) + "last\n").unwrap();
        home.mends("logs", "120 MiB");
        let kept = fs::read_to_string(log).unwrap();
        assert!(kept.ends_with("first\nlast\n") && kept.starts_with("first\n"), "{}", kept.len());
        assert!(kept.len() <= 1 << 20);
    }

    #[test]
    fn apps_without_a_program_and_wrong_manifests_are_named() {
        let home = home();
        let user = home.patient.manifests.user.clone().unwrap();
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
}
