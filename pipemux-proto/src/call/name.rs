//! Names of actions with their owners, of parameters, and of values that an app defines.

use super::error::CallError;
use super::lexer::ONLY_CALLS;
use super::span::Span;
use super::syntax_tree::Owner;

/// Splits `provider/session.name` at its last dot, as session ids may hold dots.
pub(super) fn split_name(word: &str) -> Option<(Option<Owner>, &str)> {
    let (owner, name) = match word.rsplit_once('.') {
        Some((owner, name)) => (Some(split_owner(owner)?), name),
        None => (None, word),
    };
    is_name(name).then_some((owner, name))
}

/// Returns true if the word can be the name of an action, a parameter or a value.
pub(crate) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Returns the error for a step that begins with this word.
pub(super) fn not_a_call(word: &str, span: Span) -> CallError {
    let error = CallError::new("not a call", span, ONLY_CALLS);
    match word {
        "await" | "async" | "return" => {
            error.hint("leave it out: steps run in order, and each answer is shown")
        }
        "const" | "let" | "var" => {
            error.hint("pass a call as an argument instead: git_commit(files=git_staged())")
        }
        "if" | "for" | "while" | "switch" | "def" | "function" => {
            error.hint("there are no loops, conditions or functions: write out each call")
        }
        _ => error,
    }
}

fn split_owner(owner: &str) -> Option<Owner> {
    let (provider, session) = match owner.split_once('/') {
        Some((provider, session)) => (provider, Some(session)),
        None => (owner, None),
    };
    let session = session.map(str::parse).transpose().ok()?;
    Some(Owner { provider: provider.parse().ok()?, session })
}
