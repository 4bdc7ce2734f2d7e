//! What the tour works on: a text of the project that the caller stands in, or the tour's own.

use std::fs;
use std::path::{Path, PathBuf};

/// Most directory entries that are looked at; a tour has no time to search a disk.
const ENTRIES_MAX: usize = 4000;
/// Most files that are read.
const FILES_MAX: usize = 200;
/// Deepest directory below the project's root.
const DEPTH_MAX: usize = 5;
/// Largest file that is read, in bytes.
const SIZE_MAX: u64 = 64 * 1024;
/// How long the text may be, in lines: it should scroll, and not tire.
const LINES: std::ops::RangeInclusive<usize> = 60..=600;
/// How often the word stands in the text: enough to choose from.
const MATCHES: usize = 3;

/// A text, and a word in it that a newcomer might want to rename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Material {
    /// The file's name.
    pub name: String,
    /// What is in it.
    pub text: String,
    /// Stands in it exactly three times, on three lines.
    pub word: String,
    /// What it could be called instead.
    pub renamed: String,
    /// Where the text was found; none: the tour made it.
    pub origin: Option<PathBuf>,
}

impl Material {
    /// The first suitable text below the project's root.
    pub fn find(root: &Path) -> Material {
        let files = sources(root).into_iter().take(FILES_MAX);
        files.into_iter().find_map(|path| Self::from_file(&path)).unwrap_or_else(Self::own)
    }

    /// Lines around the word's second place: first and last, counted from 1.
    pub fn passage(&self) -> (usize, usize) {
        let places = self.text.lines().enumerate().filter(|(_, line)| line.contains(&self.word));
        let second = places.map(|(index, _)| index + 1).nth(1).unwrap_or(1);
        let last = self.text.lines().count().max(1);
        (second.saturating_sub(3).max(1), (second + 6).min(last))
    }

    fn from_file(path: &Path) -> Option<Material> {
        let found = fs::symlink_metadata(path).ok()?;
        if !found.is_file() || found.len() > SIZE_MAX {
            return None;
        }
        let name = path.file_name()?.to_str()?.to_owned();
        let text = fs::read_to_string(path).ok()?;
        if !LINES.contains(&text.lines().count()) {
            return None;
        }
        let word = word_to_rename(&text)?;
        let renamed = renamed(&word);
        Some(Material { name, text, word, renamed, origin: Some(path.to_owned()) })
    }

    fn own() -> Material {
        Material {
            name: "garden.rs".into(),
            text: OWN.into(),
            word: "Flower".into(),
            renamed: "Blossom".into(),
            origin: None,
        }
    }
}

/// Source files in a fixed order: Rust first, then by depth and name.
fn sources(root: &Path) -> Vec<PathBuf> {
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
                    Ok(kind) if kind.is_dir() && !hidden && !is_built(&path) => next.push(path),
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

fn is_built(directory: &Path) -> bool {
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

/// A name worth renaming: a type's if there is one, else the first long word that stands often enough.
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

fn renamed(word: &str) -> String {
    let is_type = word.starts_with(|c: char| c.is_ascii_uppercase());
    format!("{}{word}", if is_type { "New" } else { "new_" })
}

const OWN: &str = "\
//! A small garden, for the tour.

/// What grows.
#[derive(Debug)]
struct Flower {
    name: String,
    height: u32,
}

/// Where it grows.
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

    fn check(material: &Material) {
        assert_eq!(material.text.matches(&material.word).count(), MATCHES);
        assert!(!material.text.contains(&material.renamed));
        let (first, last) = material.passage();
        assert!(1 <= first && first <= last && last <= material.text.lines().count());
        let passage = material.text.lines().skip(first - 1).take(last + 1 - first);
        assert!(passage.collect::<String>().contains(&material.word));
    }

    #[test]
    fn a_source_file_of_the_project_is_taken() {
        let material = Material::find(Path::new(env!("CARGO_MANIFEST_DIR")));
        assert!(material.origin.is_some());
        assert!(material.name.ends_with(".rs"));
        check(&material);
        assert_eq!(
            material,
            Material::find(Path::new(env!("CARGO_MANIFEST_DIR"))),
            "always the same"
        );
    }

    #[test]
    fn without_one_the_tour_has_its_own() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("short.rs"), "fn main() {}\n").unwrap();
        fs::write(dir.path().join("binary.rs"), [0xff; 4000]).unwrap();
        let long = "word ".repeat(60).replace(' ', "\n");
        fs::create_dir_all(dir.path().join("target/debug")).unwrap();
        fs::write(dir.path().join("target/debug/built.rs"), format!("{long}Taken\nTaken\nTaken\n"))
            .unwrap();
        let material = Material::find(dir.path());
        assert_eq!(material.origin, None);
        check(&material);
        assert_eq!(Material::find(Path::new("/nowhere/at/all")), material);
    }
}
