//! Resolves a name where it occurs, by the enclosing scopes, the imports of its file, and the
//! imported modules.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::ancestors;

use super::classes::{class_around, is_in_class_body};
use super::facts::Facts;
use super::imports::{Import, Imported};
use super::meaning::{Entity, FileId, Meaning, Space};
use super::modules::{Names, Rules, rules};
use super::occurrences::CRATES;
use super::project::Project;

/// The most steps by which a name is followed through imports, aliases and types.
const STEPS_MAX: usize = 48;

/// The `impl` blocks of Rust by their type: each a file, and the index among the file's types.
pub(super) type ImplBlocks = HashMap<Entity, Vec<(FileId, usize)>>;

/// Resolves names.
pub(super) struct Resolver<'a, 'p> {
    pub project: &'a Project<'p>,
    pub language: Language,
    /// The files that mention the name, in which its members and their blocks can be.
    pub units: Vec<FileId>,
    pub rules: Box<dyn Rules>,
    /// What is being resolved, so that a circle of imports ends.
    busy: RefCell<BTreeSet<(FileId, usize, String, Space)>>,
    pub(super) impl_blocks: RefCell<Option<Rc<ImplBlocks>>>,
    steps: RefCell<usize>,
}

impl<'a, 'p> Resolver<'a, 'p> {
    pub(super) fn new(project: &'a Project<'p>, language: Language, units: Vec<FileId>) -> Self {
        let rules = rules(language, project);
        let (busy, impl_blocks, steps) = Default::default();
        Self { project, language, units, rules, busy, impl_blocks, steps }
    }

    /// Takes one step further; without a result if there were too many.
    pub(super) fn step(&self, next: impl FnOnce() -> Meaning) -> Meaning {
        if *self.steps.borrow() >= STEPS_MAX {
            return Meaning::unknown();
        }
        *self.steps.borrow_mut() += 1;
        let meaning = next();
        *self.steps.borrow_mut() -= 1;
        meaning
    }

    fn is_rust(&self) -> bool {
        self.language == Language::Rust
    }

    /// What a name means that stands alone.
    pub(super) fn free(&self, file: FileId, node: Node<'_>, space: Space) -> Meaning {
        let Some(facts) = self.project.facts(file) else { return Meaning::unknown() };
        let (at, name) = (node.start_byte(), facts.source.text_of(node));
        if self.language == Language::Python
            && let Some(class) = is_in_class_body(node)
            && let Some(owner) = self.class_entity(file, &facts, class.start_byte())
            && self.declares(&owner, name, Space::Any)
        {
            return Meaning::of(Entity::member(&owner, name, Space::Any));
        }
        if let Some((index, binding)) = facts.binding_at(at)
            && !binding.outermost
        {
            return match (binding.imported, binding.declared) {
                (true, false) => self.visible(file, at, name, space),
                (true, true) => Meaning::unknown(),
                (false, _) => Meaning::of(self.binding_entity(file, &facts, index)),
            };
        }
        if self.is_rust() && is_in_unbound_code(node) {
            return Meaning::unknown();
        }
        self.visible(file, at, name, space)
    }

    /// The entity that a binding is.
    pub(super) fn binding_entity(&self, file: FileId, facts: &Facts, index: usize) -> Entity {
        let Some(binding) = facts.bindings.get(index) else { return Entity::Unknown };
        let first = binding.declarations.first().map_or(0, |one| one.at.start);
        if let Some(entity) = self.member_at(file, facts, first) {
            return entity;
        }
        match binding.outermost {
            true => Entity::item(file, 0, &binding.name, Space::Any),
            false => Entity::Local { file, binding: index },
        }
    }

    /// The member whose declaration stands at a byte.
    pub(super) fn member_at(&self, file: FileId, facts: &Facts, at: usize) -> Option<Entity> {
        let declares = |one: &&super::classes::Member| one.at.start == at;
        let mut all = facts.classes.iter();
        let (class, one) =
            all.find_map(|class| Some((class, class.members.iter().find(declares)?)))?;
        let owner = self.owner(file, facts, class)?;
        Some(Entity::member(&owner, &one.name, one.space))
    }

    /// What is declared at a byte.
    pub(super) fn declared_at(&self, file: FileId, at: usize) -> Option<Entity> {
        let facts = self.project.facts(file)?;
        if let Some(entity) = self.member_at(file, &facts, at) {
            return Some(entity);
        }
        if let Some(one) = facts.items.iter().find(|one| one.at.start == at) {
            return Some(Entity::item(file, one.extent.start, &one.name, one.space));
        }
        let (index, binding) = facts.binding_at(at)?;
        let declared = binding.declarations.iter().any(|one| one.at.start == at);
        declared.then(|| self.binding_entity(file, &facts, index))
    }

    /// The entity of the type around a byte.
    pub(super) fn class_entity(&self, file: FileId, facts: &Facts, at: usize) -> Option<Entity> {
        let class = facts.classes.get(class_around(&facts.classes, at)?)?;
        self.owner(file, facts, class)
    }

    /// The module around a byte.
    pub(super) fn module_at(&self, file: FileId, at: usize) -> Entity {
        let Some(facts) = self.project.facts(file) else { return Entity::Unknown };
        Entity::Module { file, scope: facts.module_extent(at).start }
    }

    /// What a name means at a byte outside of the scopes of variables.
    pub(super) fn visible(&self, file: FileId, at: usize, name: &str, space: Space) -> Meaning {
        let mut meaning = Meaning::default();
        if !self.explicit_into(file, at, name, space, &mut meaning) {
            meaning.extend(self.globbed(file, at, name, space).0);
        }
        meaning
    }

    /// What a name means that the scopes around a byte declare or import by name.
    pub(super) fn explicit(&self, file: FileId, at: usize, name: &str, space: Space) -> Meaning {
        let mut meaning = Meaning::default();
        self.explicit_into(file, at, name, space, &mut meaning);
        meaning
    }

    /// Collects what [`Self::explicit`] returns. False if the name may mean something else as well:
    /// if nothing was found, or only what some builds have.
    fn explicit_into(
        &self,
        file: FileId,
        at: usize,
        name: &str,
        space: Space,
        meaning: &mut Meaning,
    ) -> bool {
        let Some(facts) = self.project.facts(file) else {
            meaning.extend([Entity::Unknown]);
            return true;
        };
        if !self.is_rust() {
            let own = facts.outermost(name).filter(|one| one.declared);
            meaning.extend(own.map(|one| Entity::item(file, 0, &one.name, Space::Any)));
            for import in facts.imports_at(name, at) {
                meaning.extend(self.import(file, import, space).0);
            }
            return !meaning.is_empty();
        }
        let module = facts.module_extent(at);
        let fits = |extent: &Range<usize>| {
            extent.contains(&at) && extent.start >= module.start && extent.end <= module.end
        };
        let items = facts.items.iter().filter(|one| one.name == name && fits(&one.extent));
        let items: Vec<_> = items.filter(|one| one.is_in(space)).collect();
        let imports = facts.imports.iter().filter(|one| one.name == name && fits(&one.extent));
        let imports: Vec<_> = imports.collect();
        let lengths = items.iter().map(|one| one.extent.len());
        let lengths = lengths.chain(imports.iter().map(|one| one.extent.len()));
        let mut lengths: Vec<usize> = lengths.collect();
        lengths.sort_unstable();
        lengths.dedup();
        for length in lengths {
            let mut certain = false;
            for one in items.iter().filter(|one| one.extent.len() == length) {
                meaning.extend([Entity::item(file, one.extent.start, &one.name, one.space)]);
                certain |= !one.conditional;
            }
            for import in imports.iter().filter(|one| one.extent.len() == length) {
                // What is imported may be of another space than the one that is meant.
                let imported = self.import(file, import, space);
                let fitting = imported.0.into_iter().filter(|one| one.is_in(space));
                let fitting: Vec<_> = fitting.collect();
                certain |= !fitting.is_empty() && !import.conditional;
                meaning.extend(fitting);
            }
            if certain {
                return true;
            }
        }
        false
    }

    /// What a name means that a file may have from a module of which it imports everything.
    fn globbed(&self, file: FileId, at: usize, name: &str, space: Space) -> Meaning {
        let Some(facts) = self.project.facts(file) else { return Meaning::unknown() };
        let module = facts.module_extent(at);
        let globs = facts.imports.iter().filter(|one| {
            one.what == Imported::All
                && one.extent.contains(&at)
                && one.extent.start >= module.start
                && one.extent.end <= module.end
        });
        self.globs_name(file, globs.collect(), name, space)
    }

    fn globs_name(&self, file: FileId, globs: Vec<&Import>, name: &str, space: Space) -> Meaning {
        let (mut meaning, mut unseen) = (Meaning::default(), false);
        for glob in globs {
            let modules = self.import(file, glob, space);
            for module in &modules.0 {
                match module {
                    Entity::Outside | Entity::Unknown => unseen = true,
                    module => {
                        let found = self.descend(module, name, space);
                        unseen |= found.is_unknown();
                        meaning.extend(found.0);
                    }
                }
            }
        }
        // In Python the last of several wins; elsewhere two that differ are an error.
        let certain = !meaning.is_empty() && self.language != Language::Python;
        if unseen && !certain {
            meaning.0.insert(Entity::Unknown);
        }
        meaning
    }

    /// What an import brings in.
    pub(super) fn import(&self, file: FileId, import: &Import, space: Space) -> Meaning {
        let key = (file, import.extent.start, format!("{}={:?}", import.name, import.path), space);
        if !self.busy.borrow_mut().insert(key.clone()) {
            return Meaning::default();
        }
        let at = import.extent.start;
        let meaning = self.step(|| match &import.what {
            Imported::Unknown => Meaning::unknown(),
            Imported::Own(name) => self.visible(file, at, name, space),
            Imported::Module | Imported::All => self.rules.module(self, (file, at), &import.path),
            Imported::Name(name) if import.path == [CRATES] => {
                self.rules.module(self, (file, at), &[CRATES.to_owned(), name.clone()])
            }
            Imported::Name(name) => {
                let modules = self.rules.module(self, (file, at), &import.path);
                modules.then(|module| self.descend(module, name, space))
            }
        });
        self.busy.borrow_mut().remove(&key);
        meaning
    }

    /// The meaning of a name within a module, or as a member of a type.
    pub(super) fn descend(&self, entity: &Entity, name: &str, space: Space) -> Meaning {
        self.step(|| match entity {
            Entity::Outside => Meaning::outside(),
            Entity::Unknown | Entity::Local { .. } | Entity::Member { .. } => Meaning::unknown(),
            Entity::Package(directory) => self.rules.submodule(self, directory, name),
            Entity::Module { file, scope } => self.in_module(*file, *scope, name, space),
            Entity::Item { .. } => match self.rules.module_of_item(self, entity) {
                Some(module) => module.then(|module| self.descend(module, name, space)),
                None => self.member(entity, name, space),
            },
        })
    }

    /// What a module has under a name.
    pub(super) fn in_module(
        &self,
        file: FileId,
        scope: usize,
        name: &str,
        space: Space,
    ) -> Meaning {
        let key = (file, scope, name.to_owned(), space);
        if !self.busy.borrow_mut().insert(key.clone()) {
            return Meaning::default();
        }
        let meaning = self.in_module_once(file, scope, name, space);
        self.busy.borrow_mut().remove(&key);
        meaning
    }

    fn in_module_once(&self, file: FileId, scope: usize, name: &str, space: Space) -> Meaning {
        let Some(facts) = self.project.facts(file) else { return Meaning::unknown() };
        if self.language.is_ecmascript() {
            let exports = facts.imports.iter().filter(|one| one.only_exported);
            let exports: Vec<_> = exports.collect();
            if let Some(one) = exports.iter().find(|one| one.name == name) {
                return self.import(file, one, space);
            }
            return self.explicit(file, 0, name, space).or(|| {
                let globs = exports.into_iter().filter(|one| one.what == Imported::All);
                self.globs_name(file, globs.collect(), name, space)
            });
        }
        if self.is_rust() {
            return self.visible(file, scope, name, space);
        }
        self.explicit(file, 0, name, space)
            .or(|| {
                let directory = self.project.path(file).parent().filter(|_| {
                    self.project.path(file).file_stem().is_some_and(|stem| stem == "__init__")
                });
                let directory = directory.and_then(|directory| directory.to_str());
                directory.map(|of| self.rules.submodule(self, of, name)).unwrap_or_default()
            })
            .or(|| self.globbed(file, 0, name, space))
            .or(|| match facts.outermost("__getattr__") {
                Some(_) => Meaning::unknown(),
                None => Meaning::default(),
            })
    }

    /// What a path of Rust means.
    pub(super) fn path(
        &self,
        (file, at): (FileId, usize),
        path: &[String],
        space: Space,
    ) -> Meaning {
        let Some((last, before)) = path.split_last() else { return Meaning::unknown() };
        if before.is_empty() {
            let alone = self.rules.module(self, (file, at), path);
            let own = matches!(last.as_str(), "crate" | "self" | "super" | "Self");
            return if own { alone } else { self.visible(file, at, last, space) };
        }
        let modules = self.rules.module(self, (file, at), before);
        modules.then(|module| self.descend(module, last, space))
    }
}

impl<'p> Names<'p> for Resolver<'_, 'p> {
    fn project(&self) -> &Project<'p> {
        self.project
    }

    fn module_at(&self, file: FileId, at: usize) -> Entity {
        self.module_at(file, at)
    }

    fn self_type(&self, file: FileId, facts: &Facts, at: usize) -> Option<Entity> {
        self.self_type(file, facts, at)
    }

    fn descend(&self, entity: &Entity, name: &str, space: Space) -> Meaning {
        self.descend(entity, name, space)
    }

    fn explicit(&self, file: FileId, at: usize, name: &str, space: Space) -> Meaning {
        self.explicit(file, at, name, space)
    }

    fn visible(&self, file: FileId, at: usize, name: &str, space: Space) -> Meaning {
        self.visible(file, at, name, space)
    }
}

/// True for code with variables whose scopes aren't known: the value of a constant.
fn is_in_unbound_code(node: Node<'_>) -> bool {
    let inner =
        |one: &Node<'_>| matches!(one.kind(), "block" | "closure_expression" | "function_item");
    let all: Vec<_> = ancestors(node).filter(inner).collect();
    let item_around = |one: Node<'_>| {
        ancestors(one)
            .find(|up| up.kind().ends_with("_item"))
            .is_some_and(|up| matches!(up.kind(), "const_item" | "static_item" | "enum_item"))
    };
    !all.is_empty() && !all.iter().any(|one| one.kind() == "function_item")
        || all.iter().any(|one| one.kind() != "function_item" && item_around(*one))
}
