//! Determines the evidence for an occurrence of the name from its syntactic role.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, ancestors, field};

use super::expressions::{attribute, evaluate};
use super::imports::path_before;
use super::locals::{Hidden, hiding, is_type_parameter};
use super::meaning::{Entity, Evidence, FileId, Meaning, Space, weigh};
use super::modules::has_rules;
use super::occurrences::{Name, Role, segments};
use super::override_group::{OverrideGroup, override_group};
use super::project::Project;
use super::resolve::Resolver;
use super::{Form, Unit};

/// Decides what occurrences of a name are.
pub(super) struct Judge<'a, 'p> {
    resolver: Resolver<'a, 'p>,
    /// The file of each unit.
    files: Vec<Option<FileId>>,
    target: Entity,
    group: OverrideGroup,
    /// The reason why even the declaration may have to keep its name.
    pub doubt: Option<String>,
    name: String,
    /// The unit and the byte range of the declaration to be renamed.
    declared: (usize, Range<usize>),
    resolves: bool,
}

impl<'a, 'p> Judge<'a, 'p> {
    /// # Errors
    /// It says why the symbol can't be renamed.
    pub(super) fn new(
        project: &'a Project<'p>,
        units: &[Unit<'_>],
        (unit, at): (usize, &Range<usize>),
        name: &str,
    ) -> Result<Self, String> {
        let files: Vec<Option<FileId>> = units.iter().map(|one| project.file(one.path)).collect();
        let language = units[unit].source.language();
        let resolver = Resolver::new(project, language, files.iter().flatten().copied().collect());
        let resolves = has_rules(language);
        let missing = "the symbol isn't in these files";
        let (name, declared) = (name.to_owned(), (unit, at.clone()));
        if !resolves {
            let target = Entity::Outside;
            let (own, doubtful) = (BTreeSet::from([target.clone()]), BTreeSet::new());
            let group = OverrideGroup { own, doubtful, doubt: None };
            let doubt = None;
            return Ok(Self { resolver, files, target, group, doubt, name, declared, resolves });
        }
        if resolver.rules.is_reserved(&name) {
            return Err(format!("{name} is a name that {} itself uses", language.name()));
        }
        let file = files[unit].ok_or(missing)?;
        // What has no name of a type around it, such as a method of an object, is a member of just
        // that place.
        let target = resolver.declared_at(file, at.start).unwrap_or_else(|| {
            let owner = Entity::Module { file, scope: at.start };
            Entity::member(&owner, &name, Space::Any)
        });
        if let Some(module) = resolver.rules.module_of_item(&resolver, &target)
            && !matches!(module.only(), Some(Entity::Module { scope: 1.., .. }))
        {
            return Err(format!(
                "{name} is a module in a file of its own, which would have to be renamed, too"
            ));
        }
        let group = override_group(&resolver, &target, &name)?;
        let doubt = group.doubt.clone();
        Ok(Self { resolver, files, target, group, doubt, name, declared, resolves })
    }

    fn is_member(&self) -> bool {
        matches!(self.target, Entity::Member { .. })
    }

    fn weigh(&self, meaning: &Meaning) -> Evidence {
        let evidence = weigh(meaning, &self.group.own);
        let doubtful = meaning.0.iter().any(|one| self.group.doubtful.contains(one));
        match evidence {
            Evidence::Proven(_) if self.doubt.is_some() => Evidence::Possible,
            Evidence::Other if doubtful => Evidence::Possible,
            evidence => evidence,
        }
    }

    /// The evidence on an occurrence, and the form of its replacement.
    pub(super) fn evidence(
        &self,
        unit: usize,
        source: &Source,
        name: &Name<'_>,
    ) -> (Evidence, Form) {
        if !self.resolves {
            return (self.listed(unit, source, name), Form::Name);
        }
        let Some(file) = self.files[unit] else { return (Evidence::Possible, Form::Name) };
        let (meaning, form) = self.meaning(file, source, name);
        (self.weigh(&meaning), form)
    }

    fn meaning(&self, file: FileId, source: &Source, name: &Name<'_>) -> (Meaning, Form) {
        let (resolver, node) = (&self.resolver, name.node);
        let at = node.start_byte();
        let shorthand = matches!(name.role, Role::Field { shorthand: true, .. });
        if file == self.files[self.declared.0].unwrap_or(usize::MAX) && at == self.declared.1.start
        {
            return (Meaning::of(self.target.clone()), Form::Name);
        }
        if matches!(name.role, Role::Import) || self.is_listed(file, at) {
            return (self.imported(file, source, node), Form::Name);
        }
        if !shorthand && let Some(entity) = resolver.declared_at(file, at) {
            // What a file declares and imports under one name is one variable.
            let shared = match entity {
                Entity::Item { space: Space::Any, .. } => {
                    resolver.explicit(file, at, &self.name, Space::Any)
                }
                _ => Meaning::default(),
            };
            return (shared.or(|| Meaning::of(entity)), Form::Name);
        }
        if is_type_parameter(source, &self.name, node) {
            return (Meaning::outside(), Form::Name);
        }
        let meaning = match &name.role {
            Role::Import => Meaning::unknown(),
            Role::Label => self.keyword(file, node),
            Role::Unknown => match node.kind() == "property_identifier" && !self.is_member() {
                true => Meaning::outside(),
                false => Meaning::unknown(),
            },
            Role::Field { ty, shorthand } => {
                return self.in_object(file, source, node, ty.as_deref(), *shorthand);
            }
            Role::Member { receiver, call } => self.of_member(file, source, *receiver, *call),
            Role::Path { qualifier } => self.of_path(file, source, node, qualifier),
            Role::Free => self.alone(file, node),
        };
        (meaning, Form::Name)
    }

    /// A name that stands alone.
    fn alone(&self, file: FileId, node: Node<'_>) -> Meaning {
        let space = self.space_at(node);
        let found = self.resolver.free(file, node, space);
        found.or(|| match () {
            // A macro may be known by the order of the text.
            () if space == Space::Macro => Meaning::unknown(),
            // Scripts see what other scripts declare.
            () if self.resolver.language.is_ecmascript() && self.are_scripts(file) => {
                Meaning::unknown()
            }
            () => Meaning::outside(),
        })
    }

    fn are_scripts(&self, file: FileId) -> bool {
        let own = match &self.target {
            Entity::Item { file, .. } => *file,
            _ => return false,
        };
        [own, file].iter().all(|file| {
            self.resolver.project.facts(*file).is_some_and(|facts| {
                let text = facts.source.text();
                let exports = text.lines().any(|line| line.starts_with("export "));
                facts.imports.is_empty() && !exports && !text.contains("require(")
            })
        })
    }

    /// The namespace in which a name is looked up.
    fn space_at(&self, node: Node<'_>) -> Space {
        if self.resolver.language != Language::Rust {
            return Space::Any;
        }
        let Some(parent) = node.parent() else { return Space::Any };
        let is = |name: &str| field(parent, name) == Some(node);
        match parent.kind() {
            "macro_invocation" if is("macro") => Space::Macro,
            "scoped_identifier" | "scoped_type_identifier" if is("path") => Space::Type,
            "token_tree" => Space::Any,
            _ if node.kind() == "type_identifier" => Space::Type,
            _ => Space::Value,
        }
    }

    /// True for a name in a list of exports.
    fn is_listed(&self, file: FileId, at: usize) -> bool {
        self.resolver.project.facts(file).is_some_and(|facts| {
            let mut all = facts.imports.iter();
            all.any(|one| one.alias_at == Some(at) || one.original_at == Some(at))
        })
    }

    /// A name in an import or in a list of exports.
    fn imported(&self, file: FileId, source: &Source, node: Node<'_>) -> Meaning {
        let (resolver, at) = (&self.resolver, node.start_byte());
        let Some(facts) = resolver.project.facts(file) else { return Meaning::unknown() };
        // `load as load` hands the name on under the same one, which all who use it there rely on.
        if let Some(import) = facts.imports.iter().find(|one| one.alias_at == Some(at)) {
            return resolver.import(file, import, Space::Any).or(Meaning::outside);
        }
        if resolver.language == Language::Rust {
            let Some(path) = path_before(source, node) else { return Meaning::unknown() };
            let mut whole = path;
            whole.push(self.name.clone());
            // The first name of a path is a module or a crate.
            return match whole.len() {
                1 => resolver.rules.module(resolver, (file, at), &whole),
                _ => {
                    let modules =
                        resolver.rules.module(resolver, (file, at), &whole[..whole.len() - 1]);
                    let space = self.target.space();
                    // An import brings in all spaces; those that the target isn't in don't count.
                    modules.then(|module| {
                        resolver.descend(module, &self.name, space).or(Meaning::outside)
                    })
                }
            };
        }
        match facts.imports.iter().find(|one| one.original_at == Some(at)) {
            Some(import) => resolver.import(file, import, Space::Any),
            // A module's name in an import of Python.
            None if resolver.language == Language::Python => Meaning::outside(),
            None => Meaning::unknown(),
        }
    }

    /// `receiver.name`
    fn of_member(&self, file: FileId, source: &Source, receiver: Node<'_>, call: bool) -> Meaning {
        let resolver = &self.resolver;
        let space = match (resolver.language, call) {
            (Language::Rust, true) => Space::Value,
            (Language::Rust, false) => Space::Type,
            _ => Space::Any,
        };
        if resolver.language == Language::Rust && !self.is_member() {
            return Meaning::outside();
        }
        if resolver.language == Language::Rust && self.target.space() != space {
            return Meaning::outside();
        }
        if is_super(source, receiver) {
            return self.of_super(file, receiver);
        }
        let value = evaluate(resolver, file, receiver);
        let meaning = attribute(resolver, &value, &self.name, space);
        // A value of a type has no names of modules; what may be a module is told by how it was
        // made.
        let nothing_known = meaning.0.iter().all(|one| *one == Entity::Unknown);
        if !self.is_member()
            && nothing_known
            && !value.objects.is_unknown()
            && !self.may_be_module(source, receiver)
        {
            return Meaning::outside();
        }
        // Types from outside may have the methods of the project's traits, too.
        match &self.target {
            Entity::Member { owner, .. } if resolver.language == Language::Rust => {
                match self.is_trait(owner) {
                    true => meaning.then_or_unknown(),
                    false => meaning,
                }
            }
            _ => meaning,
        }
    }

    fn is_trait(&self, owner: &Entity) -> bool {
        let Entity::Item { file, .. } = owner else { return true };
        self.resolver.project.facts(*file).is_none_or(|facts| {
            let node = self.resolver.classes_of(owner).into_iter().find(|(_, one)| !one.is_impl);
            node.is_none_or(|(_, class)| {
                let parent = facts.source.node_at(&class.at).parent();
                parent.is_none_or(|one| one.kind() == "trait_item")
            })
        })
    }

    /// True for an expression that can be a module: a name, or one behind names.
    fn may_be_module(&self, source: &Source, receiver: Node<'_>) -> bool {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
        let text = source.text_of(receiver);
        let loads = ["require(", "import(", "import_module(", "__import__(", "sys.modules"];
        text.contains("require(")
            || text.contains("import(")
            || text.chars().all(plain) && loads.iter().any(|load| source.text().contains(load))
    }

    fn of_super(&self, file: FileId, receiver: Node<'_>) -> Meaning {
        let resolver = &self.resolver;
        let Some(facts) = resolver.project.facts(file) else { return Meaning::unknown() };
        let own = resolver.class_entity(file, &facts, receiver.start_byte());
        let classes = own.map(|own| resolver.classes_of(&own)).unwrap_or_default();
        let mut all = Meaning::default();
        for base in resolver.bases(&classes) {
            all.extend(base.then(|base| resolver.member(base, &self.name, Space::Any)).0);
        }
        all.or(Meaning::unknown)
    }

    /// `a::b::name`, `module.Name` in a type.
    fn of_path(
        &self,
        file: FileId,
        source: &Source,
        node: Node<'_>,
        qualifier: &[String],
    ) -> Meaning {
        let (resolver, at) = (&self.resolver, node.start_byte());
        if qualifier.is_empty() {
            return Meaning::unknown();
        }
        if resolver.language == Language::Rust {
            let head = node.parent().and_then(|parent| field(parent, "path"));
            // `<Type as Trait>::name`
            if head.is_some_and(|head| source.text_of(head).trim_start().starts_with('<')) {
                return Meaning::unknown();
            }
            let modules = resolver.rules.module(resolver, (file, at), qualifier);
            let space = match node.kind() {
                "type_identifier" => Space::Type,
                _ => self.space_at(node),
            };
            // Types from outside may have what the project's traits give them.
            let found = modules.then(|module| resolver.descend(module, &self.name, space));
            return match &self.target {
                Entity::Member { owner, .. } if self.is_trait(owner) => found.then_or_unknown(),
                _ => found,
            };
        }
        let head = qualifier.first().map_or("", String::as_str);
        let mut found = resolver.visible(file, at, head, Space::Any).or(Meaning::outside);
        for part in qualifier.iter().skip(1).chain([&self.name]) {
            found = found.then(|one| resolver.descend(one, part, Space::Any));
        }
        found
    }

    /// The meaning of a name in an object or in a destructuring pattern.
    fn in_object(
        &self,
        file: FileId,
        source: &Source,
        node: Node<'_>,
        ty: Option<&str>,
        shorthand: bool,
    ) -> (Meaning, Form) {
        let resolver = &self.resolver;
        let is_field = self.is_member();
        if !is_field {
            return match shorthand {
                true => (self.alone(file, node), Form::Value),
                false => (Meaning::outside(), Form::Name),
            };
        }
        let form = if shorthand { Form::Key } else { Form::Name };
        let meaning = match ty {
            Some(ty) if resolver.language == Language::Rust => {
                let path = segments(ty);
                let at = node.start_byte();
                let types = resolver.path((file, at), &path, Space::Type).or(Meaning::outside);
                types.then(|of| resolver.member(of, &self.name, Space::Type))
            }
            _ => Meaning::unknown(),
        };
        let _ = source;
        (meaning, form)
    }

    /// `f(name=…)` may give a value to a field, if the function is a class.
    fn keyword(&self, file: FileId, node: Node<'_>) -> Meaning {
        let argument = node.parent().filter(|one| one.kind() == "keyword_argument");
        let call = argument.and_then(|one| ancestors(one).nth(1));
        let function = call.and_then(|call| field(call, "function"));
        let Some(function) = function.filter(|_| self.is_member()) else {
            return Meaning::outside();
        };
        let value = evaluate(&self.resolver, file, function);
        let found = attribute(&self.resolver, &value, &self.name, Space::Any);
        match found.is_empty() || found.0.iter().all(|one| *one == Entity::Outside) {
            true => Meaning::outside(),
            // Whether a class takes its fields as arguments depends on its decorators.
            false => Meaning::unknown(),
        }
    }

    /// The names in the `__all__` list of a Python module.
    pub(super) fn exported_strings(
        &self,
        unit: usize,
        source: &Source,
    ) -> Vec<(Range<usize>, Evidence)> {
        let Some(file) = self.files[unit].filter(|_| self.resolves) else { return Vec::new() };
        let all = crate::imports::listed_in_all(source).into_iter();
        all.filter(|(text, _)| *text == self.name)
            .map(|(text, at)| {
                let meaning = self.resolver.in_module(file, 0, &self.name, Space::Any);
                (at + 1..at + 1 + text.len(), self.weigh(&meaning.or(Meaning::unknown)))
            })
            .collect()
    }

    /// The evidence in a language whose names aren't resolved.
    fn listed(&self, unit: usize, source: &Source, name: &Name<'_>) -> Evidence {
        let range = name.node.byte_range();
        if (unit, range.clone()) == self.declared {
            return weigh(&Meaning::of(self.target.clone()), &self.group.own);
        }
        let own = match unit == self.declared.0 {
            true => vec![self.declared.1.clone()],
            false => Vec::new(),
        };
        let hidden: Hidden = hiding(source, &self.name, &own);
        let other = hidden.others.contains(&range.start) || matches!(name.role, Role::Label);
        if other { Evidence::Other } else { Evidence::Possible }
    }
}

fn is_super(source: &Source, receiver: Node<'_>) -> bool {
    match receiver.kind() {
        "super" => true,
        "call" => {
            let function = field(receiver, "function");
            let arguments = field(receiver, "arguments");
            function.is_some_and(|one| source.text_of(one) == "super")
                && arguments.is_some_and(|one| one.named_child_count() == 0)
        }
        _ => false,
    }
}
