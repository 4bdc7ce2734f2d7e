//! A service manager that passes the listening socket, is told about the daemon's state, and keeps
//! the socket open while the daemon restarts; and the verbs that install such a service.

use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use pipemux_tests::interactive::InteractiveCommand;
use pipemux_tests::programs::program;
use pipemux_tests::{Signal, TestEnv, kill, wait_for, wait_until};

/// Passes what is its standard input as descriptor 3, as systemd does.
const PASS: &str = "exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$PIPEMUXD\" serve";

/// Plays a service manager: it listens where clients look for the daemon.
struct ServiceManager<'e> {
    env: &'e TestEnv,
    listener: UnixListener,
    socket: PathBuf,
    notifications: UnixDatagram,
    notify_socket: PathBuf,
}

impl<'e> ServiceManager<'e> {
    fn new(env: &'e TestEnv) -> Self {
        Self::listening_at(env, env.paths().socket)
    }

    fn listening_at(env: &'e TestEnv, socket: PathBuf) -> Self {
        let directory = socket.parent().expect("a directory");
        fs::create_dir_all(directory).expect("a directory");
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).expect("its mode");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let notify_socket = env.root().join("notify");
        let notifications = UnixDatagram::bind(&notify_socket).expect("a socket");
        notifications.set_read_timeout(Some(Duration::from_secs(15))).expect("a timeout");
        Self { env, listener, socket, notifications, notify_socket }
    }

    /// Starts the daemon with the socket passed, and waits until it says that it serves.
    fn start(&self) -> Child {
        let child = self.spawn(&self.listener.try_clone().expect("a copy").into());
        self.expect("READY=1");
        child
    }

    fn spawn(&self, passed: &OwnedFd) -> Child {
        let stdin = Stdio::from(passed.try_clone().expect("a copy"));
        Command::new("/bin/sh")
            .args(["-c", PASS])
            .env_clear()
            .envs(self.env.variables())
            .env("PIPEMUXD", program("pipemuxd"))
            .env("NOTIFY_SOCKET", &self.notify_socket)
            .env("WATCHDOG_USEC", "100000")
            .current_dir("/")
            .stdin(stdin)
            .stdout(Stdio::null())
            .stderr(self.log())
            .spawn()
            .expect("a shell")
    }

    fn log(&self) -> fs::File {
        let log = self.env.paths().log;
        fs::create_dir_all(log.parent().expect("a directory")).expect("a directory");
        let options = fs::OpenOptions::new().append(true).create(true).open(log);
        options.expect("the daemon's log")
    }

    /// Reads notifications until this one comes.
    fn expect(&self, wanted: &str) {
        let mut buffer = [0; 1024];
        loop {
            let length = self.notifications.recv(&mut buffer).unwrap_or_else(|error| {
                panic!("no {wanted}: {error}");
            });
            let said = std::str::from_utf8(&buffer[..length]).expect("text");
            if said.lines().any(|line| line == wanted) {
                return;
            }
        }
    }

    /// Ends the service, as removing its socket unit does.
    fn remove(self) {
        drop(self.listener);
        fs::remove_file(&self.socket).expect("the socket");
    }
}

fn end(mut daemon: Child) -> ExitStatus {
    wait_until("the daemon has ended", || daemon.try_wait().expect("its state"))
}

fn pid(daemon: &Child) -> i32 {
    i32::try_from(daemon.id()).expect("a process id")
}

#[test]
fn daemon_serves_the_passed_socket_and_leaves_it_in_place() {
    let env = TestEnv::new();
    let manager = ServiceManager::new(&env);
    let daemon = manager.start();
    env.pipemux(&["open", "notebook"]).ok();
    env.run("notebook.add('kept', 'x')").ok();
    env.pipemux(&["view"]).ok().has("[kept](obj:");
    assert_eq!(env.daemon_pid(), pid(&daemon), "the client started no daemon of its own");
    manager.expect("WATCHDOG=1");
    manager.expect("WATCHDOG=1");

    // `down` ends it although the socket stays.
    env.pipemux(&["down"]).ok();
    assert!(end(daemon).success());
    manager.expect("STOPPING=1");
    assert!(manager.socket.exists());
    manager.remove();
}

#[test]
fn clients_that_come_while_the_service_restarts_are_served_by_the_next_daemon() {
    let env = TestEnv::new();
    let manager = ServiceManager::new(&env);
    let first = manager.start();
    env.pipemux(&["open", "notebook"]).ok();
    env.run("notebook.add('before', 'x')").ok();
    kill(pid(&first), Signal::SIGTERM);
    assert!(end(first).success());

    // Nobody accepts now. The acts wait at the socket, and none of the clients takes its place.
    let waiting: Vec<_> = (0..4)
        .map(|number| {
            env.command(&["run", &format!("notebook.add('between {number}', 'x')")]).start()
        })
        .collect();
    let second = manager.start();
    for one in waiting {
        one.finish().ok();
    }
    let seen = env.pipemux(&["view"]);
    seen.ok().has("[before](obj:");
    for number in 0..4 {
        seen.has(&format!("[between {number}](obj:"));
    }
    assert_eq!(env.daemon_pid(), pid(&second));

    // It may also be killed: what was answered is saved, and the socket is open all the same.
    kill(pid(&second), Signal::SIGKILL);
    end(second);
    let waiting = env.command(&["view"]).start();
    let third = manager.start();
    waiting.finish().ok().has("[between 3](obj:");
    env.pipemux(&["down"]).ok();
    assert!(end(third).success());
    manager.remove();
}

#[test]
fn daemon_of_a_client_gives_way_to_the_service_manager() {
    let env = TestEnv::new();
    let manager = ServiceManager::new(&env);
    // As if a client had found the socket deaf: the program must not take its place.
    let serve = env
        .shell("\"$PIPEMUXD\" serve")
        .env("PIPEMUXD", &program("pipemuxd").display().to_string());
    serve.output().ok().has("running");
    assert!(UnixStream::connect(&manager.socket).is_ok(), "the socket is the manager's still");
    let daemon = manager.start();
    env.pipemux(&["view"]).ok();
    env.pipemux(&["down"]).ok();
    end(daemon);
    manager.remove();
    // Without a service a command starts the daemon as ever.
    env.pipemux(&["view"]).ok();
}

#[test]
fn clients_find_the_socket_of_a_packaged_unit_while_it_listens() {
    let env = TestEnv::new();
    let own = env.paths().socket;
    let socket = own.with_file_name("unit.sock");
    let path = socket.display().to_string();
    let link = || env.pipemux(&["service", "link", &path]);
    let unlink = || env.pipemux(&["service", "link", &path, "--remove"]);

    // What the unit runs when it begins to listen. The first command has it start the daemon.
    let manager = ServiceManager::listening_at(&env, socket);
    link().ok();
    env.pipemux(&["status"]).ok().has("not running");
    let waiting = env.command(&["run", "notebook.add('kept', 'x')"]).start();
    let first = manager.start();
    waiting.finish().ok();
    assert_eq!(env.daemon_pid(), pid(&first));
    // Nobody takes the place of a daemon that serves.
    link().exits(9).has("pipemux down && systemctl --user start pipemux.socket");
    kill(pid(&first), Signal::SIGTERM);
    assert!(end(first).success());
    assert!(own.is_symlink(), "the unit listens still");
    let waiting = env.command(&["view"]).start();
    let second = manager.start();
    waiting.finish().ok().has("[kept](obj:");
    env.pipemux(&["down"]).ok();
    end(second);

    // What it runs when it stops listening. Another's link stays, and a second time changes
    // nothing.
    env.pipemux(&["service", "link", "/another/unit.sock", "--remove"]).ok();
    assert!(own.is_symlink());
    unlink().ok();
    unlink().ok();
    assert!(fs::symlink_metadata(&own).is_err());
    manager.remove();
    env.pipemux(&["view"]).ok().has("[kept](obj:");
    env.pipemux(&["down"]).ok();
    // A link whose unit ended without a word is in nobody's way, nor is what a killed daemon left.
    link().ok();
    env.pipemux(&["view"]).ok();
    kill(env.daemon_pid(), Signal::SIGKILL);
    wait_for("the daemon is gone", || env.processes().is_empty());
    link().ok();
    assert!(own.is_symlink());
    unlink().ok();
    env.pipemux(&["view"]).ok().has("[kept](obj:");
}

#[test]
fn log_is_followed_across_rotation_and_in_the_journal() {
    let env = TestEnv::new();
    env.pipemux(&["service", "logs", "--follow"]).exits(9).has("pipemux up");
    env.pipemux(&["view"]).ok();
    env.pipemux(&["down"]).ok();
    let log = env.paths().log;
    let append = |line: &str| {
        let mut file = fs::OpenOptions::new().append(true).create(true).open(&log).expect("a log");
        writeln!(file, "{line}").expect("a line");
    };
    append("the last line before");
    let follow = InteractiveCommand::start(&env, &["service", "logs", "--lines", "1", "--follow"]);
    assert_eq!(follow.next_line().as_deref(), Some("the last line before"));
    append("深い 🙂");
    assert_eq!(follow.next_line().as_deref(), Some("深い 🙂"));
    append("the end of a file");
    fs::rename(&log, log.with_extension("1")).expect("another name");
    append("the start of the next");
    assert_eq!(follow.next_line().as_deref(), Some("the end of a file"));
    assert_eq!(follow.next_line().as_deref(), Some("the start of the next"));
    fs::write(&log, "").expect("an empty log");
    append("after it was emptied");
    assert_eq!(follow.next_line().as_deref(), Some("after it was emptied"));
    follow.signal(Signal::SIGINT);
    assert_eq!(follow.finish(), 0);
    // Under a time limit it ends by itself.
    env.pipemux(&["service", "logs", "--follow", "--timeout", "0.2"]).ok().has("emptied");

    // Where a unit holds the socket, the journal has the log, and errors lead there.
    let path = fake_systemctl(&env);
    let journal = env.root().join("bin/journalctl");
    let script =
        "#!/bin/sh\necho \"journal: $*\"\ncase \"$*\" in *--follow*) exec sleep 1000;; esac\n";
    fs::write(&journal, script).expect("a script");
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o755)).expect("its mode");
    let service =
        |args: &[&str]| env.command(&[&["service"], args].concat()).env("PATH", &path).output();
    service(&["install"]).ok();
    service(&["logs", "--lines", "7"]).ok().has("--unit pipemux.service --lines 7 ");
    let followed = service(&["logs", "--lines", "7", "--follow", "--timeout", "2"]);
    followed.ok().has("--lines 7 ").has("--follow");
    service(&["uninstall"]).ok();
}

#[test]
fn descriptor_that_is_no_listening_socket_is_refused_with_the_reason() {
    let env = TestEnv::new();
    let manager = ServiceManager::new(&env);
    let file = tempfile::tempfile().expect("a file");
    let refused = end(manager.spawn(&file.into()));
    assert!(!refused.success());
    let (one, _other) = UnixStream::pair().expect("a pair");
    assert!(!end(manager.spawn(&one.into())).success());
    manager.remove();
    env.pipemux(&["view"]).ok();
}

/// Writes a `systemctl` that notes its arguments, and knows whether the socket was started.
fn fake_systemctl(env: &TestEnv) -> String {
    let bin = env.root().join("bin");
    fs::create_dir_all(&bin).expect("a directory");
    let script = "#!/bin/sh\n\
        here=$(dirname \"$0\")\n\
        echo \"$*\" >> \"$here/calls\"\n\
        case \"$2\" in\n\
        start) : > \"$here/started\";;\n\
        disable) rm -f \"$here/started\";;\n\
        is-active|is-enabled) if [ -e \"$here/started\" ]; then echo active; else echo inactive; exit 3; fi;;\n\
        esac\n";
    let path = bin.join("systemctl");
    fs::write(&path, script).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default())
}

fn calls(env: &TestEnv) -> String {
    let path = env.root().join("bin/calls");
    let calls = fs::read_to_string(&path).unwrap_or_default();
    let _ = fs::remove_file(path);
    calls
}

#[test]
fn service_is_installed_once_and_removed_without_a_trace() {
    let env = TestEnv::new();
    let path = fake_systemctl(&env);
    let service =
        |args: &[&str]| env.command(&[&["service"], args].concat()).env("PATH", &path).output();
    let units = env.root().join("home/.config/systemd/user");
    let (socket, unit) = (units.join("pipemux.socket"), units.join("pipemux.service"));

    service(&["status"]).ok().has("not installed");
    service(&["install", "--dry-run"])
        .ok()
        .has("would run: systemctl --user enable")
        .has("nothing was written");
    assert!(!units.exists());
    calls(&env);

    let installed = service(&["install"]);
    installed
        .ok()
        .has("ran: systemctl --user start pipemux.socket")
        .has("pipemux service uninstall");
    let listens = format!("ListenStream={}\n", env.paths().socket.display());
    assert!(fs::read_to_string(&socket).expect("a unit").contains(&listens));
    assert!(fs::read_to_string(&unit).expect("a unit").contains("Type=notify\n"));
    let said = calls(&env);
    assert!(said.contains("--user daemon-reload\n--user enable pipemux.socket\n"), "{said}");
    service(&["install"]).ok().has("installed already: nothing changed");
    service(&["status"]).ok().has("installed · socket active");
    // The socket would start the daemon: what starts none doesn't connect.
    env.pipemux(&["status"]).ok().has("not running");

    service(&["uninstall", "--dry-run"]).ok().has("would run:");
    assert!(socket.exists());
    service(&["uninstall"]).ok().has("removed");
    assert!(!socket.exists() && !unit.exists());
    service(&["uninstall"]).ok().has("not installed: nothing changed");

    // Somebody's own unit of that name is left alone.
    fs::create_dir_all(&units).expect("a directory");
    fs::write(&unit, "[Service]\nExecStart=/bin/true\n").expect("a unit");
    for verb in ["install", "uninstall"] {
        service(&[verb]).exits(2).has("was not written by pipemux");
    }
    assert_eq!(fs::read_to_string(&unit).expect("a unit"), "[Service]\nExecStart=/bin/true\n");
    assert!(!socket.exists());
}

#[test]
fn running_daemon_keeps_its_socket_when_the_service_is_installed() {
    let env = TestEnv::new();
    env.pipemux(&["open", "notebook"]).ok();
    let path = fake_systemctl(&env);
    let service =
        |args: &[&str]| env.command(&[&["service"], args].concat()).env("PATH", &path).output();
    service(&["install"])
        .ok()
        .lacks("ran: systemctl --user start")
        .has("hand over: pipemux down && systemctl --user start pipemux.socket");
    env.pipemux(&["status"]).ok().has("sessions 1");
    // Where the journal has nothing to say, the daemon's own log does.
    service(&["logs", "--lines", "5"]).ok();
    service(&["uninstall"]).ok();
}

#[test]
fn without_a_service_manager_the_verbs_say_what_to_do_instead() {
    let env = TestEnv::new();
    let none = env.root().join("none").display().to_string();
    let refused = env.command(&["service", "install"]).env("PATH", &none).output();
    refused.exits(9).has("no systemd manages").has("every command starts the daemon");
    assert!(!env.root().join("home/.config/systemd").exists());
    env.command(&["service", "install", "--dry-run"])
        .env("PATH", &none)
        .output()
        .ok()
        .has("would run");
    wait_for("nothing runs", || env.processes().is_empty());
}
