//! Which code of a model's message runs: only `docui` blocks, whole and unquoted.

use pipemux_proto::call::blocks::{Block, blocks, script};
use pipemux_proto::call::{CallError, parse};
use pipemux_proto::limits::CODE_MAX;

fn codes(message: &str) -> Vec<String> {
    match blocks(message) {
        Ok(found) => found.into_iter().map(|block| block.code).collect(),
        Err(error) => panic!("{message:?}: {}", error.to_fault(message).message),
    }
}

fn refused(message: &str) -> CallError {
    match blocks(message) {
        Ok(found) => panic!("{message:?} is read as {found:?}"),
        Err(error) => error,
    }
}

#[test]
fn docui_block_runs_and_keeps_its_line_number() {
    let message = "I save it:\n\n```docui\neditor.save()\n```\nDone.\n";
    let block = Block { code: "editor.save()\n".into(), first_line: 4 };
    assert_eq!(blocks(message), Ok(vec![block]));
    for message in [
        "```docui\na()\n```",
        "```docui\r\na()\n```\r\n",
        "~~~docui\na()\n~~~~~\n",
        "``` docui  title=x\na()\n```\t \n",
        "````\tdocui\na()\n`````\n",
        "   ```docui\n   a()\n ```\n",
        "text\n```docui\na()\n```\ntext",
        "# title\n```docui\na()\n```",
        "> quote\n```docui\na()\n```\n> quote",
        "1. first\n   ```docui\n   a()\n   ```\n2. second",
        "10. x\n\n    ```docui\n    a()\n    ```\n",
        "- ```docui\n  a()\n  ```\n",
        "-\t```docui\n\ta()\n\t```\n",
        "    indented\n```docui\na()\n```\n",
        "<div>\n\n```docui\na()\n```\n\n</div>",
        "<!-- x -->\n```docui\na()\n```\n",
        "<https://example.com>\n```docui\na()\n```\n",
        "~~~\n```docui\nno()\n```\n~~~\n```docui\na()\n```\n",
    ] {
        assert_eq!(codes(message), ["a()\n"], "{message:?}");
    }
}

#[test]
fn mentioned_or_quoted_code_does_not_run() {
    for message in [
        "",
        "docui\na()",
        "`docui a()` and ``` ```docui a()``` ```",
        "```\na()\n```",
        "```docui.rs\na()\n```",
        "```Docui\na()\n```",
        "```docui`\na()\n```",
        "```rust docui\na()\n```",
        "```{docui}\na()\n```",
        "``docui\na()\n``",
        "    ```docui\n    a()\n    ```",
        "\t```docui\n\ta()\n\t```",
        "text\n    ```docui\n    a()\n    ```",
        "- x\n\n      ```docui\n      a()\n      ```",
        "````\n```docui\na()\n```\n````",
        "````markdown\n```docui\na()\n```\n````",
        "~~~\n```docui\na()\n```\n~~~",
        "```text\n~~~docui\na()\n~~~\n```",
        "```\n```docui\na()\n```",
        "```\n\n```docui\na()\n",
        "- ````md\n  ```docui\n  a()\n  ```\n  ````\n",
        "1. ~~~\n   ```docui\n   a()\n   ```\n",
        "> ```docui\n> a()\n> ```\n",
        ">```docui\n>a()\n>```",
        "   > ```docui\n> a()\n",
        "- > ```docui\n  > a()\n  > ```",
        "> - ```docui\n>   a()\n>   ```",
        "<!--\n```docui\na()\n```\n-->",
        "<pre>\n\n```docui\na()\n```\n</pre>",
        "<details>\n```docui\na()\n```\n</details>",
        "<custom a='b'>\n```docui\na()\n```\n",
    ] {
        assert_eq!(codes(message), [""; 0], "{message:?}");
    }
}

#[test]
fn indentation_of_the_fence_is_removed_from_the_code() {
    let message = "  ```docui\n  f(text=<<END)\n    x\n y\n  END\n\n  ```\n";
    assert_eq!(codes(message), ["f(text=<<END)\n  x\ny\nEND\n\n"]);
    // Of a tab, what isn't indentation is left.
    assert_eq!(codes("- a\n\n   ```docui\n\tx\n\t\ty\n\t```"), [" x\n \ty\n"]);
}

#[test]
fn open_text_hides_fences() {
    for text in [
        "f(text=<<END)\n```\n```docui\nno()\n```\nEND\n",
        "f(text=<<'END', b=\"<<X\")\r\n```\r\nEND\r\n",
        "f(<<A, <<B)\n```\nB\nA\n```\nA\nB\n",
        "f(\n  <<A,\n```\nA\n  1)\ng(<<B)\n~~~\n```\nB\n",
        "f(''')\n```\n'''\n)\n",
        "f('''a \\''' b\n```\n ''', \"\"\"\n```\n'''\"\"\")\n",
        "f([[MT:View:<<A]], <<B)\n```\nB\n",
    ] {
        let message = format!("```docui\n{text}```\n\n```docui\nlast()\n```\n");
        assert_eq!(codes(&message), [text, "last()\n"], "{message}");
    }
    // None of these opens one.
    for text in ["f('<<END')\n", "f(\"'''\")\n", "f('''x''')\n", "f(obj:a<<END)\n"] {
        let message = format!("```docui\n{text}```\n<<END\n```docui\nlast()\n```\n");
        assert_eq!(codes(&message), [text, "last()\n"], "{message}");
    }
    // Code that isn't of the syntax is refused in any case: its fences are its fences.
    for text in ["# <<END\n", "it's\n", "x = `<<END`\n", "f(<<)\n", "f('''a\\\n"] {
        let message = format!("```docui\n{text}```\n\n```docui\nlast()\n```\n");
        let found = blocks(&message).unwrap();
        assert_eq!(found.len(), 2, "{message}");
        assert!(parse(&script(&found), None).is_err(), "{message}");
    }
}

#[test]
fn block_without_closing_fence_is_refused_with_its_line() {
    for (message, line, part) in [
        ("x\n```docui\na()\n", 2, "expected a closing ``` line behind it"),
        ("```docui", 1, "expected a closing ``` line"),
        ("```docui\n", 1, "expected a closing"),
        ("a\n\n~~~~docui\na()\n~~~\n", 3, "a closing ~~~~ line"),
        ("```docui\na()\n```x\n", 1, "expected a closing"),
        ("```docui\na()\n    ```\n", 1, "expected a closing"),
        ("```docui\na()\n```docui\nb()\n", 1, "expected a closing"),
        ("```docui\nok()\n```\n```docui\na()", 4, "expected a closing"),
        ("```docui\na()\nf(<<END)\n```\n", 1, "the raw block <<END, opened on line 3, has no end"),
        ("```docui\nf('''\n```\n", 1, "the text ''', opened on line 2, has no end"),
        ("- ```docui\n  a()\n\nb\n", 1, "its list item ends on line 4"),
        ("- x\n  ```docui\n  f(<<END)\nraw\n", 2, "raw block <<END, opened on line 3"),
    ] {
        let error = refused(message);
        assert_eq!(error.title, "unclosed docui block", "{message:?}");
        assert!(error.note.contains(part), "{message:?}: {}", error.note);
        assert!(error.note.contains(&format!("on line {line};")), "{message:?}: {}", error.note);
        assert!(!error.hints.is_empty());
        let fault = error.to_fault(message);
        assert_eq!(fault.at.map(|at| at.line), Some(line), "{message:?}");
        assert!(fault.message.contains("docui\n^"), "{}", fault.message);
    }
}

#[test]
fn errors_in_the_script_have_line_numbers_of_the_message() {
    let message = "a\n\n```docui\nok()\n```\nb\n```docui\n```\n> c\n\n~~~docui\nf(<<END)\nx\nEND\n\n  g(1 2)\n~~~\n";
    let found = blocks(message).unwrap();
    assert_eq!(found.iter().map(|block| block.first_line).collect::<Vec<_>>(), [4, 8, 12]);
    let script = script(&found);
    let lines: Vec<_> = message.lines().collect();
    for (index, line) in script.lines().enumerate() {
        assert!(matches!(line, "" | ";") || lines[index] == line, "{index}: {line:?}");
    }
    let fault = parse(&script, None).unwrap_err().to_fault(&script);
    assert_eq!(fault.at.map(|at| (at.line, at.column)), Some((16, 7)), "{}", fault.message);
    assert_eq!(parse("", None).unwrap_err().title, "nothing to run");
}

#[test]
fn call_does_not_continue_in_the_next_block() {
    let found = blocks("```docui\nf(\n```\n```docui\n1)\n```\n").unwrap();
    let error = parse(&script(&found), None).unwrap_err();
    assert_eq!(error.title, "unexpected `;`");
}

#[test]
fn code_bound_is_exact_and_counts_all_blocks() {
    let code = |length: usize| format!("f('{}')\n", "x".repeat(length - "f('')\n".len()));
    let message =
        |length| format!("```docui\nok()\n```\n```docui\n{}```\n", code(length - "ok()\n".len()));
    assert_eq!(blocks(&message(CODE_MAX)).map(|found| found.len()), Ok(2));
    let error = refused(&message(CODE_MAX + 1));
    assert_eq!((error.title.as_str(), error.span.start), ("code too long", 18));
}

#[test]
fn long_messages_are_parsed_in_linear_time() {
    let prose = "Some words of `prose`, with a [link](obj:7).\n".repeat(230_000);
    let message = format!("{prose}\n```docui\na()\n```\n```docui\nb()\n```\n");
    assert!(message.len() > 10_000_000);
    let found = blocks(&message).unwrap();
    assert_eq!(found[0], Block { code: "a()\n".into(), first_line: 230_003 });
    // The empty lines still fit.
    assert!(script(&found).lines().position(|line| line == "b()") == Some(230_005));
    let far = [found[0].clone(), Block { code: "b()\n".into(), first_line: CODE_MAX }];
    assert!(script(&far) == "a()\n;\nb()\n");

    // What would be slow if it were read more than once.
    for piece in [
        "> ",
        "- ",
        "`",
        " ",
        "\n",
        "- a\n",
        "- x\n  ```docui\n  ```\n",
        "```\n",
        "<a ",
        "<pre>\n",
        "\t",
    ] {
        assert!(blocks(&piece.repeat(1_000_000 / piece.len())).is_ok(), "{piece:?}");
    }
    let items = format!("{}a\n{}", "- ".repeat(1000), "\n".repeat(300_000));
    assert_eq!(blocks(&items), Ok(Vec::new()));
    let open = format!("```docui\nf({})\n{}", "<<A, ".repeat(20_000), "A\n```\n".repeat(10_000));
    assert_eq!(refused(&open).title, "unclosed docui block");
    let endless = format!("```docui\n{}", "```docui\n".repeat(300_000));
    assert_eq!(refused(&endless).title, "code too long");
}
