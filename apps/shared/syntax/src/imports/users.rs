//! Files that import a moved item.

use std::path::Path;

use crate::language::Language;

use super::bindings::{self, Export};
use super::import_style::ImportStyle;
use super::statements::{Kind, Statement};
use super::{Mending, modules, specifiers};

impl Mending<'_> {
    /// Lets a file import from the new place what moved.
    pub(super) fn redirect_user(&mut self, file: usize) {
        for index in 0..self.files[file].statements.len() {
            let statement = self.files[file].statements[index].clone();
            if self.resolved(file, &statement.specifier).as_deref() == Some(&self.home) {
                self.redirect_statement(file, index, &statement);
            } else {
                self.name_module_import(file, &statement);
            }
        }
        let paths = bindings::other_paths(self.files[file].source);
        for (path, at, to) in paths {
            let here = file == self.to && self.placed.contains(&at);
            let means_home = self.resolved(file, &path).as_deref() == Some(&self.home);
            if means_home && !here && (self.is_mentioned(file) || self.is_default()) {
                self.leave(file, at, to);
            }
        }
    }

    fn redirect_statement(&mut self, file: usize, index: usize, statement: &Statement) {
        let at = statement.range.start;
        match statement.kind {
            Kind::Import | Kind::Reexport => {
                if let Some(default) = statement.default.as_ref().filter(|_| self.is_default()) {
                    let why = format!("{} is the default import", default.local);
                    self.leave(file, at, why);
                }
                if statement.namespace.is_some() && self.is_mentioned(file) {
                    self.leave(file, at, "namespace import");
                }
                if self.is_default() && statement.names.iter().any(|one| one.original == "default")
                {
                    self.leave(file, at, "imports the default");
                }
                let moved = statement.positions(|one| self.is_importable(&one.original));
                if moved.is_empty() {
                } else if file == self.to {
                    self.import_no_more(index, statement, moved);
                } else {
                    self.redirect_names(file, index, statement, moved);
                }
            }
            Kind::ReexportAll => self.reexport(file, index, statement),
            Kind::ReexportAs => self.leave(file, at, "exports the namespace"),
            Kind::ImportAll if self.is_mentioned(file) => self.leave(file, at, "star import"),
            Kind::ImportAll | Kind::ImportModule => {}
        }
    }

    /// Takes what moved to a file out of what it imports.
    fn import_no_more(&mut self, index: usize, statement: &Statement, moved: Vec<usize>) {
        let (own, other): (Vec<_>, Vec<_>) = moved.into_iter().partition(|one| {
            let one = &statement.names[*one];
            one.local == one.original
        });
        if let Some(one) = other.first().map(|one| &statement.names[*one]) {
            let why = format!("{} as {} is this file's own", one.original, one.local);
            self.leave(self.to, statement.range.start, why);
        }
        let file = self.to;
        match statement.is_outermost {
            _ if own.is_empty() => {}
            true => self.files[file].take_out(index, own),
            false => self.leave(file, statement.range.start, "imports what this file has now"),
        }
    }

    fn redirect_names(
        &mut self,
        file: usize,
        index: usize,
        statement: &Statement,
        moved: Vec<usize>,
    ) {
        let Some(specifier) = self.specifier_like(file, statement) else {
            let why = format!("no path from here to {}", self.new.display());
            return self.leave(file, statement.range.start, why);
        };
        let new = |mending: &Self, one: &Statement| {
            mending.resolved(file, &one.specifier).as_ref() == Some(&mending.new)
        };
        let (kind, is_type) = (statement.kind, statement.is_type);
        let taker = self.files[file].taker(kind, is_type, |one| new(self, one));
        let taker = taker.filter(|_| statement.is_outermost);
        let text = self.files[file].source.text();
        let names: Vec<_> =
            moved.iter().map(|one| text[statement.names[*one].range.clone()].to_owned()).collect();
        let has_other = statement.default.is_some() || moved.len() < statement.names.len();
        let changes = &mut self.files[file];
        match taker {
            Some(taker) => {
                changes.take_out(index, moved);
                changes.add(taker, names);
            }
            None if !has_other => changes.respecify(index, specifier),
            None => {
                let style = ImportStyle::of(changes.source, statement);
                let language = changes.source.language();
                let text = style.names(language, kind, is_type, &names, &specifier);
                changes.take_out(index, moved);
                changes.put_below(index, text);
            }
        }
    }

    /// `export * from './old'` exports what moved, too.
    fn reexport(&mut self, file: usize, index: usize, statement: &Statement) {
        let all = self.files[file].statements.iter();
        let has = all
            .filter(|one| one.kind == Kind::ReexportAll && one.is_type == statement.is_type)
            .any(|one| self.resolved(file, &one.specifier).as_ref() == Some(&self.new));
        if has || file == self.to {
            return;
        }
        let Some(specifier) = self.specifier_like(file, statement) else { return };
        let style = ImportStyle::of(self.files[file].source, statement);
        for is_type in [false, true] {
            let names: Vec<String> = self
                .declared
                .iter()
                .filter(|one| (one.is_type || statement.is_type) == is_type)
                .filter_map(|one| match &one.export {
                    Export::As(name) => Some(name.clone()),
                    _ => None,
                })
                .collect();
            if !names.is_empty() {
                let changes = &mut self.files[file];
                let language = changes.source.language();
                let text = style.names(language, Kind::Reexport, is_type, &names, &specifier);
                changes.put_below(index, text);
            }
        }
    }

    /// Names what imports the module in a way that isn't changed.
    fn name_module_import(&mut self, file: usize, statement: &Statement) {
        let at = statement.range.start;
        if self.files[file].source.language() == Language::Python {
            let imported = statement.names.iter().any(|one| {
                let module = match statement.kind {
                    Kind::ImportModule => one.original.clone(),
                    _ if statement.specifier.ends_with('.') => {
                        format!("{}{}", statement.specifier, one.original)
                    }
                    _ => format!("{}.{}", statement.specifier, one.original),
                };
                self.resolved(file, &module).as_deref() == Some(&self.home)
            });
            if imported && self.is_mentioned(file) {
                self.leave(file, at, "module import");
            }
            return;
        }
        let named = statement.names.iter().any(|one| self.is_importable(&one.original));
        let whole = statement.namespace.is_some() && self.is_mentioned(file);
        if (named || whole) && specifiers::may_mean(&statement.specifier, &self.home) {
            self.leave(file, at, format!("imports from '{}'", statement.specifier));
        }
    }

    /// True if the names of what moved stand in a file.
    fn is_mentioned(&self, file: usize) -> bool {
        let source = self.files[file].source;
        self.declared.iter().any(|one| bindings::mentions(source, &one.name))
    }

    /// Returns how the new file is named in another file, in the manner of a statement there that
    /// names the old one.
    fn specifier_like(&self, file: usize, statement: &Statement) -> Option<String> {
        let path: &Path = self.files[file].path;
        let old = statement.specifier.as_str();
        if self.files[file].source.language() != Language::Python {
            return specifiers::write(path, &self.new, specifiers::extension(old), self.exists);
        }
        match old.starts_with('.') {
            true => modules::relative(path, &self.new),
            false => {
                let (_, folder) = modules::resolve(path, old, self.exists)?;
                modules::absolute(&folder, &self.new)
            }
        }
    }
}
