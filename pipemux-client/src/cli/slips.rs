//! What is no verb, answered with the command that was probably meant.

use std::path::Path;

use clap::CommandFactory;
use pipemux_client::ClientError;
use pipemux_client::proto::{ProviderId, SessionAddr};

use super::args::Cli;

/// Words of other tools for the same thing.
const SYNONYMS: &[(&str, &str)] = &[
    ("act", "run"),
    ("call", "run"),
    ("config", "set"),
    ("do", "run"),
    ("exec", "run"),
    ("kill", "end"),
    ("list", "sessions"),
    ("log", "logs"),
    ("ls", "sessions"),
    ("option", "set"),
    ("options", "set"),
    ("print", "view"),
    ("ps", "sessions"),
    ("quit", "down"),
    ("show", "view"),
    ("start", "open"),
    ("stop", "down"),
];

/// Answers that stand without their verb.
const ANSWERS: &[&str] = &["all", "none", "yes", "no", "go"];

/// The error for words whose first is no verb; its hint is a whole command.
pub fn corrected(words: &[String]) -> ClientError {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let first = words.first().copied().unwrap_or_default();
    let (why, command) = meant(&words, |path| Path::new(path).is_file());
    ClientError::invalid(format!("`{first}` is no verb{why}")).hint(command)
}

/// The text as one word of a shell.
pub fn in_shell_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The words as they would be typed: quoted where they need it.
pub fn as_typed(words: &[&str]) -> String {
    let plain = |word: &str| {
        let safe = |c: char| c.is_alphanumeric() || "-_./:,=@+%".contains(c);
        !word.is_empty() && word.chars().all(safe)
    };
    let typed = words
        .iter()
        .map(|word| if plain(word) { (*word).to_owned() } else { in_shell_quotes(word) });
    typed.collect::<Vec<_>>().join(" ")
}

/// Why, and which command was meant.
fn meant(words: &[&str], is_file: impl Fn(&str) -> bool) -> (&'static str, String) {
    let [first, rest @ ..] = words else { return ("", "pipemux --help".into()) };
    let verb =
        |verb: &str, rest: &[&str]| format!("pipemux {}", as_typed(&[&[verb], rest].concat()));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());

    if first.contains('(') {
        let code = words.join(" ");
        return ("; calls are run", format!("pipemux run {}", in_shell_quotes(&code)));
    }
    if first.starts_with("link:") || (is_number(first) && rest.is_empty()) {
        return ("; a link is clicked", verb("click", words));
    }
    if first.starts_with("obj:") || first.starts_with("[[") {
        return ("; a thing is read", verb("read", words));
    }
    if ANSWERS.contains(first) || first.split([',', ' ']).all(is_number) {
        return ("; a question is answered", verb("answer", words));
    }
    if is_file(first) {
        return ("; a file is opened in an app", verb("open", &[&["editor"], words].concat()));
    }
    if let Some(near) = nearest_verb(first) {
        return (", did you mean this?", verb(&near, rest));
    }
    if let Some((owner, action)) = first.split_once('.').filter(|(owner, _)| is_owner(owner))
        && is_action(action)
    {
        return ("; an app's action is a call", run(owner, action, rest));
    }
    if is_owner(first) {
        return match rest {
            [action, args @ ..] if is_action(action) => {
                ("; an app's action is a call", run(first, action, args))
            }
            _ => ("; an app is opened", verb("open", words)),
        };
    }
    ("", "pipemux --help".into())
}

fn is_owner(text: &str) -> bool {
    text.parse::<ProviderId>().is_ok() || text.parse::<SessionAddr>().is_ok()
}

fn is_action(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn run(owner: &str, action: &str, args: &[&str]) -> String {
    let mut written = Vec::new();
    let mut words = args.iter().copied().filter(|word| *word != "--json").peekable();
    while let Some(word) = words.next() {
        let flag = word.strip_prefix("--").filter(|name| !name.is_empty());
        written.push(match flag {
            Some(option) if option.contains('=') => argument(option),
            // `--old text`; without a text it is a switch.
            Some(name) => {
                let value = words.next_if(|next| !next.starts_with("--")).unwrap_or("true");
                format!("{}={}", name.replace('-', "_"), literal(value))
            }
            None => argument(word),
        });
    }
    let code = format!("{owner}.{action}({})", written.join(", "));
    format!("pipemux run {}", in_shell_quotes(&code))
}

fn argument(word: &str) -> String {
    match word.split_once('=') {
        Some((name, value)) if is_action(name) => format!("{name}={}", literal(value)),
        _ => literal(word),
    }
}

/// The word as the call syntax writes it: what is no number, ref, list or call is a text.
fn literal(word: &str) -> String {
    let is_number = word.parse::<f64>().is_ok()
        && word.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b'.');
    let is_code = ["obj:", "link:", "["].iter().any(|start| word.starts_with(start))
        || (word.ends_with(')') && word.split_once('.').is_some_and(|(owner, _)| is_owner(owner)));
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

fn nearest_verb(word: &str) -> Option<String> {
    if let Some((_, verb)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == word) {
        return Some((*verb).to_owned());
    }
    let command = Cli::command();
    let verbs = command.get_subcommands().map(|verb| verb.get_name().to_owned());
    let near = verbs.map(|verb| (distance(word, &verb), verb)).min()?;
    // A third of the letters may be wrong, but a word of three letters only by one.
    let (wrong, verb) = near;
    let bound = (word.chars().count() / 3).clamp(1, 2);
    (wrong <= bound).then_some(verb)
}

/// Letters to insert, remove, change or swap to make one word the other (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(words: &[&str]) -> String {
        meant(words, |path| path == "src/lib.rs" || path == "a.rs").1
    }

    #[test]
    fn an_action_as_a_verb_is_answered_with_the_exact_call() {
        let cases: &[(&[&str], &str)] = &[
            (&["editor", "replace", "a", "b"], r#"editor.replace("a", "b")"#),
            (&["editor/b", "goto", "12"], "editor/b.goto(12)"),
            (&["editor", "save"], "editor.save()"),
            (&["editor.save"], "editor.save()"),
            (&["editor.replace", "a", "b", "all=true"], r#"editor.replace("a", "b", all=true)"#),
            (
                &["editor", "replace", "--old", "a", "--new=b", "--all"],
                r#"editor.replace(old="a", new="b", all=true)"#,
            ),
            (&["editor", "insert", "3", "text=-"], "editor.insert(3, text=stdin)"),
            (&["notebook", "remove", "obj:7"], "notebook.remove(obj:7)"),
            (
                &["notebook", "add", "t", "editor.lines(1, 3)"],
                r#"notebook.add("t", editor.lines(1, 3))"#,
            ),
            (
                &["editor", "replace", "say \"hi\"", "a\\b\n"],
                r#"editor.replace("say \"hi\"", "a\\b\n")"#,
            ),
            (&["editor.replace(\"a\",", "\"b\")"], r#"editor.replace("a", "b")"#),
        ];
        for (words, code) in cases {
            assert_eq!(answer(words), format!("pipemux run '{code}'"), "{words:?}");
        }
        assert_eq!(answer(&["editor", "find", "it's"]), r#"pipemux run 'editor.find("it'\''s")'"#);
    }

    #[test]
    fn a_misspelt_verb_is_answered_with_the_nearest() {
        assert_eq!(answer(&["veiw", "editor/main"]), "pipemux view editor/main");
        assert_eq!(answer(&["opne", "editor", "a b.rs"]), "pipemux open editor 'a b.rs'");
        assert_eq!(answer(&["session"]), "pipemux sessions");
        assert_eq!(answer(&["clik", "15"]), "pipemux click 15");
        assert_eq!(answer(&["ls"]), "pipemux sessions");
    }

    #[test]
    fn a_thing_without_a_verb_gets_its_own() {
        assert_eq!(answer(&["link:15"]), "pipemux click link:15");
        assert_eq!(answer(&["15"]), "pipemux click 15");
        assert_eq!(answer(&["obj:3"]), "pipemux read obj:3");
        assert_eq!(answer(&["[[MT:Node:7]]"]), "pipemux read '[[MT:Node:7]]'");
        assert_eq!(answer(&["1,3"]), "pipemux answer 1,3");
        assert_eq!(answer(&["all", "but", "2"]), "pipemux answer all but 2");
        assert_eq!(answer(&["notebook"]), "pipemux open notebook");
        assert_eq!(answer(&["editor", "src/lib.rs"]), "pipemux open editor src/lib.rs");
        assert_eq!(answer(&["src/lib.rs", "a.rs"]), "pipemux open editor src/lib.rs a.rs");
        assert_eq!(answer(&["Ünknown!"]), "pipemux --help");
        assert_eq!(answer(&[""]), "pipemux --help");
    }

    #[test]
    fn the_distance_counts_swaps_as_one() {
        assert_eq!(distance("veiw", "view"), 1);
        assert_eq!(distance("", "end"), 3);
        assert_eq!(distance("logs", "logs"), 0);
        assert_eq!(distance("editor", "end"), 5);
    }
}
