//! Finds the paths that a file names: in imports, in code, and in the tokens that macros are given.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

use super::{Source, is_test};

/// What a file names, as paths from the root of the crate on.
#[derive(Debug, Default)]
pub struct Named {
    /// All paths that are not those of other crates.
    pub paths: Vec<Vec<String>>,
    /// The names that imports introduce, with what they stand for.
    pub imports: BTreeMap<String, Vec<String>>,
}

impl Named {
    /// Finds what a file names. `is_module` tells the modules of the crate from other crates.
    pub fn of(source: &Source, is_module: &dyn Fn(&[String]) -> bool) -> Self {
        let mut finder = Finder { module: &source.module, is_module, named: Self::default() };
        for item in &source.items {
            finder.visit_item(item);
        }
        finder.named
    }
}

struct Finder<'a> {
    module: &'a [String],
    is_module: &'a dyn Fn(&[String]) -> bool,
    named: Named,
}

impl Finder<'_> {
    /// Returns a written path from the root of the crate on; `None` if it leads elsewhere, or
    /// nowhere but into its own file.
    fn absolute(&self, written: &[String]) -> Option<Vec<String>> {
        let mut base = self.module.to_vec();
        let mut rest = written;
        match rest.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                base.push(first.to_owned());
                if !(self.is_module)(&base) {
                    return None;
                }
                rest = &rest[1..];
            }
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    fn add(&mut self, written: &[String]) {
        self.named.paths.extend(self.absolute(written));
    }

    fn tree(&mut self, prefix: &mut Vec<String>, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.tree(prefix, &path.tree);
                prefix.pop();
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.tree(prefix, tree));
            }
            syn::UseTree::Glob(_) => self.add(prefix),
            syn::UseTree::Name(name) => self.leaf(prefix, &name.ident, &name.ident),
            syn::UseTree::Rename(rename) => self.leaf(prefix, &rename.ident, &rename.rename),
        }
    }

    fn leaf(&mut self, prefix: &[String], name: &syn::Ident, introduced: &syn::Ident) {
        let mut written = prefix.to_vec();
        let mut introduced = introduced.to_string();
        if name == "self" {
            introduced = written.last().cloned().unwrap_or(introduced);
        } else {
            written.push(name.to_string());
        }
        if let Some(path) = self.absolute(&written) {
            self.named.imports.insert(introduced, path.clone());
            self.named.paths.push(path);
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 2;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons < 2 {
                        self.add(&std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1
                }
                other => {
                    self.add(&std::mem::take(&mut path));
                    colons = 2;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.add(&path);
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Const(item) => &item.attrs,
            _ => return syn::visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.tree(&mut Vec::new(), &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let written: Vec<String> =
                path.segments.iter().map(|part| part.ident.to_string()).collect();
            self.add(&written);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
    }
}
