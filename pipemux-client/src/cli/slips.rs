//! What is no verb, answered with the command that was probably meant.

mod calls;
mod known;
mod nearest;

use std::cell::LazyCell;
use std::path::Path;

use pipemux_client::{ClientError, Options};

use calls::{IsApp, is_action, is_owner, run};
use nearest::nearest_verb;

/// Answers that stand without their verb.
const ANSWERS: &[&str] = &["all", "none", "yes", "no", "go"];

/// The error for words whose first is no verb; its hint is a whole command. A daemon that is up is asked
/// for its apps; none is started.
pub fn corrected(words: &[String], options: &Options) -> ClientError {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let apps = LazyCell::new(|| known::apps(options));
    let (why, command) =
        meant(&words, |path| Path::new(path).is_file(), &|name| apps.iter().any(|app| app == name));
    let first = words.first().copied().unwrap_or_default();
    ClientError::invalid(format!("`{first}` is {why}")).hint(command)
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

/// What the first word is, and which command was meant.
fn meant(words: &[&str], is_file: impl Fn(&str) -> bool, is_app: IsApp) -> (String, String) {
    let no_verb = |why: &str| format!("no verb{why}");
    let help = || "pipemux --help".to_owned();
    let [first, rest @ ..] = words else { return (no_verb(""), help()) };
    let verb =
        |verb: &str, rest: &[&str]| format!("pipemux {}", as_typed(&[&[verb], rest].concat()));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());

    if first.contains('(') {
        let code = words.join(" ");
        return (no_verb("; calls are run"), format!("pipemux run {}", in_shell_quotes(&code)));
    }
    if first.starts_with("link:") || (is_number(first) && rest.is_empty()) {
        return (no_verb("; a link is clicked"), verb("click", words));
    }
    if first.starts_with("obj:") || first.starts_with("[[") {
        return (no_verb("; a thing is read"), verb("read", words));
    }
    if ANSWERS.contains(first) || first.split([',', ' ']).all(is_number) {
        return (no_verb("; a question is answered"), verb("answer", words));
    }
    if let Some((owner, action)) =
        first.split_once('.').filter(|(owner, _)| is_owner(owner, is_app))
        && is_action(action)
    {
        return (no_verb("; an app's action is a call"), run(owner, action, rest, is_app));
    }
    if is_owner(first, is_app) {
        return match rest {
            [action, args @ ..] if is_action(action) => {
                (no_verb("; an app's action is a call"), run(first, action, args, is_app))
            }
            _ => (no_verb("; an app is opened"), verb("open", words)),
        };
    }
    if let Some(instead) = known::instead_of_absent(first) {
        return ("not in this release".to_owned(), instead.to_owned());
    }
    if is_file(first) {
        return (
            no_verb("; a file is opened in an app"),
            verb("open", &[&["editor"], words].concat()),
        );
    }
    if let Some(app) = known::owner_of(first).filter(|app| is_app(app)) {
        let why = format!("no verb, but an action of the {app}");
        return (why, run(app, first, rest, is_app));
    }
    if let Some(near) = nearest_verb(first) {
        let near: Vec<&str> = near.split(' ').chain(rest.iter().copied()).collect();
        return (no_verb(", did you mean this?"), format!("pipemux {}", as_typed(&near)));
    }
    (no_verb(""), help())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(words: &[&str]) -> String {
        meant(words, |path| path == "src/lib.rs" || path == "a.rs", &|app| {
            known::BUILT_IN.contains(&app) || app == "planner"
        })
        .1
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
    fn only_known_apps_are_opened_and_called() {
        assert_eq!(answer(&["planner", "add", "x"]), r#"pipemux run 'planner.add("x")'"#);
        assert_eq!(answer(&["planner/b"]), "pipemux open planner/b");
        for words in [&["foobarbaz"][..], &["foobarbaz", "add", "x"], &["foo/bar"], &["foo.add"]] {
            assert_eq!(answer(words), "pipemux --help", "{words:?}");
        }
        // What only looks like a nested call is text.
        let call = r#"pipemux run 'editor.insert(3, "foo.bar()")'"#;
        assert_eq!(answer(&["editor", "insert", "3", "foo.bar()"]), call);
    }

    #[test]
    fn an_action_without_its_app_gets_it() {
        let call = r#"pipemux run 'editor.replace("foo", "bar")'"#;
        assert_eq!(answer(&["replace", "foo", "bar"]), call);
        assert_eq!(answer(&["save"]), "pipemux run 'editor.save()'");
        assert_eq!(answer(&["add", "t", "x"]), r#"pipemux run 'notebook.add("t", "x")'"#);
        let none = meant(&["replace", "a"], |_| false, &|_| false);
        assert_eq!(none.1, "pipemux --help");
    }

    #[test]
    fn words_of_other_tools_get_ours() {
        assert_eq!(answer(&["edit", "foo"]), "pipemux open editor foo");
        assert_eq!(answer(&["version"]), "pipemux --version");
    }

    #[test]
    fn what_a_later_release_has_is_said_to_be_absent() {
        for word in ["watch", "mcp", "doctor", "completions", "man", "app"] {
            let (why, command) = meant(&[word, "x"], |_| false, &|_| false);
            assert_eq!(why, "not in this release", "{word}");
            assert!(command.starts_with("pipemux "), "{command}");
        }
    }
}
