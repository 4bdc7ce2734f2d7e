//! `app add` and `app remove`: manifests in the user's directory, written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};
use pipemux_core::Manifest;
use pipemux_proto::client::{NewProvider, Providers};
use pipemux_proto::{Fault, ProviderId};

use super::{BUILT_IN, Places, files, parse, place, read};
use crate::limits::MANIFEST_MAX;
use crate::logs::make_directory;

/// What a manifest has at least, for whoever wrote less or something else.
const LEAST: &str =
    "expected at least: id = \"todo\" and command = \"/path/to/todo\"; then: pipemux app add again";

impl Places {
    /// Adds and removes what is asked for; returns what was done, in whole lines.
    ///
    /// # Errors
    /// A manifest that can't be taken, with file, line and field; a name that is taken; nothing to remove;
    /// a directory that can't be written to.
    pub fn change(&self, change: &Providers) -> Result<String, Fault> {
        let mut said = String::new();
        if let Some(id) = &change.remove {
            said += &self.remove(id)?;
        }
        if let Some(new) = &change.add {
            said += &self.add(new)?;
        }
        Ok(said)
    }

    fn add(&self, new: &NewProvider) -> Result<String, Fault> {
        let file = Path::new(&new.file);
        if new.text.len() as u64 > MANIFEST_MAX {
            let message =
                format!("{}: {} bytes, at most {MANIFEST_MAX} are taken", new.file, new.text.len());
            return Err(Fault::usage(message));
        }
        let manifest = parse(file, &new.text).map_err(|problem| {
            let bare =
                problem.contains("missing field") || new.text.parse::<toml::Table>().is_err();
            Fault::usage(problem).hint(match bare {
                true => LEAST.to_owned(),
                false => format!("correct it, then: pipemux app add {}", new.file),
            })
        })?;
        self.check_command(&manifest, new)?;
        let directory = self.directory()?;
        let id = &manifest.id;
        let own = self.file_of(id);
        let built_in = BUILT_IN.iter().any(|(name, ..)| *name == id.as_str());
        let target = own.clone().unwrap_or_else(|| directory.join(format!("{id}.toml")));
        let taken = match &own {
            Some(path) => Some(path.display().to_string()),
            None if target.exists() => Some(format!("{}, which can't be read", target.display())),
            None if built_in => Some("an app that comes with the daemon".into()),
            None => None,
        };
        if let Some(by) = taken.as_ref().filter(|_| !new.replace) {
            return Err(Fault::refused(format!("the id {id} is taken by {by}"))
                .hint(format!("take its place: pipemux app add {} --replace", new.file)));
        }
        let text = at_home(file, &new.text, &manifest);
        make_directory(directory)
            .and_then(|()| write_whole(&target, text.as_bytes()))
            .map_err(|error| cannot("write", &target, &error))?;
        let done = if taken.is_some() { "replaced" } else { "added" };
        Ok(format!("{done} {id} · {}\nopen it: pipemux open {id}\n", target.display()))
    }

    fn remove(&self, id: &ProviderId) -> Result<String, Fault> {
        let built_in = BUILT_IN.iter().any(|(name, ..)| *name == id.as_str());
        // A manifest that can't be read is known by its file's name.
        let by_name = || {
            let path = self.user.as_ref()?.join(format!("{id}.toml"));
            (path.exists() && read(&path).is_err()).then_some(path)
        };
        let Some(path) = self.file_of(id).or_else(by_name) else {
            return Err(match built_in {
                true => Fault::refused(format!("{id} comes with the daemon and can't be removed"))
                    .hint("give its name to another: pipemux app add <manifest.toml> --replace"),
                false => {
                    Fault::not_found(format!("no app {id}")).hint("what there is: pipemux apps")
                }
            });
        };
        fs::remove_file(&path).map_err(|error| cannot("remove", &path, &error))?;
        let back = match built_in {
            true => format!("the {id} that comes with the daemon is back\n"),
            false => String::new(),
        };
        Ok(format!("removed {id} · {}\n{back}", path.display()))
    }

    fn directory(&self) -> Result<&PathBuf, Fault> {
        self.user.as_ref().ok_or_else(|| {
            Fault::refused("there is no directory for manifests: the daemon has no HOME")
                .hint("set HOME or PIPEMUX_CONFIG_DIR, then: pipemux down")
        })
    }

    /// The user's manifest of that id.
    fn file_of(&self, id: &ProviderId) -> Option<PathBuf> {
        let all = files(self.user.as_deref()?);
        all.into_iter().find(|path| read(path).is_ok_and(|manifest| manifest.id == *id))
    }

    fn check_command(&self, manifest: &Manifest, new: &NewProvider) -> Result<(), Fault> {
        let at = command_place(&new.text);
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
            return Ok(());
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

/// True for a file that this user may execute.
pub fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, AccessFlags::X_OK).is_ok()
}

/// The text with a relative command made absolute: it is read elsewhere from now on.
fn at_home(file: &Path, text: &str, manifest: &Manifest) -> String {
    let relative = |written: &str| written.contains('/') && !Path::new(written).is_absolute();
    let Some((span, written)) = command_value(text).filter(|(_, written)| relative(written)) else {
        return text.to_owned();
    };
    debug_assert!(!written.is_empty() && file.is_absolute());
    let absolute = toml::Value::String(manifest.command.clone()).to_string();
    format!("{}{absolute}{}", &text[..span.start], &text[span.end..])
}

/// `:2 (command)`: where the command stands.
fn command_place(text: &str) -> String {
    command_value(text).map(|(span, _)| place(text, span.start)).unwrap_or_default()
}

fn command_value(text: &str) -> Option<(std::ops::Range<usize>, String)> {
    let table = toml::de::DeTable::parse(text).ok()?;
    let value = table.get_ref().get("command")?;
    Some((value.span(), value.get_ref().as_str()?.to_owned()))
}

/// Writes a file beside its place and moves it there: readers find the old one or the new one.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let write = || {
        let mut options = File::options();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().inspect_err(|_| {
        // What is left of it is no manifest, for its name doesn't end so.
        let _ = fs::remove_file(&beside);
    })
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> Fault {
    Fault::refused(format!("can't {what} {}: {error}", path.display()))
        .hint("check the directory's owner and permissions: pipemux doctor")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    struct Desk {
        root: tempfile::TempDir,
        places: Places,
    }

    fn desk() -> Desk {
        let root = tempfile::tempdir().unwrap();
        let user = Some(root.path().join("config/apps"));
        fs::create_dir(root.path().join("src")).unwrap();
        let tool = root.path().join("src/tool");
        fs::write(&tool, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        Desk { places: Places { programs: "/opt/bin".into(), user }, root }
    }

    impl Desk {
        fn add(&self, text: &str, replace: bool) -> Result<String, Fault> {
            let file = self.root.path().join("src/new.toml").display().to_string();
            let path = self.root.path().join("src").display().to_string();
            let add = Some(NewProvider { file, text: text.into(), replace, path });
            self.places.change(&Providers { add, remove: None })
        }

        fn remove(&self, id: &str) -> Result<String, Fault> {
            let remove = Some(id.parse().unwrap());
            self.places.change(&Providers { add: None, remove })
        }

        fn kept(&self) -> Vec<String> {
            let directory = fs::read_dir(self.places.user.as_ref().unwrap());
            let entries = directory.into_iter().flatten();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }

        fn command(&self, id: &str) -> String {
            let found = self.places.load().manifests;
            found.into_iter().find(|one| one.id.as_str() == id).unwrap().command
        }
    }

    #[test]
    fn a_relative_command_means_beside_the_file_that_was_added() {
        let desk = desk();
        let text = "# 注释 stays\nid = \"todo\"\ncommand = './tool' # here\nargs = [\"-x\"]\n";
        let said = desk.add(text, false).unwrap();
        assert!(said.starts_with("added todo · ") && said.contains("pipemux open todo"), "{said}");
        assert_eq!(desk.kept(), ["todo.toml"]);
        assert_eq!(desk.command("todo"), desk.root.path().join("src/./tool").to_str().unwrap());
        let kept = fs::read_to_string(desk.places.user.as_ref().unwrap().join("todo.toml"));
        let kept = kept.unwrap();
        assert!(kept.starts_with("# 注释 stays\n") && kept.contains(" # here\n"), "{kept}");
        // A bare name stays one: each opener's PATH says what it is.
        desk.add("id = \"bare\"\ncommand = \"tool\"\n", false).unwrap();
        assert_eq!(desk.command("bare"), "tool");
    }

    #[test]
    fn what_cannot_be_taken_is_told_with_file_line_and_field_and_leaves_nothing() {
        let desk = desk();
        for (text, place, why) in [
            ("id = \"todo\"\ncommand = \"./none\"\n", "new.toml:2 (command)", "can't be started"),
            ("id = \"todo\"\n\ncommand = \"none\"\n", "new.toml:3 (command)", "on PATH"),
            ("id = \"todo\"\ncommand = \".\"\n", "new.toml:2 (command)", "no program"),
            ("id = \"todo\"\ncommand = \"../src\"\n", "new.toml:2 (command)", "a directory"),
            ("id = \"todo\"\ncommand = \"./new.md\"\n", "new.toml:2 (command)", "chmod +x"),
            ("id = \"Todo\"\ncommand = \"tool\"\n", "new.toml:1 (id)", "not a provider name"),
            ("id = \"todo\"\n", "new.toml", "missing field `command`"),
            ("id = \"todo\"\ncommand = 3\n", "new.toml:2 (command)", "expected a string"),
            ("\u{0}", "new.toml:1", ""),
        ] {
            fs::write(desk.root.path().join("src/new.md"), "text").unwrap();
            let fault = desk.add(text, true).unwrap_err();
            assert!(fault.message.contains(place), "{text}: {}", fault.message);
            assert!(fault.message.contains(why), "{text}: {}", fault.message);
            let next = ["expected", "correct it, then: pipemux app add "];
            let told = next.iter().any(|next| fault.hints[0].contains(next));
            assert!(told, "{:?}", fault.hints);
            assert!(desk.kept().is_empty());
        }
        let long = format!("id = \"todo\"\ncommand = \"tool\"\n#{}", "x".repeat(70_000));
        assert!(desk.add(&long, true).unwrap_err().message.contains("at most 65536"));
    }

    #[test]
    fn a_taken_id_is_refused_unless_it_is_to_be_replaced() {
        let desk = desk();
        let todo = |description: &str| {
            format!("id = \"todo\"\ncommand = \"tool\"\ndescription = \"{description}\"\n")
        };
        desk.add(&todo("one"), false).unwrap();
        let fault = desk.add(&todo("two"), false).unwrap_err();
        assert!(fault.message.contains("taken by") && fault.message.contains("todo.toml"));
        assert!(fault.hints[0].contains("--replace"));
        assert!(desk.add(&todo("two"), true).unwrap().starts_with("replaced todo"));
        assert_eq!(desk.kept(), ["todo.toml"]);
        // It stays where it was, whatever its file is called.
        let user = desk.places.user.clone().unwrap();
        fs::rename(user.join("todo.toml"), user.join("mine.toml")).unwrap();
        desk.add(&todo("three"), true).unwrap();
        assert_eq!(desk.kept(), ["mine.toml"]);
        let fault = desk.add("id = \"editor\"\ncommand = \"tool\"\n", false).unwrap_err();
        assert!(fault.message.contains("comes with the daemon"), "{}", fault.message);
        desk.add("id = \"editor\"\ncommand = \"tool\"\n", true).unwrap();
        assert_eq!(desk.command("editor"), "tool");
        // A broken file in its place is a place taken.
        fs::write(user.join("other.toml"), "id = ").unwrap();
        let other = "id = \"other\"\ncommand = \"tool\"\n";
        assert!(desk.add(other, false).unwrap_err().message.contains("can't be read"));
        desk.add(other, true).unwrap();
    }

    #[test]
    fn what_is_removed_is_gone_and_what_comes_with_the_daemon_is_back() {
        let desk = desk();
        desk.add("id = \"editor\"\ncommand = \"tool\"\n", true).unwrap();
        assert!(desk.remove("editor").unwrap().contains("comes with the daemon is back"));
        assert_eq!(desk.command("editor"), "/opt/bin/pipemux-editor");
        let fault = desk.remove("editor").unwrap_err();
        assert_eq!(fault.code, pipemux_proto::Code::Refused);
        assert_eq!(desk.remove("todo").unwrap_err().code, pipemux_proto::Code::NotFound);
        let at = |name: &str| desk.places.user.as_ref().unwrap().join(name);
        fs::write(at("bad.toml"), "id = ").unwrap();
        desk.remove("bad").unwrap();
        // A pipe is nothing to wait for, neither here nor for what is added beside it.
        nix::unistd::mkfifo(&at("pipe.toml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        desk.add("id = \"todo\"\ncommand = \"tool\"\n", false).unwrap();
        desk.remove("todo").unwrap();
        desk.remove("pipe").unwrap();
        assert!(desk.kept().is_empty());
    }
}
