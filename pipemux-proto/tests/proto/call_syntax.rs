//! The call syntax: what it reads, form by form.

use pipemux_proto::Value;
use pipemux_proto::call::{Call, Expr, Script, Step, parse, parse_undecided, shorten, stdin_at};
use pipemux_proto::refs::{Local, Ref};

fn script(code: &str) -> Script {
    parse(code, None).unwrap_or_else(|error| panic!("{}", error.to_fault(code).message))
}

fn calls(code: &str) -> Vec<Call> {
    let steps = script(code).steps.into_iter();
    steps
        .map(|step| match step {
            Step::Call(call) => call,
            Step::Ref(reference, _) => panic!("{reference} is no call"),
        })
        .collect()
}

fn call(code: &str) -> Call {
    let [call] = calls(code).try_into().unwrap_or_else(|calls| panic!("one call: {calls:?}"));
    call
}

/// The values of the only call's arguments.
fn args(code: &str) -> Vec<Expr> {
    call(code).args.into_iter().map(|arg| arg.value).collect()
}

fn texts(code: &str) -> Vec<String> {
    let text = |value| match value {
        Expr::Value(Value::Str(text)) => text,
        other => panic!("{other:?} is no text"),
    };
    args(code).into_iter().map(text).collect()
}

fn target(call: &Call) -> (String, &str) {
    let owner = call.owner.as_ref().map(|owner| match &owner.session {
        Some(session) => format!("{}/{session}", owner.provider),
        None => owner.provider.to_string(),
    });
    (owner.unwrap_or_default(), &call.action)
}

#[test]
fn steps_are_separated_by_semicolons_and_lines() {
    let code =
        "\n attack(target='obj:enemy:23', mana=20); loot('obj:enemy:23');\r\n;;\n\tsave()\n\n";
    let names: Vec<_> = calls(code).into_iter().map(|call| call.action).collect();
    assert_eq!(names, ["attack", "loot", "save"]);
    assert_eq!(script("link:15;obj:7").steps.len(), 2);
    assert!(matches!(&script("link:15").steps[..], [Step::Ref(link, _)] if *link == Ref::link(15)));
}

#[test]
fn call_names_split_at_the_last_dot() {
    assert_eq!(target(&call("save()")), (String::new(), "save"));
    assert_eq!(target(&call("editor.save()")), ("editor".into(), "save"));
    assert_eq!(target(&call("my-app.save()")), ("my-app".into(), "save"));
    assert_eq!(target(&call("editor/b.save()")), ("editor/b".into(), "save"));
    assert_eq!(target(&call("editor/v1.2-x.save ()")), ("editor/v1.2-x".into(), "save"));
    assert_eq!(target(&call("editor/2.save()")), ("editor/2".into(), "save"));
}

#[test]
fn arguments_are_positional_then_named() {
    let call = call("f(1, b='x', c:obj:enemy:23@e4, d: [true,],)");
    let names: Vec<_> =
        call.args.iter().map(|arg| arg.name.as_ref().map(|(name, _)| name.as_str())).collect();
    assert_eq!(names, [None, Some("b"), Some("c"), Some("d")]);
    let Expr::Ref(enemy) = &call.args[2].value else { panic!("{call:?}") };
    assert_eq!((enemy.ty.as_deref(), enemy.epoch), (Some("enemy"), Some(4)));
}

#[test]
fn parameters_may_be_named_like_ref_kinds() {
    for code in ["f(obj=1)", "f(link: 1)", "f(obj:'a')", "f(link:[1])", "f(obj:\n1)"] {
        assert!(call(code).args[0].name.is_some(), "{code}");
    }
    assert_eq!(args("f(obj:1, [link:2])")[0], Expr::Ref(Ref::obj(1)));
}

#[test]
fn literals_have_their_values() {
    let value = |text: &str| match args(&format!("f({text})")).remove(0) {
        Expr::Value(value) => value,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(value("42"), Value::Int(42));
    assert_eq!(value("-9223372036854775808"), Value::Int(i64::MIN));
    assert_eq!(value("9223372036854775807"), Value::Int(i64::MAX));
    assert_eq!(value("0.5"), Value::Float(0.5));
    assert_eq!(value("-.5"), Value::Float(-0.5));
    assert_eq!(value("1e6"), Value::Float(1e6));
    assert_eq!(value("2.5E-3"), Value::Float(0.0025));
    for (words, expected) in [
        (["true", "True"], Value::Bool(true)),
        (["false", "False"], Value::Bool(false)),
        (["null", "None"], Value::Null),
    ] {
        assert!(words.iter().all(|word| value(word) == expected), "{words:?}");
    }
    // Only a bare ref is one: what a quoted text means is known from the parameter's type.
    assert_eq!(value("'obj:7'"), Value::Str("obj:7".into()));
}

#[test]
fn refs_end_before_signs_and_white_space() {
    let refs = args("f(obj:23,link:42 ,[obj:notebook/main:note:7], obj:file:src/main.ts)");
    assert_eq!(refs[0], Expr::Ref(Ref::obj(23)));
    assert_eq!(refs[1], Expr::Ref(Ref::link(42)));
    let Expr::List(items) = &refs[2] else { panic!("{refs:?}") };
    assert!(matches!(&items[0].0, Expr::Ref(note) if note.owner.is_some()));
    let Expr::Ref(file) = &refs[3] else { panic!("{refs:?}") };
    assert_eq!(file.local, Local::Key("src/main.ts".into()));
}

#[test]
fn arguments_can_be_calls_lists_and_names() {
    let values = args("git_commit(git_staged(), editor.lines(1, [2, [3]]), selection, a/b.c)");
    assert!(matches!(&values[0], Expr::Call(call) if call.action == "git_staged"));
    assert!(matches!(&values[1], Expr::Call(call) if call.args.len() == 2));
    assert!(matches!(&values[2], Expr::Name { owner: None, name } if name == "selection"));
    assert!(matches!(&values[3], Expr::Name { owner: Some(_), name } if name == "c"));
}

#[test]
fn records_have_names_in_any_spelling() {
    let values = args(
        "f({a: 1, 'b c' = [{}], \"d\": obj:7,}, {at: obj:7}, [{x: g()}, {obj: obj:3, stdin: 'y'}])",
    );
    let Expr::Record(fields) = &values[0] else { panic!("{values:?}") };
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["a", "b c", "d"]);
    let Expr::Record(fields) = &values[1] else { panic!("{values:?}") };
    assert_eq!(fields[0].value, Expr::Ref(Ref::obj(7)));
    assert_eq!((fields[0].span.start, fields[0].span.end), (42, 47));
    let Expr::List(items) = &values[2] else { panic!("{values:?}") };
    let Expr::Record(fields) = &items[1].0 else { panic!("{items:?}") };
    assert_eq!(fields[0].value, Expr::Ref(Ref::obj(3)));
    assert_eq!(args("f({\n  a: 1,\n  b: {c: 2}\n})").len(), 1);
}

#[test]
fn lines_inside_parentheses_are_white_space() {
    let code = "f(\n  a\n  =\n  [\r\n 1,\n 2,\n ],\n\n)\ng()";
    let calls = calls(code);
    assert_eq!(calls.len(), 2);
    assert!(matches!(&calls[0].args[0].value, Expr::List(items) if items.len() == 2));
}

#[test]
fn quoted_texts_decode_their_escapes() {
    assert_eq!(texts(r#"f('a\n\t\\\'\"b', "it's", '', "")"#), ["a\n\t\\'\"b", "it's", "", ""]);
    assert_eq!(
        texts("f('''one\r\n  'two' ''\n\\t''', \"\"\"a\"b\"\"\")"),
        ["one\r\n  'two' ''\n\t", "a\"b"]
    );
    assert_eq!(texts("f('# // <<END ; ) 笔记🙂')"), ["# // <<END ; ) 笔记🙂"]);
}

#[test]
fn quoted_text_has_two_meanings_until_its_parameter_is_known() {
    let of = |code: &str| {
        let script = parse_undecided(code, None).unwrap();
        let [Step::Call(call)] = script.steps.as_slice() else { panic!("{script:?}") };
        match &call.args[0].value {
            Expr::Quoted(quoted) => (quoted.text.clone().ok(), quoted.raw.clone()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of(r"f('\bfn\s')"), (None, r"\bfn\s".into()));
    assert_eq!(of(r"f('a\\b\n')"), (Some("a\\b\n".into()), r"a\b\n".into()));
    assert_eq!(of(r#"f("\\[")"#), of(r"f('\\[')"));
    assert_eq!(of(r#"f("\\[")"#).1, of(r"f('\[')").1);
    assert_eq!(of(r"f('\\\\')").1, r"\\");
    assert_eq!(of(r#"f('\'\"')"#), (Some("'\"".into()), r#"'\""#.into()));
    assert_eq!(of(r"f('''\'''', 1)"), (Some("'".into()), "'".into()));
    // Without a backslash there is only one.
    assert_eq!(parse_undecided("f('a')", None).unwrap(), parse("f('a')", None).unwrap());
}

#[test]
fn raw_blocks_keep_their_text_exactly() {
    let body = "quotes ' \" ''' \\n \\d\n```docui\nrun()\n```\n<<OTHER\n END\nEND \nENDE\n\ttab\n";
    for opening in ["<<END", "<<'END'", "<<\"END\""] {
        let code = format!("editor.replace_lines(30, 32, text={opening})\n{body}END\nsave()");
        let calls = calls(&code);
        let expected = Value::Str(body.strip_suffix('\n').unwrap().into());
        assert_eq!(calls[0].args[2].value, Expr::Value(expected));
        assert_eq!(calls[1].action, "save");
        // The place is that of the opening, not of the body.
        assert_eq!(&code[calls[0].args[2].span.start..calls[0].args[2].span.end], opening);
    }
}

#[test]
fn raw_blocks_drop_one_final_newline() {
    assert_eq!(texts("f(<<A)\nA"), [""]);
    assert_eq!(texts("f(<<A)\n\nA\n"), [""]);
    assert_eq!(texts("f(<<A)\nx\n\nA\n"), ["x\n"]);
    assert_eq!(texts("f(<<A)\r\nx\r\ny\r\n\r\nA\r\n"), ["x\r\ny\r\n"]);
    assert_eq!(texts("f(<<A)\nx\r\nA\r"), ["x"]);
}

#[test]
fn code_continues_on_the_line_that_opens_a_raw_block() {
    let calls = calls("editor.insert(at=1, text=<<A, more=<<B); save()\none\nA\ntwo\nB\nundo()\n");
    let names: Vec<_> = calls.iter().map(|call| call.action.as_str()).collect();
    assert_eq!(names, ["insert", "save", "undo"]);
    let texts: Vec<_> = calls[0].args[1..].iter().map(|arg| &arg.value).collect();
    assert_eq!(
        texts,
        [&Expr::Value(Value::Str("one".into())), &Expr::Value(Value::Str("two".into()))]
    );
    // The same word twice on a line: one body after the other.
    assert_eq!(self::texts("f(<<A, <<A)\n1\nA\n2\nA\n"), ["1", "2"]);
    // Code goes on after the closing word.
    assert_eq!(self::texts("f(<<A\n1\nA\n, 'x'\n)"), ["1", "x"]);
    assert_eq!(self::texts("f('''a\nb''', <<A)\n1\nA\n"), ["a\nb", "1"]);
}

#[test]
fn stdin_is_the_whole_standard_input_without_its_last_newline() {
    let text = |stdin: &str| {
        let script = parse("f(text=stdin)", Some(stdin)).unwrap();
        match script.steps.as_slice() {
            [Step::Call(call)] => call.args[0].value.clone(),
            other => panic!("{other:?}"),
        }
    };
    let str = |text: &str| Expr::Value(Value::Str(text.into()));
    assert_eq!(text("a\nb\n\n"), str("a\nb\n"));
    assert_eq!(text("a\r\n"), str("a"));
    assert_eq!(text("a"), str("a"));
    assert_eq!(text("\n"), str(""));
    // It needn't be used, and a parameter may have its name.
    assert!(parse("f()", Some("x")).is_ok());
    assert!(call("f(stdin=1)").args[0].name.is_some());
}

#[test]
fn spans_cover_the_written_code() {
    let code = "x();\n 笔.f(1)".replace('笔', "editor/b");
    let second = &calls(&code)[1];
    assert_eq!(&code[second.span.start..second.span.end], "editor/b.f(1)");
    assert_eq!(&code[second.name.start..second.name.end], "editor/b.f");
    let code = "f('🙂', name=[1, g()])";
    let call = call(code);
    let at = |index: usize| &code[call.args[index].span.start..call.args[index].span.end];
    assert_eq!((at(0), at(1)), ("'🙂'", "[1, g()]"));
}

#[test]
fn a_leading_byte_order_mark_is_white_space() {
    assert_eq!(call("\u{feff}save()").action, "save");
}

#[test]
fn documented_examples_parse() {
    for code in [
        r#"editor.replace("Session", "SessionId"); editor.save()"#,
        "editor.replace_lines(5, 9, text='')\neditor.replace_lines(30, 32, text=<<END)\nany\nEND\n",
        "arena.attack(target=obj:23); arena.loot(target=obj:23)",
        r#"notebook.add(title="old parser", text=editor.lines(101, 300))"#,
        "notebook.remove(entries=[obj:7, obj:31, obj:12])",
        r#"notebook.append(entry=obj:7, text="x")"#,
        r#"editor.replace("a", nw="b")"#,
        "git_commit(files=git_staged())",
        "delete_lines(1, 3); replace_lines(10, 12, 'b.rs:20')",
        "link:15",
    ] {
        assert!(!script(code).steps.is_empty());
    }
    assert!(parse("editor.replace_lines(30, 32, text=stdin)", Some("x\n")).is_ok());
    assert!(parse("notebook.edit(entry=obj:7, text=stdin)", Some("# Plan\n")).is_ok());
}

#[test]
fn calls_are_shortened_to_one_line() {
    let short = |code: &str, max| {
        let Step::Call(call) = script(code).steps.pop().unwrap() else { panic!("{code}") };
        shorten(code, call.span, max)
    };
    assert_eq!(short("f( 1 ,\n b = 'x',\nc: [obj:7, ], )", 80), "f(1, b='x', c:[obj:7])");
    assert_eq!(short("a(<<A); b(<<B, 2)\none\nA\ntwo, )\nlines\nB", 80), r"b('two, )\nlines', 2)");
    let long = format!("f(1, '{}', b=2)", "words and ".repeat(1000));
    let shown = short(&long, 60);
    assert_eq!(shown, "f(1, 'words and words and words and…', b=2)");
    let many = format!("f({})", "123456, ".repeat(1000));
    assert_eq!(short(&many, 20), "f(123456, 123456, 1…");
    assert_eq!(short("f('''a\n\u{1b}[2J''')", 80), "f('a\\n\\u{001b}[2J')");
}

#[test]
fn action_tokens_are_told_apart_from_lists_of_lists() {
    let token = |text: &str| Expr::Ref(text.parse().unwrap());
    assert_eq!(
        args("f([[MT:Node:7]], x=[[MT:View:主 视图, a)]]@e3)"),
        [token("[[MT:Node:7]]"), token("[[MT:View:主 视图, a)]]@e3")]
    );
    for code in ["f([[[MT:Node:7]], [[MT:Node:8]],])", "f([[[MT:Node:7]],[[MT:Node:8]]])"] {
        let [Expr::List(items)] = &args(code)[..] else { panic!("{code}") };
        let items: Vec<_> = items.iter().map(|(item, _)| item.clone()).collect();
        assert_eq!(items, [token("[[MT:Node:7]]"), token("[[MT:Node:8]]")], "{code}");
    }
    let steps = script("[[MT:Node:7]]; f()").steps;
    assert!(matches!(&steps[0], Step::Ref(of, _) if of.to_string() == "[[MT:Node:7]]"));
    assert_eq!(
        shorten("f( [[MT:View:a b]],1 )", call("f( [[MT:View:a b]],1 )").span, 40),
        "f([[MT:View:a b]], 1)"
    );

    for code in [
        "f([[1,2],[3]])",
        "f([[true]])",
        "f([[obj:7],[link:8]])",
        "f([[a.b]])",
        "f([[g()]])",
        "f([[[]]])",
    ] {
        assert!(matches!(&args(code)[..], [Expr::List(_)]), "{code}");
    }
}

#[test]
fn stdin_at_finds_only_the_name_used_as_a_value() {
    for code in [
        "editor.insert(3, text=stdin)",
        "editor.insert(3, stdin)",
        "a('x\\'y', stdin)",
        "a(\"it's\"); b(stdin)",
        "a('''it's \"quoted\" ''', [stdin])",
        "a(<<END, stdin)\nbody\nEND\n",
        "a(<<END)\nstdin's body\r\nEND\r\nb(stdin)",
        "a(<<'A', <<B)\nx\nA\ny\nB\nb(stdin)",
        "日本(stdin)",
        "a(stdin",
        "a(stdin) {",
    ] {
        let span = stdin_at(code).unwrap_or_else(|| panic!("{code}"));
        assert_eq!(&code[span.start..span.end], "stdin", "{code}");
    }
    for code in [
        "",
        "editor.insert(3, 'stdin')",
        "editor.insert(3, \"read stdin\")",
        "a('''stdin''')",
        "a('x\\' stdin')",
        "a(my_stdin, stdin2, stdin=1)",
        "stdin()",
        "editor.stdin",
        "a([[MT:View:stdin]], obj:stdin)",
        "a(<<END)\nstdin\nEND",
        "a(<<'END')\nb(stdin)\n",
        "a('unclosed stdin",
        "a(<<",
    ] {
        assert_eq!(stdin_at(code), None, "{code}");
    }
}

#[test]
fn comments_end_with_their_line() {
    let steps = |code: &str| {
        let all = script(code).steps.into_iter().map(|step| match step {
            Step::Call(call) => {
                (call.action, call.args.into_iter().map(|argument| argument.value).collect())
            }
            Step::Ref(of, _) => (of.to_string(), Vec::new()),
        });
        all.collect::<Vec<(String, Vec<Expr>)>>()
    };
    let text = |text: &str| Expr::Value(Value::from(text));
    let expected = [("a".to_owned(), vec![]), ("b".to_owned(), vec![text("x")])];
    for code in [
        "// first\na(); // then\nb('x')",
        "a()//\n//\nb('x')// the end",
        "a( // no argument\n)\nb( // one\n 'x' // this\n)",
        "a();\r\n// \"'''<<END\r\nb('x')",
    ] {
        assert_eq!(steps(code), expected, "{code}");
    }
    // Not in texts, raw blocks and refs.
    for (code, value) in [
        ("a('http://x')", text("http://x")),
        ("a(\"\"\"//\n//\"\"\")", text("//\n//")),
        ("a(<<END) // code\n// text\nEND", text("// text")),
        ("a(obj:file:src//x)", Expr::Ref("obj:file:src//x".parse().unwrap())),
        ("a(3//\n)", Expr::Value(Value::Int(3))),
    ] {
        assert_eq!(steps(code), [("a".to_owned(), vec![value])], "{code}");
    }
    assert_eq!(steps("a()// b()\n").len(), 1);
}
