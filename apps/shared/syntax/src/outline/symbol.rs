//! A symbol of a file.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    Function,
    /// A function of a class, an `impl` or a trait, or one with a receiver.
    Method,
    /// A class, a struct, a record or a union.
    Class,
    Impl,
    /// An interface, a trait or a concept.
    Interface,
    Enum,
    /// A named type.
    Type,
    Module,
    /// A constant or a variable outside of functions.
    Constant,
    Macro,
    /// A field or a property of a type.
    Field,
    Variant,
    /// A heading with the text below it.
    Heading,
}

impl SymbolKind {
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

    /// Returns the word displayed to readers.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub kind: SymbolKind,
    /// The word that declares it in its language: `fn`, `struct`, `def`, `class`; empty where there
    /// is none.
    pub keyword: &'static str,
    /// The name; for an `impl`, its subject: `Display for Point`.
    pub name: String,
    /// The type or namespace that it belongs to, where that doesn't stand around it: the receiver
    /// of a method in Go, what stands before `::` in C++.
    pub owner: Option<String>,
    /// The whole symbol with its decorators.
    pub range: Range<usize>,
    /// All of it with its doc comment, the comment directly above it, its attributes, and what ends
    /// it (`;`, `,`): whole lines, unless other code shares its first or last line.
    pub whole: Range<usize>,
    /// The bytes of the name.
    pub name_range: Range<usize>,
    /// The body, including any braces.
    pub body: Option<Range<usize>>,
    /// What stands between the braces of the body: whole lines, if both braces end or begin their
    /// lines; else without the white space around it. Where there are no braces, the statements or
    /// the expression.
    pub interior: Option<Range<usize>>,
    /// The white space before the symbol.
    pub indent: String,
    /// True if it can be used from outside, as its own declaration says.
    ///
    /// Rust: exactly `pub`, neither `pub(crate)` nor by being part of a trait. Python: its name has
    /// no leading underscore (or `__all__` lists it), nor have those around it, and it isn't within
    /// a function. JavaScript and TypeScript: it is exported, or a member of something exported
    /// that isn't `private`, `protected` or `#private`. Go: its name begins with a capital. Java
    /// and C#: `public`, and members of public interfaces. C: not `static`. C++: not `static`, not
    /// in a namespace without a name, and not below `private:` or `protected:`. Markdown: every
    /// heading.
    pub public: bool,
    /// Modifiers out of `abstract async const extern override static unsafe virtual`.
    pub flags: Vec<&'static str>,
    /// The first sentence of prose below a heading.
    pub summary: Option<String>,
    /// The symbols inside this one.
    pub children: Vec<Symbol>,
}

impl Symbol {
    /// True if [`Symbol::whole`] consists of whole lines.
    pub fn is_whole_lines(&self, text: &str) -> bool {
        let starts = self.whole.start == 0 || text.as_bytes()[self.whole.start - 1] == b'\n';
        let ends = self.whole.end == text.len() || text.as_bytes()[self.whole.end - 1] == b'\n';
        starts && ends && !self.whole.is_empty()
    }

    /// The name of the type that an `impl` is for, without its parameters: `Point` of
    /// `Display for Point<T>`.
    pub(crate) fn impl_type(&self) -> &str {
        base_name(self.name.rsplit_once(" for ").map_or(self.name.as_str(), |(_, ty)| ty))
    }

    /// Returns the name of the trait that an `impl` implements, without its parameters.
    pub(crate) fn impl_trait(&self) -> Option<&str> {
        self.name.rsplit_once(" for ").map(|(of, _)| base_name(of))
    }
}

/// Returns the last name of a type's path, without references and parameters: `Point` of
/// `&mut a::Point<T>`.
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

/// Returns symbols and those in them, in the order of the text.
pub fn flatten(symbols: &[Symbol]) -> Vec<&Symbol> {
    let mut all = Vec::new();
    for symbol in symbols {
        all.push(symbol);
        all.extend(flatten(&symbol.children));
    }
    all
}
