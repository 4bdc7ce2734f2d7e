//! How new files of a project start and which line endings they use, according to its
//! `.editorconfig` and `.gitattributes`.
//!
//! Of [`.editorconfig`](https://spec.editorconfig.org) `end_of_line` and `charset` are read, of
//! [`.gitattributes`](https://git-scm.com/docs/gitattributes) `text` and `eol`: nothing of them
//! starts a program or changes a rule. Their patterns are matched in time that grows with their
//! length and no faster.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use crate::limits::{RULES_BYTES, RULES_FOLDERS};

/// The format rules for a new file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NewFileRules {
    /// True if the lines end in CRLF, false for LF; `None` if no rule applies.
    pub crlf: Option<bool>,
    /// True if the file begins with a byte order mark.
    pub bom: bool,
}

impl NewFileRules {
    /// Reads the rules for a file, from its folder up to the project's, or to that of the
    /// repository. What can't be read says nothing.
    pub fn read(path: &Path, root: &Path) -> Self {
        let folders = folders(path, root);
        let mut rules = Self::default();
        let mut attributes = Attributes::default();
        for folder in &folders {
            let Ok(name) = path.strip_prefix(folder) else { continue };
            if let Some(text) = text_of(&folder.join(".gitattributes")) {
                attributes.apply(&text, name);
            }
        }
        if let Some(repository) = folders.iter().find(|folder| folder.join(".git").exists())
            && let Ok(name) = path.strip_prefix(repository)
            && let Some(text) = text_of(&repository.join(".git/info/attributes"))
        {
            attributes.apply(&text, name);
        }
        rules.crlf = attributes.crlf();
        let configs: Vec<(&PathBuf, String)> = folders
            .iter()
            .filter_map(|folder| Some((folder, text_of(&folder.join(".editorconfig"))?)))
            .collect();
        let first = configs.iter().rposition(|(_, text)| is_topmost(text)).unwrap_or(0);
        for (folder, text) in &configs[first..] {
            if let Ok(name) = path.strip_prefix(folder) {
                rules.apply_editorconfig(text, name);
            }
        }
        rules
    }

    /// Gives a text of which all lines end in LF the line endings of the rules.
    pub fn with_line_endings(self, text: String) -> String {
        match self.crlf == Some(true) && !text.contains('\r') {
            true => text.replace('\n', "\r\n"),
            false => text,
        }
    }

    fn apply_editorconfig(&mut self, text: &str, name: &Path) {
        let mut applies = false;
        for line in text.lines().map(str::trim) {
            if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                applies = matcher(header).is_some_and(|glob| glob.is_match(name));
            } else if let Some((key, value)) = line.split_once(['=', ':']).filter(|_| applies) {
                let value = value.trim().to_lowercase();
                match key.trim().to_lowercase().as_str() {
                    "end_of_line" => {
                        self.crlf = match value.as_str() {
                            "crlf" => Some(true),
                            "lf" => Some(false),
                            _ => None,
                        }
                    }
                    "charset" => self.bom = value == "utf-8-bom",
                    _ => {}
                }
            }
        }
    }
}

/// The Git attributes of a file.
#[derive(Debug, Default)]
struct Attributes {
    /// `text`, `-text` or `text=auto`.
    text: Option<bool>,
    eol_crlf: Option<bool>,
}

impl Attributes {
    fn apply(&mut self, text: &str, name: &Path) {
        for line in text.lines() {
            let line = line.trim();
            let mut words = line.split_whitespace();
            let Some(pattern) = words.next() else { continue };
            if pattern.starts_with(['#', '!'])
                || pattern.starts_with("[attr]")
                || pattern.ends_with('/')
            {
                continue;
            }
            if !matcher(pattern).is_some_and(|glob| glob.is_match(name)) {
                continue;
            }
            for word in words {
                match word {
                    "text" | "text=auto" => self.text = Some(true),
                    "-text" | "binary" => self.text = Some(false),
                    "!text" => self.text = None,
                    "eol=crlf" => self.eol_crlf = Some(true),
                    "eol=lf" => self.eol_crlf = Some(false),
                    "!eol" | "-eol" => self.eol_crlf = None,
                    _ => {}
                }
            }
        }
    }

    fn crlf(&self) -> Option<bool> {
        // A file with `eol` is a text, unless it is said that it is none.
        self.eol_crlf.filter(|_| self.text != Some(false))
    }
}

/// Makes the matcher of a pattern: one without a slash is about names in all folders below.
fn matcher(pattern: &str) -> Option<GlobMatcher> {
    let pattern = match pattern.split_once('/') {
        None => format!("**/{pattern}"),
        Some(("", rest)) => rest.to_owned(),
        Some(_) => pattern.to_owned(),
    };
    let mut builder = GlobBuilder::new(&pattern);
    builder.literal_separator(true).backslash_escape(true).empty_alternates(true);
    builder.build().ok().map(|glob| glob.compile_matcher())
}

/// True for a file above which no other one counts.
fn is_topmost(text: &str) -> bool {
    let before = text.lines().map(str::trim).take_while(|line| !line.starts_with('['));
    let mut pairs = before.filter_map(|line| line.split_once('='));
    pairs.any(|(key, value)| {
        key.trim().eq_ignore_ascii_case("root") && value.trim().eq_ignore_ascii_case("true")
    })
}

/// The folders whose rules hold for a file, the outermost first: up to the repository's, else up to
/// the project's.
fn folders(path: &Path, root: &Path) -> Vec<PathBuf> {
    let above: Vec<&Path> = path.ancestors().skip(1).take(RULES_FOLDERS).collect();
    let repository = above.iter().position(|folder| folder.join(".git").exists());
    let last = repository.or_else(|| above.iter().position(|folder| *folder == root));
    let folders = above.into_iter().take(last.map_or(0, |last| last + 1));
    let mut folders: Vec<PathBuf> = folders.map(Path::to_owned).collect();
    folders.reverse();
    folders
}

fn text_of(path: &Path) -> Option<String> {
    let (file, _): (File, _) = docui::regular_file::open(path).ok()?;
    let mut text = String::new();
    file.take(RULES_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use std::fs;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn repository() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let done = Command::new("git").args(["init", "-q"]).current_dir(&directory).status();
        assert!(done.unwrap().success());
        directory
    }

    #[test]
    fn rules_of_both_files_hold_for_new_files() {
        let directory = repository();
        let root = directory.path();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        let rules = |name: &str| NewFileRules::read(&root.join(name), root);
        assert_eq!(rules("a.txt"), NewFileRules::default());
        fs::write(root.join(".gitattributes"), "* text=auto eol=crlf\n*.sh eol=lf\n*.png -text\n")
            .unwrap();
        assert_eq!(rules("src/a.cs").crlf, Some(true));
        assert_eq!((rules("x.sh").crlf, rules("x.png").crlf), (Some(false), None));
        let config = "root = true\n[*]\nend_of_line = lf\n[*.{cs,vb}]\nend_of_line=CRLF\ncharset = utf-8-bom\n";
        fs::write(root.join(".editorconfig"), config).unwrap();
        fs::write(root.join("src/.editorconfig"), "[deep/**]\nend_of_line = lf\n").unwrap();
        assert_eq!(rules("a.txt").crlf, Some(false));
        assert_eq!(rules("src/a.cs"), NewFileRules { crlf: Some(true), bom: true });
        assert_eq!(rules("src/deep/a.cs"), NewFileRules { crlf: Some(false), bom: true });
        assert_eq!(rules("a.cs").with_line_endings("a\nb\n".into()), "a\r\nb\r\n");
        // Files of any content, and patterns that take others long.
        let stars = format!("[{}]\nend_of_line = crlf\n", "*a".repeat(500));
        fs::write(root.join("src/.editorconfig"), stars).unwrap();
        fs::write(root.join(".gitattributes"), [0, 255, b'\n']).unwrap();
        assert_eq!(rules(&format!("src/{}", "a".repeat(200))).crlf, Some(false));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        /// The attributes equal those that `git check-attr` prints.
        #[test]
        fn attributes_are_those_of_git(
            lines in prop::collection::vec(
                (
                    prop::sample::select(vec![
                        "*", "*.txt", "a.txt", "/a.txt", "d/*.txt", "d/**", "**/b.md", "?.txt", "[ab].md", "[!a].*", "d/", "*.md", "**/e/*",
                    ]),
                    prop::collection::vec(
                        prop::sample::select(vec!["text", "-text", "!text", "text=auto", "eol=crlf", "eol=lf", "!eol", "binary", "diff"]),
                        1..3,
                    ),
                    any::<bool>(),
                ),
                0..6,
            )
        ) {
            let directory = repository();
            let root = directory.path();
            fs::create_dir_all(root.join("d/e")).unwrap();
            let of = |inner: bool| lines.iter().filter(|line| line.2 == inner).map(|(pattern, words, _)| {
                format!("{pattern} {}\n", words.join(" "))
            }).collect::<String>();
            fs::write(root.join(".gitattributes"), of(false)).unwrap();
            fs::write(root.join("d/.gitattributes"), of(true)).unwrap();
            for name in ["a.txt", "b.md", "d/a.txt", "d/b.md", "d/e/b.md", "d/e/x.txt"] {
                let told = Command::new("git")
                    .args(["check-attr", "text", "eol", "--", name])
                    .current_dir(root)
                    .output()
                    .unwrap();
                let told = String::from_utf8(told.stdout).unwrap();
                let value = |attribute: &str| {
                    let prefix = format!("{name}: {attribute}: ");
                    told.lines().find_map(|line| line.strip_prefix(&prefix).map(str::to_owned)).unwrap()
                };
                let expected = match (value("text").as_str(), value("eol").as_str()) {
                    ("unset", _) => None,
                    (_, "crlf") => Some(true),
                    (_, "lf") => Some(false),
                    _ => None,
                };
                prop_assert_eq!(NewFileRules::read(&root.join(name), root).crlf, expected, "{} {:?}", name, &lines);
            }
        }
    }
}
