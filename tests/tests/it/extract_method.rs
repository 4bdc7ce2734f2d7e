//! An agent makes statements a function, with a question for the name.

use pipemux_tests::TestEnv;

const PROGRAM: &str = "\
def area(w, h):
    note = 'kept'
    a = w * h
    b = a * 2
    return b, note


print(area(2, 3))
";

const EXTRACTED: &str = "\
def area(w, h):
    note = 'kept'
    b = doubled(w, h)
    return b, note


def doubled(w, h):
    a = w * h
    b = a * 2
    return b


print(area(2, 3))
";

#[test]
fn selection_becomes_a_function_once_it_has_a_name() {
    let env = TestEnv::new();
    env.write("a.py", PROGRAM);
    env.pipemux(&["open", "editor", "a.py"]).ok();
    env.run("editor.select(3, 4)").ok();
    env.run("editor.extract_method(range=selection)").exits(5).has("needs name: string");
    let done = env.pipemux(&["answer", "doubled"]);
    done.ok().has("doubled(w, h) returns b").has("b = doubled(w, h)").has("def doubled(w, h):");
    env.run("editor.save()").ok();
    assert_eq!(env.read("a.py"), EXTRACTED);
    env.run("editor.undo(); editor.save()").ok().has("extract_method");
    assert_eq!(env.read("a.py"), PROGRAM);
}

#[test]
fn lines_become_a_function_and_half_a_statement_names_the_whole() {
    let env = TestEnv::new();
    env.write("a.py", PROGRAM);
    env.pipemux(&["open", "editor", "a.py"]).ok();
    let half = "editor.extract_method('1-3', 'doubled')";
    env.run(half).exits(9).has("the lines are not in the body of a function");
    env.write("b.py", "def f(a):\n    g(\n        a,\n    )\n    return a\n");
    env.pipemux(&["open", "editor", "b.py"]).ok();
    let refused = env.run("editor.extract_method('3', 'called')");
    let hint = r#"editor.extract_method(range="2-4", name="called")"#;
    refused.exits(2).has("whole statements").has(hint);
    env.run(hint).ok().has("called(a)");
    env.run("editor.save()").ok();
    assert_eq!(
        env.read("b.py"),
        "def f(a):\n    called(a)\n    return a\n\n\ndef called(a):\n    g(\n        a,\n    )\n"
    );
}

#[test]
fn types_that_the_code_does_not_tell_are_asked_for() {
    let env = TestEnv::new();
    env.write("a.rs", "fn f() {\n    let x = g();\n    h(x);\n}\n");
    env.pipemux(&["open", "editor", "a.rs"]).ok();
    let asked = env.run("editor.extract_method('3', 'helper')");
    asked.exits(5).has("types that the code doesn't tell").has("line 2: let x = g();");
    env.pipemux(&["answer", "x: u8"]).ok().has("helper(x)");
    env.run("editor.save()").ok();
    let after =
        "fn f() {\n    let x = g();\n    helper(x);\n}\n\nfn helper(x: u8) {\n    h(x);\n}\n";
    assert_eq!(env.read("a.rs"), after);
}
