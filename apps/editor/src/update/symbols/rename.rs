//! Another name for a symbol, in all files: what is proven to be it is renamed, what may be it is asked about.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use docui::{Ask, Choice, Context, Done, Fault, Line};
use pipemux_syntax::{Found, Mention, Occurrence, Source, Unit, Wanted, plan_rename, rename_edits};
use serde::{Deserialize, Serialize};

use crate::display::wording::count;
use crate::limits::{BRIEF_SHOWN, FILES_NAMED, MATCHES_ASKED, OPTION_COLUMNS_MAX, PLACES_NAMED};
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::model::history::EditKind;
use crate::model::splice::Splice;
use crate::model::workspace_edit::WorkspaceEdit;
use crate::update::edit::{Plan, Work};
use crate::update::question::{Token, chosen_matches};

use super::asked_symbol::Chosen;
use super::resolver::{Resolver, Stop, unless_asked};
use super::target::Target;

/// The occurrences that a question lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::update) struct AskedOccurrences {
    /// Each file with the first byte of an occurrence.
    pub places: Vec<(PathBuf, usize)>,
    /// The symbols that were chosen before.
    pub chosen: Vec<Chosen>,
}

/// The occurrences of all symbols that are renamed.
#[derive(Default)]
struct Occurrences {
    proven: Vec<Occurrence>,
    possible: Vec<Occurrence>,
    others: usize,
    in_comments: Vec<Mention>,
    in_strings: Vec<Mention>,
    in_texts: Vec<Mention>,
}

impl Editor {
    /// Renames a symbol in the project, or all symbols of a name in some files.
    pub(in crate::update) fn rename(
        &mut self,
        symbol: &Line,
        new: &str,
        files: &[String],
        context: &Context,
    ) -> Result<Work, Fault> {
        let target = self.target(symbol, context)?;
        let scope = self.scope(context)?;
        let answer = match Token::answered(context)? {
            Some((Token::Renaming(asked), choice)) => Some((asked, choice.clone())),
            _ => None,
        };
        let (new, files, callee) =
            (new.trim().to_owned(), files.to_vec(), self.callee().to_owned());
        let plan = move |documents: &mut Documents| {
            let mut resolver = Resolver::new(documents, scope);
            let within = match files.is_empty() {
                true => None,
                false => Some(resolver.files(&files)?),
            };
            unless_asked(plan_edit(&mut resolver, &target, (&new, &callee), within, answer))
        };
        let blocking =
            self.edit("the project's disk", context, plan, |_, _, brief: String, _| {
                Done::new(brief).complete()
            })?;
        Ok(blocking.into())
    }
}

fn plan_edit(
    resolver: &mut Resolver<'_>,
    target: &Target,
    (new, callee): (&str, &str),
    within: Option<Vec<PathBuf>>,
    answer: Option<(AskedOccurrences, Choice)>,
) -> Result<Plan<String>, Stop> {
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
        None => resolver.project_files()?,
    };
    let own = symbols.iter().map(|(path, _)| path.clone());
    let sources = sources_with(resolver, files, &old, own.collect())?;
    let units: Vec<Unit<'_>> =
        sources.iter().map(|(_, relative, source)| Unit { path: relative, source }).collect();
    for (path, _) in &symbols {
        let language = resolver.source(path)?.language();
        if !language.is_name(new) {
            let message = format!("new: {new:?} can't be a name in {}", language.name());
            return Err(Fault::usage(message).into());
        }
    }
    let packages = packages(&sources, &resolver.scope.root);
    let mut all = Occurrences::default();
    for (path, found) in &symbols {
        let unit = sources.iter().position(|(own, ..)| own == path).unwrap_or_default();
        let one = plan_rename(&units, (unit, found), &packages).map_err(Fault::refused)?;
        all.proven.extend(one.proven);
        all.possible.extend(one.possible);
        (all.others, all.in_comments, all.in_strings, all.in_texts) =
            (one.others, one.in_comments, one.in_strings, one.in_texts);
    }
    sort(&mut all.proven);
    sort(&mut all.possible);
    let known = all.proven.clone();
    all.possible.retain(|one| {
        !known.iter().any(|other| other.unit == one.unit && other.range == one.range)
    });
    if symbols.len() > 1 {
        let total = all.proven.len() + all.possible.len();
        let nodes: usize = all.others + total;
        all.others = nodes.saturating_sub(total);
    }
    let places: Vec<_> =
        all.possible.iter().map(|one| (sources[one.unit].0.clone(), one.range.start)).collect();
    let mut renamed = all.proven.clone();
    match answer {
        // Whoever names the files means all of the name in them.
        None if within.is_some() => renamed.extend(all.possible.iter().cloned()),
        None if !all.possible.is_empty() => {
            return ask(&sources, &all, &old, places, resolver.scope.chosen.clone());
        }
        Some((asked, choice)) => {
            if asked.places != places {
                let fault = Fault::stale("the files changed since you were asked");
                return Err(fault.hint("run the call again").into());
            }
            let chosen = chosen_matches(&choice, places.len())?;
            renamed.extend(chosen.into_iter().map(|index| all.possible[index].clone()));
        }
        None => {}
    }
    let left = all.proven.len() + all.possible.len() - renamed.len();
    let mut edit = WorkspaceEdit::new(EditKind::Rename);
    let mut counts = Vec::new();
    for (relative, edits) in rename_edits(&units, &renamed, &old, new) {
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
    let more = counts.len().saturating_sub(FILES_NAMED);
    counts.truncate(FILES_NAMED);
    let mut brief = format!("{} → {new}: {}", first.qualified, counts.join(", "));
    if more > 0 {
        brief += &format!(" and {more} more files; {} in all", renamed.len());
    }
    brief += &left_out(&all, left, &sources);
    let taken: usize = sources
        .iter()
        .map(|(_, _, source)| {
            source.named_symbols().iter().filter(|one| one.symbol.name == new).count()
        })
        .sum();
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

fn sort(all: &mut Vec<Occurrence>) {
    all.sort_by_key(|one| (one.unit, one.range.start));
    all.dedup();
}

/// The files in which a name is looked for: each with its path, the path as it is displayed, and its text.
pub(super) type Sources = [(PathBuf, PathBuf, Rc<Source>)];

/// `; left: 2 in comments (a.rs:3, b.rs:9), 1 in strings (a.rs:12), 1 in Markdown (README.md:4), 3 of something else`
fn left_out(all: &Occurrences, not_chosen: usize, sources: &Sources) -> String {
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
        (all.in_texts.len(), "in Markdown", places(&all.in_texts)),
        (all.others, "of something else", String::new()),
        (not_chosen, "not chosen", String::new()),
    ];
    let told = kinds.iter().filter(|(number, ..)| *number > 0);
    let told: Vec<_> =
        told.map(|(number, what, places)| format!("{number} {what}{places}")).collect();
    if told.is_empty() { String::new() } else { format!("; left: {}", told.join(", ")) }
}

/// Returns the command that replaces a name in comments, strings and Markdown, too; `None` if it is in none, or in many files.
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
    let calls = [
        call(&all.in_comments, "only=\"comments\", "),
        call(&all.in_strings, "only=\"strings\", "),
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
) -> Result<Vec<(PathBuf, Found)>, Stop> {
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
    chosen: Vec<Chosen>,
) -> Result<Plan<String>, Stop> {
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
    let question = format!(
        "{} proven to be {old}; which of these {total} too (none: only those that are proven): {}",
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
    let token = Token::Renaming(AskedOccurrences { places, chosen });
    Ok(Plan::Reply(token.attach_to(ask)?))
}

/// Reads the files that have a name in them, and in any case `own` ones.
pub(super) fn sources_with(
    resolver: &mut Resolver<'_>,
    files: Vec<PathBuf>,
    name: &str,
    own: Vec<PathBuf>,
) -> Result<Vec<(PathBuf, PathBuf, Rc<Source>)>, Stop> {
    let mut files: Vec<PathBuf> =
        files.into_iter().filter(|path| resolver.mentions(path, name)).chain(own).collect();
    files.sort();
    files.dedup();
    let mut sources = Vec::new();
    for path in files {
        let source = resolver.source(&path)?;
        let relative = path.strip_prefix(&resolver.scope.root).unwrap_or(&path).to_owned();
        sources.push((path, relative, source));
    }
    Ok(sources)
}

/// Returns the names of the Rust packages that files belong to, as paths begin with them.
pub(super) fn packages(sources: &Sources, root: &Path) -> Vec<String> {
    let mut folders = BTreeSet::new();
    for (path, ..) in sources {
        folders.extend(path.ancestors().skip(1).take_while(|one| one.starts_with(root)));
    }
    let manifests = folders.into_iter().map(|folder| folder.join("Cargo.toml"));
    let texts = manifests.filter_map(|path| std::fs::read_to_string(path).ok());
    let name = |text: String| {
        let package = text.split("[package]").nth(1)?;
        let line = package.lines().find(|line| line.trim_start().starts_with("name"))?;
        let name = line.split('"').nth(1)?;
        Some(name.replace('-', "_"))
    };
    texts.filter_map(name).collect()
}
