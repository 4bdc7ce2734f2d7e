//! `pipemux app new`: what it writes works as it is, in each language.
//!
//! The apps in Python and TypeScript are tested and used as written, where their interpreters are.
//! The one for Rust isn't built here, since that takes minutes: its source is that of an example of
//! `docui`, which the workspace builds and tests, and that program is used in its place.

use std::fs;
use std::path::Path;

use pipemux_tests::programs::program;
use pipemux_tests::{TestEnv, wait_for};

use crate::kits::{kits, typescript_compiler};

/// Writes an app with a hyphen in its name, which is none in the languages' own names.
fn create(language: &str, source: &str, test: &str) -> TestEnv {
    let env = TestEnv::new();
    let told = env.pipemux(&["app", "new", "my-list", "--lang", language]);
    told.ok().has(&format!("to change in my-list/{source}; it works as it is. Next:\n"));
    told.has(&format!(
        "(cd my-list && {test})\n\
         pipemux app check my-list/my-list.toml\n\
         pipemux app add my-list/my-list.toml\n\
         pipemux open my-list\n\
         pipemux run 'my-list.add(\"buy milk\")'\n"
    ));
    env
}

/// Does what was told next.
fn is_used(env: &TestEnv) {
    env.pipemux(&["app", "check", "my-list/my-list.toml"])
        .ok()
        .has("my-list: nothing to mend (")
        .lacks("not checked");
    env.pipemux(&["app", "add", "my-list/my-list.toml"]).ok().has("pipemux open my-list");
    env.pipemux(&["open", "my-list"]).ok().has("0 to do").has("Adds an item.");
    let added = env.run("my-list.add(\"buy milk\")");
    added.ok().has("1 to do").has("[buy milk](obj:item:");
    env.pipemux(&["click", &format!("link:{}", added.link("done"))]).ok().has("0 to do");
    env.run("my-list.add('sleep')").ok();
    env.kill_session("my-list/main");
    env.pipemux(&["view"]).ok().has("[sleep](obj:item:");
}

/// The next use has what its author changed.
fn change_is_seen(env: &TestEnv, file: &str) {
    let text = env.read(file);
    assert!(text.contains(" to do"), "{text}");
    env.write(file, text.replace(" to do", " left"));
    wait_for("the new program", || env.pipemux(&["view"]).text().contains("1 left"));
}

#[test]
fn new_app_in_python_works_as_it_is() {
    if !kits().iter().any(|kit| kit.name == "Python") {
        return;
    }
    let env = create("python", "my_list.py", "python3 -m unittest");
    env.shell("cd my-list && python3 -m unittest 2>&1").output().ok().has("Ran 1 test");
    is_used(&env);
    change_is_seen(&env, "my-list/my_list.py");
}

#[test]
fn new_app_in_typescript_works_as_it_is() {
    let has_node = kits().iter().any(|kit| kit.name == "TypeScript");
    let Some(compiler) = typescript_compiler().filter(|_| has_node) else { return };
    let env = create("typescript", "src/main.ts", "npm install && npm test");
    // As `npm test` does, with the compiler that is here and without the types of Node.
    let (compiler, options) = (compiler.display(), "--noCheck --types null");
    let script = format!(
        "cd my-list && node {compiler} {options} && chmod +x dist/main.js && node --test dist/*.test.js"
    );
    env.shell(&script).output().ok().has("# pass 1");
    is_used(&env);
    change_is_seen(&env, "my-list/dist/model.js");
}

#[test]
fn new_app_in_rust_is_the_example_that_the_workspace_builds() {
    let env = create("rust", "src/main.rs", "cargo test && cargo build --release");
    let docui = concat!(env!("CARGO_MANIFEST_DIR"), "/../apps/docui");
    let docui = Path::new(docui).canonicalize().expect("docui");
    let example = fs::read_to_string(docui.join("examples/todo.rs")).expect("the example");
    assert_eq!(env.read("my-list/src/main.rs"), example);
    let manifest: toml::Table = env.read("my-list/Cargo.toml").parse().expect("TOML");
    assert_eq!(manifest["package"]["name"].as_str(), Some("my-list"));
    assert_eq!(manifest["dependencies"]["docui"]["path"].as_str(), docui.to_str());
    // What it names besides is what docui has, so the example is built with no more.
    let own = fs::read_to_string(docui.join("Cargo.toml")).expect("the manifest of docui");
    let own: toml::Table = own.parse().expect("TOML");
    for kind in ["dependencies", "dev-dependencies"] {
        for name in manifest[kind].as_table().expect("a table").keys().filter(|of| *of != "docui") {
            let has = |kind: &str| own[kind].as_table().is_some_and(|all| all.contains_key(name));
            assert!(has("dependencies") || has("dev-dependencies"), "{name}");
        }
    }
    let built = env.path("my-list/target/release");
    fs::create_dir_all(&built).expect("a directory");
    fs::copy(program("examples/todo"), built.join("my-list")).expect("a program");
    is_used(&env);
}

#[test]
fn nothing_is_overwritten() {
    let env = TestEnv::new();
    fs::create_dir(env.path("todo")).expect("a directory");
    for language in ["rust", "python", "typescript"] {
        let refused = env.pipemux(&["app", "new", "todo", "--lang", language]);
        refused.exits(2).has("todo is there already: choose another name or directory");
    }
    assert_eq!(fs::read_dir(env.path("todo")).expect("it is there").count(), 0);
    env.pipemux(&["app", "new", "Bad"]).exits(2).has("is not a provider name");
    let elsewhere = env.pipemux(&["app", "new", "other", "--lang", "rust", "--docui", "nowhere"]);
    elsewhere.exits(2).has("nowhere is not the directory of docui").has("--docui PATH");
    assert!(!env.path("other").exists());
}
