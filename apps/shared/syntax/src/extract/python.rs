//! Writes the function and its call in Python.

use tree_sitter::Node;

use crate::scopes::Binding;
use crate::source::{descendants, field};

use super::layout::{body, end_of};
use super::plan::{ExtractedCode, Plan};
use super::receiver::{has_decorator, is_static, receiver};
use super::refusal::Refusal;

/// The kind of method, by what it is called on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    None,
    Static,
    Class,
    Instance,
}

fn method(plan: &Plan<'_>) -> Method {
    let (source, selected) = (plan.source, &plan.selected);
    let name = field(selected.host, "name").map_or("", |name| source.text_of(name));
    let implicit = matches!(name, "__new__" | "__init_subclass__" | "__class_getitem__");
    if selected.class.is_none() {
        Method::None
    } else if is_static(source, selected) {
        Method::Static
    } else if implicit || has_decorator(source, selected, "classmethod") {
        Method::Class
    } else {
        Method::Instance
    }
}

pub(super) fn write(plan: &Plan<'_>) -> Result<ExtractedCode, Refusal> {
    let (source, selected, layout) = (plan.source, &plan.selected, &plan.layout);
    let kind = method(plan);
    let receiver = receiver(selected);
    let used = receiver.is_some_and(|name| uses(plan, name));
    // Names with two underscores mean something else outside of the class.
    let private = selected.statements.iter().flat_map(|one| descendants(*one)).any(|node| {
        let text = source.text_of(node);
        node.kind() == "identifier" && text.starts_with("__") && !text.ends_with("__")
    });
    let stays = match kind {
        Method::None => false,
        Method::Static if plan.control.uses_self || private => {
            return Err(Refusal::because("it uses its class, which a static method can't pass on"));
        }
        Method::Static => false,
        Method::Class | Method::Instance => used || private || plan.control.uses_self,
    };
    if kind == Method::Class
        && stays
        && field(selected.host, "name").is_some_and(|name| source.text_of(name) == "__new__")
    {
        return Err(Refusal::because("it uses the class that __new__ is given"));
    }
    let reassigned = receiver.is_some_and(|name| writes(plan, name));
    let Some(on) = receiver.filter(|_| stays && !reassigned).map(|name| source.text_of(name))
    else {
        if stays {
            return Err(Refusal::because("it assigns what the method is called on"));
        }
        return Ok(plain(plan, selected.class.filter(|_| kind != Method::None)));
    };
    let indent = source.indent_at(selected.anchor.start_byte()).to_owned();
    let mut parameters = vec![on.to_owned()];
    parameters.extend(plan.crossing.inputs().map(|binding| parameter(plan, binding)));
    let mut lines = Vec::new();
    if kind == Method::Class {
        lines.push("@classmethod".to_owned());
    }
    lines.push(header(plan, &parameters));
    let function = text(plan, &indent, &lines);
    let call = call(plan, &format!("{on}.{}", plan.name));
    let at = end_of(source, selected.anchor);
    let gap = layout.ending.repeat(2);
    Ok(written(plan, call, format!("{gap}{function}"), at))
}

/// Writes a function that is not a method.
fn plain(plan: &Plan<'_>, class: Option<Node<'_>>) -> ExtractedCode {
    let (source, selected, layout) = (plan.source, &plan.selected, &plan.layout);
    let anchor = match class {
        Some(class) => {
            class.parent().filter(|one| one.kind() == "decorated_definition").unwrap_or(class)
        }
        None => selected.anchor,
    };
    let indent = source.indent_at(anchor.start_byte()).to_owned();
    let parameters: Vec<_> =
        plan.crossing.inputs().map(|binding| parameter(plan, binding)).collect();
    let function = text(plan, &indent, &[header(plan, &parameters)]);
    let call = call(plan, plan.name);
    let blank = if indent.is_empty() { 3 } else { 2 };
    // A decorator may call the function at once, so that the new one must exist before it.
    let before = anchor.kind() == "decorated_definition" && class.is_none();
    if before {
        let at = start_of(plan, anchor);
        let gap = layout.ending.repeat(blank);
        return written(plan, call, format!("{function}{gap}"), at);
    }
    let at = end_of(source, anchor);
    written(plan, call, format!("{}{function}", layout.ending.repeat(blank)), at)
}

/// Returns the start of a declaration, or of the comments right above it.
fn start_of(plan: &Plan<'_>, anchor: Node<'_>) -> usize {
    let mut first = anchor;
    while let Some(before) = first.prev_sibling() {
        let adjacent = before.end_position().row + 1 >= first.start_position().row;
        if before.kind() != "comment" || !adjacent {
            break;
        }
        first = before;
    }
    plan.source.line_start(first.start_byte())
}

fn written(plan: &Plan<'_>, call: String, function: String, at: usize) -> ExtractedCode {
    let names = |binding: &Binding<'_>| binding.name.clone();
    ExtractedCode {
        call,
        function,
        at,
        parameters: plan.crossing.inputs().map(names).collect(),
        results: plan.crossing.assigned().map(names).collect(),
        untyped: Vec::new(),
    }
}

fn header(plan: &Plan<'_>, parameters: &[String]) -> String {
    let start = if plan.control.awaits { "async " } else { "" };
    format!("{start}def {}({}):", plan.name, parameters.join(", "))
}

fn text(plan: &Plan<'_>, indent: &str, header: &[String]) -> String {
    let layout = &plan.layout;
    let inner = format!("{indent}{}", layout.unit);
    let body = body(plan.source, &plan.selected, &layout.base, &inner, &[]);
    let mut text = layout.lines(indent, header) + layout.ending + body.trim_end();
    let results: Vec<_> = plan.crossing.assigned().map(|binding| binding.name.as_str()).collect();
    if !results.is_empty() {
        text += &format!("{}{inner}return {}", layout.ending, results.join(", "));
    }
    text
}

fn call(plan: &Plan<'_>, callee: &str) -> String {
    let names: Vec<_> = plan.crossing.inputs().map(|binding| binding.name.as_str()).collect();
    let wait = if plan.control.awaits { "await " } else { "" };
    let call = format!("{wait}{callee}({})", names.join(", "));
    let results: Vec<_> = plan.crossing.assigned().map(|binding| binding.name.as_str()).collect();
    match (plan.control.returns, results.is_empty()) {
        (true, _) => format!("return {call}"),
        (false, true) => call,
        (false, false) => format!("{} = {call}", results.join(", ")),
    }
}

/// Returns a parameter with its annotation, if it was a parameter with one before.
fn parameter(plan: &Plan<'_>, binding: &Binding<'_>) -> String {
    let name = &binding.name;
    if let Some(ty) = plan.types.get(name) {
        return format!("{name}: {ty}");
    }
    let generic = field(plan.selected.host, "type_parameters").is_some();
    // A value that is assigned elsewhere may have another type.
    let ty = match binding.declarations.as_slice() {
        [one] => one.ty,
        _ => None,
    };
    match ty.filter(|_| !generic && plan.selected.scope == plan.selected.host) {
        Some(ty) => format!("{name}: {}", plan.source.text_of(ty)),
        None => name.clone(),
    }
}

fn uses(plan: &Plan<'_>, name: Node<'_>) -> bool {
    let range = plan.selected.range();
    let mut bindings = plan.crossing.bindings().iter();
    let binding =
        bindings.find(|one| one.declarations.iter().any(|declared| declared.name == name));
    binding.is_some_and(|binding| binding.uses_in(&range).next().is_some())
}

fn writes(plan: &Plan<'_>, name: Node<'_>) -> bool {
    let mut bindings = plan.crossing.bindings().iter();
    let binding =
        bindings.find(|one| one.declarations.iter().any(|declared| declared.name == name));
    binding.is_some_and(|binding| binding.uses.iter().any(|one| one.access.writes()))
}
