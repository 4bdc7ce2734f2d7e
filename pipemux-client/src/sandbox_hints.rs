//! What to do where a sandbox around the client forbids Unix sockets, as those of harnesses do for
//! shell commands.
//!
//! Harnesses start the servers of the Model Context Protocol outside of the sandbox, so that
//! `pipemux mcp` reaches the daemon where `pipemux` in a shell can't.

/// Returns the hints: the setting of the harness that started this process, as far as the
/// environment tells which it is, and the way without a setting.
pub(crate) fn hints(get: impl Fn(&str) -> Option<String>) -> [String; 2] {
    let is_set = |name: &str| get(name).is_some_and(|value| !value.is_empty());
    let (setting, harness) = if is_set("CODEX_SANDBOX_NETWORK_DISABLED") || is_set("CODEX_SANDBOX")
    {
        (
            "allow them: in ~/.codex/config.toml, below [sandbox_workspace_write], network_access = true",
            "codex",
        )
    } else if is_set("CLAUDECODE") {
        (
            "allow them: in .claude/settings.local.json, {\"sandbox\": {\"network\": {\"allowAllUnixSockets\": true}}}",
            "claude-code",
        )
    } else {
        ("allow them in its settings, or run pipemux outside of it", "<harness>")
    };
    let bridge = format!(
        "or use PipeMux's tools on standard streams, which harnesses start outside of it: pipemux setup {harness}"
    );
    [setting.to_owned(), bridge]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints_with(name: &str) -> [String; 2] {
        hints(|asked| (asked == name).then(|| "1".to_owned()))
    }

    #[test]
    fn each_harness_is_told_its_own_setting_and_the_bridge() {
        let [setting, bridge] = hints_with("CODEX_SANDBOX_NETWORK_DISABLED");
        assert!(setting.contains("network_access = true"), "{setting}");
        assert!(bridge.ends_with("pipemux setup codex"), "{bridge}");
        let [setting, bridge] = hints_with("CLAUDECODE");
        assert!(setting.contains("allowAllUnixSockets"), "{setting}");
        assert!(bridge.ends_with("pipemux setup claude-code"), "{bridge}");
        let [setting, _] = hints_with("OTHER");
        assert!(setting.contains("in its settings"), "{setting}");
    }
}
