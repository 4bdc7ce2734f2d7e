//! The core can't wait or do IO: its dependency tree has no runtime, and its sources use no clock, file, socket or
//! randomness.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates that do IO, wait, or talk to the system.
const RUNTIMES: [&str; 22] = [
    "async-std",
    "crossbeam-channel",
    "futures",
    "getrandom",
    "interprocess",
    "libc",
    "linux-raw-sys",
    "mio",
    "nix",
    "polling",
    "rand",
    "rand_core",
    "rustix",
    "signal-hook",
    "smol",
    "socket2",
    "tempfile",
    "time",
    "tokio",
    "tokio-util",
    "chrono",
    "windows-sys",
];

/// What the core must get from its driver as events instead.
const BANNED: [&str; 14] = [
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "std::env",
    "std::io",
    "std::sync",
    "Instant::",
    "SystemTime",
    "RandomState",
    "thread_rng",
    "async fn",
    ".await",
];

#[test]
fn dependency_tree_has_no_runtime() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--package", "pipemux-core", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let tree = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let crates: BTreeSet<&str> = tree.lines().filter_map(|l| l.split(' ').next()).collect();
    assert!(crates.contains("pipemux-proto"), "not a dependency tree: {tree}");
    let found: Vec<_> = RUNTIMES.iter().filter(|name| crates.contains(**name)).collect();
    assert!(found.is_empty(), "{found:?} in the core's dependencies:\n{tree}");
}

#[test]
fn sources_use_no_clock_io_or_randomness() {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source file");
        for (index, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for banned in BANNED {
                assert!(!code.contains(banned), "{banned} in {}:{}", file.display(), index + 1);
            }
        }
    }
}

/// Where bodies are decoded: what apps send in one place, what clients send, and what is saved.
const DECODERS: [&str; 11] = [
    "intake/mod.rs",
    "workspaces/raw_projection.rs",
    "clients/connection.rs",
    "clients/requests.rs",
    "clients/fitting.rs",
    "core/restore.rs",
    "workspaces/anchors/saved.rs",
    "runs/saved_question.rs",
    "verbs/undo.rs",
    "processes/tests.rs",
    "runs/tests/mod.rs",
];

#[test]
fn what_apps_send_is_decoded_where_its_bounds_are() {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let decodes = ["decode::<", " decode(", "proto::decode(", "{decode(", "(decode("];
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let found = lines.filter(|line| decodes.iter().any(|call| line.contains(call))).count();
        let allowed = DECODERS.iter().any(|name| file.ends_with(name));
        assert!(found == 0 || allowed, "{}: read it with intake::read", file.display());
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
