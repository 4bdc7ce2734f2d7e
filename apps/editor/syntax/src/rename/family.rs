//! Which declarations of the name are renamed with the target, and which are its rivals.

use crate::language::Language;
use crate::outline::SymbolKind;

use super::{Declaration, Plan, receivers};

impl Plan<'_> {
    /// Returns the declarations that are the same symbol, or must have the same name.
    pub(super) fn family_of(&self) -> Result<Vec<usize>, String> {
        let target = self.target();
        let mut family = vec![self.target];
        let of_trait = target.found.of_trait.clone();
        let kind = |one: &Declaration| one.found.symbol.kind;
        let trait_of = |one: &Declaration| -> Option<String> {
            // The trait that declares a method, or that it implements.
            one.found.of_trait.clone().or_else(|| {
                let source = self.units[one.unit].source;
                receivers::is_in_trait(source, &one.found).then(|| one.owner.clone()).flatten()
            })
        };
        let own_trait = (self.language() == Language::Rust).then(|| trait_of(target)).flatten();
        if let Some(of) = &own_trait {
            let declared = self
                .declarations
                .iter()
                .filter(|one| one.found.of_trait.is_none() && trait_of(one).as_ref() == Some(of));
            match (declared.count(), of_trait.is_some()) {
                (0, true) => {
                    let name = self.name;
                    return Err(format!(
                        "{name} is named by the trait {of}, which isn't in the project"
                    ));
                }
                (1, _) => {
                    let same = |one: &Declaration| trait_of(one).as_ref() == Some(of);
                    let all = self.declarations.iter().enumerate();
                    family = all.filter(|(_, one)| same(one)).map(|(index, _)| index).collect();
                }
                _ => {}
            }
            return Ok(family);
        }
        for (index, one) in self.declarations.iter().enumerate() {
            let same_place = one.unit == target.unit && one.found.path == target.found.path;
            let same = match self.language() {
                // Overloads with one implementation, a property's getter and setter.
                Language::TypeScript | Language::Tsx | Language::Python => {
                    same_place && kind(one) == kind(target)
                }
                // A prototype and its definition.
                Language::C => {
                    let function = kind(one) == SymbolKind::Function;
                    let shared = one.found.symbol.public && target.found.symbol.public;
                    function && kind(target) == kind(one) && (shared || one.unit == target.unit)
                }
                Language::Cpp => {
                    let unique = |public: bool| {
                        let all = self.declarations.iter();
                        let same = all.filter(|other| {
                            other.found.path == target.found.path
                                && other.found.symbol.body.is_some() == public
                        });
                        same.count() <= 1
                    };
                    let callable =
                        matches!(kind(target), SymbolKind::Function | SymbolKind::Method);
                    callable && one.found.path == target.found.path && unique(true) && unique(false)
                }
                _ => false,
            };
            if same && index != self.target {
                family.push(index);
            }
        }
        Ok(family)
    }

    /// True if nothing else in the units is declared under the name where modules see it; of a member, if nothing
    /// else is at all.
    pub(super) fn is_unique(&self) -> bool {
        let seen = |one: &Declaration| self.is_member() || (one.owner.is_none() && !one.nested);
        let all = self.declarations.iter().enumerate();
        all.filter(|(index, one)| !self.family.contains(index) && seen(one)).count() == 0
    }

    /// True if a declaration can be meant where the target can. In Rust a field and a method may share a name.
    pub(super) fn is_rival(&self, one: &Declaration) -> bool {
        let field = |kind: SymbolKind| kind == SymbolKind::Field;
        self.language() != Language::Rust
            || field(one.found.symbol.kind) == field(self.target().found.symbol.kind)
    }

    /// True if no other member of a type of this name is declared under the name.
    pub(super) fn is_only_of(&self, owner: &str) -> bool {
        let all = self.declarations.iter().enumerate();
        let mut others = all.filter(|(index, one)| {
            one.owner.as_deref() == Some(owner)
                && !self.family.contains(index)
                && self.is_rival(one)
        });
        others.next().is_none()
    }

    /// True if a type has the target, or another one that is renamed with it, as a member.
    pub(super) fn owns(&self, ty: &str) -> bool {
        self.family.iter().any(|index| self.declarations[*index].owner.as_deref() == Some(ty))
    }

    /// True if a type has something else under the name.
    pub(super) fn owns_other(&self, ty: &str) -> bool {
        let all = self.declarations.iter().enumerate();
        let mut others = all.filter(|(index, _)| !self.family.contains(index));
        others.any(|(_, one)| one.owner.as_deref() == Some(ty) && self.is_rival(one))
    }
}
