//! How large types and functions are.

use std::collections::BTreeMap;

use syn::spanned::Spanned;

use super::{Source, is_test};

/// How large the types and functions of a crate are, by their names: `module::Type`,
/// `module::Type::function`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures {
    /// The methods of each type in all its `impl` blocks, without those of traits. Counted for the
    /// type whose module is nearest, where several of a crate have the same name.
    pub methods: BTreeMap<String, usize>,
    /// The fields of each struct.
    pub fields: BTreeMap<String, usize>,
    /// The lines of each function, without its attributes. A `match` at its end whose arms are a
    /// few lines each is a table, and not counted.
    pub functions: BTreeMap<String, usize>,
}

/// The longest arm of a `match` that is a table, in lines.
const LINES_OF_AN_ARM: usize = 6;

impl Figures {
    /// Counts what a crate's sources have.
    pub fn of(sources: &[Source]) -> Self {
        let mut counter = Counter::default();
        for source in sources {
            counter.items(&source.module, &source.items);
        }
        let Counter { mut figures, types, methods } = counter;
        for (module, name, count) in methods {
            let homes = types.iter().filter(|(_, other)| *other == name);
            let shared = |home: &[String]| {
                home.iter().zip(&module).take_while(|(one, other)| one == other).count()
            };
            let home = homes.max_by_key(|(home, _)| shared(home));
            let home = home.map_or(&module, |(home, _)| home);
            *figures.methods.entry(join(home, &name)).or_default() += count;
        }
        figures
    }
}

#[derive(Debug, Default)]
struct Counter {
    figures: Figures,
    /// All types, with their modules.
    types: Vec<(Vec<String>, String)>,
    /// How many methods an `impl` block in a module has for a type.
    methods: Vec<(Vec<String>, String, usize)>,
}

impl Counter {
    fn items(&mut self, module: &[String], items: &[syn::Item]) {
        for item in items {
            match item {
                syn::Item::Struct(item) => {
                    self.types.push((module.to_vec(), item.ident.to_string()));
                    let name = join(module, &item.ident.to_string());
                    self.figures.fields.insert(name, item.fields.len());
                }
                syn::Item::Enum(item) => {
                    self.types.push((module.to_vec(), item.ident.to_string()));
                }
                syn::Item::Fn(item) if !is_test(&item.attrs) => {
                    self.function(module, &item.sig, &item.block);
                }
                syn::Item::Impl(item) if !is_test(&item.attrs) => self.block(module, item),
                syn::Item::Mod(item) if !is_test(&item.attrs) => {
                    if let Some((_, items)) = &item.content {
                        let inner = [module, &[item.ident.to_string()]].concat();
                        self.items(&inner, items);
                    }
                }
                _ => {}
            }
        }
    }

    fn block(&mut self, module: &[String], block: &syn::ItemImpl) {
        let syn::Type::Path(path) = &*block.self_ty else { return };
        let Some(name) = path.path.segments.last().map(|part| part.ident.to_string()) else {
            return;
        };
        let functions = block.items.iter().filter_map(|item| match item {
            syn::ImplItem::Fn(function) if !is_test(&function.attrs) => Some(function),
            _ => None,
        });
        let of_type = [module, std::slice::from_ref(&name)].concat();
        let mut count = 0;
        for function in functions {
            count += 1;
            self.function(&of_type, &function.sig, &function.block);
        }
        if block.trait_.is_none() {
            self.methods.push((module.to_vec(), name, count));
        }
    }

    fn function(&mut self, within: &[String], signature: &syn::Signature, block: &syn::Block) {
        let mut lines = lines(signature.fn_token.span().join(block.span()));
        if let Some(syn::Stmt::Expr(syn::Expr::Match(table), _)) = block.stmts.last() {
            let longest = table.arms.iter().map(|arm| self::lines(Some(arm.span()))).max();
            if longest.is_some_and(|longest| longest <= LINES_OF_AN_ARM) {
                lines -= self::lines(Some(table.span())) - 1;
            }
        }
        let name = join(within, &signature.ident.to_string());
        let known = self.figures.functions.entry(name).or_default();
        *known = lines.max(*known);
    }
}

fn join(module: &[String], name: &str) -> String {
    let mut path = module.join("::");
    if !path.is_empty() {
        path += "::";
    }
    path + name
}

fn lines(span: Option<proc_macro2::Span>) -> usize {
    span.map_or(0, |span| span.end().line - span.start().line + 1)
}
