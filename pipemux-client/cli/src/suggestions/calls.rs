//! Turns the words of a command line into the call that was probably meant.
//!
//! A fuzz target includes this file, so it uses no other module of this crate.

use pipemux_client::proto::{ProviderId, SessionAddr};

/// Tells whether an app of that name is known.
pub type IsApp<'a> = &'a dyn Fn(&str) -> bool;

/// Returns true for a known app, and for a session of one.
pub fn names_app(text: &str, is_app: IsApp) -> bool {
    let provider = match text.parse::<SessionAddr>() {
        Ok(session) => Ok(session.provider),
        Err(_) => text.parse::<ProviderId>(),
    };
    provider.is_ok_and(|provider| is_app(provider.as_str()))
}

/// Returns true for a text that can be the name of an action or a parameter.
pub fn is_action_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Returns the code that calls `owner.action` with these words as its arguments.
pub fn call_code(owner: &str, action: &str, args: &[&str], is_app: IsApp) -> String {
    let mut written = Vec::new();
    let mut words = args.iter().copied().peekable();
    while let Some(word) = words.next() {
        let flag = word.strip_prefix("--").filter(|name| !name.is_empty());
        written.push(match flag {
            Some(option) if option.contains('=') => argument(option, is_app),
            // `--old text` gives a value; `--all` alone is a switch.
            Some(name) => {
                let value = words.next_if(|next| !next.starts_with("--")).unwrap_or("true");
                format!("{}={}", name.replace('-', "_"), literal(value, is_app))
            }
            None => argument(word, is_app),
        });
    }
    format!("{owner}.{action}({})", written.join(", "))
}

fn argument(word: &str, is_app: IsApp) -> String {
    match word.split_once('=') {
        Some((name, value)) if is_action_name(name) => format!("{name}={}", literal(value, is_app)),
        _ => literal(word, is_app),
    }
}

/// Writes a word in the call syntax: a word that is not a number, ref, list or call becomes a
/// string.
fn literal(word: &str, is_app: IsApp) -> String {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let number = word.strip_prefix('-').unwrap_or(word);
    // Only numbers that the syntax can read; `27.` and numbers that are too large become strings.
    let is_number = number.splitn(2, '.').all(digits)
        && match number.contains('.') {
            true => word.parse::<f64>().is_ok_and(f64::is_finite),
            false => word.parse::<i64>().is_ok(),
        };
    let is_code = ["obj:", "link:", "["].iter().any(|start| word.starts_with(start))
        || (word.ends_with(')')
            && word.split_once('.').is_some_and(|(owner, _)| names_app(owner, is_app)));
    match word {
        "-" => "stdin".to_owned(),
        "true" | "false" | "null" | "stdin" => word.to_owned(),
        _ if is_number || is_code => word.to_owned(),
        text => {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", escaped.replace('\n', "\\n").replace('\t', "\\t"))
        }
    }
}
