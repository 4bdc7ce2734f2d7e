//! Carries out actions.

use docui::{Anchor, Ask, Done, Fault, Text, command};

use crate::action::{Action, Entry};
use crate::change::{Amended, ChangeId, ChangeKind, EntryRef, UndoError, Undone};
use crate::entry::{self, Content, Level, QUERY_MAX};
use crate::format::{count, quoted};
use crate::model::Notebook;
use crate::view::first_line;

/// Most bytes that are kept about the origins of an entry's text.
const ORIGIN_MAX: usize = 1000;
/// Most calls of `undo` in one hint.
const UNDOS_IN_HINT: usize = 20;

/// Carries out one action.
///
/// # Errors
/// The action can't be carried out; nothing took effect.
pub fn update(notebook: &mut Notebook, action: Action) -> Result<Done, Fault> {
    match action {
        Action::Add { title, text, tags, summary, gist } => {
            let title = title.trim().to_owned();
            let (origin, label) = provenance(&text);
            let tags = entry::clean_tags(&tags)?;
            let (text, outdated) = (text.text, false);
            let (summary, gist) = (summary.trim().to_owned(), gist.trim().to_owned());
            add(notebook, &Content { title, text, summary, gist, tags, origin, outdated }, &label)
        }
        Action::Edit { entry, text } => {
            let (origin, label) = provenance(&text);
            let amended =
                notebook.store.amend(entry_ref(&entry)?, ChangeKind::Edit, |content| {
                    content.outdated |= content.text != text.text;
                    content.text = text.text;
                    content.origin = origin;
                })?;
            Ok(amend_reply(amended, |_, after| {
                format!("{}, {}{label}", quoted(&after.title), count(after.lines(), "line"))
            }))
        }
        Action::Append { entry, text } => append(notebook, &entry, text),
        Action::Rename { entry, title } => {
            let title = title.trim().to_owned();
            let amended =
                notebook.store.amend(entry_ref(&entry)?, ChangeKind::Rename, |content| {
                    content.title = title
                })?;
            Ok(amend_reply(amended, |before, after| {
                format!("{} is now {}", quoted(&before.title), quoted(&after.title))
            }))
        }
        Action::Tag { entry, tags } => {
            let tags = entry::clean_tags(&tags)?;
            let amended = notebook
                .store
                .amend(entry_ref(&entry)?, ChangeKind::Tag, |content| content.tags = tags)?;
            Ok(amend_reply(amended, |_, after| match after.tags.is_empty() {
                true => format!("{}: no tags", quoted(&after.title)),
                false => format!("{}: {}", quoted(&after.title), after.tags.join(", ")),
            }))
        }
        Action::Remove { entry } => {
            let removed = notebook.store.remove(&entry_refs(&entry)?)?;
            let lines = removed.iter().map(Content::lines).sum();
            let titles: Vec<_> = removed.iter().map(|content| content.title.as_str()).collect();
            Ok(Done::new(summarize(&titles, lines)))
        }
        Action::Undo { change } => undo(notebook, change.0.parse()?),
        Action::Expand { entry } => change_level(notebook, &entry, Level::up),
        Action::Fold { entry } => change_level(notebook, &entry, Level::down),
        Action::Focus { entries } => {
            let ids = entries.iter().map(|entry| entry_ref(entry).map(|entry| entry.id));
            let ids = ids.collect::<Result<Vec<_>, _>>()?;
            notebook.change_view_state(|state| state.focus(&ids))?;
            Ok(Done::new(match ids.len() as u64 {
                0 => "all as summaries".to_owned(),
                number => format!("{} in full, the others as gists", count(number, "entry")),
            }))
        }
        Action::Search { query } => search(notebook, &query),
        Action::Filter { tag } => filter(notebook, tag.trim()),
        Action::ShowAll {} => {
            notebook.change_view_state(|state| {
                state.query.clear();
                state.tag.clear();
            })?;
            Ok(Done::new(count(notebook.store.total()?, "entry")))
        }
    }
}

/// Builds the question that is asked before an action: which entries a removal would delete.
///
/// # Errors
/// An entry doesn't exist, or the store can't be read.
pub fn confirm(notebook: &Notebook, action: &Action) -> Result<Ask, Fault> {
    let Action::Remove { entry } = action else { return Ok(Ask::confirm("cannot be undone")) };
    let mut rows = Vec::new();
    for entry in entry_refs(entry)? {
        let row = notebook.store.get(entry.id)?;
        rows.push(row.ok_or_else(|| Fault::not_found("removed").about(entry::key(entry.id)))?);
    }
    let titles: Vec<_> = rows.iter().map(|row| row.title.as_str()).collect();
    let lines = rows.iter().map(|row| row.lines).sum();
    let ask = Ask::confirm(format!("{}, cannot be undone", summarize(&titles, lines)));
    Ok(match titles.as_slice() {
        // The question itself names a single entry.
        [_] => ask,
        titles => rows.iter().fold(ask, |ask, row| {
            // Entries with the same title are told apart by their first lines.
            let same = titles.iter().filter(|title| **title == row.title).count() > 1;
            ask.option(&*row.title, if same { first_line(&row.head) } else { String::new() })
        }),
    })
}

fn add(notebook: &mut Notebook, content: &Content, label: &str) -> Result<Done, Fault> {
    let brief = format!("{}, {}{label}", quoted(&content.title), count(content.lines(), "line"));
    let added = notebook.store.add(content)?;
    // A new entry is shown as a summary even while the others are folded to gists. Failing to save
    // that is no failure of the action, because the entry is already in the store.
    let _ = notebook.change_view_state(|state| {
        if state.level(added.entry) < Level::Summary {
            state.set_level(added.entry, Level::Summary);
        }
    });
    let done = Done::new(brief).link("undo", &undo_action(added.change));
    Ok(match notebook.store.selects(&notebook.view_state.selection(), added.entry) {
        Ok(false) => done.link("show all", &Action::ShowAll {}),
        _ => done,
    })
}

fn append(notebook: &mut Notebook, entry: &Anchor<Entry>, text: Text) -> Result<Done, Fault> {
    let (origin, label) = provenance(&text);
    let more = count(text.text.lines().count() as u64, "line");
    let amended = notebook.store.amend(entry_ref(entry)?, ChangeKind::Append, |content| {
        if text.text.is_empty() {
            return;
        }
        content.outdated = true;
        if !content.text.is_empty() && !content.text.ends_with('\n') {
            content.text.push('\n');
        }
        content.text += &text.text;
        content.add_origin(&origin, ORIGIN_MAX);
    })?;
    Ok(amend_reply(amended, |_, after| {
        let now = count(after.lines(), "line");
        format!("{}, {more} more{label}, now {now}", quoted(&after.title))
    }))
}

fn undo(notebook: &mut Notebook, change: ChangeId) -> Result<Done, Fault> {
    let undone = notebook.store.undo(change).map_err(|error| match error {
        UndoError::Refused(fault) => fault,
        UndoError::AlreadyUndone { title, redo } => {
            let message = format!(
                "{} is already as it was before {change}; nothing was undone",
                quoted(&title)
            );
            let redo: Vec<String> =
                redo.iter().map(|change| notebook.call(&format!("undo(\"{change}\")"))).collect();
            // A long way back is that of many other changes.
            match redo.len() {
                1..=UNDOS_IN_HINT => Fault::failed(message)
                    .hint(format!("to have the change again: {}", command::run(&redo.join("; ")))),
                _ => Fault::failed(message),
            }
        }
        UndoError::ChangedSince { title, later } => {
            let message = format!(
                "{} was changed again since; nothing was undone, {} to undo first",
                quoted(&title),
                count(later.len() as u64, "change")
            );
            let hints = undo_hints(notebook, &later, change);
            hints.into_iter().fold(Fault::failed(message), Fault::hint)
        }
    })?;
    Ok(match undone {
        Undone::Removed { content } => {
            Done::new(format!("{} is removed again", quoted(&content.title))).reverts()
        }
        Undone::Restored { change, content } => {
            Done::new(format!("{} is restored", quoted(&content.title)))
                .reverts()
                .link("redo", &undo_action(change))
        }
    })
}

/// Returns the hints of a refused undo: the command that undoes the later changes and then this one.
fn undo_hints(notebook: &Notebook, later: &[ChangeId], change: ChangeId) -> Vec<String> {
    let call = |change: &ChangeId| notebook.call(&format!("undo(\"{change}\")"));
    let calls: Vec<_> = later.iter().chain([&change]).map(call).collect();
    let mut hints = calls.chunks(UNDOS_IN_HINT).take(2);
    let command = |calls: &[String]| format!("pipemux run '{}'", calls.join("; "));
    let first = hints.next().map(command);
    // Of a longer chain, only the beginning is listed; its last call names what is left.
    let rest = hints.next().map(|_| format!("then again: {}", command(&[call(&change)])));
    first.into_iter().chain(rest).collect()
}

/// Sets an entry's level of detail to the one that `step` returns for its current level.
fn change_level(
    notebook: &mut Notebook,
    entry: &Anchor<Entry>,
    step: fn(Level) -> Level,
) -> Result<Done, Fault> {
    let id = entry_ref(entry)?.id;
    let row = notebook.store.get(id)?;
    let row = row.ok_or_else(|| Fault::not_found("removed").about(&entry.key))?;
    let mut before = notebook.view_state.level(id);
    // In a search, gist and summary look the same: both show a snippet. They count as one level.
    if before == Level::Gist && !notebook.view_state.query.is_empty() {
        before = Level::Summary;
    }
    let after = step(before);
    notebook.change_view_state(|state| state.set_level(id, after))?;
    let already = if before == after { " already" } else { "" };
    Ok(Done::new(format!("{}: {}{already}", quoted(&row.title), after.name())))
}

fn search(notebook: &mut Notebook, query: &str) -> Result<Done, Fault> {
    let length = query.chars().count();
    if length > QUERY_MAX {
        let message = format!("query: {length} characters, at most {QUERY_MAX}");
        return Err(Fault::usage(message).hint("a few words of the entry are enough"));
    }
    let query = query.trim();
    notebook.change_view_state(|state| state.query = query.to_owned())?;
    if query.is_empty() {
        return Ok(Done::new("search cleared"));
    }
    let (found, _) = notebook.store.count(&notebook.view_state.selection())?;
    let within = match notebook.view_state.tag.as_str() {
        "" => String::new(),
        tag => format!(" with tag {tag}"),
    };
    let results = count(found, "result");
    Ok(Done::new(format!("{results} for {}{within}", quoted(query)))
        .link("show all", &Action::ShowAll {}))
}

fn filter(notebook: &mut Notebook, tag: &str) -> Result<Done, Fault> {
    let tags = notebook.store.tags()?;
    let Some((_, entries)) = tags.iter().find(|(name, _)| name == tag) else {
        let fault = Fault::not_found(format!("no entry has the tag {}", quoted(tag)));
        return Err(match tags.is_empty() {
            true => fault.hint("no entry has any tag"),
            false => fault.hint(format!("tags: {}", list_tags(&tags))),
        });
    };
    let brief = format!("{} with tag {tag}", count(*entries, "entry"));
    notebook.change_view_state(|state| state.tag = tag.to_owned())?;
    Ok(Done::new(brief).link("show all", &Action::ShowAll {}))
}

/// Lists the most used tags, and counts the others.
fn list_tags(tags: &[(String, u64)]) -> String {
    const LISTED: usize = 20;
    let names: Vec<_> = tags.iter().take(LISTED).map(|(name, _)| name.as_str()).collect();
    match tags.len().checked_sub(LISTED) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{}, {more} more", names.join(", ")),
    }
}

/// Returns the origin of a text as it is stored, and as an answer mentions it. Both are empty for a text
/// that was written in the call.
fn provenance(text: &Text) -> (String, String) {
    match &text.from {
        None => Default::default(),
        Some((session, label)) => {
            // Another app chose the label; here it must fit into one line.
            let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
            (format!("{session} {label}"), format!(" from {label}"))
        }
    }
}

/// Returns the answer to a change, which `brief` summarises from the contents before and after.
fn amend_reply(amended: Option<Amended>, brief: impl FnOnce(&Content, &Content) -> String) -> Done {
    match amended {
        None => Done::new("nothing changed: the entry already matches"),
        Some(Amended { change, before, after }) => {
            Done::new(brief(&before, &after)).link("undo", &undo_action(change))
        }
    }
}

/// Returns the action that undoes a change.
fn undo_action(change: ChangeId) -> Action {
    Action::Undo { change: change.to_string().into() }
}

/// Returns the entry that an anchor names, as the caller saw it.
fn entry_ref(anchor: &Anchor<Entry>) -> Result<EntryRef, Fault> {
    let id = entry::id(&anchor.key)
        .ok_or_else(|| Fault::not_found("no entry has that key").about(&anchor.key))?;
    Ok(EntryRef { id, rev: anchor.rev })
}

/// Returns the entries that anchors name, without duplicates. There must be at least one.
fn entry_refs(anchors: &[Anchor<Entry>]) -> Result<Vec<EntryRef>, Fault> {
    let mut entries: Vec<EntryRef> = Vec::new();
    for anchor in anchors {
        let entry = entry_ref(anchor)?;
        if entries.iter().all(|other| other.id != entry.id) {
            entries.push(entry);
        }
    }
    if entries.is_empty() {
        return Err(Fault::usage("entry: expected at least one entry, got none")
            .hint("write one as entry=obj:7, several as entry=[obj:7, obj:31]"));
    }
    Ok(entries)
}

/// Summarises entries: `"Release plan", 3 lines`, `3 entries, 214 lines`.
fn summarize(titles: &[&str], lines: u64) -> String {
    let lines = count(lines, "line");
    match titles {
        [title] => format!("{}, {lines}", quoted(title)),
        several => format!("{}, {lines}", count(several.len() as u64, "entry")),
    }
}
