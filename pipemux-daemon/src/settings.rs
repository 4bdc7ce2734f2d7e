//! The user's settings: `config.toml` beside the directory of manifests. It need not be there.

use std::path::Path;

use pipemux_confine::Policy;
use pipemux_core::limits::HISTORY_MAX;
use pipemux_core::manifest::Size;
use serde::Deserialize;

use crate::limits::{AUDIT_DAYS, AUDIT_DAYS_MAX, AUDIT_MAX, AUDIT_MIN, HISTORY_MIN, MANIFEST_MAX};
use crate::manifests::read_text;

/// What a user may set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The audit log.
    pub audit: AuditSettings,
    /// What `history` tells.
    pub history: HistorySettings,
    /// What commands may do. The terminal reads it by itself, before each command.
    pub terminal: Policy,
}

/// How much of the history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistorySettings {
    /// Rounds that each workspace keeps.
    pub rounds: usize,
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self { rounds: HISTORY_MAX }
    }
}

/// How much of the audit log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettings {
    /// Days for which it is kept; 0 turns it off.
    pub keep_days: u64,
    /// Bytes of all its files together: `"64M"`.
    pub size: Size,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { keep_days: AUDIT_DAYS, size: Size(AUDIT_MAX) }
    }
}

/// Reads the settings. What is wrong with them is returned, too; then the defaults hold.
pub fn load(path: Option<&Path>) -> (Settings, Option<String>) {
    let Some(path) = path.filter(|path| path.exists()) else { return Default::default() };
    let read = read_text(path, MANIFEST_MAX).and_then(|text| parse(&text));
    match read {
        Ok(settings) => (settings, None),
        Err(why) => {
            let problem = format!("{}: {why}; the defaults hold", path.display());
            (Settings::default(), Some(problem))
        }
    }
}

fn parse(text: &str) -> Result<Settings, String> {
    let settings: Settings =
        toml::from_str(text).map_err(|error| error.message().replace('\n', "; "))?;
    let HistorySettings { rounds } = settings.history;
    if !(HISTORY_MIN..=HISTORY_MAX).contains(&rounds) {
        let expected = format!("expected {HISTORY_MIN} to {HISTORY_MAX}");
        return Err(format!("history.rounds is {rounds}: {expected}"));
    }
    let AuditSettings { keep_days, size } = settings.audit;
    if keep_days > AUDIT_DAYS_MAX {
        return Err(format!("audit.keep_days is {keep_days}: expected at most {AUDIT_DAYS_MAX}"));
    }
    if size.0 < AUDIT_MIN {
        return Err(format!("audit.size is {}: expected at least {AUDIT_MIN} bytes", size.0));
    }
    settings.terminal.check()?;
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_mistakes_are_named() {
        assert_eq!(parse("").unwrap(), Settings::default());
        let settings = parse("[audit]\nkeep_days = 7\nsize = \"1M\"\n").unwrap();
        assert_eq!(settings.audit, AuditSettings { keep_days: 7, size: Size(1 << 20) });
        assert_eq!(settings.history.rounds, HISTORY_MAX);
        assert_eq!(parse("[history]\nrounds = 100\n").unwrap().history.rounds, 100);
        for (text, why) in [
            ("[history]\nrounds = 0\n", "history.rounds is 0: expected 10 to 10000"),
            ("[audit]\nkeep_day = 7\n", "unknown field `keep_day`"),
            ("[audit]\nsize = 1000\n", "audit.size is 1000: expected at least 65536 bytes"),
            ("[audit]\nkeep_days = 99999\n", "audit.keep_days is 99999: expected at most 36500"),
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
        let (settings, problem) = load(Some(Path::new("/dev/null")));
        assert_eq!(settings, Settings::default());
        assert!(problem.is_some());
    }
}
