//! Finds declarations that must have the same name: a method and its overrides, an interface and
//! the types that satisfy it.

use std::collections::{BTreeMap, BTreeSet};

use crate::language::Language;

use super::meaning::{Entity, FileId, Space};
use super::resolve::Resolver;

/// Entities that are renamed together.
pub(super) struct OverrideGroup {
    /// The entities that are renamed.
    pub own: BTreeSet<Entity>,
    /// Entities that may have to be renamed as well.
    pub doubtful: BTreeSet<Entity>,
    /// The reason why even the renamed entities may have to keep their name.
    pub doubt: Option<String>,
}

/// The override group of an entity.
///
/// # Errors
/// It says what names the entity that isn't in the project.
pub(super) fn override_group(
    names: &Resolver<'_, '_>,
    target: &Entity,
    name: &str,
) -> Result<OverrideGroup, String> {
    let (own, doubtful) = (BTreeSet::from([target.clone()]), BTreeSet::new());
    let mut group = OverrideGroup { own, doubtful, doubt: None };
    let Entity::Member { owner, space, .. } = target else {
        group.own.extend(twins(names, target));
        return Ok(group);
    };
    if matches!(**owner, Entity::Outside | Entity::Unknown) {
        return Err(format!("{name} is named by a trait that isn't in the project"));
    }
    if names.language == Language::Rust {
        return Ok(group);
    }
    let all = declaring(names, name);
    let mut groups = Groups::of(&all);
    let mut unsure = BTreeSet::new();
    for owner in &all {
        let (bases, open) = names.overridden(owner, name);
        bases.iter().for_each(|base| groups.join(owner, base));
        if open {
            unsure.insert(owner.clone());
        }
    }
    if all.len() > 1 {
        join_by_subtypes(names, &all, name, &mut groups);
    }
    let mut own = groups.of_one(owner);
    let twins: Vec<_> = own.iter().flat_map(|one| twins(names, one)).collect();
    own.extend(twins.iter().flat_map(|one| groups.of_one(one)));
    if own.iter().any(|one| unsure.contains(one)) {
        group.doubt = Some(format!(
            "{name} may be declared by a base that isn't in the project, or that couldn't be resolved"
        ));
    }
    for other in all.iter().filter(|one| !own.contains(*one)) {
        // What fits a type of TypeScript by its form needs no declaration of that.
        let by_form = names.language.is_ecmascript()
            && (is_typescript(names, other) || own.iter().any(|one| is_typescript(names, one)));
        if by_form || unsure.contains(other) && group.doubt.is_some() {
            group.doubtful.insert(Entity::member(other, name, *space));
        }
    }
    group.own.extend(own.iter().map(|one| Entity::member(one, name, *space)));
    Ok(group)
}

/// The items that describe the same thing in a stub, or that a stub describes: the module beside a
/// stub may have the name from another one.
fn twins(names: &Resolver<'_, '_>, entity: &Entity) -> Vec<Entity> {
    let Entity::Item { file, scope: 0, name, .. } = entity else { return Vec::new() };
    let in_twins = |file: FileId| {
        let twins = names.rules.twins(names.project, file).into_iter();
        let found = twins.map(|twin| names.in_module(twin, 0, name, Space::Any));
        found.flat_map(|found| found.0).filter(|one| matches!(one, Entity::Item { .. }))
    };
    let mut all: Vec<Entity> = in_twins(*file).collect();
    for unit in &names.units {
        let declares = names
            .project
            .facts(*unit)
            .is_some_and(|facts| facts.outermost(name).is_some_and(|one| one.declared));
        if declares && in_twins(*unit).any(|one| one == *entity) {
            all.push(Entity::item(*unit, 0, name, Space::Any));
        }
    }
    all
}

/// The types that declare a member of a name.
fn declaring(names: &Resolver<'_, '_>, name: &str) -> Vec<Entity> {
    let mut all = BTreeSet::new();
    for file in &names.units {
        let Some(facts) = names.project.facts(*file) else { continue };
        let classes = facts.classes.iter();
        for class in classes.filter(|one| one.members.iter().any(|one| one.name == name)) {
            all.extend(names.owner(*file, &facts, class));
        }
    }
    all.into_iter().collect()
}

fn is_typescript(names: &Resolver<'_, '_>, entity: &Entity) -> bool {
    let (Entity::Item { file, .. } | Entity::Local { file, .. }) = entity else { return true };
    Language::of_path(names.project.path(*file)) != Some(Language::JavaScript)
}

/// Joins what one type inherits from several: `class Both(One, Other)`.
fn join_by_subtypes(names: &Resolver<'_, '_>, all: &[Entity], name: &str, groups: &mut Groups) {
    let mut type_names = BTreeSet::new();
    for owner in all {
        for (file, class) in names.classes_of(owner) {
            let Some(facts) = names.project.facts(file) else { continue };
            type_names.insert(facts.source.text()[class.at].to_owned());
        }
    }
    let paths: Vec<_> = names.project.paths().map(|(file, _)| file).collect();
    for file in paths.into_iter().filter(|file| is_own_language(names, *file)) {
        if !type_names.iter().any(|name| names.project.mentions(file, name)) {
            continue;
        }
        let Some(facts) = names.project.facts(file) else { continue };
        for class in facts.classes.iter().filter(|one| !one.bases.is_empty()) {
            let Some(owner) = names.owner(file, &facts, class) else { continue };
            let (bases, _) = names.overridden(&owner, name);
            for pair in bases.windows(2) {
                groups.join(&pair[0], &pair[1]);
            }
        }
    }
}

fn is_own_language(names: &Resolver<'_, '_>, file: usize) -> bool {
    let language = Language::of_path(names.project.path(file));
    language.is_some_and(|one| {
        one == names.language || one.is_ecmascript() && names.language.is_ecmascript()
    })
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
