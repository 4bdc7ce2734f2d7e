//! The parameters and return values of the extracted function.

use std::ops::Range;

use crate::language::Language;
use crate::limits::PARAMETERS_MAX;
use crate::scopes::{Binding, Keyword, Scopes};
use crate::source::{Source, ancestors, field, holds};

use super::control::{Control, goes_on_after_exception};
use super::python_flow;
use super::receiver::is_receiver;
use super::refusal::Refusal;
use super::selection::{Selected, loops_around};

/// The variables that cross the boundary of the selection, as indexes of bindings.
pub(super) struct Crossing<'t> {
    scopes: Scopes<'t>,
    /// Variables declared outside and used inside, in the order of their first use.
    inputs: Vec<usize>,
    /// Variables declared outside, assigned inside and used afterwards.
    assigned: Vec<usize>,
    /// Variables declared inside and used afterwards.
    declared: Vec<usize>,
}

impl<'t> Crossing<'t> {
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Binding<'t>> {
        self.inputs.iter().map(|index| &self.scopes.bindings[*index])
    }

    pub(super) fn assigned(&self) -> impl Iterator<Item = &Binding<'t>> {
        self.assigned.iter().map(|index| &self.scopes.bindings[*index])
    }

    pub(super) fn declared(&self) -> impl Iterator<Item = &Binding<'t>> {
        self.declared.iter().map(|index| &self.scopes.bindings[*index])
    }

    pub(super) fn is_assigned(&self, binding: &Binding<'_>) -> bool {
        self.assigned().any(|other| std::ptr::addr_eq(other, binding))
    }

    /// Returns all variables of the enclosing function.
    pub(super) fn bindings(&self) -> &[Binding<'t>] {
        &self.scopes.bindings
    }

    /// Puts the variables in the order in which they are parameters and results.
    fn sort(&mut self, range: &Range<usize>) {
        let bindings = &self.scopes.bindings;
        let first_use = |index: &usize| {
            bindings[*index].uses_in(range).next().map_or(range.end, |one| one.node.start_byte())
        };
        self.inputs.sort_by_key(first_use);
        self.assigned.sort_by_key(first_use);
        self.declared.sort_by_key(|index| bindings[*index].declared());
    }
}

/// Finds the variables that cross the boundary.
pub(super) fn crossing<'t>(
    source: &'t Source,
    selected: &Selected<'t>,
    control: &Control,
    scopes: Scopes<'t>,
) -> Result<Crossing<'t>, Refusal> {
    let range = selected.range();
    let python = source.language() == Language::Python;
    let outer = scopes.outer_writes.iter().find(|node| python && holds(&range, **node));
    if let Some(write) = outer {
        let name = source.text_of(*write);
        return Err(Refusal::Unsafe(format!("{name} is global or nonlocal and assigned here")));
    }
    let mut found =
        Crossing { scopes, inputs: Vec::new(), assigned: Vec::new(), declared: Vec::new() };
    for (index, binding) in found.scopes.bindings.iter().enumerate() {
        let used = binding.uses_in(&range).next().is_some();
        let declared_inside = binding.is_declared_in(&range);
        if !used && !declared_inside {
            continue;
        }
        // A receiver is passed on by the call itself.
        if is_receiver(source, selected, binding) {
            continue;
        }
        match source.language() {
            Language::Python => {
                let roles = python_flow::roles(source, selected, binding)?;
                if roles.input {
                    found.inputs.push(index);
                }
                if roles.output {
                    found.assigned.push(index);
                }
            }
            _ => {
                let outside =
                    binding.declarations.iter().any(|one| !range.contains(&one.name.start_byte()));
                match outside {
                    true => {
                        refuse_item(source, binding, &range)?;
                        found.inputs.push(index);
                        let written = binding.uses_in(&range).any(|one| one.access.writes());
                        let written = written || declared_inside;
                        if written && is_live_after(selected, binding, &range) {
                            found.assigned.push(index);
                        }
                    }
                    false => {
                        let after =
                            binding.uses.iter().any(|one| !range.contains(&one.node.start_byte()));
                        if after {
                            refuse_moved(binding, &range)?;
                            found.declared.push(index);
                        }
                    }
                }
            }
        }
    }
    refuse_captured(source, selected, &found, &range)?;
    refuse_partial(source, selected, &found)?;
    if control.returns && found.assigned.len() + found.declared.len() > 0 {
        let mut names = found.assigned().chain(found.declared());
        let name = names.next().map_or("", |binding| &binding.name).to_owned();
        return Err(Refusal::Unsafe(format!("it returns, but {name} is used afterwards")));
    }
    found.sort(&range);
    if found.inputs.len() > PARAMETERS_MAX {
        let count = found.inputs.len();
        let reason = format!("it would need {count} parameters, of {PARAMETERS_MAX} allowed");
        return Err(Refusal::Unsafe(reason));
    }
    Ok(found)
}

/// Refuses what can't be a parameter: types, imports and constants of the function around.
fn refuse_item(
    source: &Source,
    binding: &Binding<'_>,
    range: &Range<usize>,
) -> Result<(), Refusal> {
    let name = &binding.name;
    let declaration = binding.declared();
    let line = source.line_of(declaration) + 1;
    match binding.keyword() {
        Keyword::Item => Err(Refusal::Unsafe(format!(
            "{name}, declared within the function on line {line}, can't be passed on"
        ))),
        Keyword::Let | Keyword::Const
            if declaration >= range.end && source.language().is_ecmascript() =>
        {
            Err(Refusal::Unsafe(format!("{name} is declared only afterwards, on line {line}")))
        }
        _ => Ok(()),
    }
}

/// Refuses declarations that are used before them or that can't be returned.
fn refuse_moved(binding: &Binding<'_>, range: &Range<usize>) -> Result<(), Refusal> {
    let name = &binding.name;
    let before = binding.uses.iter().any(|one| one.node.start_byte() < range.start);
    match binding.keyword() {
        Keyword::Item => Err(Refusal::Unsafe(format!("{name} is declared here and used outside"))),
        _ if before => Err(Refusal::Unsafe(format!("{name} is declared here and used before"))),
        _ => Ok(()),
    }
}

/// True if a value that is assigned inside may be read later.
pub(super) fn is_live(selected: &Selected<'_>, binding: &Binding<'_>) -> bool {
    is_live_after(selected, binding, &selected.range())
}

/// True if a variable of the function around is used in any way after the selection.
pub(super) fn is_used_after(selected: &Selected<'_>, binding: &Binding<'_>) -> bool {
    let range = selected.range();
    let later = binding.uses.iter().any(|one| one.node.start_byte() >= range.end);
    later || is_live_after(selected, binding, &range)
}

fn is_live_after(selected: &Selected<'_>, binding: &Binding<'_>, range: &Range<usize>) -> bool {
    if binding.keyword() == Keyword::NamedResult {
        return true;
    }
    let reads_in = |range: &Range<usize>| binding.uses_in(range).any(|one| one.access.reads());
    if reads_in(&(range.end..binding.scope.end)) {
        return true;
    }
    let captured = |one: &crate::scopes::Use<'_>| {
        one.function != binding.function && !range.contains(&one.node.start_byte())
    };
    if binding.uses.iter().any(captured) {
        return true;
    }
    // In a loop, what comes before runs again.
    let loops = loops_around(selected.list, selected.host);
    let around = loops.into_iter().filter(|one| {
        binding.scope.start <= one.start_byte() && one.end_byte() <= binding.scope.end
    });
    let declared = binding.declared();
    let mut around =
        around.filter(|one| !one.byte_range().contains(&declared) || is_header(*one, declared));
    around.any(|one| reads_in(&one.byte_range()))
}

/// True if a byte is in a loop, but not in its body.
fn is_header(node: tree_sitter::Node<'_>, byte: usize) -> bool {
    field(node, "body").is_none_or(|body| !body.byte_range().contains(&byte))
}

/// Refuses variables that a function within shares with the code around it: a copy would go its own
/// way.
fn refuse_captured(
    source: &Source,
    selected: &Selected<'_>,
    found: &Crossing<'_>,
    range: &Range<usize>,
) -> Result<(), Refusal> {
    // In Rust, the borrow checker has seen to it.
    if source.language() == Language::Rust {
        return Ok(());
    }
    // In Python, the assignment that declares a name counts.
    let declaring = usize::from(source.language() == Language::Python);
    let looped = !loops_around(selected.list, selected.host).is_empty();
    for binding in found.inputs().chain(found.assigned()).chain(found.declared()) {
        let writes = binding.uses.iter().filter(|one| one.access.writes()).count();
        let parameter = binding.declarations.iter().any(|one| one.keyword == Keyword::Parameter);
        let again = binding.declarations.iter().any(|one| one.in_loop);
        let changes = again || writes > if parameter { 0 } else { declaring };
        let inside =
            binding.is_declared_in(range) || binding.uses_in(range).any(|one| one.access.writes());
        // A function that exists before the selection has run sees the variable change.
        let earlier = binding.uses.iter().any(|one| {
            let outside = !range.contains(&one.node.start_byte());
            let before = one.node.start_byte() < range.start || (looped && declaring == 1);
            let hoisted = ancestors(one.node)
                .take_while(|node| *node != selected.host)
                .any(|node| node.kind().ends_with("function_declaration"));
            outside && one.function != binding.function && (before || hoisted)
        });
        if binding.is_captured() && (changes || (inside && earlier)) {
            let name = &binding.name;
            let reason = format!("{name} is shared with a function within, and changes");
            return Err(Refusal::Unsafe(reason));
        }
    }
    Ok(())
}

/// Refuses assignments that an exception may cut short: the code that handles it would see the
/// value before them.
fn refuse_partial(
    source: &Source,
    selected: &Selected<'_>,
    found: &Crossing<'_>,
) -> Result<(), Refusal> {
    let range = selected.range();
    let around = std::iter::once(selected.list).chain(ancestors(selected.list));
    let around: Vec<_> = around.take_while(|node| *node != selected.scope).collect();
    for statement in around.iter().filter(|node| goes_on_after_exception(source, **node)) {
        let body = field(*statement, "body").map(|body| body.byte_range());
        let Some(body) = body.filter(|body| body.contains(&range.start)) else { continue };
        let results = found.assigned().chain(found.declared());
        let written = results.filter(|one| one.scope.start <= statement.start_byte());
        for binding in written {
            let writes: Vec<_> =
                binding.uses_in(&range).filter(|one| one.access.writes()).collect();
            // Nothing can fail after an assignment that is the last thing that happens.
            let last = selected.last();
            let at_end = writes.iter().all(|one| {
                let list = one.node.parent().and_then(|node| node.parent());
                holds(&last.byte_range(), one.node)
                    && last.kind() == "expression_statement"
                    && (list == Some(last)
                        || one.node.parent().and_then(|node| node.parent()) == Some(last))
            });
            let handlers = body.end..statement.end_byte();
            let handled = binding.uses_in(&handlers).any(|one| one.access.reads());
            let looped = !loops_around(*statement, selected.host).is_empty();
            let after = if looped { 0 } else { statement.end_byte() }..usize::MAX;
            let mut later = binding.uses_in(&after).filter(|one| !holds(&range, one.node));
            let read_after = later.any(|one| one.access.reads());
            if !at_end && (handled || read_after) {
                let name = &binding.name;
                let line = source.line_of(statement.start_byte()) + 1;
                let word = statement.kind().trim_end_matches("_statement");
                let reason = format!(
                    "an exception in it would leave {name} as it was for the {word} on line {line}"
                );
                return Err(Refusal::Unsafe(reason));
            }
        }
    }
    Ok(())
}
