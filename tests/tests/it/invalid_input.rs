//! Invalid input: a clear error with the right exit status, and nothing runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pipemux_tests::{TestEnv, wait_for};

#[test]
fn unknown_names_get_a_suggestion() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    env.pipemux(&["frobnicate"]).exits(2).has("not a verb").has("pipemux");
    env.pipemux(&["veiw"]).exits(2).has("pipemux view");
    env.pipemux(&["editor", "replace", "a", "b"]).exits(2).has("pipemux run 'editor.replace(");
    env.pipemux(&["open", "editr"]).exits(3).has("editor");
    env.pipemux(&["open", "Editor"]).exits(2);
    env.pipemux(&["help", "nosuch"]).exits(3);
    env.run("notebok.add('a', 'b')").exits(3).has("did you mean notebook?");
    env.run("editor.replaec('a', 'b')").exits(2).has("did you mean replace").has("^");
    env.run("replaec('a', 'b')").exits(2).has("replace").has("^");
    for verb in ["view", "logs", "end", "restart", "close"] {
        env.pipemux(&[verb, "editor/nosuch"]).exits(3).has("editor/nosuch");
    }
}

#[test]
fn mistakes_in_calls_are_marked_with_a_caret() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    let unknown = env.run("editor.replace(\"a\", nw=\"b\")");
    unknown.exits(2).has("refused, nothing ran · unknown parameter").has("did you mean new?");
    unknown.has("editor.replace(\"a\", nw=\"b\")\n                    ^^");
    let cases = [
        ("editor.save(); editor.goto(line=true)", "line"),
        ("editor.save(); editor.undo(steps='many')", "int"),
        ("editor.replace('one', 'x', all='maybe')", "bool"),
        ("editor.save(1, 2)", "save"),
        ("editor.replace('one', 'x', old='y')", "old"),
        ("editor.save(); editor.close(file=obj:)", "obj:"),
        ("editor.save(); editor.close(file=link:3)", "a link is clicked"),
        ("editor.save(); x = 3", "only calls"),
        ("editor.save() + 1", "expected"),
        ("editor.replace('one, 'x')", "'"),
        ("editor.replace('a\\qb', 'x')", "\\"),
        ("editor.save(", "never closed"),
        ("", "expected"),
        ("深い()", "深い"),
    ];
    for (code, said) in cases {
        let refused = env.run(code);
        refused.exits(2).has(said);
    }
    env.pipemux(&["view"]).ok().has("1\tone").lacks("unsaved");
    assert_eq!(env.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn incomplete_raw_blocks_and_stdin_are_refused() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    env.run("editor.insert(1, text=<<END)\nbody\nEND \n").exits(2).has("END");
    env.command(&["run", "-"]).stdin(b"editor.insert(1, <<END)\nbody").output().exits(2);
    env.command(&["run", "editor.insert(1, text=stdin)"]).stdin(b"").output().exits(2);
    env.command(&["run", "-"]).stdin(b"").output().exits(2);
    env.command(&["run", "editor.insert(1, stdin)"]).stdin(b"\xff\xfe").output().exits(2);
    env.command(&["run", "editor.insert(1, stdin); editor.insert(2, stdin)"])
        .stdin(b"text")
        .output()
        .exits(2)
        .has("stdin");
    env.pipemux(&["view"]).ok().has("1\tone").lacks("unsaved");
}

#[test]
fn oversized_input_is_refused_with_the_limit() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    let code = format!("editor.insert(1, '{}')", "x".repeat(300_000));
    env.command(&["run", "-"]).stdin(code.as_bytes()).output().exits(2).has("262144");
    let stdin = "y".repeat(700_000);
    env.command(&["run", "editor.insert(1, stdin)"])
        .stdin(stdin.as_bytes())
        .output()
        .exits(2)
        .has("655360");
    let steps = "editor.undo();".repeat(300);
    env.command(&["run", "-"]).stdin(steps.as_bytes()).output().exits(2).has("256");
    let nested = format!("editor.goto({}1{})", "[".repeat(40), "]".repeat(40));
    env.run(&nested).exits(2).has("16");
    // The longest allowed input is accepted.
    let most = format!("{}\n", "z".repeat(600_000));
    env.command(&["run", "editor.insert(1, stdin)"]).stdin(most.as_bytes()).output().ok();
    env.pipemux(&["view"]).ok();
}

#[test]
fn unreadable_files_are_refused_with_a_reason() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    fs::create_dir(env.path("dir")).unwrap();
    env.write("binary", b"\x7fELF\0\xff\xfe\0".repeat(100));
    env.write("latin1.txt", b"caf\xe9\n");
    std::os::unix::fs::symlink("loop", env.path("loop")).unwrap();
    env.pipemux(&["open", "editor", "dir"]).exits(3).has("dir has no files");
    env.pipemux(&["open", "editor", "latin1.txt"]).exits(9).has("UTF-8").has("latin1.txt");
    // What is no text at all is not refused: it is shown by what it is.
    env.pipemux(&["open", "editor", "binary"]).ok().has("binary is binary, 800 bytes");
    let looped = env.pipemux(&["open", "editor", "loop"]);
    looped.exits(9).has("loop");
    let missing = env.pipemux(&["open", "editor", "binary/file.txt"]);
    missing.exits(9).has("is a file, not a folder");
    // The existing session is unchanged, and a new session that failed is removed.
    env.pipemux(&["view"]).ok().has("a.txt");
    let fresh = env.pipemux(&["open", "editor/fresh", "latin1.txt"]);
    fresh.exits(9).has("latin1.txt");
    wait_for("the failed session is removed", || {
        env.sessions().iter().all(|row| row.session != "editor/fresh")
    });
}

#[test]
fn file_without_permission_is_refused() {
    let env = TestEnv::new();
    env.write("secret.txt", "s\n");
    fs::set_permissions(env.path("secret.txt"), fs::Permissions::from_mode(0o000)).unwrap();
    // File permissions bind root only in processes without these capabilities.
    let without_capabilities = match nix::unistd::getuid().is_root() {
        true => "setpriv --bounding-set -dac_override,-dac_read_search",
        false => "",
    };
    let start = format!("exec {without_capabilities} \"$PIPEMUX\" up");
    env.shell(&start).output().ok();
    env.pipemux(&["open", "editor", "secret.txt"]).exits(9).has("ermission denied");
}

#[test]
fn invalid_refs_are_refused_with_an_example() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    for bad in ["obj:", "obj:1@", "obj:1@x", "nosuch:3", "obj:a b", "obj:1@e1@e2", ":", "-"] {
        let refused = env.pipemux(&["read", "--", bad]);
        refused.exits(2);
    }
    env.pipemux(&["read", "what?!"]).exits(2).has("obj:");
    env.pipemux(&["click", "link:x"]).exits(2).has("link:15");
    let thing = env.pipemux(&["run", "editor.select(2, 2)"]).ok().objects()[0];
    env.pipemux(&["click", &format!("obj:{thing}")]).exits(2).has("pipemux read");
    env.pipemux(&["answer", "yes"]).exits(3).has("no question is open");
    env.pipemux(&["answer", "--to", "4711", "yes"]).exits(3).has("4711");
}

#[test]
fn first_failure_skips_the_remaining_steps() {
    let env = TestEnv::with_editor("one\ntwo\nthree\n");
    let failed = env.run("editor.insert(1, 'zero'); editor.replace('nowhere', 'x'); editor.save()");
    failed.exits(1).has("1 done · insert").has("2 failed · replace").has("editor.save()");
    assert_eq!(env.read("a.txt"), "zero\none\ntwo\nthree\n");
    env.pipemux(&["view"]).ok().has("zero");
}

#[test]
fn unavailable_daemon_is_exit_8() {
    let env = TestEnv::new();
    let missing = env.command(&["view"]).env("PIPEMUX_DAEMON", "/nowhere/pipemuxd").output();
    missing.exits(8).has("/nowhere/pipemuxd");
    let mute = env.command(&["view", "--timeout", "5"]).env("PIPEMUX_DAEMON", "/bin/true").output();
    mute.exits(8);
    let relative = env.command(&["view"]).env("PIPEMUX_STATE_DIR", "relative").output();
    relative.exits(2).has("absolute");
    env.pipemux(&["status"]).has("not running");
}

#[test]
fn app_without_program_is_unavailable() {
    let env = TestEnv::new();
    env.install_rogue("gone", "x");
    let manifest = env.root().join("home/.config/pipemux/apps/gone.toml");
    fs::write(manifest, "id = \"gone\"\ncommand = \"/nowhere/app\"\n").unwrap();
    env.pipemux(&["open", "gone"]).exits(6).has("could not").has("/nowhere/app");
    env.pipemux(&["open", "notebook"]).ok();
}

#[test]
fn invalid_manifest_is_reported_and_affects_no_other_app() {
    let env = TestEnv::new();
    env.install_rogue("good", "tame");
    let bad = env.root().join("home/.config/pipemux/apps/bad.toml");
    fs::write(bad, "id = \"bad\"\ncommand = \"x\"\ncolour = 3\n").unwrap();
    let told = env.pipemux(&["apps"]);
    told.ok().has("good · tame").has("editor").lacks("bad ·").has("not registered · ");
    told.has("bad.toml:3 (colour): unknown field");
    assert!(env.daemon_log().contains("bad.toml:3"), "{}", env.daemon_log());
    env.pipemux(&["open", "bad"]).exits(3).has("bad.toml:3 (colour)");
}
