//! The example app `ide` on real git repositories.

#[allow(dead_code)]
#[path = "../../../../tests/examples/ide.rs"]
mod app;

use std::path::Path;
use std::process::Command;

use self::app::{Action, FILES_MAX, Ide, TreeFile};
use docui::testing::Host;
use docui::{Actions, Anchor, App, Found, Lod};
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::fault::{Code, Fault};
use pipemux_proto::projection::{Arg, Copied, Piece};
use pipemux_proto::{Value, prototype::Risk};
use tempfile::TempDir;

struct Fixture {
    host: Host<Ide>,
    dir: TempDir,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "--quiet"]);
        git(dir.path(), &["config", "user.name", "Ann"]);
        git(dir.path(), &["config", "user.email", "ann@example.org"]);
        for (name, text) in files {
            write(dir.path(), name, text);
        }
        let host = Host::open(&[], dir.path(), dir.path()).unwrap();
        Self { host, dir }
    }

    fn text(&mut self) -> String {
        self.host.text(Lod::Summary, 1500).unwrap()
    }

    fn done(&mut self, action: Action) -> Done {
        match self.host.invoke(&action) {
            Outcome::Done(done) => done,
            other => panic!("{action:?} should be done: {other:?}"),
        }
    }

    fn fault(&mut self, action: Action) -> Fault {
        match self.host.invoke(&action) {
            Outcome::Failed(fault) => fault,
            other => panic!("{action:?} should fail: {other:?}"),
        }
    }

    fn staged(&mut self) -> Vec<String> {
        let Value::List(items) = self.done(Action::GitStaged {}).value.unwrap().to_value().unwrap()
        else {
            panic!("a list")
        };
        items.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
    }

    fn committed(&self) -> String {
        git(self.dir.path(), &["show", "--name-only", "--format=%s", "-z", "HEAD"])
    }
}

fn git(dir: &Path, args: &[&str]) -> String {
    let ended = Command::new("git").arg("-C").arg(dir).args(args).output().unwrap();
    assert!(ended.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn files(paths: &[&str]) -> Vec<TreeFile> {
    paths.iter().map(|path| TreeFile::Written((*path).to_owned())).collect()
}

fn stage(paths: &[&str]) -> Action {
    Action::GitStage { files: files(paths) }
}

fn commit(message: &str, paths: &[&str]) -> Action {
    Action::GitCommit { message: message.into(), files: files(paths) }
}

#[test]
fn files_are_staged_and_committed_through_the_bound_link() {
    let mut fixture =
        Fixture::new(&[("src/main.ts", "a"), ("src/utils.ts", "b"), ("target/x", "c")]);
    let text = fixture.text();
    assert!(text.contains(" · 2 files · 0 staged, 3 changed\n"), "{text}");
    assert!(text.contains("- [src/main.ts](obj:src/main.ts) changed\n"), "{text}");
    assert!(!text.contains("target/") && !text.contains(".git/"), "{text}");
    assert_eq!(fixture.done(stage(&["src/main.ts", "src/utils.ts"])).brief, "2 files staged");
    assert_eq!(fixture.staged(), ["src/main.ts", "src/utils.ts"]);
    // The link commits the files that are staged when it is clicked.
    let projection = fixture.host.project(Lod::Summary, 1500).unwrap();
    let link = projection.content.iter().find_map(|piece| match piece {
        Piece::Link(link) => Some(link),
        _ => None,
    });
    let link = link.unwrap();
    assert_eq!((link.label.as_str(), link.titled), ("Git: Commit All", true));
    assert_eq!(link.action, "git_commit");
    let code = "git_commit(message='Update', files=git_staged())";
    assert_eq!(link.code.as_deref(), Some(code));
    let committed = fixture.done(commit("Update", &["src/main.ts", "src/utils.ts"]));
    assert!(committed.brief.ends_with(" Update"));
    assert!(fixture.committed().starts_with("Update\0"));
    assert!(fixture.text().contains("0 staged, 1 changed"));
}

#[test]
fn files_are_given_as_refs_paths_or_result_of_another_step() {
    let mut fixture =
        Fixture::new(&[("a b.rs", "1"), ("文.rs", "2"), ("-n", "3"), ("*", "4"), ("x", "5")]);
    fixture.text();
    let anchor = Anchor::<app::File>::new("文.rs", 0);
    let decode =
        |files| Action::decode("git_stage", [("files".to_owned(), files)].into_iter().collect());
    let mixed = Arg::List(vec![docui::ArgType::to_arg(&anchor), Value::from("a b.rs").into()]);
    let from_root = |path: &str| TreeFile::FromRoot(path.into());
    let (one, two) = (from_root("文.rs"), TreeFile::Written("a b.rs".into()));
    assert_eq!(decode(mixed).unwrap(), Action::GitStage { files: vec![one, two] });
    let value = Value::from(vec!["-n", "*"]).to_blob();
    let copied =
        Arg::Copied(Copied { value, from: "ide/main".into(), label: "staged".into(), file: None });
    let files = ["-n", "*"].map(from_root).to_vec();
    assert_eq!(decode(copied).unwrap(), Action::GitStage { files });
    assert_eq!(decode(Value::Int(7).into()).unwrap_err().code, Code::Usage);
    // Names are taken literally: neither options nor patterns.
    fixture.done(stage(&["-n", "*"]));
    assert_eq!(fixture.staged(), ["*", "-n"]);
    fixture.done(stage(&["文.rs", "a b.rs"]));
    assert_eq!(fixture.staged(), ["*", "-n", "a b.rs", "文.rs"]);
    assert!(fixture.text().contains("[x](obj:x) changed\n"));
}

#[test]
fn committing_some_files_leaves_the_others_staged() {
    let mut fixture = Fixture::new(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n")]);
    fixture.done(stage(&["a", "b", "c"]));
    fixture.done(commit("-a\n\nfirst", &[]));
    assert!(fixture.committed().starts_with("-a\0"), "{}", fixture.committed());
    write(fixture.dir.path(), "a", "2\n");
    std::fs::remove_file(fixture.dir.path().join("b")).unwrap();
    fixture.done(stage(&["a", "b"]));
    assert_eq!(fixture.staged(), ["a", "b"]);
    fixture.done(commit("only b", &["b"]));
    assert!(fixture.committed().starts_with("only b\0") && fixture.committed().contains("\nb\0"));
    assert_eq!(fixture.staged(), ["a"]);
    // Only what was staged is committed, never a later change of the file.
    write(fixture.dir.path(), "a", "3\n");
    assert!(fixture.text().contains("[a](obj:a) staged changed\n"));
    let refused = fixture.fault(commit("a", &["a"]));
    assert_eq!(refused.code, Code::Refused);
    fixture.done(commit("a", &[]));
    assert_eq!(git(fixture.dir.path(), &["show", "HEAD:a"]), "2\n");
}

#[test]
fn errors_of_git_are_passed_on() {
    let mut fixture = Fixture::new(&[("a", "1\n")]);
    for (action, words) in [
        (stage(&["nope"]), "git add: fatal: pathspec 'nope' did not match any files"),
        (stage(&["../elsewhere"]), "is outside repository"),
        (commit("x", &[]), "git commit: "),
        (commit("x", &["nope"]), "did not match any file"),
    ] {
        let fault = fixture.fault(action);
        assert_eq!(fault.code, Code::Failed);
        assert!(fault.message.contains(words), "{fault}");
    }
    assert_eq!(fixture.done(stage(&[])).brief, "0 files staged");
    fixture.done(stage(&["a"]));
    assert!(fixture.fault(commit("", &[])).message.contains("empty commit message"));
    let status = fixture.done(Action::GitStatus {});
    assert!(status.brief.starts_with("No commits yet on "), "{status:?}");
    assert_eq!(status.detail.as_deref(), Some("A  a"));
}

#[test]
fn reading_a_file_returns_its_bytes() {
    let big = "x".repeat(512 * 1024);
    let mut fixture =
        Fixture::new(&[("a.txt", "文\r\n"), ("big", &big), ("bigger", &(big.clone() + "x"))]);
    std::os::unix::fs::symlink("/etc/passwd", fixture.dir.path().join("link")).unwrap();
    assert!(!fixture.text().contains("link]"));
    let app = fixture.host.app().unwrap();
    assert_eq!(app.read("a.txt").unwrap(), "文\r\n".as_bytes());
    assert_eq!(app.read("big").unwrap().len(), 512 * 1024);
    assert_eq!(app.read("bigger").unwrap_err().code, Code::Refused);
    assert_eq!(app.find("a.txt"), Found::Here(0));
    for other in ["link", "../x", "/etc/passwd", ".git/config", ""] {
        assert_eq!(app.find(other), Found::Gone(None), "{other}");
    }
    std::fs::remove_file(fixture.dir.path().join("a.txt")).unwrap();
    fixture.text();
    assert_eq!(fixture.host.app().unwrap().find("a.txt"), Found::Gone(None));
}

#[test]
fn subdirectory_of_repository_shows_and_stages_only_its_files() {
    let fixture = Fixture::new(&[("top", "1"), ("sub/in", "2")]);
    let mut fixture = Fixture {
        host: Host::open(&["sub"], fixture.dir.path(), fixture.dir.path()).unwrap(),
        ..fixture
    };
    assert!(fixture.text().contains("- [in](obj:in) changed\n"));
    git(fixture.dir.path(), &["add", "top"]);
    // A path that a reader wrote starts at the reader's directory.
    fixture.done(stage(&["sub/in"]));
    assert_eq!(fixture.staged(), ["in"]);
    fixture.done(commit("in", &["sub/in"]));
    assert!(fixture.committed().contains("sub/in") && !fixture.committed().contains("top"));
}

#[test]
fn long_listing_is_cut_and_plain_directory_is_shown_without_git() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..FILES_MAX + 10 {
        std::fs::write(dir.path().join(format!("{n:05}")), "").unwrap();
    }
    let mut host = Host::<Ide>::open(&[], dir.path(), dir.path()).unwrap();
    let text = host.text(Lod::Summary, 300).unwrap();
    assert!(text.contains(&format!(" · {FILES_MAX} files or more · 0 staged")), "{text}");
    assert!(text.contains(" more: pipemux view ide/main --budget 1200\n"), "{text}");
    assert!(docui::tokens::estimate(&text) < 400, "{text}");
    let Outcome::Failed(fault) = host.invoke(&Action::GitStatus {}) else {
        panic!("no repository")
    };
    assert!(fault.message.contains("not a git repository"), "{fault}");
    assert_eq!(host.text(Lod::Gist, 300).unwrap().lines().count(), 2);
    let other = host.attach(&["/"]).unwrap_err();
    assert!(other.hints[0].contains("pipemux open ide/other"), "{other:?}");
    for wrong in [&["nope"][..], &["00001"], &["/", "/"]] {
        let refused = Host::<Ide>::open(wrong, dir.path(), dir.path()).err();
        assert_eq!(refused.map(|fault| fault.code), Some(Code::Usage));
    }
}

#[test]
fn no_action_is_destructive() {
    assert!(Action::prototypes().iter().all(|action| action.risk != Risk::Destructive));
}
