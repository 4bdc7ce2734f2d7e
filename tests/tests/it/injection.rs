//! `pipemux inject`: what a harness puts into a model's prompt.

use pipemux_tests::TestEnv;

#[test]
fn prompts_get_everything_once_then_changes_then_nothing() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.pipemux(&["open", "notebook", "--priority", "1"]).ok();
    let inject = |reader: &str, more: &[&str]| {
        let args: Vec<&str> = ["inject"].iter().chain(more).copied().collect();
        env.as_reader(reader, &args).ok().text()
    };
    let first = inject("model", &[]);
    let at = |part: &str| first.find(part).unwrap_or_else(|| panic!("no {part} in {first}"));
    assert!(at("pipemux --help") < at("## notebook/main") && at("## notebook/main") < at("1\tone"));
    assert_eq!(inject("model", &[]), "");
    // What another reader did is told, and what the model did itself is not.
    env.as_reader("other", &["run", "notebook.add('found', 'text')"]).ok();
    let news = inject("model", &[]);
    assert!(news.contains("[found](obj:") && !news.contains("1\tone"), "{news}");
    env.as_reader("model", &["run", "editor.insert(3, 'three')"]).ok();
    assert_eq!(inject("model", &[]), "");
    let again = inject("model", &["--reset"]);
    assert!(again.contains("[found](obj:") && again.contains("3\tthree"), "{again}");
    let short = inject("model", &["--reset", "--budget", "150"]);
    // There is no room for what the apps can do.
    assert!(
        short.contains("actions: pipemux help editor") && short.contains("[found](obj:"),
        "{short}"
    );
    assert!(pipemux_tokens::estimate(&short) <= 150, "{short}");
}
