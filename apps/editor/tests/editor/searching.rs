//! Finding and replacing in any number of files.

use std::fs;

use docui::{Pattern, TextOrPattern};
use pipemux_editor::Only;

use super::support::*;

/// A project in which `a.rs` is open.
fn project() -> TestSession {
    let session = TestSession::with(&[(
        "a.rs",
        "fn count() {}\n// count, recount\nfn main() {\n    count(); count();\n    println!(\"count\");\n}\n",
    )]);
    fs::create_dir_all(session.path("src")).unwrap();
    fs::create_dir(session.path(".git")).unwrap();
    fs::write(session.path("src/b.rs"), "use a::count;\n\nfn b() { count() }\n").unwrap();
    fs::write(session.path("src/c.md"), "nothing\n").unwrap();
    session
}

fn find_in(text: &str, files: &[&str], change: impl FnOnce(&mut Action)) -> Action {
    let mut action = find(text);
    if let Action::Find { r#in, .. } = &mut action {
        *r#in = files.iter().map(|file| (*file).into()).collect();
    }
    change(&mut action);
    action
}

fn words_only(action: &mut Action) {
    if let Action::Find { word, .. } | Action::Replace { word, .. } = action {
        *word = true;
    }
}

fn code_only(action: &mut Action) {
    if let Action::Find { only, .. } | Action::Replace { only, .. } = action {
        *only = Some(Only::Code);
    }
}

fn counts_only(action: &mut Action) {
    if let Action::Find { count, .. } = action {
        *count = true;
    }
}

#[test]
fn matches_are_listed_by_file_each_line_once() {
    let mut session = project();
    let found = session.done(&find("count"));
    assert_eq!(found.brief, "8 matches in 6 lines of 2 files");
    assert_eq!(
        content(&found),
        "defined: a.rs:1 fn count\na.rs:\n1\tfn count() {}\n2\t// count, recount\n4\t    count(); count();\n\
         5\t    println!(\"count\");\nsrc/b.rs:\n1\tuse a::count;\n3\tfn b() { count() }\n"
    );
    assert_eq!(
        session.host.app().unwrap().current().unwrap().path(),
        session.path("a.rs").canonicalize().unwrap()
    );
    assert!(!session.view().contains("b.rs"), "the window stays as it is");
}

#[test]
fn filters_tell_what_they_left_out() {
    let mut session = project();
    let found = session.done(&find_in("count", &["a.rs"], |action| {
        words_only(action);
        code_only(action);
    }));
    assert_eq!(
        found.brief,
        "3 matches in 2 lines; left: 1 in comments (2), 1 in strings (5), 1 not whole words (2)"
    );
    let found = session.done(&find_in("nothing", &["src"], code_only));
    assert_eq!(
        found.brief,
        "0 matches in 2 files; left: 1 in files whose language isn't known (src/c.md:1)"
    );
}

#[test]
fn counts_name_files_without_a_match_when_few_were_asked_for() {
    let mut session = project();
    let found = session.done(&find_in("count", &[], counts_only));
    assert_eq!(content(&found), "a.rs: 6 in 4 lines\nsrc/b.rs: 2\nsrc/c.md: 0\n");
}

#[test]
fn nothing_found_is_an_answer() {
    let mut session = project();
    let found = session.done(&find("COUNT"));
    assert_eq!(found.brief, "0 matches in 3 files; case=false has 8");
    let found = session.done(&find_in("zzz", &["src/*.rs"], |_| {}));
    assert_eq!((found.brief.as_str(), content(&found).as_str()), ("0 matches in src/b.rs", ""));
    let least = find_in("count", &["src/{b,c}.*"], |action| {
        if let Action::Find { min, .. } = action {
            *min = 3;
        }
    });
    let fault = session.failed(&least);
    assert_eq!(fault.message, "2 matches in 2 lines: expected at least 3");
}

#[test]
fn of_a_file_with_many_matches_the_first_and_the_last_lines_are_shown() {
    let mut session = TestSession::with(&[]);
    let row = |n: usize| format!("2026-03-01 {n:04} ERROR 502 /books/{n}\n");
    fs::write(session.path("server.log"), (1..=600).map(row).collect::<String>()).unwrap();
    fs::write(session.path("z.txt"), "no ERROR\n").unwrap();
    let found = session.done(&find("ERROR"));
    assert_eq!(found.brief, "601 matches in 601 lines of 2 files");
    let text = content(&found);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 30 + 1 + 10 + 2, "{text}");
    assert!(lines[30].starts_with("30\t"), "{text}");
    assert_eq!(lines[31], "… 560 more lines, up to line 590: all=true shows them");
    assert!(lines[32].starts_with("591\t"), "{text}");
    assert_eq!(lines[43], "1\tno ERROR");
    let all = find_in("ERROR", &["server.log:1-81"], |action| {
        if let Action::Find { all, .. } = action {
            *all = true;
        }
    });
    let all = session.done(&all);
    assert_eq!(content(&all).lines().count(), 82);
    let fewer = session.done(&find_in("ERROR", &["server.log:1-80"], |_| {}));
    assert_eq!(content(&fewer).lines().count(), 81);
}

#[test]
fn empty_filters_are_none() {
    let mut session = project();
    let plain = session.done(&find("count"));
    let filtered = session.done(&find_in("count", &[], |action| {
        if let Action::Find { not, with, .. } = action {
            *not = Some(Pattern(String::new()));
            *with = Some(TextOrPattern(String::new()));
        }
    }));
    assert_eq!((&filtered.brief, content(&filtered)), (&plain.brief, content(&plain)));
}

#[test]
fn empty_texts_missing_paths_and_invalid_patterns_are_refused() {
    let mut session = project();
    let refused = |session: &mut TestSession, action: &Action| session.failed(action).message;
    assert!(refused(&mut session, &find("")).starts_with("text is empty"));
    assert!(refused(&mut session, &find_in("a", &["src/d.rs"], |_| {})).contains("no such file"));
    assert_eq!(refused(&mut session, &find_in("a", &["*.go"], |_| {})), "no file matches *.go");
    let wrong = |text: &str| {
        find_in(text, &[], |action| {
            if let Action::Find { regex, .. } = action {
                *regex = true;
            }
        })
    };
    let reasons = [
        ("(", "unclosed group"),
        ("a\n(", "unclosed group"),
        ("[z-a]", "invalid character class range, the start must be <= the end"),
        (
            "(?!a)b",
            "look-around, including look-ahead and look-behind, is not supported; not='…' leaves out lines that match it",
        ),
    ];
    for (text, why) in reasons {
        let said = refused(&mut session, &wrong(text));
        assert_eq!(said, format!("not a regular expression: {why}"), "{text}");
    }
}

#[test]
fn numbers_in_a_result_count_as_seen_also_in_files_that_are_not_open() {
    let mut session = project();
    let found = session.done(&find("count"));
    let b = session.path("src/b.rs").canonicalize().unwrap();
    let numbers = found.numbers.iter().filter(|numbers| *numbers.document == *b.to_str().unwrap());
    let shown: Vec<_> = numbers.map(|numbers| (numbers.first, numbers.last)).collect();
    assert_eq!(shown, [(1, 1), (3, 3)]);
    let first = line_of("src/b.rs:3");
    session.done(&Action::ReplaceLines { first, last: at(3), text: text("fn b() {}") });
    assert_eq!(fs::read_to_string(b).unwrap(), "use a::count;\n\nfn b() {}\n");
    assert!(session.view().contains("b.rs"), "an edited file is listed");
}

#[test]
fn unsaved_text_is_searched_in_place_of_the_file() {
    let mut session = project();
    session.done(&Action::Hold { on: true });
    session.done(&insert(1, "// needle"));
    assert_eq!(session.done(&find("needle")).brief, "1 match in 1 line");
}

#[test]
fn long_result_is_cut_and_leads_to_the_rest() {
    let mut session = TestSession::with(&[("a.txt", &numbered(5_000))]);
    let all = find_in("line", &[], |action| {
        if let Action::Find { all, .. } = action {
            *all = true;
        }
    });
    let found = session.done(&all);
    assert_eq!(found.brief, "5000 matches in 5000 lines");
    let content = content(&found);
    let rest = content.lines().last().unwrap();
    assert!(rest.starts_with("… ") && rest.contains(" more lines: a.txt "), "{rest}");
    assert!(
        rest.contains(r#"pipemux run 'editor.find("line", all=true)' --budget 20000"#),
        "{rest}"
    );
}

fn heads(files: &[&str], last: i64, not: Option<&str>) -> Action {
    let files = files.iter().map(|file| (*file).into()).collect();
    Action::Heads {
        files,
        first: 1,
        last,
        not: not.map(Into::into),
        markup: false,
        around: None,
        docs: true,
    }
}

#[test]
fn lines_of_many_files_are_one_answer() {
    let mut session = project();
    let shown = session.done(&heads(&["*.rs", "src/c.md"], 2, None));
    assert_eq!(shown.brief, "5 lines of 3 files");
    assert_eq!(
        content(&shown),
        "a.rs:1-2 of 6: fn count() {} · // count, recount\nsrc/b.rs:1-2 of 3\nuse a::count;\n\nsrc/c.md: nothing\n"
    );
    // Their numbers count as seen.
    session.done(&Action::ReplaceLines {
        first: line_of("src/b.rs:1"),
        last: line_of("src/b.rs:1"),
        text: text("use b::count;"),
    });
    assert!(session.on_disk("src/b.rs").starts_with("use b::count;\n\nfn b()"));
    let one = session.done(&heads(&["src/b.rs"], 1, None));
    assert_eq!(content(&one), "src/b.rs (3 lines):\n1\tuse b::count;\n");
    let listed = session.done(&Action::Glob { pattern: vec!["**/*.rs".into()], path: None });
    assert_eq!((listed.brief.as_str(), content(&listed).as_str()), ("2 files", "a.rs\nsrc/b.rs\n"));
}

#[test]
fn lines_that_match_not_are_left_out_and_counted() {
    let mut session = project();
    let shown = session.done(&heads(&["**/*.rs"], 40, Some(r"^\s*//|^$|\bfn main\b")));
    assert_eq!(shown.brief, "6 lines of 2 files; left: 3 lines that match not");
    assert_eq!(
        content(&shown),
        "a.rs:1,4-6 of 6\n1\tfn count() {}\n4\t    count(); count();\n    println!(\"count\");\n}\n\
         src/b.rs:1,3 of 3: use a::count; · fn b() { count() }\n"
    );
    let fault = session.failed(&heads(&["**/*.rs"], 40, Some("(")));
    assert!(fault.message.contains("not: "), "{}", fault.message);
}

#[test]
fn heads_of_many_markdown_files_are_their_prose() {
    let mut session = project();
    fs::create_dir(session.path("docs")).unwrap();
    for name in ["x", "y"] {
        let text = format!(
            "# {name}\n\n{}\n[ci]: https://ci\n\nIt does {name}, and says so in a sentence.\nIt does so in two lines.\n",
            "[![a](https://a.svg)](https://a)\n".repeat(5),
        );
        fs::write(session.path(&format!("docs/{name}.md")), text).unwrap();
    }
    let done = session.done(&heads(&["docs/*.md"], 20, None));
    assert!(
        done.brief.contains(
            "8 lines of 2 files; left: 16 lines of badges, addresses and HTML (markup=true)"
        ),
        "{}",
        done.brief
    );
    let shown = content(&done);
    assert!(shown.contains("docs/x.md:1-2,11-12 of 12\n1\t# x\n\n11\tIt does x, and"), "{shown}");
    let Action::Heads { files, first, last, not, .. } = heads(&["docs/*.md"], 20, None) else {
        panic!()
    };
    let whole = Action::Heads { files, first, last, not, markup: true, around: None, docs: true };
    let done = session.done(&whole);
    assert!(
        done.brief.starts_with("24 lines of 2 files") && !done.brief.contains("left"),
        "{}",
        done.brief
    );
    // One file is shown as it is.
    let done = session.done(&heads(&["docs/x.md"], 20, None));
    assert!(content(&done).contains("[![a]"), "{}", content(&done));
}

#[test]
fn heads_that_do_not_fit_lead_to_the_rest() {
    let mut session = project();
    for number in 0..20 {
        let text = "a line of some words\n".repeat(30);
        fs::write(session.path(&format!("src/t{number}.txt")), text).unwrap();
    }
    session.host.set_budget(500);
    let shown = content(&session.done(&heads(&["src/*.txt"], 30, None)));
    let rest = shown.lines().last().unwrap();
    assert!(rest.starts_with("… ") && rest.contains(" more files, from src/t"), "{rest}");
    assert!(rest.contains("pipemux run 'editor.lines(\"src/*.txt\", 1, 30)' --budget "), "{rest}");
}

fn replace_in(old: &str, new: &str, files: &[&str], change: impl FnOnce(&mut Action)) -> Action {
    let mut action = replace(old, new);
    if let Action::Replace { r#in, .. } = &mut action {
        *r#in = files.iter().map(|file| (*file).into()).collect();
    }
    change(&mut action);
    action
}

fn all_of_them(action: &mut Action) {
    if let Action::Replace { all, .. } = action {
        *all = true;
    }
}

#[test]
fn replacing_in_several_files_is_one_change() {
    let mut session = project();
    let done = session.done(&replace_in("count", "tally", &["."], |action| {
        all_of_them(action);
        words_only(action);
        code_only(action);
    }));
    assert_eq!(
        done.brief,
        "5 matches: a.rs 3, src/b.rs 2; left: 1 in comments (a.rs:2), 1 in strings (a.rs:5), 1 not whole words (a.rs:2)"
    );
    let b = fs::read_to_string(session.path("src/b.rs")).unwrap();
    assert_eq!(b, "use a::tally;\n\nfn b() { tally() }\n");
    session.done(&undo());
    assert_eq!(
        fs::read_to_string(session.path("src/b.rs")).unwrap(),
        "use a::count;\n\nfn b() { count() }\n"
    );
    assert!(session.text().starts_with("fn count() {}"));
}

#[test]
fn groups_of_a_regular_expression_can_be_used() {
    let mut session = TestSession::with(&[("a.txt", "let a = 1;\r\nlet bc = 2;\r\n")]);
    let swap = replace_in(r"let (\w+) = (\d);", "$2 -> ${1}x", &[], |action| {
        all_of_them(action);
        if let Action::Replace { regex, .. } = action {
            *regex = true;
        }
    });
    session.done(&swap);
    assert_eq!(session.text(), "1 -> ax\r\n2 -> bcx\r\n");
}

#[test]
fn matches_in_several_files_are_asked_about_by_file_first() {
    let mut session = project();
    let replace = replace_in("count", "tally", &["."], words_only);
    let needs = session.asks(&replace);
    assert_eq!(needs.question.text, "7 matches in 2 files; left: 1 not whole words (a.rs:2)");
    let labels: Vec<_> = needs.question.options.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels[..4], ["a.rs", "src/b.rs", "a.rs:1", "a.rs:2"]);
    assert_eq!(needs.question.options[1].text, "all 2 matches");
    let answered = session.host.answer(docui::Choice::Picked(vec![2]));
    assert_eq!(done(answered).brief, "src/b.rs: 2 of 7 matches");
    assert!(session.text().starts_with("fn count() {}"), "the other file stays as it is");
}

#[test]
fn answer_can_leave_out_a_file_and_a_match() {
    let mut session = project();
    let replace = replace_in("count", "tally", &["."], words_only);
    session.asks(&replace);
    // All but those in b.rs, and the first one in a.rs.
    let answered = session.host.answer(docui::Choice::AllBut(vec![2, 3]));
    assert_eq!(done(answered).brief, "4 of 7 matches on 3 lines");
    assert!(session.text().starts_with("fn count() {}\n// tally, recount\n"), "{}", session.text());
}

#[test]
fn answer_is_refused_where_another_program_changed_the_file() {
    let mut session = project();
    let replace = replace_in("count", "tally", &["src/*"], |_| {});
    session.asks(&replace);
    fs::write(session.path("src/b.rs"), "count\ncount\n").unwrap();
    session.view();
    match session.host.answer(docui::Choice::AllBut(Vec::new())) {
        Outcome::Failed(fault) => assert_eq!(fault.code, pipemux_proto::Code::Stale, "{fault}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read_to_string(session.path("src/b.rs")).unwrap(), "count\ncount\n");
}

/// Four sections of an INI file, each with the same line.
fn config() -> TestSession {
    let section = |number: usize| format!("[s{number}]\nname = {number}\ntimeout = 30\n\n");
    let text: String = (1..=4).map(section).collect();
    let session = TestSession::with(&[("a.ini", &text)]);
    fs::write(session.path("b.ini"), "timeout = 30\n").unwrap();
    session
}

#[test]
fn same_lines_of_a_file_are_written_once() {
    let mut session = config();
    let found = session.done(&find_in("timeout", &["a.ini"], |_| {}));
    assert_eq!(found.brief, "4 matches in 4 lines");
    assert_eq!(content(&found), "a.ini:\n3, 7, 11, 15\ttimeout = 30\n");
    // All of these numbers count as seen.
    session.done(&Action::ReplaceLines {
        first: line_of("a.ini:15"),
        last: line_of("a.ini:15"),
        text: text("timeout = 9"),
    });
    assert_eq!(
        content(&session.done(&find_in("timeout", &["a.ini"], |_| {}))),
        "a.ini:\n3, 7, 11\ttimeout = 30\n15\ttimeout = 9\n"
    );
}

#[test]
fn lines_of_a_file_can_be_searched_and_replaced_in() {
    let mut session = config();
    let found = session.done(&find_in("timeout", &["a.ini:5-12", "b.ini"], |_| {}));
    assert_eq!(found.brief, "3 matches in 3 lines of 2 files");
    assert_eq!(
        content(&found),
        "a.ini:\n7\ttimeout = 30\n11\ttimeout = 30\nb.ini:\n1\ttimeout = 30\n"
    );
    assert_eq!(
        session.done(&find_in("name = 4", &["a.ini:5-12"], |_| {})).brief,
        "0 matches in a.ini:5-12"
    );
    let done = session.done(&replace_in("30", "45", &["a.ini:5-12"], all_of_them));
    assert_eq!(done.brief, "2 matches");
    let text = session.on_disk("a.ini");
    let timeouts: Vec<&str> = text.lines().filter(|line| line.starts_with("timeout")).collect();
    assert_eq!(timeouts, ["timeout = 30", "timeout = 45", "timeout = 45", "timeout = 30"]);
    let fault = session.failed(&replace_in("name = 4", "x", &["a.ini:5-12"], |_| {}));
    assert_eq!(fault.message, "no match in a.ini:5-12");
    // The question is about these lines, too, and its answer.
    let ask = session.asks(&replace_in("name = ", "n = ", &["a.ini:5-12"], |_| {}));
    assert!(ask.question.text.contains('2'), "{}", ask.question.text);
    assert_eq!(session.on_disk("b.ini"), "timeout = 30\n");
}

#[test]
fn symbol_of_a_file_can_be_searched() {
    let mut session = project();
    let found = session.done(&find_in("count", &["a.rs#main"], |_| {}));
    assert_eq!(found.brief, "5 matches in 3 lines", "a symbol has its comment");
    assert_eq!(session.done(&find_in("count", &["src/b.rs#b"], |_| {})).brief, "1 match in 1 line");
    let fault = session.failed(&find_in("count", &["a.rs#mian"], |_| {}));
    assert!(fault.message.contains("no symbol is called mian"), "{fault}");
    assert_eq!(session.done(&find_in("count", &["main"], |_| {})).brief, found.brief);
    let fault = session.failed(&find_in("count", &["scr"], |_| {}));
    assert_eq!(fault.message, "scr: no such file, and no symbol is called scr");
    let fault = session.failed(&find_in("count", &["c.rs:1-2"], |_| {}));
    assert_eq!(fault.message, "c.rs: no such file");
    let fault = session.failed(&find_in("count", &["sub/c.rs"], |_| {}));
    assert_eq!(fault.message, "sub/c.rs: no such file");
}

#[test]
fn numbers_of_lines_that_changed_since_are_refused_when_replacing() {
    let mut session = config();
    session.done(&find_in("timeout", &["a.ini"], |_| {}));
    // Those that only moved are followed.
    fs::write(session.path("a.ini"), "[s1]\nnew\nname = 1\ntimeout = 30\n").unwrap();
    let done = session.done(&replace_in("30", "45", &["a.ini:3-3"], all_of_them));
    assert!(done.brief.starts_with("1 match, line 4"), "{}", done.brief);
    fs::write(session.path("a.ini"), "[s1]\nnew\nname = 1\ntimeout = 60\n").unwrap();
    let fault = session.failed(&replace_in("60", "45", &["a.ini:4-4"], all_of_them));
    assert!(fault.to_string().contains("changed"), "{fault}");
}

#[test]
fn files_that_have_both_texts_are_found_wherever_these_stand() {
    let mut session = TestSession::with(&[("open.txt", "load\n")]);
    fs::write(session.path("both.txt"), "load\n\n\nError 5\n").unwrap();
    fs::write(session.path("one.txt"), "load\nload\n").unwrap();
    let with = |text: &str, change: fn(&mut Action)| {
        let mut action = find("load");
        if let Action::Find { with, .. } = &mut action {
            *with = Some(text.into());
        }
        change(&mut action);
        action
    };
    let done = session.done(&with("Error", |_| {}));
    assert_eq!(content(&done), "both.txt:\n1\tload\n");
    let none = session.done(&with("error", |_| {})).brief;
    assert_eq!(none, "0 matches in 0 files with \"error\"; case=false has 1");
    let regex = with("^Err.* \\d$", |action| {
        if let Action::Find { regex, count, .. } = action {
            (*regex, *count) = (true, true);
        }
    });
    assert_eq!(content(&session.done(&regex)), "both.txt: 1\n");
    // Edits that aren't on disk count, too.
    session.done(&hold());
    session.done(&insert(1, "Error"));
    let found = content(&session.done(&with("Error", |_| {})));
    assert!(found.contains("open.txt:\n2\tload\n"), "{found}");
}
