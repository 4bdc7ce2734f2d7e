//! The call syntax: code, whole messages, and the words of a command line.

use pipemux_proto::Value;
use pipemux_proto::call::blocks::{blocks, script};
use pipemux_proto::call::{Call, Expr, Script, Span, Step, parse, shorten, stdin_at};
use pipemux_proto::limits::{CODE_MAX, STEPS_MAX};

#[path = "../../../pipemux-client/cli/src/suggestions/calls.rs"]
mod suggested_calls;

/// The input is any text, which is read as code, as a message, and as words, one on each line.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    code(text);
    message(text);
    words(text);
}

fn code(code: &str) {
    if let Some(span) = stdin_at(code) {
        assert_eq!(code.get(span.start..span.end), Some("stdin"));
    }
    match parse(code, Some("input\n")) {
        Ok(script) => {
            assert!(script.steps.len() <= STEPS_MAX && code.len() <= CODE_MAX);
            spans(&script).into_iter().for_each(|span| place(code, span));
            values(&script).into_iter().for_each(prints);
            // Without standard input, parsing fails exactly where the code uses it.
            let without = parse(code, None);
            let same = without.as_ref().is_ok_and(|without| *without == script);
            assert!(same || stdin_at(code).is_some(), "{without:?}");
        }
        Err(error) => {
            place(code, error.span);
            let fault = error.to_fault(code);
            assert_eq!(fault.message.lines().count(), 3, "{}", fault.message);
            assert!(fault.message.contains("^ "), "{}", fault.message);
            assert!(!fault.message.contains(['\u{1b}', '\r', '\t']), "{:?}", fault.message);
        }
    }
}

fn message(message: &str) {
    match blocks(message) {
        Ok(found) => {
            for block in &found {
                assert!(message.split_inclusive('\n').nth(block.first_line - 1).is_some());
            }
            let joined = script(&found);
            assert!(joined.len() <= CODE_MAX + 2 * found.len());
            code(&joined);
        }
        Err(error) => {
            assert!(message.get(error.span.start..error.span.end).is_some(), "{error:?}");
            error.to_fault(message);
        }
    }
}

/// Asserts that a call made of words is valid code.
fn words(text: &str) {
    let words: Vec<&str> = text.lines().collect();
    let code = suggested_calls::call_code("editor", "replace", &words, &|name| name == "editor");
    // A word that looks like code may be invalid code, which is reported as such.
    let plain = |word: &str| !word.contains(['(', ')', '[', ':', '=']) && !word.starts_with("--");
    let stdin = words.iter().filter(|word| matches!(**word, "-" | "stdin")).count();
    if stdin < 2
        && words.iter().all(|word| plain(word))
        && code.len() <= CODE_MAX
        && words.len() < 100
    {
        let read = parse(&code, Some("input"));
        assert!(read.is_ok(), "{code:?}: {read:?}");
    }
}

fn place(code: &str, span: Span) {
    assert!(span.start <= span.end, "{span:?}");
    assert!(code.get(span.start..span.end).is_some(), "{span:?} of {code:?}");
    let short = shorten(code, span, 40);
    assert!(short.chars().count() <= 40 && !short.contains('\n'), "{short:?}");
}

/// Asserts that the printed form of a value parses to that value.
fn prints(value: &Value) {
    let code = format!("f({value})");
    if code.len() > CODE_MAX {
        return;
    }
    let read = parse(&code, None).map(|script| values(&script).first().map(|v| (*v).clone()));
    assert_eq!(read, Ok(Some(value.clone())), "{code:?}");
}

fn spans(script: &Script) -> Vec<Span> {
    let mut all = Vec::new();
    for step in &script.steps {
        match step {
            Step::Call(call) => walk(call, &mut |span, _| all.push(span)),
            Step::Ref(_, span) => all.push(*span),
        }
    }
    all
}

fn values(script: &Script) -> Vec<&Value> {
    let mut all = Vec::new();
    for step in &script.steps {
        if let Step::Call(call) = step {
            walk(call, &mut |_, expr| {
                if let Some(Expr::Value(value)) = expr {
                    all.push(value);
                }
            });
        }
    }
    all
}

fn walk<'a>(call: &'a Call, see: &mut impl FnMut(Span, Option<&'a Expr>)) {
    see(call.name, None);
    see(call.span, None);
    for arg in &call.args {
        if let Some((_, span)) = &arg.name {
            see(*span, None);
        }
        walk_expr(&arg.value, arg.span, see);
    }
}

fn walk_expr<'a>(expr: &'a Expr, span: Span, see: &mut impl FnMut(Span, Option<&'a Expr>)) {
    see(span, Some(expr));
    match expr {
        Expr::Call(call) => walk(call, see),
        Expr::List(items) => items.iter().for_each(|(item, span)| walk_expr(item, *span, see)),
        Expr::Record(entries) => {
            entries.iter().for_each(|entry| walk_expr(&entry.value, entry.span, see));
        }
        Expr::Value(_) | Expr::Quoted(_) | Expr::Ref(_) | Expr::Name { .. } => {}
    }
}
