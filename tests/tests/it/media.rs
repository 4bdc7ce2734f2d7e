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

/// Bytes that are no text, of the form of a PNG, and too many for one message.
fn long_png() -> Vec<u8> {
    let mut bytes = png();
    let mut state: u32 = 7;
    bytes.resize_with(5_000_000, || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    bytes
}

/// The files with values that wait for sessions.
fn waiting_values(env: &TestEnv) -> Vec<std::path::PathBuf> {
    let mut folders = vec![env.paths().state_dir.join("sessions")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.parent().is_some_and(|parent| parent.ends_with("values")) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn value_of_five_megabytes_goes_to_another_app_and_back_as_a_file() {
    let env = TestEnv::new();
    env.write("film.png", long_png());
    env.pipemux(&["open", "notebook"]).ok();
    let opened = env.pipemux(&["open", "editor", "film.png"]);
    opened.ok().has("film.png is binary, 5,000,000 bytes").has(" PNG 640×480, 5.0 MB");
    let film = reference(&opened, "film.png");
    let added = env.run(&format!("notebook.add('film', text={film})"));
    added.ok().has("\"film\", 5000000 bytes");
    assert_eq!(
        waiting_values(&env),
        [] as [std::path::PathBuf; 0],
        "it is removed when it was taken"
    );
    let note = reference(&env.pipemux(&["view", "notebook"]), "film");
    // The notebook has it in its store.
    env.kill_session("notebook/main");
    env.run(&format!("editor.create('copy.png', text={note})")).ok();
    assert!(std::fs::read(env.path("copy.png")).expect("a file") == long_png(), "the same bytes");
    assert_eq!(waiting_values(&env), [] as [std::path::PathBuf; 0]);
}
