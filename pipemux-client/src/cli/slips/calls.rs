//! Words of a command line as the call that they probably meant.

use pipemux_client::proto::{ProviderId, SessionAddr};

use super::in_shell_quotes;

/// Whether an app of that name is known.
pub type IsApp<'a> = &'a dyn Fn(&str) -> bool;

/// True for a known app, and for a session of one.
pub fn is_owner(text: &str, is_app: IsApp) -> bool {
    let provider = match text.parse::<SessionAddr>() {
        Ok(session) => Ok(session.provider),
        Err(_) => text.parse::<ProviderId>(),
    };
    provider.is_ok_and(|provider| is_app(provider.as_str()))
}

/// True for what can be the name of an action or a parameter.
pub fn is_action(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The command that calls `owner.action` with these words as its arguments.
pub fn run(owner: &str, action: &str, args: &[&str], is_app: IsApp) -> String {
    let mut written = Vec::new();
    let mut words = args.iter().copied().filter(|word| *word != "--json").peekable();
    while let Some(word) = words.next() {
        let flag = word.strip_prefix("--").filter(|name| !name.is_empty());
        written.push(match flag {
            Some(option) if option.contains('=') => argument(option, is_app),
            // `--old text`; without a text it is a switch.
            Some(name) => {
                let value = words.next_if(|next| !next.starts_with("--")).unwrap_or("true");
                format!("{}={}", name.replace('-', "_"), literal(value, is_app))
            }
            None => argument(word, is_app),
        });
    }
    let code = format!("{owner}.{action}({})", written.join(", "));
    format!("pipemux run {}", in_shell_quotes(&code))
}

fn argument(word: &str, is_app: IsApp) -> String {
    match word.split_once('=') {
        Some((name, value)) if is_action(name) => format!("{name}={}", literal(value, is_app)),
        _ => literal(word, is_app),
    }
}

/// The word as the call syntax writes it: what is no number, ref, list or call is a text.
fn literal(word: &str, is_app: IsApp) -> String {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let number = word.strip_prefix('-').unwrap_or(word);
    // As far as the syntax reads one; `27.` and what is too large are texts.
    let is_number = number.splitn(2, '.').all(digits)
        && match number.contains('.') {
            true => word.parse::<f64>().is_ok_and(f64::is_finite),
            false => word.parse::<i64>().is_ok(),
        };
    let is_code = ["obj:", "link:", "["].iter().any(|start| word.starts_with(start))
        || (word.ends_with(')')
            && word.split_once('.').is_some_and(|(owner, _)| is_owner(owner, is_app)));
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
