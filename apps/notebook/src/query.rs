//! Answers queries: lists of notes, within a budget. Nothing is changed, not even the window.

use std::collections::HashSet;

use docui::{Anchor, Done, Fault, Value};
use pipemux_notes::query::{Grammar, Query};
use pipemux_notes::text::count;

use crate::action::{LevelName, Named, Rest, What};
use crate::entry::{self, Level, QUERY_MAX, TEXT_MAX};
use crate::format::list_tags;
use crate::list::{LISTED_MAX, List};
use crate::model::Notebook;

/// Most characters of the titles that a command repeats.
const REPEATED_CHARS: usize = 200;

/// Shows notes: `all`, a tag, or titles.
///
/// # Errors
/// A name is neither a title nor a tag, or the store can't be read.
pub fn show(
    notebook: &Notebook,
    what: &What,
    level: Option<LevelName>,
    rest: Option<Rest>,
    skip: Option<i64>,
    budget: u64,
) -> Result<Done, Fault> {
    let chosen = chosen(notebook, what)?;
    let default = if chosen.by_title { Level::Full } else { Level::Gist };
    let level = level.map_or(default, Into::into);
    let mut list = List::new(notebook, budget)?;
    let skip = skipped(skip, chosen.ids.len())?;
    let again = |skip: usize| {
        let level = match level {
            level if level == default => String::new(),
            level => format!(", level='{}'", level.name()),
        };
        let rest = if rest == Some(Rest::Gist) { ", rest='gist'" } else { "" };
        Some(format!("show({}{level}{rest}, skip={skip})", written(what)?))
    };
    let cut = match level {
        Level::Gist => list.gists(&chosen.ids[skip..])?,
        Level::Summary => list.summaries(&chosen.ids[skip..])?,
        Level::Full => list.texts(&chosen.ids[skip..])?,
    };
    list.cut_note(cut, skip, again);
    if rest == Some(Rest::Gist) && cut.is_none() {
        let shown: HashSet<i64> = chosen.ids.iter().copied().collect();
        let mut others = notebook.store.ids()?;
        others.retain(|id| !shown.contains(id));
        if let Some(cut) = list.gists(&others)? {
            let left = others.len() - cut;
            list.view.text(format!("… {left} more: {}\n", list.ask("show()")));
        }
    }
    let total = notebook.store.total()?;
    let brief = match chosen.ids.len() as u64 {
        number if number == total || rest == Some(Rest::Gist) => count(total, "note"),
        number => format!("{number} of {}", count(total, "note")),
    };
    let mut done = Done::new(brief).content(list.view);
    if let Some(text) = bare_text(notebook, &chosen.ids)? {
        done = done.value(text);
    }
    let label = match &chosen.ids[..] {
        [id] => notebook.store.get(*id)?.map_or(String::new(), |row| row.title),
        ids => count(ids.len() as u64, "note"),
    };
    Ok(done.label(label))
}

/// Finds the notes that fit a query, each with the lines of the words that were found.
///
/// # Errors
/// The query is blank or too long, or the store can't be read.
pub fn search(
    notebook: &Notebook,
    words: &str,
    skip: Option<i64>,
    budget: u64,
) -> Result<Done, Fault> {
    let length = words.chars().count();
    if length > QUERY_MAX {
        let message = format!("words: {length} characters, at most {QUERY_MAX}");
        return Err(Fault::usage(message).hint("a few words of the note are enough"));
    }
    let Some(query) = Query::parse(words, Grammar::Words) else {
        return Err(Fault::usage("words: expected a word to search for")
            .hint(format!("all notes: pipemux ask '{}'", notebook.call("show()"))));
    };
    let ids = notebook.store.search(&query)?;
    let skip = skipped(skip, ids.len())?;
    let mut list = List::new(notebook, budget)?;
    let cut = list.found(&ids[skip..], &query)?;
    let words = Value::from(words).to_string();
    list.cut_note(cut, skip, |skip| Some(format!("search({words}, skip={skip})")));
    listed(notebook, list, &ids)
}

/// Lists the notes that have all tags.
///
/// # Errors
/// The store can't be read.
pub fn filter(
    notebook: &Notebook,
    tags: &[String],
    skip: Option<i64>,
    budget: u64,
) -> Result<Done, Fault> {
    let mut ids = notebook.store.ids()?;
    for tag in tags {
        let tagged: HashSet<i64> = notebook.store.tagged(tag.trim())?.into_iter().collect();
        ids.retain(|id| tagged.contains(id));
    }
    let skip = skipped(skip, ids.len())?;
    let mut list = List::new(notebook, budget)?;
    let cut = list.gists(&ids[skip..])?;
    let written = Value::List(tags.iter().map(|tag| Value::from(tag.as_str())).collect());
    list.cut_note(cut, skip, |skip| Some(format!("filter({written}, skip={skip})")));
    if ids.is_empty() {
        list.tags()?;
    }
    listed(notebook, list, &ids)
}

/// Makes the answer of a query whose result is a list of notes.
fn listed(notebook: &Notebook, list: List<'_>, ids: &[i64]) -> Result<Done, Fault> {
    let total = count(notebook.store.total()?, "note");
    let mut titles = Vec::new();
    for id in ids.iter().take(LISTED_MAX) {
        titles.extend(notebook.store.get(*id)?.map(|row| Value::from(row.title)));
    }
    let done = Done::new(format!("{} of {total}", ids.len())).content(list.view);
    // Nothing is shown twice: an answer without content would show the value.
    Ok(if ids.is_empty() { done } else { done.value(Value::List(titles)) })
}

/// The entries selected by a query.
struct Chosen {
    ids: Vec<i64>,
    /// True if each was named by itself.
    by_title: bool,
}

fn chosen(notebook: &Notebook, what: &What) -> Result<Chosen, Fault> {
    let names = match what {
        What::Word(word) if word.trim() == "all" => {
            return Ok(Chosen { ids: notebook.store.ids()?, by_title: false });
        }
        What::Word(word) => {
            let tagged = notebook.store.tagged(word.trim().trim_start_matches('#'))?;
            match tagged.is_empty() {
                false => return Ok(Chosen { ids: tagged, by_title: false }),
                true => &vec![Named::Name(word.clone())],
            }
        }
        What::List(names) => names,
    };
    let (mut ids, mut by_title) = (Vec::new(), true);
    for name in names {
        match name {
            Named::Ref(Anchor { key, .. }) => ids.extend(entry::id(key)),
            Named::Name(name) => match notebook.entry_titled(name) {
                Ok(key) => ids.extend(entry::id(&key)),
                Err(fault) => {
                    let tagged = notebook.store.tagged(name.trim().trim_start_matches('#'))?;
                    if tagged.is_empty() {
                        return Err(no_such(notebook, name, fault)?);
                    }
                    by_title = false;
                    ids.extend(tagged);
                }
            },
        }
    }
    let mut seen = HashSet::new();
    ids.retain(|id| seen.insert(*id));
    Ok(Chosen { ids, by_title })
}

/// Explains a name that is neither a title nor a tag.
fn no_such(notebook: &Notebook, name: &str, fault: Fault) -> Result<Fault, Fault> {
    if name.starts_with("obj:") {
        return Ok(
            fault.hint(format!("a ref has no quotes: {}", notebook.call(&format!("show({name})"))))
        );
    }
    let tags = notebook.store.tags()?;
    Ok(match tags.is_empty() {
        true => fault,
        false => fault.hint(format!("tags: {}", list_tags(&tags))),
    })
}

/// Returns the texts of entries, for another app; `None` if they are too long together.
fn bare_text(notebook: &Notebook, ids: &[i64]) -> Result<Option<String>, Fault> {
    let mut all = String::new();
    for id in ids {
        let text = notebook.store.text(*id)?.unwrap_or_default();
        if all.len() + text.len() > TEXT_MAX {
            return Ok(None);
        }
        if !all.is_empty() && !all.ends_with('\n') {
            all.push('\n');
        }
        all += &text;
    }
    Ok(Some(all))
}

/// Returns what a query is about as it is written in a call, unless that is too long.
fn written(what: &What) -> Option<String> {
    let text = match what {
        What::Word(word) => Value::from(word.as_str()).to_string(),
        What::List(items) => {
            let item = |item: &Named| match item {
                Named::Ref(_) => None,
                Named::Name(name) => Some(Value::from(name.as_str())),
            };
            Value::List(items.iter().map(item).collect::<Option<_>>()?).to_string()
        }
    };
    (text.chars().count() <= REPEATED_CHARS).then_some(text)
}

fn skipped(skip: Option<i64>, all: usize) -> Result<usize, Fault> {
    let skip = skip.unwrap_or(0);
    usize::try_from(skip)
        .map(|skip| skip.min(all))
        .map_err(|_| Fault::usage(format!("skip: expected 0 or more, not {skip}")))
}
