//! `pipemux listen`: a whole model message, of which only the `docui` blocks are carried out.

use pipemux_client::ClientError;
use pipemux_client::proto::call::blocks::{blocks, script};
use pipemux_client::proto::call::{CallError, stdin_at};
use pipemux_client::proto::client::Verb;
use serde_json::json;

use super::around::{Around, Process};
use super::ask::Asker;

/// Longest message, in bytes; of its code, what a run may have.
const MESSAGE_MAX: usize = 16 * 1024 * 1024;

/// What is said of a message without a block.
pub const NOTHING: &str = "0 docui blocks: nothing ran";

/// Carries out the message on standard input as one run; returns the exit status.
///
/// # Errors
/// The message can't be had; a block has no end; code that asks for standard input, which is the
/// message.
pub fn carry_out(asker: &Asker) -> Result<u8, ClientError> {
    match asked(&Process { timeout: asker.options.timeout })? {
        Some(run) => asker.ask(run),
        None => Ok(asker.say(NOTHING, &json!({ "blocks": 0 }))),
    }
}

/// What is asked of the daemon; nothing when the message on standard input has no block.
///
/// # Errors
/// As [`carry_out`].
pub fn asked(around: &dyn Around) -> Result<Option<Verb>, ClientError> {
    wanted(&around.stdin(MESSAGE_MAX)?)
}

fn wanted(message: &str) -> Result<Option<Verb>, ClientError> {
    let refused = |error: CallError, code: &str| ClientError::Invalid(error.to_fault(code));
    let found = blocks(message).map_err(|error| refused(error, message))?;
    if found.is_empty() {
        return Ok(None);
    }
    let code = script(&found);
    if let Some(span) = stdin_at(&code) {
        let note = "standard input is the message itself";
        let error = CallError::new("stdin in a docui block", span, note).hint(
            "give the text as a raw block: text=<<END, the text on the next lines, END alone",
        );
        return Err(refused(error, &code));
    }
    Ok(Some(Verb::Run { code, stdin: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(message: &str) -> Option<String> {
        wanted(message).unwrap().map(|verb| match verb {
            Verb::Run { code, stdin: None } => code,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn blocks_are_one_run_with_the_lines_of_the_message() {
        let message = "Save:\n```docui\neditor.save()\n```\nthen\n~~~docui\nlink:3\n~~~\n";
        assert_eq!(code(message).unwrap(), "\n\neditor.save()\n;\n\n\nlink:3\n");
        assert_eq!(code("`editor.save()` saves:\n```\neditor.save()\n```\n"), None);
        assert_eq!(code(""), None);
    }

    #[test]
    fn stdin_is_refused_where_it_is_a_name() {
        let error = wanted("a\n```docui\nb('stdin')\nf(1, text=stdin)\n```\n").unwrap_err();
        assert_eq!(error.exit_status(), 2);
        let fault = error.fault();
        assert_eq!(fault.at.map(|at| (at.line, at.column)), Some((4, 11)));
        assert!(fault.message.contains("f(1, text=stdin)\n          ^^^^^ "), "{}", fault.message);
        assert!(fault.hints[0].contains("<<END"), "{:?}", fault.hints);
        assert!(code("```docui\nf(text=<<END)\nstdin\nEND\n```\n").is_some());
    }

    #[test]
    fn a_block_without_its_end_is_refused() {
        let error = wanted("a\n```docui\nb()\n").unwrap_err();
        assert_eq!((error.exit_status(), error.fault().at.map(|at| at.line)), (2, Some(2)));
    }
}
