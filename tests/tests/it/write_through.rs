//! Edits are on disk when they are done, whatever happens to the disk and to the processes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pipemux_tests::TestEnv;

#[test]
fn edit_is_on_disk_when_it_is_done_and_undo_survives_crashes() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.run("editor.replace('one', 'ONE'); editor.insert(3, 'three')").ok();
    assert_eq!(env.read("a.txt"), "ONE\ntwo\nthree\n");
    env.kill_session("editor/main");
    let undone = env.run("editor.undo()");
    undone.ok().has("insert in a.txt: 1 line gone");
    assert_eq!(env.read("a.txt"), "ONE\ntwo\n");
    env.kill_daemon();
    env.run("editor.undo()").ok().has("replace in a.txt: line 1 as before");
    assert_eq!(env.read("a.txt"), "one\ntwo\n");
    env.kill_session("editor/main");
    env.run("editor.redo(steps=2)").ok().has("again");
    assert_eq!(env.read("a.txt"), "ONE\ntwo\nthree\n");
}

#[test]
fn edit_that_the_disk_refuses_fails_and_changes_nothing() {
    let env = TestEnv::with_editor("one\n");
    let mode = |mode| {
        fs::set_permissions(env.path("a.txt"), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o444);
    let refused = env.run("editor.replace('one', 'two'); editor.insert(1, 'never')");
    refused.exits(9).has("a.txt is read-only").has("chmod u+w");
    assert_eq!(env.read("a.txt"), "one\n");
    env.pipemux(&["view"]).ok().has("1\tone").lacks("unsaved");
    mode(0o640);
    env.run("editor.replace('one', 'two')").ok();
    assert_eq!(env.read("a.txt"), "two\n");
    let now = fs::metadata(env.path("a.txt")).unwrap().permissions().mode();
    assert_eq!(now & 0o777, 0o640);
}

#[test]
fn file_that_another_program_changed_is_not_overwritten_unasked() {
    let env = TestEnv::with_editor("mine\nrest\n");
    env.run("editor.hold(); editor.replace('mine', 'held')").ok();
    env.write("a.txt", "theirs\nrest\n");
    env.run("editor.hold(false)").exits(5).has("changed on disk by someone else (its line 1)");
    assert_eq!(env.read("a.txt"), "theirs\nrest\n");
    env.pipemux(&["answer", "overwrite"]).ok();
    assert_eq!(env.read("a.txt"), "held\nrest\n");
    // What a program wrote while nothing was held is taken in, and the edit is made to that.
    env.write("a.txt", "held\nrest\nmore\n");
    env.run("editor.replace('rest', 'REST')").ok();
    assert_eq!(env.read("a.txt"), "held\nREST\nmore\n");
}

#[test]
fn symlink_leads_to_the_file_that_is_edited_and_stays() {
    let env = TestEnv::new();
    env.write("real.txt", "one\n");
    std::os::unix::fs::symlink("real.txt", env.path("link.txt")).unwrap();
    env.pipemux(&["open", "editor", "link.txt"]).ok();
    env.run("editor.replace('one', 'two')").ok();
    assert_eq!(env.read("real.txt"), "two\n");
    assert!(fs::symlink_metadata(env.path("link.txt")).unwrap().is_symlink());
}

#[test]
fn held_edits_are_written_by_save_and_survive_a_crash() {
    let env = TestEnv::new();
    env.write("a.txt", "one\n");
    let opened = env.pipemux(&["open", "editor", "--", "--hold", "a.txt"]);
    opened.ok().has("edits are held");
    env.run("editor.replace('one', 'two')").ok();
    assert_eq!(env.read("a.txt"), "one\n");
    env.kill_session("editor/main");
    env.pipemux(&["view"]).ok().has("unsaved, edits are held").has("unsaved edits restored");
    env.run("editor.insert(2, 'three')").ok();
    assert_eq!(env.read("a.txt"), "one\n", "they are held still");
    env.run("editor.save()").ok().has("a.txt");
    assert_eq!(env.read("a.txt"), "two\nthree\n");
    env.run("editor.undo(steps=2); editor.hold(false)").ok();
    assert_eq!(env.read("a.txt"), "one\n");
}

#[test]
fn new_file_is_written_with_its_folders_by_its_first_edit() {
    let env = TestEnv::new();
    env.pipemux(&["open", "editor", "src/new.rs"]).ok().has("src/new.rs is a new file").has("new");
    assert!(!env.path("src").exists());
    env.run("editor.insert(1, 'fn main() {}')").ok();
    assert_eq!(env.read("src/new.rs"), "fn main() {}\n");
    env.run("editor.create('src/lib.rs', 'mod x;')").ok().has("src/lib.rs, 1 line");
    env.run("editor.create('src/lib.rs', 'mod y;')").exits(5).has("src/lib.rs exists, 1 line");
    env.pipemux(&["answer", "keep"]).exits(1);
    assert_eq!(env.read("src/lib.rs"), "mod x;\n");
    env.run("editor.undo()").ok().has("create in src/lib.rs: deleted");
    assert!(!env.path("src/lib.rs").exists());
}

/// A file system of its own that is nearly full. Mounting one takes rights that not every machine
/// gives.
#[test]
fn full_disk_fails_the_edit_and_leaves_the_file_as_it_was() {
    let env = TestEnv::new();
    let disk = env.path("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&disk)
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("not tested: tmpfs can't be mounted here");
        return;
    }
    let unmount = || {
        let _ = std::process::Command::new("umount").arg("-l").arg(&disk).status();
    };
    let tested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        env.write("disk/a.txt", "x\n".repeat(10_000));
        env.pipemux(&["open", "editor", "disk/a.txt"]).ok();
        env.write("disk/filler", "y".repeat(40_000));
        let failed = env.run("editor.replace_lines(1, 1, 'changed')");
        failed.exits(1).has("was not written").has("No space left").has("hold()");
        assert_eq!(env.read("disk/a.txt"), "x\n".repeat(10_000));
        env.pipemux(&["view"]).ok().has("1\tx").lacks("changed").lacks("unsaved");
        assert_eq!(fs::read_dir(&disk).unwrap().count(), 2, "nothing is left behind");
        fs::remove_file(disk.join("filler")).unwrap();
        env.run("editor.replace_lines(1, 1, 'changed')").ok();
        assert!(env.read("disk/a.txt").starts_with("changed\nx\n"));
        env.run("editor.undo()").ok();
        assert_eq!(env.read("disk/a.txt"), "x\n".repeat(10_000));
    }));
    unmount();
    if let Err(panic) = tested {
        std::panic::resume_unwind(panic);
    }
}

/// The editor is killed while it writes, again and again: each edit is there once or not at all,
/// and what can be undone is what is there.
#[test]
fn editor_that_is_killed_while_it_writes_loses_and_doubles_nothing() {
    let env = TestEnv::with_editor("start\n");
    let mut sure = 0;
    for round in 0..3 {
        let edit = env
            .command(&["run", &format!("editor.insert(1, 'edit {round}')"), "--timeout", "20"])
            .start();
        env.kill_session("editor/main");
        let answered = edit.finish();
        let text = env.read("a.txt");
        let times = text.lines().filter(|line| *line == format!("edit {round}")).count();
        assert!(times <= 1, "{text}");
        assert!(text.ends_with("start\n"), "{text}");
        if answered.exit == 0 {
            assert_eq!(times, 1, "it was confirmed: {text}");
        }
        sure += times;
        env.pipemux(&["view"]).ok();
    }
    for _ in 0..sure {
        env.run("editor.undo()").ok();
    }
    assert_eq!(env.read("a.txt"), "start\n");
    env.run("editor.undo()").exits(1).has("nothing to undo");
}
