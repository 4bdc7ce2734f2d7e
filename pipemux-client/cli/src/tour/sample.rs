//! Chooses the file that the tour works on: a copy of one of the user's project, or a built-in one.

use std::fs;
use std::path::{Path, PathBuf};

/// Most directory entries that are examined, so that the tour starts at once in a large tree.
const ENTRIES_MAX: usize = 4000;
/// Most files that are read.
const FILES_MAX: usize = 200;
/// Deepest directory below the project's root that is searched.
const DEPTH_MAX: usize = 5;
/// Largest file that is read, in bytes.
const SIZE_MAX: u64 = 64 * 1024;
/// Allowed length of the text, in lines: more than a screen, but not tiring.
const LINE_COUNTS: std::ops::RangeInclusive<usize> = 60..=600;
/// The number of occurrences of the word in the text, enough to offer a choice.
const MATCHES: usize = 3;

/// A text with a word that the tour renames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleFile {
    /// The file's name.
    pub name: String,
    pub text: String,
    /// A word that occurs exactly three times, on three lines.
    pub word: String,
    /// The new name for the word.
    pub new_word: String,
    /// The file that the text was read from; `None` for the built-in file.
    pub origin: Option<PathBuf>,
}

impl SampleFile {
    /// Returns the first suitable text below the project's root, else the built-in file.
    pub fn find(root: &Path) -> SampleFile {
        let files = source_files(root).into_iter().take(FILES_MAX);
        files.into_iter().find_map(|path| Self::from_file(&path)).unwrap_or_else(Self::built_in)
    }

    /// Returns the first and last line, counted from 1, of a passage around the word's second
    /// occurrence.
    pub fn excerpt(&self) -> (usize, usize) {
        let occurrences =
            self.text.lines().enumerate().filter(|(_, line)| line.contains(&self.word));
        let second = occurrences.map(|(index, _)| index + 1).nth(1).unwrap_or(1);
        let last = self.text.lines().count().max(1);
        (second.saturating_sub(3).max(1), (second + 6).min(last))
    }

    fn from_file(path: &Path) -> Option<SampleFile> {
        let found = fs::symlink_metadata(path).ok()?;
        if !found.is_file() || found.len() > SIZE_MAX {
            return None;
        }
        let name = path.file_name()?.to_str()?.to_owned();
        let text = fs::read_to_string(path).ok()?;
        if !LINE_COUNTS.contains(&text.lines().count()) {
            return None;
        }
        let word = word_to_rename(&text)?;
        let new_word = new_name(&word);
        Some(SampleFile { name, text, word, new_word, origin: Some(path.to_owned()) })
    }

    fn built_in() -> SampleFile {
        SampleFile {
            name: "garden.rs".into(),
            text: BUILT_IN.into(),
            word: "Flower".into(),
            new_word: "Blossom".into(),
            origin: None,
        }
    }
}

/// Lists the source files in a fixed order: Rust first, then by depth and name.
fn source_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut level = vec![root.to_owned()];
    let mut left = ENTRIES_MAX;
    for depth in 0..=DEPTH_MAX {
        let mut next = Vec::new();
        for directory in level {
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            for entry in entries.flatten().take(left) {
                left = left.saturating_sub(1);
                let path = entry.path();
                let name = entry.file_name();
                let hidden = name.to_string_lossy().starts_with('.');
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !hidden && !is_build_output(&path) => {
                        next.push(path)
                    }
                    Ok(kind) if kind.is_file() && !hidden => {
                        found.extend(rank(&path).map(|rank| (rank, depth, path)));
                    }
                    _ => {}
                }
            }
        }
        next.sort();
        level = next;
    }
    found.sort();
    found.into_iter().map(|(_, _, path)| path).collect()
}

fn is_build_output(directory: &Path) -> bool {
    let name = directory.file_name().and_then(|name| name.to_str());
    matches!(name, Some("target" | "node_modules" | "vendor" | "build" | "dist"))
}

fn rank(path: &Path) -> Option<u8> {
    match path.extension()?.to_str()? {
        "rs" => Some(0),
        "py" | "ts" | "js" | "go" | "java" | "c" | "cpp" | "rb" => Some(1),
        "md" | "txt" => Some(2),
        _ => None,
    }
}

/// Chooses the word to rename: the name of a type if there is one, else the first long word that
/// occurs often enough.
fn word_to_rename(text: &str) -> Option<String> {
    let words = || {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| word.len() >= 5 && word.starts_with(|c: char| c.is_ascii_alphabetic()))
    };
    let fits = |word: &&str| {
        text.matches(word).count() == MATCHES
            && text.lines().filter(|line| line.contains(word)).count() == MATCHES
    };
    let is_type = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.contains(|c: char| c.is_ascii_lowercase())
    };
    words().filter(is_type).find(fits).or_else(|| words().find(fits)).map(str::to_owned)
}

fn new_name(word: &str) -> String {
    let is_type = word.starts_with(|c: char| c.is_ascii_uppercase());
    format!("{}{word}", if is_type { "New" } else { "new_" })
}

const BUILT_IN: &str = "\
//! A small garden, for the tour.

/// A plant of the garden.
#[derive(Debug)]
struct Flower {
    name: String,
    height: u32,
}

/// A bed of the garden.
#[derive(Debug, Default)]
struct Bed {
    plants: Vec<Plant>,
}

type Plant = Flower;

impl Bed {
    fn plant(&mut self, name: &str) {
        self.plants.push(Flower { name: name.to_owned(), height: 1 });
    }

    fn water(&mut self) {
        for plant in &mut self.plants {
            plant.height += 2;
        }
    }

    fn tallest(&self) -> Option<&Plant> {
        self.plants.iter().max_by_key(|plant| plant.height)
    }
}

fn main() {
    let mut bed = Bed::default();
    bed.plant(\"poppy\");
    bed.plant(\"lily\");
    bed.water();
    println!(\"{:?}\", bed.tallest().map(|plant| &plant.name));
}
";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sample: &SampleFile) {
        assert_eq!(sample.text.matches(&sample.word).count(), MATCHES);
        assert!(!sample.text.contains(&sample.new_word));
        let (first, last) = sample.excerpt();
        assert!(1 <= first && first <= last && last <= sample.text.lines().count());
        let passage = sample.text.lines().skip(first - 1).take(last + 1 - first);
        assert!(passage.collect::<String>().contains(&sample.word));
    }

    #[test]
    fn source_file_of_the_project_is_chosen() {
        let sample = SampleFile::find(Path::new(env!("CARGO_MANIFEST_DIR")));
        assert!(sample.origin.is_some());
        assert!(sample.name.ends_with(".rs"));
        check(&sample);
        assert_eq!(
            sample,
            SampleFile::find(Path::new(env!("CARGO_MANIFEST_DIR"))),
            "the choice is deterministic"
        );
    }

    #[test]
    fn built_in_file_is_used_when_no_file_is_suitable() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("short.rs"), "fn main() {}\n").unwrap();
        fs::write(dir.path().join("binary.rs"), [0xff; 4000]).unwrap();
        let long = "word ".repeat(60).replace(' ', "\n");
        fs::create_dir_all(dir.path().join("target/debug")).unwrap();
        fs::write(dir.path().join("target/debug/built.rs"), format!("{long}Taken\nTaken\nTaken\n"))
            .unwrap();
        let sample = SampleFile::find(dir.path());
        assert_eq!(sample.origin, None);
        check(&sample);
        assert_eq!(SampleFile::find(Path::new("/nowhere/at/all")), sample);
    }
}
