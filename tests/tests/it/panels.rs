//! Panels of the workspace document, and a document around a source that fails or hangs.

use pipemux_tests::TestEnv;

const ALL: &str = "views,environment,notices,history,questions";

/// Returns the parts of a document that begin with a heading, without the lines that end an answer.
fn parts(document: &str) -> Vec<String> {
    let body = document.rsplit_once("\nworkspace ").map_or(document, |(body, _)| body);
    let body = body.rsplit_once("\nactions: pipemux help ").map_or(body, |(body, _)| body);
    // What was done stands behind the windows.
    let body = body.split_once("\n\nDone so far").map_or(body, |(body, _)| body);
    body.split("## ").skip(1).map(|part| part.trim_end().to_owned()).collect()
}

/// Returns the part of a document that begins with a name.
fn part(document: &str, name: &str) -> String {
    let found = parts(document).into_iter().find(|part| part.starts_with(name));
    found.unwrap_or_else(|| panic!("no {name} in {document}"))
}

#[test]
fn panels_tell_no_path_no_user_and_no_value_of_the_environment() {
    let secret = "wJalrXUtnFEMI-secret-value";
    let env = TestEnv::with_editor("one\n");
    let with_secret = |args: &[&str]| {
        let command = env.command(args).env("SECRET_TOKEN", secret).env("USER", "ann-of-the-user");
        command.env("LOGNAME", "ann-of-the-user").output()
    };
    with_secret(&["open", "notebook"]).ok();
    with_secret(&["set", "panels", ALL]).ok().has(ALL);
    let path = env.path("a.txt");
    let call = format!("notebook.add('where', '{}')", path.display());
    with_secret(&["run", &call]).ok();
    env.kill_session("notebook/main");
    with_secret(&["view", "notebook/main"]).ok();
    with_secret(&["run", "editor.replace('e', 'x')"]).ok();
    for args in [&["view"][..], &["inject", "--reset"], &["view", "--json"]] {
        let shown = with_secret(args).ok().text();
        let panels: String = match args.contains(&"--json") {
            true => {
                serde_json::from_str::<serde_json::Value>(&shown).unwrap()["panels"].to_string()
            }
            false => {
                parts(&shown).into_iter().filter(|part| part.starts_with("pipemux/")).collect()
            }
        };
        assert!(panels.contains("pipemux/history") && panels.contains("…/a.txt"), "{shown}");
        let root = env.root().display().to_string();
        for told in [secret, "ann-of-the-user", &root] {
            assert!(!panels.contains(told), "{told} in {panels}");
        }
    }
    // The documents of two moments at which nothing differs are the same bytes.
    assert_eq!(env.pipemux(&["view"]).ok().text(), env.pipemux(&["view"]).ok().text());
    env.pipemux(&["set", "panels", "clock"]).exits(2).has("`clock` is no panel");
    env.pipemux(&["set", "panels", "off"]).ok();
    env.pipemux(&["view"]).ok().lacks("## pipemux/");
}

#[test]
fn source_that_fails_or_hangs_leaves_the_bytes_of_the_others() {
    let env = TestEnv::with_notebook();
    env.install_rogue("rogue", "tame");
    env.pipemux(&["open", "rogue"]).ok();
    env.write("a.txt", "one\ntwo\n");
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.run("notebook.add('plan', 'what stays')").ok();
    env.pipemux(&["set", "panels", "environment"]).ok();
    env.as_reader("r", &["view"]).ok();
    let before = env.as_reader("r", &["view"]).ok().text();
    env.as_reader("m", &["inject"]).ok();
    let whole = env.as_reader("m", &["inject", "--reset"]).ok().text();
    let around = ["pipemux/environment", "notebook/main", "editor/main"];
    for (content, told) in [("an error", "its file is gone"), ("no answer", "busy")] {
        env.run(&format!("rogue.misbehave('show {content}')")).ok();
        let after = env.as_reader("r", &["view"]).ok().text();
        assert!(part(&after, "rogue/main").contains(told), "{content}: {after}");
        let news = env.as_reader("m", &["inject"]).ok().text();
        let again = env.as_reader("m", &["inject", "--reset"]).ok().text();
        for name in around {
            assert_eq!(part(&after, name), part(&before, name), "{content}");
            assert_eq!(part(&again, name), part(&whole, name), "{content}");
            assert!(!news.contains(&format!("## {name}")), "{content}: {news}");
        }
        let order = |document: &str| -> Vec<String> {
            let first = |part: &String| part.split([' ', '\n']).next().unwrap_or("").to_owned();
            parts(document).iter().map(first).collect()
        };
        assert_eq!(order(&after), order(&before), "{content}");
    }
}
