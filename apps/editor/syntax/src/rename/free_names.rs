//! What a name is that stands alone: neither behind a dot nor in a path.

use tree_sitter::Node;

use crate::language::Language;
use crate::outline::SymbolKind;
use crate::source::{ancestors, field};

use super::imports::{Imports, modules_around};
use super::occurrences::Name;
use super::receivers::enclosing_type;
use super::{Declaration, Plan, Verdict};

impl Plan<'_> {
    /// The verdict on a name that stands alone and that no function's scope decides.
    pub(super) fn of_free(&self, unit: usize, name: &Name<'_>, imports: &Imports) -> Verdict {
        let (source, language) = (self.units[unit].source, self.language());
        if self.is_member() {
            return self.of_free_member(unit, name, imports);
        }
        let scope = match language {
            Language::Rust => modules_around(source, name.node),
            _ => Vec::new(),
        };
        if language == Language::Python
            && let Some(verdict) = self.of_class_body(unit, name)
        {
            return verdict;
        }
        let here = |one: &Declaration| {
            let node = source_node(self, one);
            let nested = ancestors(node).skip(1).any(|around| {
                let own = around.byte_range() == one.found.symbol.range;
                !own && around.start_byte() < one.found.symbol.range.start
                    && self.units[one.unit].source.language().is_function(around.kind())
            });
            one.unit == unit
                && one.owner.is_none()
                && !nested
                && (language != Language::Rust
                    || modules_around(source, source.node_at(&one.found.symbol.name_range))
                        == scope)
        };
        let of_family = self.family.iter().any(|index| here(&self.declarations[*index]));
        let all = self.declarations.iter().enumerate();
        let others: Vec<_> =
            all.filter(|(index, one)| !self.family.contains(index) && here(one)).collect();
        let rival =
            others.iter().any(|(_, one)| self.same_namespace(one.found.symbol.kind, name.node));
        match (of_family, rival) {
            (true, false) => {
                let fits = self.same_namespace(self.target().found.symbol.kind, name.node);
                return if fits || others.is_empty() { Verdict::Proven } else { Verdict::Other };
            }
            (true, true) => return Verdict::Possible,
            (false, true) => return Verdict::Other,
            (false, false) => {}
        }
        if let Some(import) = imports.in_scope(self.name, &scope) {
            return match import.renamed {
                true => Verdict::Other,
                false => self.of_import_in(unit, &import.path, &scope),
            };
        }
        self.of_elsewhere(unit, &scope, imports)
    }

    /// The verdict on a name that is neither declared nor imported by name in its file.
    fn of_elsewhere(&self, unit: usize, scope: &[String], imports: &Imports) -> Verdict {
        let (target, one) = (&self.units[self.target().unit], &self.units[unit]);
        let same_folder = one.path.parent() == target.path.parent();
        let globs: Vec<_> = imports.globs.iter().filter(|(_, around)| around == scope).collect();
        match self.language() {
            Language::Rust => {
                let modules =
                    globs.iter().map(|(path, _)| self.is_target_module_in(unit, path, scope));
                let modules: Vec<_> = modules.collect();
                let is_macro = self.target().found.symbol.kind == SymbolKind::Macro;
                if let Some((_, parent)) = scope.split_last()
                    && globs.iter().any(|(path, _)| path == &["super"])
                {
                    // A module within the file sees what the one around it imports.
                    if let Some(import) =
                        imports.in_scope(self.name, parent).filter(|one| !one.renamed)
                    {
                        return self.of_import_in(unit, &import.path, parent);
                    }
                }
                match () {
                    () if modules.contains(&Some(true)) && self.is_unique() => Verdict::Proven,
                    () if modules.iter().any(|one| *one != Some(false)) => Verdict::Possible,
                    () if is_macro && unit == self.target().unit => Verdict::Proven,
                    () if is_macro => Verdict::Possible,
                    () => Verdict::Other,
                }
            }
            Language::Go if same_folder => match self.is_unique() && globs.is_empty() {
                true => Verdict::Proven,
                false => Verdict::Possible,
            },
            Language::Java if same_folder && self.is_unique() => Verdict::Proven,
            Language::Python | Language::Go => {
                if globs.is_empty() {
                    Verdict::Other
                } else {
                    Verdict::Possible
                }
            }
            Language::Java | Language::CSharp => Verdict::Possible,
            Language::C | Language::Cpp => {
                if !self.target().found.symbol.public && unit != self.target().unit {
                    return Verdict::Other;
                }
                let declared = self.family.iter().any(|index| {
                    let path = self.units[self.declarations[*index].unit].path;
                    let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                    let text = one.source.text();
                    let includes = text.lines().filter(|line| line.trim_start().starts_with('#'));
                    includes.filter(|line| line.contains("include")).any(|line| {
                        line.contains(&format!("/{file}\""))
                            || line.contains(&format!("\"{file}\""))
                    })
                });
                match declared && self.is_unique() {
                    true => Verdict::Proven,
                    false => Verdict::Possible,
                }
            }
            // A script sees what other scripts declare; a module doesn't.
            _ => {
                let is_module = |text: &str| {
                    text.lines()
                        .any(|line| line.starts_with("import ") || line.starts_with("export "))
                        || text.contains("require(")
                };
                match is_module(one.source.text()) || is_module(target.source.text()) {
                    true => Verdict::Other,
                    false => Verdict::Possible,
                }
            }
        }
    }

    /// A member that is named alone: of the class around it, or of an enum that was imported.
    fn of_free_member(&self, unit: usize, name: &Name<'_>, imports: &Imports) -> Verdict {
        let source = self.units[unit].source;
        match self.language() {
            Language::Java | Language::CSharp | Language::Cpp => {
                let mut ty = enclosing_type(source, name.node);
                let mut around = name.node;
                while let Some(one) = ty {
                    if self.owns(&one) {
                        let one_only = self.is_only_of(&one);
                        return if one_only { Verdict::Proven } else { Verdict::Possible };
                    }
                    if self.owns_other(&one) {
                        return Verdict::Other;
                    }
                    match around.parent() {
                        Some(parent) => around = parent,
                        None => break,
                    }
                    ty = enclosing_type(source, around);
                }
                Verdict::Possible
            }
            Language::C if self.target().found.symbol.kind == SymbolKind::Variant => {
                Verdict::Possible
            }
            Language::Python => self.of_class_body(unit, name).unwrap_or(Verdict::Other),
            Language::Rust => {
                let scope = modules_around(source, name.node);
                if let Some(import) = imports.in_scope(self.name, &scope) {
                    return self.of_import_in(unit, &import.path, &scope);
                }
                let glob = imports.globs.iter().any(|(path, _)| {
                    path.last().is_some_and(|last| self.owns(last) || last == "Self")
                });
                if glob { Verdict::Possible } else { Verdict::Other }
            }
            _ => Verdict::Other,
        }
    }

    /// In Python a name in the body of a class, outside of its functions, is the class's own if it has it.
    fn of_class_body(&self, unit: usize, name: &Name<'_>) -> Option<Verdict> {
        let source = self.units[unit].source;
        let around = ancestors(name.node).find(|one| {
            one.kind() == "class_definition"
                || (source.language().is_function(one.kind())
                    && field(*one, "body")
                        .is_some_and(|body| body.byte_range().contains(&name.node.start_byte())))
        })?;
        let body = field(around, "body")?;
        if around.kind() != "class_definition"
            || !body.byte_range().contains(&name.node.start_byte())
        {
            return None;
        }
        let class = source.text_of(field(around, "name")?);
        if self.owns(class) {
            return Some(Verdict::Proven);
        }
        self.owns_other(class).then_some(Verdict::Other)
    }

    /// True if a kind of declaration can be what a name stands for in its place.
    fn same_namespace(&self, kind: SymbolKind, node: Node<'_>) -> bool {
        if self.language() != Language::Rust {
            return true;
        }
        let is_macro = node.parent().is_some_and(|parent| {
            parent.kind() == "macro_invocation" && field(parent, "macro") == Some(node)
        });
        let is_type = node.kind() == "type_identifier";
        match kind {
            SymbolKind::Macro => is_macro,
            SymbolKind::Function | SymbolKind::Constant => !is_type && !is_macro,
            SymbolKind::Module => !is_type && !is_macro,
            // A struct's name is a value as well where it is made of a tuple or of nothing.
            _ => !is_macro,
        }
    }
}

fn source_node<'s>(plan: &Plan<'s>, one: &Declaration) -> Node<'s> {
    plan.units[one.unit].source.node_at(&one.found.symbol.name_range)
}
