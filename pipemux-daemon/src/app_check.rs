//! `pipemuxd app-check`: checks an app, for `pipemux app check`. It needs no running daemon: the
//! app's processes are those of a launcher of its own.
//!
//! | module | contents |
//! |---|---|
//! | `app_check` | which app, and where it works |
//! | `app_check::launch` | starts its processes |

mod launch;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pipemux_check::{Subject, check as check_app};
use pipemux_core::{Isolation, Manifest};
use pipemux_proto::client::is_passed_variable;

use crate::launcher_process::own_program;
use crate::manifests::{self, ManifestDirs};
use launch::ProcessLauncher;

/// Checks the app that the options name, and prints what is to be mended. Returns true when that is
/// nothing.
///
/// # Errors
/// There is no such app, or it can't be run here.
pub fn check(options: &[&str]) -> Result<bool, String> {
    let end = options.iter().position(|word| *word == "--").unwrap_or(options.len());
    let (options, args) = (&options[..end], options.get(end + 1..).unwrap_or_default());
    let (flags, targets): (Vec<&str>, Vec<&str>) =
        options.iter().partition(|word| word.starts_with("--"));
    let [target] = targets[..] else {
        return Err("usage: pipemuxd app-check [--json] [--destructive] MANIFEST [-- ARGS]".into());
    };
    let manifest = find(target)?;
    let program = own_program()?;
    let root = TempRoot::new().map_err(|error| format!("can't make a directory: {error}"))?;
    let main = format!("{}/main", manifest.id).parse();
    let subject = Subject {
        main: main.map_err(|error| format!("{}: {error}", manifest.id))?,
        shares_process: manifest.isolation == Isolation::Provider,
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: environment(&manifest, &root.0),
        root: root.0.clone(),
        destructive: flags.contains(&"--destructive"),
    };
    let launcher = ProcessLauncher::start(&program, manifest, &root.0);
    let mut launcher =
        launcher.map_err(|error| format!("the launcher can't be started: {error}"))?;
    let report = check_app(&subject, &mut launcher);
    launcher.end();
    let text = if flags.contains(&"--json") { report.json() } else { report.lines() };
    // Nobody may be left to read it, which is no error.
    let _ = io::stdout().lock().write_all(text.as_bytes());
    Ok(report.findings.is_empty())
}

/// Finds the manifest of an app: a file, or the name of a registered app.
fn find(target: &str) -> Result<Manifest, String> {
    let path = Path::new(target);
    if path.exists() || target.contains('/') || target.ends_with(".toml") {
        let path = std::path::absolute(path).map_err(|error| format!("{target}: {error}"))?;
        return manifests::read(&path);
    }
    let dirs = ManifestDirs::beside(&own_program()?, |name| std::env::var(name).ok());
    let found = dirs.load().manifests.into_iter().find(|manifest| manifest.id.as_str() == target);
    found.ok_or_else(|| {
        format!("{target} is neither a manifest nor a registered app (list them: pipemux apps)")
    })
}

/// Returns what the app gets of this environment, with directories of its own in place of the
/// user's.
fn environment(manifest: &Manifest, root: &Path) -> Vec<(String, String)> {
    let is_passed =
        |name: &str| is_passed_variable(name) || manifest.pass.iter().any(|of| of == name);
    let all = std::env::vars_os();
    let texts =
        all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut kept: Vec<(String, String)> = texts.filter(|(name, _)| is_passed(name)).collect();
    let home = kept.iter().find(|(name, _)| name == "HOME").map(|(_, home)| home.clone());
    let own = |name: &str| root.join(name).to_string_lossy().into_owned();
    kept.retain(|(name, _)| !name.starts_with("XDG_") && name != "HOME" && name != "TMPDIR");
    kept.extend([("HOME".to_owned(), own("home")), ("TMPDIR".to_owned(), own("tmp"))]);
    if let Some(home) = home {
        // Python looks for the user's packages below HOME.
        kept.push(("PYTHONUSERBASE".to_owned(), format!("{home}/.local")));
    }
    kept
}

/// A directory that is removed in the end.
struct TempRoot(PathBuf);

impl TempRoot {
    fn new() -> io::Result<Self> {
        let parent = std::env::temp_dir();
        for number in 0..100 {
            let path = parent.join(format!("pipemux-check-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(fs::canonicalize(path)?)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for TempRoot {
    fn drop(&mut self) {
        // What the app made unremovable stays in the directory for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
