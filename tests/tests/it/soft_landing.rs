//! The three sentences for refs that lead nowhere, word for word.

use pipemux_tests::World;

#[test]
fn stale_out_of_view_and_not_found_are_three_sentences() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let plan = world.run("notebook.add('Release plan', 'Ship on Friday')").obj("Release plan");
    let bob = |args: &[&str]| world.command(args).reader("bob").output();
    bob(&["view"]).ok();
    bob(&["run", &format!("notebook.edit(obj:{plan}, 'Ship on Monday')")]).ok();

    let sentence = format!("Anchor obj:{plan} is stale. Please refresh to get current IDs.");
    let call = format!("notebook.edit(entry=obj:{plan}, text='Ship today')");
    world.run(&call).exits(4).has(&sentence);
    world.pipemux(&["view"]).ok().has("Ship on Monday");
    world.run(&call).ok();

    world.pipemux(&["close", "notebook/main"]).ok();
    let sentence = format!("Anchor obj:{plan} is out of view. Navigate or expand to access.");
    world.pipemux(&["read", &format!("obj:{plan}")]).exits(4).has(&sentence);

    world.pipemux(&["open", "notebook"]).ok();
    world.run(&format!("notebook.remove(obj:{plan})")).exits(5);
    world.pipemux(&["answer", "yes"]).ok();
    let sentence = format!("Anchor obj:{plan} not found in current context.");
    world.run(&call).exits(3).has(&sentence);
    world.pipemux(&["read", &format!("obj:{plan}")]).exits(3).has(&sentence);
    for never in ["obj:4711", "link:4711"] {
        let sentence = format!("Anchor {never} not found in current context.");
        let verb = if never.starts_with("obj") { "read" } else { "click" };
        world.pipemux(&[verb, never]).exits(3).has(&sentence);
    }
}

#[test]
fn a_pinned_ref_of_an_older_epoch_holds_while_its_meaning_does() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let first = world.run("notebook.add('first', 'a')");
    let (entry, text) = (first.obj("first"), first.text());
    let at = text.rfind('e').map(|at| &text[at..]).unwrap_or_default();
    let epoch: String = at[1..].chars().take_while(char::is_ascii_digit).collect();
    let epoch = if epoch.is_empty() { "3".to_owned() } else { epoch };
    world.run("notebook.add('second', 'b')").ok();
    world.run("notebook.add('third', 'c')").ok();
    world.run(&format!("notebook.append(obj:{entry}@e{epoch}, 'more')")).ok();
    world.run(&format!("notebook.append(obj:{entry}@e{epoch}, 'more')")).exits(4).has("is stale");
    world.run(&format!("notebook.append(obj:{entry}@e9999, 'more')")).exits(3).has("not found");
}

#[test]
fn a_folded_thing_is_out_of_view_not_gone() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let hidden = world.run("notebook.add('hidden', 'x', tags=['a'])").ok().obj("hidden");
    world.run("notebook.add('seen', 'y', tags=['b'])").ok();
    world.run("notebook.filter('b')").ok().lacks("[hidden](");
    let sentence = format!("Anchor obj:{hidden} is out of view. Navigate or expand to access.");
    world.run(&format!("notebook.expand(obj:{hidden})")).exits(4).has(&sentence);
    world.run("notebook.show_all()").ok();
    world.run(&format!("notebook.expand(obj:{hidden})")).ok();
}
