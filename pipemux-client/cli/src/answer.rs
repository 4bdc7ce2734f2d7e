//! `pipemux answer`.

use pipemux_client::ClientError;
use pipemux_client::proto::Value;
use pipemux_client::proto::call::stdin_at;
use pipemux_client::proto::client::Verb;
use pipemux_client::proto::limits::STDIN_MAX;

use super::command_env::CommandEnv;

/// Makes the request to the daemon: the words, and standard input if they stand for it. Without
/// words, a here-document is the answer; without one, the daemon shows the question.
///
/// # Errors
/// Standard input can't be read.
pub fn to_request(
    words: &[String],
    to: Option<u64>,
    env: &dyn CommandEnv,
) -> Result<Verb, ClientError> {
    let mut text = joined(words);
    // A corrected call may mean what was kept of the failed one.
    let is_own = || text.trim().is_empty() || (text.contains('(') && stdin_at(&text).is_some());
    let takes = names_stdin(&text) || names_dash(words);
    let stdin = if takes || (is_own() && env.has_own_input()) {
        Some(env.stdin_or_prompt(STDIN_MAX)?.into_bytes().into())
    } else {
        if !is_own() {
            env.leave_input()?;
        }
        None
    };
    if text.trim().is_empty() && stdin.is_some() {
        text = "-".to_owned();
    }
    Ok(Verb::Answer { text, to, stdin })
}

/// Joins the words to one answer, so that `all but 2` needs no quotes. When each of several words
/// is a field, `title="a task" column=todo`, the shell took the quotes of texts: those with spaces
/// or signs get them back.
fn joined(words: &[String]) -> String {
    let fields: Option<Vec<(&str, &str)>> = words.iter().map(|word| field(word)).collect();
    let Some(fields) = fields.filter(|fields| fields.len() > 1) else { return words.join(" ") };
    let word = |(name, value): (&str, &str)| {
        let is_written = value.starts_with(['\'', '"', '[', '{', '<']);
        let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '=' | ',' | ';' | '\'' | '"');
        match is_written || value.chars().all(is_plain) {
            true => format!("{name}={value}"),
            false => format!("{name}={}", Value::from(value)),
        }
    };
    fields.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Splits `name=value`.
fn field(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = name.starts_with(|c: char| !c.is_ascii_digit()) && name.chars().all(is_part);
    is_name.then_some((name, value))
}

/// Returns true for fields of which one is given as `-`.
fn names_dash(words: &[String]) -> bool {
    words.len() > 1 && words.iter().any(|word| field(word).is_some_and(|(_, value)| value == "-"))
}

/// Returns true for `-`, `stdin` and a value that mentions standard input: `text=stdin`. A text
/// that merely has the word in it doesn't.
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
    use std::ffi::OsString;
    use std::path::PathBuf;

    use super::*;

    /// A command with a here-document, which is left out if the text is empty.
    struct Heredoc(&'static str);

    impl CommandEnv for Heredoc {
        fn stdin(&self, _: usize) -> Result<String, ClientError> {
            Ok(self.0.to_owned())
        }

        fn has_own_input(&self) -> bool {
            !self.0.is_empty()
        }

        fn leave_input(&self) -> Result<(), ClientError> {
            match self.0 {
                "" => Ok(()),
                _ => Err(ClientError::invalid("left")),
            }
        }

        fn directory(&self) -> Result<PathBuf, ClientError> {
            Ok(PathBuf::new())
        }

        fn variables(&self) -> Vec<(OsString, OsString)> {
            Vec::new()
        }
    }

    #[test]
    fn here_document_is_taken_or_said_to_be_left() {
        let asked = |words: &[&str], text| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            to_request(&words, None, &Heredoc(text)).map(|verb| match verb {
                Verb::Answer { text, stdin, .. } => {
                    (text, stdin.map(|stdin| String::from_utf8_lossy(&stdin).into_owned()))
                }
                other => panic!("{other:?}"),
            })
        };
        let taken = |text: &str, input: &str| (text.to_owned(), Some(input.to_owned()));
        assert_eq!(asked(&[], "f(1)").unwrap(), taken("-", "f(1)"));
        assert_eq!(asked(&[], "").unwrap(), (String::new(), None));
        let corrected = "editor.insert(3, text=stdin)";
        assert_eq!(asked(&[corrected], "x").unwrap(), taken(corrected, "x"));
        // Without one, the corrected call means the text of the failed one.
        assert_eq!(asked(&[corrected], "").unwrap(), (corrected.to_owned(), None));
        assert_eq!(asked(&["text=stdin"], "x").unwrap(), taken("text=stdin", "x"));
        assert_eq!(asked(&["go"], "x").unwrap_err().to_string(), "left");
        assert_eq!(asked(&["all"], "").unwrap(), ("all".to_owned(), None));
    }

    #[test]
    fn fields_keep_the_texts_that_the_shell_unquoted() {
        for (words, expected) in [
            (&["title=a task", "column=todo"][..], "title='a task' column=todo"),
            (&["title=it's", "n=3", "x=a=b"], r"title='it\'s' n=3 x='a=b'"),
            (&["items=[{a: 1}]", "title=\"a b\""], "items=[{a: 1}] title=\"a b\""),
            (&["title=a task"], "title=a task"),
            (&["title=new", "task", "column=todo"], "title=new task column=todo"),
            (&["all", "but", "2"], "all but 2"),
        ] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(joined(&words), expected);
        }
        let words =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert!(names_dash(&words(&["user=a", "key=-"])) && !names_dash(&words(&["key=-"])));
        assert!(names_stdin(&joined(&words(&["user=it's", "key=stdin"]))));
    }

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
