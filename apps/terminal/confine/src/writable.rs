//! The places that are writable besides the workspace, and the protected ones: the data of
//! `writable.toml`.

use std::path::PathBuf;
use std::sync::LazyLock;

use serde::Deserialize;

/// The lists of writable and protected places.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Writable {
    /// Folders for temporary files.
    pub temporary: Vec<String>,
    /// Devices and terminals.
    pub devices: Vec<String>,
    /// Caches of programs.
    pub cache: Vec<Cache>,
    /// The places that are never granted.
    pub protected: Protected,
}

/// The writable caches of a program.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The programs; a missing place is created only if one of them is installed.
    pub programs: Vec<String>,
    /// Folders that commands may write to, with all that is in them.
    pub places: Vec<String>,
    /// Files that commands may write to: those that stand beside something that they may not.
    #[serde(default)]
    pub files: Vec<String>,
}

/// The places that are never granted.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protected {
    /// Names in the home directory.
    pub home: Vec<String>,
    /// Places that the environment names.
    pub named: Vec<String>,
}

pub static WRITABLE: LazyLock<Writable> =
    LazyLock::new(|| toml::from_str(include_str!("writable.toml")).unwrap_or_default());

/// Returns the path that a text of the lists or of a person means: `~/x` in this home, `$NAME/x`
/// where the environment says. `None` if there is no such home or variable, or if the path isn't
/// absolute.
pub fn expanded(
    text: &str,
    home: Option<&std::path::Path>,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<PathBuf> {
    let (base, rest) = match text.strip_prefix('$') {
        Some(named) => {
            let (name, rest) = named.split_once('/').unwrap_or((named, ""));
            (PathBuf::from(variable(name)?), rest)
        }
        None => match text.strip_prefix('~') {
            Some(rest) => (home?.to_owned(), rest.trim_start_matches('/')),
            None => (PathBuf::from(text), ""),
        },
    };
    let path = if rest.is_empty() { base } else { base.join(rest) };
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn lists_are_complete_and_expand() {
        assert!(WRITABLE.cache.iter().any(|cache| cache.programs == ["cargo"]));
        assert!(WRITABLE.protected.home.iter().any(|name| name == ".ssh"));
        let home = Some(Path::new("/home/ann"));
        let of = |text: &str| expanded(text, home, |name| (name == "A").then(|| "/a".into()));
        assert_eq!(of("~/x"), Some("/home/ann/x".into()));
        assert_eq!(of("~"), Some("/home/ann".into()));
        assert_eq!(of("$A/b"), Some("/a/b".into()));
        assert_eq!(of("$B/b"), None);
        assert_eq!(of("/tmp"), Some("/tmp".into()));
        assert_eq!(expanded("~/x", None, |_| None), None);
        assert_eq!(expanded("$A", home, |_| Some("relative".into())), None);
    }
}
