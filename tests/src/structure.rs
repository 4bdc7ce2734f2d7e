//! Reads what the sources of a crate are made of: types, functions, and which file names which
//! other.
//!
//! Tests don't count: neither items under `#[cfg(test)]` nor files and folders named `tests`.
//! Macros of declarations aren't expanded.

mod figures;
mod graph;
mod paths;

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

pub use figures::Figures;
pub use graph::ModuleGraph;

/// A file of a crate.
pub struct Source {
    /// The path of the file's module from the root on, which is empty for `lib.rs` and `main.rs`.
    pub module: Vec<String>,
    items: Vec<syn::Item>,
}

/// Reads the sources below a directory with a `lib.rs` or `main.rs`.
///
/// # Errors
/// A file can't be read, or isn't Rust.
pub fn read(src: &Path) -> io::Result<Vec<Source>> {
    let mut sources = BTreeMap::new();
    collect(src, &mut Vec::new(), &mut sources)?;
    Ok(sources.into_iter().map(|(module, items)| Source { module, items }).collect())
}

fn collect(
    directory: &Path,
    module: &mut Vec<String>,
    sources: &mut BTreeMap<Vec<String>, Vec<syn::Item>>,
) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            module.push(name);
            collect(&path, module, sources)?;
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_root = module.is_empty() && matches!(name.as_str(), "lib" | "main");
            let mut of_file = module.clone();
            if name != "mod" && !is_root {
                of_file.push(name);
            }
            let text = fs::read_to_string(&path)?;
            let file = syn::parse_file(&text).map_err(|error| {
                io::Error::other(format!(
                    "{}:{}: {error}",
                    path.display(),
                    error.span().start().line
                ))
            })?;
            sources.entry(of_file).or_default().extend(file.items);
        }
    }
    Ok(())
}

/// True for an item that only tests have.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        list.path.is_ident("cfg") && {
            let condition = list.tokens.to_string();
            condition == "test"
                || condition.starts_with("all (test")
                || condition.starts_with("all(test")
        }
    })
}
