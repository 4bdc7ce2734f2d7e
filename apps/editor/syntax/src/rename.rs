//! Renaming a symbol: which occurrences of its name are it.
//!
//! | module | holds |
//! |---|---|
//! | `occurrences` | where the name stands, and in which role |
//! | `locals` | variables, parameters and type parameters that hide it |
//! | `imports` | what a file imports under the name, and which module a path means |
//! | `family` | which declarations are renamed with the target, and which are its rivals |
//! | `verdicts` | what an occurrence is, by its role |
//! | `free_names` | what an occurrence is that stands alone |
//! | `target_module` | whether a path leads to the module that declares the target |
//! | `receivers` | the type of what stands before a dot |
//!
//! **Invariant: what is proven is right.** An occurrence is proven only where the syntax tree and the scopes leave
//! no other meaning; whatever isn't disproven either is possible.

mod family;
mod free_names;
mod imports;
mod locals;
pub(crate) mod occurrences;
mod receivers;
mod target_module;
mod verdicts;

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::language::Language;
use crate::lookup::{Found, found_in};
use crate::outline::{SymbolKind, base_name};
use crate::regions::regions;
use crate::source::{Source, ancestors};

use occurrences::Name;

pub(crate) use locals::hiding;
pub(crate) use occurrences::Role;

/// A file in which a name is renamed.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'s> {
    /// The file's path, relative to the project.
    pub path: &'s Path,
    /// Its text.
    pub source: &'s Source,
}

/// How an occurrence is written with the new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The new name takes the place of the old one.
    Name,
    /// A field's shorthand: `{ old }` becomes `{ new: old }`.
    Key,
    /// A value's shorthand: `{ old }` becomes `{ old: new }`.
    Value,
}

/// Where the name stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The index of the file.
    pub unit: usize,
    /// The name's bytes.
    pub range: Range<usize>,
    /// How it is rewritten.
    pub form: Form,
}

impl Occurrence {
    /// The text that takes the place of the name.
    pub fn replacement(&self, old: &str, new: &str) -> String {
        match self.form {
            Form::Name => new.to_owned(),
            Form::Key => format!("{new}: {old}"),
            Form::Value => format!("{old}: {new}"),
        }
    }
}

/// A name where it is no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention {
    /// The index of the file.
    pub unit: usize,
    /// The first byte.
    pub at: usize,
}

/// The occurrences of a symbol's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renaming {
    /// Those that are the symbol.
    pub proven: Vec<Occurrence>,
    /// Those that may be it.
    pub possible: Vec<Occurrence>,
    /// How many are something else of the same name.
    pub others: usize,
    /// Those in comments, in order.
    pub in_comments: Vec<Mention>,
    /// Those in strings, in order.
    pub in_strings: Vec<Mention>,
    /// Those in Markdown, in order.
    pub in_texts: Vec<Mention>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Proven,
    Possible,
    Other,
}

/// A declaration of the name.
struct Declaration {
    unit: usize,
    found: Found,
    /// The type, trait or class that it is a member of.
    owner: Option<String>,
    /// True if it is declared within a function.
    nested: bool,
}

/// Everything that is known of a renaming.
struct Plan<'s> {
    units: &'s [Unit<'s>],
    name: &'s str,
    /// The names of the project's packages, as paths begin with them.
    packages: &'s [String],
    declarations: Vec<Declaration>,
    /// The index of the target among the declarations.
    target: usize,
    /// The indexes of declarations that are renamed with it.
    family: Vec<usize>,
}

/// Finds the occurrences of the symbol at `target.1` of the unit `target.0`, in all units.
///
/// # Errors
/// It says why the symbol can't be renamed.
pub fn plan_rename(
    units: &[Unit<'_>],
    target: (usize, &Found),
    packages: &[String],
) -> Result<Renaming, String> {
    let name = target.1.symbol.name.as_str();
    let language = units[target.0].source.language();
    if matches!(target.1.symbol.kind, SymbolKind::Heading | SymbolKind::Impl) {
        let what = target.1.symbol.kind.word();
        return Err(format!("{what} {name} has no name of its own; use replace(old, new)"));
    }
    let mut declarations = Vec::new();
    for (unit, one) in units.iter().enumerate() {
        for found in found_in(one.source).into_iter().filter(|found| found.symbol.name == name) {
            let owner = receivers::owner_of(one.source, &found);
            let node = one.source.node_at(&found.symbol.name_range);
            let nested = ancestors(node).any(|around| {
                around.start_byte() < found.symbol.range.start
                    && one.source.language().is_function(around.kind())
            });
            declarations.push(Declaration { unit, found, owner, nested });
        }
    }
    let is_target = |one: &Declaration| {
        one.unit == target.0 && one.found.symbol.name_range == target.1.symbol.name_range
    };
    let index = declarations.iter().position(is_target).ok_or("the symbol isn't in these files")?;
    let mut plan = Plan { units, name, packages, declarations, target: index, family: Vec::new() };
    plan.family = plan.family_of()?;
    let mut renaming = Renaming::default();
    for (unit, one) in units.iter().enumerate() {
        if same_language(one.source.language(), language) {
            plan.scan(unit, &mut renaming);
        } else if one.source.language() == Language::Markdown {
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

impl<'s> Plan<'s> {
    fn target(&self) -> &Declaration {
        &self.declarations[self.target]
    }

    fn language(&self) -> Language {
        self.units[self.target().unit].source.language()
    }

    /// True for what is reached through a value or a type: methods, fields, variants, associated items.
    fn is_member(&self) -> bool {
        self.target().owner.is_some()
    }

    fn scan(&self, unit: usize, renaming: &mut Renaming) {
        let source = self.units[unit].source;
        let hidden = hiding(source, self.name, &self.target_ranges(unit));
        let imports = imports::Imports::of(source);
        for name in occurrences::all(source, self.name) {
            let (verdict, form) = self.judge(unit, &name, &hidden, &imports);
            let occurrence = Occurrence { unit, range: name.node.byte_range(), form };
            match verdict {
                Verdict::Proven => renaming.proven.push(occurrence),
                Verdict::Possible => renaming.possible.push(occurrence),
                Verdict::Other => renaming.others += 1,
            }
        }
        let regions = regions(source);
        let mentions = |ranges: &[Range<usize>]| -> Vec<Mention> {
            let of = |range: &Range<usize>| {
                let start = range.start;
                words(&source.text()[range.clone()], self.name)
                    .map(|at| Mention { unit, at: start + at })
                    .collect::<Vec<_>>()
            };
            ranges.iter().flat_map(of).collect()
        };
        renaming.in_comments.extend(mentions(&regions.comments));
        renaming.in_strings.extend(mentions(&regions.strings));
    }

    /// The names of the declarations in a file that are renamed.
    fn target_ranges(&self, unit: usize) -> Vec<Range<usize>> {
        let family = self.family.iter().map(|index| &self.declarations[*index]);
        family
            .filter(|one| one.unit == unit)
            .map(|one| one.found.symbol.name_range.clone())
            .collect()
    }

    fn judge(
        &self,
        unit: usize,
        name: &Name<'_>,
        hidden: &locals::Hidden,
        imports: &imports::Imports,
    ) -> (Verdict, Form) {
        let range = name.node.byte_range();
        let declares = |one: &Declaration| one.unit == unit && one.found.symbol.name_range == range;
        if let Some(index) = self.declarations.iter().position(declares) {
            return match self.family.contains(&index) {
                true => (Verdict::Proven, Form::Name),
                false => (self.of_declaration(index), Form::Name),
            };
        }
        if hidden.others.contains(&range.start) {
            // A variable in a field's shorthand keeps its name; the field changes.
            return match &name.role {
                Role::Field { shorthand: true, ty } if self.is_field() => {
                    (self.of_type(unit, ty.as_deref(), imports), Form::Key)
                }
                _ => (Verdict::Other, Form::Name),
            };
        }
        if hidden.unsure.contains(&range.start) && matches!(name.role, Role::Free) {
            return (Verdict::Possible, Form::Name);
        }
        if hidden.own.contains(&range.start) {
            return (Verdict::Proven, name.value_form());
        }
        match &name.role {
            Role::Label => (Verdict::Other, Form::Name),
            Role::Unknown => (Verdict::Possible, Form::Name),
            Role::Field { ty, shorthand } => match (self.is_field(), shorthand) {
                (true, true) => (self.of_type(unit, ty.as_deref(), imports), Form::Key),
                (true, false) => (self.of_type(unit, ty.as_deref(), imports), Form::Name),
                (false, true) if !self.is_member() => {
                    (self.of_free(unit, name, imports), Form::Value)
                }
                // An object in JavaScript may stand for anything.
                (false, false) if self.language().is_ecmascript() && self.is_member() => {
                    (Verdict::Possible, Form::Name)
                }
                _ => (Verdict::Other, Form::Name),
            },
            Role::Member { receiver, call } => {
                (self.of_member(unit, *receiver, *call, imports), Form::Name)
            }
            Role::Path { qualifier } => (self.of_path(unit, name, qualifier, imports), Form::Name),
            Role::Import { path } => (self.of_import(unit, path), Form::Name),
            Role::Free => (self.of_free(unit, name, imports), Form::Name),
        }
    }

    fn is_field(&self) -> bool {
        self.target().found.symbol.kind == SymbolKind::Field
    }

    /// A member of the same name in another type may override the target, or the other way round.
    fn of_declaration(&self, index: usize) -> Verdict {
        let (one, target) = (&self.declarations[index], self.target());
        let dynamic = !matches!(self.language(), Language::Rust | Language::C);
        let both = one.owner.is_some() && target.owner.is_some();
        let same_place = one.unit == target.unit
            && one.found.path == target.found.path
            && one.found.symbol.kind == target.found.symbol.kind;
        match (dynamic && both) || same_place {
            true => Verdict::Possible,
            false => Verdict::Other,
        }
    }

    /// The verdict on a name whose type is known by name, if it is.
    fn of_type(&self, unit: usize, ty: Option<&str>, imports: &imports::Imports) -> Verdict {
        let Some(ty) = ty.map(base_name) else { return Verdict::Possible };
        if self.owns(ty) {
            return match self.is_only_of(ty) && self.is_own_type(unit, ty, imports) {
                true => Verdict::Proven,
                false => Verdict::Possible,
            };
        }
        match self.owns_other(ty) || self.is_foreign(ty) {
            true => Verdict::Other,
            false => Verdict::Possible,
        }
    }

    /// True if the name of a type means the project's type of that name in a file.
    fn is_own_type(&self, unit: usize, ty: &str, imports: &imports::Imports) -> bool {
        match imports.of_name(ty) {
            Some(import) => !import.renamed && self.names_project(unit, &import.path) == Some(true),
            None => true,
        }
    }
}

/// Returns where a name stands in a text as a whole word.
pub(crate) fn words(text: &str, name: &str) -> impl Iterator<Item = usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let whole = move |at: &usize| {
        !text[..*at].chars().next_back().is_some_and(part)
            && !text[at + name.len()..].chars().next().is_some_and(part)
    };
    text.match_indices(name).map(|(at, _)| at).filter(whole)
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
