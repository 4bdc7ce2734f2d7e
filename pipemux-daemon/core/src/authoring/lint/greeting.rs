//! The flaws of a greeting.

use std::collections::BTreeSet;

use pipemux_proto::Hello;
use pipemux_proto::prototype::{Field, Param, Prototype, Risk, Type};

use super::lints::{Lint, Lints};
use super::types::fits;
use crate::intake::FromApp;
use crate::limits::{DOC_CHARS, FEATURES_MAX, PARAM_DOC_CHARS, SOFTWARE_CHARS};

/// Returns the flaws of an app's greeting.
pub fn hello(hello: &Hello) -> Vec<Lint> {
    let mut lints = Lints::default();
    if let Err(fault) = hello.check() {
        lints.add("protocol", "protocol", fault.message);
    }
    if hello.role != pipemux_proto::Role::App {
        lints.add("role", "role", "isn't \"app\"");
    }
    lints.count("features", hello.features.len(), FEATURES_MAX);
    lints.line("software", &hello.software, SOFTWARE_CHARS);
    if let Some(prefix) = &hello.token_prefix
        && !is_token_prefix(prefix)
    {
        let text = format!("{prefix:?} doesn't match [A-Z][A-Z0-9]{{0,7}}");
        lints.add("token-prefix", "token_prefix", text);
    }
    let mut names = BTreeSet::new();
    for (at, prototype) in hello.prototypes.iter().enumerate() {
        let path = format!("prototypes[{at}]");
        if !names.insert(&prototype.name) {
            let text = format!(
                "{} is declared twice: give one another `name`, and the same `called`",
                prototype.name
            );
            lints.add("action-twice", format!("{path}.name"), text);
        }
        check_prototype(&mut lints, &path, prototype);
    }
    if let Some((at, _)) =
        hello.prototypes.iter().enumerate().filter(|(_, action)| action.input).nth(1)
    {
        let text = "another action is declared as the input already";
        lints.add("input", format!("prototypes[{at}].input"), text);
    }
    // What can't be cut is refused as a whole.
    if let Err(why) = hello.clone().bound()
        && lints.0.is_empty()
    {
        lints.add("bound", "prototypes", why);
    }
    lints.0
}

fn check_prototype(lints: &mut Lints, path: &str, prototype: &Prototype) {
    if let Err(error) = prototype.check() {
        lints.add("name", path, error.to_string());
    }
    lints.line(&format!("{path}.doc"), &prototype.doc, DOC_CHARS);
    if prototype.previews && prototype.risk != Risk::Destructive {
        let text = "counts for destructive actions only";
        lints.add("previews", format!("{path}.previews"), text);
    }
    if prototype.input && !prototype.is_input() {
        let text = "the first parameter takes no text, or another one has no default";
        lints.add("input", format!("{path}.input"), text);
    }
    for (at, param) in prototype.params.iter().enumerate() {
        check_param(lints, &format!("{path}.params[{at}]"), param);
    }
}

fn check_param(lints: &mut Lints, path: &str, param: &Param) {
    lints.line(&format!("{path}.doc"), &param.doc, PARAM_DOC_CHARS);
    if let Some(default) = &param.default
        && !fits(default, &param.ty)
    {
        let text = format!("{default} is no {}", param.ty);
        lints.add("default", format!("{path}.default"), text);
    }
    check_type(lints, &format!("{path}.type"), &param.ty);
}

fn check_type(lints: &mut Lints, path: &str, ty: &Type) {
    match ty {
        Type::Union(options) if options.is_empty() => {
            lints.add("union", path, "is one of no strings: no value fits it");
        }
        Type::List(of) | Type::Optional(of) | Type::Map(of) => check_type(lints, path, of),
        Type::Record(fields) => check_fields(lints, &format!("{path}.record"), fields),
        _ => {}
    }
}

/// Checks the fields of a record or a form.
pub(super) fn check_fields(lints: &mut Lints, path: &str, fields: &[Field]) {
    for (at, field) in fields.iter().enumerate() {
        let path = format!("{path}[{at}]");
        lints.line(&format!("{path}.doc"), &field.doc, PARAM_DOC_CHARS);
        if let Some(default) = &field.default
            && !fits(default, &field.ty)
        {
            // A secret default isn't printed.
            let value = if field.holds_secret() { "it".to_owned() } else { default.to_string() };
            lints.add("default", format!("{path}.default"), format!("{value} is no {}", field.ty));
        }
        if let (Some(min), Some(max)) = (field.min, field.max)
            && min > max
        {
            let text = format!("{min} is greater than `max`, {max}: no value fits it");
            lints.add("bounds", format!("{path}.min"), text);
        }
        let ty = field.value_type();
        let counts = matches!(ty, Type::Int | Type::Float | Type::String | Type::List(_));
        if !counts && field.min.or(field.max).is_some() {
            let text = format!("`min` and `max` mean nothing for {ty}");
            lints.add("bounds", &path, text);
        }
        if field.pattern.is_some() && *ty != Type::String {
            lints.add("pattern", format!("{path}.pattern"), format!("means nothing for {ty}"));
        }
        check_type(lints, &format!("{path}.type"), &field.ty);
    }
}

fn is_token_prefix(prefix: &str) -> bool {
    let mut chars = prefix.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_uppercase());
    first && prefix.len() <= 8 && chars.all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}
