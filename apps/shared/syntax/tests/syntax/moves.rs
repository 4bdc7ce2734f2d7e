//! An item that is moved from one file to another, with the imports.

use std::path::Path;

use pipemux_syntax::{
    Arrangement, Block, Edit, InsertionPoint, MovedItem, compose, mend_imports, plan_delete,
    plan_insert,
};

use crate::support::*;

pub type Files = Vec<(String, String)>;

pub fn files(all: &[(&str, &str)]) -> Files {
    all.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

pub fn parse(path: &str, text: &str) -> Source {
    Source::parse(Language::of_path(Path::new(path)).unwrap(), text).unwrap()
}

fn apply(edits: &[Edit], text: &str) -> String {
    Arrangement { edits: edits.to_vec(), ..Arrangement::default() }.apply(text)
}

/// Moves an item to the end of another file. Returns what is left to do.
pub fn moved(files: &mut Files, from: &str, name: &str, to: &str) -> Result<Vec<String>, String> {
    let of = |files: &Files, path: &str| files.iter().position(|one| one.0 == path).unwrap();
    let (home, new) = (of(files, from), of(files, to));
    let (here, there) = (parse(from, &files[home].1), parse(to, &files[new].1));
    let outline = here.outline();
    let bytes = outline.iter().find(|one| one.name == name).unwrap().whole.clone();
    let block = Block {
        text: here.text()[bytes.clone()].trim_end().to_owned() + here.line_ending(),
        exact: false,
    };
    let inserted = plan_insert(&there, &InsertionPoint::After(0..there.text().len()), &block);
    let removed = plan_delete(&here, &bytes, false);
    let sources: Vec<Source> = files
        .iter()
        .enumerate()
        .map(|(index, (path, text))| match index {
            index if index == home => parse(path, &removed.apply(text)),
            index if index == new => parse(path, &inserted.apply(text)),
            _ => parse(path, text),
        })
        .collect();
    let units: Vec<Unit<'_>> = files
        .iter()
        .zip(&sources)
        .map(|((path, _), source)| Unit { path: Path::new(path), source })
        .collect();
    let item = MovedItem { from: home, to: new, placed: inserted.placed.clone() };
    let exists = |path: &Path| files.iter().any(|one| Path::new(&one.0) == path);
    let mended = mend_imports(&units, &item, &exists)?.ok_or("nothing is known")?;
    let mut after: Vec<String> = sources.iter().map(|source| source.text().to_owned()).collect();
    for (unit, edits) in &mended.edits {
        after[*unit] = apply(edits, &after[*unit]);
    }
    for (unit, arranged) in [(home, &removed), (new, &inserted)] {
        let edits = mended.edits.iter().find(|(own, _)| *own == unit);
        let edits = edits.map_or(&[][..], |(_, edits)| edits);
        let all = compose(files[unit].1.len(), &arranged.edits, edits);
        assert!(all.is_sorted_by(|one, other| one.range.end <= other.range.start), "{all:?}");
        assert_eq!(apply(&all, &files[unit].1), after[unit]);
    }
    let left = mended.left.iter();
    let left = left.map(|one| {
        let line = after[one.unit].lines().nth(one.line).unwrap_or_default();
        format!("{}:{} ({}) {line}", files[one.unit].0, one.line + 1, one.why)
    });
    let left = left.collect();
    let broken = sources.iter().any(|source| source.error_count() > 0);
    for ((path, text), after) in files.iter_mut().zip(after) {
        assert!(broken || parse(path, &after).error_count() == 0, "{path}\n{after}");
        *text = after;
    }
    Ok(left)
}
