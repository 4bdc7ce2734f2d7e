//! Extractions from the sources of this workspace: whatever lines are selected, the result is
//! refused or parses.

use std::path::{Path, PathBuf};

use crate::support::*;

/// How many selections are tried of each file.
const SELECTIONS: usize = 16;

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.ends_with("target") && !path.ends_with(".git") {
            sources(&path, found);
        } else if Language::of_path(&path).is_some() {
            found.push(path);
        }
    }
}

/// A small generator of numbers, so that each run tries the same.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

#[test]
fn any_lines_of_the_workspace_are_refused_or_parse() {
    let mut paths = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editor"), &mut paths);
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docui"), &mut paths);
    let (mut numbers, mut planned) = (Numbers(7), 0);
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let source = Source::parse(Language::of_path(&path).unwrap(), text.as_str()).unwrap();
        let before = source.error_count();
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        for _ in 0..SELECTIONS {
            let first = numbers.below(starts.len());
            let last = (first + 1 + numbers.below(8)).min(starts.len() - 1);
            let mut range = starts[first]..starts[last].max(starts[first]);
            // Some selections end anywhere, also within a character.
            if numbers.below(4) == 0 {
                range.end = (range.end + numbers.below(40)).min(text.len());
            }
            let request = Request { range, name: "extracted_here", ..Request::default() };
            let request = answer_types(&source, request);
            let Ok(extraction) = plan_extraction(&source, &request) else { continue };
            planned += 1;
            let after = extraction.apply(&text);
            let parsed = Source::parse(source.language(), after.as_str()).unwrap();
            assert!(parsed.error_count() <= before, "{}\n{after}", path.display());
            // Nothing is lost: every line that was moved is still there.
            assert!(after.len() > text.len(), "{}", path.display());
        }
    }
    assert!(planned > 100, "{planned} extractions");
}

/// Gives each variable whose type is asked for one.
fn answer_types<'a>(source: &Source, mut request: Request<'a>) -> Request<'a> {
    if let Err(Refusal::NeedsTypes(untyped)) = plan_extraction(source, &request) {
        request.types = untyped.into_iter().map(|one| (one.name, "T".to_owned())).collect();
    }
    request
}

#[test]
fn deep_and_long_texts_are_refused() {
    let deep = format!("x = {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(Source::parse(Language::Python, deep).err(), Some(ParseError::TooDeep));
    let long = "x = 1\n".repeat(limits::SOURCE_MAX / 6 + 1);
    assert_eq!(Source::parse(Language::Python, long).err(), Some(ParseError::TooLong));
    for language in Language::ALL {
        for text in ["", "\u{feff}", "}}}}", "\u{0}\u{0}", "«深い»", "fn f() { let", "def f(:\n  x"]
        {
            let source = Source::parse(language, text).unwrap();
            source.outline();
            for end in 0..=text.len() + 2 {
                let request = Request { range: 0..end, name: "g", ..Request::default() };
                let _ = plan_extraction(&source, &request);
            }
        }
    }
}
