//! Bytes that are no text pass from app to app by reference, and come back the same.

use pipemux_tests::{Output, TestEnv};

/// A PNG of 3,000 bytes whose header says 640×480. No text is in it, and every byte value.
fn png() -> Vec<u8> {
    let mut bytes =
        b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0".to_vec();
    bytes.extend((0..3_000 - bytes.len()).map(|at| (at % 256) as u8));
    bytes
}

/// Returns the ref to the object with this label as the answer shows it.
fn reference(output: &Output, label: &str) -> String {
    let text = output.text();
    let (_, behind) = text.split_once(&format!("[{label}](")).expect("the object is shown");
    behind.split_once(')').expect("a ref").0.to_owned()
}

#[test]
fn image_goes_from_editor_to_notebook_and_back_with_the_same_bytes() {
    let env = TestEnv::new();
    env.write("pic.png", png());
    env.pipemux(&["open", "notebook"]).ok();
    let opened = env.pipemux(&["open", "editor", "pic.png"]);
    opened.ok().has("pic.png is binary, 3,000 bytes: pipemux read obj:editor/main:file:pic.png");
    opened.has(" PNG 640×480, 3,000 bytes");
    let image = reference(&opened, "pic.png");
    let read = env.pipemux(&["read", "obj:editor/main:file:pic.png"]);
    assert_eq!(read.ok().stdout, png(), "read gives the bytes");

    let added = env.run(&format!("notebook.add('diagram', text={image})"));
    added.ok().has("\"diagram\", 3000 bytes");
    let view = env.pipemux(&["view", "notebook"]);
    view.ok().has(" PNG 640×480, 3,000 bytes");
    let note = reference(&view, "diagram");
    assert_eq!(env.pipemux(&["read", &note]).ok().stdout, png());

    // It outlives both processes: the notebook has it in its store.
    env.kill_session("notebook/main");
    env.kill_session("editor/main");
    let made = env.run(&format!("editor.create('copy.png', text={note})"));
    made.ok().has("copy.png is binary, 3,000 bytes");
    assert_eq!(std::fs::read(env.path("copy.png")).expect("a file"), png());
    // What can't be undone replaces nothing.
    env.run(&format!("editor.create('copy.png', text={note})")).exits(9).has("copy.png exists");

    env.run(&format!("notebook.remove({note})")).ok();
    env.pipemux(&["undo"]).ok();
    let view = env.pipemux(&["view", "notebook"]);
    assert_eq!(env.pipemux(&["read", &reference(&view, "diagram")]).ok().stdout, png());
}

#[test]
fn binary_file_that_changes_on_disk_is_another_one() {
    let env = TestEnv::new();
    env.write("pic.png", png());
    let opened = env.pipemux(&["open", "editor", "pic.png"]);
    let image = reference(&opened, "pic.png");
    let waiting = env.command(&["view", "--wait", "40"]).start();
    env.write("pic.png", b"GIF89a\x10\0\x20\0\0\0\0;");
    waiting.finish().ok().has(" GIF 16×32, 14 bytes").lacks("unchanged");
    let again = reference(&env.pipemux(&["view"]), "pic.png");
    assert_eq!(again, image, "it is the same file");
    env.run(&format!("editor.close({image})")).ok();
    env.pipemux(&["view"]).ok().lacks("pic.png");
}
