//! The text of an answer: words, a verbatim text, or a value in the call syntax.

use pipemux_proto::Fault;
use pipemux_proto::call::{self, Argument, Expr, Step};

/// An answer as typed by the reader.
#[derive(Debug, Clone, PartialEq)]
pub enum TypedAnswer {
    /// `1,3`, `all but 2`, `overwrite`, `obj:7`, or a text.
    Words(String),
    /// A text from standard input.
    Text(String),
    /// `entry=obj:7`, `text='a text'`.
    Value {
        /// The argument's name and value.
        argument: Box<Argument>,
        /// The code that the argument's positions refer to.
        code: String,
    },
}

impl TypedAnswer {
    /// Reads an answer. `names` are those that a value may be given for; words with another name
    /// are words.
    ///
    /// # Errors
    /// Standard input is named but wasn't sent, isn't text or is empty; the value isn't in the call
    /// syntax.
    pub fn read(text: &str, stdin: Option<&[u8]>, names: &[&str]) -> Result<Self, Fault> {
        let stdin = stdin.map(std::str::from_utf8).transpose().map_err(|error| {
            Fault::usage(format!("standard input is not UTF-8: byte {}", error.valid_up_to()))
        })?;
        if matches!(text.trim(), "-" | "stdin") {
            let literal =
                format!("pipemux answer 'text=\"{}\"' answers with the word", text.trim());
            let text = stdin.map(|text| text.strip_suffix('\n').unwrap_or(text));
            return match text {
                Some(text) if !text.is_empty() => Ok(Self::Text(text.to_owned())),
                _ => {
                    let why = "standard input, which this answer stands for, is empty";
                    Err(Fault::usage(why).hint(literal))
                }
            };
        }
        // A raw block is a value without a name.
        if let Some(name) = names.last().filter(|_| opens_raw_block(text)) {
            return Self::value(&format!("{name}={}", text.trim_start()), stdin);
        }
        match text.trim_start().split_once('=') {
            Some((name, _)) if names.contains(&name.trim_end()) => Self::value(text, stdin),
            _ => Ok(Self::Words(text.to_owned())),
        }
    }

    /// Reads what stands for the value of one field of a form.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_field(name: &str, text: &str, stdin: Option<&[u8]>) -> Result<Self, Fault> {
        match text.starts_with(['\'', '"', '[', '{']) {
            true => Self::read(&format!("{name}={text}"), stdin, &[name]),
            // A bare text is nothing but that.
            false if !opens_raw_block(text) && !matches!(text, "-" | "stdin") => {
                Ok(Self::Words(text.to_owned()))
            }
            false => Self::read(text, stdin, &[name]),
        }
    }

    /// Reads `name=value` as the only argument of a call.
    fn value(text: &str, stdin: Option<&str>) -> Result<Self, Fault> {
        // The end stands on a line of its own, since a raw block ends with a line.
        let code = format!("answer({}\n)", text.trim_start());
        let script = call::parse_undecided(&code, stdin).map_err(|error| error.to_fault(&code))?;
        let argument = match <[Step; 1]>::try_from(script.steps) {
            Ok([Step::Call(call)]) => <[Argument; 1]>::try_from(call.args).ok(),
            _ => None,
        };
        match argument {
            Some([argument]) if !matches!(argument.value, Expr::Call(_)) => {
                Ok(Self::Value { argument: Box::new(argument), code })
            }
            _ => Err(Fault::usage("expected one value in the answer")
                .hint("pipemux answer 'text=\"a text\"'")),
        }
    }
}

/// Returns true for a text that begins with the line of a raw block: `<<END`, `<<'END'`.
fn opens_raw_block(text: &str) -> bool {
    let line = text.trim_start().strip_prefix("<<").and_then(|rest| rest.split_once('\n'));
    line.is_some_and(|(word, _)| {
        let word = word.trim_end();
        let bare = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(word);
        !bare.is_empty() && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;
    use pipemux_proto::Value;

    fn read(text: &str, stdin: Option<&str>) -> Result<TypedAnswer, Fault> {
        TypedAnswer::read(text, stdin.map(str::as_bytes), &["text", "entry"])
    }

    fn text_of(text: &str, stdin: Option<&str>) -> String {
        match read(text, stdin).unwrap() {
            TypedAnswer::Text(text) => text,
            TypedAnswer::Value { argument, .. } => match argument.value {
                Expr::Value(Value::Str(text)) => text,
                other => panic!("{other:?}"),
            },
            TypedAnswer::Words(words) => panic!("{words}"),
        }
    }

    #[test]
    fn standard_input_is_the_text_without_its_last_newline() {
        for name in ["-", "stdin", " - ", "text=stdin", "text = stdin"] {
            assert_eq!(text_of(name, Some("a\nb\n")), "a\nb", "{name}");
            assert!(read(name, Some("")).is_err(), "{name}");
            assert!(read(name, None).is_err(), "{name}");
        }
    }

    #[test]
    fn value_is_written_as_in_a_call() {
        assert_eq!(text_of("text='stdin'", None), "stdin");
        assert_eq!(text_of("text=''", None), "");
        assert_eq!(text_of("text=<<END\nit's \"raw\"\nEND", None), "it's \"raw\"");
        assert_eq!(text_of("text=<<END\nit's \"raw\"\nEND\n", None), "it's \"raw\"");
        // A raw block needs no name; a conflict marker is no block.
        assert_eq!(text_of("<<END\nit's \"raw\"\nEND\n", None), "it's \"raw\"");
        assert_eq!(text_of("<<'END'\na\nb\nEND", None), "a\nb");
        assert!(read("<<END\nnever closed", None).is_err());
        for words in ["<<END", "<<<<<<< HEAD\nours\n=======\n", "<< END\n"] {
            assert_eq!(read(words, None).unwrap(), TypedAnswer::Words(words.into()));
        }
        assert!(read("text=f(1)", None).is_err());
        assert!(read("text=1, entry=2", None).is_err());
        assert!(read("text=unquoted words", None).is_err());
    }

    #[test]
    fn words_with_another_name_are_words() {
        for words in ["other=1", "a = b", "1,3", "stdin of it", "all but 2"] {
            assert_eq!(read(words, None).unwrap(), TypedAnswer::Words(words.into()));
        }
    }
}
