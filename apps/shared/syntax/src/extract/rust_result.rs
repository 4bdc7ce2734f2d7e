//! The return value of the function in Rust, and its binding at the call.

use tree_sitter::Node;

use crate::scopes::Binding;
use crate::source::field;

use super::plan::Plan;
use super::refusal::Refusal;
use super::rust_modes::{PlaceUse, place_use};
use super::selection::statements_of;
use super::types;

/// The name under which a question asks for the type of the block's value.
pub(super) const RESULT: &str = "return";

/// The value that the selection ends with.
pub(super) enum Value {
    /// No value, or `()`.
    Unit,
    Of(String),
    Unknown,
}

/// Returns the value of the selection, if it is the end of its block.
pub(super) fn value(plan: &Plan<'_>) -> Value {
    let last = plan.selected.last();
    let text = plan.source.text_of(last);
    let statement = text.ends_with(';')
        || last.kind().ends_with("_item")
        || last.kind().ends_with("_declaration")
        || last.kind() == "macro_definition";
    if statement || !plan.selected.is_at_end() {
        return Value::Unit;
    }
    let given = plan.types.get(RESULT).cloned();
    match block_value(plan, plan.selected.list) {
        Value::Unknown => given.map_or(Value::Unknown, Value::Of),
        known => known,
    }
}

/// Returns the type of the value of a block.
fn block_value(plan: &Plan<'_>, block: Node<'_>) -> Value {
    let Some(parent) = block.parent() else { return Value::Unknown };
    match parent.kind() {
        "function_item" => field(parent, "return_type")
            .map_or(Value::Unit, |ty| Value::Of(plan.source.text_of(ty).to_owned())),
        "closure_expression" => field(parent, "return_type")
            .map_or(Value::Unknown, |ty| Value::Of(plan.source.text_of(ty).to_owned())),
        "for_expression" | "while_expression" | "loop_expression" => Value::Unit,
        "if_expression" | "unsafe_block" => expression_value(plan, parent),
        "else_clause" => {
            parent.parent().map_or(Value::Unknown, |node| expression_value(plan, node))
        }
        "match_arm" => {
            let of = parent.parent().and_then(|list| list.parent());
            of.map_or(Value::Unknown, |node| expression_value(plan, node))
        }
        "expression_statement" | "block" => expression_value(plan, block),
        _ => Value::Unknown,
    }
}

fn expression_value(plan: &Plan<'_>, node: Node<'_>) -> Value {
    let Some(parent) = node.parent() else { return Value::Unknown };
    let last_of = |list: Node<'_>, one: Node<'_>| statements_of(list).last() == Some(&one);
    match parent.kind() {
        "expression_statement" => {
            let list = parent.parent().filter(|list| list.kind() == "block");
            match list {
                Some(_) if plan.source.text_of(parent).ends_with(';') => Value::Unknown,
                Some(list) if last_of(list, parent) => block_value(plan, list),
                _ => Value::Unit,
            }
        }
        "block" if last_of(parent, node) => block_value(plan, parent),
        "block" => Value::Unit,
        "else_clause" => {
            parent.parent().map_or(Value::Unknown, |outer| expression_value(plan, outer))
        }
        "match_arm" => {
            let of = parent.parent().and_then(|list| list.parent());
            of.map_or(Value::Unknown, |outer| expression_value(plan, outer))
        }
        "let_declaration" => field(parent, "type")
            .map_or(Value::Unknown, |ty| Value::Of(plan.source.text_of(ty).to_owned())),
        _ => Value::Unknown,
    }
}

/// The return type and value of the function, and their use by the call.
pub(super) struct FunctionResult {
    pub ty: String,
    /// The expression appended to the function's body.
    pub end: String,
    /// True if the call propagates an error.
    pub tries: bool,
    /// True if the value of the selection is that of the call.
    pub is_value: bool,
}

pub(super) fn result(
    plan: &Plan<'_>,
    value: &Value,
    assigned: &[(&Binding<'_>, String)],
    declared: &[&Binding<'_>],
) -> Result<FunctionResult, Refusal> {
    let source = plan.source;
    let outcomes: Vec<_> = assigned
        .iter()
        .map(|(one, ty)| (one.name.clone(), ty.clone()))
        .chain(
            declared
                .iter()
                .map(|one| (one.name.clone(), types::rust(plan, one).unwrap_or_default())),
        )
        .collect();
    let own = field(plan.selected.scope, "return_type").map(|ty| source.text_of(ty).to_owned());
    let function = plan.selected.scope.kind() == "function_item";
    if plan.control.returns {
        let ty = match (own, function) {
            (Some(ty), _) => ty,
            (None, true) => String::new(),
            (None, false) => match plan.types.get(RESULT) {
                Some(ty) => ty.clone(),
                None => {
                    return Err(Refusal::because(
                        "it returns from a closure whose type isn't written",
                    ));
                }
            },
        };
        let is_value = !ty.is_empty() && plan.selected.ends_function();
        return Ok(FunctionResult { ty, end: String::new(), tries: false, is_value });
    }
    if let Value::Of(ty) = value {
        if let Some((name, _)) = outcomes.first() {
            return Err(Refusal::Unsafe(format!(
                "it ends with a value, but {name} is used afterwards, too"
            )));
        }
        if plan.control.tries && own.as_ref() != Some(ty) {
            return Err(Refusal::because("it ends with a value and passes errors on with ?"));
        }
        let ty = ty.clone();
        return Ok(FunctionResult { ty, end: String::new(), tries: false, is_value: true });
    }
    let names: Vec<_> = outcomes.iter().map(|(name, _)| name.clone()).collect();
    let types: Vec<_> = outcomes.iter().map(|(_, ty)| ty.clone()).collect();
    if types.iter().any(|ty| ty.contains('&') && !ty.contains('\'') && ty != "&str") {
        return Err(Refusal::because("it would return a reference whose lifetime isn't written"));
    }
    if types.iter().any(|ty| ty == "&str") || types.iter().any(|ty| ty.contains("impl ")) {
        return Err(Refusal::because("it would return a reference or an unnamed type"));
    }
    let (end, ty) = match (names.as_slice(), types.as_slice()) {
        ([], _) => (String::new(), String::new()),
        ([name], [ty]) => (name.clone(), ty.clone()),
        _ => (format!("({})", names.join(", ")), format!("({})", types.join(", "))),
    };
    if !plan.control.tries {
        return Ok(FunctionResult { ty, end, tries: false, is_value: false });
    }
    let unit = |text: String| if text.is_empty() { "()".to_owned() } else { text };
    let (wrapper, ty) = wrapped(plan, &unit(ty)).ok_or_else(|| {
        Refusal::because("the ? in it needs a function that returns Result<…> or Option<…>")
    })?;
    Ok(FunctionResult {
        ty,
        end: format!("{wrapper}({})", unit(end)),
        tries: true,
        is_value: false,
    })
}

/// Returns the function's `Result<…, E>` or `Option<…>` with another value in it.
fn wrapped(plan: &Plan<'_>, inner: &str) -> Option<(&'static str, String)> {
    let ty = field(plan.selected.scope, "return_type").filter(|ty| ty.kind() == "generic_type")?;
    let name = plan.source.text_of(field(ty, "type")?);
    let wrapper = match name.rsplit("::").next()? {
        "Result" => "Ok",
        "Option" => "Some",
        _ => return None,
    };
    let first = field(ty, "type_arguments")?.named_child(0)?;
    let text = plan.source.text();
    let before = &text[ty.start_byte()..first.start_byte()];
    let after = &text[first.end_byte()..ty.end_byte()];
    Some((wrapper, format!("{before}{inner}{after}")))
}

pub(super) fn bind_results(
    plan: &Plan<'_>,
    call: String,
    assigned: &[&Binding<'_>],
    declared: &[&Binding<'_>],
    result: &FunctionResult,
) -> String {
    let selected = &plan.selected;
    if result.is_value {
        return call;
    }
    if plan.control.returns {
        let ends = selected.ends_function() && result.ty.is_empty();
        return if ends { format!("{call};") } else { format!("return {call};") };
    }
    let names = |all: &[&Binding<'_>]| {
        let names: Vec<_> = all.iter().map(|one| one.name.clone()).collect();
        if names.len() == 1 { names.concat() } else { format!("({})", names.join(", ")) }
    };
    let pattern = |all: &[&Binding<'_>]| {
        let names: Vec<_> =
            all.iter().map(|one| format!("{}{}", mutable(plan, one), one.name)).collect();
        if names.len() == 1 { names.concat() } else { format!("({})", names.join(", ")) }
    };
    match (declared, assigned) {
        ([], []) => format!("{call};"),
        (new, []) => format!("let {} = {call};", pattern(new)),
        ([], old) => format!("{} = {call};", names(old)),
        (new, old) => {
            let declare = new.iter().map(|one| {
                format!(
                    "let {}{};{}{}",
                    mutable(plan, one),
                    one.name,
                    plan.layout.ending,
                    plan.layout.base
                )
            });
            let all: Vec<_> = old.iter().chain(new).copied().collect();
            format!("{}{} = {call};", declare.collect::<String>(), names(&all))
        }
    }
}

/// Returns `mut ` if a variable that the function returns is changed afterwards.
fn mutable(plan: &Plan<'_>, binding: &Binding<'_>) -> &'static str {
    let after = plan.selected.range().end..usize::MAX;
    let declared = binding.declarations.iter().any(|one| one.mutable);
    let changed = binding.uses_in(&after).any(|one| {
        let used = place_use(plan, one.node);
        one.access.writes() || matches!(used, PlaceUse::Change | PlaceUse::MayChange)
    });
    if declared && changed { "mut " } else { "" }
}
