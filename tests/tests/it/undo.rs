//! The `undo` of an answer takes back the change that it belongs to, or nothing.

use pipemux_tests::{Output, Signal, World, is_alive, kill, wait_until};

fn click(world: &World, link: u64) -> Output {
    world.pipemux(&["click", &link.to_string()])
}

#[test]
fn an_old_undo_of_the_editor_is_refused_after_later_changes() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let first = world.run("editor.replace('one', 'ONE')").ok().link("undo");
    let second = world.run("editor.replace('two', 'TWO')").ok().link("undo");
    let refused = click(&world, first);
    assert!(matches!(refused.exit, 1 | 4 | 9), "{refused}");
    refused.has("next:");
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "ONE\nTWO\n", "nothing was undone");
    // In order they go.
    click(&world, second).ok();
    click(&world, first).ok();
    // And each only once.
    let again = click(&world, first);
    assert_ne!(again.exit, 0, "{again}");
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "one\ntwo\n");
}

#[test]
fn an_old_undo_of_the_notebook_is_refused_after_later_changes_of_that_entry() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let entry = world.run("notebook.add('plan', 'v1')").ok().obj("plan");
    let other = world.run("notebook.add('other', 'o1')").ok().obj("other");
    let first = world.run(&format!("notebook.edit(obj:{entry}, 'v2')")).ok().link("undo");
    let second = world.run(&format!("notebook.edit(obj:{entry}, 'v3')")).ok().link("undo");
    let refused = click(&world, first);
    assert_ne!(refused.exit, 0, "{refused}");
    refused.has("next:");
    let read = |entry: u64| {
        let read = world.pipemux(&["read", &format!("obj:{entry}")]);
        read.ok().text().trim_end().to_owned()
    };
    assert_eq!(read(entry), "v3", "nothing was undone");
    // Another entry's change is in nobody's way.
    world.run(&format!("notebook.edit(obj:{other}, 'o2')")).ok();
    click(&world, second).ok();
    assert_eq!((read(entry), read(other)), ("v2".to_owned(), "o2".to_owned()));
    assert_ne!(click(&world, second).exit, 0);
    assert_eq!(read(entry), "v2");
}

#[test]
fn what_another_one_did_since_is_not_undone_unseen() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    bob(&["view"]).ok();
    let mine = world.run("editor.replace('one', 'ONE')").ok().link("undo");
    bob(&["run", "editor.replace('two', 'by bob')"]).ok();
    let unseen = world.run("editor.undo()");
    unseen.exits(4).has("replace by bob").has("by bob");
    let refused = click(&world, mine);
    refused.exits(1).has("not the latest change").has("next: pipemux run 'editor.undo(steps=2)'");
    world.pipemux(&["view"]).ok().has("1\tONE").has("2\tby bob");
    // Shown by now, it is the newest, and taken back knowingly.
    world.run("editor.undo(); editor.save()").ok();
    assert_eq!(world.read("a.txt"), "ONE\ntwo\n");
}

#[test]
fn an_undo_of_an_earlier_life_undoes_its_change_or_nothing() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    let edit = world.run("editor.replace('one', 'ONE')").ok().link("undo");
    let entry = world.run("notebook.add('plan', 'v1')").ok().obj("plan");
    let note = world.run(&format!("notebook.edit(obj:{entry}, 'v2')")).ok().link("undo");
    let app = world.pid("editor/main");
    kill(app, Signal::SIGKILL);
    wait_until("the app's end", || (!is_alive(app)).then_some(()));
    // The editor keeps unsaved text through a crash, not how it came about, and says so.
    world.pipemux(&["view"]).ok().has("ONE").has("unsaved edits restored").has("undo");
    click(&world, edit).exits(1).has("next:");
    kill(world.daemon(), Signal::SIGKILL);
    wait_until("everything ends", || world.processes().is_empty().then_some(()));
    world.pipemux(&["view"]).ok();
    let undone = click(&world, note);
    let read = world.pipemux(&["read", &format!("obj:{entry}")]);
    // It may be forgotten; what it does is what it said.
    match undone.exit {
        0 => read.ok().has("v1"),
        _ => undone.exits(3).has(&format!("Anchor link:{note} not found")),
    };
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "ONE\ntwo\n");
}
