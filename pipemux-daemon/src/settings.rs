//! The user's settings: `config.toml` beside the directory of manifests. It need not be there.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use pipemux_confine::Policy;
use pipemux_core::limits::HISTORY_MAX;
use pipemux_core::manifest::Size;
use pipemux_core::rules::Rules;
use pipemux_proto::ProviderId;
use serde::Deserialize;

use crate::daemon_log::log;
use crate::limits::{AUDIT_DAYS, AUDIT_DAYS_MAX, AUDIT_MAX, AUDIT_MIN, HISTORY_MIN, MANIFEST_MAX};
use crate::manifests::read_text;

/// The file of the state directory that has the path of the settings which the last daemon read.
const SETTINGS_PATH_FILE: &str = "settings-path";

/// The user's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub audit: AuditSettings,
    /// The settings of the history.
    pub history: HistorySettings,
    /// The rules about readers.
    pub readers: ReaderRules,
    /// The rules about apps.
    pub apps: AppRules,
    /// The rules about files.
    pub files: FileRules,
    /// The policy for commands. The terminal reads it itself, before each command.
    pub terminal: Policy,
}

/// Rules about readers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReaderRules {
    /// Readers whose acts are refused: names in which `*` stands for any text.
    pub read_only: Vec<String>,
}

/// Rules about apps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AppRules {
    /// Apps that nobody opens or calls.
    pub forbidden: Vec<ProviderId>,
}

/// Rules about files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileRules {
    /// Folders and files that no app is given: absolute, or beginning with `~/`.
    pub forbidden: Vec<String>,
}

impl FileRules {
    /// Returns the paths as written and, where links lead elsewhere, as they are.
    fn resolved(&self) -> Vec<String> {
        let mut all = Vec::new();
        for path in self.forbidden.iter().filter_map(|path| absolute(path)) {
            let real = path.canonicalize().ok().filter(|real| *real != path);
            all.extend([Some(path), real].into_iter().flatten());
        }
        all.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }
}

/// Returns a path without `~/`, doubled slashes and `.`; none if it isn't absolute, or has `..` in
/// it.
fn absolute(path: &str) -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let path = match path.strip_prefix('~') {
        Some("") => home()?,
        Some(rest) => home()?.join(rest.strip_prefix('/')?),
        None => PathBuf::from(path),
    };
    let is_plain = !path.components().any(|part| part == Component::ParentDir);
    (path.is_absolute() && is_plain).then(|| path.components().collect())
}

/// The limits of the kept history.
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

/// The limits of the kept audit log.
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

/// What tells that a file is another one, or has other content: when it was written and changed,
/// its length and number.
type Stamp = (i64, i64, i64, i64, u64, u64);

/// The settings file, which a person may change at any time.
#[derive(Debug, Default)]
pub struct SettingsFile {
    path: Option<PathBuf>,
    /// The path that the previous daemon read, if it was another one.
    moved_from: Option<String>,
    /// The stamp of the file that was read last; `None` if there was no file.
    stamp: Option<Stamp>,
    /// True once it was looked at.
    known: bool,
}

impl SettingsFile {
    /// Makes the watch over a file. The state directory remembers which one it is, so that a daemon
    /// whose environment leads to another one says so.
    pub fn new(path: Option<PathBuf>, state_dir: &Path) -> Self {
        let memory = state_dir.join(SETTINGS_PATH_FILE);
        let now = path.as_deref().map_or(String::new(), |path| path.display().to_string());
        let before = fs::read_to_string(&memory).ok().filter(|before| *before != now);
        if (before.is_some() || !memory.exists())
            && let Err(error) = fs::write(&memory, &now)
        {
            log(format_args!("{}: {error}", memory.display()));
        }
        let moved_from = before.filter(|before| !before.is_empty());
        Self { path, moved_from, ..Self::default() }
    }

    /// Returns the rules of the file if it is another one than at the last look. They can't be read
    /// from a file with a mistake: then they say so.
    pub fn changed(&mut self) -> Option<Rules> {
        let path = self.path.as_deref();
        let found = path.and_then(|path| fs::metadata(path).ok());
        let stamp = found.map(|found| {
            (
                found.mtime(),
                found.mtime_nsec(),
                found.ctime(),
                found.ctime_nsec(),
                found.len(),
                found.ino(),
            )
        });
        if std::mem::replace(&mut self.known, true) && stamp == self.stamp {
            return None;
        }
        let length = |stamp: Option<Stamp>| stamp.map_or(0, |stamp| stamp.4);
        let (had, has) = (length(self.stamp), length(stamp));
        self.stamp = stamp;
        let (settings, mut broken) = load(path);
        // Who saves a file may empty it first: for a moment it would forbid nothing.
        if let (Some(path), true) = (path, had > 0 && has == 0 && stamp.is_some()) {
            let why = "is empty, and may be being written; without rules, remove it";
            broken = Some(format!("{} {why}", path.display()));
        }
        Some(Rules {
            read_only: settings.readers.read_only,
            forbidden_apps: settings.apps.forbidden,
            forbidden_files: settings.files.resolved(),
            none_known: false,
            is_there: broken.is_some() || stamp.is_some(),
            broken,
            file: path.map_or(String::new(), |path| path.display().to_string()),
            moved_from: self.moved_from.clone(),
        })
    }
}

/// Reads the settings. What is wrong with them is returned, too; then the defaults hold.
pub fn load(path: Option<&Path>) -> (Settings, Option<String>) {
    // A link to nothing is no file that isn't there: what it should say isn't known.
    let Some(path) = path.filter(|path| path.symlink_metadata().is_ok()) else {
        return Default::default();
    };
    let read = read_text(path, MANIFEST_MAX).and_then(|text| parse(&text));
    match read {
        Ok(settings) => (settings, None),
        Err(why) => {
            let problem = format!("{}: {why}", path.display());
            (Settings::default(), Some(problem))
        }
    }
}

fn parse(text: &str) -> Result<Settings, String> {
    let settings: Settings = toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or("");
        let line = 1 + before.matches('\n').count();
        format!("line {line}: {}", error.message().replace('\n', "; "))
    })?;
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
    let is_plain = |path: &str| absolute(path).is_some() && !path.contains(['*', '?', '[']);
    if let Some(path) = settings.files.forbidden.iter().find(|path| !is_plain(path)) {
        return Err(format!(
            "files.forbidden has {path:?}: expected an absolute path, or one that begins with ~/, without patterns"
        ));
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
