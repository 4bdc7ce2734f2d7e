//! An agent mixes up refs: each mistake has its own error, and nothing unintended is done.

use pipemux_tests::TestEnv;

/// An editor with a file and a notebook with an entry; returns the ids of a selection, the entry
/// and its undo.
fn editor_and_notebook() -> (TestEnv, u64, u64, u64) {
    let env = TestEnv::new();
    let lines: String = (1..=300).map(|number| format!("line {number}\n")).collect();
    env.write("a.txt", lines);
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.pipemux(&["open", "notebook"]).ok();
    let found = env.run("editor.select(77, 77)").ok().obj("a.txt:77");
    let added = env.run("notebook.add('plan', 'v1')");
    (env, found, added.ok().obj("plan"), added.link("undo"))
}

#[test]
fn object_of_one_app_is_refused_by_another() {
    let (env, found, plan, _) = editor_and_notebook();
    let foreign = env.run(&format!("notebook.edit(obj:{found}, 'x')"));
    foreign
        .exits(2)
        .has("entry is Anchor<entry>")
        .has(&format!("obj:{found} is of type selection"));
    env.run(&format!("editor.close(obj:{plan})")).exits(2).has("Anchor<file>");
    let sentence =
        format!("Anchor obj:{plan} not found in current context. It belongs to notebook/main");
    env.run(&format!("notebook.edit(obj:editor/main:{plan}, 'x')")).exits(3).has(&sentence);
    let sentence =
        format!("Anchor obj:file:{plan} not found in current context. It is of type entry");
    env.run(&format!("notebook.edit('obj:file:{plan}', 'x')")).exits(3).has(&sentence);
    env.run(&format!("notebook.edit(obj:notebook/main:entry:{plan}, 'v2')")).ok();
}

#[test]
fn links_and_objects_are_not_interchangeable() {
    let (env, _, plan, undo) = editor_and_notebook();
    env.run(&format!("notebook.edit(obj:{undo}, 'x')")).exits(3).has("not found");
    env.run(&format!("notebook.edit(link:{undo}, 'x')")).exits(2).has("a link is clicked");
    env.pipemux(&["read", &format!("link:{undo}")]).exits(2).has("pipemux click");
    env.pipemux(&["click", &plan.to_string()])
        .exits(3)
        .has(&format!("Anchor link:{plan} not found"));
    env.run(&format!("obj:{plan}")).exits(2);
    env.pipemux(&["view"]).ok().has("v1");
}

#[test]
fn link_with_a_changed_meaning_gets_a_new_id() {
    let (env, ..) = editor_and_notebook();
    env.run("editor.goto(1)").ok();
    let first = env.pipemux(&["view", "editor/main"]).ok().link("next page");
    env.pipemux(&["click", &first.to_string()]).ok();
    let view = env.pipemux(&["view", "editor/main"]);
    assert_ne!(view.ok().link("next page"), first, "it leads elsewhere now");
    let old = env.pipemux(&["click", &first.to_string()]);
    old.exits(3)
        .has(&format!("Anchor link:{first} not found in current context."))
        .has("editor/main no longer offers this \"next page\".")
        .has("next: pipemux view editor/main");
    let after = env.pipemux(&["view", "editor/main"]);
    assert_eq!(after.ok().text(), view.text(), "nothing moved");
    // Once it has the same meaning again, it has the same id again.
    env.run("editor.goto(1)").ok();
    assert_eq!(env.pipemux(&["view", "editor/main"]).link("next page"), first);
}

#[test]
fn link_cannot_bind_actions_or_objects_of_another_app() {
    let (env, _, plan, _) = editor_and_notebook();
    env.pipemux(&["down"]).ok();
    env.install_rogue("rogue", "tame");
    env.pipemux(&["open", "rogue"]).ok();
    let shown = env.run("rogue.misbehave('show borrowed')");
    // An action of another app is not linked; a key of another app only means the app's own object.
    shown.ok().has("add for it").lacks("[add for it](").lacks(&format!("obj:{plan}"));
    let titled = env.pipemux(&["view", "rogue/main", "--titles"]);
    let link = titled.ok().lacks(&format!("obj:{plan}")).link("edit for it");
    env.pipemux(&["click", &link.to_string()]).ok().has("looked");
    env.pipemux(&["view", "notebook/main"]).ok().has("1 entry").has("v1");
}

#[test]
fn quoted_ref_is_text_where_a_parameter_takes_text() {
    let (env, found, plan, _) = editor_and_notebook();
    let quoted = format!("obj:{found}");
    env.run(&format!("notebook.append(obj:{plan}, '{quoted}')")).ok();
    env.run(&format!("editor.insert(1, \"link:{found} [[MT:Node:1]]\"); editor.save()")).ok();
    let read = env.pipemux(&["read", &format!("obj:{plan}")]);
    assert_eq!(read.ok().text().trim_end(), format!("v1\n{quoted}"));
    assert!(env.read("a.txt").starts_with(&format!("link:{found} [[MT:Node:1]]\nline 1\n")));
}
