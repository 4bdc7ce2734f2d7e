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
    // Nothing was started for it.
    assert!(env.processes().is_empty());
}
