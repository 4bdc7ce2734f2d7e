//! What is certainly assigned, and what may still be read, in Python: there a name has a value only
//! once an assignment has run, so that neither may be guessed from the text alone.

use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::scopes::{Binding, Keyword};
use crate::source::{Source, ancestors, descendants, field, fields, named};

use super::control::{diverges, goes_on_after_exception};
use super::refusal::Refusal;
use super::selection::{Selected, statements_of};

/// The roles of a variable in the new function.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Roles {
    pub input: bool,
    pub output: bool,
}

/// The effect of statements on a variable's previous value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// They may read it.
    Reads,
    /// They certainly replace it first.
    Kills,
    /// They neither read nor replace it.
    None,
}

struct Flow<'b, 't> {
    source: &'b Source,
    binding: &'b Binding<'t>,
}

/// Returns what a variable is to the new function.
pub(super) fn roles(
    source: &Source,
    selected: &Selected<'_>,
    binding: &Binding<'_>,
) -> Result<Roles, Refusal> {
    let range = selected.range();
    if range.start <= binding.scope.start && binding.scope.end <= range.end {
        return Ok(Roles::default());
    }
    let flow = Flow { source, binding };
    let writes = binding.uses_in(&range).any(|one| one.access.writes());
    let output = writes && flow.is_live_after(selected, &range);
    let effect = flow.sequence(&selected.statements);
    let input = effect == Effect::Reads || (output && effect != Effect::Kills);
    if input && !flow.is_assigned_before(selected) {
        let name = &binding.name;
        let reason = match output && effect != Effect::Reads {
            true => format!("{name} may have no value at the end of the selection"),
            false => format!("{name} may have no value before the selection"),
        };
        return Err(Refusal::Unsafe(reason));
    }
    if binding.keyword() == Keyword::Item {
        return Err(Refusal::Unsafe(format!("{} can't be passed on", binding.name)));
    }
    Ok(Roles { input, output })
}

impl Flow<'_, '_> {
    fn reads(&self, range: &Range<usize>) -> bool {
        self.binding.uses_in(range).any(|one| one.access.reads())
    }

    fn reads_node(&self, node: Option<Node<'_>>) -> bool {
        node.is_some_and(|node| self.reads(&node.byte_range()))
    }

    fn writes(&self, node: Node<'_>) -> bool {
        self.binding.uses_in(&node.byte_range()).any(|one| one.access.writes())
    }

    fn sequence(&self, statements: &[Node<'_>]) -> Effect {
        let effects = statements.iter().map(|statement| self.effect(*statement));
        effects.into_iter().find(|effect| *effect != Effect::None).unwrap_or(Effect::None)
    }

    fn body(&self, node: Option<Node<'_>>) -> Effect {
        node.map_or(Effect::None, |node| self.sequence(&statements_of(node)))
    }

    fn effect(&self, node: Node<'_>) -> Effect {
        let range = node.byte_range();
        if self.binding.uses_in(&range).next().is_none() {
            return if diverges(node) { Effect::Kills } else { Effect::None };
        }
        match node.kind() {
            "if_statement" => {
                match self.condition(field(node, "condition")) {
                    Effect::None => {}
                    known => return known,
                }
                let mut branches = vec![self.body(field(node, "consequence"))];
                let mut closed = false;
                for clause in fields(node, "alternative") {
                    if self.reads_node(field(clause, "condition")) {
                        return Effect::Reads;
                    }
                    closed = clause.kind() == "else_clause";
                    branches
                        .push(self.body(field(clause, "body").or(field(clause, "consequence"))));
                }
                all_kill(&branches, closed)
            }
            "for_statement" => {
                if self.reads_node(field(node, "right")) {
                    return Effect::Reads;
                }
                let target = field(node, "left").is_some_and(|left| self.writes(left));
                let body = if target { Effect::None } else { self.body(field(node, "body")) };
                let after =
                    field(node, "alternative").is_some_and(|part| self.reads(&part.byte_range()));
                if body == Effect::Reads || after { Effect::Reads } else { Effect::None }
            }
            "while_statement" => {
                let after = self.reads_node(field(node, "alternative"));
                match self.condition(field(node, "condition")) {
                    Effect::None => {}
                    known => return known,
                }
                let reads = after || self.body(field(node, "body")) == Effect::Reads;
                if reads { Effect::Reads } else { Effect::None }
            }
            "with_statement" => {
                let clause = named(node).into_iter().find(|part| part.kind() == "with_clause");
                match clause {
                    clause if self.reads_node(clause) => Effect::Reads,
                    Some(clause) if self.writes(clause) => Effect::Kills,
                    _ => self.body(field(node, "body")),
                }
            }
            "try_statement" => self.effect_of_try(node),
            "function_definition" | "class_definition" | "decorated_definition" => {
                let definition = field(node, "definition").unwrap_or(node);
                let name = field(definition, "name");
                let own = name.is_some_and(|name| self.writes(name));
                let captured = self.reads(&range);
                match (own, captured) {
                    // A function may call itself.
                    (true, _) if definition.kind() == "function_definition" => Effect::Kills,
                    (_, true) => Effect::Reads,
                    (true, false) => Effect::Kills,
                    (false, false) => Effect::None,
                }
            }
            "match_statement" => self.effect_of_match(node),
            _ if self.reads(&range) => Effect::Reads,
            _ if self.assigns(node) || diverges(node) => Effect::Kills,
            _ => Effect::None,
        }
    }

    /// Returns what an expression does that is always evaluated.
    fn condition(&self, node: Option<Node<'_>>) -> Effect {
        let Some(node) = node else { return Effect::None };
        let first = self.binding.uses_in(&node.byte_range()).next();
        match first {
            Some(first) if !first.access.reads() && self.assigns(node) => Effect::Kills,
            _ if self.reads(&node.byte_range()) => Effect::Reads,
            _ => Effect::None,
        }
    }

    fn effect_of_match(&self, node: Node<'_>) -> Effect {
        if self.reads_node(field(node, "subject")) {
            return Effect::Reads;
        }
        let cases = field(node, "body").map(named).unwrap_or_default();
        let reads = cases.into_iter().filter(|case| case.kind() == "case_clause").any(|case| {
            let body = field(case, "consequence");
            let start = body.map_or(case.end_byte(), |body| body.start_byte());
            let pattern = case.start_byte()..start;
            let bound = self.binding.uses_in(&pattern).any(|one| one.access.writes());
            !bound && (self.reads(&pattern) || self.body(body) == Effect::Reads)
        });
        if reads { Effect::Reads } else { Effect::None }
    }

    fn effect_of_try(&self, node: Node<'_>) -> Effect {
        let body = self.body(field(node, "body"));
        let clauses = named(node).into_iter().filter(|part| part.kind().ends_with("_clause"));
        let reads = clauses.into_iter().any(|clause| {
            let block = named(clause).into_iter().find(|part| part.kind() == "block");
            let start = block.map_or(clause.end_byte(), |block| block.start_byte());
            let header = clause.start_byte()..start;
            let bound = self.binding.uses_in(&header).any(|one| one.access.writes());
            !bound && (self.reads(&header) || self.body(block) == Effect::Reads)
        });
        if body == Effect::Reads || reads {
            return Effect::Reads;
        }
        if self.assigns(node) { Effect::Kills } else { Effect::None }
    }

    /// True if a statement certainly assigns the variable, or control doesn't go on after it.
    fn assigns(&self, node: Node<'_>) -> bool {
        let block = |node: Option<Node<'_>>| {
            node.is_some_and(|node| {
                statements_of(node).into_iter().any(|one| self.assigns(one) || diverges(one))
            })
        };
        match node.kind() {
            "if_statement" => {
                let clauses = fields(node, "alternative");
                let closed = clauses.last().is_some_and(|last| last.kind() == "else_clause");
                closed
                    && block(field(node, "consequence"))
                    && clauses
                        .into_iter()
                        .all(|one| block(field(one, "body").or(field(one, "consequence"))))
            }
            "for_statement" | "while_statement" | "match_statement" => false,
            "with_statement" => {
                let clause = named(node).into_iter().find(|part| part.kind() == "with_clause");
                let clause = clause.unwrap_or(node);
                let suppresses = goes_on_after_exception(self.source, node);
                self.writes(clause) || (!suppresses && block(field(node, "body")))
            }
            "try_statement" => {
                let parts = named(node);
                let of = |kind: &str| {
                    parts.iter().filter(|part| part.kind() == kind).collect::<Vec<_>>()
                };
                let inner = |clause: &Node<'_>| {
                    let body = named(*clause).into_iter().find(|part| part.kind() == "block");
                    block(body)
                };
                let handlers = of("except_clause");
                let handled = handlers.iter().all(|clause| inner(clause));
                of("finally_clause").into_iter().any(inner)
                    || (handled
                        && (block(field(node, "body")) || of("else_clause").into_iter().any(inner)))
            }
            "function_definition" | "class_definition" | "decorated_definition" => {
                let definition = field(node, "definition").unwrap_or(node);
                field(definition, "name").is_some_and(|name| self.writes(name))
            }
            _ => self.binding.uses_in(&node.byte_range()).any(|one| {
                let always = |outer: &Node<'_>| {
                    !matches!(
                        outer.kind(),
                        "lambda"
                            | "conditional_expression"
                            | "boolean_operator"
                            | "list_comprehension"
                            | "set_comprehension"
                            | "dictionary_comprehension"
                            | "generator_expression"
                    )
                };
                one.access.writes()
                    && ancestors(one.node)
                        .take_while(|outer| *outer != node)
                        .all(|outer| always(&outer))
            }),
        }
    }

    fn is_assigned_before(&self, selected: &Selected<'_>) -> bool {
        let parameter = |one: &crate::scopes::Declaration<'_>| one.keyword == Keyword::Parameter;
        if self.binding.declarations.iter().any(parameter) {
            return true;
        }
        let mut node = selected.statements.first().copied();
        while let Some(inner) = node {
            let Some(parent) = inner.parent() else { return false };
            if Language::Python.is_statement_list(parent) {
                let before = statements_of(parent);
                let before =
                    before.into_iter().take_while(|one| one.start_byte() < inner.start_byte());
                if before.into_iter().any(|one| self.assigns(one)) {
                    return true;
                }
            }
            let bound_by = match parent.kind() {
                "for_statement" if field(parent, "body") == Some(inner) => field(parent, "left"),
                "with_statement" | "except_clause" | "case_clause" => Some(parent),
                "if_statement" | "elif_clause" | "while_statement" => field(parent, "condition")
                    .filter(|condition| !self.source.text_of(*condition).contains(" or ")),
                _ => None,
            };
            let bound = bound_by.is_some_and(|part| {
                let before = part.start_byte()..inner.start_byte().min(part.end_byte());
                self.binding.uses_in(&before).any(|one| one.access.writes())
            });
            if bound {
                return true;
            }
            if parent == selected.host {
                return false;
            }
            node = Some(parent);
        }
        false
    }

    /// True if the value at the end of the selection may be read.
    fn is_live_after(&self, selected: &Selected<'_>, range: &Range<usize>) -> bool {
        let outside = |one: &&crate::scopes::Use<'_>| !range.contains(&one.node.start_byte());
        let captured = |one: &crate::scopes::Use<'_>| one.function != self.binding.function;
        if self.binding.uses.iter().filter(outside).any(captured) {
            return true;
        }
        let anywhere = || self.reads(&(0..range.start)) || self.reads(&(range.end..usize::MAX));
        let mut inner = selected.last();
        loop {
            let Some(list) = inner.parent() else { return false };
            if Language::Python.is_statement_list(list) {
                let after = statements_of(list);
                for one in after.into_iter().filter(|one| one.start_byte() >= inner.end_byte()) {
                    if jumps(one) {
                        return anywhere();
                    }
                    match self.effect(one) {
                        Effect::Reads => return true,
                        Effect::Kills => return false,
                        Effect::None => {}
                    }
                }
            }
            match list.kind() {
                "for_statement" | "while_statement" => {
                    let target = field(list, "left").is_some_and(|left| self.writes(left));
                    let again = self.reads_node(field(list, "condition"))
                        || (!target && self.read_again(list));
                    if again || self.reads_node(field(list, "alternative")) {
                        return true;
                    }
                }
                // An exception may come from anywhere.
                "try_statement" | "except_clause" if anywhere() => return true,
                "function_definition" | "lambda" => return false,
                _ => {}
            }
            inner = list;
        }
    }

    /// True if the next turn of a loop may read the variable before it assigns it.
    fn read_again(&self, node: Node<'_>) -> bool {
        let Some(body) = field(node, "body") else { return false };
        match statements_of(body).into_iter().any(jumps) {
            true => self.body(Some(body)) == Effect::Reads || self.reads_unless_first(body),
            false => self.body(Some(body)) == Effect::Reads,
        }
    }

    /// Returns true if the body may read the old value; a leading assignment rules that out.
    fn reads_unless_first(&self, body: Node<'_>) -> bool {
        for one in statements_of(body) {
            match self.effect(one) {
                Effect::Reads => return true,
                Effect::Kills => return false,
                Effect::None if jumps(one) => return self.reads(&body.byte_range()),
                Effect::None => {}
            }
        }
        false
    }
}

fn all_kill(branches: &[Effect], closed: bool) -> Effect {
    if branches.contains(&Effect::Reads) {
        return Effect::Reads;
    }
    match closed && branches.iter().all(|branch| *branch == Effect::Kills) {
        true => Effect::Kills,
        false => Effect::None,
    }
}

/// True if a statement leaves or repeats a loop around it.
fn jumps(node: Node<'_>) -> bool {
    descendants(node).into_iter().any(|jump| {
        matches!(jump.kind(), "break_statement" | "continue_statement")
            && !ancestors(jump)
                .take_while(|outer| {
                    outer.start_byte() >= node.start_byte() && outer.end_byte() <= node.end_byte()
                })
                .any(|outer| Language::is_loop(outer.kind()))
    })
}
