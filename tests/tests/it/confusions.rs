//! Mix-ups that an agent makes: each is told apart, and nothing is done that wasn't meant.

use pipemux_tests::World;

/// An editor with a file and a notebook with an entry; the ids of the match, the entry and its undo.
fn desk() -> (World, u64, u64, u64) {
    let world = World::new();
    let lines: String = (1..=300).map(|number| format!("line {number}\n")).collect();
    world.write("a.txt", lines);
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    let found = world.run("editor.find('line 77')").ok().objects()[0];
    let added = world.run("notebook.add('plan', 'v1')");
    (world, found, added.ok().obj("plan"), added.link("undo"))
}

#[test]
fn a_thing_of_one_app_is_none_of_another() {
    let (world, found, plan, _) = desk();
    let foreign = world.run(&format!("notebook.edit(obj:{found}, 'x')"));
    foreign.exits(2).has("entry is Anchor<entry>").has(&format!("obj:{found} is a match"));
    world.run(&format!("editor.close(obj:{plan})")).exits(2).has("Anchor<file>");
    let sentence =
        format!("Anchor obj:{plan} not found in current context. It belongs to notebook/main");
    world.run(&format!("notebook.edit(obj:editor/main:{plan}, 'x')")).exits(3).has(&sentence);
    let sentence =
        format!("Anchor obj:file:{plan} not found in current context. That id is a entry");
    world.run(&format!("notebook.edit('obj:file:{plan}', 'x')")).exits(3).has(&sentence);
    world.run(&format!("notebook.edit(obj:notebook/main:entry:{plan}, 'v2')")).ok();
}

#[test]
fn a_link_is_no_thing_and_a_thing_no_link() {
    let (world, _, plan, undo) = desk();
    world.run(&format!("notebook.edit(obj:{undo}, 'x')")).exits(3).has("not found");
    world.run(&format!("notebook.edit(link:{undo}, 'x')")).exits(2).has("a link is clicked");
    world.pipemux(&["read", &format!("link:{undo}")]).exits(2).has("pipemux click");
    world
        .pipemux(&["click", &plan.to_string()])
        .exits(3)
        .has(&format!("Anchor link:{plan} not found"));
    world.run(&format!("obj:{plan}")).exits(2);
    world.pipemux(&["view"]).ok().has("v1");
}

#[test]
fn a_link_whose_meaning_changed_never_fires_under_its_old_id() {
    let (world, ..) = desk();
    world.run("editor.goto(1)").ok();
    let first = world.pipemux(&["view", "editor/main"]).ok().link("next page");
    world.pipemux(&["click", &first.to_string()]).ok();
    let view = world.pipemux(&["view", "editor/main"]);
    assert_ne!(view.ok().link("next page"), first, "it leads elsewhere now");
    let old = world.pipemux(&["click", &first.to_string()]);
    old.exits(4).has(&format!("Anchor link:{first} is out of view."));
    let after = world.pipemux(&["view", "editor/main"]);
    assert_eq!(after.ok().text(), view.text(), "nothing moved");
    // Where it means that again, it is that link again.
    world.run("editor.goto(1)").ok();
    assert_eq!(world.pipemux(&["view", "editor/main"]).link("next page"), first);
}

#[test]
fn what_an_app_binds_to_a_link_stays_in_its_own_session() {
    let (world, _, plan, _) = desk();
    world.pipemux(&["down"]).ok();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["open", "rogue"]).ok();
    let shown = world.run("rogue.misbehave('show borrowed')");
    // Another app's action is none of its own; another's key is only a key.
    shown.ok().has("add for it").lacks("[add for it](").lacks(&format!("obj:{plan}"));
    let titled = world.pipemux(&["view", "rogue/main", "--titles"]);
    let link = titled.ok().lacks(&format!("obj:{plan}")).link("edit for it");
    world.pipemux(&["click", &link.to_string()]);
    world.pipemux(&["view", "notebook/main"]).ok().has("1 entry").has("v1");
}

#[test]
fn text_that_names_a_ref_is_text_where_text_is_asked_for() {
    let (world, found, plan, _) = desk();
    let quoted = format!("obj:{found}");
    world.run(&format!("notebook.append(obj:{plan}, '{quoted}')")).ok();
    world.run(&format!("editor.insert(1, \"link:{found} [[MT:Node:1]]\"); editor.save()")).ok();
    let read = world.pipemux(&["read", &format!("obj:{plan}")]);
    assert_eq!(read.ok().text().trim_end(), format!("v1\n{quoted}"));
    assert!(world.read("a.txt").starts_with(&format!("link:{found} [[MT:Node:1]]\nline 1\n")));
}
