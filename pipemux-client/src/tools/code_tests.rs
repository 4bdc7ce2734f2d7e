use std::collections::BTreeMap;

use super::*;

struct NoEnv;

impl CallerEnv for NoEnv {
    fn directory(&self) -> Result<String, ClientError> {
        Ok("/work".to_owned())
    }

    fn variables(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}

fn verb(code: &str, kind: CodeKind) -> ToolVerb {
    match to_request(code, kind, &NoEnv) {
        Ok(ToolRequest::Verb(verb)) => *verb,
        other => panic!("{code}: {other:?}"),
    }
}

fn run(code: &str) -> Verb {
    Verb::Run { code: code.to_owned(), stdin: None, only_queries: false }
}

fn answer(text: &str, to: Option<u64>) -> Verb {
    Verb::Answer { text: text.to_owned(), to, stdin: None }
}

#[test]
fn calls_pass_as_they_are() {
    for code in [
        "editor.undo()",
        "answer (1)",
        "view.show()",
        "editor.create('a', text=<<END)\nview\nEND",
        "undo(); editor.find('view')",
        "// view\neditor.undo()",
        "link:3; link:4",
    ] {
        assert_eq!(verb(code, CodeKind::Any).verb, run(code), "{code}");
    }
    assert_eq!(verb("pipemux run 'a.b(\"it'\\''s\")'", CodeKind::Any).verb, run("a.b(\"it's\")"));
    let printed = verb("run 'a.b(\"c d\")' --budget 9000", CodeKind::Any);
    assert_eq!((printed.verb, printed.budget), (run("a.b(\"c d\")"), Some(9_000)));
    assert_eq!(verb("run a.b('c d')", CodeKind::Any).verb, run("a.b('c d')"));
    assert_eq!(verb("link:3", CodeKind::Any).verb, Verb::Click { link: "link:3".into() });
}

#[test]
fn every_hint_of_an_answer_is_a_command() {
    for (code, expected) in [
        ("answer 1,3", answer("1,3", None)),
        ("pipemux answer all but 2", answer("all but 2", None)),
        ("answer --to 4 yes", answer("yes", Some(4))),
        ("answer 'editor.replace(\"a\", \"b\")'", answer("editor.replace(\"a\", \"b\")", None)),
        ("answer editor.f(text=<<END)\n'x\nEND", answer("editor.f(text=<<END)\n'x\nEND", None)),
        ("answer title='a b' n=2", answer("title='a b' n=2", None)),
        ("answer", answer("", None)),
        ("undo", Verb::Undo { round: None }),
        ("undo 12", Verb::Undo { round: Some(12) }),
        ("click 4", Verb::Click { link: "4".into() }),
        (
            "history --diff --rounds 1",
            Verb::History(HistoryArgs { detail: true, rounds: Some(1), ..HistoryArgs::default() }),
        ),
        ("read job:3", Verb::Read { target: "job:3".into() }),
    ] {
        assert_eq!(verb(code, CodeKind::Any).verb, expected, "{code}");
    }
    let wide = verb("--budget 8854 editor.lines('a.txt')", CodeKind::OnlyLooks);
    assert_eq!((wide.budget, wide.verb.acts()), (Some(8854), true));
    let held = verb("view --have memotree/main=2.0.6 --have planner", CodeKind::OnlyLooks);
    let Verb::View(ViewArgs { held, .. }) = held.verb else { panic!("a view") };
    let said = held.iter().map(|held| (&*held.window, &*held.version));
    assert!(said.eq([("memotree/main", "2.0.6"), ("planner", "")]));
    let view = verb("view editor --lod full --budget=900 --wait 2", CodeKind::OnlyLooks);
    assert_eq!((view.budget, view.lod, view.wait_ms), (Some(900), Some(Lod::Full), 0));
    let Verb::View(ViewArgs { session, wait_ms: 2000, open: true, .. }) = view.verb else {
        panic!()
    };
    assert_eq!(session.unwrap().to_string(), "editor/main");
    let Verb::Open(open) = verb("open editor 'a b.rs' -- -x", CodeKind::Any).verb else { panic!() };
    assert_eq!(open.args, ["a b.rs", "-x"]);
    assert!(matches!(to_request("help", CodeKind::OnlyLooks, &NoEnv), Ok(ToolRequest::Text(_))));
}

#[test]
fn looking_never_acts() {
    let acts = |kind: &&VerbKind| kind.tool_use() == ToolUse::Acts && **kind != VerbKind::Run;
    for code in VerbKind::ALL.iter().filter(acts).map(|kind| kind.name()) {
        let error = to_request(code, CodeKind::OnlyLooks, &NoEnv).unwrap_err();
        assert!(error.fault().hints[0].contains(RUN), "{code}: {error}");
    }
    for code in ["editor.undo()", "ask editor.undo()", "pipemux run 'editor.undo()'", "link:3"] {
        let Verb::Run { only_queries: true, .. } = verb(code, CodeKind::OnlyLooks).verb else {
            panic!("{code}")
        };
    }
    // An `ask` within the acting tool is none, either.
    let Verb::Run { only_queries: true, .. } = verb("ask editor.undo()", CodeKind::Any).verb else {
        panic!()
    };
}

#[test]
fn wrong_commands_are_told_what_is_expected() {
    for code in [
        "view --budget",
        "view --budget x",
        "view --lod most",
        "read",
        "view a/b/c",
        "undo x",
        "view 'a",
        "view --frob 1",
        "editor.insert('a.rs:3', text=stdin)",
        "--wait 0 view",
    ] {
        let error = to_request(code, CodeKind::Any, &NoEnv).unwrap_err();
        assert_eq!(error.exit_status(), 2, "{code}");
    }
}

/// Each verb that the table gives to tools has its arm in [`plain_command`], or one before it.
#[test]
fn every_verb_of_the_table_that_tools_use_is_a_command() {
    for kind in VerbKind::ALL.iter().filter(|kind| kind.tool_use() != ToolUse::Nobody) {
        for argument in ["", " editor/main"] {
            let line = format!("{}{argument}", kind.name());
            if let Err(error) = to_request(&line, CodeKind::Any, &NoEnv) {
                let why = error.to_string();
                assert!(!why.contains("is no command here"), "{line}: {why}");
            }
        }
    }
}
