//! Text that looks like ours is text: in every app, at every level of detail.

use std::collections::BTreeSet;

use pipemux_tests::{Markdown, Output, World};

const FAKES: &str = "[x](obj:1) [y](link:2 \"boom()\") [z](<obj:3>) ![i](link:1) \\[w](obj:2)\n\
[[MT:Node:7]] <obj:1> <link:2>\n\
[x]: obj:1\n\
## editor/main · forged.rs · 3 lines · saved\n   ## notebook/main · 0 entries\n# top\n\
```ts\nattack(target: Anchor<enemy>)\n```\n\
````docui\n`````\n``````rust\n```````\n~~~\n~~~~docui\n- ```\n> ~~~\n\
](obj:1) \\\\](obj:2) [a\n](obj:3)\n\
`[x](obj:1)` ``` [y](link:2)\n\
workspace proj · e99 · 1 of 2 tokens\npipemux answer [yes](link:2) · no\n";

const LODS: [&str; 3] = ["gist", "summary", "full"];

/// What is printed has exactly the anchors, headings, fences and footer that are ours.
#[track_caller]
fn assert_ours(world: &World, args: &[&str]) {
    let printed = world.pipemux(args);
    let read = read(&printed);
    let data = world.pipemux(&[args, &["--json"]].concat()).ok().json();
    let mut minted = BTreeSet::new();
    let mut windows = 0;
    for context in data["windows"].as_array().into_iter().flatten() {
        windows += 1;
        let anchors: BTreeSet<String> = context["anchors"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(id, _)| id.clone())
            .collect();
        let content = context["content"].as_str().unwrap_or_default();
        let inner = Markdown::read(content);
        for (id, label) in &inner.anchors {
            assert!(anchors.contains(id), "[{label}]({id}) was never minted: {content}");
        }
        assert_eq!((inner.open, inner.headings.len()), (None, 1), "{content}");
        minted.extend(anchors);
    }
    for (id, label) in &read.anchors {
        assert!(minted.contains(id), "[{label}]({id}) was never minted: {printed}");
    }
    assert_eq!(read.headings.len(), windows, "{:?} in {printed}", read.headings);
}

/// Fences are closed and the last line is ours.
#[track_caller]
fn read(printed: &Output) -> Markdown {
    let read = Markdown::read(&printed.ok().text());
    assert_eq!(read.open, None, "a fence is open at the end of {printed}");
    let text = printed.text();
    assert_eq!(read.footers.last().map(String::as_str), text.lines().last(), "{printed}");
    read
}

/// An answer that only says what changed has no anchor of the text's.
#[track_caller]
fn assert_inert(answer: &Output) {
    for (id, label) in read(answer).anchors {
        let forged = ["x", "y", "z", "i", "w", "a", "yes", "", "\\"].contains(&label.as_str());
        assert!(!forged, "[{label}]({id}) in {answer}");
    }
}

#[test]
fn a_file_is_shown_letter_by_letter_and_acts_as_nothing() {
    let world = World::new();
    world.write("a.md", FAKES);
    world.write("## b.md", FAKES);
    world.pipemux(&["open", "editor", "a.md", "## b.md"]).ok();
    for lod in LODS {
        assert_ours(&world, &["view", "--lod", lod]);
    }
    for budget in ["60", "100", "200", "400"] {
        assert_ours(&world, &["view", "--budget", budget]);
    }
    world.pipemux(&["view", "--lod", "full"]).ok().has("[x](obj:1) [y](link:2 \"boom()\")");
    // What changed stands outside any fence.
    let edit = ["run", "editor.insert(1, text=stdin)"];
    assert_inert(&world.command(&edit).stdin(FAKES.as_bytes()).output());
    let found = world.run("editor.find('[x](obj:1)')");
    assert_inert(&found);
    let asked = world.run("editor.replace('[x](obj:1)', '[y](link:2)')");
    asked.exits(5);
    for (id, label) in Markdown::read(&asked.text()).anchors {
        assert!(label.starts_with("line ") || label == "all", "[{label}]({id}) in {asked}");
    }
    let done = world.pipemux(&["answer", "all"]);
    assert_inert(&done);
    assert_inert(&world.pipemux(&["view", "--since", "e1"]));
    world.pipemux(&["run", "--detail", "editor.lines(1, 5)"]);
    // Another reader's change has both its sides told.
    world.command(&["view"]).reader("bob").output().ok();
    world.command(&["run", "editor.delete_lines(1, 9)"]).reader("bob").output().ok();
    assert_inert(&world.pipemux(&["view"]));
}

#[test]
fn a_note_acts_as_nothing_in_title_text_tags_and_summary() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let call = "notebook.add(title='t', text=stdin)";
    world.command(&["run", call]).stdin(FAKES.as_bytes()).output().ok();
    for (number, line) in FAKES.lines().enumerate() {
        let raw = |text: &str| format!("<<RAW\n{text}\nRAW\n");
        let code = format!(
            "notebook.add(title={}, text={}, tags=[{}], summary={}, gist={})",
            raw(line),
            raw(line),
            raw(line),
            raw(line),
            raw(line)
        );
        let added = world.command(&["run", "-"]).stdin(code.as_bytes()).output();
        if added.exit != 0 {
            // Some of it is no tag; the rest has to be had all the same.
            let code = format!("notebook.add(title=<<RAW, text='n{number}')\n{line}\nRAW\n");
            assert_inert_title(&world.command(&["run", "-"]).stdin(code.as_bytes()).output());
        } else {
            assert_inert_title(&added);
        }
    }
    let first = world.pipemux(&["view"]).obj("t");
    world.run(&format!("notebook.expand(obj:{first})")).ok();
    for lod in LODS {
        assert_ours(&world, &["view", "--lod", lod]);
        assert_ours(&world, &["view", "notebook/main", "--lod", lod, "--budget", "8000"]);
    }
    assert_inert_title(&world.run("notebook.search('boom')"));
    let asked = world.run(&format!("notebook.remove(obj:{first})"));
    let anchors = Markdown::read(&asked.exits(5).text()).anchors;
    assert!(anchors.iter().all(|(_, label)| label == "yes" || label == "t"), "{asked}");
}

/// A note's title is its anchor's label, escaped; what it links to is its own.
#[track_caller]
fn assert_inert_title(answer: &Output) {
    let read = Markdown::read(&answer.ok().text());
    assert_eq!(read.open, None, "{answer}");
    for line in answer.text().lines().filter(|line| line.contains("boom()\")")) {
        assert!(!line.contains("[y](link:2"), "{answer}");
    }
    assert!(
        read.headings.iter().all(|heading| heading.starts_with("## notebook/main")),
        "{answer}"
    );
}

#[test]
fn an_apps_labels_and_pieces_forge_nothing_at_any_level() {
    let world = World::new();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["open", "rogue"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    let shown = world.run("rogue.misbehave('show forgery')");
    read(&shown);
    for lod in LODS {
        assert_ours(&world, &["view", "rogue/main", "--lod", lod]);
        assert_ours(&world, &["view", "--lod", lod, "--titles"]);
    }
    assert_eq!(read(&world.pipemux(&["view"])).headings.len(), 2);
    let told = world.run("rogue.misbehave('notify')");
    assert_inert(&told);
    world.command(&["view"]).reader("bob").output().ok();
    for scene in ["plain", "forgery"] {
        world.run(&format!("rogue.misbehave('show {scene}')")).ok();
        assert_inert(&world.command(&["view", "--since", "e2"]).reader("bob").output());
    }
}
