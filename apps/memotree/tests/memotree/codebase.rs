//! The symbols of the project in the document.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use docui::Lod;
use pipemux_context::{Budgets, Frame, RenderSource, Share, Size, shares, slots};
use pipemux_memotree::codebase::{Codebase, scan::scan, section};
use pipemux_proto::projection::Piece;

use crate::common::Fixture;

fn share(tokens: u64) -> Share {
    let budgets = Budgets::new(Size::tokens(tokens)).framed_by(Frame::Caller);
    shares(&[RenderSource::new("codebase", "")], &budgets)[0]
}

fn shown(codebase: &Codebase, tokens: u64) -> String {
    let lines = section(codebase, &share(tokens)).content.into_iter().map(|line| line.content);
    let text = |piece: Piece| match piece {
        Piece::Text(text) => text,
        other => panic!("text, not {other:?}"),
    };
    slots::content(lines).into_iter().map(text).collect()
}

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    write(
        dir.path(),
        "src/rope.rs",
        "pub struct Rope;\nimpl Rope {\n    pub fn len(&self) -> usize { 0 }\n}\n",
    );
    for name in ["a", "b", "c"] {
        // Neither comments, strings nor members mention what has the same name.
        let text = format!(
            "use crate::rope::Rope; // Runner\nfn use_{name}(rope: Rope) {{ rope.helper(\"Runner\") }}\n"
        );
        write(dir.path(), &format!("src/users/{name}.rs"), &text);
    }
    write(dir.path(), "tools/run.py", "class Runner:\n    def run(self):\n        pass\n");
    write(dir.path(), "src/lib.rs", "pub fn helper() {}\n");
    write(dir.path(), "target/made.rs", "struct Made;");
    write(dir.path(), ".gitignore", "/target\n");
    dir
}

#[test]
fn most_referenced_symbols_come_first_then_folders_files_types_and_functions() {
    let dir = project();
    let found = scan(dir.path(), &dir.path().join(".git/cache"));
    assert_eq!(
        shown(&found, 2_000),
        "6 source files, 8 symbols; those that most other files mention:\n\
         - src/rope.rs#Rope · struct · 3 files\n\
         - src/ · 5 files\n\
         \u{20} - src/users/ · 3 files\n\
         \u{20}   - src/users/a.rs · 1 symbol\n\
         \u{20}     - src/users/a.rs#use_a · fn\n\
         \u{20}   - src/users/b.rs · 1 symbol\n\
         \u{20}     - src/users/b.rs#use_b · fn\n\
         \u{20}   - src/users/c.rs · 1 symbol\n\
         \u{20}     - src/users/c.rs#use_c · fn\n\
         \u{20} - src/lib.rs · 1 symbol\n\
         \u{20}   - src/lib.rs#helper · fn\n\
         \u{20} - src/rope.rs · 2 symbols\n\
         \u{20}   - src/rope.rs#Rope · struct\n\
         \u{20}     - src/rope.rs#Rope::len · fn\n\
         - tools/ · 1 file\n\
         \u{20} - tools/run.py · 2 symbols\n\
         \u{20}   - tools/run.py#Runner · class\n\
         \u{20}     - tools/run.py#Runner.run · def\n"
    );
    // Folded, as far as a small budget goes: what is on top stays.
    let small = shown(&found, 60);
    assert!(small.contains("src/rope.rs#Rope") && !small.contains("use_a"), "{small}");
}

#[test]
fn cached_symbols_of_a_file_hold_until_it_changes() {
    let dir = project();
    let cache = dir.path().join(".git/cache");
    let first = scan(dir.path(), &cache);
    let bytes = fs::read(&cache).unwrap();
    assert_eq!(scan(dir.path(), &cache), first);
    assert_eq!(fs::read(&cache).unwrap(), bytes, "nothing changed, nothing is written");
    fs::remove_file(dir.path().join("src/users/a.rs")).unwrap();
    write(dir.path(), "src/rope.rs", "pub struct Rope;\npub struct Cursor;\n");
    let second = scan(dir.path(), &cache);
    let paths: Vec<&str> = second.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        paths,
        ["src/lib.rs", "src/rope.rs", "src/users/b.rs", "src/users/c.rs", "tools/run.py"]
    );
    assert_eq!(second.files[1].symbols[1].name, "Cursor");
    fs::write(&cache, "damaged").unwrap();
    assert_eq!(scan(dir.path(), &cache), second);
}

#[test]
fn project_of_many_files_is_shown_within_the_same_budget() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    for number in 0..1_000 {
        let text = format!(
            "pub struct Type{number};\nfn f{number}(a: Type{}, b: Type{}) {{}}\n",
            number / 2,
            number / 3
        );
        write(dir.path(), &format!("part{}/src/file{number}.rs", number % 20), &text);
    }
    let found = scan(dir.path(), &dir.path().join(".git/cache"));
    assert_eq!(found.files.len(), 1_000);
    for tokens in [100, 300, 1_000] {
        let text = shown(&found, tokens);
        assert!(docui::tokens::estimate(&text) <= tokens, "{text}");
    }
    let text = shown(&found, 300);
    assert!(text.lines().count() > 12 && text.contains("#Type"), "{text}");
}

#[test]
fn window_shows_them_once_they_are_found_and_not_when_it_is_told_so() {
    let tree = Fixture::with_nodes();
    write(&tree.root(), "src/a.rs", "pub struct Rope;\n");
    let mut tree = tree.restart();
    // The thread that reads the files wakes the session; here the window is asked for until it is
    // done.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !tree.host.text(Lod::Summary, 4_000).unwrap().contains("### Codebase\n1 source file") {
        assert!(Instant::now() < deadline, "{}", tree.view());
        std::thread::yield_now();
    }
    let shown = tree.view();
    let mut tree = tree.restart();
    assert_eq!(tree.view(), shown, "a session that wakes shows it at once");
    tree.call("set", [("codebase", pipemux_proto::Value::from(false).into())]);
    assert!(!tree.view().contains("### Codebase"), "{}", tree.view());
    let mut tree = tree.restart();
    assert!(!tree.view().contains("### Codebase"), "{}", tree.view());
}
