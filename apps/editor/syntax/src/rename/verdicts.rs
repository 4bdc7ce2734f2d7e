//! What an occurrence is, by its role.

use tree_sitter::Node;

use crate::language::Language;
use crate::outline::{SymbolKind, base_name};

use super::imports::{Import, Imports, is_alias, modules_around};
use super::occurrences::{Name, segments};
use super::receivers::{bases_of, enclosing_type, is_well_known, type_of};
use super::{Plan, Verdict};

impl Plan<'_> {
    /// The verdict on `receiver.name`.
    pub(super) fn of_member(
        &self,
        unit: usize,
        receiver: Node<'_>,
        call: bool,
        imports: &Imports,
    ) -> Verdict {
        let source = self.units[unit].source;
        let kind = self.target().found.symbol.kind;
        let text = source.text_of(receiver);
        let import = imports.of_name(segments(text).first().map_or("", String::as_str));
        if !self.is_member() {
            return self.of_module_member(unit, text, import, imports);
        }
        if self.language() == Language::Rust {
            match (kind, call) {
                (SymbolKind::Field, true) | (SymbolKind::Method, false) => return Verdict::Other,
                (SymbolKind::Field | SymbolKind::Method, _) => {}
                _ => return Verdict::Other,
            }
        }
        if let Some(ty) = type_of(source, receiver) {
            let base = base_name(&ty).to_owned();
            let own = matches!(text, "self" | "this" | "cls");
            if own && !self.owns(&base) && !self.owns_other(&base) {
                // What a class doesn't declare it may inherit.
                let bases = bases_of(source, receiver);
                return match bases.as_slice() {
                    [] if self.language() == Language::Go => Verdict::Possible,
                    [] if !self.has_trait() && self.language() != Language::Rust => Verdict::Other,
                    _ => Verdict::Possible,
                };
            }
            return self.of_type(unit, Some(&ty), imports);
        }
        // `Type.name`
        if receiver.kind().contains("identifier") && self.owns(text) {
            return self.of_type(unit, Some(text), imports);
        }
        match import.map(|import| self.names_project(unit, &whole(import))) {
            Some(Some(false)) if segments(text).len() == 1 => Verdict::Other,
            _ => Verdict::Possible,
        }
    }

    /// True if the target is declared by a trait, which types of any kind may have.
    pub(super) fn has_trait(&self) -> bool {
        self.family.iter().any(|index| self.declarations[*index].found.of_trait.is_some())
            || super::receivers::is_in_trait(
                self.units[self.target().unit].source,
                &self.target().found,
            )
    }

    /// The verdict on `module.name`.
    fn of_module_member(
        &self,
        unit: usize,
        receiver: &str,
        import: Option<&Import>,
        imports: &Imports,
    ) -> Verdict {
        let language = self.language();
        if matches!(language, Language::Rust | Language::C) {
            return Verdict::Other;
        }
        let path = segments(receiver);
        let container = self.target().found.path.iter().rev().nth(1);
        if container.is_some() && path.last() == container && self.is_unique() {
            // A namespace's member.
            return match self.units[unit].path == self.units[self.target().unit].path {
                true => Verdict::Proven,
                false => Verdict::Possible,
            };
        }
        let Some(import) = import else {
            // An object may be a module that was loaded.
            let loads = self.units[unit].source.text().contains("require(");
            return match language.is_ecmascript() && loads {
                true => Verdict::Possible,
                false if imports.globs.is_empty() || path.len() <= 1 => Verdict::Other,
                false => Verdict::Possible,
            };
        };
        let mut full = whole(import);
        full.extend(path.into_iter().skip(1));
        match self.is_target_module(unit, &full) {
            Some(true) => Verdict::Proven,
            Some(false) => Verdict::Other,
            None => Verdict::Possible,
        }
    }

    /// The verdict on `a::b::name`.
    pub(super) fn of_path(
        &self,
        unit: usize,
        name: &Name<'_>,
        qualifier: &[String],
        imports: &Imports,
    ) -> Verdict {
        let source = self.units[unit].source;
        let Some(last) = qualifier.last() else { return Verdict::Possible };
        let scope = modules_around(source, name.node);
        if self.is_member() {
            let ty = match last.as_str() {
                "Self" => enclosing_type(source, name.node),
                other => Some(other.to_owned()),
            };
            let head = qualifier.first().filter(|_| qualifier.len() > 1);
            if head.is_some_and(|head| matches!(head.as_str(), "std" | "core" | "alloc")) {
                return Verdict::Other;
            }
            let verdict = self.of_type(unit, ty.as_deref(), imports);
            // A path may lead to another type of the same name.
            return match (verdict, head) {
                (Verdict::Proven, Some(head))
                    if !matches!(head.as_str(), "crate" | "self" | "super") =>
                {
                    Verdict::Possible
                }
                (verdict, _) => verdict,
            };
        }
        if self.language() == Language::Cpp {
            let container = self.target().found.path.iter().rev().nth(1);
            return match (container == Some(last), self.is_unique()) {
                (true, true) => Verdict::Proven,
                _ => Verdict::Possible,
            };
        }
        if self.language() != Language::Rust {
            let head = qualifier.first().map_or("", String::as_str);
            let receiver = qualifier.join(".");
            return self.of_module_member(unit, &receiver, imports.of_name(head), imports);
        }
        if last.starts_with(char::is_uppercase) {
            return Verdict::Other;
        }
        // The first name may be imported.
        let head = qualifier.first().map_or("", String::as_str);
        let path = match imports.in_scope(head, &scope) {
            Some(import) => {
                let mut path = whole(import);
                path.extend_from_slice(&qualifier[1..]);
                path
            }
            None => qualifier.to_vec(),
        };
        self.of_import_in(unit, &path, &scope)
    }

    /// The verdict on a name that is imported from a path.
    pub(super) fn of_import(&self, unit: usize, path: &[String]) -> Verdict {
        self.of_import_in(unit, path, &[])
    }

    /// [`Self::of_import`] for a name in inline modules.
    pub(super) fn of_import_in(&self, unit: usize, path: &[String], scope: &[String]) -> Verdict {
        if is_alias(path) {
            return Verdict::Other;
        }
        if self.is_member() {
            let of_owner = path.last().is_some_and(|last| self.owns(last));
            return match (of_owner, self.target().found.symbol.kind) {
                (true, SymbolKind::Variant) if self.is_unique() => Verdict::Proven,
                (true, _) => Verdict::Possible,
                _ => Verdict::Other,
            };
        }
        match self.is_target_module_in(unit, path, scope) {
            Some(true) => Verdict::Proven,
            Some(false) => Verdict::Other,
            None => Verdict::Possible,
        }
    }

    /// True if a type isn't the project's.
    pub(super) fn is_foreign(&self, ty: &str) -> bool {
        is_well_known(ty) && !self.has_trait()
    }
}

/// The path of an imported module.
fn whole(import: &Import) -> Vec<String> {
    let mut path = import.path.clone();
    if !matches!(import.original.as_str(), "*" | "default") {
        path.push(import.original.clone());
    }
    path
}
