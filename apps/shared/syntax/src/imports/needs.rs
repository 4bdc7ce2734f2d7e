//! The imports needed by moved code in its new file, and by the remaining code in the old file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::language::Language;

use super::bindings::{
    Export, declared, has_jsx, is_assigned, is_written, listed_in_all, other_paths, uses,
};
use super::import_style::{ImportStyle, extension_habit};
use super::specifiers::is_relative;
use super::statements::{Imported, Kind, Statement};
use super::{Mending, modules, specifiers};

impl Mending<'_> {
    /// Lets the new file import what the moved code uses.
    pub(super) fn import_what_moved_code_needs(&mut self) {
        let declared_at_home = declared(self.files[self.from].source);
        let mut done: BTreeSet<String> = self.declared.iter().map(|one| one.name.clone()).collect();
        for one in &declared_at_home {
            let all = uses(self.files[self.to].source, &one.name, &self.placed);
            let Some(at) = all.first().copied().filter(|_| done.insert(one.name.clone())) else {
                continue;
            };
            let file = &self.files[self.to];
            let assigned = all.iter().find(|at| is_assigned(file.source, &one.name, **at)).copied();
            let bound = file.statements.iter().find_map(|statement| {
                let name = statement.bound().into_iter().find(|name| name.local == one.name)?;
                let same = self.resolved(self.to, &statement.specifier).as_ref()
                    == Some(&self.home)
                    && match &one.export {
                        Export::As(export) => name.original == *export,
                        Export::Default => name.original == "default",
                        Export::No => false,
                    };
                Some(same)
            });
            if let Some(at) = assigned {
                self.leave(self.to, at, format!("sets {} of {}", one.name, self.home.display()));
            } else if bound == Some(false) || self.beside.iter().any(|own| own.name == one.name) {
                let why = format!("{} of {} was meant", one.name, self.home.display());
                self.leave(self.to, at, why);
            } else if one.export == Export::No {
                let why = format!("{} isn't exported by {}", one.name, self.home.display());
                self.leave(self.to, at, why);
            } else if bound.is_none() {
                self.import_name(self.to, self.from, &one.name, &one.export, one.is_type, at);
            }
        }
        let home = &self.files[self.from];
        let all: Vec<(usize, Imported)> = home
            .statements
            .iter()
            .enumerate()
            .filter(|(_, one)| !one.is_in_function)
            .flat_map(|(index, one)| one.bound().into_iter().map(move |name| (index, name.clone())))
            .collect();
        for (index, name) in all {
            let source = self.files[self.to].source;
            let mut all = uses(source, &name.local, &self.placed);
            let is_react = name.local == "React" && all.is_empty() && has_jsx(source, &self.placed);
            if is_react {
                all.push(self.placed.start);
            }
            // Python's `import a.b` and `import a.c` both give `a`.
            let again = self.files[self.from].statements[index].kind == Kind::ImportModule;
            if let Some(at) = all.first().filter(|_| done.insert(name.local.clone()) || again) {
                self.carry_import(index, &name, *at);
                self.drop_unused(index, &name);
            }
        }
        self.name_relative_paths();
    }

    /// Lets the new file import something as the old one does.
    fn carry_import(&mut self, index: usize, name: &Imported, at: usize) {
        let (home, to) = (&self.files[self.from], self.to);
        let statement = home.statements[index].clone();
        let local = name.local.as_str();
        if self.resolved(self.from, &statement.specifier).as_ref() == Some(&self.new) {
            let own = self.beside.iter().any(|own| own.name == name.original);
            if !own || name.original != local {
                let here = match name.original.as_str() {
                    "*" | "default" => "this module itself".to_owned(),
                    original => format!("{original} here"),
                };
                self.leave(to, at, format!("{local} is {here}"));
            }
            return;
        }
        let bound = self.files[to].statements.iter().find_map(|other| {
            let own = other.bound().into_iter().find(|own| own.local == local)?;
            Some((self.is_same_origin((&statement, name), (other, own)), other.kind))
        });
        let python_module = |kind| kind == Kind::ImportModule;
        match bound {
            Some((true, _)) => return,
            Some((false, kind)) if python_module(kind) && python_module(statement.kind) => {}
            None if self.beside.iter().all(|own| own.name != local) => {}
            _ => {
                let why = format!("{local} as {} has it was meant", self.home.display());
                return self.leave(to, at, why);
            }
        }
        if !statement.is_outermost || statement.has_attributes {
            let line = home.source.line_of(statement.range.start) + 1;
            let why = format!("needs {local}, see {}:{line}", self.home.display());
            return self.leave(to, at, why);
        }
        let style = self.style(to);
        let is_python = home.source.language() == Language::Python;
        let new = self.new.clone();
        let specifier = match is_python {
            false => specifiers::rebased(&self.home, &statement.specifier, &new),
            true if statement.specifier.starts_with('.') && self.home.parent() != new.parent() => {
                let target = self.resolved(self.from, &statement.specifier);
                target.and_then(|target| modules::relative(&new, &target))
            }
            true => Some(statement.specifier.clone()),
        };
        let Some(specifier) = specifier else {
            let why = format!("no path from here to {}", statement.specifier);
            return self.leave(to, at, why);
        };
        let written = home.source.text()[name.range.clone()].to_owned();
        let is_type = statement.is_type;
        let is_default = statement.default.as_ref() == Some(name);
        if statement.kind == Kind::ImportModule {
            self.files[to].import_whole(format!("import {written}"));
        } else if is_default {
            self.files[to].import_default(is_type, &specifier, local, &style);
        } else if statement.names.contains(name) {
            self.add_name(to, &specifier, written, is_type, &style);
        } else {
            let word = if is_type { "import type" } else { "import" };
            self.files[to].import_whole(style.from(word, &written, &specifier));
        }
    }

    /// Takes an import out of the old file that only the moved code used.
    fn drop_unused(&mut self, index: usize, name: &Imported) {
        let home = &self.files[self.from];
        let (source, statement) = (home.source, &home.statements[index]);
        let all = 0..source.text().len();
        let own_line = &source.text()[statement.range.start..source.line_end(statement.range.end)];
        let is_python = source.language() == Language::Python;
        // A module of Python hands on what it imports: its package's own file on purpose, others as
        // others use it.
        let is_handed_on = is_python
            && (self.home.file_stem().is_some_and(|stem| stem == "__init__")
                || own_line.contains("noqa")
                || (name.has_alias && name.original == name.local)
                || listed_in_all(source).iter().any(|(listed, _)| *listed == name.local)
                || self.files.iter().enumerate().any(|(file, other)| {
                    other.statements.iter().any(|one| {
                        one.names.iter().any(|one| one.original == name.local)
                            && self.resolved(file, &one.specifier).as_ref() == Some(&self.home)
                    })
                }));
        // Types in comments and in strings need it, too.
        let is_used = !uses(source, &name.local, &all).is_empty()
            || is_written(source, &name.local, &home.statements)
            || (name.local == "React" && has_jsx(source, &all));
        if statement.is_outermost && !is_used && !is_handed_on {
            self.files[self.from].take_out_local(index, &name.local);
        }
    }

    /// Lets the old file import what moved away and is still used there.
    pub(super) fn import_what_moved_away(&mut self) {
        let source = self.files[self.from].source;
        let stays = declared(source);
        let mut done = BTreeSet::new();
        for one in self.declared.clone() {
            let all = uses(source, &one.name, &(0..source.text().len()));
            let listed = listed_in_all(source);
            if let Some((_, at)) = listed.iter().find(|(name, _)| *name == one.name) {
                self.leave(self.from, *at, format!("{} in __all__", one.name));
            }
            let bound = stays.iter().any(|own| own.name == one.name);
            let Some(at) = all.first().copied().filter(|_| !bound && done.insert(one.name.clone()))
            else {
                continue;
            };
            let assigned = all.iter().find(|at| is_assigned(source, &one.name, **at)).copied();
            if let Some(at) = assigned {
                self.leave(self.from, at, format!("sets {} of {}", one.name, self.new.display()));
            } else if one.export == Export::No {
                let why = format!("uses {}, which {} doesn't export", one.name, self.new.display());
                self.leave(self.from, at, why);
            } else {
                self.import_name(self.from, self.to, &one.name, &one.export, one.is_type, at);
            }
        }
        self.name_circle();
    }

    /// Lets a file import something that another one declares.
    fn import_name(
        &mut self,
        file: usize,
        of: usize,
        name: &str,
        export: &Export,
        is_type: bool,
        at: usize,
    ) {
        let style = self.style(file);
        let Some(specifier) = self.specifier(file, of) else {
            let why = format!("no path from here to {}", self.files[of].path.display());
            return self.leave(file, at, why);
        };
        let written = match export {
            Export::As(export) if export != name => format!("{export} as {name}"),
            Export::Default => {
                return self.files[file].import_default(is_type, &specifier, name, &style);
            }
            _ => name.to_owned(),
        };
        self.add_name(file, &specifier, written, is_type, &style);
    }

    fn add_name(
        &mut self,
        file: usize,
        specifier: &str,
        written: String,
        is_type: bool,
        style: &ImportStyle,
    ) {
        let module = self.resolved(file, specifier);
        let taker = self.files[file].taker(Kind::Import, is_type, |one| {
            one.specifier == specifier
                || (module.is_some() && self.resolved(file, &one.specifier) == module)
        });
        match taker {
            Some(taker) => self.files[file].add(taker, [written]),
            None => self.files[file].import(is_type, specifier, written, style),
        }
    }

    /// Modules of Python that need each other while they are loaded can fail.
    fn name_circle(&mut self) {
        if self.files[self.from].source.language() != Language::Python {
            return;
        }
        let imports = |file: usize, other: &PathBuf| {
            let text =
                crate::edit::apply(&self.files[file].edits(), self.files[file].source.text());
            let source = crate::Source::parse(Language::Python, text).ok()?;
            let all = super::statements::statements(&source);
            let found = all.iter().any(|one| {
                !one.is_in_function && self.resolved(file, &one.specifier).as_ref() == Some(other)
            });
            Some(found)
        };
        let circle = imports(self.from, &self.new) == Some(true)
            && imports(self.to, &self.home) == Some(true);
        if circle {
            let why = format!("{} and this file import each other", self.home.display());
            self.leave(self.to, self.placed.start, why);
        }
    }

    /// Reports relative paths in code moved to another folder, where they mean other files.
    fn name_relative_paths(&mut self) {
        if self.home.parent() == self.new.parent() {
            return;
        }
        let file = &self.files[self.to];
        let statements = file.statements.iter().filter(|one| is_relative(&one.specifier));
        let statements = statements.map(|one| (one.specifier.clone(), one.range.start));
        let others = other_paths(file.source).into_iter().map(|(path, at, _)| (path, at));
        for (path, at) in statements.chain(others).collect::<Vec<_>>() {
            if self.placed.contains(&at) {
                self.leave(
                    self.to,
                    at,
                    format!("'{path}' was relative to {}", self.home.display()),
                );
            }
        }
    }

    fn is_same_origin(
        &self,
        (at_home, name): (&Statement, &Imported),
        (here, own): (&Statement, &Imported),
    ) -> bool {
        let resolved = self.resolved(self.from, &at_home.specifier);
        let same_module = match resolved.is_some() {
            true => resolved == self.resolved(self.to, &here.specifier),
            false => {
                specifiers::rebased(&self.home, &at_home.specifier, &self.new).as_ref()
                    == Some(&here.specifier)
            }
        };
        same_module && name.original == own.original
    }

    /// Returns the import style of a file, or that of the other files if it has no imports.
    fn style(&self, file: usize) -> ImportStyle {
        let other = if file == self.to { self.from } else { self.to };
        let others = (0..self.files.len()).filter(|index| *index != file && *index != other);
        let order: Vec<usize> = [file, other].into_iter().chain(others).collect();
        ImportStyle::of_files(
            order
                .iter()
                .map(|index| &self.files[*index])
                .map(|one| (one.source, &one.statements[..])),
        )
    }

    /// Returns how a file names another one, in its own manner, else in that of the others.
    fn specifier(&self, file: usize, of: usize) -> Option<String> {
        let (path, target) = (self.files[file].path, self.files[of].path);
        let other = if file == self.to { self.from } else { self.to };
        let order = [file, other].into_iter().chain(0..self.files.len());
        let mut all = order.flat_map(|index| &self.files[index].statements);
        if self.files[file].source.language() != Language::Python {
            let habit = extension_habit(all, path);
            return specifiers::write(path, target, habit.as_deref(), self.exists);
        }
        let (home, new) = (&self.home, &self.new);
        let own = all.find_map(|one| {
            let (_, folder) = modules::resolve(path, &one.specifier, self.exists)?;
            match one.specifier.starts_with('.') {
                true => Some(modules::relative(path, target)),
                false => modules::absolute(&folder, target).map(Some),
            }
        });
        own.flatten().or_else(|| match home.parent() == new.parent() {
            true if (self.exists)(&path.with_file_name("__init__.py")) => {
                modules::relative(path, target)
            }
            _ => modules::absolute(modules::top_folder(path, self.exists)?, target),
        })
    }
}
