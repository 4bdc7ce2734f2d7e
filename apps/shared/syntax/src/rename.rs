//! Renaming a symbol: which occurrences of its name are it.
//!
//! | module | holds |
//! |---|---|
//! | `meaning` | what a name can mean, and how far that is proof |
//! | `project` | the files around those that mention the name |
//! | `facts` | what a file declares and imports, computed once |
//! | `imports`, `classes` | the imports and the types of a file |
//! | `resolve` | what a name means where it stands |
//! | `modules` | how each language finds the module that an import names |
//! | `members`, `types` | which type declares a member, and which types a written type means |
//! | `expressions` | what an expression is |
//! | `rust_items` | the items of Rust |
//! | `override_group` | which declarations must have the same name |
//! | `judge` | the evidence on an occurrence, by its role |
//! | `occurrences` | where the name stands, and in which role |
//! | `locals` | variables, in languages whose names aren't resolved |
//!
//! **Invariant: what is proven is right.** An occurrence is proven only by resolving it, with its
//! language's own rules of lookup, to a declaration that is renamed. In Go, Java, C, C++ and C#
//! nothing is resolved: there all but the declaration itself is possible.
//!
//! **Invariant: nothing is left without a word.** Each place in which the name stands as a word is
//! proven, possible, something else, or in a list of those that were left: in comments, in strings,
//! in text that isn't parsed.

mod classes;
mod expressions;
mod facts;
mod imports;
mod judge;
pub(crate) mod locals;
mod meaning;
mod members;
mod modules;
pub(crate) mod occurrences;
mod override_group;
mod project;
mod resolve;
mod rust_items;
mod types;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::language::Language;
use crate::lookup::FoundSymbol;
use crate::outline::SymbolKind;
use crate::regions::regions;
use crate::source::Source;

use judge::Judge;
use meaning::Evidence;

use occurrences::words;
pub use project::{Files, Project};

/// A file in which a name is renamed.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'s> {
    /// The file's path, relative to the project.
    pub path: &'s Path,
    pub source: &'s Source,
}

/// The form of an occurrence rewritten with the new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The new name replaces the old one.
    Name,
    /// A field's shorthand: `{ old }` becomes `{ new: old }`.
    Key,
    /// A value's shorthand: `{ old }` becomes `{ old: new }`.
    Value,
}

/// An occurrence of the name in code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The index of the file.
    pub unit: usize,
    /// The byte range of the name.
    pub range: Range<usize>,
    /// The form in which the occurrence is rewritten.
    pub form: Form,
}

impl Occurrence {
    /// Returns the text that replaces the name.
    pub fn replacement(&self, old: &str, new: &str) -> String {
        match self.form {
            Form::Name => new.to_owned(),
            Form::Key => format!("{new}: {old}"),
            Form::Value => format!("{old}: {new}"),
        }
    }
}

/// A mention of the name that isn't renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention {
    /// The index of the file.
    pub unit: usize,
    /// The offset of the first byte.
    pub at: usize,
}

/// The occurrences of a symbol's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renaming {
    /// Occurrences that certainly refer to the symbol.
    pub proven: Vec<Occurrence>,
    /// Occurrences that may refer to the symbol.
    pub possible: Vec<Occurrence>,
    /// Occurrences that refer to something else of the same name, in order.
    pub others: Vec<Mention>,
    /// Mentions in comments, in order.
    pub in_comments: Vec<Mention>,
    /// Mentions in strings, in order.
    pub in_strings: Vec<Mention>,
    /// Mentions in code that the grammar doesn't parse, such as C macro bodies, in order.
    pub in_unparsed: Vec<Mention>,
    /// Mentions in files of other kinds, in order.
    pub in_texts: Vec<Mention>,
    /// The reason why the declaration may have to keep its name, if there is one.
    pub doubt: Option<String>,
}

/// Finds the occurrences of the symbol `target.1` of the unit `target.0`. `units` are the files of
/// the project that mention its name.
///
/// # Errors
/// It says why the symbol can't be renamed.
pub fn plan_rename(
    project: &Project<'_>,
    units: &[Unit<'_>],
    target: (usize, &FoundSymbol),
) -> Result<Renaming, String> {
    let symbol = &target.1.symbol;
    let name = symbol.name.as_str();
    if matches!(symbol.kind, SymbolKind::Heading | SymbolKind::Impl) {
        let what = symbol.kind.word();
        return Err(format!("{what} {name} has no name of its own; use replace(old, new)"));
    }
    let own = units.get(target.0).ok_or("the symbol isn't in these files")?;
    let language = own.source.language();
    let judge = Judge::new(project, units, (target.0, &symbol.name_range), name)?;
    let mut renaming = Renaming { doubt: judge.doubt.clone(), ..Renaming::default() };
    for (unit, one) in units.iter().enumerate() {
        if same_language(one.source.language(), language) {
            scan(&judge, unit, one.source, name, &mut renaming);
        } else {
            let mentions = words(one.source.text(), name).map(|at| Mention { unit, at });
            renaming.in_texts.extend(mentions);
        }
    }
    Ok(renaming)
}

fn same_language(one: Language, other: Language) -> bool {
    let c = |language| matches!(language, Language::C | Language::Cpp);
    one == other || (one.is_ecmascript() && other.is_ecmascript()) || (c(one) && c(other))
}

/// Sorts all places of a file in which the name stands as a word.
fn scan(judge: &Judge<'_, '_>, unit: usize, source: &Source, name: &str, renaming: &mut Renaming) {
    let mut judged = BTreeSet::new();
    let code = occurrences::all(source, name).into_iter().map(|one| {
        let (evidence, form) = judge.evidence(unit, source, &one);
        (one.node.byte_range(), evidence, form)
    });
    let strings = judge.exported_strings(unit, source).into_iter();
    let strings = strings.map(|(range, evidence)| (range, evidence, Form::Name));
    for (range, evidence, form) in code.chain(strings) {
        judged.insert(range.start);
        let occurrence = Occurrence { unit, range, form };
        match evidence {
            Evidence::Proven(_) => renaming.proven.push(occurrence),
            Evidence::Possible => renaming.possible.push(occurrence),
            Evidence::Other => renaming.others.push(Mention { unit, at: occurrence.range.start }),
        }
    }
    let regions = regions(source);
    let within = |ranges: &[Range<usize>], at: usize| {
        let after = ranges.partition_point(|one| one.start <= at);
        after.checked_sub(1).is_some_and(|index| ranges[index].contains(&at))
    };
    for at in words(source.text(), name).filter(|at| !judged.contains(at)) {
        let list = match () {
            () if within(&regions.comments, at) => &mut renaming.in_comments,
            () if within(&regions.strings, at) => &mut renaming.in_strings,
            () => &mut renaming.in_unparsed,
        };
        list.push(Mention { unit, at });
    }
    renaming.proven.sort_by_key(|one| (one.unit, one.range.start));
    renaming.possible.sort_by_key(|one| (one.unit, one.range.start));
}

/// Returns the edits of each file that renaming these occurrences makes, in ascending order.
pub fn rename_edits(
    units: &[Unit<'_>],
    occurrences: &[Occurrence],
    old: &str,
    new: &str,
) -> Vec<(PathBuf, Vec<crate::Edit>)> {
    let mut all = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        let own = occurrences.iter().filter(|one| one.unit == index);
        let mut edits: Vec<_> = own
            .map(|one| crate::Edit { range: one.range.clone(), new: one.replacement(old, new) })
            .collect();
        edits.sort_by_key(|edit| edit.range.start);
        edits.dedup();
        if !edits.is_empty() {
            all.push((unit.path.to_owned(), edits));
        }
    }
    all
}
