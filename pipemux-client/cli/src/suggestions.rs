//! Suggests a command for a command line whose first word is not a verb.

mod calls;
mod known;
mod nearest;

use std::cell::LazyCell;
use std::path::Path;

use pipemux_client::proto::{Fault, call, command};
use pipemux_client::{ClientError, Options};

use calls::{IsApp, call_code, is_action_name, names_app};
use nearest::nearest_verb;

/// Answers that people give without the verb `answer`.
const ANSWERS: &[&str] = &["all", "none", "yes", "no", "go"];

/// Words for the end of the daemon.
const ENDS: &[&str] = &["exit", "kill", "quit", "shutdown", "stop"];

/// Options of every verb with a value. `--at` is missing: it is also a frequent parameter of
/// actions.
const OPTIONS: &[&str] = &["--budget", "--lod", "--reader", "--timeout", "--workspace"];

/// Options of every verb without a value.
const SWITCHES: &[&str] = &["--json", "--titles"];

/// Returns the error for words whose first is not a verb. Its hint is a whole command. If a daemon
/// is running, it is asked for its apps; none is started.
pub fn unknown_verb(words: &[String], options: &Options) -> ClientError {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (given, words) = split_options(&words);
    let apps = LazyCell::new(|| known::apps(options));
    let is_app = |name: &str| apps.iter().any(|app| app == name);
    let (problem, command) = suggest(&words, |path| Path::new(path).is_file(), &is_app);
    let first = words.first().copied().unwrap_or_default();
    let command = match command.strip_prefix("pipemux ").filter(|_| !given.is_empty()) {
        Some(rest) => format!("pipemux {} {rest}", command::join(&given)),
        None => command,
    };
    ClientError::invalid(format!("`{first}` is {problem}")).hint(command)
}

/// Returns true for the name of an app, or of an action of a built-in app. A daemon that runs is
/// asked; none is started.
pub fn is_app_or_action(name: &str, options: &Options) -> bool {
    known::is_action(name) || known::apps(options).iter().any(|app| app == name)
}

/// Returns the error for an app that there isn't, with the sessions and apps that there are; `None`
/// for a known one, and where no daemon runs that could tell: none is started.
pub fn unknown_app(name: &str, options: &Options) -> Option<ClientError> {
    let apps =
        known::registered_apps(options).filter(|apps| !apps.iter().any(|app| app == name))?;
    let sessions = known::sessions(options);
    // A session's name alone may have been typed.
    let named = sessions.iter().find(|one| one.split_once('/').is_some_and(|(_, own)| own == name));
    let near = || call::nearest(name, apps.iter().map(String::as_str));
    let guess = named.map(String::as_str).or_else(near);
    let guess = guess.map_or(String::new(), |guess| format!(": did you mean {guess}?"));
    let mut fault = Fault::not_found(format!("no app {name}{guess}"));
    if !sessions.is_empty() {
        fault = fault.hint(format!("open are {}: pipemux sessions", sessions.join(", ")));
    }
    Some(ClientError::Refused(fault.hint(format!("there are {}: pipemux apps", apps.join(", ")))))
}

/// Splits off the options of every verb: a suggested command repeats them, and they are no
/// arguments of an action.
fn split_options<'w>(words: &[&'w str]) -> (Vec<&'w str>, Vec<&'w str>) {
    let (mut options, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        if word == "--" {
            rest.push(word);
            rest.extend(words.by_ref());
        } else if SWITCHES.contains(&word) {
            options.push(word);
        } else if OPTIONS.contains(&name) {
            options.push(word);
            options.extend((name == word).then(|| words.next()).flatten());
        } else {
            rest.push(word);
        }
    }
    (options, rest)
}

/// Returns what is wrong with the first word, and the command that was probably meant.
fn suggest(words: &[&str], is_file: impl Fn(&str) -> bool, is_app: IsApp) -> (String, String) {
    let no_verb = |why: &str| format!("not a verb{why}");
    let help = || "pipemux --help".to_owned();
    let [first, rest @ ..] = words else { return (no_verb(""), help()) };
    let suggested = |verb: &str, rest: &[&str]| command::command(&[&[verb], rest].concat());
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());

    if first.contains('(') {
        return (no_verb("; to run calls, use run"), command::run(&words.join(" ")));
    }
    if first.starts_with("link:") || (is_number(first) && rest.is_empty()) {
        return (no_verb("; to follow a link, use click"), suggested("click", words));
    }
    if first.starts_with("obj:") || first.starts_with("[[") {
        return (no_verb("; to print a ref's value, use read"), suggested("read", words));
    }
    if ANSWERS.contains(first) || first.split([',', ' ']).all(is_number) {
        return (no_verb("; to answer a question, use answer"), suggested("answer", words));
    }
    if let Some((owner, action)) =
        first.split_once('.').filter(|(owner, _)| names_app(owner, is_app))
        && is_action_name(action)
    {
        let problem = no_verb("; to run an app's action, use run");
        return (problem, command::run(&call_code(owner, action, rest, is_app)));
    }
    if names_app(first, is_app) {
        return match rest {
            [action, args @ ..] if is_action_name(action) => {
                let problem = no_verb("; to run an app's action, use run");
                (problem, command::run(&call_code(first, action, args, is_app)))
            }
            _ => (no_verb("; to open an app, use open"), suggested("open", words)),
        };
    }
    if is_file(first) {
        let open = suggested("open", &[&[pipemux_catalog::default_app().id], words].concat());
        return (no_verb("; to open a file, use open with an app"), open);
    }
    match rest {
        [] if ENDS.contains(first) => {
            let stop = "pipemux run 'terminal.stop()'";
            let why = format!("; to end a command: {stop}; to end the daemon and all sessions");
            return (no_verb(&why), suggested("down", &[]));
        }
        [session] if ENDS.contains(first) && session.contains('/') => {
            return (no_verb("; to end a session, use end"), suggested("end", rest));
        }
        _ => {}
    }
    if let Some(app) = known::app_of_action(first, rest.len()).filter(|app| is_app(app)) {
        let problem = no_verb(&format!(", but an action of the {app}"));
        return (problem, command::run(&call_code(app, first, rest, is_app)));
    }
    if let Some(near) = nearest_verb(first) {
        let near: Vec<&str> = near.split(' ').chain(rest.iter().copied()).collect();
        return (no_verb(", did you mean this?"), command::command(&near));
    }
    (no_verb(""), help())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(words: &[&str]) -> String {
        suggest(words, |path| path == "src/lib.rs" || path == "a.rs", &|app| {
            pipemux_catalog::app(app).is_some() || app == "planner"
        })
        .1
    }

    #[test]
    fn action_as_a_verb_suggests_the_exact_call() {
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
            assert_eq!(suggestion(words), format!("pipemux run '{code}'"), "{words:?}");
        }
        assert_eq!(
            suggestion(&["editor", "find", "it's"]),
            r#"pipemux run 'editor.find("it'\''s")'"#
        );
    }

    #[test]
    fn options_of_every_verb_are_no_arguments() {
        let hint = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let nowhere = std::env::temp_dir().join("pipemux-no-daemon");
            let mut options = Options::from_env().unwrap();
            options.paths.socket = nowhere.join("socket");
            options.paths.state_dir = nowhere;
            unknown_verb(&words, &options).fault().hints[0].clone()
        };
        let call = r#"run 'editor.replace("foo", "bar")'"#;
        for options in ["--reader a", "--reader=a --json", "--workspace w --timeout 5"] {
            let command = format!("pipemux {options} {call}");
            assert_eq!(hint(&format!("editor replace foo bar {options}")), command);
            assert_eq!(hint(&format!("editor replace {options} foo bar")), command);
        }
        assert_eq!(hint("15 --reader a"), "pipemux --reader a click 15");
        let at = r#"pipemux run 'editor.insert(at=3, text=stdin)'"#;
        assert_eq!(hint("editor insert --at 3 --text -"), at);
    }

    #[test]
    fn misspelt_verb_suggests_the_nearest() {
        assert_eq!(suggestion(&["veiw", "editor/main"]), "pipemux view editor/main");
        assert_eq!(suggestion(&["opne", "editor", "a b.rs"]), "pipemux open editor 'a b.rs'");
        assert_eq!(suggestion(&["session"]), "pipemux sessions");
        assert_eq!(suggestion(&["clik", "15"]), "pipemux click 15");
        assert_eq!(suggestion(&["ls"]), "pipemux sessions");
    }

    #[test]
    fn word_without_a_verb_suggests_the_verb_for_it() {
        assert_eq!(suggestion(&["link:15"]), "pipemux click link:15");
        assert_eq!(suggestion(&["15"]), "pipemux click 15");
        assert_eq!(suggestion(&["obj:3"]), "pipemux read obj:3");
        assert_eq!(suggestion(&["[[MT:Node:7]]"]), "pipemux read '[[MT:Node:7]]'");
        assert_eq!(suggestion(&["1,3"]), "pipemux answer 1,3");
        assert_eq!(suggestion(&["all", "but", "2"]), "pipemux answer all but 2");
        assert_eq!(suggestion(&["notebook"]), "pipemux open notebook");
        assert_eq!(suggestion(&["editor", "src/lib.rs"]), "pipemux open editor src/lib.rs");
        assert_eq!(suggestion(&["src/lib.rs", "a.rs"]), "pipemux open editor src/lib.rs a.rs");
        assert_eq!(suggestion(&["Ünknown!"]), "pipemux --help");
        assert_eq!(suggestion(&[""]), "pipemux --help");
    }

    #[test]
    fn only_known_apps_are_suggested() {
        assert_eq!(suggestion(&["planner", "add", "x"]), r#"pipemux run 'planner.add("x")'"#);
        assert_eq!(suggestion(&["planner/b"]), "pipemux open planner/b");
        for words in [&["foobarbaz"][..], &["foobarbaz", "add", "x"], &["foo/bar"], &["foo.add"]] {
            assert_eq!(suggestion(words), "pipemux --help", "{words:?}");
        }
        // An argument that only looks like a nested call is text.
        let call = r#"pipemux run 'editor.insert(3, "foo.bar()")'"#;
        assert_eq!(suggestion(&["editor", "insert", "3", "foo.bar()"]), call);
    }

    #[test]
    fn action_without_an_app_suggests_the_app_that_has_it() {
        let call = r#"pipemux run 'editor.replace("foo", "bar")'"#;
        assert_eq!(suggestion(&["replace", "foo", "bar"]), call);
        assert_eq!(suggestion(&["save"]), "pipemux run 'editor.save()'");
        assert_eq!(suggestion(&["add", "t", "x"]), r#"pipemux run 'notebook.add("t", "x")'"#);
        let none = suggest(&["replace", "a"], |_| false, &|_| false);
        assert_eq!(none.1, "pipemux --help");
    }

    #[test]
    fn words_of_other_tools_suggest_the_own_verb() {
        assert_eq!(suggestion(&["edit", "foo"]), "pipemux open editor foo");
        assert_eq!(suggestion(&["version"]), "pipemux --version");
        assert_eq!(suggestion(&["kill", "editor/main"]), "pipemux end editor/main");
        for word in ["stop", "quit", "exit", "kill", "shutdown"] {
            let is_app = |app: &str| pipemux_catalog::app(app).is_some();
            let (problem, command) = suggest(&[word], |_| false, &is_app);
            assert!(problem.contains("pipemux run 'terminal.stop()'"), "{problem}");
            assert_eq!(command, "pipemux down");
        }
    }
}
