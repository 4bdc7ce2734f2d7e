//! What a confined command could try to write elsewhere, tried in a domain of the kernel. Each
//! attempt is one that succeeds without the domain.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pipemux_confine::{Domain, Grants, Policy, Surroundings};

/// A home directory outside of what is granted as temporary.
struct Home {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["home/.ssh", "home/p/.git", "home/other", "state"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in
            ["home/.bashrc", "home/.ssh/key", "home/other/file", "home/p/file", "state/file"]
        {
            fs::write(root.join(file), "kept").unwrap();
        }
        fs::write(root.join("home/p/file"), "of the workspace").unwrap();
        Self { _dir: dir, root }
    }

    fn domain(&self, network: bool) -> Domain {
        let env =
            BTreeMap::from([("HOME".to_owned(), self.root.join("home").display().to_string())]);
        let own = vec![self.root.join("state")];
        let (folder, spare) = (self.root.join("home/p"), self.root.join("state/spare"));
        let around = Surroundings { folder: &folder, env: &env, own: &own, spare: &spare };
        Domain { grants: Grants::find(&Policy::default(), &around), network }
    }

    /// Runs a script in the workspace, with `$H` for the home directory's parent.
    fn script(&self, domain: Option<&Domain>, text: &str) -> Output {
        let mut command = Command::new("bash");
        command.args(["-c", text]).current_dir(self.root.join("home/p")).env("H", &self.root);
        match domain {
            Some(domain) => run(domain, move || command.output()).unwrap(),
            None => command.output().unwrap(),
        }
    }

    /// All paths outside of the workspace, with their contents.
    fn outside(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.root.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path == self.root.join("home/p") {
                    continue;
                }
                let kind = path.symlink_metadata().unwrap().file_type();
                if kind.is_dir() {
                    waiting.push(path.clone());
                }
                let content = kind.is_file().then(|| fs::read(&path).ok()).flatten();
                found.insert(path, content);
            }
        }
        found
    }
}

/// Attempts to change something outside of the workspace, as scripts.
const ATTEMPTS: &[&str] = &[
    "echo x > $H/home/.bashrc",
    "echo x >> $H/home/.ssh/key",
    "echo x > $H/home/new",
    ": > $H/home/other/file",
    "truncate -s 0 $H/home/.bashrc",
    "python3 -c 'import os,sys; os.truncate(sys.argv[1], 0)' $H/home/.bashrc",
    "rm -f $H/home/.ssh/key",
    "rm -rf $H/home/other",
    "mkdir $H/home/new",
    "mkfifo $H/home/fifo",
    "ln -s /etc/passwd $H/home/link",
    // A way in through a link of the workspace.
    "ln -s $H/home/.ssh keys && echo x > keys/key",
    "ln -sf $H/home/.bashrc rc && echo x >> rc",
    // A second name of a file.
    "ln $H/home/.bashrc rc && echo x > rc",
    "ln file $H/home/other/planted",
    // Moves out, in, and exchanges.
    "mv file $H/home/.bashrc",
    "mv $H/home/.ssh keys && echo x > keys/key",
    "mv $H/home/other/file here",
    "mv $H/home/other . ",
    "python3 -c 'import ctypes,os,sys; sys.exit(ctypes.CDLL(None).renameat2(-100, b\"file\", -100, os.environb[b\"H\"]+b\"/home/.bashrc\", 2) != 0)'",
    // Processes that leave their session and parent.
    "setsid sh -c 'echo x > $H/home/.bashrc'",
    "(setsid sh -c 'echo x > $H/home/.bashrc' &) ; wait; for i in 1 2 3 4 5 6 7 8 9; do grep -q x $H/home/.bashrc && break; sleep 0.02; done",
    "nohup sh -c 'echo x > $H/home/.bashrc'",
    "env -i H=$H sh -c 'echo x > $H/home/.bashrc'",
    "xargs -I{} sh -c '{}' <<< 'echo x > $H/home/.bashrc'",
    // By descriptors that were opened to read.
    "exec 7<$H/home/.bashrc; echo x > /proc/self/fd/7",
    "exec 7<$H/home; echo x > /proc/self/fd/7/new",
    "cd $H/home && echo x > new",
    "cp file $H/home/.bashrc",
    "dd if=file of=$H/home/.bashrc conv=notrunc",
    "tee $H/home/.bashrc < file",
    "install file $H/home/new",
    "tar c file | tar x -C $H/home/other",
    "git init -q $H/home/other",
    "sed -i s/kept/x/ $H/home/.bashrc",
    "perl -e 'open(F, \">\", \"$ENV{H}/home/.bashrc\")'",
    // PipeMux's own directories.
    "echo x > $H/state/file",
    "echo x > $H/state/new",
    "rm -rf $H/state/file",
];

#[test]
fn nothing_outside_of_the_workspace_is_changed() {
    for attempt in ATTEMPTS {
        let home = Home::new();
        let domain = home.domain(true);
        let before = home.outside();
        let output = home.script(Some(&domain), attempt);
        assert_eq!(home.outside(), before, "{attempt}: {output:?}");
        // It is an attempt only if it would do something.
        let home = Home::new();
        let before = home.outside();
        let output = home.script(None, attempt);
        assert_ne!(home.outside(), before, "{attempt}: {output:?}");
    }
}

#[test]
fn work_in_the_workspace_is_as_without_a_domain() {
    for script in [
        "echo x > new && echo y >> file && rm file && mkdir -p a/b && mv new a/b/new && ln a/b/new c && ln -s c d",
        "git init -q . && git -c user.name=a -c user.email=b@c commit -q --allow-empty -m x && git gc -q",
        "tmp=$(mktemp) && echo x > $tmp && mv $tmp here && rm here",
        "echo x > /dev/null; echo x > /dev/shm/pipemux-$$ && rm /dev/shm/pipemux-$$",
        "sleep 5 & kill $! && ! wait $!",
        "mkfifo f && (cat f & echo x > f; wait)",
        "cat /etc/passwd $H/home/.bashrc > copy",
    ] {
        let home = Home::new();
        let output = home.script(Some(&home.domain(true)), script);
        assert!(output.status.success(), "{script}: {output:?}");
    }
}

#[test]
fn processes_outside_are_not_traced_and_those_inside_are() {
    let home = Home::new();
    let domain = home.domain(true);
    let mut outside = Command::new("sleep").arg("60").spawn().unwrap();
    let of = |pid: u32| format!("python3 -c 'open(\"/proc/{pid}/mem\",\"rb\")'");
    let refused = home.script(Some(&domain), &of(outside.id()));
    let allowed = home.script(None, &of(outside.id()));
    outside.kill().unwrap();
    outside.wait().unwrap();
    assert!(!refused.status.success() && allowed.status.success(), "{refused:?} {allowed:?}");
    let inside = home.script(
        Some(&domain),
        "sleep 60 & p=$!; python3 -c \"open('/proc/$p/mem','rb')\"; e=$?; kill $p; exit $e",
    );
    assert!(inside.status.success(), "{inside:?}");
}

#[test]
fn no_device_is_made_that_stands_for_a_disk() {
    let home = Home::new();
    let make = "mknod disk b 7 0";
    // Only a root user could.
    if home.script(None, &format!("{make} && rm disk")).status.success() {
        let made = home.script(Some(&home.domain(true)), make);
        assert!(!made.status.success() && !home.root.join("home/p/disk").exists(), "{made:?}");
    }
}

#[test]
fn without_network_no_socket_leaves_the_machine() {
    let home = Home::new();
    let open = |family: &str, kind: &str| {
        format!("python3 -c 'import socket; socket.socket(socket.{family}, socket.{kind})'")
    };
    let (with, without) = (home.domain(true), home.domain(false));
    for (family, kind, is_local) in [
        ("AF_INET", "SOCK_STREAM", false),
        ("AF_INET6", "SOCK_DGRAM", false),
        ("AF_PACKET", "SOCK_RAW", false),
        ("AF_UNIX", "SOCK_STREAM", true),
        ("AF_NETLINK", "SOCK_RAW", true),
    ] {
        let script = open(family, kind);
        assert!(home.script(Some(&with), &script).status.success(), "{family}");
        assert_eq!(home.script(Some(&without), &script).status.success(), is_local, "{family}");
    }
}

/// For trees of files, links and places that are protected: whatever is written, by whatever path,
/// nothing protected and nothing outside changes; and what is neither can be written to.
#[test]
fn random_trees_with_links_grant_nothing_protected() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut tried, mut written) = (0, 0);
    for _ in 0..60 {
        let home = Home::new();
        let mut folders = vec![
            home.root.join("home/p"),
            home.root.join("home/other"),
            home.root.join("home/.ssh"),
        ];
        for _ in 0..random.usize(1..25) {
            let folder = folders[random.usize(..folders.len())].clone();
            let path = folder.join(random.u8(..).to_string());
            match random.u8(..6) {
                0 | 1 => {
                    if fs::create_dir(&path).is_ok() {
                        folders.push(path);
                    }
                }
                2 => drop(symlink(&folders[random.usize(..folders.len())], &path)),
                3 => {
                    // A start file that leads anywhere.
                    let start = home
                        .root
                        .join("home")
                        .join([".zshrc", ".profile", ".vimrc"][random.usize(..3)]);
                    let _ = symlink(&path, &start);
                    let _ = fs::write(&path, "kept");
                }
                _ => drop(fs::write(&path, "kept")),
            }
        }
        let starts: Vec<PathBuf> = [".zshrc", ".profile", ".vimrc", ".bashrc"]
            .iter()
            .filter_map(|name| home.root.join("home").join(name).canonicalize().ok())
            .collect();
        let mut paths = Vec::new();
        all_paths(&home.root, 0, &mut paths);
        let protected: Vec<(PathBuf, Vec<u8>)> =
            starts.iter().filter_map(|path| Some((path.clone(), fs::read(path).ok()?))).collect();
        let before = home.outside();
        let domain = home.domain(true);
        let workspace = home.root.join("home/p");
        let results = run(&domain, move || {
            paths
                .into_iter()
                .map(|path| (fs::write(&path, "new").is_ok(), path))
                .collect::<Vec<_>>()
        });
        assert_eq!(home.outside(), before);
        for (path, content) in &protected {
            assert_eq!(fs::read(path).unwrap(), *content, "{}", path.display());
        }
        for (is_written, path) in results {
            let real = path.canonicalize().unwrap();
            let is_protected = starts.iter().any(|start| real.starts_with(start));
            if real.starts_with(&workspace) && !is_protected {
                assert!(is_written, "{} in {}", real.display(), workspace.display());
                written += 1;
            }
            tried += 1;
        }
    }
    assert!(tried > 500 && written > 100, "{tried} {written}");
}

/// Calls a function in a domain, on a thread of its own.
fn run<T: Send + 'static>(domain: &Domain, work: impl FnOnce() -> T + Send + 'static) -> T {
    let domain = domain.clone();
    let work = move || {
        domain.enter().unwrap();
        work()
    };
    std::thread::spawn(work).join().unwrap()
}

/// All paths of files below a folder, also through links, to a depth.
fn all_paths(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if depth < 6 => all_paths(&path, depth + 1, found),
            true => {}
            false if path.exists() => found.push(path),
            false => {}
        }
    }
}
