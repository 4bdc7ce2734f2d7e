//! Statements that become a function of their own.
//!
//! | module | decides |
//! |---|---|
//! | `selection` | which statements are meant |
//! | `control` | whether control can leave them other than at their end |
//! | `variables` | what goes in and what comes out |
//! | `python_flow` | what is certainly assigned, in Python |
//! | `receiver` | what a method is called on |
//! | `layout` | indentation, line endings, and where the function goes |
//! | `ecmascript`, `go`, `python`, `rust` | how the function and its call are written |
//! | `rust_modes`, `rust_result` | what is moved or borrowed, and what is returned, in Rust |
//! | `types` | the types that the tree tells |

mod control;
mod ecmascript;
mod go;
mod layout;
mod plan;
mod python;
mod python_flow;
mod receiver;
mod refusal;
mod rust;
mod rust_modes;
mod rust_result;
mod selection;
mod types;
mod variables;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::bind::bind;
use crate::edit::{Edit, apply};
use crate::language::Language;
use crate::source::{Source, descendants};

use control::control;
use layout::Layout;
use plan::{ExtractedCode, Plan};
use selection::{Selected, select};
use variables::crossing;

pub use refusal::{Refusal, Untyped};

/// A request for an extraction.
#[derive(Debug, Clone, Default)]
pub struct Request<'a> {
    /// The selection, in bytes. White space at its ends is ignored.
    pub range: Range<usize>,
    /// The name of the new function.
    pub name: &'a str,
    /// Types of variables whose types the tree doesn't tell.
    pub types: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extraction {
    /// The replacements, in ascending order; they don't overlap.
    pub edits: Vec<Edit>,
    /// The range of the call in the new text.
    pub call: Range<usize>,
    /// The range of the function in the new text.
    pub function: Range<usize>,
    /// The names of the function's parameters.
    pub parameters: Vec<String>,
    /// The names of the variables that the function returns.
    pub results: Vec<String>,
    /// Parameters without a type, in a language where types may be left out.
    pub untyped: Vec<String>,
}

impl Extraction {
    /// Returns the text after the edits.
    pub fn apply(&self, text: &str) -> String {
        apply(&self.edits, text)
    }
}

/// Plans how statements become a function.
///
/// # Errors
/// [`Refusal`] says why they can't.
pub fn plan_extraction(source: &Source, request: &Request<'_>) -> Result<Extraction, Refusal> {
    let language = source.language();
    if !language.has_extraction() {
        return Err(unsupported(language));
    }
    if !language.is_name(request.name) {
        let message =
            format!("{:?} can't be the name of a {} function", request.name, language.name());
        return Err(Refusal::Unsafe(message));
    }
    let selected = select(source, &request.range)?;
    refuse_errors(source, &selected)?;
    refuse_known_name(source, request.name)?;
    let scopes = bind(source, selected.host);
    let control = control(source, &selected)?;
    let crossing = crossing(source, &selected, &control, scopes)?;
    let layout = Layout::of(source, &selected);
    let (name, types) = (request.name, &request.types);
    let plan = Plan { source, selected, control, crossing, layout, name, types };
    let written = match language {
        Language::Rust => rust::write(&plan)?,
        Language::Python => python::write(&plan)?,
        Language::Go => go::write(&plan)?,
        Language::JavaScript | Language::TypeScript | Language::Tsx => ecmascript::write(&plan)?,
        Language::C | Language::Cpp | Language::Java | Language::CSharp | Language::Markdown => {
            return Err(unsupported(language));
        }
    };
    let extraction = assemble(plan.selected.text.clone(), written);
    verify(source, &extraction, request.name)?;
    Ok(extraction)
}

fn unsupported(language: Language) -> Refusal {
    let with = Language::ALL.iter().filter(|one| one.has_extraction() && **one != Language::Tsx);
    let with: Vec<_> = with.map(|one| one.name()).collect();
    Refusal::Unsafe(format!("not for {}, only for {}", language.name(), with.join(", ")))
}

/// Puts the edits in order, and computes where they lead to.
fn assemble(selected: Range<usize>, written: ExtractedCode) -> Extraction {
    let ExtractedCode { call, function, at, parameters, results, untyped } = written;
    let gap = function.len() - function.trim_start().len();
    let (called, added) = (call.len(), function.trim().len());
    let (call_at, function_at) = match at <= selected.start {
        true => (selected.start + function.len(), at + gap),
        false => (selected.start, at + call.len() - selected.len() + gap),
    };
    let call = Edit { range: selected, new: call };
    let function = Edit { range: at..at, new: function };
    let mut edits = vec![call, function];
    edits.sort_by_key(|edit| edit.range.start);
    let (call, function) = (call_at..call_at + called, function_at..function_at + added);
    Extraction { edits, call, function, parameters, results, untyped }
}

fn refuse_errors(source: &Source, selected: &Selected<'_>) -> Result<(), Refusal> {
    if !selected.container.has_error() {
        return Ok(());
    }
    let all = descendants(selected.container);
    let error = all.into_iter().find(|node| node.is_error() || node.is_missing());
    let line = source.line_of(error.map_or(selected.text.start, |node| node.start_byte())) + 1;
    Err(Refusal::Unsafe(format!("line {line} has a syntax error")))
}

/// Refuses a name that stands anywhere in the file, because it may mean something there.
fn refuse_known_name(source: &Source, name: &str) -> Result<(), Refusal> {
    let text = source.text();
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let found = text.match_indices(name).find(|(at, _)| {
        let before = text[..*at].chars().next_back().is_some_and(part_of_name);
        let after = text[at + name.len()..].chars().next().is_some_and(part_of_name);
        let node = source.node_at(&(*at..at + name.len()));
        let word = !before && !after;
        word && !Language::is_comment(node.kind()) && !node.kind().contains("string")
    });
    match found {
        Some((at, _)) => {
            let line = source.line_of(at) + 1;
            Err(Refusal::Unsafe(format!("{name} is already a name in this file, on line {line}")))
        }
        None => Ok(()),
    }
}

/// Parses the result. It must have no more errors than before, and the function must be one of its
/// symbols.
fn verify(source: &Source, extraction: &Extraction, name: &str) -> Result<(), Refusal> {
    let broken = || Refusal::because("the result would have a syntax error");
    let text = extraction.apply(source.text());
    let after = Source::parse(source.language(), text).map_err(|_| broken())?;
    let outline = after.outline();
    debug_assert!(after.text()[extraction.function.clone()].contains(name));
    let functions = crate::outline::flatten(&outline);
    let found = functions.iter().filter(|symbol| symbol.name == name).count();
    if after.error_count() > source.error_count() || found != 1 {
        return Err(broken());
    }
    Ok(())
}
