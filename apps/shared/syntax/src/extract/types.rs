//! The types that the tree tells.

use tree_sitter::Node;

use crate::scopes::{Binding, Declaration, Keyword};
use crate::source::{children, descendants, field, fields, named};

use super::plan::Plan;

/// Returns the type of a variable in TypeScript.
pub(super) fn typescript(plan: &Plan<'_>, binding: &Binding<'_>) -> Option<String> {
    if plan.source.language() == crate::Language::JavaScript {
        return None;
    }
    if let Some(ty) = plan.types.get(&binding.name) {
        return Some(ty.clone());
    }
    let [declaration] = binding.declarations.as_slice() else { return None };
    if let Some(annotation) = declaration.ty {
        let ty = plan.source.text_of(annotation).trim_start_matches(':').trim();
        let optional = annotation.parent().is_some_and(|one| one.kind() == "optional_parameter");
        return Some(if optional { format!("{ty} | undefined") } else { ty.to_owned() });
    }
    let ty = match declaration.init?.kind() {
        "number" => "number",
        "string" | "template_string" => "string",
        "true" | "false" => "boolean",
        _ => return None,
    };
    Some(ty.to_owned())
}

/// Returns the type of a variable in Go.
pub(super) fn go(plan: &Plan<'_>, binding: &Binding<'_>) -> Option<String> {
    if let Some(ty) = plan.types.get(&binding.name) {
        return Some(ty.clone());
    }
    go_declared(plan, binding.declarations.first()?, 0)
}

/// Maximum number of variables that an inferred type may depend on.
const INFERENCE_STEPS: usize = 8;

fn go_declared(plan: &Plan<'_>, declaration: &Declaration<'_>, depth: usize) -> Option<String> {
    let source = plan.source;
    if depth > INFERENCE_STEPS || declaration.keyword == Keyword::Pattern {
        return None;
    }
    if let Some(ty) = declaration.ty {
        let variadic =
            ty.parent().is_some_and(|one| one.kind() == "variadic_parameter_declaration");
        let ty = source.text_of(ty);
        return Some(if variadic { format!("[]{ty}") } else { ty.to_owned() });
    }
    // By convention, a result of this name is an error.
    let error = || (source.text_of(declaration.name) == "err").then(|| "error".to_owned());
    if let Some(init) = declaration.init {
        let call = init.kind() == "call_expression";
        return go_expression(plan, init, depth).or_else(|| error().filter(|_| call));
    }
    let list = declaration.name.parent()?;
    let statement = if list.kind() == "expression_list" { list.parent()? } else { list };
    let names: Vec<_> = named(list).into_iter().filter(|one| one.kind() == "identifier").collect();
    let index = names.iter().position(|one| *one == declaration.name)?;
    let right = field(statement, "right").or(field(statement, "value"))?;
    if statement.kind() == "range_clause" {
        return go_element(&go_expression(plan, right, depth)?, index);
    }
    let values = if right.kind() == "expression_list" { named(right) } else { vec![right] };
    let [value] = values.as_slice() else { return None };
    match value.kind() {
        "call_expression" => {
            let told = go_results(plan, *value).and_then(|all| all.get(index).cloned());
            told.or_else(|| error().filter(|_| index + 1 == names.len()))
        }
        "index_expression" | "type_assertion_expression" | "unary_expression" if index == 1 => {
            Some("bool".to_owned())
        }
        _ if index == 0 => go_expression(plan, *value, depth),
        _ => None,
    }
}

/// Returns the type of what `range` gives: the key or the value.
fn go_element(of: &str, index: usize) -> Option<String> {
    if let Some(rest) = of.strip_prefix("[]") {
        return Some(if index == 0 { "int".to_owned() } else { rest.to_owned() });
    }
    if let Some(rest) = of.strip_prefix("map[") {
        let mut depth = 1;
        let end = rest.find(|c| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            depth == 0
        })?;
        return Some(if index == 0 { rest[..end].to_owned() } else { rest[end + 1..].to_owned() });
    }
    match (of, index) {
        ("string" | "int", 0) => Some("int".to_owned()),
        ("string", 1) => Some("rune".to_owned()),
        _ => None,
    }
}

const GO_BASIC: &str = "bool string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune \
                        float32 float64 complex64 complex128";

/// True for the types of Go that are copied as a whole and have no methods.
pub(super) fn is_go_basic(ty: &str) -> bool {
    GO_BASIC.split_whitespace().any(|basic| basic == ty)
}

fn go_expression(plan: &Plan<'_>, node: Node<'_>, depth: usize) -> Option<String> {
    let source = plan.source;
    let ty = match node.kind() {
        "int_literal" => "int",
        "float_literal" => "float64",
        "rune_literal" => "rune",
        "interpreted_string_literal" | "raw_string_literal" => "string",
        "true" | "false" => "bool",
        "composite_literal" => {
            let ty = source.text_of(field(node, "type")?);
            return (!ty.starts_with("[...]")).then(|| ty.to_owned());
        }
        "unary_expression" => {
            let operand = field(node, "operand")?;
            let operator = source.text_of(field(node, "operator")?);
            let inner = go_expression(plan, operand, depth + 1)?;
            return match operator {
                "&" => Some(format!("*{inner}")),
                "*" => inner.strip_prefix('*').map(str::to_owned),
                "<-" => None,
                _ => Some(inner),
            };
        }
        "parenthesized_expression" => return go_expression(plan, node.named_child(0)?, depth + 1),
        "func_literal" => {
            let parameters = source.text_of(field(node, "parameters")?);
            let result = field(node, "result")
                .map_or(String::new(), |of| format!(" {}", source.text_of(of)));
            return Some(format!("func{parameters}{result}"));
        }
        "binary_expression" => match source.text_of(field(node, "operator")?) {
            "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||" => "bool",
            _ => return None,
        },
        "identifier" => {
            let all = plan.crossing.bindings().iter();
            let binding =
                all.into_iter().find(|one| one.uses.iter().any(|used| used.node == node))?;
            let given = plan.types.get(&binding.name).cloned();
            return given.or_else(|| go_declared(plan, binding.declarations.first()?, depth + 1));
        }
        "slice_expression" => return go_expression(plan, field(node, "operand")?, depth + 1),
        "index_expression" => {
            let of = go_expression(plan, field(node, "operand")?, depth + 1)?;
            return match of.as_str() {
                "string" => Some("byte".to_owned()),
                _ => go_element(&of, 1),
            };
        }
        "call_expression" => {
            let arguments = field(node, "arguments").map(named).unwrap_or_default();
            let first = || arguments.first().map(|one| source.text_of(*one).to_owned());
            return match source.text_of(field(node, "function")?) {
                "len" | "cap" | "copy" => Some("int".to_owned()),
                "make" => first(),
                "new" => first().map(|ty| format!("*{ty}")),
                "append" => go_expression(plan, *arguments.first()?, depth + 1),
                basic if is_go_basic(basic) => Some(basic.to_owned()),
                _ => go_results(plan, node).filter(|all| all.len() == 1)?.into_iter().next(),
            };
        }
        _ => return None,
    };
    Some(ty.to_owned())
}

/// Returns the results of a call of a function that the file declares.
fn go_results(plan: &Plan<'_>, call: Node<'_>) -> Option<Vec<String>> {
    let source = plan.source;
    let name = field(call, "function").filter(|one| one.kind() == "identifier")?;
    let name = source.text_of(name);
    let function = named(source.root()).into_iter().find(|one| {
        one.kind() == "function_declaration"
            && field(*one, "type_parameters").is_none()
            && field(*one, "name").is_some_and(|of| source.text_of(of) == name)
    })?;
    let result = field(function, "result")?;
    if result.kind() != "parameter_list" {
        return Some(vec![source.text_of(result).to_owned()]);
    }
    let mut all = Vec::new();
    for one in named(result) {
        let ty = source.text_of(field(one, "type")?).to_owned();
        all.extend(std::iter::repeat_n(ty, fields(one, "name").len().max(1)));
    }
    Some(all)
}

/// Returns the type of a variable in Rust.
pub(super) fn rust(plan: &Plan<'_>, binding: &Binding<'_>) -> Option<String> {
    if let Some(ty) = plan.types.get(&binding.name) {
        return Some(ty.clone());
    }
    let [declaration] = binding.declarations.as_slice() else { return None };
    if let Some(ty) = declaration.ty {
        let lifetime = |one: Node<'_>| one.parent().is_some_and(|of| of.kind() == "lifetime");
        let mut parts = descendants(ty).into_iter();
        let inferred = parts.any(|one| plan.source.text_of(one) == "_" && !lifetime(one));
        return (!inferred).then(|| plan.source.text_of(ty).to_owned());
    }
    match declaration.init {
        Some(init) => rust_expression(plan, init, 0),
        None => rust_loop_variable(plan, declaration),
    }
}

/// Returns the type of the counter of a loop over a range or `enumerate()`.
fn rust_loop_variable(plan: &Plan<'_>, declaration: &Declaration<'_>) -> Option<String> {
    let parent = declaration.name.parent()?;
    let first = parent.named_child(0) == Some(declaration.name);
    if parent.kind() == "tuple_pattern" && first {
        let value = field(parent.parent().filter(|one| one.kind() == "for_expression")?, "value")?;
        return plan.source.text_of(value).ends_with(".enumerate()").then(|| "usize".to_owned());
    }
    if parent.kind() != "for_expression" {
        return None;
    }
    let range = field(parent, "value").filter(|value| value.kind() == "range_expression")?;
    named(range).into_iter().find_map(|end| rust_expression(plan, end, 1))
}

fn rust_expression(plan: &Plan<'_>, node: Node<'_>, depth: usize) -> Option<String> {
    let source = plan.source;
    let text = source.text_of(node);
    if depth > INFERENCE_STEPS {
        return None;
    }
    let ty = match node.kind() {
        "boolean_literal" => "bool",
        "char_literal" => "char",
        "string_literal" | "raw_string_literal" if text.starts_with(['"', 'r']) => "&str",
        "integer_literal" | "float_literal" => {
            let suffixes = "u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64";
            suffixes.split(' ').find(|suffix| text.ends_with(suffix) && !text.starts_with("0x"))?
        }
        "type_cast_expression" => source.text_of(field(node, "type")?),
        "binary_expression" => match source.text_of(field(node, "operator")?) {
            "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||" => "bool",
            _ => return None,
        },
        "parenthesized_expression" => {
            return rust_expression(plan, node.named_child(0)?, depth + 1);
        }
        "reference_expression" => {
            let inner = rust_expression(plan, field(node, "value")?, depth + 1)?;
            let mutable = children(node).iter().any(|one| one.kind() == "mutable_specifier");
            return Some(format!("&{}{inner}", if mutable { "mut " } else { "" }));
        }
        "macro_invocation" if text.starts_with("format!") => "String",
        "struct_expression" => {
            let name = field(node, "name").filter(|one| one.kind() == "type_identifier")?;
            let name = source.text_of(name);
            let plain = descendants(source.root()).into_iter().any(|one| {
                one.kind() == "struct_item"
                    && field(one, "type_parameters").is_none()
                    && field(one, "name").is_some_and(|of| source.text_of(of) == name)
            });
            return plain.then(|| name.to_owned());
        }
        "call_expression" => {
            let function = field(node, "function")?;
            match (function.kind(), source.text_of(function)) {
                (_, "String::new" | "String::from" | "String::with_capacity") => "String",
                ("field_expression", _) => match source.text_of(field(function, "field")?) {
                    "len" | "count" | "capacity" => "usize",
                    "to_string" | "to_lowercase" | "to_uppercase" => "String",
                    "is_empty" | "contains" | "starts_with" | "ends_with" | "is_some"
                    | "is_none" | "is_ok" | "is_err" => "bool",
                    _ => return None,
                },
                ("identifier", name) => return rust_result(plan, name),
                ("generic_function", name) => {
                    let collection = name.strip_suffix(">::new").filter(|of| of.contains("::<"))?;
                    return Some(format!("{}>", collection.replacen("::<", "<", 1)));
                }
                _ => return None,
            }
        }
        "identifier" => {
            let all = plan.crossing.bindings().iter();
            let binding =
                all.into_iter().find(|one| one.uses.iter().any(|used| used.node == node))?;
            let declaration = binding.declarations.first()?;
            let init = declaration.init.filter(|init| init.end_byte() < node.start_byte());
            let ty = declaration.ty.map(|ty| source.text_of(ty).to_owned());
            return ty.or_else(|| rust_expression(plan, init?, depth + 1));
        }
        _ => return None,
    };
    Some(ty.to_owned())
}

/// Returns what a function of the file returns.
fn rust_result(plan: &Plan<'_>, name: &str) -> Option<String> {
    let source = plan.source;
    let function = named(source.root()).into_iter().find(|one| {
        one.kind() == "function_item"
            && field(*one, "type_parameters").is_none()
            && !super::selection::has_keyword(*one, "async")
            && field(*one, "name").is_some_and(|of| source.text_of(of) == name)
    })?;
    let ty = source.text_of(field(function, "return_type")?);
    (!ty.contains(['&', '\'']) && !ty.contains("impl ") && !ty.contains("Self"))
        .then(|| ty.to_owned())
}
