//! What a `Cargo.toml` leaves out of testing, because building it would take time to find nothing.
//! Here is what notices a test that is written there later.

use std::fs;
use std::path::{Path, PathBuf};

/// A target that isn't tested as it would be by default.
struct LeftOut {
    manifest: PathBuf,
    /// `lib`, or the name of a program.
    target: String,
    setting: String,
}

impl LeftOut {
    /// Returns the first line of the target's sources that would have been tested.
    fn lost(&self) -> Option<String> {
        let src = self.manifest.with_file_name("src");
        let files = match self.target.as_str() {
            "lib" => sources(&src),
            // A program is its main file with its modules and, below `bin`, what stands beside
            // that.
            program => match src.join("bin").join(program) {
                own if own.is_dir() => sources(&own),
                own if own.with_extension("rs").exists() => vec![own.with_extension("rs")],
                _ => with_modules(&src),
            },
        };
        let is_program =
            |file: &Path| file.ends_with("main.rs") || file.starts_with(src.join("bin"));
        let files = files.into_iter().filter(|file| self.target != "lib" || !is_program(file));
        files.into_iter().find_map(|file| {
            let text = fs::read_to_string(&file).ok()?;
            let lost = match self.setting.as_str() {
                "doctest" => example(&text)?,
                _ => text.lines().find(|line| line.trim() == "#[test]")?,
            };
            Some(format!("{}: {lost}", file.display()))
        })
    }
}

/// Returns the first fence of the documentation whose content rustdoc would compile.
fn example(text: &str) -> Option<&str> {
    let fences = text.lines().filter(|line| {
        let line = line.trim();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        doc.is_some_and(|doc| doc.trim().starts_with("```"))
    });
    // Every other fence closes one.
    let mut opening = fences.step_by(2);
    opening.find(|line| {
        let language = line.rsplit("```").next().unwrap_or_default();
        ["", "rust", "no_run", "should_panic", "compile_fail"].contains(&language)
    })
}

/// Returns the main file of a program that may stand beside a library, and the files of its
/// modules.
fn with_modules(src: &Path) -> Vec<PathBuf> {
    let main = src.join("main.rs");
    let text = fs::read_to_string(&main).unwrap_or_default();
    let modules = text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let files = modules.flat_map(|module| {
        let mut files = sources(&src.join(module));
        files.push(src.join(module).with_extension("rs"));
        files
    });
    files.chain([main.clone()]).collect()
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let below = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => sources(&path),
        path => vec![path],
    });
    below.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

fn manifests(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let below = entries.flat_map(|entry| match entry.path() {
        path if path.ends_with("target") || path.ends_with("fuzz") => Vec::new(),
        path if path.is_dir() => manifests(&path),
        path => vec![path],
    });
    below.filter(|path| path.ends_with("Cargo.toml")).collect()
}

fn left_out(manifest: &Path) -> Vec<LeftOut> {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let (mut found, mut target) = (Vec::new(), String::new());
    for line in text.lines() {
        match line {
            "[lib]" => target = "lib".to_owned(),
            line if line.starts_with('[') => target.clear(),
            line => {
                if let Some(name) = line.strip_prefix("name = ") {
                    target = name.trim_matches('"').to_owned();
                }
                if let Some(setting) = line.strip_suffix("test = false") {
                    let (manifest, target) = (manifest.to_owned(), target.clone());
                    found.push(LeftOut { manifest, target, setting: format!("{setting}test") });
                }
            }
        }
    }
    found
}

#[test]
fn nothing_that_is_left_out_of_testing_has_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let all: Vec<LeftOut> = manifests(&root).iter().flat_map(|path| left_out(path)).collect();
    assert!(all.len() > 30, "only {} targets are left out", all.len());
    for one in all {
        assert_eq!(one.lost(), None, "{}: {} = false", one.manifest.display(), one.setting);
    }
}
