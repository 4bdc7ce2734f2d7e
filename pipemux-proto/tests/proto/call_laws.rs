//! Laws of the call syntax, for any code.

use pipemux_proto::Value;
use pipemux_proto::call::{
    Call, Expr, Script, Span, Step, parse, parse_undecided, shorten, stdin_at, write_raw,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Code that holds every form once, to be spoiled.
const VALID: &str = "editor/b.replace_lines(30, -2.5e3, text=<<END, all: true, more=<<'B')\n\
    raw ' \\ \"\nEND\n笔记🙂\r\nB\n\
    attack('it\\'s \\n', \"\"\"a\nb\"\"\", [obj:enemy:23@e4, [null,],], editor.selection, g(h()), {a: 1, 'b c'={d: [obj:3]}});\n\
    link:15; f(stdin, [[MT:Node:a b]], [[[M:V:1]]])\r\n";

/// Pieces that mean something somewhere.
const PIECES: [&str; 47] = [
    "{",
    "}",
    "{a:",
    "'",
    "\"",
    "'''",
    "\"\"\"",
    "\\",
    "\\n",
    "\\d",
    "(",
    ")",
    "[",
    "]",
    ",",
    ";",
    "\n",
    "\r\n",
    "=",
    ":",
    "<<END",
    "<<'B'",
    "<<",
    "\nEND\n",
    "END",
    "B",
    "obj:",
    "link:15",
    "obj:7@e",
    "@e3",
    "editor.",
    "f(",
    "stdin",
    "-",
    "1e9",
    ".5",
    "#",
    "//",
    "await ",
    "笔",
    "🙂",
    "“",
    "\0",
    "[[",
    "]]",
    "[[MT:Node:7]]",
    "[[MT:",
];

fn check(code: &str) -> Result<(), TestCaseError> {
    if let Some(span) = stdin_at(code) {
        prop_assert_eq!(code.get(span.start..span.end), Some("stdin"));
    }
    let decided = parse(code, Some("input\n"));
    match parse_undecided(code, Some("input\n")) {
        Ok(script) => spans(&script).try_for_each(|span| check_span(code, span))?,
        Err(_) => prop_assert!(decided.is_err()),
    }
    match decided {
        Ok(script) => spans(&script).try_for_each(|span| check_span(code, span)),
        Err(error) => {
            check_span(code, error.span)?;
            let fault = error.to_fault(code);
            prop_assert_eq!(fault.message.lines().count(), 3, "{}", fault.message);
            prop_assert!(fault.message.contains("^ "), "{}", fault.message);
            Ok(())
        }
    }
}

fn check_span(code: &str, span: Span) -> Result<(), TestCaseError> {
    prop_assert!(span.start <= span.end, "{:?}", span);
    prop_assert!(code.get(span.start..span.end).is_some(), "{:?} of {:?}", span, code);
    let short = shorten(code, span, 40);
    prop_assert!(short.chars().count() <= 40 && !short.contains('\n'), "{:?}", short);
    Ok(())
}

fn spans(script: &Script) -> impl Iterator<Item = Span> {
    let mut spans = Vec::new();
    for step in &script.steps {
        match step {
            Step::Call(call) => call_spans(call, &mut spans),
            Step::Ref(_, span) => spans.push(*span),
        }
    }
    spans.into_iter()
}

fn call_spans(call: &Call, spans: &mut Vec<Span>) {
    spans.extend([call.name, call.span]);
    for arg in &call.args {
        spans.extend(arg.name.as_ref().map(|(_, span)| *span));
        spans.push(arg.span);
        expr_spans(&arg.value, spans);
    }
}

fn expr_spans(expr: &Expr, spans: &mut Vec<Span>) {
    match expr {
        Expr::Call(call) => call_spans(call, spans),
        Expr::List(items) => {
            for (item, span) in items {
                spans.push(*span);
                expr_spans(item, spans);
            }
        }
        Expr::Record(entries) => {
            for entry in entries {
                spans.extend([entry.name_span, entry.span]);
                expr_spans(&entry.value, spans);
            }
        }
        Expr::Value(_) | Expr::Quoted(_) | Expr::Ref(_) | Expr::Name { .. } => {}
    }
}

fn only_value(code: &str, stdin: Option<&str>) -> Expr {
    let script = parse(code, stdin).unwrap_or_else(|error| panic!("{code:?}: {error}"));
    match script.steps.as_slice() {
        [Step::Call(call)] => call.args[0].value.clone(),
        other => panic!("{other:?}"),
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        prop::num::f64::NORMAL.prop_map(Value::Float),
        any::<String>().prop_map(Value::Str),
        "[ -~\n\r\t]{0,12}".prop_map(Value::Str),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        let record = prop::collection::vec((key(), inner.clone()), 0..6);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(Value::List),
            record.prop_map(|fields| Value::Map(with_distinct_names(fields))),
        ]
    })
}

/// The name of a record's field: any text can be one.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z_][a-zA-Z0-9_.-]{0,6}",
        any::<String>(),
        select(&["obj", "link", "stdin", "true", "1a", "", "a b", "it's", "//", "-", "é"][..])
            .prop_map(str::to_owned),
    ]
}

fn with_distinct_names(fields: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let mut names = std::collections::HashSet::new();
    fields.into_iter().filter(|(name, _)| names.insert(name.clone())).collect()
}

/// A list as the parser gives it.
fn plain(expr: Expr) -> Value {
    match expr {
        Expr::Value(value) => value,
        Expr::List(items) => Value::List(items.into_iter().map(|(item, _)| plain(item)).collect()),
        Expr::Record(entries) => {
            Value::Map(entries.into_iter().map(|entry| (entry.name, plain(entry.value))).collect())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn code_to_spoil_is_valid() {
    assert!(parse(VALID, Some("x")).is_ok_and(|script| script.steps.len() == 4));
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused_with_a_valid_span(code in any::<String>()) {
        check(&code)?;
    }

    #[test]
    fn any_sequence_of_pieces_is_parsed_or_refused_with_a_valid_span(pieces in prop::collection::vec(select(&PIECES[..]), 0..24)) {
        check(&pieces.concat())?;
    }

    #[test]
    fn spoiled_code_is_parsed_or_refused_with_a_valid_span(
        edits in prop::collection::vec((any::<Index>(), 0..12usize, select(&PIECES[..])), 1..5),
    ) {
        let mut chars: Vec<char> = VALID.chars().collect();
        for (at, removed, piece) in edits {
            let at = at.index(chars.len());
            let end = (at + removed).min(chars.len());
            chars.splice(at..end, piece.chars());
            chars.push('\n');
        }
        check(&chars.into_iter().collect::<String>())?;
    }

    #[test]
    fn any_prefix_of_valid_code_is_parsed_or_refused_with_a_valid_span(length in any::<Index>()) {
        check(&VALID[..VALID.floor_char_boundary(length.index(VALID.len()))])?;
    }

    #[test]
    fn printed_value_parses_as_itself(value in value()) {
        // A text with line breaks prints them escaped; what prints is one line.
        let expr = only_value(&format!("f({value})"), None);
        prop_assert_eq!(plain(expr), value);
    }

    #[test]
    fn text_that_is_written_raw_is_taken_as_it_was(text in r#"([a-z. \t笔'"]|\\[a-z\\.(])*"#) {
        let code = format!("f({})", write_raw(&text));
        let script = parse_undecided(&code, None).unwrap_or_else(|error| panic!("{code}: {error}"));
        let [Step::Call(call)] = script.steps.as_slice() else { panic!("{script:?}") };
        let read = match &call.args[0].value {
            Expr::Quoted(quoted) => &quoted.raw,
            Expr::Value(Value::Str(text)) => text,
            other => panic!("{other:?}"),
        };
        prop_assert_eq!(read, &text, "{}", code);
    }

    #[test]
    fn text_with_any_backslashes_that_is_written_raw_is_taken_as_it_was(text in r#"[\\a'"u{}]*"#) {
        let code = format!("f({})", write_raw(&text));
        let script = parse_undecided(&code, None).unwrap_or_else(|error| panic!("{code}: {error}"));
        let [Step::Call(call)] = script.steps.as_slice() else { panic!("{script:?}") };
        let read = match &call.args[0].value {
            Expr::Quoted(quoted) => &quoted.raw,
            Expr::Value(Value::Str(text)) => text,
            other => panic!("{other:?}"),
        };
        prop_assert_eq!(read, &text, "{}", code);
    }

    #[test]
    fn any_text_that_is_written_raw_can_be_read(text in any::<String>()) {
        prop_assert!(parse_undecided(&format!("f({})", write_raw(&text)), None).is_ok(), "{}", text);
    }

    #[test]
    fn raw_block_and_stdin_keep_any_text_exactly(body in "([ -~笔🙂\t\r]{0,12}\n){0,4}[ -~笔]{0,12}", crlf in any::<bool>()) {
        prop_assume!(!body.split('\n').any(|line| line.trim_end_matches('\r') == "END"));
        let expected = Expr::Value(Value::Str(body.clone()));
        let newline = if crlf { "\r\n" } else { "\n" };
        let code = format!("f(text=<<END){newline}{body}{newline}END{newline}");
        prop_assert_eq!(only_value(&code, None), expected.clone());
        if !body.is_empty() {
            prop_assert_eq!(only_value("f(stdin)", Some(&format!("{body}{newline}"))), expected);
        }
    }
}
