//! `pipemux app new`: writes an app to begin with, which works, with its tests and its manifest.
//!
//! What it writes is compiled and tested with this repository: for Rust an example of docui, for
//! Python and TypeScript templates that carry the kit with them, so that such an app needs nothing
//! that isn't in its directory.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use pipemux_client::ClientError;
use pipemux_client::proto::{ProviderId, command};

/// The language of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// On docui, the SDK.
    Rust,
    /// Needs Python 3.10 and nothing else.
    Python,
    /// Needs Node 20 and the TypeScript compiler.
    Typescript,
}

/// A file: its name, its text, and whether it is a program.
type File = (String, String, bool);

macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("app_new/templates/", $name))
    };
}

macro_rules! kit {
    ($directory:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../apps/kits/", $directory, "/", $name)))),*]
    };
}

const PYTHON_KIT: &[(&str, &str)] = kit!("python/src/pipemux": "__init__.py" "app.py" "codec.py"
    "difference.py" "errors.py" "helpers.py" "media.py" "merge.py" "py.typed" "schema.py" "serve.py" "session.py" "view.py"
    "watch.py");
const TYPESCRIPT_KIT: &[(&str, &str)] = kit!("typescript/src": "app.ts" "codec.ts" "difference.ts" "errors.ts"
    "helpers.ts" "index.ts" "media.ts" "merge.ts" "params.ts" "serve.ts" "session.ts" "view.ts" "watch.ts");
const RUST_APP: &str = include_str!("../../../apps/docui/examples/todo.rs");
/// Where docui was when this program was built, unless the build says otherwise: a release names a
/// path that is the same wherever it is built, and where nothing is found. Its docui is at
/// [`INSTALLED_DOCUI`].
const DOCUI: &str = match option_env!("PIPEMUX_DOCUI") {
    Some(path) => path,
    None => concat!(env!("CARGO_MANIFEST_DIR"), "/../../apps/docui"),
};

/// Where a release has docui, beside the directory of its programs.
const INSTALLED_DOCUI: &str = "share/pipemux/apps/docui";

/// Writes a new app into a directory of its name. Returns what is said about it.
///
/// # Errors
/// The directory is there already or can't be written; the SDK isn't found.
pub fn create(
    name: &ProviderId,
    language: Language,
    docui: Option<&Path>,
) -> Result<String, ClientError> {
    let directory = PathBuf::from(name.as_str());
    let (files, source, test) = match language {
        Language::Rust => {
            let test = "cargo test && cargo build --release";
            (rust(name, &docui_path(docui)?), "src/main.rs".to_owned(), test)
        }
        Language::Python => (python(name), python_file(name), "python3 -m unittest"),
        Language::Typescript => {
            (typescript(name), "src/main.ts".to_owned(), "npm install && npm test")
        }
    };
    if directory.exists() {
        let message = format!("{name} is there already: choose another name or directory");
        return Err(ClientError::invalid(message));
    }
    let failed = |path: &Path, error: std::io::Error| {
        ClientError::invalid(format!("{}: {error}", path.display()))
    };
    for (file, text, is_program) in &files {
        let path = directory.join(file);
        let parent = path.parent().unwrap_or(&directory);
        fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        let mode = if *is_program { 0o755 } else { 0o644 };
        let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
        let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| failed(&path, error))?;
    }
    let manifest = format!("{name}/{name}.toml");
    let commands = [
        command::command(&["app", "check", &manifest]),
        command::command(&["app", "add", &manifest]),
        command::command(&["open", name.as_str()]),
    ];
    let call = command::command(&["run", &format!("{name}.add(\"buy milk\")")]);
    let count = files.len();
    Ok(format!(
        "wrote {name}: {count} files, to change in {name}/{source}; it works as it is. Next:\n(cd {name} && {test})\n{}\n{call}\n",
        commands.join("\n")
    ))
}

/// Returns the directory of the SDK.
fn docui_path(given: Option<&Path>) -> Result<String, ClientError> {
    let path = given.unwrap_or(Path::new(DOCUI));
    let real =
        |path: &Path| fs::canonicalize(path).ok().filter(|path| path.join("Cargo.toml").is_file());
    let installed = || {
        let own = std::env::current_exe().ok().filter(|_| given.is_none())?;
        real(&own.parent()?.parent()?.join(INSTALLED_DOCUI))
    };
    real(path)
        .or_else(installed)
        .and_then(|path| path.into_os_string().into_string().ok())
        .ok_or_else(|| {
            ClientError::invalid(format!("{} is not the directory of docui", path.display())).hint(
                "name it: pipemux app new NAME --lang rust --docui PATH/TO/pipemux/apps/docui",
            )
        })
}

fn rust(name: &ProviderId, docui: &str) -> Vec<File> {
    let cargo = template!("Cargo.toml.txt").replace("\"todo\"", &format!("\"{name}\""));
    vec![
        file("Cargo.toml", cargo.replace("\"DOCUI\"", &format!("{docui:?}"))),
        file("src/main.rs", RUST_APP.to_owned()),
        file(".gitignore", "/target\n".to_owned()),
        manifest(name, &format!("./target/release/{name}")),
    ]
}

/// Names of modules have no hyphens.
fn python_file(name: &ProviderId) -> String {
    format!("{}.py", name.as_str().replace('-', "_"))
}

fn python(name: &ProviderId) -> Vec<File> {
    let program = python_file(name);
    let module = program.trim_end_matches(".py");
    let test = template!("test_todo.py").replace("from todo", &format!("from {module}"));
    let own = [
        (program.clone(), template!("todo.py").to_owned(), true),
        file(&format!("test_{module}.py"), test),
        file(".gitignore", "__pycache__/\n".to_owned()),
        manifest(name, &format!("./{program}")),
    ];
    let kit = PYTHON_KIT.iter().map(|(file, text)| (format!("pipemux/{file}"), text, false));
    own.into_iter()
        .chain(kit.map(|(name, text, program)| (name, (*text).into(), program)))
        .collect()
}

fn typescript(name: &ProviderId) -> Vec<File> {
    let package = template!("package.json").replace("\"todo\"", &format!("\"{name}\""));
    let own = [
        file("src/main.ts", template!("todo.ts").to_owned()),
        file("src/model.ts", template!("model.ts").to_owned()),
        file("src/model.test.ts", template!("model.test.ts").to_owned()),
        file("package.json", package),
        file("tsconfig.json", template!("tsconfig.json").to_owned()),
        file(".gitignore", "dist/\nnode_modules/\n".to_owned()),
        manifest(name, "./dist/main.js"),
    ];
    let kit = TYPESCRIPT_KIT
        .iter()
        .map(|(file, text)| (format!("src/pipemux/{file}"), (*text).to_owned(), false));
    own.into_iter().chain(kit).collect()
}

fn file(name: &str, text: String) -> File {
    (name.to_owned(), text, false)
}

fn manifest(name: &ProviderId, command: &str) -> File {
    let text = format!(
        "id = \"{name}\"\ncommand = \"{command}\"\ndescription = \"A to-do list\"\n\
         # You work on it: its program may change, and what is wrong with it is told at once.\ndev = true\n"
    );
    file(&format!("{name}.toml"), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_apps_get_all_files_of_their_kit() {
        let kits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/kits");
        for (folder, written) in
            [("python/src/pipemux", PYTHON_KIT), ("typescript/src", TYPESCRIPT_KIT)]
        {
            let entries = fs::read_dir(kits.join(folder)).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.filter(|name| name != "__pycache__").collect();
            names.sort();
            let mut written: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
            written.sort_unstable();
            assert_eq!(names, written, "{folder}");
        }
    }
}
