//! Symbols by the names that people write: `foo`, `Type::foo`, `Type.foo`, `mod::Type::foo`.

use std::path::Path;

use crate::language::Language;
use crate::limits::NEAREST_MAX;
use crate::outline::{Symbol, SymbolKind, base_name};
use crate::source::Source;

/// A symbol with its enclosing names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSymbol {
    pub symbol: Symbol,
    /// The name for lookups, qualified by its owner: `Point::norm`, `<Point as Display>::fmt`.
    pub qualified: String,
    /// The enclosing names and the symbol's own, outermost first. For an `impl`, its type.
    pub path: Vec<String>,
    /// The trait that the enclosing `impl` implements, if any.
    pub of_trait: Option<String>,
}

/// Symbols that were asked for by name, in one or many files.
#[derive(Debug, Clone)]
pub struct Wanted {
    segments: Vec<String>,
    of_trait: Option<String>,
    /// True for an `impl` block itself.
    is_impl: bool,
    text: String,
    /// The last name as written, for names that contain a space.
    last: String,
}

impl Wanted {
    /// Reads a written name. Words such as `fn` before it and `()` behind it are taken as part of
    /// the manner.
    pub fn new(written: &str) -> Self {
        let text = written.trim().trim_end_matches("()").trim().to_owned();
        let mut rest = text.as_str();
        let mut is_impl = false;
        while let Some((word, after)) = rest.split_once(' ') {
            match word.split('<').next().unwrap_or_default() {
                "impl" => is_impl = true,
                "pub" | "async" | "unsafe" | "fn" | "def" | "func" | "function" | "class"
                | "struct" | "enum" | "trait" | "interface" | "type" | "mod" | "const"
                | "static" | "macro" => {}
                _ => break,
            }
            rest = after.trim_start();
        }
        rest = rest.trim_end_matches('!');
        let mut of_trait = None;
        let mut segments = split_path(rest);
        // `<Point as Display>::fmt`
        if let Some((ty, of)) = segments
            .first()
            .and_then(|first| first.strip_prefix('<')?.strip_suffix('>')?.split_once(" as "))
        {
            of_trait = Some(base_name(of).to_owned());
            segments[0] = ty.to_owned();
        }
        // `Display for Point`, `Display for Point::fmt`
        let for_type = segments.iter().position(|one| one.contains(" for "));
        if let Some(index) = for_type {
            let (of, ty) = segments[index].rsplit_once(" for ").unwrap_or_default();
            of_trait = Some(base_name(of).to_owned());
            let ty = ty.to_owned();
            segments.drain(..index);
            segments[0] = ty;
            is_impl = segments.len() == 1;
        } else if is_impl && segments.len() > 1 && of_trait.is_none() {
            is_impl = false;
        }
        let last = segments.last().cloned().unwrap_or_default();
        let segments = segments.iter().map(|one| base_name(one).to_owned()).collect();
        Self { segments, of_trait, is_impl, text, last }
    }

    /// True if a path's names end with those that were written. `file` may stand for a module
    /// before them.
    fn matches(&self, found: &FoundSymbol, language: Language, file: Option<&Path>) -> bool {
        if language == Language::Markdown {
            let wanted = self.text.trim_start_matches('#').replace('`', "").trim().to_lowercase();
            return !wanted.is_empty()
                && [&found.symbol.name, &found.qualified]
                    .iter()
                    .any(|name| name.trim().to_lowercase() == wanted);
        }
        if self.is_impl != (found.symbol.kind == SymbolKind::Impl) {
            return false;
        }
        if self.of_trait.is_some() && self.of_trait != found.of_trait {
            return false;
        }
        if self.segments.is_empty() {
            return false;
        }
        if found.symbol.name == self.last && self.last.contains(' ') {
            return true;
        }
        let (mut have, mut want) = (found.path.iter().rev(), self.segments.iter().rev().peekable());
        while let Some(wanted) = want.peek() {
            match have.next() {
                Some(one) if one == *wanted => {
                    want.next();
                }
                Some(_) => return false,
                None => break,
            }
        }
        // What is left names modules, which files stand for.
        let mut modules = file.map(module_names).unwrap_or_default();
        want.all(|wanted| {
            matches!(wanted.as_str(), "crate" | "self" | "super") || {
                let known = modules.iter().rposition(|one| one == wanted);
                known.is_some_and(|known| {
                    modules.truncate(known);
                    true
                })
            }
        })
    }

    /// Returns the symbols of a file that the name means. What declares is left out where a
    /// definition of the name is there, and fields, variants and constructors where something else
    /// has the name.
    pub fn find(&self, source: &Source, file: Option<&Path>) -> Vec<FoundSymbol> {
        // A parse is needed only where the name stands.
        let name = self.name();
        if source.language() != Language::Markdown && !source.text().contains(name) {
            return Vec::new();
        }
        let mut found = found_in(source);
        found.retain(|one| self.matches(one, source.language(), file));
        prefer(&mut found);
        found
    }

    /// Returns the last of the names, which any file with the symbol must contain.
    pub fn name(&self) -> &str {
        self.segments.last().map_or("", String::as_str)
    }
}

/// Leaves out symbols where better ones have the name.
pub fn prefer(found: &mut Vec<FoundSymbol>) {
    let callable =
        |one: &FoundSymbol| matches!(one.symbol.kind, SymbolKind::Function | SymbolKind::Method);
    let is_worse: [fn(&FoundSymbol) -> bool; 3] = [
        |one| one.symbol.kind.is_part(),
        is_constructor,
        |one| one.symbol.kind == SymbolKind::Module && one.symbol.body.is_none(),
    ];
    for is_worse in is_worse {
        if found.iter().any(|one| !is_worse(one)) {
            found.retain(|one| !is_worse(one));
        }
    }
    // The methods of a trait and those of its implementations are different symbols.
    let defined: Vec<_> = found
        .iter()
        .filter(|one| callable(one) && one.symbol.body.is_some())
        .map(|one| (one.symbol.kind, one.path.clone()))
        .collect();
    found.retain(|one| {
        let declares = callable(one) && one.symbol.body.is_none();
        !declares
            || !defined.iter().any(|(kind, path)| {
                *kind == one.symbol.kind && (*kind == SymbolKind::Function || *path == one.path)
            })
    });
}

/// In Java, C# and C++ a constructor has the name of its class.
fn is_constructor(found: &FoundSymbol) -> bool {
    let around = found.path.iter().rev().nth(1);
    found.symbol.kind == SymbolKind::Method && around == Some(&found.symbol.name)
}

impl Source {
    /// Returns all symbols with the names around them, also fields and variants, in the order of
    /// the text.
    pub fn named_symbols(&self) -> Vec<FoundSymbol> {
        found_in(self)
    }

    /// Returns the names of the file that are most like a written one.
    pub fn nearest_names(&self, written: &str) -> Vec<String> {
        let wanted = Wanted::new(written);
        nearest(&wanted, found_in(self).into_iter())
    }
}

/// Returns the names among symbols that are most like a written one.
pub fn nearest(wanted: &Wanted, all: impl Iterator<Item = FoundSymbol>) -> Vec<String> {
    let name = wanted.name().to_lowercase();
    let mut close: Vec<(f64, String)> = all
        .filter(|one| one.symbol.kind != SymbolKind::Impl)
        .filter_map(|one| {
            let other = one.symbol.name.to_lowercase();
            let slip = strsim::damerau_levenshtein(&other, &name) * 3 <= name.chars().count();
            let like = strsim::jaro_winkler(&other, &name);
            let part = name.len() > 3 && other.contains(&name);
            (slip || part || like > 0.85).then_some((like, one.qualified))
        })
        .collect();
    close.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let mut names: Vec<String> = close.into_iter().map(|(_, name)| name).collect();
    names.dedup();
    names.truncate(NEAREST_MAX);
    names
}

/// Splits at `::`, `.` and `#` outside of brackets.
fn split_path(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut from, mut skip) = (Vec::new(), 0i32, 0, false);
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut skip) {
            continue;
        }
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            '.' | '#' if depth <= 0 && at > from => {
                parts.push(text[from..at].trim().to_owned());
                from = at + 1;
            }
            ':' if depth <= 0 && text[at..].starts_with("::") => {
                parts.push(text[from..at].trim().to_owned());
                (from, skip) = (at + 2, true);
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim().to_owned());
    parts.retain(|part| !part.is_empty());
    parts
}

/// The names of the modules that a file is: `src/a/mod.rs` is `src`, `a`; `src/a/b.rs` is `src`,
/// `a`, `b`.
pub(crate) fn module_names(file: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        file.iter().filter_map(|part| part.to_str()).map(str::to_owned).collect();
    if let Some(last) = names.pop() {
        let stem = last.split('.').next().unwrap_or_default();
        if !matches!(stem, "mod" | "index" | "__init__" | "lib" | "main") {
            names.push(stem.to_owned());
        }
    }
    names
}

/// Returns a file's symbols with the names around them.
pub(crate) fn found_in(source: &Source) -> Vec<FoundSymbol> {
    let mut all = Vec::new();
    collect(source.language(), &source.declarations(), &[], None, &mut all);
    all
}

fn names_of_path(path: &str) -> impl Iterator<Item = String> {
    path.split([':', '.']).filter(|part| !part.is_empty()).map(str::to_owned)
}

fn collect(
    language: Language,
    symbols: &[Symbol],
    around: &[String],
    of_trait: Option<&str>,
    all: &mut Vec<FoundSymbol>,
) {
    let separator = match language {
        Language::Rust | Language::Cpp => "::",
        Language::Markdown => " > ",
        _ => ".",
    };
    for symbol in symbols {
        let mut path = around.to_vec();
        if let Some(owner) = &symbol.owner {
            path.extend(names_of_path(owner));
        }
        let own_trait = match symbol.kind {
            SymbolKind::Impl => {
                path.push(symbol.impl_type().to_owned());
                symbol.impl_trait()
            }
            SymbolKind::Module => {
                path.extend(names_of_path(&symbol.name));
                None
            }
            _ => {
                path.push(symbol.name.clone());
                of_trait
            }
        };
        let qualified = match (symbol.kind, own_trait) {
            (SymbolKind::Impl, Some(of)) => format!("impl {of} for {}", path.join(separator)),
            (SymbolKind::Impl, None) => format!("impl {}", path.join(separator)),
            (_, Some(of)) if around.len() < path.len() && !around.is_empty() => {
                format!("<{} as {of}>::{}", around.join(separator), symbol.name)
            }
            _ => path.join(separator),
        };
        all.push(FoundSymbol {
            symbol: Symbol { children: Vec::new(), ..symbol.clone() },
            qualified,
            path: path.clone(),
            of_trait: own_trait.map(str::to_owned),
        });
        let inner = match symbol.kind {
            SymbolKind::Impl => own_trait,
            // What stands within a function belongs to no trait.
            _ => None,
        };
        collect(language, &symbol.children, &path, inner, all);
    }
}
