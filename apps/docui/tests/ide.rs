//! The example `ide` on real repositories.
#![allow(clippy::unwrap_used, missing_docs)]

#[allow(dead_code)]
#[path = "../examples/ide.rs"]
mod ide;

use std::path::Path;
use std::process::Command;

use docui::testing::Host;
use docui::{Actions, Anchor, App, Found, Lod};
use ide::{Action, FILES_MAX, FilePath, Ide};
use pipemux_proto::app::{Done, Outcome};
use pipemux_proto::fault::{Code, Fault};
use pipemux_proto::projection::{Arg, Copied, Piece};
use pipemux_proto::{Value, prototype::Risk};
use tempfile::TempDir;

struct Desk {
    host: Host<Ide>,
    dir: TempDir,
}

impl Desk {
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

fn files(paths: &[&str]) -> Vec<FilePath> {
    paths.iter().map(|path| FilePath((*path).to_owned())).collect()
}

fn stage(paths: &[&str]) -> Action {
    Action::GitStage { files: files(paths) }
}

fn commit(message: &str, paths: &[&str]) -> Action {
    Action::GitCommit { message: message.into(), files: files(paths) }
}

#[test]
fn the_scenario_of_the_document() {
    let mut desk = Desk::new(&[("src/main.ts", "a"), ("src/utils.ts", "b"), ("target/x", "c")]);
    let text = desk.text();
    assert!(text.contains(" · 2 files · 0 staged, 3 changed\n"), "{text}");
    assert!(text.contains("- [src/main.ts](obj:src/main.ts) changed\n"), "{text}");
    assert!(!text.contains("target/") && !text.contains(".git/"), "{text}");
    assert_eq!(desk.done(stage(&["src/main.ts", "src/utils.ts"])).brief, "2 files staged");
    assert_eq!(desk.staged(), ["src/main.ts", "src/utils.ts"]);
    // The link is bound to what is staged now, and says so.
    let projection = desk.host.project(Lod::Summary, 1500).unwrap();
    let link = projection.content.iter().find_map(|piece| match piece {
        Piece::Link(link) => Some(link),
        _ => None,
    });
    let link = link.unwrap();
    assert_eq!((link.label.as_str(), link.titled), ("Git: Commit All", true));
    let bound = Action::decode(&link.action, link.args.clone()).unwrap();
    assert_eq!(bound, commit("Update", &["src/main.ts", "src/utils.ts"]));
    assert!(desk.done(bound).brief.ends_with(" Update"));
    assert!(desk.committed().starts_with("Update\0"));
    assert!(desk.text().contains("0 staged, 1 changed"));
}

#[test]
fn files_are_given_as_refs_paths_or_another_steps_result() {
    let mut desk =
        Desk::new(&[("a b.rs", "1"), ("文.rs", "2"), ("-n", "3"), ("*", "4"), ("x", "5")]);
    desk.text();
    let anchor = Anchor::<ide::File>::new("文.rs", 0);
    let decode =
        |files| Action::decode("git_stage", [("files".to_owned(), files)].into_iter().collect());
    let mixed = Arg::List(vec![docui::ArgType::to_arg(&anchor), Value::from("a b.rs").into()]);
    assert_eq!(decode(mixed).unwrap(), stage(&["文.rs", "a b.rs"]));
    let value = Value::from(vec!["-n", "*"]).to_blob();
    let copied = Arg::Copied(Copied { value, from: "ide/main".into(), label: "staged".into() });
    assert_eq!(decode(copied).unwrap(), stage(&["-n", "*"]));
    assert_eq!(decode(Value::Int(7).into()).unwrap_err().code, Code::Usage);
    // Names are taken literally: neither options nor patterns.
    desk.done(stage(&["-n", "*"]));
    assert_eq!(desk.staged(), ["*", "-n"]);
    desk.done(stage(&["文.rs", "a b.rs"]));
    assert_eq!(desk.staged(), ["*", "-n", "a b.rs", "文.rs"]);
    assert!(desk.text().contains("[x](obj:x) changed\n"));
}

#[test]
fn a_commit_of_some_files_leaves_the_others_staged() {
    let mut desk = Desk::new(&[("a", "1\n"), ("b", "1\n"), ("c", "1\n")]);
    desk.done(stage(&["a", "b", "c"]));
    desk.done(commit("-a\n\nfirst", &[]));
    assert!(desk.committed().starts_with("-a\0"), "{}", desk.committed());
    write(desk.dir.path(), "a", "2\n");
    std::fs::remove_file(desk.dir.path().join("b")).unwrap();
    desk.done(stage(&["a", "b"]));
    assert_eq!(desk.staged(), ["a", "b"]);
    desk.done(commit("only b", &["b"]));
    assert!(desk.committed().starts_with("only b\0") && desk.committed().contains("\nb\0"));
    assert_eq!(desk.staged(), ["a"]);
    // What was staged is what is committed, never what came after it.
    write(desk.dir.path(), "a", "3\n");
    assert!(desk.text().contains("[a](obj:a) staged changed\n"));
    let refused = desk.fault(commit("a", &["a"]));
    assert_eq!(refused.code, Code::Refused);
    desk.done(commit("a", &[]));
    assert_eq!(git(desk.dir.path(), &["show", "HEAD:a"]), "2\n");
}

#[test]
fn gits_own_words_are_the_error() {
    let mut desk = Desk::new(&[("a", "1\n")]);
    for (action, words) in [
        (stage(&["nope"]), "git add: fatal: pathspec 'nope' did not match any files"),
        (stage(&["../elsewhere"]), "is outside repository"),
        (commit("x", &[]), "git commit: "),
        (commit("x", &["nope"]), "did not match any file"),
    ] {
        let fault = desk.fault(action);
        assert_eq!(fault.code, Code::Failed);
        assert!(fault.message.contains(words), "{fault}");
    }
    assert_eq!(desk.done(stage(&[])).brief, "0 files staged");
    desk.done(stage(&["a"]));
    assert!(desk.fault(commit("", &[])).message.contains("empty commit message"));
    let status = desk.done(Action::GitStatus {});
    assert!(status.brief.starts_with("No commits yet on "), "{status:?}");
    assert_eq!(status.detail.as_deref(), Some("A  a"));
}

#[test]
fn a_files_text_is_its_value() {
    let big = "x".repeat(512 * 1024);
    let mut desk =
        Desk::new(&[("a.txt", "文\r\n"), ("big", &big), ("bigger", &(big.clone() + "x"))]);
    std::os::unix::fs::symlink("/etc/passwd", desk.dir.path().join("link")).unwrap();
    assert!(!desk.text().contains("link]"));
    let app = desk.host.app().unwrap();
    assert_eq!(app.read("a.txt").unwrap(), "文\r\n".as_bytes());
    assert_eq!(app.read("big").unwrap().len(), 512 * 1024);
    assert_eq!(app.read("bigger").unwrap_err().code, Code::Refused);
    assert_eq!(app.find("a.txt"), Found::Here(0));
    for other in ["link", "../x", "/etc/passwd", ".git/config", ""] {
        assert_eq!(app.find(other), Found::Gone(None), "{other}");
    }
    std::fs::remove_file(desk.dir.path().join("a.txt")).unwrap();
    desk.text();
    assert_eq!(desk.host.app().unwrap().find("a.txt"), Found::Gone(None));
}

#[test]
fn a_directory_below_the_top_shows_and_stages_what_is_in_it() {
    let desk = Desk::new(&[("top", "1"), ("sub/in", "2")]);
    let mut desk =
        Desk { host: Host::open(&["sub"], desk.dir.path(), desk.dir.path()).unwrap(), ..desk };
    assert!(desk.text().contains("- [in](obj:in) changed\n"));
    git(desk.dir.path(), &["add", "top"]);
    desk.done(stage(&["in"]));
    assert_eq!(desk.staged(), ["in"]);
    desk.done(commit("in", &["in"]));
    assert!(desk.committed().contains("sub/in") && !desk.committed().contains("top"));
}

#[test]
fn much_is_cut_and_what_is_no_repository_is_shown_all_the_same() {
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
fn nothing_that_git_can_do_here_is_destructive() {
    assert!(Action::prototypes().iter().all(|action| action.risk != Risk::Destructive));
}
