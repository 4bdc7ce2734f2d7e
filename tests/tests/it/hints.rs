//! Every command that an error or an empty result suggests works when it is pasted into a shell.

use std::fs;

use pipemux_tests::programs::program;
use pipemux_tests::{Output, TestEnv};

/// A situation in which hints are printed: prepares it, and returns the command that prints them.
type Situation = fn(&TestEnv) -> Vec<String>;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn editor(env: &TestEnv) {
    env.write("a.txt", "x\nx\n");
    env.pipemux(&["open", "editor", "a.txt"]).ok();
}

/// An entry that another reader changed.
fn changed_entry(env: &TestEnv) -> u64 {
    env.pipemux(&["open", "notebook"]).ok();
    let plan = env.run("notebook.add('plan', 'x', tags=['a'])").ok().obj("plan");
    env.as_reader("bob", &["view"]).ok();
    env.as_reader("bob", &["run", &format!("notebook.edit(obj:{plan}, 'y')")]).ok();
    plan
}

const SITUATIONS: &[(&str, Situation)] = &[
    ("a misspelt verb", |_| words(&["veiw"])),
    ("a misspelt option", |_| words(&["view", "--lodd", "full"])),
    ("a wrong value", |_| words(&["view", "--budget", "much"])),
    ("a word that begins with a dash", |_| words(&["open", "editor", "-dash.txt"])),
    ("an action as a verb", |env| {
        editor(env);
        words(&["editor", "replace", "foo", "it's", "--reader", "a"])
    }),
    ("code in several words", |env| {
        editor(env);
        words(&["run", "editor.replace('x',", "'y',", "all=true)"])
    }),
    ("an unknown action", |env| {
        editor(env);
        words(&["run", "editor.replaec('one', 'x')"])
    }),
    ("no window at all", |_| words(&["run", "save()"])),
    ("an unknown app", |_| words(&["open", "editr"])),
    ("an app without a window", |_| words(&["run", "notebook.add('a', 'b')"])),
    ("an unknown window", |env| {
        editor(env);
        words(&["view", "nosuch"])
    }),
    ("a window that is nearly one", |env| {
        editor(env);
        words(&["view", "editr/main"])
    }),
    ("a window of another session", |env| {
        editor(env);
        words(&["view", "editor/other"])
    }),
    ("an unknown window to close", |_| words(&["close", "editor/main"])),
    ("an unknown session", |_| words(&["logs", "editor/main"])),
    ("an unknown object", |_| words(&["read", "obj:4711"])),
    ("an unknown object in a call", |env| {
        env.pipemux(&["open", "notebook"]).ok();
        words(&["run", "notebook.append(obj:4711, 'x')"])
    }),
    ("an unknown link", |_| words(&["click", "999"])),
    ("an unknown link to read", |_| words(&["read", "link:999"])),
    ("a link to read", |env| {
        editor(env);
        let link = env.run("editor.insert(1, 'a')").ok().link("undo");
        words(&["read", &format!("link:{link}")])
    }),
    ("an object to click", |env| {
        let plan = changed_entry(env);
        env.pipemux(&["view"]).ok();
        words(&["click", &format!("obj:{plan}")])
    }),
    ("a stale object to read", |env| {
        let plan = changed_entry(env);
        words(&["read", &format!("obj:{plan}")])
    }),
    ("a stale object", |env| {
        let plan = changed_entry(env);
        words(&["run", &format!("notebook.edit(obj:{plan}, 'z')")])
    }),
    ("an object of a closed window", |env| {
        let plan = changed_entry(env);
        env.pipemux(&["close", "notebook/main"]).ok();
        words(&["run", &format!("append(obj:{plan}, 'z')")])
    }),
    ("an object of a closed window to read", |env| {
        let plan = changed_entry(env);
        env.pipemux(&["close", "notebook/main"]).ok();
        words(&["read", &format!("obj:{plan}")])
    }),
    ("a closed window", |env| {
        editor(env);
        words(&["close", "editor/main"])
    }),
    ("no question", |_| words(&["answer", "yes"])),
    ("which of several", |env| {
        editor(env);
        words(&["run", "editor.replace('x', 'y'); editor.save()"])
    }),
    ("a question that is open", |env| {
        editor(env);
        env.run("editor.replace('x', 'y')").exits(5);
        words(&["run", "editor.save()"])
    }),
    ("an answer that is not offered", |env| {
        editor(env);
        env.run("editor.replace('x', 'y')").exits(5);
        words(&["answer", "7"])
    }),
    ("a confirmation", |env| {
        let plan = changed_entry(env);
        env.pipemux(&["view"]).ok();
        words(&["run", &format!("notebook.purge(obj:{plan})")])
    }),
    ("no file open", |env| {
        env.pipemux(&["open", "editor"]).ok();
        words(&["run", "editor.save()"])
    }),
    ("an action that was undone already", |env| {
        editor(env);
        words(&["run", "editor.undo(99)"])
    }),
    ("an option that can't be set", |_| words(&["set", "colour", "red"])),
    ("an epoch that was not issued", |_| words(&["view", "--since", "e999"])),
    ("no windows", |_| words(&["view"])),
    ("no sessions", |_| words(&["sessions"])),
    ("apps", |_| words(&["apps"])),
    ("a window seen before", |env| {
        editor(env);
        env.pipemux(&["view"]).ok();
        words(&["view"])
    }),
    ("a window that is cut", |env| {
        env.write("long.txt", "line of text\n".repeat(500));
        env.pipemux(&["open", "editor", "long.txt"]).ok();
        words(&["view", "--budget", "120"])
    }),
    ("the help of an app", |env| {
        editor(env);
        words(&["help", "editor"])
    }),
    ("the help of an app that has not run", |_| words(&["help", "notebook"])),
    ("history that is cut", |env| {
        editor(env);
        env.run("editor.goto(1)").ok();
        env.run("editor.goto(2)").ok();
        words(&["history", "--rounds", "1"])
    }),
    ("no daemon", |_| words(&["status"])),
    ("an app that ends at its start", |env| {
        env.install_rogue("broken", "exits");
        words(&["open", "broken"])
    }),
    ("an app that died with a step", |env| {
        env.install_rogue("rogue", "tame");
        env.pipemux(&["open", "rogue"]).ok();
        words(&["run", "rogue.misbehave('exit')"])
    }),
    ("an app that died before", |env| {
        env.install_rogue("rogue", "tame");
        env.pipemux(&["open", "rogue"]).ok();
        env.run("rogue.misbehave('exit')").exits(7);
        words(&["view"])
    }),
    ("an app's id that is taken", |env| {
        let manifest = "id = \"editor\"\ncommand = \"sh\"\n";
        fs::write(env.path("my app.toml"), manifest).expect("a manifest");
        words(&["app", "add", "my app.toml"])
    }),
    ("an open store", |env| {
        env.pipemux(&["open", "notebook"]).ok();
        words(&["open", "notebook", "my notes.db"])
    }),
    ("a store in no directory", |_| words(&["open", "notebook", "no such/notes.db"])),
];

/// Runs a line as a shell would if it were pasted, with `pipemux` on the path.
fn paste(env: &TestEnv, line: &str) -> Output {
    let bin = program("pipemux").parent().expect("a directory").display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    env.shell(line).env("PATH", &path).output()
}

/// Returns the commands of `pipemux` that a text suggests: those that begin a line, or follow
/// `next: `, another label with a colon, a dot in the middle, a backtick or a parenthesis.
fn suggested(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for line in text.lines() {
        for (at, _) in line.match_indices("pipemux ") {
            let before = &line[..at];
            let signs = [": ", " · ", "`", "("];
            if !before.is_empty() && !signs.iter().any(|sign| before.ends_with(sign)) {
                continue;
            }
            let (mut quoted, mut escaped, mut end) = (false, false, line.len());
            for (index, sign) in line[at..].char_indices() {
                quoted ^= sign == '\'' && !escaped;
                escaped = sign == '\\' && !quoted;
                let ends = matches!(sign, '·' | '`' | ')' | '[');
                if ends && !quoted {
                    end = at + index;
                    break;
                }
            }
            commands.push(line[at..end].trim().to_owned());
        }
    }
    commands
}

#[test]
fn suggested_commands_are_found() {
    for (text, commands) in [
        ("next: pipemux view a/b", &["pipemux view a/b"][..]),
        ("x · pipemux run 'a(\")\")' · all", &["pipemux run 'a(\")\")'"]),
        ("look (pipemux view x), then", &["pipemux view x"]),
        ("pipemux answer 1 · [all](link:2)", &["pipemux answer 1"]),
        ("update pipemux at once", &[]),
    ] {
        assert_eq!(suggested(text), commands, "{text}");
    }
}

/// Verbs after which the situation is as it was.
const LOOKS: &[&str] = &["--help", "apps", "help", "history", "logs", "sessions", "view"];

/// Runs each suggested command in the situation in which it was suggested. Returns how many there
/// were.
fn check(name: &str, situation: Situation) -> usize {
    let prepare = |env: &TestEnv| {
        let command = situation(env);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        env.pipemux(&command).text()
    };
    let mut env = TestEnv::new();
    let shown = prepare(&env);
    let root = env.root().display().to_string();
    let commands = suggested(&shown);
    let mut is_as_suggested = true;
    for command in &commands {
        if !is_as_suggested {
            env = TestEnv::new();
            prepare(&env);
        }
        let pasted = paste(&env, &command.replace(&root, &env.root().display().to_string()));
        assert!(
            // A shell that can't run the line says 126 or 127, and dash says 2 to what it can't
            // read.
            !matches!(pasted.exit, 2 | 126 | 127)
                && !pasted.text().contains("refused, nothing ran"),
            "{name}: the hint doesn't work when it is pasted: {command}\n{shown}\n{pasted}"
        );
        let verb = command.split_whitespace().nth(1).unwrap_or_default();
        is_as_suggested = LOOKS.contains(&verb) || command.ends_with(" --help");
    }
    commands.len()
}

#[test]
fn every_suggested_command_works_when_pasted() {
    let tried: usize = SITUATIONS.iter().map(|(name, run)| check(name, *run)).sum();
    assert!(tried > SITUATIONS.len() / 2, "only {tried} commands were found");
}

#[test]
fn suggested_commands_repeat_the_options_of_the_caller() {
    let env = TestEnv::new();
    let options = ["--reader", "a b", "--workspace", "other"];
    let ask = |command: &[&str]| env.pipemux(&[&options[..], command].concat());
    ask(&["open", "notebook"]).ok();
    for (command, exit) in [
        (&["read", "obj:4711"][..], 3),
        (&["click", "999"], 3),
        (&["view", "nosuch"], 3),
        (&["run", "notebook.append(obj:4711, 'x')"], 3),
        (&["view", "--json", "nosuch"], 3),
        (&["close", "notebook/main"], 0),
    ] {
        ask(command).exits(exit).has("pipemux --workspace other --reader 'a b' ");
    }
    // What means the same for everybody stays short.
    ask(&["view", "nosuch"]).exits(3).has("next: pipemux apps");
}
