//! Imports after an item moved to another file.

use std::path::Path;

use pipemux_syntax::{
    Arrangement, Block, Edit, MovedItem, Place, compose, mend_imports, plan_delete, plan_insert,
};

use crate::support::*;

pub type Files = Vec<(String, String)>;

pub fn files(all: &[(&str, &str)]) -> Files {
    all.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn parse(path: &str, text: &str) -> Source {
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
    let inserted = plan_insert(&there, &Place::After(0..there.text().len()), &block);
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
    for ((path, text), after) in files.iter_mut().zip(after) {
        assert!(parse(path, &after).error_count() <= parse(path, text).error_count(), "{after}");
        *text = after;
    }
    Ok(left)
}

/// Moves an item, and returns the files that changed, and what is left.
fn after(all: &[(&str, &str)], from: &str, name: &str, to: &str) -> String {
    let mut files = files(all);
    let left = moved(&mut files, from, name, to).unwrap();
    let mut told = String::new();
    for ((path, text), (_, before)) in files.iter().zip(all) {
        if text != before {
            told += &format!("=== {path}\n{text}");
        }
    }
    left.iter().for_each(|one| told += &format!("left: {one}\n"));
    told
}

const TEXT: &str = "import fs from 'node:fs';\nimport { pad, trim } from './pad.js';\n\nexport function slug(text) {\n  return trim(text) + isoDay(0);\n}\n\n/** A day. */\nexport function isoDay(date) {\n  return pad(slug(date));\n}\n";

#[test]
fn everything_is_imported_from_the_new_file() {
    let all = [
        ("src/text.js", TEXT),
        ("src/pad.js", "export const pad = (x) => x;\nexport const trim = pad;\n"),
        ("src/lib/dates.js", "// Dates.\n"),
        ("src/a.js", "import { isoDay } from './text.js';\n\nisoDay();\n"),
        ("src/b.js", "import { slug, isoDay as day } from \"./text\"\nday('isoDay') // isoDay\n"),
        (
            "src/index.js",
            "export * from './text.js';\nexport { isoDay as today } from './text.js';\n",
        ),
        (
            "test/c.js",
            "import {\n  slug, // first\n  isoDay, // second\n} from '../src/text.js';\nimport { x } from '../src/lib/dates.js';\n",
        ),
        (
            "test/d.js",
            "import * as t from '../src/text.js';\nimport '../src/text.js';\nt.isoDay();\n",
        ),
        (
            "test/e.cjs",
            "const { isoDay } = require('../src/text.js');\nimport('../src/text.js').then((t) => t.isoDay());\n",
        ),
    ];
    insta::assert_snapshot!(after(&all, "src/text.js", "isoDay", "src/lib/dates.js"));
}
