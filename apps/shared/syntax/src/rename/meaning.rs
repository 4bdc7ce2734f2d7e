//! What a name means, and how far that is proof.
//!
//! **An occurrence is proven in one way only:** by resolving it, with the rules of its language, to
//! the symbol that is renamed. Whatever couldn't be resolved stays [`Entity::Unknown`], from which
//! no proof can be made.

use std::collections::BTreeSet;
use std::rc::Rc;

/// The index of a file of the project.
pub(super) type FileId = usize;

/// The namespace in which a name is looked up. Only Rust has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Space {
    /// Functions, constants, and the methods of a type.
    Value,
    /// Types and modules, and the fields of a type.
    Type,
    /// Macros.
    Macro,
    /// Everything, in languages with one space.
    Any,
}

/// Something that a name can mean.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Entity {
    /// All declarations of a name in one scope outside of functions. `scope` is the scope's first
    /// byte.
    Item { file: FileId, scope: usize, name: Rc<str>, space: Space },
    /// A variable or an item of a function; `binding` is its index among the file's.
    Local { file: FileId, binding: usize },
    /// A member that a type declares.
    Member { owner: Rc<Entity>, name: Rc<str>, space: Space },
    /// A file as a module, or with `scope` a module within a file.
    Module { file: FileId, scope: usize },
    /// A directory that is a package without a file of its own.
    Package(Rc<str>),
    /// Something that isn't declared in the project.
    Outside,
    /// An entity that couldn't be resolved.
    Unknown,
}

impl Entity {
    pub(super) fn item(file: FileId, scope: usize, name: &str, space: Space) -> Self {
        Self::Item { file, scope, name: Rc::from(name), space }
    }

    pub(super) fn member(owner: &Self, name: &str, space: Space) -> Self {
        Self::Member { owner: Rc::new(owner.clone()), name: Rc::from(name), space }
    }

    /// True if the entity can be meant where a name of a space is.
    pub(super) fn is_in(&self, wanted: Space) -> bool {
        match self {
            Self::Item { space, .. } => {
                wanted == Space::Any || *space == wanted || *space == Space::Any
                // The name of a struct is a value, too, if it has no names for its fields.
                || (wanted == Space::Value && *space == Space::Type)
            }
            Self::Module { .. } | Self::Package(_) => wanted != Space::Macro,
            _ => true,
        }
    }

    /// The space in which a name that means the entity is looked up.
    pub(super) fn space(&self) -> Space {
        match self {
            Self::Item { space, .. } | Self::Member { space, .. } => *space,
            _ => Space::Any,
        }
    }
}

/// All entities that a name may mean. Empty if nothing declares the name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Meaning(pub BTreeSet<Entity>);

impl Meaning {
    pub(super) fn of(entity: Entity) -> Self {
        Self(BTreeSet::from([entity]))
    }

    pub(super) fn unknown() -> Self {
        Self::of(Entity::Unknown)
    }

    pub(super) fn outside() -> Self {
        Self::of(Entity::Outside)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.0.contains(&Entity::Unknown)
    }

    /// Itself, or what is made where nothing was found.
    pub(super) fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_empty() { other() } else { self }
    }

    /// Follows each entity to what it leads to. What leads nowhere is unknown.
    pub(super) fn then(&self, mut follow: impl FnMut(&Entity) -> Meaning) -> Self {
        let mut all = Self::default();
        for entity in &self.0 {
            match entity {
                Entity::Outside | Entity::Unknown => {
                    all.0.insert(entity.clone());
                }
                entity => {
                    let next = follow(entity).or(Meaning::unknown);
                    all.0.extend(next.0);
                }
            }
        }
        all
    }

    /// Itself, with what is outside of the project as unknown.
    pub(super) fn then_or_unknown(self) -> Self {
        let known = |one| if one == Entity::Outside { Entity::Unknown } else { one };
        Self(self.0.into_iter().map(known).collect())
    }

    /// The entity that is meant, if there is exactly one.
    pub(super) fn only(&self) -> Option<&Entity> {
        self.0.first().filter(|_| self.0.len() == 1)
    }
}

impl Extend<Entity> for Meaning {
    fn extend<T: IntoIterator<Item = Entity>>(&mut self, all: T) {
        self.0.extend(all);
    }
}

/// Proof that an occurrence was resolved to the symbol. Only [`weigh`] creates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Proof(());

/// The evidence on whether an occurrence is the symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The occurrence is the symbol.
    Proven(Proof),
    /// The occurrence may be the symbol.
    Possible,
    /// The occurrence is something else.
    Other,
}

/// Compares what an occurrence may mean with the entities that are renamed.
pub(super) fn weigh(meaning: &Meaning, group: &BTreeSet<Entity>) -> Evidence {
    let own = meaning.0.iter().filter(|one| group.contains(one)).count();
    if own > 0 && own == meaning.0.len() {
        return Evidence::Proven(Proof(()));
    }
    if own > 0 || meaning.is_unknown() { Evidence::Possible } else { Evidence::Other }
}
