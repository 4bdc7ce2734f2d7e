//! Plain command lines, as `cli::fast_args` of the client reads them, and fewer: what needs a
//! closer look is none.

use crate::limits::WORDS_MAX;

/// A command line that the quick path supports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line<'a> {
    pub verb: Verb<'a>,
    pub workspace: Option<&'a str>,
    pub reader: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verb<'a> {
    Click(&'a str),
    Read(&'a str),
    Run { code: &'a str, only_queries: bool },
    Answer(Words<'a>),
    View(Option<&'a str>),
}

impl Verb<'_> {
    /// True if the ordinary program notices standard input that it doesn't use.
    pub fn may_have_input(&self) -> bool {
        matches!(self, Self::Run { .. } | Self::Answer(_))
    }

    /// True if the daemon may open an app for it, which gets the caller's environment.
    pub fn may_open(&self) -> bool {
        matches!(self, Self::Run { .. } | Self::View(Some(_)))
    }
}

/// Words of an answer to be joined by spaces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Words<'a> {
    words: [&'a str; WORDS_MAX],
    count: usize,
}

impl<'a> Words<'a> {
    pub fn iter(&self) -> impl Iterator<Item = &'a str> {
        self.words.iter().take(self.count).copied()
    }
}

/// Reads the arguments behind the program's name; `None` for a line that isn't plain.
pub fn parse<'a>(arguments: impl Iterator<Item = &'a [u8]>) -> Option<Line<'a>> {
    let (mut workspace, mut reader) = (None, None);
    let mut plain = Words { words: [""; WORDS_MAX], count: 0 };
    let mut arguments = arguments.map(|word| core::str::from_utf8(word).ok());
    while let Some(word) = arguments.next() {
        match word? {
            "--workspace" if workspace.is_none() => workspace = Some(name(arguments.next()??)?),
            "--reader" if reader.is_none() => reader = Some(name(arguments.next()??)?),
            word if word.starts_with('-') => return None,
            word => {
                *plain.words.get_mut(plain.count)? = word;
                plain.count = plain.count.wrapping_add(1);
            }
        }
    }
    let (verb, rest) = plain.words.get(..plain.count)?.split_first()?;
    let verb = match (*verb, rest) {
        ("click", [link]) => Verb::Click(link),
        ("read", [target]) => Verb::Read(target),
        ("run", [code]) => Verb::Run { code: code_alone(code)?, only_queries: false },
        ("ask", [code]) => Verb::Run { code: code_alone(code)?, only_queries: true },
        ("answer", [_, ..]) => {
            rest.iter().try_for_each(|word| is_plain_answer(word).then_some(()))?;
            let mut words = Words { words: [""; WORDS_MAX], count: rest.len() };
            words.words.iter_mut().zip(rest).for_each(|(place, word)| *place = word);
            Verb::Answer(words)
        }
        ("view", []) => Verb::View(None),
        ("view", [window]) => Verb::View(Some(session(window)?)),
        _ => return None,
    };
    Some(Line { verb, workspace, reader })
}

/// Returns a name that stands in hints as it is written.
fn name(word: &str) -> Option<&str> {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,=@+%".contains(&byte);
    (!word.is_empty() && !word.starts_with('-') && word.bytes().all(is_safe)).then_some(word)
}

/// Returns code that can't mean standard input, and has no call that waits: the ordinary program
/// knows how long.
fn code_alone(code: &str) -> Option<&str> {
    let is_special = ["stdin", "wait"].iter().any(|word| code.contains(word));
    (!is_special).then_some(code)
}

/// True for a word of an answer that is no field, no call and no standard input, and that isn't
/// blank.
fn is_plain_answer(word: &str) -> bool {
    let is_special = word.bytes().any(|byte| matches!(byte, b'=' | b'(')) || word.contains("stdin");
    !is_special && word.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the address of a session that is written in full: `editor/main`.
fn session(window: &str) -> Option<&str> {
    let (provider, session) = window.split_once('/')?;
    let in_provider = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let in_session = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let is_address = provider.len() <= 32
        && provider.bytes().next()?.is_ascii_lowercase()
        && provider.bytes().all(in_provider)
        && session.len() <= 64
        && session.bytes().next()?.is_ascii_alphanumeric()
        && session.bytes().all(in_session);
    is_address.then_some(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_lines_are_read() {
        let read = |line: &'static str| parse(line.split('|').map(str::as_bytes));
        let plain = |line| read(line).unwrap().verb;
        assert_eq!(plain("click|15"), Verb::Click("15"));
        assert_eq!(plain("ask|a.b(1)"), Verb::Run { code: "a.b(1)", only_queries: true });
        assert_eq!(plain("view|editor/main"), Verb::View(Some("editor/main")));
        let line = read("--reader|a|view|--workspace|b").unwrap();
        assert_eq!(
            (line.reader, line.workspace, line.verb),
            (Some("a"), Some("b"), Verb::View(None))
        );
        let Verb::Answer(words) = plain("answer|all|but|2") else { panic!() };
        assert!(words.iter().eq(["all", "but", "2"]));
        for other in [
            "",
            "click",
            "click|1|2",
            "view|--json",
            "view|editor",
            "view|Editor/main",
            "run|-",
            "run|a(text=stdin)",
            "run|a()|b",
            "answer",
            "answer| ",
            "answer|a=1",
            "answer|-",
            "status",
            "--reader",
            "view|--reader",
            "view|--reader|a b",
            "view|--reader||",
            "view|--reader|a|--reader|b",
            "answer|stdin",
            "view|\u{e9}",
        ] {
            assert!(read(other).is_none(), "{other}");
        }
        assert!(parse([&b"click"[..], b"\xff"].into_iter()).is_none());
        assert!(parse([&b"answer"[..]; 40].into_iter()).is_none());
    }
}
