//! Answers cost what they are worth.

use pipemux_tests::World;

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("this is line {number} of the file\n")).collect()
}

#[test]
fn an_edit_of_a_long_file_is_answered_with_the_change() {
    let world = World::new();
    world.write("big.txt", lines(5_000));
    world.pipemux(&["open", "editor", "big.txt"]).ok();
    let edit = world.run("editor.replace('line 20 of', 'line XX of')");
    edit.ok().has("line XX of").lacks("line 19 of").lacks("line 21 of");
    assert!(edit.lines() <= 10, "{edit}");
    let far = world.run("editor.replace_lines(4000, 4001, 'far away')");
    assert!(far.ok().lines() <= 16, "{far}");
}

#[test]
fn a_huge_file_costs_a_screenful() {
    let world = World::new();
    world.write("huge.txt", lines(200_000));
    let opened = world.pipemux(&["open", "editor", "huge.txt"]);
    assert!(opened.ok().has("200000 lines").lines() < 80, "{opened}");
    let moved = world.run("editor.goto(150000)");
    assert!(moved.ok().has("line 150000 of").lines() < 80, "{moved}");
    assert!(world.pipemux(&["view", "--budget", "200"]).ok().stdout.len() < 2_500);
}

#[test]
fn what_did_not_change_keeps_its_bytes() {
    let world = World::new();
    world.write("a.txt", lines(20));
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    let window = |view: &str| {
        let at = view.find("## editor/main").unwrap();
        let end = view.find("## notebook/main").unwrap();
        view[at..end].to_owned()
    };
    let before = window(&world.pipemux(&["view"]).text());
    world.run("notebook.add('n', 'text')").ok().lacks("this is line");
    assert_eq!(window(&world.pipemux(&["view"]).text()), before);
}

#[test]
fn prototypes_are_shown_once_whatever_was_looked_at_between() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok().has("search(query)");
    world.pipemux(&["view"]).ok().lacks("search(query)");
    world.pipemux(&["view", "--lod", "gist"]).ok().lacks("search(query)");
    world.pipemux(&["view"]).ok().lacks("search(query)");
    world.run("notebook.add('a', 'b')").ok().lacks("search(query)");
    let bob = world.command(&["view"]).reader("bob").output();
    bob.ok().has("search(query)");
}

#[test]
fn one_look_at_more_or_less_does_not_make_the_next_answer_long() {
    let world = World::new();
    world.write("a.txt", lines(500));
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let looks: [&[&str]; 3] = [&["--lod", "gist"], &["--lod", "full"], &["--budget", "100"]];
    for (number, look) in looks.iter().enumerate() {
        world.pipemux(&[&["view"], *look].concat()).ok();
        let edit = world.run(&format!("editor.replace_lines({0}, {0}, 'edited')", number + 5));
        edit.ok().has("edited").lacks("line 20 of");
    }
}
