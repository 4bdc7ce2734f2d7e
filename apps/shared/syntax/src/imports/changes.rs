//! All changes to the imports of one file.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use tree_sitter::Node;

use crate::Edit;
use crate::language::Language;
use crate::rename::Unit;
use crate::source::{Source, named};

use super::import_style::ImportStyle;
use super::lists::{change_list, delete_statement, drop_list, in_order, put_below};
use super::statements::{Kind, Statement, statements};

/// A file with what changes in it.
pub(super) struct ImportChanges<'s> {
    /// The index of the file.
    pub unit: usize,
    pub path: &'s Path,
    pub source: &'s Source,
    pub statements: Vec<Statement>,
    /// The names to remove, by statement.
    removed: BTreeMap<usize, BTreeSet<usize>>,
    /// The statements whose default import or namespace is removed.
    unnamed: BTreeSet<usize>,
    respecified: BTreeMap<usize, String>,
    added: BTreeMap<usize, Vec<String>>,
    below: Vec<(usize, String)>,
    new: Vec<NewNames>,
    /// Further new statements.
    whole: Vec<String>,
    /// The offset at which a moved block begins in the file.
    placed: Option<usize>,
}

/// A new statement for which no existing one determines the place.
struct NewNames {
    is_type: bool,
    specifier: String,
    default: Option<String>,
    names: Vec<String>,
    style: ImportStyle,
}

impl NewNames {
    fn write(&self, language: Language) -> String {
        let Self { is_type, specifier, default, names, style } = self;
        let word = if *is_type { "import type" } else { "import" };
        let named = style.names(language, Kind::Import, *is_type, names, specifier);
        match default {
            None => named,
            Some(default) if names.is_empty() => style.from(word, default, specifier),
            Some(default) => named.replacen(word, &format!("{word} {default},"), 1),
        }
    }
}

impl<'s> ImportChanges<'s> {
    pub(super) fn new(unit: usize, file: &Unit<'s>) -> Self {
        Self {
            unit,
            path: file.path,
            source: file.source,
            statements: statements(file.source),
            removed: BTreeMap::new(),
            unnamed: BTreeSet::new(),
            respecified: BTreeMap::new(),
            added: BTreeMap::new(),
            below: Vec::new(),
            new: Vec::new(),
            whole: Vec::new(),
            placed: None,
        }
    }

    /// Takes names out of a statement.
    pub(super) fn take_out(&mut self, statement: usize, names: impl IntoIterator<Item = usize>) {
        self.removed.entry(statement).or_default().extend(names);
    }

    /// Takes what a statement imports under a name of the file out of it.
    pub(super) fn take_out_local(&mut self, statement: usize, local: &str) {
        let one = &self.statements[statement];
        let names = one.positions(|one| one.local == local);
        match (names.is_empty(), &one.default, &one.namespace) {
            (false, ..) => self.take_out(statement, names),
            // `import a, * as b` stays whole.
            (true, Some(_), Some(_)) => {}
            (true, ..) => drop(self.unnamed.insert(statement)),
        }
    }

    /// Lets a statement import from another module.
    pub(super) fn respecify(&mut self, statement: usize, specifier: String) {
        self.respecified.insert(statement, specifier);
    }

    /// Returns the statement that more names of a module can be added to.
    pub(super) fn taker(
        &self,
        kind: Kind,
        is_type: bool,
        is_module: impl Fn(&Statement) -> bool,
    ) -> Option<usize> {
        self.statements.iter().position(|one| {
            let list = one.list.is_some() || self.source.language() == Language::Python;
            one.kind == kind
                && one.is_type == is_type
                && one.is_outermost
                && !one.has_attributes
                && list
                && is_module(one)
        })
    }

    /// Adds names, as they are written, to a statement.
    pub(super) fn add(&mut self, statement: usize, names: impl IntoIterator<Item = String>) {
        let added = self.added.entry(statement).or_default();
        for name in names {
            if !added.contains(&name) {
                added.push(name);
            }
        }
    }

    /// Puts a statement below another one.
    pub(super) fn put_below(&mut self, statement: usize, text: String) {
        self.below.push((statement, text));
    }

    /// Imports a name with a statement that it shares with others of the module.
    pub(super) fn import(
        &mut self,
        is_type: bool,
        specifier: &str,
        name: String,
        style: &ImportStyle,
    ) {
        let new = self.new_names(is_type, specifier, style);
        if !new.names.contains(&name) {
            new.names.push(name);
        }
    }

    /// Imports the default of a module.
    pub(super) fn import_default(
        &mut self,
        is_type: bool,
        specifier: &str,
        name: &str,
        style: &ImportStyle,
    ) {
        // A type's default and names of types can't share a statement.
        let new = if is_type { None } else { Some(self.new_names(false, specifier, style)) };
        match new.map(|new| &mut new.default) {
            Some(default @ None) => *default = Some(name.to_owned()),
            Some(Some(other)) if other == name => {}
            _ => {
                let word = if is_type { "import type" } else { "import" };
                self.import_whole(style.from(word, name, specifier));
            }
        }
    }

    fn new_names(&mut self, is_type: bool, specifier: &str, style: &ImportStyle) -> &mut NewNames {
        let same = |one: &NewNames| one.is_type == is_type && one.specifier == specifier;
        let index = self.new.iter().position(same).unwrap_or_else(|| {
            let (specifier, style) = (specifier.to_owned(), style.clone());
            let (default, names) = (None, Vec::new());
            self.new.push(NewNames { is_type, specifier, default, names, style });
            self.new.len() - 1
        });
        &mut self.new[index]
    }

    /// Adds a statement.
    pub(super) fn import_whole(&mut self, statement: String) {
        if !self.whole.contains(&statement) {
            self.whole.push(statement);
        }
    }

    /// Says where a moved block begins: what stands above it isn't about it.
    pub(super) fn set_placed(&mut self, at: usize) {
        self.placed = Some(at);
    }

    /// Returns the edits, in ascending order.
    pub(super) fn edits(&self) -> Vec<Edit> {
        let (mut edits, mut deleted) = (Vec::new(), BTreeSet::new());
        for (index, statement) in self.statements.iter().enumerate() {
            let nothing = BTreeSet::new();
            let removed = self.removed.get(&index).unwrap_or(&nothing);
            let added = self.added.get(&index).map_or(&[][..], Vec::as_slice);
            let unnamed = self.unnamed.contains(&index);
            let has_other = statement.default.is_some() || statement.namespace.is_some();
            let all_gone = removed.len() == statement.names.len() && added.is_empty();
            if (!removed.is_empty() || unnamed) && all_gone && (unnamed || !has_other) {
                deleted.insert(index);
                continue;
            }
            if !removed.is_empty() && all_gone {
                edits.extend(drop_list(statement));
            } else if !removed.is_empty() || !added.is_empty() {
                edits.extend(change_list(self.source, statement, removed, added));
            }
            if let (true, Some(default)) = (unnamed, &statement.default) {
                let end = statement.list.as_ref().map(|list| list.start);
                let end = end.unwrap_or(default.range.end);
                edits.push(Edit { range: default.range.start..end, new: String::new() });
            }
            if let Some(specifier) = self.respecified.get(&index) {
                let range = statement.specifier_range.clone();
                edits.push(Edit { range, new: specifier.clone() });
            }
        }
        for (index, text) in &self.below {
            edits.push(put_below(self.source, &self.statements[*index].range, text));
        }
        let anchor = self.new_statements(&mut edits, &deleted);
        for index in deleted.into_iter().filter(|index| Some(*index) != anchor) {
            edits.push(delete_statement(self.source, &self.statements[index].range));
        }
        in_order(edits)
    }

    /// Adds the edit that writes the new statements. Returns the deleted statement whose place they
    /// take.
    fn new_statements(&self, edits: &mut Vec<Edit>, deleted: &BTreeSet<usize>) -> Option<usize> {
        if self.new.is_empty() && self.whole.is_empty() {
            return None;
        }
        let language = self.source.language();
        let all = self.new.iter().map(|one| one.write(language)).chain(self.whole.iter().cloned());
        let ending = self.source.line_ending();
        let all = all.collect::<Vec<_>>().join(ending);
        let of = |range: &Range<usize>| self.statements.iter().position(|one| one.range == *range);
        let mut anchors = anchors(self.source);
        let last = anchors.last().cloned();
        anchors.retain(|range| of(range).is_none_or(|index| !deleted.contains(&index)));
        if let Some(anchor) = anchors.last() {
            edits.push(put_below(self.source, anchor, &all));
            return None;
        }
        if let Some(last) = last {
            edits.push(Edit { range: last.clone(), new: all });
            return of(&last);
        }
        edits.push(at_top(self.source, self.placed, &all));
        None
    }
}

/// Returns the import statements at the top of a file, below which others can be put.
fn anchors(source: &Source) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for node in named(source.root()) {
        match node.kind() {
            "import_statement" | "import_from_statement" | "future_import_statement" => {
                found.push(node.byte_range());
            }
            kind if Language::is_comment(kind) => {}
            "expression_statement" | "if_statement" | "try_statement" | "hash_bang_line" => {}
            _ => break,
        }
    }
    found
}

/// Returns the edit that puts statements above everything but the comment and the directives that a
/// file begins with.
fn at_top(source: &Source, placed: Option<usize>, statements: &str) -> Edit {
    let (text, ending) = (source.text(), source.line_ending());
    let gap = ending.repeat(if source.language() == Language::Python { 2 } else { 1 });
    let nodes = named(source.root());
    let mut header = None;
    for (index, node) in nodes.iter().enumerate() {
        let line_end = source.line_end(node.end_byte());
        let next = nodes.get(index + 1).map_or(text.len(), |next| next.start_byte());
        let below = text.get(line_end..next).unwrap_or_default();
        let apart = below.matches('\n').count() > 1
            || index + 1 == nodes.len()
            || placed.is_some_and(|placed| line_end <= placed && placed <= next);
        match node.kind() {
            "hash_bang_line" => header = Some(line_end),
            "expression_statement" if is_directive(*node) => header = Some(line_end),
            kind if Language::is_comment(kind) => {
                header = Some(line_end).filter(|_| apart).or(header)
            }
            _ => break,
        }
    }
    let Some(at) = header else {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let gap = if text[at..].trim().is_empty() { "" } else { &gap };
        return Edit { range: at..at, new: format!("{statements}{ending}{gap}") };
    };
    let mut below = text[at..].lines().skip(1);
    let gap = match below.next() {
        Some(line) if !line.trim().is_empty() => &gap,
        _ => "",
    };
    Edit { range: at..at, new: format!("{ending}{ending}{statements}{gap}") }
}

/// `'use strict';`, and the text of Python that documents a module.
fn is_directive(node: Node<'_>) -> bool {
    node.named_child_count() == 1
        && node
            .named_child(0)
            .is_some_and(|one| matches!(one.kind(), "string" | "concatenated_string"))
}
