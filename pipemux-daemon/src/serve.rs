//! `pipemuxd serve`: everything from the first descriptor to the last.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::SigSet;
use nix::unistd::{chdir, dup2_stdout, getuid, setsid};
use pipemux_core::{Config, Core, Now};
use pipemux_launcher::{Origin, leftovers, orphans};
use pipemux_proto::paths::Paths;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use crate::children::{Children, Launcher};
use crate::driver::{Driver, Parts};
use crate::journal::{self, Journal};
use crate::limits::{LAUNCHER_END_S, LEFTOVERS_MS};
use crate::lock::{self, Lock};
use crate::look::Again;
use crate::manifests::Places;
use crate::note::{keep_short, note};
use crate::transport::Listener;
use crate::wake::{Token, Wakes};
use crate::{bounds, logs, manifests};

/// How many open files are asked for where the hard limit is none: what macOS allows.
const FILES_MAX: u64 = 10_240;

/// Serves until told to end. The one line on standard output is for the client that started this:
/// `ready`, or `running` when another daemon has this state directory, or `error: …`; then standard
/// output ends.
///
/// # Errors
/// Why there is no daemon, or why it ended otherwise than it should.
pub fn serve() -> Result<(), String> {
    // Whoever happened to start it decides nothing: not what it hears either.
    SigSet::empty().thread_set_mask().map_err(|error| format!("can't unblock signals: {error}"))?;
    // Fails for a group's leader, which a shell made of it: then it leads its own group already.
    let _ = setsid();
    chdir("/").map_err(|error| format!("can't change to /: {error}"))?;
    let get = |name: &str| std::env::var(name).ok();
    let paths = Paths::from_env(get, getuid().as_raw())?;
    let state = paths.state_dir.display();
    logs::make_directory(&paths.state_dir)
        .map_err(|error| format!("can't make {state}: {error}; set PIPEMUX_STATE_DIR"))?;
    let cannot_lock = |error| format!("can't lock {}: {error}", paths.lock.display());
    let Some(lock) = lock::take(&paths.lock).map_err(cannot_lock)? else {
        say("running");
        return Ok(());
    };

    // The launcher comes before all else: it inherits nothing then, and its apps get the limits that
    // the daemon was started with.
    let program = std::env::current_exe().map_err(|error| format!("can't find itself: {error}"))?;
    let origin = end_leftovers(&paths.state_dir)?;
    let launcher =
        Launcher::start(&program).map_err(|error| format!("can't start the launcher: {error}"))?;
    raise_file_limit();
    if let Err(error) = orphans::adopt() {
        note(error);
    }

    let again = Arc::new(Again::default());
    let before_sleep = Arc::clone(&again);
    let runtime = Builder::new_current_thread()
        .enable_all()
        // Two: after the driver's turn the runtime looks once more for tasks, finds none, and waits,
        // instead of asking the system first without waiting.
        .event_interval(2)
        .on_thread_park(move || before_sleep.before_sleep())
        .build_local(LocalOptions::default())
        .map_err(|error| format!("can't start the runtime: {error}"))?;
    let house = House { paths: &paths, program, origin, again };
    let driver = {
        let _in = runtime.enter();
        house.driver(launcher)?
    };
    keep_short(&paths.log);
    // Without it only a client with other variables is lost.
    if let Err(error) = lock.record(&paths.socket) {
        note(format_args!("can't write the socket into {}: {error}", paths.lock.display()));
    }
    run(&runtime, driver, lock)
}

/// Prints the line that the starting client waits for; a client that is gone is no reason to stop.
pub fn say(line: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn run(runtime: &LocalRuntime, driver: Driver, lock: Lock) -> Result<(), String> {
    say("ready");
    // The client's pipe ends here; stray output goes to the log.
    let _ = dup2_stdout(io::stderr());
    note(format_args!("pipemuxd {} serves", env!("CARGO_PKG_VERSION")));

    // A task, for it is woken without a system call; `block_on`'s own future isn't.
    let driver = runtime.spawn_local(tokio::task::unconstrained(driver.run()));
    let served = runtime.block_on(driver);
    // The socket is gone by now; the processes are next, the lock comes last.
    let result = match served {
        Ok(children) => {
            children.end();
            Ok(())
        }
        // Its launcher went with it; nothing of that may be left when the next daemon starts.
        Err(error) => {
            orphans::end_all(&[], None, Duration::from_secs(LAUNCHER_END_S));
            Err(format!("the daemon failed: {error}"))
        }
    };
    note("ended");
    drop(lock);
    result
}

/// Ends what an earlier daemon of this state directory left when it was killed together with its
/// launcher: the lock says that nobody looks after it.
fn end_leftovers(state_dir: &Path) -> Result<Origin, String> {
    let origin = Origin::of(state_dir)
        .map_err(|error| format!("can't look at {}: {error}", state_dir.display()))?;
    origin.shed();
    let (found, all) = leftovers::end(origin, None, Duration::from_millis(LEFTOVERS_MS));
    for one in &found {
        note(format_args!(
            "ended what an earlier daemon left: process {} ({})",
            one.pid, one.command
        ));
    }
    if !all {
        note("some of that could not be ended: pipemux doctor");
    }
    Ok(origin)
}

struct House<'a> {
    paths: &'a Paths,
    program: PathBuf,
    origin: Origin,
    again: Arc<Again>,
}

impl House<'_> {
    fn driver(self, launcher: Launcher) -> Result<Driver, String> {
        let Self { paths, program, origin, again } = self;
        let wakes = Arc::new(Wakes::default());
        let manifests = Places {
            programs: program.parent().unwrap_or(Path::new("/")).to_owned(),
            user: manifests::directory(|name| std::env::var(name).ok()),
        };
        let (core, journal) = restore(paths, &manifests)?;
        let listener = Listener::bind(paths, getuid().as_raw())?;
        let children = Children::new(program, origin, launcher, wakes.waker(Token::Launcher))
            .map_err(|error| format!("can't watch the launcher: {error}"))?;
        Driver::new(Parts { core, listener, children, journal, manifests, wakes, again })
            .map_err(|error| format!("can't watch signals: {error}"))
    }
}

/// The core as it was saved, and the log that it goes on with.
fn restore(paths: &Paths, manifests: &Places) -> Result<(Core, Journal), String> {
    let found = manifests.load();
    let state = paths.state_dir.join("state.log");
    let saved = journal::load(&state);
    for problem in found.problems.iter().chain(&saved.problems) {
        note(problem);
    }
    let config = Config {
        providers: found.manifests,
        state_dir: paths.state_dir.to_string_lossy().into_owned(),
        pid: std::process::id(),
        software: format!("pipemuxd {}", env!("CARGO_PKG_VERSION")),
        socket: paths.socket.to_string_lossy().into_owned(),
        bounds: bounds::BOUNDS,
    };
    let mut core = Core::new(config, saved.records);
    if !saved.ended {
        core.earlier_daemon_was_lost();
    }
    if let Some(loss) = saved.loss {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let unix_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        core.lost(loss, Now { mono_ms: 0, unix_ms });
    }
    let journal = Journal::create(&state, &core.snapshot())
        .map_err(|error| format!("can't keep the state in {}: {error}", state.display()))?;
    Ok((core, journal))
}

fn raise_file_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_err()
        && let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, soft.max(FILES_MAX.min(hard)), hard)
    {
        note(format_args!("the limit of open files stays at {soft}: {error}"));
    }
}
