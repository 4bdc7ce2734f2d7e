//! Statements that become a function of their own.

use std::collections::BTreeMap;
use std::ops::Range;

use docui::{Ask, Choice, Context, Done, Fault, Line, Reply};
use pipemux_syntax::{Extraction, Language, Refusal, Request, Source, Untyped, plan_extraction};

use crate::display::wording::line_range;
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::open_files::OpenFiles;
use crate::model::splice::Splice;
use crate::model::workspace_edit::WorkspaceEdit;
use crate::update::edit::edit;
use crate::update::renumbering::brief_about;
use crate::update::resolve::resolve_lines;
use crate::update::symbols::open_symbol::symbol_in_open_files;
use crate::update::symbols::surroundings::with_surroundings;

use super::edit::{Committed, Plan, Work};
use super::question::QuestionToken;
use super::symbols::surroundings::EditedPlace;

/// An example of an answer that gives the types.
const TYPES_EXAMPLE: &str = "count: usize, name: &str";

pub(crate) fn extract_method(
    open_files: &OpenFiles,
    edits: &mut Edits,
    range: &Line,
    name: &str,
    types: &str,
    context: &Context,
) -> Result<Work, Fault> {
    let (file, bytes) = resolve_range(open_files, range, context)?;
    let language = language_of(open_files, file)?;
    let mut types = parse_types(types)?;
    let source = Source::parse(language, open_files[file].buffer().text())
        .map_err(|error| Fault::refused(error.to_string()))?;
    let answer = answered_types(open_files, file, context)?;
    let request = Request { range: bytes, name, types: types.clone() };
    let planned = match (plan_extraction(&source, &request), answer) {
        (Err(Refusal::NeedsTypes(untyped)), Some(answer)) => {
            types.extend(answered(answer, &untyped)?);
            plan_extraction(&source, &Request { types, ..request.clone() })
        }
        (planned, _) => planned,
    };
    match planned {
        Ok(extraction) => {
            apply_extraction(open_files, edits, file, &source, name, &extraction, context)
        }
        Err(Refusal::NeedsTypes(untyped)) if context.answer.is_some() => {
            Err(Fault::usage(format!("still without a type: {}", names(&untyped)))
                .hint(format!("answer all of them: {TYPES_EXAMPLE}")))
        }
        Err(Refusal::NeedsTypes(untyped)) => Ok(ask_types(open_files, file, &untyped)?.into()),
        Err(Refusal::NotWholeStatements { nearest }) => {
            Err(not_whole(open_files, &source, &request, nearest))
        }
        Err(Refusal::Unsafe(reason)) => Err(Fault::refused(reason)),
    }
}

/// Returns a file and the bytes in it that a selection, a match, a line or lines such as `10-14`
/// mean.
fn resolve_range(
    open_files: &OpenFiles,
    range: &Line,
    context: &Context,
) -> Result<(usize, Range<usize>), Fault> {
    if let Line::At(anchor) = range
        && let Some((file, found)) = open_files.existing_range(&anchor.key)
    {
        return Ok((file, found.bytes.clone()));
    }
    let is_number = |text: &str| text.trim_start().starts_with(|c: char| c.is_ascii_digit());
    if let Line::Text(text) = range
        && !is_number(text.rsplit_once(':').map_or(text.as_str(), |(_, lines)| lines))
        && let Some((file, bytes)) = symbol_in_open_files(open_files, text.trim(), context)?
    {
        return Ok((file, bytes));
    }
    let (first, last) = match range {
        Line::Text(text) => {
            let (file, lines) = match text.rsplit_once(':') {
                Some((file, lines)) => (format!("{file}:"), lines),
                None => (String::new(), text.as_str()),
            };
            let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
            let line = |number: &str| Line::Text(format!("{file}{}", number.trim()));
            (line(first), line(last))
        }
        other => (other.clone(), other.clone()),
    };
    let target = resolve_lines(open_files, &first, &last, context)?;
    let bytes = open_files[target.file].buffer().byte_range(&target.lines);
    Ok((target.file, bytes))
}

fn language_of(open_files: &OpenFiles, file: usize) -> Result<Language, Fault> {
    let language = Language::of_path(open_files[file].path());
    language.filter(|language| language.has_extraction()).ok_or_else(|| {
        let known = Language::ALL.iter().filter(|language| language.has_extraction());
        let known: Vec<_> = known.map(|language| language.name()).collect();
        let shown = open_files.display_name(file);
        Fault::refused(format!("{shown} is in none of the languages {}", known.join(", ")))
    })
}

/// Returns the answer to the question for types, if that is what is answered.
fn answered_types<'c>(
    open_files: &OpenFiles,
    file: usize,
    context: &'c Context,
) -> Result<Option<&'c str>, Fault> {
    let again = |why: &str| Fault::stale(why).hint("run the call again");
    match QuestionToken::answered(context)? {
        None => Ok(None),
        Some((QuestionToken::Types { path, text }, choice)) => {
            let asked = &open_files[file];
            if asked.path() != path || asked.buffer().digest() != text {
                return Err(again("the file changed since you were asked"));
            }
            match choice {
                Choice::Text(text) => Ok(Some(text)),
                _ => Err(Fault::usage(format!("expected types: {TYPES_EXAMPLE}"))),
            }
        }
        Some(_) => Err(again("the answer is to another question")),
    }
}

fn ask_types(open_files: &OpenFiles, file: usize, untyped: &[Untyped]) -> Result<Reply, Fault> {
    let buffer = open_files[file].buffer();
    let (text, path) = (buffer.digest(), open_files[file].path().to_owned());
    let question = format!("types that the code doesn't tell, such as {TYPES_EXAMPLE}");
    let ask = untyped.iter().fold(Ask::text(question), |ask, one| {
        let (line, _) = buffer.line_head(one.line, crate::limits::OPTION_COLUMNS_MAX);
        ask.option(one.name.clone(), format!("line {}: {}", one.line + 1, line.trim()))
    });
    QuestionToken::Types { path, text }.attach_to(ask)
}

/// Returns the error of a selection that isn't whole statements of one block.
fn not_whole(
    open_files: &OpenFiles,
    source: &Source,
    request: &Request<'_>,
    nearest: Option<Range<usize>>,
) -> Fault {
    let fault = Fault::usage("range: expected whole statements of one block in a function");
    let Some(nearest) = nearest else {
        return fault.hint("select neither parts of a statement nor an attribute without it");
    };
    let lines = |bytes: &Range<usize>| {
        source.line_of(bytes.start)..source.line_of(bytes.end.saturating_sub(1)) + 1
    };
    let nearest = lines(&nearest);
    if nearest == lines(&request.range) {
        return fault.hint("other code stands on these lines: put it on lines of its own");
    }
    let (first, last) = (nearest.start + 1, nearest.end);
    let call = format!("extract_method(range=\"{first}-{last}\", name={:?})", request.name);
    fault.hint(format!(
        "nearest: {}: {}",
        line_range(&nearest),
        open_files.paths.run_command(&call)
    ))
}

fn apply_extraction(
    open_files: &OpenFiles,
    edits: &mut Edits,
    file: usize,
    source: &Source,
    name: &str,
    extraction: &Extraction,
    context: &Context,
) -> Result<Work, Fault> {
    let text = source.text();
    let replacements = extraction.edits.iter();
    let splices: Vec<_> = replacements
        .map(|edit| Splice {
            at: edit.range.start,
            old: text[edit.range.clone()].to_owned(),
            new: edit.new.clone(),
        })
        .collect();
    let mut brief = format!("{name}({})", extraction.parameters.join(", "));
    if !extraction.results.is_empty() {
        brief += &format!(" returns {}", extraction.results.join(", "));
    }
    let (function, call) = (extraction.function.clone(), extraction.call.clone());
    let untyped = match extraction.untyped.is_empty() {
        true => String::new(),
        false => format!("; without a type: {}", extraction.untyped.join(", ")),
    };
    let path = open_files[file].path().to_owned();
    let planned = WorkspaceEdit::new(EditKind::ExtractMethod).splices(path.clone(), splices);
    let waits_for = format!("the disk of {}", open_files.display_name(file));
    let plan = move |_: &mut Documents| Ok(Plan::Edit(planned, ()));
    let report = move |editor: &mut Editor, _: &Committed, (), context: &Context| {
        let Some(file) = editor.files.index(&path) else { return Done::new(brief) };
        let buffer = editor.files[file].buffer();
        let (body, called) = (buffer.lines_of(&function), buffer.lines_of(&call));
        let (at, called) = (line_range(&body), line_range(&called));
        let brief = format!("{brief}, {at}; called on {called}{untyped}");
        let edited_places =
            [EditedPlace::Block(path.clone(), function), EditedPlace::Block(path, call)];
        with_surroundings(
            &editor.files,
            Done::new(brief_about(&editor.files, file, brief)),
            "",
            &edited_places,
            context,
        )
    };
    Ok(edit(open_files, edits, waits_for, context, plan, report)?.into())
}

fn names(untyped: &[Untyped]) -> String {
    untyped.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the types of an answer. For one variable, its type alone is enough.
fn answered(text: &str, untyped: &[Untyped]) -> Result<BTreeMap<String, String>, Fault> {
    match (untyped, parse_types(text)) {
        ([one], Err(_)) if !text.trim().is_empty() => {
            Ok([(one.name.clone(), text.trim().to_owned())].into())
        }
        (_, types) => types,
    }
}

/// Reads types such as `count: usize, name: &str`. Commas within brackets belong to a type.
fn parse_types(text: &str) -> Result<BTreeMap<String, String>, Fault> {
    let mut types = BTreeMap::new();
    for part in split_at_commas(text) {
        let Some((name, ty)) = part.split_once(':') else {
            return Err(Fault::usage(format!("types: expected {TYPES_EXAMPLE}, not {part:?}")));
        };
        let (name, ty) = (name.trim(), ty.trim());
        // `std::path::Path` alone is a type without a name.
        if name.is_empty() || ty.is_empty() || ty.starts_with(':') {
            return Err(Fault::usage(format!("types: expected {TYPES_EXAMPLE}, not {part:?}")));
        }
        types.insert(name.to_owned(), ty.to_owned());
    }
    Ok(types)
}

fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from, mut before) = (Vec::new(), 0i32, 0, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            // The arrow of a function's type closes nothing.
            '>' if matches!(before, '-' | '=') => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    parts.push(&text[from..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_with_their_commas_and_arrows() {
        let text = "f: fn(u8, u8) -> u8, m: HashMap<String, Vec<u8>>, g: (a: number) => void,";
        let types = parse_types(text).unwrap();
        let all: Vec<_> = types.iter().map(|(name, ty)| format!("{name} is {ty}")).collect();
        let wanted =
            ["f is fn(u8, u8) -> u8", "g is (a: number) => void", "m is HashMap<String, Vec<u8>>"];
        assert_eq!(all, wanted);
        assert!(parse_types("").unwrap().is_empty());
        for wrong in ["usize", "x:", ": u8", "std::path::Path"] {
            assert!(parse_types(wrong).unwrap_err().message.contains("count: usize"), "{wrong}");
        }
    }

    #[test]
    fn single_type_is_an_answer() {
        let untyped = [Untyped { name: "x".into(), line: 0 }];
        assert_eq!(answered(" &[u8] ", &untyped).unwrap()["x"], "&[u8]");
        assert_eq!(answered("x: std::path::PathBuf", &untyped).unwrap()["x"], "std::path::PathBuf");
        assert_eq!(answered("std::path::PathBuf", &untyped).unwrap()["x"], "std::path::PathBuf");
    }
}
