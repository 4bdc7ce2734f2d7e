//! What an occurrence is, by its role.

use tree_sitter::Node;

use crate::language::Language;
use crate::lookup::module_names;
use crate::outline::{SymbolKind, base_name};
use crate::source::{ancestors, field};

use super::imports::{Import, Imports, is_alias, module_of, modules_around};
use super::occurrences::{Name, segments};
use super::receivers::{bases_of, enclosing_type, is_well_known, type_of};
use super::{Declaration, Plan, Verdict};

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

    fn of_import_in(&self, unit: usize, path: &[String], scope: &[String]) -> Verdict {
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

    /// True if a path names something of the project; `None` if that isn't known.
    pub(super) fn names_project(&self, unit: usize, path: &[String]) -> Option<bool> {
        let known = |name: &str| {
            self.packages.iter().any(|one| one == name)
                || self
                    .units
                    .iter()
                    .any(|one| module_names(one.path).iter().any(|part| part == name))
        };
        let head = path.first()?.as_str();
        match self.language() {
            Language::Rust => match head {
                "crate" | "self" | "super" => Some(true),
                "std" | "core" | "alloc" => Some(false),
                head => {
                    let module = self.units[unit].source.text().contains(&format!("mod {head}"));
                    match known(head) || module {
                        true => Some(true),
                        false if self.packages.is_empty() => None,
                        false => Some(false),
                    }
                }
            },
            Language::Python => match head {
                "." => Some(true),
                head => {
                    if known(head) {
                        Some(true)
                    } else {
                        Some(false)
                    }
                }
            },
            language if language.is_ecmascript() => match () {
                () if head.starts_with('.') => Some(true),
                () if head.starts_with(['@', '~', '#']) || head.starts_with("src/") => None,
                () if known(head.rsplit('/').next().unwrap_or(head)) => None,
                () => Some(false),
            },
            _ => None,
        }
    }

    fn is_target_module(&self, unit: usize, path: &[String]) -> Option<bool> {
        self.is_target_module_in(unit, path, &[])
    }

    /// True if a path means the module that declares the target; `None` if it can't be told.
    fn is_target_module_in(&self, unit: usize, path: &[String], scope: &[String]) -> Option<bool> {
        let target = self.target();
        let language = self.language();
        let (to_root, mut to) = module_of(language, self.units[target.unit].path);
        let (from_root, mut from) = module_of(language, self.units[unit].path);
        match language {
            Language::Rust => {
                let source = self.units[target.unit].source;
                to.extend(modules_around(source, source.node_at(&target.found.symbol.name_range)));
                from.extend_from_slice(scope);
                let mut rest = path;
                let mut same_root = from_root == to_root;
                match rest.first().map(String::as_str) {
                    Some("crate") => {
                        from.clear();
                        rest = &rest[1..];
                    }
                    Some("self" | "super") => {
                        while let Some(word) =
                            rest.first().filter(|word| matches!(word.as_str(), "self" | "super"))
                        {
                            if word == "super" {
                                from.pop()?;
                            }
                            rest = &rest[1..];
                        }
                    }
                    Some(package) if self.packages.iter().any(|one| one == package) => {
                        let folder = to_root.iter().rev().find(|part| *part != "src");
                        same_root = self.packages.len() == 1
                            || folder.is_some_and(|folder| folder.replace('-', "_") == *package);
                        from.clear();
                        rest = &rest[1..];
                    }
                    Some(head) => {
                        let child = self.units[unit].source.text().contains(&format!("mod {head}"));
                        if !child {
                            return self.internal(unit, path);
                        }
                    }
                    None => {}
                }
                from.extend_from_slice(rest);
                match same_root && from == to {
                    true => Some(true),
                    false => self.internal(unit, path),
                }
            }
            Language::Python => {
                let mut whole = to_root;
                whole.append(&mut to);
                if path.first().is_some_and(|part| part == ".") {
                    let dots = path.iter().take_while(|part| *part == ".").count();
                    let mut base: Vec<String> = self.units[unit]
                        .path
                        .parent()?
                        .iter()
                        .filter_map(|part| part.to_str())
                        .map(str::to_owned)
                        .collect();
                    for _ in 1..dots {
                        base.pop()?;
                    }
                    base.extend_from_slice(&path[dots..]);
                    return match base == whole {
                        true => Some(true),
                        false => self.internal(unit, path),
                    };
                }
                match !path.is_empty() && whole.ends_with(path) {
                    true => Some(true),
                    false => self.internal(unit, path),
                }
            }
            language if language.is_ecmascript() => {
                let spec = path.first()?;
                if !spec.starts_with('.') {
                    return self.internal(unit, path);
                }
                let mut base: Vec<&str> = self.units[unit]
                    .path
                    .parent()?
                    .iter()
                    .filter_map(|part| part.to_str())
                    .collect();
                for part in spec.split('/') {
                    match part {
                        "." | "" => {}
                        ".." => drop(base.pop()?),
                        part => base.push(part),
                    }
                }
                let file = self.units[target.unit].path.to_str()?;
                let joined = base.join("/");
                let plain = |text: &str| {
                    let text = text.trim_end_matches("/index");
                    let known =
                        [".d.ts", ".tsx", ".mts", ".cts", ".ts", ".jsx", ".mjs", ".cjs", ".js"];
                    let end = known.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
                    end.trim_end_matches("/index").to_owned()
                };
                match plain(&joined) == plain(file) {
                    true => Some(true),
                    false => self.internal(unit, path),
                }
            }
            Language::Go => {
                let folder: Vec<&str> = self.units[target.unit]
                    .path
                    .parent()?
                    .iter()
                    .filter_map(|part| part.to_str())
                    .collect();
                let last = path.last()?;
                match folder.last() {
                    Some(name) if name == last => {
                        let ends =
                            path.iter().map(String::as_str).collect::<Vec<_>>().ends_with(&folder);
                        if ends { Some(true) } else { None }
                    }
                    Some(_) => Some(false),
                    None => None,
                }
            }
            Language::Java => {
                let folder: Vec<&str> = self.units[target.unit]
                    .path
                    .parent()?
                    .iter()
                    .filter_map(|part| part.to_str())
                    .collect();
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                Some(folder.ends_with(&path))
            }
            _ => None,
        }
    }

    /// A path within the project that isn't the target's own leads to it if nothing else has the name: modules
    /// hand on what they import.
    fn internal(&self, unit: usize, path: &[String]) -> Option<bool> {
        match self.names_project(unit, path) {
            Some(true) if self.is_unique() && !self.is_imported_from_outside() => Some(true),
            Some(true) => None,
            other => other,
        }
    }

    /// True if some file imports the name from outside of the project.
    fn is_imported_from_outside(&self) -> bool {
        self.units.iter().enumerate().any(|(unit, one)| {
            let imports = Imports::of(one.source);
            imports.all.iter().any(|import| {
                import.original == self.name && self.names_project(unit, &import.path) != Some(true)
            })
        })
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

fn source_node<'s>(plan: &Plan<'s>, one: &Declaration) -> Node<'s> {
    plan.units[one.unit].source.node_at(&one.found.symbol.name_range)
}
