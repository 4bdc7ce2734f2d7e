//! Bad input: each a clear error with the right exit status, and nothing runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pipemux_tests::{World, wait_until};

fn editor() -> World {
    let world = World::new();
    world.write("a.txt", "one\ntwo\nthree\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world
}

#[test]
fn unknown_names_are_told_with_the_nearest() {
    let world = editor();
    world.pipemux(&["frobnicate"]).exits(2).has("no verb").has("pipemux");
    world.pipemux(&["veiw"]).exits(2).has("pipemux view");
    world.pipemux(&["editor", "replace", "a", "b"]).exits(2).has("pipemux run 'editor.replace(");
    world.pipemux(&["open", "editr"]).exits(3).has("editor");
    world.pipemux(&["open", "Editor"]).exits(2);
    world.pipemux(&["help", "nosuch"]).exits(3);
    world.run("notebook.add('a', 'b')").exits(3).has("pipemux open notebook");
    world.run("editor.replaec('a', 'b')").exits(2).has("did you mean replace").has("^");
    world.run("replaec('a', 'b')").exits(2).has("replace").has("^");
    for verb in ["view", "logs", "end", "restart", "close"] {
        world.pipemux(&[verb, "editor/nosuch"]).exits(3).has("editor/nosuch");
    }
}

#[test]
fn a_mistake_in_a_call_has_a_caret_at_its_place() {
    let world = editor();
    let unknown = world.run("editor.replace(\"a\", nw=\"b\")");
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
        let refused = world.run(code);
        assert!(matches!(refused.exit, 2 | 3), "{refused}");
        refused.has(said);
    }
    world.pipemux(&["view"]).ok().has("1\tone").has("saved");
    assert_eq!(world.read("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn raw_blocks_and_standard_input_that_are_not_whole_are_refused() {
    let world = editor();
    world.run("editor.insert(1, text=<<END)\nbody\nEND \n").exits(2).has("END");
    world.command(&["run", "-"]).stdin(b"editor.insert(1, <<END)\nbody").output().exits(2);
    world.command(&["run", "editor.insert(1, text=stdin)"]).stdin(b"").output().exits(2);
    world.command(&["run", "-"]).stdin(b"").output().exits(2);
    world.command(&["run", "editor.insert(1, stdin)"]).stdin(b"\xff\xfe").output().exits(2);
    world
        .command(&["run", "editor.insert(1, stdin); editor.insert(2, stdin)"])
        .stdin(b"text")
        .output()
        .exits(2)
        .has("stdin");
    world.pipemux(&["view"]).ok().has("1\tone").has("saved");
}

#[test]
fn what_is_too_long_is_refused_and_said() {
    let world = editor();
    let code = format!("editor.insert(1, '{}')", "x".repeat(300_000));
    world.command(&["run", "-"]).stdin(code.as_bytes()).output().exits(2).has("262144");
    let stdin = "y".repeat(700_000);
    world
        .command(&["run", "editor.insert(1, stdin)"])
        .stdin(stdin.as_bytes())
        .output()
        .exits(2)
        .has("655360");
    let steps = "editor.undo();".repeat(300);
    world.command(&["run", "-"]).stdin(steps.as_bytes()).output().exits(2).has("256");
    let nested = format!("editor.goto({}1{})", "[".repeat(40), "]".repeat(40));
    world.run(&nested).exits(2).has("16");
    // The most that is allowed passes.
    let most = format!("{}\n", "z".repeat(600_000));
    world.command(&["run", "editor.insert(1, stdin)"]).stdin(most.as_bytes()).output().ok();
    world.pipemux(&["view"]).ok();
}

#[test]
fn files_that_are_none_are_refused_with_a_reason() {
    let world = editor();
    fs::create_dir(world.path("dir")).unwrap();
    world.write("binary", b"\x7fELF\0\xff\xfe\0".repeat(100));
    world.write("latin1.txt", b"caf\xe9\n");
    std::os::unix::fs::symlink("loop", world.path("loop")).unwrap();
    for (name, said) in [("dir", "directory"), ("binary", "binary file"), ("latin1.txt", "UTF-8")] {
        let refused = world.pipemux(&["open", "editor", name]);
        assert_ne!(refused.exit, 0, "{refused}");
        refused.has(said).has(name);
    }
    let looped = world.pipemux(&["open", "editor", "loop"]);
    assert_ne!(looped.exit, 0, "{looped}");
    let missing = world.pipemux(&["open", "editor", "no/such/file.txt"]);
    assert_ne!(missing.exit, 0, "{missing}");
    // The session that was there is unharmed; a fresh one that failed is not left behind.
    world.pipemux(&["view"]).ok().has("a.txt");
    let fresh = world.pipemux(&["open", "editor/fresh", "dir"]);
    assert_ne!(fresh.exit, 0);
    wait_until("its end", || {
        world.sessions().iter().all(|row| row.session != "editor/fresh").then_some(())
    });
}

#[test]
fn a_file_without_permission_is_refused() {
    if nix::unistd::getuid().is_root() {
        println!("skipped: permissions do not bind root");
        return;
    }
    let world = editor();
    world.write("secret.txt", "s\n");
    fs::set_permissions(world.path("secret.txt"), fs::Permissions::from_mode(0o000)).unwrap();
    let refused = world.pipemux(&["open", "editor", "secret.txt"]);
    assert_ne!(refused.exit, 0);
    refused.has("ermission");
}

#[test]
fn refs_that_are_none_say_what_one_is() {
    let world = editor();
    for bad in ["obj:", "obj:1@", "obj:1@x", "nosuch:3", "obj:a b", "obj:1@e1@e2", ":", "-"] {
        let refused = world.pipemux(&["read", "--", bad]);
        assert!(matches!(refused.exit, 2 | 3), "{bad}: {refused}");
    }
    world.pipemux(&["read", "what?!"]).exits(2).has("obj:");
    world.pipemux(&["click", "link:x"]).exits(2).has("link:15");
    let thing = world.pipemux(&["run", "editor.find('two')"]).ok().objects()[0];
    world.pipemux(&["click", &format!("obj:{thing}")]).exits(2).has("pipemux read");
    world.pipemux(&["answer", "yes"]).exits(3).has("no question is open");
    world.pipemux(&["answer", "--to", "4711", "yes"]).exits(3).has("4711");
}

#[test]
fn the_first_failure_stops_the_rest_and_the_answer_says_what_ran() {
    let world = editor();
    let failed =
        world.run("editor.insert(1, 'zero'); editor.replace('nowhere', 'x'); editor.save()");
    failed.exits(1).has("1 done · insert").has("2 failed · replace").has("not run: editor.save");
    assert_eq!(world.read("a.txt"), "one\ntwo\nthree\n");
    world.pipemux(&["view"]).ok().has("zero");
}

#[test]
fn a_daemon_that_cannot_be_started_is_exit_8() {
    let world = World::new();
    let missing = world.command(&["view"]).env("PIPEMUX_DAEMON", "/nowhere/pipemuxd").output();
    missing.exits(8).has("/nowhere/pipemuxd");
    let mute =
        world.command(&["view", "--timeout", "5"]).env("PIPEMUX_DAEMON", "/bin/true").output();
    mute.exits(8);
    let relative = world.command(&["view"]).env("PIPEMUX_STATE_DIR", "relative").output();
    relative.exits(2).has("absolute");
    world.pipemux(&["status"]).has("not running");
}

#[test]
fn an_app_that_is_no_program_says_so() {
    let world = World::new();
    world.install_rogue("gone", "x");
    let manifest = world.root().join("home/.config/pipemux/apps/gone.toml");
    fs::write(manifest, "id = \"gone\"\ncommand = \"/nowhere/app\"\n").unwrap();
    world.pipemux(&["open", "gone"]).exits(6).has("could not").has("/nowhere/app");
    world.pipemux(&["open", "notebook"]).ok();
}

#[test]
fn a_manifest_with_a_mistake_is_told_and_hurts_no_other() {
    let world = World::new();
    world.install_rogue("good", "tame");
    let bad = world.root().join("home/.config/pipemux/apps/bad.toml");
    fs::write(bad, "id = \"bad\"\ncommand = \"x\"\ncolour = 3\n").unwrap();
    let told = world.pipemux(&["apps"]);
    told.ok().has("good · tame\n").has("editor").lacks("bad ·").has("not registered · ");
    told.has("bad.toml:3 (colour): unknown field");
    assert!(world.daemon_log().contains("bad.toml:3"), "{}", world.daemon_log());
    world.pipemux(&["open", "bad"]).exits(3).has("bad.toml:3 (colour)");
}
