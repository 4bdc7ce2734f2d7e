//! Finding and replacing in a project.

use pipemux_tests::TestEnv;

fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write("a.rs", "fn count() {}\n// count\nfn main() { count() }\n");
    env.write("b.rs", "use a::count;\nfn recount() { count() }\n");
    env.pipemux(&["open", "editor", "a.rs"]).ok();
    env
}

#[test]
fn lines_are_found_in_all_files_and_can_be_edited_by_their_numbers() {
    let env = project();
    env.run(r"editor.find('\bcount\(\)', regex=true, only='code')")
        .ok()
        .has("3 matches in 3 lines of 2 files")
        .has("a.rs:\n1\tfn count() {}\n3\tfn main() { count() }\nb.rs:\n2\tfn recount() { count() }\n")
        .lacks("## editor/main");
    env.run("editor.replace_lines('b.rs:2', 2, 'fn b() {}')").ok();
    assert_eq!(env.read("b.rs"), "use a::count;\nfn b() {}\n");
}

#[test]
fn matches_are_replaced_in_all_files_by_one_change() {
    let env = project();
    env.run("editor.replace('count', 'tally', in='*.rs', word=true, only='code', all=true)")
        .ok()
        .has("4 matches: a.rs 2, b.rs 2; left: 1 in comments (a.rs:2), 1 not whole words (b.rs:2)");
    assert_eq!(env.read("b.rs"), "use a::tally;\nfn recount() { tally() }\n");
    env.run("editor.undo()").ok();
    assert_eq!(env.read("b.rs"), "use a::count;\nfn recount() { count() }\n");
}

#[test]
fn file_can_be_answered_by_its_name() {
    let env = project();
    env.run("editor.replace('count', 'tally', in='*.rs')").exits(5).has("6 matches in 2 files");
    env.pipemux(&["answer", "all in b.rs"]).ok();
    assert_eq!(env.read("b.rs"), "use a::tally;\nfn retally() { tally() }\n");
    assert!(env.read("a.rs").starts_with("fn count()"));
}

#[test]
fn nothing_found_is_no_failure() {
    let env = project();
    env.run("editor.find('zzz')").ok().has("0 matches in 2 files");
    env.run("editor.find('zzz', min=1)").exits(1).has("expected at least 1");
}
