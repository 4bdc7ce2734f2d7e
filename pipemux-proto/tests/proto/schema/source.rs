//! The message types, read from the sources of this crate, as definitions of a schema.
//!
//! The declarations and their `serde` attributes are the form on the wire: there are no other
//! rules. What a type encodes by hand is described by hand, in `by_hand.rs`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use syn::{Fields, GenericArgument, Item, PathArguments, Type};

use crate::schema::attributes::{Serde, derives_serialize, doc, is_default_variant, snake};
use crate::schema::by_hand;
use crate::schema::json::{Json, object, reference};

const SOURCES: &[(&str, &str)] = &[
    ("app", include_str!("../../../src/app.rs")),
    ("client", include_str!("../../../src/client.rs")),
    ("client", include_str!("../../../src/client/clock.rs")),
    ("client", include_str!("../../../src/client/verb.rs")),
    ("consent", include_str!("../../../src/consent.rs")),
    ("context", include_str!("../../../src/context.rs")),
    ("envelope", include_str!("../../../src/envelope.rs")),
    ("fault", include_str!("../../../src/fault.rs")),
    ("hello", include_str!("../../../src/hello.rs")),
    ("ids", include_str!("../../../src/ids.rs")),
    ("job", include_str!("../../../src/job.rs")),
    ("limits", include_str!("../../../src/limits.rs")),
    ("numbers", include_str!("../../../src/numbers.rs")),
    ("pause", include_str!("../../../src/pause.rs")),
    ("projection", include_str!("../../../src/projection.rs")),
    ("prototype", include_str!("../../../src/prototype.rs")),
    ("prototype", include_str!("../../../src/prototype/types.rs")),
    ("report", include_str!("../../../src/report.rs")),
    ("watch", include_str!("../../../src/watch.rs")),
];

pub struct Source {
    /// Structs and enums by their names in the sources, with their modules.
    types: BTreeMap<String, (&'static str, Item)>,
    aliases: BTreeMap<String, Type>,
    /// Constants whose values a comment may mean.
    constants: BTreeMap<String, String>,
    wanted: RefCell<BTreeSet<String>>,
}

impl Source {
    pub fn read() -> Self {
        let (mut types, mut aliases, mut constants) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for &(module, text) in SOURCES {
            let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{module}: {error}"));
            for item in file.items {
                let declared = match &item {
                    Item::Struct(of) => Some((&of.ident, &of.attrs)),
                    Item::Enum(of) => Some((&of.ident, &of.attrs)),
                    _ => None,
                };
                let message = declared
                    .filter(|(_, of)| derives_serialize(of) || module == "envelope")
                    .map(|(name, _)| name.to_string());
                match (message, item) {
                    (Some(name), item) => {
                        let earlier = types.insert(name.clone(), (module, item));
                        assert!(earlier.is_none(), "two types are called {name}");
                    }
                    (_, Item::Type(of)) => drop(aliases.insert(of.ident.to_string(), *of.ty)),
                    (_, Item::Const(of)) => {
                        let value = literal(&of.expr).map(|value| (of.ident.to_string(), value));
                        constants.extend(value);
                    }
                    _ => {}
                }
            }
        }
        Self { types, aliases, constants, wanted: RefCell::default() }
    }

    /// All definitions that these types need, by name: `app::Done`.
    pub fn definitions(&self, roots: &[&str]) -> BTreeMap<String, Json> {
        let mut all: BTreeMap<String, Json> = BTreeMap::new();
        self.wanted.borrow_mut().extend(roots.iter().map(|root| (*root).to_owned()));
        loop {
            let wanted = self.wanted.borrow().clone();
            let Some(name) = wanted.into_iter().find(|name| !all.contains_key(name)) else { break };
            let plain = last_part(&name);
            let definition = by_hand::definition(&name).unwrap_or_else(|| {
                let generic = format!("{plain}Of");
                let found = self.types.get(&generic).or_else(|| self.types.get(plain));
                let (module, item) = found.unwrap_or_else(|| panic!("there is no type {name}"));
                assert_eq!(name, format!("{module}::{plain}"), "the module of a type");
                self.definition(item)
            });
            let Json::Object(members) = definition else { panic!("{name} is no schema") };
            let titled = [("title".to_owned(), Json::from(plain))].into_iter().chain(members);
            all.insert(name, Json::Object(titled.collect()));
        }
        for (name, (module, _)) in
            self.types.iter().filter(|(_, (module, _))| *module != "envelope")
        {
            let known = all.contains_key(&wire_type(module, name));
            assert!(known, "no message has the type {module}::{name}, which can be encoded");
        }
        all
    }

    /// The variants of an enum in order, with what their comments say.
    pub fn variants(&self, name: &str) -> Vec<(String, String)> {
        let Some((_, Item::Enum(item))) = self.types.get(name) else { panic!("no enum {name}") };
        item.variants.iter().map(|of| (of.ident.to_string(), self.doc(&of.attrs))).collect()
    }

    fn doc(&self, attributes: &[syn::Attribute]) -> String {
        doc(attributes, |name| match self.constants.get(last_part(name)) {
            Some(value) => format!("`{value}`"),
            None => written_name(name),
        })
    }

    fn definition(&self, item: &Item) -> Json {
        match item {
            Item::Struct(of) => {
                let own = Serde::read(&of.attrs);
                let text = self.doc(&of.attrs);
                match (&of.fields, own.transparent) {
                    (Fields::Named(_), false) => {
                        self.object(&of.fields, own.rename_all.as_deref(), &text)
                    }
                    (Fields::Unnamed(fields), true) => {
                        let inner = fields.unnamed.first().expect("one field");
                        self.of_type(&inner.ty).described(&text)
                    }
                    _ => panic!("the schema doesn't know the form of {}", of.ident),
                }
            }
            Item::Enum(of) => self.choice(of),
            _ => panic!("neither a struct nor an enum"),
        }
    }

    fn object(&self, fields: &Fields, rename_all: Option<&str>, text: &str) -> Json {
        let (mut properties, mut required) = (Vec::new(), Vec::new());
        for field in fields {
            let own = Serde::read(&field.attrs);
            if own.skip {
                continue;
            }
            let declared = field.ident.as_ref().expect("a named field").to_string();
            let name = own.wire_name(&declared, rename_all);
            let mut value = self.of_type(&field.ty).described(&self.doc(&field.attrs));
            // An absent `Option` is none, which needs no word.
            let optional = argument(&field.ty, "Option").is_some();
            match (own.default, optional) {
                (true, false) => value = value.with("default", self.default(&field.ty)),
                // One that is never left out is part of each message, as `null`.
                (false, true) if own.may_be_left_out => {}
                (false, _) => required.push(Json::from(name.clone())),
                (true, true) => {}
            }
            properties.push((name, value));
        }
        let out = object([("type", "object".into())]).described(text);
        let out = out.with("properties", Json::Object(properties));
        if required.is_empty() { out } else { out.with("required", Json::List(required)) }
    }

    /// An externally tagged enum.
    fn choice(&self, item: &syn::ItemEnum) -> Json {
        let own = Serde::read(&item.attrs);
        let rename_all = own.rename_all.as_deref();
        let mut forms = Vec::new();
        let (mut only_names, mut open) = (true, None);
        for variant in &item.variants {
            let of = Serde::read(&variant.attrs);
            let name = of.wire_name(&variant.ident.to_string(), rename_all);
            let text = self.doc(&variant.attrs);
            let content = match &variant.fields {
                Fields::Unit => {
                    forms.push(object([("const", Json::from(name))]).described(&text));
                    if of.other {
                        open = Some(object([("type", "string".into())]).described(&text));
                    }
                    continue;
                }
                Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                    self.of_type(&fields.unnamed[0].ty)
                }
                Fields::Named(_) => self.object(&variant.fields, None, ""),
                Fields::Unnamed(_) => panic!("{name}: the schema doesn't know tuples"),
            };
            only_names = false;
            let tagged = object([("type", "object".into())]).described(&text);
            let tagged = tagged.with("properties", Json::Object(vec![(name.clone(), content)]));
            let tagged = tagged.with("required", Json::List(vec![name.into()]));
            forms.push(tagged.with("additionalProperties", Json::Bool(false)));
        }
        let out = match only_names {
            true => object([("type", "string".into())]),
            false => object([]),
        };
        let out = out.described(&self.doc(&item.attrs));
        match open {
            None => out.with("oneOf", Json::List(forms)),
            // A later version may send another name, which is read as this one.
            Some(any) => {
                forms.push(any);
                out.with("anyOf", Json::List(forms))
            }
        }
    }

    fn of_type(&self, ty: &Type) -> Json {
        if let Some(inner) = argument(ty, "Option") {
            return or_null(self.of_type(inner));
        }
        if let Some(inner) = argument(ty, "Box") {
            return self.of_type(inner);
        }
        if let Type::Slice(of) = ty {
            return object([("type", "array".into()), ("items", self.of_type(&of.elem))]);
        }
        if let Some(inner) = argument(ty, "Vec") {
            return object([("type", "array".into()), ("items", self.of_type(inner))]);
        }
        let name = last_name(ty);
        if name == "BTreeMap" {
            let of = arguments(ty);
            assert!(of.len() == 2 && last_name(of[0]) == "String", "the keys of a map");
            let values = self.of_type(of[1]);
            return object([("type", "object".into()), ("additionalProperties", values)]);
        }
        if let Some(plain) = by_hand::plain(&name) {
            return plain;
        }
        if let Some(of) = self.aliases.get(&name).filter(|of| !last_name(of).ends_with("Of")) {
            return self.of_type(of);
        }
        let name = match by_hand::module(&name) {
            Some(module) => wire_type(module, &name),
            None => {
                let (module, _) =
                    self.types.get(&name).unwrap_or_else(|| panic!("there is no type {name}"));
                wire_type(module, &name)
            }
        };
        self.wanted.borrow_mut().insert(name.clone());
        reference(&name)
    }

    /// The value of an absent field.
    fn default(&self, ty: &Type) -> Json {
        let name = match ty {
            Type::Path(_) => last_name(ty),
            _ => panic!("the default of a type without a name"),
        };
        match name.as_str() {
            "bool" => Json::Bool(false),
            "String" | "T" | "Blob" | "Bytes" => "".into(),
            "Vec" => Json::List(Vec::new()),
            "Box" if matches!(argument(ty, "Box"), Some(Type::Slice(_))) => Json::List(Vec::new()),
            "BTreeMap" => Json::Object(Vec::new()),
            name if name.starts_with(['u', 'i']) => Json::Number(0),
            name => match (self.aliases.get(name), self.types.get(name)) {
                (Some(of), _) => self.default(of),
                (_, Some((_, Item::Enum(of)))) => {
                    let rule = Serde::read(&of.attrs).rename_all;
                    let variant = of.variants.iter().find(|of| is_default_variant(&of.attrs));
                    let variant = variant.unwrap_or_else(|| panic!("{name} has no default"));
                    let own = Serde::read(&variant.attrs);
                    own.wire_name(&variant.ident.to_string(), rule.as_deref()).into()
                }
                _ => panic!("the schema doesn't know the default of {name}"),
            },
        }
    }
}

/// The name of a type on the page: without the `Of` of those that have a type parameter for their
/// texts.
fn wire_type(module: &str, name: &str) -> String {
    format!("{module}::{}", name.strip_suffix("Of").unwrap_or(name))
}

/// An item of this crate as the page and the schema write it: a type as `app::Done`, a field as
/// `Done.brief`, a variant as the text that it is, a kind or a method by its name.
fn written_name(path: &str) -> String {
    let path = path.strip_prefix("crate::").unwrap_or(path).replace("Of::", "::");
    let is_type = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase());
    match path.rsplit_once("::") {
        Some(("Kind" | "Method", name)) => format!("`{name}`"),
        Some((of, variant)) if is_type(last_part(of)) && is_type(variant) => {
            format!("`\"{}\"`", snake(variant))
        }
        Some((of, field)) if is_type(last_part(of)) => format!("`{of}.{field}`"),
        _ => format!("`{path}`"),
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or_default()
}

fn or_null(inner: Json) -> Json {
    let null = || object([("type", "null".into())]);
    match inner {
        Json::Object(mut members) if matches!(members.first(), Some((name, Json::Text(_))) if name == "type") =>
        {
            members[0].1 = Json::List(vec![members[0].1.clone(), "null".into()]);
            Json::Object(members)
        }
        inner => object([("anyOf", Json::List(vec![inner, null()]))]),
    }
}

fn last_name(ty: &Type) -> String {
    let Type::Path(path) = ty else { return String::new() };
    path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
}

fn arguments(ty: &Type) -> Vec<&Type> {
    let Type::Path(path) = ty else { return Vec::new() };
    let Some(PathArguments::AngleBracketed(list)) =
        path.path.segments.last().map(|last| &last.arguments)
    else {
        return Vec::new();
    };
    let types = list.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// The argument of `name<argument>`.
fn argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    (last_name(ty) == name).then(|| arguments(ty).into_iter().next()).flatten()
}

fn literal(value: &syn::Expr) -> Option<String> {
    let syn::Expr::Lit(literal) = value else { return None };
    match &literal.lit {
        syn::Lit::Str(text) => Some(text.value()),
        syn::Lit::Int(number) => Some(number.base10_digits().to_owned()),
        _ => None,
    }
}
