//! Files in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pipemux_patch::{Choice, FileSource, Obstacle, Patch, PathScope, Plan, report};

pub type Files = BTreeMap<PathBuf, String>;

pub fn files(list: &[(&str, &str)]) -> Files {
    list.iter().map(|(name, text)| (Path::new("/p").join(name), (*text).to_owned())).collect()
}

pub fn scope() -> PathScope {
    PathScope::new(Path::new("/p"), Path::new("/p"))
}

pub fn plan(patch: &str, files: &Files, choices: &[Choice]) -> Result<Plan, Obstacle> {
    let patch = Patch::parse(patch).unwrap_or_else(|error| panic!("{error}\n{patch}"));
    let source = |path: &Path| match files.get(path) {
        Some(text) => FileSource::Text(text),
        None => FileSource::Missing,
    };
    patch.plan(&scope(), &source, choices)
}

/// What the files are afterwards. The splices must lead to the same text.
pub fn after(plan: &Plan, before: &Files) -> Files {
    let mut files = before.clone();
    for change in &plan.files {
        let base = change.from.as_ref().unwrap_or(&change.path);
        if let (Some(text), Some(old), false) = (&change.text, before.get(base), change.rewritten) {
            let mut spliced = old.clone();
            for splice in change.splices.iter().rev() {
                spliced.replace_range(splice.range.clone(), &splice.text);
            }
            assert_eq!(&spliced, text, "splices");
        }
        match &change.text {
            Some(text) => files.insert(change.path.clone(), text.clone()),
            None => files.remove(&change.path),
        };
    }
    files
}

pub fn name(path: &Path) -> String {
    path.strip_prefix("/p").unwrap_or(path).display().to_string()
}

/// Applies a patch to one file `f`, and tells the text and the summary.
pub fn apply(patch: &str, text: &str) -> (String, String) {
    let before = files(&[("f", text)]);
    match plan(patch, &before, &[]) {
        Ok(plan) => {
            let mut files = after(&plan, &before);
            (files.remove(Path::new("/p/f")).unwrap_or_default(), plan.summary(&name))
        }
        Err(obstacle) => panic!("{}", tell(&obstacle)),
    }
}

/// What is said of a patch that isn't applied.
pub fn refused(patch: &str, text: &str) -> String {
    if let Err(error) = Patch::parse(patch) {
        return error.to_string();
    }
    match plan(patch, &files(&[("f", text)]), &[]) {
        Ok(plan) => panic!("applied: {}", plan.summary(&name)),
        Err(obstacle) => tell(&obstacle),
    }
}

pub fn tell(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Refused(problems) => report::problems(problems, &name),
        Obstacle::Ask(questions) => questions
            .iter()
            .map(|question| {
                let places = question.candidates.iter().map(|one| match &one.inside {
                    Some((line, text)) => format!("{}: {} (in {line}: {text})", one.line, one.text),
                    None => format!("{}: {}", one.line, one.text),
                });
                format!(
                    "{} {}\n{}",
                    name(&question.path),
                    question.at,
                    places.collect::<Vec<_>>().join("\n")
                )
            })
            .collect::<Vec<_>>()
            .join("\n"),
    }
}
