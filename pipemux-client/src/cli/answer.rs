//! `pipemux answer`.

use pipemux_client::ClientError;
use pipemux_client::proto::call::stdin_at;
use pipemux_client::proto::client::Verb;
use pipemux_client::proto::limits::STDIN_MAX;

use super::command_env::CommandEnv;

/// Makes the request to the daemon: the words, and standard input if they stand for it. Without words, the daemon
/// shows the question.
///
/// # Errors
/// Standard input can't be read.
pub fn to_request(
    words: &[String],
    to: Option<u64>,
    env: &dyn CommandEnv,
) -> Result<Verb, ClientError> {
    // The words make one answer, so that `all but 2` needs no quotes.
    let text = words.join(" ");
    let stdin = match names_stdin(&text) {
        true => Some(env.stdin(STDIN_MAX)?.into_bytes().into()),
        false => None,
    };
    Ok(Verb::Answer { text, to, stdin })
}

/// Returns true for `-`, `stdin` and a value that mentions standard input: `text=stdin`. A text that merely has the
/// word in it doesn't.
fn names_stdin(text: &str) -> bool {
    if matches!(text.trim(), "-" | "stdin") {
        return true;
    }
    let is_name = |name: &str| {
        let name = name.trim();
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    text.split_once('=')
        .is_some_and(|(name, value)| is_name(name) && stdin_at(value.trim_start()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_is_read_only_where_it_is_meant() {
        for text in ["-", "stdin", " - ", "text=stdin", "entries = [stdin]"] {
            assert!(names_stdin(text), "{text}");
        }
        for text in
            ["", "1,3", "--", "use stdin", "text='stdin'", "text=<<A\nstdin\nA", "a b=stdin"]
        {
            assert!(!names_stdin(text), "{text}");
        }
    }
}
