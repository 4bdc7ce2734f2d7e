//! Actions by names from other tools mean what they mean there.

use docui::{Actions, Choice};
use pipemux_proto::prototype::Prominence;

use crate::support::*;

fn str_replace(path: &str, old: &str, new: &str) -> Action {
    Action::StrReplace { path: path.into(), old_str: old.into(), new_str: text(new) }
}

fn insert_after(path: &str, line: i64, new: &str) -> Action {
    Action::InsertAfter { path: path.into(), insert_line: line, insert_text: text(new) }
}

fn view(path: &str, range: &[i64]) -> Action {
    Action::ViewFile { path: path.into(), view_range: range.to_vec() }
}

/// Returns the numbered code that a query shows: the first number, and the text.
fn code(done: &Done) -> (Option<u64>, String) {
    let code = done.content.iter().find_map(|piece| match piece {
        Piece::Code(code) => Some((code.first, code.text.clone())),
        _ => None,
    });
    code.unwrap()
}

#[test]
fn str_replace_wants_exactly_one_match() {
    let mut session = TestSession::with(&[("a.rs", "one\ntwo\none\r\n")]);
    std::fs::write(session.path("closed.rs"), "alpha\nbeta\n").unwrap();
    let done_ = session.done(&str_replace("closed.rs", "beta\n", "gamma\ndelta\n"));
    assert_eq!(done_.brief, "closed.rs: 1 match, lines 2-3");
    assert_eq!(session.on_disk("closed.rs"), "alpha\ngamma\ndelta\n");
    let fault = session.failed(&str_replace("a.rs", "onne", "x"));
    assert_eq!(fault.message, "no match in a.rs");
    let needs = session.asks(&str_replace("a.rs", "one", "x"));
    assert_eq!(needs.question.text, "2 matches");
    assert_eq!(
        done(session.host.answer(Choice::Picked(vec![2]))).brief,
        "a.rs: 1 of 2 matches, line 3"
    );
    assert_eq!(session.on_disk("a.rs"), "one\ntwo\nx\r\n");
    session.done(&Action::StrRemove { path: "a.rs".into(), old_str: "two\n".into() });
    session.done(&Action::StrReplaceHere { old_str: "one".into(), new_str: text("1") });
    assert_eq!(session.on_disk("a.rs"), "1\nx\r\n");
    assert_eq!(session.failed(&str_replace("a.rs", "", "x")).code, pipemux_proto::Code::Usage);
}

#[test]
fn edit_replaces_all_when_told_and_makes_files() {
    let mut session = TestSession::with(&[("a.rs", "one\none\n")]);
    let edit = |old: &str, new: &str, path: &str, all| Action::EditFile {
        file_path: path.into(),
        old_string: old.into(),
        new_string: text(new),
        replace_all: all,
    };
    assert_eq!(session.done(&edit("one", "two", "a.rs", true)).brief, "a.rs: 2 matches");
    assert_eq!(session.on_disk("a.rs"), "two\ntwo\n");
    session.done(&edit("", "new\n", "sub/new.rs", false));
    assert_eq!(session.on_disk("sub/new.rs"), "new\n");
    session.view();
    session.done(&undo());
    session.done(&undo());
    assert_eq!(session.on_disk("a.rs"), "one\none\n");
}

#[test]
fn insert_line_means_after_that_line() {
    let mut session = TestSession::with(&[("a.rs", "1\n2\n3\n")]);
    std::fs::write(session.path("closed.rs"), "1\n2").unwrap();
    session.done(&insert_after("a.rs", 2, "x\n"));
    assert_eq!(session.on_disk("a.rs"), "1\n2\nx\n3\n");
    session.view();
    session.done(&insert_after("a.rs", 0, "top"));
    session.view();
    session.done(&Action::InsertTextHere { insert_line: 5, text: text("end") });
    assert_eq!(session.on_disk("a.rs"), "top\n1\n2\nx\n3\nend\n");
    session.view();
    // Numbers are those that were seen, also after earlier steps of the run.
    let seen = session.seen_version();
    done(session.host.invoke_as("me", seen, &delete_lines(1, 1)));
    assert_eq!(session.on_disk("a.rs"), "1\n2\nx\n3\nend\n");
    let outcome = session.done(&insert_after("closed.rs", 1, "x"));
    assert_eq!(outcome.brief, "closed.rs: 1 line, now line 2; line 2 is now 3");
    assert_eq!(session.on_disk("closed.rs"), "1\nx\n2");
    let fault = session.failed(&insert_after("a.rs", 99, "x"));
    assert_eq!(fault.code, pipemux_proto::Code::Usage);
    assert_eq!(session.failed(&insert_after("a.rs", -1, "x")).code, pipemux_proto::Code::Usage);
}

#[test]
fn view_shows_ranges_that_can_be_edited_by_their_numbers() {
    let mut session = TestSession::with(&[("a.rs", "a\n")]);
    std::fs::write(session.path("b.rs"), numbered(9)).unwrap();
    let before = session.seen_version();
    let outcome = session.done(&view("b.rs", &[3, 4]));
    assert_eq!(outcome.brief, "b.rs, lines 3-4 of 9");
    assert_eq!(code(&outcome), (Some(3), "line 3\nline 4\n".to_owned()));
    assert_eq!(value(&outcome), "line 3\nline 4\n");
    assert_eq!(session.seen_version(), before, "a query changes nothing");
    assert_eq!(code(&session.done(&view("b.rs", &[8, -1]))).1, "line 8\nline 9\n");
    assert_eq!(code(&session.done(&view("b.rs", &[]))).1, numbered(9));
    let read = |offset, limit| Action::ReadFile { path: "b.rs".into(), offset, limit };
    assert_eq!(code(&session.done(&read(8, 0))).1, "line 8\nline 9\n");
    assert_eq!(code(&session.done(&read(2, 1))), (Some(2), "line 2\n".to_owned()));
    for wrong in [&[0, 3][..], &[4, 3], &[1], &[1, -2], &[99, -1]] {
        assert_eq!(session.failed(&view("b.rs", wrong)).code, pipemux_proto::Code::Usage);
    }
    let edit =
        Action::ReplaceLines { first: line_of("b.rs:3"), last: line_of("b.rs:3"), text: text("x") };
    session.done(&edit);
    assert_eq!(session.on_disk("b.rs"), numbered(9).replace("line 3", "x"));
}

#[test]
fn view_of_a_folder_lists_two_levels_without_hidden_names() {
    let mut session = TestSession::with(&[("a.rs", "a\n")]);
    std::fs::create_dir_all(session.path("src/deep/deeper")).unwrap();
    std::fs::write(session.path("src/b.rs"), "").unwrap();
    std::fs::write(session.path(".hidden"), "").unwrap();
    let outcome = session.done(&view(".", &[]));
    assert_eq!(value(&outcome), "a.rs\nsrc/\nsrc/b.rs\nsrc/deep/\n");
}

#[test]
fn create_asks_before_it_replaces_and_write_file_does_not() {
    let mut session = TestSession::with(&[("a.rs", "a\n")]);
    let create = |path: &str| Action::CreateFile { path: path.into(), file_text: text("new\n") };
    session.done(&create("b.rs"));
    assert_eq!(session.on_disk("b.rs"), "new\n");
    session.asks(&create("a.rs"));
    failed(session.host.answer(Choice::Picked(vec![2])));
    let write = Action::WriteFile { path: "a.rs".into(), content: text("all\n") };
    session.done(&write);
    assert_eq!(session.on_disk("a.rs"), "all\n");
}

#[test]
fn aliases_are_shown_in_no_window_and_share_their_names() {
    let prototypes = Action::prototypes();
    let aliases = prototypes.iter().filter(|one| one.prominence == Prominence::Alias);
    let (previews, aliases): (Vec<_>, Vec<_>) =
        aliases.partition(|one| one.name.starts_with("preview_"));
    let mut names: Vec<_> = aliases.iter().map(|one| one.written_name()).collect();
    names.dedup();
    assert_eq!(
        names,
        [
            "glob",
            "grep",
            "apply_patch",
            "str_replace",
            "edit",
            "view",
            "read_file",
            "insert",
            "append",
            "create",
            "write_file"
        ]
    );
    // A preview is called like its action, with one argument more.
    assert_eq!(previews.len(), 18);
    for preview in previews {
        let own = prototypes.iter().find(|one| preview.name == format!("preview_{}", one.name));
        let own = own.unwrap();
        assert_eq!(preview.written_name(), own.written_name());
        assert_eq!(preview.risk, pipemux_proto::prototype::Risk::Query);
        assert_eq!(preview.params[..own.params.len()], own.params);
        assert_eq!(preview.params[own.params.len()].name, "preview");
    }
}
