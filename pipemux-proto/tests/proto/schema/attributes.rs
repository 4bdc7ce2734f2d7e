//! What the attributes and doc comments of a declaration say of its form on the wire.

use syn::{Attribute, LitStr};

/// The `serde` attributes of a type, a field or a variant.
#[derive(Debug, Default)]
pub struct Serde {
    pub default: bool,
    /// The value is left out in some cases.
    pub may_be_left_out: bool,
    pub skip: bool,
    pub other: bool,
    pub transparent: bool,
    pub as_text: bool,
    pub rename: Option<String>,
    pub rename_all: Option<String>,
}

impl Serde {
    /// Reads the attributes.
    ///
    /// It panics on one that it doesn't know, since the schema would then say something wrong.
    pub fn read(attributes: &[Attribute]) -> Self {
        let mut all = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            let read = attribute.parse_nested_meta(|meta| {
                let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                let text = || meta.value()?.parse::<LitStr>().map(|text| text.value());
                match name.as_str() {
                    "default" if !meta.input.peek(syn::Token![=]) => all.default = true,
                    "skip" => all.skip = true,
                    "other" => all.other = true,
                    "transparent" => all.transparent = true,
                    "borrow" => {}
                    "skip_serializing_if" => {
                        all.may_be_left_out = true;
                        text()?;
                    }
                    "rename" => all.rename = Some(text()?),
                    "rename_all" => all.rename_all = Some(text()?),
                    "try_from" | "into" => {
                        all.as_text = true;
                        assert_eq!(text()?, "String", "the schema knows only texts");
                    }
                    "bound" => {
                        meta.parse_nested_meta(|of| of.value()?.parse::<LitStr>().map(|_| ()))?
                    }
                    _ => return Err(meta.error("the schema doesn't know this attribute")),
                }
                Ok(())
            });
            read.unwrap_or_else(|error| panic!("serde attribute: {error}"));
        }
        all
    }

    /// The name on the wire of a field or variant, within a type whose names are changed by
    /// `rename_all`.
    pub fn wire_name(&self, declared: &str, rename_all: Option<&str>) -> String {
        let declared = declared.strip_prefix("r#").unwrap_or(declared);
        match (&self.rename, rename_all) {
            (Some(name), _) => name.clone(),
            (None, None) => declared.to_owned(),
            (None, Some("lowercase")) => declared.to_lowercase(),
            (None, Some("snake_case")) => snake(declared),
            (None, Some("camelCase")) => camel(declared),
            (None, Some(rule)) => panic!("the schema doesn't know the rule {rule}"),
        }
    }
}

/// True for the variant that a `Default` derives.
pub fn is_default_variant(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("default"))
}

/// True for a type that is encoded by the fields that it declares.
pub fn derives_serialize(attributes: &[Attribute]) -> bool {
    let mut found = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        let read = attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("Serialize");
            Ok(())
        });
        read.unwrap_or_else(|error| panic!("derive: {error}"));
    }
    found
}

/// The doc comment as one text. `link` makes what stands for a link to an item of this crate.
pub fn doc(attributes: &[Attribute], link: impl Fn(&str) -> String) -> String {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let syn::Meta::NameValue(value) = &attribute.meta else { continue };
        let syn::Expr::Lit(literal) = &value.value else { continue };
        let syn::Lit::Str(text) = &literal.lit else { continue };
        lines.push(text.value().trim().to_owned());
    }
    // Targets of links, which no reader of the schema can follow.
    lines.retain(|line| !(line.starts_with("[`") && line.contains("`]: ")));
    let text = lines.join(" ");
    let mut out = String::new();
    let mut rest = text.trim();
    while let Some((before, name, after)) = next_link(rest) {
        out.push_str(before);
        out.push_str(&link(name));
        rest = after;
    }
    out + rest
}

/// Splits a text at its first link, ``[`name`]`` or ``[`name`](target)``.
fn next_link(text: &str) -> Option<(&str, &str, &str)> {
    let (before, linked) = text.split_once("[`")?;
    let (name, after) = linked.split_once("`]")?;
    let after = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
        Some((_, after)) => after,
        None => after,
    };
    Some((before, name, after))
}

pub fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (first, rest) = part.split_at(1);
        out += &first.to_ascii_uppercase();
        out += rest;
    }
    out
}
