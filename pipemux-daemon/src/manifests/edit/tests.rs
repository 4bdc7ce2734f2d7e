use super::*;
use std::os::unix::fs::PermissionsExt;

struct TestDirs {
    root: tempfile::TempDir,
    manifest_dirs: ManifestDirs,
}

fn dirs() -> TestDirs {
    let root = tempfile::tempdir().unwrap();
    let user = Some(root.path().join("config/apps"));
    fs::create_dir(root.path().join("src")).unwrap();
    let tool = root.path().join("src/tool");
    fs::write(&tool, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    TestDirs { manifest_dirs: ManifestDirs { programs: "/opt/bin".into(), user }, root }
}

impl TestDirs {
    fn add(&self, text: &str, replace: bool) -> Result<String, Fault> {
        let file = self.root.path().join("src/new.toml").display().to_string();
        let path = self.root.path().join("src").display().to_string();
        let add = Some(NewProvider { file, text: text.into(), replace, path });
        self.manifest_dirs.apply(&ProvidersArgs { add, remove: None }).map(|done| done.message)
    }

    fn remove(&self, id: &str) -> Result<String, Fault> {
        let remove = Some(id.parse().unwrap());
        self.manifest_dirs.apply(&ProvidersArgs { add: None, remove }).map(|done| done.message)
    }

    fn kept(&self) -> Vec<String> {
        let directory = fs::read_dir(self.manifest_dirs.user.as_ref().unwrap());
        let entries = directory.into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn command(&self, id: &str) -> String {
        let found = self.manifest_dirs.load().manifests;
        found.into_iter().find(|one| one.id.as_str() == id).unwrap().command
    }
}

#[test]
fn added_relative_command_is_resolved_beside_the_added_file() {
    let dirs = dirs();
    let text = "# 注释 stays\nid = \"todo\"\ncommand = './tool' # here\nargs = [\"-x\"]\n";
    let said = dirs.add(text, false).unwrap();
    assert!(said.starts_with("added todo · ") && said.contains("pipemux open todo"), "{said}");
    assert_eq!(dirs.kept(), ["todo.toml"]);
    assert_eq!(dirs.command("todo"), dirs.root.path().join("src/./tool").to_str().unwrap());
    let kept = fs::read_to_string(dirs.manifest_dirs.user.as_ref().unwrap().join("todo.toml"));
    let kept = kept.unwrap();
    assert!(kept.starts_with("# 注释 stays\n") && kept.contains(" # here\n"), "{kept}");
    // A bare name stays as it is: the PATH of whoever opens the app decides what it means.
    dirs.add("id = \"bare\"\ncommand = \"tool\"\n", false).unwrap();
    assert_eq!(dirs.command("bare"), "tool");
}

#[test]
fn rejected_manifest_is_located_and_leaves_no_file() {
    let dirs = dirs();
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
        fs::write(dirs.root.path().join("src/new.md"), "text").unwrap();
        let fault = dirs.add(text, true).unwrap_err();
        assert!(fault.message.contains(place), "{text}: {}", fault.message);
        assert!(fault.message.contains(why), "{text}: {}", fault.message);
        let next = ["expected", "correct it, then: pipemux app add "];
        let told = next.iter().any(|next| fault.hints[0].contains(next));
        assert!(told, "{:?}", fault.hints);
        assert!(dirs.kept().is_empty());
    }
    let long = format!("id = \"todo\"\ncommand = \"tool\"\n#{}", "x".repeat(70_000));
    assert!(dirs.add(&long, true).unwrap_err().message.contains("limit 65536"));
}

#[test]
fn taken_id_is_refused_unless_replace_is_given() {
    let dirs = dirs();
    let todo = |description: &str| {
        format!("id = \"todo\"\ncommand = \"tool\"\ndescription = \"{description}\"\n")
    };
    dirs.add(&todo("one"), false).unwrap();
    let fault = dirs.add(&todo("two"), false).unwrap_err();
    assert!(fault.message.contains("taken by") && fault.message.contains("todo.toml"));
    assert!(fault.hints[0].contains("--replace"));
    assert!(dirs.add(&todo("two"), true).unwrap().starts_with("replaced todo"));
    assert_eq!(dirs.kept(), ["todo.toml"]);
    // A replaced manifest stays in its file, whatever that is called.
    let user = dirs.manifest_dirs.user.clone().unwrap();
    fs::rename(user.join("todo.toml"), user.join("mine.toml")).unwrap();
    dirs.add(&todo("three"), true).unwrap();
    assert_eq!(dirs.kept(), ["mine.toml"]);
    let fault = dirs.add("id = \"editor\"\ncommand = \"tool\"\n", false).unwrap_err();
    assert!(fault.message.contains("comes with the daemon"), "{}", fault.message);
    dirs.add("id = \"editor\"\ncommand = \"tool\"\n", true).unwrap();
    assert_eq!(dirs.command("editor"), "tool");
    // An invalid file with the same name counts as taken, too.
    fs::write(user.join("other.toml"), "id = ").unwrap();
    let other = "id = \"other\"\ncommand = \"tool\"\n";
    assert!(dirs.add(other, false).unwrap_err().message.contains("can't be read"));
    dirs.add(other, true).unwrap();
}

#[test]
fn removing_a_manifest_restores_the_built_in_app() {
    let dirs = dirs();
    dirs.add("id = \"editor\"\ncommand = \"tool\"\n", true).unwrap();
    assert!(dirs.remove("editor").unwrap().contains("comes with the daemon is available again"));
    assert_eq!(dirs.command("editor"), "/opt/bin/pipemux-editor");
    let fault = dirs.remove("editor").unwrap_err();
    assert_eq!(fault.code, pipemux_proto::Code::Refused);
    assert_eq!(dirs.remove("todo").unwrap_err().code, pipemux_proto::Code::NotFound);
    let at = |name: &str| dirs.manifest_dirs.user.as_ref().unwrap().join(name);
    fs::write(at("bad.toml"), "id = ").unwrap();
    dirs.remove("bad").unwrap();
    // Neither removing a pipe nor adding a manifest beside it waits for the pipe.
    nix::unistd::mkfifo(&at("pipe.toml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    dirs.add("id = \"todo\"\ncommand = \"tool\"\n", false).unwrap();
    dirs.remove("todo").unwrap();
    dirs.remove("pipe").unwrap();
    assert!(dirs.kept().is_empty());
}

#[test]
fn program_is_pinned_when_it_is_added_unless_its_author_works_on_it() {
    let dirs = dirs();
    let said = dirs.add("id = \"todo\"\ncommand = \"tool\"\n[limits]\ncpu = 7\n", false).unwrap();
    assert!(said.contains("\npinned: ") && said.contains("/tool · sha256 "), "{said}");
    let read = |name: &str| {
        let loaded = dirs.manifest_dirs.load();
        loaded.manifests.into_iter().find(|manifest| manifest.id.as_str() == name).unwrap()
    };
    let manifest = read("todo");
    assert_eq!((manifest.pinned.len(), manifest.limits.cpu), (1, Some(7)));
    assert!(!manifest.shadows && manifest.file.ends_with("/todo.toml"));
    // Added again as it is kept, it has the hash of today.
    let kept = fs::read_to_string(&manifest.file).unwrap();
    dirs.add(&kept, true).unwrap();
    assert_eq!(fs::read_to_string(&manifest.file).unwrap(), kept);
    assert_eq!(manifest.pinned_programs().files, manifest.pinned);
    let said = dirs.add("id = \"mine\"\ncommand = \"tool\"\ndev = true\n", false).unwrap();
    assert!(!said.contains("pinned"), "{said}");
    assert!(read("mine").pinned_programs().files.is_empty());
    let said = dirs.add("id = \"editor\"\ncommand = \"tool\"\n", true).unwrap();
    let replaced = "it replaces the editor that comes with PipeMux · take it back: pipemux app remove editor\n";
    assert!(said.contains(replaced) && read("editor").shadows, "{said}");
}
