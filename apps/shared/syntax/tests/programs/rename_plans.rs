//! Plans the renaming of random symbols of a project and prints each plan as a line of JSON, for
//! comparison with what a compiler or a language server says of the same symbol.
//!
//! `rename_plans <directory> <number of symbols> <seed>`; all positions are of bytes.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pipemux_syntax::{
    Files, FoundSymbol, Language, Project, Source, SymbolKind, Unit, plan_rename,
};
use serde_json::{Value, json};

/// Directories that hold nothing of a project's own.
const LEFT_OUT: [&str; 5] = [".git", "node_modules", "target", "dist", "__pycache__"];

struct OnDisk {
    root: PathBuf,
    known: BTreeMap<PathBuf, Option<Rc<Source>>>,
}

impl Files for OnDisk {
    fn source(&mut self, path: &Path) -> Option<Rc<Source>> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let parsed = Language::of_path(path)
            .zip(self.text(path))
            .and_then(|(language, text)| Source::parse(language, text).ok().map(Rc::new));
        self.known.insert(path.to_owned(), parsed.clone());
        parsed
    }

    fn text(&mut self, path: &Path) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }
}

fn list(root: &Path, below: &Path, all: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let name = entry.file_name();
        let left_out = LEFT_OUT.iter().any(|one| name == *one);
        if entry.file_type()?.is_dir() && !left_out {
            list(root, &path, all)?;
        } else if entry.file_type()?.is_file() {
            all.push(path);
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, number, seed] = arguments.as_slice() else {
        return Err("usage: rename_plans <directory> <number of symbols> <seed>".into());
    };
    let (number, mut random): (usize, u64) = (number.parse()?, seed.parse::<u64>()?.max(1));
    let mut disk = OnDisk { root: PathBuf::from(root), known: BTreeMap::new() };
    let mut paths = Vec::new();
    list(Path::new(root), Path::new(""), &mut paths)?;
    paths.sort();
    let sources: Vec<PathBuf> =
        paths.iter().filter(|path| Language::of_path(path).is_some()).cloned().collect();
    let mut symbols: Vec<(PathBuf, FoundSymbol)> = Vec::new();
    for path in &sources {
        let Some(source) = disk.source(path) else { continue };
        let named = source.named_symbols().into_iter();
        let plain = named.filter(|one| {
            !matches!(one.symbol.kind, SymbolKind::Heading | SymbolKind::Impl)
                && source.language().is_name(&one.symbol.name)
        });
        symbols.extend(plain.map(|one| (path.clone(), one)));
    }
    for _ in 0..number.min(symbols.len()) {
        // Xorshift: the same symbols for the same seed.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let index = usize::try_from(random % symbols.len() as u64)?;
        let (path, found) = symbols.swap_remove(index);
        let plan = plan(&mut disk, &sources, &paths, &path, &found);
        writeln!(std::io::stdout(), "{plan}")?;
    }
    Ok(())
}

fn plan(
    disk: &mut OnDisk,
    sources: &[PathBuf],
    paths: &[PathBuf],
    path: &Path,
    found: &FoundSymbol,
) -> Value {
    let name = &found.symbol.name;
    let mut parsed = Vec::new();
    for path in paths {
        if !disk.text(path).is_some_and(|text| text.contains(name.as_str())) {
            continue;
        }
        let source = match Language::of_path(path) {
            Some(_) => disk.source(path),
            None => disk.text(path).and_then(|text| Source::plain(text).ok().map(Rc::new)),
        };
        parsed.extend(source.map(|source| (path.clone(), source)));
    }
    let units: Vec<Unit<'_>> =
        parsed.iter().map(|(path, source)| Unit { path, source: source.as_ref() }).collect();
    let target = units.iter().position(|one| one.path == path).unwrap_or_default();
    let mut reader = OnDisk { root: disk.root.clone(), known: std::mem::take(&mut disk.known) };
    let started = std::time::Instant::now();
    let planned = {
        let project = Project::new(sources.to_vec(), &mut reader);
        plan_rename(&project, &units, (target, found))
    };
    let microseconds = started.elapsed().as_micros() as u64;
    disk.known = reader.known;
    let mut value = json!({
        "path": path,
        "name": name,
        "kind": found.symbol.kind.word(),
        "qualified": found.qualified,
        "at": found.symbol.name_range.start,
        "microseconds": microseconds,
    });
    match planned {
        Err(reason) => value["refused"] = reason.into(),
        Ok(plan) => {
            let places = |all: Vec<(usize, usize)>| -> Value {
                all.into_iter().map(|(unit, at)| json!([units[unit].path, at])).collect()
            };
            let of = |all: &[pipemux_syntax::Occurrence]| {
                places(all.iter().map(|one| (one.unit, one.range.start)).collect())
            };
            let told = |all: &[pipemux_syntax::Mention]| {
                places(all.iter().map(|one| (one.unit, one.at)).collect())
            };
            // How each place is written, with a NUL for the new name.
            let forms = |all: &[pipemux_syntax::Occurrence]| -> Value {
                all.iter().map(|one| one.replacement(name, "\u{0}")).collect()
            };
            value["forms"] = forms(&plan.proven);
            value["possible_forms"] = forms(&plan.possible);
            value["proven"] = of(&plan.proven);
            value["possible"] = of(&plan.possible);
            value["others"] = told(&plan.others);
            let mentions = [&plan.in_comments, &plan.in_strings, &plan.in_unparsed, &plan.in_texts];
            value["left"] = told(&mentions.into_iter().flatten().copied().collect::<Vec<_>>());
            value["doubt"] = plan.doubt.into();
        }
    }
    value
}
