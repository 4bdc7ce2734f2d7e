//! Writes a call as code, with its arguments quoted.

use pipemux_proto::limits::CODE_MAX;

/// From how many bytes on a text goes beside the code, as its standard input. A shorter one is
/// shown by the history.
const BESIDE_MIN: usize = 200;

/// A call under construction.
#[derive(Debug)]
pub struct Code {
    text: String,
    has_arguments: bool,
    stdin: Option<String>,
}

impl Code {
    /// Begins a call of an action: `editor.view`.
    pub fn call(action: &str) -> Self {
        Self { text: format!("{action}("), has_arguments: false, stdin: None }
    }

    /// Adds an argument that is written as it stands: a number, `true`, a list of them.
    #[must_use]
    pub fn plain(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        let comma = if self.has_arguments { ", " } else { "" };
        self.text += &format!("{comma}{name}={value}");
        self.has_arguments = true;
        self
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, name: &str, value: &str) -> Self {
        self.plain(name, quoted(value))
    }

    /// Adds the text that may be long; a call has one at most.
    #[must_use]
    pub fn long_text(mut self, name: &str, value: &str) -> Self {
        // One final line break is taken off standard input, and a carriage return before it, too.
        if value.len() < BESIDE_MIN || value.ends_with('\r') && value.len() < CODE_MAX / 2 {
            return self.text(name, value);
        }
        self.stdin = Some(format!("{value}\n"));
        self.plain(name, "stdin")
    }

    /// Returns the code, and its standard input.
    pub fn finish(self) -> (String, Option<String>) {
        (self.text + ")", self.stdin)
    }
}

/// Writes a text in quotes, with which it reads back as it is.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        match c {
            '\\' | '\'' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::Value;
    use pipemux_proto::call::parse;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_text_reads_back(any in any::<String>(), likely in "[\\\\'\"a\n\r\tEND<>$`深]{0,300}") {
            for text in [any, likely] {
                let calls = [
                    Code::call("a.b").text("t", &text),
                    Code::call("a.b").plain("n", 1).long_text("t", &text),
                ];
                for call in calls {
                    let (code, stdin) = call.finish();
                    let script = parse(&code, stdin.as_deref()).unwrap();
                    // Positions are left out: only the value of the argument is compared.
                    let expected = format!("{:?}", Value::Str(text.clone()));
                    let read = format!("{script:?}");
                    prop_assert!(read.contains(&expected), "{code} {stdin:?} {read}");
                }
            }
        }
    }
}
