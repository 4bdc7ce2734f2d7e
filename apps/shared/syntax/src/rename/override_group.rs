//! Which declarations must have the same name: a method and those that override it, an interface and what fits it.

use std::collections::{BTreeMap, BTreeSet};

use crate::language::Language;

use super::meaning::{Entity, Space};
use super::project::File;
use super::resolve::{Resolver, item, member};

/// What is renamed together.
pub(super) struct OverrideGroup {
    /// The entities that are renamed.
    pub own: BTreeSet<Entity>,
    /// Those that may have to be renamed with them.
    pub doubtful: BTreeSet<Entity>,
    /// Why even those that are renamed may have to keep their name.
    pub doubt: Option<String>,
}

impl Resolver<'_, '_> {
    /// The override group of an entity.
    ///
    /// # Errors
    /// It says what names the entity that isn't in the project.
    pub(super) fn override_group(
        &self,
        target: &Entity,
        name: &str,
    ) -> Result<OverrideGroup, String> {
        let (own, doubtful) = (BTreeSet::from([target.clone()]), BTreeSet::new());
        let mut group = OverrideGroup { own, doubtful, doubt: None };
        let Entity::Member { owner, space, .. } = target else {
            group.own.extend(self.twins(target));
            return Ok(group);
        };
        if matches!(**owner, Entity::Outside | Entity::Unknown) {
            return Err(format!("{name} is named by a trait that isn't in the project"));
        }
        if self.language == Language::Rust {
            return Ok(group);
        }
        let all = self.declaring(name);
        let mut groups = Groups::of(&all);
        let mut unsure = BTreeSet::new();
        for owner in &all {
            let (bases, open) = self.overridden(owner, name);
            bases.iter().for_each(|base| groups.join(owner, base));
            if open {
                unsure.insert(owner.clone());
            }
        }
        if all.len() > 1 {
            self.join_by_subtypes(&all, name, &mut groups);
        }
        let mut own = groups.of_one(owner);
        let twins: Vec<_> = own.iter().flat_map(|one| self.twins(one)).collect();
        own.extend(twins.iter().flat_map(|one| groups.of_one(one)));
        if own.iter().any(|one| unsure.contains(one)) {
            group.doubt = Some(format!(
                "{name} may be declared by a base that isn't in the project, or that couldn't be resolved"
            ));
        }
        for other in all.iter().filter(|one| !own.contains(*one)) {
            // What fits a type of TypeScript by its form needs no declaration of that.
            let by_form = self.language.is_ecmascript()
                && (self.is_typescript(other) || own.iter().any(|one| self.is_typescript(one)));
            if by_form || unsure.contains(other) && group.doubt.is_some() {
                group.doubtful.insert(member(other, name, *space));
            }
        }
        group.own.extend(own.iter().map(|one| member(one, name, *space)));
        Ok(group)
    }

    /// The items that describe the same thing in a stub, or that a stub describes: the module beside a stub may have
    /// the name from another one.
    fn twins(&self, entity: &Entity) -> Vec<Entity> {
        let Entity::Item { file, scope: 0, name, .. } = entity else { return Vec::new() };
        let in_twins = |file: File| {
            let twins = self.rules.twins(self.project, file).into_iter();
            let found = twins.map(|twin| self.in_module(twin, 0, name, Space::Any));
            found.flat_map(|found| found.0).filter(|one| matches!(one, Entity::Item { .. }))
        };
        let mut all: Vec<Entity> = in_twins(*file).collect();
        for unit in &self.units {
            let declares = self
                .project
                .facts(*unit)
                .is_some_and(|facts| facts.outermost(name).is_some_and(|one| one.declared));
            if declares && in_twins(*unit).any(|one| one == *entity) {
                all.push(item(*unit, 0, name, Space::Any));
            }
        }
        all
    }

    /// The types that declare a member of a name.
    fn declaring(&self, name: &str) -> Vec<Entity> {
        let mut all = BTreeSet::new();
        for file in &self.units {
            let Some(facts) = self.project.facts(*file) else { continue };
            let classes = facts.classes.iter();
            for class in classes.filter(|one| one.members.iter().any(|one| one.name == name)) {
                all.extend(self.owner(*file, &facts, class));
            }
        }
        all.into_iter().collect()
    }

    fn is_typescript(&self, entity: &Entity) -> bool {
        let (Entity::Item { file, .. } | Entity::Local { file, .. }) = entity else { return true };
        Language::of_path(self.project.path(*file)) != Some(Language::JavaScript)
    }

    /// Joins what one type inherits from several: `class Both(One, Other)`.
    fn join_by_subtypes(&self, all: &[Entity], name: &str, groups: &mut Groups) {
        let mut names = BTreeSet::new();
        for owner in all {
            for (file, class) in self.classes_of(owner) {
                let Some(facts) = self.project.facts(file) else { continue };
                names.insert(facts.source.text()[class.at].to_owned());
            }
        }
        let paths: Vec<_> = self.project.paths().map(|(file, _)| file).collect();
        for file in paths.into_iter().filter(|file| self.is_own_language(*file)) {
            if !names.iter().any(|name| self.project.mentions(file, name)) {
                continue;
            }
            let Some(facts) = self.project.facts(file) else { continue };
            for class in facts.classes.iter().filter(|one| !one.bases.is_empty()) {
                let Some(owner) = self.owner(file, &facts, class) else { continue };
                let (bases, _) = self.overridden(&owner, name);
                for pair in bases.windows(2) {
                    groups.join(&pair[0], &pair[1]);
                }
            }
        }
    }

    fn is_own_language(&self, file: usize) -> bool {
        let language = Language::of_path(self.project.path(file));
        language.is_some_and(|one| {
            one == self.language || one.is_ecmascript() && self.language.is_ecmascript()
        })
    }

    /// The space of a member, as a name that means it is looked up.
    pub(super) fn space_of(entity: &Entity) -> Space {
        match entity {
            Entity::Item { space, .. } | Entity::Member { space, .. } => *space,
            _ => Space::Any,
        }
    }
}

/// Types that are joined into groups.
struct Groups(BTreeMap<Entity, usize>);

impl Groups {
    fn of(all: &[Entity]) -> Self {
        Self(all.iter().cloned().enumerate().map(|(index, one)| (one, index)).collect())
    }

    fn join(&mut self, one: &Entity, other: &Entity) {
        let (Some(&to), Some(&from)) = (self.0.get(one), self.0.get(other)) else { return };
        self.0.values_mut().filter(|group| **group == from).for_each(|group| *group = to);
    }

    fn of_one(&self, one: &Entity) -> BTreeSet<Entity> {
        let group = self.0.get(one);
        let same = self.0.iter().filter(|(_, other)| Some(*other) == group);
        same.map(|(one, _)| one.clone()).chain([one.clone()]).collect()
    }
}
