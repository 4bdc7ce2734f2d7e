//! Answers contain only what changed, and long windows are shown in pages.

use pipemux_tests::TestEnv;

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("this is line {number} of the file\n")).collect()
}

#[test]
fn edit_of_a_long_file_is_answered_with_the_change_only() {
    let env = TestEnv::new();
    env.write("big.txt", lines(5_000));
    env.pipemux(&["open", "editor", "big.txt"]).ok();
    let edit = env.run("editor.replace('line 20 of', 'line XX of')");
    edit.ok().has("line XX of").lacks("line 19 of").lacks("line 21 of");
    assert!(edit.lines() <= 10, "{edit}");
    let far = env.run("editor.replace_lines(4000, 4001, 'far away')");
    assert!(far.ok().lines() <= 16, "{far}");
}

#[test]
fn huge_file_is_shown_in_one_page() {
    let env = TestEnv::new();
    env.write("huge.txt", lines(200_000));
    let opened = env.pipemux(&["open", "editor", "huge.txt"]);
    assert!(opened.ok().has("200000 lines").lines() < 80, "{opened}");
    let moved = env.run("editor.goto(150000)");
    assert!(moved.ok().has("line 150000 of").lines() < 80, "{moved}");
    assert!(env.pipemux(&["view", "--budget", "200"]).ok().stdout.len() < 2_500);
}

#[test]
fn unchanged_window_keeps_its_bytes() {
    let env = TestEnv::with_editor(&lines(20));
    env.pipemux(&["open", "notebook"]).ok();
    let window = |view: &str| {
        let at = view.find("## editor/main").unwrap();
        let end = view.find("## notebook/main").unwrap();
        view[at..end].to_owned()
    };
    let before = window(&env.pipemux(&["view"]).text());
    env.run("notebook.add('n', 'text')").ok().lacks("this is line");
    assert_eq!(window(&env.pipemux(&["view"]).text()), before);
}

#[test]
fn prototypes_are_shown_once_to_each_reader() {
    let env = TestEnv::new();
    env.pipemux(&["open", "notebook"]).ok().has("search(words, ");
    env.pipemux(&["view"]).ok().lacks("search(words, ");
    env.pipemux(&["view", "--lod", "gist"]).ok().lacks("search(words, ");
    env.pipemux(&["view"]).ok().lacks("search(words, ");
    env.run("notebook.add('a', 'b')").ok().lacks("search(words, ");
    let bob = env.as_reader("bob", &["view"]);
    bob.ok().has("search(words, ");
}

#[test]
fn view_at_another_level_does_not_lengthen_the_next_answer() {
    let env = TestEnv::with_editor(&lines(500));
    let looks: [&[&str]; 3] = [&["--lod", "gist"], &["--lod", "full"], &["--budget", "100"]];
    for (number, look) in looks.iter().enumerate() {
        env.pipemux(&[&["view"], *look].concat()).ok();
        let edit = env.run(&format!("editor.replace_lines({0}, {0}, 'edited')", number + 5));
        edit.ok().has("edited").lacks("line 20 of");
    }
}
