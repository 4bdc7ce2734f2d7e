use std::fs;
use std::path::Path;

use pipemux_core::Scope;

use super::dirs::user_directory;
use super::*;

fn load(programs: &str, user: Option<&Path>) -> LoadedManifests {
    ManifestDirs { programs: programs.into(), user: user.map(Path::to_owned) }.load()
}

fn load_user(files: &[(&str, &str)]) -> (tempfile::TempDir, LoadedManifests) {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let found = load("/opt/bin", Some(directory.path()));
    (directory, found)
}

#[test]
fn built_in_programs_lie_beside_the_daemon() {
    let found = load("/opt/bin", None);
    let commands: Vec<&str> = found.manifests.iter().map(|one| one.command.as_str()).collect();
    let mut built_in = pipemux_catalog::APPS.map(|app| format!("/opt/bin/pipemux-{}", app.id));
    built_in.sort();
    assert_eq!(commands, built_in);
    let shared = found.manifests.iter().filter(|one| one.scope == Scope::User);
    assert_eq!(shared.map(|one| one.id.as_str()).collect::<Vec<_>>(), ["monitor"]);
    assert!(load("/opt", Some(Path::new("/nowhere"))).problems.is_empty());
}

#[test]
fn user_manifest_wins_and_its_relative_command_starts_beside_it() {
    let (directory, found) = load_user(&[
        ("a.toml", "id = \"editor\"\ncommand = \"bin/my editor\"\nargs = [\"-x\"]\n"),
        ("b.toml", "id = \"todo\"\ncommand = \"todo\"\nscope = \"user\"\npass = [\"LANG\"]\n"),
        ("c.toml", "id = \"todo\"\ncommand = \"/other\"\n"),
        ("notes.txt", "no manifest"),
    ]);
    let get = |id: &str| found.manifests.iter().find(|one| one.id.as_str() == id).unwrap();
    assert_eq!(found.manifests.len(), pipemux_catalog::APPS.len() + 1);
    assert_eq!(get("editor").command, directory.path().join("bin/my editor").to_str().unwrap());
    assert_eq!((get("todo").command.as_str(), get("todo").scope), ("todo", Scope::User));
    assert_eq!(found.problems.len(), 1);
    assert!(found.problems[0].text.ends_with("c.toml: id `todo` is already taken"));
}

#[test]
fn invalid_manifest_is_reported_with_its_location_and_affects_no_other() {
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
    assert_eq!(found.manifests.len(), pipemux_catalog::APPS.len() + 1);
    let expected = [
        ("b.toml:3 (args): ", "expected a sequence"),
        ("c.toml:1 (id): ", "`Bad` is not a provider name"),
        ("d.toml", "missing field `command`"),
        ("e.toml:3 (colour): ", "unknown field `colour`"),
        ("f.toml", "`command` is empty"),
        ("g.toml:1 (id): ", ""),
        ("h.toml:3 (transport): ", "unknown variant `tcp`, expected `fd` or `stdio`"),
        ("i.toml:5 (limits.memory): ", "`lots`: expected a number of bytes above 0, or \"512K\""),
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
        let text = &problem.text;
        assert!(text.contains(place) && text.contains(what), "{text}");
    }
}

#[test]
fn pipe_or_device_as_manifest_is_reported_without_waiting() {
    let (directory, _) = load_user(&[("good.toml", "id = \"good\"\ncommand = \"good\"\n")]);
    let at = |name: &str| directory.path().join(name);
    nix::unistd::mkfifo(&at("pipe.toml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("/dev/zero", at("zero.toml")).unwrap();
    let manifest_dirs =
        ManifestDirs { programs: "/opt".into(), user: Some(directory.path().into()) };
    let found = manifest_dirs.load();
    assert!(found.manifests.iter().any(|one| one.id.as_str() == "good"));
    assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
    for (problem, name) in found.problems.iter().zip(["pipe.toml", "zero.toml"]) {
        let text = &problem.text;
        assert!(text.contains(name) && text.contains("not a regular file"), "{text}");
        assert_eq!(problem.provider.as_ref().map(|id| format!("{id}.toml")), Some(name.into()));
    }
}

#[test]
fn user_directory_follows_the_environment() {
    let with = |set: &[(&str, &str)]| {
        let get = |name: &str| {
            set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        user_directory(get).map(|path| path.to_str().unwrap().to_owned())
    };
    let home = ("HOME", "/h");
    assert_eq!(with(&[home]).unwrap(), "/h/.config/pipemux/apps");
    assert_eq!(with(&[home, ("XDG_CONFIG_HOME", "/x")]).unwrap(), "/x/pipemux/apps");
    assert_eq!(with(&[home, ("XDG_CONFIG_HOME", "x")]).unwrap(), "/h/.config/pipemux/apps");
    assert_eq!(with(&[home, ("PIPEMUX_CONFIG_DIR", "/c")]).unwrap(), "/c/apps");
    assert_eq!(with(&[]), None);
}
