//! The core can't wait or do IO: its dependency tree has no runtime, and its sources use no clock,
//! file, socket or randomness.

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
const DECODERS: &[&str] = &[
    "intake/decode.rs",
    "workspaces/raw_projection.rs",
    "clients/connection.rs",
    "clients/admission.rs",
    "clients/frames.rs",
    "clients/fitting.rs",
    "core/restore.rs",
    "workspaces/anchors/saved.rs",
    "runs/questions/saved_question.rs",
    "verbs/undo.rs",
    "processes/tests.rs",
    "runs/tests.rs",
];

#[test]
fn messages_of_apps_are_decoded_only_where_bounds_apply() {
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

/// Where a text of an app leaves its type: into data of its own, or into a sentence that is made
/// inert as a whole.
const READERS: &[&str] = &[
    "foreign.rs",
    "foreign/",
    "announcements.rs",
    "jobs/",
    "processes/session.rs",
    "runs/arguments.rs",
    "scripts/bare_number.rs",
    "runs/history_round.rs",
    "scripts/labels.rs",
    "runs/lookup.rs",
    "runs/questions/missing_argument.rs",
    "runs/questions/question.rs",
    "runs/resume.rs",
    "runs/step_outcome.rs",
    "verbs/hidden_link.rs",
    "verbs/jobs.rs",
    "answers/cancelled_steps.rs",
    "verbs/resolve.rs",
    "views/",
    "workspaces/anchors/saved.rs",
    "workspaces/raw_projection.rs",
];

#[test]
fn texts_of_apps_are_read_only_where_they_are_shown_or_kept() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&source, &mut files);
    for file in files {
        let name = file.strip_prefix(&source).expect("a file of the sources").to_string_lossy();
        let text = std::fs::read_to_string(&file).expect("a source file");
        let reads =
            ["data::exact", "data::borrowed", "quote::"].iter().any(|read| text.contains(read));
        let allowed =
            READERS.iter().any(|reader| name.starts_with(reader)) || name.contains("tests");
        assert!(!reads || allowed, "{name}: show it with foreign::inert");
        // A declaration's doc is shown as a comment, which it can't end.
        let docs = text.contains(".doc)") || text.contains(".doc;") || text.contains(".doc.");
        let shows_docs =
            ["views/prototypes.rs", "views/form.rs", "runs/questions/form.rs", "intake/"]
                .iter()
                .any(|shows| name.starts_with(shows));
        assert!(!docs || shows_docs, "{name}: a doc is written by views/prototypes.rs or form.rs");
    }
}

/// Texts in messages of apps that are no sentences: names, keys, types, paths and code. They have a
/// form that is checked, or are only compared, or are written percent-encoded.
const NAMES: &[&str] = &[
    "RefArg.key",
    "RefArg.ty",
    "Copied.from",
    "Copied.label",
    "Copied.file",
    "ObjectSlot.key",
    "ObjectSlot.ty",
    "Media.media_type",
    "LinkSlot.action",
    "LinkSlot.code",
    "EmbedSlot.session",
    "Projection.document",
    "Projection.actions",
    "Projection.names",
    "Projection.focus",
    "Projection.custom",
    "Chunk.path",
    "Opened.jobs",
    "Started.job",
    "Started.ended_jobs",
    "Done.ended_jobs",
    "Done.changed_files",
    "JobReport.job",
    // From the daemon.
    "ReadRequest.key",
    "Locate.keys",
    "TokenName.ty",
    "TokenName.name",
    "TokenMeaning.click",
];

/// Parts of messages with plain text.
const PLAIN: &[&str] = &[
    "LinkSlot",
    "ObjectSlot",
    "Piece",
    "CodePiece",
    "OptionItem",
    "Question",
    "KeyLocation",
    "TokenMeaning",
];

/// Messages from the daemon.
const FROM_DAEMON: &[&str] = &[
    "OpenRequest",
    "Project",
    "Invoke",
    "ChangedBeside",
    "Choice",
    "Locate",
    "CancelJob",
    "JobStatus",
];

#[test]
fn texts_of_apps_have_the_type_that_the_daemon_decodes_as_foreign() {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pipemux-proto/src");
    let mut checked = 0;
    for file in ["app.rs", "job.rs", "projection.rs"] {
        let text = std::fs::read_to_string(proto.join(file)).expect("a source file");
        let mut of = "";
        for line in text.lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix("pub struct ").or(line.strip_prefix("pub enum "))
            {
                of = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                of = of.strip_suffix("Of").unwrap_or(of);
                continue;
            }
            let is_field = !line.starts_with("//") && line.ends_with(',');
            // `DoneOf<T>` has the type, `Done` has plain text.
            let plain = PLAIN.iter().find(|plain| {
                line.split(|c: char| !c.is_alphanumeric()).any(|word| word == **plain)
            });
            let named = line.split(['(', ':']).next().is_some_and(|name| Some(&name) == plain);
            assert!(!is_field || named || plain.is_none(), "{of}: `{line}` has plain text");
            if !is_field || !line.contains("String") || FROM_DAEMON.contains(&of) {
                continue;
            }
            let field =
                line.trim_start_matches("pub ").split([':', '(']).next().unwrap_or_default();
            let field = format!("{of}.{field}");
            checked += 1;
            assert!(NAMES.contains(&field.as_str()), "{field}: a text of an app has the type `T`");
        }
    }
    assert!(checked > 10, "{checked}");
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
