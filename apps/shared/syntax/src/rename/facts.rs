//! The declarations and imports of a file, computed once for each file.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use tree_sitter::Node;

use crate::bind::{bind, bind_module};
use crate::language::Language;
use crate::scopes::{Keyword, Scopes};
use crate::source::{Source, ancestors, descendants, field};

use super::classes::{Class, classes};
use super::imports::{Import, imports};
use super::meaning::Space;
use super::rust_items::RustItem;

/// The declaration of a variable.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    /// The bytes of the name.
    pub at: Range<usize>,
    /// The written type, if there is one.
    pub ty: Option<Range<usize>>,
    /// The initial value, if it belongs to this variable alone.
    pub init: Option<Range<usize>>,
}

/// A name that a function, or a module of Python or ECMAScript, declares.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    pub name: String,
    pub declarations: Vec<Declared>,
    /// True if it is declared outside of functions and blocks.
    pub outermost: bool,
    /// True if an import declares it.
    pub imported: bool,
    /// True if something else than an import declares it.
    pub declared: bool,
    /// True if it gets another value than its first one.
    pub assigned: bool,
}

/// The names, types and imports found in a file.
#[derive(Debug)]
pub(super) struct Facts {
    pub source: Rc<Source>,
    pub bindings: Vec<Binding>,
    /// The binding that each name means which the scopes of functions decide, by its first byte.
    by_node: HashMap<usize, usize>,
    /// The outermost bindings by name.
    outermost: HashMap<String, usize>,
    pub imports: Vec<Import>,
    pub classes: Vec<Class>,
    /// The Rust items outside of types.
    pub items: Vec<RustItem>,
    /// The bodies of inline Rust modules.
    pub modules: Vec<Range<usize>>,
}

impl Facts {
    pub(super) fn of(source: Rc<Source>) -> Self {
        let (imports, classes) = (imports(&source), classes(&source));
        let mut facts = Self {
            bindings: Vec::new(),
            by_node: HashMap::new(),
            outermost: HashMap::new(),
            imports,
            classes,
            items: Vec::new(),
            modules: Vec::new(),
            source: source.clone(),
        };
        match source.language() {
            Language::Rust => {
                for node in descendants(source.root()) {
                    match node.kind() {
                        "function_item" => facts.add(&source, &bind(&source, node), None),
                        "mod_item" => {
                            facts.modules.extend(field(node, "body").map(|body| body.byte_range()));
                        }
                        _ => {}
                    }
                    facts.items.extend(RustItem::of(&source, node));
                }
            }
            Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx => {
                facts.add(&source, &bind_module(&source), Some(source.root()));
            }
            _ => {}
        }
        facts
    }

    fn add(&mut self, source: &Source, scopes: &Scopes<'_>, module: Option<Node<'_>>) {
        for one in &scopes.bindings {
            let index = self.bindings.len();
            let outermost = module.is_some_and(|module| one.scope == module.byte_range());
            let is_import = |node: Node<'_>| {
                let kind = |one: Node<'_>| {
                    one.kind().contains("import") || one.kind() == "use_declaration"
                };
                ancestors(node).any(kind)
            };
            let declared = one.declarations.iter().map(|one| Declared {
                at: one.name.byte_range(),
                ty: one.ty.map(|node| node.byte_range()),
                init: one.init.or_else(|| assigned_value(one.name)).map(|node| node.byte_range()),
            });
            let own = |at: usize| one.declarations.iter().any(|one| one.name.start_byte() == at);
            let written = one.uses.iter().filter(|one| one.access.writes());
            let assigned = one.declarations.len() > 1
                || one.declarations.iter().any(|one| one.in_loop)
                || written.into_iter().any(|one| !own(one.node.start_byte()));
            // In Rust a name that a function's items have belongs to the item, which the table of
            // items has.
            if source.language() == Language::Rust && one.keyword() == Keyword::Item {
                continue;
            }
            self.bindings.push(Binding {
                name: one.name.clone(),
                declarations: declared.collect(),
                outermost,
                imported: one.declarations.iter().any(|one| is_import(one.name)),
                declared: one.declarations.iter().any(|one| !is_import(one.name)),
                assigned,
            });
            let nodes = one.declarations.iter().map(|one| one.name);
            for node in nodes.chain(one.uses.iter().map(|one| one.node)) {
                self.by_node.insert(node.start_byte(), index);
            }
            if outermost {
                self.outermost.insert(one.name.clone(), index);
            }
        }
    }

    /// Returns the binding that the name at a byte refers to.
    pub(super) fn binding_at(&self, at: usize) -> Option<(usize, &Binding)> {
        let index = *self.by_node.get(&at)?;
        self.bindings.get(index).map(|one| (index, one))
    }

    pub(super) fn outermost(&self, name: &str) -> Option<&Binding> {
        self.bindings.get(*self.outermost.get(name)?)
    }

    /// The items of Rust of a name that a scope declares.
    pub(super) fn items_of<'f>(
        &'f self,
        scope: usize,
        name: &'f str,
        space: Space,
    ) -> impl Iterator<Item = &'f RustItem> {
        let same = move |one: &&RustItem| {
            one.extent.start == scope && one.name == name && one.space == space
        };
        self.items.iter().filter(same)
    }

    /// Returns the innermost bytes around a position that are a module of Rust; elsewhere the whole
    /// file.
    pub(super) fn module_extent(&self, at: usize) -> Range<usize> {
        let modules = self.modules.iter().filter(|one| one.contains(&at));
        modules.min_by_key(|one| one.len()).cloned().unwrap_or(0..self.source.text().len() + 1)
    }

    /// Returns the innermost imports of a name that are visible at a byte.
    pub(super) fn imports_at(&self, name: &str, at: usize) -> Vec<&Import> {
        let seen = self.imports.iter().filter(|one| one.name == name && one.extent.contains(&at));
        let seen: Vec<_> = seen.filter(|one| !one.only_exported).collect();
        let inner = seen.iter().map(|one| one.extent.len()).min();
        seen.into_iter().filter(|one| Some(one.extent.len()) == inner).collect()
    }
}

/// Returns the value that a Python assignment gives to this name alone.
fn assigned_value<'t>(name: Node<'t>) -> Option<Node<'t>> {
    let assignment = name.parent().filter(|one| one.kind() == "assignment")?;
    field(assignment, "right").filter(|_| field(assignment, "left") == Some(name))
}
