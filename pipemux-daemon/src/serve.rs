//! `pipemuxd serve`: starts the daemon, runs it, and ends what it started.

use std::cell::RefCell;
use std::io::{self, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::SigSet;
use nix::unistd::{chdir, dup2_stdout, getuid, setsid};
use pipemux_core::{Config, Core, Now};
use pipemux_launcher::{MarkOrigin, SandboxSupport, describe_limits, leftovers, orphans};
use pipemux_proto::paths::Paths;
use sd_notify::NotifyState;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use crate::app_processes::AppProcesses;
use crate::audit_log::AuditLog;
use crate::busy_poll::ParkHook;
use crate::daemon_log::{self, log};
use crate::driver::{Driver, DriverParts};
use crate::file_watch::FileWatch;
use crate::identity;
use crate::journal::{self, Journal};
use crate::launcher_process::{LauncherProcess, own_program};
use crate::limits::{LAUNCHER_END_S, LEFTOVERS_MS, LOCK_WAIT_MS};
use crate::listener::ClientListener;
use crate::lock::{self, SharedLock};
use crate::manifests::ManifestDirs;
use crate::metrics::{self, MetricsAddress, MetricsListener, Scrapes};
use crate::ready_queue::{ReadyQueue, ReadySource};
use crate::settings::HistorySettings;
use crate::shutdown::Shutdown;
use crate::{bounds, clean_environment, directories, listener, sandbox};
use crate::{service_manager, settings, value_files};

/// The limit of open files that macOS allows, requested if the hard limit is refused.
const FILES_MAX: u64 = 10_240;

/// Serves until told to stop, with metrics at that address. Prints one line on standard output for
/// the client that started the daemon: `ready`, `running` when another daemon has this state
/// directory or a service manager is to start one, or `error: …`; then standard output ends.
///
/// # Errors
/// Why the daemon can't start, or why it ended other than by request.
pub fn serve(metrics: Option<&str>) -> Result<(), String> {
    clean_environment::ensure()
        .map_err(|error| format!("can't start with a clean environment: {error}"))?;
    // The starter's signal mask must not decide which signals the daemon receives.
    SigSet::empty().thread_set_mask().map_err(|error| format!("can't unblock signals: {error}"))?;
    // This fails for a process that a shell made the leader of a group, which is just as good.
    let _ = setsid();
    chdir("/").map_err(|error| format!("can't change to /: {error}"))?;
    let get = |name: &str| std::env::var(name).ok();
    let paths = Paths::from_env(get, getuid().as_raw())?;
    let metrics = metrics.map(str::to_owned).or_else(|| get(metrics::VARIABLE));
    let metrics = metrics.filter(|text| !text.is_empty());
    let metrics = metrics.map(|text| MetricsAddress::parse(&text)).transpose()?;
    let passed = service_manager::take_listener()?;
    // Connecting has made the service manager start the daemon. A second one would take the place
    // of its socket.
    if passed.is_none() && listener::is_of_service_manager(&paths.socket) {
        print_line("running");
        return Ok(());
    }
    let state = paths.state_dir.display();
    directories::create_private(&paths.state_dir)
        .map_err(|error| format!("can't create {state}: {error}; set PIPEMUX_STATE_DIR"))?;
    let cannot_lock = |error| format!("can't lock {}: {error}", paths.lock.display());
    let wait = if passed.is_some() { LOCK_WAIT_MS } else { 0 };
    let wait = Duration::from_millis(wait);
    let Some(lock) = lock::acquire_within(&paths.lock, wait).map_err(cannot_lock)? else {
        if passed.is_some() {
            return Err(format!(
                "another daemon has {state}; end it: pipemux down && systemctl --user restart pipemux.socket"
            ));
        }
        print_line("running");
        return Ok(());
    };

    value_files::remove_old_of_all(&paths.state_dir);
    // The launcher starts before anything is opened, so it inherits nothing, and before the daemon
    // raises its own limits, so apps get those that the daemon was started with.
    let program = own_program()?;
    let origin = end_leftovers(&paths.state_dir)?;
    let launcher = LauncherProcess::start(&program)
        .map_err(|error| format!("can't start the launcher: {error}"))?;
    raise_file_limit();
    if let Err(error) = orphans::adopt() {
        log(error);
    }

    let park_hook = Arc::new(ParkHook::default());
    let hook = Arc::clone(&park_hook);
    let runtime = Builder::new_current_thread()
        .enable_all()
        // With 2 the runtime looks for tasks once more after the driver's turn, finds none, and
        // waits. Otherwise it would poll the system without waiting first.
        .event_interval(2)
        .on_thread_park(move || hook.before_park())
        .build_local(LocalOptions::default())
        .map_err(|error| format!("can't start the runtime: {error}"))?;
    let shutdown = Shutdown::default();
    let lock = Rc::new(RefCell::new(lock));
    let builder =
        DaemonBuilder { paths: &paths, program, origin, park_hook, lock: Rc::clone(&lock) };
    let (mut driver, metrics) = {
        let _runtime = runtime.enter();
        shutdown.watch_signals().map_err(|error| format!("can't watch signals: {error}"))?;
        let metrics = metrics.map(|address| address.bind()).transpose()?;
        (builder.build(launcher, &shutdown, passed)?, metrics)
    };
    let metrics = metrics.map(|listener| (listener, driver.measure()));
    daemon_log::limit_size(&paths.log);
    // Without this line the daemon is found by clients with the same variables only.
    if let Err(error) = lock.borrow().write_socket_path(driver.socket()) {
        log(format_args!("can't write the socket into {}: {error}", paths.lock.display()));
    }
    run(&runtime, driver, metrics, shutdown, lock)
}

/// Prints a line on standard output. It does not matter if nobody reads it any more.
pub fn print_line(line: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn run(
    runtime: &LocalRuntime,
    driver: Driver,
    metrics: Option<(MetricsListener, Scrapes)>,
    shutdown: Shutdown,
    lock: SharedLock,
) -> Result<(), String> {
    print_line("ready");
    service_manager::notify(NotifyState::Ready);
    // This ends the client's pipe; whatever is printed later goes to the log.
    let _ = dup2_stdout(io::stderr());
    log(format_args!("pipemuxd {} serves", env!("CARGO_PKG_VERSION")));

    let metrics = metrics.map(|(listener, scrapes)| {
        log(format_args!("metrics at {}", listener.address()));
        runtime.spawn_local(metrics::serve(listener, scrapes))
    });
    // The driver is a task because waking a task needs no system call, unlike waking `block_on`'s
    // own future.
    let driver = runtime.spawn_local(tokio::task::unconstrained(driver.run()));
    let served = runtime.block_on(async {
        let served = driver.await;
        if let Some(metrics) = metrics {
            metrics.abort();
            // Its end closes the socket.
            let _ = metrics.await;
        }
        shutdown.finish().await;
        served
    });
    // The driver has removed the socket. The processes end next, and the lock is released last.
    let result = match served {
        Ok(processes) => {
            processes.end();
            Ok(())
        }
        // The driver's panic took the connection to the launcher along; nothing that the launcher
        // started may be left when the next daemon starts.
        Err(error) => {
            orphans::end_all(&[], |_| false, Duration::from_secs(LAUNCHER_END_S));
            Err(format!("the daemon failed: {error}"))
        }
    };
    log("stopped");
    drop(lock);
    result
}

/// Kills what an earlier daemon of this state directory left when it was killed together with its
/// launcher. This daemon holds the lock, so no other daemon looks after those processes.
fn end_leftovers(state_dir: &Path) -> Result<MarkOrigin, String> {
    let origin = MarkOrigin::of(state_dir)
        .map_err(|error| format!("can't inspect {}: {error}", state_dir.display()))?;
    origin.shed();
    let (found, all_ended) = leftovers::end(origin, None, Duration::from_millis(LEFTOVERS_MS));
    for leftover in &found {
        log(format_args!(
            "ended what an earlier daemon left: process {} ({})",
            leftover.pid, leftover.command
        ));
    }
    if !all_ended {
        log("some processes of an earlier daemon could not be ended; run: pipemux doctor");
    }
    Ok(origin)
}

/// Builds the driver and all that it owns.
struct DaemonBuilder<'a> {
    paths: &'a Paths,
    program: PathBuf,
    origin: MarkOrigin,
    park_hook: Arc<ParkHook>,
    lock: SharedLock,
}

impl DaemonBuilder<'_> {
    fn build(
        self,
        launcher: LauncherProcess,
        shutdown: &Shutdown,
        passed: Option<UnixListener>,
    ) -> Result<Driver, String> {
        let Self { paths, program, origin, park_hook, lock } = self;
        let ready_queue = Arc::new(ReadyQueue::default());
        let manifests = ManifestDirs::beside(&program, |name| std::env::var(name).ok());
        let (settings, problem) = settings::load(manifests.settings_file().as_deref());
        if let Some(problem) = problem {
            log(problem);
        }
        let (core, journal) = restore(paths, &manifests, settings.history)?;
        let audit_log = AuditLog::open(&paths.state_dir, settings.audit);
        let uid = getuid().as_raw();
        let listener = match passed {
            Some(passed) => ClientListener::from_passed(passed, uid)?,
            None => ClientListener::bind(paths, uid)?,
        };
        let waker = ready_queue.waker(ReadySource::Launcher);
        let private = sandbox::PrivateDirectories::new(paths, &manifests);
        let processes = AppProcesses::new(program, origin, launcher, waker, private)
            .map_err(|error| format!("can't watch the launcher: {error}"))?;
        let (file_watch, problem) = FileWatch::new();
        if let Some(problem) = problem {
            log(format_args!(
                "can't watch its own files, and looks at them from time to time: {problem}; see fs.inotify.max_user_instances"
            ));
        }
        let parts = DriverParts {
            core,
            listener,
            lock,
            file_watch,
            processes,
            journal,
            audit_log,
            manifests,
            ready_queue,
            park_hook,
        };
        Ok(Driver::new(parts, shutdown))
    }
}

/// Restores the core from the saved state and starts the journal that continues it.
fn restore(
    paths: &Paths,
    manifests: &ManifestDirs,
    history: HistorySettings,
) -> Result<(Core, Journal), String> {
    let loaded = manifests.load();
    let path = paths.state_dir.join("state.log");
    let saved = journal::load(&path);
    for problem in &loaded.problems {
        log(problem);
    }
    for problem in &saved.problems {
        log(problem);
    }
    let config = Config {
        providers: loaded.manifests,
        state_dir: paths.state_dir.to_string_lossy().into_owned(),
        pid: std::process::id(),
        software: format!("pipemuxd {}", env!("CARGO_PKG_VERSION")),
        identity: identity::of(paths)?,
        socket: paths.socket.to_string_lossy().into_owned(),
        limit_levels: describe_limits(),
        confines: SandboxSupport::of_this_system().describe(),
        pseudonym_key: identity::random_key()
            .map_err(|error| format!("can't read random bytes: {error}"))?,
        history_rounds: Some(history.rounds),
        bounds: bounds::BOUNDS,
    };
    let mut core = Core::new(config, saved.records);
    if !saved.clean_shutdown {
        core.earlier_daemon_was_lost();
    }
    if let Some(loss) = saved.loss {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let unix_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        core.lost(loss, Now { mono_ms: 0, unix_ms });
    }
    let journal = Journal::create(&path, &core.snapshot())
        .map_err(|error| format!("can't save the state in {}: {error}", path.display()))?;
    Ok((core, journal))
}

fn raise_file_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_err()
        && let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, soft.max(FILES_MAX.min(hard)), hard)
    {
        log(format_args!("the limit of open files stays at {soft}: {error}"));
    }
}
