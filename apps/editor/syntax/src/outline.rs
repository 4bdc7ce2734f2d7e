//! The symbols of a file.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, ancestors, field, named};

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A function of a class, an `impl` or a trait, or one with a receiver.
    Method,
    /// A class, a struct or a union.
    Class,
    /// An `impl` block.
    Impl,
    /// An interface or a trait.
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
}

impl SymbolKind {
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
        }
    }
}

/// A symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// What it is.
    pub kind: SymbolKind,
    /// Its name; for an `impl`, what it is written for: `Display for Point`.
    pub name: String,
    /// All of it, with its decorators.
    pub range: Range<usize>,
    /// Its name.
    pub name_range: Range<usize>,
    /// Its body, with the braces if it has any.
    pub body: Option<Range<usize>>,
    /// The symbols in it.
    pub children: Vec<Symbol>,
}

impl Source {
    /// Returns the file's symbols, each with those in it, in the order of the text. Functions within functions
    /// are included; local variables are not.
    pub fn outline(&self) -> Vec<Symbol> {
        self.symbols_in(self.root())
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

    fn symbols_in(&self, node: Node<'_>) -> Vec<Symbol> {
        let mut all = Vec::new();
        for child in named(node) {
            match self.symbol(child) {
                Some(symbol) => all.push(symbol),
                None => all.extend(self.symbols_in(child)),
            }
        }
        all
    }

    fn symbol(&self, node: Node<'_>) -> Option<Symbol> {
        let (kind, name) = self.kind_and_name(node)?;
        let mut whole = node;
        if let Some(parent) = node.parent() {
            let wraps = matches!(
                parent.kind(),
                "decorated_definition" | "export_statement" | "type_declaration"
            );
            let alone = parent.named_child_count() == 1 || parent.kind() != "type_declaration";
            if wraps && alone {
                whole = parent;
            }
        }
        let body =
            field(node, "body").or_else(|| field(node, "value").and_then(|of| field(of, "body")));
        let text = match kind {
            SymbolKind::Impl => self.impl_name(node),
            _ => self.text_of(name).to_owned(),
        };
        Some(Symbol {
            kind,
            name: text,
            range: whole.byte_range(),
            name_range: name.byte_range(),
            body: body.map(|body| body.byte_range()),
            children: self.symbols_in(node),
        })
    }

    fn impl_name(&self, node: Node<'_>) -> String {
        let text = |of: &str| field(node, of).map(|one| self.text_of(one).to_owned());
        let ty = text("type").unwrap_or_default();
        text("trait").map_or(ty.clone(), |of| format!("{of} for {ty}"))
    }

    fn kind_and_name<'t>(&self, node: Node<'t>) -> Option<(SymbolKind, Node<'t>)> {
        let name = field(node, "name");
        let member = || {
            ancestors(node).find(|one| {
                !matches!(
                    one.kind(),
                    "declaration_list" | "block" | "decorated_definition" | "class_body"
                )
            })
        };
        let of_class = || {
            member().is_some_and(|one| {
                matches!(one.kind(), "class_definition" | "impl_item" | "trait_item")
            })
        };
        let function = || if of_class() { SymbolKind::Method } else { SymbolKind::Function };
        let outermost = || ancestors(node).all(|one| !self.language().is_function(one.kind()));
        let kind = match (self.language(), node.kind()) {
            (Language::Rust, "function_item" | "function_signature_item") => function(),
            (Language::Rust, "struct_item" | "union_item") => SymbolKind::Class,
            (Language::Rust, "enum_item") => SymbolKind::Enum,
            (Language::Rust, "trait_item") => SymbolKind::Interface,
            (Language::Rust, "impl_item") => {
                return field(node, "type").map(|ty| (SymbolKind::Impl, ty));
            }
            (Language::Rust, "mod_item") => SymbolKind::Module,
            (Language::Rust, "type_item") => SymbolKind::Type,
            (Language::Rust, "const_item" | "static_item") => SymbolKind::Constant,
            (Language::Rust, "macro_definition") => SymbolKind::Macro,
            (Language::Python, "function_definition") => function(),
            (Language::Python, "class_definition") => SymbolKind::Class,
            (Language::Go, "function_declaration") => SymbolKind::Function,
            (Language::Go, "method_declaration") => SymbolKind::Method,
            (Language::Go, "type_spec" | "type_alias") => {
                match field(node, "type").map(|ty| ty.kind()) {
                    Some("struct_type") => SymbolKind::Class,
                    Some("interface_type") => SymbolKind::Interface,
                    _ => SymbolKind::Type,
                }
            }
            (Language::Go, "const_spec" | "var_spec") if outermost() => SymbolKind::Constant,
            (language, kind) if language.is_ecmascript() => match kind {
                "function_declaration"
                | "generator_function_declaration"
                | "function_signature" => SymbolKind::Function,
                "method_definition" | "method_signature" | "abstract_method_signature" => {
                    SymbolKind::Method
                }
                "class_declaration" | "abstract_class_declaration" => SymbolKind::Class,
                "interface_declaration" => SymbolKind::Interface,
                "enum_declaration" => SymbolKind::Enum,
                "type_alias_declaration" => SymbolKind::Type,
                "internal_module" | "module" => SymbolKind::Module,
                "variable_declarator" => {
                    let value = field(node, "value").map(|value| value.kind());
                    let is_function = matches!(
                        value,
                        Some("arrow_function" | "function_expression" | "generator_function")
                    );
                    let plain = name.is_some_and(|name| name.kind() == "identifier");
                    match (is_function, plain && outermost()) {
                        (true, _) => SymbolKind::Function,
                        (false, true) => SymbolKind::Constant,
                        _ => return None,
                    }
                }
                _ => return None,
            },
            _ => return None,
        };
        name.map(|name| (kind, name))
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
