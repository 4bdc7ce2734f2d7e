use std::os::unix::fs::symlink;

use super::*;

/// A home directory with a project and PipeMux's own directory.
struct Home {
    _dir: tempfile::TempDir,
    root: PathBuf,
    env: BTreeMap<String, String>,
    own: Vec<PathBuf>,
}

impl Home {
    fn new() -> Self {
        // Beside the test's program: the system's folder for temporary files is granted.
        let program = std::env::current_exe().unwrap();
        let dir = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["home/.ssh", "home/p/.git", "home/p/src", "state/spare"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("home/.bashrc"), "").unwrap();
        let env = BTreeMap::from([
            ("HOME".to_owned(), root.join("home").display().to_string()),
            ("TMPDIR".to_owned(), "/tmp".to_owned()),
        ]);
        let own = vec![root.join("state")];
        Self { _dir: dir, root, env, own }
    }

    fn grants(&self, folder: &str, policy: &Policy) -> Grants {
        let folder = self.root.join(folder);
        let spare = self.root.join("state/spare");
        Grants::find(
            policy,
            &Surroundings { folder: &folder, env: &self.env, own: &self.own, spare: &spare },
        )
    }

    fn allowed(&self, grants: &Grants, paths: &[&str]) -> Vec<bool> {
        paths.iter().map(|path| grants.allows(&self.root.join(path))).collect()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn workspace_is_the_nearest_folder_with_git_below_the_home() {
    let home = Home::new();
    fs::create_dir(home.root.join("home/.git")).unwrap();
    let of = |folder: &str| home.grants(folder, &Policy::default()).workspace;
    assert_eq!(of("home/p/src"), home.root.join("home/p"));
    fs::create_dir(home.root.join("home/q")).unwrap();
    assert_eq!(of("home/q"), home.root.join("home/q"));
    assert_eq!(of("home"), home.root.join("home"));
    symlink(home.root.join("home/p/src"), home.root.join("link")).unwrap();
    assert_eq!(of("link"), home.root.join("home/p"));
}

#[test]
fn workspace_and_temporary_folders_are_granted_and_nothing_beside_them() {
    let home = Home::new();
    let grants = home.grants("home/p/src", &Policy::default());
    let paths = ["home/p/new", "home/.ssh/x", "home/.bashrc", "home/q", "state/x"];
    assert_eq!(home.allowed(&grants, &paths), [true, false, false, false, false]);
    assert!(
        ["/tmp/x", "/dev/null", "/dev/pts/7"].iter().all(|path| grants.allows(Path::new(path)))
    );
    assert!(
        !["/etc/x", "/usr/bin/x", "/", "/dev/sda"]
            .iter()
            .any(|path| grants.allows(Path::new(path)))
    );
    assert_eq!((grants.left_out, grants.temporary), (Vec::new(), None));
}

#[test]
fn home_as_a_workspace_is_granted_child_by_child() {
    let home = Home::new();
    let grants = home.grants("home", &Policy::default());
    let paths = ["home/p/new", "home/.ssh/x", "home/.bashrc", "home/new"];
    assert_eq!(home.allowed(&grants, &paths), [true, false, false, false]);
    assert_eq!(grants.left_out, [home.root.join("home/.bashrc"), home.root.join("home/.ssh")]);
}

#[test]
fn folder_above_the_home_is_no_workspace() {
    let home = Home::new();
    let grants = home.grants("", &Policy::default());
    assert_eq!(home.allowed(&grants, &["home/p/x", "other"]), [false, false]);
    assert_eq!(grants.left_out, std::slice::from_ref(&home.root));
    assert!(!home.grants("/", &Policy::default()).allows(Path::new("/opt/x")));
}

#[test]
fn start_file_that_leads_into_the_workspace_is_left_out_of_it() {
    let home = Home::new();
    home.write("home/p/dotfiles/bashrc", "");
    fs::remove_file(home.root.join("home/.bashrc")).unwrap();
    symlink("p/dotfiles/bashrc", home.root.join("home/.bashrc")).unwrap();
    let grants = home.grants("home/p", &Policy::default());
    let paths = ["home/p/dotfiles/bashrc", "home/p/dotfiles/other", "home/p/src/x"];
    assert_eq!(home.allowed(&grants, &paths), [false, false, true]);
    assert_eq!(grants.left_out, [home.root.join("home/p/dotfiles/bashrc")]);
}

#[test]
fn planted_links_grant_nothing() {
    let home = Home::new();
    symlink(home.root.join("home/.ssh"), home.root.join("home/p/keys")).unwrap();
    let grants = home.grants("home/p", &Policy::default());
    assert_eq!(home.allowed(&grants, &["home/p/keys/x", "home/p/x"]), [false, true]);
    // The same where the workspace is granted child by child.
    home.write("home/p/dotfiles/zshrc", "");
    symlink("p/dotfiles/zshrc", home.root.join("home/.zshrc")).unwrap();
    let grants = home.grants("home/p", &Policy::default());
    assert_eq!(home.allowed(&grants, &["home/p/keys/x", "home/p/src/x"]), [false, true]);
}

#[test]
fn repository_elsewhere_counts_only_if_it_names_the_workspace() {
    let home = Home::new();
    let common = home.root.join("home/main/.git");
    let tree = home.root.join("home/tree");
    let named = format!("gitdir: {}\n", common.join("worktrees/tree").display());
    home.write("home/tree/.git", &named);
    home.write("home/main/.git/worktrees/tree/commondir", "../..\n");
    let granted = || {
        let grants = home.grants("home/tree", &Policy::default());
        home.allowed(&grants, &["home/main/.git/objects/x", "home/main/src", "home/tree/x"])
    };
    assert_eq!(granted(), [false, false, true]);
    home.write("home/main/.git/worktrees/tree/gitdir", "/elsewhere/.git\n");
    assert_eq!(granted(), [false, false, true]);
    home.write(
        "home/main/.git/worktrees/tree/gitdir",
        &format!("{}\n", tree.join(".git").display()),
    );
    assert_eq!(granted(), [true, false, true]);
    // Another folder can't be named as what worktrees have in common.
    home.write("home/main/.git/worktrees/tree/commondir", "../../..\n");
    assert_eq!(granted(), [false, false, true]);

    home.write("home/sub/.git", "gitdir: ../main/.git/modules/sub\n");
    home.write(
        "home/main/.git/modules/sub/config",
        "[core]\n\tbare = false\n\tworktree = ../../../../sub\n",
    );
    let grants = home.grants("home/sub", &Policy::default());
    let paths = ["home/main/.git/modules/sub/index", "home/main/.git/config"];
    assert_eq!(home.allowed(&grants, &paths), [true, false]);
}

#[test]
fn person_may_name_more_but_not_pipemux_own_directories() {
    let home = Home::new();
    fs::create_dir_all(home.root.join("home/.config/tool")).unwrap();
    let own = home.root.join("state").display().to_string();
    let all = home.root.display().to_string();
    let write = vec!["~/.config/tool".to_owned(), "~/.ssh".into(), own, all];
    let grants = home.grants("home/p", &Policy { write, ..Policy::default() });
    let paths = ["home/.config/tool/x", "home/.config/x", "home/.ssh/x", "home/.bashrc", "state/x"];
    assert_eq!(home.allowed(&grants, &paths), [true, false, true, false, false]);
    // What a link leads to was not named.
    symlink(home.root.join("home/.ssh"), home.root.join("home/.config/keys")).unwrap();
    let write = vec!["~/.config/keys".to_owned()];
    let grants = home.grants("home/p", &Policy { write, ..Policy::default() });
    assert_eq!(home.allowed(&grants, &["home/.ssh/x"]), [false]);
}

#[test]
fn temporary_files_get_a_folder_of_their_own_where_the_usual_one_has_something_protected() {
    let mut home = Home::new();
    let temporary = home.root.join("tmp");
    fs::create_dir_all(temporary.join("pipemux")).unwrap();
    fs::create_dir_all(temporary.join("other")).unwrap();
    home.env.insert("TMPDIR".into(), temporary.display().to_string());
    home.own.push(temporary.join("pipemux"));
    let grants = home.grants("home/p", &Policy::default());
    let paths = ["tmp/x", "tmp/other/x", "tmp/pipemux/x", "state/spare/x", "state/x"];
    assert_eq!(home.allowed(&grants, &paths), [false, true, false, true, false]);
    assert_eq!(grants.temporary, Some(home.root.join("state/spare")));
}

#[test]
fn missing_caches_of_installed_programs_are_made() {
    let mut home = Home::new();
    home.write("bin/go", "");
    home.env.insert("PATH".into(), home.root.join("bin").display().to_string());
    let grants = home.grants("home/p", &Policy::default());
    assert!(home.root.join("home/go/pkg").is_dir());
    let paths =
        ["home/go/pkg/x", "home/.cache/go-build/x", "home/go/bin/x", "home/.cargo/registry/x"];
    assert_eq!(home.allowed(&grants, &paths), [true, true, false, false]);
    assert!(!home.root.join("home/.cargo").exists());
}

#[test]
fn person_is_told_the_narrowest_place_that_helps() {
    let home = Home::new();
    fs::create_dir_all(home.root.join("home/data")).unwrap();
    fs::create_dir_all(home.root.join("home/.local")).unwrap();
    let grants = home.grants("home/p", &Policy::default());
    let of = |path: &str| {
        let (place, is_there) = grants.to_widen(&home.root.join("home").join(path));
        (place.strip_prefix(home.root.join("home")).unwrap().display().to_string(), is_there)
    };
    assert_eq!(of("data/a/b"), ("data".into(), true));
    assert_eq!(of("data"), ("data".into(), true));
    assert_eq!(of("new/a/b"), ("new".into(), false));
    assert_eq!(of(".gitconfig"), (".gitconfig".into(), false));
    assert_eq!(of(".ssh/known_hosts"), (".ssh".into(), true));
    assert_eq!(of(".local/lib/x"), (".local/lib".into(), false));
    assert_eq!(of(".local/other/x"), (".local/other".into(), false));
    // What is told helps.
    for told in ["new", ".local/lib", ".ssh"] {
        fs::create_dir_all(home.root.join("home").join(told)).unwrap();
        let write = vec![format!("~/{told}")];
        let grants = home.grants("home/p", &Policy { write, ..Policy::default() });
        assert!(grants.allows(&home.root.join("home").join(told).join("x")), "{told}");
    }
}

#[test]
fn link_that_a_command_could_have_made_leads_to_no_place() {
    let mut home = Home::new();
    for folder in ["home/other", "home/data", "bin"] {
        fs::create_dir_all(home.root.join(folder)).unwrap();
    }
    fs::write(home.root.join("bin/cargo"), "").unwrap();
    let temporary = tempfile::tempdir_in("/tmp").unwrap();
    let planted = temporary.path().join("planted");
    symlink(home.root.join("home/other"), &planted).unwrap();
    // By a variable of the opener: in the temporary folder, and in the workspace.
    home.env.insert("TMPDIR".into(), planted.display().to_string());
    home.env.insert("PATH".into(), home.root.join("bin").display().to_string());
    home.env.insert("CARGO_HOME".into(), home.root.join("home/p/cargo").display().to_string());
    symlink(home.root.join("home/other"), home.root.join("home/p/cargo")).unwrap();
    // By what a person named, in the workspace.
    symlink(home.root.join("home/other"), home.root.join("home/p/named")).unwrap();
    let write = vec!["~/p/named".to_owned(), "~/link".into()];
    // A link elsewhere is a person's.
    symlink("data", home.root.join("home/link")).unwrap();
    let policy = Policy { write, ..Policy::default() };
    let grants = home.grants("home/p", &policy);
    let paths = ["home/other/x", "home/p/x", "home/data/x", "state/spare/x"];
    assert_eq!(home.allowed(&grants, &paths), [false, true, true, true]);
    assert_eq!(fs::read_dir(home.root.join("home/other")).unwrap().count(), 0);
    // By the folder of the session itself.
    let folder = planted.display().to_string();
    let grants = home.grants(&folder, &Policy::default());
    assert_eq!(home.allowed(&grants, &["home/other/x"]), [false]);
    assert_eq!(grants.left_out, [home.root.join("home/other")]);
}
