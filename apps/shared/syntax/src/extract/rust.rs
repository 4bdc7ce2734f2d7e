//! Writes the function and its call in Rust.

use tree_sitter::Node;

use crate::scopes::{Binding, Keyword};
use crate::source::{ancestors, children, descendants, field, holds, named};

use super::layout::{Rewrite, body, end_of};
use super::plan::{ExtractedCode, Plan};
use super::refusal::{Refusal, Untyped};
use super::rust_modes::{Mode, PlaceUse, is_changed, mode, place_use, rewrites};
use super::rust_result::{FunctionResult, RESULT, Value, bind_results, result, value};
use super::selection::has_keyword;
use super::types;
use super::variables::is_live;

struct Parameter<'p, 't> {
    binding: &'p Binding<'t>,
    mode: Mode,
    ty: String,
}

pub(super) fn write(plan: &Plan<'_>) -> Result<ExtractedCode, Refusal> {
    let (source, selected, layout) = (plan.source, &plan.selected, &plan.layout);
    refuse_context(plan)?;
    let parameters = parameters(plan)?;
    let mut assigned: Vec<(&Binding<'_>, String)> = Vec::new();
    for Parameter { binding, mode, ty } in &parameters {
        let changed =
            *mode == Mode::Value && !ty.starts_with("&mut ") && is_changed(plan, binding, ty);
        if plan.crossing.is_assigned(binding) || (changed && is_live(selected, binding)) {
            assigned.push((binding, ty.clone()));
        }
    }
    let declared: Vec<_> = plan.crossing.declared().collect();
    let value = value(plan);
    let result = result(plan, &value, &assigned, &declared)?;
    let mut changes: Vec<Rewrite> = Vec::new();
    let borrowed = parameters.iter().filter(|one| one.mode != Mode::Value);
    changes.extend(borrowed.flat_map(|one| rewrites(plan, one.binding)));
    changes.sort_by_key(|(range, _)| range.start);

    let place = place(plan, &parameters, &result)?;
    let inner = format!("{}{}", place.indent, layout.unit);
    let generics = generics(plan, &parameters, &result.ty)?;
    let mut list: Vec<String> = place.receiver.iter().cloned().collect();
    list.extend(parameters.iter().map(|one| {
        let Parameter { binding, mode, ty } = one;
        let mutable = *mode == Mode::Value && !ty.starts_with('&') && is_changed(plan, binding, ty);
        let assigned = binding.uses_in(&selected.range()).any(|one| one.access.writes());
        let start = if mutable || assigned { "mut " } else { "" };
        let reference = match mode {
            Mode::Value => "",
            Mode::Borrow => "&",
            Mode::BorrowMut => "&mut ",
        };
        format!("{start}{}: {reference}{ty}", binding.name)
    }));
    let modifier = |word: &str, on: bool| if on { format!("{word} ") } else { String::new() };
    let constant = modifier("const", has_keyword(selected.host, "const"));
    let wait = modifier("async", plan.control.awaits);
    let arrow = if result.ty.is_empty() { String::new() } else { format!(" -> {}", result.ty) };
    let (generics, bounds) = generics;
    let brace = match bounds.contains('\n') {
        true => format!("{}{}{{", layout.ending, place.indent),
        false => " {".to_owned(),
    };
    let list = list.join(", ");
    let header =
        format!("{constant}{wait}fn {}{generics}({list}){arrow}{bounds}{brace}", plan.name);
    let mut text = format!("{}{header}{}", place.indent, layout.ending);
    text += body(source, selected, &layout.base, &inner, &changes).trim_end();
    if !result.end.is_empty() {
        let open = !selected.last().kind().ends_with("_item") && ends_open(plan);
        let semicolon = if open { ";" } else { "" };
        text += &format!("{semicolon}{}{inner}{}", layout.ending, result.end);
    }
    text += &format!("{}{}}}", layout.ending, place.indent);
    let arguments = parameters.iter().map(|one| {
        let reference = match one.mode {
            Mode::Value => "",
            Mode::Borrow => "&",
            Mode::BorrowMut => "&mut ",
        };
        format!("{reference}{}", one.binding.name)
    });
    let arguments: Vec<_> = arguments.collect();
    let wait = if plan.control.awaits { ".await" } else { "" };
    let question = if result.tries { "?" } else { "" };
    let call = format!("{}{}({}){wait}{question}", place.on, plan.name, arguments.join(", "));
    let assigned: Vec<_> = assigned.into_iter().map(|(one, _)| one).collect();
    let call = bind_results(plan, call, &assigned, &declared, &result);
    let (function, at) = place.wrap(plan, text);
    let parameters = parameters.iter().map(|one| one.binding.name.clone()).collect();
    let results = assigned.iter().chain(&declared).map(|one| one.name.clone()).collect();
    Ok(ExtractedCode { call, function, at, parameters, results, untyped: Vec::new() })
}

/// Refuses what the new function wouldn't have around it.
fn refuse_context(plan: &Plan<'_>) -> Result<(), Refusal> {
    let selected = &plan.selected;
    let first = selected.statements.first().copied().unwrap_or(selected.list);
    let around: Vec<_> = ancestors(first).take_while(|node| *node != selected.host).collect();
    if has_keyword(selected.host, "unsafe")
        || around.iter().any(|node| node.kind() == "unsafe_block")
    {
        return Err(Refusal::because("it is in unsafe code"));
    }
    for list in around.iter().filter(|node| node.kind() == "block") {
        let imports = named(*list).into_iter().filter(|node| node.kind() == "use_declaration");
        for import in imports {
            let inside = holds(&selected.text, import);
            if !inside || !selected.is_at_end() {
                let line = plan.source.line_of(import.start_byte()) + 1;
                return Err(Refusal::Unsafe(format!(
                    "the use on line {line} holds only within its block"
                )));
            }
        }
    }
    Ok(())
}

fn parameters<'p, 't>(plan: &'p Plan<'t>) -> Result<Vec<Parameter<'p, 't>>, Refusal> {
    let range = plan.selected.range();
    let (mut all, mut untyped) = (Vec::new(), Vec::new());
    let untold = |binding: &Binding<'_>| {
        let (name, line) = (binding.name.clone(), plan.source.line_of(binding.declared()));
        Untyped { name, line }
    };
    for binding in plan.crossing.inputs() {
        let written = binding.uses_in(&range).any(|one| one.access.writes());
        let deferred = binding
            .declarations
            .iter()
            .any(|one| one.keyword == Keyword::Let && one.init.is_none());
        let plain = |one: &crate::scopes::Declaration<'_>| {
            one.name.parent().is_some_and(|parent| parent.kind() == "let_declaration")
        };
        if written && deferred && binding.declarations.iter().all(plain) {
            return Err(Refusal::Unsafe(format!("{} is declared without a value", binding.name)));
        }
        match types::rust(plan, binding) {
            Some(ty) => all.push(Parameter { binding, mode: mode(plan, binding, &ty), ty }),
            None => untyped.push(untold(binding)),
        }
    }
    for binding in plan.crossing.declared() {
        if types::rust(plan, binding).is_none() {
            untyped.push(untold(binding));
        }
    }
    if !plan.control.returns
        && matches!(value(plan), Value::Unknown)
        && !plan.types.contains_key(RESULT)
    {
        let line = plan.source.line_of(plan.selected.last().start_byte());
        untyped.push(Untyped { name: RESULT.to_owned(), line });
    }
    untyped.dedup();
    if untyped.is_empty() { Ok(all) } else { Err(Refusal::NeedsTypes(untyped)) }
}

/// True if the last statement has no semicolon and needs one when something follows.
fn ends_open(plan: &Plan<'_>) -> bool {
    let last = plan.selected.last();
    let block = |node: Node<'_>| {
        matches!(
            node.kind(),
            "if_expression"
                | "match_expression"
                | "for_expression"
                | "while_expression"
                | "loop_expression"
                | "block"
                | "unsafe_block"
        )
    };
    !plan.source.text_of(last).ends_with(';')
        && last.kind() != "expression_statement"
        && !last.kind().ends_with("_declaration")
        && !block(last)
}

/// Where the function goes, and how it is called there.
struct FunctionPlace {
    indent: String,
    receiver: Option<String>,
    /// The prefix of the call: `self.`, `Self::`.
    on: &'static str,
    /// The header of an `impl` block that is added for the function.
    block: Option<String>,
    at: usize,
}

impl FunctionPlace {
    fn wrap(&self, plan: &Plan<'_>, function: String) -> (String, usize) {
        let ending = plan.layout.ending;
        let gap = ending.repeat(2);
        match &self.block {
            None => (format!("{gap}{function}"), self.at),
            Some(header) => (format!("{gap}{header} {{{ending}{function}{ending}}}"), self.at),
        }
    }
}

fn place(
    plan: &Plan<'_>,
    parameters: &[Parameter<'_, '_>],
    result: &FunctionResult,
) -> Result<FunctionPlace, Refusal> {
    let (source, selected) = (plan.source, &plan.selected);
    let beside = |receiver: Option<String>, on| FunctionPlace {
        indent: source.indent_at(selected.anchor.start_byte()).to_owned(),
        receiver,
        on,
        block: None,
        at: end_of(source, selected.anchor),
    };
    let Some(class) = selected.class else { return Ok(beside(None, "")) };
    let receiver = receiver(plan, parameters)?;
    let on = if receiver.is_some() { "self." } else { "Self::" };
    if class.kind() == "impl_item" && field(class, "trait").is_none() {
        return Ok(beside(receiver, on));
    }
    let types: String = parameters.iter().map(|one| format!("{} ", one.ty)).collect();
    let text = format!("{} {types} {}", source.text_of_range(plan), result.ty);
    let own: Vec<_> = field(class, "type_parameters").map(named).unwrap_or_default();
    let own = own.into_iter().filter_map(|one| field(one, "name")).map(|one| source.text_of(one));
    let needs = receiver.is_some()
        || mentions(&text, "Self")
        || own.into_iter().any(|name| mentions(&text, name));
    if !needs {
        let indent = source.indent_at(class.start_byte()).to_owned();
        return Ok(FunctionPlace {
            indent,
            receiver: None,
            on: "",
            block: None,
            at: end_of(source, class),
        });
    }
    let ty = field(class, "type").filter(|_| class.kind() == "impl_item");
    let Some(ty) = ty.filter(|ty| is_declared(plan, *ty)) else {
        return Err(Refusal::because(
            "it uses Self or self of a trait, to which no method can be added",
        ));
    };
    if text.contains("Self::") {
        return Err(Refusal::because("it uses Self:: of a trait"));
    }
    let text_of = |node: Option<Node<'_>>| node.map_or("", |node| source.text_of(node));
    let bounds = named(class).into_iter().find(|one| one.kind() == "where_clause");
    let bounds = bounds.map_or(String::new(), |one| format!(" {}", source.text_of(one)));
    let outer = source.indent_at(class.start_byte()).to_owned();
    let header = format!(
        "{outer}impl{} {}{bounds}",
        text_of(field(class, "type_parameters")),
        source.text_of(ty)
    );
    let indent = format!("{outer}{}", plan.layout.unit);
    Ok(FunctionPlace { indent, receiver, on, block: Some(header), at: end_of(source, class) })
}

/// True if the file declares a type, so that it may get methods.
fn is_declared(plan: &Plan<'_>, ty: Node<'_>) -> bool {
    let name = field(ty, "type").filter(|_| ty.kind() == "generic_type").unwrap_or(ty);
    let name = plan.source.text_of(name);
    descendants(plan.source.root()).into_iter().any(|one| {
        matches!(one.kind(), "struct_item" | "enum_item" | "union_item")
            && field(one, "name").is_some_and(|of| plan.source.text_of(of) == name)
    })
}

/// Returns how the new method takes `self`, if the selection uses it.
fn receiver(plan: &Plan<'_>, parameters: &[Parameter<'_, '_>]) -> Result<Option<String>, Refusal> {
    let (source, selected) = (plan.source, &plan.selected);
    if !plan.control.uses_self {
        return Ok(None);
    }
    let list = field(selected.host, "parameters").map(named).unwrap_or_default();
    let Some(own) = list.into_iter().find(|one| one.kind() == "self_parameter") else {
        return Err(Refusal::because("it uses a self that isn't a parameter"));
    };
    let own = source.text_of(own);
    let range = selected.range();
    let all: Vec<_> =
        descendants(selected.host).into_iter().filter(|one| one.kind() == "self").collect();
    let inside = all.iter().filter(|one| holds(&range, **one));
    let uses: Vec<_> = inside.map(|one| place_use(plan, *one)).collect();
    let changes = uses
        .iter()
        .any(|one| !matches!(one, PlaceUse::Look | PlaceUse::PartValue | PlaceUse::Compare));
    let looping = ancestors(selected.list).take_while(|one| *one != selected.host);
    let looping = looping.into_iter().any(|one| crate::Language::is_loop(one.kind()));
    let later = looping || all.iter().any(|one| one.start_byte() >= range.end);
    match own {
        _ if own.starts_with('&') && !own.contains("mut") => Ok(Some(own.to_owned())),
        _ if own.starts_with('&') && !changes => Ok(Some("&self".to_owned())),
        _ if own.starts_with('&') => {
            let lent = parameters.iter().any(|one| {
                let init = one.binding.declarations.first().and_then(|one| one.init);
                one.ty.starts_with('&')
                    && init.is_some_and(|init| source.text_of(init).contains("self"))
            });
            match lent {
                true => Err(Refusal::because("it changes self while a parameter borrows from it")),
                false => Ok(Some(own.to_owned())),
            }
        }
        _ if !later => Ok(Some(own.to_owned())),
        "self" | "mut self" if !changes && !uses.contains(&PlaceUse::PartValue) => {
            Ok(Some("&self".to_owned()))
        }
        _ => Err(Refusal::because("it takes self, which is used afterwards")),
    }
}

/// True if a text has a word.
fn mentions(text: &str, word: &str) -> bool {
    let lifetime = word.starts_with('\'');
    let name = |c: char| c.is_alphanumeric() || c == '_' || (lifetime && c == '\'');
    text.split(|c: char| !name(c)).any(|one| one == word)
}

/// Returns the type parameters and bounds that the new function needs.
fn generics(
    plan: &Plan<'_>,
    parameters: &[Parameter<'_, '_>],
    result: &str,
) -> Result<(String, String), Refusal> {
    let (source, host) = (plan.source, plan.selected.host);
    let none = (String::new(), String::new());
    let Some(list) = field(host, "type_parameters") else { return Ok(none) };
    let types: Vec<_> = parameters.iter().map(|one| one.ty.clone()).collect();
    let types = types.join(" ");
    let text = format!("{} {types} {result}", source.text_of_range(plan));
    let names =
        named(list).into_iter().filter_map(|one| field(one, "name").map(|name| (one, name)));
    let names: Vec<_> = names.map(|(one, name)| (one.kind(), source.text_of(name))).collect();
    if !names.iter().any(|(_, name)| mentions(&text, name)) {
        return Ok(none);
    }
    let inferred =
        |(kind, name): &(&str, &str)| *kind == "lifetime_parameter" || mentions(&types, name);
    if !names.iter().all(inferred) {
        return Err(Refusal::because(
            "its type parameters can't be inferred from the new parameters",
        ));
    }
    let bounds = children(host).into_iter().find(|one| one.kind() == "where_clause");
    let bounds = bounds.map_or(String::new(), |one| {
        let text = source.text_of(one).trim_end();
        match text.contains('\n') {
            true => format!("{}{}{text}", plan.layout.ending, source.indent_at(host.start_byte())),
            false => format!(" {text}"),
        }
    });
    Ok((source.text_of(list).to_owned(), bounds))
}

impl crate::source::Source {
    fn text_of_range(&self, plan: &Plan<'_>) -> &str {
        &self.text()[plan.selected.text.clone()]
    }
}
