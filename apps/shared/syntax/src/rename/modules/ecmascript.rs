//! JavaScript and TypeScript: a relative path means a file, any other one a package.

use std::path::{Path, PathBuf};

use crate::rename::meaning::{Entity, FileId, Meaning};
use crate::rename::project::{Project, normal};

use super::rules::{Names, Rules};

/// The built-in modules of Node.
const NODE: &str = "assert async_hooks buffer child_process cluster console constants crypto dgram \
    diagnostics_channel dns domain events fs http http2 https inspector module net os path perf_hooks process \
    punycode querystring readline repl sqlite stream string_decoder sys test timers tls trace_events tty url \
    util v8 vm wasi worker_threads zlib";

/// File extensions that a path may omit, or name in place of the actual one.
const ENDINGS: [&str; 10] = ["ts", "tsx", "d.ts", "mts", "cts", "d.mts", "js", "jsx", "mjs", "cjs"];

/// Members that errors and event emitters inherit.
const INHERITED: &str = "name message stack cause errors code toString toLocaleString valueOf hasOwnProperty on once \
    emit off addListener removeListener removeAllListeners listeners listenerCount rawListeners eventNames \
    prependListener prependOnceListener setMaxListeners getMaxListeners";

pub(super) struct EcmaScript;

impl Rules for EcmaScript {
    fn module(
        &self,
        names: &dyn Names<'_>,
        (file, _): (FileId, usize),
        path: &[String],
    ) -> Meaning {
        let project = names.project();
        let Some(path) = path.first() else { return Meaning::unknown() };
        if path.starts_with('.') {
            let directory = project.path(file).parent().unwrap_or(Path::new(""));
            return match normal(&directory.join(path)) {
                Some(path) => at(names, &path),
                None => Meaning::outside(),
            };
        }
        let head = path.split('/').next().unwrap_or_default();
        if path.starts_with("node:") || NODE.split_whitespace().any(|one| one == head) {
            return Meaning::outside();
        }
        package(project, file, path)
    }

    fn twins(&self, project: &Project<'_>, file: FileId) -> Vec<FileId> {
        let path = project.path(file).to_str().unwrap_or_default();
        let pairs = [(".d.ts", ".js"), (".d.mts", ".mjs"), (".d.cts", ".cjs"), (".d.ts", ".jsx")];
        let pairs = pairs.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]);
        let other = |(from, to): (&str, &str)| {
            let stem = path.strip_suffix(from)?;
            project.file(Path::new(&format!("{stem}{to}")))
        };
        pairs.into_iter().filter_map(other).collect()
    }

    fn is_known_base(&self, name: &str) -> bool {
        name.ends_with("Error") || name == "EventEmitter"
    }

    fn is_never_inherited(&self, name: &str) -> bool {
        !INHERITED.split_whitespace().any(|one| one == name)
    }

    fn is_reserved(&self, name: &str) -> bool {
        name == "constructor"
    }
}

/// The file that a path means.
fn at(names: &dyn Names<'_>, path: &Path) -> Meaning {
    let project = names.project();
    let text = path.to_str().unwrap_or_default();
    let with = |text: &str, end: &str| project.file(Path::new(&format!("{text}.{end}")));
    let mut files: Vec<FileId> = Vec::new();
    files.extend(project.file(path));
    files.extend(ENDINGS.iter().filter_map(|end| with(text, end)));
    // TypeScript writes the path that its output will have.
    for (output, inputs) in [
        (".js", &["ts", "tsx", "d.ts"][..]),
        (".jsx", &["tsx"]),
        (".mjs", &["mts", "d.mts"]),
        (".cjs", &["cts"]),
    ] {
        if let Some(stem) = text.strip_suffix(output) {
            files.extend(inputs.iter().filter_map(|end| with(stem, end)));
        }
    }
    if files.is_empty() {
        let index = path.join("index");
        let index = index.to_str().unwrap_or_default();
        files.extend(ENDINGS.iter().filter_map(|end| with(index, end)));
    }
    files.sort_unstable();
    files.dedup();
    match files.as_slice() {
        [] => Meaning::unknown(),
        [file] => Meaning::of(Entity::Module { file: *file, scope: 0 }),
        // A module and its declarations.
        [one, other] if EcmaScript.twins(project, *one).contains(other) => {
            Meaning([one, other].map(|file| Entity::Module { file: *file, scope: 0 }).into())
        }
        // Which of them is taken depends on the tool.
        all => {
            let all = all.iter().map(|file| Entity::Module { file: *file, scope: 0 });
            Meaning(all.chain([Entity::Unknown]).collect())
        }
    }
}

/// What a path means that isn't relative: a package, if the project has no names of its own for
/// such paths.
fn package(project: &Project<'_>, file: FileId, path: &str) -> Meaning {
    if path.starts_with(['~', '#', '/']) || path.starts_with("@/") {
        return Meaning::unknown();
    }
    let parts: Vec<&str> = path.split('/').collect();
    let length = if path.starts_with('@') { 2 } else { 1 };
    let name = parts.get(..length).unwrap_or(&parts).join("/");
    let manifests: Vec<_> = project.manifests(file, "package.json");
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    for (_, text) in &manifests {
        let Some(manifest) = parsed(text) else { return Meaning::unknown() };
        if manifest.get("name").and_then(|one| one.as_str()) == Some(&name) {
            return Meaning::unknown();
        }
    }
    let tables = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
    for (_, text) in &manifests {
        let manifest = parsed(text).unwrap_or_default();
        let version = tables.iter().find_map(|table| manifest.get(table)?.get(&name)?.as_str());
        if let Some(version) = version {
            let own = ["workspace:", "file:", "link:", "portal:"];
            return match own.iter().any(|start| version.starts_with(start))
                || is_member(project, &name)
            {
                true => Meaning::unknown(),
                false => Meaning::outside(),
            };
        }
    }
    let configured = ["tsconfig.json", "jsconfig.json", "tsconfig.base.json"].iter().any(|name| {
        let all = project.manifests(file, name);
        all.iter().any(|(_, text)| text.contains("\"paths\"") || text.contains("\"baseUrl\""))
    });
    match configured
        || is_member(project, &name)
        || manifests.is_empty() && is_directory(project, &name)
    {
        true => Meaning::unknown(),
        false => Meaning::outside(),
    }
}

/// True if a package of the project has the name.
fn is_member(project: &Project<'_>, name: &str) -> bool {
    let mut directories: Vec<PathBuf> = Vec::new();
    for (_, path) in project.paths() {
        for directory in path.ancestors().skip(1) {
            if directories.last().map(PathBuf::as_path) == Some(directory) {
                break;
            }
            directories.push(directory.to_owned());
        }
    }
    directories.sort();
    directories.dedup();
    directories.iter().filter_map(|of| project.text(&of.join("package.json"))).any(|text| {
        let manifest: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        manifest.is_some_and(|one| one.get("name").and_then(|own| own.as_str()) == Some(name))
    })
}

fn is_directory(project: &Project<'_>, name: &str) -> bool {
    project.has_directory(Path::new(name))
}
