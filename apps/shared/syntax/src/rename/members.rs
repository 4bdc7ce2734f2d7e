//! Finds the type that declares a member: the type itself or one of its base types.

use std::rc::Rc;

use tree_sitter::Node;

use crate::language::Language;

use super::classes::{Class, Member};
use super::facts::Facts;
use super::meaning::{Entity, FileId, Meaning, Space};
use super::resolve::{ImplBlocks, Resolver};

impl Resolver<'_, '_> {
    /// The entity of a type, or what an `impl` is of.
    pub(super) fn owner(&self, file: FileId, facts: &Facts, class: &Class) -> Option<Entity> {
        if !class.is_impl {
            let at = class.at.start;
            if let Some(one) = facts.items.iter().find(|one| one.at.start == at) {
                return Some(Entity::item(file, one.extent.start, &one.name, one.space));
            }
            let (index, _) = facts.binding_at(at)?;
            // A class within another one is a member of it, and owns its own members as a binding.
            return match facts.bindings.get(index)?.outermost {
                true => {
                    let name = &facts.bindings.get(index)?.name;
                    Some(Entity::item(file, 0, name, Space::Any))
                }
                false => Some(Entity::Local { file, binding: index }),
            };
        }
        let node = facts.source.node_at(&class.at);
        // The members of `impl Trait for Type` are the trait's.
        match class.bases.first() {
            Some(base) => self.type_entity(file, facts.source.node_at(base)).only().cloned(),
            None => self.impl_owner(file, node),
        }
    }

    /// The `impl` blocks in the files that mention the name.
    fn impl_blocks(&self) -> Rc<ImplBlocks> {
        if let Some(known) = self.impl_blocks.borrow().as_ref() {
            return known.clone();
        }
        // An empty one for what is asked while it is made.
        *self.impl_blocks.borrow_mut() = Some(Rc::default());
        let mut blocks = ImplBlocks::new();
        for file in &self.units {
            let Some(facts) = self.project.facts(*file) else { continue };
            for (index, class) in facts.classes.iter().enumerate().filter(|(_, one)| one.is_impl) {
                let node = facts.source.node_at(&class.at);
                if let Some(owner) = self.impl_owner(*file, node) {
                    blocks.entry(owner).or_default().push((*file, index));
                }
            }
        }
        let blocks = Rc::new(blocks);
        *self.impl_blocks.borrow_mut() = Some(blocks.clone());
        blocks
    }

    /// The type that an `impl` is of.
    pub(super) fn impl_owner(&self, file: FileId, node: Node<'_>) -> Option<Entity> {
        self.type_entity(file, node).only().cloned()
    }

    /// The declarations of a type, each with its file.
    pub(super) fn classes_of(&self, owner: &Entity) -> Vec<(FileId, Class)> {
        let file = match owner {
            Entity::Item { file, .. } | Entity::Local { file, .. } => *file,
            _ => return Vec::new(),
        };
        let mut all = Vec::new();
        if let Some(facts) = self.project.facts(file) {
            let own = facts.classes.iter().filter(|one| !one.is_impl);
            let own = own.filter(|one| self.owner(file, &facts, one).as_ref() == Some(owner));
            all.extend(own.map(|one| (file, one.clone())));
        }
        if self.language == Language::Rust {
            for (file, index) in self.impl_blocks().get(owner).into_iter().flatten() {
                let facts = self.project.facts(*file);
                let class = facts.and_then(|facts| facts.classes.get(*index).cloned());
                all.extend(class.map(|class| (*file, class)));
            }
        }
        all
    }

    /// True if a type itself declares a member.
    pub(super) fn declares(&self, owner: &Entity, name: &str, space: Space) -> bool {
        !self.declarations(owner, name, space).is_empty()
    }

    /// The declarations of a member in the type itself, each with its file.
    pub(super) fn declarations(
        &self,
        owner: &Entity,
        name: &str,
        space: Space,
    ) -> Vec<(FileId, Member)> {
        let mut found = Vec::new();
        for (file, class) in self.classes_of(owner) {
            // In Rust what the `impl` of a trait has belongs to the trait.
            if class.is_impl && !class.bases.is_empty() {
                continue;
            }
            let own = class.members.into_iter();
            let own = own.filter(|one| one.name == name && fits(one.space, space));
            found.extend(own.map(|one| (file, one)));
        }
        found
    }

    /// The member that a type has under a name. Empty if neither the type nor what it is derived
    /// from has one.
    pub(super) fn member(&self, owner: &Entity, name: &str, space: Space) -> Meaning {
        let own = self.declarations(owner, name, space);
        if !own.is_empty() {
            let all = own.iter().map(|(_, one)| Entity::member(owner, name, one.space));
            return Meaning(all.collect());
        }
        let classes = self.classes_of(owner);
        if classes.is_empty() {
            return self.alias(owner).then(|of| self.member(of, name, space));
        }
        match self.language {
            Language::Rust => self.member_of_traits(owner, &classes, name, space),
            _ => self.inherited(&classes, name, space),
        }
    }

    /// What a type has from those that it is derived from.
    fn inherited(&self, classes: &[(FileId, Class)], name: &str, space: Space) -> Meaning {
        for base in self.bases(classes).iter().flat_map(|base| &base.0) {
            let found = match base {
                Entity::Outside if self.rules.is_never_inherited(name) => Meaning::default(),
                Entity::Outside | Entity::Unknown => Meaning::unknown(),
                base => self.step(|| self.member(base, name, space)),
            };
            if !found.is_empty() {
                return found;
            }
        }
        Meaning::default()
    }

    /// What the types mean that others are derived from.
    pub(super) fn bases(&self, classes: &[(FileId, Class)]) -> Vec<Meaning> {
        let mut all = Vec::new();
        for (file, class) in classes {
            let Some(facts) = self.project.facts(*file) else { continue };
            for base in &class.bases {
                let node = facts.source.node_at(base);
                if node.kind() == "keyword_argument" {
                    continue;
                }
                let meaning = self.type_entity(*file, node);
                let text = facts.source.text_of(node);
                let name = text.split(['[', '<', '(']).next().unwrap_or_default();
                let name = name.rsplit('.').next().unwrap_or_default();
                // Only of the language's own types it is known what members they have.
                all.push(match self.rules.is_known_base(name) {
                    true => meaning,
                    false => meaning.then_or_unknown(),
                });
            }
        }
        all
    }

    /// In Rust: a method of a trait of the project that the type implements. What isn't found there
    /// may be of any other trait, or of a type that it dereferences to.
    fn member_of_traits(
        &self,
        owner: &Entity,
        classes: &[(FileId, Class)],
        name: &str,
        space: Space,
    ) -> Meaning {
        let mut found = Meaning::default();
        for meaning in self.bases(classes) {
            for of in &meaning.0 {
                if of != owner && self.declares(of, name, space) {
                    found.0.insert(Entity::member(of, name, space));
                }
            }
        }
        found.or(Meaning::unknown)
    }

    /// The types of the project that declare a member which a type's own one overrides, and whether
    /// others may.
    pub(super) fn overridden(&self, owner: &Entity, name: &str) -> (Vec<Entity>, bool) {
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        let (mut open, mut unsure) = (vec![owner.clone()], false);
        while let Some(next) = open.pop() {
            if seen.contains(&next) {
                continue;
            }
            let classes = self.classes_of(&next);
            for base in self.bases(&classes).into_iter().flat_map(|base| base.0) {
                match base {
                    Entity::Outside => unsure |= !self.rules.is_never_inherited(name),
                    Entity::Unknown => unsure = true,
                    base => {
                        if self.declares(&base, name, Space::Any) {
                            found.push(base.clone());
                        }
                        open.push(base);
                    }
                }
            }
            seen.push(next);
        }
        (found, unsure)
    }
}

pub(super) fn fits(space: Space, wanted: Space) -> bool {
    wanted == Space::Any || space == Space::Any || space == wanted
}
