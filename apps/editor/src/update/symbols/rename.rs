//! Another name for a symbol, in all files: what is proven to be it is renamed, what may be it is
//! asked about.

use std::path::PathBuf;

use docui::{Ask, Choice, Context, Done, Fault, Line};
use pipemux_syntax::{FoundSymbol, Mention, Occurrence, Source, Unit, Wanted, rename_edits};

use crate::display::wording::count;
use crate::limits::{BRIEF_SHOWN, FILES_NAMED, MATCHES_ASKED, OPTION_COLUMNS_MAX, PLACES_NAMED};
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::open_files::OpenFiles;
use crate::model::splice::Splice;
use crate::model::workspace_edit::WorkspaceEdit;
use crate::update::asked::{AskedOccurrences, ChosenSymbol};
use crate::update::edit::edit;
use crate::update::edit::{Plan, Work};
use crate::update::question::{QuestionToken, chosen_matches};
use crate::update::symbols::target::scope;
use crate::update::symbols::target_argument::target;

use super::occurrences::{Occurrences, Sources, occurrences, sources_with};
use super::resolved::{Unresolved, unless_asked};
use super::resolver::Resolver;
use super::target::Target;

/// Renames a symbol in the project, or all symbols of a name in some files.
pub(crate) fn rename(
    open_files: &OpenFiles,
    edits: &mut Edits,
    symbol: &Line,
    new: &str,
    files: &[String],
    context: &Context,
) -> Result<Work, Fault> {
    let target = target(open_files, symbol, context)?;
    let scope = scope(open_files, context)?;
    let answer = match QuestionToken::answered(context)? {
        Some((QuestionToken::Renaming(asked), choice)) => Some((asked, choice.clone())),
        _ => None,
    };
    let (new, files, callee) =
        (new.trim().to_owned(), files.to_vec(), open_files.paths.callee().to_owned());
    let plan = move |documents: &mut Documents| {
        let mut resolver = Resolver::new(documents, scope);
        let within = match files.is_empty() {
            true => None,
            false => Some(resolver.files(&files)?),
        };
        unless_asked(plan_rename_edit(&mut resolver, &target, (&new, &callee), within, answer))
    };
    let blocking =
        edit(open_files, edits, "the project's disk", context, plan, |_, _, brief: String, _| {
            Done::new(brief).complete()
        })?;
    Ok(blocking.into())
}

fn plan_rename_edit(
    resolver: &mut Resolver<'_>,
    target: &Target,
    (new, callee): (&str, &str),
    within: Option<Vec<PathBuf>>,
    answer: Option<(AskedOccurrences, Choice)>,
) -> Result<Plan<String>, Unresolved> {
    let symbols = symbols(resolver, target, within.as_deref())?;
    let Some((_, first)) = symbols.first() else {
        return Err(Fault::not_found("no such symbol in these files").into());
    };
    let old = first.symbol.name.clone();
    if old == new {
        return Err(Fault::usage("the new name is the old one").into());
    }
    let files = match &within {
        Some(files) => files.clone(),
        None => resolver.all_files(),
    };
    let own = symbols.iter().map(|(path, _)| path.clone());
    let (sources, unread) = sources_with(resolver, files, &old, own.collect())?;
    let units: Vec<Unit<'_>> =
        sources.iter().map(|(_, relative, source)| Unit { path: relative, source }).collect();
    for (path, _) in &symbols {
        let language = resolver.source(path)?.language();
        if !language.is_name(new) {
            let message = format!("new: {new:?} can't be a name in {}", language.name());
            return Err(Fault::usage(message).into());
        }
    }
    let unit = |path: &PathBuf| sources.iter().position(|(own, ..)| own == path);
    let named: Vec<(usize, &FoundSymbol)> =
        symbols.iter().filter_map(|(path, found)| Some((unit(path)?, found))).collect();
    let all = occurrences(resolver, &sources, &units, &named)?;
    let places: Vec<_> =
        all.possible.iter().map(|one| (sources[one.unit].0.clone(), one.range.start)).collect();
    let renamed = match (answer, within) {
        (Some((asked, choice)), _) => {
            if asked.places != places {
                let fault = Fault::stale("the files changed since you were asked");
                return Err(fault.hint("run the call again").into());
            }
            // The last option is to take none of them.
            let chosen = chosen_matches(&choice, places.len() + 1)?.into_iter();
            let chosen = chosen.filter_map(|index| all.possible.get(index));
            all.proven.iter().chain(chosen).cloned().collect()
        }
        // Whoever names the files means all of the name in them.
        (None, Some(_)) => [&*all.proven, &*all.possible].concat(),
        (None, None) if !all.possible.is_empty() => {
            return ask(&sources, &all, &old, places, resolver.scope.chosen.clone());
        }
        (None, None) => all.proven.clone(),
    };
    let left = all.proven.len() + all.possible.len() - renamed.len();
    let (edit, counts) = rename_splices(&units, &sources, &renamed, (&old, new));
    let mut brief =
        format!("{} → {new}: {}", first.qualified, first_counts(&counts, renamed.len()));
    brief += &left_out(&all, left, &sources, &unread);
    let named = |source: &Source| {
        source.named_symbols().iter().filter(|one| one.symbol.name == new).count()
    };
    let taken: usize = sources.iter().map(|(_, _, source)| named(source)).sum();
    if taken > 0 {
        brief += &format!("; {new} was already the name of {}", count(taken, "symbol"));
    }
    if let Some(command) = rename_mentions(&all, &sources, (&old, new), callee) {
        let too = format!("; these too: {command}");
        // A command that is cut can't be pasted.
        if brief.chars().count() + too.chars().count() <= BRIEF_SHOWN {
            brief += &too;
        }
    }
    Ok(Plan::Edit(edit, brief))
}

/// Returns the edit that renames occurrences, and the count in each file: `2 in src/a.rs`.
fn rename_splices(
    units: &[Unit<'_>],
    sources: &Sources,
    renamed: &[Occurrence],
    (old, new): (&str, &str),
) -> (WorkspaceEdit, Vec<String>) {
    let mut edit = WorkspaceEdit::new(EditKind::Rename);
    let mut counts = Vec::new();
    for (relative, edits) in rename_edits(units, renamed, old, new) {
        let Some((path, _, source)) = sources.iter().find(|(_, own, _)| *own == relative) else {
            continue;
        };
        counts.push(format!("{} in {}", edits.len(), relative.display()));
        let splices = edits.into_iter().map(|edit| Splice {
            at: edit.range.start,
            old: source.text()[edit.range].to_owned(),
            new: edit.new,
        });
        edit = edit.splices(path.clone(), splices.collect());
    }
    (edit, counts)
}

fn first_counts(counts: &[String], all: usize) -> String {
    let named = counts.iter().take(FILES_NAMED).cloned().collect::<Vec<_>>().join(", ");
    match counts.len().saturating_sub(FILES_NAMED) {
        0 => named,
        more => format!("{named} and {more} more files; {all} in all"),
    }
}

/// `; left: 2 in comments (a.rs:3, b.rs:9), 1 in strings (a.rs:12), 1 in files of other kinds
/// (README.md:4), 3 of something else`
fn left_out(all: &Occurrences, not_chosen: usize, sources: &Sources, unread: &[String]) -> String {
    let places = |mentions: &[Mention]| {
        let place = |one: &Mention| {
            let (_, relative, source) = &sources[one.unit];
            format!("{}:{}", relative.display(), source.line_of(one.at) + 1)
        };
        let mut places: Vec<String> = mentions.iter().map(place).collect();
        places.dedup();
        let more = places.len().saturating_sub(PLACES_NAMED);
        places.truncate(PLACES_NAMED);
        let more = if more > 0 { format!(" and {more} more lines") } else { String::new() };
        format!(" ({}{more})", places.join(", "))
    };
    let kinds = [
        (all.in_comments.len(), "in comments", places(&all.in_comments)),
        (all.in_strings.len(), "in strings", places(&all.in_strings)),
        (all.in_unparsed.len(), "in code that isn't parsed", places(&all.in_unparsed)),
        (all.in_texts.len(), "in files of other kinds", places(&all.in_texts)),
        (all.others.len(), "of something else", String::new()),
        (not_chosen, "not chosen", String::new()),
    ];
    let told = kinds.iter().filter(|(number, ..)| *number > 0);
    let told: Vec<_> =
        told.map(|(number, what, places)| format!("{number} {what}{places}")).collect();
    let mut told = told;
    if !unread.is_empty() {
        let more = unread.len().saturating_sub(FILES_NAMED);
        let mut named = unread.iter().take(FILES_NAMED).cloned().collect::<Vec<_>>().join(", ");
        if more > 0 {
            named += &format!(" and {more} more files");
        }
        told.push(format!("not read: {named}"));
    }
    if told.is_empty() { String::new() } else { format!("; left: {}", told.join(", ")) }
}

/// Returns the command that replaces a name in comments, strings and the like, too; `None` if it is
/// in none, or in many files.
fn rename_mentions(
    all: &Occurrences,
    sources: &Sources,
    (old, new): (&str, &str),
    callee: &str,
) -> Option<String> {
    let call = |mentions: &[Mention], only: &str| {
        let mut units: Vec<usize> = mentions.iter().map(|one| one.unit).collect();
        units.dedup();
        let path = |unit: &usize| format!("{:?}", sources[*unit].1.display().to_string());
        let mut files: Vec<String> = units.iter().map(path).collect();
        let within = match files.len() {
            0 => return Ok(None),
            1 => files.remove(0),
            2..=FILES_NAMED => format!("[{}]", files.join(", ")),
            _ => return Err(()),
        };
        Ok(Some(format!(
            "{callee}.replace({old:?}, {new:?}, in={within}, word=true, {only}all=true)"
        )))
    };
    // Where the name is something else in the same file, a replacement would take that, too.
    let alone = |one: &&Mention| !all.others.iter().any(|other| other.unit == one.unit);
    let unparsed: Vec<Mention> = all.in_unparsed.iter().filter(alone).copied().collect();
    let calls = [
        call(&all.in_comments, "only=\"comments\", "),
        call(&all.in_strings, "only=\"strings\", "),
        call(&unparsed, "only=\"code\", "),
        call(&all.in_texts, ""),
    ];
    let calls: Vec<String> =
        calls.into_iter().collect::<Result<Vec<_>, ()>>().ok()?.into_iter().flatten().collect();
    (!calls.is_empty()).then(|| docui::command::run(&calls.join("; ")))
}

/// Returns the symbols to rename: the one that is meant, or all of the name in some files.
fn symbols(
    resolver: &mut Resolver<'_>,
    target: &Target,
    within: Option<&[PathBuf]>,
) -> Result<Vec<(PathBuf, FoundSymbol)>, Unresolved> {
    if let (Some(files), Target::Written { text, .. }) = (within, target) {
        let wanted = Wanted::new(text);
        let mut found = Vec::new();
        for path in files {
            if resolver.mentions(path, wanted.name()) {
                found.extend(resolver.find_in(path, &wanted)?);
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let found = resolver.resolve(target)?;
    let symbol = found
        .symbol
        .ok_or_else(|| Fault::usage("rename takes a symbol: 'foo', 'Type::foo', 'src/a.rs#foo'"))?;
    Ok(vec![(found.path, symbol)])
}

fn ask(
    sources: &Sources,
    all: &Occurrences,
    old: &str,
    places: Vec<(PathBuf, usize)>,
    chosen: Vec<ChosenSymbol>,
) -> Result<Plan<String>, Unresolved> {
    let total = places.len();
    if total > MATCHES_ASKED {
        let message = format!("{total} occurrences of {old} are too many to choose from");
        return Err(Fault::refused(message).hint("name the files: in='src/a.rs'").into());
    }
    let mut files: Vec<(usize, usize)> = Vec::new();
    for one in &all.possible {
        match files.last_mut().filter(|(unit, _)| *unit == one.unit) {
            Some((_, number)) => *number += 1,
            None => files.push((one.unit, 1)),
        }
    }
    let named: Vec<_> = files
        .iter()
        .take(FILES_NAMED)
        .map(|(unit, number)| format!("{number} in {}", sources[*unit].1.display()))
        .collect();
    let doubt = all.doubt.as_ref().map(|doubt| format!(" ({doubt})")).unwrap_or_default();
    let question = format!(
        "{} proven to be {old}{doubt}; which of these {total} too: {}",
        count(all.proven.len(), "place"),
        named.join(", ")
    );
    let mut ask = Ask::pick_many(question);
    for one in &all.possible {
        let (_, relative, source) = &sources[one.unit];
        let text = source.text();
        let start = text[..one.range.start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[start..].lines().next().unwrap_or_default().trim();
        let line: String = line.chars().take(OPTION_COLUMNS_MAX).collect();
        let number = source.line_of(one.range.start) + 1;
        ask = ask.option(format!("{}:{number}", relative.display()), line);
    }
    ask = ask.option("proven", "only what is proven, none of these");
    let token = QuestionToken::Renaming(AskedOccurrences { places, chosen });
    Ok(Plan::Reply(token.attach_to(ask)?))
}
