//! How a variable is passed in Rust: moved, borrowed, or borrowed mutably. A place that is only
//! looked at through the variable's name, such as `x.len()`, works through a reference as well;
//! what takes the value needs the value.

use tree_sitter::Node;

use crate::scopes::Binding;
use crate::source::{descendants, field, has_token};

use super::layout::Rewrite;
use super::plan::Plan;
use super::variables::is_used_after;

/// The way in which a variable is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Value,
    Borrow,
    BorrowMut,
}

/// The effect of a use on the place that a variable names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaceUse {
    /// The use takes the value.
    Value,
    /// The use takes the value of a field or an element.
    PartValue,
    /// The use reads, and auto-borrows: a non-mutating method, `&x`, a format macro.
    Look,
    /// The use reads, and needs the place itself: `x == y`, `match x`.
    Compare,
    /// The use may change the place: a method.
    MayChange,
    /// The use changes the place: `x.y = 1`, `&mut x`.
    Change,
}

const COPY: &str = "bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 ()";

/// Methods that change nothing, whatever they are called on.
const LOOKS: &str = "len is_empty iter get contains contains_key clone to_string to_owned to_vec as_str as_ref \
     as_slice as_bytes as_path as_deref chars bytes lines split split_whitespace trim trim_start trim_end \
     starts_with ends_with first last keys values is_some is_none is_ok is_err cmp partial_cmp eq ne hash \
     join concat display exists is_file is_dir file_name extension parent find rfind matches min max abs \
     to_lowercase to_uppercase char_indices windows chunks parse capacity repeat fmt";

const FORMATS: &str = "println print eprintln eprint format panic todo unimplemented unreachable info warn debug \
     trace error log format_args";

fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|one| one == word)
}

/// True for types whose values are copied.
pub(super) fn is_copy(ty: &str) -> bool {
    listed(COPY, ty) || (ty.starts_with('&') && !ty.starts_with("&mut ")) || ty.starts_with("fn(")
}

/// Returns how a variable is passed.
pub(super) fn mode(plan: &Plan<'_>, binding: &Binding<'_>, ty: &str) -> Mode {
    let range = plan.selected.range();
    if is_copy(ty) || ty.starts_with('&') {
        return Mode::Value;
    }
    let assigned = binding.uses_in(&range).any(|one| one.access.writes());
    let uses: Vec<_> = binding.uses_in(&range).map(|one| place_use(plan, one.node)).collect();
    if assigned || uses.contains(&PlaceUse::Value) {
        return Mode::Value;
    }
    let takes_part = uses.iter().any(|one| matches!(one, PlaceUse::PartValue | PlaceUse::Compare));
    if takes_part && !is_used_after(&plan.selected, binding) {
        return Mode::Value;
    }
    let mutable = binding.declarations.iter().any(|one| one.mutable);
    let changes = uses.iter().any(|one| matches!(one, PlaceUse::MayChange | PlaceUse::Change));
    if mutable && changes { Mode::BorrowMut } else { Mode::Borrow }
}

/// True if a variable that is passed by value may be changed in place.
pub(super) fn is_changed(plan: &Plan<'_>, binding: &Binding<'_>, ty: &str) -> bool {
    let range = plan.selected.range();
    let mut uses = binding.uses_in(&range);
    uses.any(|one| match place_use(plan, one.node) {
        PlaceUse::Change => true,
        PlaceUse::MayChange => !is_copy(ty),
        _ => one.access.writes(),
    })
}

/// Returns what changes in the body when a variable is a reference there.
pub(super) fn rewrites(plan: &Plan<'_>, binding: &Binding<'_>) -> Vec<Rewrite> {
    let range = plan.selected.range();
    let mut all = Vec::new();
    for one in binding.uses_in(&range) {
        let name = &binding.name;
        let parent = one.node.parent();
        let reference = parent.filter(|parent| parent.kind() == "reference_expression");
        match reference {
            Some(outer) if has_token(outer, "mutable_specifier") => {
                all.push((one.node.byte_range(), format!("*{name}")));
            }
            Some(outer) => all.push((outer.byte_range(), name.clone())),
            None if place_use(plan, one.node) == PlaceUse::Compare => {
                all.push((one.node.byte_range(), format!("*{name}")));
            }
            None => {}
        }
    }
    all.dedup();
    all
}

/// Returns what a use of a variable, or of `self`, does.
pub(super) fn place_use(plan: &Plan<'_>, node: Node<'_>) -> PlaceUse {
    let source = plan.source;
    let Some(mut parent) = node.parent() else { return PlaceUse::Value };
    if parent.kind() == "token_tree" {
        return token_use(plan, node, parent);
    }
    let mut place = node;
    while (parent.kind() == "field_expression" && field(parent, "value") == Some(place))
        || (parent.kind() == "index_expression" && parent.named_child(0) == Some(place))
        || parent.kind() == "parenthesized_expression"
    {
        place = parent;
        let Some(next) = parent.parent() else { return PlaceUse::Value };
        parent = next;
    }
    let part = place != node;
    match parent.kind() {
        "call_expression" if field(parent, "function") == Some(place) => {
            let method = field(place, "field").filter(|_| place.kind() == "field_expression");
            let name = method.map_or("", |method| source.text_of(method));
            match listed(LOOKS, name) || looks_in_file(plan, name) {
                true => PlaceUse::Look,
                false => PlaceUse::MayChange,
            }
        }
        "reference_expression" if has_token(parent, "mutable_specifier") => PlaceUse::Change,
        "reference_expression" => PlaceUse::Look,
        "assignment_expression" | "compound_assignment_expr"
            if field(parent, "left") == Some(place) =>
        {
            PlaceUse::Change
        }
        "binary_expression" => {
            let operator = field(parent, "operator").map_or("", |one| source.text_of(one));
            match (operator, part) {
                ("==" | "!=" | "<" | "<=" | ">" | ">=", true) => PlaceUse::Look,
                ("==" | "!=" | "<" | "<=" | ">" | ">=", false) => PlaceUse::Compare,
                (_, true) => PlaceUse::Look,
                (_, false) => PlaceUse::Value,
            }
        }
        "match_expression" | "let_condition" if field(parent, "value") == Some(place) => {
            if part {
                PlaceUse::PartValue
            } else {
                PlaceUse::Compare
            }
        }
        _ if part => PlaceUse::PartValue,
        _ => PlaceUse::Value,
    }
}

/// Returns what a use in a macro does. Only those that format are known to look.
fn token_use(plan: &Plan<'_>, node: Node<'_>, tokens: Node<'_>) -> PlaceUse {
    let mut outer = tokens;
    while let Some(parent) = outer.parent().filter(|parent| parent.kind() == "token_tree") {
        outer = parent;
    }
    let name = outer.parent().and_then(|call| field(call, "macro"));
    let name = name.map_or("", |name| plan.source.text_of(name));
    let name = name.rsplit("::").next().unwrap_or(name);
    let first = tokens.named_child(0) == Some(node);
    let after = plan.source.text()[node.end_byte()..].trim_start();
    let formats = listed(FORMATS, name) && outer == tokens;
    let string = node.kind().contains("string");
    match () {
        () if matches!(name, "write" | "writeln") && outer == tokens => {
            if first && !string {
                PlaceUse::MayChange
            } else {
                PlaceUse::Look
            }
        }
        () if string => PlaceUse::Look,
        () if formats && after.starts_with([',', ')', '.', '[']) => match after.starts_with('.') {
            true => method_token(plan, after),
            false => PlaceUse::Look,
        },
        () => PlaceUse::Value,
    }
}

fn method_token(plan: &Plan<'_>, after: &str) -> PlaceUse {
    let name: String =
        after[1..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let called = after[1 + name.len()..].starts_with('(');
    match !called || listed(LOOKS, &name) || looks_in_file(plan, &name) {
        true => PlaceUse::Look,
        false => PlaceUse::MayChange,
    }
}

/// True if every method of this name in the file borrows immutably.
fn looks_in_file(plan: &Plan<'_>, name: &str) -> bool {
    let source = plan.source;
    let all = descendants(source.root()).into_iter().filter(|one| {
        one.kind() == "function_item"
            && field(*one, "name").is_some_and(|of| source.text_of(of) == name)
    });
    let mut found = false;
    for function in all {
        let receiver = field(function, "parameters").and_then(|list| list.named_child(0));
        let text =
            receiver.filter(|one| one.kind() == "self_parameter").map(|one| source.text_of(one));
        match text {
            Some(text) if text.starts_with('&') && !text.contains("mut") => found = true,
            _ => return false,
        }
    }
    found
}
