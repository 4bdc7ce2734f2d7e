//! `app add` and `app remove`: changes the user's manifests, each in a single step.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};
use pipemux_core::Manifest;
use pipemux_proto::client::{NewProvider, ProvidersArgs};
use pipemux_proto::command::command;
use pipemux_proto::{Fault, ProviderId};

use super::dirs::ManifestDirs;
use super::load::manifest_files;
use super::parse::{location, parse, read};
use crate::directories::create_private;
use crate::limits::MANIFEST_MAX;
use crate::pinned_programs::pin;

/// The hint for a manifest that lacks the most basic fields.
const MINIMAL_MANIFEST: &str = "expected at least: id = \"todo\" and command = \"/path/to/todo\"";

/// The beginning of the line with the hashes of an app's program.
const PINNED: &str = "pinned = { ";

/// Returns the command that adds the manifest again.
fn add_command(new: &NewProvider, options: &[&str]) -> String {
    command(&[&["app", "add", new.file.as_str()], options].concat())
}

/// The result of a change of the manifests.
#[derive(Debug, Default)]
pub struct Applied {
    pub added: Option<ProviderId>,
    /// What was done, in complete lines.
    pub message: String,
}

impl ManifestDirs {
    /// Removes and adds what is asked for; returns what was done.
    ///
    /// # Errors
    /// The manifest is invalid (named with file, line and field); the id is taken; there is nothing
    /// to remove; the directory can't be written to.
    pub fn apply(&self, change: &ProvidersArgs) -> Result<Applied, Fault> {
        let Applied { mut added, mut message } = Applied::default();
        if let Some(id) = &change.remove {
            message += &self.remove(id)?;
        }
        if let Some(new) = &change.add {
            let done = self.add(new)?;
            (added, message) = (done.added, message + &done.message);
        }
        Ok(Applied { added, message })
    }

    fn add(&self, new: &NewProvider) -> Result<Applied, Fault> {
        let file = Path::new(&new.file);
        if new.text.len() as u64 > MANIFEST_MAX {
            let message = format!("{}: {} bytes (limit {MANIFEST_MAX})", new.file, new.text.len());
            return Err(Fault::usage(message));
        }
        let manifest = parse(file, &new.text).map_err(|problem| {
            let bare =
                problem.contains("missing field") || new.text.parse::<toml::Table>().is_err();
            Fault::usage(problem).hint(match bare {
                true => format!("{MINIMAL_MANIFEST}; then: {}", add_command(new, &[])),
                false => format!("correct it, then: {}", add_command(new, &[])),
            })
        })?;
        let program = self.check_command(&manifest, new)?;
        let directory = self.require_user_directory()?;
        let id = &manifest.id;
        let own = self.user_manifest_path(id);
        let built_in = pipemux_catalog::app(id.as_str()).is_some();
        let target = own.clone().unwrap_or_else(|| directory.join(format!("{id}.toml")));
        let taken = match &own {
            Some(path) => Some(path.display().to_string()),
            None if target.exists() => Some(format!("{}, which can't be read", target.display())),
            None if built_in => Some("an app that comes with the daemon".into()),
            None => None,
        };
        if let Some(by) = taken.as_ref().filter(|_| !new.replace) {
            return Err(Fault::refused(format!("the id {id} is taken by {by}"))
                .hint(format!("replace it: {}", add_command(new, &["--replace"]))));
        }
        let pinned = match manifest.dev {
            true => BTreeMap::new(),
            false => pin_programs(&program, &manifest)?,
        };
        let text = with_pinned(&with_absolute_command(file, &new.text, &manifest), &pinned);
        create_private(directory)
            .and_then(|()| write_atomically(&target, text.as_bytes()))
            .map_err(|error| io_fault("write", &target, &error))?;
        let done = if taken.is_some() { "replaced" } else { "added" };
        let mut message = format!("{done} {id} · {}\n", target.display());
        if built_in {
            message += &format!(
                "it replaces the {id} that comes with PipeMux · take it back: pipemux app remove {id}\n"
            );
        }
        for (path, hash) in &pinned {
            message += &format!(
                "pinned: {path} · sha256 {}… · once it changes it is not started unasked\n",
                &hash[..12]
            );
        }
        message += &format!("open it: pipemux open {id}\n");
        Ok(Applied { added: Some(id.clone()), message })
    }

    fn remove(&self, id: &ProviderId) -> Result<String, Fault> {
        let built_in = pipemux_catalog::app(id.as_str()).is_some();
        // A manifest that can't be read is found by its file name.
        let by_name = || {
            let path = self.user.as_ref()?.join(format!("{id}.toml"));
            (path.exists() && read(&path).is_err()).then_some(path)
        };
        let Some(path) = self.user_manifest_path(id).or_else(by_name) else {
            return Err(match built_in {
                true => Fault::refused(format!("{id} comes with the daemon and can't be removed"))
                    .hint("replace it with another app: pipemux app add --help"),
                false => {
                    Fault::not_found(format!("no app {id}")).hint("list the apps: pipemux apps")
                }
            });
        };
        fs::remove_file(&path).map_err(|error| io_fault("remove", &path, &error))?;
        let back = match built_in {
            true => format!("the {id} that comes with the daemon is available again\n"),
            false => String::new(),
        };
        Ok(format!("removed {id} · {}\n{back}", path.display()))
    }

    fn require_user_directory(&self) -> Result<&PathBuf, Fault> {
        self.user.as_ref().ok_or_else(|| {
            Fault::refused("there is no directory for manifests: the daemon has no HOME")
                .hint("set HOME or PIPEMUX_CONFIG_DIR, then: pipemux down")
        })
    }

    /// Returns the path of the user's manifest with that id.
    fn user_manifest_path(&self, id: &ProviderId) -> Option<PathBuf> {
        let all = manifest_files(self.user.as_deref()?);
        all.into_iter().find(|path| read(path).is_ok_and(|manifest| manifest.id == *id))
    }

    /// Returns the path of the program.
    fn check_command(&self, manifest: &Manifest, new: &NewProvider) -> Result<PathBuf, Fault> {
        let at = command_location(&new.text);
        let command = &manifest.command;
        let path = if command.contains('/') {
            PathBuf::from(command)
        } else {
            let found = std::env::split_paths(&new.path).map(|dir| dir.join(command));
            let Some(found) = found.into_iter().find(|path| is_program(path)) else {
                let message = format!("{}{at}: no program `{command}` on PATH", new.file);
                return Err(Fault::usage(message)
                    .hint("expected a program's path, or a name that PATH knows"));
            };
            found
        };
        if is_program(&path) {
            return Ok(path);
        }
        let why = match fs::metadata(&path) {
            Err(error) => error.to_string(),
            Ok(found) if found.is_dir() => "it is a directory".into(),
            Ok(_) => format!("it is not executable · chmod +x {}", path.display()),
        };
        let message = format!("{}{at}: {} can't be started: {why}", new.file, path.display());
        Err(Fault::usage(message)
            .hint("expected a program; a relative path starts beside the manifest"))
    }
}

/// Returns the hashes of an app's program, and of the files that are named by absolute paths among
/// its arguments: an interpreter's script is as much the program as the interpreter is.
fn pin_programs(program: &Path, manifest: &Manifest) -> Result<BTreeMap<String, String>, Fault> {
    let args = manifest.args.iter().map(Path::new).filter(|path| path.is_absolute());
    pin([program].into_iter().chain(args)).map_err(|error| io_fault("read", program, &error))
}

/// Returns the text of a manifest with these hashes, and without earlier ones.
fn with_pinned(text: &str, pinned: &BTreeMap<String, String>) -> String {
    let own = |line: &&str| line.starts_with(PINNED);
    let rest: String = text.split_inclusive('\n').filter(|line| !own(line)).collect();
    if pinned.is_empty() {
        return rest;
    }
    let quoted = |text: &String| toml::Value::String(text.clone()).to_string();
    let pairs = pinned.iter().map(|(path, hash)| format!("{} = {}", quoted(path), quoted(hash)));
    // Behind the comments at the top and before all tables, where a line belongs to the manifest
    // itself.
    let is_comment = |line: &&str| line.starts_with('#') || line.trim().is_empty();
    let comments: usize = rest.split_inclusive('\n').take_while(is_comment).map(str::len).sum();
    let (comments, rest) = rest.split_at(comments);
    let end = if comments.is_empty() || comments.ends_with('\n') { "" } else { "\n" };
    format!("{comments}{end}{PINNED}{} }}\n{rest}", pairs.collect::<Vec<_>>().join(", "))
}

/// True for a file that this user may execute.
pub fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, AccessFlags::X_OK).is_ok()
}

/// Returns the text with a relative command made absolute, because the manifest is stored
/// elsewhere.
fn with_absolute_command(file: &Path, text: &str, manifest: &Manifest) -> String {
    let relative = |written: &str| written.contains('/') && !Path::new(written).is_absolute();
    let Some((span, written)) = command_value(text).filter(|(_, written)| relative(written)) else {
        return text.to_owned();
    };
    debug_assert!(!written.is_empty() && file.is_absolute());
    let absolute = toml::Value::String(manifest.command.clone()).to_string();
    format!("{}{absolute}{}", &text[..span.start], &text[span.end..])
}

/// Returns the location of the command, as `:2 (command)`.
fn command_location(text: &str) -> String {
    command_value(text).map(|(span, _)| location(text, span.start)).unwrap_or_default()
}

fn command_value(text: &str) -> Option<(std::ops::Range<usize>, String)> {
    let table = toml::de::DeTable::parse(text).ok()?;
    let value = table.get_ref().get("command")?;
    Some((value.span(), value.get_ref().as_str()?.to_owned()))
}

/// Writes a file beside its place and renames it: readers find either the old file or the new one.
fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let temporary = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let write = || {
        let mut options = File::options();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| {
        // If even that fails, the file is not taken for a manifest, because its name doesn't end in
        // `.toml`.
        let _ = fs::remove_file(&temporary);
    })
}

fn io_fault(operation: &str, path: &Path, error: &io::Error) -> Fault {
    Fault::refused(format!("can't {operation} {}: {error}", path.display()))
        .hint("check the directory's owner and permissions: pipemux doctor")
}

#[cfg(test)]
mod tests;
