//! Which files are searched, and what is told of the others.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use pipemux_search::{
    Counts, Files, FilesError, Filters, Overlay, Pattern, SkipReason, limits, search,
};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    // `.gitignore` counts in repositories.
    fs::create_dir(folder.path().join(".git")).unwrap();
    folder
}

fn project() -> TempDir {
    folder(&[
        (".gitignore", "target/\n*.log\n"),
        (".github/ci.yml", "x"),
        (".git-keep", "x"),
        ("a.rs", "x"),
        ("notes.log", "x"),
        ("src/a.rs", "x"),
        ("src/b.py", "x"),
        ("src/deep/c.rs", "x"),
        ("src/[id]/page.rs", "x"),
        ("target/out.rs", "x"),
    ])
}

fn list(base: &Path, root: &Path, entries: &[&str]) -> Result<Vec<String>, FilesError> {
    let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
    let files = Files::new(&entries, base, root, &[])?.list()?;
    let root = root.canonicalize().unwrap();
    let shown = |path: &PathBuf| path.strip_prefix(&root).unwrap_or(path).display().to_string();
    Ok(files.iter().map(shown).collect())
}

#[test]
fn files_are_those_that_ripgrep_would_search() {
    let project = project();
    let root = project.path();
    let listed = |entries: &[&str]| list(root, root, entries).unwrap();
    let all = ["a.rs", "src/[id]/page.rs", "src/a.rs", "src/b.py", "src/deep/c.rs"];
    assert_eq!(listed(&[]), all);
    assert_eq!(listed(&["."]), all);
    assert_eq!(listed(&["src"]), all[1..]);
    assert_eq!(listed(&["src/"]), all[1..]);
    assert_eq!(listed(&["src/*.rs"]), ["src/a.rs"], "`*` stays in one folder");
    assert_eq!(listed(&["src/**/*.rs"]), ["src/[id]/page.rs", "src/a.rs", "src/deep/c.rs"]);
    assert_eq!(listed(&["*.rs"]).len(), 4, "a name alone, in all folders");
    assert_eq!(listed(&["./src/{a.rs,b.py}"]), ["src/a.rs", "src/b.py"]);
    // Folders in braces are folders, too.
    assert_eq!(listed(&["{src/deep,a.rs,none}"]), ["a.rs", "src/deep/c.rs"]);
    assert_eq!(listed(&["{src,other}"]), all[1..]);
    assert_eq!(listed(&["{src/deep,src/*.py}"]), ["src/b.py", "src/deep/c.rs"]);
    assert_eq!(
        listed(&["src/{deep,{a,b}.*}"]),
        ["src/a.rs", "src/b.py"],
        "not where they are nested"
    );
    assert_eq!(listed(&["{a,src/a}.rs"]), ["a.rs", "src/a.rs"]);
    assert_eq!(listed(&["src/?.py"]), ["src/b.py"]);
    assert_eq!(listed(&["src/[ab].*"]), ["src/a.rs", "src/b.py"]);
    assert_eq!(listed(&["src/[id]/page.rs"]), ["src/[id]/page.rs"], "what exists is no glob");
    assert_eq!(listed(&["src/a.rs", "src", "src/a.rs"]), all[1..], "each once");
    assert_eq!(listed(&["src", "!*.py"]), ["src/[id]/page.rs", "src/a.rs", "src/deep/c.rs"]);
    assert_eq!(listed(&["!src"]), ["a.rs"]);
    assert_eq!(listed(&["!src/deep"]), ["a.rs", "src/[id]/page.rs", "src/a.rs", "src/b.py"]);
    let absolute = format!("{}/src/*.py", root.canonicalize().unwrap().display());
    assert_eq!(listed(&[&absolute]), ["src/b.py"]);
}

#[test]
fn ignored_and_hidden_files_are_there_when_they_are_named() {
    let project = project();
    let root = project.path();
    let listed = |entries: &[&str]| list(root, root, entries).unwrap();
    assert_eq!(listed(&["notes.log"]), ["notes.log"]);
    assert_eq!(listed(&["target"]), ["target/out.rs"]);
    assert_eq!(listed(&[".github"]), [".github/ci.yml"]);
    assert_eq!(listed(&[".github/*.yml"]), [".github/ci.yml"]);
    assert_eq!(listed(&[".git*"]), [".git-keep", ".gitignore"], "but `.git` never is");
}

#[test]
fn a_folder_that_is_named_is_searched_however_the_rules_are_written() {
    for rule in ["scripts", "scripts/", "/scripts/", "scripts/*", "scripts/**", "scripts/w.py", "*"]
    {
        let project = folder(&[(".gitignore", rule), ("scripts/w.py", "x"), ("a.rs", "x")]);
        let root = project.path();
        let listed = |entries: &[&str]| list(root, root, entries).unwrap();
        for entry in ["scripts", "scripts/", "scripts/**", "scripts/*.py", "*.py"] {
            assert_eq!(listed(&[entry]), ["scripts/w.py"], "{rule}: {entry}");
        }
        assert!(!listed(&[]).contains(&"scripts/w.py".to_owned()), "{rule}: nobody named it");
        let ignored = Files::new(&[], root, root, &[]).unwrap().ignored();
        // Of the hidden files there is `.gitignore`.
        assert_eq!((ignored.hidden, ignored.more), (1, false), "{rule}");
        assert_eq!(ignored.by_rules, if rule == "*" { 2 } else { 1 }, "{rule}");
    }
    // Where something else is left, the rules hold for the rest.
    let project = folder(&[(".gitignore", "*.log\n"), ("src/a.log", "x"), ("src/a.rs", "x")]);
    let root = project.path();
    assert_eq!(list(root, root, &["src"]).unwrap(), ["src/a.rs"]);
    let none = list(root, root, &["src/*.none"]).unwrap_err().to_string();
    assert_eq!(none, "no file matches src/*.none");
}

#[test]
fn entries_are_relative_to_their_base() {
    let project = project();
    let (root, base) = (project.path(), project.path().join("src"));
    assert_eq!(list(&base, root, &["*.py"]).unwrap(), ["src/b.py"]);
    assert_eq!(list(&base, root, &["../a.rs"]).unwrap(), ["a.rs"]);
    assert_eq!(list(&base, root, &["../src/deep/*.rs"]).unwrap(), ["src/deep/c.rs"]);
    assert_eq!(list(&base, root, &[]).unwrap().len(), 5, "none mean the root");
}

#[test]
fn missing_paths_and_globs_without_a_match_are_refused() {
    let project = project();
    let refused = |entry: &str| list(project.path(), project.path(), &[entry]).unwrap_err();
    assert!(matches!(refused("src/z.rs"), FilesError::Missing(path) if path.ends_with("src/z.rs")));
    assert!(matches!(refused("a.rs/b"), FilesError::Missing(_)));
    assert!(matches!(refused("none/*.rs"), FilesError::Missing(path) if path.ends_with("none")));
    assert!(matches!(refused("src/*.go"), FilesError::NoMatch(glob) if glob == "src/*.go"));
    assert!(matches!(refused("*.none"), FilesError::NoMatch(_)));
    assert!(matches!(refused("src/{a"), FilesError::Glob { .. }));
    let many = vec!["a.rs"; limits::ENTRIES_MAX + 1];
    let refused = list(project.path(), project.path(), &many).unwrap_err();
    assert!(matches!(refused, FilesError::TooManyEntries));
}

#[test]
fn symbolic_links_are_followed_only_where_they_are_named() {
    let project = project();
    let root = project.path();
    symlink(root, root.join("src/loop")).unwrap();
    symlink(root.join("a.rs"), root.join("src/link.rs")).unwrap();
    assert_eq!(list(root, root, &["src"]).unwrap().len(), 4);
    assert_eq!(list(root, root, &["src/link.rs"]).unwrap(), ["a.rs"]);
    assert_eq!(list(root, root, &["src/loop"]).unwrap().len(), 5);
}

#[test]
fn files_that_are_only_known_count_as_well() {
    let project = project();
    let root = project.path().canonicalize().unwrap();
    let known = [root.join("src/new.rs"), root.join("other.py")];
    let listed = |entry: &str| Files::new(&[entry.into()], &root, &root, &known).unwrap().list();
    assert_eq!(listed("src/new.rs").unwrap(), [root.join("src/new.rs")]);
    assert_eq!(listed("src/*.rs").unwrap(), [root.join("src/a.rs"), root.join("src/new.rs")]);
    assert!(listed("src").unwrap().contains(&root.join("src/new.rs")));
    assert!(!listed("src").unwrap().contains(&root.join("other.py")));
}

fn found(root: &Path, entries: &[&str], overlay: &Overlay) -> pipemux_search::SearchResults {
    let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
    let files = Files::new(&entries, root, root, &[]).unwrap().list().unwrap();
    let pattern = Pattern::new("needle", false, true, Filters::default()).unwrap();
    search(&pattern, &files, overlay)
}

#[test]
fn files_with_matches_are_in_the_order_of_their_paths() {
    let names: Vec<String> = (0..300).map(|index| format!("{:03}.txt", index * 7 % 300)).collect();
    let files: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), "needle\n\nneedle needle")).collect();
    let folder = folder(&files);
    let found = found(folder.path(), &[], &Overlay::new());
    assert_eq!(found.searched, 300);
    assert!(found.files.is_sorted_by_key(|file| file.path.clone()));
    assert_eq!(found.counts(), Counts { matches: 900, lines: 600 });
}

#[test]
fn text_of_the_caller_is_searched_in_place_of_the_file() {
    let folder = folder(&[("a", "needle"), ("b", "")]);
    let root = folder.path().canonicalize().unwrap();
    let overlay =
        Overlay::from([(root.join("a"), "".into()), (root.join("b"), "needle\nneedle".into())]);
    let found = found(&root, &[], &overlay);
    assert_eq!(found.files.len(), 1);
    assert_eq!((found.files[0].path.clone(), found.files[0].counts.matches), (root.join("b"), 2));
}

#[test]
fn binary_invalid_and_unreadable_files_are_skipped_and_reported() {
    let folder = folder(&[("text", "needle"), ("bom", "\u{feff}needle"), ("empty", "")]);
    let root = folder.path().canonicalize().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(root.join(name), bytes).unwrap();
    write("binary", b"needle\0");
    write("late", &[b"needle\n".repeat(5_000), b"\0".to_vec()].concat());
    write("latin1", b"needle caf\xe9");
    write("other-latin1", b"caf\xe9");
    write("closed", b"needle");
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let found = found(&root, &[], &Overlay::new());
    let names: Vec<_> = found.files.iter().map(|file| file.path.file_name().unwrap()).collect();
    // The superuser can read what nobody may read.
    let can_read = fs::read(root.join("closed")).is_ok();
    let mut expected = vec!["bom", "text"];
    if can_read {
        expected.insert(1, "closed");
    }
    assert_eq!(names, expected);
    let mut skipped: Vec<(&str, SkipReason)> = found
        .skipped
        .iter()
        .map(|file| (file.path.file_name().unwrap().to_str().unwrap(), file.why))
        .collect();
    skipped.retain(|(name, _)| *name != "closed");
    assert_eq!(
        skipped,
        [
            ("binary", SkipReason::Binary),
            ("late", SkipReason::Binary),
            ("latin1", SkipReason::NotUtf8),
        ]
    );
    let piped = self::found(&root, &["pipe"], &Overlay::new());
    assert_eq!(piped.skipped[0].why, SkipReason::NotAFile);
}

#[test]
fn file_beyond_the_limit_is_told() {
    let folder = folder(&[("a", "needle")]);
    let file = fs::File::create(folder.path().join("long")).unwrap();
    file.set_len(limits::FILE_MAX + 1).unwrap();
    let found = found(folder.path(), &[], &Overlay::new());
    assert_eq!((found.files.len(), found.skipped[0].why), (1, SkipReason::TooLong));
}
