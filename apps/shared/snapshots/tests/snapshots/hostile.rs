//! A project that would have git run programs.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Sample, all, git};

#[test]
fn nothing_that_a_project_says_is_run_and_nothing_in_its_repository_changes() {
    let sample = Sample::new();
    let root = sample.root();
    let marker = root.join("../ran");
    let script = root.join(".git/run.sh");
    fs::write(&script, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", marker.display()))
        .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let run = script.display().to_string();
    sample.write("tracked.txt", "t\n");
    // It is a submodule, too.
    sample.write("nested/file", "n\n");
    git(&sample.path("nested"), &["init", "-q"]);
    git(&sample.path("nested"), &["add", "."]);
    git(&sample.path("nested"), &["commit", "-qm", "first"]);
    let update = format!(
        "[submodule \"nested\"]\n\tpath = nested\n\turl = .\n\tupdate = !{}\n",
        script.display()
    );
    sample.write(".gitmodules", update);
    git(&root, &["add", "."]);
    assert!(git(&root, &["ls-files", "-s"]).contains("160000"));
    git(&root, &["commit", "-qm", "first"]);
    let settings = [
        ("core.fsmonitor", &*run),
        ("core.hooksPath", &root.join(".git/hooks").display().to_string()),
        ("core.attributesFile", &root.join("attributes").display().to_string()),
        ("core.pager", &run),
        ("core.sshCommand", &run),
        ("filter.x.clean", &run),
        ("filter.x.smudge", &run),
        ("filter.x.process", &run),
        ("filter.x.required", "true"),
        ("diff.x.textconv", &run),
        ("diff.x.command", &run),
        ("diff.external", &run),
        ("merge.x.driver", &run),
        ("credential.helper", &format!("!{run}")),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{run}")),
        ("extensions.partialClone", "origin"),
    ];
    let text: Vec<String> = settings
        .iter()
        .map(|(name, value)| {
            let (section, name) = name.rsplit_once('.').unwrap();
            let section = match section.split_once('.') {
                Some((section, sub)) => format!("{section} \"{sub}\""),
                None => section.to_owned(),
            };
            format!("[{section}]\n\t{name} = {value:?}\n")
        })
        .collect();
    fs::write(root.join("more"), text.concat()).unwrap();
    let config = root.join(".git/config");
    let include = format!("[include]\n\tpath = {:?}\n", root.join("more"));
    fs::write(&config, fs::read_to_string(&config).unwrap() + &include).unwrap();
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    for hook in ["post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman"] {
        fs::copy(&script, root.join(".git/hooks").join(hook)).unwrap();
    }
    let attributes = "* filter=x diff=x merge=x ident text eol=crlf working-tree-encoding=UTF-16\n";
    for name in ["attributes", ".gitattributes", ".git/info/attributes", "sub/.gitattributes"] {
        sample.write(name, attributes);
    }
    // The nested repository has the same settings, and the `.git` of a folder leads to it.
    fs::copy(root.join(".git/config"), sample.path("nested/.git/config")).unwrap();
    sample.write("elsewhere/.git", format!("gitdir: {}\n", root.join("nested/.git").display()));
    sample.write("elsewhere/file", "e\n");
    let names: [&[u8]; 7] =
        [b"a\nb", b"\"quoted\"", b"-rf", b"--exec=x", b"\xff\xfe", b":(top)x", b" $(touch x)"];
    let path = |name: &[u8]| root.join(OsStr::from_bytes(name));
    for name in names {
        fs::write(path(name), "$Id$ a\r\nb\n").unwrap();
    }
    let repositories = || [all(&root.join(".git")), all(&sample.path("nested/.git"))];
    let untouched = repositories();
    let change = sample.change(|sample| {
        for name in names {
            fs::write(path(name), "$Id$ A\r\nb\n").unwrap();
        }
        sample.write("nested/file", "m\n");
        sample.write("tracked.txt", "T\n");
    });
    assert_eq!(change.files.len(), names.len() + 1, "{change:?}");
    sample.back(&change).unwrap();
    for name in names {
        assert_eq!(fs::read(path(name)).unwrap(), b"$Id$ a\r\nb\n");
    }
    assert_eq!(
        (sample.read("tracked.txt"), sample.read("nested/file")),
        ("t\n".into(), "m\n".into())
    );
    assert_eq!(repositories(), untouched);
    assert!(!marker.exists(), "{}", fs::read_to_string(&marker).unwrap());
    // The marker would tell: with these settings, git itself runs the program.
    let status = std::process::Command::new("git").arg("status").current_dir(&root).output();
    assert!(marker.exists(), "{status:?}");
}
