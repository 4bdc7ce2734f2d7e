//! Writes the function and its call in JavaScript and TypeScript.

use tree_sitter::Node;

use crate::language::Language;
use crate::scopes::{Binding, Keyword};
use crate::source::{ancestors, children, descendants, field, named};

use super::layout::{body, end_of};
use super::plan::{ExtractedCode, Plan};
use super::refusal::Refusal;
use super::types;

pub(super) fn write(plan: &Plan<'_>) -> Result<ExtractedCode, Refusal> {
    let (source, selected, layout) = (plan.source, &plan.selected, &plan.layout);
    let (generics, of_class) = generics(plan)?;
    let method = plan.control.uses_self || of_class;
    if method {
        refuse_foreign_this(plan)?;
    }
    let anchor = match selected.class {
        // A function beside the class, after the whole statement that the class is a part of.
        Some(class) if !method => statement_around(class),
        _ => selected.anchor,
    };
    let indent = source.indent_at(anchor.start_byte()).to_owned();
    let inner = format!("{indent}{}", layout.unit);
    let (mut parameters, mut untyped) = (Vec::new(), Vec::new());
    for binding in plan.crossing.inputs() {
        let name = &binding.name;
        match types::typescript(plan, binding) {
            Some(ty) => parameters.push(format!("{name}: {ty}")),
            None => {
                if source.language() != Language::JavaScript {
                    untyped.push(name.clone());
                }
                parameters.push(name.clone());
            }
        }
    }
    let wait = if plan.control.awaits { "async " } else { "" };
    let is_static = children(selected.anchor).iter().any(|token| token.kind() == "static");
    let start = match (method, is_static) {
        (true, true) => format!("static {wait}"),
        (true, false) => wait.to_owned(),
        (false, _) => format!("{wait}function "),
    };
    let semicolon = if layout.semicolons { ";" } else { "" };
    let header = format!("{start}{}{generics}({}) {{", plan.name, parameters.join(", "));
    let mut text = format!("{indent}{header}{}", layout.ending);
    text += body(source, selected, &layout.base, &inner, &[]).trim_end();
    let results: Vec<_> = plan.crossing.assigned().chain(plan.crossing.declared()).collect();
    let names: Vec<_> = results.iter().map(|binding| binding.name.clone()).collect();
    match names.as_slice() {
        [] => {}
        [one] => text += &format!("{}{inner}return {one}{semicolon}", layout.ending),
        several => {
            text +=
                &format!("{}{inner}return {{ {} }}{semicolon}", layout.ending, several.join(", "))
        }
    }
    text += &format!("{}{indent}}}", layout.ending);
    let on = if method { "this." } else { "" };
    let call = call(plan, &format!("{on}{}", plan.name), semicolon);
    let at = end_of(source, anchor);
    let function = format!("{}{text}", layout.ending.repeat(2));
    let parameters = plan.crossing.inputs().map(|binding| binding.name.clone()).collect();
    Ok(ExtractedCode { call, function, at, parameters, results: names, untyped })
}

fn call(plan: &Plan<'_>, callee: &str, semicolon: &str) -> String {
    let arguments: Vec<_> = plan.crossing.inputs().map(|binding| binding.name.as_str()).collect();
    let wait = if plan.control.awaits { "await " } else { "" };
    let call = format!("{wait}{callee}({})", arguments.join(", "));
    if plan.control.returns {
        return format!("return {call}{semicolon}");
    }
    let declared: Vec<_> = plan.crossing.declared().collect();
    let assigned: Vec<_> = plan.crossing.assigned().collect();
    let names = |all: &[&Binding<'_>]| {
        all.iter().map(|one| one.name.clone()).collect::<Vec<_>>().join(", ")
    };
    let keyword = keyword(plan, &declared);
    match (declared.as_slice(), assigned.as_slice()) {
        ([], []) => format!("{call}{semicolon}"),
        ([one], []) => format!("{keyword} {} = {call}{semicolon}", one.name),
        (several, []) => format!("{keyword} {{ {} }} = {call}{semicolon}", names(several)),
        ([], [one]) => format!("{} = {call}{semicolon}", one.name),
        (new, old) => {
            let mut text = String::new();
            if !new.is_empty() {
                let keyword = if keyword == "const" { "let" } else { keyword };
                text =
                    format!("{keyword} {};{}{}", names(new), plan.layout.ending, plan.layout.base);
            } else if !ends_statement(plan) {
                // Without it, the parenthesis would call what stands on the line before.
                text.push(';');
            }
            let all: Vec<_> = old.iter().chain(new).copied().collect();
            format!("{text}({{ {} }} = {call}){semicolon}", names(&all))
        }
    }
}

/// Returns the keyword that declares what the function returns.
fn keyword(plan: &Plan<'_>, declared: &[&Binding<'_>]) -> &'static str {
    let range = plan.selected.range();
    let all = |keyword: Keyword| declared.iter().any(|one| one.keyword() == keyword);
    let written = declared.iter().any(|one| {
        one.uses.iter().any(|used| used.access.writes() && !range.contains(&used.node.start_byte()))
    });
    let all_let = declared.iter().all(|one| one.keyword() == Keyword::Let);
    match all(Keyword::Var) {
        true => "var",
        false if written || (!declared.is_empty() && all_let && mutates(declared)) => "let",
        false => "const",
    }
}

/// True if any of the variables is assigned again.
fn mutates(declared: &[&Binding<'_>]) -> bool {
    declared.iter().any(|one| one.uses.iter().any(|used| used.access.writes()))
}

/// True if what stands before the selection can't go on into it.
fn ends_statement(plan: &Plan<'_>) -> bool {
    let first = plan.selected.statements.first();
    match first.and_then(|first| first.prev_named_sibling()) {
        Some(before) => {
            plan.source.text_of(before).ends_with([';', '}']) || before.kind() == "comment"
        }
        None => true,
    }
}

/// Returns the type parameters that the new function needs, and whether it needs those of its
/// class.
fn generics(plan: &Plan<'_>) -> Result<(String, bool), Refusal> {
    let (source, selected) = (plan.source, &plan.selected);
    let mut mentioned: Vec<String> = Vec::new();
    let mut note = |node: Node<'_>| {
        let names = descendants(node).into_iter().filter(|one| one.kind() == "type_identifier");
        mentioned.extend(names.map(|one| source.text_of(one).to_owned()));
    };
    selected.statements.iter().for_each(|statement| note(*statement));
    for binding in plan.crossing.inputs() {
        binding.declarations.iter().filter_map(|one| one.ty).for_each(&mut note);
    }
    let names = |list: Node<'_>| {
        let names = named(list).into_iter().filter_map(|one| field(one, "name"));
        names.map(|one| source.text_of(one).to_owned()).collect::<Vec<_>>()
    };
    let first = selected.statements.first().copied().unwrap_or(selected.list);
    let around = ancestors(first).filter(|node| node.start_byte() >= selected.host.start_byte());
    let lists: Vec<_> = around.filter_map(|node| field(node, "type_parameters")).collect();
    let needed = |list: &&Node<'_>| names(**list).iter().any(|name| mentioned.contains(name));
    let needed: Vec<_> = lists.iter().filter(needed).collect();
    let text = match needed.as_slice() {
        [] => String::new(),
        [one] => source.text_of(**one).to_owned(),
        _ => return Err(Refusal::because("it uses type parameters of several functions")),
    };
    let class = selected.class.and_then(|class| field(class, "type_parameters"));
    let of_class =
        class.is_some_and(|list| names(list).iter().any(|name| mentioned.contains(name)));
    Ok((text, of_class))
}

/// Refuses a `this` that isn't the instance or the class that the new method is called on.
fn refuse_foreign_this(plan: &Plan<'_>) -> Result<(), Refusal> {
    let selected = &plan.selected;
    let member = selected.class.is_some() && selected.host.kind() != "class_static_block";
    let first = selected.statements.first().copied().unwrap_or(selected.list);
    let own = ancestors(first).find(|node| {
        let function = plan.source.language().is_function(node.kind());
        function && node.kind() != "arrow_function"
    });
    match member && own == Some(selected.host) {
        true => Ok(()),
        false => Err(Refusal::because("it uses this, and isn't in a method of a class")),
    }
}

/// Returns the whole statement that a class is a part of.
fn statement_around(class: Node<'_>) -> Node<'_> {
    let list = |node: &Node<'_>| {
        node.parent().is_none_or(|parent| matches!(parent.kind(), "program" | "statement_block"))
    };
    std::iter::once(class).chain(ancestors(class)).find(list).unwrap_or(class)
}
