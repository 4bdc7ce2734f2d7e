//! Writes the function and its call in Go.

use tree_sitter::Node;

use crate::scopes::{Binding, Keyword};
use crate::source::{ancestors, descendants, field, fields, named};

use super::layout::{body, end_of};
use super::plan::{ExtractedCode, Plan};
use super::receiver::is_receiver;
use super::refusal::{Refusal, Untyped};
use super::types;

/// Types of the standard library that are interfaces, so that a copy is the same thing.
const INTERFACES: &str = "error any context.Context io.Reader io.Writer io.Closer io.ReadCloser io.ReadWriter \
     io.WriteCloser io.ReadWriteCloser fmt.Stringer http.ResponseWriter http.Handler testing.TB net.Conn \
     net.Listener net.Addr sort.Interface hash.Hash ast.Node fs.FS fs.File fs.FileInfo fs.DirEntry os.FileInfo \
     reflect.Type sync.Locker";

pub(super) fn write(plan: &Plan<'_>) -> Result<ExtractedCode, Refusal> {
    let (source, selected, layout) = (plan.source, &plan.selected, &plan.layout);
    let crossing = &plan.crossing;
    let mut untyped = Vec::new();
    let mut typed = |binding: &Binding<'_>| {
        types::go(plan, binding).unwrap_or_else(|| {
            let line = source.line_of(binding.declared());
            let name = binding.name.clone();
            if !untyped.iter().any(|one: &Untyped| one.name == name) {
                untyped.push(Untyped { name, line });
            }
            String::new()
        })
    };
    let inputs: Vec<_> = crossing.inputs().filter(|one| !is_redeclared(plan, one)).collect();
    let parameters: Vec<_> = inputs.iter().map(|one| (*one, typed(one))).collect();
    let results: Vec<_> = crossing.assigned().chain(crossing.declared()).collect();
    let results: Vec<_> = results.into_iter().map(|one| (one, typed(one))).collect();
    if !untyped.is_empty() {
        return Err(Refusal::NeedsTypes(untyped));
    }
    for (binding, ty) in &parameters {
        refuse_copy(plan, binding, ty)?;
    }
    let (receiver, on) = receiver(plan)?;
    let generics = generics(plan, &parameters, on.is_some())?;
    let list: Vec<_> = parameters.iter().map(|(one, ty)| format!("{} {ty}", one.name)).collect();
    let kinds: Vec<_> = results.iter().map(|(_, ty)| ty.clone()).collect();
    let result = match (plan.control.returns, kinds.as_slice()) {
        (true, _) => own_result(plan)?,
        (false, []) => String::new(),
        (false, [one]) => format!(" {one}"),
        (false, several) => format!(" ({})", several.join(", ")),
    };
    let names: Vec<_> = results.iter().map(|(one, _)| one.name.clone()).collect();
    let inner = &layout.unit;
    let header = format!("func {receiver}{}{generics}({}){result} {{", plan.name, list.join(", "));
    let mut text = header + layout.ending;
    text += body(source, selected, &layout.base, inner, &[]).trim_end();
    if !names.is_empty() {
        text += &format!("{}{inner}return {}", layout.ending, names.join(", "));
    }
    text += &format!("{}}}", layout.ending);
    let arguments: Vec<_> = parameters.iter().map(|(one, _)| one.name.as_str()).collect();
    let callee = on.map_or(plan.name.to_owned(), |on| format!("{on}.{}", plan.name));
    let call = format!("{callee}({})", arguments.join(", "));
    let new: Vec<_> = crossing.declared().collect();
    let old = crossing.assigned().count();
    let call = match (new.len(), old) {
        _ if plan.control.returns && !result.is_empty() => format!("return {call}"),
        _ if plan.control.returns && !selected.ends_function() => {
            format!("{call}{}{}return", layout.ending, layout.base)
        }
        (0, 0) => call,
        (0, _) => format!("{} = {call}", names.join(", ")),
        (_, 0) => format!("{} := {call}", names.join(", ")),
        _ => {
            // `:=` could declare a second variable where one exists in an outer block.
            let declare =
                results.iter().filter(|(one, _)| new.iter().any(|new| std::ptr::eq(*new, *one)));
            let declare = declare
                .map(|(one, ty)| format!("var {} {ty}{}{}", one.name, layout.ending, layout.base));
            format!("{}{} = {call}", declare.collect::<String>(), names.join(", "))
        }
    };
    let at = end_of(source, selected.anchor);
    let function = format!("{}{text}", layout.ending.repeat(2));
    let parameters = inputs.iter().map(|one| one.name.clone()).collect();
    Ok(ExtractedCode { call, function, at, parameters, results: names, untyped: Vec::new() })
}

/// True if the first thing that the selection does with a variable is to assign it in a `:=` of its
/// own, which will then declare it.
fn is_redeclared(plan: &Plan<'_>, binding: &Binding<'_>) -> bool {
    let range = plan.selected.range();
    let uses: Vec<_> = binding.uses_in(&range).collect();
    let Some(first) = uses.first() else { return false };
    let Some(statement) = first.node.parent().and_then(|list| list.parent()) else { return false };
    let own = statement.kind() == "short_var_declaration"
        && plan.selected.statements.contains(&statement);
    let read_there = binding.uses_in(&statement.byte_range()).any(|one| one.access.reads());
    // Go refuses a variable that nothing reads, here as there.
    let assigned = plan.crossing.is_assigned(binding);
    let read = |inside: bool| {
        binding
            .uses
            .iter()
            .any(|one| one.access.reads() && range.contains(&one.node.start_byte()) == inside)
    };
    own && !read_there && (assigned || (read(true) && read(false)))
}

/// Refuses values that the selection may change in place, because the new function would change a
/// copy.
fn refuse_copy(plan: &Plan<'_>, binding: &Binding<'_>, ty: &str) -> Result<(), Refusal> {
    let shared = ["*", "[]", "map[", "chan", "<-chan", "func", "interface"];
    let interface = INTERFACES.split_whitespace().any(|one| one == ty) || is_interface(plan, ty);
    if shared.iter().any(|start| ty.starts_with(start)) || types::is_go_basic(ty) || interface {
        let basic = types::is_go_basic(ty);
        let range = plan.selected.range();
        let mut pointed = binding.uses_in(&range).filter(|one| is_address(one.node));
        // A pointer to a parameter is a pointer to a copy.
        return match pointed.next() {
            Some(_) if basic || shared.iter().any(|start| ty.starts_with(start)) || interface => {
                Err(changed_in_place(binding, ty))
            }
            _ => Ok(()),
        };
    }
    let range = plan.selected.range();
    match binding.uses_in(&range).any(|one| may_change(one.node)) {
        true => Err(changed_in_place(binding, ty)),
        false => Ok(()),
    }
}

fn changed_in_place(binding: &Binding<'_>, ty: &str) -> Refusal {
    let name = &binding.name;
    Refusal::Unsafe(format!(
        "it may change {name} in place, but would get a copy: {name} is a {ty}, not a pointer"
    ))
}

fn is_interface(plan: &Plan<'_>, ty: &str) -> bool {
    descendants(plan.source.root()).into_iter().any(|one| {
        one.kind() == "type_spec"
            && field(one, "name").is_some_and(|name| plan.source.text_of(name) == ty)
            && field(one, "type").is_some_and(|of| of.kind() == "interface_type")
    })
}

fn is_address(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        parent.kind() == "unary_expression"
            && field(parent, "operator").is_some_and(|of| of.kind() == "&")
    })
}

/// True if a use may change the value that a variable holds, other than by assigning the variable.
fn may_change(node: Node<'_>) -> bool {
    let mut place = node;
    while let Some(parent) = place.parent() {
        let base = match parent.kind() {
            "selector_expression" | "index_expression" | "slice_expression" => {
                field(parent, "operand") == Some(place)
            }
            "parenthesized_expression" => true,
            _ => false,
        };
        if !base {
            break;
        }
        // A slice of an array is the array itself.
        if parent.kind() == "slice_expression" {
            return true;
        }
        place = parent;
    }
    let Some(parent) = place.parent() else { return false };
    match parent.kind() {
        "call_expression" => place != node && field(parent, "function") == Some(place),
        "inc_statement" | "dec_statement" => place != node,
        "unary_expression" => is_address(place),
        "expression_list" => {
            place != node
                && parent.parent().is_some_and(|one| {
                    one.kind() == "assignment_statement" && field(one, "left") == Some(parent)
                })
        }
        _ => false,
    }
}

/// Returns the receiver as it is written, and its name, if the selection needs it.
fn receiver(plan: &Plan<'_>) -> Result<(String, Option<String>), Refusal> {
    let (source, selected) = (plan.source, &plan.selected);
    let Some(list) = field(selected.host, "receiver") else { return Ok((String::new(), None)) };
    let range = selected.range();
    let mut all = plan.crossing.bindings().iter();
    let Some(binding) = all.find(|one| is_receiver(source, selected, one)) else {
        return Ok((String::new(), None));
    };
    let mentioned = type_names(plan);
    let generic = descendants(list).into_iter().any(|node| {
        let argument = ancestors(node).any(|one| one.kind() == "type_arguments");
        argument && mentioned.iter().any(|name| name == source.text_of(node))
    });
    let uses: Vec<_> = binding.uses_in(&range).collect();
    if uses.is_empty() && !generic {
        return Ok((String::new(), None));
    }
    let pointer = source.text_of(list).contains('*');
    let changes = uses.iter().any(|one| one.access.writes() || (!pointer && may_change(one.node)));
    if changes {
        let name = &binding.name;
        return Err(Refusal::Unsafe(format!(
            "it may change {name}, of which a method gets a copy"
        )));
    }
    Ok((format!("{} ", source.text_of(list)), Some(binding.name.clone())))
}

/// Returns the names of types in the selection.
fn type_names(plan: &Plan<'_>) -> Vec<String> {
    let all = plan.selected.statements.iter().flat_map(|one| descendants(*one));
    let all = all.filter(|one| one.kind() == "type_identifier");
    all.map(|one| plan.source.text_of(one).to_owned()).collect()
}

/// Returns the type parameters that the new function needs.
fn generics(
    plan: &Plan<'_>,
    parameters: &[(&Binding<'_>, String)],
    method: bool,
) -> Result<String, Refusal> {
    let Some(list) = field(plan.selected.host, "type_parameters") else { return Ok(String::new()) };
    let names: Vec<_> = named(list)
        .into_iter()
        .flat_map(|one| fields(one, "name"))
        .map(|one| plan.source.text_of(one).to_owned())
        .collect();
    let word = |text: &str, name: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
    };
    let in_types = |name: &String| parameters.iter().any(|(_, ty)| word(ty, name));
    let mentioned = type_names(plan);
    let needed = names.iter().any(|name| mentioned.contains(name) || in_types(name));
    match needed {
        false => Ok(String::new()),
        true if !method && names.iter().all(in_types) => Ok(plan.source.text_of(list).to_owned()),
        true => {
            Err(Refusal::because("its type parameters can't be inferred from the new parameters"))
        }
    }
}

/// Returns the results of the function around the selection, which returns for it.
fn own_result(plan: &Plan<'_>) -> Result<String, Refusal> {
    let named_results =
        plan.crossing.bindings().iter().any(|one| one.keyword() == Keyword::NamedResult);
    if named_results {
        return Err(Refusal::because("it returns from a function whose results have names"));
    }
    let result = field(plan.selected.scope, "result");
    Ok(result.map_or(String::new(), |result| format!(" {}", plan.source.text_of(result))))
}
