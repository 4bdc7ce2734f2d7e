//! The registered providers: those that come with the daemon, and the user's.

mod change;
mod text;

pub use change::is_program;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use pipemux_core::{Manifest, Scope};

use crate::limits::{APP_FILES_MIN, APP_MEMORY_MIN, LOG_MIN, MANIFEST_MAX};

/// What comes with the daemon: provider, one line about it, who shares its sessions.
const BUILT_IN: [(&str, &str, Scope); 3] = [
    ("editor", "text files: read, search, edit, undo", Scope::Workspace),
    ("notebook", "notes that last: write, find, quote", Scope::Workspace),
    ("monitor", "this machine: load, memory, disks, processes", Scope::User),
];

/// What was found, and what to tell about it.
#[derive(Debug, Default)]
pub struct Found {
    /// The providers, each once.
    pub manifests: Vec<Manifest>,
    /// What was passed over and why, with file and line.
    pub problems: Vec<String>,
}

/// Where manifests are looked for.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// What comes with the daemon lies here.
    pub programs: PathBuf,
    /// The user's directory, if there is one.
    pub user: Option<PathBuf>,
}

impl Places {
    /// The providers that there are now.
    pub fn load(&self) -> Found {
        load(&self.programs, self.user.as_deref())
    }
}

/// Where the user's manifests are: `$PIPEMUX_CONFIG_DIR/apps`, else `$XDG_CONFIG_HOME/pipemux/apps`,
/// else `~/.config/pipemux/apps`. An empty or relative variable counts as unset.
pub fn directory(get: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("PIPEMUX_CONFIG_DIR")
        .or_else(|| absolute("XDG_CONFIG_HOME").map(|base| base.join("pipemux")))
        .or_else(|| absolute("HOME").map(|home| home.join(".config/pipemux")))?;
    Some(config.join("apps"))
}

/// The providers: those whose programs lie in `programs`, then each `*.toml` of the user's directory in
/// the order of their names. The user's manifest wins over a built-in of the same id; of two of the
/// user's, the first.
pub fn load(programs: &Path, user: Option<&Path>) -> Found {
    let mut found = Found::default();
    for path in user.map(files).unwrap_or_default() {
        match read(&path) {
            Ok(manifest) => {
                let twice = found.manifests.iter().any(|other| other.id == manifest.id);
                if twice {
                    let shown = path.display();
                    found.problems.push(format!("{shown}: id `{}` is taken already", manifest.id));
                } else {
                    found.manifests.push(manifest);
                }
            }
            Err(problem) => found.problems.push(problem),
        }
    }
    for (id, description, scope) in BUILT_IN {
        let Ok(id) = id.parse() else { continue };
        if found.manifests.iter().any(|other| other.id == id) {
            continue;
        }
        let command = programs.join(format!("pipemux-{id}")).to_string_lossy().into_owned();
        let description = description.to_owned();
        found.manifests.push(Manifest { description, scope, ..Manifest::new(id, command) });
    }
    found.manifests.sort_by(|one, other| one.id.cmp(&other.id));
    found
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension() == Some(OsStr::new("toml")))
        .collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Result<Manifest, String> {
    let text =
        text::read(path, MANIFEST_MAX).map_err(|why| format!("{}: {why}", path.display()))?;
    parse(path, &text)
}

/// A manifest's text, as if it stood at that path.
fn parse(path: &Path, text: &str) -> Result<Manifest, String> {
    let shown = path.display();
    let mut manifest: Manifest = toml::from_str(text).map_err(|error| {
        let place = error.span().map(|span| place(text, span.start)).unwrap_or_default();
        format!("{shown}{place}: {}", error.message().replace('\n', "; "))
    })?;
    if manifest.command.is_empty() {
        return Err(format!("{shown}: `command` is empty: expected a program"));
    }
    if let Some((field, why)) = too_small(&manifest) {
        let place = text.find(field).map(|at| place(text, at)).unwrap_or_default();
        return Err(format!("{shown}{place}: {why}"));
    }
    // A bare name is looked up in PATH; a relative path means beside the manifest.
    if manifest.command.contains('/') && !Path::new(&manifest.command).is_absolute() {
        let beside = path.parent().unwrap_or(Path::new("/")).join(&manifest.command);
        manifest.command = beside.to_string_lossy().into_owned();
    }
    Ok(manifest)
}

/// A limit that no process could live with: its field, and what was expected.
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

/// `:3 (limits.cpu)`: the line, and the field that stands there or began before it.
fn place(text: &str, at: usize) -> String {
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

/// The field that a line gives a value to.
fn field_of(line: &str) -> Option<&str> {
    let field = line.split_once('=')?.0.trim();
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!field.is_empty() && field.chars().all(is_key)).then_some(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_user(files: &[(&str, &str)]) -> (tempfile::TempDir, Found) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        let found = load(Path::new("/opt/bin"), Some(directory.path()));
        (directory, found)
    }

    #[test]
    fn built_in_programs_lie_beside_the_daemon() {
        let found = load(Path::new("/opt/bin"), None);
        let commands: Vec<&str> = found.manifests.iter().map(|one| one.command.as_str()).collect();
        assert_eq!(
            commands,
            ["/opt/bin/pipemux-editor", "/opt/bin/pipemux-monitor", "/opt/bin/pipemux-notebook"]
        );
        let shared = found.manifests.iter().filter(|one| one.scope == Scope::User);
        assert_eq!(shared.map(|one| one.id.as_str()).collect::<Vec<_>>(), ["monitor"]);
        assert!(load(Path::new("/opt"), Some(Path::new("/nowhere"))).problems.is_empty());
    }

    #[test]
    fn the_users_manifest_wins_and_its_relative_command_lies_beside_it() {
        let (directory, found) = load_user(&[
            ("a.toml", "id = \"editor\"\ncommand = \"bin/my editor\"\nargs = [\"-x\"]\n"),
            ("b.toml", "id = \"todo\"\ncommand = \"todo\"\nscope = \"user\"\npass = [\"LANG\"]\n"),
            ("c.toml", "id = \"todo\"\ncommand = \"/other\"\n"),
            ("notes.txt", "no manifest"),
        ]);
        let get = |id: &str| found.manifests.iter().find(|one| one.id.as_str() == id).unwrap();
        assert_eq!(found.manifests.len(), 4);
        assert_eq!(get("editor").command, directory.path().join("bin/my editor").to_str().unwrap());
        assert_eq!((get("todo").command.as_str(), get("todo").scope), ("todo", Scope::User));
        assert_eq!(found.problems.len(), 1);
        assert!(found.problems[0].ends_with("c.toml: id `todo` is taken already"));
    }

    #[test]
    fn a_mistake_is_told_with_file_line_and_field_and_hurts_no_other_manifest() {
        let (_directory, found) = load_user(&[
            ("a.toml", "id = \"good\"\ncommand = \"good\"\n"),
            ("b.toml", "id = \"bad\"\ncommand = \"x\"\nargs = 3\n"),
            ("c.toml", "id = \"Bad\"\ncommand = \"x\"\n"),
            ("d.toml", "id = \"bad\"\n"),
            ("e.toml", "id = \"bad\"\ncommand = \"x\"\ncolour = 1\n"),
            ("f.toml", "id = \"bad\"\ncommand = \"\"\n"),
            ("g.toml", "id = \n"),
            ("h.toml", "id = \"bad\"\ncommand = \"x\"\ntransport = \"tcp\"\n"),
            ("i.toml", "id = \"bad\"\ncommand = \"x\"\n\n[limits]\nmemory = \"lots\"\n"),
            ("j.toml", "id = \"bad\"\ncommand = \"x\"\n[limits]\ncpu = 9\nfiles = 3\n"),
            ("k.toml", "id = \"bad\"\ncommand = \"x\"\nlimits = { cpu = 0 }\n"),
            ("l.toml", "id = \"bad\"\ncommand = \"x\"\nlimits.speed = 1\n"),
            ("m.toml", "id = \"bad\"\ncommand = \"x\"\nidle = \"soon\"\n"),
            ("n.toml", "id = \"bad\"\ncommand = \"x\"\nrestart = true\n"),
            ("o.toml", "id = \"bad\"\ncommand = \"x\"\nlimits.log = 0\nlimits.memory = \"1K\"\n"),
            ("p.toml", "id = \"bad\"\ncommand = \"x\"\nlimits.cpu = -1\n"),
            ("q.toml", "id = \"bad\"\ncommand = \"x\"\nlimits.memory = \"1K\"\n"),
            ("r.toml", "id = \"bad\"\ncommand = \"x\"\npass = [\n  \"A\",\n  7,\n]\n"),
        ]);
        assert_eq!(found.manifests.len(), 4);
        let expected = [
            ("b.toml:3 (args): ", "expected a sequence"),
            ("c.toml:1 (id): ", "`Bad` is not a provider name"),
            ("d.toml", "missing field `command`"),
            ("e.toml:3 (colour): ", "unknown field `colour`"),
            ("f.toml", "`command` is empty"),
            ("g.toml:1 (id): ", ""),
            ("h.toml:3 (transport): ", "unknown variant `tcp`, expected `fd` or `stdio`"),
            (
                "i.toml:5 (limits.memory): ",
                "`lots`: expected a number of bytes above 0, or \"512K\"",
            ),
            ("j.toml:5 (limits.files): ", "`limits.files` is 3: expected at least 16 descriptors"),
            ("k.toml:3 (limits): ", "`limits.cpu` is 0: expected at least 1 second"),
            ("l.toml:3 (limits.speed): ", "unknown field `speed`, expected one of `memory`, `cpu`"),
            ("m.toml:3 (idle): ", "`soon`: expected \"never\", a number of minutes"),
            ("n.toml:3 (restart): ", "wanted string"),
            ("o.toml:3 (limits.log): ", "expected a number of bytes above 0"),
            ("p.toml:3 (limits.cpu): ", "expected"),
            ("q.toml:3 (limits.memory): ", "`limits.memory` is 1024: expected at least"),
            ("r.toml:5 (pass): ", "expected a string"),
        ];
        assert_eq!(found.problems.len(), expected.len(), "{:#?}", found.problems);
        for ((place, what), problem) in expected.iter().zip(&found.problems) {
            assert!(problem.contains(place) && problem.contains(what), "{problem}");
        }
    }

    #[test]
    fn what_is_no_file_is_a_problem_with_its_name_and_holds_nothing_up() {
        let (directory, _) = load_user(&[("good.toml", "id = \"good\"\ncommand = \"good\"\n")]);
        let at = |name: &str| directory.path().join(name);
        nix::unistd::mkfifo(&at("pipe.toml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero.toml")).unwrap();
        let places = Places { programs: "/opt".into(), user: Some(directory.path().into()) };
        let found = places.load();
        assert!(found.manifests.iter().any(|one| one.id.as_str() == "good"));
        assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
        for (problem, name) in found.problems.iter().zip(["pipe.toml", "zero.toml"]) {
            assert!(problem.contains(name) && problem.contains("not a regular file"), "{problem}");
        }
    }

    #[test]
    fn the_directory_follows_the_environment() {
        let with = |set: &[(&str, &str)]| {
            let get = |name: &str| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            };
            directory(get).map(|path| path.to_str().unwrap().to_owned())
        };
        let home = ("HOME", "/h");
        assert_eq!(with(&[home]).unwrap(), "/h/.config/pipemux/apps");
        assert_eq!(with(&[home, ("XDG_CONFIG_HOME", "/x")]).unwrap(), "/x/pipemux/apps");
        assert_eq!(with(&[home, ("XDG_CONFIG_HOME", "x")]).unwrap(), "/h/.config/pipemux/apps");
        assert_eq!(with(&[home, ("PIPEMUX_CONFIG_DIR", "/c")]).unwrap(), "/c/apps");
        assert_eq!(with(&[]), None);
    }
}
