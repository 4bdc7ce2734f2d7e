//! Errors in the call itself: each names its place, what was expected, and a way out.

use pipemux_proto::Code;
use pipemux_proto::call::{CallError, Span, nearest, parse};
use pipemux_proto::limits::{CODE_MAX, LIST_MAX, NESTING_MAX, STEPS_MAX};

fn refused(code: &str) -> CallError {
    match parse(code, None) {
        Ok(script) => panic!("{code} reads as {script:?}"),
        Err(error) => error,
    }
}

/// The whole answer, hints included.
fn shown(code: &str) -> String {
    let fault = refused(code).to_fault(code);
    fault.hints.iter().fold(fault.message.clone(), |shown, hint| shown + "\n" + hint)
}

#[test]
fn error_shows_its_line_with_carets() {
    let code = r#"editor.replace("a", nw="b")"#;
    let start = code.find("nw").unwrap();
    let note = "replace has old, new, all: did you mean new?";
    let error = CallError::new("unknown parameter", Span { start, end: start + 2 }, note);
    let fault = error.hint("pipemux help editor").to_fault(code);
    assert_eq!(fault.code, Code::Usage);
    assert_eq!(fault.hints, ["pipemux help editor"]);
    assert_eq!(
        fault.message,
        "unknown parameter\n\
         editor.replace(\"a\", nw=\"b\")\n\
         \x20                   ^^ replace has old, new, all: did you mean new?"
    );
    let at = fault.at.unwrap();
    assert_eq!((at.line, at.column), (1, 21));
}

#[test]
fn carets_align_under_wide_characters() {
    let code = "f()\r\n\tf('笔记🙂', 1px)\r\ng()";
    let fault = refused(code).to_fault(code);
    assert_eq!(
        fault.message,
        "not a number\n f('笔记🙂', 1px)\n\
         \x20            ^^^ expected 42, -7, 0.5 or 1e6; a text stands in quotes"
    );
    let at = fault.at.unwrap();
    assert_eq!((at.line, at.column), (2, 11));
    let start = code.find('记').unwrap();
    let wide = CallError::new("t", Span { start, end: start + '记'.len_utf8() }, "n");
    assert!(wide.to_fault(code).message.ends_with("\n      ^^ n"));
}

#[test]
fn long_line_is_shortened_around_the_mark() {
    let code = format!("f('{}', 1px, '{}')", "é".repeat(500), "笔".repeat(500));
    let message = refused(&code).to_fault(&code).message;
    let lines: Vec<_> = message.lines().collect();
    assert!(lines[1].starts_with("…é") && lines[1].ends_with("笔…"), "{message}");
    let before = lines[1].split("1px").next().unwrap().chars().count();
    assert!((40..60).contains(&before), "{message}");
    assert_eq!(lines[2].find("^^^ "), Some(before));
    // A long mark is cut as well, and shown with what stands before it.
    let code = format!("f('{}", "x".repeat(500));
    let error = CallError::new("t", Span { start: 2, end: code.len() }, "n");
    let message = error.to_fault(&code).message;
    assert!(message.contains("\nf('xxx") && message.contains("xxx…\n  ^^^"), "{message}");
    assert!(message.lines().all(|line| line.chars().count() <= 100), "{message}");
    // Nothing that takes no room on the screen fills the answer.
    let code = format!("f('{}', 1px)", "e\u{301}".repeat(5000));
    assert!(refused(&code).to_fault(&code).message.len() < 1000);
}

#[test]
fn span_outside_the_code_is_marked_inside() {
    for (code, start, end) in
        [("", 0, 9), ("笔记", 1, 2), ("a\n", 2, 2), ("a\nb", 9, 1), ("ab", 2, 0), ("a\r\n", 1, 3)]
    {
        let message = CallError::new("t", Span { start, end }, "n").to_fault(code).message;
        assert!(message.ends_with("^ n"), "{code:?}: {message:?}");
    }
    let message =
        CallError::new("t", Span { start: 2, end: 9 }, "n").to_fault("f('\u{1b}[2J')").message;
    assert!(!message.contains('\u{1b}'));
}

#[test]
fn errors_say_what_to_write_instead() {
    for (code, parts) in [
        ("", &["nothing to run", "editor.save()"][..]),
        (" ;\n ", &["nothing to run"]),
        // Other languages.
        ("await editor.save()", &["^^^^^ only calls: name(arg, name=value)", "leave it out"]),
        ("const x = f()", &["^^^^^ only calls", "pass a call as an argument"]),
        ("x = f()", &["^ only calls"]),
        ("for f in files: save()", &["^^^ only calls", "write out each call"]),
        ("if (dirty) { save() }", &["^^ only calls", "write out each call"]),
        ("{a: 1}", &["not a call", "a record is an argument: name(item={count: 2})"]),
        ("f({1: 2})", &["unexpected `1`", "   ^ expected a field: {name: value}"]),
        ("f({a})", &["unexpected `}`", "    ^ expected a field"]),
        ("f({a 1})", &["unexpected `1`", "expected a field"]),
        ("f({a: 1 b: 2})", &["unexpected `b`", "expected `,` or `}` here"]),
        ("f({a: 1, a: 2})", &["duplicate field", "         ^ a is given twice"]),
        ("f({obj:7})", &["unexpected `obj:7`", "write a space behind the colon"]),
        ("f({a: 1", &["missing `}`", "  ^ this is never closed"]),
        ("f({a: 1)", &["unexpected `)`", "expected `,` or `}` here"]),
        ("f(1})", &["unexpected `}`", "expected `,` or `)` here"]),
        ("if (x) { f() }", &["not a call", "write out each call"]),
        ("f(1) + g()", &["unexpected `+`", "only calls"]),
        ("f() && g()", &["unexpected `&&`", "  ^^ only calls"]),
        ("f().g()", &["unexpected `.`"]),
        ("f(a > 1)", &["unexpected `>`", "only calls"]),
        ("f(1 - 2)", &["unexpected `-`", "expected `,` or `)` here"]),
        ("f() # save", &["unexpected comment", "begins with //"]),
        ("// only this", &["nothing to run"]),
        ("f(/* x */)", &["unexpected comment"]),
        // Steps.
        ("editor.save", &["not a call", "editor.save is not a call: write editor.save()"]),
        ("editor.save; f()", &["write editor.save()"]),
        ("15", &["not a call", "link:15"]),
        ("'f()'", &["not a call"]),
        ("f() g()", &["unexpected `g`", "`;`"]),
        ("f())", &["unexpected `)`", "one `)` too many"]),
        ("link:15 f()", &["unexpected `f`"]),
        // Names.
        ("a.b.c()", &["not an action's name", "provider/session.name"]),
        ("Editor.save()", &["not an action's name"]),
        ("editor/.save()", &["not an action's name"]),
        ("f(标题)", &["neither a value nor a name: a text stands in quotes"]),
        ("f(b.rs:20)", &["not a parameter's name", "a text stands in quotes"]),
        ("f('old': 1)", &["name in quotes", "stands without quotes"]),
        // Arguments.
        ("f(a=1, 2)", &["argument without a name", "positional after named"]),
        ("f(a=1, a: 2)", &["duplicate argument", "       ^ a is given twice"]),
        ("f(,)", &["unexpected `,`", "expected a value"]),
        ("f(a=)", &["unexpected `)`", "expected a value"]),
        ("f(a==1)", &["unexpected `=`"]),
        ("f(1 2)", &["unexpected `2`", "expected `,` or `)` here"]),
        ("f([1 2])", &["expected `,` or `]` here"]),
        ("f([a=1])", &["unexpected `=`"]),
        ("f(1; g()", &["unexpected `;`"]),
        ("f(1, g(2)\n", &["missing `)`", "\n ^ this is never closed"]),
        ("f([1", &["missing `]`", "  ^ this"]),
        ("f(a=\n", &["unexpected end", "\nf(a=\n    ^ expected a value"]),
        ("f(-)", &["unexpected `-`", "standard input is named stdin"]),
        ("f(text=-)", &["       ^ ", "write text=stdin in place of text=-"]),
        ("f(undefined)", &["write null"]),
        // Numbers and refs.
        ("f(9223372036854775808)", &["number too large", "9223372036854775807"]),
        ("f(1e999)", &["number too large"]),
        ("f(1_000)", &["not a number"]),
        ("f(0x1F)", &["not a number"]),
        ("f(3.)", &["not a number"]),
        ("f(1..3)", &["not a number"]),
        ("f(1e)", &["not a number"]),
        ("f(obj:007)", &["not a ref", "      ^^^ expected a number without leading zeros"]),
        ("f(obj:23@17)", &["        ^^^ expected `@e`"]),
        ("f(15@e3)", &["unexpected `@`", "obj:15@e3"]),
        ("f(obj:'a', obj:=)", &["not a ref"]),
        // Texts.
        (r"f('\b+')", &["unknown escape", "   ^^ ", r"write \\b for", "raw block"]),
        (r"f('a\", &["unknown escape"]),
        ("f('a\\\n')", &["unknown escape"]),
        ("f('one\ntwo')", &["line break in a text", "  ^^^^ ", "'''…'''", "<<END"]),
        ("f('one)", &["unclosed text", "  ^ expected '"]),
        ("f('''one)\n", &["unclosed text", "  ^^^ expected '''"]),
        ("f('it's')", &["goes on after its quote", "     ^ ", r"write \' for"]),
        ("f('a' 'b')", &["unexpected text", "expected `,`"]),
        (r#"f(r"\d")"#, &["unexpected text prefix", "raw block"]),
        ("f(“a”)", &["unexpected `“`", "straight quotes"]),
        ("f(‘a’)", &["straight quotes"]),
        ("f(`a`)", &["straight quotes"]),
        ("f（1）", &["write signs in ASCII"]),
        (r#"f(\"a\")"#, &["unexpected `\\`", "its own quotes are plain"]),
        ("f(\u{200b})", &["unexpected character U+200B"]),
        ("f(\0)", &["unexpected character U+0000"]),
        // Raw blocks.
        ("f(<<)\n", &["raw block without its word", "<<END"]),
        ("f(<< END)\nx\nEND", &["raw block without its word"]),
        ("f(<<-END)\nx\nEND", &["raw block without its word"]),
        ("f(<<'END)\nx\nEND", &["raw block without its word"]),
        ("f(<<1)\nx\n1", &["raw block without its word"]),
        ("f(<<END)", &["unclosed raw block", "  ^^^^^ ", "begins on the next line"]),
        ("f(<<END)\nx\n", &["unclosed raw block", "exactly END", "use another word inside"]),
        ("f(<<END)\nx\n  END\n", &["exactly END; line 3 is `  END`", "alone on its line"]),
        ("f(<<END\nx\nEND)\n", &["line 3 is `END)`"]),
        ("g()\nf(<<END)\nEND;\nend\n", &["line 3 is `END;`"]),
        ("f(<<END)\nEND)\nEND \n", &["line 3 is `END `"]),
        ("f(<<END)\nENDING\nend\n", &["line 3 is `end`"]),
        ("f(<<A, <<B)\nx\nB\n", &["exactly A"]),
        ("f(<<A, <<B)\nx\nA\nx\n B", &["       ^^^ ", "line 5 is ` B`"]),
        ("f(<<A, '''x\ny''')\nA\n", &["text runs into a raw block"]),
    ] {
        let shown = shown(code);
        for part in parts {
            assert!(shown.contains(part), "{code:?}: {part:?} isn't in\n{shown}");
        }
    }
}

#[test]
fn stdin_is_refused_when_empty_or_used_twice() {
    for stdin in [None, Some("")] {
        let error = parse("f(text=stdin)", stdin).unwrap_err();
        assert_eq!(error.title, "stdin is empty");
        assert_eq!(error.span, Span { start: 7, end: 12 });
    }
    let error = parse("f(stdin); g(stdin)", Some("x")).unwrap_err();
    assert_eq!((error.title.as_str(), error.span.start), ("stdin used twice", 12));
}

#[test]
fn first_error_in_reading_order_is_reported() {
    assert_eq!(refused("f(1 2); g(\"").span, Span { start: 4, end: 5 });
    assert_eq!(refused("await f(); {").title, "not a call");
}

#[test]
fn bounds_are_enforced_exactly() {
    let nested = |open: &str, close: &str, depth| open.repeat(depth) + "1" + &close.repeat(depth);
    assert!(parse(&nested("f(", ")", NESTING_MAX), None).is_ok());
    assert_eq!(refused(&nested("f(", ")", NESTING_MAX + 1)).title, "nested too deep");
    let list = |depth| format!("f({})", nested("[", "]", depth));
    assert!(parse(&list(NESTING_MAX - 1), None).is_ok());
    assert_eq!(refused(&list(NESTING_MAX)).title, "nested too deep");

    assert!(parse(&"f();".repeat(STEPS_MAX), None).is_ok());
    assert_eq!(refused(&"f();".repeat(STEPS_MAX + 1)).title, "too many steps");
    assert!(parse(&"f(g());".repeat(STEPS_MAX / 2), None).is_ok());
    assert_eq!(refused(&"f(g());".repeat(STEPS_MAX / 2 + 1)).title, "too many steps");

    assert!(parse(&format!("f([{}])", "1,".repeat(LIST_MAX)), None).is_ok());
    assert_eq!(refused(&format!("f([{}])", "1,".repeat(LIST_MAX + 1))).title, "too many items");
    assert_eq!(refused(&format!("f({})", "1,".repeat(LIST_MAX + 1))).title, "too many arguments");

    let filled = |length: usize| format!("f('{}')", "x".repeat(length - "f('')".len()));
    assert!(parse(&filled(CODE_MAX), None).is_ok());
    let error = refused(&filled(CODE_MAX + 1));
    assert_eq!(error.title, "code too long");
    assert!(error.to_fault(&filled(CODE_MAX + 1)).message.len() < 500);
}

#[test]
fn deep_nesting_is_refused_without_recursion() {
    for (open, count) in [("(", 100_000), ("[", 100_000), ("f(", 100_000), ("f([", 80_000)] {
        for prefix in ["", "f("] {
            let code = prefix.to_owned() + &open.repeat(count);
            assert!(refused(&code).to_fault(&code).message.len() < 1000);
        }
    }
}

#[test]
fn error_messages_never_repeat_long_input() {
    let long = "x".repeat(100_000);
    for code in [
        long.clone(),
        format!("{long} {long}"),
        format!("f({long}={long}, {long}=1)"),
        format!("f({long}{long}.1)"),
        format!("f(obj:{long})"),
        format!("f(0{long})"),
        format!("f(<<{long})\n"),
        format!("f(<<A)\nA {long}"),
        format!("f('{long}"),
        format!("f('a\\{long}')"),
        format!("f({}", "9".repeat(200_000)),
    ] {
        let fault = refused(&code).to_fault(&code);
        let length: usize = fault.hints.iter().map(String::len).sum();
        assert!(length + fault.message.len() < 1000, "{}", fault.message);
    }
}

#[test]
fn nearest_suggests_the_name_with_fewest_mistakes() {
    let names = ["old", "new", "all"];
    assert_eq!(nearest("nw", names), Some("new"));
    assert_eq!(nearest("lod", names), Some("old"));
    assert_eq!(nearest("ALL", names), Some("all"));
    assert_eq!(nearest("text", names), None);
    assert_eq!(nearest("", names), None);
    assert_eq!(nearest("x", ["y"]), None);
    assert_eq!(nearest("replaceLines", ["replace", "replace_lines"]), Some("replace_lines"));
    assert_eq!(nearest("aab", ["aac", "aad"]), Some("aac"));
    assert_eq!(nearest("aab", ["aacd", "aab"]), Some("aab"));
    assert_eq!(nearest("笔记本", ["笔记簿"]), Some("笔记簿"));
    assert_eq!(nearest(&"x".repeat(100_000), ["x"]), None);
    assert_eq!(nearest("x", []), None);
}
