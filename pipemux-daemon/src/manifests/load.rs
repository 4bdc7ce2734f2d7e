//! Loads manifests, and says where in a file a mistake is.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use pipemux_catalog::{APPS, App};
use pipemux_core::{
    BuiltIn, FolderAccess, Limits, Manifest, ManifestProblem, SandboxLevel, Scope, Size,
};

use super::text;
use crate::limits::{APP_FILES_MIN, APP_MEMORY_MIN, LOG_MIN, MANIFEST_MAX};

/// Returns who shares the sessions of an app that comes with the daemon.
fn scope_of(built_in: &App) -> Scope {
    // The machine is the same in all workspaces.
    if built_in.id == "monitor" { Scope::User } else { Scope::Workspace }
}

/// What is known of the apps that come with the daemon. Read once, because it never changes.
static KNOWN: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| {
    let known = |app: &App| BuiltIn { prototypes: app.prototypes(), help: app.help() };
    APPS.iter().map(known).collect()
});

/// The manifests that could be loaded, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct LoadedManifests {
    /// The manifests, each id once.
    pub manifests: Vec<Manifest>,
    /// The manifests that were skipped, and why.
    pub problems: Vec<ManifestProblem>,
}

/// Loads the apps whose programs lie in `programs`, then each `*.toml` of the user's directory in the order
/// of their names. The user's manifest wins over a built-in app of the same id; of two user's manifests the
/// first wins.
pub fn load(programs: &Path, user: Option<&Path>) -> LoadedManifests {
    let mut loaded = LoadedManifests::default();
    for path in user.map(manifest_files).unwrap_or_default() {
        match read(&path) {
            Ok(manifest) => {
                let taken = loaded.manifests.iter().any(|other| other.id == manifest.id);
                if taken {
                    let shown = path.display();
                    let text = format!("{shown}: id `{}` is already taken", manifest.id);
                    loaded.problems.push(problem(&path, text));
                } else {
                    let shadows = APPS.iter().any(|app| manifest.id.as_str() == app.id);
                    loaded.manifests.push(Manifest { shadows, ..manifest });
                }
            }
            Err(text) => loaded.problems.push(problem(&path, text)),
        }
    }
    for (app, known) in APPS.iter().zip(KNOWN.iter()) {
        let Ok(id) = app.id.parse() else { continue };
        if loaded.manifests.iter().any(|other| other.id == id) {
            continue;
        }
        let command = programs.join(format!("pipemux-{id}")).to_string_lossy().into_owned();
        let manifest = Manifest {
            description: app.description.to_owned(),
            scope: scope_of(app),
            built_in: Some(Box::new(known.clone())),
            ..Manifest::new(id, command)
        };
        loaded.manifests.push(confined(manifest));
    }
    loaded.manifests.sort_by(|one, other| one.id.cmp(&other.id));
    loaded
}

/// Confines an app that comes with the daemon to the least that it needs.
fn confined(manifest: Manifest) -> Manifest {
    match manifest.id.as_str() {
        // It edits any file of a project, and those that are named besides.
        "editor" => Manifest {
            sandbox: SandboxLevel::Standard,
            folder: Some(FolderAccess::Write),
            watch: true,
            ..manifest
        },
        // It uses its state, and the tree below the project's folder; it imports and exports files there.
        "memotree" => Manifest {
            sandbox: SandboxLevel::Strict,
            folder: Some(FolderAccess::Write),
            watch: true,
            ..manifest
        },
        // It tells of all processes, and ends those that it is told to end.
        "monitor" => Manifest {
            sandbox: SandboxLevel::Standard,
            folder: Some(FolderAccess::None),
            read: ["/proc", "/sys"].map(str::to_owned).into(),
            signals: true,
            ..manifest
        },
        // It uses its state, and a store that is named.
        "notebook" => Manifest {
            sandbox: SandboxLevel::Strict,
            folder: Some(FolderAccess::Named),
            watch: true,
            ..manifest
        },
        // It writes plans into the project, and has roles played by programs and endpoints of models. Those read their own
        // settings and sign-in, which lie in the home directory. A program that brings its runtime along reads its own map in
        // `/proc`; what others hold stays closed there. The commands by which it checks a plan are builds and tests.
        "planner" => Manifest {
            sandbox: SandboxLevel::Standard,
            folder: Some(FolderAccess::Write),
            exec: true,
            network: true,
            read: [
                "/opt",
                "/proc",
                "~/.local/bin",
                "~/.local/share",
                "~/.npm-global",
                "~/.nvm",
                "~/.bun",
                "~/.cargo/bin",
                "~/.cargo/git",
                "~/.cargo/registry",
                "~/.rustup",
                "~/.config/planner.toml",
            ]
            .map(str::to_owned)
            .into(),
            write: ["~/.claude", "~/.claude.json", "~/.codex", "~/.gemini", "~/.ollama", "~/.qwen"]
                .map(str::to_owned)
                .into(),
            pass: ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PLANNER_API_KEY"]
                .map(str::to_owned)
                .into(),
            watch: true,
            ..manifest
        },
        // Commands run as the opener would run them, with the variables that builds commonly need, none of them a secret; a
        // build takes more of everything than an app.
        "terminal" => Manifest {
            sandbox: SandboxLevel::Off,
            limits: Limits {
                memory: Some(Size(1 << 50)),
                files: Some(65_536),
                processes: Some(8_192),
                threads: Some(65_536),
                ..manifest.limits
            },
            pass: [
                "CARGO_HOME",
                "CARGO_INCREMENTAL",
                "CARGO_TARGET_DIR",
                "CC",
                "CFLAGS",
                "CONDA_PREFIX",
                "CURL_CA_BUNDLE",
                "CXX",
                "CXXFLAGS",
                "DISPLAY",
                "DOTNET_ROOT",
                "GIT_SSL_CAINFO",
                "GOCACHE",
                "GOFLAGS",
                "GOPATH",
                "GOROOT",
                "GRADLE_USER_HOME",
                "JAVA_HOME",
                "LDFLAGS",
                "LD_LIBRARY_PATH",
                "MAKEFLAGS",
                "NODE_EXTRA_CA_CERTS",
                "NODE_PATH",
                "NVM_DIR",
                "PIP_CERT",
                "PKG_CONFIG_PATH",
                "PYTHONPATH",
                "REQUESTS_CA_BUNDLE",
                "RUSTFLAGS",
                "RUSTUP_HOME",
                "RUSTUP_TOOLCHAIN",
                "RUST_BACKTRACE",
                "SSH_AUTH_SOCK",
                "SSL_CERT_DIR",
                "SSL_CERT_FILE",
                "VIRTUAL_ENV",
                "WAYLAND_DISPLAY",
                "XDG_RUNTIME_DIR",
            ]
            .map(str::to_owned)
            .into(),
            ..manifest
        },
        _ => manifest,
    }
}

/// Returns the problem of a manifest. A file is named after the app that it registers, so its name says which app is
/// missing even if the file can't be read.
fn problem(path: &Path, text: String) -> ManifestProblem {
    let provider = path.file_stem().and_then(|name| name.to_str()?.parse().ok());
    ManifestProblem { provider, text }
}

pub(super) fn manifest_files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension() == Some(OsStr::new("toml")))
        .collect();
    paths.sort();
    paths
}

/// Reads one manifest.
///
/// # Errors
/// What is wrong with it, and where.
pub fn read(path: &Path) -> Result<Manifest, String> {
    let text =
        text::read(path, MANIFEST_MAX).map_err(|why| format!("{}: {why}", path.display()))?;
    parse(path, &text)
}

/// Parses a manifest as if its text stood at that path.
pub(super) fn parse(path: &Path, text: &str) -> Result<Manifest, String> {
    let shown = path.display();
    let mut manifest: Manifest = toml::from_str(text).map_err(|error| {
        let location = error.span().map(|span| location(text, span.start)).unwrap_or_default();
        format!("{shown}{location}: {}", error.message().replace('\n', "; "))
    })?;
    manifest.file = path.to_string_lossy().into_owned();
    if manifest.command.is_empty() {
        return Err(format!("{shown}: `command` is empty: expected a program"));
    }
    if let Some((field, why)) = too_small(&manifest) {
        let location = text.find(field).map(|at| location(text, at)).unwrap_or_default();
        return Err(format!("{shown}{location}: {why}"));
    }
    let listed = [("read", &manifest.read), ("write", &manifest.write)];
    let is_valid = |path: &str| path.starts_with("~/") || Path::new(path).is_absolute();
    for (field, paths) in listed {
        if let Some(wrong) = paths.iter().find(|path| !is_valid(path)) {
            let location = text.find(field).map(|at| location(text, at)).unwrap_or_default();
            return Err(format!(
                "{shown}{location}: `{wrong}`: expected an absolute path, or one that begins with ~/"
            ));
        }
    }
    // A bare name is looked up in PATH; a relative path starts beside the manifest.
    if manifest.command.contains('/') && !Path::new(&manifest.command).is_absolute() {
        let beside = path.parent().unwrap_or(Path::new("/")).join(&manifest.command);
        manifest.command = beside.to_string_lossy().into_owned();
    }
    Ok(manifest)
}

/// Returns the first limit that no process could work with: its field, and what was expected.
fn too_small(manifest: &Manifest) -> Option<(&'static str, String)> {
    let limits = manifest.limits;
    let (memory, log) = (limits.memory.map(|size| size.0), limits.log.map(|size| size.0));
    let least = [
        ("memory", memory, APP_MEMORY_MIN, "bytes"),
        ("cpu", limits.cpu, 1, "second"),
        ("files", limits.files, APP_FILES_MIN, "descriptors"),
        ("processes", limits.processes, 1, "process: the app itself"),
        ("log", log, LOG_MIN, "bytes"),
    ];
    let (field, value, least, unit) =
        least.into_iter().find(|(_, value, least, _)| value.is_some_and(|value| value < *least))?;
    let value = value.unwrap_or_default();
    Some((field, format!("`limits.{field}` is {value}: expected at least {least} {unit}")))
}

/// Returns the line and the field that stands there or began before it, as `:3 (limits.cpu)`.
pub(super) fn location(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let number = before.matches('\n').count() + 1;
    let above: Vec<&str> = text.lines().take(number).map(str::trim).collect();
    let table = above.iter().rev().find_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
    let Some(field) = above.iter().rev().find_map(|line| field_of(line)) else {
        return format!(":{number}");
    };
    match table {
        Some(table) if !field.starts_with(table) => format!(":{number} ({}.{field})", table.trim()),
        _ => format!(":{number} ({field})"),
    }
}

/// Returns the field that a line assigns.
fn field_of(line: &str) -> Option<&str> {
    let field = line.split_once('=')?.0.trim();
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!field.is_empty() && field.chars().all(is_key)).then_some(field)
}
