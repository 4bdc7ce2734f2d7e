//! Several arguments that are missing of one call are asked for in one error.

use pipemux_proto::Fault;
use pipemux_proto::call::{Call, shorten};
use pipemux_proto::command;
use pipemux_proto::prototype::{Param, Prototype, Type};

use crate::runs::plan::Planner;

/// The longest call that the example repeats, in characters.
const EXAMPLE_CALL: usize = 200;

impl Planner<'_> {
    /// Checks that at most one argument is missing, which the reader is then asked for.
    ///
    /// # Errors
    /// Several are missing: all of them are named, with a whole call.
    pub(super) fn check_missing(&self, call: &Call, prototype: &Prototype) -> Result<(), Fault> {
        let positional = call.args.iter().take_while(|argument| argument.name.is_none()).count();
        let named = |param: &Param| {
            let mut names = call.args.iter().filter_map(|argument| argument.name.as_ref());
            names.any(|(name, _)| *name == param.name)
        };
        let optional =
            |param: &Param| param.default.is_some() || matches!(param.ty, Type::Optional(_));
        let left = prototype.params.iter().skip(positional);
        let missing: Vec<&Param> = left.filter(|param| !optional(param) && !named(param)).collect();
        if missing.len() < 2 {
            return Ok(());
        }
        let types: Vec<String> =
            missing.iter().map(|param| format!("{}: {}", param.name, param.ty)).collect();
        let examples: Vec<String> =
            missing.iter().map(|param| format!("{}={}", param.name, example(&param.ty))).collect();
        let written = shorten(self.code, call.span, EXAMPLE_CALL);
        let open = written.strip_suffix(')').unwrap_or(&written);
        let comma = if call.args.is_empty() { "" } else { ", " };
        let whole = format!("{open}{comma}{})", examples.join(", "));
        let fault =
            self.error("missing arguments", call.name, format!("needs {}", types.join(", ")));
        Err(fault.hint(command::run(&whole)))
    }
}

/// Writes a value of a type.
fn example(ty: &Type) -> String {
    match ty {
        Type::String | Type::Any => "\"…\"".to_owned(),
        Type::Int => "1".to_owned(),
        Type::Float => "0.5".to_owned(),
        Type::Bool => "true".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Line => "12".to_owned(),
        Type::Anchor(_) => "obj:7".to_owned(),
        Type::Union(options) => {
            options.first().map_or_else(|| "\"…\"".to_owned(), |first| format!("\"{first}\""))
        }
        Type::List(item) => format!("[{}]", example(item)),
        Type::Optional(inner) => example(inner),
    }
}
