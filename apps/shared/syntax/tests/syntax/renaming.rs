//! Which occurrences of a name are a symbol.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pipemux_syntax::{Files, Project};

use crate::support::*;

/// Files whose texts are given.
struct Given<'t>(BTreeMap<&'t str, &'t str>);

impl Files for Given<'_> {
    fn source(&mut self, path: &Path) -> Option<Rc<Source>> {
        let text = self.text(path)?;
        Some(Rc::new(Source::parse(Language::of_path(path)?, text).ok()?))
    }

    fn text(&mut self, path: &Path) -> Option<String> {
        self.0.get(path.to_str()?).map(|text| (*text).to_owned())
    }
}

/// Renames a symbol of the first file. In the result, `«»` are around what is proven and `‹›`
/// around what is possible.
fn rename(files: &[(&str, &str)], symbol: &str) -> String {
    let parsed = files.iter().filter(|(path, _)| Language::of_path(Path::new(path)).is_some());
    let files_parsed: Vec<_> = parsed.copied().collect();
    let sources: Vec<_> = files_parsed
        .iter()
        .map(|(path, text)| {
            let language = Language::of_path(Path::new(path)).unwrap();
            Source::parse(language, *text).unwrap()
        })
        .collect();
    let units: Vec<_> = files_parsed
        .iter()
        .zip(&sources)
        .map(|((path, _), source)| Unit { path: Path::new(path), source })
        .collect();
    let found = Wanted::new(symbol).find(&sources[0], Some(Path::new(files[0].0)));
    let normal = symbol.replace("::", ".");
    let exact = |one: &&FoundSymbol| one.qualified.replace("::", ".") == normal;
    let found = found.iter().find(exact).or(found.first()).unwrap();
    let mut reader = Given(files.iter().copied().collect());
    let paths = files.iter().map(|(path, _)| PathBuf::from(path));
    let project = Project::new(paths, &mut reader);
    let renaming = match plan_rename(&project, &units, (0, found)) {
        Ok(renaming) => renaming,
        Err(reason) => return format!("refused: {reason}\n"),
    };
    let mut all = String::new();
    for (unit, (path, text)) in files_parsed.iter().enumerate() {
        let mut marks = Vec::new();
        for (occurrences, open, close) in
            [(&renaming.proven, '«', '»'), (&renaming.possible, '‹', '›')]
        {
            for one in occurrences.iter().filter(|one| one.unit == unit) {
                assert_eq!(&text[one.range.clone()], found.symbol.name);
                marks.extend([(one.range.start, open), (one.range.end, close)]);
            }
        }
        marks.sort_unstable();
        let (mut marked, mut from) = (String::new(), 0);
        for (at, mark) in marks {
            marked += &text[from..at];
            marked.push(mark);
            from = at;
        }
        all += &format!("--- {path}\n{marked}{}", &text[from..]);
    }
    let (others, comments, strings) =
        (renaming.others.len(), renaming.in_comments.len(), renaming.in_strings.len());
    let unparsed = match renaming.in_unparsed.len() {
        0 => String::new(),
        number => format!(", {number} in unparsed"),
    };
    format!("{all}left: {others} others, {comments} in comments, {strings} in strings{unparsed}\n")
}

#[test]
fn occurrences_are_proven_possible_or_something_else() {
    let mut all = String::new();
    for (title, case) in cases(include_str!("cases/renaming.txt")) {
        let mut files = Vec::new();
        for part in case.split("--- ").filter(|part| !part.is_empty()) {
            let (path, text) = part.split_once('\n').unwrap();
            files.push((path, text));
        }
        all += &format!("=== {title}\n{}", rename(&files, title.split(' ').next().unwrap()));
    }
    insta::assert_snapshot!(all);
}
