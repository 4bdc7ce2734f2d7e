//! A whole message of a model on standard input: only its `docui` blocks run.

use pipemux_tests::{Output, World};

fn world() -> World {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world
}

fn listen(world: &World, message: &str) -> Output {
    world.command(&["listen"]).stdin(message.as_bytes()).output()
}

#[test]
fn what_is_mentioned_never_runs() {
    let world = world();
    let mentions = "I could `editor.insert(1, 'a')`, or\n\n    editor.insert(1, 'b')\n\n```\n\
                    editor.insert(1, 'c')\n```\n```ts\neditor.insert(1, 'd')\n```\n```docuix\n\
                    editor.insert(1, 'e')\n```\n````md\n```docui\neditor.insert(1, 'f')\n```\n````\n\
                    editor.insert(1, 'g')\n<!-- docui editor.insert(1, 'h') -->\n\
                    [click](link:1 \"editor.insert(1, 'i')\")\ndocui\neditor.insert(1, 'j')\n";
    listen(&world, mentions).ok().has("0 docui blocks: nothing ran");
    listen(&world, "").ok().has("nothing ran");
    world.pipemux(&["view"]).ok().has("1 line").has("saved");
    let both = format!("{mentions}Now:\n```docui\neditor.insert(2, 'ran')\n```\n{mentions}");
    listen(&world, &both).ok().has("1 done · insert").lacks("2 done");
    world.run("editor.save()").ok();
    assert_eq!(world.read("a.txt"), "one\nran\n");
}

#[test]
fn several_blocks_are_one_run_and_the_first_failure_ends_it() {
    let world = world();
    let message = "First\n```docui\neditor.insert(2, 'two')\neditor.insert(2, 'three')\n```\nthen\n\
                   ~~~docui\neditor.replace('nowhere', 'x')\n~~~\nand\n```docui\neditor.save()\n```\n";
    let ran = listen(&world, message);
    ran.exits(1).has("1 done").has("2 done").has("3 failed · replace").has("not run: editor.save");
    assert_eq!(world.read("a.txt"), "one\n");
    // A mistake in the last block: nothing of the first one runs.
    let message = "```docui\neditor.save()\n```\n```docui\neditor.sav()\n```\n";
    listen(&world, message).exits(2).has("nothing ran").has("did you mean save");
    assert_eq!(world.read("a.txt"), "one\n");
}

#[test]
fn a_raw_block_holds_fences_and_a_longer_fence_shorter_ones() {
    let world = world();
    let message = "Here:\n```docui\neditor.insert(2, text=<<END)\n```rust\nfn f() {}\n```\n~~~\n```docui\n\
                   editor.insert(1, 'never')\nEND\neditor.save()\n```\nbye\n";
    listen(&world, message).ok().has("2 done · save");
    assert_eq!(
        world.read("a.txt"),
        "one\n```rust\nfn f() {}\n```\n~~~\n```docui\neditor.insert(1, 'never')\n"
    );
    let message = "`````docui\neditor.insert(1, text=<<END)\n````\nEND\neditor.save()\n`````\n";
    listen(&world, message).ok();
    assert!(world.read("a.txt").starts_with("````\none\n"), "{}", world.read("a.txt"));
}

#[test]
fn blocks_that_do_not_end_or_ask_for_standard_input_run_nothing() {
    let world = world();
    for (message, said) in [
        ("a\n```docui\neditor.insert(1, 'x')\n", "docui"),
        ("```docui\neditor.insert(1, text=<<END)\nx\n```\n", "END"),
        ("```docui\neditor.insert(1, 'y')\n```\n```docui\neditor.insert(1, text=<<E)\n", "E"),
        ("```docui\neditor.insert(1, text=stdin)\n```\n", "<<END"),
    ] {
        listen(&world, message).exits(2).has(said);
    }
    let latin = world.command(&["listen"]).stdin(b"caf\xe9 ```docui").output();
    latin.exits(2).has("UTF-8");
    world.pipemux(&["view"]).ok().has("1 line").has("saved");
}

#[test]
fn line_endings_of_another_system_and_much_prose_are_no_hindrance() {
    let world = world();
    let message = "Dos\r\n```docui\r\neditor.insert(2, text=<<END)\r\nzwei\r\ndrei\r\nEND\r\neditor.save()\r\n```\r\n";
    listen(&world, message).ok().has("2 done · save");
    let written = world.read("a.txt");
    assert_eq!(written.replace('\r', ""), "one\nzwei\ndrei\n");
    let prose =
        "Thinking of `editor.save()` and ```inline``` things, 深い森 and so on.\n".repeat(140_000);
    let message = format!("{prose}```docui\neditor.insert(1, 'zero'); editor.save()\n```\n{prose}");
    assert!(message.len() > 10_000_000 && message.len() < 24_000_000);
    let message = &message[prose.len() - 66 * 60_000..];
    listen(&world, message).ok().has("2 done · save");
    assert!(world.read("a.txt").starts_with("zero\n"));
}

#[test]
fn a_block_may_click_and_its_question_is_answered_by_another() {
    let world = world();
    world.run("editor.insert(1, 'zero')").ok();
    let undo = world.pipemux(&["view"]).link("undo");
    listen(&world, &format!("Undo:\n```docui\nlink:{undo}\n```\n")).ok().has("undo");
    world.run("editor.insert(1, 'one')").ok();
    let asked = listen(&world, "```docui\neditor.replace('one', 'eins')\neditor.save()\n```\n");
    asked.exits(5).has("2 matches").has("then editor.save");
    world.pipemux(&["answer", "all"]).ok();
    assert_eq!(world.read("a.txt"), "eins\neins\n");
}
