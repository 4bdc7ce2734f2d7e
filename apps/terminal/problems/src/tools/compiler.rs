//! `path:line:column: error: message` of gcc, clang, javac, mypy and many others, the linkers'
//! messages, and `path:line:column: message` of Go's compiler and of linters.

use crate::collector::Collector;
use crate::model::{Place, Severity};
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{is_file_name, is_plain_file_name, number, place, place_prefix, severity_prefix};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Compiler;

impl Recogniser for Compiler {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if text.starts_with([' ', '\t']) {
            return below(text, within, found);
        }
        let text = text.strip_prefix("vet: ").unwrap_or(text);
        if is_context(text) {
            return Claim::one(Class::Progress);
        }
        if let Some((at, rest)) = place_prefix(text) {
            let message = rest.strip_prefix(' ').filter(|message| !message.is_empty())?;
            if let Some((severity, message)) = severity_prefix(message) {
                // A note explains what is above it.
                if severity == Severity::Note && within && found.open_problem().is_some() {
                    found.detail(text);
                    return Claim::more(Class::Detail);
                }
                let (code, message) = code(message);
                found.problem(severity, code, Some(at), message);
                return Claim::more(Class::Problem);
            }
            return bare(at, message, found);
        }
        linker(text, found)
    }
}

/// Where the messages below it are: `a.c: In function 'main':`, `ld: a.o: in function `main':`, and
/// their number.
fn is_context(text: &str) -> bool {
    const WHERE: [&str; 6] = [
        ": In function '",
        ": In member function '",
        ": In constructor '",
        ": In lambda function",
        ": At global scope",
        ": in function `",
    ];
    let is_count = || {
        let (_, rest) = number(text)?;
        let rest = rest.strip_suffix("generated.").unwrap_or(rest);
        let mut parts = rest
            .trim()
            .split(" and ")
            .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start());
        Some(parts.all(|part| ["error", "errors", "warning", "warnings"].contains(&part)))
    };
    text.starts_with("In file included from ")
        || (text.ends_with(':') && WHERE.iter().any(|words| text.contains(words)))
        || is_count() == Some(true)
}

/// Claims a line below a message: the source, a caret, the reason.
fn below(text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
    if !within {
        return None;
    }
    let problem = found.open_problem()?;
    // javac tells the column by its caret alone.
    if text.trim() == "^"
        && let Some(place) = problem.place.as_mut().filter(|place| place.column.is_none())
    {
        place.column = u32::try_from(text.len()).ok();
    }
    found.detail(text);
    Claim::more(Class::Detail)
}

/// `path:line:column: message`: an error of Go's compiler, or what some linter found. Without a
/// column it would be any log.
fn bare(at: Place, message: &str, found: &mut Collector) -> Option<Claim> {
    let go = at.file.ends_with(".go");
    at.column?;
    if message.starts_with(' ') || !is_plain_file_name(&at.file) {
        return None;
    }
    let severity = if go { Severity::Error } else { Severity::Warning };
    let (code, message) = code(message);
    found.problem(severity, code, Some(at), message);
    Claim::more(Class::Problem)
}

/// The tool's code for a kind of problem, before or after the message, and the message.
fn code(message: &str) -> (Option<&str>, &str) {
    let is_code = |code: &str| {
        !code.is_empty()
            && code.len() <= 64
            && code.chars().all(|c| c.is_ascii_alphanumeric() || "-_=+/.,".contains(c))
            && code.chars().any(|c| c.is_ascii_alphabetic())
    };
    // `message [-Wunused]` of gcc and clang, `message  [arg-type]` of mypy.
    if let Some((text, code)) = message.strip_suffix(']').and_then(|text| text.rsplit_once(" ["))
        && is_code(code)
    {
        return (Some(code), text.trim_end());
    }
    // `[rawtypes] message` of javac.
    if let Some((code, text)) = message.strip_prefix('[').and_then(|text| text.split_once("] "))
        && is_code(code)
    {
        return (Some(code), text);
    }
    // `E302 message` of flake8 and pylint.
    if let Some((code, text)) = message.split_once([' ', ':']) {
        let letters = code.trim_end_matches(|c: char| c.is_ascii_digit());
        let short = (1..=4).contains(&letters.len()) && code.len() - letters.len() >= 3;
        if short && letters.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return (Some(code), text.trim());
        }
    }
    (None, message)
}

/// Linkers, and compilers that can't even begin.
fn linker(text: &str, found: &mut Collector) -> Option<Claim> {
    let reference = ["undefined reference to ", "multiple definition of "]
        .iter()
        .find_map(|words| text.find(words));
    if let Some(start) = reference {
        let object = text[..start].trim_end_matches([':', ' ']);
        let file = object.split(":(").next().unwrap_or(object);
        let file = file.rsplit(": ").next().unwrap_or(file);
        let at = is_file_name(file).then(|| place(file, None, None));
        found.problem(Severity::Error, None, at, &text[start..]);
        return Claim::one(Class::Problem);
    }
    let (program, rest) = text.split_once(": ")?;
    if program.is_empty() || program.contains(char::is_whitespace) || program.len() > 256 {
        return None;
    }
    let Some((severity, message)) = severity_prefix(rest) else {
        return own_words(program, rest, found);
    };
    if severity == Severity::Note {
        return Claim::one(Class::Plain);
    }
    // `collect2` only says that the linker above it failed.
    if program == "collect2" && found.has_errors() {
        return Claim::one(Class::Progress);
    }
    found.problem(severity, None, None, &format!("{program}: {message}"));
    Claim::one(Class::Problem)
}

/// A linker's errors have no word for it: `ld: cannot find -lfoo: No such file or directory`.
fn own_words(program: &str, message: &str, found: &mut Collector) -> Option<Claim> {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let is_linker = ["ld", "ld.bfd", "ld.gold", "ld.lld", "ld64", "lld", "mold"].contains(&name)
        || name.ends_with("-ld")
        || name.ends_with("-ld.bfd");
    // Where something is, what was skipped, and what is only warned of.
    let is_aside = message.ends_with(':')
        || ["warning: ", "NOTE: ", "note: ", "skipping incompatible", "in function `"]
            .iter()
            .any(|words| message.contains(words));
    if !is_linker || is_aside {
        return None;
    }
    found.problem(Severity::Error, None, None, &format!("{name}: {message}"));
    Claim::one(Class::Problem)
}
