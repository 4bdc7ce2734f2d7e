//! Parameters that take quoted texts as they are written.

use crate::world::{World, reader};

fn world() -> World {
    let mut world = World::new();
    world.open(reader("a"), "notes");
    world
}

#[test]
fn regular_expression_is_taken_as_it_is_written() {
    let mut world = world();
    let cases = [
        (r"notes.matching('\bfn\s\'')", r"\bfn\s'"),
        (r#"notes.matching(text="\"\d'")"#, r#""\d'"#),
        (r"notes.matching('a\\b')", r"a\b"),
        (r#"notes.matching("\\[")"#, r"\["),
        (r"notes.matching('\\\\')", r"\\"),
        (r"notes.matching('''\b''')", r"\b"),
        ("notes.matching(<<END)\n\\b\nEND", r"\b"),
        (r"notes.find('\bx', regex=true)", r"\bx"),
        (r"notes.find('\bx', true)", r"\bx"),
        (r"notes.find(regex=true, text='\\n')", r"\n"),
        (r"notes.find('a\\b')", r"a\b"),
    ];
    for (code, taken) in cases {
        world.run(reader("a"), code).exits(0).has(&format!(": {taken} · ["));
    }
}

#[test]
fn unknown_escape_is_refused_where_no_regular_expression_stands() {
    let mut world = world();
    for code in [r"notes.find('\bx')", r"notes.find('\bx', regex=false)", r"notes.say('\bx')"] {
        world.run(reader("a"), code).exits(2).has("unknown escape").has(r"write \\b for this text");
    }
    assert!(world.invoked.is_empty());
}

#[test]
fn regular_expression_that_is_asked_for_is_taken_as_it_is_written() {
    let mut world = world();
    world.run(reader("a"), "notes.matching()").exits(5);
    world.answer(reader("a"), r"text='\bfn'").exits(0).has(": \\bfn · [");
    world.run(reader("a"), "notes.find(regex=true)").exits(5);
    world.answer(reader("a"), r"\bfn").exits(0).has(": \\bfn · [");
    world.run(reader("a"), "notes.say()").exits(5);
    world.answer(reader("a"), r"text='\bfn'").exits(2).has("unknown escape");
}
