//! The names of keys, and what a terminal sends for them.

use docui::Fault;

/// Returns what a terminal sends for keys that are named one after the other: `down down enter`,
/// `ctrl-c`, `:wq enter`. A word that is no name is typed as it is.
///
/// # Errors
/// A combination that has no character.
pub fn bytes(keys: &str, application_cursor: bool) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    for word in keys.split(' ').filter(|word| !word.is_empty()) {
        bytes.extend(key(word, application_cursor)?);
    }
    match bytes.is_empty() {
        true => Err(Fault::usage("no keys are named")
            .hint("keys('down enter'), keys('ctrl-c'), input('text')")),
        false => Ok(bytes),
    }
}

fn key(word: &str, application_cursor: bool) -> Result<Vec<u8>, Fault> {
    let name = word.to_ascii_lowercase();
    let cursor = |letter: char| match application_cursor {
        true => format!("\x1bO{letter}"),
        false => format!("\x1b[{letter}"),
    };
    let sent = match name.as_str() {
        "enter" | "return" => "\r".to_owned(),
        "tab" => "\t".to_owned(),
        "backtab" | "shift-tab" => "\x1b[Z".to_owned(),
        "esc" | "escape" => "\x1b".to_owned(),
        "space" => " ".to_owned(),
        "backspace" => "\x7f".to_owned(),
        "up" => cursor('A'),
        "down" => cursor('B'),
        "right" => cursor('C'),
        "left" => cursor('D'),
        "home" => cursor('H'),
        "end" => cursor('F'),
        "insert" => "\x1b[2~".to_owned(),
        "delete" | "del" => "\x1b[3~".to_owned(),
        "pageup" | "pgup" => "\x1b[5~".to_owned(),
        "pagedown" | "pgdn" => "\x1b[6~".to_owned(),
        "f1" | "f2" | "f3" | "f4" => {
            format!("\x1bO{}", ["P", "Q", "R", "S"][usize::from(name.as_bytes()[1] - b'1')])
        }
        "f5" => "\x1b[15~".to_owned(),
        "f6" => "\x1b[17~".to_owned(),
        "f7" => "\x1b[18~".to_owned(),
        "f8" => "\x1b[19~".to_owned(),
        "f9" => "\x1b[20~".to_owned(),
        "f10" => "\x1b[21~".to_owned(),
        "f11" => "\x1b[23~".to_owned(),
        "f12" => "\x1b[24~".to_owned(),
        _ => return combined(word, &name, application_cursor),
    };
    Ok(sent.into_bytes())
}

fn combined(word: &str, name: &str, application_cursor: bool) -> Result<Vec<u8>, Fault> {
    let control = ["ctrl-", "ctrl+", "c-", "^"].iter().find_map(|prefix| name.strip_prefix(prefix));
    if let Some(rest) = control.filter(|rest| !rest.is_empty()) {
        return match rest.as_bytes() {
            [letter @ (b'a'..=b'z' | b'@' | b'[' | b'\\' | b']' | b'^' | b'_')] => {
                Ok(vec![letter & 0x1f])
            }
            b"space" => Ok(vec![0]),
            _ => Err(Fault::usage(format!("{word:?} is no key of a terminal"))
                .hint("ctrl- takes one letter: keys('ctrl-c')")),
        };
    }
    if let Some(rest) = ["alt-", "alt+", "meta-"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .filter(|rest| !rest.is_empty())
    {
        let written = &word[word.len() - rest.len()..];
        let mut sent = vec![0x1b];
        sent.extend(key(written, application_cursor)?);
        return Ok(sent);
    }
    Ok(word.as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words_become_what_a_terminal_sends() {
        let sent = |keys: &str| bytes(keys, false).unwrap();
        assert_eq!(sent("ctrl-c"), b"\x03");
        assert_eq!(sent("down Down enter"), b"\x1b[B\x1b[B\r");
        assert_eq!(bytes("up", true).unwrap(), b"\x1bOA");
        assert_eq!(sent("esc :wq enter"), b"\x1b:wq\r");
        assert_eq!(sent("alt-X ctrl-[ f2"), b"\x1bX\x1b\x1bOQ");
        assert_eq!(sent("^ é"), "^é".as_bytes());
        assert!(bytes("ctrl-é", false).is_err());
        assert!(bytes(" ", false).is_err());
    }
}
