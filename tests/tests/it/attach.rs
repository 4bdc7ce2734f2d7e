//! A person at a terminal: `pipemux attach` on a pseudo-terminal, read as a terminal shows it.

// The terminal becomes the controlling one of the shell by `setsid --ctty`, which is of Linux.
#[cfg(target_os = "linux")]
mod stories;
#[cfg(target_os = "linux")]
pub mod terminal;

use pipemux_tests::TestEnv;

#[test]
fn attach_without_a_terminal_says_what_to_do() {
    let env = TestEnv::new();
    let refused = env.pipemux(&["attach", "editor"]);
    refused.exits(2).has("attach needs a terminal: standard input is none");
    refused.has("pipemux open editor").has("pipemux view editor --wait 60");
    let refused = env.pipemux(&["attach", "editor", "my notes.md"]);
    refused.exits(2).has("pipemux open editor 'my notes.md'");
    // Nothing was started for it.
    assert!(env.processes().is_empty());
}

#[test]
fn attach_to_an_app_that_there_is_not_names_those_that_there_are() {
    let env = TestEnv::new();
    env.pipemux(&["open", "monitor"]).ok();
    env.pipemux(&["open", "editor/draft"]).ok();
    let refused = env.pipemux(&["attach", "draft"]);
    refused.exits(3).has("no app draft: did you mean editor/draft?");
    refused.has("open are monitor/main, editor/draft: pipemux sessions").has("there are editor,");
    env.pipemux(&["attach", "monitr"]).exits(3).has("did you mean monitor?");
}
