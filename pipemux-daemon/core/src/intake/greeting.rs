//! Enforces the bounds of an app's greeting.

use pipemux_proto::limits::NAME_MAX;
use pipemux_proto::prototype::{Field, Param, Prototype, Raw, Type};
use pipemux_proto::{Hello, Value};

use crate::foreign::bounds::{cut_list, own_line as line};
use crate::intake::checks::{check_count, check_name};
use crate::intake::decode::FromApp;
use crate::intake::pattern::compile;
use crate::limits::{
    DEFAULT_MAX, DOC_CHARS, FEATURES_MAX, FIELDS_MAX, PARAM_DOC_CHARS, PARAMS_MAX,
    PROTOTYPES_BYTES, PROTOTYPES_MAX, SOFTWARE_CHARS, TOKEN_PREFIX_MAX, TYPE_NESTING_MAX,
    UNION_MAX,
};

impl FromApp for Hello {
    fn bound(&mut self) -> Result<(), String> {
        self.features.retain(|feature| feature.len() <= NAME_MAX);
        cut_list(&mut self.features, FEATURES_MAX);
        line(&mut self.software, SOFTWARE_CHARS);
        if let Some(prefix) = &self.token_prefix {
            check_name("a token prefix", prefix, TOKEN_PREFIX_MAX)?;
        }
        check_count("actions", self.prototypes.len(), PROTOTYPES_MAX)?;
        self.prototypes.iter_mut().try_for_each(bound_prototype)?;
        let bytes: usize = self.prototypes.iter().map(prototype_bytes).sum();
        check_count("bytes of actions", bytes, PROTOTYPES_BYTES)
    }
}

fn bound_prototype(prototype: &mut Prototype) -> Result<(), String> {
    // The names say what is wrong with them themselves.
    prototype.check().map_err(|error| format!("a prototype that can't be: {error}"))?;
    let of = |why: String| format!("{}: {why}", prototype.name);
    check_count("parameters", prototype.params.len(), PARAMS_MAX).map_err(of)?;
    line(&mut prototype.doc, DOC_CHARS);
    for param in &mut prototype.params {
        bound_param(param).map_err(|why| format!("{}: {why}", prototype.name))?;
    }
    match &mut prototype.returns {
        Some(returns) => bound_type(returns, 0),
        None => Ok(()),
    }
    .map_err(|why| format!("{}: {why}", prototype.name))
}

fn bound_param(param: &mut Param) -> Result<(), String> {
    line(&mut param.doc, PARAM_DOC_CHARS);
    bound_type(&mut param.ty, 0)?;
    check_default(param.default.as_ref())?;
    match &param.raw {
        Raw::If(name) => check_name("a parameter's name", name, NAME_MAX),
        Raw::Never | Raw::Always => Ok(()),
    }
}

fn check_default(default: Option<&Value>) -> Result<(), String> {
    match default {
        Some(value) => check_count("bytes of a default", value.to_blob().0.len(), DEFAULT_MAX),
        None => Ok(()),
    }
}

/// Brings the fields of a record or a form within their bounds. Their names were checked.
pub fn bound_fields(fields: &mut [Field], depth: usize) -> Result<(), String> {
    check_count("fields", fields.len(), FIELDS_MAX)?;
    for field in fields {
        line(&mut field.doc, PARAM_DOC_CHARS);
        bound_type(&mut field.ty, depth)?;
        check_default(field.default.as_ref())?;
        if let Some(pattern) = &field.pattern {
            compile(pattern)?;
        }
        if field.min.into_iter().chain(field.max).any(f64::is_nan) {
            return Err(format!("the bounds of {} are no numbers", field.name));
        }
    }
    Ok(())
}

fn bound_type(ty: &mut Type, depth: usize) -> Result<(), String> {
    if depth > TYPE_NESTING_MAX {
        return Err(format!("a type nested deeper than {TYPE_NESTING_MAX}"));
    }
    match ty {
        Type::Union(options) => {
            check_count("options of a type", options.len(), UNION_MAX)?;
            options.iter().try_for_each(|option| check_name("an option", option, NAME_MAX))
        }
        Type::Anchor(Some(of)) => check_name("a type", of, NAME_MAX),
        Type::List(inner) | Type::Optional(inner) | Type::Map(inner) => {
            bound_type(inner, depth + 1)
        }
        Type::Record(fields) => bound_fields(fields, depth + 1),
        _ => Ok(()),
    }
}

/// Returns about how long a declaration is.
fn prototype_bytes(prototype: &Prototype) -> usize {
    let param = |param: &Param| param.name.len() + param.doc.len() + type_bytes(&param.ty) + 8;
    let params: usize = prototype.params.iter().map(param).sum();
    prototype.name.len() + prototype.doc.len() + params + 16
}

fn type_bytes(ty: &Type) -> usize {
    match ty {
        Type::Union(options) => options.iter().map(|option| option.len() + 3).sum(),
        Type::Anchor(of) => 8 + of.as_ref().map_or(0, String::len),
        Type::List(inner) | Type::Optional(inner) => type_bytes(inner) + 2,
        Type::Map(inner) => type_bytes(inner) + 18,
        Type::Record(fields) => {
            let field =
                |field: &Field| field.name.len() + field.doc.len() + type_bytes(&field.ty) + 4;
            fields.iter().map(field).sum()
        }
        _ => 8,
    }
}
