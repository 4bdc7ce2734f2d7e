//! The symbols of a file.
//!
//! | module | holds |
//! |---|---|
//! | `symbol` | what a symbol is |
//! | `declaration` | the nodes of a symbol |
//! | `declared` | which nodes declare symbols, for each language |
//! | `extent` | a symbol's lines with its comments and attributes, and what stands between its braces |
//! | `modifiers` | whether a symbol is public, and words such as `unsafe` |
//! | `markdown` | the headings of Markdown, and what a text is about |
//! | `reading` | what of a symbol a reader may want alone: its signature; or do without: documentation |

mod declaration;
mod declared;
mod extent;
mod macros;
mod markdown;
mod modifiers;
mod reading;
mod symbol;

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::regions::regions;
use crate::source::{Source, named};

use declaration::Declared;
use declared::declared;

pub use markdown::Lead;
pub(crate) use symbol::base_name;
pub use symbol::{Symbol, SymbolKind, flatten};

impl Source {
    /// Returns the file's symbols, each with those in it, in the order of the text. Functions
    /// within functions are included; local variables, fields and variants are not.
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

/// The data needed to describe the symbols of a file.
struct Outliner<'s> {
    source: &'s Source,
    /// True if fields and variants are wanted.
    parts: bool,
    comments: Vec<Range<usize>>,
    /// The names in export lists.
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
