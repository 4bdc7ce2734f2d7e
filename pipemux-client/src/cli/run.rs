//! `pipemux run`

use pipemux_client::ClientError;
use pipemux_client::proto::call::stdin_at;
use pipemux_client::proto::client::Verb;
use pipemux_client::proto::limits::{CODE_MAX, STDIN_MAX};

use super::around::Around;
use super::slips::in_shell_quotes;

/// What is asked of the daemon: the code, and standard input if the code speaks of it.
///
/// # Errors
/// Code that the shell took apart; standard input that can't be had.
pub fn wanted(words: Vec<String>, around: &dyn Around) -> Result<Verb, ClientError> {
    let [code] = words.as_slice() else {
        let whole = in_shell_quotes(&words.join(" "));
        return Err(ClientError::invalid("the code came in several words: expected one, quoted")
            .hint(format!("pipemux run {whole}")));
    };
    if code == "-" {
        // Standard input is the code, so it isn't text besides.
        return Ok(Verb::Run { code: around.stdin(CODE_MAX)?, stdin: None });
    }
    // It may have no end: it is read only when the code speaks of it.
    let text = if stdin_at(code).is_some() {
        Some(around.stdin(STDIN_MAX)?.into_bytes().into())
    } else {
        None
    };
    Ok(Verb::Run { code: code.clone(), stdin: text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::around::Process;
    use std::time::Duration;

    #[test]
    fn code_in_several_words_is_answered_with_the_quoted_call() {
        let words = ["editor.replace(a,", "it's)"].map(str::to_owned).to_vec();
        let around = Process { timeout: Duration::from_secs(1) };
        let error = wanted(words, &around).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert_eq!(error.fault().hints, ["pipemux run 'editor.replace(a, it'\\''s)'"]);
    }
}
