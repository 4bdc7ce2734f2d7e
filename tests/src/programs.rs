//! Finds the built programs and builds them when they are missing or outdated.
//!
//! Cargo builds the tests of a package without the programs of other packages. Therefore the first
//! request for a program builds all of them, once in each test process, if one is missing or older
//! than its sources. `PIPEMUX_TESTS_BUILD=always` builds them whatever their age; `never` uses them
//! as they are.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

const PROGRAMS: [&str; 14] = [
    "pipemux",
    "pipemux-mcp",
    "pipemuxd",
    "pipemux-editor",
    "pipemux-memotree",
    "pipemux-planner",
    "pipemux-terminal",
    "pipemux-notebook",
    "pipemux-monitor",
    // Cargo builds `rogue` for the tests of this package, but not for its other programs.
    "rogue",
    "examples/arena",
    "examples/ide",
    "examples/tasks",
    "examples/timer",
];
const PACKAGES: [&str; 11] = [
    "pipemux-cli",
    "pipemux-mcp",
    "pipemux-daemon",
    "pipemux-editor",
    "pipemux-memotree",
    "pipemux-planner",
    "pipemux-terminal",
    "pipemux-notebook",
    "pipemux-monitor",
    "docui",
    "pipemux-tests",
];
const SOURCES: [&str; 6] = [
    "pipemux-proto",
    "pipemux-daemon",
    "pipemux-client",
    "apps",
    "tests/src/bin/rogue",
    "tests/examples",
];

/// Returns the path of a built program, such as `pipemux` or `examples/arena`.
///
/// # Panics
/// The programs can't be built; cargo has printed the reason.
pub fn program(name: &str) -> PathBuf {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let directory = BUILT.get_or_init(|| {
        let directory = profile_directory();
        build(&directory).map(|()| directory)
    });
    match directory {
        Ok(directory) => directory.join(name),
        Err(why) => panic!("{why}"),
    }
}

/// Returns `target/debug` for a test in `target/debug/deps`.
fn profile_directory() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let parent = test.parent().expect("a program lies in a directory");
    let in_deps = parent.file_name().is_some_and(|name| name == "deps");
    let directory = if in_deps { parent.parent() } else { Some(parent) };
    directory.expect("deps lies in the profile's directory").to_owned()
}

fn build(directory: &Path) -> Result<(), String> {
    let mode = std::env::var("PIPEMUX_TESTS_BUILD").unwrap_or_default();
    // Several test processes may build at the same time.
    let lock = File::create(directory.join(".pipemux-tests.lock")).expect("the target directory");
    lock.lock().expect("a lock in the target directory");
    let needed = match mode.as_str() {
        "always" => true,
        "never" => false,
        _ => is_outdated(directory),
    };
    if !needed {
        return Ok(());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.arg("build").current_dir(root());
    command.arg("--target-dir").arg(directory.parent().expect("the target directory"));
    match directory.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => {}
        Some(profile) => drop(command.args(["--profile", profile])),
    }
    command.args(["--bins", "--examples"]);
    for package in PACKAGES {
        command.args(["--package", package]);
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("the programs could not be built: {command:?}: {other:?}")),
    }
}

/// Returns the top of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn is_outdated(directory: &Path) -> bool {
    let built = PROGRAMS.iter().map(|name| modified(&directory.join(name)));
    let Some(oldest) = built.min().flatten() else { return true };
    SOURCES.iter().any(|source| has_newer(&root().join(source), oldest))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// Returns true when a source file below is newer. Tests don't count: no program is built from
/// them.
fn has_newer(directory: &Path, than: SystemTime) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        let path = entry.path();
        let name = entry.file_name();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => name != "tests" && has_newer(&path, than),
            Ok(_) => {
                let source = path.extension().is_some_and(|end| end == "rs" || end == "toml");
                source && modified(&path).is_some_and(|time| time > than)
            }
            Err(_) => false,
        }
    })
}
