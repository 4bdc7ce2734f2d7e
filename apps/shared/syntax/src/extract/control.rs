//! Determines whether control flow can leave the statements other than at their end.

use tree_sitter::Node;

use crate::language::Language;
use crate::source::{Source, children, descendants, field, named};

use super::refusal::Refusal;
use super::selection::{Selected, statements_of};

/// The ways in which the statements may leave their normal flow of control.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// They return from the function around them; nothing runs after them there.
    pub returns: bool,
    /// They await.
    pub awaits: bool,
    /// They use `?`, in Rust.
    pub tries: bool,
    /// They use `self`, `this`, or the receiver.
    pub uses_self: bool,
}

/// The targets available to a `break` or `continue`.
#[derive(Clone, Default)]
struct Targets {
    breaks: bool,
    continues: bool,
    labels: Vec<String>,
}

struct Checker<'t> {
    source: &'t Source,
    found: Control,
    returned: Option<Node<'t>>,
}

/// Checks the statements.
pub(super) fn control(source: &Source, selected: &Selected<'_>) -> Result<Control, Refusal> {
    let mut checker = Checker { source, found: Control::default(), returned: None };
    for statement in &selected.statements {
        checker.visit(*statement, &Targets::default())?;
    }
    let mut control = checker.found;
    if source.language() == Language::Rust {
        for statement in &selected.statements {
            let all = descendants(*statement);
            control.uses_self |= all.iter().any(|node| node.kind() == "self");
        }
    }
    if let Some(returned) = checker.returned {
        if !selected.ends_function() && !diverges(selected.last()) {
            let line = source.line_of(returned.start_byte()) + 1;
            let reason = format!("the return on line {line} would leave only the new function");
            return Err(Refusal::Unsafe(reason));
        }
        control.returns = true;
    }
    Ok(control)
}

/// True if control never goes on after a statement.
pub(super) fn diverges(node: Node<'_>) -> bool {
    match node.kind() {
        "return_statement" | "raise_statement" | "throw_statement" | "return_expression" => true,
        "expression_statement" => node.named_child(0).is_some_and(diverges),
        "if_statement" | "if_expression" => {
            let then = field(node, "consequence").is_some_and(diverges);
            let otherwise: Vec<_> = crate::source::fields(node, "alternative");
            let closed = otherwise.last().is_some_and(|last| last.kind() != "elif_clause");
            then && closed && otherwise.into_iter().all(diverges)
        }
        "else_clause" | "elif_clause" => {
            let body = field(node, "body").or(field(node, "consequence"));
            body.or_else(|| node.named_child(0)).is_some_and(diverges)
        }
        "block" | "statement_block" | "statement_list" => {
            let last = statements_of(node).into_iter().next_back();
            last.is_some_and(diverges)
        }
        _ => false,
    }
}

/// True for a `try`, and for a `with` whose context is known to swallow exceptions by its name.
pub(super) fn goes_on_after_exception(source: &Source, node: Node<'_>) -> bool {
    let clause = || named(node).into_iter().find(|part| part.kind() == "with_clause");
    match node.kind() {
        "try_statement" => true,
        "with_statement" => clause().is_some_and(|clause| {
            let text = source.text_of(clause).to_lowercase();
            ["suppress", "raises", "ignore", "catch"].iter().any(|word| text.contains(word))
        }),
        _ => false,
    }
}

impl<'t> Checker<'t> {
    fn refuse(&self, node: Node<'_>, what: &str) -> Refusal {
        let line = self.source.line_of(node.start_byte()) + 1;
        Refusal::Unsafe(format!("{what} on line {line} can't move to another function"))
    }

    fn label_of(&self, node: Node<'_>) -> Option<String> {
        let label = field(node, "label")
            .or_else(|| named(node).into_iter().find(|part| part.kind().contains("label")))?;
        Some(self.source.text_of(label).trim_matches(['\'', ':', ' ']).to_owned())
    }

    fn visit(&mut self, node: Node<'t>, targets: &Targets) -> Result<(), Refusal> {
        let language = self.source.language();
        if language.is_function(node.kind()) {
            return self.nested(node);
        }
        let mut inner = targets.clone();
        if Language::is_loop(node.kind()) {
            (inner.breaks, inner.continues) = (true, true);
        }
        if matches!(
            node.kind(),
            "switch_statement"
                | "expression_switch_statement"
                | "type_switch_statement"
                | "select_statement"
        ) {
            inner.breaks = true;
        }
        let labelled = matches!(node.kind(), "labeled_statement")
            || (language == Language::Rust
                && (Language::is_loop(node.kind()) || node.kind() == "block"));
        if labelled {
            inner.labels.extend(self.label_of(node));
        }
        match node.kind() {
            "return_statement" | "return_expression" => {
                self.returned = self.returned.or(Some(node));
            }
            "break_statement"
            | "continue_statement"
            | "break_expression"
            | "continue_expression" => {
                let breaks = node.kind().starts_with("break");
                let word = if breaks { "break" } else { "continue" };
                let stays = match self.label_of(node) {
                    Some(label) => targets.labels.contains(&label),
                    None if breaks => targets.breaks,
                    None => targets.continues,
                };
                if !stays {
                    return Err(self.refuse(node, word));
                }
            }
            "yield" | "yield_expression" => return Err(self.refuse(node, "yield")),
            "await" | "await_expression" => self.found.awaits = true,
            "try_expression" => self.found.tries = true,
            "goto_statement" => {
                let stays =
                    self.label_of(node).is_some_and(|label| targets.labels.contains(&label));
                if !stays {
                    return Err(self.refuse(node, "goto"));
                }
            }
            "fallthrough_statement" if !targets.breaks => {
                return Err(self.refuse(node, "fallthrough"));
            }
            "defer_statement" => return Err(self.refuse(node, "defer")),
            "using_declaration" => return Err(self.refuse(node, "using")),
            "global_statement" => return Err(self.refuse(node, "global")),
            "nonlocal_statement" => return Err(self.refuse(node, "nonlocal")),
            "for_statement" | "with_statement" | "for_in_clause"
                if language == Language::Python =>
            {
                self.found.awaits |= children(node).iter().any(|child| child.kind() == "async");
            }
            "for_in_statement" => {
                self.found.awaits |= children(node).iter().any(|child| child.kind() == "await");
            }
            "token_tree" => self.tokens(node)?,
            "macro_invocation" => self.macro_call(node)?,
            _ => {}
        }
        self.names(node)?;
        for child in children(node) {
            self.visit(child, &inner)?;
        }
        Ok(())
    }

    /// Functions within the statements keep their own control; only what they share with the
    /// function around is looked for.
    fn nested(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        let own_this = !matches!(node.kind(), "arrow_function" | "lambda");
        if self.source.language().is_ecmascript() && !own_this {
            for child in children(node) {
                self.shared(child)?;
            }
        }
        Ok(())
    }

    fn shared(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        if self.source.language().is_function(node.kind()) {
            return self.nested(node);
        }
        self.names(node)?;
        children(node).into_iter().try_for_each(|child| self.shared(child))
    }

    /// Checks names and keywords that mean something of the function around them.
    fn names(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        let text = || self.source.text_of(node);
        match self.source.language() {
            Language::Python if node.kind() == "call" => {
                let of = field(node, "function").map_or("", |of| self.source.text_of(of));
                if matches!(of, "locals" | "vars" | "dir" | "eval" | "exec") {
                    return Err(self.refuse(node, &format!("{of}()")));
                }
                if of == "super"
                    && field(node, "arguments").is_some_and(|all| all.named_child_count() == 0)
                {
                    self.found.uses_self = true;
                }
            }
            Language::Go
                if node.kind() == "call_expression"
                    && field(node, "function")
                        .is_some_and(|of| self.source.text_of(of) == "recover") =>
            {
                return Err(self.refuse(node, "recover()"));
            }
            language if language.is_ecmascript() => match node.kind() {
                "super" => return Err(self.refuse(node, "super")),
                "meta_property" if text() == "new.target" => {
                    return Err(self.refuse(node, "new.target"));
                }
                "identifier" if text() == "arguments" => return Err(self.refuse(node, "arguments")),
                "call_expression"
                    if field(node, "function")
                        .is_some_and(|of| self.source.text_of(of) == "eval") =>
                {
                    return Err(self.refuse(node, "eval"));
                }
                "this" | "private_property_identifier" => self.found.uses_self = true,
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    /// Checks the tokens of a macro, whose structure the tree doesn't tell.
    fn tokens(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        for token in children(node) {
            let text = self.source.text_of(token);
            match text {
                "return" | "break" | "continue" | "yield" => return Err(self.refuse(token, text)),
                "?" => self.found.tries = true,
                "await" => self.found.awaits = true,
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks macros that return from the function around them.
    fn macro_call(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        let name = field(node, "macro").map_or("", |name| self.source.text_of(name));
        match name.rsplit("::").next().unwrap_or(name) {
            "bail" | "ensure" | "ensure_eq" | "try" | "ready" => self.found.tries = true,
            short => {
                let all = descendants(self.source.root());
                let defined = all.into_iter().find(|other| {
                    other.kind() == "macro_definition"
                        && field(*other, "name").is_some_and(|of| self.source.text_of(of) == short)
                });
                let words = ["return", "break", "continue", "?", "yield"];
                let leaves = |definition: Node<'t>| {
                    descendants(definition)
                        .iter()
                        .any(|token| words.contains(&self.source.text_of(*token)))
                };
                if defined.is_some_and(leaves) {
                    return Err(self.refuse(node, &format!("{short}!")));
                }
            }
        }
        Ok(())
    }
}
