//! The symbols of a file.
//!
//! | module | holds |
//! |---|---|
//! | `declared` | which nodes declare symbols, for each language |
//! | `extent` | a symbol's lines with its comments and attributes, and what stands between its braces |
//! | `modifiers` | whether a symbol is public, and words such as `unsafe` |
//! | `markdown` | the headings of Markdown, and what a text is about |
//! | `reading` | what of a symbol a reader may want alone: its signature; or do without: documentation |

mod declared;
mod extent;
mod macros;
mod markdown;
mod modifiers;
mod reading;

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::regions::regions;
use crate::source::{Source, named};

use declared::{Declared, declared};

pub use markdown::Lead;

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A function of a class, an `impl` or a trait, or one with a receiver.
    Method,
    /// A class, a struct, a record or a union.
    Class,
    /// An `impl` block.
    Impl,
    /// An interface, a trait or a concept.
    Interface,
    /// An enum.
    Enum,
    /// A type with a name of its own.
    Type,
    /// A module or a namespace.
    Module,
    /// A constant or a variable outside of functions.
    Constant,
    /// A macro.
    Macro,
    /// A field or a property of a type.
    Field,
    /// A variant of an enum.
    Variant,
    /// A heading with the text below it.
    Heading,
}

impl SymbolKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Impl,
        Self::Interface,
        Self::Enum,
        Self::Type,
        Self::Module,
        Self::Constant,
        Self::Macro,
        Self::Field,
        Self::Variant,
        Self::Heading,
    ];

    /// The word that readers see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Impl => "impl",
            Self::Interface => "interface",
            Self::Enum => "enum",
            Self::Type => "type",
            Self::Module => "module",
            Self::Constant => "constant",
            Self::Macro => "macro",
            Self::Field => "field",
            Self::Variant => "variant",
            Self::Heading => "heading",
        }
    }

    /// The word for several.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Function => "functions",
            Self::Method => "methods",
            Self::Class => "classes",
            Self::Impl => "impls",
            Self::Interface => "interfaces",
            Self::Enum => "enums",
            Self::Type => "types",
            Self::Module => "modules",
            Self::Constant => "constants",
            Self::Macro => "macros",
            Self::Field => "fields",
            Self::Variant => "variants",
            Self::Heading => "headings",
        }
    }

    /// True for what a type consists of, which an outline lists only if it is asked for.
    pub fn is_part(self) -> bool {
        matches!(self, Self::Field | Self::Variant)
    }
}

/// A symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// What it is.
    pub kind: SymbolKind,
    /// The word that declares it in its language: `fn`, `struct`, `def`, `class`; empty where there is none.
    pub keyword: &'static str,
    /// Its name; for an `impl`, what it is written for: `Display for Point`.
    pub name: String,
    /// The type or namespace that it belongs to, where that doesn't stand around it: the receiver of a method
    /// in Go, what stands before `::` in C++.
    pub owner: Option<String>,
    /// All of it, with its decorators.
    pub range: Range<usize>,
    /// All of it with its doc comment, the comment directly above it, its attributes, and what ends it
    /// (`;`, `,`): whole lines, unless other code shares its first or last line.
    pub whole: Range<usize>,
    /// Its name.
    pub name_range: Range<usize>,
    /// Its body, with the braces if it has any.
    pub body: Option<Range<usize>>,
    /// What stands between the braces of the body: whole lines, if both braces end or begin their lines;
    /// else without the white space around it. Where there are no braces, the statements or the expression.
    pub interior: Option<Range<usize>>,
    /// The white space before it.
    pub indent: String,
    /// True if it can be used from outside, as its own declaration says.
    ///
    /// Rust: exactly `pub`, neither `pub(crate)` nor by being part of a trait. Python: its name has no leading
    /// underscore (or `__all__` lists it), nor have those around it, and it isn't within a function. JavaScript
    /// and TypeScript: it is exported, or a member of something exported that isn't `private`, `protected` or
    /// `#private`. Go: its name begins with a capital. Java and C#: `public`, and members of public
    /// interfaces. C: not `static`. C++: not `static`, not in a namespace without a name, and not below
    /// `private:` or `protected:`. Markdown: every heading.
    pub public: bool,
    /// Those of `abstract async const extern override static unsafe virtual` that its declaration has.
    pub flags: Vec<&'static str>,
    /// The first sentence of prose below a heading.
    pub summary: Option<String>,
    /// The symbols in it.
    pub children: Vec<Symbol>,
}

impl Symbol {
    /// True if [`Symbol::whole`] consists of whole lines.
    pub fn is_whole_lines(&self, text: &str) -> bool {
        let starts = self.whole.start == 0 || text.as_bytes()[self.whole.start - 1] == b'\n';
        let ends = self.whole.end == text.len() || text.as_bytes()[self.whole.end - 1] == b'\n';
        starts && ends && !self.whole.is_empty()
    }

    /// The name of the type that an `impl` is for, without its parameters: `Point` of `Display for Point<T>`.
    pub(crate) fn impl_type(&self) -> &str {
        base_name(self.name.rsplit_once(" for ").map_or(self.name.as_str(), |(_, ty)| ty))
    }

    /// The name of the trait that an `impl` is of, without its parameters.
    pub(crate) fn impl_trait(&self) -> Option<&str> {
        self.name.rsplit_once(" for ").map(|(of, _)| base_name(of))
    }
}

/// Returns the last name of a type's path, without references and parameters: `Point` of `&mut a::Point<T>`.
pub(crate) fn base_name(ty: &str) -> &str {
    let name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut ty = ty.trim_start_matches(['&', '*', '(', '[', '!', ' ']);
    if let Some(lifetime) = ty.strip_prefix('\'') {
        ty = lifetime.trim_start_matches(name).trim_start();
    }
    for word in ["mut ", "const ", "dyn ", "impl ", "struct ", "class ", "enum ", "readonly "] {
        ty = ty.strip_prefix(word).unwrap_or(ty).trim_start();
    }
    let end = ty.find(['<', '(', '[', '{', '&', '*', ' ', '+', '?', '|']).unwrap_or(ty.len());
    let path = &ty[..end];
    path.rsplit([':', '.']).next().unwrap_or(path)
}

impl Source {
    /// Returns the file's symbols, each with those in it, in the order of the text. Functions within functions
    /// are included; local variables, fields and variants are not.
    pub fn outline(&self) -> Vec<Symbol> {
        self.symbols(false)
    }

    /// Returns the file's symbols as [`Source::outline`] does, with fields and variants.
    pub fn declarations(&self) -> Vec<Symbol> {
        self.symbols(true)
    }

    /// Returns the symbols that hold a range, the outermost first.
    pub fn enclosing(&self, range: &Range<usize>) -> Vec<Symbol> {
        let (mut all, mut found) = (self.outline(), Vec::new());
        while let Some(index) =
            all.iter().position(|one| one.range.start <= range.start && range.end <= one.range.end)
        {
            let symbol = all.swap_remove(index);
            all = symbol.children.clone();
            found.push(symbol);
        }
        found
    }

    fn symbols(&self, parts: bool) -> Vec<Symbol> {
        if self.is_plain() {
            return Vec::new();
        }
        if self.language() == Language::Markdown {
            return markdown::headings(self);
        }
        let outliner = Outliner {
            source: self,
            parts,
            comments: regions(self).comments,
            exported: modifiers::exported_names(self),
        };
        outliner.symbols_in(self.root(), None)
    }
}

/// What is needed to describe the symbols of a file.
struct Outliner<'s> {
    source: &'s Source,
    /// True if fields and variants are wanted.
    parts: bool,
    comments: Vec<Range<usize>>,
    /// The names that lists of exports have.
    exported: Option<Vec<String>>,
}

impl<'s> Outliner<'s> {
    fn symbols_in(&self, node: Node<'s>, parent: Option<&Symbol>) -> Vec<Symbol> {
        let mut all = Vec::new();
        for child in named(node) {
            let found = declared(self.source, child);
            if found.is_empty() {
                all.extend(self.symbols_in(child, parent));
                continue;
            }
            for (index, one) in found.into_iter().enumerate() {
                if one.kind.is_part() && !self.parts {
                    continue;
                }
                let mut symbol = self.describe(&one, parent);
                if index == 0 {
                    symbol.children = self.symbols_in(child, Some(&symbol));
                }
                all.push(symbol);
            }
        }
        all
    }

    fn describe(&self, one: &Declared<'s>, parent: Option<&Symbol>) -> Symbol {
        let source = self.source;
        let whole = extent::whole(source, one.item, &self.comments);
        Symbol {
            kind: one.kind,
            keyword: one.keyword,
            name: one.label.clone().unwrap_or_else(|| source.text_of(one.name).to_owned()),
            owner: one.owner.clone(),
            range: one.item.byte_range(),
            whole: extent::with_deeper_comments(source, one.item, whole, &self.comments),
            name_range: one.name.byte_range(),
            body: one.body.map(|body| body.byte_range()),
            interior: one.body.map(|body| extent::interior(source, body, one.node)),
            indent: source.indent_at(one.item.start_byte()).to_owned(),
            public: modifiers::is_public(source, one, parent, self.exported.as_deref()),
            flags: modifiers::flags(source, one),
            summary: None,
            children: Vec::new(),
        }
    }
}

/// Returns symbols and those in them, in the order of the text.
pub fn flatten(symbols: &[Symbol]) -> Vec<&Symbol> {
    let mut all = Vec::new();
    for symbol in symbols {
        all.push(symbol);
        all.extend(flatten(&symbol.children));
    }
    all
}
